"""Types in the signatures of transforms: a transform keeps the parameters P of its function, and editors show them."""
from collections.abc import Sequence
from typing import ParamSpec, TypeAlias, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

Argnums: TypeAlias = int | Sequence[int]
"""Places of arguments: one, or several."""

Memory: TypeAlias = int | str | None
"""A limit of what loops save: bytes, text such as "200MB", or None."""
