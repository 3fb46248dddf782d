"""Random loops that a transformation writes anew: what the grammars and judges of such loops share."""
import warnings
from contextlib import nullcontext

import numpy as np

import fad

from . import judge
from .statement import Blocks, Statement


class Loops(Blocks):
    """A grammar of one loop between a head and a sum that is returned. Values are `forms` of two atoms."""

    forms = ()

    def value(self, atoms):
        return self.r.choice(self.forms).format(*self.r.choices(atoms, k=2))

    def loop(self, head, ranges, body, result):
        return [*map(Statement, head), Statement(f"for i in {self.r.choice(ranges)}:", body),
                Statement(f"return {result}")]


def judge_beside(f, x, tier, changed, how, plainly=nullcontext):
    """None, or what is wrong with the value or the gradient of f when `changed` is in force: beside Python, and beside
    the gradient made `plainly`."""
    with warnings.catch_warnings(), judge.tier(tier, refusals=False):
        warnings.simplefilter("ignore", RuntimeWarning)
        want = f(x.copy())
        with plainly():
            plain = fad.grad(lambda x: f(x))(x)
        with changed:
            value, found = fad.jit(lambda x: f(x))(x), fad.grad(lambda x: f(x))(x)
    if not np.isfinite(plain).all():
        return None
    if not np.isclose(value, want, rtol=1e-9, atol=1e-12):
        return f"{how}: {value} instead of {want}"
    difference, size = np.abs(found - plain).max(), np.abs(plain).max()
    return None if difference <= 1e-9 * (1 + size) else f"gradient {how}: {difference} beside {size}"
