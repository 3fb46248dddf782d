"""Every distribution of scipy.stats that fad knows, far out: at the ends of its support, in its tails, at probabilities
near 0 and 1, and at what is not a number.

Values are SciPy's to a few digits, and no nan stands where SciPy has a number. Where SciPy's formula underflows (a
density of 0, a logarithm of -inf), fad's may have digits.
"""
import warnings

import numpy as np
import pytest
from scipy import stats
from scipy.stats._distr_params import distcont, distdiscrete

import fad
from fad.ops.override import load_all

from ..turns import in_turn

load_all()

from fad.ops.numpy_api.distributions.continuous import CONTINUOUS  # noqa: E402
from fad.ops.numpy_api.distributions.discrete import DISCRETE  # noqa: E402

SHAPES = {name: shapes for name, shapes in reversed(distcont + distdiscrete) if name in CONTINUOUS or name in DISCRETE}
METHODS = ("pdf", "logpdf", "pmf", "logpmf", "cdf", "sf", "logcdf", "logsf", "ppf", "isf")
VALUES = np.array([-np.inf, -1e200, -1e10, -50.0, -1e-300, 0.0, 1e-300, 1e-12, 0.3, 1.0, 50.0, 1e10, 1e200, np.inf,
                   np.nan])
PROBABILITIES = np.array([0.0, 1e-300, 1e-20, 1e-9, 0.25, 0.5, 0.9, 1 - 1e-12, 1.0, np.nan, -1.0, 2.0])


@pytest.mark.parametrize("name", in_turn(sorted(SHAPES)))
def test_values_are_scipys(name):
    dist, shapes = getattr(stats, name), SHAPES[name]
    for method in [name for name in METHODS if hasattr(dist, name)]:
        x = PROBABILITIES if method in ("ppf", "isf") else VALUES

        def f(x, method=method):
            return getattr(dist, method)(x, *shapes)
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                got = fad.jit(f, compile="never", fallback=False)(x)
            except fad.FadError:                                # no formula for it
                continue
            want = f(x)
        is_close = np.isclose(got, want, rtol=1e-3, atol=1e-15 if method in ("ppf", "isf") else 0.0, equal_nan=True)
        underflows = np.isnan(want) | ((want == 0) | (want == -np.inf)) & np.isfinite(got)
        assert np.all(is_close | underflows & ~np.isnan(x)), (method, x[~is_close], got[~is_close], want[~is_close])
