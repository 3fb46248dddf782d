"""Elements of lists in rows: what one is like, the types of its leaves, and the arrays in which they lie together."""
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from ...ir.build import Value, current
from ...ir.op import registry
from ...ir.types import Type, promoted, type_of
from ...ops.carry import assumed_equal, atom_type, convert, visible_extent
from ...ops.literals import as_array, constant, known
from ...util import tree
from ...util.array import AnyArray, ArrayOrNumber
from ...util.errors import UnstageableError
from ..heap.state import TreeLayout
from ..objects.containers import keeps_record
from ..values.constants import constant_of
from ..values.member import refuse_write
from ..values.tracer import Tracer
from ..values.zero_dim import joined, kind_of


class Like(NamedTuple):
    """The form of a list's element: its layout, and its leaves or their types."""

    layout: TreeLayout
    leaves: list


def like(x: object) -> Like:
    """The form of an element."""
    layout = TreeLayout(x)
    kinds = {k: kind_of(leaf) for k, leaf in enumerate(layout.leaves) if k not in layout.statics}
    layout.zero_dim = {k: kind for k, kind in kinds.items() if kind is not False}
    return Like(layout, layout.data)


def common_kinds(layouts: list) -> dict:
    """The leaves that are not numbers in all of these elements: whether they are arrays, or one or the other."""
    return {k: joined(*[x.zero_dim.get(k, False) for x in layouts]) for k in {k for x in layouts for k in x.zero_dim}}


def element_type(x: object) -> Type:
    """The type of an element's leaf, as the program around its region knows it."""
    t = x if isinstance(x, Type) else x.held.type if isinstance(x, Tracer) else atom_type(x)
    shape = tuple([visible_extent(n, current()) for n in t.shape])                  # type: ignore[union-attr]
    if None in shape:
        raise UnstageableError("a list gets arrays whose sizes change from iteration to iteration",
                               do="let the arrays be of one size, or assign into one array")
    return Type(t.dtype, shape, t.weak)                                             # type: ignore[union-attr]


def note_types(seen: Iterable, types: Iterable) -> None:
    """Take note of the types of numbers that lie in rows of one type. They are one set for all copies of a list."""
    for noted, t in zip(seen, types):
        noted.add((t.dtype, t.weak))


def note_doubtful(x: AnyArray, types: set) -> AnyArray:
    """x, a number taken out of a row in which numbers of these types lie: nobody knows which type it had."""
    if len(types) > 1 and isinstance(x, Tracer) and not x.ndim:
        current().root.trace.doubtful[x.held] = types
    return x


def types_of_numbers(numbers: Iterable) -> set:
    """The dtypes and strengths of numbers, those of one taken out of a row among them."""
    doubtful, found = current().root.trace.doubtful, set[tuple]()
    for x in numbers:
        types = doubtful.get(x.held) if isinstance(x, Tracer) else None
        found |= types or {(type_of(x).dtype, type_of(x).weak)}
    return found


def common_type(types: list) -> Type:
    """The type that leaves of these types lie in together."""
    first = types[0]
    for t in types[1:]:
        if not _is_one_shape(t, first):
            raise UnstageableError("a list gets arrays of different shapes")
    return Type(promoted(types), first.shape, all(t.weak for t in types))


def have_shapes(types: list, leaves: list) -> bool:
    """Whether leaves have the shapes of these types."""
    return all(_is_one_shape(t, type_of(x)) for t, x in zip(types, leaves))


def _is_one_shape(t: Any, other: Any) -> bool:
    return t.rank == other.rank and all(map(assumed_equal, t.shape, other.shape))


def wider_types(types: list, leaves: list) -> "list | None":
    """The types that leaves need which are put where these types are; None if they fit. The arrays of a list are of one
    shape: a smaller one would be broadcast.
    """
    if not have_shapes(types, leaves):
        raise UnstageableError("a list gets arrays of different shapes")
    wider = [Type(promoted([t, type_of(x)]), t.shape, t.weak and type_of(x).weak) for t, x in zip(types, leaves)]
    return wider if any(t.dtype != w.dtype for t, w in zip(types, wider)) else None


