"""The text of what is traced: numbers that a program has when it runs, and that the function may ask about while it is
traced.

    f"layer{k} {loss:.2f}"  ->  Text("layer", k, " ", loss)      unknown: it may be joined, kept, printed or dropped
    f"layer{k}" in frozen   ->  the loop over k is unrolled       its text is known (by a guard for extents), or refused

A Text is no str: what C code would read of it is not there, so that C code cannot take it for a text. Messages for
people (print, warnings, logs, errors) are written with names in place of the numbers.
"""
import re
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import BuiltinMethodType, MethodType
from typing import Any

import numpy as np

from ...ir import stack
from ...ir.build import Value, current
from ...util.ambient import ambient
from ...util.defects import asked_by_user, door, is_door
from ...util.errors import ConcreteValueError
from ...util.where import BELOW_TRACING, module_name
from ..guards.settings import answer
from .constants import constant_of

PLAIN = (str, int, float, complex, bool, bytes, type(None))
_SAYS_ALL = re.compile(r"([^%]|%%|%[sra])*", re.S)           # texts of whatever it is, and no numbers
CONVERSION = re.compile(r"%(\(\w*\))?[-#0 +]*(\d+)?(\.(\d+))?[hlL]?[diouxXeEfFgGcrsa]")


class _Telling(threading.local):
    is_on = False


_telling = _Telling()
ambient(_telling)


def text_of(x: Any, make: Callable, frame: Any, *spec: str) -> str:
    """make(x), the text of a traced value, which this frame asks for."""
    if x.ndim and any(spec):
        raise TypeError("unsupported format string passed to numpy.ndarray.__format__")
    builder = current() if stack.builders() else None
    if is_told(frame) and not (builder is not None and builder.live and builder.is_known(x)):
        return x.describe()
    known = x._concrete("a text was made", constant=True)
    if not x.ndim and not isinstance(known, np.ndarray):
        known = (
            known.item()
            if x.type.weak and isinstance(known, np.generic)
            else known
            if x.type.weak
            else x.dtype.type(known)
        )
    return make(known)


def asked(make: Callable) -> Callable:
    """A method of traced values that makes a text of them: str, repr or format."""
    return lambda x, *spec: text_of(x, lambda known: make(known, *spec), sys._getframe(1), *spec)


def text_of_list(items: Any) -> str:
    """repr() of a list that a loop has filled."""
    if is_told(sys._getframe(1)):
        return f"<traced list of {items.length}>"
    raise ConcreteValueError("a text was made of a list that a loop has filled", do="make the text of its elements")


@contextmanager
def telling() -> Iterator[None]:
    """Within, texts are for people: they have names in place of numbers that are not known."""
    before, _telling.is_on = _telling.is_on, True
    try:
        yield
    finally:
        _telling.is_on = before


def is_told(frame: Any) -> bool:
    """Whether a text that this frame asks for is for people: outside a trace, in fad's own messages, in logs and
    warnings.
    """
    if _telling.is_on or not stack.builders():
        return True
    name = frame.f_globals.get("__name__", "")
    return name in ("logging", "warnings") or (name.startswith(BELOW_TRACING) and not is_door(frame.f_code))


class TracedText:
    """A text in which something traced stands. Its parts: plain texts, and Parts."""

    __slots__ = ("parts",)

    def __init__(self, *parts: Any):
        self.parts = parts

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """str, to those who ask what it is."""
        return str

    def known(self) -> str:
        """The text. Raises if it is unknown while tracing."""
        return "".join([part if type(part) is str else part.known() for part in self.parts])

    @property
    def said(self) -> str:
        """The text for people."""
        return "".join([part if type(part) is str else part.said for part in self.parts])

    def __str__(self) -> str:
        return self.said if is_told(sys._getframe(1)) else self.known()

    def __repr__(self) -> str:
        return repr(self.said if is_told(sys._getframe(1)) else self.known())

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or not hasattr(str, name):
            raise AttributeError(f"'str' object has no attribute {name!r}")
        return getattr(self.known(), name)

    def __add__(self, other: Any) -> Any:
        return joined(self, other) if type(other) in (str, TracedText) else NotImplemented

    def __radd__(self, other: Any) -> Any:
        return joined(other, self) if type(other) is str else NotImplemented

    def __reduce_ex__(self, protocol: Any) -> Any:
        return str, (self.known(),)


