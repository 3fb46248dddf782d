"""Python's operators on traced values that an ndarray's protocols do not decide: comparisons, assignments in place,
rounding.

A comparison of extents is decided while tracing, under a guard, so that `if n > 2` is plain Python. All others become
part of the program.
"""
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ...ir import stack
from ...ir.affine import Affine
from ...ir.build import current
from ...ir.integers import Integers
from ...ir.op import registry
from ...ir.types import INT, type_of
from ...ir.value import BINARY, COMPARISONS, REFLECTED, Value, answers, is_foreign
from ...ops import extents
from ...ops.literals import python_int
from ...ops.override import METHODS
from ...util.array import AnyArray
from ...util.where import here
from .standin import is_tracer
from .zero_dim import not_an_array


def _compare(python: str, decide: Callable) -> Callable:
    """Comparisons of extents are decided at once, under a guard; all others become part of the program."""
    is_order = python not in ("eq", "ne")

    def method(self: Any, other: Any) -> Any:
        _ = self.atom                                         # where this may be None, the program asks it here
        if answers(self, other, f"__{REFLECTED[python]}__"):
            return NotImplemented
        if is_foreign(self, other):
            if self.ndim and not is_order and stack.builders():
                return getattr(operator, python)(
                    self._concrete("an array was compared with what is no number", constant=True), other
                )
            return NotImplemented
        if _is_integer(self) and (type(other) is int or _is_integer(other)):
            facts = current().integers
            known = decide(facts, facts.form(self.atom) - facts.form(other if isinstance(other, int) else other.atom))
            if known is not None:
                return known
        if is_order:
            _refuse_complex(self, other)
        return registry[COMPARISONS[python]](self, self.beside(other))
    return method


def _is_integer(x: Any) -> bool:
    return is_tracer(x) and x.dtype == INT and x.ndim == 0


def _refuse_complex(a: object, b: object) -> None:
    """Python has no order of complex numbers; NumPy's have one."""
    if type(b) in (bool, int, float, complex) or isinstance(b, Value):
        t, other = type_of(a), type_of(b)
        if t.weak and other.weak and "c" in (t.dtype.kind, other.dtype.kind):
            raise TypeError("'<' and its like are not supported between instances of 'complex'")


def _order(strict_below: int) -> Callable:
    """Decide d >= bound (bound 0 or 1), by proof or guard."""
    def decide(facts: Integers, d: Affine) -> "bool | None":
        if facts.assume_nonnegative(d.shifted(-strict_below), here()):
            return True
        if facts.assume_nonnegative(d.scaled(-1).shifted(strict_below - 1), here()):
            return False
        return None
    return decide


def _equal(facts: Integers, d: Affine) -> "bool | None":
    if facts.assume_zero(d, here()):
        return True
    if facts.assume_nonnegative(d.shifted(-1), here()) or facts.assume_nonnegative(d.scaled(-1).shifted(-1), here()):
        return False
    return None


def _not(decide: Callable) -> Callable:
    def negated(facts: Integers, d: Affine) -> "bool | None":
        known = decide(facts, d)
        return None if known is None else not known
    return negated


def _in_place(name: str, reflected: str, operation: Callable) -> Callable:
    """x += v changes an array; a scalar is a number, and the name is bound anew."""
    def method(self: Any, other: Any) -> Any:
        if not self.ndim and answers(self, other, reflected):
            return NotImplemented
        if not self.is_array:
            return operation(self, other)
        if not self.ndim and self.zero_dim is None:
            raise not_an_array(self)
        other = self.beside(other)
        self.meets(name, self, other)
        if name == "matmul":
            _require_columns(self, other)
        result = registry[name](self, other)
        if not np.can_cast(type_of(result).dtype, self.dtype, "same_kind"):
            raise TypeError(f"cannot write {result.dtype} into an array of {self.dtype} in place")
        METHODS["__setitem__"](self, Ellipsis, result)
        return self
    return method


def _require_columns(x: AnyArray, other: AnyArray) -> None:
    """x @= other keeps the shape of x: other is a square matrix, or a stack of such."""
    if not x.ndim or other.ndim < 2:
        raise ValueError("inplace matrix multiplication requires the first operand to have at least one and the second "
                         "at least two dimensions.")
    extents.agree(other.shape[-1], x.shape[-1], "columns of the operands of @=")


def _rounded(name: str) -> Callable:
    """math.floor, round and their like, of a scalar: an integer of the program."""
    def method(self: Any) -> Any:
        return python_int(self if self.dtype.kind in "iu" else registry[name](self))
    return method


_DECISIONS = {"ge": _order(0), "gt": _order(1), "le": _not(_order(1)), "lt": _not(_order(0)), "eq": _equal,
              "ne": _not(_equal)}

# the special methods of the tracer, by name
OPERATORS: dict[str, Callable] = {
    **{f"__{python}__": _compare(python, decide) for python, decide in _DECISIONS.items()},
    **{f"__i{python}__": _in_place(name, f"__r{python}__", getattr(operator, f"__{python}__"))
       for python, name in BINARY.items()},
    **{f"__{name}__": _rounded(name) for name in ("floor", "ceil", "trunc")},
    "__round__": lambda self, digits=None: _rounded("rint")(self) if digits is None else METHODS["round"](self, digits),
    "__copy__": lambda self: self.copy() if self.is_array else self,
}
