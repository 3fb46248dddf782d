"""Traced values that stand for tensors: they have the methods of tensors besides those of NumPy's arrays."""
from collections.abc import Callable
from contextvars import ContextVar
from types import FunctionType
from typing import Any

from ...util.errors import UnsupportedFunctionError
from .absent import Absent

# the class of the tensors that traced values stand for. Its UNLIKE_ARRAYS names methods by which NumPy's arrays mean
# something else, with the fewest arguments that tell.
standing_for: "ContextVar[type | None]" = ContextVar("standing_for", default=None)


def of_tensors(x: object, name: str) -> Callable:
    """A method of tensors, on a traced value. One that needs what only a tensor has is absent, as an unknown name is.
    """
    cls = standing_for.get()
    method = None if cls is None or name.startswith("_") else vars(cls).get(name)
    missing = Absent(f"a traced array has no attribute {name!r}", name=name)
    if type(method) is not FunctionType:
        raise missing

    def call(*args: object, **kwargs: object) -> Any:
        try:
            return method(x, *args, **kwargs)
        except Absent as error:
            raise missing if (error.name or "").startswith("_") else error from None
    return call


def refuse_ambiguous(name: str, given: int) -> None:
    """Refuse a method of NumPy's arrays by which tensors mean something else, where traced values stand for tensors."""
    cls = standing_for.get()
    if cls is not None and given >= cls.UNLIKE_ARRAYS.get(name, given + 1):                # type: ignore[attr-defined]
        raise UnsupportedFunctionError(
            f"x.{name} is ambiguous in a function that is called on tensors",
            why="tensors and NumPy's arrays mean two things by it, and a traced value may be either",
            do=f"write np.{name}(x, ...) for NumPy's meaning, or call the function on arrays")
