"""Every error fad raises, one class each, each a subclass of the builtin that a user would catch.

A message has up to four parts, in this order: what happened, where (the user's line), why, and what to do.
"""
import functools

from .refusals import Remembered
from .where import Where, here


class FadError(Exception):
    """The base of all errors of fad. Its message says what happened, where, why, and what to do.

    Parameters
    ----------
    what : str
        What happened.
    where : Where, optional
        The line of the user's source.
    why : str, optional
        The reason.
    do : str, optional
        The way out.

    Examples
    --------
    >>> import numpy as np
    >>> import fad
    >>> try:
    ...     fad.grad(np.sum)(np.arange(3))
    ... except fad.FadError as error:
    ...     print(type(error).__name__)
    IntegerArgumentError
    """

    way_out = ""                                              # what to do, where an error of the class does not say

    def __init__(self, what: str, *, where: "Where | None" = None, why: str = "", do: str = ""):
        self.what, self.where, self.why, self.do = what, where or here(), why, do or self.way_out
        self.is_placed = False
        self.args = (self._message(),)

    def because(self, why: str) -> None:
        """Give the reason, unless there is one."""
        if why and not self.why:
            self.why = why
            self.args = (self._message(),)

    def put_at(self, where: "Where | None") -> None:
        """Say that it happened at this line, unless that was said before."""
        if where is not None and not self.is_placed:
            self.where, self.is_placed = where, True
            self.args = (self._message(),)

    def __reduce__(self) -> tuple:
        """Errors go from process to process as they are, the user's line among it; without their trace."""
        return _remade, (self._made_of(), self.args, {k: x for k, x in self.__dict__.items() if k != "_trace"})

    def _made_of(self) -> tuple:
        """A function and its arguments that give the class."""
        return _itself, (type(self),)

    def _message(self) -> str:
        parts = [self.what]
        if self.where:
            parts.append(f"  where: {self.where}")
        if self.why:
            parts.append(f"  why: {self.why}")
        if self.do:
            parts.append(f"  do: {self.do}")
        return "\n".join(parts)


def _remade(made_of: tuple, args: tuple, state: dict) -> FadError:
    """An error as it was pickled."""
    make, of = made_of
    cls = make(*of)
    error = cls.__new__(cls, *args)
    error.args = args
    error.__dict__.update(state)
    return error


def _itself(cls: type) -> type:
    return cls


class NotScalarError(FadError, TypeError):
    """A gradient of a function whose result is not a scalar."""


class IntegerArgumentError(FadError, TypeError):
    """A derivative with respect to an integer or boolean argument."""


class UnsupportedFunctionError(Remembered, FadError, TypeError):
    """A NumPy or SciPy function (or an option of it) that fad has no record of."""

    way_out = "write it with other functions of NumPy's, or give it a rule of its own (fad.custom_jvp, fad.custom_vjp)"


class NoDerivativeError(Remembered, FadError, TypeError, NotImplementedError):
    """An operation in the path of the derivative has no rule (yet), or has no derivative at all."""

    way_out = ("keep it off the path of the derivative (fad.stop_gradient), "
               "or give it a rule of its own (fad.custom_vjp)")


class ConcreteValueError(Remembered, FadError, TypeError):
    """Python asked for the value of an array that is being traced (a branch, a list index, float(x), ...)."""


class SideEffectError(Remembered, FadError, RuntimeError):
    """A traced value was used after its trace had ended, or a traced function wrote where it must not."""


class CotangentShapeError(FadError, ValueError, RuntimeError):
    """A tangent or cotangent whose shape, dtype or structure does not fit the value it belongs to."""

    way_out = "give it the shape and the kind of numbers (real or complex) of the value it belongs to"


class StructureError(Remembered, FadError, TypeError, ValueError):
    """Trees of arguments or results that should have the same structure and do not."""

    way_out = "give it the structure of what it belongs to: the same keys, lengths and classes, with arrays or numbers"


class UnstageableError(StructureError, TypeError, ValueError):
    """A loop or branch on traced values cannot be part of a program: a variable in it changes its structure or its
    identity."""

    way_out = ("keep the structure the same on every way and in each iteration, or let the function run on the tape "
               "(fallback=True)")


