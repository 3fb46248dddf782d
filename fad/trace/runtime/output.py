"""Lines that captured code prints, logs and warns of: each call of the program says them, with its own numbers.

    log.info("loss %.3f", loss)     ->     tell(loss, function=Line(log.info, ("loss %.3f", <0>), at the user's line))

While a function is traced, nothing is said. A logger is asked at once whether it takes messages of this level. That is
a setting, and a line which nobody hears is no part of the program. A function that changes loggers or streams
themselves runs on the tape.
"""
import builtins
import io
import logging
import pprint
import sys
import traceback
import warnings
from collections.abc import Callable
from types import BuiltinFunctionType, CodeType, FrameType, FunctionType, MethodType
from typing import Any

from ...ir import stack
from ...ir.build import current
from ...ir.op import registry
from ...kernels import lines
from ...util.defects import for_user
from ...util.errors import UnstageableError
from ...util.listening import outlets
from ...util.where import is_captured, is_library, module_name
from ..frontend.origin import is_block
from ..guards.settings import answer
from ..heap.journal import journal
from ..values import templates, text
from .text_trees import Built, Constant, Operands, template_of

LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING, "warn": logging.WARNING,
          "error": logging.ERROR, "exception": logging.ERROR, "critical": logging.CRITICAL, "fatal": logging.CRITICAL}
_SAYS_LINES = {warnings.warn, pprint.pprint, pprint.pp, print}
_READS = ("get", "is", "has", "format", "nameToLevel")
_PRINTS_ERRORS = {getattr(traceback, name) for name in dir(traceback) if name.startswith("print_")}


class Line:
    """A call that tells people something, as a program makes it: from the user's place, with the values of the run."""

    def __init__(self, f: Callable, args: Built, kwargs: Built, places: tuple):
        self.f, self.args, self.kwargs, self.places = f, args, kwargs, places
        self.is_handled = False                               # whether the function would handle what this raises

    def __call__(self, *values: object) -> None:
        if not lines.is_new():
            return
        f, args, kwargs = self.f, self.args.filled(values), self.kwargs.filled(values)
        for code, names in self.places:
            f, args, kwargs = FunctionType(code, names)(f, args, kwargs), (), {}
        try:
            f(*args, **kwargs)
        except Exception as error:
            lines.raised(error)
            if not self.is_handled:
                raise
            raise _beyond("a line raises an error that the function handles") from error

    def as_print(self) -> "str | None":
        """The template of `debug_print` that prints the same; None if there is none."""
        if self.f is not print or not all(isinstance(x, Constant) for x in self.kwargs.items):
            return None
        named = self.kwargs.filled(())
        parts: Any = [template_of(x) for x in self.args.items]
        if None in parts or named.get("file") is not None or named.get("end", "\n") not in ("\n", None):
            return None
        between = " " if named.get("sep") is None else named["sep"]
        return between.replace("{", "{{").replace("}", "}}").join(parts)

    @property
    def key(self) -> tuple:
        return self.f, self.args, self.kwargs, tuple([code for code, _ in self.places])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Line) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.f)


def tells(f: object) -> bool:
    """Whether f prints, or writes logs or warnings."""
    if not isinstance(f, (FunctionType, BuiltinFunctionType, MethodType)):
        return False
    if module_name(f) in ("logging", "logging.handlers", "warnings", "_warnings"):
        return True
    return type(f) is FunctionType and (f in _SAYS_LINES or f in _PRINTS_ERRORS)


def override_of(f: Any) -> Any:
    """The stand-in for a function that says something; None for others."""
    return told_by(f) if tells(f) else None


def told_by(f: Callable) -> Callable:
    """f, which says something, as captured code calls it."""
    @for_user
    def call(*args: object, **kwargs: object) -> Any:
        if not stack.builders():
            return f(*args, **kwargs)
        if f in _PRINTS_ERRORS:
            raise _beyond("an error's traceback is printed")
        return _logged(f, args, kwargs) if module_name(f).startswith("logging") else _of_warnings(f, args, kwargs)
    return call


@for_user
def print_(*args: Any, **kwargs: Any) -> None:
    """print(), as captured code calls it."""
    file = kwargs.get("file")
    if not stack.builders():
        print(*args, **kwargs)
    elif not _is_file(file) and stack.is_live():
        print(*map(text.resolved, args), **kwargs)
    elif not _is_standard(file) and not journal().is_outer(file):
        print(*map(text.resolved, args), **kwargs)            # to a file of the function's own
    elif not _is_file(file):
        raise _beyond(f"something is printed to an object of class {type(file).__name__}")
    else:
        _say(builtins.print, args, kwargs)


def _is_standard(file: object) -> bool:
    return file is None or file is sys.stdout or file is sys.stderr


def _is_file(file: object) -> bool:
    """Whether nothing that the function reads tells what was written there: it may not read from files."""
    return _is_standard(file) or isinstance(file, io.IOBase)


