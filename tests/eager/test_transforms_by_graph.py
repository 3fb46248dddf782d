"""Transforms of functions that only tensors can run: their graph gives what the same function of arrays gives."""
import itertools
import warnings

import numpy as np
import pytest

import fad
from fad.util.errors import FallbackWarning

from .support import close

X, V = np.array([0.4, -0.7, 1.1]), np.array([1.0, 0.5, -2.0])


def of_tensors(x):
    """Methods and options that arrays do not have."""
    y = x.unsqueeze(0).narrow(1, 0, 2)
    return x.std() * y.exp().view(-1).sum() + fad.linalg.norm(x * x, dim=0, keepdim=True).sum() + x.detach()[0] * 0


def of_arrays(x):
    return np.std(x, ddof=1) * np.exp(x[:2]).sum() + np.sqrt(np.sum(x ** 4))


def vector_of(f):
    return lambda x: x * f(x)


ENDS = {  # a transform of a scalar function, called at X
    "grad": lambda f, x, v: fad.grad(f)(x), "hessian": lambda f, x, v: fad.hessian(f)(x),
    "value_and_grad": lambda f, x, v: fad.value_and_grad(f)(x)[1],
    "jacrev": lambda f, x, v: fad.jacrev(vector_of(f))(x), "jacfwd": lambda f, x, v: fad.jacfwd(vector_of(f))(x),
    "vjp": lambda f, x, v: fad.vjp(vector_of(f), x)[1](v)[0],
    "jvp": lambda f, x, v: fad.jvp(vector_of(f), (x,), (v,))[1],
    "linearize": lambda f, x, v: fad.linearize(vector_of(f), x)[1](v),
    "hvp": lambda f, x, v: fad.hvp(f, x, v), "vhp": lambda f, x, v: fad.vhp(f, x, v),
    "vmap": lambda f, x, v: fad.vmap(lambda s: f(s * x))(v),
    "vmap of grad": lambda f, x, v: fad.vmap(lambda s: fad.grad(f)(s * x))(v)}
INNER = {  # a scalar function made of another one by a transform
    "f": lambda f, v: f,
    "grad": lambda f, v: lambda x: (fad.grad(f)(x) * v).sum(),
    "jvp": lambda f, v: lambda x: fad.jvp(f, (x,), (v,))[1],
    "vjp": lambda f, v: lambda x: (fad.vjp(vector_of(f), x)[1](v)[0] * x).sum(),
    "jvp of jvp": lambda f, v: lambda x: fad.jvp(lambda y: fad.jvp(f, (y,), (v,))[1], (x,), (x,))[1],
    "closed over": lambda f, v: lambda x: fad.grad(lambda s: f(s * x))(1.5 * x[0] / x[0])}


def quietly(run):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FallbackWarning)
        return run()


@pytest.mark.parametrize("end, inner", list(itertools.product(ENDS, INNER)))
def test_nested_transforms(end, inner):
    x, v = fad.tensor(X), fad.tensor(V)
    here = quietly(lambda: ENDS[end](INNER[inner](of_tensors, v), x, v))
    expected = ENDS[end](INNER[inner](of_arrays, V), X, V)
    assert isinstance(here, fad.Tensor) and not here.requires_grad and here.dtype == expected.dtype
    np.testing.assert_allclose(here.numpy(), expected, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("end", ENDS)
def test_a_result_is_recorded_where_a_gradient_goes_through_it(end):
    x, v = fad.tensor(X, requires_grad=True), fad.tensor(V)
    weights = fad.tensor(np.random.default_rng(0).standard_normal(quietly(lambda: ENDS[end](of_tensors, x, v)).shape))
    g, = fad.autograd.grad(quietly(lambda: ENDS[end](of_tensors, x, v) * weights).sum(), x)
    expected = fad.grad(lambda x: np.sum(ENDS[end](of_arrays, x, V) * weights.numpy()))(X)
    np.testing.assert_allclose(g.numpy(), expected, rtol=1e-7, atol=1e-9)
    w = fad.tensor(2.0, requires_grad=True)                   # closed over
    here = quietly(lambda: ENDS[end](lambda x: of_tensors(x) * w, fad.tensor(X), v))
    assert here.requires_grad
    close(fad.autograd.grad(here.sum(), w)[0], (here.sum() / w).detach())


def test_structures_and_further_results():
    def f(p, k, scale=1.0):
        y = p["a"].unsqueeze(0) * p["b"][0] * k
        return (y.sum() * scale, {"y": y}) if k == 2 else y.sum() * scale
    p = {"a": fad.tensor(X), "b": [fad.tensor(3.0)]}
    g, aux = quietly(lambda: fad.grad(f, has_aux=True)(p, 2, scale=2.0))
    close(g["a"], [12.0] * 3), close(g["b"][0], 4 * X.sum()), close(aux["y"], 6 * X[None])
    assert not aux["y"].requires_grad
    (value, aux), g = quietly(lambda: fad.value_and_grad(f, argnums=(0,), has_aux=True)(p, 2))
    close(value, 6 * X.sum()), close(g[0]["a"], [6.0] * 3)
    h = quietly(lambda: fad.hessian(f)(p, 1))
    expected = fad.hessian(lambda p: np.sum(p["a"] * p["b"][0]))({"a": X, "b": [3.0]})
    close(h["a"]["b"][0], expected["a"]["b"][0]), close(h["b"][0]["a"], expected["b"][0]["a"])
    close(h["a"]["a"], expected["a"]["a"])
    j, aux = quietly(lambda: fad.jacrev(lambda x: (x.unsqueeze(0), x.detach()), has_aux=True)(fad.tensor(X)))
    close(j, np.eye(3)[None]), close(aux, X)
    value, pullback, aux = quietly(lambda: fad.vjp(lambda x: ((x.unsqueeze(0), x.std()), "told"), fad.tensor(X),
                                                   has_aux=True))
    assert aux == "told"
    close(value[0], X[None]), close(pullback((fad.tensor(V[None]), fad.tensor(0.0)))[0], V)
    close(pullback((fad.tensor(2 * V[None]), fad.tensor(0.0)))[0], 2 * V)


def test_why_is_told_once_and_refusals_stay():
    f = fad.grad(lambda x: x.unsqueeze(0).sum())
    with pytest.warns(FallbackWarning, match="unsqueeze"):
        f(fad.tensor(X))
    close(f(fad.tensor(X)), [1, 1, 1])                        # warnings are errors here
    with pytest.raises(AttributeError, match="no attribute 'unsqueeze'"):
        fad.grad(lambda x: x.unsqueeze(0).sum(), fallback=False)(fad.tensor(X))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        fad.grad(lambda x: x.nothing())(fad.tensor(X))
    with pytest.raises(TypeError, match="int64"):
        fad.grad(lambda x: x.unsqueeze(0).sum())(fad.tensor([1, 2]))
