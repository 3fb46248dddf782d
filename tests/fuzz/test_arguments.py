"""What judges functions that change their arguments; see arguments.py."""
import numpy as np

from .arguments import judge_changes
from .tracing import is_traced


def test_a_change_that_is_lost_is_seen():
    def f(x, a, b, c, d, M):
        if not is_traced():
            a[0] = 1.0
        return np.sum(x)
    assert judge_changes(f, 0, "interpreted") == "not as NumPy's: a"


def test_a_value_beside_a_derivative_that_is_not_the_functions_is_seen():
    def f(x, a, b, c, d, M):
        b[0] = 2.0
        return np.sum(a) + (0.1 if is_traced() else 0.0)
    assert judge_changes(f, 0, "interpreted") == "not as NumPy's: result"
    assert judge_changes(lambda x, a, b, c, d, M: b.sum() * a[1], 1, "interpreted") is None
