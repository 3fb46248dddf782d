"""What printing costs: its work, counted in calls, grows as the program does."""
from functools import reduce

import numpy as np
import pytest

import fad
from fad.backend.emission.emit import source

from ..passes.test_work import calls_of


def chain(x, k):
    """One of many expressions, which share one loop and are kept for the way back."""
    return np.sin(x) * (k + 1.0) + x


def written(x, k):
    """One of many elements of an array that are written one after the other."""
    x[k % 7] = x[(k + 1) % 7] * x[k % 5]
    return x


@pytest.mark.parametrize("step", [chain, written])
def test_the_work_of_printing_grows_as_the_program(step):
    """In proportion, and a third as much again."""
    few, more = 30, 120

    def work(count):
        gradient = fad.grad(lambda x: np.sum(reduce(step, range(count), x.copy())))
        program, _ = gradient.program_for(np.linspace(0.5, 1.0, 8))
        return calls_of(source, program.runner.func)[0] / count
    assert work(more) < 1.35 * work(few)
