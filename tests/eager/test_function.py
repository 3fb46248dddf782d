"""autograd.Function: what ctx offers, in place, errors, double backward, under fad's transforms."""
import numpy as np
import pytest

import fad
from fad.autograd.function import once_differentiable

from .support import close, leaf


class Scaled(fad.autograd.Function):
    """x ** power with a backward that is 100 / power times too large, so that one can see that it is used."""

    @staticmethod
    def forward(ctx, x, power):
        ctx.save_for_backward(x)
        ctx.power = power
        return x ** power

    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        return g * 100 * x ** (ctx.power - 1), None


class Pair(fad.autograd.Function):
    @staticmethod
    def forward(x, y):
        return x * y, x + y

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, a, b):
        x, y = ctx.saved_tensors
        return a * y + b, a * x + b


def test_two_outputs_and_double_backward():
    x, y = leaf(1, 2), leaf(3, 4)
    p, q = Pair.apply(x, y)
    assert p.grad_fn is q.grad_fn and p.grad_fn.name() == "PairBackward"
    (p.sum() + q.sum() * 2).backward()
    close(x.grad, [5, 6]), close(y.grad, [3, 4])
    assert fad.autograd.gradcheck(Pair.apply, (x, y)) and fad.autograd.gradgradcheck(Pair.apply, (x, y))


def test_dirty_inputs():
    class Double(fad.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            x.mul_(2)
            ctx.mark_dirty(x)
            return x

        @staticmethod
        def backward(ctx, g):
            return g * 2
    x = leaf(1, 2)
    y = x * 1
    assert Double.apply(y) is y and y.grad_fn.name() == "DoubleBackward"
    y.sum().backward()
    close(x.grad, 2.0)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad has been used"):
        Double.apply(x)
    base = x * 1
    Double.apply(base[:1])
    assert base.grad_fn.name() == "torch::autograd::CopySlices"


def test_wrong_answers_are_told():
    class Short(fad.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            return x + y

        @staticmethod
        def backward(ctx, g):
            return g
    with pytest.raises(RuntimeError, match=r"returned an incorrect number of gradients \(expected 2, got 1\)"):
        Short.apply(leaf(1), leaf(2)).backward()

    class Wide(Short):
        @staticmethod
        def backward(ctx, g):
            return fad.ones(3), None
    with pytest.raises(RuntimeError, match="invalid gradient at index 0"):
        Wide.apply(leaf(1, 2), leaf(1, 2)).sum().backward()


def test_once_differentiable():
    class Square(fad.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x ** 2

        @staticmethod
        @once_differentiable
        def backward(ctx, g):
            x, = ctx.saved_tensors
            return 2 * x * g
    x, w = leaf(1, 2), leaf(3, 4)
    g, = fad.autograd.grad((Square.apply(x) * w).sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        g.sum().backward()


def test_reentrant_to_any_depth():
    class Nested(fad.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            with fad.enable_grad():
                ctx.x = (x.detach() - 1).requires_grad_()
            return ctx.x.detach()

        @staticmethod
        def backward(ctx, g):
            if ctx.x.item() >= 0:
                with fad.enable_grad():
                    Nested.apply(ctx.x).sum().backward()
            return g
    x = fad.tensor(500.0, requires_grad=True)
    Nested.apply(x).sum().backward()
    close(x.grad, 1.0)


def test_under_the_transforms_of_programs():
    close(fad.grad(lambda x: np.sum(Scaled.apply(x, 3)))(np.array([1.0, 2.0])), [100, 400])
    x = leaf(1, 2)
    fad.jit(lambda x: np.sum(Scaled.apply(x, 3)))(x).backward()
    close(x.grad, [100, 400])
    gx, gy = fad.grad(lambda x, y: np.sum(np.prod(np.stack(Pair.apply(x, y)), 0)), (0, 1))(np.array([1.0, 2.0]), np.array([3.0, 4.0]))
    close(gx, [15, 32]), close(gy, [7, 20])
