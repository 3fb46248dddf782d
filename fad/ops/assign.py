"""Assignment: the array that x is after `x[subscript] = value`, by NumPy's rules of casting and broadcasting."""
from typing import Any

import numpy as np

from ..ir.build import Value, current
from ..ir.graph import Literal, Var
from ..ir.op import registry
from ..ir.types import is_number, type_of
from ..util.array import AnyArray, ArrayOrNumber
from ..util.defects import asked_by_user
from .kinds import shape_of
from .literals import SEQUENCES, as_array, constant, has_arrays, has_values, is_value, produced_by, require_room
from .subscript import Selection, agree_with_mask, is_integer, read_subscript

_OPERANDS = {":": 0, "i": 1}                                  # of an entry of a selection; a slice has two
_PYTHON = {"i": int, "u": int, "f": float}


def as_assigned(value: object, dtype: np.dtype, is_element: bool = False) -> Any:
    """A value in the dtype of the array it is written to; a Python number stays one. is_element: convert NumPy's
    numbers as Python's."""
    if isinstance(value, SEQUENCES) and not has_values(value) and not has_arrays(value):
        return constant(np.asarray(value, dtype))
    v = as_array(value)
    if not shape_of(v) and (is_element or is_number(v) or type_of(v).weak):
        return _converted(v, dtype)
    return v if type_of(v).dtype == dtype else registry["cast"](v if is_value(v) else np.asarray(v), dtype=dtype)


def _converted(v: ArrayOrNumber, dtype: np.dtype) -> Any:
    """A number as Python converts it to an element of this dtype. A nan is no int, nor is a number beyond the dtype's
    range."""
    if not is_value(v):
        element = np.zeros((), dtype)
        asked_by_user(element.__setitem__, (), v)
        return float(v) if isinstance(v, float) and dtype.kind == "f" else element.item()
    t = type_of(v)
    if t.weak and t.dtype.kind == "c" and dtype.kind in "iuf":
        raise TypeError(f"{_PYTHON[dtype.kind].__name__}() argument must be a string or a real number, not 'complex'")
    if (dtype.kind in "iu" and t.dtype.kind in "iuf" and (t.weak or t.dtype.kind == "f" or dtype != np.uint64)
            and not np.can_cast(t.dtype, dtype, "safe")):
        require_room(v, dtype)
    return v if t.dtype == dtype else registry["cast"](v, dtype=dtype)


def assigned(x: ArrayOrNumber, subscript: object, value: object) -> AnyArray:
    """x as it is after x[subscript] = value."""
    v = as_assigned(value, type_of(x).dtype, is_element=_is_basic(subscript))
    mask = _mask_of(subscript)
    if mask is not None and len(shape_of(v)) <= len(shape_of(x)) - len(shape_of(mask)):
        return _masked(x, mask, v)
    return written(x, read_subscript(x, subscript), v)


def _is_basic(subscript: object) -> bool:
    """Whether a subscript holds no arrays."""
    items = subscript if isinstance(subscript, tuple) else (subscript,)
    return all(s is None or s is Ellipsis or isinstance(s, slice) or is_integer(s) for s in items)


def _mask_of(subscript: Any) -> Any:
    """The boolean array that a subscript consists of, or None."""
    if isinstance(subscript, tuple) and len(subscript) == 1:
        subscript = subscript[0]
    if hasattr(subscript, "dtype") and subscript.dtype.kind == "b" and subscript.ndim:
        return subscript
    return None


def _masked(x: ArrayOrNumber, mask: AnyArray, v: ArrayOrNumber) -> AnyArray:
    """x with v where the mask holds, the mask standing for x's first axes."""
    read_mask_extents(x, mask)
    rest = len(shape_of(x)) - len(shape_of(mask))
    if rest:
        mask = registry["reshape"](as_array(mask), *shape_of(mask), *[1] * rest)
    return registry["where"](mask, v, x)


def read_mask_extents(x: ArrayOrNumber, mask: AnyArray) -> None:
    """See to it that a mask has the extents of x's first axes."""
    for axis, (n, m) in enumerate(zip(shape_of(x), shape_of(mask))):
        agree_with_mask(n, m, axis)


def written(x: ArrayOrNumber, selection: Selection, v: ArrayOrNumber) -> AnyArray:
    """x with v (in x's dtype) in the selected part; where v is that part plus something, that is added in place."""
    if selection.is_view or "a" not in selection.spec:
        term = _term_added(x, selection, v)
        if term is not None:
            return selection.add(x, term)
        whole = _part_of_part(x, selection, v)
        if whole is not None:
            return whole
    return selection.write(x, v)


def _part_of_part(x: ArrayOrNumber, selection: Selection, v: ArrayOrNumber) -> Any:
    """x with v, if v is the selected part with a part of its own changed: only that part is written (x[i][j] = u).
    None otherwise."""
    made = produced_by(v, "update", "index_add")
    if (made is None or not isinstance(x, Value) or selection.new_axes or not {"i", ":"}.issuperset(selection.spec)
            or "a" in made.params["spec"]):
        return None
    if not isinstance(made.inputs[0], Var) or not _is_selection_of(made.inputs[0], x, selection):
        return None
    values = iter([a.value if isinstance(a, Literal) else current().value_of(a) for a in made.inputs[1:]])
    new, within, outer = next(values), iter(made.params["spec"]), iter(selection.operands)
    spec, operands = [], []
    for entry in selection.spec:
        spec.append(entry if entry == "i" else next(within))
        operands += [next(outer)] if entry == "i" else [next(values) for _ in range(_OPERANDS.get(spec[-1], 2))]
    return made.op(x, new, *operands, spec=tuple(spec), at=0)


def _term_added(x: ArrayOrNumber, selection: Selection, v: ArrayOrNumber) -> Any:
    """The t of v = x[selection] + t, or None: x[i] += t then needs no reading apart, and its derivative no zeroing."""
    made = produced_by(v, "add", "sub")
    if made is None or not isinstance(x, Value) or selection.new_axes or selection.is_whole:
        return None
    for part, other in (made.inputs, made.inputs[::-1])[:2 if made.op.name == "add" else 1]:
        part = _as_read(part)
        if (isinstance(part, Var) and _is_selection_of(part, x, selection)
                and (isinstance(other, Literal) or other.type.dtype == x.dtype)):
            term = other.value if isinstance(other, Literal) else current().value_of(other)
            return -term if made.op.name == "sub" else term
    return None


def _as_read(part: Any) -> Any:
    """The element of a list, before it was made a Python number."""
    made = produced_by(current().value_of(part), "cast") if isinstance(part, Var) else None
    return made.inputs[0] if made is not None and made.inputs[0].type.dtype == part.type.dtype else part


def _is_selection_of(part: Var, x: Value, selection: Selection) -> bool:
    made = produced_by(current().value_of(part), "index")
    return (made is not None and made.inputs[0] is x.atom and made.params == selection.params()
            and all(_same_atom(a, o) for a, o in zip(made.inputs[1:], selection.operands)))


def _same_atom(atom: object, operand: ArrayOrNumber) -> bool:
    return atom is operand.atom if isinstance(operand, Value) else isinstance(atom, Literal) and atom.value == operand
