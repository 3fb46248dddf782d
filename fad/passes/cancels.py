"""cancels: a maximum that is subtracted and added again, against overflow, is a constant to derivatives.

    log(sum(exp(x - a))) + a        and        exp(x - a) / sum(exp(x - a))        are the same for every a

So their derivative with respect to a is zero, and nobody needs the derivative of the maximum. The pass describes how
each value follows a: shifted by c a (a sum), or scaled by exp(c a) (a product). If no result follows a, a has no
derivative. One sweep over the program for each maximum.
"""
from collections.abc import Callable
from typing import Any, NamedTuple

from ..ir.graph import Equation, Func, Literal, Var, free_vars
from ..ir.op import registry
from ..ops.kinds import same_extent
from .rewrite import rewrite


class Follows(NamedTuple):
    """v = w + c a or v = w exp(c a), for a w without a; axes: where each axis of a is in v."""

    scales: bool
    c: float
    axes: tuple


class _UnknownOrder(Exception):
    """It is not known how a value follows a."""


def without_cancelling(func: Func) -> Func:
    """The Func in which maxima (and minima) whose derivative cancels are constants to derivatives.

        a = max(x); y = add(log(sum(exp(sub(x, a)))), a)   ->   a = stop_gradient(max(x)); ...
    """
    found = {eqn.outputs[0] for k, eqn in enumerate(func.equations) if _is_extreme(eqn) and _cancels(func, k)}
    if not found:
        return func
    return rewrite(func, lambda eqn, scope: _constant(eqn, scope) if eqn.outputs and eqn.outputs[0] in found else None)


def _is_extreme(eqn: Equation) -> bool:
    reduction = eqn.op.traits.reduction
    return reduction is not None and reduction.is_extreme


def _constant(eqn: Equation, scope: Any) -> list:
    a = scope.emit(eqn.op, eqn.inputs, eqn.outputs[0].type, eqn.params, eqn.where)
    return [scope.emit(registry["stop_gradient"], (a,), a.type, {}, eqn.where)]


def _cancels(func: Func, k: int) -> bool:
    a = func.equations[k].outputs[0]
    if a.type.dtype.kind != "f":
        return False
    follows = {a: Follows(False, 1.0, tuple(range(a.type.rank)))}
    try:
        for eqn in func.equations[k + 1:]:
            _follow(eqn, follows)
    except _UnknownOrder:
        return False
    return not any(v in follows for v in func.outputs)


def _follow(eqn: Equation, follows: dict) -> None:
    given = [follows.get(x) if isinstance(x, Var) else None for x in eqn.inputs]
    if not any(given):
        if any(v in follows for region in eqn.regions for v in free_vars(region)):
            raise _UnknownOrder
        return
    rule = _compared if eqn.op.traits.comparison is not None else RULES.get(eqn.op.name)
    if rule is None or eqn.regions or len(eqn.outputs) != 1:
        raise _UnknownOrder
    if eqn.op.kind == "elementwise":
        given = [g and _aligned(g, x.type.shape, eqn.outputs[0].type.shape) for g, x in zip(given, eqn.inputs)]
    answer = rule(eqn, given)
    if answer is not None and answer.c:
        follows[eqn.outputs[0]] = answer


def _aligned(g: Follows, shape: tuple, out: tuple) -> Follows:
    """The same in terms of the axes of a result that broadcasts."""
    more = len(out) - len(shape)
    if not all(same_extent(shape[k], out[k + more]) for k in g.axes):
        raise _UnknownOrder
    return g._replace(axes=tuple([k + more for k in g.axes]))


# -- rules: how the result follows a, None if it does not ------------------------------------------


def _known(holds: bool) -> None:
    if not holds:
        raise _UnknownOrder


def _number(x: Any) -> float:
    _known(isinstance(x, Literal) and not isinstance(x.value, complex))
    return float(x.value)


def _sum(sign: float) -> Callable:
    def rule(eqn: Equation, given: list) -> "Follows | None":
        x, y = given
        if x is not None and y is not None:
            _known(x.scales == y.scales and x.axes == y.axes)
            _known(not x.scales or x.c == y.c)
            return x if x.scales else x._replace(c=x.c + sign * y.c)
        _known(not (x or y).scales)
        return x or y._replace(c=sign * y.c)
    return rule


def _negative(eqn: Equation, given: list) -> Follows:
    g, = given
    return g if g.scales else g._replace(c=-g.c)


