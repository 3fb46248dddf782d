"""What a rule computes with integers and truths among the arguments: as with floats of the same values, which is what
NumPy and SciPy make of them.

An unsigned integer has no negative, a truth not even a difference, and the logarithm of a small integer is a float of
half the precision.
"""
import numpy as np
import pytest

from fad.ops.kinds import Partials

from .cases import OPS, Case, calls, directions, known_partials, rng_for
from .programs import program


def mixed(op) -> list:
    """Pairs of cases: one argument holds integers, and floats of the same values. Each argument and dtype is in one of
    the calls, in turn."""
    found: dict = {}
    for args, params in calls(op):
        moving = known_partials(op, args)
        for k in moving if len(moving) > 1 else ():
            for dtype in (np.uint8, np.int8, np.bool):
                whole, others = np.ceil(np.abs(args[k])).astype(dtype), tuple([j for j in moving if j != k])
                given = [tuple([x if j == k else a for j, a in enumerate(args)]) for x in (whole, whole.astype(float))]
                pair = [Case(op, xs, params, others) for xs in given]
                if is_accepted(pair):
                    found.setdefault((k, dtype), []).append(pair)
    return [pairs[turn % len(pairs)] for turn, pairs in enumerate(found.values())]


def is_accepted(pair) -> bool:
    """Whether the op has the same finite values for both."""
    try:
        with np.errstate(all="ignore"):
            ys, zs = [case.at(*case.point) for case in pair]
    except (TypeError, ValueError):
        return False
    return all(np.all(np.isfinite(z)) and np.asarray(y).dtype == np.asarray(z).dtype and np.allclose(y, z, rtol=1e-14)
               for y, z in zip(ys, zs))


PAIRS = {name: pairs for name, op in OPS.items() if type(op.derivative) is Partials and (pairs := mixed(op))}


@pytest.mark.parametrize("name", PAIRS)
def test_integers_are_as_floats(name):
    for whole, floats in PAIRS[name]:
        rng = rng_for(name)
        dxs = directions(floats, rng)
        with np.errstate(all="ignore"):
            got, want = [program(case).forward(case.point, dxs) for case in (whole, floats)]
            back, wanted = [program(case).reverse(case.point, want) for case in (whole, floats)]
        for p, q in zip([*got, *back], [*want, *wanted], strict=True):
            np.testing.assert_allclose(p, q, rtol=1e-12, atol=1e-12)


def test_there_are_many():
    assert {"mul", "arctan2", "hypot", "huber", "gdtrc"} <= set(PAIRS) and len(PAIRS) > 40
