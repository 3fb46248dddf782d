"""A counted loop of the IR, as a Python function of its body."""
from collections.abc import Callable

from ..ir.op import registry


def loop(n: object, init: tuple, body: Callable) -> tuple:
    """The carries after n iterations: carries = body(i, *carries)."""
    return tuple(registry["for"].run_regions([0, n, 1, *init], (body,)))
