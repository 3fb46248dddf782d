"""Context managers of the user's are told of what the program raises."""
import numpy as np
import pytest

import fad


class Manager:
    """It notes how each block ends, and may take a ValueError in."""

    def __init__(self, takes_in):
        self.takes_in, self.ends = takes_in, []

    def __enter__(self):
        return 2.0

    def __exit__(self, kind, error, traceback):
        self.ends.append("" if kind is None else f"{kind.__name__}: {error}".partition("\n")[0])  # pytest adds lines
        return self.takes_in and kind is ValueError


def raises_for_large(manager, x):
    y = x[1]
    with manager as factor:
        if x[0] > 0.5:
            raise ValueError("too large")
        y = factor * x[0] * x[1]
    return y * 3.0


def asserts(manager, x):
    with manager as factor:
        assert x[0] < 0.5, "too large"
        return factor * x[0] * x[1]


def in_a_loop(manager, x):
    total = 0.0
    for k in range(3):
        with manager as factor:
            if k == 1 and x[k] > 0.5:
                raise ValueError
            total = total + factor * x[k] ** 2
    return total


def in_a_helper(manager, x):
    y = 0.0 * x[0]
    with manager as factor:
        y = checked(x[0]) * factor
    return y + x[1]


def checked(v):
    if v > 0.5:
        raise ValueError(f"not {1}")
    return v * v


@pytest.mark.parametrize("compile", ["never", "now"])
@pytest.mark.parametrize("takes_in", [True, False])
@pytest.mark.parametrize("f", [raises_for_large, asserts, in_a_loop, in_a_helper])
@pytest.mark.filterwarnings("ignore::fad.util.errors.FallbackWarning")
def test_a_manager_is_told_of_errors(f, takes_in, compile):
    plain, traced = Manager(takes_in), Manager(takes_in)
    g = fad.value_and_grad(lambda x: f(traced, x), compile=compile)
    for x in (np.array([0.3, 0.2, 1.0]), np.array([0.7, 0.9, 1.0]), np.array([0.4, 0.3, 1.0])):
        outcomes = []
        for call in (lambda x: f(plain, x), lambda x: g(x)[0]):
            try:
                outcomes.append(call(x))
            except (ValueError, AssertionError) as error:
                outcomes.append((type(error).__mro__[-4:], str(error).partition("\n")[0]))
        assert outcomes[0] == outcomes[1] or outcomes[1] == pytest.approx(outcomes[0])
        assert plain.ends == traced.ends


def test_a_block_without_errors_is_compiled(recwarn):
    manager = Manager(True)
    g = fad.value_and_grad(lambda x: raises_for_large(manager, x), compile="now")
    np.testing.assert_allclose(g(np.array([0.3, 2.0]))[1], [12.0, 1.8])
    assert not recwarn.list and manager.ends == [""]