def _of_warnings(f: Callable, args: tuple, kwargs: dict) -> Any:
    if f not in _SAYS_LINES:
        return f(*args, **kwargs)
    if f is warnings.warn and _is_error(*args, **kwargs):
        return f(*map(text.resolved, args), **kwargs)         # it is raised here
    return _say(f, args, kwargs)


def _is_error(message: Any = "", category: Any = None, *args: Any, **kwargs: Any) -> bool:
    """Whether a filter may make an error of the warning."""
    kind = type(message) if isinstance(message, Warning) else category or UserWarning
    return any(action == "error" and issubclass(kind, of) for action, _, of, *_ in warnings.filters)


def _logged(f: Any, args: tuple, kwargs: dict) -> Any:
    """A call of a logger's method, or of a function of the module."""
    name, owner = f.__name__, getattr(f, "__self__", logging.root)
    level = LEVELS.get(name, args[0] if name == "log" and args else None)
    if level is None:
        if not (name.startswith(_READS) or stack.is_live()):
            raise _beyond(f"logging.{name} is called")
        return f(*args, **kwargs)
    is_heard = owner.isEnabledFor(level) if stack.is_live() else answer(current().root, owner.isEnabledFor, level)
    if not is_heard:
        return None
    if not stack.is_live() and (kwargs.get("exc_info", name == "exception") or kwargs.get("stack_info")):
        raise _beyond("an error, or the stack, is logged")
    return _say(f, args, kwargs, 1 if name == "log" else 0)


def _beyond(what: str) -> UnstageableError:
    return UnstageableError(what, why="a program prints and logs texts and numbers, to those who listen as it begins",
                            do="print or log texts and numbers, and set up loggers and streams outside the function")


# -- a line ----------------------------------------------------------------------------------------------------------


def _say(f: Callable, args: tuple, kwargs: dict, template: "int | None" = None) -> None:
    """Let the program make this call. template: the place of a log's message, which the arguments behind it belong to.
    """
    operands, root = Operands(), current().root
    given = operands.tree(args)
    if given is None:
        operands = Operands()
        given = Built(tuple, tuple(map(operands.tree, args if stack.is_live() else _as_texts(args, template))))
    named = Built(dict, tuple([Constant(x) if _is_file(x) else operands.tree(x)
                               for x in kwargs.values()]), tuple(map(Constant, kwargs)))
    if stack.is_live():                                       # objects are themselves
        given = given._replace(items=tuple([x or Constant(y) for x, y in zip(given.items, args)]))
        named = named._replace(items=tuple([x or Constant(y) for x, y in zip(named.items, kwargs.values())]))
        Line(f, given, named, _places(kwargs.get("stacklevel", 1)))(*map(current().value, operands.values))
        return
    if None in (*given.items, *named.items):
        raise _beyond("an object goes along with a line")
    if any(now is not then for now, then in zip(outlets(), root.trace.outlets)):
        raise _beyond("something is said while streams, or filters of warnings, are others than before")
    root.trace.tells = True
    registry["tell"](*operands.values, function=Line(f, given, named, _places(kwargs.get("stacklevel", 1))))


def _as_texts(args: tuple, template: "int | None") -> tuple:
    """The arguments, with texts in place of objects."""
    if template is None:
        return tuple([x if Operands().tree(x) is not None else text.OVERRIDES[str](x) for x in args])
    message, values = text.OVERRIDES[str](args[template]), args[template + 1:]
    if len(values) == 1 and isinstance(values[0], dict) and values[0]:
        (values,) = values
    return (*args[:template], templates.percent(text.resolved(message), values) if values else message)


# -- the place of the user's line ------------------------------------------------------------------------------------


def _from_here(f: Callable, args: tuple, kwargs: dict) -> Callable:
    return lambda: f(*args, **kwargs)


def _places(count: object) -> tuple:
    """The innermost frames of captured code, as codes whose frames look like those to logs and warnings, each with the
    names around."""
    found: list = []
    frame: FrameType | None = sys._getframe(1)
    line = 0
    while frame is not None and len(found) < (count if isinstance(count, int) else 1):
        code = frame.f_code
        if is_captured(code.co_filename) and not is_library(code.co_filename):
            line = line or frame.f_lineno
            if not is_block(code):                            # else a branch or a loop's body of what is around it
                found.append((_looking_like(code.co_filename, code.co_name, line), _module_of(frame)))
                line = 0
        frame = frame.f_back
    return tuple(found)


def _module_of(frame: FrameType) -> dict:
    """The global names of the user's module, where warnings keep what they have said."""
    name = frame.f_globals.get("__name__", "")
    module = sys.modules.get(name)
    return vars(module) if module is not None else {"__name__": name, "__builtins__": builtins}


def _looking_like(file: str, name: str, line: int) -> CodeType:
    """The code of a function that gives a function which makes a call, whose frame is at this line."""
    inner: Any = next(x for x in _from_here.__code__.co_consts if isinstance(x, CodeType))
    new = inner.replace(co_filename=file, co_name=name, co_firstlineno=line)
    consts = tuple([new if x is inner else x for x in _from_here.__code__.co_consts])
    return _from_here.__code__.replace(co_filename=file, co_consts=consts)