def _product(eqn: Equation, given: list) -> Follows:
    x, y = given
    if x is not None and y is not None:
        _known(x.scales and y.scales and x.axes == y.axes)
        return x._replace(c=x.c + y.c)
    g, other = (x, eqn.inputs[1]) if x is not None else (y, eqn.inputs[0])
    return g if g.scales else g._replace(c=g.c * _number(other))


def _quotient(eqn: Equation, given: list) -> Follows:
    x, y = given
    if y is None:
        return x if x.scales else x._replace(c=x.c / _nonzero(eqn.inputs[1]))
    _known(y.scales and (x is None or (x.scales and x.axes == y.axes)))
    return y._replace(c=(x.c if x is not None else 0.0) - y.c)


def _nonzero(x: object) -> float:
    n = _number(x)
    _known(n != 0.0)
    return n


def _power(eqn: Equation, given: list) -> Follows:
    x, y = given
    _known(y is None and x.scales)
    return x._replace(c=x.c * _number(eqn.inputs[1]))


def _scaled(factor: float) -> Callable:
    def rule(eqn: Equation, given: list) -> Follows:
        g, = given
        _known(g.scales)
        return g._replace(c=g.c * factor)
    return rule


def _exp(eqn: Equation, given: list) -> Follows:
    _known(not given[0].scales)
    return given[0]._replace(scales=True)


def _log(eqn: Equation, given: list) -> Follows:
    _known(given[0].scales)
    return given[0]._replace(scales=False)


def _alike(eqn: Equation, given: list) -> Follows:
    """A choice among values that follow a in one way."""
    _known(given[0] is not None and all(g == given[0] for g in given))
    return given[0]


def _compared(eqn: Equation, given: list) -> None:
    """Values that follow a in one way stay in their order, and so do scaled ones and zero."""
    if None in given:
        g, other = (given[0], eqn.inputs[1]) if given[0] is not None else (given[1], eqn.inputs[0])
        _known(g.scales and _number(other) == 0.0)
    else:
        _known(given[0] == given[1])


def _sum_of_terms(eqn: Equation, given: list) -> Follows:
    _known(given[0].scales)
    return _reduced(eqn, given)


def _reduced(eqn: Equation, given: list) -> Follows:
    kept = [k for k in range(eqn.inputs[0].type.rank) if k not in eqn.params["axes"]]
    _known(all(k in kept for k in given[0].axes))
    return given[0]._replace(axes=tuple([kept.index(k) for k in given[0].axes]))


def _transposed(eqn: Equation, given: list) -> Follows:
    return given[0]._replace(axes=tuple([eqn.params["axes"].index(k) for k in given[0].axes]))


def _broadcast(eqn: Equation, given: list) -> Follows:
    _known(all(g is None for g in given[1:]))
    return _aligned(given[0], eqn.inputs[0].type.shape, eqn.outputs[0].type.shape)


def _reshaped(eqn: Equation, given: list) -> Follows:
    """A reshape in which axes of extent 1 come and go."""
    _known(all(g is None for g in given[1:]))
    before, after = ([k for k, n in enumerate(v.type.shape) if not same_extent(n, 1)]
                     for v in (eqn.inputs[0], eqn.outputs[0]))
    shapes = eqn.inputs[0].type.shape, eqn.outputs[0].type.shape
    _known(len(before) == len(after) and all(same_extent(shapes[0][j], shapes[1][k]) for j, k in zip(before, after)))
    _known(all(k in before for k in given[0].axes))
    return given[0]._replace(axes=tuple([after[before.index(k)] for k in given[0].axes]))


def _same(eqn: Equation, given: list) -> Follows:
    _known(eqn.outputs[0].type.dtype.kind == "f")
    return given[0]


RULES: dict[str, Callable] = {
    "add": _sum(1.0), "sub": _sum(-1.0), "neg": _negative, "mul": _product, "div": _quotient, "pow": _power,
    "square": _scaled(2.0), "sqrt": _scaled(0.5), "reciprocal": _scaled(-1.0), "abs": _scaled(1.0), "exp": _exp,
    "log": _log, "maximum": _alike, "minimum": _alike, "logaddexp": _alike, "sum": _sum_of_terms, "max": _reduced,
    "min": _reduced, "transpose": _transposed, "broadcast_to": _broadcast, "reshape": _reshaped, "cast": _same,
}
