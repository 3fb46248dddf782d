"""What judges numbers of many dtypes; see dtypes.py."""
import numpy as np

import fad

from .dtypes import judge_results
from .tracing import is_traced


def test_a_dtype_that_is_not_numpys_is_seen():
    assert judge_results(lambda x: (x.astype(np.float32), x[0] > 0), "interpreted") is None
    halves = {True: 0.5, False: np.float32(0.5)}
    assert (judge_results(lambda x: (x, np.full(4, halves[is_traced()])), "interpreted")
            == "result 1: float64[4] instead of float32[4]")


def test_an_error_that_is_not_raised_is_seen():
    def f(x):
        return (np.bitwise_or(x, 1) if not is_traced() else x,)
    assert "a result instead of TypeError" in judge_results(f, "interpreted")


def test_a_slope_that_is_not_the_functions_is_seen():
    @fad.custom_jvp
    def doubled(u):
        return 2.0 * u
    doubled.defjvp(lambda us, dus: (2.0 * us[0], 2.1 * dus[0]))
    assert judge_results(lambda x: (2.0 * x,), "interpreted") is None
    assert judge_results(lambda x: (doubled(x),), "interpreted").startswith("slope: ")
