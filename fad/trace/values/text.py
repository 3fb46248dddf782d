"""The text of what is traced: numbers that a program has when it runs, and that the function may ask about while it is
traced.

    f"layer{k} {loss:.2f}"  ->  Text("layer", k, " ", loss)      unknown: it may be joined, kept, printed or dropped
    f"layer{k}" in frozen   ->  the loop over k is unrolled       its text is known (by a guard for extents), or refused

A Text is no str: what C code would read of it is not there, so that C code cannot take it for a text. Printed and
logged texts, and warnings, have the numbers of each call (runtime/output.py). Messages of errors are written with
names in place of the numbers.
"""
import re
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ...ir import stack
from ...ir.build import Value, current
from ...util.ambient import ambient
from ...util.array import AnyArray
from ...util.defects import for_user, is_for_user
from ...util.errors import ConcreteValueError
from ...util.where import BELOW_TRACING
from ..guards.settings import answer
from .absent import refuse_methods
from .constants import constant_of
from .number_texts import followed, tell

PLAIN = (str, int, float, complex, bool, bytes, type(None))
_MARK = re.compile("\ue000(\\d+)\ue001")


class _Telling(threading.local):
    is_on = False                                             # texts are for people: names in place of numbers
    marks: Any = None                                         # Marks, in a text that is taken apart at its numbers


_telling = _Telling()
ambient(_telling)


def text_of(x: Any, make: Callable, frame: object, *spec: str) -> str:
    """make(x), the text of a traced value, which this frame asks for."""
    if x.ndim and any(spec):
        raise TypeError("unsupported format string passed to numpy.ndarray.__format__")
    builder = current() if stack.builders() else None
    if _telling.marks is not None:
        return _telling.marks.put(x, make)
    if is_told(frame) and not (builder is not None and builder.live and builder.is_known(x)):
        return x.describe()
    return make(_known_number(x))


def _known_number(x: Any) -> Any:
    """A traced value that is known, as Python has it."""
    known = x._concrete("a text was made", constant=True)
    tell(x)
    if x.ndim or isinstance(known, np.ndarray):
        return known
    if not x.type.weak:
        return x.dtype.type(known)
    return known.item() if isinstance(known, np.generic) else known


def asked(make: Callable) -> Callable:
    """A method of traced values that makes a text of them: str, repr or format."""
    return lambda x, *spec: text_of(x, lambda known: make(known, *spec), sys._getframe(1), *spec)


def text_of_list(items: Any) -> str:
    """repr() of a list that a loop has filled."""
    if _telling.marks is None and is_told(sys._getframe(1)):
        return f"<traced list of {items.length}>"
    raise ConcreteValueError("a text was made of a list that a loop has filled", do="make the text of its elements")


@contextmanager
def telling() -> Iterator[None]:
    """Within, texts are for people: they have names in place of numbers that are not known."""
    before, _telling.is_on, _telling.marks = (_telling.is_on, _telling.marks), True, None
    try:
        yield
    finally:
        _telling.is_on, _telling.marks = before


def is_told(frame: Any) -> bool:
    """Whether a text that this frame asks for is for people: outside a trace, in fad's own messages, in logs and
    warnings.
    """
    if _telling.is_on or not stack.builders():
        return True
    name = frame.f_globals.get("__name__", "")
    return name in ("logging", "warnings") or (name.startswith(BELOW_TRACING) and not is_for_user(frame.f_code))


class Marks:
    """Marks in the place of traced values, in a text that Python or a library makes of an object.

        str(model)  ->  "Model(<mark 0>, 3)"  ->  "Model(", the text of a number, ", 3)"

    Each has what makes the text that it stands for, which is put in when the program runs.
    """

    def __init__(self, width: int):
        self.width, self.made = width, []                     # type: int, list[tuple]

    def put(self, x: AnyArray, make: Callable) -> str:
        """A mark for make(x)."""
        self.made.append((make, x))
        return MarkText(f"\ue000{len(self.made) - 1:0{self.width}}\ue001")

    @staticmethod
    def split(text: str) -> list:
        """The plain texts, with the numbers of the marks between them."""
        parts: list = _MARK.split(text)
        parts[1::2] = map(int, parts[1::2])
        return parts


