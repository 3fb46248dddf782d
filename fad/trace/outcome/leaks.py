"""Leaks: traced values that a function leaves in outside lists, dicts and objects are refused, since a program cannot
write them again.

A constant (a table made for a length, say) is given its value, and is there at the next call. On a tape, where the
function runs at every call, all has a value.
"""
import operator
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ...ir.build import Builder, contents_of
from ...ir.value import Value
from ...ops.records import Records
from ...util import tree
from ...util.defects import call_library
from ...util.errors import SideEffectError, UnstageableError
from ...util.own import own_dict
from ...util.reach import reached, referents
from ..guards.profiled_calls import observing
from ..guards.reads import reads_of
from ..heap.deaths import refuse_gone
from ..heap.foreign import Foreign
from ..heap.journal import CONTAINER, PYTHON, note
from ..lists.export import plain
from ..lists.items import Items
from ..lists.rows import RowList
from ..objects.containers import (
    CHANGING,
    Globals,
    Outer,
    contents,
    is_users,
    may_change,
    never_change,
    put_contents,
    same_contents,
)
from ..runtime.library import original_of
from ..runtime.name_dicts import AttributeDict
from ..values.choice import ChosenThing
from ..values.constants import constant_of
from ..values.place import bases_of
from ..values.text import TracedText
from ..values.tracer import Tracer


def settle_known(root: Builder) -> None:
    """Give what the function left outside its values; an error if a program would have to compute them at every call.
    """
    outside = {id(seen) for _, seen in root.trace.captured.values()} | root.region.arrived.keys()

    def known(x: Any, place: str) -> Any:
        if isinstance(x, Foreign):
            raise _refusal(f"an object of a package with arrays of its own was left in {place}, outside the function")
        is_copy = isinstance(x, Tracer) and x.is_array and any(id(base) in outside for base in bases_of(x, root))
        value = None if type(x) in (TracedText, ChosenThing) or is_copy else constant_of(x.atom)
        if value is None:
            raise _refusal(f"a traced value was left in {place}, outside the traced function")
        return value
    _settle(root, known)


def refuse_incomplete(root: Builder) -> None:
    """An error if a refusal was taken for an answer, or other code would be called when an object goes; or if captured
    code has read stale global names.
    """
    refuse_gone(root)
    _refuse_aliased_names(root)
    if root.trace.refusals.lasting is not None:
        raise root.trace.refusals.lasting
    taken = root.trace.refusals.first()
    if taken is not None:
        raise UnstageableError(f"an error of fad's was taken for an answer: {taken[0]}", where=taken[1],
                               why="Python, or a library, goes on without what was to be done there")


def refuse_changed_arguments(arguments: tuple, leaves: list, structure: tree.Structure) -> None:
    """An error if the function changed a list, a dict or an object among its arguments, which hold these leaves."""
    after, now = tree.flatten(arguments)
    if now != structure or any(x is not y for x, y in zip(after, leaves)):
        raise _refusal("a list, dict or object that is an argument is changed")


def refuse_texts(statics: Iterable, structure: tree.Structure) -> None:
    """An error if one of these parts of the result is a text made of a traced value, or a set that holds one, or a dict
    has such a key.
    """
    if any(map(_is_unsaid, (*statics, *_keys(structure)))):
        raise UnstageableError(
            "a text or a key made of a traced value is returned",
            why="the number is not known while the function is traced",
            do="return the number, and make the text of it outside",
        )


def _keys(structure: tree.Structure) -> list:
    """The keys of the dicts in a result."""
    own = structure.static[0] if isinstance(structure.cls, type) and issubclass(structure.cls, dict) else ()
    return [*own, *[key for child in structure.children for key in _keys(child)]]


def refuse_unseen_changes(root: Builder) -> None:
    """An error if an array changed where the program does not see it, after it was used; or if the program would change
    one that a library may go on to use.
    """
    for array, value in root.trace.captured.values():
        if root.trace.watched.get(id(array), b"") not in (b"", contents_of(array)):
            raise SideEffectError(
                "an array is changed after it was used, outside the program",
                why="what it held before is not known any more",
                do="define the function in a file, where its text can be read, or make a new array",
            )
        if id(array) in root.trace.held and value.atom is not value.origin:
            raise SideEffectError(
                "an array that a library returned, and may keep, is changed",
                why="at the next call the library may return another one",
                do="change a copy of it",
            )


