"""Transforms of functions (fad.grad, jvp, vjp, vmap, ...), called on tensors, against the same function on tensors."""
import numpy as np
import pytest

import fad
from fad.util.errors import ConcreteValueError

from .support import close, leaf

X, DX = [3.0, 4.0], [5.0, 6.0]


def test_a_tensor_that_a_function_returns_is_data():
    y = fad.tensor([1.0, 2.0])

    def constant(x):
        return y
    x, dx = fad.tensor(X), fad.tensor(DX)
    value, tangent = fad.jvp(constant, (x,), (dx,))
    close(value, [1, 2]), close(tangent, 0)
    close(fad.linearize(constant, x)[1](dx), 0)
    close(fad.vmap(constant)(x), [[1, 2], [1, 2]])
    close(fad.jacrev(constant)(x), np.zeros((2, 2))), close(fad.jacfwd(constant)(np.ones(2)), np.zeros((2, 2)))
    close(fad.grad(lambda x: y[0])(x), 0)
    compiled = fad.jit(constant)
    close(compiled(x), [1, 2])
    y += 1
    close(compiled(x), [2, 3])


def test_a_returned_tensor_with_a_gradient_is_refused():
    w = leaf(1, 2)
    with pytest.raises(ConcreteValueError, match="requires gradients"):
        fad.jvp(lambda x: w, (fad.tensor(X),), (fad.tensor(DX),))


def test_pullbacks_and_linear_maps_have_a_history():
    x = leaf(*X)
    value, pullback = fad.vjp(lambda x: x ** 3, x)
    g, = pullback(fad.tensor(DX, requires_grad=True))
    assert value.requires_grad and g.requires_grad
    close(g, [135, 288])
    close(fad.autograd.grad(value.sum(), x)[0], [27, 48])
    close(fad.autograd.grad(g.sum(), x)[0], [90, 144])
    value, push = fad.linearize(lambda x: x ** 3, x)
    tangent = push(fad.tensor(DX))
    close(tangent, [135, 288]), close(fad.autograd.grad(tangent.sum(), x)[0], [90, 144])


def test_a_pullback_is_linear_in_its_tensor():
    g = leaf(*DX)
    _, pullback = fad.vjp(lambda x: x ** 3, fad.tensor(X))
    pulled, = pullback(g)
    close(fad.autograd.grad(pulled.sum(), g)[0], [27, 48])


def test_a_pullback_takes_the_mode_at_its_call():
    x = leaf(*X)
    value, pullback, aux = fad.vjp(lambda x: (x ** 3, x + 1), x, has_aux=True)
    with fad.no_grad():
        g, = pullback(fad.tensor(DX))
    assert isinstance(g, fad.Tensor) and not g.requires_grad
    close(g, [135, 288]), close(aux, [4, 5])


def test_a_pullback_of_changed_tensors_is_refused():
    x = leaf(*X)
    _, pullback = fad.vjp(lambda x: x ** 3, x)
    with fad.no_grad():
        x += 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        pullback(fad.tensor(DX))


def test_a_pullback_needs_no_history():
    value, pullback = fad.vjp(lambda x, k: x ** k, fad.tensor(X), np.array(3.0))
    gx, gk = pullback(fad.ones(2))
    assert isinstance(value, fad.Tensor) and isinstance(gx, fad.Tensor)
    close(gx, [27, 48])
    with pytest.raises(ValueError, match="shape"):
        pullback(fad.ones(3))
