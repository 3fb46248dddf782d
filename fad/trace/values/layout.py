"""Memory layout, as far as a trace can know it. It decides whether reshape and ravel give a view or a copy.

A layout is the order of the axes, slowest first, in which the array is one dense block; None where that is not known.
"""
from typing import Any

from ...ir import stack
from ...ir.build import current
from ...ir.graph import Equation, Var
from ...ops.kinds import same_extent
from ...util.where import here

_MATRIX_PRODUCTS = {("ab", "bc", "ac"), ("ab", "b", "a"), ("a", "ab", "b"), ("a", "b", "ab")}


def _renamed(labels: tuple) -> tuple:
    """A contraction's labels, named in the order of their first appearance.

    >>> _renamed(("ik", "kj", "ij"))
    ('ab', 'bc', 'ac')
    """
    names = {letter: chr(97 + k) for k, letter in enumerate(dict.fromkeys("".join(labels)))}
    return tuple(["".join([names[letter] for letter in part]) for part in labels])


def c_order(rank: int) -> tuple:
    """The layout of an array whose last axis runs fastest.

    >>> c_order(3)
    (0, 1, 2)
    """
    return tuple(range(rank))


def producer(var: Var) -> "Equation | None":
    """The equation of the programs being built that made a variable."""
    for builder in reversed(stack.builders()):
        eqn = builder.definitions.of(var)
        if eqn is not None:
            return eqn
    return None


def layout_of(var: Var) -> "tuple | None":
    """C order, if NumPy made a new array in it where this variable was computed; None where that is not known.

    The trace sees that an input lies in C order, and takes this as a condition.
    """
    return c_order(len(var.type.shape)) if _is_in_c_order(var) else None


def _is_in_c_order(var: Var) -> bool:
    """Whether all that decides the order of an array is in C order. The answer is kept for all: chains are long."""
    found, waiting = dict.fromkeys([var], True), [var]
    while waiting:
        v = waiting.pop()
        known = _known(v)
        if known is None:
            before = _ordered_by(v)
            waiting += [a for a in reversed(before or []) if a not in found]
            found.update(dict.fromkeys(before or [], True))
            known = before is not None
        if not known:
            return False
    current().root.trace.dense.update(found)
    return True


def _known(var: Var) -> "bool | None":
    """The known memory order of a variable. The program relies on an input's order from now on."""
    root = current().root
    known = root.trace.dense.get(var)
    while isinstance(known, Var):
        var, known = known, root.trace.dense.get(known)
    if known and var in root.inputs:
        root.trace.relied[var] = None
    return known


def _ordered_by(var: Var) -> "list | None":
    """The operands whose order NumPy keeps in the result that a variable is; None if it has another order."""
    eqn = producer(var) if isinstance(var, Var) else None
    if eqn is None:
        return None
    order, kind = eqn.op.traits.order, eqn.op.kind
    if order == "C" or len(var.type.shape) < 2:
        return []
    if order == "first":
        return [eqn.inputs[0]]
    if kind == "contract":
        return [] if _renamed(eqn.params["labels"]) in _MATRIX_PRODUCTS else None
    if kind == "elementwise" or order == "common":
        # of an operand with at most one axis of several elements all orders are one
        return [a for a in eqn.inputs if sum(not isinstance(n, int) or n > 1 for n in a.type.shape) > 1]
    return None


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
    if eqn.reads_part:
        return c_order(rank) if _is_block(eqn.params["spec"]) else None
    return None


def _is_block(spec: tuple) -> bool:
    """Whether a selection of a dense array is dense: single indices, then at most one slice of step 1, then whole axes.
    """
    rest = list(spec)
    while rest and rest[0] == "i":
        rest.pop(0)
    if rest and rest[0] == ("s", 1):
        rest.pop(0)
    return all(entry == ":" for entry in rest)


def reshape_is_view(eqn: Equation, layout: "tuple | None", is_ravel: bool) -> "bool | None":
    """Whether NumPy's reshape gives a view (True) or a copy (False) of an array of this layout; None if that cannot be
    told.
    """
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
    return have_equal_extents(a, b)


def have_equal_extents(a: "list | tuple", b: "list | tuple") -> bool:
    """Whether two shapes are one, or were when the function was traced and may be taken to be."""
    return len(a) == len(b) and all(_are_equal(n, m) for n, m in zip(a, b))


def _are_equal(n: Any, m: Any) -> bool:
    """Whether two extents are one, or were equal when the function was traced and may be taken to be."""
    facts = current().integers
    return same_extent(n, m) or facts.assume_zero(facts.form(n) - facts.form(m), here())
