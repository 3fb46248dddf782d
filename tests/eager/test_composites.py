"""Functions that are one step of the graph: the same as what they are written as, to the second derivative; one node
each, PyTorch's name."""
import numpy as np
import pytest

import fad
import fad.nn
from fad.eager.functions.composite import COMPOSITES

from .composite_samples import SAMPLES
from .support import leaf

CASES = [(name, k) for name, samples in SAMPLES.items() for k in range(len(samples))]


def drawn(name: str, k: int):
    """The composite, arguments (tensors where a gradient is wanted) and parameters of a sample."""
    composite = COMPOSITES[name]
    args, params = SAMPLES[name][k](np.random.default_rng(k))
    edges = composite.facts.get("edges", len(args))
    given = [fad.tensor(a, requires_grad=True) if j < edges and isinstance(a, np.ndarray) else a
             for j, a in enumerate(args)]
    return composite, given, params


def derivatives(function, args: list, params: dict) -> list:
    """Value, gradients, and gradients of a weighted sum of the gradients."""
    xs = [a for a in args if isinstance(a, fad.Tensor)]
    rng = np.random.default_rng(7)
    y = function(*args, **params)
    weights = fad.tensor(rng.standard_normal(y.shape))
    first = fad.autograd.grad((y * weights).sum(), xs, create_graph=True)
    total = sum((g * fad.tensor(rng.standard_normal(g.shape))).sum() for g in first)
    # linear: no second derivative
    second = fad.autograd.grad(total, xs, materialize_grads=True) if total.requires_grad else ()
    return [y, *first, *second]


def test_every_composite_has_samples():
    assert SAMPLES.keys() == COMPOSITES.keys()


@pytest.mark.parametrize("name, k", CASES)
def test_as_written(name, k):
    composite, args, params = drawn(name, k)
    for got, expected in zip(derivatives(composite, args, params), derivatives(composite.written, args, params)):
        np.testing.assert_allclose(got.detach().numpy(), expected.detach().numpy(), rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("name, k", CASES)
def test_forward_mode_and_float32(name, k):
    composite, args, params = drawn(name, k)
    xs = [a for a in args if isinstance(a, fad.Tensor)]

    def function(*given):
        rest = iter(given)
        return composite(*[next(rest) if isinstance(a, fad.Tensor) else a for a in args], **params)
    assert fad.autograd.gradcheck(function, xs, check_forward_ad=True, fast_mode=True)
    small = [a.detach().float().requires_grad_() if isinstance(a, fad.Tensor) else
             a.astype(np.float32) if isinstance(a, np.ndarray) and a.dtype.kind == "f" else a for a in args]
    y = composite(*small, **params)
    assert y.dtype == np.float32
    y.sum().backward()
    assert all(x.grad.dtype == np.float32 for x in small if isinstance(x, fad.Tensor))


@pytest.mark.parametrize("name", COMPOSITES)
def test_one_node(name):
    composite, args, params = drawn(name, 0)
    node = composite(*args, **params).grad_fn
    assert node.name() == composite.label
    assert len(node.next_functions) == composite.facts.get("edges", len(args)) or None in args
    assert all(after is None or after.name().endswith("AccumulateGrad") for after, _ in node.next_functions)


def test_a_network_has_the_nodes_of_pytorch():
    nn = fad.nn
    model = nn.Sequential(nn.Linear(4, 8), nn.LayerNorm(8), nn.ReLU(), nn.Linear(8, 3))
    loss = nn.functional.cross_entropy(model(fad.randn(5, 4)), fad.tensor(np.array([0, 1, 2, 1, 0])))
    names, node = [], loss.grad_fn
    while node is not None:
        names.append(node.name())
        node = next((after for after, _ in node.next_functions
                     if after is not None and not after.name().endswith("AccumulateGrad")), None)
    assert names == ["NllLossBackward0", "LogSoftmaxBackward0", "AddmmBackward0", "ReluBackward0",
                     "NativeLayerNormBackward0", "AddmmBackward0",
                     "TBackward0"]


def test_the_edges_of_values():
    x = leaf(2, 2, 2)
    x.var().backward()
    assert (x.grad == 0).all()
    for f in (lambda z: z.std(), lambda z: z.norm()):
        z = fad.zeros(3, requires_grad=True)
        f(z).backward()
        assert (z.grad == 0).all()
    low = fad.full((2, 3), -np.inf, requires_grad=True)
    low.logsumexp(1).sum().backward()
    assert (low.grad == 0).all()
    assert np.isnan(fad.tensor([1.0]).var().item())


def test_parts_of_one_tensor_are_one_node():
    x = fad.randn(4, 3, requires_grad=True)
    for parts, name in ((x.unbind(), "UnbindBackward0"), (x.split(2), "SplitBackward0"),
                        (fad.var_mean(x), "VarMeanBackward0")):
        node = parts[0].grad_fn
        assert node is parts[1].grad_fn and node.name() == name
        assert [after.name() for after, _ in node.next_functions] == ["torch::autograd::AccumulateGrad"]
    a, b = x.split(2)
    g, = fad.autograd.grad((a * b).sum(), x, create_graph=True)
    np.testing.assert_allclose(g.detach().numpy(), np.concatenate([b.detach().numpy(), a.detach().numpy()]))
    assert fad.autograd.gradgradcheck(lambda x: x.unbind()[1] * x.split(1)[2], x)
    x.split(2)[1].sum().backward()
    assert x.grad.sum(1).tolist() == [0, 0, 3, 3]


def test_what_nodes_show():
    x, y = fad.randn(3, 4, requires_grad=True), fad.randn(3, 4)
    assert x.mean(1)._fn._saved_dim == (1,) and x.mean(1, keepdim=True)._fn._saved_keepdim is True
    assert x.mean()._fn._saved_self_sym_sizes == (3, 4) and x.mean()._fn._saved_self_sym_numel == 12
    assert x.var(0)._fn._saved_correction == 1 and x.softmax(1)._fn._saved_dim == 1
    assert fad.nn.functional.mse_loss(x, y)._fn._saved_reduction == 1
    assert fad.nn.functional.leaky_relu(x, 0.3)._fn._saved_negative_slope == 0.3
    assert (x + y)._fn._saved_alpha == 1 and x.square()._fn._saved_exponent == 2
    assert fad.addcmul(x, y, y, value=3)._fn._saved_value == 3
    for y, saved in (x.exp(), "_saved_result"), (x.log(), "_saved_self"):
        assert [name for name in dir(y._fn) if name.startswith("_saved_")] == [saved]
