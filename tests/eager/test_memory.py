"""Memory behind tensors: storages, strides, memory formats, changes of shape in place, and which views may be written
to."""
import warnings

import numpy as np
import pytest

import fad
from fad.autograd import gradcheck, gradgradcheck

from .support import SameView, close, leaf


def test_storage_is_shared_by_views():
    x = fad.arange(6.0)
    v = x[2:5]
    assert v.storage().data_ptr() == x.data_ptr() and len(v.storage()) == 6 and v.storage_offset() == 2
    assert v.storage().tolist() == x.tolist() and v.untyped_storage().nbytes() == 48 and x.layout == fad.strided


def test_as_strided_sees_memory_and_has_a_derivative():
    x = leaf(1, 2, 3, 4)
    y = x.as_strided((2, 2), (1, 1), 1)
    assert y.tolist() == [[2, 3], [3, 4]] and y.storage_offset() == 1
    (y ** 2).sum().backward()
    close(x.grad, [0, 4, 12, 8])
    assert y.grad_fn._saved_storage_offset == 1 and x.as_strided((2,), (1,)).grad_fn._saved_storage_offset is None
    assert x.detach()[1:3].as_strided((4,), (1,), 0).tolist() == [1, 2, 3, 4]


def test_as_strided_stays_inside():
    with pytest.raises(RuntimeError, match="out of bounds for storage of size 32"):
        fad.zeros(4).as_strided((5,), (1,))
    base = fad.zeros(2, 2).t()
    view = base.as_strided((2,), (1,))
    with pytest.raises(RuntimeError, match="not contiguous"):
        view.mul_(leaf(2, 3))
        base.sum().backward()


def test_copies_in_a_memory_format_are_one_op():
    """Facts about ops are kept for good. So copies share one op for each layout: an op for each copy would leak."""
    from fad.eager.graph import op_node
    x = fad.rand(2, 3, 4, 5, requires_grad=True)

    def copies():
        return [x.clone(memory_format=fad.channels_last).sum().backward(), x.clone().sum().backward(),
                x.contiguous(memory_format=fad.channels_last), x.mT.contiguous()]
    copies()
    known = len(op_node._handles)
    copies()
    assert len(op_node._handles) == known


def test_memory_formats():
    x = fad.rand(2, 3, 4, 5).to(memory_format=fad.channels_last)
    assert x.stride() == (60, 1, 15, 3) and x.is_contiguous(memory_format=fad.channels_last) and not x.is_contiguous()
    x.requires_grad_()
    (x * 2).sum().backward()
    assert x.grad.stride() == x.stride() and x.contiguous().stride() == (60, 20, 5, 1)
    assert x.clone(memory_format=fad.contiguous_format).stride() == (60, 20, 5, 1) and x.clone().stride() == x.stride()
    c = fad.empty_strided((2, 2), (4, 2)).copy_(fad.rand(2, 2)).requires_grad_()
    c.sum().backward()
    assert c.stride() == (4, 2) and c.grad.stride() == (2, 1)


def test_resize():
    x, y = fad.rand(1), fad.rand(3)
    x.resize_((1, 2))
    assert x._version == 1 and x.shape == (1, 2)
    x.resize_as_(y)
    x.resize_(3)
    assert x._version == 2 and x.shape == (3,)
    with pytest.raises(RuntimeError, match="cannot resize variables that require grad"):
        leaf(1, 2).resize_(3)


def test_set_gives_a_parameter_other_memory():
    p = fad.nn.Parameter(fad.ones(4))
    for n in (3, 2):
        with fad.no_grad():
            p.set_(p[1:])
            p.grad = None
        fad.cat((p, p)).sum().backward()
        close(p.grad, 2 * np.ones(n))


VIEWS = {"normal": lambda base: base.view_as(base), "multi": lambda base: base.unbind()[0],
         "custom": lambda base: SameView.apply(base)}
WORDS = {"no_grad": "A view was created in no_grad mode", "multi": "function that returns multiple views",
         "custom": "view was created inside a custom Function"}


@pytest.mark.parametrize("change",
                         [lambda v: v.transpose_(0, 0), lambda v: v.squeeze_(0), lambda v: v.unsqueeze_(0),
                          lambda v: v.t_(),
                                    lambda v: v.as_strided_((1, 0), (2, 2))])
@pytest.mark.parametrize("kind", VIEWS)
@pytest.mark.parametrize("made_with_grad", [True, False])
@pytest.mark.parametrize("changed_with_grad", [True, False])
def test_views_changed_in_shape_stay_what_they_were(change, kind, made_with_grad, changed_with_grad):
    base = fad.rand(2, 3, requires_grad=True).clone()
    with fad.set_grad_enabled(made_with_grad):
        v = VIEWS[kind](base)
    word = WORDS["no_grad"] if not made_with_grad else WORDS.get(kind)
    with fad.set_grad_enabled(changed_with_grad):
        if changed_with_grad and word:
            with pytest.raises(RuntimeError, match=word):
                change(v)
            return
        change(v)
    if word:
        with pytest.raises(RuntimeError, match=word):
            v.add_(1)
    else:
        v.add_(1)


