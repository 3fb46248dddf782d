"""Capture: a copy of the user's function in which NumPy's, SciPy's and math's names lead to fad, and outer arrays are traced.

The names are swapped in the function's globals and closure, so source is not needed; helper functions are captured in iteration.
Everything that a traced function took from outside is remembered, with what it was, so that rebinding it retraces.
"""
import copy
import functools
from collections import deque
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from io import IOBase
from types import FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from ...ir.build import Builder, Value, current
from ...ir.types import has_own_arithmetic
from ...ops.face import OBJECTS, find
from ...util.defects import door
from ...util.errors import UnstageableError
from ...util.where import package_name
from ..frontend.functions import function_of_numbers, is_called, is_compiled, is_user_function
from ..frontend.syntax import rewritten_code
from ..guards import guard as of
from ..guards import met
from ..guards.bytecode import handles_errors, names_used
from ..guards.handed import refuse_opaque
from ..guards.kinds import CONTAINERS, MISSING, VIEWS, is_open, may_be_changed
from ..guards.reading import Reading
from ..guards.reads import Reads, guard, guard_all, refuse_unknown
from ..guards.settings import answer, is_setting
from ..guards.snapshot import Snapshot
from ..heap.callbacks import watched
from ..heap.journal import journal, note, standing_in
from ..heap.opaque import reach
from ..heap.percall import Maker, part_of, refuse_state, refuse_unseen
from ..objects.containers import NEVER_CHANGE, Globals, contents, put_contents
from ..objects.draws import goes_on, numpy_random
from ..objects.opaque_state import BUFFERS
from ..values.tracer import Tracer
from .builtin import class_of
from .control import Runtime
from .library import MODULES, Object, Proxy, RoutineCall, has_faces, has_traced, redirected
from .scopes import Scopes


def is_sequence(x: Any) -> bool:
    """Whether x is a list, tuple, deque or dict, or of a class made of one; of those made of tuples only named ones can be made again."""
    return isinstance(x, (list, dict, deque)) or type(x) is tuple or (isinstance(x, tuple) and hasattr(x, "_fields"))


OF_DATACLASSES = {"__eq__", "__lt__", "__le__", "__gt__", "__ge__", "__hash__", "__repr__", "__init__", "__setattr__", "__delattr__"}


def _defaults(values: Any, see: Callable) -> Any:
    """Values of parameters as captured code sees them."""
    if not values:
        return values
    return {k: see(v) for k, v in values.items()} if isinstance(values, dict) else tuple(map(see, values))


GENERATED = "<string>"                                       # the file of methods that a class decorator has written
HIDING = " (vectorized)"                                     # the end of the names that np.frompyfunc gives


