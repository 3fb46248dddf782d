"""Functions that change something outside, in each transform: called as often as Python calls them, or refused with
nothing changed."""
import warnings
from types import SimpleNamespace

import numpy as np
import pytest

import fad
from fad.util.errors import ArgumentError, SideEffectError

X, V = np.array([1.0, 2.0]), np.array([0.5, 1.0])


def stateful():
    o = SimpleNamespace(k=0, log=[], w=np.zeros(2))

    def f(x):
        o.k += 1
        loss = np.sum(x ** 3) * o.k
        o.log.append(float(loss))
        o.w = o.w * 0.5 + x
        return loss + np.sum(o.w * x)
    return f, o


def at(k):
    """The function that the k-th call of it at X computes, and what it leaves."""
    w = np.zeros(2)
    for _ in range(k - 1):
        w = w * 0.5 + X

    def f(x):
        return np.sum(x ** 3) * k + np.sum((w * 0.5 + x) * x)
    return f, (k, [9.0 * n for n in range(1, k + 1)], (w * 0.5 + X).tolist())


def vector(f):
    return lambda x: f(x) * x


TRANSFORMS = {
    "jit": lambda f: fad.jit(f)(X),
    "grad": lambda f: fad.grad(f)(X),
    "value_and_grad": lambda f: fad.value_and_grad(f)(X),
    "hessian": lambda f: fad.hessian(f)(X),
    "jacobian": lambda f: fad.jacobian(vector(f))(X),
    "jacfwd": lambda f: fad.jacfwd(vector(f))(X),
    "jacrev": lambda f: fad.jacrev(vector(f))(X),
    "jvp": lambda f: fad.jvp(f, (X,), (V,)),
    "vjp": lambda f: (lambda value, back: (value, *back(1.0), *back(2.0)))(*fad.vjp(f, X)),
    "hvp": lambda f: fad.hvp(f, X, V),
    "vhp": lambda f: fad.vhp(f, X, V),
    "linearize": lambda f: (lambda value, push: (value, push(V), push(X)))(*fad.linearize(f, X)),
    "grad of grad": lambda f: fad.grad(lambda x: np.sum(fad.grad(f)(x)))(X),
    "jit of grad": lambda f: fad.jit(lambda x: fad.grad(f)(x) * 2.0)(X),
    "checkpoint": lambda f: fad.grad(fad.checkpoint(f))(X),
    "branch of cond": lambda f: fad.jit(lambda x: fad.cond(x[0] > 0.0, f, f, x))(X),
}


ON_THE_TAPE = ("checkpoint", "branch of cond")


def parts(result):
    return result if isinstance(result, tuple) else (result,)


@pytest.mark.parametrize("name", TRANSFORMS)
def test_each_transform_calls_the_function_once(name):
    f, o = stateful()
    for k in range(1, 5):
        expected, left = at(k)
        with warnings.catch_warnings():
            if name in ON_THE_TAPE:
                warnings.simplefilter("ignore", fad.FallbackWarning)
            pairs = zip(parts(TRANSFORMS[name](f)), parts(TRANSFORMS[name](expected)), strict=True)
        for found, wanted in pairs:
            np.testing.assert_allclose(found, wanted, rtol=1e-12)
        assert (o.k, np.round(o.log, 9).tolist(), o.w.tolist()) == left


def test_two_calls_within_a_program():
    (f, o), (plain, p) = stateful(), stateful()
    g = fad.value_and_grad(lambda x: f(x) + f(2.0 * x))
    for _ in range(4):
        np.testing.assert_allclose(g(X)[0], plain(X) + plain(2.0 * X))
        assert o.k == p.k and np.allclose(o.log, p.log) and np.allclose(o.w, p.w)
    assert any(p.is_current() for programs in g.programs.values() for p in programs)


COUNT = 0


def counted(x):
    global COUNT
    COUNT += 1
    return np.sum(x ** 2) * COUNT