def test_a_view_of_a_view_made_in_no_grad():
    for mode, word in ((fad.no_grad, "no_grad block"), (fad.inference_mode, "inference_mode block")):
        with mode():
            y = fad.zeros(2)[:] if mode is fad.no_grad else None
        y = y if y is not None else _inferred_view()
        z = y.requires_grad_().view(2)
        with pytest.raises(RuntimeError, match=f"a view of a view .* is being .* inside the {word}"):
            z /= 2


def _inferred_view():
    x = fad.zeros(2)
    with fad.inference_mode():
        return x.view(2)


def test_a_leaf_view_that_lost_its_history_prints():
    a = leaf(1)
    with fad.no_grad():
        b = a[:]
        b *= 2
    assert repr(b) == "tensor([2.], grad_fn=<Invalid>)"


def test_views_of_inference_tensors_are_no_views():
    with fad.inference_mode():
        c = fad.ones(2, 3, requires_grad=True)
    v = c.view(-1)
    assert v.is_inference() and not v._is_view() and v.is_leaf and not v.requires_grad
    with pytest.raises(RuntimeError, match="Inplace update to inference tensor"):
        v.unsqueeze_(0)


def test_copies_between_real_and_complex_warn_of_nothing():
    x = leaf(1, 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        out = fad.zeros(2, dtype=fad.complex128)
        out.copy_(x).sum().abs().backward()
    close(x.grad, [1, 1])


@pytest.mark.parametrize("before, size, stride, offset", [
    (None, (3, 3), (6, 2), 2), (None, (1, 2, 1, 5), (0, 5, 100, 1), 2), (None, (3, 3), (0, 1), 2),
    (lambda x: x[:5].expand(5, 5), (5, 5), (0, 1), 0),
    (lambda x: x[:12].view(3, 4).t(), (3, 2), (1, 4), None), (lambda x: x.view(5, 5)[1:, ::2], (2, 3), (5, 2), None)])
def test_as_strided_of_any_layout(before, size, stride, offset):
    def f(x):
        return (x if before is None else before(x)).as_strided(size, stride, offset)
    x = fad.rand(25, requires_grad=True)
    assert gradcheck(f, x, check_forward_ad=True) and gradgradcheck(f, x)


def test_windows_and_dtypes_share_memory():
    x = fad.arange(7.0)
    v = x.unfold(0, 3, 2)
    v[1, 0] = -1
    assert v._base is x and x.tolist() == [0, 1, -1, 3, 4, 5, 6]
    assert gradcheck(lambda x: x.unfold(1, 3, 2), fad.rand(2, 7, requires_grad=True), check_forward_ad=True)
    y = fad.rand(4, 4, 6)[1:, :, 2:]
    for dtype in (fad.float32, fad.int64, fad.complex128, fad.uint8):
        w = y.view(dtype)
        assert w.data_ptr() == y.data_ptr() and w.view(fad.float64).equal(y)
    for z, dtype, message in ((fad.zeros(()), fad.float32, r"self.dim\(\) cannot be 0"),
                              (fad.zeros(2, 2)[:, ::2], fad.float32, r"self.stride\(-1\) must be 1"),
                              (fad.zeros(3), fad.complex128, r"self.size\(-1\) must be divisible by 2"),
                              (fad.zeros(3)[1:], fad.complex128, r"self.storage_offset\(\) must be divisible by 2")):
        with pytest.raises(RuntimeError, match=message):
            z.view(dtype)


def test_complex_views_of_other_layouts():
    x = fad.rand(3, 4, dtype=fad.complex128)
    r = fad.view_as_real(x.t())
    assert r._base is x and r[..., 0].equal(x.t().real)
    assert fad.view_as_complex(fad.rand(3, 2, 2).transpose(0, 1))._is_view()
    for z, message in ((fad.tensor(1.0), "one or more dimensions"), (fad.rand(2, 3), "last dimension of size 2"),
                       (fad.rand(2, 3).t(), "with stride 1"),
                       (fad.rand(9).as_strided((2, 2), (1, 1)), "stride divisible by 2")):
        with pytest.raises(RuntimeError, match=message):
            fad.view_as_complex(z)


def test_a_sum_of_gradients_is_laid_out_like_the_first():
    x = fad.ones(2, 3, requires_grad=True)
    x.grad = fad.zeros(3, 2).t()
    with pytest.warns(UserWarning, match="create_graph=True"):
        (x ** 2).sum().backward(create_graph=True)
    assert x.grad.stride() == (1, 2) and x.grad.requires_grad


def test_as_strided_of_an_example_takes_no_offset():
    x = fad.tensor(np.arange(12.0).reshape(3, 4))
    assert fad.vmap(lambda t: t.as_strided((2,), (1,)))(x).tolist() == [[0, 1], [4, 5], [8, 9]]
    with pytest.raises(RuntimeError, match="storage_offset"):
        fad.vmap(lambda t: t.as_strided((2,), (1,), 1))(x)
    assert x.as_strided((2,), (1,), 1).tolist() == [1, 2]
