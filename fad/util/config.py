"""Settings. `fad.config` is the one instance; environment variables give the first values.

    fad.config.compile = "now"                  the process: every thread and task, except for blocks around them
    with fad.config.using(check_index=False):   the context: this thread or asyncio task, and tasks it starts

A context variable holds the blocks that are open in a context, and nothing changes its value in place. A block that
ends removes itself, in any order, and no other thread or task sees it.
"""
import os
import pathlib
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any
from weakref import WeakSet

from .errors import ArgumentError, MissingAttributeError
from .forks import renewed
from .interrupts import ignoring, reraise_interrupt
from .memory import parse_bytes
from .nearest import nearest


def _default_cache_dir() -> "pathlib.Path | None":
    """$FAD_CACHE_DIR, else `fad` in the user's cache folder; None for a user without a home. An empty variable counts
    as unset, as in the XDG specification."""
    if os.environ.get("FAD_CACHE_DIR"):
        return pathlib.Path(os.path.abspath(os.path.expanduser(os.environ["FAD_CACHE_DIR"])))
    home = os.environ.get("XDG_CACHE_HOME") or (os.environ.get("LOCALAPPDATA") if sys.platform == "win32" else None)
    if home and os.path.isabs(home):
        return pathlib.Path(home) / "fad"
    try:
        return pathlib.Path.home() / ".cache" / "fad"
    except RuntimeError as error:
        reraise_interrupt(error)
        return None


def _policy(value: str) -> str:
    if value not in ("auto", "now", "never"):
        raise ArgumentError(f"compile is 'auto', 'now' or 'never', not {value!r}", do="give one of these")
    return value


def _folder(value: object) -> "pathlib.Path | None":
    if value is not None and not isinstance(value, (str, os.PathLike)):
        raise ArgumentError(f"cache_dir is a folder or None, not {value!r}", do="give the folder's path as text")
    return None if value is None or value == "" else pathlib.Path(os.path.expanduser(value))


def _switch(value: object) -> bool:
    """
    >>> _switch(0), _switch(True)
    (False, True)
    """
    if isinstance(value, (str, bytes)) or value not in (True, False):
        raise ArgumentError(f"this setting is True or False, not {value!r}", do="give one of these")
    return bool(value)


def _size(value: object) -> "int | None":
    return None if value is None else parse_bytes(value)


def _threads(value: object) -> int:
    if type(value) is not int or not 1 <= value <= 64:
        raise ArgumentError(f"threads is an int from 1 to 64, not {value!r}", do="give such an int")
    return value


def _default_threads() -> int:
    """$FAD_THREADS, else what Numba takes: $NUMBA_NUM_THREADS, or the cores that this process may use."""
    for name in ("FAD_THREADS", "NUMBA_NUM_THREADS"):
        if os.environ.get(name, "").isdecimal():
            return min(max(int(os.environ[name]), 1), 64)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(cores, _container_cores() or cores, 64)