class Fixed(list):
    """A list that is an element of a list in rows: it may be read."""

    append = extend = insert = pop = remove = clear = sort = reverse = refuse_write  # type: ignore[assignment]
    __setitem__ = __delitem__ = __iadd__ = __imul__ = refuse_write  # type: ignore[assignment]


tree.register(Fixed, lambda x: (tuple(x), None), lambda _, c: list(c), list)


def are_alike(items: list) -> bool:
    """Whether the elements of a list are of one kind, so that it may lie in rows as an element of another: numbers,
    arrays, or such lists.

    A few numbers of different kinds are a record, and stay apart.
    """
    layouts = [TreeLayout(x) for x in items]
    if not items or any(x.statics or x.is_undefined for x in layouts):
        return False
    if any(x.structure.cls is not None for x in layouts):
        return all(isinstance(x, list) and len(x) == len(items[0]) and are_alike(x) for x in items)
    types = [type_of(x) for x in items]
    is_record = len(items) <= LONGEST_RECORD and len({t.dtype for t in types}) > 1
    return not is_record and len({t.rank for t in types}) == 1


LONGEST_RECORD = 8


def column(leaves: list, t: Type) -> Any:
    """Leaves of this type as one array. Numbers that are known now are a constant of the program."""
    values = [_known(x) for x in leaves]
    if any(x is None for x in values):
        found = as_array(leaves)
        return found if found.dtype == t.dtype else registry["cast"](found, dtype=t.dtype)
    array = np.array(values, t.dtype)
    first = array.reshape(-1)[:1]
    if array.size and (array == first).all() and not np.signbit(first.real)[0]:
        return registry["full"](first[0], *array.shape, dtype=t.dtype)
    return constant(array)


def laid_out(types: list, held: list, old: "list | None", before: ArrayOrNumber, more: Any) -> list:
    """An array for each leaf of an element, of these types and with room for `more`: it begins with what the old arrays
    have, or else with the leaves of each element that is held.
    """
    rows = []
    for k, t in enumerate(types):
        now = old[k][:before] if old else column([leaves[k] for leaves in held], t) if held else None
        if now is not None and isinstance(more, int) and more == 0 and now.dtype == t.dtype:
            rows.append(Tracer(now.builder, now.atom))
            continue
        row = registry["full"](0, before + more, *[current().value_of(n) for n in t.shape], dtype=t.dtype)
        if now is not None:
            row[:before] = now
        rows.append(row)
    return rows


def _known(x: ArrayOrNumber) -> Any:
    """A leaf's value, if it is known now."""
    found = known(x)
    return constant_of(x.atom) if found is None and isinstance(x, Tracer) else found


def require_fixed(structure: tree.Structure) -> None:
    """An element of rows may be made of tuples and lists; other objects are ones that may change."""
    cls = structure.cls
    if cls is not None and not issubclass(cls, (tuple, list, type(None))):
        raise UnstageableError(f"a list gets objects of class {cls.__name__} in a loop", why="they may change later")
    for child in structure.children:
        require_fixed(child)


def as_number(x: object, t: Type) -> Any:
    """An element as the number that Python had put into the list: its type gives way to an array's."""
    is_numpys = isinstance(x, Value) and not x.type.weak
    return registry["cast"](x, dtype=t.dtype, weak=True) if t.weak and is_numpys else convert(x, t)


def lists_in(x: Any) -> list:
    """The lists that an element is made of; what one in rows holds is in its arrays."""
    if keeps_record(x) and x.rows is not None:
        return [x]
    inside = [found for y in x for found in lists_in(y)] if isinstance(x, (list, tuple)) else []
    return [x, *inside] if isinstance(x, list) else inside
