"""Texts that depend on the path, by their numbers in a table of the trace (see regions/texts.py)."""
import operator
from typing import Any

from ...ir import stack
from ...ir.build import current
from ...ir.op import registry
from ...util.errors import ConcreteValueError
from .constants import constant_of
from .text import TextPart, TracedText
from .tracer import Tracer


class TextTable:
    """The texts that names of a trace stand for on some paths. Each has a number; that of the empty text is 0."""

    def __init__(self) -> None:
        self.texts = [""]

    def number(self, text: str) -> int:
        if text not in self.texts:
            self.texts.append(text)
        return self.texts.index(text)

    def text(self, number: Any) -> str:
        return self.texts[operator.index(number)]


def table_of_texts() -> TextTable:
    """That of the present trace."""
    trace = current().root.trace
    trace.texts = trace.texts or TextTable()
    return trace.texts


class Choice(TextPart):
    """A text that depends on the path: the one of this number in the trace's table."""

    __slots__ = ("number",)

    def __init__(self, number: Tracer):
        super().__init__(table_of_texts().text, (number,), "<traced text>")
        self.number = number

    def known(self) -> str:
        if not stack.builders():
            return self.said
        number = constant_of(self.number.atom)
        if number is None:
            raise ConcreteValueError(
                "Python asked what a text says that depends on the path",
                why="which text it is will be known when the program runs",
                do="compare it by == or !=, or print it",
            )
        return table_of_texts().text(number)

    def equal(self, other: object) -> Any:
        number = number_of(other)
        return None if number is None else registry["equal"](self.number, number)


def is_choice(x: object) -> bool:
    """Whether x is a text that depends on the path."""
    return type(x) is TracedText and len(x.parts) == 1 and type(x.parts[0]) is Choice


def number_of(x: Any) -> "int | Tracer | None":
    """The number of a text, known or traced; None of a text that cannot stand in the table."""
    if is_choice(x):
        return x.parts[0].number
    return table_of_texts().number(x) if type(x) is str else None


def text_of_number(number: "int | Tracer") -> Any:
    """The text of this number."""
    return TracedText(Choice(number)) if isinstance(number, Tracer) else table_of_texts().text(number)
