"""The user's source lines: which line of the user's own code is running now."""
import linecache
import os
import sys
from typing import Any, NamedTuple

from .lazy import LazyModule

traceback = LazyModule("traceback")

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_DEMONSTRATION = PACKAGE + "demo.py"                         # written as a user would write it, and captured as a user's code
_ROUTINES = PACKAGE + "routines" + os.sep                    # so are these: plain NumPy in place of a library's functions
_STANDARD_LIBRARY = os.path.dirname(linecache.__file__) + os.sep
_LIBRARIES = (os.sep + "numpy" + os.sep, os.sep + "scipy" + os.sep, os.sep + "numba" + os.sep)
_is_library: dict[str, bool] = {}


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
    while frame.f_globals.get("__name__") in ("fad.ir.value", "fad.trace.tracer"):
        frame = frame.f_back
    return not is_own(frame.f_code.co_filename)


def is_library(filename: str) -> bool:
    """Whether code in this file is fad's own or a numerical library's, not the user's."""
    known = _is_library.get(filename)
    if known is None:
        known = is_own(filename) or any(part in filename for part in _LIBRARIES)
        _is_library[filename] = known
    return known


def is_installed(cls: type) -> bool:
    """Whether a class stands in a library, of Python's or installed, and not in a file of the user's."""
    name = str(cls.__module__)
    if name in sys.builtin_module_names or name.startswith("_frozen"):
        return True
    filename = getattr(sys.modules.get(name), "__file__", None) or ""
    return is_installed_file(filename)


def is_installed_file(filename: str) -> bool:
    """Whether code in this file is a library's, Python's own or installed, not the user's."""
    if filename.startswith(_ROUTINES):
        return False
    return is_library(filename) or "site-packages" in filename or filename.startswith(_STANDARD_LIBRARY)


def here() -> "Where | None":
    """The innermost frame of the user's code, or None where there is none."""
    frame = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        if not is_library(code.co_filename) and not code.co_filename.startswith(_ROUTINES):
            return Where(code.co_filename, frame.f_lineno, code.co_name)
        frame = frame.f_back
    return None


def line_of(error: BaseException) -> "Where | None":
    """The innermost line of the user's code that an error went through."""
    found = [f for f in traceback.extract_tb(error.__traceback__) if not is_library(f.filename) and linecache.getline(f.filename, f.lineno or 0)]
    found = [f for f in found if not f.filename.startswith((_STANDARD_LIBRARY, _ROUTINES))] or found
    return Where(found[-1].filename, found[-1].lineno or 0, found[-1].name) if found else None


def outside_fad() -> int:
    """The stack level, for a warning of the function that asks, of the line that called fad."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and (is_library(frame.f_code.co_filename) or frame.f_code.co_filename.startswith(_ROUTINES)):
        level, frame = level + 1, frame.f_back
    return level


def library_call() -> str:
    """The library's function that the user's line called and that is running now ("scipy.optimize.brentq"); empty if there is none."""
    frame, outermost = sys._getframe(1), None
    while frame is not None and (is_library(frame.f_code.co_filename) or "site-packages" in frame.f_code.co_filename):
        if not frame.f_code.co_filename.startswith(PACKAGE):
            outermost = frame
        frame = frame.f_back
    if outermost is None:
        return ""
    public = [part for part in outermost.f_globals.get("__name__", "").split(".") if not part.startswith("_")]
    name = getattr(outermost.f_code, "co_qualname", outermost.f_code.co_name)       # Python 3.10 knows the bare name only
    return ".".join([*public, name.removesuffix(".__init__")])