def _answered(name: str) -> Callable:
    def method(self: TracedText, *args: Any) -> Any:
        return getattr(self.known(), name)(*map(resolved, args))
    return method


for _name in (
    "eq", "ne", "lt", "le", "gt", "ge", "hash", "len", "iter", "contains", "getitem", "mod", "rmod", "mul", "rmul",
    "format", "sizeof", "dir",
):
    setattr(TracedText, f"__{_name}__", _answered(f"__{_name}__"))
TracedText.__bool__ = lambda self: bool(self.known())               # type: ignore[attr-defined]
TracedText.__int__ = lambda self: int(self.known())                 # type: ignore[attr-defined]
TracedText.__float__ = lambda self: float(self.known())             # type: ignore[attr-defined]
TracedText.__complex__ = lambda self: complex(self.known())         # type: ignore[attr-defined]


class TextPart:
    """make(*given), a text: what is given does not change, or is None if it may."""

    __slots__ = ("make", "given", "said")

    def __init__(self, make: Callable, given: "tuple | None", said: str):
        self.make, self.given, self.said = make, given, said

    def known(self) -> str:
        if not stack.builders():
            return self.said
        if self.given is None:
            raise ConcreteValueError(
                f"Python asked what a text says: {self.said}",
                why="numbers stand in it that are not known while the function is traced",
                do="decide by the numbers themselves",
            )
        return str(self.make(*self.given))


def resolved(x: Any) -> Any:
    """A text as Python's own."""
    return x.known() if type(x) is TracedText else x


def _is_known(x: Any) -> bool:
    """Whether the text of x is the same whenever it is asked for, and known now."""
    if type(x) in PLAIN:
        return True
    if type(x) is tuple:
        return all(map(_is_known, x))
    return isinstance(x, Value) and not x.ndim and constant_of(x.atom) is not None


def _is_fixed(x: Any) -> bool:
    """Whether x is, and stays, what it is: numbers, texts and tuples of them."""
    return (
        type(x) in PLAIN
        or type(x) is TracedText
        or (isinstance(x, Value) and not x.ndim)
        or (type(x) is tuple and all(map(_is_fixed, x)))
    )


def _as_now(x: Any) -> Any:
    """A number or text, or a tuple of them, that keeps its value."""
    if type(x) is tuple:
        return tuple([_as_now(y) for y in x])
    return current().value_of(x.atom) if isinstance(x, Value) else x


def _example(x: Any) -> Any:
    """A number of the same type."""
    if type(x) is tuple:
        return tuple([_example(y) for y in x])
    if not isinstance(x, Value):
        return x.said if type(x) is TracedText else x
    one = x.dtype.type(1)
    return one.item() if x.type.weak else one


@door
def made(make: Callable, said: Callable, *given: Any) -> Any:
    """make(*given), a text: a Text where what is given is traced. said(*given): what it says to people."""
    if not stack.builders() or stack.is_live() or _telling.is_on or all(map(_is_known, given)):
        return make(*given)
    if all(map(_is_fixed, given)):
        make(*map(_example, given))                           # it fails now if it fails at all
        return TracedText(TextPart(make, tuple(map(_as_now, given)), _told(said, *given)))
    answer(current().root, np.get_printoptions)               # of an object or an array
    try:
        return make(*given)
    except ConcreteValueError:                                # of an object, a list or an array with traced values
        return TracedText(TextPart(make, None, _told(said, *given)))


def told(x: Any) -> str:
    """The text of x for people."""
    with telling():
        return str(x)


def _told(said: Callable, *given: Any) -> str:
    with telling():
        return str(said(*given))


# -- what rewritten code calls in place of f"...", "..." % x and Python's functions ----------------

CONVERSIONS: dict[int, Callable] = {-1: lambda x: x, 115: str, 114: repr, 97: ascii}


