"""Capture: a copy of the user's function in which NumPy's, SciPy's and math's names lead to fad.

The names are swapped in the function's globals and closure, so the source is not needed. Outer arrays are traced, and
helper functions are captured in turn. Each value that the function reads from outside becomes a guard: once it changes,
the function is traced anew.
"""
import functools
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from io import IOBase
from types import CellType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from ...ir.build import Builder, current
from ...ir.types import has_own_arithmetic
from ...ops.override import OBJECTS, find
from ...util.errors import UnstageableError
from ...util.profiled import unprofiled
from ...util.where import is_disguised, is_fads, package_name
from ..frontend.functions import is_called, is_partial, is_user_function
from ..frontend.numba_forms import Promoted, function_of_numba, is_compiled, is_of_numba
from ..frontend.origin import codes_in
from ..frontend.syntax import rewritten_code
from ..guards import guard as of
from ..guards import python_objects
from ..guards.bytecode import handles_errors, names_used
from ..guards.escapes import refuse_opaque, refuse_proxy
from ..guards.kinds import CONTAINERS, VIEWS
from ..guards.reads import begin_reads, guard_all, refuse_unknown
from ..guards.settings import answer, is_setting
from ..guards.snapshot import Snapshot
from ..heap.callbacks import watched
from ..heap.foreign import foreign
from ..heap.journal import note, standing_in
from ..heap.opaque import note_reach
from ..heap.percall import Maker, refuse_unseen
from ..lists.tails import tails
from ..objects.containers import NEVER_CHANGE, Globals, content
from ..objects.draws import goes_on, numpy_random
from ..objects.opaque_state import BUFFERS, is_record
from .calls import from_outside
from .control import Runtime
from .library import MODULES, Object, Proxy, RoutineCall, has_overrides, has_traced, redirected, ufunc_behind
from .outer_containers import OuterContainers, is_array, is_record_array


def _defaults(values: Any, see: Callable) -> Any:
    """Values of parameters as captured code sees them."""
    if not values:
        return values
    return {k: see(v) for k, v in values.items()} if isinstance(values, dict) else tuple(map(see, values))


HIDING = " (vectorized)"                                     # the end of the names that np.frompyfunc gives


