"""Functions that run during a trace and are not captured, as Python's profiler reports them.

A walk through all that such functions may call finds what they read (reads.py). In a large package the walk leads to
functions that nobody calls: methods that draw, save or download. A trace that is refused because of them is made once
more, and observed: then the walk goes through what has run, and no further. To observe takes as long as the trace
itself, so it is done only where it is needed.
"""
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import BuiltinFunctionType, CodeType, FrameType, FunctionType
from typing import Any

from ...util.attempts import Mode
from ...util.defects import is_for_user
from ...util.profiled import profiled
from ...util.where import is_captured, is_own

_OTHER, _OWN, _CAPTURED = range(3)
_BROAD, _NARROW = "broad", "narrow"


class _Kinds(dict[str, int]):
    """File -> whose code stands in it. The profiler asks at each call."""

    def __missing__(self, filename: str) -> int:
        found = self[filename] = _OWN if is_own(filename) else _CAPTURED if is_captured(filename) else _OTHER
        return found


class Observation:
    """The functions that have run: Python's functions, by their code, and functions in C. Calls that fad itself makes
    of Python's library do not count.
    """

    def __init__(self) -> None:
        self._codes: dict[int, CodeType] = {}  # by identity: to hash a code is to hash all of its constants
        self._called: set[tuple] = set()

    def note(self, frame: FrameType, event: str, given: object) -> None:
        """Take note of one event of the profiler's."""
        if event == "call":
            code = frame.f_code
            if id(code) not in self._codes and (_kinds[code.co_filename] == _CAPTURED or not _is_for_fad(frame.f_back)):
                self._codes[id(code)] = code
        elif event == "c_call" and not _is_for_fad(frame):
            self._called.add(_key(given))

    def may_have_run(self, f: object) -> bool:
        """Whether f has run. Of classes and other objects nothing is known."""
        f = getattr(f, "__func__", f)
        if type(f) is FunctionType:
            return id(f.__code__) in self._codes
        return type(f) is not BuiltinFunctionType or _key(f) in self._called


def _is_for_fad(frame: "FrameType | None") -> bool:
    """Whether fad is the innermost caller that is no library, and does not act for the user's code (see `for_user`)."""
    while frame is not None:
        kind = _kinds[frame.f_code.co_filename]
        if kind != _OTHER:
            return kind == _OWN and not is_for_user(frame.f_code)
        frame = frame.f_back
    return False


def _key(f: Any) -> tuple:
    return getattr(f, "__module__", None), type(getattr(f, "__self__", None)), f.__name__


_kinds = _Kinds()


class Observing(Mode):
    """An Observation takes note of what runs. It is narrow where the trace would be refused otherwise: then functions
    count as unread that have not run."""

    observation: "Observation | None" = None

    def want(self, narrow: bool = True) -> None:
        """Have the trace observed, if it is refused; there is one profiler at a time."""
        if self.is_on or sys.getprofile() is None:
            self.wanted = _NARROW if narrow else self.wanted or _BROAD

    @property
    def narrow(self) -> "Observation | None":
        """A narrow observation of the present trace."""
        return self.observation if self.wanted == _NARROW else None

    @property
    def first(self) -> tuple:
        """The modes of the first attempt to make a trace that had better be observed."""
        return (self,) if sys.getprofile() is None else ()

    def may_have_run(self, f: object) -> bool:
        """Whether a function may have run in the present trace."""
        return self.narrow is None or self.narrow.may_have_run(f)

    @contextmanager
    def on(self) -> Iterator[None]:
        """Within, the functions that run are noted."""
        self.observation = made = Observation()
        try:
            with super().on(), profiled(made.note):
                yield
        finally:
            self.observation = None


observing = Observing()
