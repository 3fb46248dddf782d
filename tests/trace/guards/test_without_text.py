"""Functions without a text that are given objects: as `self`, as the class of a class method, as an argument, in a
partial. They read and change what fad does not see, so a call is what Python's call is then.
"""
import functools
import warnings

import numpy as np
import pytest

import fad

TEXT = """
class Model:
    total = 0
    def __init__(self): self.n, self.log, self.rate = 0, [], 2.0
    def counts(self, x):
        self.n += 1
        return np.sum(x ** 2) * self.n
    def logs(self, x):
        self.log.append(len(self.log))
        return np.sum(x ** 2) * len(self.log)
    def reads(self, x): return np.sum(x ** 2) * self.rate
    def reads_inner(self, x): return np.sum(x ** 2) * self.inner.rate
    def __call__(self, x): return self.counts(x)
    @classmethod
    def of_class(cls, x):
        cls.total += 1
        return np.sum(x ** 2) * cls.total
    @staticmethod
    def given(model, x):
        model.n += 1
        return np.sum(x ** 2) * model.n * model.rate
def given(model, x): return Model.given(model, x)
"""
X = np.array([0.3, 0.7])


def made(name="program"):
    scope = {"np": np, "__name__": name} if name else {"np": np}
    exec(TEXT, scope)
    model = scope["Model"]()
    model.inner = scope["Model"]()
    return scope, model


FUNCTIONS = {
    "method that counts": lambda scope, m: m.counts,
    "method that logs": lambda scope, m: m.logs,
    "method that reads": lambda scope, m: m.reads,
    "method that reads an object within": lambda scope, m: m.reads_inner,
    "object": lambda scope, m: m,
    "class method": lambda scope, m: scope["Model"].of_class,
    "class method of an object": lambda scope, m: m.of_class,
    "partial": lambda scope, m: functools.partial(scope["given"], m),
    "partial of a method": lambda scope, m: functools.partial(m.counts),
    "partial of a class method": lambda scope, m: functools.partial(m.of_class),
    "lambda": lambda scope, m: lambda x: m.counts(x),
}
WITH_ARGUMENT = {
    "argument": lambda scope, m: (scope["given"], m),
    "argument of a static method": lambda scope, m: (m.given, m),
}


def state(scope, m):
    return m.n, m.log, m.rate, m.inner.rate, scope["Model"].total


def change(scope, m, k):
    m.rate += k
    m.inner.rate += k


@pytest.mark.parametrize("module", ["program", ""])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_objects(name, module):
    plain, staged = made(module), made(module)
    f, g = FUNCTIONS[name](*plain), fad.value_and_grad(FUNCTIONS[name](*staged))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fad.FallbackWarning)
        for k in range(4):
            value, gradient = g(X)
            expected = f(X)
            np.testing.assert_allclose(value, expected)
            np.testing.assert_allclose(gradient, 2.0 * X * expected / np.sum(X ** 2))
            assert state(*staged) == state(*plain)
            change(*plain, k), change(*staged, k)


@pytest.mark.parametrize("name", WITH_ARGUMENT)
def test_objects_as_arguments(name):
    plain, staged = made(), made()
    (f, ours), (g, theirs) = WITH_ARGUMENT[name](*plain), WITH_ARGUMENT[name](*staged)
    g = fad.value_and_grad(g, argnums=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fad.FallbackWarning)
        for k in range(4):
            value, gradient = g(theirs, X)
            expected = f(ours, X)
            np.testing.assert_allclose(value, expected)
            np.testing.assert_allclose(gradient, 2.0 * X * expected / np.sum(X ** 2))
            assert state(*staged) == state(*plain)
            change(*plain, k), change(*staged, k)
