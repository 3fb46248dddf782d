"""fad.pytensor: Ops in graphs of PyTensor, and in a model that PyMC samples."""
import pickle

import numpy as np
import pytest

import fad

pytensor = pytest.importorskip("pytensor")
pt = pytest.importorskip("pytensor.tensor")
t = np.linspace(0.0, 4.0, 40)
y = 1.0 + 2.0 * t
W = np.ones((40, 3))
point = np.array([0.1, 0.2, 0.3])

pytestmark = pytest.mark.filterwarnings("ignore:Numba will use object mode")


def loss(p):
    z = (y - p[0] * t - p[1]) / np.exp(p[2])
    return np.sum(0.5 * z ** 2 + p[2])


def compiled(inputs, outputs):
    return pytensor.function(inputs, outputs)


def along(result, x, u):
    """The directional derivative, by the name of this version of PyTensor."""
    push = getattr(pytensor.gradient, "pushforward", None) or pytensor.gradient.Rop
    return push(result, x, u)


def test_gradients_and_second_derivatives():
    v, u, op = pt.dvector("v"), pt.dvector("u"), fad.pytensor.op(loss)
    run = compiled([v, u], [op(v), pytensor.grad(op(v), v), pytensor.gradient.hessian(op(v), v), along(op(v), v, u)])
    value, slope, hessian, push = run(point, point)
    assert np.isclose(value, loss(point)) and np.allclose(slope, fad.grad(loss)(point))
    assert np.allclose(hessian, fad.hessian(loss)(point)) and np.isclose(push, slope @ point)


def test_several_arguments_and_results_among_them_integers():
    x, k, s = pt.dvector(), pt.lvector(), pt.fscalar()
    a, b, c = fad.pytensor.op(lambda x, k, s: (x[k] * s, x > 0, np.outer(x, x)))(x, k, s)
    slopes = pytensor.grad((a.sum() + (c ** 2).sum()).astype("float64"), [x, s])
    a, b, c, gx, gs = compiled([x, k, s], [a, b, c, *slopes])(np.arange(3.0), np.array([0, 0, 2]), np.float32(2))
    assert a.tolist() == [0.0, 0.0, 4.0] and b.tolist() == [False, True, True]
    assert np.array_equal(c, np.outer(range(3), range(3)))
    assert gx.tolist() == [4.0, 20.0, 42.0] and gs == 2.0 and gs.dtype == np.float32


def test_examples_say_what_shapes_the_function_takes():
    v = pt.dvector("v")
    with pytest.raises(fad.FadError, match="give examples"):
        fad.pytensor.op(lambda w: W @ w)(v)
    slope = pytensor.grad(fad.pytensor.op(lambda w: W @ w, np.ones(3))(v).sum(), v)
    assert compiled([v], slope)(point).tolist() == [40.0] * 3


def test_static_shapes_of_variables_are_used():
    v = pt.tensor(dtype="float64", shape=(3,))
    assert fad.pytensor.op(lambda w: W @ w)(v).type.ndim == 1


@pytest.mark.parametrize("f, words", [
    (lambda x: {"a": x}, "without a structure"),
    (lambda x: x * np.random.standard_normal(5), "random"),
])
def test_functions_that_pytensor_cannot_host_are_refused(f, words):
    with pytest.raises(fad.FadError, match=words):
        fad.pytensor.op(f)(pt.dvector())


def test_gradients_of_complex_numbers_are_refused():
    z = pt.zvector()
    with pytest.raises(fad.FadError, match="complex"):
        pytensor.grad(fad.pytensor.op(lambda z: np.sum(np.abs(z)))(z), z)


def test_ops_can_be_pickled():
    v, op = pt.dvector(), pickle.loads(pickle.dumps(fad.pytensor.op(np.sum)))
    assert compiled([v], pytensor.grad(op(v), v))(point).tolist() == [1.0] * 3


def test_a_sampler_finds_the_exact_posterior():
    pymc = pytest.importorskip("pymc")
    X, noise = np.column_stack([np.ones(40), np.linspace(0.0, 1.0, 40)]), 0.3
    data = X @ np.array([1.0, 2.0]) + noise * np.random.default_rng(0).normal(size=40)
    mean, cov = np.linalg.solve(X.T @ X, X.T @ data), noise ** 2 * np.linalg.inv(X.T @ X)
    with pymc.Model():
        w = pymc.Flat("w", shape=2)
        pymc.Potential("likelihood", fad.pytensor.op(lambda w: -0.5 * np.sum((data - X @ w) ** 2) / noise ** 2)(w))
        trace = pymc.sample(300, tune=300, chains=2, cores=1, random_seed=1, progressbar=False,
                            compute_convergence_checks=False)
    draws = trace.posterior["w"].values.reshape(-1, 2)
    spread = np.sqrt(np.diag(cov))
    assert np.allclose(draws.mean(0), mean, atol=0.3 * spread.max()) and np.allclose(draws.std(0), spread, rtol=0.2)
