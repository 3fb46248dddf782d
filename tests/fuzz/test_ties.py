"""What judges decisions by numbers that are all but equal; see ties.py."""
import fad

from .ties import judge_decisions
from .tracing import is_traced


def test_a_value_beside_a_derivative_that_is_not_the_functions_is_seen():
    assert judge_decisions(lambda x, w, k: w[0] * float(x[2] - x[1] >= 0.1), "text") is None
    assert judge_decisions(lambda x, w, k: w[0] * (1.0 + is_traced()), "text").startswith("value, interpreted: ")


def test_a_slope_that_is_of_another_decision_is_seen():
    @fad.custom_jvp
    def weighted(w, d):
        return w * float(d >= 0.1)
    weighted.defjvp(lambda xs, dxs: (weighted(*xs), dxs[0] * (1.0 - weighted(1.0, xs[1]))))
    assert judge_decisions(lambda x, w, k: weighted(w[0], x[2] - x[1]) + w[1],
                           "text").startswith("slope along w, interpreted: ")
