"""Tasks that captured code gives to a pool of threads run at once, in the thread that traces. A pool may run them in
this order, too.

    parts = list(pool.map(loss, patients))     ->      parts = list(map(loss, patients))

A task that waits for a later one would wait forever. Other processes cannot take traced values.
"""
import sys
from collections.abc import Callable, Iterable, Iterator
from types import MethodType
from typing import NoReturn

from ...util.errors import FadError, UnstageableError
from ...util.interrupts import reraise_interrupt

_THREADS = {"ThreadPoolExecutor", "ThreadPool"}


def tasks_of(f: object) -> "Callable | None":
    """The function that runs the tasks which f, a method of a pool, takes; None for all else."""
    if type(f) is not MethodType:
        return None
    found = _TAKES_TASKS.get((f.__func__.__module__, f.__name__))
    if found is None:
        return None
    return found if any(cls.__name__ in _THREADS for cls in type(f.__self__).__mro__) else _refused


def _submit(call: Callable, f: Callable, *args: object, **kwargs: object) -> object:
    future = sys.modules["concurrent.futures"].Future()       # whoever has a pool has imported it
    try:
        future.set_result(call(f)(*args, **kwargs))
    except FadError:
        raise
    except Exception as error:
        reraise_interrupt(error)
        future.set_exception(error)
    return future


def _map(call: Callable, f: Callable, *iterables: Iterable, timeout: object = None, chunksize: object = 1) -> Iterator:
    return iter(_list(call, f, *iterables))


def _list(call: Callable, f: Callable, *iterables: Iterable) -> list:
    return call(list)(call(map)(f, *iterables))


def _map_of(of_pool: Callable) -> Callable:
    """The method of multiprocessing's pools: one iterable, and a size of chunks that means nothing here."""
    def tasks(call: Callable, func: Callable, iterable: Iterable, chunksize: object = None) -> Iterable:
        return of_pool(call, func, iterable)
    return tasks


def _starmap(call: Callable, f: Callable, iterable: Iterable) -> list:
    return [call(f)(*args) for args in iterable]


def _apply(call: Callable, func: Callable, args: tuple = (), kwds: "dict | None" = None) -> object:
    return call(func)(*args, **(kwds or {}))


def _refused(call: Callable, *args: object, **kwargs: object) -> NoReturn:
    raise UnstageableError("a task is given to other processes, or to wait for",
                           why="traced values belong to the thread that traces",
                           do="call the function itself, or use the map of a pool of threads")


_TAKES_TASKS: "dict[tuple, Callable]" = {
    ("concurrent.futures.thread", "submit"): _submit,
    ("concurrent.futures._base", "map"): _map,
    ("concurrent.futures.process", "submit"): _refused,
    ("concurrent.futures.process", "map"): _refused,
    **{("multiprocessing.pool", name): f for name, f in {
        "map": _map_of(_list), "imap": _map_of(_map), "imap_unordered": _map_of(_map), "starmap": _map_of(_starmap),
        "apply": _apply, "apply_async": _refused, "map_async": _refused, "starmap_async": _refused}.items()}}
