"""Texts, functions and members of an Enum that depend on the path, by their numbers in a table of the trace (see
regions/forms.py)."""
import operator
from collections.abc import Callable
from enum import Enum
from types import BuiltinFunctionType, CellType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from ...ir import stack
from ...ir.build import current
from ...ir.op import registry
from ...util.errors import ConcreteValueError
from ..objects.containers import is_empty
from ..objects.originals import original_of
from .absent import refuse_methods
from .constants import constant_of
from .text import PLAIN, TextPart, TracedText
from .tracer import Tracer


class Table:
    """The texts, the functions or the members of one Enum that names of a trace stand for on some paths, by their
    numbers; that of the empty text is 0.
    """

    def __init__(self, kind: object):
        self.kind, self.things = kind, [""] if kind is str else []   # type: object, list[Any]

    def number(self, thing: object) -> int:
        """The number of a thing, which stands in the table from now on."""
        found = next((k for k, x in enumerate(self.things) if self._is_one(x, thing)), len(self.things))
        if found == len(self.things):
            self.things.append(thing)
        return found

    def _is_one(self, x: object, thing: object) -> bool:
        return x is thing or ((self.kind is str or type(x) is MethodType) and x == thing)

    def holds(self, thing: object) -> bool:
        """Whether a key of a dict stands in the table."""
        return (self.kind is not str or type(thing) is str) and any(self._is_one(x, thing) for x in self.things)

    def text(self, number: Any) -> Any:
        """The text of this number, or the thing as people know it."""
        return original_of(self.things[operator.index(number)])

    def chosen(self, number: "int | Tracer") -> Any:
        """The text or the thing of this number."""
        if not isinstance(number, Tracer):
            return self.things[number]
        return TracedText(Choice(number)) if self.kind is str else ChosenThing(self, number)


class Choice(TextPart):
    """A text that depends on the path: the one of this number in the trace's table."""

    __slots__ = ("number",)

    def __init__(self, number: Tracer):
        super().__init__(table_of("").text, (number,), "<traced text>")
        self.number = number

    def known(self) -> str:
        if not stack.builders():
            return self.said
        number = constant_of(self.number.atom)
        if number is None:
            raise ConcreteValueError("Python asked what a text says that depends on the path",
                                     why="which text it is will be known when the program runs",
                                     do="compare it by == or !=, or print it")
        return table_of("").text(number)

    def equal(self, other: object) -> Any:
        number = number_of(other)
        return None if number is None else registry["equal"](self.number, number)


class ChosenThing:
    """A function, or a member of an Enum, that depends on the path. The runtime calls it, reads its attributes and
    finds items by it, path by path (runtime/choosing.py)."""

    __slots__ = ("table", "number")

    def __init__(self, table: Table, number: Tracer):
        self.table, self.number = table, number

    def common(self, question: Callable) -> Any:
        """The answer to a question, if it is the same for all."""
        answers = [question(x) for x in self.table.things]
        return answers[0] if all(x is answers[0] for x in answers) else refuse()

    @property
    def truth(self) -> bool:
        """Whether it counts as true: as all functions do, and members of an Enum that has no rule of its own."""
        if any(isinstance(x, Enum) and hasattr(type(x), "__bool__") for x in self.table.things):
            refuse()
        return True

    def __eq__(self, other: object) -> Any:
        if type(other) is ChosenThing:
            return other.table is self.table and registry["equal"](self.number, other.number)
        return thing_kind(other) is not None and table_of(other) is self.table and registry["equal"](
            self.number, self.table.number(other))

    def __ne__(self, other: object) -> Any:
        found = self == other
        return registry["logical_not"](found) if isinstance(found, Tracer) else not found


def refuse(*args: object) -> Any:
    """An error: the thing itself is needed."""
    raise ConcreteValueError("Python asked which of several functions, or members of an Enum, a name stands for",
                             why="that will be known when the program runs",
                             do="call it, compare it by == or `is`, read its attributes, or find items of a dict by it")


refuse_methods(ChosenThing, refuse, "hash bool str repr format len iter call lt le gt ge int index float contains "
               "getitem reduce_ex copy deepcopy array")


def thing_kind(x: object) -> "type | None":
    """The kind of things that a thing may be joined with: functions, members of one Enum; None of other things."""
    if isinstance(x, Enum):
        return None if isinstance(x, (int, str)) else type(x)
    if type(x) is FunctionType:
        return FunctionType if all(map(_is_untraced, x.__closure__ or ())) else None
    return FunctionType if isinstance(x, (BuiltinFunctionType, MethodType, np.ufunc)) else None


def _is_untraced(cell: CellType) -> bool:
    """Whether a function's variable holds nothing that only a part of the program knows."""
    return not is_empty(cell) and type(cell.cell_contents) in (*PLAIN, FunctionType, ModuleType)


def table_of(x: object) -> Table:
    """The table of a choice, or of what may be one of several."""
    if type(x) is ChosenThing:
        return x.table
    kind = str if type(x) in (str, TracedText) else thing_kind(x)
    return current().root.trace.choices.setdefault(kind, Table(kind))


def is_choice(x: object) -> bool:
    """Whether x is a text, or a thing, that depends on the path."""
    return type(x) is ChosenThing or (type(x) is TracedText and len(x.parts) == 1 and type(x.parts[0]) is Choice)


def may_be_chosen(x: object) -> bool:
    """Whether x may be joined with others of its kind."""
    return type(x) is str or is_choice(x) or thing_kind(x) is not None


def number_of(x: Any) -> "int | Tracer | None":
    """The number of a text or thing, known or traced; None of what cannot stand in a table."""
    if is_choice(x):
        return x.number if type(x) is ChosenThing else x.parts[0].number
    return table_of(x).number(x) if type(x) is str or thing_kind(x) is not None else None
