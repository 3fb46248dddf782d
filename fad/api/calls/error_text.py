"""The text of an error that came up within a function: what, where, why, and what to do.

Errors reach a caller in one place, where a staged function gives up (fallback.py). Until then they are what NumPy and
Python raise, so that the function's own handlers see what they would see without fad. Told is what fad refuses in
NumPy's words, what NumPy says of a call in the function, and what Python says of a traced value or of an argument that
is no data. An error that the user's code raises, or Python of plain values in the user's own line, stays as it is.
"""
import dis
import re
from types import FrameType
from typing import Any, NamedTuple, NoReturn

import numpy as np

from ...ir.build import Value
from ...ir.types import type_of
from ...trace.guards.escapes import CONTAINERS
from ...trace.heap.percall import watched_call
from ...trace.values import number_texts
from ...trace.values.absent import Absent, missing_attribute
from ...trace.values.mutation import call_override
from ...trace.values.tracer import Tracer
from ...util import tree
from ...util.defects import asked_by_user, is_defect, is_for_user, is_users, refusal_behind
from ...util.errors import (
    CallError,
    ConcreteValueError,
    FadError,
    IndexRangeError,
    OperandError,
    RecursionDepthError,
    call_error_of,
)
from ...util.foreign import remedy_in
from ...util.interrupts import is_interrupt, reraise_interrupt
from ...util.where import is_captured, is_library, is_of_package, is_own, library_of, line_of, package_name
from .names import leaf_names

_TRACED = re.compile(r"<traced [^>]*>")                       # the text of a traced value
_ARGUMENTS = re.compile(r"\(\) (got|missing|takes) ")          # what Python says of a call with other arguments
_OUT_OF_RANGE = "index out of range"                          # how kernels say it
_PYTHONS = ("builtins", "operator", "_operator", "itertools", "functools", "_functools", "numpy", "scipy")
_RAISE = bytes([dis.opmap["RAISE_VARARGS"]])
_SHOWN = 6                                                    # arguments of a call that are told
_BIND = Value.__fad_bind__.__code__                           # type: ignore[attr-defined]
ROOTS = (TypeError, ValueError, LookupError, ArithmeticError, AttributeError, NotImplementedError, RuntimeError)
_REMEDIES = (                                                 # words of NumPy's or Python's -> what to do
    ("no such key", "look up what is known before the call; of traced values use arrays (np.searchsorted, np.where)"),
    ("keyword argument", "look at the parameters of the function (help): NumPy has no such keyword either"),
    ("positional argument", "look at the parameters of the function (help), and at how many arguments it is given"),
    ("axis", "name axes that the array has: 0 to x.ndim - 1, or -x.ndim to -1"),
    ("axes", "name each axis that the array has once: 0 to x.ndim - 1, or -x.ndim to -1"),
    ("dtype", "look at the dtypes of what is combined (x.dtype), or convert with x.astype(float)"),
    ("data type", "name a dtype that NumPy knows: float, np.float32, complex, int, bool"),
    ("ndices", "index with integers, slices, None, ... or arrays of integers or booleans"),
    ("integer", "pass an int: int(x) of a number that is known before the call, x.shape[0] or len(x)"),
    ("matrix as complex", "pass the matrix as complex numbers: A + 0j"),
    ("the result is not real", "pass the matrix as complex numbers: A + 0j"),
    ("ingular", "add to the diagonal (A + 1e-9 * np.eye(n)), or use np.linalg.lstsq or np.linalg.pinv"),
    ("positive definite", "look at the matrix: it has to be symmetric, and its eigenvalues above zero"),
    ("two-dimensional", "pass a matrix, or a stack of them (x.ndim is 2 or more)"),
    ("not iterable", "loop over an array of one axis or more; a number has no elements"),
    ("scalar", "pass an array of one axis or more; a number has no elements"),
)


class _Call(NamedTuple):
    """The operation that the function's line asked for: its name and its arguments."""

    name: str
    args: tuple
    kwargs: dict

    def __str__(self) -> str:
        parts = [_told(x) for x in self.args] + [f"{k}={_told(x)}" for k, x in self.kwargs.items()]
        return f"{self.name}({', '.join([*parts[:_SHOWN], *['...'] * (len(parts) > _SHOWN)])})"