def _refuse_aliased_names(root: Builder) -> None:
    """An error if captured code has read stale global names: a dict of them is asked, or a method that Python calls by
    itself has assigned one.
    """
    if root.trace.frontend is not None:
        root.trace.frontend.refuse_aliased_names()
    divided = [x for x in root.trace.opened.values() if isinstance(x, Globals) and x.is_divided]
    if divided:
        raise SideEffectError(
            f"the function and a method that Python or NumPy calls by itself both assign "
            f"{next(iter(divided[0].changed()))}",
            why="a program has a copy of the global names that it assigns", do="keep it in an object or a list")


def refuse_unseen_reads(root: Builder) -> None:
    """An error if captured code changed its own copy of what methods read that Python calls by itself: they see what
    was there before (see unseen.py).
    """
    changed = [original for original, made, before in root.trace.stand_ins if not same_contents(contents(made), before)]
    places = [place for owner in root.trace.opened.values() if isinstance(owner, Outer) for place in owner.places()]
    if not changed and not places:
        return
    reads = reads_of(root)
    if any(id(x) in reads.seen for x in changed) or any(place in reads.names_of for place in places):
        observing.want()
        raise SideEffectError(
            "a global name, or a list or dict with arrays, is changed which methods read that Python calls by itself "
            "(operators, `with`)",
            why="a program does not see what they read",
            do="pass it to them, or keep it in an object",
        )


def _refusal(what: str) -> SideEffectError:
    return SideEffectError(
        what, why="it runs once, while it is traced, and not at each call", do="return the new value from the function"
    )


def _is_unsaid(x: object) -> bool:
    """Whether x is a traced value, a text made of one, or a set that holds one (or a tuple, as sets and keys are)."""
    return (
        isinstance(x, (Value, Foreign))
        or type(x) in (TracedText, ChosenThing)
        or (isinstance(x, (set, frozenset, tuple)) and any(map(_is_unsaid, x)))
    )


def _items(owner: object) -> list:
    inside = owner.changed() if isinstance(owner, Outer) else contents(owner)
    return list(inside.items() if isinstance(inside, dict) else enumerate(inside))


def _parts(owner: object) -> list:
    """The contents of an owner, keys of dicts included, without those that can hold nothing traced."""
    inside = owner.changed() if isinstance(owner, Outer) else contents(owner)
    found = [*may_change(inside), *may_change(inside.values())] if isinstance(inside, dict) else may_change(inside)
    return [x for x in found if not never_change(x)]


def stays(root: Builder, x: object, since: "int | None" = None) -> bool:
    """Whether x is a container or an object that was there before the trace (or before this birth): it is no new one.
    """
    book = root.trace.journal
    if not isinstance(x, CHANGING) and (isinstance(x, Value) or not is_users(x)):
        return False
    if id(x) in book.made and since is None:
        return False
    return book.was_there(x, book.marks[0].serial if since is None else since) and not _is_unregistered(root, x)


def is_of_new_object(root: Builder, x: object) -> bool:
    """Whether x is the dict of the attributes of an object that the trace has made."""
    return isinstance(x, AttributeDict) and not stays(root, x.owner)


def _is_unregistered(root: Builder, x: object) -> bool:
    """Whether code without text has made it. The journal has noted what such code may write to, but not the objects
    that it makes: they hold values that the trace has computed."""
    book = root.trace.journal
    met: dict[int, object] = {}
    def parts(y: object) -> Iterable:
        met[id(y)] = y
        is_known = id(y) in book.without_traced or id(y) in root.trace.lifted_owners or book.is_noted(y)
        return () if is_known or issubclass(type(y), Value) else referents(y)
    found = any(issubclass(type(y), Value) for y in reached([x], parts))
    book.without_traced.update({} if found else met)
    return found


