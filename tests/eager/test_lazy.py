"""Conjugates and negatives that are taken when they are read: views like any other."""
import pickle
from copy import deepcopy

import numpy as np
import pytest

import fad


def numbers():
    return fad.tensor([1 + 2j, 3 - 1j, -0.5 + 0.25j])


def test_a_conjugate_is_a_view():
    z = numbers()
    c = z.conj()
    assert c._base is z is c.conj()._base and c.data_ptr() == z.data_ptr() and c.stride() == z.stride()
    assert z.resolve_conj() is z
    assert all(x.is_conj() for x in (c, c.detach(), c.data, c[1:]))
    assert not any(x.is_conj() for x in (z, c.conj(), c.resolve_conj(), c.clone(), c * 2, c.reshape(3, 1).mH,
                                         fad.tensor([1.0]).conj()))
    assert repr(c) == "tensor([ 1.0000-2.0000j,  3.0000+1.0000j, -0.5000-0.2500j])"


def test_changes_are_seen_both_ways():
    z = numbers()
    c, part = z.conj(), z.conj()[1:]
    c[0] = 5 + 5j
    assert z[0].item() == 5 - 5j and z._version == c._version == part._version == 1
    z[1] = 9 - 9j
    assert part.tolist() == [9 + 9j, -0.5 - 0.25j]
    part.mul_(1j)
    assert z.tolist() == [5 - 5j, -9 - 9j, (0.25 - 0.5j).conjugate()]
    imag = c.imag
    assert imag.is_neg() and not c.real.is_neg() and imag._base is z
    imag.fill_(2.0)
    np.testing.assert_array_equal(z.imag.numpy(), -2.0)


def test_changes_that_are_not_counted_are_seen_too():
    a = np.array([1 + 1j, 2 + 2j])
    c = fad.from_numpy(a).conj()
    a[0] = 7j
    assert c.tolist() == [-7j, 2 - 2j]
    fad.from_numpy(a).conj().data.mul_(2)
    assert a.tolist() == [14j, 4 + 4j]


def test_what_needs_the_memory_as_it_is_says_so():
    c = numbers().conj()
    for call, words in [(c.numpy, "conjugate bit set"), (c.imag.numpy, "negative bit set"),
                        (lambda: fad.view_as_real(c), "unresolved conjugated tensors"),
                        (lambda: c.view(fad.float64), "not supported for conjugate view tensors"),
                        (lambda: np.asarray(c), "conjugate bit set")]:
        with pytest.raises(RuntimeError, match=words):
            call()
    with pytest.raises(BufferError, match="conjugate bit"):
        c.__dlpack__()
    np.testing.assert_array_equal(c.resolve_conj().numpy(), c.numpy(force=True))


def test_copies_have_their_own_values():
    c = numbers().conj()
    for copy in (pickle.loads(pickle.dumps(c)), deepcopy(c), fad.Tensor(c)):
        assert copy.tolist() == c.tolist() and not copy.is_conj() and type(copy) is fad.Tensor


def through(f):
    """f(z) where z is no leaf, so that it may be changed."""
    return lambda z: f(z * 1)


def changed_through_its_conjugate(x):
    c = x.conj()
    c[1:].mul_(x[0].clone() * 1j)
    c.imag.add_(c.real.clone() ** 2)
    return x * c


def changed_itself(x):
    c = x.conj().imag
    x[0] = x[1].clone() * x[2].clone()
    return c * x


@pytest.mark.parametrize("f",
                         [changed_through_its_conjugate, changed_itself, lambda x: x.conj().mul_(x.clone()),
                          lambda x: x.reshape(3, 1).mH @ x,
                               lambda x: x.conj().imag.neg_() * x])
def test_gradients_through_changes(f):
    z = numbers().requires_grad_()
    assert fad.autograd.gradcheck(through(f), z)
    assert fad.autograd.gradgradcheck(through(f), z)


def test_saved_conjugates_know_their_version():
    x = numbers().requires_grad_() * 1
    y = (x.conj() * x.conj()).real.sum()
    x.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


def layout(x):
    """What a tensor says of its memory, and where views of it lie; the message where there is none."""
    def ask(question):
        try:
            return question(x)
        except RuntimeError as error:
            return str(error)
    return [ask(question) for question in (
        lambda x: (x.stride(), x.storage_offset(), x.data_ptr(), x.is_contiguous(), len(x.storage())),
        lambda x: (x.storage().data_ptr(), x.contiguous() is x, x.contiguous().stride()),
        lambda x: x.view(-1).data_ptr(), lambda x: x.reshape(-1).data_ptr() == x.data_ptr(),
        lambda x: x.as_strided((2,), (2,)).data_ptr(), lambda x: x.as_strided((2,), (1,), 1).data_ptr())]


@pytest.mark.parametrize("view", [lambda z: z, lambda z: z.T, lambda z: z[:, 1:], lambda z: z[1:], lambda z: z.real.T,
                                  lambda z: z.imag[1]])
def test_a_lazy_view_lies_where_its_base_does(view):
    x = view(fad.arange(6.0).reshape(2, 3) * (1 + 2j))
    take = fad.Tensor.conj if x.is_complex() else fad.Tensor._neg_view
    assert layout(take(x)) == layout(x)
    assert take(x).as_strided((2,), (1,), 1).tolist() == take(x.as_strided((2,), (1,), 1)).tolist()
