"""The lines that a running program tells people: printed, logged, warned of. A call says each of them once.

A call that a program cannot finish is made again, on the tape. The lines that the program has said are known then.

    >>> with counted():
    ...     is_new(), is_new()
    (True, True)
"""
import threading
from collections.abc import Iterator
from contextlib import contextmanager

__all__: list[str] = []


class _Lines(threading.local):
    """Of the running call: its lines so far; how many of the first ones were said by an attempt that failed. Lines of
    the attempt that failed last, and of those that the next program to run says again.
    """

    said = known = failed = again = 0
    error: "BaseException | None" = None                      # what the last of the known lines has raised


_lines = _Lines()


def is_new() -> bool:
    """Count one line of the call. Whether it is to be said. Raises what it has raised before."""
    _lines.said += 1
    if _lines.error is not None and _lines.said == _lines.known:
        error, _lines.error = _lines.error, None
        raise error
    return _lines.said > _lines.known


def of_failed() -> int:
    """The number of lines that the attempt has said that failed last, since this was asked."""
    found, _lines.failed = _lines.failed, 0
    return found


def raised(error: BaseException) -> None:
    """The last line has raised this error, which the call made again raises there."""
    _lines.error = error


@contextmanager
def counted() -> Iterator[None]:
    """Within is the run of a program, whose lines are counted."""
    before = _lines.said, _lines.known
    _lines.said, _lines.known, _lines.again = 0, _lines.again, 0
    _lines.error = None if not _lines.known else _lines.error
    try:
        yield
    except BaseException:
        _lines.failed = _lines.said
        raise
    finally:
        _lines.said, _lines.known = before


@contextmanager
def said_before(count: int) -> Iterator[None]:
    """Within, the call is made again whose run has just failed, by a program or on the tape: the lines that it has
    said, so many, are not said again."""
    if not count:
        yield
        return
    before = _lines.said, _lines.known
    _lines.said, _lines.known, _lines.again = 0, count, count
    try:
        yield
    finally:
        (_lines.said, _lines.known), _lines.again = before, 0
