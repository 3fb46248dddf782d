"""Python's profiler, which tells fad what code runs where it has to know (see trace/guards/profiled_calls.py).

It calls a function of Python's at each call and each return, and so slows Python twentyfold. Most of what runs then is
fad's own code. So the profiler rests while fad decides something, and calls nothing for the user's code.
"""
import functools
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class _State(threading.local):
    note: "Callable | None" = None                            # what fad's profiler calls, where it is on


_state = _State()


@contextmanager
def profiled(note: Callable) -> Iterator[None]:
    """Call note(frame, event, what is called) at each call. Nobody else may be profiling."""
    _state.note = note
    sys.setprofile(note)
    try:
        yield
    finally:
        sys.setprofile(None)
        _state.note = None


def unprofiled(f: Callable[P, T]) -> Callable[P, T]:
    """Mark a function of fad's that calls nothing for the user's code: fad's profiler rests meanwhile.

    >>> @unprofiled
    ... def decide(): return sys.getprofile()
    >>> with profiled(lambda *event: None):
    ...     decide(), sys.getprofile() is not None
    (None, True)
    """
    @functools.wraps(f)
    def at_rest(*args: P.args, **kwargs: P.kwargs) -> T:
        note = _state.note
        if note is None:
            return f(*args, **kwargs)
        _state.note = None
        sys.setprofile(None)
        try:
            return f(*args, **kwargs)
        finally:
            _state.note = note
            sys.setprofile(note)
    return at_rest