class MarkText(str):
    """A mark. Code that asks for its length or its characters has to wait for the number."""

    __slots__ = ()

    def __format__(self, spec: str) -> str:
        if spec:
            raise ConcreteValueError("a text of a traced value is padded, cut or read",
                                     why="its numbers are not known while the function is traced",
                                     do="make the text of the number with its width: f\"{x:10.3f}\"")
        return self


refuse_methods(MarkText, lambda self, *args, **kwargs: self.__format__("any"),
               "len getitem iter contains eq ne lt le gt ge mul rmul mod hash",
               " ".join(name for name in vars(str) if not name.startswith("_")))


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

    def __add__(self, other: object) -> Any:
        return joined(self, other) if type(other) in (str, TracedText) else NotImplemented

    def __radd__(self, other: object) -> Any:
        return joined(other, self) if type(other) is str else NotImplemented

    def __reduce_ex__(self, protocol: object) -> Any:
        return str, (self.known(),)


def _answered(name: str) -> Callable:
    def method(self: TracedText, *args: Any) -> Any:
        return getattr(self.known(), name)(*map(resolved, args))
    return method


for _name in (
    "lt", "le", "gt", "ge", "hash", "len", "iter", "contains", "getitem", "mod", "rmod", "mul", "rmul",
    "format", "sizeof", "dir",
):
    setattr(TracedText, f"__{_name}__", _answered(f"__{_name}__"))
for _number in (bool, int, float, complex):
    setattr(TracedText, f"__{_number.__name__}__", lambda self, number=_number: number(self.known()))


class TextPart:
    """make(*given), a text: what is given does not change, or is None if it may. later: what the text is made of when
    the program runs (make, and what it is given), where it can be made then.
    """

    __slots__ = ("make", "given", "said", "later")

    def __init__(self, make: Callable, given: "tuple | None", said: str, later: "tuple | None" = None):
        self.make, self.given, self.said = make, given, said
        self.later = (make, given) if given is not None else later

    def known(self) -> str:
        if not stack.builders():
            return self.said
        if self.given is None:
            raise ConcreteValueError(f"Python asked what a text says: {self.said}",
                                     why="numbers stand in it that are not known while the function is traced",
                                     do="decide by the numbers themselves")
        return str(self.make(*self.given))

    def equal(self, other: object) -> Any:
        """Whether this part is another text; None if only the text itself can tell."""
        return None


def unknown() -> TracedText:
    """A text that depends on the path, and that the program cannot tell."""
    return TracedText(TextPart(str, None, "<traced text>"))


def _equal(a: TracedText, b: Any) -> Any:
    """Whether two texts are the same: True, False, or a truth value of the program."""
    only = a.parts[0] if len(a.parts) == 1 and isinstance(a.parts[0], TextPart) else None
    found = only.equal(b) if only is not None and stack.builders() and not _telling.is_on else None
    return a.known() == resolved(b) if found is None else found


def _unequal(a: TracedText, b: Any) -> Any:
    found = _equal(a, b)
    return found != True if isinstance(found, Value) else not found  # noqa: E712


TracedText.__eq__, TracedText.__ne__ = _equal, _unequal               # type: ignore[assignment]


def resolved(x: object) -> Any:
    """A text as Python's own."""
    return x.known() if type(x) is TracedText else x


def _is_known(x: object) -> bool:
    """Whether the text of x is the same whenever it is asked for, and known now."""
    if type(x) in PLAIN:
        return True
    if type(x) is tuple:
        return all(map(_is_known, x))
    return isinstance(x, Value) and not x.ndim and constant_of(x.atom) is not None


def is_fixed(x: object) -> bool:
    """Whether x is, and stays, what it is: numbers, texts and tuples of them."""
    if type(x) is tuple:
        return all(map(is_fixed, x))
    return type(x) in (*PLAIN, TracedText) or (isinstance(x, Value) and not x.ndim)


def _of_each(value: Callable, x: object) -> Any:
    """value(x), of a tuple of each thing in it."""
    return tuple([_of_each(value, y) for y in x]) if type(x) is tuple else value(x)


def _as_now(x: object) -> Any:
    """A number or text that keeps its value."""
    return current().value_of(x.atom) if isinstance(x, Value) else x


