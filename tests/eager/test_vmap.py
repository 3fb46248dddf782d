"""autograd.Function under fad.vmap: the user's vmap says what the function means for a batch; without one it is a
loop."""
import numpy as np
import pytest

import fad

X = np.arange(6.0).reshape(3, 2)
calls = []


class Cube(fad.autograd.Function):
    @staticmethod
    def forward(x):
        return x ** 3

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(inputs[0])

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * 3 * x ** 2

    @staticmethod
    def vmap(info, in_dims, x):
        calls.append(in_dims)
        return Cube.apply(x), in_dims[0]


class Product(fad.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x * y

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * y, g * x

    @staticmethod
    def vmap(info, in_dims, x, y):
        calls.append(in_dims)
        return x.T * (y.T if in_dims[1] == 0 else y[:, None]), -1


@pytest.fixture(autouse=True)
def forgotten():
    calls.clear()


def test_the_rule_is_called_and_its_batch_axis_is_moved():
    np.testing.assert_allclose(fad.vmap(lambda x: np.sum(Cube.apply(x) * 2))(X), (2 * X ** 3).sum(1))
    assert calls == [(0,)]
    np.testing.assert_allclose(fad.vmap(Product.apply, in_axes=(0, None))(X, np.array([1.0, 2.0])), X * [1, 2])
    np.testing.assert_allclose(fad.vmap(Product.apply, in_axes=(1, 0))(X, 3 * np.ones((2, 3))), 3 * X.T)
    assert calls[1:] == [(0, None), (0, 0)]


def test_derivatives_of_batches_and_batches_of_derivatives():
    f = fad.vmap(lambda x: np.sum(Cube.apply(x)))
    np.testing.assert_allclose(fad.grad(lambda x: np.sum(f(x)))(X), 3 * X ** 2)
    assert calls == [(0,)]
    np.testing.assert_allclose(fad.vmap(fad.grad(lambda x: np.sum(Cube.apply(x))))(X), 3 * X ** 2)


def test_without_a_rule_it_is_a_loop():
    class Square(fad.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return 2 * g * x
    np.testing.assert_allclose(fad.vmap(lambda x: np.sum(Square.apply(x)))(X), (X * X).sum(1))


def test_what_a_rule_must_return():
    class Bad(Cube):
        @staticmethod
        def vmap(info, in_dims, x):
            return Cube.apply(x)
    with pytest.raises(RuntimeError, match="vmap must return a pair"):
        fad.vmap(lambda x: Bad.apply(x))(X)


def test_functions_of_tensors_by_their_methods():
    x = fad.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    y = fad.vmap(lambda a: a.sin() * 2)(x)
    y.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), 2 * np.cos(x.detach().numpy()))
    sigmoid = 1 / (1 + np.exp(-x.detach().numpy()))
    np.testing.assert_allclose(fad.grad(lambda a: a.sigmoid().sum())(x).detach().numpy(), sigmoid * (1 - sigmoid))
    np.testing.assert_allclose(fad.vmap(fad.dot)(x, x).detach().numpy(), (x.detach().numpy() ** 2).sum(1))
    with pytest.raises(fad.util.errors.MissingAttributeError, match="'sigmoid'"):
        fad.grad(lambda a: a.sigmoid().sum())(np.ones(2))


def test_functions_that_work_on_a_graph_go_example_by_example():
    x = fad.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x ** 2
    rows = fad.vmap(lambda v: fad.autograd.grad(y, x, v, retain_graph=True)[0])(fad.eye(3))
    np.testing.assert_allclose(rows.numpy(), np.diag([2.0, 4.0, 6.0]))
    forward = fad.autograd.forward_ad

    def tangent(v):
        with forward.dual_level():
            return forward.unpack_dual(forward.make_dual(x.detach(), v) ** 2).tangent
    np.testing.assert_allclose(fad.vmap(tangent, out_axes=1)(fad.eye(3)).numpy(), np.diag([2.0, 4.0, 6.0]))


def _gradient(x):
    x = x.detach().requires_grad_()
    return fad.autograd.grad((x * x).sum(), x)[0]


@pytest.mark.parametrize("f", [lambda x: x.unsqueeze(0), _gradient, lambda x: (x.sin(), x.sort()[0])])
@pytest.mark.parametrize("shape, axis", [((0, 0), 0), ((0, 3), 0), ((3, 0), 1)])
def test_functions_of_tensors_over_no_examples(f, shape, axis):
    got, rest = fad.vmap(f, in_axes=axis)(fad.zeros(*shape)), shape[1 - axis]
    assert {tuple(y.shape) for y in (got if isinstance(got, tuple) else (got,))} <= {(0, rest), (0, 1, rest)}


def test_gradients_for_no_rows():
    x = fad.ones(3, requires_grad=True)
    g, = fad.autograd.grad(x * 2, x, fad.zeros(0, 3), is_grads_batched=True)
    assert g.shape == (0, 3)
