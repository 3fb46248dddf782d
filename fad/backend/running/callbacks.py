"""The Python functions that a program calls, taken out of its equations, so that equal programs have equal text.

    x = host(start, theta, function=solve)          # the number stands for (solve,), in this process
                                           ───►     x = call_python(0, number, start, theta)

The number is one more input, behind all others. docs/design/kernels.md says what compiled code does with it.
"""
from collections.abc import Callable
from typing import Any

import numpy as np

from ...ir import stack
from ...ir.graph import Equation, Func, Var, all_equations
from ...ir.op import registry
from ...ir.types import INT, Type
from ...passes.rewrite import Scope, rewrite
from ...util.array import AnyArray, ArrayOrNumber
from ...util.lazy import LazyModule

kernels: Any = LazyModule("fad.kernels.callbacks")


COMPILED = {"host": "call_python", "tell": "tell_python"}    # ops that call Python functions, as compiled code has them


def calls_python(func: Func) -> bool:
    """Whether a program calls functions that are not traced."""
    return any(eqn.op.name in COMPILED for eqn in all_equations(func))


def linked(func: Func) -> "tuple[Func, Any]":
    """The Func that is given the number of its functions, and those functions; func and None where it calls none."""
    if not calls_python(func):
        return func, None
    number, found = Var(Type(INT, ()), "callbacks"), []

    def visit(eqn: Equation, scope: Scope) -> "Equation | None":
        if eqn.op.name not in COMPILED:
            return None
        order = _model_first(eqn)
        found.append(kernels.Callback(_function(eqn, order), tuple([_kind(eqn.inputs[k].type) for k in order])))
        return eqn.replace(op=registry[COMPILED[eqn.op.name]], inputs=(number, *[eqn.inputs[k] for k in order]),
                           params={"place": len(found) - 1})
    func = rewrite(func, visit)
    return func.replace(inputs=(*func.inputs, number)), kernels.Callbacks(found)


def with_prints(func: Func) -> Func:
    """The Func in which lines that are printed are `debug_print`s, which need no Python function; other lines stay."""
    def visit(eqn: Equation, scope: Scope) -> "Equation | None":
        text = eqn.params["function"].as_print() if eqn.op.name == "tell" else None
        return None if text is None else eqn.replace(op=registry["debug_print"], params={"text": text})
    return rewrite(func, visit)


def _model_first(eqn: Equation) -> list:
    """The places of the operands in the order in which compiled code has them: that first which the result is like."""
    if "like" not in eqn.params:                              # it has no result
        return list(range(len(eqn.inputs)))
    like = eqn.params["like"]
    return [like, *[k for k in range(len(eqn.inputs)) if k != like]]


def _function(eqn: Equation, order: list) -> Callable:
    """The equation as a function of its operands in this order. It runs as within the interpreter."""
    number = getattr(eqn.params["function"], "as_number", None)
    if number is not None and order == list(range(len(order))):
        return number                                         # it computes with nothing of fad's
    run, params, count = eqn.op.run, dict(eqn.params), len(order)

    def call(*values: ArrayOrNumber) -> "AnyArray | None":
        args: list = [None] * count
        for k, value in zip(order, values):
            args[k] = value
        with stack.concrete(), np.errstate(all="ignore"):
            return run(*args, **params)
    return call


def _kind(t: Type) -> tuple:
    return t.dtype, len(t.shape), t.weak
