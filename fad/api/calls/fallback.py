"""The fallback: a function that cannot be staged runs on the tape (ir/live.py), anew at each call, on values.

A trace fails where Python needs a value (a list's length, a key of a dict), where a library is called that fad has no
record of, or where a loop changes the structure of its variables. The function then gets a second chance on the tape,
where everything has a value. If that fails too, the first error is raised: it says what could not be staged, or what is
wrong with the function.

A trace that fails because of a defect of fad's own (util/defects.py) has the same second chance, and a warning of
another class.
"""
import ctypes
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from traceback import clear_frames
from typing import Any, NamedTuple

import numpy as np

from ...ir import stack
from ...ir.build import Value, is_behind_lines, left_region
from ...ir.live import LiveBuilder, taping
from ...ir.walk import Environment, run_equation
from ...trace.heap.journal import Mark, journal, noting
from ...trace.outcome.leaks import settle, settle_error
from ...trace.values.of_tensors import standing_for
from ...trace.values.tracer import Tracer
from ...util import tree
from ...util.array import AnyArray
from ...util.config import config
from ...util.defects import ignore_expected, is_defect, is_users, warn_of
from ...util.errors import (
    BROADCAST,
    INTEGER_OVERFLOW,
    NONE_IS_USED,
    NOT_A_NUMBER,
    PINNED,
    RAISED_ON_A_WAY,
    ArgumentError,
    ConcreteValueError,
    FadError,
    FallbackWarning,
    IntegerOverflowError,
    MissingAttributeError,
    OperandError,
    SideEffectError,
    StructureError,
    UnstageableError,
    UnsupportedFunctionError,
)
from ...util.exclusion import on_tape
from ...util.interrupts import is_interrupt, reraise_interrupt
from ...util.where import Where, line_of, outside_fad
from .error_text import ROOTS, in_fads_words, raise_in_fads_words

UNSTAGED = (ConcreteValueError, UnstageableError, SideEffectError, UnsupportedFunctionError, IntegerOverflowError,
            MissingAttributeError, OperandError)
NEGATIVE_POWER = "Integers to negative integer powers are not allowed"      # of NumPy's ints; Python's are floats then
ON_THE_TAPE = "{} runs step by step on the tape, not compiled"
# what Python and libraries say of a traced value they cannot take
PYTHONS = (TypeError, ValueError, AttributeError, RecursionError, ctypes.ArgumentError)


def is_unstaged(error: Exception) -> bool:
    """Whether a trace failed because the function cannot be staged, not because of a wrong shape, index or kind of
    argument.

    The error may lie in a branch that is not taken: the tape goes only the way that is taken.
    """
    if is_interrupt(error):
        return False
    if is_behind_lines(error):                                # the tape says them, and raises it again
        return True
    if (isinstance(error, UNSTAGED) or (isinstance(error, PYTHONS) and not isinstance(error, FadError))
            or is_defect(error)):
        return True
    return left_region(error) and not isinstance(error, (StructureError, Warning))


class Refusal(NamedTuple):
    """The reason for which a call goes to the tape, the kind of its arguments, and the number of lines that its program
    has said before.
    """

    error: Exception
    kind: Any
    lines: int = 0
    strange: Callable = str

    @property
    def is_of_another_way(self) -> bool:
        return is_of_another_way(self.error)


