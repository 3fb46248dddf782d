"""Parameters of which every run has a part, chosen so that no name and no value is left out; `-m slow` runs the others.

$FAD_TURN, a number, gives other parts.
"""
import itertools
import os

import pytest

TURN = int(os.environ.get("FAD_TURN", "0"))                   # another number gives other parts


def in_turn(names, turn=0, count=2):
    """All names, of which every run has each second one (or `count`th), from the place `turn`.

    Two tests of the same names take different turns: of two, each name is tried by one of them.
    """
    return [left_out(name, (k + TURN) % count != turn) for k, name in enumerate(names)]


def crossed(*lists, count=2):
    """All combinations of a value of each list, of which every run has one in `count`: the diagonals, so that each
    value of each list is tried.
    """
    places = itertools.product(*[range(len(values)) for values in lists])
    return [left_out(values, (sum(place) + TURN) % count != 0)
            for place, values in zip(places, itertools.product(*lists))]


def in_tiers(values, count=3):
    """Each value with "never", and each `count`th with "now", too: the interpreter and a kernel run one program, so
    its meaning is decided before. The folders backend and kernels try more of what is compiled.
    """
    return [left_out((value, tier), tier == "now" and (k + TURN) % count != 0)
            for k, value in enumerate(values) for tier in ("never", "now")]


def left_out(value, is_slow):
    """A parameter, or several in a tuple, left to `-m slow` or not."""
    values = value if isinstance(value, tuple) else (value,)
    return pytest.param(*values, marks=[pytest.mark.slow] if is_slow else [])
