"""Arrays that objects outside hold are changed in place, for all that have them, after loops that change the object
otherwise, too."""
import numpy as np
import pytest

import fad


class Model:
    """What holds an array."""

    def __init__(self):
        self.w, self.count = np.array([1.0, 2.0, 3.0]), 1.0


MODEL, OTHER = Model(), np.array([0.3, -0.2, 0.5])


def changed_after_a_loop(x):
    for k in range(3):
        MODEL.count += x[0] * k
    MODEL.w[0] += x[1]
    return np.sum(x) * MODEL.w[1]


def bound_anew_after_the_change(x):
    for k in range(3):
        MODEL.count += x[0] * k
    w = MODEL.w
    w[0] += x[1]
    MODEL.w = OTHER
    return np.sum(w)


def changed_in_a_loop(x):
    for k in range(3):
        MODEL.count += x[0]
        MODEL.w[k] += x[1]
    return np.sum(MODEL.w)


def changed_whole_in_a_loop(x):
    for k in range(3):
        MODEL.count += x[0] * k
        MODEL.w *= x[1]
    return np.sum(MODEL.w)


def named_twice_and_bound_anew(x):
    global OTHER
    OTHER *= 0.9
    MODEL.w[1] = x[0]
    OTHER = x * 1.0
    return np.sum(MODEL.w)


def state(f, tier):
    """What is outside after three calls, and what they returned; f itself for no tier."""
    global MODEL, OTHER
    MODEL, OTHER = Model(), np.array([0.3, -0.2, 0.5])
    if f is named_twice_and_bound_anew:
        MODEL.w = OTHER
    first, other, x, found = MODEL.w, OTHER, np.array([0.31, 0.42, 0.53]), []
    g = f if tier is None else fad.jit(f, compile=tier)
    for _ in range(3):
        found += [float(g(x)), *first, *other, *MODEL.w, *OTHER, MODEL.count, MODEL.w is first, MODEL.w is other]
    return found


@pytest.mark.parametrize("tier", ["never", "now"])
@pytest.mark.parametrize("f",
                         [changed_after_a_loop, bound_anew_after_the_change, changed_in_a_loop, changed_whole_in_a_loop,
                          named_twice_and_bound_anew],
                         ids=lambda f: f.__name__)
@pytest.mark.filterwarnings("ignore::fad.FallbackWarning")
def test_all_that_have_the_array_see_the_change(f, tier):
    assert state(f, tier) == pytest.approx(state(f, None), rel=1e-12)
