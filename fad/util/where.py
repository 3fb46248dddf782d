"""Whose code is it? Which code is captured, and which line of captured code is running now.

Captured code is rewritten, looped, compiled and guarded. Where code stands decides it:

    place                                          captured
    the user's files, prompts, exec                yes
    an installed package of plain Python           yes: it is the user's code in every respect
    an opaque package                              no: a function that touches its objects runs on the tape
    fad, NumPy, SciPy, Numba                       no: fad has faces for them (is_library)
    Python's own library                           no: it is called as it is

A package is opaque if it has a compiled core (an extension module among its files: pandas, scikit-learn, PyTorch) or
arrays of its own (a class with NumPy's protocols: JAX, autograd). Python's code does not show what such a package does
with a value.
"""
import functools
import importlib.util
import linecache
import os
import re
import sys
from importlib.machinery import EXTENSION_SUFFIXES
from types import FrameType
from typing import Any, NamedTuple

from .lazy import LazyModule

traceback = LazyModule("traceback")

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
BELOW_TRACING = tuple([f"{__name__.split('.')[0]}.{part}"
                       for part in ("util", "ir", "ops", "passes", "backend", "transforms", "api", "show")])
_DEMONSTRATION = PACKAGE + "demo.py"  # written as a user would write it, and captured as user code
_ROUTINES = PACKAGE + "routines" + os.sep  # so are these: plain NumPy in place of a library's functions
_STANDARD_LIBRARY = os.path.dirname(linecache.__file__) + os.sep
_SITE = re.compile(r"^(.*[/\\\\](?:site|dist)-packages[/\\\\])([^/\\\\]+)")
_PROTOCOLS = ("__array_ufunc__", "__array_function__", "__array_priority__")
_MODELLED = {"fad", "numpy", "scipy", "numba", "llvmlite"}
_is_library: dict[str, bool] = {}
_is_captured: dict[str, bool] = {}
_is_opaque: dict[str, bool] = {}


class Where(NamedTuple):
    """A line of the user's source."""

    file: str
    line: int
    function: str = ""

    @property
    def text(self) -> str:
        """The line itself, stripped; empty where the source is not at hand."""
        return linecache.getline(self.file, self.line).strip()

    def __str__(self) -> str:
        text = self.text
        return f"{self.file}:{self.line}" + (f": {text}" if text else "")


def is_own(filename: str) -> bool:
    """Whether code in this file is fad's own."""
    return filename.startswith(PACKAGE) and filename != _DEMONSTRATION and not filename.startswith(_ROUTINES)


def is_users_operator() -> bool:
    """Whether an operator on a traced value stands in code that is not fad's, such as a derivative's rule."""
    frame: Any = sys._getframe(1)
    while frame.f_globals.get("__name__") in ("fad.ir.value", "fad.trace.tracer", "fad.trace.datamodel"):
        frame = frame.f_back
    return not is_own(frame.f_code.co_filename)


def is_library(filename: str) -> bool:
    """Whether code in this file is fad's own or a numerical library's, not the user's."""
    known = _is_library.get(filename)
    if known is None:
        known = is_own(filename) or filename.startswith(_libraries())
        _is_library[filename] = known
    return known


@functools.cache
def _libraries() -> tuple:
    """Where NumPy, SciPy and Numba stand. A user's directory may have their names."""
    specs = [importlib.util.find_spec(name) for name in ("numpy", "scipy", "numba")]
    return tuple([os.path.join(place, "") for spec in specs if spec for place in spec.submodule_search_locations or ()])


def is_captured(filename: str) -> bool:
    """Whether code in this file is captured: the user's, and that of installed packages which are plain Python.

    >>> is_captured("/home/me/model.py"), is_captured("/usr/lib/python3/site-packages/models/fit.py")
    (True, True)
    >>> is_captured(linecache.__file__)
    False
    """
    known = _is_captured.get(filename)
    if known is None:
        known = _is_captured[filename] = filename.startswith(_ROUTINES) or not _is_as_it_stands(filename)
    return known


def _is_as_it_stands(filename: str) -> bool:
    if is_library(filename):
        return True
    found = _SITE.match(filename)
    if found is None:  # the site's packages may lie within Python's own directory
        return filename.startswith(_STANDARD_LIBRARY)
    return _is_opaque_package(found[1], found[2])


def _is_opaque_package(site: str, name: str) -> bool:
    """Whether a package installed at this site has a compiled core, or arrays of its own."""
    known = _is_opaque.get(site + name)
    if known is None:
        known = _is_opaque[site + name] = _has_core(site + name) or _has_arrays(name.removesuffix(".py"))
    return known


