"""A bar for work that fad itself drives and that takes long."""
import sys
from collections.abc import Iterable, Sequence

from .lazy import imported

PATIENCE = 2.0  # seconds before a bar appears


def progress(items: Sequence, what: str) -> Iterable:
    """The items, one after the other. A person who waits sees a bar: after two seconds, on a terminal or in a notebook,
    if tqdm is installed.

    >>> list(progress([1, 2], "counting"))
    [1, 2]
    """
    if not (sys.stderr.isatty() or "ipykernel" in sys.modules):
        return items
    try:
        return imported("tqdm").tqdm(items, desc=what, delay=PATIENCE, leave=False)
    except ModuleNotFoundError:
        return items
