"""Layers' functions that change spatial sizes or shrink values: what they must satisfy, and their derivatives."""
import numpy as np
import pytest

import fad
from fad.autograd import gradcheck
from fad.nn import functional as F

from .support import close

X = np.random.default_rng(5).standard_normal((1, 4, 4, 4))
W = np.random.default_rng(6).standard_normal((6, 2, 3, 3))

FUNCTIONS = {
    "threshold": lambda x: F.threshold(x, 0.1, 2.0),
    "nearest": lambda x: F.interpolate(x, scale_factor=2),
    "bilinear": lambda x: F.interpolate(x, size=(3, 6), mode="bilinear"),
    "linear": lambda x: F.interpolate(x[0], scale_factor=0.5, mode="linear", align_corners=True),
    "conv2d": lambda x: F.conv2d(x, fad.tensor(W), padding=1, stride=2, groups=2)}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives(name):
    assert gradcheck(FUNCTIONS[name], fad.tensor(X, requires_grad=True), check_forward_ad=True, fast_mode=True)


def test_a_ramp_stays_a_ramp():
    ramp = fad.arange(5.0).reshape(1, 1, 5)
    assert F.interpolate(ramp, 9, mode="linear", align_corners=True).tolist() == [[[0.5 * k for k in range(9)]]]


def test_modules():
    model = fad.nn.Sequential(fad.nn.Conv2d(4, 2, 3, padding=2), fad.nn.Softplus(), fad.nn.AvgPool2d(3),
                              fad.nn.Flatten(), fad.nn.LayerNorm(8), fad.nn.Dropout(0.5))
    out = model(fad.tensor(X))
    out.sum().backward()
    assert out.shape == (1, 8) and all(p.grad is not None for p in model.parameters())
    with pytest.raises(NotImplementedError, match="lanczos"):
        F.interpolate(fad.tensor(X), scale_factor=2, mode="lanczos")


def test_what_nodes_show():
    x = fad.ones(1, 1, 2, requires_grad=True)
    node = F.interpolate(x, 4, mode="linear").grad_fn
    assert node._saved_output_size == (4,) and node._saved_align_corners is False and node._saved_scales is None
    assert fad.stack([x, x], 1).grad_fn._saved_dim == 1 and fad.logit(x, 0.1).grad_fn._saved_eps == 0.1
    assert fad.div(x, 2.0, rounding_mode="trunc").grad_fn._saved_rounding_mode == "trunc"
    assert x.mean().grad_fn._saved_self_sym_sizes == (1, 1, 2)
    assert F.threshold(x, 1, 2).grad_fn._saved_threshold == 1
    assert fad.pdist(fad.ones(2, 2, requires_grad=True), 1).grad_fn._saved_p == 1.0
    index = fad.tensor([0, 1])
    node = fad.ones(2, 2, requires_grad=True)[:, index].grad_fn
    assert node._saved_indices[0] is None and node._saved_indices[1].tolist() == [0, 1]
    with pytest.raises(RuntimeError, match="None is forbidden"):
        node._raw_saved_indices[0].register_hooks(lambda t: t, lambda t: t)


@pytest.mark.parametrize("ceil", [False, True])
@pytest.mark.parametrize("padding", [0, 1])
@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("pool", [F.max_pool2d, F.avg_pool2d, lambda *given: F.avg_pool2d(*given, False)])
def test_pooling_of_tensors_is_that_of_programs(pool, stride, padding, ceil):
    def f(x):
        y = pool(x, (3, 2), stride, padding, *((1, ceil) if pool is F.max_pool2d else (ceil,)))
        return (y * y).sum()
    # some elements of a window are equal
    a = np.round(np.random.default_rng(3).standard_normal((2, 3, 7, 6)), 1)
    x = fad.tensor(a, requires_grad=True)
    y = f(x)
    y.backward()
    value, gradient = fad.value_and_grad(f, compile="never")(a)
    close(y, value)
    close(x.grad, gradient)
    close(fad.autograd.functional.hvp(f, fad.tensor(a), fad.tensor(a))[1], fad.hvp(f, a, a))


def test_a_window_of_padding_alone_has_no_gradient():
    x = fad.ones(1, 1, 1, requires_grad=True)
    y = F.max_pool1d(x, 2, 1, 1, 2)
    assert y.tolist() == [[[-np.inf]]]
    y.backward()
    assert x.grad.tolist() == [[[0.0]]]


@pytest.mark.parametrize("weight, bias", [("float32", "float64"), ("float64", "float32"), ("float32", None)])
def test_convolutions_take_one_dtype(weight, bias):
    x, w = fad.ones(1, 1, 3), fad.ones(1, 1, 2, dtype=getattr(fad, weight))
    with pytest.raises(RuntimeError, match=f"{'weight' if weight == 'float32' else 'bias'} type .* should be the same"):
        F.conv1d(x, w, bias and fad.ones(1, dtype=getattr(fad, bias)))


@pytest.mark.parametrize("weight", [None, np.array([2.0, 1.0, 3.0])])
def test_ignored_examples_do_not_matter(weight):
    """Not even where all are ignored, or where one of them has no finite logits."""
    def f(x, classes):
        w = weight if weight is None or isinstance(x, np.ndarray) else fad.tensor(weight)
        return F.cross_entropy(x, classes, w, ignore_index=1)
    wide = np.array([[-np.inf, 0.0, 1.0], [1.0, 2.0, 4.0]])
    one_left = np.log(np.exp([-3.0, -2.0, 0.0]).sum())
    for a, classes, value in ((np.ones((2, 3)), [1, 1], np.nan), (wide, [1, 2], one_left)):
        x = fad.tensor(a, requires_grad=True)
        loss = f(x, fad.tensor(classes))
        slope, = fad.autograd.grad(loss, x, create_graph=True)
        plain, gradient = fad.value_and_grad(f)(a, np.array(classes))
        np.testing.assert_allclose([loss.item(), plain], value)
        assert not slope[0].any() and not gradient[0].any() and np.isfinite(gradient).all()


def test_a_batch_of_no_example_leaves_the_running_statistics():
    norm = fad.nn.BatchNorm1d(3)
    assert norm(fad.ones(0, 3)).shape == (0, 3)
    assert norm.running_mean.tolist() == [0.0] * 3 and norm.running_var.tolist() == [1.0] * 3


def test_layers_refuse_what_pytorch_refuses():
    with pytest.raises(RuntimeError, match="ignore_index is not supported for floating point target"):
        F.cross_entropy(fad.ones(2, 3), fad.ones(2, 3), ignore_index=1)
    norm = fad.nn.BatchNorm1d(3, eps=0.0)
    with pytest.raises(ValueError, match="eps must be positive during training, but got 0.0"):
        norm(fad.ones(2, 3))
    assert norm.eval()(fad.ones(2, 3)).tolist() == [[1.0] * 3] * 2
    with pytest.raises(ValueError, match="eps must be non-negative, but got -1.0"):
        fad.nn.BatchNorm1d(3, eps=-1.0).eval()(fad.ones(2, 3))


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_softmax_of_one_number_and_of_whole_ones(name):
    f, node = getattr(F, name), "".join(word.capitalize() for word in name.split("_")) + "Backward0"
    assert f(fad.tensor(2.0, requires_grad=True), dim=0).grad_fn.name() == node
    with pytest.raises(NotImplementedError, match=f'"{name}_lastdim_kernel_impl" not implemented for \'Long\''):
        f(fad.tensor([1, 2]), dim=0)
