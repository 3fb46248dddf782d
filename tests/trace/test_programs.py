"""Captured programs: value as plain NumPy, derivatives as differences, loops rolled where they can be."""
import numpy as np
import pytest

import fad

from ..transforms.support import Program, assert_derivatives
from . import programs

UNROLLED = {"dictlookup", "factorial",          # Python structure, or ints past 64 bits
            "a_break_in_a_loop_over_constants", "a_return_in_a_loop_over_names", "a_break_in_a_loop_over_parts",
            "one_iteration_with_a_break",
            "halves_in_a_list", "levels_by_a_logarithm", "sizes_as_keys"}    # arrays of other sizes
NO_LOOP = {"recursion_by_size", "assert_", "branch_bound", "view_in_branch", "empties"}


@pytest.mark.parametrize("f, x", programs.P, ids=[f.__name__ for f, _ in programs.P])
def test_program(f, x):
    p = assert_derivatives(f, x, second_reverse=False)
    np.testing.assert_allclose(p.value(x), f(x.copy()), rtol=1e-12)
    np.testing.assert_allclose(p.gradient(x), assert_slope(f, x), rtol=2e-5, atol=2e-6)
    rolled = any(r in ("for", "while") for r in p.regions())
    assert rolled == (f.__name__ not in UNROLLED | NO_LOOP)


def assert_slope(f, x, h=1e-6):
    """Differences of the plain function, its argument copied for each call."""
    return np.array([(f(x + h * e) - f(x - h * e)) / (2 * h) for e in np.eye(x.size)])


def size_for(iterations):
    """How many equations the gradient of a loop of so many iterations has."""
    def f(x):
        for _ in range(iterations):
            x = np.sin(x) * 1.1
        return np.sum(x)
    return len(Program(f, np.ones(3)).reverse.equations)


def test_the_text_does_not_grow_with_the_iterations():
    assert size_for(10) == size_for(1000)


def test_loops_by_sizes_are_for_the_sizes_at_hand():
    f = fad.grad(programs.halves_in_a_list, fallback=False)
    for n in (8, 4, 2, 8):
        x = programs.X[:n]
        np.testing.assert_allclose(f(x), assert_slope(programs.halves_in_a_list, x), rtol=2e-5)
