"""certify finds right derivatives right and wrong ones wrong."""
import numpy as np

import fad


def test_right_ones():
    report = fad.certify(lambda x, y: np.sum(np.sin(x) * y), np.array([1.0, 2.0]), np.ones(2))
    assert report.ok and {line.method for line in report.lines} == {"reverse", "forward", "complex step", "differences"}
    assert fad.certify(lambda p: {"a": np.tanh(p["w"]) * p["b"]}, {"w": np.ones(3), "b": 2.0}).ok


def test_wrong_ones():
    @fad.custom_jvp
    def wrong(x):
        return x * x
    wrong.defjvp(lambda p, t: (p[0] ** 2, 3 * p[0] * t[0]))
    report = fad.certify(wrong, np.array(2.0))
    assert not report and "DISAGREES" in str(report)


def test_a_complex_step_that_means_nothing_is_not_counted():
    report = fad.certify(lambda x: np.abs(x) * 2, np.array([1.0, -2.0]))
    assert report.ok and any(line.method == "complex step" and line.error is None for line in report.lines)
