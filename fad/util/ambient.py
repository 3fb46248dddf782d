"""State that blocks (`with`) set for a while in a thread. An interrupt (interrupts.py) may keep a block from ending;
the outermost call of fad then sets the state again."""
import contextlib
import threading
from collections.abc import Callable
from typing import Any

_ambient: list[tuple[Callable, Callable]] = []  # (read, write) of each such state of this thread


def ambient(state: threading.local) -> threading.local:
    """Say of a thread's state that blocks (`with`) set it for a while."""
    def write(before: dict) -> None:
        held = vars(state)
        held.clear()
        held.update(before)
    ambient_state(lambda: vars(state).copy(), write)
    return state


def ambient_state(read: Callable[[], Any], write: Callable[[Any], None]) -> None:
    """The same of a state that read() tells and write(state) sets."""
    _ambient.append((read, write))


def snapshot() -> list:
    """The values that all such blocks have set in this thread."""
    return [read() for read, _ in _ambient]


def put_back(before: list, error: BaseException) -> None:
    """Set it again, after an exception: one that comes as a block begins or ends keeps the block from doing so."""
    tb = error.__traceback__
    while tb is not None:
        if tb.tb_frame.f_code.co_filename == contextlib.__file__:
            tb.tb_frame.clear()  # the abandoned block ends now, not when the exception is forgotten
        tb = tb.tb_next
    for (_, write), state in zip(_ambient, before):
        write(state)
