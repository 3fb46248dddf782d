"""Forward mode: what may be made dual, tangents of what is changed in place, results written with out=; and leave to
change what is saved."""
import numpy as np
import pytest

import fad
from fad.autograd import forward_ad as fw

from .support import close, leaf


def test_what_cannot_be_made_dual():
    with fw.dual_level():
        dual = fw.make_dual(fad.rand(2), fad.rand(2))
        for primal, tangent, message in ((fad.rand(2), fad.rand(3), "forward gradient that has a different size"),
                                         (fad.rand(2), dual, "has a forward gradient at the same level"),
                                         (dual, fad.rand(2), "already has a forward gradient at the same level")):
            with pytest.raises(RuntimeError, match=message):
                fw.make_dual(primal, tangent)
    with fw._set_fwd_grad_enabled(False):
        assert not fw._is_fwd_grad_enabled()
    assert fw._is_fwd_grad_enabled()


def test_tangents_are_laid_out_as_their_primals():
    with fw.dual_level():
        part, tangent = fad.rand(5)[:4].detach(), fad.rand(4)
        dual = fw.make_dual(part, tangent)
        assert fw.unpack_dual(dual).tangent is not tangent
        assert fw.unpack_dual(fw.make_dual(fad.rand(4), tangent)).tangent is tangent
        close(fw.unpack_dual(dual.as_strided((5,), (1,), 0)).tangent[:4], tangent.numpy())


def test_tangents_of_what_is_changed_in_place_end_with_the_level():
    x, y = fad.rand(3), fad.zeros(1, 3, 3)
    with fw.dual_level():
        dual = fw.make_dual(fad.rand(3), fad.ones(3))
        x.copy_(dual)
        y.copy_(dual)
        assert fw.unpack_dual(x).tangent is not fw.unpack_dual(dual).tangent
        assert fw.unpack_dual(y).tangent.shape == (1, 3, 3)
        z = dual.clone()
        z.detach_()
        assert fw.unpack_dual(z).tangent is None
    with fw.dual_level():
        assert fw.unpack_dual(x).tangent is None and fw.unpack_dual(y).tangent is None


def test_out_has_no_derivative():
    with fw.dual_level():
        dual, x = fw.make_dual(fad.rand(2), fad.rand(2)), fad.rand(2)
        for args, out in (((x, x), dual), ((dual, x), x)):
            with pytest.raises(NotImplementedError, match="add_out .* because it is an out= function"):
                fad.add(*args, out=out)
    with pytest.raises(RuntimeError,
                       match=r"mul\(\): functions with out=... arguments don't support automatic differentiation"):
        fad.mul(leaf(1), leaf(2), out=fad.ones(1))
    out = fad.zeros(0)
    assert fad.sum(fad.ones(2, 3), 0, out=out) is out and out.tolist() == [2, 2, 2]


def test_leave_to_change_what_is_saved():
    with fad.autograd.graph.allow_mutation_on_saved_tensors() as table:
        x = leaf(1, 2) * 1
        a, b = x ** 2, x ** 2
        x.sin_()
        assert len(table.cloned) == 1
        c = x ** 2
        x.sin_()
        assert len(table.cloned) == 2
        del a, b
        assert len(table.cloned) == 1
        del c
        assert len(table.cloned) == 0
        late = (leaf(3) ** 2).sum()
    with pytest.raises(AssertionError, match="outside of the 'allow_mutation_on_saved_tensors' context"):
        late.backward()


def test_multithreading_is_remembered():
    assert fad.autograd.is_multithreading_enabled()
    with fad.autograd.set_multithreading_enabled(False):
        assert not fad.autograd.is_multithreading_enabled()
    assert fad.autograd.is_multithreading_enabled()


def test_gradcheck_runs_functions_that_ask_for_gradients():
    def f(r):
        x = fad.ones(3)
        x.add_(r)
        assert x.requires_grad
        return x
    assert fad.autograd.gradcheck(f, leaf(1))


@pytest.mark.parametrize("of_primal", [lambda x: x, lambda x: x.conj()])
@pytest.mark.parametrize("of_tangent", [lambda x: x, lambda x: x.conj()])
def test_a_tangent_is_stored_as_its_primal_is(of_primal, of_tangent):
    """What is read conjugated is so of both, for a view of the primal is the same view of the tangent."""
    x, dx = of_primal(fad.tensor([1 + 2j])), of_tangent(fad.tensor([3 + 4j]))
    with fw.dual_level():
        dual = fw.make_dual(x, dx)
        tangent = fw.unpack_dual(dual).tangent
        assert (tangent is dx) == (x.is_conj() == dx.is_conj())
        close(tangent.resolve_conj(), dx.resolve_conj().numpy())
        close(fw.unpack_dual(dual.imag * 2).tangent, 2 * dx.resolve_conj().numpy().imag)


