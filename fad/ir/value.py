"""A value of a program that is being built, with Python's operators, which become equations."""
from collections.abc import Callable
from typing import Any

import numpy as np

from ..util.array import AnyArray, ArrayOrNumber
from ..util.errors import UnstageableError
from .graph import Var
from .op import Op, registry
from .stack import current, is_live
from .types import BOOL, COMPLEX, FLOAT, INT, Type, type_of


class Value:
    """A value of a program being built: operators and ops on it become equations of the current builder."""

    __slots__ = ("builder", "_var", "__weakref__")
    __fad_level__ = 2
    __array_priority__ = 1000

    def __init__(self, builder: Any, var: Var):
        self.builder, self._var = builder, var

    @staticmethod
    def __fad_bind__(op: Op, args: tuple, params: dict) -> Any:
        return current().bind(op, args, params)

    @property
    def atom(self) -> Var:
        """The variable that this value is (not named var: that is an array's variance)."""
        return self._var

    @property
    def type(self) -> Type:
        return self.atom.type

    @property
    def dtype(self) -> np.dtype:
        return self.atom.type.dtype

    @property
    def shape(self) -> tuple:
        extents = self.atom.type.shape
        for n in extents:
            if type(n) is not int:
                return tuple([current().value_of(n) for n in extents])
        return extents

    @property
    def ndim(self) -> int:
        return len(self.atom.type.shape)

    @property
    def size(self) -> AnyArray:
        size: Any = 1
        for n in self.shape:
            size = size * n
        return size

    def beside(self, other: ArrayOrNumber) -> ArrayOrNumber:
        """The other operand of an expression, as ops take it."""
        return other

    def meets(self, name: str, a: ArrayOrNumber, b: ArrayOrNumber) -> None:
        """Refuse, before an operator is applied to a and b, operands that Python or NumPy would refuse."""

    def standing_for(self, x: object) -> "Value":
        """This value, which stands for x from around the program."""
        return self

    @property
    def owner(self) -> "Value":
        """The value in whose memory this one lies."""
        return self

    def lie_in_owner(self, array: np.ndarray) -> None:
        """Stand for an array from outside as a view of the array in whose memory it lies, if the trace wants that."""

    def at_sizes(self) -> "tuple | None":
        """The content at the sizes of this call, and those sizes, where it follows from sizes alone. None if not."""
        return None

    def describe(self) -> str:
        """The name of a value in messages."""
        return f"<traced {self.atom.name}: {self.atom.type}>"

    __repr__ = describe


def is_foreign(value: "Value", other: object) -> bool:
    """Whether `other`, an object of Python's, is nothing that an operator of `value` knows: NumPy makes an array of a
    list or a tuple; Python's own numbers know neither.
    """
    if isinstance(other, (list, tuple)):
        return not value.ndim and value.type.weak  # type: ignore[attr-defined, no-any-return]
    return other is None or isinstance(other, (str, dict, set, bytes))


def answers(value: "Value", other: ArrayOrNumber, reflected: str) -> bool:
    """Whether `other`, an object of a user's class on the right, has an operator of its own that Python or NumPy would
    call.

    NumPy's scalars take an object with a length and items for an array, unless its class says `__array_ufunc__ =
    None`. fad refuses such objects.
    """
    cls = type(other)
    if (isinstance(other, (Value, np.ndarray, np.generic, bool, int, float, complex, list, tuple))
            or hasattr(cls, "dtype")):
        return False
    if getattr(cls, reflected, None) is getattr(object, reflected, None):
        return False
    if hasattr(cls, "__array_ufunc__") or getattr(cls, "__array_priority__", 0) > 0:
        return True                                           # of the ufunc's override, too: np.multiply(x, other)
    if hasattr(cls, "__array__"):
        return False
    is_sequence = hasattr(cls, "__len__") and hasattr(cls, "__getitem__")
    if not value.ndim and not value.type.weak and is_sequence:  # type: ignore[attr-defined]
        raise UnstageableError(f"a sequence of the class {cls.__name__} stands right of a scalar of NumPy's",
                               why="NumPy makes an array of it",
                               do="make the array yourself, or write `__array_ufunc__ = None` in the class, so that "
                                  "its own operators are called")
    return not value.ndim  # type: ignore[attr-defined]