def _told(x: object) -> str:
    """An argument as it is told: of arrays and traced values the dtype and the shape.

    >>> _told([np.ones((2, 3)), None])
    '[float64[2, 3], None]'
    """
    if isinstance(x, list) and type(x).__len__ is not list.__len__:
        return "a list of computed length"                   # nobody can count it behind its trace
    if isinstance(x, (list, tuple)) and len(x) <= _SHOWN:
        return f"[{', '.join(map(_told, x))}]" if isinstance(x, list) else f"({', '.join(map(_told, x))})"
    if isinstance(x, (Value, np.ndarray)):
        try:
            t = type_of(x)
        except (TypeError, FadError) as error:               # of objects, or of texts
            reraise_interrupt(error)
            return f"{x.dtype}{list(x.shape)}"
        extents = [n if isinstance(n, int) else n.hint for n in t.shape]
        return f"{t.dtype}[{', '.join(['?' if n is None else str(n) for n in extents])}]" if t.shape else str(t.dtype)
    if x is not None and not isinstance(x, (str, int, float, complex, slice)):
        return type(x).__name__
    text = _TRACED.sub("a traced value", repr(x))
    return text if len(text) < 40 else type(x).__name__


class _Place(NamedTuple):
    """The origin of an error: the operation that the user's innermost line asked for, whether anything ran behind that
    line, whether that is code of fad's that refused, or of NumPy's.
    """

    call: "_Call | None"
    is_refused: bool
    is_librarys: bool


def _place_of(error: BaseException) -> _Place:
    call, behind, tb = None, False, error.__traceback__
    last: Any = None
    while tb is not None:
        code, known = tb.tb_frame.f_code, tb.tb_frame.f_locals
        if is_captured(code.co_filename) and not is_of_package(code.co_filename):
            call, behind = None, False
        else:
            behind = behind or not is_own(code.co_filename)
            if code is _BIND:
                call = call or _Call(known["op"].name, known["args"], {})
            elif code is call_override.__code__:
                call = call or _Call(known["name"], known["args"], known["kwargs"])
            elif is_own(code.co_filename):
                call = call or _call_of_library(known)
        last, tb = tb, tb.tb_next
    code = last.tb_frame.f_code
    is_raised = _is_raised(last.tb_frame)
    return _Place(call, is_of_package(code.co_filename) and (is_raised or not is_for_user(code)), behind)


def _is_raised(frame: FrameType) -> bool:
    """Whether a `raise` of a frame raised the error that ended it, and not a function in C that it called."""
    return frame.f_code.co_code[frame.f_lasti:frame.f_lasti + 1] == _RAISE


def _last(error: BaseException) -> Any:
    """The frame that raised an error."""
    tb: Any = error.__traceback__
    while tb.tb_next is not None:
        tb = tb.tb_next
    return tb.tb_frame


def _is_of_library(error: BaseException, place: _Place) -> bool:
    """Whether a `raise` is not of the user's code: it stands in a routine of fad's that is captured as such code is, or
    in Python's library or an opaque package, and these were given a traced value or stand behind a call of NumPy's."""
    file = _last(error).f_code.co_filename
    if is_own(file):
        return _is_of_array(error)                            # or what Python does of the user's numbers
    return is_of_package(file) or not is_captured(file) and (place.call is not None or _was_given_traced(error))


def _is_of_array(error: BaseException) -> bool:
    """Whether an array of NumPy's refused to take a number that the user's code stores."""
    code, known = _last(error).f_code, _last(error).f_locals
    return code is asked_by_user.__code__ and isinstance(getattr(known["call"], "__self__", None), np.ndarray)


def _was_given_traced(error: BaseException) -> bool:
    """Whether the code that raised an error is a library's, and was given a traced value, which it cannot know of."""
    last = _last(error)
    code, known = last.f_code, last.f_locals
    if code in (watched_call.__code__, number_texts.called.__code__):             # a function in C
        return not _is_pythons(known["f"]) and any(
            isinstance(x, Tracer) for x in (*known["args"], *known["kwargs"].values()))
    file = code.co_filename
    is_opaque = not is_captured(file) and not (is_library(file) and _is_raised(last))
    return is_opaque and not is_own(file) and any(isinstance(x, Tracer) for x in known.values())


def _is_pythons(f: object) -> bool:
    """Whether a function in C, or the class of a method in C (`[].pop`), is Python's or NumPy's, or a list of fad's."""
    return package_name(f) in _PYTHONS or isinstance(getattr(f, "__self__", None), (*CONTAINERS, range, str))


def _call_of_library(known: dict) -> "_Call | None":
    """The call of a function of NumPy's or SciPy's that code of fad's with these variables makes."""
    function: Any = known.get("original") or known.get("ufunc")
    if not isinstance(function, np.ufunc) and package_name(function) not in ("numpy", "scipy"):
        return None
    args = known.get("args", known.get("inputs", ()))
    return _Call(function.__name__, args, known.get("kwargs", {})) if isinstance(args, tuple) else None


