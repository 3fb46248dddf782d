"""Questions of Python's own code about users' objects: which is less, what is equal, whether it is true, what comes
next.

`max`, `sorted`, `in`, `list.index`, `reduce(operator.add, ...)` and unpacking call special methods from C. Captured
code asks the captured methods instead, as it does for operators (see datamodel.py).
"""
import functools
import itertools
import operator
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from types import BuiltinFunctionType, FunctionType
from typing import Any

from ...ir.build import Value
from ...util.array import ArrayOrNumber
from ...util.defects import for_user
from ..heap.journal import made, note
from ..lists.items import Items
from ..objects.containers import is_users
from ..values.aliases import has_twins
from ..values.number_texts import items_of
from .calls import keep
from .ordering import ByAndBy, KeyOf, sort
from .parts import RuntimePart
from .sequences import counted_or_placed
from .special_methods import GOING_THROUGH, NEW, PLAIN, SEARCHING, SORTING

_SEQUENCES = (list, tuple, deque)
_FILLED = frozenset((list, tuple, deque, set, frozenset, Items))


class Protocols(RuntimePart):
    """The part of the data model (see datamodel.py) that iterates, compares and searches for Python."""

    # -- iteration ---------------------------------------------------------------------------------

    @for_user
    def iterated(self, items: object) -> Any:
        """The iterable of a loop: the items themselves, or what a user's __iter__ or __getitem__ gives."""
        if type(items) in PLAIN:
            return items
        keep(items)
        make = self.special(items, "__iter__")
        if make is None and not hasattr(type(items), "__iter__") and self.special(items, "__getitem__") is not None:
            return made(self._by_index(items))
        it = items_of(items) if make is None else new(make(items))
        step = self.special(it, "__next__")
        return it if step is None else steps(it, step)

    @for_user
    def listed(self, items: object) -> Iterable:
        """The iterable that Python makes a list of: it asks for a length, too, to know how much room to take."""
        found = self.iterated(items)
        if self.asked_by(items, "__len__", "__length_hint__"):
            self.call(operator.length_hint)(items)
        return found

    def _by_index(self, items: object) -> Iterator:
        """The items of a sequence by the old protocol: from index 0 until an IndexError, which is handled here."""
        for k in itertools.count():
            try:
                with self.caught_plainly(lambda: [(IndexError, StopIteration)]):
                    x = self.item(items, k)
            except (IndexError, StopIteration):
                self.pass_on()
                return
            yield x

    @for_user
    def unpacked(self, value: object) -> Any:
        """The value that `a, b = value` takes apart: the list of its items where a user's methods give them."""
        items = self.iterated(value)
        return value if items is value else list(items)

    @for_user
    def backwards(self, x: object) -> "Iterator | None":
        """reversed(x), of an object with a length and a user's __getitem__ alone; None of any other"""
        if hasattr(type(x), "__reversed__") or self.special(x, "__getitem__") is None or isinstance(x, _SEQUENCES):
            return None
        return made(self.item(x, k) for k in range(self.call(len)(x) - 1, -1, -1))

    @for_user
    def iterating(self, f: Any, *args: Any, **kwargs: Any) -> Any:
        """A builtin function of what it goes through: users' objects, perhaps."""
        if f in SORTING:
            return self._sorting(f, *args, **kwargs)
        asks, over = args[:1] if f in (map, filter) else (), args[1:] if f in (map, filter) else args
        over = tuple(map(self.listed if f in (list, tuple) else self.iterated, over))
        if f in (any, all) and self._have_truths(over):
            over = tuple([map(self.truth, c) for c in over])
        if asks:
            asks = (self._asks(asks[0], over),)
        return self.known_builtin(f)(*asks, *over, **kwargs)

    def _asks(self, f: object, over: tuple) -> Any:
        """The function that map or filter calls for f: the captured __call__ of an object; __bool__, where that is not
        said.
        """
        if f is None and self._have_truths(over):
            return self.asked_truth
        own = self.builtin(f) if isinstance(f, (FunctionType, BuiltinFunctionType, type)) else None
        return own or (self.call(f) if self.asked_by(f, "__call__") else f)

    def _have_truths(self, over: tuple) -> bool:
        """Whether users' methods say what is true of the items of these."""
        return any(type(c) in _FILLED and any(self.asked_by(x, "__bool__", "__len__") for x in c) for c in over)

    def asked_by(self, x: object, *names: str) -> bool:
        """Whether the class of x has a special method of the user's under one of these names."""
        return type(x) not in PLAIN and any(self.special(x, n) is not None for n in names)

    def gone_through(self, f: object, args: tuple) -> list:
        """The arguments of a call of f, those that C code goes through as iterables."""
        given = list(args)
        part = GOING_THROUGH.get(f) if type(f) in (BuiltinFunctionType, type) else None
        if part is not None:
            given[part] = map(self.iterated, given[part])
        return given

    @for_user
    def chained(self, items: object) -> Iterator:
        """itertools.chain.from_iterable(items)"""
        return made(itertools.chain.from_iterable(map(self.iterated, self.iterated(items))))

    @for_user
    def extended(self, a: list, b: object) -> object:
        """operator.iconcat(a, b): a list gets the elements of an array, too."""
        if not hasattr(a, "extend"):
            return self.binary("Add", a, b)
        self.call(a.extend)(b)
        return a

    @for_user
    def sum_of(self, items: Any, *start: object, **named: object) -> Any:
        """sum(items, start): of users' objects, by their own operators."""
        begin = start[0] if start else named.get("start", 0)
        items = self.iterated(items)
        if isinstance(items, Iterator):
            items = list(items)
        if type(items) in _FILLED and any(type(x) not in PLAIN for x in (begin, *items)):
            return functools.reduce(functools.partial(self.binary, "Add"), items, begin)
        return self.known_builtin(sum)(items, *start, **named)

    # -- order -------------------------------------------------------------------------------------

    def is_asked(self, x: Any) -> bool:
        """Whether Python asks a user's method when it compares x, or something in it."""
        if type(x) in (list, tuple, deque, Items):
            return any(map(self.is_asked, x))
        return self.asked_by(x, "__lt__", "__gt__", "__eq__") or has_twins(x)

    def _sorting(self, f: object, *args: object, key: "Callable | None" = None, **kwargs: object) -> Any:
        """min, max and sorted"""
        if len(args) == 1:
            items = self.listed(args[0]) if f is sorted else self.iterated(args[0])
            args = (list(items) if isinstance(items, Iterator) else items,)
        return self.known_builtin(f)(*args, key=self._key(key, args[0] if len(args) == 1 else args), **kwargs)

    def sort_list(self, items: Any, *, key: Any = None, reverse: Any = False) -> None:
        """items.sort()"""
        sort(items, key=self._key(key, items), reverse=reverse)

    def _key(self, key: object, items: Any) -> "KeyOf | None":
        """The key by which these items are put in order: one whose results are compared as captured code does."""
        is_asked = key is not None or type(items) in _FILLED and any(map(self.is_asked, items))
        return KeyOf(self, self.call(key) if self.asked_by(key, "__call__") else key) if is_asked else None

    def compared_items(self, op: str, a: Any, b: Any) -> Any:
        """a < b and its kin, of two lists or tuples with users' objects: the first pair that differs decides."""
        if op in ("Eq", "NotEq"):
            same = len(a) == len(b) and self.and_(True, *[lambda x=x, y=y: self.same(x, y) for x, y in zip(a, b)])
            return same if op == "Eq" else self.not_(same)

        def at(k: int) -> ArrayOrNumber:
            if k == min(len(a), len(b)):
                return self.compare(op, len(a), len(b))
            return self.ifexp(self.same(a[k], b[k]), lambda: at(k + 1), lambda: self.compare(op, a[k], b[k]))
        return at(0)

    # -- equality ----------------------------------------------------------------------------------

    def same(self, x: object, y: object) -> Any:
        """Whether a container that holds x finds y there."""
        return x is y or self.truth(self.compare("Eq", x, y))

    @for_user
    def contains_(self, items: object, x: object) -> Any:
        """x in items, where users' methods say what is in it, or what is equal; None of any other object"""
        method = self.special(items, "__contains__")
        if method is not None:
            return method(items, x)
        if isinstance(items, (dict, set, frozenset)):
            self.hashed(x, items)
        found = self.iterated(items)
        is_asked = isinstance(items, _SEQUENCES) and (self.is_asked(x) or self.is_asked(items))
        if found is items and not is_asked:
            return None
        by_and_by = ByAndBy(found, "`in`")
        for y in (rest := iter(by_and_by)):
            same = self.same(y, x)
            if isinstance(same, Value):
                by_and_by.is_in_doubt = True
                return self.or_(same, *[lambda y=y: self.same(y, x) for y in rest])
            if same:
                return True
        return False

    @for_user
    def searching(self, f: Any, x: Any, *bounds: object) -> Any:
        """list.index, list.count, list.remove"""
        items: Any = f.__self__
        if not (self.is_asked(x) or self.is_asked(items)):
            found = counted_or_placed(f, x, *bounds)
            return self.known_builtin(f)(x, *bounds) if found is None else found
        start, stop, _ = slice(*(*bounds, None, None)[:2]).indices(len(items))
        found = (k for k in range(start, stop) if self.same(items[k], x))
        if f.__name__ == "count":
            return len(list(found))
        k = next(found, None)
        if k is None:
            raise ValueError(f"{type(items).__name__}.{f.__name__}(x): x not in {type(items).__name__}")
        if f.__name__ == "index":
            return k
        note(items)
        del items[k]
        return None

    def searches(self, f: object) -> "Callable | None":
        """The function that is called for a method of a list that compares its items; None of any other function."""
        if getattr(f, "__name__", "") in SEARCHING and isinstance(getattr(f, "__self__", None), _SEQUENCES):
            return functools.partial(self.searching, f)
        return None

    # -- classes -----------------------------------------------------------------------------------

    @for_user
    def of_class(self, f: Callable, name: str, x: object, classes: object) -> ArrayOrNumber:
        """isinstance or issubclass: what a user's metaclass says, by its method of this name."""
        if type(classes) is tuple and any(self._tells_classes(c, name) for c in classes):
            return self.or_(False, *[lambda c=c: self.of_class(f, name, x, c) for c in classes])
        if not self._tells_classes(classes, name) or (f is isinstance and type(x) is classes):
            return self.known_builtin(f)(x, classes) if f is isinstance else f(x, classes)
        return self.truth(self.special(classes, name)(classes, x))

    def _tells_classes(self, cls: object, name: str) -> bool:
        """Whether the class of a class is a user's, and has this method."""
        return isinstance(cls, type) and is_users(type(cls)) and self.special(cls, name) is not None

    # -- the functions of operator -----------------------------------------------------------------

    def getter(self, f: object) -> "Callable | None":
        """The function that is called for operator.attrgetter, itemgetter or methodcaller; None of any other object."""
        if isinstance(f, operator.attrgetter):
            return functools.partial(_gotten, self._attribute_at, *_given(f))
        if isinstance(f, operator.itemgetter):
            return functools.partial(_gotten, self.item, *_given(f))
        if isinstance(f, operator.methodcaller):
            name, *args, kwargs = _given(f)
            return functools.partial(self._method_called, name, args, kwargs)
        return None

    @for_user
    def _method_called(self, name: str, args: list, kwargs: dict, owner: object) -> Any:
        return self.call(self.attribute(owner, name))(*args, **kwargs)

    def _attribute_at(self, owner: object, names: str) -> Any:
        return functools.reduce(self.attribute, names.split("."), owner)


def _given(f: Any) -> tuple:
    """The parts that a function of operator's was made of; of a methodcaller its keyword arguments come last."""
    make, args = f.__reduce__()
    if not isinstance(f, operator.methodcaller):
        return args
    return (*make.args[:1], *args, make.keywords) if isinstance(make, functools.partial) else (*args, {})


@for_user
def _gotten(get: Callable, *given: object) -> Any:
    """get(owner, name), of one name or several."""
    *names, owner = given
    found = [get(owner, name) for name in names]
    return tuple(found) if len(names) > 1 else found[0]


def new(result: object) -> Any:
    """The result of an operator; a container or a generator is a new one."""
    return made(result) if type(result) in NEW else result


@for_user
def steps(it: object, step: Callable) -> Iterator:
    """The items of an iterator whose __next__ is captured."""
    while True:
        try:
            x = step(it)
        except StopIteration:
            return
        yield x

