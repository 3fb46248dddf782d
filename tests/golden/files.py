"""Golden files: texts that are compared word for word, but for comments. One command makes them anew:

    FAD_GOLDEN=write python -m pytest tests/golden
"""
import os
import pathlib
import re

import numpy as np

HERE = pathlib.Path(__file__).parent


def assert_is_as_in_file(name: str, text: str) -> None:
    """Raise an AssertionError unless the text is that of the file."""
    file = HERE / f"{name}.txt"
    if os.environ.get("FAD_GOLDEN") == "write":
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
    assert _code(text) == _code(file.read_text(encoding="utf-8"))


def _code(text: str) -> str:
    """The text without the user's lines beside it: a version of Python may name another line of an expression."""
    return re.sub(r" +# .*", "", text)


def values(args: list) -> list:
    """A random array for each shape, also in a list; what is no shape stands for itself."""
    return [_value(a) for a in args]


def _value(a):
    if isinstance(a, list):
        return values(a)
    return np.random.default_rng(0).standard_normal(a) if isinstance(a, tuple) else a
