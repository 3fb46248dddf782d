"""Defects of fad's own, told from what cannot be staged.

While a function is traced, an error means one of three things: the user's code or a library says that it cannot take a
traced value, fad refuses something on purpose, or fad's own code has failed. The last is a defect, even if the answer
then comes another way.
"""
import dis
import os
import warnings
from collections.abc import Callable
from typing import Any

from .errors import CheckError, FadError, InternalErrorWarning
from .interrupts import is_interrupt, reraise_interrupt
from .where import PACKAGE, Where, is_library, is_own, outside_fad

_RAISE = dis.opmap["RAISE_VARARGS"]
_for_user_codes: set[Any] = set()  # code of functions that do what the user's code asks for


def for_user(f: Callable) -> Callable:
    """Mark a function of fad that calls, reads or compares for the user's code: its failures are not fad's."""
    _for_user_codes.add(f.__code__)                                    # type: ignore[attr-defined]
    return f


def is_for_user(code: object) -> bool:
    """Whether this is the code of such a function."""
    return code in _for_user_codes


def is_defect(error: BaseException) -> bool:
    """Whether an error shows a defect of fad: fad's own code failed, and neither refused something nor acted for the
    user's code.

    >>> from fad.ir.types import promoted
    >>> try:
    ...     promoted(None)
    ... except TypeError as error:
    ...     is_defect(error)
    True
    """
    if isinstance(error, CheckError):
        return True
    if isinstance(error, (FadError, RecursionError, ReferenceError)) or is_interrupt(error):
        return False                                          # a ReferenceError: of a user's weak proxy
    found = _innermost(error)
    if found is None or _is_for_user(found):
        return False
    refused = found.tb_next is None and found.tb_frame.f_code.co_code[found.tb_lasti] == _RAISE
    return not refused or isinstance(error, AssertionError)


def refusal_behind(error: BaseException) -> "FadError | None":
    """The refusal of which NumPy has made an error of its own, as it asked a value, or an object, for a number."""
    cause = error.__cause__
    return cause if isinstance(cause, FadError) and not is_users(error) else None


def is_expected(error: BaseException) -> bool:
    """Whether an error says something of the code that it went through: fad refuses that, or the user's code or a
    library's has failed. Interrupts, defects and warnings of defects say nothing of it.

    >>> is_expected(ValueError("negative")), is_expected(KeyboardInterrupt())
    (True, False)
    """
    return not (is_interrupt(error) or isinstance(error, InternalErrorWarning) or is_defect(error))


def ignore_expected(error: Exception, what: str) -> None:
    """For handlers that take every error for an answer ("these differ", "this is no region").

    They ignore an error that is an answer, raise an interrupt again, and warn of a defect, with what came of it. Where
    that warning is an error, the handlers around raise it again, too.
    """
    reraise_interrupt(error)
    if isinstance(error, InternalErrorWarning):
        raise error
    if is_defect(error):
        warn_of(error, what)


def is_of_users_line(error: BaseException) -> bool:
    """Whether what the user's own line does failed, be it Python's or done for it by fad.

    >>> try:
    ...     [][0]
    ... except IndexError as error:
    ...     is_of_users_line(error)
    True
    """
    found = _innermost(error)
    return found is not None and _is_for_user(found)


def _innermost(error: BaseException) -> Any:
    """The place of the innermost code that is fad's or the user's, and no library's, when an error was raised."""
    found, tb = None, error.__traceback__
    while tb is not None:
        if is_own(tb.tb_frame.f_code.co_filename) or not is_library(tb.tb_frame.f_code.co_filename):
            found = tb
        tb = tb.tb_next
    return found


def _is_for_user(place: Any) -> bool:
    """Whether code there is the user's, or does what the user's asks for."""
    code = place.tb_frame.f_code
    return not is_own(code.co_filename) or code in _for_user_codes


@for_user
def asked_by_user(call: Callable, *args: object, **kwargs: object) -> Any:
    """The result of a function of Python's for the plain values that the user's code calls it with."""
    return call(*args, **kwargs)


@for_user
def raise_for_user(error: Exception) -> None:
    """Raise an error that the user's line raises of the data at hand."""
    raise error


@for_user
def call_library(call: Callable, *args: object, **kwargs: object) -> Any:
    """The result of a library's function where fad asks it by itself. It may fail of these arguments: an answer, too.
    """
    return call(*args, **kwargs)


def is_users(error: BaseException) -> bool:
    """Whether a `raise` of the user's code raised it, or a function of Python's of the user's numbers.

    >>> try:
    ...     raise ValueError("negative")
    ... except ValueError as error:
    ...     is_users(error)
    True
    """
    tb: Any = error.__traceback__
    while tb.tb_next is not None:
        tb = tb.tb_next
    code = tb.tb_frame.f_code
    return (code in (asked_by_user.__code__, raise_for_user.__code__)
            or (not is_library(code.co_filename) and bool(code.co_code[tb.tb_lasti] == _RAISE)))


def warn_of(error: BaseException, what: str, where: "Where | None" = None) -> None:
    """Warn of a defect: what came of it, the place in fad's code, and the error itself as the warning's cause."""
    tb: Any = error.__traceback__
    while tb.tb_next is not None:
        tb = tb.tb_next
    file = tb.tb_frame.f_code.co_filename.removeprefix(os.path.dirname(os.path.dirname(PACKAGE)) + os.sep)
    place = f"{file}:{tb.tb_lineno}"
    told = InternalErrorWarning(what, where=where,
                                why=f"a defect of fad ({type(error).__name__}: {str(error)[:2000]}, in {place}); the "
                                    f"numbers are right",
                                do="please report it with the function; the error is this warning's __cause__")
    told.__cause__ = error
    warnings.warn(told, stacklevel=outside_fad())
