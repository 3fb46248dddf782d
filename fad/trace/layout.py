"""How an array lies in memory, as far as a trace can know: it decides whether reshape and ravel gave NumPy's user a view or a copy.

A layout is the order of the axes, slowest first, in which the array is one dense block; None where that is not known.
"""
from typing import Any

from ..ir import stack
from ..ir.graph import Equation, Var
from ..ops.kinds import same_extent

_MATRIX_PRODUCTS = {("ij", "jk", "ik"), ("ij", "j", "i"), ("i", "ij", "j"), ("i", "j", "ij")}


def c_order(rank: int) -> tuple:
    """The layout of an array whose last axis runs fastest.

    >>> c_order(3)
    (0, 1, 2)
    """
    return tuple(range(rank))


def producer(var: Var) -> "Equation | None":
    """The equation of the programs being built that made a variable."""
    for builder in reversed(stack.builders()):
        for eqn in reversed(builder.equations):
            if var in eqn.outputs:
                return eqn
    return None


def layout_of(var: Any) -> "tuple | None":
    """The layout of a new array that NumPy made where this variable was computed."""
    eqn = producer(var) if isinstance(var, Var) else None
    if eqn is None:
        return None
    if len(var.type.shape) < 2 or eqn.op.name in ("full", "pack"):
        return c_order(len(var.type.shape))
    if eqn.op.name in ("update", "index_add"):
        return layout_of(eqn.inputs[0])
    if eqn.op.name in ("transpose", "reshape"):
        return through(eqn, layout_of(eqn.inputs[0]))
    if eqn.op.name == "contract":
        return c_order(2) if eqn.params["labels"] in _MATRIX_PRODUCTS else None
    return _common(eqn, len(var.type.shape)) if eqn.op.kind in ("elementwise", "reduce") or eqn.op.name == "concatenate" else None


def _common(eqn: Equation, rank: int) -> "tuple | None":
    """NumPy keeps the layout that the operands have in common."""
    layouts = {layout_of(a) for a in eqn.inputs if len(a.type.shape) >= max(rank, 2)}
    if layouts == {c_order(len(eqn.inputs[0].type.shape))} and eqn.op.kind == "reduce":
        return c_order(rank)
    return layouts.pop() if len(layouts) == 1 else c_order(rank) if not layouts else None


def through(eqn: Equation, layout: "tuple | None") -> "tuple | None":
    """The layout of a view, given that of what it is a view of."""
    if layout is None:
        return None
    if eqn.op.name == "transpose":
        return tuple(eqn.params["axes"].index(a) for a in layout)
    if layout != c_order(len(layout)):
        return None
    rank = len(eqn.outputs[0].type.shape)
    if eqn.op.name == "reshape":
        return c_order(rank)
    if eqn.op.name == "index":
        return c_order(rank) if _is_block(eqn.params["spec"]) else None
    return None


def _is_block(spec: tuple) -> bool:
    """Whether a selection of a dense array is dense: single indices, then at most one slice of step 1, then whole axes."""
    rest = list(spec)
    while rest and rest[0] == "i":
        rest.pop(0)
    if rest and rest[0] == ("s", 1):
        rest.pop(0)
    return all(entry == ":" for entry in rest)


def reshape_is_view(eqn: Equation, layout: "tuple | None", is_ravel: bool) -> "bool | None":
    """Whether NumPy's reshape gives a view (True) or a copy (False) of an array of this layout; None if that cannot be told."""
    before, after = eqn.inputs[0].type.shape, eqn.outputs[0].type.shape
    if layout is not None and layout == c_order(len(layout)):
        return True
    if not is_ravel and (len(before) < 2 or _same_but_for_ones(before, after)):
        return True
    if layout is not None and len(after) == 1 and all(not isinstance(n, int) or n > 1 for n in before):
        return False
    return None


def _same_but_for_ones(before: tuple, after: tuple) -> bool:
    a, b = ([n for n in shape if not (isinstance(n, int) and n == 1)] for shape in (before, after))
    return len(a) == len(b) and all(same_extent(n, m) for n, m in zip(a, b))
