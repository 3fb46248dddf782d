"""Changes in place: history through views, versions, what is refused."""
import subprocess
import sys

import numpy as np
import pytest

import fad

from .support import SameView, close, leaf


def test_views_of_views():
    a = leaf(1, 2, 3, 4)
    b = a * 1
    v = b[1:3]
    w = v[0:1]
    w.mul_(5)
    v.add_(a[0:2])
    (b * v.sum()).sum().backward()
    assert a.grad.numpy().shape == (4,) and v._base is b and w._base is b
    e = np.array([1.0, 2, 3, 4])

    def model(x):
        y = x.copy()
        y[1] = x[1] * 5 + x[0]
        y[2] = x[2] + x[1]
        return (y * (y[1] + y[2])).sum()
    h = 1e-6
    np.testing.assert_allclose(a.grad.numpy(), [(model(e + h * d) - model(e - h * d)) / (2 * h) for d in np.eye(4)],
                               rtol=1e-6)


def test_a_view_follows_its_base():
    x, b = leaf(1, 2, 3), fad.zeros(3)
    v = b.view(3, 1).expand(3, 2)
    b.copy_(x)
    assert v.requires_grad and v.grad_fn.name() == "AsStridedBackward0"
    (v * 2).sum().backward()
    close(x.grad, 4.0)


def test_diagonal_is_a_view():
    base, x = fad.zeros(3, 3), leaf(1, 2, 3)
    base[0] = x
    base[:, 1].add_(x * 2)
    base.diagonal().mul_(x)
    base.sum().backward()
    close(x.grad, [4, 9, 3])


def test_masks_and_index_arrays():
    x = leaf(1, -2, 3)
    y = x * 2
    y[y < 0] = 0
    (y * y).sum().backward()
    close(x.grad, [8, 0, 24])
    x.grad = None
    y = fad.zeros(3)
    y.index_put_((fad.tensor([0, 0, 1]),), x, accumulate=True)
    (y * y).sum().backward()
    close(x.grad, [-2, -2, 6])


@pytest.mark.parametrize("name", ["sin_", "exp_", "pow_", "mul_", "div_", "tanh_"])
def test_originals_are_kept_for_backward(name):
    x, y = leaf(0.5, 2), leaf(3, 4)
    z = x * 1
    args = {"pow_": (2,), "mul_": (y,), "div_": (y,)}.get(name, ())
    assert getattr(z, name)(*args) is z
    z.sum().backward()
    expected = {"sin_": np.cos([0.5, 2]), "exp_": np.exp([0.5, 2]), "pow_": [1, 4], "mul_": [3, 4],
                "div_": [1 / 3, 0.25], "tanh_": 1 - np.tanh([0.5, 2]) ** 2}
    close(x.grad, expected[name])


def test_stale_saved_tensors_are_named():
    x = leaf(1, 2)
    y = x + 1
    z = y * y
    y.add_(1)
    message = (r"modified by an inplace operation: \[torch.DoubleTensor \[2\]\], which is output 0 of Add, is at "
               "version 1; expected version 0 instead")
    with pytest.raises(RuntimeError, match=message):
        z.sum().backward()


SAVING = {"mul": lambda w, x: w * x, "of a number": lambda w, x: 2.0 * w ** 3, "div": lambda w, x: x / w,
          "exp": lambda w, x: w.sin() * x, "matmul": lambda w, x: w @ x,
          "pow": lambda w, x: x ** w, "maximum": lambda w, x: fad.maximum(w, x),
          "linear": lambda w, x: fad.nn.functional.linear(x, w[None]), "own": lambda w, x: w * w}


@pytest.mark.parametrize("name", SAVING)
def test_stale_parameters_are_found(name):
    """A subclass of Tensor is watched like any tensor."""
    for cls in (fad.nn.Parameter, type("Own", (fad.Tensor,), {})):
        w, x = cls(fad.tensor([0.5, 2.0])).requires_grad_(), leaf(1.0, 3.0)
        y = SAVING[name](w, x).sum()
        with fad.no_grad():
            w.add_(1.0)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            y.backward()


