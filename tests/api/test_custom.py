"""Derivatives of the user's own: custom_jvp, custom_vjp, checkpoint, implicit."""
import functools

import numpy as np
import pytest

import fad
from fad.util.errors import SideEffectError

close = np.testing.assert_allclose
x = np.array([0.5, 1.0, 2.0])


@fad.custom_jvp
def squared(t):
    return t * t


@squared.defjvp
def _five(primals, tangents):
    return primals[0] ** 2, 5 * tangents[0]


@fad.custom_vjp
def clipped(t, bound):
    return t * 1.0


clipped.defvjp(lambda t, bound: (t * 1.0, bound), lambda bound, g: (np.minimum(g, bound), None))


def test_a_jvp_rule_serves_both_modes():
    close(squared(x), x ** 2)
    close(fad.grad(lambda t: np.sum(squared(t)))(x), 5)
    close(fad.jvp(squared, (x,), (x,))[1], 5 * x)
    close(fad.jacfwd(squared)(x), 5 * np.eye(3)), close(fad.jacrev(squared)(x), 5 * np.eye(3))
    close(fad.vmap(fad.grad(squared))(x), 5), close(fad.grad(lambda t: np.sum(fad.vmap(squared)(t)))(x), 5)


def test_a_vjp_rule_serves_reverse_mode_and_says_so_in_forward_mode():
    close(fad.grad(lambda t: np.sum(10 * clipped(t, 1.0)))(x), 1)
    close(fad.jit(clipped)(x, 1.0), x)
    with pytest.raises(TypeError, match="forward"):
        fad.jvp(lambda t: clipped(t, 1.0), (x,), (x,))
    close(fad.jacfwd(fad.grad(lambda t: np.sum(clipped(t, 1.0) ** 2)))(np.array([0.1, 0.2])), 2 * np.eye(2))


def test_structures_and_nondiff_arguments():
    @fad.custom_vjp
    def f(p, q):
        return {"y": p["a"] * q}
    f.defvjp(lambda p, q: ({"y": p["a"] * q}, (p, q)), lambda saved, g: ({"a": 7 * g["y"]}, None))
    close(fad.grad(lambda p: np.sum(f(p, 2.0)["y"]))({"a": x})["a"], 7)
    f.defvjp(lambda p, q: ({"y": p["a"] * q}, q), lambda q, g: ({"a": q * g["y"], "b": None, "note": None}, None))
    g = fad.grad(lambda p: np.sum(f(p, 2.0)["y"]))({"a": x, "b": x, "note": None})
    close(g["a"], 2), close(g["b"], 0)

    def power(n, t):
        return t ** n
    power = fad.custom_vjp(power, nondiff_argnums=(0,))
    power.defvjp(lambda n, t: (t ** n, t), lambda n, t, g: (g * n * t ** (n - 1) * 100,))
    close(fad.grad(lambda t: power(3, t))(2.0), 1200)

    applied = fad.custom_jvp(lambda f, t, n: f(t) ** n, nondiff_argnums=(0, 2))
    applied.defjvp(lambda f, n, primals, tangents: (f(*primals) ** n, 100 * n * tangents[0]))
    close(fad.grad(lambda t: applied(np.sin, t, 3))(2.0), 300)
    close(fad.jvp(lambda t: applied(np.sin, t, 3), (x,), (x,))[1], 300 * x)
    close(fad.vmap(fad.grad(lambda t: applied(np.sin, t, 3)))(x), 300)


def test_wrong_rules_raise():
    @fad.custom_vjp
    def f(t):
        return t * 1.0
    with pytest.raises(ValueError, match="rule"):
        fad.grad(f)(1.0)
    f.defvjp(lambda t: t, lambda saved, g: (g,))
    with pytest.raises(TypeError, match="pair"):
        fad.grad(f)(1.0)
    f.defvjp(lambda t: (t, None), lambda saved, g: (g, g))
    with pytest.raises(TypeError, match="1 cotangents"):
        fad.grad(f)(1.0)


def test_a_differentiated_closure_is_refused():
    def outer(a):
        @fad.custom_vjp
        def f(t):
            return t * a
        f.defvjp(lambda t: (t * a, None), lambda saved, g: (g,))
        return f(2.0 * a)
    with pytest.raises(TypeError, match="argument"):
        fad.grad(outer)(3.0)


def test_checkpoint_changes_no_number():
    f = lambda t: np.sum(np.sin(t) ** 2 * t)
    g = fad.checkpoint(f)
    close(g(x), f(x)), close(fad.grad(g)(x), fad.grad(f)(x)), close(fad.hessian(g)(x), fad.hessian(f)(x))
    close(fad.jvp(g, (x,), (x,))[1], fad.jvp(f, (x,), (x,))[1])


def test_checkpoint_of_a_function_without_a_name():
    close(fad.grad(lambda a: fad.checkpoint(functools.partial(pow, a))(2.0))(3.0), 6.0)


