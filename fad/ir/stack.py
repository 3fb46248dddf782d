"""The programs being built in this thread, innermost last."""
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..util.ambient import ambient
from ..util.errors import SideEffectError
from ..util.refusals import Refusals, tell_present

_local = ambient(threading.local())


def builders() -> list[Any]:
    """The stack of builders of this thread."""
    try:
        return _local.stack
    except AttributeError:
        _local.stack = []
        return _local.stack


def _refusals() -> "Refusals | None":
    found = builders()
    return found[-1].trace.refusals if found else None


tell_present(_refusals)


def current() -> Any:
    """The innermost builder of this thread."""
    found = builders()
    if not found:
        raise SideEffectError("a traced value was used after its trace had ended",
                              do="return it from the function instead")
    return found[-1]


@contextmanager
def concrete() -> Iterator[None]:
    """Compute on arrays for a while, even though a program is being built around this call."""
    outer = builders()
    _local.stack = []
    try:
        yield
    finally:
        _local.stack = outer


def is_region() -> bool:
    """Whether this thread is building a region of a program. A region runs any number of times, or never."""
    builders = _local.__dict__.get("stack", ())
    return bool(builders) and builders[-1].parent is not None and not builders[-1].live


def is_live() -> bool:
    """Whether the program being built in this thread is a tape, which knows the values (see live.py)."""
    builders = _local.__dict__.get("stack", ())
    return bool(builders) and builders[-1].live
