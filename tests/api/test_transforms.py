"""Products, Jacobians, Hessians, vmap: against closed forms, and each against the others."""
import warnings

import numpy as np
import pytest

import fad
from fad.util.errors import ArgumentError, StructureError

close = np.testing.assert_allclose
rng = np.random.default_rng(0)
A = rng.standard_normal((3, 4))
x = rng.standard_normal(4)


def f(x):
    return np.tanh(A @ x) * np.sum(x ** 2)


def loss(x):
    return np.sum(f(x) ** 2)


def test_jacobians_agree():
    J = fad.jacfwd(f)(x)
    assert J.shape == (3, 4)
    close(fad.jacrev(f)(x), J), close(fad.jacobian(f)(x), J)
    y, push = fad.linearize(f, x)
    close(np.stack([push(e) for e in np.eye(4)], 1), J)
    y, pull = fad.vjp(f, x)
    close(np.stack([pull(e)[0] for e in np.eye(3)]), J)
    close(fad.vmap(lambda e: fad.jvp(f, (x,), (e,))[1])(np.eye(4)).T, J)


def test_hessians_agree():
    H = fad.hessian(loss)(x)
    close(H, H.T)
    close(fad.jacrev(fad.jacrev(loss))(x),
          H), close(fad.jacfwd(fad.jacfwd(loss))(x), H), close(fad.jacrev(fad.jacfwd(loss))(x), H)
    v = rng.standard_normal(4)
    close(fad.hvp(loss, x, v), H @ v), close(fad.vhp(loss, x, v), v @ H)


def test_trees_of_blocks():
    J = fad.jacobian(lambda p: {"s": np.sum(p["a"]) * p["b"], "v": p["a"] * p["b"]})({"a": x, "b": 2.0})
    close(J["s"]["a"],
          2 * np.ones(4)), close(J["s"]["b"], x.sum()), close(J["v"]["a"], 2 * np.eye(4)), close(J["v"]["b"], x)
    H = fad.hessian(lambda a, b: np.sum(a) ** 2 * b ** 3, argnums=(0, 1))(x, 2.0)
    close(H[0][0], 16 * np.ones((4, 4))), close(H[0][1], 24 * x.sum() * np.ones(4)), close(H[1][1], 12 * x.sum() ** 2)
    H = fad.hessian(lambda p: p["u"] * p["w"] ** 2)({"u": 3.0, "w": 2.0})
    close([H["u"]["w"], H["w"]["w"], H["u"]["u"]], [4, 6, 0])


def test_matrix_arguments():
    X = rng.standard_normal((2, 3))
    J = fad.jacobian(lambda X: X @ X.T)(X)
    assert J.shape == (2, 2, 2, 3)
    close(J, fad.jacrev(lambda X: X @ X.T)(X))
    close(fad.hessian(lambda X: np.sum(X ** 2))(X), 2 * np.eye(6).reshape(2, 3, 2, 3))


@pytest.mark.parametrize("make, compile",
                         [(fad.jacobian, "never"), (fad.jacrev, "never"), (fad.jacfwd, "never"), (fad.jacrev, "now")])
def test_jacobians_between_real_and_complex_numbers(make, compile):
    """d y/d x of a real x is complex; that of a real y is y's gradient, the conjugate Wirtinger derivative, by rows."""
    z, h = np.array([0.4 + 0.7j, -0.3 + 0.2j]), 1e-6
    out = lambda x: np.exp(1j * x) * x ** 2
    back = lambda z: np.abs(z) ** 2 * z.real
    with fad.config.using(compile=compile):
        close(make(out)(x), np.diag(np.exp(1j * x) * (2 * x + 1j * x ** 2)))
        close(make(lambda x: np.sum(out(x)))(x), np.exp(1j * x) * (2 * x + 1j * x ** 2))
        slope = [(back(z + h * d) - back(z - h * d)) / (2 * h) for d in (1, 1j)]
        close(make(back)(z), np.diag(slope[0] + 1j * slope[1]), rtol=1e-7)
        close(make(lambda z: np.sum(back(z)))(z), slope[0] + 1j * slope[1], rtol=1e-7)
        close(make(lambda t: np.exp(1j * t))(0.5), 1j * np.exp(0.5j)), close(make(abs)(3.0 + 4.0j), 0.6 + 0.8j)
        close(make(lambda z, t: z ** 2 * t, argnums=(0, 1), holomorphic=True)(z, 2.0)[1], z ** 2)