def test_detach_shares_the_version_and_data_does_not():
    x = leaf(1, 2)
    y = x * 2
    z = y * y
    y.data.zero_()
    assert y._version == 0
    y.detach().zero_()
    assert y._version == 1
    with pytest.raises(RuntimeError, match="modified by an inplace"):
        z.sum().backward()


def test_what_is_refused():
    p = leaf(1, 2, 3)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used"):
        p.mul_(2)
    with pytest.raises(RuntimeError, match="a view of a leaf Variable"):
        p[0:2].mul_(2)
    with fad.no_grad():
        v = p[0:2]
    with pytest.raises(RuntimeError, match="A view was created in no_grad mode"):
        v.mul_(2)
    with pytest.raises(RuntimeError, match="function that returns multiple views"):
        (p * 1).unbind()[0].mul_(2)
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        fad.ones(3).expand(2, 3).mul_(2)
    with pytest.raises(RuntimeError, match="can't be cast"):
        fad.arange(3).add_(0.5)


def test_retained_gradients_move_with_the_tensor():
    seen = []
    x = leaf(1, 2)
    y = x * 2
    y.register_hook(lambda g: seen.append(("before", g.tolist())))
    y.retain_grad()
    y.mul_(3)
    y.register_hook(lambda g: seen.append(("after", g.tolist())))
    y.sum().backward()
    assert seen == [("after", [1.0, 1.0]), ("before", [3.0, 3.0])]
    close(y.grad, 1.0), close(x.grad, 6.0)


def test_mutation_of_saved_tensors_may_be_allowed():
    x = leaf(2, 3)
    with fad.autograd.graph.allow_mutation_on_saved_tensors():
        a = x * 1
        y = a.sin()
        a.mul_(10)
        z = a * a
        a.zero_()
        (y.sum() + z.sum()).backward()
    close(x.grad, np.cos([2, 3]) + 200 * np.array([2, 3]))


def test_zero_flows_back_to_what_was_written_over():
    for change in (lambda t: t.zero_(), lambda t: t.fill_(3), lambda t: t.copy_(fad.ones(2))):
        x = leaf(1, 2)
        y = x.clone()
        change(y)
        assert y.requires_grad
        y.sum().backward()
        close(x.grad, [0, 0])
    names = [change(leaf(1).clone()).grad_fn.name()
             for change in (lambda t: t.zero_(), lambda t: t.fill_(3), lambda t: t.copy_(fad.ones(1)))]
    assert names == ["ZeroBackward0", "FillBackward2", "torch::autograd::CopyBackwards"]


def test_one_number_may_be_written_over_elements_that_share_memory():
    x = fad.ones(1)
    x.expand(3).fill_(5)
    assert x.tolist() == [5]


def test_norms_where_powers_have_no_derivative():
    x = leaf(0, 4)
    x.norm(p=0.5).backward()
    close(x.grad, [0, 1])
    y = leaf(0, 2)
    y.norm(p=0).backward()
    close(y.grad, [0, 0])


def test_operands_that_share_a_part_of_the_memory():
    """What is written while it is read, at other places, is refused; the very same places are fine, and so are disjoint
    ones."""
    a = fad.arange(6.0)
    b = a.view(2, 3)
    for change in (lambda: a[1:].add_(a[:-1]), lambda: a[:3].mul_(a[1:4]), lambda: a[1:].copy_(a[:-1]),
                   lambda: b.copy_(a.view(3, 2).t()),
                   lambda: a.__setitem__(slice(0, 2), a[1:2])):
        with pytest.raises(RuntimeError,
                           match="some elements of the input tensor and the written-to tensor refer to a single memory "
                                 "location"):
            change()
    a[:3].add_(a[:3])
    a[:3].add_(a[3:])
    close(a, [3.0, 6.0, 9.0, 3.0, 4.0, 5.0])
    a[:2] = a[1]
    a[3:] = a[:3]
    close(a, [6.0, 6.0, 9.0, 6.0, 6.0, 9.0])


