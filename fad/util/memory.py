"""Amounts of memory: as people write them, and as the machine has them."""
import ctypes
import os
import re
import sys
from pathlib import Path

import numpy as np

from .errors import ArgumentError, SideEffectError
from .interrupts import reraise_interrupt

_UNITS = {"": 1, "B": 1, "KB": 10 ** 3, "MB": 10 ** 6, "GB": 10 ** 9, "TB": 10 ** 12,
          "KIB": 2 ** 10, "MIB": 2 ** 20, "GIB": 2 ** 30, "TIB": 2 ** 40}


def parse_bytes(amount: object) -> int:
    """A number of bytes from an int, or from text with a unit: kB, MB, GB, TB (powers of 1000) or KiB, MiB, GiB, TiB
    (powers of 1024).

    >>> parse_bytes("200MB"), parse_bytes("1.5 GiB"), parse_bytes(4096)
    (200000000, 1610612736, 4096)
    """
    if isinstance(amount, str):
        found = re.fullmatch(r"\s*(\d+(?:\.\d*)?)\s*([a-zA-Z]*)\s*", amount)
        if found and found[2].upper() in _UNITS:
            return _positive(int(float(found[1]) * _UNITS[found[2].upper()]), amount)
    elif isinstance(amount, int) and not isinstance(amount, bool):
        return _positive(amount, amount)
    raise ArgumentError(f"{amount!r} is no amount of memory",
                        do='give a number of bytes, or text such as "200MB" or "1.5GiB"')


def _positive(count: int, given: object) -> int:
    if count <= 0:
        raise ArgumentError(f"{given!r} is no amount of memory to compute in",
                            do="allow at least what one iteration of a loop needs")
    return count


def available() -> int:
    """About how many bytes this process can still get before the machine swaps, or its control group is full; a huge
    number if unknown."""
    return max(min([_UNKNOWN, *_of_the_machine(), *_of_the_group()]), 0)


_UNKNOWN = 1 << 62
_GROUPS = (("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
           ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"))


def _of_the_machine() -> list:
    """Linux says what is available; elsewhere what there is at all is a bound."""
    try:
        found = re.search(r"MemAvailable:\s*(\d+) kB", Path("/proc/meminfo").read_text(encoding="ascii"))
    except OSError as error:
        reraise_interrupt(error)
        found = None
    if found:
        return [int(found[1]) * 1024]
    return [_of_windows()] if sys.platform == "win32" else [_of_posix()]


def _of_posix() -> int:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError) as error:
        reraise_interrupt(error)
        return _UNKNOWN


def _of_windows() -> int:
    """ullAvailPhys of MEMORYSTATUSEX: two 32-bit words, then 64-bit words, where it is the second."""
    status = (ctypes.c_ulonglong * 8)(64)
    done = ctypes.windll.kernel32.GlobalMemoryStatusEx(ctypes.byref(status))     # type: ignore[attr-defined]
    return int(status[2]) if done else _UNKNOWN


def _of_the_group() -> list:
    """The memory that a container or another control group leaves."""
    out = []
    for limit, used in _GROUPS:
        try:
            out.append(int(Path(limit).read_text(encoding="ascii")) - int(Path(used).read_text(encoding="ascii")))
        except (OSError, ValueError) as error:               # no such group, or no limit ("max")
            reraise_interrupt(error)
            continue
    return out


def overlap(x: np.ndarray, y: np.ndarray) -> bool:
    """Whether two arrays have elements in common; also where that is too hard to tell.

    >>> z = np.zeros(4)
    >>> overlap(z[1:], z[:2]), overlap(z[::2], z[1::2])
    (True, False)
    """
    if not np.may_share_memory(x, y):
        return False
    try:
        return np.shares_memory(x, y, max_work=1000)  # type: ignore[arg-type]
    except np.exceptions.TooHardError:
        return True


def shared_memory(are_outside: bool = False) -> SideEffectError:
    """The refusal of arguments, or of arrays from outside, where one is written to and shares its memory with another.
    """
    if are_outside:
        return SideEffectError("an array from outside is written to that shares its memory with another one",
                               why="how the two lie in one memory is not known (elements that are repeated or of "
                                   "another dtype, fields of records, buffers)",
                               do="make slices, transposes or reshapes of one array, or copy one of them")
    return SideEffectError("an argument is written to that shares its memory with another one",
                           why="a program takes its arguments for separate arrays",
                           do="copy one of them (x = x.copy())")