class Capture(Reading, Scopes):
    """One trace's captured functions: swaps values as the captured code should see them, and collects their sources."""

    def __init__(self, builder: Builder):
        super().__init__()
        self.builder = builder
        self.sources = builder.trace.sources
        self.packages: set[str] = set()                       # packages that are captured because a function of theirs was asked for by itself
        self.runtime = Runtime(self)
        self._copies: dict[int, tuple[Any, Any]] = {}
        self._originals: dict[int, FunctionType] = {}         # id of a function's copy -> the function
        self._wrappers: set[int] = set()                      # library functions whose closures are looked at
        self._modules: dict[int, tuple[Any, Any]] = {}        # modules, as rewritten code sees them
        self._of_classes: set[tuple] = set()                  # what is noted of classes
        self._noted: dict[int, Any] = {}                      # whose state is noted
        self.indexed: dict[int, Any] = {}                     # containers from outside of which captured code reads elements alone

    is_called = staticmethod(is_called)

    def seen(self, value: Any) -> Any:
        """What rewritten code sees of an outside value: a function is itself, as its calls go through the runtime."""
        if isinstance(value, ModuleType) and value.__name__.split(".")[0] in MODULES:
            return self._modules.setdefault(id(value), (value, Proxy(value, self.seen)))[1]
        if not is_called(value) or met.container_behind(value) is not None:
            return self.swap(value)
        self._see(value)
        return value

    def swap(self, value: Any) -> Any:
        """What stands for an outside value where the runtime does not see to its calls: a function is captured, or a face."""
        known = self._copies.get(id(value))
        if known is not None:
            return known[1]
        new = self._swapped(value)
        self._copies[id(value)] = (value, new)
        return new

    def _swapped(self, value: Any) -> Any:
        self._see(value)
        if isinstance(value, ModuleType):
            self.open(value)
            return Proxy(value, self.swap) if value.__name__.split(".")[0] in MODULES else value
        if is_compiled(value) or isinstance(value, functools.partial):
            return self.function(value)
        if value is numpy_random.default_rng:
            return Maker()
        behind = met.container_behind(value)
        if behind is not None and not self.builder.live:
            return getattr(self.swap(behind), value.__name__)
        if isinstance(value, VIEWS):
            return value
        if is_setting(value):
            return functools.partial(answer, self.builder.root, value)
        if isinstance(value, np.vectorize):
            return self._vectorized(value)
        elementwise = function_of_numbers(value)
        if elementwise is not None:
            return self._vectorized(np.vectorize(elementwise))
        if isinstance(value, np.ndarray) and value.dtype.kind in "biufc":
            cls: Any = type(value)
            is_itself = self.builder.live and has_own_arithmetic(cls)        # no operand, but its own methods give numbers
            return value if is_itself else self.builder.capture(value)
        if isinstance(value, (np.ndarray, *BUFFERS)):         # texts, objects, records
            self.sources.append(of.of_all_in(value))
            return value
        if isinstance(value, CONTAINERS):
            kept = Snapshot()
            leaves = kept.add(value)
            if is_sequence(value) and any(isinstance(x, np.ndarray) and x.dtype.kind in "biufc" for x in leaves):
                return self._container(value)
            if self._holds_inputs(value):
                return self._partly_traced(value, leaves)
            if has_traced(value.values() if isinstance(value, dict) else value):      # of this trace: made in it, or standing in for one from outside
                return value
            self.sources.append(of.ContentsGuard(kept) if is_sequence(value) else of.of_all_in(value))
            guard_all(self.builder.root, leaves)
            if not isinstance(value, (tuple, frozenset)):
                self._note_opened(value, value)
            return value
        if id(value) in OBJECTS:
            return OBJECTS[id(value)]
        if isinstance(value, RoutineCall):                        # of the capture around this one
            return self.swap(value.original)
        found = find(value) if callable(value) else None
        if found is not None:
            return redirected(value, found, self)
        if is_user_function(value, self.packages):
            return self.function(value)
        self.open(value)
        of_library: Any = type(value)
        return Object(value, self) if has_faces(of_library) else value

    def _vectorized(self, made: np.vectorize) -> Any:
        """What np.vectorize has made of a function outside; where fad has no form of it, the program does not see what the function does."""
        if made.signature is None:
            return find(np.vectorize).call(watched(made.pyfunc, self), otypes=made.otypes, excluded=made.excluded)     # type: ignore[union-attr]
        if not self.builder.live:
            raise UnstageableError("an np.vectorize with a signature is called", why="fad has no record of it", do="write the loop")
        return made

    def _see(self, value: Any) -> None:
        """Note what holds values of Python's own. An error if value is an iterator from outside, of which a program would have the same items at each call,
        a ufunc that hides a function of Python's, or an opaque package's.
        """
        if not isinstance(value, type) and not self.builder.live:
            refuse_opaque(value, self.packages)
        if isinstance(value, ContextVar):
            self.sources += of.of_variable(value)
        if goes_on(value):
            note(value)
        if id(value) not in self._noted and type(value) not in NEVER_CHANGE and not goes_on(value):
            self._noted[id(value)] = value
            self.sources += met.state_of(value)
            guard_all(self.builder.root, Snapshot().add(list(met.held_by(value))))
        if isinstance(value, memoryview) and not isinstance(value.obj, bytes):
            raise UnstageableError("the function reads a memoryview of what may change", why="fad does not see what changes through it",
                                   do="use an array of NumPy's, made outside (a = np.asarray(view)); it may share the memory")
        if isinstance(value, np.ufunc) and value.__name__.endswith(HIDING) and not self.builder.live:
            raise UnstageableError(f"{value.__name__} is called, which np.frompyfunc has made", why="the program does not see what its function does",
                                   do="use np.vectorize, or a loop")
        if isinstance(value, Iterator) and not isinstance(value, IOBase) and not self.builder.live:
            raise UnstageableError(f"a {type(value).__name__} from outside the traced function goes on in it", why="what it yields is another thing at each call",
                                   do="make it in the function, or pass what it yields as an argument")

    def _container(self, value: Any) -> Any:
        """A copy of a list, tuple, deque or dict from outside, its arrays traced; each of its elements is a source."""
        items = value.items() if isinstance(value, dict) else enumerate(value)
        self.sources += [of.of_length(value), of.of_attributes(value)]
        made = None if isinstance(value, tuple) else standing_in(copy.copy(value))
        if made is not None:
            self._copies[id(value)] = value, made             # before its elements: they may hold it
        new = {key: self._element(value, key, element) for key, element in items}
        if made is None:
            return value._make(new.values()) if hasattr(value, "_fields") else tuple(new.values())
        put_contents(made, new if isinstance(value, dict) else list(new.values()))
        self.builder.trace.stand_ins.append((value, made, contents(made)))
        journal().copied(value, made)
        return made

    def _partly_traced(self, value: Any, leaves: list) -> Any:
        """A container from outside in which traced values stand: what else was in it when the trace began is a source, each element by itself."""
        before = journal().begun_as(value)
        items = before.items() if isinstance(before, dict) else enumerate(before)
        rest = [(key, x) for key, x in items if not isinstance(x, Value)]
        self._copies[id(value)] = value, value                # before its elements: they may hold it
        self.sources += [of.length_as(value, before), of.of_attributes(value), *[of.of_element(value, key, x) for key, x in rest]]
        for _, x in rest:
            if isinstance(x, CONTAINERS) and self.swap(x) is not x:
                raise UnstageableError("a number that changes at each call stands beside a container of arrays", why="the program has a copy of that")
        guard_all(self.builder.root, [x for x in leaves if not isinstance(x, Value)])
        self._note_opened(value, value)
        return value

    def _holds_inputs(self, value: Any) -> bool:
        """Whether traced values stand in a container or an object from outside, at any depth: inputs (see lifting.py), or what the function has put there."""
        root, book = self.builder.root, journal()
        if id(value) in book.made or not book.is_outer(value):
            return False
        if id(value) in root.trace.lifted_owners or book.is_noted(value):
            return True
        return bool(root.trace.lifted_owners) and has_traced((value,))

    def _element(self, container: Any, key: Any, element: Any) -> Any:
        if isinstance(element, Value):                        # an input of the program stands there (see lifting.py)
            return element
        self.sources.append(of.of_element(container, key, element))
        return self.seen(element)

    @door
    def attribute(self, owner: Any, name: str, is_indexed: bool = False) -> Any:
        """owner.name as captured code sees it: of an object, class or module from outside it is a source."""
        if name == "__class__" and isinstance(owner, (Tracer, list)):
            return class_of(owner)
        owner = self.copy_of(owner)
        if id(owner) in self._originals:
            return self._of_function(owner, name)
        if isinstance(owner, (Value, Proxy)) or not is_open(owner) or (name == "__dict__" and self.builder.live):
            value = getattr(owner, name)
            if not self.builder.live and not isinstance(owner, (Value, Proxy)):
                value = part_of(owner, name, value) if goes_on(owner) else self.of_library(owner, name)
            return OBJECTS.get(id(value), value)
        inside = self._is_inside(owner)
        found = MISSING if isinstance(owner, ModuleType) else self._in_class(owner if isinstance(owner, type) else type(owner), name)
        try:
            return self._attribute_of(owner, name, found, inside, is_indexed)
        except AttributeError:
            self.presence(owner, name, False)
            raise

    @door
    def _attribute_of(self, owner: Any, name: str, found: Any, inside: bool, is_indexed: bool) -> Any:
        if hasattr(type(found), "__get__") and not inside and not isinstance(owner, type) and may_be_changed(type(owner)):
            self.sources.append(of.AttributeGuard(owner, "__class__", type(owner)))
        if isinstance(found, property) and is_user_function(found.fget, self.packages) and not isinstance(owner, type):
            return self.swap(found.fget)(owner)
        if isinstance(found, functools.cached_property) and not isinstance(owner, type) and name not in owner.__dict__:
            return self._cached(owner, name, found, inside)
        value = getattr(owner, name)
        is_own = inside and value is not found
        if isinstance(value, MethodType) and not inside:
            self._guard_method(owner, name, found)
        if isinstance(value, (MethodType, Tracer)) or (has_traced((value,)) and not self._holds_inputs(value)) or is_own:
            return value
        is_written = self._is_written(owner, name, value)
        if is_written and (type(value) in NEVER_CHANGE or not journal().is_outer(value)):
            return value
        if not is_written:
            self.sources.append(of.AttributeGuard(owner, name, value))
        self._see(value)
        self.open(value)
        if isinstance(value, (np.ndarray, *CONTAINERS)) or met.container_behind(value) is not None:
            return self.index(value) if is_indexed else self.swap(value)
        return OBJECTS.get(id(value), value)

    def _cached(self, owner: Any, name: str, made: functools.cached_property, inside: bool) -> Any:
        """The value of a cached property that is not in the object yet. It is put there, as Python does."""
        if not inside:
            self.sources += of.of_names(owner.__dict__, [name])
        value = self.swap(made.func)(owner)
        note(owner)
        owner.__dict__[name] = value
        return value

    def _guard_method(self, owner: Any, name: str, found: Any) -> None:
        """Guards for a method that is read from a thing outside: each read makes another bound method, so its identity says nothing.
        found: what the class has under this name, which has its guard already."""
        own = getattr(owner, "__dict__", None)
        if type(own) is dict and not self._is_written(owner, name, own.get(name, MISSING)):
            self.sources += of.of_names(own, [name])
        if found is MISSING and isinstance(owner, type):      # a method of its metaclass
            self.sources.append(of.of_class(owner, name))
            self._in_class(type(owner), name)

    def _is_written(self, owner: Any, name: str, value: Any) -> bool:
        """Whether the function itself has given an attribute this value: nobody found it there."""
        book = journal()
        if not book.is_noted(owner) or isinstance(owner, (type, ModuleType)):
            return False
        before = book.begun_as(owner)
        return isinstance(before, dict) and before.get(name, MISSING) is not value

    def _in_class(self, cls: type, name: str) -> Any:
        """What a class has under this name, for its instances; it is a source."""
        self.builder.trace.classes[cls] = None
        found = of.in_class(cls, name)
        if (cls, name) not in self._of_classes and found is not MISSING and not isinstance(found, Value):
            self._of_classes.add((cls, name))
            self.sources.append(of.of_class(cls, name))
        return found

    def refuse_state(self, owner: Any, name: str) -> None:
        """An error if an attribute is set that is another one at each call."""
        if not self.builder.live:
            refuse_state(owner, name)

    def copy_of(self, owner: Any) -> Any:
        """Whose attributes captured code reads and writes: those of a user's function are its copy's, until the call is over."""
        return self.swap(owner) if is_user_function(owner, self.packages) and not self.runtime.is_captured(owner) else owner

    def _of_function(self, copy: FunctionType, name: str) -> Any:
        """An attribute of a user's function."""
        original = self._originals[id(copy)]
        if name == "__code__":
            return original.__code__
        if name in ("__defaults__", "__kwdefaults__"):
            return getattr(original, name)
        if name == "__globals__":
            raise UnstageableError(f"{name} of a function is asked for", why="the program has a copy of the function", do="read the names themselves")
        before, value = original.__dict__.get(name, MISSING), getattr(copy, name)
        if value is before:
            self.sources.append(of.AttributeGuard(original, name, before))
            return self.seen(value)
        told = met.of_function(original, name)
        self.sources += told
        return getattr(original, name) if told else value

    def special(self, cls: type, name: str) -> Any:
        """The captured special method of a class, for its instances; None where it has none, or one that is not a user's function."""
        found = of.in_class(cls, name)
        if not is_user_function(found, self.packages) or (found.__code__.co_filename == GENERATED and name in OF_DATACLASSES):
            return None
        return self.swap(self._in_class(cls, name))

    def absence(self, owner: Any, name: str) -> None:
        """Note that an object has no attribute of this name, nor has its class: its __getattr__ was asked."""
        self.sources.append(of.of_class(type(owner), name))
        own = getattr(owner, "__dict__", None)
        if type(own) is dict and not self._is_inside(owner) and not journal().is_noted(owner):
            self.sources += of.of_names(own, [name])

    def presence(self, owner: Any, name: str, found: bool) -> None:
        """Note that code asked whether owner has an attribute of this name, and what it was told."""
        owner = self._originals.get(id(owner), owner)
        if isinstance(owner, FunctionType) or (not isinstance(owner, (Value, Proxy)) and is_open(owner) and not self._is_inside(owner)):
            self.sources.append(of.of_presence(owner, name, found))

    def _is_inside(self, owner: Any) -> bool:
        """Whether an object was made by the traced code, so that its attributes are nobody else's. Another one is opened."""
        root = self.builder.root
        root.trace.classes[owner if isinstance(owner, type) else type(owner)] = None
        if id(owner) in root.trace.inside:
            return True
        if id(owner) in root.trace.opened:
            return False
        if isinstance(owner, ModuleType):
            self._note_opened(owner, owner)
            return False
        is_of_trace = id(owner) in journal().made or not (root.trace.lifted_owners or journal().is_noted(owner))
        if not isinstance(owner, type) and is_of_trace and has_traced(contents(owner).values()):
            root.trace.inside[id(owner)] = owner
            return True
        if not isinstance(owner, type) and not self.builder.live:
            refuse_opaque(owner, self.packages)
        self._note_opened(owner, owner)
        guard(root, owner)
        return False

    def _note_opened(self, x: Any, owner: Any) -> None:
        """Remember what comes from outside."""
        self.builder.trace.opened[id(x)] = owner

    def open(self, *owners: Any) -> None:
        """Note objects from outside before the traced code changes them."""
        for owner in owners:
            if not isinstance(owner, (Value, Proxy)) and is_open(owner):
                self._is_inside(owner)

    def function(self, f: Any) -> Callable:
        """The captured copy of a user's function (or of an object that is called as one); a library's function is its face."""
        if isinstance(f, MethodType):
            self._ask_for(f.__func__)
            self.open(f.__self__)
            return MethodType(self.swap(f.__func__), f.__self__)
        if isinstance(getattr(type(f), "__call__", None), FunctionType) and not is_compiled(f):  # noqa: B004
            return self.runtime.call(f)
        given = f
        if is_compiled(f):                                    # it is traced through the Python it was made from
            f = f.py_func
        if isinstance(f, functools.partial):
            return self._partial(f)
        self._ask_for(f)
        if not is_user_function(f, self.packages):
            found = find(f)
            return self._library_function(f) if found is None else redirected(f, found, self)
        rewritten = rewritten_code(f)
        code = rewritten or f.__code__
        if rewritten is None:
            self.runtime.plain.add(code)
        see = self.swap if rewritten is None else self.seen
        scope = self._scope(f.__globals__, rewritten is not None)
        copy = FunctionType(code, scope, f.__name__, _defaults(f.__defaults__, see), self._cells(f, code))
        copy.__kwdefaults__, lifted = _defaults(f.__kwdefaults__, see), self.builder.trace.lifted
        copy.__dict__ = {k: lifted.get((id(f.__dict__), k), v) for k, v in f.__dict__.items() if k != "__fad_staged__"}
        copy.__module__, copy.__doc__, copy.__qualname__ = f.__module__, f.__doc__, f.__qualname__
        self._copies.update({id(g): (g, copy) for g in (f, given)})               # before its globals and its closure: it may call itself
        self._originals[id(copy)] = f
        self.sources.append(of.CodeGuard(f))
        self._note_opened(copy, Globals(standing_in(copy.__dict__), f.__dict__))
        self._fill(scope, f, code, see)
        self._fill_cells(f, copy, see)
        if rewritten is None:
            self._guard_all(f)
            note(*reach([copy]))                              # the function that is traced is called by nobody who would
        return copy

    def _ask_for(self, f: Any) -> None:
        """Capture the package of a function that is asked for by itself, wherever it is installed."""
        if isinstance(f, FunctionType):
            self.packages.add(package_name(f))

    def _partial(self, f: functools.partial) -> functools.partial:
        """A function with some of its arguments; where they come from outside, they are sources."""
        if not has_traced((*f.args, *f.keywords.values())):
            self.sources += [of.of_contents(f.keywords), of.AttributeGuard(f, "func", f.func), of.AttributeGuard(f, "args", f.args)]
        new = functools.partial(self.runtime.call(f.func), *_defaults(f.args, self.seen), **_defaults(f.keywords, self.seen))
        self._copies[id(new)] = new, new                      # it is as captured code sees it
        return new

    def _guard_all(self, f: FunctionType) -> None:
        """What code reads that is not rewritten is not seen: all that it may read is a source.
        Nor is a try seen, whose handlers an error of the program would pass by (see handlers.py).
        """
        if handles_errors(f.__code__) and not self.builder.live:
            raise UnstageableError(f"{f.__name__} handles errors, and its text is not at hand or cannot be rewritten",
                                   why="handlers are part of the function, and not of the program", do="define it in a file")
        if not self.builder.live:
            refuse_unseen(f)
        if not {"globals", "_getframe", "currentframe"}.isdisjoint(names_used(f.__code__)):
            raise UnstageableError(f"{f.__name__} asks for its global names or its frame", why="the program has a copy of the function",
                                   do="read the names themselves")
        if not self.builder.live:
            reads = self.builder.trace.reads = self.builder.trace.reads or Reads()
            reads.add(f)
            refuse_unknown(reads, f.__name__)

    def _library_function(self, f: Any) -> Callable:
        """A library's function as it is, but for the user's functions that it closes over (fad's own wrappers do)."""
        if not isinstance(f, FunctionType) or not f.__closure__:
            return f
        if id(f) in self._wrappers:                           # it closes over itself
            return f
        self._wrappers.add(id(f))
        try:
            cells = tuple([self._function_cell(cell) for cell in f.__closure__])
        finally:
            self._wrappers.remove(id(f))
        if all(new is old for new, old in zip(cells, f.__closure__)):
            return f
        copy = FunctionType(f.__code__, f.__globals__, f.__name__, f.__defaults__, cells)
        copy.__kwdefaults__ = f.__kwdefaults__
        return copy

    def _function_cell(self, cell: Any) -> Any:
        try:
            value = cell.cell_contents
        except ValueError:
            return cell
        if not isinstance(value, (FunctionType, MethodType, functools.partial)) and not is_compiled(value):
            return cell
        new = self.function(value)
        return cell if new is value else _new_cell(new)


def captured(f: Any) -> Callable:
    """f as the present trace sees it: its names swapped, its outer arrays traced. One trace has one stand-in for each
    variable, so what a function within it assigns is there for the next one."""
    root = current().root
    if root.trace.frontend is None:
        root.trace.frontend = Capture(root)
    frontend = root.trace.frontend
    return f if frontend.runtime.is_captured(getattr(f, "__func__", f)) else frontend.function(f)


def _new_cell(value: Any) -> Any:
    return (lambda: value).__closure__[0]                     # type: ignore[index]
