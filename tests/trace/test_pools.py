"""Functions that give their tasks to pools of threads, and to other processes."""
import atexit
import concurrent.futures as futures
import multiprocessing
from multiprocessing.pool import ThreadPool

import numpy as np
import pytest

import fad
from fad.util.errors import FallbackWarning, UnstageableError

X = np.array([0.5, 3.0, 1.2, 1.9])
OUTSIDE, THREADS = futures.ThreadPoolExecutor(2), ThreadPool(2)
atexit.register(THREADS.terminate)                            # later, it would say that it cannot end


def mapped_inside(x):
    with futures.ThreadPoolExecutor(2) as pool:
        return sum(pool.map(lambda v, w: v * np.sin(w), x, x[::-1]))


def in_any_order(x):
    with futures.ThreadPoolExecutor() as pool:
        places = {pool.submit(lambda v: v ** 2 if v > 1 else v, v): i for i, v in enumerate(x)}
        done, _ = futures.wait(places)
        return sum((places[f] + 1) * f.result() for f in futures.as_completed(places)) + len(done)


def errors_wait_for_the_question(x):
    def small(v):
        if v > 2:
            raise ValueError("too large")
        return v * v
    with futures.ThreadPoolExecutor() as pool:
        tasks = [pool.submit(small, v) for v in x]
        return sum(x[0] if task.exception() else task.result() for task in tasks)


def threads_of_multiprocessing(x):
    with ThreadPool(2) as pool:
        return sum(pool.map(np.exp, x)) + sum(pool.starmap(lambda a, b: a * b, [(x[0], x[1]), (x[2], 2.0)]))


def pool_from_outside(x):
    return sum(OUTSIDE.map(lambda v: v ** 3, x)) * OUTSIDE.submit(lambda v: v, x[0]).result()


def pool_of_multiprocessing_from_outside(x):
    terms = [*THREADS.map(np.tanh, x), *THREADS.imap(np.exp, x), *THREADS.imap_unordered(np.cos, x)]
    return sum(terms) + THREADS.apply(lambda a, b=1.0: a * b, (x[3],), {"b": 2.0})


@pytest.mark.parametrize("f", [mapped_inside, in_any_order, errors_wait_for_the_question, threads_of_multiprocessing,
                               pool_from_outside, pool_of_multiprocessing_from_outside])
@pytest.mark.filterwarnings("ignore::fad.util.errors.FallbackWarning")
def test_a_pool_runs_its_tasks(f):
    g = fad.value_and_grad(f)
    for x in (X, X * 0.9, X):
        value, slope = g(x)
        assert value == pytest.approx(f(x))
        np.testing.assert_allclose(slope, [(f(x + d) - f(x - d)) / 2e-6 for d in np.eye(4) * 1e-6], rtol=1e-6)


class Fit:
    """A model that keeps its pool, and counts."""

    def __init__(self):
        self.pool, self.calls = futures.ThreadPoolExecutor(2), 0

    def term(self, v):
        self.calls += 1
        return v * v * self.calls

    def loss(self, x):
        return sum(self.pool.map(self.term, x))


def test_tasks_are_compiled_and_their_state_is_right(recwarn):
    fit, plain = Fit(), Fit()
    g = fad.value_and_grad(fit.loss)
    for _ in range(3):
        assert g(X)[0] == plain.loss(X)
        assert fit.calls == plain.calls
    assert not [w for w in recwarn if issubclass(w.category, FallbackWarning)]


def squared(v):
    return v * v


def test_other_processes_and_later_answers_are_refused():
    def mapped(x):
        with multiprocessing.Pool(1) as pool:
            return sum(pool.map(squared, x))

    def later(x):
        return sum(THREADS.map_async(squared, x).get())
    for f in (mapped, later):
        with pytest.raises(UnstageableError):
            fad.grad(f)(X)