def test_holomorphic_jacobian():
    z = np.array([1 + 2j, 3.0])
    for jacobian in (fad.jacrev, fad.jacfwd, fad.jacobian):
        close(jacobian(lambda z: z ** 2, holomorphic=True)(z), np.diag(2 * z))
        with pytest.raises(TypeError):
            jacobian(lambda z: z ** 2)(z)


def test_vmap_axes_and_structures():
    X = rng.standard_normal((5, 4))
    close(fad.vmap(f)(X), [f(r) for r in X])
    close(fad.vmap(f, in_axes=1)(X.T), [f(r) for r in X])
    close(fad.vmap(f, out_axes=1)(X), np.stack([f(r) for r in X], 1))
    out = fad.vmap(lambda p, s: {"y": p["a"] * s, "z": s}, in_axes=({"a": 0}, None))({"a": X}, 2.0)
    close(out["y"], 2 * X), close(out["z"], 2 * np.ones(5))
    close(fad.vmap(fad.vmap(lambda a, b: a * b, (None, 0)), (0, None))(np.arange(3.0), np.arange(4.0)),
          np.outer(range(3), range(4)))
    with pytest.raises(ValueError):
        fad.vmap(lambda a, b: a + b)(np.ones(2), np.ones(3))
    close(fad.vmap(fad.grad(loss))(X), [fad.grad(loss)(r) for r in X])
    close(fad.grad(lambda X: np.sum(fad.vmap(loss)(X)))(X), [fad.grad(loss)(r) for r in X])


def test_vmap_serves_all_batch_sizes():
    g = fad.vmap(f)
    for n in (2, 3, 7):
        assert g(np.ones((n, 4))).shape == (n, 3)
    assert g.traces == 1


def test_third_derivatives():
    third = fad.grad(fad.grad(fad.grad(lambda t: np.sin(t) * t)))
    close(third(0.7), -3 * np.sin(0.7) - 0.7 * np.cos(0.7))


def test_jvp_with_aux():
    assert (fad.jvp(lambda x: (x ** 2, {"x": x, "note": "mine"}), (3.0,), (2.0,), has_aux=True)
            == (9.0, 12.0, {"x": 3.0, "note": "mine"}))
    with pytest.raises(StructureError):
        fad.jvp(lambda x: x, (3.0,), (2.0,), has_aux=True)


def test_results_that_are_the_same_for_all_examples():
    both = fad.vmap(lambda x, y: (x + y, np.sin(y)), in_axes=(0, None), out_axes=(0, None))
    sums, same = both(np.arange(3.0), 1.0)
    close(sums, np.arange(1.0, 4.0))
    close(same, np.sin(1.0))
    close(fad.grad(lambda y: both(np.arange(3.0), y)[1])(1.0), np.cos(1.0))
    with pytest.raises(ArgumentError):
        fad.vmap(lambda x: x, out_axes=None)(np.arange(3.0))


def test_vjp_with_aux_and_integer_results():
    y, pull, aux = fad.vjp(lambda x: (x ** 2, "note"), 3.0, has_aux=True)
    assert aux == "note" and pull(1.0) == (6.0,)
    (y, n), pull = fad.vjp(lambda x: (x ** 2, x.size), np.ones(3))
    close(pull((np.ones(3), 0))[0], 2)
    y, dy = fad.jvp(lambda x: (x * 2.0, x > 0), (np.ones(2),), (np.ones(2),))
    close(dy[0], 2), close(dy[1], 0)


