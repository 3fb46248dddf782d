"""Tracing: run a function once on tracers, and keep what it did as a Func."""
from typing import Any, Callable, NamedTuple

import numpy as np

from ..ir import stack
from ..ir.build import Value, building, current
from ..ir.graph import Func, Var
from ..ir.integers import Affine
from ..ir.types import type_of
from ..util import tree
from ..util.errors import SideEffectError
from .capture import Capture
from .tracer import Tracer


class Traced(NamedTuple):
    """A traced function: the Func, the structure of its result, the arrays it took from outside (its further inputs), the
    guards it rests on as (relation, {(input, axis): coefficient}, constant), and the sources of outside values.
    """

    func: Func
    structure: tree.Structure
    captured: tuple
    guards: tuple
    sources: tuple
    fresh: tuple = ()


def is_array_like(x: Any) -> bool:
    """Whether a leaf is data (an array or a number) rather than a static Python value."""
    return isinstance(x, (np.ndarray, np.generic, bool, int, float, complex, Value))


def trace(f: Callable, leaves: list, call: "Callable | None" = None, name: str = "") -> Traced:
    """Trace f on inputs like these leaves. call(f, inputs) makes the call; the default passes the inputs in order."""
    call = call or (lambda f, inputs: f(*inputs))
    with building(name or _name_of(f), Tracer, region=bool(stack.builders())) as builder:
        inputs = [_input(builder, x) for x in leaves]
        capture = Capture(builder)
        result = call(capture.function(f), inputs)
        out, structure = tree.flatten(result)
        func = builder.finish(tuple([_result(x) for x in out]))
        builder.equations = []                               # a tracer that escaped has nowhere to go on to
    if builder.parent is None:
        captured = builder.captured
        func.inputs = tuple(builder.inputs)
        return Traced(func, structure, tuple(a for a, _ in captured.values()), _positional(builder, func), tuple(capture.sources),
                      tuple(builder.fresh_constants))
    return Traced(func, structure, (), (), tuple(capture.sources))


def _name_of(f: Any) -> str:
    name = getattr(f, "__name__", "f")
    return name if name.isidentifier() else "f"


def _input(builder: Any, x: Any) -> Tracer:
    t = type_of(x)
    if isinstance(x, Value):                                 # a trace within a trace: the outer extents are this one's
        return builder.input(t)
    if builder.parent is not None:
        return builder.input(t)
    return builder.array_input(t.dtype, t.shape, weak=t.weak)


def _result(x: Any) -> Any:
    if isinstance(x, Value) or isinstance(x, (bool, int, float, complex, np.generic)):
        return x
    if isinstance(x, np.ndarray) and x.dtype.kind in "biufc":
        return current().capture(x)
    raise SideEffectError(f"a traced function returned {type(x).__name__}, not an array or number: {x!r:.60}",
                          do="return arrays, numbers, or trees of them")


def _positional(builder: Any, func: Func) -> tuple:
    """Guards in terms of inputs' axes instead of variables."""
    place: dict[Var, tuple] = {}
    for k, v in enumerate(func.inputs):
        for axis, n in enumerate(v.type.shape):
            if isinstance(n, Var):
                place.setdefault(n, (k, axis))
    return tuple((g.relation, {place[v]: c for v, c in g.form.terms}, g.form.const) for g in builder.integers.guards.values()
                 if isinstance(g.form, Affine))