INTEGER_OVERFLOW = "an int leaves 64 bits"                    # what programs say as they run
NONE_IS_USED = "a value is used that is None"                 # likewise
RAISED_ON_A_WAY = "what Python raises on this way"  # likewise: the program was made without that branch
NOT_A_NUMBER = "a part of a float is taken that is not a number"  # likewise: of Python's it may be complex, (-1.0)**0.5
PINNED = "another way than the program's"  # likewise: a condition that the program is for
BROADCAST = "extents of operands, neither 1,"  # likewise: a program has no axis that is stretched at some calls
BEYOND_MARKS = (INTEGER_OVERFLOW, NONE_IS_USED, RAISED_ON_A_WAY, NOT_A_NUMBER, PINNED)
BEYOND = (LookupError, ArithmeticError, ValueError, TypeError)  # of what programs raise of what is beyond them
LARGEST_INT = 2.0**63 * (1 - 1e-15)                           # what rounds to less than this as a float has 64 bits


class IntegerOverflowError(FadError, OverflowError):
    """An int of Python's grows beyond 64 bits, which programs compute with."""


class FallbackWarning(FadError, UserWarning):
    """A function cannot be compiled, because its structure depends on data. It runs step by step on the tape.

    Examples
    --------
    >>> import warnings
    >>> import fad
    >>> def halved(v):
    ...     return v if v < 0.5 else 3.0 * halved(v / 2)
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", fad.FallbackWarning)
    ...     float(fad.grad(halved)(3.0))
    3.375
    """


class InternalErrorWarning(FadError, UserWarning):
    """fad's own code failed while it traced, transformed or compiled a function. The answer comes another way, and is
    right.

    The error is the ``__cause__`` of the warning. Please report it. The warning is not a `FallbackWarning`, so a
    filter for those leaves it visible.

    Examples
    --------
    >>> import fad
    >>> issubclass(fad.InternalErrorWarning, fad.FallbackWarning)
    False
    """


class ExtentError(FadError, ValueError):
    """Extents that must agree and do not."""

    way_out = "look at the shapes of what the line combines (x.shape): reshape, slice or transpose one of them"


class IndexRangeError(FadError, IndexError):
    """An index outside its axis."""

    way_out = "keep the index below the extent of its axis (x.shape), or test it before"


class TapeMemoryError(FadError, MemoryError):
    """The values that a reverse sweep has to save do not fit in memory, or in the memory it was allowed."""


class ArgumentError(FadError, TypeError, ValueError):
    """An argument of one of fad's own functions that cannot be right."""


class OperandError(FadError, TypeError):
    """An operator in the function's own code met an operand that it does not take: None, a text, an array of another
    library."""


class CallError(FadError, Exception):
    """A call or an operation in the function that NumPy or Python refuses, too: a wrong shape, axis, dtype or keyword.

    Each such error is of the class that NumPy or Python raises, too (`ValueError`, `numpy.linalg.LinAlgError`, ...), so
    what catches those catches it.

    Examples
    --------
    >>> import numpy as np
    >>> import fad
    >>> try:
    ...     fad.grad(lambda x: np.sum(x, axis=3))(np.ones(2))
    ... except np.exceptions.AxisError as error:
    ...     print(isinstance(error, fad.FadError), error.why)
    True sum(float64[2], axis=3) was called
    """

    kind: type = Exception                                    # the class that NumPy or Python raises

    def __str__(self) -> str:
        return str(self.args[0])

    def _made_of(self) -> tuple:
        return call_error_of, (self.kind,)


@functools.cache
def call_error_of(kind: "type[Exception]") -> "type[CallError]":
    """The class of a CallError that is an error of this class, too.

    >>> issubclass(call_error_of(KeyError), KeyError)
    True
    """
    facts = {"__module__": __name__, "__qualname__": f"CallError.{kind.__name__}", "__doc__": kind.__doc__}
    return type(kind.__name__, (CallError, kind), {**facts, "kind": kind})


class MissingAttributeError(FadError, AttributeError):
    """An attribute that a traced value does not have."""


class RecursionDepthError(FadError, RecursionError):
    """A function called itself too often while it was traced."""


class CheckError(FadError, AssertionError):
    """The IR checker found a program that is not well formed: a bug of fad, never of its user."""

    way_out = "please report it, with the function"
