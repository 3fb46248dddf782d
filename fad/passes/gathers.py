"""gathers: a gather moves in front of the computation whose rows it picks, so that only the picked rows are computed.

It moves up along one axis through ops that treat rows alike, if nothing else needs all the rows and at most half of
them are picked (as far as sizes are known; the numbers are the same either way).
"""
from collections import Counter
from collections.abc import Callable
from typing import Any

from ..ir.graph import Equation, Func, Literal, Var
from ..ir.op import registry
from ..ir.types import Type
from ..ir.uses import use_counts
from ..ops.kinds import same_extent
from .dce import dce
from .rewrite import Scope, as_atom, rewrite

LESS = 2                                                     # how many times fewer rows it has to be


def hoist_gathers(func: Func) -> Func:
    """The Func in which gathers stand as early as they pay.

        y = sin(matmul(X, w)); z = index(y, rows)   ->   z = sin(matmul(index(X, rows), w))
    """
    if not any(is_gather(eqn) for eqn in func.equations):
        return func
    uses = use_counts(func)
    new = rewrite(func,
                  lambda eqn, scope: _Gather(eqn, scope, uses).hoisted() if is_gather(eqn) and _pays(eqn) else None)
    return dce(new)


def is_gather(eqn: Equation) -> bool:
    """Whether the equation picks rows along one axis by a vector of indices, and keeps them along that axis."""
    if not eqn.reads_part or len(eqn.inputs) != 2 or len(eqn.inputs[1].type.shape) != 1:
        return False
    spec = eqn.params["spec"]
    return spec.count("a") == 1 and spec.count(":") == len(spec) - 1 and eqn.params["at"] == spec.index("a")


def _pays(eqn: Equation) -> bool:
    many, few = (_size(n) for n in (eqn.inputs[0].type.shape[eqn.params["at"]], eqn.inputs[1].type.shape[0]))
    return many is not None and few is not None and few * LESS <= many


def _size(n: Any) -> "int | None":
    return n if isinstance(n, int) else n.hint


class _Gather:
    """One gather: rows of an array, and of the arrays that it is computed from."""

    def __init__(self, eqn: Equation, scope: Scope, uses: Counter):
        self.eqn, self.scope, self.uses = eqn, scope, uses
        self.rows = eqn.inputs[1]
        self.extent = self.rows.type.shape[0]
        self.taken: dict[tuple, Any] = {}

    def hoisted(self) -> "list | None":
        """The result in place of the gather's; None where it stays."""
        x, axis = self.eqn.inputs[0], self.eqn.params["at"]
        result = self._computed(x, axis)
        return None if result is None else [result]

    def of(self, x: object, axis: int) -> Any:
        """The gathered rows of x along an axis."""
        if (x, axis) not in self.taken:
            result = self._computed(x, axis)
            self.taken[x, axis] = self._index(x, axis) if result is None else result
        return self.taken[x, axis]

    def _index(self, x: Any, axis: int) -> Any:
        spec = tuple(["a" if k == axis else ":" for k in range(x.type.rank)])
        return self._emit(registry["index"], (x, self.rows), x, axis, {"spec": spec, "at": axis})

    def _computed(self, x: object, axis: int) -> Any:
        """The rows of x, computed from rows of its operands; None if that cannot be done, or if others use x."""
        made = self.scope.made_by.get(x) if isinstance(x, Var) and self.uses[x] == 1 else None
        if made is None or made.regions or len(made.outputs) != 1:
            return None
        rule = RULES.get(made.op.name) or RULES.get(made.op.kind)
        places = rule(made, axis) if rule is not None else None
        if places is None:
            return None
        inputs = [a if k is None else as_atom(self.extent) if k < 0 else self.of(a, k)
                  for a, k in zip(made.inputs, places)]
        return self._emit(made.op, inputs, x, axis, made.params, made.where)

    def _emit(self, op: Any, inputs: Any, like: Any, axis: int, params: dict, where: Any = None) -> Any:
        shape = tuple([self.extent if k == axis else n for k, n in enumerate(like.type.shape)])
        return self.scope.emit(op, inputs, Type(like.type.dtype, shape), params, where or self.eqn.where)


# -- for each operand: the axis of its rows, None if it stays as it is, EXTENT if it is the number of rows

EXTENT = -1


def _broadcast(shape: tuple, out: tuple, axis: int) -> Any:
    """The axis of an operand that broadcasts to a shape: None if it has one row for all, False if that is unknown."""
    k = axis - (len(out) - len(shape))
    if k < 0 or same_extent(shape[k], 1):
        return None
    return k if same_extent(shape[k], out[axis]) else False


def _checked(places: list) -> "list | None":
    return None if any(p is False for p in places) else places


def _elementwise(eqn: Equation, axis: int) -> "list | None":
    out = eqn.outputs[0].type.shape
    return _checked([None if isinstance(a, Literal) else _broadcast(a.type.shape, out, axis) for a in eqn.inputs])


def _contract(eqn: Equation, axis: int) -> "list | None":
    *operands, out = eqn.params["labels"]
    return [letters.index(out[axis]) if out[axis] in letters else None for letters in operands]


def _reduce(eqn: Equation, axis: int) -> "list | None":
    return [[k for k in range(eqn.inputs[0].type.rank) if k not in eqn.params["axes"]][axis]]


def _transpose(eqn: Equation, axis: int) -> "list | None":
    return [eqn.params["axes"][axis]]


def _reshape(eqn: Equation, axis: int) -> "list | None":
    """A reshape that leaves the axes up to this one."""
    before, after = eqn.inputs[0].type.shape, eqn.outputs[0].type.shape
    if len(before) <= axis or not all(same_extent(m, n) for m, n in zip(before[:axis + 1], after)):
        return None
    return [axis, *_extents(after, axis)]


def _broadcast_to(eqn: Equation, axis: int) -> "list | None":
    shape = eqn.outputs[0].type.shape
    return _checked([_broadcast(eqn.inputs[0].type.shape, shape, axis), *_extents(shape, axis)])


def _extents(shape: tuple, axis: int) -> list:
    return [EXTENT if k == axis else None for k in range(len(shape))]


def _concatenate(eqn: Equation, axis: int) -> "list | None":
    out = eqn.outputs[0].type.shape
    return None if eqn.params["axis"] == axis else _checked([_broadcast(a.type.shape, out, axis) for a in eqn.inputs])


RULES: dict[str, Callable[[Equation, int], "list | None"]] = {
    "elementwise": _elementwise, "contract": _contract, "reduce": _reduce, "transpose": _transpose, "reshape": _reshape,
    "broadcast_to": _broadcast_to, "concatenate": _concatenate,
}