def test_variables_of_functions_that_transforms_within_a_program_call():
    global COUNT

    def enclosed():
        n = 0

        def f(x):
            nonlocal n
            n += 1
            return np.sum(x ** 2) * n
        return f, lambda: n
    COUNT = 0
    f, count = enclosed()
    for h, number in [(counted, lambda: COUNT), (f, count)]:
        g = fad.jit(lambda x, h=h: fad.grad(h)(x) + h(x) + fad.grad(h)(2.0 * x), fallback=False)
        for k in range(4):
            np.testing.assert_allclose(g(X), 2.0 * X * (3 * k + 1) + 5.0 * (3 * k + 2) + 4.0 * X * (3 * k + 3))
            assert number() == 3 * k + 3


def test_examples_of_a_batch_change_what_is_outside_one_after_the_other():
    f, o = stateful()
    h, p = stateful()
    g = fad.vmap(f, fallback=False)
    for k in range(4):
        batch = np.stack([X, V + k])
        np.testing.assert_allclose(g(batch), [h(x) for x in batch])
        assert (o.k, o.log, o.w.tolist()) == (p.k, p.log, p.w.tolist())
    calls = [0]

    def count(x):
        calls[0] += 1
        return {"sum": np.sum(x), "name": "sum", "two": (x * 2.0, None)}
    y = fad.vmap(count, fallback=False)(np.stack([X, V]))
    np.testing.assert_allclose(y["sum"], [3.0, 1.5])
    np.testing.assert_allclose(y["two"][0], [2.0 * X, 2.0 * V])
    assert calls == [2] and y["name"] == "sum" and y["two"][1] is None


@pytest.mark.parametrize("compile", ["now", "never"])
def test_examples_of_a_batch_draw_one_after_the_other(compile):
    rng, other, scratch = np.random.default_rng(0), np.random.default_rng(0), np.zeros(2)

    def f(x):
        for k in range(2):
            scratch[k] = x[k] ** 2
        return np.sum(scratch * rng.normal(size=2))
    g = fad.vmap(fad.value_and_grad(f), fallback=False, compile=compile)
    for _ in range(3):
        drawn = other.normal(size=(2, 2))
        value, gradient = g(np.stack([X, V]))
        np.testing.assert_allclose(gradient, 2.0 * np.stack([X, V]) * drawn)
        np.testing.assert_allclose(value, np.sum(np.stack([X, V]) ** 2 * drawn, axis=1))
    assert scratch.tolist() == (V ** 2).tolist()
    assert rng.bit_generator.state == other.bit_generator.state


def test_examples_of_a_batch_have_results_of_one_structure():
    calls = [0]

    def f(x):
        calls[0] += 1
        return (x,) if calls[0] % 2 else x
    with pytest.raises(fad.FadError):
        fad.vmap(f, fallback=False)(np.stack([X, V, X]))
    assert calls == [0]


def test_examples_of_a_batch_may_fill_a_memo():
    memo = {}

    def f(x):
        if "table" not in memo:
            memo["table"] = np.arange(2) + 1.0
        return np.sum(x * memo["table"])
    g = fad.vmap(f, fallback=False)
    for _ in range(3):
        np.testing.assert_allclose(g(np.stack([X, V])), [5.0, 2.5])
    assert list(memo) == ["table"] and memo["table"].tolist() == [1.0, 2.0]


def test_what_runs_without_python_refuses_state(tmp_path):
    f, o = stateful()
    with pytest.raises(ArgumentError, match="changes something outside"):
        fad.export(fad.grad(f), X, path=tmp_path / "gradient.py")
    with pytest.raises(SideEffectError, match="changes something outside"):
        fad.grad(f).njit(X)
    with pytest.raises(SideEffectError, match="changes something outside"):
        fad.cfunc(f, X)
    with pytest.raises(SideEffectError, match="changes something outside"):
        fad.sparse.jacobian(vector(f))(X)
    for look in (fad.show, fad.source, fad.explain):
        look(fad.grad(f), X)
    assert (o.k, o.log, o.w.tolist()) == (0, [], [0.0, 0.0])
    np.testing.assert_allclose(fad.grad(f)(X), fad.grad(at(1)[0])(X))
