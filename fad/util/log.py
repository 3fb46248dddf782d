"""Reports of fad's work under the name ``fad`` of Python's logging: traces, compilations, kernels found on disk.

FAD_LOG=info (or debug) prints it on standard error. Nothing is imported or computed while nobody could listen. A
compilation that passes two seconds says so on a terminal, whoever listens.
"""
import functools
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

LONG = 2.0                                                    # seconds
LEVELS = ("debug", "info", "warning", "error")


def listen(level: str) -> None:
    """Print what fad tells on standard error, from this level on.

    >>> listen("loud")
    Traceback (most recent call last):
    ValueError: FAD_LOG is debug, info, warning or error, not 'loud'
    """
    if level.lower() not in LEVELS:
        raise ValueError(f"FAD_LOG is {', '.join(LEVELS[:-1])} or {LEVELS[-1]}, not {level!r}")
    import logging
    logger = logging.getLogger("fad")
    if not any(getattr(handler, "is_fads", False) for handler in logger.handlers):
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("%(name)s %(relativeCreated)6.0f ms: %(message)s"))
        handler.is_fads = True                                # type: ignore[attr-defined]
        logger.addHandler(handler)
    logger.setLevel(level.upper())


def tell(part: str, message: Callable[[], str]) -> None:
    """Log a message of a part of fad at the level of information; it is made only if somebody listens."""
    logging = sys.modules.get("logging")                      # whoever listens has imported it
    if logging is not None:
        logger = _logger(part)
        if logger.isEnabledFor(logging.INFO):
            logger.info("%s", message())


@functools.cache
def _logger(part: str) -> Any:
    """The logger of a part. getLogger takes the lock of all logging, and an interrupt there leaves it taken: it is
    called once.
    """
    return sys.modules["logging"].getLogger(f"fad.{part}")


@contextmanager
def timed() -> Iterator[list]:
    """A list that has the seconds of the block, once it is over.

    >>> with timed() as took:
    ...     pass
    >>> took[0] < 1.0
    True
    """
    took: list = []
    started = time.perf_counter()
    try:
        yield took
    finally:
        took.append(time.perf_counter() - started)


@contextmanager
def patient(what: str) -> Iterator[None]:
    """One line on the terminal if the block takes longer than two seconds; nothing where there is no terminal."""
    if not _is_terminal():
        yield
        return
    line = f"fad: still {what} after {LONG:.0f} s ..."
    timer = threading.Timer(LONG, lambda: print(line, file=sys.stderr, flush=True))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _is_terminal() -> bool:
    is_terminal: Any = getattr(sys.stderr, "isatty", None)
    return bool(is_terminal is not None and is_terminal())


if os.environ.get("FAD_LOG"):
    listen(os.environ["FAD_LOG"])
