"""The contents of containers, objects and arrays, kept to be compared with at each call.

All that is reached is one graph, however deep, shared or cyclic it is: a node for each container, with its elements as
they were.

    rates = {"slow": 0.1, "steps": [1, 2]}     nodes   rates: ("slow", "steps"), (0.1, steps)   steps: (1, 2)

Nothing has changed where every element is the very object that it was, which a few passes of C code tell. Only if they
find a difference, numbers and texts are compared by value and containers by contents.
"""
from collections import ChainMap, OrderedDict, UserDict, UserList, defaultdict, deque
from collections.abc import Callable, Container, Iterable, Iterator
from itertools import chain, repeat
from operator import is_
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from ...util.defects import for_user, ignore_expected
from ...util.own import own_attribute, own_dict
from ..objects.containers import NEVER_CHANGE, may_be_changed, slots_of
from ..objects.opaque_state import BUFFERS, bytes_of, is_record
from .kinds import MISSING

_BASES: tuple[Any, ...] = (list, tuple, deque, set, frozenset)
_WRAPPERS = (UserDict, UserList, ChainMap)                    # objects that keep a container in an attribute
_NUMBERS = frozenset((bool, int, float, complex, str, bytes))
HOLE = object()


def is_same(now: object, before: object) -> bool:
    """Whether a number or a text is what it was, other things the very same. 0.0 is not -0.0, 1 not 1.0; NaN is.

    >>> is_same(0.5, 1 / 2), is_same(0.0, -0.0), is_same(1, True), is_same([], []), is_same(float("nan"), float("nan"))
    (True, False, False, False, True)
    """
    if now is before:
        return True
    if type(now) is not type(before) or not (type(now) in _NUMBERS or isinstance(now, np.generic)):
        return False                                          # a user's class made of one may have attributes
    if now == before and now and not isinstance(now, complex):
        return True
    return bool(now == before or now != now) and repr(now) == repr(before)                    # zeros have a sign


class _Contents:
    """A container's elements, past the methods that a class of the user's may have for this."""

    def __init__(self, iterate: Callable, count: Callable, owner: object):
        self.iterate, self.count, self.owner = iterate, count, owner

    def __iter__(self) -> Iterator:
        return self.iterate(self.owner)

    def __len__(self) -> int:
        return self.count(self.owner)


class SnapshotNode(NamedTuple):
    """One container, object or array: its class, what it is made of and what that held."""

    owner: Any
    cls: type
    elements: tuple                                           # of each of its views: the elements
    names: tuple                                              # attributes
    values: tuple
    block: Any                                                # of an array: dtype, shape and memory