def test_views_see_the_tangent_that_their_base_gets_later():
    """Whichever view the values came through: by the base, and by views that were taken before."""
    with fw.dual_level():
        x = fw.make_dual(fad.tensor([1.0, 2.0]), fad.tensor([3.0, 4.0]))
        base = fad.zeros(4)
        whole, square = base[:], base.view(2, 2)
        base[0:2] = x
        close(fw.unpack_dual(whole * 2).tangent, [6, 8, 0, 0])
        square.add_(x)
        close(fw.unpack_dual(base).tangent, [6, 8, 3, 4])
        close(fw.unpack_dual(whole).tangent, [6, 8, 3, 4])
        assert fw.unpack_dual(fw.unpack_dual(base).primal).tangent is None
        assert fw.unpack_dual(base.detach()).tangent is None
    assert fw.unpack_dual(whole).tangent is None


def test_a_conjugate_that_is_written_in_parts():
    with fw.dual_level():
        x = fw.make_dual(fad.tensor([1 + 2j]), fad.tensor([3 + 4j]))
        z = fad.zeros(2, dtype=fad.complex128).conj()
        z[:1].copy_(x)
        close(fw.unpack_dual(z).tangent.resolve_conj(), [3 + 4j, 0])


@pytest.mark.filterwarnings("ignore:Casting complex values")
def test_tangents_of_parts_that_are_written_over():
    """Zeros are written to the tangent of the whole, and results share no tangents with arguments."""
    with fw.dual_level():
        x = fw.make_dual(fad.tensor([[1.0, 2.0]]), fad.tensor([[3.0, 4.0]]))
        y = x.flip(1)
        y.mul_(10)
        close(fw.unpack_dual(x).tangent, [[3, 4]])
        x[None].zero_()
        close(fw.unpack_dual(x).tangent, [[0, 0]])
        z = fad.zeros(2)
        z.copy_(fw.make_dual(fad.tensor([1 + 2j, 3j]), fad.tensor([5 + 6j, 7j])))
        close(fw.unpack_dual(z).tangent, [5.0, 0.0])


def test_other_memory_has_no_derivative():
    with fw.dual_level(), pytest.raises(NotImplementedError, match="forward AD with set_"):
        fad.zeros(2).set_(fw.make_dual(fad.ones(2), fad.ones(2)))


@pytest.mark.parametrize("create_graph", [False, True])
def test_forward_over_reverse(create_graph):
    """Gradients have tangents: the Hessian times the tangent; without a graph, unless one is asked for."""
    x, v = leaf(1, 2), fad.tensor([3.0, 4.0])
    with fw.dual_level():
        dual = fw.make_dual(x, v)
        g, = fad.autograd.grad((dual ** 3 * dual[0]).sum(), x, create_graph=create_graph)
        close(fw.unpack_dual(g).tangent, [12 * 3 + 12 * 4, 12 * 3 + 12 * 4])
        assert g.requires_grad == create_graph
        leaf_ = fw.make_dual(x.detach(), v).requires_grad_()
        (leaf_ ** 3).sum().backward()
        close(fw.unpack_dual(leaf_.grad).tangent, [18, 48])


def test_a_copy_in_another_order_of_memory_is_a_copy():
    with fw.dual_level():
        x = fw.make_dual(fad.ones(2, 3), fad.ones(2, 3))
        y = x.t().contiguous()
        y.mul_(2)
        close(x, np.ones((2, 3)))
        close(fw.unpack_dual(x).tangent, np.ones((2, 3)))


def test_forward_over_reverse_through_what_is_changed_in_place():
    """The old value that a step saved keeps its tangent: of (x0 x1)², by x1, that is 2 x0² x1."""
    x = leaf(1, 2)
    with fw.dual_level():
        dual = fw.make_dual(x, fad.tensor([0.1, 0.2]))
        y = dual * 1
        y[:1].mul_(dual[1])
        g, = fad.autograd.grad((y[0] ** 2).sum(), x)
        close(fw.unpack_dual(g).tangent, [2 * 4 * 0.1 + 4 * 2 * 0.2, 4 * 2 * 0.1 + 2 * 0.2])


@pytest.mark.parametrize("function", [fad.softmax, fad.log_softmax, fad.logsumexp])
def test_tangents_of_nothing(function):
    with fw.dual_level():
        y = function(fw.make_dual(fad.zeros(5, 0, 3), fad.zeros(5, 0, 3)), 2)
        assert fw.unpack_dual(y).tangent.shape == y.shape