def settle(tape: Any) -> None:
    """Give what a function on a tape left outside its values, and arrays what it wrote to them."""
    refuse_incomplete(tape)
    written = list(tape.written_outside())
    _settle(tape, lambda x, place: tape.value(x))
    for array, value in written:
        call_library(operator.setitem, array, ..., value)        # it may be read-only


def settle_error(tape: Any, error: BaseException) -> None:
    """Give what an error of the user's holds its values."""
    settlement = _Settlement(tape, lambda x, place: tape.value(x))
    if any(map(_is_unsaid, error.args)):
        error.args = tuple([settlement.value(x, "an error") for x in error.args])
    for name, x in vars(error).items():
        if _is_unsaid(x):
            setattr(error, name, settlement.value(x, "an error"))


def _leaves(x: object, is_settled: Callable) -> "tuple[list, list]":
    """The leaves of a tree, which may hold itself, and the keys of the dicts in it; what is settled by itself is left
    out.
    """
    seen: dict[int, Any] = {}

    def is_known(y: object) -> bool:
        known = is_settled(y) or id(y) in seen
        seen[id(y)] = y
        return known
    leaves, structure = tree.flatten(x, is_known)
    return [leaf for leaf in leaves if not is_settled(leaf)], _keys(structure)


def _settle(root: Builder, value_of: Callable) -> None:
    """value_of(x, place): the value of x, which was left there. Nothing is changed unless all have one."""
    settlement = _Settlement(root, value_of)
    for original, made, before in root.trace.stand_ins:
        if not same_contents(contents(made), before):
            settlement.settle_stand_in(original, made, before)
    owners = _written(root)
    settlement.objects = {id(x) for x in owners if tree.children(x) and not isinstance(x, (tuple, *CHANGING))}
    for owner in owners:
        settlement.settle(owner)
    elements = [(x, k, settlement.value(x[k], "an array of objects")) for x in _arrays_of_objects(root)
                for k in np.ndindex(x.shape) if _is_unsaid(x[k]) or settlement._is_made(x[k])]
    for owner, after in settlement.settled:
        note(owner)
        put_contents(owner, after)
    for array, k, value in elements:
        array[k] = value
    for owner in [x for x in root.trace.opened.values() if isinstance(x, Outer)]:
        note(*owner.originals())
        owner.hand_out()


