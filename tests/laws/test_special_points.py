"""Where a rule treats points apart (zero, one, equal arguments), its derivative there is that of the function: to
second order, too.

A rule that chooses a value at such a point, and takes the choice for a constant, has the right first derivative and a
wrong second one.
"""
import itertools
from collections.abc import Callable

import numpy as np
import pytest

from fad.util.errors import NoDerivativeError

from .cases import OPS, Case, differentiable, entries, known_partials, rng_for
from .programs import program

POINTS = (0.0, 1.0, -1.0, 2.0, 0.5)
STEPS = (2e-2, 1e-2, 5e-3)
# Formulas that read 0 / 0 where arguments are equal, or zero; nan says so.
UNDETERMINED = set("agm binom ellipeinc ellipj_cn ellipj_dn ellipj_ph ellipj_sn ellipkinc elliprc elliprd elliprf "
                   "elliprg it2i0 it2j0 it2struve0 poch "
                   "voigt_profile".split())
ELEMENTWISE = [name for name, op in OPS.items()
               if op.kind == "elementwise" and differentiable(op) and not op.samples and op.facts.get("arity", 1) < 4]


def at_points(name: str) -> "Case | None":
    """The op on all combinations of the points, in one array an argument; whole numbers where it takes only those."""
    op = OPS[name]
    asked = entries(op)
    columns = np.array(list(itertools.product(POINTS, repeat=len(asked)))).T
    args = tuple([column.astype(int) if entry == "integer" else column > 0 if entry == "bool" else column
                  if isinstance(entry, tuple) else entry
                  for entry, column in zip(asked, columns)])
    moving = known_partials(op, args)
    around = ([Case(op, args, {}, moving).at(*[args[k] + shift for k in moving])[0] for shift in (0.0, 5e-2, -5e-2)]
              if moving else [])
    if not moving or np.asarray(around[0]).dtype.kind != "f":
        return None
    # on a border there is no derivative to compare with
    inside = np.all(np.isfinite(around), axis=0)
    if not inside.any():
        return None
    return Case(op, tuple([x[inside] if isinstance(x, np.ndarray) else x for x in args]), {}, moving)


def slopes(f: Callable, xs: tuple, dxs: tuple) -> list:
    """(derivative, whether it exists) of each result of f along dxs, from differences: extrapolated central ones, where
    these settle and where those to the left and to the right come together."""
    here, sides = f(*xs), [[f(*[x + s * dx for x, dx in zip(xs, dxs)]) for s in (h, -h)] for h in STEPS]
    return [_slope(y, [(right[k], left[k]) for right, left in sides]) for k, y in enumerate(here)]


def _slope(y: np.ndarray, around: list) -> "tuple[np.ndarray, np.ndarray]":
    one, two, three = [(right - left) / (2 * h) for h, (right, left) in zip(STEPS, around)]
    coarse, fine = (4 * two - one) / 3, (4 * three - two) / 3
    far, near = [abs(right + left - 2 * y) / h for h, (right, left) in zip(STEPS, around)][::2]
    return (16 * fine - coarse) / 15, (abs(fine - coarse) < 1e-6 * (1 + abs(fine))) & (near < 0.6 * far + 1e-9)


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_second_derivatives_at_special_points(name):
    with np.errstate(all="ignore"):
        case = at_points(name)
    if case is None:
        return
    xs, rng = case.point, rng_for(name)
    dxs = tuple([np.full(x.shape, rng.uniform(0.5, 1.5)) for x in xs])
    traced = program(case)
    one = np.ones_like(xs[0])
    first = traced.pullback()
    with np.errstate(all="ignore"):
        found = slopes(lambda *moved: first.value(*moved, one), xs, dxs)
    try:
        second = first.forward((*xs, one), (*dxs, 0 * one))
    except NoDerivativeError:                            # a first derivative that is itself a function without a rule
        return
    for got, (want, exists) in zip(second, found):
        exists &= ~np.isnan(got) | (name not in UNDETERMINED)
        np.testing.assert_allclose(got[exists], want[exists], rtol=1e-5, atol=1e-5)
