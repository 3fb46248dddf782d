"""What may be set and deleted, dtypes of gradients, old names."""
import pytest

import fad
from fad.autograd import Function

from .support import close, leaf


class Widened(Function):
    """Its backward gives float64 whatever the input was."""

    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g.to(fad.float64)


@pytest.mark.parametrize("name", ["data", "requires_grad", "_grad_fn"])
def test_what_cannot_be_deleted(name):
    with pytest.raises(RuntimeError):
        delattr(leaf(1), name)


@pytest.mark.parametrize("wanted, dtype", [("same", "float32"), (None, "float64"), ("float16", "float16")])
def test_dtype_of_gradients(wanted, dtype):
    x = fad.ones(2, dtype=fad.float32, requires_grad=True)
    if wanted != "same":
        x.grad_dtype = wanted if wanted is None else getattr(fad, wanted)
    Widened.apply(x).sum().backward()
    assert x.grad.dtype == dtype


def test_dtype_of_gradients_is_that_of_leaves():
    x = leaf(1)
    for use in (lambda y: y.grad_dtype, lambda y: setattr(y, "grad_dtype", fad.float32)):
        with pytest.raises(RuntimeError, match="on leaf tensors"):
            use(x * 2)


def test_a_gradient_of_another_dtype_is_refused():
    x = fad.ones(2, dtype=fad.float32, requires_grad=True)
    x.grad_dtype = fad.float16
    with pytest.raises(RuntimeError, match="with dtype 'float' to a tensor with grad_dtype 'Half'"):
        x.grad = fad.ones(2, dtype=fad.float32)
    x.grad = fad.ones(2, dtype=fad.float16)
    with pytest.raises(RuntimeError, match="Cannot set grad_dtype to 'Double' because there is already a gradient"):
        x.grad_dtype = fad.float64


def test_numpy_of_what_requires_a_gradient():
    x = leaf(1, 2)
    with pytest.raises(RuntimeError, match="requires grad"):
        x.numpy()
    with fad.no_grad():
        assert x.numpy() is x._a


def test_types_are_classes_and_names():
    x = fad.FloatTensor([1, 2])
    assert x.dtype == fad.float32 and isinstance(x, fad.FloatTensor) and not isinstance(x, fad.LongTensor)
    assert fad.BoolTensor(2, 3).shape == (2, 3) and fad.FloatTensor.dtype == fad.float32
    assert repr(fad.LongTensor) == "<class 'torch.LongTensor'>" and x.type() == "torch.FloatTensor"
    assert x.type("torch.IntTensor").dtype == fad.int32 == x.type(fad.IntTensor).dtype
    assert x.new([3]).dtype == fad.float32 and x.new(2, 2).shape == (2, 2)
    with pytest.raises(ValueError, match="invalid type"):
        x.type("torch.Strange")


def test_volatile_is_gone():
    with pytest.warns(UserWarning, match="volatile was removed"):
        assert leaf(1).volatile is False


def test_zeros_for_unused_inputs_can_be_differentiated_again():
    x, y = leaf(1), leaf(2)
    _, zero = fad.autograd.grad(x.sum(), (x, y), create_graph=True, materialize_grads=True)
    assert zero.requires_grad
    assert not fad.autograd.grad(x.sum(), (x, y), materialize_grads=True)[1].requires_grad


def test_no_zeros_for_outputs_without_a_derivative():
    class Two(Function):
        @staticmethod
        def forward(ctx, x):
            fixed = x.clone()
            ctx.mark_non_differentiable(fixed)
            ctx._materialize_non_diff_grads = False
            return x * 2, fixed

        @staticmethod
        def backward(ctx, g, none):
            assert none is None
            return g * 2
    x = leaf(1)
    Two.apply(x)[0].backward()
    close(x.grad, [2])


def test_one_element_is_gathered_like_a_row_of_one():
    x = fad.tensor(3.0, requires_grad=True)
    y = x.gather(0, fad.zeros(2, dtype=fad.int64))
    y.sum().backward()
    assert y.shape == (2,) and x.grad.item() == 2
    assert leaf(1, 2).gather(0, fad.tensor(1)).shape == ()


def test_an_expanded_tensor_may_be_written_one_place_at_a_time():
    x = fad.ones(1).expand(3)
    x[0] = 5
    assert x.tolist() == [5, 5, 5]


@pytest.mark.parametrize("make",
                         [lambda d: fad.tensor([1.0], device=d), lambda d: fad.zeros(3, device=d),
                          lambda d: fad.as_tensor([1.0], device=d),
                                  lambda d: fad.arange(3, device=d), lambda d: fad.ones_like(fad.ones(2), device=d),
                          lambda d: fad.ones(2).to(d),
                                  lambda d: fad.ones(2).to(device=d), lambda d: fad.ones(2).new_zeros(2, device=d),
                          lambda d: fad.full((2,), 1.0, device=d)])
def test_there_is_one_device(make):
    for name in ("cpu", fad.device("cpu"), None):
        assert str(make(name).device) == "cpu"
    with pytest.raises(RuntimeError, match="there is no device 'cuda' here"):
        make("cuda")


def test_complex_numbers_that_are_real():
    assert float(fad.tensor(2 + 0j)) == 2 and int(fad.tensor(2 + 0j)) == 2
    with pytest.raises(RuntimeError, match="value cannot be converted to type double without overflow"):
        float(fad.tensor(2 + 1j))


def test_inference_mode_false_is_the_usual_mode():
    with fad.no_grad(), fad.inference_mode(False):
        assert fad.is_grad_enabled()
    assert fad.is_grad_enabled()


@pytest.mark.parametrize("name, floating, is_complex, itemsize", [
    ("float64", True, False, 8), ("float32", True, False, 4), ("float16", True, False, 2),
    ("complex128", False, True, 16), ("complex64", False, True, 8), ("int64", False, False, 8),
    ("int32", False, False, 4), ("uint8", False, False, 1), ("bool", False, False, 1)])
def test_what_a_dtype_is(name, floating, is_complex, itemsize):
    """PyTorch's attributes of dtypes are functions here, of fad's names for dtypes and of tensors' dtypes alike: both
    are NumPy's."""
    dtype = getattr(fad, name)
    for one in (dtype, fad.zeros(2, dtype=dtype).dtype):
        assert (fad.is_floating_point(one), fad.is_complex(one), one.itemsize) == (floating, is_complex, itemsize)
