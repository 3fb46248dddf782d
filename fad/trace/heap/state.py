"""The state that a region changes: variables, arrays, lists and dicts and objects. Read, written, and put back after a
trial.

A slot is one changeable thing. Its value is a tree whose leaves are data (what can be traced) or static Python values.
"""
import copy
import operator
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from contextlib import contextmanager, nullcontext
from types import MappingProxyType
from typing import Any

import numpy as np

from ...ir.build import Value, current
from ...ops.carry import UNDEFINED
from ...util import tree
from ...util.array import AnyArray
from ...util.defects import call_library, ignore_expected
from ...util.errors import UnstageableError
from ..objects.containers import content, contents, is_empty, is_users, put_contents
from ..objects.draws import no_draws, refuse_draws
from ..objects.maybe_unbound import Unsure
from ..values.aliases import disentangle
from ..values.choice import number_of, table_of
from ..values.text import telling
from ..values.tracer import Tracer
from .journal import CONTAINER, PYTHON, all_made, journal, note
from .suspended import settle_generators


def is_data(x: Any) -> bool:
    """Whether a leaf can be traced: an array, a number, a truth value (or not there yet)."""
    return x is UNDEFINED or isinstance(x, (bool, int, float, complex)) or is_numeric(x)


def is_numeric(x: Any) -> bool:
    """Whether x is an array of numbers, or a number of NumPy's or Python's; a truth value of Python's is none."""
    if isinstance(x, (np.ndarray, np.generic)):
        return x.dtype.kind in "biufc"
    return isinstance(x, Value) or type(x) in (int, float, complex)


def is_array(x: object) -> bool:
    """Whether x is a traced array, an object with an identity, and not a number."""
    return isinstance(x, Tracer) and x.is_array


def frozen(x: object) -> Any:
    """A traced value as it is now, whatever is written to it later."""
    return current().value_of(x.held if isinstance(x, Tracer) else x.atom) if isinstance(x, Value) else x


class Name:
    """A variable of the function being traced."""

    def __init__(self, name: str, cell: Any):
        self.name, self.cell = name, cell

    @property
    def content(self) -> Any:
        """The variable's value, or an Unsure (see objects/maybe_unbound.py)."""
        return content(self.cell, UNDEFINED)

    def read(self) -> Any:
        content = self.content
        return content.value if type(content) is Unsure else content

    @property
    def is_bound(self) -> Any:
        """True, False, or a truth value of the program."""
        content = self.content
        return content.bound.flag if type(content) is Unsure else not TreeLayout(content).is_undefined

    def write(self, value: Any) -> None:
        leaves = tree.flatten(value)[0]
        if not leaves or not all(x is UNDEFINED for x in leaves):
            self.cell.cell_contents = value
        elif not is_empty(self.cell):
            del self.cell.cell_contents

    def doubt(self, flag: object) -> None:
        """From now on reading the variable is checked: it is bound where the flag holds."""
        if not is_empty(self.cell):
            self.cell.cell_contents = Unsure(self.read(), flag, self.name)


class Array:
    """An array that is written to in place."""

    def __init__(self, tracer: Tracer):
        self.tracer, self.name = tracer, ""

    def read(self) -> AnyArray:
        return frozen(self.tracer)

    def write(self, value: Any) -> None:
        self.tracer.set(value)


class Container:
    """A list, dict, set, object or variable of another function whose contents change."""

    def __init__(self, owner: Any):
        self.owner, self.name = owner, ""

    def read(self) -> Any:
        return contents(self.owner)

    def write(self, value: object) -> None:
        note(self.owner)
        put_contents(self.owner, value)


@contextmanager
def lengthened(row: Tracer) -> Iterator[None]:
    """The writes to the row of a list here are entries behind the present ones."""
    var = row._var
    yield
    row.longer = {**row.longer, row._var: row.longer.get(var, var)}


def write_all(slots: Iterable, values: Iterable, longer: list) -> None:
    """Write what a branch or a loop has made; longer: the slots of lists' rows which at most got entries at their ends.
    """
    for slot, value in zip(slots, values):
        with lengthened(slot.tracer) if slot in longer else nullcontext():
            slot.write(value)
    for entry in current().region.ties.values():              # elements may have been looked at since the trials
        if entry[1]:
            entry[0].written, entry[1] = entry[0].written + 1, False


def changing(slot: object) -> Any:
    """The array or container whose contents change; None of a name, which comes to stand for something else."""
    return getattr(slot, "tracer", getattr(slot, "owner", None))


def cells_of(*functions: Callable) -> dict:
    """The variables that these nested functions share with the one around them."""
    cells: dict[str, Any] = {}
    for f in functions:
        if f is not None:
            cells.update(zip(f.__code__.co_freevars, f.__closure__ or ()))
    return cells


