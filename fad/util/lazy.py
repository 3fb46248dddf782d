"""Lazy loading: `import fad` pays neither for SciPy and Numba nor for the parts of fad that few programs need."""
import importlib
import sys
import threading
from collections.abc import Callable, Mapping
from types import FrameType, FunctionType, ModuleType
from typing import Any

from .elsewhere import in_new_thread
from .forks import unforkable
from .nearest import MissingName, of_numpy

# These import modules of Numba. All of Numba comes first: two threads that import parts of it at the same time get
# modules that are not complete.
PARTS_OF_NUMBA = ("fad.kernels.", "fad.backend.running.stored_code")


def imported(name: str) -> ModuleType:
    """The module of this name, which is imported if it is not there yet.

    A signal handler that raises may interrupt an import at any line. Python then forgets the module, but not what the
    module has entered elsewhere, and a second import fails. Handlers run in the main thread: there, another thread
    imports in its place, and waits there for a module that a third one is importing: of two handlers, one within the
    other, that wait for a module, the outer one fails (CPython 3.11, gh-106176).

    >>> imported("math").sqrt(4.0)
    2.0
    """
    spec = getattr(sys.modules.get(name), "__spec__", None)
    if name in sys.modules and not getattr(spec, "_initializing", False):
        return importlib.import_module(name)
    if threading.get_ident() != threading.main_thread().ident or _is_importing():
        return _imported_here(name)
    return in_new_thread(lambda: _imported_here(name))


def optional(name: str, user: str, title: str, install: str) -> ModuleType:
    """A module of a library that does not come with fad. The error says what needs it and how it is installed.

    >>> optional("no_such_library.linear", "fad.special", "a library", "no-such-library")
    Traceback (most recent call last):
    ...
    ModuleNotFoundError: fad.special needs a library. do: pip install no-such-library
    """
    try:
        return imported(name)
    except ModuleNotFoundError as error:
        library = name.partition(".")[0]
        if (error.name or "").partition(".")[0] != library:
            raise                                             # the library is there, and something that it needs is not
        raise ModuleNotFoundError(f"{user} needs {title}. do: pip install {install}", name=error.name) from None


def _is_importing() -> bool:
    """Whether this thread is in the midst of an import, for which another thread would wait."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename != "<frozen importlib._bootstrap>":
        frame = frame.f_back
    return frame is not None


def _imported_here(name: str) -> ModuleType:
    with unforkable():  # a child would wait for ever for a module that another thread was loading
        if name.startswith(PARTS_OF_NUMBA):
            importlib.import_module("numba")
        return importlib.import_module(name)


class LazyModule(ModuleType):
    """Stands for a module and imports it at the first attribute access.

    >>> math = LazyModule("math")
    >>> math.sqrt(4.0)
    2.0
    """

    def __getattr__(self, name: str) -> Any:
        value = getattr(imported(self.__name__), name)
        self.__dict__[name] = value
        return value

    def __reduce__(self) -> tuple:
        return LazyModule, (self.__name__,)


class Roof(ModuleType):
    """A package with public names that are also names of its modules. Python binds a module's name when it imports the
    module; this class does not."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (isinstance(value, ModuleType) and name in self.__dict__["_above_rooms"]):
            super().__setattr__(name, value)
        else:
            value.__class__ = Room

    def __reduce__(self) -> tuple:
        """By its name: functions of notebooks that use fad are pickled with the modules that they name."""
        return importlib.import_module, (self.__name__,)


class Room(ModuleType):
    """A package that has a public function's name: its modules are attributes of the function, too, where Python looks
    for them in `import fad.trace.tracing as tracing`."""

    def __setattr__(self, name: str, value: object) -> None:
        super().__setattr__(name, value)
        if isinstance(value, ModuleType):
            roof, _, own = self.__name__.rpartition(".")
            _with_modules(vars(sys.modules[roof]).get(own), {name: value})


def _with_modules(f: object, modules: dict) -> Any:
    if type(f) is FunctionType:
        vars(f).update({name: x for name, x in modules.items() if isinstance(x, ModuleType)})
    return f


def refusing_names(namespace: dict, part_of: str = "") -> Callable:
    """__getattr__ of a module that has all its names: it says which name was probably meant, and, for PyTorch's
    namespaces, in which module."""
    module = namespace["__name__"]
    rest = f"{module} has a part of {part_of}; fad leaves the rest to PyTorch." if part_of else ""

    def missing(name: str) -> Any:
        raise MissingName(f"module {module!r} has no attribute {name!r}", name, namespace.copy, rest)
    return missing


def lazy_names(namespace: dict, where: Mapping[str, str], others: str,
               above_rooms: tuple) -> "tuple[Callable, Callable]":
    """__getattr__ and __dir__ of a package with this namespace. where[name] is the module of the package that holds a
    name, or "" if the name is itself a module. NAMES, a dict of the module `others`, has the other names. The names
    above_rooms come first, whatever modules of the package bear them."""
    package = namespace["__name__"]
    sys.modules[package].__class__ = Roof
    namespace["_above_rooms"] = above_rooms
    for name in above_rooms:
        namespace.pop(name, None)               # a room that is loaded already

    def load(name: str) -> Any:
        if name.startswith("__"):               # what Python and its tools ask every module for
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if name in where:
            module = imported(f"{package}.{where[name] or name}")
            value = getattr(module, name) if where[name] else module
        else:
            names = imported(f"{package}.{others}").NAMES
            if name not in names:
                raise MissingName(f"module {package!r} has no attribute {name!r}", name, listed, of_numpy(name))
            value = names[name]
        if name in above_rooms:
            _with_modules(value, vars(sys.modules.get(f"{package}.{name}", value)))
        namespace[name] = value                 # from now on found without asking here
        return value

    def listed() -> list:
        return sorted({*namespace, *where, *imported(f"{package}.{others}").NAMES})
    return load, listed
