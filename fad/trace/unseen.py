"""What code reads that is not rewritten: methods that Python calls by itself (operators, `with`, setters of properties), and what these call.

Such code runs as it stands, and nobody notes what it reads. So all that it may read is a source: its text, and the globals, closures, modules and classes
that it names, with what is in them. (Of the objects themselves that have such methods, all attributes are sources; see guard.)
"""
import functools
from collections.abc import Iterable, Iterator
from types import CellType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from ..util.where import is_installed, is_installed_file, is_library
from . import sources
from .codes import names_used
from .containers import is_empty, is_users
from .library import OPERATORS
from .pythons import NEVER_CHANGE

REWRITTEN = {"__init__", "__new__", "__call__", "__set_name__"}      # captured as other functions are; of the class's making
_TEXTS = {"__repr__", "__str__", "__hash__", "__format__", "__del__", "__reduce__", "__getstate__", "__setstate__", "__copy__", "__deepcopy__"}
_GENERATED = "<string>"                                      # the file of what dataclasses write
MOST = 2000                                                   # things that are looked at


def called_by_python(cls: type) -> Iterator[tuple]:
    """Methods that no call in captured code names, operators and their kin, setters of properties: (name, what the class has there, function)."""
    for name in dict.fromkeys(name for c in cls.__mro__ for name in vars(c)):
        found = sources.in_class(cls, name)
        f = found.fset if isinstance(found, property) else getattr(found, "__func__", found)
        by_itself = isinstance(found, property) or (name.startswith("__") and name.endswith("__") and name not in REWRITTEN)
        if by_itself and isinstance(f, FunctionType) and not is_library(f.__code__.co_filename):
            yield name, found, f


def reading(cls: type) -> list:
    """Those of them that compute, of a class of the user's, and what makes its objects where that is not rewritten: names and functions."""
    if not is_users(cls) or is_installed(cls):
        return []
    called = [(name, f) for name, _, f in called_by_python(cls) if name not in _TEXTS]
    makers = [] if is_made_plainly(cls) else [(name, sources.in_class(cls, name)) for name in ("__init__", "__new__", "__call__")]
    functions = [(name, getattr(f, "__func__", f)) for name, f in [*called, *makers]]
    return [(name, f) for name, f in functions if isinstance(f, FunctionType) and f.__code__.co_filename != _GENERATED]


def is_made_plainly(cls: type) -> bool:
    """Whether to make an object of this class is to call its __init__."""
    return type(cls) is type and cls.__new__ is object.__new__ and isinstance(cls.__init__, FunctionType)     # type: ignore[misc]


def reads_of(classes: Iterable) -> "Reads":
    """What these methods of classes may read, besides their arguments."""
    return Reads(list(dict.fromkeys([c for cls in classes for c in (cls, type(cls))])))


def guard(root: Any, x: Any) -> None:
    """Make all that is in an object which has such methods a source of a trace, and note the classes of what is in it."""
    if isinstance(x, type):
        root.classes[x] = None
    elif id(x) not in root.guarded and (reading(type(x)) or not OPERATORS.isdisjoint(dir(type(x)))):
        root.guarded[id(x)] = x
        root.sources.append(sources.of_all_in(x))
        root.classes.update(dict.fromkeys(classes_within(x)))


def guard_within(root: Any, container: Any, depth: int = 0) -> None:
    """Guard the objects in a container, which captured code may take out of it without a name."""
    if isinstance(container, sources.BUFFERS):
        return
    for x in container.values() if hasattr(container, "values") else container:
        if type(x) in NEVER_CHANGE:
            continue
        if isinstance(x, sources.CONTAINERS) and depth < sources.DEEPEST:
            guard_within(root, x, depth + 1)
        elif sources.is_open(x) and not isinstance(x, ModuleType):
            guard(root, x)


