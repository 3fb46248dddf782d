"""Functions that are made anew, of the same code over the same kinds of values, share programs, and never results."""
# ruff: noqa: B023  (functions over what a loop binds are what is tested)
import functools
import gc
import threading
import tracemalloc
import warnings
import weakref

import numpy as np
import pytest

import fad
from fad.trace.guards.closures import FunctionPattern, parts_of

close = np.testing.assert_allclose
X = np.array([0.3, -0.7, 1.1])
RATE, SCALE = 2.0, np.ones(3)


def scaled(q, a):
    return np.sum(np.sin(q) * a)


class Model:
    kind = "plain"

    def __init__(self, w, power, parts=()):
        self.w, self.power, self.parts = w, power, list(parts)

    def loss(self, q):
        return np.sum(self.w * q ** self.power) + sum(np.sum(p * q) for p in self.parts)

    def __call__(self, q):
        return self.loss(q)


def over_array(a):
    return lambda q: np.sum(a * q ** 2)


def over_number(a):
    s = float(a[0])
    return lambda q: np.sum(q ** 2) * s


def over_count(a):
    n = int(abs(a[0]) * 100) % 5

    def f(q):
        y = q * 1.0
        for _ in range(n):
            y = y * q + a
        return np.sum(y)
    return f


def over_default(a):
    return lambda q, a=a, *, s=float(a[1]): np.sum(a * q ** 2) * s


def over_tuple(a):
    batch = (a, 2.0 * a)
    return lambda q: np.sum(batch[0] * q ** 2 + batch[1] * q)


def over_dict(a):
    batch = {"x": a, "n": [float(a[0]), 3]}
    return lambda q: np.sum(batch["x"] * q ** batch["n"][1]) * batch["n"][0]


def over_function(a):
    def inner(q):
        return q ** 2 * a

    def outer(q):
        return np.sum(inner(q))
    return lambda q: outer(q) + outer(2.0 * q)


def over_method(a):
    return Model(a, 2.0).loss


def over_object(a):
    return Model(a, 3, [a, 2 * a])


def over_partial(a):
    return functools.partial(scaled, a=a)


def over_same_twice(a):
    b = a
    return lambda q: np.sum(a * b * q) if a is b else np.sum(q)


def over_two(a):
    b = a + 1.0
    return lambda q: np.sum(a * b * q) if a is b else np.sum(b * q)


def over_gradient(a):
    g = fad.grad(lambda q: np.sum(a * q ** 3))
    return lambda q: np.sum(g(q) ** 2)


def over_recursion(a):
    def power(q, n):
        return a if n == 0 else q * power(q, n - 1)
    return lambda q: np.sum(power(q, 3))


def over_branch(a):
    s = float(a[0])

    def f(q):
        if s > 0.0:
            return np.sum(q * a)
        return np.sum(q ** 2 * a)
    return f


def over_text(a):
    kind = "sum" if a[0] > 0 else "mean"
    return lambda q: getattr(np, kind)(q ** 2 * a)


MAKERS = [over_array, over_number, over_count, over_default, over_tuple, over_dict, over_function, over_method,
          over_object, over_partial, over_same_twice, over_two, over_gradient, over_recursion, over_branch, over_text]


def differences(f, x, h=1e-6):
    return np.array([(f(x + h * e) - f(x - h * e)) / (2 * h) for e in np.eye(x.size)])


