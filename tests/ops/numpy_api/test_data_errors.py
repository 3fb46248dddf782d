"""Where NumPy raises for the values of its arguments, a program raises an error of that class, in both tiers."""
import numpy as np
import pytest

import fad

from ...texts import executed
from .overrides_at import listed

X, V = np.arange(1.0, 13.0).reshape(3, 4), np.array([0.2, 1.5, 0.7, 3.0])
CALLS = listed(r"""
np.quantile(x, v); np.percentile(x, v - 1.0); np.nanquantile(x, v[1]); np.nanpercentile(x, -v[0]); np.digitize(x, v)
np.digitize(x, -v); np.interp(v, x[0], v, period=0.0 * v[0]); np.partition(v, k + 2); np.partition(x, -k - 2, 0)
np.argpartition(x, [0, k * 20], None); np.linspace(v[0], 3.0, -k); np.logspace(v[0], 3.0, -k); np.eye(-k) * v[0]
np.vander(v, -k); np.arange(v[0], 3.0, 0.0 * v[1]); np.average(v, weights=0.0 * v); np.repeat(v, [1, 2, -k, 0])
np.choose([0, k], [v, v, v][:2]); np.geomspace(0.0 * v[0], 2.0); np.cov(v, aweights=-v); np.histogram(v, v)[0]
np.searchsorted(v, 1.0, sorter=[0, 1, 2, 2 * k])
""")


@pytest.mark.parametrize("compiled", ["never", "now"])
@pytest.mark.parametrize("expression", CALLS)
def test_errors_of_values(expression, compiled):
    f = executed(f"def f(x, v, k): return {expression}\n", {"np": np})["f"]
    with pytest.raises(Exception) as raised, np.errstate(divide="ignore"):
        f(X, V, 2)
    with pytest.raises(raised.type):
        fad.jit(f, compile=compiled)(X, V, 2)


def test_what_lies_inside_is_valid():
    """Ends of the ranges, falling bins, and places from the end."""
    assert fad.jit(lambda x, q: np.percentile(x, q))(X, np.array([0.0, 100.0])).tolist() == [1.0, 12.0]
    assert fad.jit(np.digitize)(V, np.array([3.0, 1.0, 1.0])).tolist() == [3, 1, 3, 0]
    assert fad.jit(lambda x, k: np.partition(x, k))(V, -4)[0] == 0.2


def test_the_diagonal_of_a_triangle_is_whole():
    """NumPy rounds the places of the diagonal k = 1.5 in two ways."""
    assert fad.jit(lambda x: np.triu(x, 1.0))(X).tolist() == np.triu(X, 1).tolist()
    with pytest.raises(TypeError):
        fad.jit(lambda x: np.triu(x, 1.5), fallback=False)(X)