def _operator(name: str, swap: bool = False, reflected: str = "") -> Callable:
    def method(self: Any, other: Any) -> Any:
        if is_foreign(self, other) or reflected and answers(self, other, reflected):
            return NotImplemented
        x, other = counted(self) if name in _COUNTING and _is_truth(other) else self, self.beside(other)
        a, b = (other, x) if swap else (x, other)
        self.meets(name, a, b)
        y = registry[name](complex_base(a, b) if name == "pow" else a, b)
        return registry["cast"](y, dtype=COMPLEX, weak=True) if name in _OF_COMPLEX and _is_pythons_complex(a, b) else y
    return method


def _divided(self: Any, other: Any) -> Any:
    """divmod(self, other)"""
    return NotImplemented if answers(self, other, "__rdivmod__") else (self // other, self % other)


def _unary(name: str) -> Callable:
    return lambda self: registry[name](counted(self))


_COUNTING = {"add", "sub", "mul", "floordiv", "mod", "pow", "left_shift", "right_shift"}


_OF_COMPLEX = {"add", "sub", "mul", "div", "pow"}


def _is_pythons_complex(a: "Value | complex", b: "Value | np.ndarray | complex") -> bool:
    """Whether Python's complex computes a + b. Python takes an np.float64 on the right for the float that it also is,
    and the result is Python's."""
    if not (type(a) is complex or isinstance(a, Value) and a.atom.type.weak and a.atom.type.dtype == COMPLEX):
        return False
    t = b.atom.type if isinstance(b, Value) else type_of(b) if isinstance(b, np.float64) else None
    return t is not None and t.dtype == FLOAT and not t.shape and not t.weak


def complex_base(a: Any, b: Any) -> Any:
    """The base a of a**b as a complex number where Python's power is complex: that of a negative float or int, if b is
    not whole. It is known where the values are, on the tape; in a program the power is nan.
    """
    if not is_live() or not all(_is_pythons_real(x) and current().is_known(x) for x in (a, b)):
        return a
    base, exponent = (float(current().value(x) if isinstance(x, Value) else x) for x in (a, b))
    return registry["cast"](a, dtype=COMPLEX, weak=True) if base < 0 and exponent % 1 > 0 else a


def _is_pythons_real(x: object) -> bool:
    if isinstance(x, Value):
        return x.atom.type.weak and not x.atom.type.shape and x.atom.type.dtype.kind in "fi"
    return type(x) in (float, int)


def _is_truth(x: object) -> bool:
    return type(x) is bool or isinstance(x, Value) and x.atom.type.weak and x.atom.type.dtype == BOOL


def counted(x: "Value") -> "Value":
    """A truth value of Python's as an operand of arithmetic: it is the int 0 or 1 (NumPy's stays a truth value)."""
    return registry["cast"](x, dtype=INT, weak=True) if _is_truth(x) else x


# Python's name of an operator -> the op
BINARY = {"add": "add", "sub": "sub", "mul": "mul", "truediv": "div", "floordiv": "floordiv", "mod": "mod",
          "pow": "pow", "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor",
          "lshift": "left_shift", "rshift": "right_shift", "matmul": "matmul"}
COMPARISONS = {"lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal", "eq": "equal",
               "ne": "not_equal"}
REFLECTED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq", "ne": "ne"}
for _python, _name in BINARY.items():
    setattr(Value, f"__{_python}__", _operator(_name, reflected=f"__r{_python}__"))
    setattr(Value, f"__r{_python}__", _operator(_name, swap=True))
for _python, _name in COMPARISONS.items():
    setattr(Value, f"__{_python}__", _operator(_name, reflected=f"__{REFLECTED[_python]}__"))
for _python, _name in {"neg": "neg", "abs": "abs", "invert": "invert"}.items():
    setattr(Value, f"__{_python}__", _unary(_name))
Value.__divmod__ = _divided  # type: ignore[attr-defined, operator]
Value.__rdivmod__ = lambda self, other: (other // self, other % self)  # type: ignore[attr-defined, operator]
Value.__pos__ = lambda self: self  # type: ignore[attr-defined, operator]
Value.__hash__ = lambda self: hash(self.atom)  # type: ignore[assignment, attr-defined]