class Snapshot:
    """The contents of containers; `deep`: of objects and of arrays of numbers, too. is_open(x): whether x is an object
    whose attributes may change. inputs: ids of what stands for inputs of the program (see heap/lifting.py); such places
    are holes, and guards of their own ask for the kinds of inputs.

    >>> rates = {"slow": 0.1, "steps": [1, 2]}
    >>> before = Snapshot(rates)
    >>> rates["steps"][0] = 1
    >>> before.is_unchanged()
    True
    >>> rates["steps"].append(3)
    >>> before.is_unchanged()
    False
    """

    def __init__(self, *roots: object, deep: bool = False, is_open: Callable = lambda x: False,
                 inputs: Container = ()):
        self.deep, self.is_open, self.inputs = deep, is_open, inputs
        self.roots: list = []
        self.holes: dict[int, set] = {}                       # id of an owner -> its holes: (which part, place)
        self._clear()
        for x in roots:
            self.add(x)

    def _clear(self) -> None:
        self.nodes: dict[int, SnapshotNode] = {}
        self.views: list = []                                 # what gives the elements of the nodes now
        self.counts: list = []
        self.elements: list = []                              # of all views, one after the other
        self.owners: list = []                                # of attributes
        self.names: list = []
        self.read: Callable = getattr                         # what reads them
        self.values: list = []
        self.classes: list = []                               # of `objects`, whose class may be assigned
        self.objects: list = []
        self.arrays: list = []
        self.blocks: list = []
        self.open_elements: list = []                         # places of holes among the elements, and the values
        self.open_values: list = []

    def add(self, x: object) -> list:
        """Keep x with all in it. Returns what that leads to and is no container: functions, classes, modules, other
        objects.
        """
        self.roots.append(x)
        return self._keep(x)

    def _keep(self, x: object) -> list:
        leaves, queue = [], [x]
        while queue:
            x = queue.pop()
            if id(x) in self.nodes:
                continue
            if not self._is_node(x):
                leaves.append(x)
                continue
            for part in self._note(x):
                if not NEVER_CHANGE.issuperset(map(type, part)):
                    queue += [y for y in part if type(y) not in NEVER_CHANGE]
        return leaves

    def _is_node(self, x: Any) -> bool:
        cls = type(x)                                         # and not x.__class__: a proxy has no elements of its own
        if issubclass(cls, np.ndarray):
            return self.deep or x.dtype.kind not in "biufc"
        is_container = issubclass(cls, (dict, MappingProxyType, *_BASES, *_WRAPPERS, *BUFFERS))
        return is_container or is_record(x) or (self.deep and self.is_open(x))

    def _note(self, x: object) -> tuple:
        """Make x a node. Returns its parts: elements and values of attributes."""
        views, names = views_of(x), _names(x)
        parts = *[tuple(v) for v in views], _values(x, names)
        *elements, values = [self._with_holes(x, k, part) for k, part in enumerate(parts)]
        self._enter(SnapshotNode(x, type(x), tuple(elements), names, values, _block(x)), views)
        return parts

    def _with_holes(self, x: object, which: int, part: tuple) -> tuple:
        """The elements of one view of x, or its attributes, with holes where inputs of the program stand."""
        if self.inputs:
            found = {(which, k) for k, y in enumerate(part) if id(y) in self.inputs}
            self.holes.update({id(x): self.holes.get(id(x), set()) | found} if found else {})
        holes = [k for view, k in self.holes.get(id(x), ()) if view == which]
        return tuple([HOLE if k in holes else y for k, y in enumerate(part)]) if holes else part

    def _enter(self, node: SnapshotNode, views: list) -> None:
        x, names = node.owner, node.names
        self.nodes[id(x)] = node
        if type(x) is not tuple and type(x) is not frozenset:
            self.views += views
            self.counts += map(len, node.elements)
            _extend(self.elements, chain.from_iterable(node.elements), id(x) in self.holes, self.open_elements)
        self.owners += [x] * len(names)
        if names and _reader_of(x) is own_attribute:
            self.read = own_attribute
        self.names += names
        _extend(self.values, node.values, id(x) in self.holes, self.open_values)
        if may_be_changed(type(x)):
            self.objects.append(x)
            self.classes.append(type(x))
        if node.block is not None:
            self.arrays.append(x)
            self.blocks.append(node.block)

    def with_nodes(self, roots: list, nodes: Iterable) -> "Snapshot":
        """A snapshot of the same kind that has kept these nodes."""
        made = Snapshot(deep=self.deep, is_open=self.is_open, inputs=self.inputs)
        made.roots, made.holes = roots, self.holes
        for node in nodes:
            made._enter(node, views_of(node.owner))
        return made

    @for_user
    def is_unchanged(self) -> bool:
        """Whether all is as it was."""
        views, elements = self.views, self.elements
        try:
            if len(views) == 1:                               # the usual list, with one pass
                now = views[0]
                is_it = len(now) == len(elements) and _are(now, elements, self.open_elements)
            else:
                is_it = list(map(len, views)) == self.counts
                is_it = is_it and _are(chain.from_iterable(views), elements, self.open_elements)
            if is_it and self.names:
                is_it = _are(map(self.read, self.owners, self.names, repeat(MISSING)), self.values, self.open_values)
                is_it = is_it and all(map(is_, map(type, self.objects), self.classes))
            if is_it:
                return not self.arrays or all(map(has_block, self.arrays, self.blocks))
            if not self._is_alike():
                return False
            self._clear()  # equal things have taken the places of some: they are what is compared with from now on
            for x in self.roots:
                self._keep(x)
            return True
        except Exception as error:  # a dict grows in another thread, or a class of the user's does not answer
            ignore_expected(error, "a function is traced anew")
            return False

    def _is_alike(self) -> bool:
        """Whether numbers and texts are equal, and containers hold equal things; two containers that were one are still
        one.
        """
        queue = [(x, x) for x in self.roots]
        pairs: dict[int, Any] = {}                            # id of a node's owner -> what stands there now
        backwards: dict[int, Any] = {}
        while queue:
            now, before = queue.pop()
            node = self.nodes.get(id(before))
            if before is HOLE:
                continue
            if id(before) in self.holes and now is not before:  # another thing has no inputs in it
                return False
            if node is None:
                if not is_same(now, before):
                    return False
            elif id(before) in pairs or id(now) in backwards:
                if pairs.get(id(before)) is not now or backwards.get(id(now)) is not before:
                    return False
            else:
                pairs[id(before)], backwards[id(now)] = now, before
                inside = _differences(now, node)
                if inside is None:
                    return False
                queue += inside
        return True