class Fallback:
    """Whether one staged function may run on the tape, and for which kinds of arguments it does."""

    def __init__(self, allowed: "bool | None", is_plain: bool = False):
        if allowed not in (None, True, False):
            raise ArgumentError(f"fallback is True, False or None, not {allowed!r}",
                                do="give False to refuse the tape, or leave fallback out")
        self.allowed, self.is_plain = allowed, is_plain  # is_plain: fad calls the function itself instead of tracing it
        self.reasons: dict[Any, str] = {}                     # kind of arguments -> why it runs on the tape
        self.warned = False

    @property
    def is_on(self) -> bool:
        return config.fallback if self.allowed is None else self.allowed

    def instead(self, error: Exception, run: Callable, key: tuple, name: str, strange: Callable = str,
                mended: tuple = ()) -> Any:
        """Return run()'s result in place of a trace that failed. Raise an error that the tape cannot mend.

        strange(): which arguments of the call are no data; mended: further errors that run() may not meet.

        A function that fad calls itself must see the tensors that a call is about, and they are known further out.

        If run() fails too, for lack of a value or of an operation on the tape, the first error says where the trouble
        began; otherwise run()'s own error does.
        """
        error = _first(error)
        is_for_others = self.is_plain and standing_for.get() is not None
        if not self.is_on or is_for_others or not (is_unstaged(error) or isinstance(error, mended)):
            told = in_fads_words(error, strange())
            raise told from (error.__cause__ if told is error else None)
        if isinstance(error, FadError) and error.why:         # else its frames say more
            clear_frames(error.__traceback__)                 # things that the trace has met may go as f runs
        try:
            result = run()
        except Exception as second:
            reraise_interrupt(second)
            is_of_tape = (is_unstaged(_first(second)) and not self.is_plain and not isinstance(second, SideEffectError)
                          and not is_of_none(error) and not _is_again(error.__cause__, second))
            is_told = isinstance(error, FadError) or not isinstance(second, FadError)  # Python's may be of another way
            is_first = is_of_tape and is_told and not is_users(second)
            told = in_fads_words(error if is_first else second, strange())
            raise told from told.__cause__
        where, self.reasons[key] = place_and_reason(error)
        if is_defect(error) and not self.warned:
            self.warned = True
            warn_of(error, ON_THE_TAPE.format(name), where)
        self.tell(name, where, self.reasons[key])
        return result

    def again(self, run: Callable, strange: Callable) -> Any:
        """run()'s result for a call that is known to be refused."""
        try:
            return run()
        except ROOTS as error:
            raise_in_fads_words(error, strange())

    def tell(self, name: str, where: "Where | None", reason: str) -> None:
        """Warn, once, that the function runs on the tape."""
        if not self.warned:
            self.warned = True
            told = FallbackWarning(ON_THE_TAPE.format(name), where=where, why=reason,
                                   do="keep what depends on data in arrays, or pass fallback=False to make this an "
                                      "error")
            warnings.warn(told, stacklevel=outside_fad())


def _is_again(cause: "BaseException | None", second: Exception) -> bool:
    """Whether the tape met the error for which the trace failed: it is the function's own."""
    return type(cause) is type(second) and str(cause) == str(second)


def _first(error: Exception) -> Exception:
    """The error that a library's C code went on after, until Python noticed."""
    while isinstance(error, SystemError) and isinstance(error.__cause__, Exception):
        error = error.__cause__
    return error


def beyond_programs(error: Exception) -> "Exception | None":
    """A running program's error about ints beyond its range, about None or about Python's errors, as UnstageableError;
    None for other errors."""
    if str(error).startswith(INTEGER_OVERFLOW):
        return IntegerOverflowError(str(error), why="compiled programs compute with integers of 64 bits",
                                    do="start with a float (1.0 instead of 1)")
    if str(error).startswith(NEGATIVE_POWER):
        return UnstageableError(str(error), why="of Python's ints these are floats",
                                do="let the base be a float (2.0 instead of 2)")
    if str(error).startswith(NOT_A_NUMBER):
        return UnstageableError(str(error), why="the power of a negative float of Python's is complex: (-1.0)**0.5",
                                do="let the base be complex: complex(x)**0.5")
    if str(error).startswith(NONE_IS_USED):
        return UnstageableError(str(error), why="a program has numbers and arrays",
                                do="give the name a number on every way, or test it (is None) before")
    if is_of_another_way(error):
        return UnstageableError(str(error), why="no program has both sides of a condition, and there are as many "
                                "programs for one side as are kept", do="keep the structure the same on every way")
    if isinstance(error, UnstageableError):  # of a call that runs before the program (backend/running/prelude.py)
        return error
    if is_of_a_way(error):
        return UnstageableError(str(error), why="it was met while the program was made, and not where the program is",
                                do="look at the line that raises")
    return None


