"""Work that a thread waits for while another thread does it."""
import _thread
import threading
from collections.abc import Callable, Iterator
from contextvars import copy_context
from typing import TypeVar

T = TypeVar("T")


def in_new_thread(work: Callable[[], T]) -> T:
    """What work() returns or raises in a new thread and a copy of this context; in this thread if no thread starts.

    >>> import threading
    >>> in_new_thread(threading.get_ident) == threading.get_ident()
    False
    """
    found: list = []
    failed: list = []

    def run() -> Iterator[None]:
        try:
            yield
            found.append(work())
        except BaseException as error:           # raised again below
            failed.append(error)
        finally:
            done.release()
    done = threading.Lock()
    done.acquire()
    # CPython gives a new thread its parent's identifier until it runs. An exception set for the parent in the meantime
    # (PyThreadState_SetAsyncExc) reaches the new thread, at its first instruction: so the thread begins within the try
    # block.
    running = run()
    next(running)
    try:
        # an interrupt within Thread.start() would end the thread
        _thread.start_new_thread(copy_context().run, (next, running, None))  # type: ignore[arg-type]  # as a callable
    except RuntimeError as error:
        if "new thread" not in str(error):
            raise
        return work()                            # there are no more threads, or Python ends
    done.acquire()
    if failed:
        raise failed[0]
    return found[0]