@pytest.mark.parametrize("of_view", [False, True])
def test_gradients_fit_what_is_reshaped_without_a_graph(of_view):
    """The gradient had the new shape, or its node failed."""
    x = fad.tensor(np.arange(6.0).reshape(2, 3), requires_grad=True)
    base = x * 2
    y = base.mT if of_view else base
    with fad.no_grad():
        y.unsqueeze_(0).transpose_(1, 2)
    y.mul_(fad.arange(6.0).reshape(y.shape))
    g, = fad.autograd.grad(base.sum(), x)
    close(g, 2 * np.arange(6.0).reshape(y.shape[1:]).T if not of_view else 2 * np.arange(6.0).reshape(2, 3))
    leaf_of_rows = leaf(1, 2)
    with fad.no_grad():
        leaf_of_rows.unsqueeze_(0)
    assert leaf_of_rows.is_leaf


@pytest.mark.parametrize("fill", [lambda y: y.zero_(), lambda y: y.fill_(3.0)])
def test_numbers_written_without_a_graph_leave_the_history_alone(fill):
    """The source of an earlier copy keeps its gradient: it was lost."""
    x = leaf(1, 2)
    y = fad.zeros(2)
    y.copy_(x * 2)
    with fad.no_grad():
        fill(y)
    y.sum().backward()
    close(x.grad, [2, 2])


def test_a_source_that_the_copy_changes_is_another_one_afterwards():
    x = fad.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], requires_grad=True)
    b = x * 1.0
    v = b[:, 1:]
    b[:, :2] = v
    (b.sum() + (v * v).sum()).backward()
    close(x.grad, [[0.0, 1.0, 14.0], [0.0, 1.0, 26.0]])


def test_a_stacked_factor_that_is_changed_is_seen():
    """The product spreads it over the stack, in the same memory."""
    x = fad.ones(2, 3, 3, requires_grad=True)
    a, b = x * 1.0, x.sin()
    y = b @ a[:1]
    a.mul_(2.0)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_a_copy_that_is_changed_changes_its_tangent():
    forward = fad.autograd.forward_ad
    with forward.dual_level():
        x = forward.make_dual(fad.ones(2, 3, 2), fad.ones(2, 3, 2))
        u = (x * 1.0)[:1].mT.flip(0)
        u.view(-1).mul_(0.5)
        close(forward.unpack_dual(u).tangent, np.full((1, 2, 3), 0.5))


def test_nan_and_infinities_are_silent():
    code = "import fad; x = fad.tensor([0.0, -1.0, 1e308]); x.log(), x.exp(), x * x, x / 0, x.sqrt(); x.mul_(x)"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=280, check=True)
    assert told.stderr == ""


def test_views_without_a_history_are_refused_as_taken_without_gradients():
    """Whatever made the view: if it has no history, no gradient was to flow when it was taken."""
    b = leaf(1)
    for view in (SameView.apply(fad.ones(1, 1)), fad.ones(1, 1).unbind()[0]):
        with pytest.raises(RuntimeError,
                           match="A view was created in no_grad mode and is being modified inplace with grad mode "
                                 "enabled. This view"):
            view += b
    with fad.no_grad():
        view = SameView.apply(leaf(1, 2))
    with pytest.raises(RuntimeError, match="no_grad mode .* This view was created inside a custom Function"):
        view.zero_()


@pytest.mark.parametrize("f", [
    lambda x: x.flip(0), lambda x: x.fliplr(), lambda x: x[0, 0].max(0)[0],
    lambda x: x[0, 0].sort()[0], lambda x: x[0, 0].median(), lambda x: x[0, 0].tile(())])
