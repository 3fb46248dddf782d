"""The runtime of rewritten functions: each construct, met while tracing, is plain Python on plain values and a region on traced ones.

A loop over a range or an array, or a `while`, is tried as one region. If its body needs concrete values (a dict's key that is the
loop's variable), it is unrolled; if nothing traced is in it, it is run.
"""
import functools
import operator
import sys
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from types import BuiltinFunctionType, BuiltinMethodType, FunctionType, MethodType
from typing import Any

import numpy as np

from ..ir import stack
from ..ir.build import Value, current
from ..ir.op import registry
from ..ops.face import find
from ..ops.literals import python_number
from ..util import tree
from ..util.defects import door, is_defect, warn_of
from ..util.errors import InternalErrorWarning, UnstageableError
from . import handlers, optional
from .branch import choose, truth
from .builtin import BY_BUILTIN, hasattr_, scalar_class
from .cached import cached
from .calls import called, is_tracing, keep, refuse_frames
from .constants import decided
from .containers import containers_in, is_users
from .draws import note_generator
from .iterate import Range, Steps, steps_of
from .library import Routine
from .listed import as_captured
from .listing import NeedsRows
from .lists import Items, Rows
from .ordering import contains, sort
from .plan import Plan
from .recall import memory_here
from .recursion import Branches, EndsBySize
from .roll import roll_while
from .shared import Shared
from .state import cells_of
from .syntax import RUNTIME
from .unroll import MOST_PEELED, MOST_UNROLLED, Plainly, attempted, has_ended, note_unrolled, peel_while, roll_or_peel, run_plainly, unrolled_items
from .unseen import is_made_plainly
from .widening import WideningError

COMPARISONS: dict[str, Callable] = {
    "Lt": operator.lt, "LtE": operator.le, "Gt": operator.gt, "GtE": operator.ge, "Eq": operator.eq, "NotEq": operator.ne,
    "Is": optional.is_, "IsNot": optional.is_not, "In": lambda a, b: contains(b, a)}
SHORT = 8                                                    # a comprehension over so few items is written out