class Reads:
    """Walks from the methods of classes to all that they name."""

    def __init__(self, classes: list):
        self.sources: list[sources.Source] = []
        self.names: set[str] = set()
        self.classes: dict[type, set] = {}                    # class -> names under which it was looked at
        self.seen: dict[int, Any] = {}
        self.names_of: set[tuple] = set()                     # (id of a module's global names, name), (id of a cell, "")
        called = [x for cls in classes for x in reading(cls)]
        if called:
            self.names |= {name for name, _ in called}
            self._walk([*classes, *[f for _, f in called]])

    def _walk(self, queue: list) -> None:
        while queue and len(self.seen) < MOST:
            x = queue.pop()
            if id(x) not in self.seen:
                self.seen[id(x)] = x
                queue += self._next(x)
            if not queue:
                queue += self._members()
        if queue:                                             # too much to be looked at at each call: nothing is taken to be as it was
            self.sources.append(sources.Source(lambda: None, queue))

    def _next(self, x: Any) -> Iterable:
        """What x leads to."""
        if isinstance(x, FunctionType):
            return () if is_installed_file(x.__code__.co_filename) else self._read_by(x)
        if isinstance(x, MethodType):
            return x.__self__, x.__func__
        if isinstance(x, functools.partial):
            return x.func, *x.args, x.keywords
        if isinstance(x, property):
            return x.fget, x.fset
        if isinstance(x, (staticmethod, classmethod)):
            return (x.__func__,)
        if isinstance(x, type):
            if is_users(x) and not is_installed(x):
                self.classes.setdefault(x, set())
            return ()
        if isinstance(x, (np.ndarray, *sources.CONTAINERS)) or (sources.is_open(x) and not isinstance(x, ModuleType) and not is_installed(type(x))):
            self.sources.append(sources.of_all_in(x))
            return classes_within(x)
        return ()

    def _read_by(self, f: FunctionType) -> Iterator:
        """What a function names; that it is this is a source."""
        self.sources.append(sources.of_function(f))
        used = names_used(f.__code__)
        self.names |= used
        for name in used & f.__globals__.keys():
            value = f.__globals__[name]
            self.names_of.add((id(f.__globals__), name))
            self.sources.append(sources.Source(lambda g=f.__globals__, n=name: g.get(n, sources.MISSING), value))
            yield value
            if isinstance(value, ModuleType) and not is_installed_file(getattr(value, "__file__", None) or ""):
                yield from self._of_module(value, used)
        for cell in f.__closure__ or ():
            if not is_empty(cell):
                self.names_of.add((id(cell), ""))
                self.sources.append(sources.Source(lambda cell=cell: _content(cell), cell.cell_contents))
                yield cell.cell_contents
        yield from [*(f.__defaults__ or ()), *(f.__kwdefaults__ or {}).values()]

    def _of_module(self, module: ModuleType, used: set) -> Iterator:
        for name in used & vars(module).keys():
            self.sources.append(sources.of_attribute(module, name, vars(module)[name]))
            yield vars(module)[name]

    def _members(self) -> list:
        """What classes have under names that were read."""
        found = []
        for cls, known in self.classes.items():
            for name in sorted(self.names - known):
                value = sources.in_class(cls, name)
                if value is not sources.MISSING:
                    self.sources.append(sources.of_class(cls, name))
                    found.append(value)
            known |= self.names
        return found


def classes_within(x: Any) -> list:
    """The users' classes of an object and of the objects in it, and such classes themselves."""
    found: dict[type, None] = {}
    seen: set[int] = set()
    queue = [x]
    while queue and len(seen) < MOST:
        y = queue.pop()
        if id(y) in seen or isinstance(y, (str, bytes, int, float, complex, np.ndarray)):
            continue
        seen.add(id(y))
        if isinstance(y, sources.BUFFERS):
            continue
        if isinstance(y, sources.CONTAINERS):
            queue += [*y.values()] if hasattr(y, "values") else [*y]
        elif isinstance(y, type) or sources.is_open(y):
            found[y if isinstance(y, type) else type(y)] = None
            queue += [*getattr(y, "__dict__", {}).values()] if not isinstance(y, type) else ()
    return list(found)


def _content(cell: CellType) -> Any:
    return sources.MISSING if is_empty(cell) else cell.cell_contents
