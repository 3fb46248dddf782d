"""Elements of lists that loops fill: what one is like, the types of its leaves, and that it may be read but not written to."""
from typing import Any, NamedTuple

from ..ir.build import current
from ..ir.types import Type, promoted
from ..ops.carry import atom_type, same_extent, visible_extent
from ..util import tree
from ..util.errors import SideEffectError, UnstageableError
from .state import Layout
from .tracer import Tracer


class Like(NamedTuple):
    """What an element of a list is like: its layout, and its leaves or their types."""

    layout: Layout
    leaves: list


def like(x: Any) -> Like:
    """What an element is like."""
    layout = Layout(x)
    return Like(layout, layout.data)


def element_type(x: Any) -> Type:
    """The type of an element's leaf, as the program around its region knows it."""
    t = x if isinstance(x, Type) else atom_type(x)
    shape = tuple([visible_extent(n, current()) for n in t.shape])                  # type: ignore[union-attr]
    if None in shape:
        raise UnstageableError("a list gets arrays whose sizes change from turn to turn", do="let the arrays be of one size, or assign into one array")
    return Type(t.dtype, shape, t.weak)                                             # type: ignore[union-attr]


def common_type(types: list) -> Type:
    """The type that leaves of these types lie in together."""
    first = types[0]
    for t in types[1:]:
        if t.rank != first.rank or not all(same_extent(m, n) for m, n in zip(t.shape, first.shape)):
            raise UnstageableError("a list gets arrays of different shapes")
    return Type(promoted(types), first.shape, all(t.weak for t in types))


def refuse_write(*_: Any) -> Any:
    """What stands for every method that would change an element."""
    raise SideEffectError("an array is written to that is an element of a list which a loop fills", why="the list holds copies of its elements",
                          do="copy the element first (y = out[k].copy()), or write to the array before it is appended")


class Fixed(list):
    """A list that is an element of a list in rows: it may be read."""

    append = extend = insert = pop = remove = clear = sort = reverse = refuse_write                    # type: ignore[assignment]
    __setitem__ = __delitem__ = __iadd__ = __imul__ = refuse_write                                     # type: ignore[assignment]


tree.register(Fixed, lambda x: (tuple(x), None), lambda _, c: list(c), list)


def read_only(y: Any, kin: Any = ()) -> Any:
    """An element: a value of its own, that may not be written to; kin: arrays that it may be."""
    if not isinstance(y, Tracer) or not y.ndim:
        return y
    own = Tracer(y.builder, y.atom)
    own.kin = kin
    return own.as_view(Tracer(y.builder, y.atom), lambda base: base, refuse_write)
