"""Marks in the place of traced values, in a text that Python or a library makes of an object.

    str(model)  ->  "Model(<mark 0>, 3)"  ->  "Model(", the text of a number, ", 3)"

The text of the number is put in when the program runs.
"""
import re
from collections.abc import Callable

from ...util.array import AnyArray
from ...util.errors import ConcreteValueError
from .absent import refuse_methods

_FORM = re.compile("\ue000(\\d+)\ue001")


class Marks:
    """The marks of one text, each with what makes the text that it stands for."""

    def __init__(self, width: int):
        self.width, self.made = width, []                     # type: int, list[tuple]

    def put(self, x: AnyArray, make: Callable) -> str:
        """A mark for make(x)."""
        self.made.append((make, x))
        return MarkText(f"\ue000{len(self.made) - 1:0{self.width}}\ue001")

    @staticmethod
    def split(text: str) -> list:
        """The plain texts, with the numbers of the marks between them."""
        parts: list = _FORM.split(text)
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