class Capture(OuterContainers):
    """One trace's captured functions: swaps values as the captured code should see them, and collects their sources."""

    def __init__(self, builder: Builder):
        super().__init__()
        self.builder = builder
        self.sources = builder.trace.sources
        self.packages: set[str] = set()               # captured since a function of theirs was asked for by itself
        self.runtime = Runtime(self)
        self._copies: dict[int, tuple[Any, Any]] = {} if builder.live else tails()
        self.originals: dict[int, FunctionType] = {}          # id of a function's copy -> the function
        self._wrappers: set[int] = set()                      # library functions whose closures are looked at
        self._modules: dict[int, tuple[Any, Any]] = {}        # modules, as rewritten code sees them
        self._of_classes: set[tuple] = set()                  # what is noted of classes
        self._noted: dict[int, Any] = {}                      # whose state is noted
        self.indexed: dict[int, Any] = {}                     # outer containers of which code reads elements alone

    is_called = staticmethod(is_called)

    def seen(self, value: object) -> Any:
        """An outside value as rewritten code sees it. A function stays itself, since its calls go through the runtime,
        which refuses those of C: code may name them that it does not call.
        """
        if isinstance(value, ModuleType) and value.__name__.split(".")[0] in MODULES:
            return self._modules.setdefault(id(value), (value, Proxy(value, self.seen)))[1]
        if not is_called(value) or python_objects.container_behind(value) is not None:
            return self.swap(value)
        self._see(value)
        return value

    def swap(self, value: object) -> Any:
        """The stand-in for an outside value where the runtime does not see to its calls: a function is captured, or a
        override.
        """
        known = self._copies.get(id(value))
        if known is not None:
            return known[1]
        new = self._swapped(value)
        self._copies[id(value)] = (value, new)
        return new

    @unprofiled
    def _swapped(self, value: Any) -> Any:
        if not isinstance(value, type) and not self.builder.live:
            if self.is_foreign(value):
                return foreign(self.builder.root, value)
            refuse_opaque(value, self.packages)
        self._see(value)
        return next(stand_in for is_one, stand_in in STAND_INS if is_one(value))(self, value)

    def _disguised(self, value: object) -> object:
        """A proxy: it is no container for which it passes."""
        refuse_proxy(value)
        self.open(value)
        return value

    def _module(self, value: ModuleType) -> ModuleType:
        self.open(value)
        return Proxy(value, self.swap) if value.__name__.split(".")[0] in MODULES else value

    def _method_of_container(self, value: Callable) -> object:
        """A method of a container from outside: that of its stand-in."""
        container = python_objects.container_behind(value)
        is_itself = self.builder.live and not isinstance(container, (np.ndarray, np.void))
        return value if is_itself else getattr(self.swap(container), value.__name__)

    def _array(self, value: np.ndarray) -> object:
        """An array of numbers. On the tape the methods of a subclass give numbers."""
        cls: Any = type(value)
        is_itself = self.builder.live and has_own_arithmetic(cls)
        return self.read_as_is(value) if is_itself else self.builder.capture(value)

    def _other(self, value: object) -> object:
        """A function, a class, or an object of any other kind."""
        found = find(value) if callable(value) else None
        if found is not None:
            return redirected(value, found, self)
        if is_user_function(value, self.packages):
            return self.function(value)
        self.open(value)
        of_library: Any = type(value)
        return Object(value, self) if has_overrides(of_library) else value

    def _vectorized(self, made: np.vectorize) -> Any:
        """The function that np.vectorize has made of a function outside. Where fad has no form of it, the program does
        not see what the function does.
        """
        call = find(np.vectorize).call                        # type: ignore[union-attr]
        form = call(watched(made.pyfunc, self), otypes=made.otypes, excluded=made.excluded, signature=made.signature)
        form.is_promoted = isinstance(made, Promoted)
        return form

    def _see(self, value: object) -> None:
        """Note what holds values of Python's own. An error if value is an iterator from outside, of which a program
        would have the same items at each call, or a ufunc that hides a function of Python's.
        """
        if isinstance(value, ContextVar):
            self.sources += of.of_variable(value)
        if goes_on(value):
            note(value)
        is_data = not (goes_on(value) or self.builder.live)
        if is_data and id(value) not in self._noted and type(value) not in NEVER_CHANGE:
            self._noted[id(value)] = value
            self.sources += python_objects.state_of(value)
            guard_all(self.builder.root, Snapshot().add(list(python_objects.held_by(value))))
        if isinstance(value, memoryview) and not isinstance(value.obj, bytes) and not self.builder.live:
            raise UnstageableError("the function reads a memoryview of what may change",
                                   why="fad does not see what changes through it",
                                   do="use an array of NumPy's, made outside (a = np.asarray(view)); it may share the "
                                      "memory")
        if isinstance(value, np.ufunc) and value.__name__.endswith(HIDING) and not self.builder.live:
            raise UnstageableError(f"{value.__name__} is called, which np.frompyfunc has made",
                                   why="the program does not see what its function does",
                                   do="use np.vectorize, or a loop")
        if isinstance(value, Iterator) and not isinstance(value, IOBase) and not self.builder.live:
            raise from_outside(value)

    def function(self, f: Any) -> Callable:
        """The captured copy of a user's function (or of an object that is called as one); a library's function is its
        override. A captured copy is itself.
        """
        if self.runtime.is_captured(getattr(f, "__func__", f)):
            return f
        if type(f) is MethodType:
            self.ask_for(f.__func__)
            self.open(f.__self__)
            return MethodType(self.swap(f.__func__), f.__self__)
        if isinstance(getattr(type(f), "__call__", None), FunctionType) and not is_compiled(f):  # noqa: B004
            return self.runtime.call(f)
        given = f
        if is_compiled(f):                                    # it is traced through the Python it was made from
            f, self.builder.trace.is_of_numba = f.py_func, True
        if is_partial(f):
            return self._partial(f)
        self.ask_for(f)
        if not is_user_function(f, self.packages):
            found = find(f)
            return self._library_function(f) if found is None else redirected(f, found, self)
        rewritten = rewritten_code(f)
        code = rewritten or f.__code__
        if rewritten is None:
            self.runtime.plain.update([code, *codes_in(code)])
        see = self.swap if rewritten is None else self.seen
        scope = self._scope(f.__globals__, rewritten is not None)
        copy, lifted = FunctionType(code, scope, f.__name__, None, self._cells(f, code)), self.builder.trace.lifted
        copy.__dict__ = {k: lifted.get((id(f.__dict__), k), v) for k, v in f.__dict__.items() if k != "__fad_staged__"}
        copy.__module__, copy.__doc__, copy.__qualname__ = f.__module__, f.__doc__, f.__qualname__
        # before its defaults, its globals and its closure: it may be among them
        self._copies.update({id(g): (g, copy) for g in (f, given)})
        copy.__defaults__, copy.__kwdefaults__ = _defaults(f.__defaults__, see), _defaults(f.__kwdefaults__, see)
        self.originals[id(copy)] = f
        self.sources.append(of.CodeGuard(f))
        self._note_opened(copy, Globals(standing_in(copy.__dict__), f.__dict__))
        self._fill(scope, f, code, see)
        self._fill_cells(f, copy, see)
        if rewritten is None:
            self._guard_all(f)
            note_reach([copy])                                # nobody calls the traced function who would note it
        return copy

    def ask_for(self, f: object) -> None:
        """Capture the package of a function that is asked for by itself, wherever it is installed."""
        if type(f) is FunctionType:
            self.packages.add(package_name(f))

    def _partial(self, f: functools.partial) -> functools.partial:
        """A function with some of its arguments; where they come from outside, they are sources."""
        if not has_traced((*f.args, *f.keywords.values())):
            self.sources += [of.of_contents(f.keywords), of.AttributeGuard(f, "func", f.func),
                             of.AttributeGuard(f, "args", f.args)]
        args, keywords = _defaults(f.args, self.seen), _defaults(f.keywords, self.seen)
        new = functools.partial(self.runtime.call(f.func), *args, **keywords)
        self._copies[id(new)] = new, new                      # it is as captured code sees it
        return new

    def _guard_all(self, f: FunctionType) -> None:
        """Guard everything that code without rewriting may read, since nobody sees what it does read.
        A `try` in it is not seen either: an error of the program would not reach its handlers (see handlers.py).
        """
        if handles_errors(f.__code__) and not self.builder.live:
            raise UnstageableError(f"{f.__name__} handles errors, and its text is not at hand or cannot be rewritten",
                                   why="handlers are part of the function, and not of the program",
                                   do="define it in a file")
        if not self.builder.live:
            refuse_unseen(f)
        if not {"_getframe", "currentframe"}.isdisjoint(names_used(f.__code__)):
            raise UnstageableError(f"{f.__name__} asks for its frame",
                                   why="the program has a copy of the function",
                                   do="read the names themselves")
        if not self.builder.live:
            reads = begin_reads(self.builder)
            reads.add(f)
            refuse_unknown(reads, f.__name__)

    def _library_function(self, f: Callable) -> Callable:
        """A library's function as it is, but for the user's functions that it closes over (fad's own wrappers do)."""
        if type(f) is not FunctionType or not f.__closure__:
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
        value = content(cell)
        if not isinstance(value, (FunctionType, MethodType, functools.partial)) and not is_compiled(value):
            return cell
        new = self.function(value)
        return cell if new is value else CellType(new)