class Trial:
    """A trial run of code: its changes, which are undone at the end. is_region: whether it is traced into a region.

    The journal has the changes; `end` closes its mark.
    """

    def __init__(self, cells: dict, is_region: bool = True):
        self.names = [Name(n, c) for n, c in cells.items()]
        self.before = [s.content for s in self.names]
        self.builder, self.own = current(), {id(c) for c in cells.values()}
        self.journal = journal()
        self.mark = self.journal.begin()
        self.mark.instead = self.undo
        self.serial = self.mark.serial
        if is_region:
            self.builder.region.serial = self.serial
        self.entangled = len(self.builder.region.entangled)

    def is_outer(self, container: object) -> bool:
        """Whether an array or a container was there when the trial began."""
        return self.journal.was_there(container, self.serial)

    def changed_arrays(self) -> list:
        """Arrays from outside that were written to (a view's base, not the view)."""
        written = [t for t, var in self.builder.region.mutated.values() if t._var is not var and t.view_of is None]
        return [t for t in written if not t.is_clobbered and t.builder is not self.builder and self.is_outer(t)]

    def changed_containers(self) -> list:
        return [c for c in self.mark.changed(CONTAINER) if id(c) not in self.own]

    def changed_names(self, own: Iterable = ()) -> list:
        """Variables that are bound to something else now, but for these, which the code itself binds: other functions
        bound them (nonlocal).
        """
        return [s for s, before in zip(self.names, self.before) if s.name not in own and s.content is not before]

    @property
    def has_changes(self) -> bool:
        """Whether anything at all was changed."""
        return bool(self.changed_names() or self.changed_arrays() or self.changed_containers())

    def lost_arrays(self) -> list:
        """Arrays whose contents nobody knows any more."""
        return [t for t, (_, var, _) in self.builder.region.entangled[self.entangled:] if var is None]

    @property
    def has_changed_pythons(self) -> bool:
        """Whether what holds no traced values was changed, or the order of a dict."""
        return bool(self.mark.changed(PYTHON)) or any(
            _is_reordered(e.cell, e.before) for e in self.mark.entries.values()
        )

    def refuse_changed_pythons(self) -> None:
        """An error if what holds values of Python's, and no traced ones, was changed."""
        if self.has_changed_pythons:
            raise UnstageableError("a bytearray, an array that is not of numbers or is held by a library's object, a "
                                   "context variable or a dict's order is changed in a loop or branch on traced values",
                                   why="it cannot be part of the program",
                                   do="use a list, an array of NumPy's or a plain variable")

    def undo(self) -> None:
        """Put back all that the region has changed; nothing if that was done with what is around it."""
        if not self.mark.is_open:
            return
        for tracer, var in self.builder.region.mutated.values():
            tracer.put_back(var)
        disentangle(self.builder, self.entangled)
        if self.builder.parent is not None:
            self.builder.parent.region.ties.update({k: [t, True] for k, (t, _) in self.builder.region.ties.items()})
        self.put_back_names()
        self.end()

    def put_back_names(self) -> None:
        """Put back variables and containers, but no arrays: those of a builder that has gone on hold what was written
        before, too.
        """
        self.mark.undo()
        for slot, value in zip(self.names, self.before):
            if slot.content is not value:
                slot.write(value)

    def end(self) -> None:
        """End the trial and keep its changes."""
        self.journal.end(self.mark)


def _is_reordered(owner: Any, before: Any) -> bool:
    """Whether a dict has the keys that it had, in another order."""
    return isinstance(owner, dict) and owner.keys() == before.keys() and list(owner) != list(before)


@contextmanager
def trial(cells: dict) -> Iterator[Trial]:
    made = Trial(cells)
    try:
        with no_draws():
            yield made
            made.refuse_changed_pythons()
            settle_generators(made.mark.serial)
            if made.mark.has_drawn:                           # by C code: map(rng.normal, means)
                refuse_draws()
    finally:
        made.undo()


class UnjoinableError(UnstageableError):
    """A value has one structure on one way and another structure on another way."""


