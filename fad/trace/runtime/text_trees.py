"""Texts that a program makes of its values when it runs: trees of texts, numbers and arrays, with places for the
values.

    ("loss %.3f of %s", loss, [w, f"{k}"])
    ->  Built(tuple, (Constant("loss %.3f of %s"), Operand(0), Built(list, (Operand(1), Spoken(...)))))

Two traces of one line have equal trees, since programs are compared.
"""
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...ir.build import Value, current
from ...ir.types import Type
from ...util import tree
from ...util.errors import UnstageableError
from ..lists.export import Delivered
from ..lists.items import Items
from ..lists.rows import RowList
from ..values.text import PLAIN, TextPart, TracedText, format_with
from ..values.tracer import Tracer

_DICTS = (dict, OrderedDict)


class Operand(NamedTuple):
    """A value of the program, as Python has it: an array, a number of NumPy's, or one of Python's."""

    place: int
    dtype: np.dtype
    weak: bool
    is_array: bool
    rank: int

    def field(self, how: str = "", spec: str = "") -> "str | None":
        """The part of a template of str.format that says it; None where that would say something else."""
        if how == "!r" and self.is_array and not self.rank:
            return None
        how = "" if self.weak else how                        # the text of a number of Python's is its repr
        return "{" + f"{self.place}{how}" + (f":{spec}" if spec else "") + "}"

    def filled(self, values: tuple) -> Any:
        """Its value in a run. Arrays are copies, which may be kept."""
        x = values[self.place]
        if self.is_array:
            return np.array(x, self.dtype)
        y = self.dtype.type(np.asarray(x)[()])
        return y.item() if self.weak else y


class MaybeNone(NamedTuple):
    """A value, or None where the flag says that it is not there."""

    value: Operand
    flag: Operand

    def filled(self, values: tuple) -> Any:
        return self.value.filled(values) if self.flag.filled(values) else None


class Constant:
    """A thing that is the same in each run."""

    __slots__ = ("value",)

    def __init__(self, value: object):
        self.value = value

    def filled(self, values: tuple) -> Any:
        return self.value

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Constant):
            return False
        a, b = self.value, other.value
        return a is b or (type(a) is type(b) and type(a) in PLAIN and repr(a) == repr(b))

    def __hash__(self) -> int:
        return hash(type(self.value))


class Spoken(NamedTuple):
    """make(*parts), a text."""

    make: Callable
    parts: tuple

    def filled(self, values: tuple) -> str:
        return str(self.make(*[part.filled(values) for part in self.parts]))


def template_of(x: object) -> "str | None":
    """The part of a template of str.format that says an argument of print, with the places of its values; None if
    nothing does.
    """
    if isinstance(x, Operand):
        return x.field()
    if isinstance(x, Constant):
        return str(x.value).replace("{", "{{").replace("}", "}}")
    if not isinstance(x, Spoken):
        return None
    if x.make is _joined:
        parts = [template_of(part) for part in x.parts]
        return None if None in parts else "".join(parts)      # type: ignore[arg-type]
    if isinstance(x.parts[0], Operand) and x.make in (str, repr):
        return x.parts[0].field("!r" if x.make is repr else "")
    if isinstance(x.parts[0], Operand) and x.make is format_with:
        conversion, spec = [part.value for part in x.parts[1:]]
        return x.parts[0].field({114: "!r", 97: "!a"}.get(conversion, ""), spec) if "{" not in spec else None
    return None


class Built(NamedTuple):
    """A list, a tuple or a dict, new in each run: of a dict, `keys` are its keys."""

    cls: type
    items: tuple
    keys: "tuple | None" = None

    def filled(self, values: tuple) -> Any:
        items = [x.filled(values) for x in self.items]
        if self.keys is not None:
            return self.cls(zip([key.filled(values) for key in self.keys], items))
        return self.cls._make(items) if hasattr(self.cls, "_make") else self.cls(items)


class Raised(NamedTuple):
    """An error or a warning, new in each run."""

    cls: type
    args: tuple

    def filled(self, values: tuple) -> BaseException:
        return self.cls(*[x.filled(values) for x in self.args])


class Rows(NamedTuple):
    """A list that a loop has filled: arrays, and the form of its elements."""

    form: Any
    arrays: tuple

    def filled(self, values: tuple) -> Any:
        return self.form.apart(tuple([x.filled(values) for x in self.arrays]))


class Operands:
    """The values that a line has: the operands of the equation that says it."""

    def __init__(self) -> None:
        self.values: list[Any] = []

    def tree(self, x: Any) -> Any:
        """The tree for x; None if x, or what it holds, is an object that may be another one when the program runs."""
        if isinstance(x, Value):
            return self.value(x)
        if type(x) is TracedText:
            return self.text(x)
        if type(x) in PLAIN or isinstance(x, (np.generic, np.dtype, type)):
            return Constant(x)
        if isinstance(x, np.ndarray):
            return self.value(current().capture(x)) if type(x) is np.ndarray and x.dtype.kind in "biufc" else None
        if type(x) in _DICTS:
            return self._built(type(x), x.values(), x.keys())
        if type(x) in (list, tuple) or (isinstance(x, tuple) and hasattr(x, "_fields")):
            return self._built(type(x), x)
        if isinstance(x, list):
            return self._list(x)
        if isinstance(x, BaseException) and not vars(x) and type(x).__init__ in (Exception.__init__, Warning.__init__):
            found = tuple(map(self.tree, x.args))
            return None if None in found else Raised(type(x), found)
        return None

    def _built(self, cls: type, items: Any, keys: Any = None) -> Any:
        found = tuple(map(self.tree, items))
        named = None if keys is None else tuple(map(self.tree, keys))
        return None if None in found or None in (named or ()) else Built(cls, found, named)

    def _list(self, x: object) -> Any:
        """A list of captured code's."""
        if type(x) is Items:
            return self._built(list, x)
        if not isinstance(x, RowList) or x.is_element or x.layout.statics:
            return None
        leaves, structure = tree.flatten(Delivered(x))
        return Rows(structure.static, tuple(map(self.value, leaves)))

    def value(self, x: object) -> Any:
        """The tree for a traced value."""
        if isinstance(x, Tracer) and x.bound is None and x.optional is not None:
            return MaybeNone(self._operand(x.builder.value_of(x.held), x), self._operand(x.optional.flag))
        return self._operand(x)

    def _operand(self, x: Any, of: Any = None) -> Operand:
        of = x if of is None else of
        if getattr(of, "zero_dim", False) is None or any(
                k.own != (x.dtype, x.type.weak) for k in current().root.trace.mixed.get(of.held, (None, ()))[1]):
            raise UnstageableError("a text is made of what is an array or a number, an int or a float, depending on "
                                   "the path", why="their texts differ", do="give the name one kind on every path")
        self.values.append(x)
        t: Type = x.type
        return Operand(len(self.values) - 1, t.dtype, t.weak, bool(t.shape) or getattr(of, "zero_dim", False) is True,
                       len(t.shape))

    def text(self, x: TracedText) -> Spoken:
        """The tree for a text."""
        return Spoken(_joined, tuple([Constant(part) if type(part) is str else self._part(part) for part in x.parts]))

    def _part(self, part: TextPart) -> Spoken:
        if part.later is None:
            raise UnstageableError("a text is made of an object with traced values, which Python asks for",
                                   why="it has them when the program runs", do="make the text of the values themselves")
        make, given = part.later
        trees = tuple(map(self.tree, given))
        assert None not in trees
        return Spoken(make, trees)


def _joined(*parts: str) -> str:
    return "".join(parts)
