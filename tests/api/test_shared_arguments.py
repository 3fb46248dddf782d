"""Arguments that are parts of one array, and are written to: changed as NumPy changes them, or refused."""
import warnings

import numpy as np
import pytest

import fad
from fad.util.errors import FallbackWarning, SideEffectError


def in_one_array(a, b):
    np.add(a, b, out=a)
    np.multiply(a[1:], 2.0, out=b[:-1])
    a.sort()
    return a[0] * b[1] + b.sum()


def itself():
    x = np.array([0.3, -0.6, 0.8, 0.1])
    return x, x


def backwards():
    x = np.array([0.3, -0.6, 0.8, 0.1])
    return x, x[::-1]


def shifted():
    x = np.array([0.3, -0.6, 0.8, 0.1])
    return x[1:], x[:-1]


@pytest.mark.parametrize("tier", ["never", "now"])
@pytest.mark.parametrize("make", [itself, backwards, shifted])
def test_what_is_written_to_one_is_seen_in_the_other(make, tier):
    f, plain, given = fad.jit(in_one_array), make(), make()
    with fad.config.using(compile=tier):
        with pytest.warns(FallbackWarning, match="shares its memory"):
            got = f(*given)
        np.testing.assert_allclose(got, in_one_array(*plain))
        np.testing.assert_array_equal(given, plain)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            plain, given = [[u.copy() for u in make()] for _ in range(2)]
            assert f(*given) == in_one_array(*plain)          # of separate arrays, which the program is for
        np.testing.assert_array_equal(given, plain)


def test_columns_of_one_array_are_separate():
    def f(a, b):
        a += b
        return a.sum()
    Z = np.arange(8.0).reshape(4, 2)
    assert fad.jit(f, fallback=False)(Z[:, 0], Z[:, 1]) == 28.0
    np.testing.assert_array_equal(Z[:, 0], [1.0, 5.0, 9.0, 13.0])


def test_an_argument_that_the_function_also_closes_over():
    x = np.arange(3.0)

    def f(a):
        a[0] = 5.0
        return x.sum()
    with pytest.raises(SideEffectError, match="shares its memory"):
        fad.jit(f, fallback=False)(x)
    assert fad.jit(f, fallback=False)(x.copy()) == 3.0


def test_what_is_only_read_may_be_shared():
    x = np.arange(3.0)
    assert fad.jit(lambda a, b: a @ b, fallback=False)(x, x) == 5.0


# -- derivatives -----------------------------------------------------------------------------------


def changed_by(a, b):
    a[0] = 3.0 * a[1]
    return a @ b


def changed_by_data(a, b):
    n = {0: len(b), 1: 2}[int(a[0] > 100.0)]                  # runs on the tape
    a[0] = 3.0 * a[1] * n
    return a @ b


DERIVATIVES = {"grad": lambda f: fad.grad(f), "of both": lambda f: fad.value_and_grad(f, argnums=(0, 1)),
               "hessian": lambda f: fad.hessian(f),
               "of the other one": lambda f: fad.grad(f, argnums=1),
               "jacrev": lambda f: fad.jacrev(f), "jvp": lambda f: lambda a, b: fad.jvp(f, (a, b), (a, b)),
               "vjp": lambda f: lambda a, b: fad.vjp(f, a, b)[1](1.0),
               "linearize": lambda f: lambda a, b: fad.linearize(f, a, b)[0],
               "grad of grad": lambda f: fad.grad(lambda a, b: fad.grad(f)(a, b) @ np.ones(len(a))),
               "in jit": lambda f: fad.jit(lambda a, b: fad.grad(f)(a, b)),
               "checkpointed": lambda f: fad.grad(fad.checkpoint(f))}