@pytest.mark.parametrize("recorded", [False, True])
def test_what_is_no_view_keeps_its_values(f, recorded):
    """Functions that could be views of memory, and by PyTorch are none."""
    x = leaf(1, 2, 3, 4).view(2, 2) * 1
    y = f(x if recorded else x.detach().clone())
    before = y.detach().clone()
    x.add_(1)
    close(y, before.numpy())
    y.mul_(0)
    close(x, [[2, 3], [4, 5]])


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("view, g_of", [
    (lambda b: b.view(-1), lambda b, w: b.t() * w), (lambda b: b.t().t().view(4), lambda b, w: b.t() * w),
    (lambda b: b.flatten(), lambda b, w: b.t() * w)])
def test_zeros_reach_gradients_in_any_order_of_memory(view, g_of, create_graph):
    """What was written over gets no gradient, also where the gradient lies in memory column by column."""
    x, w = leaf(1, 2, 3, 4), fad.tensor([[1.0, 2.0], [3.0, 4.0]])
    b = x.view(2, 2) * 1
    view(b)[:2] = 0.0
    g, = fad.autograd.grad(g_of(b, w).sum(), x, create_graph=create_graph)
    close(g, [0, 0, 2, 4])


def test_views_of_a_base_that_is_turned_in_place():
    """A view stays where it is in memory; before and behind the turn what is written through it, or through its base,
    has its gradient."""
    w = leaf(1, 10, 100, 1000)
    for turn in (lambda b: b.t_(), lambda b: b.unsqueeze_(0), lambda b: b.transpose_(0, 1).unsqueeze_(1)):
        x = leaf(1, 2, 3, 4)
        b = x.view(2, 2) * 1
        row, flat = b[0], b.view(-1)
        turn(b)
        row.mul_(w[:2])
        b.mul_(2)
        close(flat, [2, 40, 6, 8])
        gx, gw = fad.autograd.grad((flat * fad.tensor([1.0, 2.0, 3.0, 4.0])).sum(), (x, w))
        close(gx, [2, 40, 6, 8])
        close(gw, [2, 8, 0, 0])


def test_a_view_of_a_base_that_was_given_other_memory():
    b = fad.zeros(2, 2)
    row = b[0]
    b.data = fad.zeros(3)
    b.add_(leaf(1))
    with pytest.raises(RuntimeError, match="take the view again"):
        assert row.grad_fn is None


@pytest.mark.parametrize("leave", [lambda b: b.detach_(), lambda b: b.normal_(), lambda b: b.random_()])
def test_a_view_has_no_history_left_when_its_base_has_none(leave):
    """What was written over before its base left the graph has no gradient."""
    x = leaf(1, 2)
    b = x * 1
    view = b[:]
    view[:] = 2.0
    leave(b)
    g, = fad.autograd.grad((view * x).sum(), x)
    close(g, view.detach().numpy())


def test_the_graph_is_what_a_refusal_names_first():
    x = leaf(1, 2)
    with pytest.raises(RuntimeError, match="view of a leaf"):
        x.expand(3, 2).mul_(2)
    with pytest.raises(RuntimeError, match="Output 0 of Select is a view"):
        (x * 1).view(1, 2).split(1)[0][..., 0] = 1.0
    with pytest.raises(IndexError, match="too many indices for tensor of dimension 0"):
        x.sum()[..., 0]


@pytest.mark.parametrize("shape", [(), (1,), (2,)])
def test_a_change_of_a_lazy_view_of_any_rank(shape):
    """The gradient of exp(-Im z) twice over, through a view that negates what it sees."""
    z = fad.tensor(np.full(shape, 0.3 + 0.5j), requires_grad=True)
    y = z * 0.5
    n = y.conj().imag
    n.exp_()
    value = np.exp(-0.25)
    np.testing.assert_allclose(fad.autograd.grad(n.sum(), z, retain_graph=True)[0].numpy(), -0.5j * value)
    g, = fad.autograd.grad((n * n).sum(), z, create_graph=True)
    np.testing.assert_allclose(g.detach().numpy(), np.full(shape, -1j * value ** 2))
    np.testing.assert_allclose(fad.autograd.grad(g.imag.sum(), z)[0].numpy(), np.full(shape, 1j * value ** 2))