class _Settlement:
    """Gives what was left outside its values. A list, dict or deque that the function has made is one thing under all
    of its names; it becomes Python's own. An object of a dataclass that the function has made stays that object.
    """

    def __init__(self, root: Builder, value_of: Callable):
        # an array from outside stays that array
        self.root, self.value_of, self.arrays = root, value_of, _arrays_of(root)
        self.made: dict[int, tuple] = {}                      # id of a container -> it, what it becomes
        self.settled: list[tuple] = []
        self.objects: set[int] = set()                        # ids of dataclasses' objects that are settled in place

    def settle_stand_in(self, original: object, made: object, before: object) -> None:
        """Settle a container from outside that captured code has seen a copy of."""
        known = {id(new): old for (_, new), (_, old) in zip(_items(before), _items(original))}
        name = type(original).__name__
        new = [(self.value(k, name), known[id(x)] if id(x) in known else self.value(x, name)) for k, x in _items(made)]
        self.settled.append((original, dict(new) if isinstance(original, dict) else [x for _, x in new]))

    def settle(self, owner: object) -> None:
        name = type(owner).__name__
        parts = [_leaves(part, self._is_known) for part in _parts(owner)]
        if any(map(_is_unsaid, [key for _, keys in parts for key in keys])):
            raise _refusal(f"a dict with a traced key was left in {name}, outside the traced function")
        left = [leaf for leaves, _ in parts for leaf in leaves]
        if any(_is_unsaid(x) or original_of(x) is not x for x in left) or any(map(self._is_made, _parts(owner))):
            is_object = own_dict(owner) is not None
            after = [
                (self.value(k, name), self.value(x, f"{name}.{k}" if is_object else name)) for k, x in _items(owner)
            ]
            before = contents(owner) if isinstance(owner, Outer) else {}
            is_dict = isinstance(contents(owner), dict)
            self.settled.append((owner, before | dict(after) if is_dict else [x for _, x in after]))

    def _is_known(self, x: object) -> bool:
        """Whether x is settled by itself."""
        return id(x) in self.objects or stays(self.root, x)

    def _is_made(self, x: object) -> bool:
        return (type(x) in (list, dict, deque) or isinstance(x, Items)) and not self._is_known(x)

    def value(self, x: object, place: str) -> Any:
        if self._is_known(x):
            return x
        if self._is_made(x):
            return self._container(x, place)
        if isinstance(x, Records) and x.outer is not None:
            return x.outer
        if type(x) is tuple or hasattr(type(x), "_make"):
            return self._tuple(x, place)  # type: ignore[arg-type]
        leaves, structure = tree.flatten(x, lambda y: y is not x and (
            isinstance(y, tuple) or self._is_made(y) or self._is_known(y)))
        if structure.cls is None:
            return self._leaf(x, place)
        return structure.unflatten([self.value(leaf, place) for leaf in leaves])

    def _container(self, x: Any, place: str) -> Any:
        if id(x) not in self.made:
            new: Any = {} if type(x) is dict else deque(maxlen=x.maxlen) if type(x) is deque else []
            self.made[id(x)] = x, new
            if type(x) is dict:
                new.update({self.value(k, place): self.value(y, place) for k, y in x.items()})
            else:
                new.extend([self.value(y, place) for y in (plain(x) if isinstance(x, RowList) else x)])
        return self.made[id(x)][1]

    def _tuple(self, x: tuple, place: str) -> object:
        if id(x) not in self.made:
            parts = [self.value(y, place) for y in x]
            is_same = all(map(operator.is_, parts, x))
            self.made[id(x)] = x, x if is_same else getattr(type(x), "_make", tuple)(parts)
        return self.made[id(x)][1]

    def _leaf(self, x: object, place: str) -> Any:
        if isinstance(x, (set, frozenset)):
            return x if not any(map(_is_unsaid, x)) else type(x)([self.value(y, place) for y in x])
        if id(x) in self.arrays:
            return self.arrays[id(x)]
        if is_of_new_object(self.root, x):
            raise _refusal(f"the dict of an object's attributes was left in {place}, outside the traced function")
        if not _is_unsaid(x):
            return original_of(x)
        value = self.value_of(x, place)
        return np.array(value) if isinstance(x, Tracer) and x.zero_dim and not x.ndim else value


def _arrays_of(root: Any) -> dict:
    """The arrays from outside, by the ids of what stands for them; on a tape the call's own ones, too."""
    found = {id(seen): array for array, seen in root.trace.captured.values()}
    if root.live:
        found.update({id(seen): array for array, seen, _ in root.outside.values()})
        found.update({key: x for key, (_, x) in root.region.arrived.items() if isinstance(x, np.ndarray)})
    return found


def _arrays_of_objects(root: Builder) -> list:
    """Arrays of objects from outside that the function has written to."""
    book = root.trace.journal
    return [x for x in book.marks[0].changed(PYTHON)
            if isinstance(x, np.ndarray) and x.dtype.kind == "O" and id(x) not in book.made]


def _written(root: Builder) -> list:
    """Containers from outside that the function has written to, and objects that it has made and left there; of global
    names and variables what stands for them."""
    cells = [x for x in root.trace.journal.marks[0].changed(CONTAINER) if id(x) not in root.trace.journal.made]
    found = [*[x for x in root.trace.opened.values() if isinstance(x, Outer)], *cells]
    known = set(map(id, found))

    def is_left_out(x: object) -> bool:
        return id(x) in known or isinstance(x, (Value, Foreign)) or stays(root, x)
    new = reached([part for owner in found for part in _parts(owner)], lambda x: () if is_left_out(x) else referents(x))
    return [*found, *[x for x in new if not isinstance(x, type) and is_users(x) and not is_left_out(x)]]

