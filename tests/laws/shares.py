"""Shares of long lists of samples, for laws that would take too long over all of them."""
import os
import zlib

import pytest

SHARE = int(os.environ.get("FAD_SHARE", "739945"))


def share(names, count):
    """One of so many; $FAD_SHARE, a number, chooses others."""
    return [name for name in names if (zlib.crc32(name.encode()) + SHARE) % count == 0]


def in_turn(names, turn=0, count=2):
    """All names as parameters, of which every run has each second one (or `count`th); the others are left to `-m slow`.

    Two laws of the same names take different turns: each name is tried by one of them.
    """
    for k, name in enumerate(names):
        yield pytest.param(name, marks=[] if k % count == turn else [pytest.mark.slow])
