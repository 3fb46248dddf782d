"""Interrupts: exceptions that come from outside the code that they go through, at any line of it.

Interrupts are Python's own (KeyboardInterrupt, SystemExit, MemoryError), every error that a signal handler raises, and
what another thread sets (PyThreadState_SetAsyncExc). They say nothing of the traced function: they go on to the
caller, and fad tries nothing again because of them.
"""
import contextlib
import dis
import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any

from .errors import FadError
from .where import is_own

# where the interpreter looks for what other threads have set: as a function begins, after a call, as a loop goes on
_PAUSES = {code for name, code in dis.opmap.items()
           if name.startswith(("RESUME", "PRECALL", "CALL", "COMPARE_OP", "JUMP", "POP_JUMP"))}
_ENDS = (StopIteration, StopAsyncIteration)                  # what C functions raise without a word


def is_interrupt(error: BaseException) -> bool:
    """Whether an exception comes from outside the code that it went through.

    >>> is_interrupt(KeyboardInterrupt()), is_interrupt(ValueError("negative"))
    (True, False)
    """
    if not isinstance(error, Exception):
        return True
    if isinstance(error, FadError):
        return False
    return isinstance(error, MemoryError) or _is_of_a_handler(error) or _is_set_from_outside(error)


def reraise_interrupt(error: BaseException) -> None:
    """Raise an interrupt again, and ignore all other errors. For handlers that catch every error."""
    if is_interrupt(error):
        raise error


def is_hashable(x: object) -> bool:
    """Whether x may be a key; a __hash__ that raises is as none."""
    try:
        hash(x)
    except Exception as error:                                # a memoryview that may be written to raises a ValueError
        reraise_interrupt(error)
        return False
    return True


@contextlib.contextmanager
def ignoring(*kinds: type[BaseException]) -> Iterator[None]:
    """Within, errors of these classes end the block and nothing more, as in contextlib.suppress; interrupts go on.

    >>> with ignoring(LookupError):
    ...     {}["a"]
    """
    try:
        yield
    except kinds as error:
        reraise_interrupt(error)


def interrupt_behind(error: BaseException, handled: "BaseException | None") -> "BaseException | None":
    """The interrupt that another library turned into this error; `handled` is the error that was being handled before.
    """
    found: BaseException | None = error
    while found is not None and found is not handled:
        if is_interrupt(found):
            return found
        found = found.__cause__ or found.__context__
    return None


def _is_of_a_handler(error: BaseException) -> bool:
    """Whether a signal handler raised it. Python calls a handler with the interrupted frame, and that frame is the
    handler's caller."""
    tb = error.__traceback__
    while tb is not None:
        if not is_own(tb.tb_frame.f_code.co_filename) and _is_given_its_caller(tb.tb_frame):
            return True
        tb = tb.tb_next
    return False


def within_handler() -> bool:
    """Whether a signal handler runs in this thread, which has interrupted code of fad's or another.

    >>> within_handler()
    False
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if not is_own(frame.f_code.co_filename) and _is_given_its_caller(frame):
            return True
        frame = frame.f_back
    return False


def _is_given_its_caller(frame: FrameType) -> bool:
    code = frame.f_code
    count = code.co_argcount + bool(code.co_flags & 0x04) + code.co_kwonlyargcount
    if frame.f_back is None or not count:
        return False
    given = [frame.f_locals.get(name) for name in code.co_varnames[:count]]
    return any(x is frame.f_back or (type(x) is tuple and any(y is frame.f_back for y in x)) for x in given)


def _is_set_from_outside(error: BaseException) -> bool:
    """Whether another thread has set it: Python makes it from the class alone, where no line raises anything."""
    if error.args or isinstance(error, _ENDS) or error.__traceback__ is None:
        return False
    tb: Any = error.__traceback__
    while tb.tb_next is not None:
        tb = tb.tb_next
    return tb.tb_frame.f_code.co_code[tb.tb_lasti] in _PAUSES
