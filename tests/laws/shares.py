"""Shares of long lists of samples, for laws that would take too long over all of them."""
import os
import zlib

SHARE = int(os.environ.get("FAD_SHARE", "739945"))


def share(names, count):
    """One of so many; $FAD_SHARE, a number, chooses others."""
    return [name for name in names if (zlib.crc32(name.encode()) + SHARE) % count == 0]
