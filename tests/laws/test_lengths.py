"""Law: one function, called with arrays of other lengths, is right at each. A program is traced at one length and used
at others; a rule written in two ways (simpson of few points, a matrix that is tall or wide) must not keep the way of
the first call."""
import warnings

import numpy as np
import pytest
from scipy import integrate, signal, stats

import fad

from ..texts import executed
from ..turns import crossed
from .test_overrides import SAMPLES, SCOPE, listed, names_in

SHAPES = [(3, 4), (4, 3), (3, 3), (2, 2), (2, 5), (5, 2)]
OF_ONE = [(1, 2), (2, 1), (1, 1)]                            # for NumPy's functions alone: statistics degenerate
PLACE = np.array([0, 1, 0])                                  # of i, within the shorter ones
LEFT_OUT = {
    "full_matrices=True": "the rest of a basis is not unique", "complete": "the same", "svd(x)": "the same",
    "qr(x.T)": "the same", "null_space": "the same",
    "ttest_ind": "of a sample of one element SciPy takes 0 for the variance, fad nan",
    "kstat": "of fewer values than its order it divides by zero",
    "linregress(v, np.sin(9 * v)).stderr": "of two points rounding decides between nan and infinity",
    "gaussian_kde": "two points have a singular covariance",
}
EXPRESSIONS = [s for s in SAMPLES if not any(part in s for part in LEFT_OUT)]


def arrays(m: int, n: int) -> dict:
    rng = np.random.default_rng(7 * m + n)
    return {"x": rng.uniform(0.2, 0.9, (m, n)), "v": rng.uniform(0.25, 0.85, n),
            "S": rng.standard_normal((n, n)) * 0.3 + 2 * np.eye(n)}


def function_of(expression: str, names: list):
    scope = SCOPE | {"i": PLACE}
    setting = "    P = S @ S.T + 4 * np.eye(len(S))\n" if "S" in names and "P" in expression else ""
    executed(f"def f({', '.join(names)}):\n{setting}    return {expression}\n", scope)
    return scope["f"]


def results(f, given: list, refusals: type) -> "list | None":
    """The arrays that f returns, None where it refuses."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return listed(f(*given))
        except refusals:
            return None


@pytest.mark.parametrize(("expression", "order"), crossed(EXPRESSIONS, ["forth", "back"], count=4))
def test_values_at_other_lengths(expression, order):
    names = names_in(expression)
    f = function_of(expression, names)
    jitted = fad.jit(f, compile="never", fallback=False)
    shapes = SHAPES + (OF_ONE if expression.startswith("np.") else [])
    for m, n in shapes if order == "forth" else shapes[::-1]:
        given = [arrays(m, n)[name] for name in names]
        wanted = results(f, given, Exception)
        if wanted is None:                                       # the sample is not made for this length
            continue
        found = results(jitted, given, fad.FadError)
        if found is None:
            assert results(fad.jit(lambda *xs: f(*xs), compile="never", fallback=False), given, fad.FadError) is None
            continue
        for got, want in zip(found, wanted, strict=True):
            assert got.shape == want.shape, (m, n)
            np.testing.assert_allclose(got, want, rtol=1e-8, atol=1e-9, err_msg=f"at {m}, {n}")


LENGTHS_FROM_DATA = {
    "simpson": lambda x: integrate.simpson(x[x > 0.0]), "skew": lambda x: stats.skew(x[x > 0.0], bias=False),
    "valid": lambda x: signal.correlate(x[x > 0.0], np.ones(2), "valid"),
    "same": lambda x: np.correlate(x[x > 0.0], np.ones(2), "same"),
    "lstsq": lambda x: np.linalg.lstsq(np.vander(x[x > 0.0], 2), np.sin(x[x > 0.0]), rcond=None)[1],
}


@pytest.mark.parametrize("name", LENGTHS_FROM_DATA)
def test_lengths_that_depend_on_data(name):
    """A function that needs a length which data decide runs on the tape, and is right."""
    f = LENGTHS_FROM_DATA[name]
    jitted = fad.jit(f, compile="never")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for x in ([1.0, -1.0, 2.0, 4.0, 3.5], [1.0, 2.0, -1.0, -2.0, -1.0], [2.0, -1.0, -1.0, -3.0, 0.5]):
            np.testing.assert_allclose(jitted(np.array(x)), f(np.array(x)), rtol=1e-12)
