"""Amounts of memory: as people write them, and as the machine has them."""
import re
from typing import Any

from .errors import ArgumentError

_UNITS = {"": 1, "B": 1, "KB": 10 ** 3, "MB": 10 ** 6, "GB": 10 ** 9, "TB": 10 ** 12,
          "KIB": 2 ** 10, "MIB": 2 ** 20, "GIB": 2 ** 30, "TIB": 2 ** 40}


def parse_bytes(amount: Any) -> int:
    """A number of bytes from an int, or from text with a unit: kB, MB, GB, TB (powers of 1000) or KiB, MiB, GiB, TiB (powers of 1024).

    >>> parse_bytes("200MB"), parse_bytes("1.5 GiB"), parse_bytes(4096)
    (200000000, 1610612736, 4096)
    """
    if isinstance(amount, str):
        found = re.fullmatch(r"\s*(\d+(?:\.\d*)?)\s*([a-zA-Z]*)\s*", amount)
        if found and found[2].upper() in _UNITS:
            return _positive(int(float(found[1]) * _UNITS[found[2].upper()]), amount)
    elif isinstance(amount, int) and not isinstance(amount, bool):
        return _positive(amount, amount)
    raise ArgumentError(f"{amount!r} is no amount of memory", do='give a number of bytes, or text such as "200MB" or "1.5GiB"')


def _positive(count: int, given: Any) -> int:
    if count <= 0:
        raise ArgumentError(f"{given!r} is no amount of memory to compute in", do="allow at least what one turn of a loop needs")
    return count
