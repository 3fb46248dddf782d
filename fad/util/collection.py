"""Python's collector of unreachable cycles, kept from looking while programs are made.

Tracing and compiling make hundreds of thousands of objects, and need nearly all of them to the end. As their number
grows Python searches them for cycles again and again: up to half of the time of tracing a large derivative, a fifth of
compiling it.
"""
import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from .ambient import ambient_state
from .forks import in_child, renewed, unforkable


class _Pauses:
    """The open blocks, of all threads, that want no collection; whether the collector ran before the first of them.

    Signal handlers and finalizers may come between any two steps, and raise errors, or trace functions of their own.
    So the lock is reentrant, and a block is noted before the collector stops until after it starts again.
    """

    lock = renewed(threading.RLock())
    blocks: set = set()
    was_on = False


@contextmanager
def collection_paused() -> Iterator[None]:
    """Within the block, Python looks for no cycles and no other thread forks (see forks.py). After the last such block
    of any thread the collector starts again, if it ran before. Use it with `with` only: a decorator would put a line
    of contextlib between the user's lines and fad's, and errors and warnings would name that line.

    >>> with collection_paused():
    ...     gc.isenabled(), is_collecting()
    (False, True)
    """
    block = threading.get_ident(), object()
    try:
        with unforkable():
            with _Pauses.lock:
                if not _Pauses.blocks:
                    _Pauses.was_on = gc.isenabled()
                _Pauses.blocks.add(block)
                gc.disable()
            yield
    finally:
        _end(block)


def is_collecting() -> bool:
    """Whether Python looks for cycles but for these blocks: what gc.isenabled() says outside of them."""
    with _Pauses.lock:
        return _Pauses.was_on if _Pauses.blocks else gc.isenabled()


def _of_this_thread() -> frozenset:
    """The blocks that this thread is in."""
    me = threading.get_ident()
    with _Pauses.lock:
        return frozenset(block for block in _Pauses.blocks if block[0] == me)


def _end_all_but(before: frozenset) -> None:
    for block in _of_this_thread() - before:
        _end(block)


ambient_state(_of_this_thread, _end_all_but)


@in_child
def _end_those_of_other_threads() -> None:
    for block in [block for block in _Pauses.blocks if block[0] != threading.get_ident()]:
        _end(block)


def _end(block: tuple) -> None:
    with _Pauses.lock:
        if _Pauses.blocks == {block} and _Pauses.was_on:
            gc.enable()
        _Pauses.blocks.discard(block)