def test_jacobians_with_aux():
    """What is handed on beside the value is not differentiated."""
    def f(p, t):
        return {"y": np.outer(p["a"], p["a"]) * t, "note": "n"}, (np.sum(p["a"]), 3, p["a"] > 0)
    p = {"a": rng.standard_normal(3)}
    for jacobian in (fad.jacobian, fad.jacrev, fad.jacfwd):
        J, (total, three, signs) = jacobian(f, argnums=(0, 1), has_aux=True)(p, 2.0)
        want = fad.jacobian(lambda p, t: f(p, t)[0]["y"], argnums=(0, 1))(p, 2.0)
        close(J["y"][0]["a"], want[0]["a"]), close(J["y"][1], want[1])
        assert J["note"] == "n" and three == 3 and total == np.sum(p["a"]) and (signs == (p["a"] > 0)).all()
        close(fad.vmap(jacobian(lambda a: (a ** 2, np.sum(a)), has_aux=True))(np.ones((2, 3)))[1], 3)
    with pytest.raises(TypeError, match="pair"):
        fad.jacfwd(lambda x: x, has_aux=True)(1.0)


def test_second_steps_are_functions_like_any_other():
    """A pullback or a linear map, made outside, is mapped, differentiated and compiled; on the tape, too."""
    A = rng.standard_normal((3, 4))

    def f(x):
        s = 0.0
        for k in range(len(x)):
            s = np.sin(s * x[k]) + x[k] ** 2
        return np.tanh(A @ x) * s

    def by_value(x):
        rows = {float(value): np.sin(value) for value in x}
        return A @ np.array(list(rows.values()))

    x, g = rng.standard_normal(4), rng.standard_normal(3)

    def check_pullback(h):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", fad.FallbackWarning)
            (_, pull), J = fad.vjp(h, x), fad.jacobian(h)(x)
        close(fad.vmap(pull)(np.eye(3))[0], J)
        close(fad.jacobian(lambda g: pull(g)[0])(g), J.T)
        close(fad.grad(lambda g: np.sum(pull(g * g)[0]))(g), 2 * g * np.sum(J, axis=1))
        close(fad.vjp(pull, g)[1]((x,))[0], J @ x)

    check_pullback(f), check_pullback(by_value)
    _, push = fad.linearize(f, x)
    J = fad.jacobian(f)(x)
    close(fad.vmap(push)(np.eye(4)), J.T)
    close(fad.jit(lambda dx: push(dx) + 1.0)(x), J @ x + 1)
    _, pull = fad.vjp(lambda p: {"a": p["u"] * p["v"], "b": np.sum(p["u"])}, {"u": x, "v": 2 * x})
    close(fad.grad(lambda g: np.sum(pull(g)[0]["u"]))({"a": x, "b": 2.0})["a"], 2 * x)
    with pytest.raises(fad.FadError):
        fad.vmap(pull)({"a": np.ones((2, 3)), "b": np.ones(2)})


def test_float32_stays_float32():
    X = x.astype(np.float32)
    assert fad.jacobian(lambda x: x ** 2)(X).dtype == np.float32
    assert fad.hessian(lambda x: np.sum(x ** 3))(X).dtype == np.float32


def test_ravel():
    p = {"a": rng.standard_normal((2, 3)), "b": 1.5, "c": np.float32(2)}
    v, unravel = fad.ravel(p)
    assert v.shape == (8,)
    close(unravel(v)["a"], p["a"])
    assert unravel(v)["c"].dtype == np.float32
    g = fad.grad(lambda v: np.sum(unravel(v)["a"] ** 2) * unravel(v)["b"])(v)
    close(g[:6], 3 * p["a"].ravel())
    with pytest.raises(ValueError):
        unravel(np.ones(3))