class Runtime:
    """What `__fad__` is in a rewritten function."""

    def __init__(self, capture: Any):
        self.capture = capture
        self.unrolled: dict[Any, str] = {}                    # code of a loop's body -> why it is not one region
        self.branches = Branches()
        self.plain: set[Any] = set()                          # code of captured functions that is as it was, without source

    # -- calls ------------------------------------------------------------------------------------------------------------

    def call(self, f: Any) -> Any:
        """f as captured code calls it: users' functions are captured, NumPy's and Python's lead to fad where something is traced."""
        if isinstance(f, functools.partial):
            return self.capture.swap(f)
        found = self._call(f)
        if not is_tracing() or isinstance(found, Routine) or self._is_rewritten(getattr(found, "__func__", found)):
            return found
        keep(getattr(f, "__self__", None))
        return functools.partial(called, found)

    def _call(self, f: Any) -> Any:
        if isinstance(f, (FunctionType, BuiltinFunctionType)):
            refuse_frames(f)
        if isinstance(f, FunctionType):
            return f if self.is_captured(f) else self.capture.swap(f)
        if isinstance(f, (MethodType, BuiltinMethodType)) and f.__name__ == "sort" and type(f.__self__) in (list, Items, Rows):
            return functools.partial(sort, f.__self__)
        if isinstance(f, MethodType):
            return self._method(f)
        if f is filter:
            return self._filter
        if f is list:
            return self._list
        if isinstance(f, functools._lru_cache_wrapper):
            return functools.partial(cached, self, f)
        if isinstance(f, type):
            known = BY_BUILTIN.get(f) or scalar_class(f)
            return known or (f if f.__module__ == "builtins" else functools.partial(self._made, f))
        if f is getattr:
            return self._getattr
        if f is hasattr:
            return self._hasattr
        if isinstance(f, np.vectorize):
            return self.capture.swap(f)
        try:
            known = BY_BUILTIN.get(f)
        except TypeError:                                     # not hashable: an object with an equality of its own
            return self._object(f)
        if known is not None:
            return known
        if find(f) is not None or hasattr(f, "py_func"):
            return self.capture.swap(f)
        return self._object(f)

    def _made(self, cls: type, *args: Any, **kwargs: Any) -> Any:
        """An object that the traced code makes: what its attributes are is nobody else's."""
        if not is_tracing():
            return cls(*args, **kwargs)
        if hasattr(cls, "__del__") and is_users(cls):
            raise UnstageableError(f"{cls.__name__} has a __del__", why="a program does not know when objects go", do="make the object outside the function")
        if is_users(cls) and is_made_plainly(cls):
            made = cls.__new__(cls)
            current().root.inside[id(made)] = made
            self.capture.swap(cls.__init__)(made, *args, **kwargs)
        else:
            optional.need(*tree.flatten((args, kwargs))[0])
            made = cls(*args, **kwargs)
            current().root.inside[id(made)] = made
        current().root.classes[cls] = None
        attributes = getattr(made, "__dict__", {}) if is_users(made) else {}
        for x in attributes.values():
            note_generator(x)
        known = {id(c): c for c in containers_in([*args, *kwargs.values()])} if attributes else {}
        for name, x in attributes.items():
            attributes[name] = as_captured(x, known)         # as if all that made them were captured code
        return made

    def _getattr(self, owner: Any, name: str, *default: Any) -> Any:
        return default[0] if default and not self._hasattr(owner, name) else self.attribute(owner, name)

    def _hasattr(self, owner: Any, name: str) -> bool:
        found = hasattr_(owner, name)
        self.capture.presence(owner, name, found)
        return found

    def _filter(self, condition: Any, items: Any) -> Any:
        """filter(condition, items): of traced items, a list."""
        if not is_tracing() or steps_of(items) is None:
            return filter(condition, items)
        return self.comprehension(items, lambda x: x, (lambda x: x) if condition is None else self.call(condition))

    def _list(self, *items: Any) -> list:
        """list(items): of what is traced, as a loop that fills a list."""
        if not is_tracing() or not items or isinstance(items[0], (range, Range)) or not (isinstance(items[0], Value) or steps_of(items[0])):
            return self.list_(list(*items))
        return items[0].copy() if isinstance(items[0], Rows) else self.comprehension(items[0], lambda x: x)

    def attribute(self, owner: Any, name: str) -> Any:
        """owner.name"""
        optional.need(owner)
        return self.capture.attribute(owner, name)

    def is_captured(self, f: Any) -> bool:
        """Whether f is a copy of a function, or a function made by one."""
        return isinstance(f, FunctionType) and f.__globals__.get(RUNTIME) is self

    def _is_rewritten(self, f: Any) -> bool:
        """Whether f is captured code that calls the runtime in place of what Python does (source was at hand)."""
        return self.is_captured(f) and f.__code__ not in self.plain

    def _method(self, f: MethodType) -> Any:
        function = f.__func__
        self.capture.open(f.__self__)
        if not isinstance(function, FunctionType) or self.is_captured(function):
            return f
        new = self.capture.swap(function)
        return f if new is function else MethodType(new, f.__self__)

    def _object(self, f: Any) -> Any:
        """An object of a user's class that is called as a function."""
        method = getattr(type(f), "__call__", None)  # noqa: B004  the function itself is wanted
        if not isinstance(method, FunctionType) or isinstance(f, Value):
            return f
        new = self.capture.swap(method)
        return f if new is method else MethodType(new, f)

    # -- branches ---------------------------------------------------------------------------------------------------------

    def if_(self, test: Any, then: Callable, otherwise: "Callable | None", names: tuple, own: tuple = ()) -> None:
        test = decided(truth(test))
        otherwise = otherwise or _nothing
        if not isinstance(test, Value):
            (then if test else otherwise)()
            return
        cells = cells_of(then, otherwise)
        self.branches.choose(then, test, then, otherwise, cells, names, own)

    def ifexp(self, test: Any, if_true: Callable, if_false: Callable) -> Any:
        test = truth(test)
        if not isinstance(test, Value):
            return (if_true if test else if_false)()
        return self.branches.choose(if_true, test, if_true, if_false, cells_of(if_true, if_false))

    def and_(self, value: Any, *rest: Callable) -> Any:
        for k, later in enumerate(rest):
            test = truth(value)
            if isinstance(test, Value):
                return choose(test, lambda: self.and_(*_computed(rest[k:])), lambda: value, cells_of(*rest))   # noqa: B023 - called at once
            if not test:
                return value
            value = later()
        return value

    def or_(self, value: Any, *rest: Callable) -> Any:
        for k, later in enumerate(rest):
            test = truth(value)
            if isinstance(test, Value):
                return choose(test, lambda: value, lambda: self.or_(*_computed(rest[k:])), cells_of(*rest))    # noqa: B023 - called at once
            if test:
                return value
            value = later()
        return value

    def not_(self, value: Any) -> Any:
        test = truth(value)
        return python_number(registry["logical_not"](test)) if isinstance(test, Value) else not test

    is_, is_not = staticmethod(optional.is_), staticmethod(optional.is_not)

    @door
    def chain(self, left: Any, *parts: Any) -> Any:
        """a < b < c: each operand is computed once, and only as far as the comparisons hold."""
        right = parts[1]()
        first = self.not_(contains(right, left)) if parts[0] == "NotIn" else COMPARISONS[parts[0]](left, right)
        if len(parts) == 2:
            return first
        return self.and_(first, lambda: self.chain(right, *parts[2:]))

    def matched(self, subject: Any) -> Any:
        """What a match statement looks at: its patterns ask Python itself whether something is None."""
        optional.need(*tree.flatten(subject)[0])
        return subject

    @door
    def assert_(self, test: Any, message: "Callable | None") -> None:
        test = truth(test)
        if not isinstance(test, Value) and (test or not (is_tracing() and stack.is_region())):
            assert test, message() if message is not None else ""
            return
        text = message() if message is not None else ""
        registry["check_that"](test, True, what=str(text))

    def raises(self, error: Callable) -> bool:
        """Whether a raise statement is to be carried out now. In a region of the program it is the program that raises, if it gets there.

        What a function that only raises would return is asked for by who called it; so there the error goes on to the branch (see branch.py).
        """
        branch = next((b for b in _around(current()) if b.side is not None), None) if is_tracing() else None
        if branch is None or not sys._getframe(1).f_code.co_name.startswith("_fad_"):
            return True
        made = error()
        made = made() if isinstance(made, type) else made
        selector, side = branch.side
        registry["check_that"](selector, not side, what=str(made), error=handlers.kind_of(made))
        return False

    # -- errors -----------------------------------------------------------------------------------------------------------

    def caught(self, handled: "Callable | None" = None) -> Any:
        return handlers.caught(handled) if is_tracing() else handlers.on_tape() if stack.is_live() else nullcontext()

    def pass_on(self) -> None:
        handlers.pass_on(sys.exc_info()[1], is_tracing())

    def context(self, manager: Any) -> Any:
        return handlers.Context(manager) if is_tracing() else manager

    # -- lists ------------------------------------------------------------------------------------------------------------

    def list_(self, items: Any) -> Any:
        """A list as captured code makes it: one that a loop may come to fill, or to index."""
        return Items(items) if type(items) is list and is_tracing() else items

    shared = Shared

    @door
    def comprehension(self, items: Any, element: Callable, *conditions: Callable) -> list:
        """[element(x) for x in items if all conditions hold of x]"""
        made = self._comprehension(items, element, *conditions)
        if isinstance(element, Shared):
            element.share(conditions[0] if conditions else element)
        return made

    def _comprehension(self, items: Any, element: Callable, *conditions: Callable) -> list:
        steps = steps_of(items) if is_tracing() else None
        count = 0 if steps is None else steps.count()
        if isinstance(count, int) and count <= (1 if conditions else SHORT):
            return self.list_([element(x) for x in items if all(c(x) for c in conditions)])
        made = Items()

        def turn(x: Any) -> None:
            if len(conditions):
                self.if_(self.and_(conditions[0](x), *[functools.partial(c, x) for c in conditions[1:]]), lambda: made.append(element(x)), None, ())
            else:
                made.append(element(x))
        self.for_(items, turn, (), (), (), (), ())
        return made

    # -- loops ------------------------------------------------------------------------------------------------------------

    def for_(self, items: Any, body: Callable, *facts: tuple) -> None:
        """facts: names, rebound, written, stops and own, as Plan takes them."""
        keep(items)
        optional.need(items)
        cells = cells_of(body)
        plan = Plan(cells, *facts)
        steps = steps_of(items) if is_tracing() else None
        if steps is None or (not isinstance(items, Value) and _is_short(steps)):
            run_plainly(items, body, plan)
            return
        steps = steps.take()
        why = self._try(body, lambda: roll_or_peel(steps, body, plan, facts))
        if why is not None:
            note_unrolled(body, why)
            run_plainly(unrolled_items(steps, why), body, plan)

    def while_(self, test: Callable, body: Callable, *facts: tuple) -> None:
        self._while(test, body, facts, 0)

    def _while(self, test: Callable, body: Callable, facts: tuple, peeled: int) -> bool:
        """The loop, of which so many turns stand by themselves; True."""
        cells = cells_of(test, body)
        stops = Plan(cells, *facts).stops
        turns = 0
        while True:
            if any(s.read() is True for s in stops):
                return True
            go_on = truth(test())
            if go_on is False:
                return True
            if not is_tracing():
                body()
                continue
            plan = Plan(cells, *facts, memory=memory_here(current()).next_of(body.__code__, cells))
            plan.is_traced = isinstance(go_on, Value)
            why = self._try(body, functools.partial(attempted, functools.partial(roll_while, go_on, test, body, plan)))
            if why is None:
                return True
            if isinstance(why, WideningError) and isinstance(go_on, Value) and peeled < MOST_PEELED:
                peel_while(go_on, body, plan, lambda: self._while(test, body, facts, peeled + 1))
                return True
            if isinstance(go_on, Value) or isinstance(has_ended(plan), Value):
                raise why
            note_unrolled(body, why)
            body()
            turns += 1
            if turns > MOST_UNROLLED and not isinstance(why, Plainly):
                raise why

    def _try(self, body: Callable, roll: Callable) -> "Exception | str | None":
        """None if the loop is now a region of the program, else why it is not."""
        known = self.unrolled.get(body.__code__)
        if known is not None:
            return known
        try:
            return None if roll() else Plainly()
        except (EndsBySize, InternalErrorWarning):           # says nothing of the loop; a defect that is an error to the user
            raise
        except WideningError as error:                        # nor does this, once a turn stands by itself
            return error
        except NeedsRows as need:
            if need.owner.home is current():
                self.unrolled[body.__code__] = need
                return need
            raise
        except Exception as error:                            # whatever it was, the plain loop will meet it again if it is the user's
            if is_defect(error):
                warn_of(error, "a loop is not one region of the program")
            self.unrolled[body.__code__] = error
            return error


def _around(builder: Any) -> Iterator:
    """A builder and those around it."""
    while builder is not None:
        yield builder
        builder = builder.parent


def _computed(operands: tuple) -> tuple:
    """The first of these, computed; the others for later."""
    return operands[0](), *operands[1:]


def _nothing() -> None:
    return None


def _is_short(steps: Steps) -> bool:
    count = steps.count()
    return isinstance(count, int) and count <= 1
