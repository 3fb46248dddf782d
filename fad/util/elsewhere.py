"""Work that a thread waits for while another thread does it."""
import _thread
import os
import threading
from collections.abc import Callable, Iterator
from contextvars import copy_context
from typing import Any, TypeVar

from .forks import helping

T = TypeVar("T")
K = TypeVar("K", bound="Task")


class Task:
    """Work of a thread of its own, in a copy of this context. `result` is there once it is over; `failed` says why not.

    Interrupts of this thread do not reach the task. Python's Thread and Event are not made for them: a signal's handler
    that raises while they run may leave them locked for ever.
    """

    def __init__(self, work: Callable[[], Any]):
        self.result: Any = None
        self.failed: BaseException | None = None
        self.ident: int | None = None                         # of the thread, once it runs
        self._is_done, self._process, self._starter = False, os.getpid(), threading.get_ident()
        self._running = threading.Lock()
        self._running.acquire()
        self._steps = self._run(work)
        next(self._steps)

    @classmethod
    def start(cls: "type[K]", work: Callable[[], Any]) -> "K | None":
        """The task; None where no thread starts."""
        task = cls(work)
        try:
            _thread.start_new_thread(copy_context().run, (next, task._steps, None))  # type: ignore[arg-type]
        except RuntimeError as error:
            if "new thread" not in str(error):
                raise
            return None                                       # there are no more threads, or Python ends
        return task

    def _run(self, work: Callable[[], Any]) -> Iterator[None]:
        # CPython gives a new thread its parent's identifier until it runs. An exception set for the parent in the
        # meantime (PyThreadState_SetAsyncExc) reaches the new thread, at its first instruction: so the thread begins
        # within the try block.
        try:
            yield
            self.ident = threading.get_ident()
            self.result = helping(self._starter, work)
        except BaseException as error:                        # raised again by who wants the result
            self.failed = error
        finally:
            self._is_done = True
            self._running.release()

    def is_over(self) -> bool:
        """Whether there is nothing to wait for: in the child of a fork the thread is gone."""
        return self._is_done or self._process != os.getpid()

    def wait(self) -> None:
        """Wait for its end."""
        while not self.is_over():
            self.wait_for(0.05)

    def wait_for(self, seconds: float) -> None:
        """Wait for its end, so many seconds at most. Meanwhile it has Python's lock for itself."""
        if not self.is_over() and self._running.acquire(timeout=seconds):
            self._running.release()

    def answer(self) -> Any:
        """The result; or the error is raised."""
        if self.failed is not None:
            raise self.failed
        return self.result


def in_new_thread(work: Callable[[], T]) -> T:
    """The result or the error of work() in a new thread and a copy of this context; in this thread if no thread starts.

    >>> import threading
    >>> in_new_thread(threading.get_ident) == threading.get_ident()
    False
    """
    task = Task.start(work)
    if task is None:
        return work()
    task.wait()
    found: T = task.answer()
    return found