def in_fads_words(error: Exception, strange: str) -> Exception:
    """The error as the caller is told of it. strange: which arguments of the call are no data, and what they are."""
    error = refusal_behind(error) or error
    if isinstance(error, Absent):
        return missing_attribute(error, line_of(error))
    if isinstance(error, RecursionError):
        return RecursionDepthError(str(error), where=line_of(error),
                                   why="the function calls itself, and nothing in the trace ends that",
                                   do="let it end by a plain Python number (a depth, a length), or write a loop")
    if package_name(type(error)) == "numba":
        return ConcreteValueError("a traced value was given to code that Numba has compiled", where=line_of(error),
                                  why=f"it computes with numbers ({type(error).__name__})",
                                  do="write it as plain Python, which fad compiles; or give it a rule of its own "
                                     "(fad.custom_jvp, fad.custom_vjp)")
    if is_interrupt(error):
        return error
    if isinstance(error, FadError):
        if not error.why and error.__traceback__ is not None:
            call = _place_of(error).call
            error.because("; ".join(filter(None, [f"{call} was called" if call else "", strange])))
        return error
    if Tracer.__name__ in str(error) and not is_defect(error):
        return _of_traced_operand(error)
    place, is_of_traced = _place_of(error), _TRACED.search(str(error)) is not None
    if is_users(error) and not _is_of_library(error, place):
        return error
    if place.call is None and _was_given_traced(error):
        return _of_traced_operand(error)
    if not isinstance(error, ROOTS):
        return error
    is_of_call = isinstance(error, TypeError) and _ARGUMENTS.search(str(error)) is not None
    if any((place.call, place.is_refused, place.is_librarys, is_of_traced, is_of_call, strange, _is_of_array(error))):
        return _told_of(error, place.call, strange)
    return error


def raise_in_fads_words(error: Exception, strange: str = "") -> NoReturn:
    """Raise the error as the caller is told of it, within its handler."""
    told = in_fads_words(error, strange)
    if told is error:
        raise
    raise told from told.__cause__


def _of_traced_operand(error: Exception) -> FadError:
    """The complaint of Python or a library about a traced value that it cannot take."""
    library = library_of(error)
    if not library and not _was_given_traced(error):
        return OperandError(f"{type(error).__name__}: {_without_names_of_fads(str(error))}", where=line_of(error),
                            why="Python has no such operation of an array and what stands beside it",
                            do="look for a name that holds None, a text or another object there, and not a number")
    remedy = remedy_in(library)
    if remedy:
        return ConcreteValueError(f"a traced value was given to {library.partition('.')[0]}, which cannot take it",
                                  where=line_of(error),
                                  why="its code computes with numbers, and fad computes with NumPy's arrays",
                                  do=f"take the numbers out of what stands beside the traced value: {remedy}")
    return ConcreteValueError(f"a traced value was given to code that cannot take it: {type(error).__name__}: "
                              f"{_without_names_of_fads(str(error))}",
                              where=line_of(error),
                              why="it computes with numbers, and fad has no record of it",
                              do="write it with NumPy's functions, or give it a rule of its own (fad.custom_jvp, "
                                 "fad.custom_vjp)")


def _without_names_of_fads(text: str) -> str:
    """A text in which traced values are arrays."""
    text = _TRACED.sub("a traced value", text)
    for quoted in (f"'{Tracer.__name__}'", f'"{Tracer.__name__}"'):
        text = text.replace(quoted, "an array")
    return text.replace(Tracer.__name__, "array")


def _told_of(error: Exception, call: "_Call | None", strange: str) -> Exception:
    """A CallError that is an error of the same class, too."""
    said = _without_names_of_fads(str(error)) or type(error).__name__
    if isinstance(error, IndexError) and said.startswith(_OUT_OF_RANGE):
        return IndexRangeError(said)
    kind: Any = type(error)
    cls = call_error_of(kind)
    why = f"{call} was called" if call else ""
    if isinstance(error, KeyError):
        said = f"no such key: {said}"
    told: CallError = cls(said, where=line_of(error),
                          why="; ".join(filter(None, [why, strange])), do=_remedy(said, bool(strange)))
    for name in ("axis", "ndim"):                            # what AxisError holds
        if hasattr(error, name):
            setattr(told, name, getattr(error, name))
    told.__cause__ = error if is_defect(error) else None
    return told


def _remedy(said: str, is_strange: bool) -> str:
    if is_strange:
        return "pass numbers or arrays of numbers"
    found = next((remedy for words, remedy in _REMEDIES if words in said), "")
    return found or "call the function without fad: it raises the same"


def strange_arguments(f: object, args: tuple) -> str:
    """The arguments that are no data: None, texts, arrays of texts or objects.

    >>> strange_arguments(lambda x, y, z: 0, (1.0, None, np.array(["a"])))
    'argument y is None; argument z is an array of dtype <U1'
    """
    found = []
    for name, x in zip(leaf_names(f, tree.flatten(((0,) * len(args), {}))[1]), args):
        if x is None or isinstance(x, (str, bytes)):
            found.append(f"argument {name} is {_told(x)}")
        elif isinstance(x, np.ndarray) and x.dtype.kind not in "biufc":
            found.append(f"argument {name} is an array of dtype {x.dtype}")
    return "; ".join(found)
