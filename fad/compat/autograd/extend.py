"""Functions with rules of the user's own, under autograd's names: primitive, defvjp, defjvp and their kin.

fad compiles a primitive like other code if it can trace it. If it cannot (the primitive calls C code, say), the
calling function runs on the tape, and the primitive gets plain arrays.
"""
import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...api.calls.leaves import level_of
from ...api.calls.nested import conform, zeros_of
from ...api.derivatives.custom import watch_rules
from ...api.derivatives.custom_rules import CustomCall, Rule, cotangent_leaves
from ...api.derivatives.derivative import stop_gradient
from ...ir import stack
from ...ir.build import Value
from ...ir.op import registry
from ...trace.runtime.capture import captured
from ...util import tree
from ...util.errors import NoDerivativeError
from .products import conjugated
from .spaces import VSpace as VSpace
from .spaces import vspace as vspace


class primitive:
    """A function whose derivatives are what defvjp and defjvp say; its body is not differentiated.

    >>> @primitive
    ... def square(x):
    ...     return x * x
    >>> defvjp(square, lambda ans, x: lambda g: 2 * g * x)
    >>> import fad
    >>> float(fad.grad(square)(3.0))
    6.0
    """

    vjp: "Callable | None" = None  # (argnums, ans, args, kwargs) -> g -> cotangents, one for each of argnums
    jvp: "Callable | None" = None               # (argnums, tangents, ans, args, kwargs) -> the result's tangent

    def __init__(self, fun: Callable):
        functools.update_wrapper(self, fun)
        self.fun = fun

    def __call__(self, *args: object, **kwargs: object) -> Any:
        if not stack.builders() or level_of(tree.flatten((args, kwargs))[0]) != 2:
            return self.fun(*args, **kwargs)
        watch_rules(self, "vjp", "jvp")
        call = _Call(self.fun, args, kwargs)
        given = [call.leaves[k] for k in call.data]
        ys = registry["custom"].run_regions(given, (call.run,), rule=_Rule(call, self), name=_name(self))
        return call.result(ys)

    def __get__(self, instance: object, owner: object = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __repr__(self) -> str:
        return f"<primitive {_name(self)}>"


class _Call(CustomCall):
    """A call that runs on plain arrays where they are known: on the tape."""

    def run(self, *xs: object) -> tuple:
        return tuple(self.data_of(_on_values(self.f, *self._filled(xs)))) if stack.is_live() else super().run(*xs)


def _on_values(f: Callable, args: tuple, kwargs: dict) -> Any:
    tape = stack.current()
    args, kwargs = tree.map_leaves(lambda x: _copy(tape.value(x)) if isinstance(x, Value) else x, (args, kwargs))
    with stack.concrete():
        return f(*args, **kwargs)


def _copy(x: object) -> Any:
    return x.copy() if isinstance(x, np.ndarray) else x


class _Rule(Rule):
    """The record that the transforms ask for a primitive's derivative."""

    def __init__(self, call: CustomCall, primitive: primitive):
        super().__init__(call)
        self.primitive = primitive
        args, kwargs = call.arguments.unflatten(list(range(len(call.leaves))))
        argnum_of = {leaf: n for n, a in enumerate(args) for leaf in tree.flatten(a)[0]}
        self.argnums = [argnum_of.get(leaf, -1) for leaf in call.data]                      # -1: passed by keyword
        if primitive.jvp is not None:
            self.jvp = self._jvp
        if primitive.vjp is not None:
            self.forward, self.backward = self._forward, self._backward

    @property
    def results(self) -> int:                               # type: ignore[override]
        return self.call.structure.leaves - len(self.call.statics)

    def _wanted(self, asked: Sequence) -> list:
        return sorted({n for n, is_asked in zip(self.argnums, asked) if is_asked})

    def _jvp(self, xs: Sequence, dxs: Sequence) -> tuple:
        args, kwargs = self.call.fill(xs)
        ans = self.primitive(*args, **kwargs)
        moved, _ = self.call.fill([zeros_of(x) if d is None else d for x, d in zip(xs, dxs)])
        wanted = self._wanted([d is not None for d in dxs])
        tangent = self.primitive.jvp(wanted, [moved[n] for n in wanted], ans, args, kwargs)      # type: ignore[misc]
        if tangent is None:
            return self.call.data_of(ans), [None] * self.results
        return self.call.data_of(ans), [g for g in conform("tangent of a jvp rule", tangent, ans) if g is not None]

    def _forward(self, xs: Sequence) -> tuple:
        args, kwargs = self.call.fill(xs)
        ans = self.primitive(*args, **kwargs)
        return self.call.data_of(ans), (ans, args, kwargs)

    def _backward(self, saved: tuple, gs: Sequence, needs: Sequence) -> list:
        ans, args, kwargs = saved
        wanted = self._wanted(needs)
        pull = self.primitive.vjp(wanted, ans, args, kwargs)                                     # type: ignore[misc]
        found = dict(zip(wanted, pull(conjugated(self.call.result(gs))), strict=True))
        given = [found.get(n) for n in range(len(args))]
        leaves = cotangent_leaves([None if g is None else conjugated(g) for g in given], args)
        return leaves + [None] * (len(self.call.data) - len(leaves))


def _name(fun: object) -> str:
    return getattr(fun, "__name__", "a primitive")


def _rules_by_argnum(fun: primitive, rules: Sequence, argnums: "Sequence | None", mode: str) -> Callable:
    """A function that finds the rule for an argument, or says that there is none."""
    by_argnum = dict(zip(range(len(rules)) if argnums is None else argnums, rules))

    def find(argnum: int) -> Any:
        if argnum not in by_argnum:
            raise NoDerivativeError(f"{mode} of {_name(fun)} wrt argnums ({argnum},) not defined",
                                    do=f"give a rule for it to def{mode.lower()}")
        return by_argnum[argnum]
    return find


def defvjp(fun: primitive, *vjpmakers: "Callable | None", argnums: "Sequence | None" = None) -> None:
    """Rules of reverse mode: vjpmaker(ans, *args, **kwargs) -> (g -> cotangent), one per argument, or per entry of
    argnums; None is zero."""
    find = _rules_by_argnum(fun, vjpmakers, argnums, "VJP")

    def vjp(wanted: Sequence, ans: object, args: tuple, kwargs: dict) -> Callable:
        pulls = [None if make is None else captured(make)(ans, *args, **kwargs) for make in map(find, wanted)]
        return lambda g: [None if pull is None else pull(g) for pull in pulls]
    fun.vjp = vjp


def defvjp_argnum(fun: primitive, vjpmaker: Callable) -> None:
    """One rule of reverse mode for each argument: vjpmaker(argnum, ans, args, kwargs) -> (g -> cotangent)."""
    def vjp(wanted: Sequence, ans: object, args: tuple, kwargs: dict) -> Callable:
        pulls = [captured(vjpmaker)(n, ans, args, kwargs) for n in wanted]
        return lambda g: [pull(g) for pull in pulls]
    fun.vjp = vjp


def defvjp_argnums(fun: primitive, vjpmaker: Callable) -> None:
    """One rule of reverse mode for several arguments: vjpmaker(argnums, ans, args, kwargs) -> (g -> cotangents)."""
    def vjp(wanted: Sequence, ans: object, args: tuple, kwargs: dict) -> Callable:
        return captured(vjpmaker)(tuple(wanted), ans, args, kwargs)
    fun.vjp = vjp


def defjvp(fun: primitive, *jvpfuns: "Callable | str | None", argnums: "Sequence | None" = None) -> None:
    """Rules of forward mode: jvpfun(g, ans, *args, **kwargs) -> tangent, one per argument, or per entry of argnums.
    None is zero; "same" is fun itself, which is linear in that argument."""
    find = _rules_by_argnum(fun, jvpfuns, argnums, "JVP")

    def part(argnum: int, g: object, ans: object, args: tuple, kwargs: dict) -> Any:
        rule = find(argnum)
        if rule is None:
            return None
        return _replaced(fun, argnum, g, args, kwargs) if rule == "same" else captured(rule)(g, ans, *args, **kwargs)
    fun.jvp = _summed(part)


def defjvp_argnum(fun: primitive, jvpmaker: Callable) -> None:
    """One rule of forward mode for each argument: jvpmaker(argnum, g, ans, args, kwargs) -> tangent."""
    fun.jvp = _summed(lambda *parts: captured(jvpmaker)(*parts))


def defjvp_argnums(fun: primitive, jvpmaker: Callable) -> None:
    """One rule of forward mode for several arguments: jvpmaker(argnums, gs, ans, args, kwargs) -> tangent."""
    fun.jvp = lambda *parts: captured(jvpmaker)(*parts)


def def_linear(fun: primitive) -> None:
    """Say that a function is linear in each of its arguments."""
    fun.jvp = _summed(lambda argnum, g, ans, args, kwargs: _replaced(fun, argnum, g, args, kwargs))


def _replaced(fun: primitive, argnum: int, g: object, args: tuple, kwargs: dict) -> Any:
    return fun(*args[:argnum], g, *args[argnum + 1:], **kwargs)


def _summed(part: Callable) -> Callable:
    def jvp(wanted: Sequence, gs: Sequence, ans: object, args: tuple, kwargs: dict) -> Any:
        parts = [part(n, g, ans, args, kwargs) for n, g in zip(wanted, gs)]
        total = None
        for tangent in parts:
            total = tangent if total is None else total if tangent is None else vspace(ans).add(total, tangent)
        return total
    return jvp


def notrace_primitive(fun: Callable) -> Callable:
    """A function whose result is a constant to every derivative."""
    @functools.wraps(fun)
    def untraced(*args: object, **kwargs: object) -> Any:
        if not stack.builders() or level_of(tree.flatten((args, kwargs))[0]) != 2:
            return fun(*args, **kwargs)
        if stack.is_live():
            return _on_values(fun, args, kwargs)
        return captured(fun)(*stop_gradient(args), **stop_gradient(kwargs))
    return untraced
