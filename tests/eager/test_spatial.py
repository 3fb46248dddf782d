"""Layers' functions that change spatial sizes or shrink values: what they must satisfy, and their derivatives."""
import numpy as np
import pytest

import fad
from fad.autograd import gradcheck
from fad.nn import functional as F

X = np.random.default_rng(5).standard_normal((1, 4, 4, 4))
W = np.random.default_rng(6).standard_normal((4, 2, 3, 3))

FUNCTIONS = {
    "threshold": lambda x: F.threshold(x, 0.1, 2.0), "hardshrink": F.hardshrink, "softshrink": lambda x: F.softshrink(x, 0.3), "tanhshrink": F.tanhshrink,
    "rrelu": F.rrelu, "rms_norm": lambda x: F.rms_norm(x, (4,)), "instance_norm": F.instance_norm, "local_response_norm": lambda x: F.local_response_norm(x, 3),
    "pairwise_distance": lambda x: F.pairwise_distance(x[0, 0], x[0, 1]), "triplet": lambda x: F.triplet_margin_loss(*x[0, :3], swap=True),
    "cosine_embedding": lambda x: F.cosine_embedding_loss(x[0, 0], x[0, 1], fad.tensor([1, -1, 1, -1]), 0.1),
    "multilabel": lambda x: F.multilabel_soft_margin_loss(x[0, 0], fad.eye(4)), "attention": lambda x: F.scaled_dot_product_attention(x, x * 2, x + 1, is_causal=True),
    "nearest": lambda x: F.interpolate(x, scale_factor=2), "bilinear": lambda x: F.interpolate(x, size=(3, 6), mode="bilinear"),
    "linear": lambda x: F.interpolate(x[0], scale_factor=0.5, mode="linear", align_corners=True), "area": lambda x: F.interpolate(x, size=3, mode="area"),
    "adaptive_avg": lambda x: F.adaptive_avg_pool2d(x, (3, None)), "adaptive_max": lambda x: F.adaptive_max_pool2d(x, (3, 2)),
    "conv3d": lambda x: F.conv3d(x[None], fad.ones(2, 1, 2, 2, 2), padding=1), "conv_transpose2d": lambda x: F.conv_transpose2d(
        x, fad.tensor(W), fad.ones(2), stride=2, padding=1, output_padding=1), "unfold": lambda x: F.unfold(x, 3, padding=1, stride=2),
    "fold": lambda x: F.fold(F.unfold(x, (2, 3), stride=2), 4, (2, 3), stride=2), "pixel_shuffle": lambda x: F.pixel_shuffle(x, 2),
    "channel_shuffle": lambda x: F.channel_shuffle(x, 2)}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives(name):
    assert gradcheck(FUNCTIONS[name], fad.tensor(X, requires_grad=True), check_forward_ad=True, fast_mode=True)


@pytest.mark.parametrize("options", [{}, {"stride": 2, "padding": 1}, {"groups": 2}, {"dilation": 2, "padding": 2}])
def test_a_transposed_convolution_is_the_adjoint(options):
    rng = np.random.default_rng(1)
    x, w = fad.tensor(rng.standard_normal((2, 4, 7, 7))), fad.tensor(rng.standard_normal((4, 4 // options.get("groups", 1), 3, 3)))
    y = F.conv2d(x, w, **options)
    g = fad.tensor(rng.standard_normal(y.shape))
    back = F.conv_transpose2d(g, w, **options)
    np.testing.assert_allclose((y * g).sum().item(), (x[..., :back.shape[-2], :back.shape[-1]] * back).sum().item())


def test_what_undoes_what():
    x = fad.tensor(X)
    np.testing.assert_allclose(F.pixel_unshuffle(F.pixel_shuffle(x, 2), 2).numpy(), X)
    np.testing.assert_allclose(F.fold(F.unfold(x, 2, stride=2), 4, 2, stride=2).numpy(), X)
    np.testing.assert_allclose(F.adaptive_avg_pool2d(x, 2).numpy(), F.avg_pool2d(x, 2).numpy())
    np.testing.assert_allclose(F.adaptive_max_pool2d(x, 2).numpy(), F.max_pool2d(x, 2).numpy())
    ramp = fad.arange(5.0).reshape(1, 1, 5)
    assert F.interpolate(ramp, 9, mode="linear", align_corners=True).tolist() == [[[0.5 * k for k in range(9)]]]


def test_modules():
    model = fad.nn.Sequential(fad.nn.ConvTranspose2d(4, 2, 3), fad.nn.Softshrink(0.1), fad.nn.AdaptiveAvgPool2d(2), fad.nn.Flatten(), fad.nn.RMSNorm(8),
                              fad.nn.Unflatten(1, (2, 4)), fad.nn.Dropout1d(0.5))
    out = model(fad.tensor(X))
    out.sum().backward()
    assert out.shape == (1, 2, 4) and all(p.grad is not None for p in model.parameters())
    assert fad.nn.TripletMarginLoss(margin=0.5)(*fad.rand(3, 2, 4)).shape == ()
    with pytest.raises(NotImplementedError, match="lanczos"):
        fad.nn.Upsample(scale_factor=2, mode="lanczos")(fad.tensor(X))


def test_what_nodes_show():
    x = fad.ones(1, 1, 2, requires_grad=True)
    node = F.interpolate(x, 4, mode="linear").grad_fn
    assert node._saved_output_size == (4,) and node._saved_align_corners is False and node._saved_scale_factors is None
    assert fad.stack([x, x], 1).grad_fn._saved_dim == 1 and fad.logit(x, 0.1).grad_fn._saved_eps == 0.1
    assert fad.div(x, 2.0, rounding_mode="trunc").grad_fn._saved_rounding_mode == "trunc" and x.mean().grad_fn._saved_self_sym_sizes == (1, 1, 2)
    assert F.threshold(x, 1, 2).grad_fn._saved_threshold == 1 and fad.pdist(fad.ones(2, 2, requires_grad=True), 1).grad_fn._saved_p == 1.0
    index = fad.tensor([0, 1])
    node = fad.ones(2, 2, requires_grad=True)[:, index].grad_fn
    assert node._saved_indices[0] is None and node._saved_indices[1].tolist() == [0, 1]
    with pytest.raises(RuntimeError, match="None is forbidden"):
        node._raw_saved_indices[0].register_hooks(lambda t: t, lambda t: t)
