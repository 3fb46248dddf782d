"""Attempts to trace a function: one that is refused is made again in another mode.

A mode costs more, or rests on more guards: data decide conditions, a profiler looks on. So a trace begins without any,
and asks for those that it could use. If the trace is refused, each mode that was asked for is tried alone, and in the
end all of them at once: n modes cost n + 1 further traces at most, and not 2 ** n.
"""
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, TypeVar

from .interrupts import reraise_interrupt

T = TypeVar("T")


class Mode(threading.local):
    """A way to trace, in this thread. is_on: whether the present trace is made in it; is_offered: whether another trace
    may be; wanted: what traces asked for.

    >>> careful = Mode()
    >>> def trace():
    ...     careful.want()
    ...     if not careful.is_on:
    ...         raise ValueError("refused")
    ...     return "traced"
    >>> attempted(trace, [careful])
    'traced'
    """

    is_on = is_offered = False
    wanted: Any = None
    refusals: type[Exception] = Exception                     # after which it may help

    def want(self) -> None:
        """Say that a refusal of the present trace may be due to this mode's absence."""
        self.wanted = True

    @contextmanager
    def on(self) -> Iterator[None]:
        """Within, traces are made in this mode."""
        self.is_on = True
        try:
            yield
        finally:
            self.is_on = False


def attempted(trace: Callable[[], T], modes: Sequence[Mode], first: tuple = ()) -> T:
    """trace(), in the first modes in which it is not refused; raises what the last attempt raises. first: the modes of
    the first attempt.

    A trace within another trace has the modes of the outer one.
    """
    if any(mode.is_on for mode in modes):
        return trace()
    before = [mode.wanted for mode in modes]                  # by a trace around this one
    for mode in modes:
        mode.wanted, mode.is_offered = None, True
    try:
        return _attempted(trace, modes, first)
    finally:
        for mode, wanted in zip(modes, before):
            mode.wanted, mode.is_offered = wanted, False


def _attempted(trace: Callable[[], T], modes: Sequence[Mode], chosen: tuple) -> T:
    tried, some = [], list(chosen)                            # type: list[tuple], list[Mode]
    while True:
        try:
            with ExitStack() as stack:
                for mode in chosen:
                    stack.enter_context(mode.on())
                return trace()
        except Exception as error:
            reraise_interrupt(error)
            tried.append(chosen)
            some = [m for m in modes if m in some or (m.wanted and isinstance(error, m.refusals))]
            following = next((c for c in [*[(mode,) for mode in some], tuple(some)] if c and c not in tried), None)
            if following is None:
                raise
        chosen = following
