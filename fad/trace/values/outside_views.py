"""Arrays from outside that lie in one memory: `self.pos = self.state[:3]`, where both are read and one is written to.

    state ─► input c0 ◄──────── writes to all three
    pos   ─► input c1 ─ view of c0: index(c0, 0:3), once something was written
    vel   ─► input c2 ─ view of c0: index(c0, 3:6)

Each array from outside is an input by itself. Most functions only read such arrays, or write to one that stands alone.
A trace that has written to an array which shares memory with another one is made once more. In the second trace both
are views of their owner, the array in whose memory they lie, and the owner is an input, too (see Builder.capture).
"""
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any, TypeVar

import numpy as np

from ...ir.build import Builder, Value, building, current
from ...ir.graph import Literal
from ...ir.live import same
from ...util.array_views import Steps, along, lies_in, owner_of, steps_to
from ...util.errors import FadError
from ...util.memory import overlap, shared_memory
from .layout import c_order
from .mutation import Chain, view_links

T = TypeVar("T")


class SharedOwners(Exception):
    """A trace has written to an array that shares memory with another one. owners: the arrays in which they lie."""

    def __init__(self, owners: Sequence):
        super().__init__()
        self.owners = {id(x): x for x in owners}


def with_owners(trace: Callable[[dict], T]) -> T:
    """trace(owners), made again with further owners as long as it writes to arrays that share memory. owners: the
    arrays whose views this trace takes for views, id -> array.
    """
    found: dict[int, np.ndarray] = {}
    while True:
        try:
            return trace(found)
        except SharedOwners as error:
            found = {**found, **error.owners}


def keep_captures_apart(root: Builder, written: Sequence) -> None:
    """See to it that no array from outside to which the trace has written shares memory with another one.

    written: their places among the captured arrays. Raises SharedOwners where another trace can do better.
    """
    captured = list(root.trace.captured.values())
    place = {value.origin: k for k, (_, value) in enumerate(captured)}
    pairs = {(k, j) for k in written for j in range(len(captured))}
    pairs |= {(place[v], place[w]) for v, others in root.trace.apart.items() for w in others if {v, w} <= place.keys()}
    written_to = [captured[k][0] for k in {k for k, _ in pairs}]
    if any(lies_in(x, y) for x in written_to for y in root.trace.read_as_is.values()):
        raise shared_memory(are_outside=True)
    owners = []
    for x, y in _overlapping((captured[k], captured[j]) for k, j in pairs if k != j):
        owner = _common_owner(x, y)
        if owner is None:
            raise shared_memory(are_outside=True)
        owners.append(owner)
    if owners:
        raise SharedOwners(owners)


def note_read(array: np.ndarray) -> None:
    """Note that code which fad does not see may read an array from outside.

    Writes of the function to it, or to another one in the same memory, are there only after the program.
    """
    if any(lies_in(x, array) for x in _written_outside()):
        current().trace.read_as_is[id(array)] = array


def has_written() -> bool:
    """Whether the function has written to an array from outside, or may have."""
    return any(True for _ in _written_outside())


def _written_outside() -> Iterator[np.ndarray]:
    """The arrays from outside that the function has written to, or may have. In a region the write may come later in
    the text, and an iteration earlier. A tape runs line by line, and its integers are plain arrays.
    """
    builder: Any = current()
    root = builder.root
    is_in_order = builder.live or builder is root
    known = root.outside if root.live else root.trace.captured
    return (x for x, *seen in known.values() if not is_in_order or _is_written(*seen))


def _is_written(seen: Any, *before: np.ndarray) -> bool:
    return not same(seen, *before) if isinstance(seen, np.ndarray) else bool(seen._version)


@contextmanager
def refused_for_owners(root: Builder) -> Iterator[None]:
    """A trace that is refused after it has written to an array that shares memory with another one is made once more:
    with views of their owner it may not be refused.
    """
    try:
        yield
    except FadError:
        if root.parent is not None or root.live:
            raise
        captured = list(root.trace.captured.values())
        written = [entry for entry in captured if entry[1]._version]
        pairs = _overlapping((a, b) for a in written for b in captured if a is not b)
        owners = [owner for x, y in pairs if (owner := _common_owner(x, y)) is not None]
        if owners:
            raise SharedOwners(owners) from None
        raise


def _overlapping(pairs: Iterable) -> Iterator:
    """Of pairs of captured arrays, each with its tracer, those that share memory and are no views of one tracer."""
    return ((x, y) for (x, seen), (y, other) in pairs if seen.owner is not other.owner and overlap(x, y))


def _common_owner(x: np.ndarray, y: np.ndarray) -> "np.ndarray | None":
    """The array that both are views of, if the steps to them are known."""
    owner = owner_of(x)
    if owner is not owner_of(y) or steps_to(x, owner) is None or steps_to(y, owner) is None:
        return None
    return owner


def base_of(view: Any) -> Value:
    """The traced array in whose memory this one lies, itself as a rule."""
    return view if view.view_of is None else view.view_of.base


def lie_in_owner(view: object, array: np.ndarray) -> None:
    """Make what stands for an array from outside a view of what stands for its owner, if that is one whose views are
    to be, and steps lead from one to the other.
    """
    owner = owner_of(array)
    is_view = owner is not array and id(owner) in current().trace.owners
    steps = steps_to(array, owner) if is_view else None
    links = None if steps is None else _links(owner, steps, type(view))
    if links is not None:
        OutsideView(current().capture(owner), view, links, array).tied()


def _links(owner: np.ndarray, steps: Steps, value_class: type) -> "list | None":
    """The equations that lead from an owner to its view."""
    with building("view", value_class) as builder:
        x: Any = builder.array_input(owner.dtype, owner.shape, fixed=True)
        y: Any = along(steps, x)
        links, found = view_links(builder.equations, y.atom, {x.atom})
    is_fixed = all(isinstance(a, Literal) for eqn in links for a in eqn.inputs[1:])
    return None if found is None or not is_fixed else links


class OutsideView(Chain):
    """The way from an array from outside to a view of it that was made outside, too."""

    def __init__(self, source: object, view: object, links: list, array: np.ndarray):
        made: Any = SimpleNamespace(name="view")              # no call of the traced function
        super().__init__(source, view, links, made, is_writeable=array.flags.writeable)
        self.array = array

    def tied(self) -> Any:
        view: Any = super().tied()
        view.view_of.seen = 0                                     # the input holds what it does before the first write
        return view

    def is_view(self) -> bool:
        return True

    def layout(self) -> "tuple | None":
        return c_order(self.array.ndim) if self.array.flags.c_contiguous else None

    def example(self) -> list:
        return [self.array]


def lent(x: Value, given: np.ndarray, is_copy: bool) -> np.ndarray:
    """The numbers of an array for code that fad does not see. Such code may keep them, if they are no copy for it."""
    builder = current()
    return builder.lend(x.owner, given) if builder.live and not is_copy else given