@pytest.mark.parametrize("f", [changed_by, changed_by_data], ids=lambda f: f.__name__)
@pytest.mark.parametrize("make", [itself, backwards, shifted])
@pytest.mark.parametrize("name", DERIVATIVES)
@pytest.mark.filterwarnings("ignore::fad.util.errors.FallbackWarning")
def test_a_derivative_of_what_is_written_and_shared_is_refused(name, make, f):
    derivative = DERIVATIVES[name](f)
    with pytest.raises(SideEffectError, match="shares its memory"):
        derivative(*make())
    separate = [u.copy() for u in make()]
    before = [u.copy() for u in separate]
    derivative(*separate)
    np.testing.assert_array_equal(separate, before)


@pytest.mark.filterwarnings("ignore::fad.util.errors.FallbackWarning")
@pytest.mark.parametrize("f", [changed_by, changed_by_data], ids=lambda f: f.__name__)
def test_a_batch_of_what_is_written_and_shared_is_refused(f):
    X = np.array([[0.3, -0.6, 0.8], [0.1, 0.5, -0.2]])
    with pytest.raises(SideEffectError, match="shares its memory"):
        fad.vmap(f)(X, X[:, ::-1])
    np.testing.assert_allclose(fad.vmap(f)(X, X[:, ::-1].copy()), [f(u.copy(), u[::-1].copy()) for u in X])


def test_under_a_derivative_too_what_the_function_closes_over_lies_apart():
    x = np.arange(3.0)

    def f(a):
        a[0] = 5.0 * a[1]
        return x @ a
    with pytest.raises(SideEffectError, match="shares its memory"):
        fad.grad(f)(x)
    np.testing.assert_allclose(fad.grad(f)(x.copy()), [0.0, 1.0, 2.0])


def test_parts_of_one_array_that_lie_apart_are_arguments_of_their_own():
    def halves(x):
        n = len(x) // 2
        return fad.grad(changed_by)(x[:n], x[n:])

    def rows(x):
        A = np.stack([x, 2.0 * x])
        return fad.grad(changed_by)(A[0], A[1])

    def meeting(x):
        return fad.grad(changed_by)(x[:3], x[2:5])
    x = np.array([0.3, -0.6, 0.8, 0.1, 0.5, -0.2])
    with fad.config.using(fallback=False):
        np.testing.assert_allclose(fad.jit(halves)(x), [0.0, 3 * x[3] + x[4], x[5]])
        np.testing.assert_allclose(fad.jit(rows)(x), [0.0, 2 * (3 * x[0] + x[1]), *(2 * x[2:])])
        with pytest.raises(SideEffectError, match="shares its memory"):
            fad.jit(meeting)(x)


def test_one_argument_that_is_written_to_has_no_other_to_share_with():
    def f(a):
        a *= 2.0
        return a @ a
    g = fad.grad(f, fallback=False)
    x = np.arange(3.0)
    np.testing.assert_allclose(g(x), 8.0 * x)
    with fad.config.using(compile="now"):
        h = fad.grad(f)
        h(x)
        assert h.latest is not None                           # the shortest way to the kernel


@pytest.mark.parametrize("transform",
                         [lambda h, a: fad.value_and_grad(h)(a)[0], lambda h, a: fad.vjp(h, a)[0],
                          lambda h, a: fad.checkpoint(h)(a)])
def test_an_array_of_the_function_around_that_is_read_and_written_as_an_argument(transform):
    def f(x):
        a = x * 1.0

        def h(v):
            v[0] += 2.0
            return (a * a).sum() + v.sum()
        return transform(h, a)
    with pytest.raises((SideEffectError, fad.FadError), match="share|may be"):
        fad.jit(f, fallback=False)(np.array([0.5, 0.6, 0.7]))


def test_arguments_that_may_be_one_by_a_loop():
    def written(v, w):
        v[0] += 2.0
        return (v * w).sum()

    def f(x):
        a = x * 1.0
        r = a
        for _ in range(len(x)):
            r = r[:]
        return fad.checkpoint(written)(a, r)
    with pytest.raises(fad.FadError, match="may be another one"):
        fad.jit(f, fallback=False)(np.array([0.5, 0.6, 0.7]))