def _extend(parts: list, more: Iterable, has_holes: bool, places: list) -> None:
    """Add to parts; the places of holes among them are noted."""
    begun = len(parts)
    parts += more
    if has_holes:
        places += [k for k in range(begun, len(parts)) if parts[k] is HOLE]


def _are(now: Iterable, before: list, holes: list) -> bool:
    """Whether each thing is the very one that it was; anything may stand where holes are."""
    if holes:
        now = list(now)
        for k in holes:
            now[k] = HOLE
    return all(map(is_, now, before))


@for_user
def _differences(now: object, node: SnapshotNode) -> "list | None":
    """The pairs (now, before) of elements that are not the very same; None where there are more or fewer, or of another
    class or in another memory.
    """
    if (
        type(now) is not node.cls
        or (node.block is not None and not has_block(now, node.block))
        or _names(now) != node.names
    ):
        return None
    views = [*map(tuple, views_of(now)), _values(now, node.names)]
    before = [*node.elements, node.values]
    if list(map(len, views)) != list(map(len, before)):
        return None
    return list(zip(chain.from_iterable(views), chain.from_iterable(before)))


def views_of(x: Any) -> list:
    """The view that gives the elements of a container, as they are when it is iterated over."""
    found: list[Any] = []
    cls = type(x)
    if issubclass(cls, dict):
        base: Any = OrderedDict if issubclass(cls, OrderedDict) else dict
        found = [base.keys(x), base.values(x)]
    elif issubclass(cls, MappingProxyType):
        found = [x.keys(), x.values()]
    elif issubclass(cls, _BASES):
        base = next(b for b in _BASES if issubclass(cls, b))
        found = [x if cls is base else _Contents(base.__iter__, base.__len__, x)]
    elif issubclass(cls, np.ndarray) and x.dtype.hasobject and x.dtype.kind != "T":
        fields = [x[name] for name in x.dtype.names if x.dtype[name].hasobject] if x.dtype.names else [x]
        found = [_Contents(lambda a: iter(a.ravel().tolist()), np.size, a) for a in fields]
    return found


def _names(x: object) -> tuple:
    """The attributes of x that its elements do not tell: the dict of all others, slots, what a defaultdict makes."""
    own = ("__dict__",) if type(own_dict(x)) is dict else ()
    return (
        *own,
        *(slots_of(type(x)) if may_be_changed(type(x)) else ()),
        *(("default_factory",) if issubclass(type(x), defaultdict) else ()),
    )


def _values(x: object, names: tuple) -> tuple:
    return tuple(map(_reader_of(x), repeat(x), names, repeat(MISSING)))


def _reader_of(x: object) -> Callable:
    """A reader of the attributes of x. It finds an empty slot empty, where Python would ask the user's __getattr__."""
    return own_attribute if hasattr(type(x), "__getattr__") else getattr


def _block(x: Any) -> "tuple | None":
    """Dtype, shape and memory of an array or a record, the bytes of a buffer; None of anything else."""
    x = np.asarray(x) if is_record(x) else x
    if issubclass(type(x), np.ndarray):
        return x.dtype, x.shape, None if x.dtype.kind == "O" else x.tolist() if x.dtype.kind == "T" else bytes_of(x)
    return bytes(x) if issubclass(type(x), BUFFERS) else None  # type: ignore[return-value]


def has_block(x: object, before: tuple) -> bool:
    return _block(x) == before