def captured(f: Any) -> Callable:
    """f as the present trace sees it: its names swapped, its outer arrays traced. One trace has one stand-in for each
    variable, so what a function within it assigns is there for the next one."""
    root, frontend = current().root, _frontend()
    if is_disguised(f) and not root.live:
        refuse_opaque(f)
    new = frontend.function(f)
    code = getattr(getattr(new, "__func__", new), "__code__", None)
    is_seen = code not in frontend.runtime.plain or root.live
    return new if is_seen else frontend.runtime.call(f)


def arguments(f: object, leaves: Iterable) -> list:
    """The leaves that a call of f is given beside its data, as captured code sees them: like things from outside. An
    array among them is static, and a constant.
    """
    frontend = _frontend()
    frontend.ask_for(getattr(f, "__func__", f))
    return [frontend.bytes_of(x) if isinstance(x, np.ndarray) else frontend.seen(x) for x in leaves]


def _frontend() -> Capture:
    trace = current().root.trace
    if trace.frontend is None:
        trace.frontend = Capture(current().root)
    return trace.frontend


def seen_within(x: object) -> object:
    """A thing from outside that a made function closes over by itself, deep in what is made with it: a container or an
    array has guards.
    """
    return _frontend().swap(x) if isinstance(x, (np.ndarray, *CONTAINERS)) else x


def _itself(capture: Capture, value: object) -> object:
    return value


# kinds of things outside -> what captured code sees in their place. The first kind counts that a thing is of.
STAND_INS: list[tuple[Callable, Callable]] = [
    (lambda x: is_disguised(x) and not is_fads(x), Capture._disguised),
    (lambda x: isinstance(x, ModuleType), Capture._module),
    (lambda x: is_compiled(x) or is_partial(x), Capture.function),
    (lambda x: x is numpy_random.default_rng, lambda capture, x: Maker()),
    (lambda x: python_objects.container_behind(x) is not None, Capture._method_of_container),
    (lambda x: ufunc_behind(x) is not None, lambda capture, x: getattr(capture.swap(x.__self__), x.__name__)),
    (lambda x: isinstance(x, VIEWS), _itself),
    (lambda x: isinstance(x, functools._lru_cache_wrapper), lambda capture, x: capture.runtime.call(x)),
    (is_setting, lambda capture, x: functools.partial(answer, capture.builder.root, x)),
    (lambda x: isinstance(x, np.vectorize), Capture._vectorized),
    (is_of_numba, lambda capture, x: capture._swapped(function_of_numba(x))),
    (is_array, Capture._array),
    (is_record_array, Capture.records),
    (is_record, Capture.record),
    (lambda x: isinstance(x, (np.ndarray, *BUFFERS)), Capture.bytes_of),
    (lambda x: isinstance(x, CONTAINERS), Capture.contained),
    (lambda x: id(x) in OBJECTS, lambda capture, x: OBJECTS[id(x)]),
    (lambda x: isinstance(x, RoutineCall), lambda capture, x: capture.swap(x.original)),    # of the capture around
    (lambda x: True, Capture._other),
]
