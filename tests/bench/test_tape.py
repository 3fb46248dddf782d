"""What the tape costs: its work, counted in calls of functions, grows as the number of updates does."""
import numpy as np

import fad

from ..passes.test_work import calls_of


def updated(x, n):
    y = np.zeros(10)
    for i in range(n):
        y[i % 10] = x[i % 3] * y[(i + 1) % 10] + 1.0
    return np.sum(y)


def test_updates_in_place_cost_the_same_however_many_there_are():
    """In proportion, and a tenth as much again; at most 2,500 calls for each."""
    g, x = fad.grad(updated), np.array([0.5, 0.25, -0.5])

    def work(count):
        return calls_of(lambda n: g.on_tape((x, n), {}), count)[0] / count
    work(20)
    few, more = work(100), work(800)
    assert more < 1.1 * few
    assert more < 2_500


def test_many_updates_do_not_reach_pythons_limit_of_recursion():
    x = np.array([0.5, 0.25, -0.5])
    np.testing.assert_allclose(fad.grad(updated).on_tape((x, 1500), {}), fad.grad(updated)(x, 1500), rtol=1e-10)