def test_checkpoint_of_a_closure_over_a_differentiated_value():
    f = lambda a: fad.checkpoint(lambda t: np.sum(np.sin(t) * a))(x * a)
    close(fad.grad(f)(1.3), fad.grad(lambda a: np.sum(np.sin(x * a) * a))(1.3))


def test_implicit_root_and_its_second_derivative():
    def newton(t, a):
        for _ in range(60):
            t = t - (t * t - a) / (2 * t)
        return t
    root = fad.implicit(newton, root=lambda t, a: t * t - a)
    close(root(1.0, 4.0), 2.0)
    close(fad.grad(root, argnums=1)(1.0, 4.0), 0.25)
    close(fad.jvp(lambda a: root(1.0, a), (4.0,), (1.0,))[1], 0.25)
    close(fad.grad(fad.grad(root, argnums=1), argnums=1)(1.0, 4.0), -1 / 32)


def test_implicit_minimum_with_scipy():
    import scipy.optimize

    def solve(x0, a, b):
        return scipy.optimize.minimize(lambda t: np.sum((t - a) ** 4 + b * t ** 2), x0, tol=1e-14, method="BFGS").x
    argmin = fad.implicit(solve, minimum=lambda t, a, b: np.sum((t - a) ** 4 + b * t ** 2))
    a, b = np.array([1.0, 2.0]), 0.5
    J = fad.jacobian(argmin, argnums=1)(np.zeros(2), a, b)
    t = solve(np.zeros(2), a, b)
    close(J, np.diag(12 * (t - a) ** 2 / (12 * (t - a) ** 2 + 2 * b)), rtol=1e-5)


def test_implicit_fixed_point_of_a_vector():
    M = np.array([[0.2, 0.1], [0.0, 0.3]])

    def iterate(t, b):
        for _ in range(100):
            t = M @ t + b
        return t
    fixed = fad.implicit(iterate, fixed_point=lambda t, b: M @ t + b)
    close(fad.jacobian(fixed, argnums=1)(np.zeros(2), np.ones(2)), np.linalg.inv(np.eye(2) - M))


def test_rules_within_loops_may_write_to_one_of_two_equal_results():
    @fad.custom_vjp
    def f(t):
        return np.sin(t)

    def pull(t, g):
        first, second = np.cos(t) * g, np.cos(t) * g
        first[0] = 0.0
        return (first + second,)
    f.defvjp(lambda t: (np.sin(t), t), pull)

    def iterations(t):
        for _ in range(2):
            t = f(t)
        return np.sum(t)
    inner = np.cos(x) * np.cos(np.sin(x))
    close(fad.grad(iterations)(x), inner * np.array([1.0, 4.0, 4.0]))


# -- functions that write to their arguments -------------------------------------------------------


def with_a_write(a):
    a[0] = 5.0 * a[1]
    return a.sum()


def test_what_a_checkpointed_function_writes_to_its_argument_is_seen_after_it():
    def f(x):
        y = x * 1.0
        s = 0.0
        for _ in range(2):
            s += fad.checkpoint(with_a_write)(y)
            y[1] *= y[0]
        return s + y[0] * y[2]
    x = np.array([1.0, 2.0, 3.0])
    with fad.config.using(fallback=False):
        assert np.isclose(fad.jit(f)(x), f(x))
        differences = [(f(x + h) - f(x - h)) / 2e-6 for h in 1e-6 * np.eye(3)]
        np.testing.assert_allclose(fad.grad(f)(x), differences, rtol=1e-7)
        np.testing.assert_allclose(fad.jacfwd(f)(x), differences, rtol=1e-7)
        np.testing.assert_allclose(fad.vmap(f)(np.stack([x, 2 * x])), [f(x), f(2 * x)])
        y = x.copy()
        fad.jit(lambda y: fad.checkpoint(with_a_write)(y))(y)
        np.testing.assert_array_equal(y, [10.0, 2.0, 3.0])


@pytest.mark.filterwarnings("ignore::fad.util.errors.FallbackWarning")
def test_a_function_with_a_rule_that_writes_to_its_argument_is_refused():
    ruled = fad.custom_vjp(with_a_write)
    ruled.defvjp(lambda a: (a.sum(), None), lambda _, gy: (np.array([0.0, 6.0, 1.0]) * gy,))

    def f(x):
        y = x * 1.0
        return ruled(y) + y[0]
    x = np.array([1.0, 2.0, 3.0])
    assert np.isclose(fad.jit(f)(x), f(x))
    with pytest.raises(SideEffectError, match="has a rule of its own"):
        fad.grad(f)(x)


def test_what_a_rule_writes_to_its_arguments_is_nobody_elses():
    @fad.custom_vjp
    def doubled(a):
        return 2.0 * a.sum()

    def forward(a):
        y = 2.0 * a.sum()
        a[0] = 7.0
        return y, None
    doubled.defvjp(forward, lambda _, gy: (np.full(3, 2.0) * gy,))
    x = np.array([1.0, 2.0, 3.0])
    np.testing.assert_allclose(fad.grad(lambda x: doubled(x) * x[0])(x), [2.0 * x[0] + 2.0 * x.sum(), 2.0, 2.0])


