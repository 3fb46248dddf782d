"""overwrite: dead initialisation. A vector of zeros to whose elements a loop adds, one by one, need not be zeroed."""
from typing import Any

from ..ir.graph import Equation, Func, Literal, Var
from ..ir.op import registry
from ..ir.types import Type
from .rewrite import Scope, rewrite
from .simplify import adds_nothing
from .sums import Sums


def overwrite(func: Func) -> Func:
    """If every iteration of a loop over a whole vector of zeros adds to its own element, the first addition becomes an
    assignment.

        g = full(0.0, n); for i in range(n): g[i] += x[i]   ->   g = unwritten(n); for i in range(n): g[i] = x[i]
    """
    return rewrite(func, _visit)


def _visit(eqn: Equation, scope: Scope) -> Any:
    if eqn.op.name != "for" or [getattr(a, "value", None) for a in (eqn.inputs[0], eqn.inputs[2])] != [0, 1]:
        return None
    sums, init, first = Sums(eqn.regions[0]), list(eqn.inputs), {}
    for k, out in enumerate(eqn.outputs):
        adds = sums.chain(k)
        if adds and _covers(eqn, out, adds) and _is_zeros(init[3 + k], scope):
            init[3 + k] = scope.emit(registry["unwritten"], (eqn.inputs[1],), out.type, {"dtype": out.type.dtype}, eqn.where)
            first[adds[0]] = _assigned(adds[0], scope.producer(eqn.inputs[3 + k]).inputs[0])       # type: ignore[union-attr]
    if not first:
        return None
    region = eqn.regions[0]
    body = Func(region.name, region.inputs, [new for e in region.equations for new in first.get(e, (e,))], region.outputs)
    return Equation(eqn.op, tuple(init), eqn.outputs, eqn.params, (body,), eqn.where)


def _assigned(add: Equation, zero: Any) -> tuple:
    """The assignment in place of an addition to a zero; where that zero is a number, -0.0 becomes 0.0 as before."""
    x, v, *place = add.inputs
    if adds_nothing(zero, x):
        return (Equation(registry["update"], add.inputs, add.outputs, add.params, (), add.where),)
    total = Var(Type(x.type.dtype))
    return (Equation(registry["add"], (v, Literal(x.type.dtype.type(0), Type(x.type.dtype))), (total,), {}, (), add.where),
            Equation(registry["update"], (x, total, *place), add.outputs, add.params, (), add.where))


def _covers(loop: Equation, out: Var, adds: list) -> bool:
    """Whether the loop has one iteration for each element of the vector, and each iteration adds to its own element
    only.
    """
    stop, index = loop.inputs[1], loop.regions[0].inputs[0]
    extent = stop.value if isinstance(stop, Literal) else stop
    return out.type.shape == (extent,) and all(e.op.name == "index_add" and e.inputs[2:] == (index,) and e.params["spec"] == ("i",) for e in adds) \
        and all(e.inputs[1].type.dtype == out.type.dtype for e in adds)


def _is_zeros(a: Any, scope: Scope) -> bool:
    made = scope.producer(a)
    return made is not None and made.op.name == "full" and isinstance(made.inputs[0], Literal) and made.inputs[0].value == 0
