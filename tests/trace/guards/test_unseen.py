"""State that changes where captured code does not see it: by functions that libraries call, by Python itself, through
memory that is shared.

Each case makes a function anew, so that what it counts begins anew. It is called several times, and must be at each
call what Python is then.
"""
import array
import contextvars
import functools
import random
import sys
import threading
import warnings
from collections import OrderedDict

import numpy as np
import pytest
from scipy import stats
from scipy.stats import qmc

import fad

POINTS = [np.array(x) for x in ([0.3, 0.7], [0.6, 0.2], [0.3, 0.7])]
VARIABLE = contextvars.ContextVar("VARIABLE", default=1.0)
MARKS, SUMS, NUMBERS = bytearray(1), array.array("d", [0.0]), np.ones(2)


def called(make, k, x):
    """What the function returns at its call k."""
    f = make()
    for y in POINTS[:k]:
        f(y.copy())
    return f(x)


def slope(make, k, x):
    return [(called(make, k, x + h) - called(make, k, x - h)) / 2e-6 for h in 1e-6 * np.eye(2)]


def assert_as_python(make, is_refused=False):
    """fad is what Python is at each call; a derivative may be refused, if so."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fad.FallbackWarning)
        for k, x in enumerate(POINTS):
            expected = called(make, k, x)
            assert np.isclose(called(lambda: fad.jit(make()), k, x), expected)
        for k, x in enumerate(POINTS):
            expected = slope(make, k, x)
            try:
                found = called(lambda: fad.grad(make()), k, x)
            except fad.util.errors.FadError:
                assert is_refused
                continue
            np.testing.assert_allclose(found, expected, atol=1e-5)


def counting(n, v):
    n[0] += 1
    return v * n[0]


def vectorized_outside():
    g = np.vectorize(functools.partial(counting, [0]))
    return lambda x: np.sum(g(x))


def vectorized_of_numbers():
    g = np.vectorize(functools.partial(counting, [0]))
    return lambda x: np.sum(g(np.arange(2)) * x)


def vectorized_inside():
    def f(x):
        n = [0]

        def g(v):
            n[0] += 1
            return v * n[0]
        return np.sum(np.vectorize(g)(x)) * n[0]
    return f


def vectorized_in_a_loop():
    def f(x):
        rng, s = np.random.default_rng(3), 0.0
        g = np.vectorize(lambda v: v * rng.random())
        for _ in range(12):
            s += np.sum(g(np.arange(2.0)) * x)
        return s
    return f


def vectorized_draws():
    rng = np.random.default_rng(3)
    g = np.vectorize(lambda v: v * rng.random())
    return lambda x: np.sum(g(x))


def vectorized_object():
    class Counts:
        n = 0

        def __call__(self, v):
            self.n += 1
            return v * self.n
    g = np.vectorize(Counts())
    return lambda x: np.sum(g(x))


def in_pieces():
    n = [0]

    def g(v):
        n[0] += 1
        return v * n[0]
    return lambda x: np.sum(np.piecewise(x, [x > 0.5], [g, lambda v: v]))


def of_a_python_ufunc():
    g = np.frompyfunc(functools.partial(counting, [0]), 1, 1)
    return lambda x: float(g(2.0)) * np.sum(x)


def first_result_an_int():
    return lambda x: np.sum(np.vectorize(lambda v: 0 if v < 0.5 else v * v * 10)(x)) * x[0]


def any_of_calls():
    n = []

    def large(v):
        n.append(v)
        return v > 0.4
    return lambda x: (2.0 if any(large(v) for v in x) else 1.0) * len(n) * x[0] * x[1]


@pytest.mark.parametrize("make",
                         [vectorized_outside, vectorized_of_numbers, vectorized_inside, vectorized_in_a_loop,
                          vectorized_draws, vectorized_object,
                                  in_pieces, of_a_python_ufunc, first_result_an_int, any_of_calls],
                         ids=lambda f: f.__name__)
def test_functions_that_libraries_call_may_count(make):
    assert_as_python(make, is_refused=True)


def test_a_vectorized_function_from_outside_is_compiled():
    g = np.vectorize(lambda v: v * v if v > 0.5 else 3.0 * v)
    f = lambda x: np.sum(g(x) * g(np.arange(2.0)))
    x = np.array([0.3, 0.7])
    assert np.isclose(fad.jit(f, fallback=False)(x), f(x))
    np.testing.assert_allclose(fad.grad(f, fallback=False)(x), [0.0, 1.4])


def test_errstate_as_a_decorator():
    def make():
        heard = []

        @np.errstate(divide="call", call=lambda kind, flag: heard.append(kind))
        def g(x):
            return 1.0 / (x - x[0])

        def f(x):
            g(x)
            return np.sum(x * x) * len(heard)
        return f
    assert_as_python(make)


def context_variable():
    VARIABLE.set(1.0)

    def f(x):
        if x[0] > 0.5:
            VARIABLE.set(2.0)
        else:
            VARIABLE.set(3.0)
        return x[0] * x[1] * VARIABLE.get()
    return f


def context_variable_in_a_loop():
    VARIABLE.set(1.0)

    def f(x):
        s = 0.0
        for _ in range(12):
            VARIABLE.set(VARIABLE.get() + 1)
            s += x[0] * x[1] * VARIABLE.get()
        return s
    return f


def global_bytes():
    MARKS[0] = 0

    def f(x):
        if x[0] > 0.5:
            MARKS[0] += 3
        else:
            MARKS[0] += 2
        return x[0] * MARKS[0] * x[1]
    return f


def global_sums():
    del SUMS[1:]

    def f(x):
        if x[0] > 0.5:
            SUMS.append(1.0)
        return x[0] * len(SUMS) * x[1]
    return f


def a_view_of_memory():
    NUMBERS[:] = 1.0
    view = memoryview(NUMBERS)

    def f(x):
        NUMBERS[0] += x[0]
        return view[0] * x[0] * x[1]
    return f


def order_of_a_dict():
    def f(x):
        d = {"a": 1.0, "b": 2.0}
        if x[0] > 0.5:
            d["a"] = d.pop("a")
        return x[0] * x[1] * next(iter(d.values()))
    return f


def texts():
    a = np.array(["a", "b"])

    def f(x):
        a[0] = "b" if a[0] == "a" else "a"
        if x[0] > 0.5:
            a[1] = "c"
        else:
            a[1] = "d"
        return x[0] * x[1] * (1.0 + (a[0] == "b") + 2.0 * (a[1] == "c"))
    return f


def records():
    a = np.zeros(1, dtype=[("k", float)])

    def f(x):
        if x[0] > 0.5:
            a["k"][0] += 1
        else:
            a["k"][0] += 2
        return x[0] * x[1] * a["k"][0]
    return f


def order_of_an_ordered_dict():
    d = OrderedDict(a=1.0, b=2.0)

    def f(x):
        d.move_to_end(next(iter(d)))
        return x[0] * x[1] * next(iter(d.values()))
    return f


def memo_of_a_vectorized_function():
    memo = {}

    def of_one(v):
        if "factor" not in memo:
            memo["factor"] = 2.5
        return v * memo["factor"]
    return lambda x: np.sum(np.vectorize(of_one)(x * x[0]))


def a_view_that_is_not_read():
    class Reader:
        def __init__(self):
            self.raw, self.weight = memoryview(bytearray(4)), 2.0

        def read(self, x):
            return x[0] * x[1] * self.weight
    return Reader().read


def numbers_of_a_thread():
    local = threading.local()
    local.k = 1.0

    def f(x):
        if x[0] > 0.5:
            local.k += 1.0
        else:
            local.k += 2.0
        return x[0] * x[1] * local.k
    return f


@pytest.mark.parametrize("make",
                         [context_variable, context_variable_in_a_loop, global_bytes, global_sums, a_view_of_memory,
                          order_of_a_dict, texts, records,
                                  numbers_of_a_thread, order_of_an_ordered_dict, memo_of_a_vectorized_function,
                          a_view_that_is_not_read], ids=lambda f: f.__name__)
def test_what_holds_no_traced_values(make):
    assert_as_python(make, is_refused=make is a_view_of_memory)


def frozen_distribution():
    d = stats.norm(0, 1)
    d.random_state = np.random.default_rng(3)
    return lambda x: x[0] * x[1] * d.rvs()


def frozen_in_a_branch():
    def f(x):
        d, s = stats.multivariate_normal(0, 1, seed=3), 1.0
        if x[0] > 0.5:
            s += d.rvs()
        return s * x[0] * x[1] * d.rvs()
    return f


def quasi_random():
    points = qmc.Sobol(1, seed=3)
    return lambda x: x[0] * x[1] * points.random(1)[0, 0]


def bits():
    source = np.random.PCG64(3)
    return lambda x: x[0] * x[1] * (source.random_raw() % 5)


def generator_of_a_class():
    class Draws:
        rng = np.random.default_rng(3)
    return lambda x: x[0] * x[1] * Draws.rng.random()


def generator_by_keyword():
    def f(x, *, rng=None):
        return x[0] * x[1] * rng.random()
    f.__kwdefaults__ = {"rng": np.random.default_rng(3)}
    return f


def nobodys_numbers():
    source = random.SystemRandom()
    return lambda x: x[0] * x[1] * (source.random() < 2.0)


@pytest.mark.parametrize("make",
                         [nobodys_numbers, frozen_distribution, frozen_in_a_branch, quasi_random, bits,
                          generator_of_a_class,
                                  generator_by_keyword], ids=lambda f: f.__name__)
def test_generators_wherever_they_are(make):
    assert_as_python(make)


class Counted:
    n = 0

    def __add__(self, other):
        Counted.n += 1
        return Counted.n

    def __contains__(self, x):
        Counted.n += 1
        return Counted.n % 2 == 0

    def __eq__(self, other):
        self.n += 1
        return True

    __hash__ = object.__hash__


def operator_that_counts():
    Counted.n = 0
    return lambda x: x[0] * x[1] * (Counted() + 1)


def question_that_counts():
    Counted.n, c = 0, Counted()
    return lambda x: x[0] * x[1] * (2.0 if 3 in c else 1.0)


def comparison_that_counts():
    Counted.n, c = 0, Counted()

    def f(x):
        assert (c, 1) == (3, 1)
        return x[0] * x[1] * c.n
    return f


def property_that_appends():
    log = []

    class Logs:
        @property
        def length(self):
            log.append(1)
            return len(log)
    c = Logs()

    def f(x):
        s = 0.0
        for _ in range(12):
            s += x[0] * x[1] * c.length
        return s
    return f


@pytest.mark.parametrize("make",
                         [operator_that_counts, question_that_counts, comparison_that_counts, property_that_appends],
                         ids=lambda f: f.__name__)
def test_methods_that_python_calls_may_count(make):
    assert_as_python(make)


def test_what_a_trace_leaves_once_and_for_all_is_left():
    class Model:
        fitted, calls = False, None
    model = Model()

    def f(x):
        model.fitted, model.calls = True, 2.0 * 1.5
        return x[0] * x[1]
    assert np.isclose(fad.jit(f, fallback=False)(POINTS[0]), 0.21)
    assert model.fitted and model.calls == 3.0


names = locals


def locals_by_another_name():
    def f(x):
        see = locals
        if x[0] > 0.5:
            y = x[0] * x[1]                                   # noqa: F841
        return 2.0 * x[1] * see().get("y", x[0])
    return f


def locals_of_the_module():
    return lambda x: x[0] * x[1] * len(names())


def frame():
    def f(x):
        y = x[0] * x[1]
        return 2.0 * sys._getframe().f_locals["y"] + y
    return f


def global_names():
    return lambda x: x[0] * x[1] * globals().get("NUMBER_OF_ITERATIONS", 7.0)


NUMBER_OF_ITERATIONS = 2.0


@pytest.mark.parametrize("make", [locals_by_another_name, locals_of_the_module, frame, global_names],
                         ids=lambda f: f.__name__)
def test_code_that_sees_the_names_of_a_function(make):
    assert_as_python(make, is_refused=True)