def formatted(x: Any, conversion: int = -1, spec: Any = "") -> Any:
    """{x!r:spec} in an f-string"""
    if conversion == -1 and type(x) is TracedText and not spec:
        return x
    return made(_formatted, lambda x, *_: f"{x}", x, conversion, resolved(spec))


@door
def _formatted(x: Any, conversion: int, spec: str) -> str:
    return format(CONVERSIONS[conversion](x), spec)


def joined(*parts: Any) -> Any:
    """The texts, one behind the other."""
    if not any(type(part) is TracedText for part in parts):
        return "".join(parts)
    return TracedText(
        *[p for part in parts for p in (part.parts if type(part) is TracedText else (str.__str__(part),))]
    )


@door
def percent(template: Any, given: Any) -> Any:
    """template % given"""
    if type(template) is not str:
        return asked_by_user(lambda: template % given)
    if not (_is_fixed(given) or isinstance(given, dict) or _SAYS_ALL.fullmatch(template)):
        return template % given
    if isinstance(given, dict):
        return made(
            lambda *values: template % dict(zip(given, values)),
            lambda *values: _spoken(template) % dict(zip(given, values)),
            *given.values(),
        )
    return made(
        lambda *values: template % values,
        lambda *values: _spoken(template) % values,
        *(given if type(given) is tuple else (given,)),
    )


def _spoken(template: str) -> str:
    """A template as it is for people: names in place of numbers."""
    return CONVERSION.sub(lambda found: "%" + (found.group(1) or "") + "s", template.replace("%%", "%%%%")).replace(
        "%%%%", "%%"
    )


def _format_method(template: str, *args: Any, **kwargs: Any) -> Any:
    """template.format(*args, **kwargs)"""
    names, count = list(kwargs), len(args)

    def make(*values: Any) -> str:
        return template.format(*values[:count], **dict(zip(names, values[count:])))
    return made(make, make, *args, *kwargs.values())


def _of_one(convert: Callable) -> Callable:
    @door
    def call(*args: Any, **kwargs: Any) -> Any:
        if len(args) != 1 or kwargs:
            return convert(*args, **kwargs)
        return args[0] if convert is str and type(args[0]) is TracedText else made(convert, convert, args[0])
    return call


@door
def format_(x: Any, spec: Any = "") -> Any:
    """format(x, spec)"""
    return formatted(x, -1, spec)


@door
def print_(*args: Any, **kwargs: Any) -> None:
    """print(): for people, unless the text is written to a file of the function's."""
    if kwargs.get("file") not in (None, sys.stdout, sys.stderr):
        print(*map(resolved, args), **kwargs)
        return
    with telling():
        print(*args, **kwargs)


def told_by(f: Callable) -> Callable:
    """A function that writes logs or warnings, as captured code calls it: what it is given is for people."""
    @door
    def call(*args: Any, **kwargs: Any) -> Any:
        place = next((k for k, x in enumerate(args) if type(x) in (str, TracedText)), len(args))
        values = args[place + 1:]
        if place < len(args) and any(isinstance(x, (Value, TracedText)) for x in args[place:]):
            text = args[place].said if type(args[place]) is TracedText else args[place]
            if values and module_name(f) != "warnings":
                text, values = _told(lambda: _spoken(text) % values), ()
            args = (*args[:place], text, *values)
        with telling():
            return f(*args, **kwargs)
    return call


def tells(f: Any) -> bool:
    """Whether f writes logs or warnings for people."""
    owner = getattr(f, "__self__", None)
    of = type(owner) if isinstance(f, MethodType) else f
    return module_name(of) in ("logging", "warnings", "_warnings") and not isinstance(f, type)


def face_of(f: Any) -> Any:
    """The stand-in for a Python function that makes or writes text; None for others."""
    if isinstance(f, BuiltinMethodType) and f.__name__ == "format" and type(f.__self__) is str:
        return lambda *args, **kwargs: _format_method(f.__self__, *args, **kwargs)
    return told_by(f) if tells(f) else None


FACES: dict = {str: _of_one(str), repr: _of_one(repr), ascii: _of_one(ascii), format: format_, print: print_}