def test_arguments_passed_by_name_have_a_place_in_the_rule():
    @fad.custom_jvp
    def scaled(t, shift=1.0, scale=2.0):
        return scale * (t + shift)
    scaled.defjvp(lambda primals, tangents: (scaled(*primals), 10 * sum(tangents)))
    close(fad.grad(lambda c: scaled(1.0, scale=c))(3.0),
          10), close(fad.jvp(lambda c: scaled(1.0, scale=c), (3.0,), (2.0,)), (6, 20))
    close(fad.grad(lambda c: scaled(scale=2.0, t=c))(3.0), 10), close(fad.grad(scaled)(3.0), 10)

    @fad.custom_vjp
    def product(t, shift=1.0, scale=2.0):
        return scale * (t + shift)
    product.defvjp(lambda *args: (product(*args), None), lambda saved, g: (g, 5 * g, 7 * g))
    close(fad.grad(lambda c: product(1.0, scale=c))(3.0),
          7), close(fad.grad(lambda c: product(c, shift=c, scale=c))(3.0), 13)


def test_arguments_that_the_rule_has_no_derivative_for_are_constants():
    @fad.custom_jvp
    def powered(t, *, n):
        return t ** n
    powered.defjvp(lambda primals, tangents: (primals[0] ** 2, 9 * tangents[0]))
    close(fad.grad(lambda t: powered(t, n=2))(3.0), 9), close(fad.jit(lambda t, n: powered(t, n=n))(3.0, 2.0), 9)
    scaled = fad.custom_jvp(lambda n, t: n * t, nondiff_argnums=(0,))
    scaled.defjvp(lambda n, primals, tangents: (n * primals[0], n * tangents[0]))
    pulled = fad.custom_vjp(lambda n, t: n["n"] * t, nondiff_argnums=(0,))
    pulled.defvjp(lambda n, t: (n["n"] * t, None), lambda n, saved, g: (n["n"] * g,))
    for f in (lambda n: powered(3.0, n=n), lambda n: scaled(n * 2, 3.0), lambda n: pulled({"n": n}, n)):
        with pytest.raises(fad.util.errors.NoDerivativeError, match="nondiff_argnums, or .*by name"):
            fad.grad(f)(2.0)
    with pytest.raises(fad.util.errors.NoDerivativeError, match="no derivative for"):
        fad.jvp(lambda n: scaled(n, 3.0), (2.0,), (1.0,))
    close(fad.grad(lambda n: scaled(fad.stop_gradient(n), n))(3.0), 3)


def test_a_rule_may_call_its_function_with_tangents():
    @fad.custom_jvp
    def turned(t):
        return -t
    turned.defjvp(lambda primals, tangents: (turned(primals[0]), turned(tangents[0])))
    close(fad.grad(turned)(3.0), -1), close(fad.jacrev(turned)(x), -np.eye(3)), close(fad.vmap(fad.grad(turned))(x), -1)
    close(fad.grad(lambda t: fad.fori_loop(0, 3, lambda k, c: turned(c), t))(3.0), -1)

    @fad.custom_jvp
    def product(a, t):
        return a @ t if np.ndim(a) == 2 else a * t
    product.defjvp(lambda p, d: (product(*p), product(p[0], d[1]) + product(d[0], p[1])))
    a = np.arange(9.0).reshape(3, 3)
    f = lambda a, t: np.sum(product(product(a, t), product(a, t)))
    close(fad.grad(f, argnums=1)(a, x), 2 * a.T @ a @ x), close(fad.grad(f)(a, x), 2 * np.outer(a @ x, x))
    close(fad.hessian(f, argnums=1)(a, x),
          2 * a.T @ a), close(fad.jacfwd(fad.grad(f, argnums=1), argnums=1)(a, x), 2 * a.T @ a)
    close(fad.jacrev(fad.jacrev(f, argnums=1), argnums=1)(a, x), 2 * a.T @ a)


@pytest.mark.parametrize("part", [lambda u: u[1:], lambda u: u])
def test_a_result_that_is_the_argument_is_not_read_after_it_was_written_to(part):
    def f(x):
        a = x * 1.0
        r = fad.checkpoint(part)(a)
        a[1] += 2.0 * x[0]
        return r @ r
    with pytest.raises(SideEffectError, match="may be the same"):
        fad.jit(f, fallback=False)(np.array([0.5, 0.6, 0.7]))


def test_a_result_that_is_the_argument_may_be_read():
    def f(x):
        a = x * 1.0
        return fad.checkpoint(lambda u: u[1:])(a) @ a[1:]
    np.testing.assert_allclose(fad.grad(f)(np.array([0.5, 0.6, 0.7])), [0.0, 1.2, 1.4])


def test_integers_among_the_parameters_of_an_implicit_function_do_not_move():
    root = fad.implicit(lambda x0, n, a: a ** (1 / n), root=lambda x, n, a: x ** n - a)
    assert np.isclose(fad.grad(root, argnums=2)(1.0, 3, 8.0), 1 / 12)
