"""Nodes as users meet them: what they are called, what they know of results, edges of the graph as roots and as
inputs."""
import weakref

import numpy as np
import pytest

import fad
from fad.autograd import Function
from fad.autograd.function import InplaceFunction, once_differentiable
from fad.autograd.graph import GradientEdge, get_gradient_edge

from .support import close, leaf


class Twice(Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 2


def kinds(node):
    if node is None:
        return "None"
    return f"{type(node).__name__}({', '.join(kinds(after) for after, _ in node.next_functions)})"


def test_the_class_of_a_node_is_called_as_its_step():
    x = leaf(1, 2)
    y = (x.exp() * x).sum()
    assert kinds(y.grad_fn) == "SumBackward0(MulBackward0(ExpBackward0(AccumulateGrad()), AccumulateGrad()))"
    assert y.grad_fn is y.grad_fn
    y.backward()
    close(x.grad, (x.exp() * (x + 1)).detach())


def test_nodes_of_a_function_are_of_a_class_of_its_own():
    y = Twice.apply(leaf(1))
    assert type(y.grad_fn) is Twice._backward_cls and type(y.grad_fn).__name__ == "TwiceBackward"


def test_what_is_once_differentiable_ends_in_an_error_node():
    class Square(Function):
        @staticmethod
        def forward(ctx, x, k):
            ctx.save_for_backward(x)
            return x ** 2

        @staticmethod
        @once_differentiable
        def backward(ctx, g):
            return 2 * ctx.saved_tensors[0] * g, None
    x = leaf(3)
    Square.apply(x, 1).backward(leaf(1), create_graph=True)
    assert kinds(x.grad.grad_fn) == "CopyBackwards(None, Error(AccumulateGrad(), None))"
    with pytest.raises(RuntimeError, match="once_differentiable"):
        x.grad.backward()


def test_metadata_of_results():
    x = fad.zeros(2, 3, dtype=fad.float32, requires_grad=True)
    meta = x.exp().grad_fn._input_metadata[0]
    assert meta.shape == (2, 3) and meta.dtype == fad.float32
    assert Twice.apply(x).grad_fn._input_metadata[0].shape == (2, 3)


def test_too_many_gradients_for_a_node():
    node = leaf(1).exp().grad_fn
    with pytest.raises(TypeError, match="expected 1 arguments, got 2 instead"):
        node(fad.ones(1), fad.ones(1))


def test_an_edge_is_a_root():
    x = leaf(1, 2)
    total = x.sin().sum()
    edge = get_gradient_edge(total)
    close(fad.autograd.grad(edge, x, retain_graph=True)[0], x.cos().detach())
    fad.autograd.backward((edge, edge), [fad.tensor(2.0), None])
    close(x.grad, 3 * x.cos().detach())


def test_gradients_of_an_edge_are_measured():
    x = leaf(1, 2)
    edge = get_gradient_edge(x.sin())
    with pytest.raises(RuntimeError, match="only for scalar output"):
        fad.autograd.grad(edge, x)
    with pytest.raises(RuntimeError, match="Mismatch in shape"):
        fad.autograd.grad(edge, x, fad.ones(3))
    with pytest.raises(RuntimeError, match="required to have the same dtype"):
        fad.autograd.grad(edge, x, fad.ones(2, dtype=fad.complex128))


def test_an_edge_made_by_hand():
    x = leaf(1, 2).exp()
    y = x * 3
    close(fad.autograd.grad(y.sum(), GradientEdge(x.grad_fn, x.output_nr))[0], [3, 3])


def test_backward_into_a_result_keeps_its_gradient_and_runs_its_node():
    x = leaf(1)
    y = x + 2
    seen = []
    y.grad_fn.register_hook(lambda gx, g: seen.append("node"))
    (y * 3).backward(inputs=[y])
    assert seen == ["node"] and y.retains_grad and x.grad is None
    close(y.grad, [3])


def test_batched_gradients_must_fit():
    x = leaf(1, 2)
    with pytest.raises(RuntimeError, match="If `is_grads_batched=True`, we interpret the first"):
        fad.autograd.grad(x.exp(), x, fad.ones(2), is_grads_batched=True)


def test_a_shape_prints_as_in_messages():
    x = fad.zeros(2, 3)
    assert repr(x.shape) == "torch.Size([2, 3])" == repr(x.size())
    assert x.shape == (2, 3) and x.shape[1:] == fad.Size([3])
    assert x.shape.numel() == 6 and (x.shape + (1,)) == (2, 3, 1)


def test_a_function_that_is_instantiated():
    with pytest.warns(DeprecationWarning, match="should not be instantiated"):
        f = Twice()
    with pytest.raises(RuntimeError, match="Legacy autograd function with non-static forward method is deprecated"):
        f(leaf(1))
    for name in ("next_functions", "name", "register_hook", "_sequence_nr", "_input_metadata"):
        with pytest.raises(RuntimeError, match=f"Attribute '{name}' is invalid"):
            getattr(f, name)
    with pytest.raises(RuntimeError, match="deallocated"):
        _ = f.metadata


def test_saved_variables_is_deprecated():
    class Old(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 1

        @staticmethod
        def backward(ctx, g):
            return g * ctx.saved_variables[0]
    with pytest.warns(DeprecationWarning, match="saved_tensors"):
        Old.apply(leaf(2)).backward()


def test_inplace_function_knows_its_node_class():
    class Add(InplaceFunction):
        @staticmethod
        def forward(ctx, a, b):
            ctx.mark_dirty(a)
            return a.add_(b)

        @staticmethod
        def backward(ctx, g):
            return g, g
    a, b = fad.zeros(2), leaf(1, 2)
    y = Add.apply(a, b)
    assert y is a and y.grad_fn.__class__ is Add._backward_cls


def test_a_derivative_that_is_not_there():
    x = leaf(1, 2)
    with pytest.raises(NotImplementedError, match="the derivative for 'nextafter' is not implemented"):
        fad.nextafter(x, x).sum().backward()
    with fad.autograd.forward_ad.dual_level():
        dual = fad.autograd.forward_ad.make_dual(x.detach(), fad.ones(2))
        with pytest.raises(NotImplementedError,
                           match="Trying to use forward AD with nextafter that does not support it"):
            fad.nextafter(dual, dual)


def test_a_function_of_several_ops_is_one_step():
    x, seen = leaf(3, 1, 2), []
    y = fad.nn.functional.elu(x * 1)
    assert kinds(y.grad_fn) == "EluBackward0(MulBackward0(AccumulateGrad(), None))" and y.grad_fn._saved_alpha == 1.0
    y.grad_fn.register_hook(lambda gx, gy: seen.append((len(gx), len(gy))))
    y.sum().backward()
    assert seen == [(1, 1)]
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        y.sum().backward()
    with pytest.raises(RuntimeError, match="after they have already been freed"):
        y.grad_fn._saved_self  # noqa: B018


def test_second_derivatives_go_behind_the_step():
    x = leaf(3, 1, 2)
    y = fad.dist(x, fad.zeros(3), 3)
    g, = fad.autograd.grad(y, x, create_graph=True)
    (g * g).sum().backward()
    assert fad.autograd.gradgradcheck(lambda x: fad.dist(x, fad.zeros(3), 3), leaf(3, 1, 2))
    assert x.grad is not None and fad.autograd.gradcheck(lambda x: x.min(0)[0] * x.median(0, True)[0],
                                                         leaf(3, 1, 2))


def test_of_what_only_sizes_are_shown_nothing_is_kept():
    x = leaf(3, 1, 2) * 1
    alive = weakref.ref(x)
    y = x.sum(0, keepdim=True)
    assert y.grad_fn._saved_self_sym_sizes == (3,) and not hasattr(y.grad_fn, "_saved_self")
    del x
    assert alive() is None


def test_what_is_copied_into_a_part_has_an_edge_of_its_own():
    x, y = fad.ones(2, 3, requires_grad=True), leaf(7, 8, 9)
    z = x.clone()
    z[0] = y
    assert kinds(z.grad_fn) == "CopySlices(CloneBackward0(AccumulateGrad()), AccumulateGrad())"
    z[:, 1] = 2.0
    assert kinds(z.grad_fn).startswith("CopySlices(CopySlices(") and z.grad_fn.next_functions[1] == (None, 0)
    (z * z).sum().backward()
    close(x.grad, fad.tensor([[0.0, 0, 0], [2, 0, 2]]))
    close(y.grad, fad.tensor([14.0, 0, 18]))


def test_a_convolution_shows_the_size_of_its_bias():
    x = fad.ones(1, 1, 3, 3, requires_grad=True)
    assert fad.nn.Conv2d(1, 2, 3)(x).grad_fn._saved_bias_sym_sizes_opt == (2,)
    assert fad.nn.Conv2d(1, 2, 3, bias=False)(x).grad_fn._saved_bias_sym_sizes_opt == (0,)


def test_what_is_shown_of_a_tensor_is_a_tensor():
    loss = fad.nn.functional.nll_loss(fad.ones(2, 3, requires_grad=True), fad.tensor([0, 2]), weight=fad.ones(3))
    assert isinstance(loss.grad_fn._saved_weight, fad.Tensor)


def test_recorded_gradients_of_what_is_flat_lead_to_its_argument():
    F = fad.nn.functional
    for f in (fad.relu, F.hardtanh, F.leaky_relu, lambda x: F.threshold(x, 0.1, 2.0)):
        x = fad.tensor([-2.0, -0.3, 0.2, 3.0], requires_grad=True)
        g, = fad.autograd.grad(f(x).sum(), x, create_graph=True)
        assert g.grad_fn.name().endswith("BackwardBackward0") and g.grad_fn.next_functions[0] == (None, 0)
        (g * g).sum().backward()
        assert x.grad.tolist() == [0.0] * 4


def test_nothing_passes_a_flat_part_be_the_cotangent_infinite():
    for f in (fad.relu, lambda x: fad.nn.functional.hardtanh(x, 0.0, 9.0), lambda x: x.clamp(0.0, 9.0)):
        x = fad.tensor([-1.0, 2.0], requires_grad=True)
        f(x).log().sum().backward()
        assert x.grad.tolist() == [0.0, 0.5]


def test_changes_through_views_show_the_base_and_the_other_operands():
    x, w = fad.ones(4, requires_grad=True), fad.ones(2, requires_grad=True)
    y = x * 1
    y[:2].mul_(w)
    names = [None if node is None else node.name() for node, _ in y.grad_fn.next_functions]
    assert names == ["MulBackward0", "torch::autograd::AccumulateGrad"]
    z = x * 1
    z[1:].exp_()
    assert len(z.grad_fn.next_functions) == 1


def test_recorded_gradients_of_what_is_flat_keep_their_tangents():
    x = fad.tensor([[-1.5, 0.3, 0.7], [0.4, -0.2, 1.1]])
    for f in (lambda x: (x.relu() * x).sum(), lambda x: (fad.nn.functional.leaky_relu(x) * x.sin()).sum(),
              lambda x: (fad.nn.functional.threshold(x, 0.25, 0.0) * x ** 2).sum()):
        plain = fad.autograd.functional.hessian(f, x)
        assert plain.abs().max() > 0.1
        for options in ({"vectorize": True}, {"vectorize": True, "outer_jacobian_strategy": "forward-mode"}):
            close(fad.autograd.functional.hessian(f, x, **options), plain)


@pytest.mark.parametrize("subscript, names", [
    ((0, 1), "Select Select"), ((0,), "Select"), ((slice(None), 1), "Select"), ((slice(0, 2), 1), "Select Slice"),
    ((slice(0, 3), 1), "Select"), ((None, 0), "Select Unsqueeze"), ((slice(0, 2), slice(1, 3)), "Slice Slice"),
    ((Ellipsis, 1), "Select"), ((0, slice(1, 3)), "Slice Select"),
    ((slice(1, None), None, 2), "Select Unsqueeze Slice"), ((0, [1, 2]), "Index Select"), ((Ellipsis,), "Alias"),
    ((slice(None),), "Slice"), ((slice(None), slice(None)), "Alias"), ((0, Ellipsis, None), "Unsqueeze Select")])
def test_a_subscript_is_a_step_for_each_of_its_items(subscript, names):
    x = fad.arange(12.0).reshape(3, 4).clone().requires_grad_()
    y, found = x[subscript if len(subscript) > 1 else subscript[0]], []
    node = y.grad_fn
    while node.name() != "torch::autograd::AccumulateGrad":
        found.append(node.name().removesuffix("Backward0"))
        node = node.next_functions[0][0]
    assert " ".join(found) == names
    want = x.detach().numpy()[subscript]
    np.testing.assert_array_equal(y.detach().numpy(), want)
    (y * y).sum().backward()
    mask = np.zeros((3, 4))
    mask[subscript] = 1.0
    np.testing.assert_array_equal(x.grad.numpy(), 2 * mask * x.detach().numpy())
    assert y._base is x or not y._is_view()
    with pytest.raises(IndexError, match="index 7 is out of bounds for dimension 1 with size 4"):
        x[0, 7]


def test_parameters_are_shown_in_one_form():
    x = fad.ones(2, 3, requires_grad=True)
    loss = fad.nn.functional.huber_loss(x, x, delta=1)
    for y, name in (fad.pdist(x, 1), "p"), (fad.logit(x, 0), "eps"), (loss, "delta"):
        assert type(getattr(y.grad_fn, f"_saved_{name}")) is float
    assert x.roll(1, 0).grad_fn._saved_shifts == x.roll((1,), (0,)).grad_fn._saved_shifts == (1,)
