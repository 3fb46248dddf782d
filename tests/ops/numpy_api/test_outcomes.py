"""Attributes of the results of scipy.stats' tests beside their fields: SciPy's values, and their derivatives."""
import numpy as np
import pytest
from scipy import stats

import fad

rng = np.random.default_rng(3)
X, Y = rng.normal(size=(2, 9))
SOME = {"less": 0.9, "greater": 0.8, "two-sided": 0.95}
ASKED = {
    "df": lambda x: stats.ttest_ind(x, Y, equal_var=False).df,
    **{f"interval of a mean, {side}": lambda x, side=side, level=level: np.sum(np.clip(
        stats.ttest_1samp(x, 0.1, alternative=side).confidence_interval(level), -9.0, 9.0))
       for side, level in SOME.items()},
    "expected means": lambda x: np.sum(stats.ttest_1samp(x.reshape(3, 3), x[:3].reshape(1, 3)).statistic),
    "interval of a difference": lambda x: stats.ttest_ind(x, Y).confidence_interval().low,
    "interval of pairs": lambda x: stats.ttest_rel(x, Y).confidence_interval(0.5).high,
    "correlation": lambda x: stats.pearsonr(x, Y).correlation + stats.spearmanr(x, Y).correlation,
    "interval of a correlation": lambda x: np.prod(stats.pearsonr(x, Y).confidence_interval(0.9)),
    "interval of three": lambda x: np.sum(stats.pearsonr(x[:3], Y[:3]).confidence_interval()) + x[0],
    "intercept": lambda x: stats.linregress(Y, x).intercept_stderr,
    "intercept of two": lambda x: stats.linregress(Y[:2], x[:2]).intercept_stderr + x[0],
    "a question": lambda x: x[0] if hasattr(stats.ttest_1samp(x, 0.1), "df") else x[1],
}


@pytest.mark.parametrize("name", ASKED)
def test_attributes(name):
    f, d = ASKED[name], 1e-6 * np.cos(np.arange(9.0))
    value, slope = fad.value_and_grad(f, fallback=False)(X)
    np.testing.assert_allclose(value, f(X), 1e-12)
    np.testing.assert_allclose(slope @ d, (f(X + d) - f(X - d)) / 2, 1e-5, 1e-12)


def test_means_that_line_up_with_the_sample_are_refused():
    def f(x):
        return stats.ttest_1samp(x, x).statistic
    for call in (fad.jit(f, fallback=False), f):
        with pytest.raises(ValueError):
            call(X)
