"""State that a function changes at each call: after 20 calls it is what Python leaves, and few traces were made."""
import copy

import numpy as np
import pytest

import fad


class Model:
    total = 0

    def __init__(self):
        self.calls, self.best, self.x, self.mean, self.log = 0, None, np.zeros(2), 0.0, {"loss": [], "x": []}
        self.flip, self.last = False, None

    def counted(self, x):
        self.calls += 1
        type(self).total += 1
        return np.sum(x ** 2) / self.calls

    def best_so_far(self, x):
        loss = np.sum(x ** 2)
        if self.best is None or loss < self.best:
            self.best = loss
        return loss

    def best_point(self, x):
        loss = np.sum((x - self.x) ** 2)
        if loss < self.mean + 1.0:
            self.mean = loss
            self.x = x.copy()
        return loss

    def averaged(self, x):
        loss = np.sum(x ** 2)
        self.mean = 0.9 * self.mean + 0.1 * loss
        return self.mean * loss

    def logged(self, x):
        loss = np.sum(x ** 2)
        self.log["loss"].append(float(loss))
        self.log["x"].append(x.copy())
        return loss

    def momentum(self, x):
        self.last, before = x.copy(), 0.0 if self.last is None else self.last
        self.flip = not self.flip
        return np.sum((x - before) ** 2) * (2.0 if self.flip else 1.0)

    def widened(self, x):
        self.calls = self.calls * 0.5 if self.calls == 3 else self.calls + 1
        return np.sum(x ** 2) * self.calls


def is_equal(a, b):
    if isinstance(a, dict):
        return list(a) == list(b) and all(is_equal(a[k], b[k]) for k in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(map(is_equal, a, b))
    # where branches mix the two, a float is NumPy's
    kinds = [float if isinstance(x, float) else type(x) for x in (a, b)]
    return kinds[0] is kinds[1] and (a is None or np.allclose(a, b))


@pytest.mark.parametrize("transform", [fad.jit, fad.grad, fad.value_and_grad])
@pytest.mark.parametrize("name", ["counted", "best_so_far", "best_point", "averaged", "logged", "momentum", "widened"])
def test_state_is_what_python_leaves(name, transform, traces):
    plain, staged = Model(), Model()
    f, g = getattr(plain, name), transform(getattr(staged, name), fallback=False)
    for k in range(20):
        x, before = np.array([1.0, 2.0]) * np.cos(k), copy.deepcopy(plain)
        expected, found = f(x), g(x)
        assert is_equal(vars(staged), vars(plain))
        if transform is fad.jit:
            np.testing.assert_allclose(found, expected)
            continue
        slopes = []
        for e in np.eye(2) * 1e-6:
            up, down = (getattr(copy.deepcopy(before), name)(x + s * e) for s in (1, -1))
            slopes.append((up - down) / 2e-6)
        np.testing.assert_allclose(found if transform is fad.grad else found[1], slopes, rtol=1e-4, atol=1e-6)
    if name != "widened":
        assert len(traces) <= 3


def test_what_a_branch_may_keep_is_a_guard():
    model = Model()

    def f(x):
        if x[0] > 0.5:
            model.mean = x[1]
        return x[0] * model.mean
    g = fad.jit(f, fallback=False)
    for mean in (2.0, 3.0, 4.0):
        model.mean = mean
        assert g(np.array([0.4, 7.0])) == 0.4 * mean
