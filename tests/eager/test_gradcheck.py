"""gradcheck: what it finds, in what order, and what it says."""
import warnings

import pytest

import fad
from fad.autograd import Function, GradcheckError, gradcheck

from .support import close, leaf


def off(y):
    """A step whose backward is a hundredth too much."""
    y.register_hook(lambda g: g + 1e-2)
    return y


@pytest.mark.parametrize("fast", [True, False])
def test_a_wrong_derivative(fast):
    with pytest.raises(GradcheckError, match="Jacobian mismatch for output 0 with respect to input 0"):
        gradcheck(lambda x: off(x.clone()), leaf(1, 2), fast_mode=fast)
    assert not gradcheck(lambda x: off(x.clone()), leaf(1, 2), fast_mode=fast, raise_exception=False)


@pytest.mark.parametrize("fast", [True, False])
def test_a_backward_that_is_not_linear(fast):
    with pytest.raises(GradcheckError, match="backward not multiplied by grad_output"):
        gradcheck(lambda x: off(x.clone()), leaf(1, 2), atol=0.1, fast_mode=fast)


def test_parts_of_complex_outputs():
    z = fad.ones(2, dtype=fad.complex128, requires_grad=True)
    with pytest.raises(GradcheckError, match="While considering the imaginary part of complex outputs only"):
        gradcheck(lambda z: off(z.clone()), z)


@pytest.mark.parametrize("change, what", [(lambda x: fad.cat([x, x]), "shape"), (lambda x: x.to(fad.float32), "dtype")])
def test_outputs_that_depend_on_values(change, what):
    with pytest.raises(AssertionError, match=f"return outputs with the same {what} when inputs are perturbed"):
        gradcheck(lambda x: change(x) if fad.all(x >= 1) else x, leaf(1))


def test_a_hook_that_does_not_bear_none():
    def refuse(g):
        if g is None:
            raise RuntimeError("nothing")

    def function(x):
        y = x.clone()
        y.register_hook(refuse)
        return y
    with pytest.warns(UserWarning, match="New undefined gradient support checking feature"), \
            pytest.raises(GradcheckError, match="Expected backward function to handle undefined output grads"):
        gradcheck(function, leaf(1))


def test_gradients_made_of_none():
    class Constant(Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.set_materialize_grads(False)
            return x * y, x + y

        @staticmethod
        def backward(ctx, g, h):
            return (fad.ones(1), fad.ones(1)) if g is None or h is None else (g + h, g + h)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(GradcheckError, match="Expected all input grads to be undefined or zero"):
            gradcheck(Constant.apply, (leaf(1), leaf(1)), atol=2)


class Marked(Function):
    """Both of its derivatives can be made to fail."""

    @staticmethod
    def forward(ctx, x, bad_forward, bad_backward):
        ctx.bad = bad_forward, bad_backward
        return x * 2

    @staticmethod
    def vjp(ctx, g):
        if ctx.bad[1]:
            raise RuntimeError("backward fails")
        return g * 2, None, None

    @staticmethod
    def jvp(ctx, dx, *others):
        if ctx.bad[0]:
            raise RuntimeError("forward fails")
        return dx * 2


def test_backward_is_checked_first_and_only_what_is_wanted():
    with pytest.raises(RuntimeError, match="backward fails"):
        gradcheck(Marked.apply, (leaf(1), True, True), check_forward_ad=True)
    with pytest.raises(RuntimeError, match="forward fails"):
        gradcheck(Marked.apply, (leaf(1), True, False), check_forward_ad=True)
    assert gradcheck(Marked.apply, (leaf(1), False, True), check_forward_ad=True, check_backward_ad=False)
    assert gradcheck(Marked.apply, (leaf(1), True, False))


def test_forward_mode_sees_no_input_that_requires_a_gradient():
    seen = []

    class Watching(Function):
        @staticmethod
        def forward(ctx, x, y):
            if fad.autograd.forward_ad._current_level >= 0:
                seen.append(x.requires_grad or y.requires_grad)
            return x * 2 + y

        @staticmethod
        def jvp(ctx, dx, dy):
            return dx * 2 + dy
    assert gradcheck(Watching.apply, (leaf(1), leaf(2)), check_forward_ad=True, check_backward_ad=False,
                     check_batched_forward_grad=True)
    assert seen and not any(seen)


def test_a_wrong_forward_derivative():
    def function(x, y):
        if fad.autograd.forward_ad._current_level >= 0:
            primal, tangent = fad.autograd.forward_ad.unpack_dual(y)
            y = fad.autograd.forward_ad.make_dual(primal, tangent * 1.1)
        return x + y
    with pytest.raises(GradcheckError,
                       match="Jacobian computed with forward mode mismatch for output 0 with respect to input 1"):
        gradcheck(function, (leaf(1), leaf(2)), check_forward_ad=True)


def test_jacobians_that_were_private():
    from fad.autograd.gradcheck import get_analytical_jacobian, get_numerical_jacobian
    x, y = leaf(1, 2), leaf(3, 4)
    with pytest.warns(FutureWarning, match="private API"):
        numerical = get_numerical_jacobian(lambda inputs: (2 * inputs[0] + inputs[1], inputs[0]), (x, y), eps=1e-6)
    close(numerical[0], [[2, 0], [0, 2]])
    with pytest.warns(FutureWarning, match="private API"):
        (first, second), reentrant, sizes, dtypes = get_analytical_jacobian((x, y), 2 * x + y)
    close(first, [[2, 0], [0, 2]])
    close(second, [[1, 0], [0, 1]])
    assert reentrant and sizes and dtypes
    with pytest.warns(FutureWarning), pytest.raises(ValueError, match="Expected grad_out to be 1.0"):
        get_numerical_jacobian(lambda inputs: inputs[0], (x,), grad_out=2.0)


class ThreeTimes(Function):
    """The square, with another function's derivative."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x ** 2

    @staticmethod
    def backward(ctx, g):
        return g * 3 * ctx.saved_tensors[0]


def told_by_gradcheck(x, **options):
    with pytest.raises(RuntimeError) as error:
        fad.autograd.gradcheck(ThreeTimes.apply, x, **options)
    return str(error.value)


def test_mismatches_are_told_as_by_pytorch():
    x = fad.tensor([1.0, 2.0], requires_grad=True)
    matrices = ("tensor([[2.0000, 0.0000],\n        [0.0000, 4.0000]])", "tensor([[3., 0.],\n        [0., 6.]])")
    told = "Jacobian mismatch for output 0 with respect to input 0,\nnumerical:{}\nanalytical:{}\n"
    assert told_by_gradcheck(x) == told.format(*matrices)
    slow = "Numerical:\n {}\nAnalytical:\n{}\n\nThe max per-element difference (slow mode) is: 1.99999999"
    assert slow.format(*matrices) in told_by_gradcheck(x, fast_mode=True)
    z = fad.tensor([1 + 2j], requires_grad=True)
    assert told_by_gradcheck(z) == ("While considering the imaginary part of complex outputs only, Jacobian mismatch "
                                    "for output 0 with respect to input 0,\n"
                                    "numerical:tensor([[4.0000+2.0000j]])\nanalytical:tensor([[-6.+3.j]])\n")