class TreeLayout:
    """The tree of a value: its structure, which leaves are data, and the other leaves. kept: ids of containers that
    count as leaves.

    optional: leaves that are data here or elsewhere, and may be None (see optional.py); `nones` are those of them that
    are None here. texts: leaves that are the number of a text or thing, with the table (see forms.py).
    zero_dim: of leaves without axes that are not numbers, whether they are arrays (see values/zero_dim.py).
    """

    optional: Set = frozenset()
    nones: Set = frozenset()
    texts: Mapping = MappingProxyType({})
    zero_dim: Mapping = MappingProxyType({})

    def __init__(self, value: Any, kept: "set | tuple" = (), with_none: bool = False):
        is_leaf = (lambda x: x is None or id(x) in kept) if with_none else (lambda x: id(x) in kept) if kept else None
        self.leaves, self.structure = tree.flatten(value, is_leaf)
        self.statics = {k: x for k, x in enumerate(self.leaves) if not is_data(x)}

    @property
    def data(self) -> list:
        return [x for k, x in enumerate(self.leaves) if k not in self.statics]

    @property
    def is_undefined(self) -> bool:
        return self.structure.leaves == 1 and self.leaves[0] is UNDEFINED

    def filled(self, data: Iterator) -> Any:
        """The value with these data leaves."""
        leaves = [self.statics[k] if k in self.statics else next(data) for k in range(len(self.leaves))]
        for k, kind in self.zero_dim.items():
            if isinstance(leaves[k], Tracer):
                leaves[k].zero_dim = kind
        for k, table in self.texts.items():
            leaves[k] = leaves[k] if leaves[k] is UNDEFINED else table.chosen(leaves[k])
        value = self.structure.unflatten(
            [None if x is UNDEFINED and k in self.nones else x for k, x in enumerate(leaves)]
        )
        all_made(nodes_of(value, self.structure))
        return value

    def opened(self, places: Iterable) -> "TreeLayout":
        """The layout in which these leaves are data; those that are None have no value yet."""
        places = {k for k in places if k < len(self.leaves) and self.statics.get(k) is None}
        if not places or self.optional:
            return self
        nones = dict.fromkeys(places & self.statics.keys(), UNDEFINED)
        return self._with_data(nones, optional=places, nones=nones.keys())

    def numbered(self, places: Iterable) -> "TreeLayout":
        """The layout in which these leaves, texts, are data: their numbers."""
        found = {k: number_of(self.statics[k]) for k in places if k in self.statics}
        numbers = {k: n for k, n in found.items() if n is not None}
        if not numbers:
            return self
        return self._with_data(numbers, texts={**self.texts, **{k: table_of(self.statics[k]) for k in numbers}})

    def with_statics(self, values: Mapping) -> "TreeLayout":
        """The layout in which leaves that are no data are these."""
        found = {k: x for k, x in values.items() if k in self.statics}
        return self._with(leaves=[found.get(k, x) for k, x in enumerate(self.leaves)],
                          statics={**self.statics, **found})

    def with_data_of(self, full: "TreeLayout") -> "TreeLayout":
        """The layout with the data of another one of the same value, in which no container is a leaf."""
        places = tree.places_in(full.structure, self.structure)
        return self._with(leaves=[x if k in self.statics else full.leaves[place]
                                  for k, (x, place) in enumerate(zip(self.leaves, places))])

    def _with_data(self, values: dict, **parts: object) -> "TreeLayout":
        """The layout in which static leaves are data of these values."""
        return self._with(leaves=[values.get(k, x) for k, x in enumerate(self.leaves)],
                          statics={k: x for k, x in self.statics.items() if k not in values}, **parts)

    def of_kinds(self, zero_dim: Mapping) -> "TreeLayout":
        """The layout, with these kinds of the leaves without axes."""
        return self._with(zero_dim=zero_dim)

    def _with(self, **parts: object) -> "TreeLayout":
        made = copy.copy(self)
        vars(made).update(parts)
        return made

    def undefined(self) -> "TreeLayout":
        """The layout of a value like this one before it has one. None is built: a class may take no such parts."""
        made = TreeLayout.__new__(TreeLayout)
        made.structure, made.statics, made.texts = self.structure, self.statics, self.texts
        made.leaves = [self.statics.get(k, UNDEFINED) for k in range(len(self.leaves))]
        return made

    def fits(self, other: "TreeLayout") -> bool:
        if self.structure != other.structure or self.statics.keys() != other.statics.keys():
            return False
        return all(_equal(x, other.statics[k]) for k, x in self.statics.items())

    def require(self, other: "TreeLayout", name: str) -> None:
        if not self.fits(other):
            place, one, another = self._difference(other)
            raise UnjoinableError(f"{name or 'a value'}{place} is {one} in one place and {another} in another",
                                  why="a loop or a branch on traced values gives a name one structure")

    def _difference(self, other: "TreeLayout") -> tuple:
        """The first part of a value that is not the same in another layout: where it stands, and what both have there.
        """
        if self.structure != other.structure:
            return "", describe(self.structure), describe(other.structure)
        pairs = [(x, y, path) for k, (x, y, path) in enumerate(zip(self.leaves, other.leaves, self.structure.paths()))
                 if (k in self.statics) != (k in other.statics) or k in self.statics and not _equal(x, y)]
        x, y, path = pairs[0]
        return f", in {'.'.join(map(str, path))}," if path else "", describe(x), describe(y)


def nodes_of(value: object, structure: tree.Structure) -> Iterator:
    """The containers of a tree that was built by this structure."""
    if structure.children:
        yield value
        for x, part in zip(tree.children(value) or (), structure.children):
            yield from nodes_of(x, part)


def _equal(a: object, b: object) -> bool:
    """Whether two static values are as good as one: what may change is so only if it is one."""
    if a is b or isinstance(a, (set, deque)) or is_users(a):
        return a is b
    try:
        return type(a) is type(b) and call_library(bool, call_library(operator.eq, a, b))
    except Exception as error:  # objects whose comparison is not a truth value are not equal
        ignore_expected(error, "two objects count as different ones")
        return False


def describe(x: object) -> str:
    """A leaf, or the structure of a value, for people; the beginning and the end of a long text."""
    with telling():
        text = repr(x) if not is_data(x) else "a number or array"
    return text if len(text) <= 160 else f"{text[:70]} ... {text[-70:]}"