def is_of_none(error: Exception) -> bool:
    """Whether a call met None where others have a number: the next may not."""
    return NONE_IS_USED in str(error)


def is_of_a_way(error: Exception) -> bool:
    """Whether it is what Python raised where the program was made, on a way that is taken now."""
    return RAISED_ON_A_WAY in str(error)


def is_of_another_way(error: Exception) -> bool:
    """Whether the call goes another way than the one that the program is for."""
    return PINNED in str(error) or BROADCAST in str(error)


def passed_on(error: Exception, fast: Any) -> Any:
    """NotImplemented for a call beyond the program, which the general path takes. Other errors are raised again."""
    if beyond_programs(error) is None:
        raise_in_fads_words(error)
    fast.take_back()
    return NotImplemented


def place_and_reason(error: Exception) -> "tuple[Where | None, str]":
    """The user's line that an error is about, and what it says."""
    if isinstance(error, FadError):
        return error.where, f"{error.what}; {error.why}" if error.why else error.what
    return line_of(error), f"{type(error).__name__}: {error}".strip(": ")


def run_on_tape(body: Callable, args: tuple, kwargs: dict, name: str, deliver: Callable) -> Any:
    """deliver(tape, body's result) of a body that computes on traced values, given the values."""
    leaves, structure = tree.flatten((args, kwargs))
    with on_tape(), taping(name, Tracer) as tape, noting() as mark:
        given = [tape.take(x) for x in leaves]
        # an array that is given twice is one object to identity tests
        tape.region.arrived = {id(new): (new, x) for new, x in zip(given, leaves)}
        args, kwargs = structure.unflatten(given)
        try:
            result = body(*args, **kwargs)
            journal().made.clear()                            # a generator that nobody else has is closed here
            settle(tape)
        except BaseException as error:
            _leave(tape, mark, error)
            raise
        return deliver(tape, result)


def _leave(tape: LiveBuilder, mark: Mark, error: BaseException) -> None:
    """Leave outside what Python leaves of a function that raises this error. If fad refuses the function, all is as it
    was before the call.
    """
    try:
        if isinstance(error, FadError) and not is_users(error):
            mark.undo()
        else:
            settle(tape)
            settle_error(tape, error)
    except Exception as second:
        ignore_expected(second, "what a call that fails leaves outside is put back")
        mark.undo()


def as_arrays(tape: LiveBuilder, result: object) -> Any:
    """A result tree in NumPy's arrays and Python's numbers, none of them the tape's own."""
    return tree.map_leaves(lambda y: _own(tape.value(y)) if isinstance(y, (Value, np.ndarray)) else y, result)


def _own(y: Any) -> AnyArray:
    return np.array(y) if isinstance(y, np.ndarray) and y.ndim else y


class Later:
    """The second step of a body on the tape: it computes what depends on its argument, any number of times."""

    def __init__(self, tape: LiveBuilder, second: object):
        self.second, self.later, self.known = second, tape.later, dict(tape.values)
        self.pending = [eqn for eqn in tape.equations if any(v not in tape.values for v in eqn.outputs)]

    def __call__(self, given: list, traced: bool = False) -> Any:
        """The second result, for these leaves of the argument (`traced`: as a part of the program being built)."""
        env = Environment()
        env.update(self.known)
        env.update(zip(self.later, given, strict=True))
        with nullcontext() if traced else stack.concrete(), np.errstate(all="ignore"):
            for eqn in self.pending:
                run_equation(eqn, env)
        return tree.map_leaves(lambda y: _own(env.read(y.atom) if isinstance(y, Value) else y), self.second)
