"""hoist_transposes: a transpose of gathered rows is a gather from a transposed view, so that nothing is copied twice.

A dense Jacobian by forward mode ends with a transpose, since its columns come first. One walk over the program.
"""
from collections import Counter
from typing import Any

from ..ir.graph import Atom, Equation, Func, Literal
from ..ir.op import registry
from ..ir.types import Type
from ..ir.uses import use_counts
from .dce import dce
from .gathers import is_gather
from .rewrite import Scope, rewrite


def hoist_transposes(func: Func) -> Func:
    """The Func in which transposes stand before gathers of rows, and before cheap ops on these, that nobody else reads.

        y = neg(index(X, rows)); z = transpose(y)   ->   z = neg(index(transpose(X), rows))
    """
    if not any(eqn.op.name == "transpose" for eqn in func.equations):
        return func
    uses = use_counts(func)

    def visit(eqn: Equation, scope: Scope) -> "list | None":
        if eqn.op.name != "transpose":
            return None
        result = _transposed(eqn.inputs[0], eqn.params["axes"], scope, uses)
        return None if result is None else [result]
    new = rewrite(func, visit)
    return func if new is func else dce(new)


def _transposed(x: Atom, axes: tuple, scope: Scope, uses: Counter) -> Any:
    """The transpose of x, gathered from a view; None where x is no gather, or others read it."""
    made = scope.made_for_one(x, uses)
    if made is None or made.regions or len(made.outputs) != 1:
        return None
    out = Type(x.type.dtype, tuple([x.type.shape[k] for k in axes]))
    if is_gather(made):
        base, rows = made.inputs
        view = Type(base.type.dtype, tuple([base.type.shape[k] for k in axes]))
        turned = scope.emit(registry["transpose"], (base,), view, {"axes": axes}, made.where)
        spec = tuple([made.params["spec"][k] for k in axes])
        return scope.emit(made.op, (turned, rows), out, {"spec": spec, "at": spec.index("a")}, made.where)
    if made.op.kind != "elementwise" or not made.op.traits.affine:
        return None
    arrays = [a for a in made.inputs if not isinstance(a, Literal) and a.type.shape]
    if len(arrays) != 1 or arrays[0].type.shape != x.type.shape:
        return None
    turned = _transposed(arrays[0], axes, scope, uses)
    if turned is None:
        return None
    inputs = [turned if a is arrays[0] else a for a in made.inputs]
    return scope.emit(made.op, inputs, out, made.params, made.where)