@pytest.mark.parametrize("make", MAKERS)
def test_each_function_has_its_own_gradient(make):
    random = np.random.default_rng(0)
    for k in range(12):
        f = make(random.normal(size=3))
        close(fad.grad(f)(X), differences(f, X), rtol=1e-5, atol=1e-7, err_msg=f"{make.__name__} {k}")
        value, g = fad.value_and_grad(f)(X)
        close(value, f(X), rtol=1e-12)
        close(fad.jvp(f, (X,), (np.ones(3),))[1], g.sum(), rtol=1e-8, atol=1e-10)
        close(fad.hvp(f, X, np.ones(3)), fad.hessian(f)(X).sum(1), rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("compile", ["never", "now"])
def test_hundreds_of_functions_in_any_order(compile):
    random = np.random.default_rng(1)
    with fad.config.using(compile=compile):
        kept = []
        for _ in range(300):
            make, a = MAKERS[random.integers(len(MAKERS))], random.normal(size=3)
            kept.append((make(a), a, make))
            f, a, make = kept[random.integers(len(kept))]
            close(fad.grad(f)(X), differences(f, X), rtol=1e-5, atol=1e-7, err_msg=make.__name__)


def test_functions_of_several_threads():
    errors = []

    def work(seed):
        random = np.random.default_rng(seed)
        for _ in range(60):
            make, a = (over_array, over_number, over_function, over_method)[random.integers(4)], random.normal(size=3)
            f = make(a)
            want = {over_array: 2 * a * X, over_number: 2 * X * a[0], over_function: 10 * X * a,
                    over_method: 2 * X * a}[make]
            if not np.allclose(fad.grad(f)(X), want, rtol=1e-10):
                errors.append((make, a))
    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not errors


def traces_of(run, count=10):
    """How many programs are traced in so many calls."""
    from fad.trace.runtime import capture
    seen, real = [], capture.Capture.function

    def counted(self, f):
        seen.append(f)
        return real(self, f)
    capture.Capture.function = counted
    try:
        for k in range(count):
            run(k)
            # the first, its pattern, and once more for a number that varies
            if k == 3:
                seen.clear()
    finally:
        capture.Capture.function = real
    return len(seen)


@pytest.mark.parametrize("make", [m for m in MAKERS if m not in (over_count, over_text)])
def test_functions_of_one_kind_are_traced_once(make):
    assert traces_of(lambda k: fad.grad(make(np.arange(3.0) + k + 1.0))(X)) == 0


def test_all_transforms_of_functions_of_one_kind_are_traced_once():
    v = np.ones(3)
    for run in (lambda f: fad.value_and_grad(f)(X), lambda f: fad.hvp(f, X, v), lambda f: fad.vhp(f, X, v),
                lambda f: fad.jvp(f, (X,), (v,)),
                lambda f: fad.vjp(f, X)[1](1.0), lambda f: fad.linearize(f, X)[1](v), lambda f: fad.jacobian(f)(X),
                lambda f: fad.hessian(f)(X),
                lambda f: fad.jit(f)(X), lambda f: fad.vmap(fad.grad(f))(np.stack([X, X])),
                lambda f: fad.functional.jacobian(f, X),
                lambda f: fad.functional.hvp(f, X, v), lambda f: fad.functional.vjp(f, X),
                lambda f: fad.functional.hessian(f, X)):
        assert traces_of(lambda k: run(over_array(np.arange(3.0) + k))) == 0


def test_the_same_function_is_traced_once():
    def f(q):
        return np.sum(q ** 2)
    assert traces_of(lambda k: fad.grad(f)(X + k)) == 0 and fad.grad(f).traces == 1
    f.__defaults__, f.__code__ = None, (lambda q: np.sum(q ** 3)).__code__
    close(fad.grad(f)(X), 3 * X ** 2)


def test_a_function_with_anothers_attributes_has_programs_of_its_own():
    def f(q):
        return np.sum(q ** 2)
    close(fad.grad(f)(X), 2 * X)
    close(fad.hvp(f, X, X), 2 * X)

    @functools.wraps(f)
    def g(q):
        return np.sum(q ** 3)
    close(fad.grad(g)(X), 3 * X ** 2)
    close(fad.hvp(g, X, np.ones(3)), 6 * X)


def test_names_that_are_bound_anew():
    """Of a function that is kept: its variables, and the global names that it uses."""
    global RATE, SCALE
    a = s = None

    def f(q):
        return np.sum(a * q ** 2) * s
    g, h = fad.grad(f), fad.grad(lambda q: np.sum(SCALE * q ** 2) * RATE)

    def run(k):
        nonlocal a, s
        global RATE, SCALE
        a, s = np.arange(3.0) + k, 1.0 + k
        SCALE, RATE = a, s
        close(g(X), 2 * a * X * s)
        close(h(X), 2 * a * X * s)
    assert traces_of(run) == 0


def test_what_a_function_changes_is_changed_each_time():
    def make(a):
        log = []

        def f(q):
            log.append("called")
            return np.sum(a * q)
        return f, log
    for k in range(5):
        f, log = make(np.arange(3.0) + k)
        close(fad.grad(f)(X), np.arange(3.0) + k)
        assert log[:1] == ["called"]

    def counting(a):
        count = 0

        def f(q):
            nonlocal count
            count = count + 1
            return np.sum(a * q)
        return f, lambda: count
    for k in range(5):
        f, count = counting(np.arange(3.0) + k)
        close(fad.grad(f)(X), np.arange(3.0) + k)
        assert count() == 1
    for k in range(5):
        a = np.zeros(3)

        def f(q):
            a[1] = k + 1.0
            return np.sum(a * q)
        fad.jit(f)(X)
        close(a, [0.0, k + 1.0, 0.0])


def test_an_object_that_is_known_by_itself():
    class Chosen:
        best = None

        def __init__(self, w):
            self.w = w

        def loss(self, q):
            return np.sum(self.w * q) if self is Chosen.best else np.sum(q ** 2)
    for k in range(8):
        m = Chosen(np.arange(3.0) + k)
        if k % 3 == 0:
            Chosen.best = m
        close(fad.grad(m.loss)(X), m.w if k % 3 == 0 else 2 * X)
    for m in [Chosen(np.ones(3)), Chosen.best, Chosen(np.ones(3)), Chosen.best]:
        close(fad.grad(m.loss)(X), m.w if m is Chosen.best else 2 * X)


def test_zeros_with_a_sign_and_nan_are_numbers_of_their_own():
    for s in (1.0, 1.0, 0.0, -0.0, 0.0, np.nan, 2.0, -0.0, np.inf):
        got = fad.jit(lambda q: np.copysign(q, s) * 1.0)(X)
        np.testing.assert_array_equal(got, np.copysign(X, s))


def test_sizes_and_dtypes_of_arrays_closed_over():
    for n in (3, 3, 4, 1, 5, 3):
        a = np.arange(float(n))
        close(fad.grad(lambda q: np.sum(a) * q)(2.0), a.sum())
    for dtype in (np.float64, np.float64, np.float32, np.int64, np.complex128, np.float64):
        a = np.ones(3, dtype)
        assert fad.jit(lambda q: q * a)(X).dtype == (X * a).dtype


def test_errors_are_those_of_the_function():
    for _ in range(4):
        a = np.ones(4)
        with pytest.raises(ValueError):
            fad.grad(lambda q: np.sum(q * a))(X)
    for _ in range(4):
        with pytest.raises(TypeError):
            fad.grad(lambda q: q * 2.0)(X)


def test_draws_are_made_from_the_generator_of_each_function():
    def make(seed):
        r, a = np.random.default_rng(seed), np.full(3, float(seed))
        return lambda q: np.sum(q * r.normal(size=3) * a)
    for seed in range(5):
        close(fad.grad(make(seed))(X), np.random.default_rng(seed).normal(size=3) * seed)


def test_memory_does_not_grow():
    def step(k):
        a = np.full(100, float(k))
        # a compilation in the background would import Numba while memory is measured
        return fad.grad(lambda q: np.sum(a * q ** 2), compile="never")(np.ones(100))
    for k in range(50):
        step(k)
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for k in range(3000):
        step(k)
    gc.collect()
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert grown < 200_000


def test_arrays_are_not_kept():
    refs = []
    for k in range(6):
        a = np.full(1000, float(k))
        refs.append(weakref.ref(a))
        fad.grad(lambda q: np.sum(a * q ** 2))(np.ones(1000))
    a = None
    gc.collect()
    assert not any(r() is not None for r in refs)


def test_a_pattern_makes_functions_like_its_own():
    a = np.arange(3.0)
    for make in MAKERS:
        f = make(a)
        parts = parts_of(f)
        again = FunctionPattern(f).fill(parts.slots)
        np.testing.assert_array_equal(again.function(X), f(X))
        assert parts_of(again.function).key == parts_of(make(a)).key or make in (over_partial,)
        assert again.is_untouched


def test_a_function_that_is_called_again_and_again_gets_a_program_of_its_own():
    first, second, g = [fad.jit(fad.grad(over_array(k * X)), compile="now") for k in (1, 2, 3)]
    for made in (first, second, g):
        made(X)
    assert g.latest is None                                  # a shared program answers
    for _ in range(600):
        found = g(X)
    assert g.latest is not None
    close(found, 6 * X * X)
    second(X)
    assert second.latest is None


def test_a_weak_reference_to_what_is_gone_is_in_nobodys_way():
    class Holder:
        k = 2.0
    gone = Holder()
    holder = Holder()
    holder.proxy, holder.reference = weakref.proxy(gone), weakref.ref(gone)
    del gone
    gc.collect()
    with warnings.catch_warnings():
        warnings.simplefilter("error", fad.InternalErrorWarning)
        warnings.simplefilter("ignore", fad.FallbackWarning)
        for k in (2.0, 3.0, 4.0):
            holder.k = k
            assert np.isclose(fad.grad(lambda x: np.sum(x) * holder.k)(np.ones(2))[0], k)