def _container_cores(root: str = "/sys/fs/cgroup") -> "int | None":
    """The cores' worth of time that a container may use, rounded up: `docker run --cpus=2`. None without a limit.

    Source: the Linux kernel's documentation of control groups, cpu.max (version 2) and cpu.cfs_quota_us (version 1).
    """
    for names in (("cpu.max",), ("cpu/cpu.cfs_quota_us", "cpu/cpu.cfs_period_us")):
        told: list[str] = []
        with ignoring(OSError, ValueError):
            for name in names:
                with open(os.path.join(root, name), encoding="ascii") as file:
                    told += file.read().split()
        if len(told) == 2 and told[0].isdecimal() and told[1].isdecimal() and int(told[1]):
            return max(-(-int(told[0]) // int(told[1])), 1)
    return None


class Setting:
    """One setting: read in the current context. Values that are given go through `checked`."""

    def __init__(self, checked: Callable = _switch):
        self.checked = checked

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: "Config | None", owner: type) -> Any:
        return self if instance is None else instance.now().values[self.name]

    def __set__(self, instance: "Config", value: object) -> None:
        instance.assign(self.name, self.checked(value))

    def __delete__(self, instance: object) -> None:
        raise ArgumentError(f"fad.config.{self.name} cannot be deleted", do="assign a value to it")


class InForce:
    """The settings that hold in the contexts where these blocks are open, the outermost first.

    blocks: pairs (identity of the block, its settings); values: name -> value; shape: the settings that shape
    programs, as a number.
    """

    __slots__ = ("blocks", "values", "shape", "__weakref__")

    def __init__(self, blocks: tuple):
        self.blocks = blocks
        self.values: dict = {}
        self.shape = 0


class Config:
    """The settings of fad. ``fad.config`` is the one instance.

    Attributes
    ----------
    compile : {"auto", "now", "never"}
        When to compile. "auto" interprets the first calls and compiles a function that is called often; "now" compiles
        before the first answer; "never" interprets. Environment: ``FAD_COMPILE``.
    cache_dir : pathlib.Path or None
        The folder of compiled kernels; None keeps nothing. Environment: ``FAD_CACHE_DIR``, and ``FAD_CACHE=0`` for
        None.
    cache_size : int, str or None
        How many bytes kernels may take there, as a number or as text ("1GB"). The least recently used entries go first.
        None is any number.
    check_index : bool
        Whether compiled code checks that indices are in range.
    check_trace : bool
        Whether fad checks each traced program, and what each pass makes of it; meant for tests of rules and passes.
        Environment: ``FAD_CHECK_TRACE=1``.
    threads : int
        On how many threads the loops of compiled code run, where they do enough. Results depend on this number, and are
        the same from run to run. Environment: ``FAD_THREADS``; else as many as Numba would take
        (``NUMBA_NUM_THREADS``, or the cores that the process or its container may use), 64 at most.
    fallback : bool
        Whether functions whose structure depends on data run on the tape. If False, they raise. Environment:
        ``FAD_FALLBACK=0``.

    Notes
    -----
    An assignment holds for the whole process. The method ``using`` changes settings for a block, in this
    thread or asyncio task and in the tasks that it starts. An assignment inside of such a block changes the block, if
    the block sets that name. fad never uses a program under settings other than those it was made under.

    Examples
    --------
    >>> import fad
    >>> with fad.config.using(compile="never"):
    ...     fad.config.compile
    'never'
    """

    compile = Setting(_policy)
    cache_dir = Setting(_folder)
    cache_size = Setting(_size)
    check_index = Setting()
    check_trace = Setting()
    threads = Setting(_threads)
    fallback = Setting()

    def __init__(self) -> None:
        outside = InForce(())
        own: dict[str, Any] = {"_outside": outside, "_inside": WeakSet(), "_shapes": {},
                               "_lock": renewed(threading.RLock())}
        own["_context"] = ContextVar("fad.config", default=outside)
        own["now"] = own["_context"].get  # the settings of this context; each call of a compiled function reads them
        own["_process"] = {"compile": os.environ.get("FAD_COMPILE", "auto"),
                           "cache_dir": _default_cache_dir() if os.environ.get("FAD_CACHE", "1") != "0" else None,
                           "cache_size": os.environ.get("FAD_CACHE_SIZE") or "1GB",
                           "check_index": True,
                           "check_trace": os.environ.get("FAD_CHECK_TRACE", "0") == "1",
                           "threads": _default_threads(),
                           "fallback": os.environ.get("FAD_FALLBACK", "1") != "0"}
        self.__dict__.update(own)
        own["_process"].update(self._check(self._process))
        self._renew(outside)

    def __setattr__(self, name: str, value: object) -> None:
        self._setting(name)
        super().__setattr__(name, value)

    def __getattr__(self, name: str) -> Any:
        raise self._missing(name)

    def _missing(self, name: str) -> MissingAttributeError:
        known = self.__dict__.get("_process", ())
        meant = nearest(name, known)
        return MissingAttributeError(
            f"fad.config has no setting {name!r}; there are {', '.join(known)}",
            do=f"write {meant}" if meant else "use one of these")

    def _setting(self, name: str) -> Setting:
        if not isinstance(getattr(type(self), name, None), Setting):
            raise self._missing(name)
        return getattr(type(self), name)

    def _check(self, settings: dict) -> dict:
        return {name: self._setting(name).checked(value) for name, value in settings.items()}

    def assign(self, name: str, value: object) -> None:
        """Set one for the process; or, within a block that sets it, for the rest of the block."""
        blocks = self.now().blocks
        for k in reversed(range(len(blocks))):
            block, settings = blocks[k]
            if name in settings:
                self._enter((*blocks[:k], (block, {**settings, name: value}), *blocks[k + 1:]))
                return
        with self._lock:
            self._process[name] = value
            for in_force in [self._outside, *self._inside]:
                self._renew(in_force)

    def _enter(self, blocks: tuple) -> None:
        """From here on, these are the blocks of this context."""
        in_force = InForce(blocks) if blocks else self._outside
        if blocks:
            with self._lock:
                self._renew(in_force)
                self._inside.add(in_force)
        self._context.set(in_force)

    def _renew(self, in_force: InForce) -> None:
        values = dict(self._process)
        for _, settings in in_force.blocks:
            values.update(settings)
        shape = values["check_index"], values["check_trace"], values["compile"] == "never", values["threads"]
        in_force.values, in_force.shape = values, self._shapes.setdefault(shape, len(self._shapes))

    @contextmanager
    def using(self, **settings: object) -> Iterator[None]:
        """Other settings for a block, in this context only: other threads do not see them, nor asyncio tasks that
        started before."""
        block, settings = object(), self._check(settings)
        self._enter((*self.now().blocks, (block, settings)))
        try:
            yield
        finally:
            self._enter(tuple([each for each in self.now().blocks if each[0] is not block]))

    def held(self) -> Any:
        """Within the block, assignments by other threads are not seen: all readers see the same settings."""
        return self.using(**self.now().values)

    def __repr__(self) -> str:
        return "Config(" + ", ".join(f"{name}={value!r}" for name, value in self.now().values.items()) + ")"


config = Config()