def _example(x: object) -> Any:
    """A number of the same type."""
    if not isinstance(x, Value):
        return x.said if type(x) is TracedText else x
    one = x.dtype.type(1)
    return one.item() if x.type.weak else one


@for_user
def made(make: Callable, said: Callable, *given: Any) -> Any:
    """make(*given), a text: a Text where what is given is traced. said(*given): what it says to people."""
    if stack.is_live():
        return followed("a text", given, lambda: make(*_of_each(_on_tape, given)))
    if not stack.builders() or _telling.is_on or all(map(_is_known, given)):
        return make(*given)
    if all(map(is_fixed, given)):
        make(*_of_each(_example, given))                      # it fails now if it fails at all
        return TracedText(TextPart(make, _of_each(_as_now, given), _told(said, *given)))
    answer(current().root, np.get_printoptions)               # of an object or an array
    try:
        return make(*given)
    except ConcreteValueError:                                # of an object, a list or an array with traced values
        later = (make, _of_each(_as_now, given)) if _is_value(given) else in_parts(make, *given)
        return TracedText(TextPart(make, None, _told(said, *given), later))


def _on_tape(x: object) -> Any:
    return _known_number(x) if isinstance(x, Value) else x


def _is_value(x: object) -> bool:
    """Whether x is a number, an array or a text, or a tuple of them."""
    return is_fixed(x) or isinstance(x, Value) or (type(x) is tuple and all(map(_is_value, x)))


def in_parts(make: Callable, *given: object) -> "tuple | None":
    """The parts of make(*given), the text of an object with traced values in it, of which it is made when the program
    runs; None if that cannot be told: the text depends on how long theirs are.
    """
    try:
        (marks, texts), (_, others) = [(m, _marked(m, make, given)) for m in (Marks(1), Marks(9))]
    except ConcreteValueError:
        return None
    if texts != others:
        return None
    parts = [TextPart(make, (_as_now(x),), "") for make, x in marks.made]
    return _as_it_is, (TracedText(*[x if k % 2 == 0 else parts[x] for k, x in enumerate(texts)]),)


def _as_it_is(text: str) -> str:
    return text


def _marked(marks: Marks, make: Callable, given: tuple) -> list:
    before, _telling.marks = _telling.marks, marks
    try:
        return marks.split(str(make(*given)))
    finally:
        _telling.marks = before


def told(x: object) -> str:
    """The text of x for people."""
    return _told(str, x)


def _told(said: Callable, *given: object) -> str:
    with telling():
        return str(said(*given))


# -- what rewritten code calls in place of f"...", "..." % x and Python's functions ----------------

TEXTS = {"s": str, "r": repr, "a": ascii}
CONVERSIONS: dict[int, Callable] = {-1: lambda x: x, 115: str, 114: repr, 97: ascii}


def formatted(x: object, conversion: int = -1, spec: object = "") -> Any:
    """{x!r:spec} in an f-string"""
    if conversion == -1 and type(x) is TracedText and not spec:
        return x
    return made(format_with, lambda x, *_: f"{x}", x, conversion, resolved(spec))


@for_user
def format_with(x: str, conversion: int, spec: str) -> str:
    """{x!conversion:spec} in an f-string"""
    return format(CONVERSIONS[conversion](x), spec)


def joined(*parts: Any) -> Any:
    """The texts, one behind the other."""
    if not any(type(part) is TracedText for part in parts):
        return followed("a text", parts, "".join, parts)
    return TracedText(*[p for x in parts for p in (x.parts if type(x) is TracedText else (str.__str__(x),))])


def _of_one(convert: Callable) -> Callable:
    @for_user
    def call(*args: object, **kwargs: object) -> Any:
        if len(args) != 1 or kwargs:
            return convert(*args, **kwargs)
        return args[0] if convert is str and type(args[0]) is TracedText else made(convert, convert, args[0])
    return call


@for_user
def format_(x: object, spec: object = "") -> Any:
    """format(x, spec)"""
    return formatted(x, -1, spec)


OVERRIDES: dict = {str: _of_one(str), repr: _of_one(repr), ascii: _of_one(ascii), format: format_}
