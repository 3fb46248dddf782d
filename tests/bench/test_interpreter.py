"""A compiled derivative takes no longer than the same program interpreted, whose work is done by NumPy's and BLAS's own
loops: the programs of the benches that have no loops of their own, where these are hard to beat."""
import inspect

import numpy as np
import pytest

import fad

from . import peers
from .programs import PROGRAMS
from .timing import minima

BUSY = 1.25


def arrays(found):
    """The dense arrays of an answer."""
    return peers.leaves(found.toarray() if hasattr(found, "toarray") else found)


@pytest.mark.parametrize("name", [name for name, p in PROGRAMS.items() if "for " not in inspect.getsource(p.f)])
def test_compiled_is_not_slower(name):
    args, ratios = PROGRAMS[name].arguments(), []
    with fad.config.using(threads=1):
        interpreted, compiled = [peers.in_fad(PROGRAMS[name], args, fad, policy) for policy in ("never", "now")]
        for a, b in zip(arrays(interpreted()), arrays(compiled()), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-10)
        while len(ratios) < 3 and not (ratios and min(ratios) <= BUSY):
            theirs, ours = minima([interpreted, compiled], rounds=3)
            ratios.append(ours / theirs)
    assert min(ratios) <= BUSY