def _has_core(path: str) -> bool:
    return (any(f.endswith(tuple(EXTENSION_SUFFIXES)) for _, _, files in os.walk(path) for f in files)
            or path.endswith(tuple(EXTENSION_SUFFIXES)))


def _has_arrays(name: str) -> bool:
    modules = [m for n, m in list(sys.modules.items()) if n == name or n.startswith(name + ".")]
    classes = [x for m in modules for x in list(getattr(m, "__dict__", {}).values()) if isinstance(x, type)]
    return any(package_name(c) == name and not c.__dict__.keys().isdisjoint(_PROTOCOLS) for c in classes)


def module_name(x: Any) -> str:
    """The module that a class or a function names as its own; empty if it names none. (A class from Cython may have a
    descriptor there.)

    >>> module_name(os.getcwd), module_name(int), module_name(1.0)
    ('posix', 'builtins', '')
    """
    found = getattr(x, "__module__", None)
    return found if isinstance(found, str) else ""


def package_name(x: Any) -> str:
    """The package of that module."""
    return module_name(x).partition(".")[0]


def is_fads(f: Any) -> bool:
    """Whether a function is fad's own, or a method of one of its objects."""
    return package_name(f) == "fad" or package_name(type(getattr(f, "__self__", None))) == "fad"


def is_captured_class(cls: type) -> bool:
    """Whether the methods of a class are captured."""
    name = module_name(cls)
    if name in sys.builtin_module_names or name.startswith("_frozen"):
        return False
    return is_captured(getattr(sys.modules.get(name), "__file__", None) or "")


def opaque_package_of(x: Any) -> str:
    """The opaque package that a function, a class or an object's class comes from; empty if it comes from none.

    >>> opaque_package_of(os.getcwd), opaque_package_of(re.compile("a"))
    ('', '')
    """
    name = module_name(x) or module_name(type(x))
    package = name.split(".")[0]
    if package in sys.stdlib_module_names or package in _MODELLED:
        return ""
    filename = (getattr(sys.modules.get(name), "__file__", None) or getattr(sys.modules.get(package), "__file__", None)
                or "")
    found = _SITE.match(filename)
    is_opaque = (filename.endswith(tuple(EXTENSION_SUFFIXES))
                 or (found is not None and _is_opaque_package(found[1], found[2])))
    return package if is_opaque else ""


def here() -> "Where | None":
    """The innermost frame of captured code, or None where there is none."""
    found = None
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        if not is_library(code.co_filename) and not code.co_filename.startswith(_ROUTINES):
            found = found or frame
            if is_captured(code.co_filename):
                return Where(code.co_filename, frame.f_lineno, code.co_name)
        frame = frame.f_back
    return Where(found.f_code.co_filename, found.f_lineno, found.f_code.co_name) if found else None


def line_of(error: BaseException) -> "Where | None":
    """The innermost line that an error went through of captured code, or else of any that is no library's."""
    found = [f for f in traceback.extract_tb(error.__traceback__) if not is_library(f.filename)
             and linecache.getline(f.filename, f.lineno or 0)]
    found = [f for f in found if is_captured(f.filename) and not f.filename.startswith(_ROUTINES)] or found
    return Where(found[-1].filename, found[-1].lineno or 0, found[-1].name) if found else None


def library_of(error: BaseException) -> str:
    """The module of the innermost code that an error went through, without fad's own; empty if that is the user's."""
    found, tb = "", error.__traceback__
    while tb is not None:
        code = tb.tb_frame.f_code
        if not is_own(code.co_filename):
            found = "" if is_captured(code.co_filename) else tb.tb_frame.f_globals.get("__name__", "")
        tb = tb.tb_next
    return found


def outside_fad() -> int:
    """The stack level, for a warning of the function that asks, of the line that called fad."""
    level, frame = 1, sys._getframe(1)
    while (frame.f_back is not None
           and (is_library(frame.f_code.co_filename) or frame.f_code.co_filename.startswith(_ROUTINES))):
        level, frame = level + 1, frame.f_back
    return level


def library_call() -> str:
    """The library function that the user's line called and that is running ("scipy.optimize.brentq"); empty if there
    is none."""
    outermost = None
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and not is_captured(frame.f_code.co_filename):
        if not frame.f_code.co_filename.startswith(PACKAGE):
            outermost = frame
        frame = frame.f_back
    if outermost is None:
        return ""
    public = [part for part in outermost.f_globals.get("__name__", "").split(".") if not part.startswith("_")]
    name = getattr(outermost.f_code, "co_qualname", outermost.f_code.co_name)  # Python 3.10 knows the bare name only
    return ".".join([*public, name.removesuffix(".__init__")])
