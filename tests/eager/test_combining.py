"""Functions of tensors made of others: their values against NumPy or PyTorch's definitions, their derivatives against
differences."""
import io
import pickle

import numpy as np
import pytest

import fad
from fad.autograd import gradcheck, gradgradcheck

X = np.random.default_rng(3).standard_normal((3, 4))
INDEX = np.array([[0, 1, 0], [2, 2, 1]])

DIFFERENTIABLE = {
    "nanmedian": lambda x: x.nanmedian(1)[0], "nanmedian of all": lambda x: x.nanmedian(),
    "pdist": lambda x: fad.nn.functional.pdist(x, 3.0),
    "addbmm": lambda x: fad.addbmm(x @ x.t(), x.expand(2, 3, 4), x.t().expand(2, 4, 3), beta=0.5),
    "split_with_sizes": lambda x: x.split_with_sizes([1, 3], 1)[1],
    "take_along_dim": lambda x: x.take_along_dim(fad.tensor([[1], [0], [1]]), 1),
    "take_along_dim of others broadcast": lambda x: fad.take_along_dim(x[:, :1], fad.tensor(INDEX.T), 0),
    "deg2rad": lambda x: x.deg2rad(), "matrix_exp": lambda x: fad.matrix_exp(x[:, :3])}
for _reduce in ("sum", "prod", "mean", "amax", "amin"):
    for _include in (True, False):
        DIFFERENTIABLE[f"scatter_reduce {_reduce} {_include}"] = lambda x, r=_reduce, i=_include: fad.scatter_reduce(
            x, 0, fad.tensor(INDEX), x[:2, 1:] * 2 + 0.3, r, include_self=i)
    if _reduce != "sum":
        DIFFERENTIABLE[f"index_reduce {_reduce}"] = lambda x, r=_reduce: fad.index_reduce(
            x, 1, fad.tensor([0, 2, 0]), (x * 3)[:, :3], r)


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_derivatives(name):
    f = DIFFERENTIABLE[name]
    assert gradcheck(f, fad.tensor(X, requires_grad=True), check_forward_ad=True)
    assert gradgradcheck(f, fad.tensor(X, requires_grad=True))


@pytest.mark.parametrize("name", ["median", "nanmedian"])
def test_the_median_of_nothing_has_a_history(name):
    x = fad.zeros(0, requires_grad=True)
    y = getattr(x, name)()
    y.backward()
    assert np.isnan(y.item()) and x.grad.shape == (0,)


def test_taken_along_a_dimension():
    x, i = fad.tensor(X), fad.tensor(INDEX)
    np.testing.assert_array_equal(fad.take_along_dim(x, x.argsort(1), 1).numpy(), np.sort(X, 1))
    np.testing.assert_array_equal(x.take_along_dim(i).numpy(), X.reshape(-1)[INDEX.reshape(-1)])
    with pytest.raises(RuntimeError, match="same number of dimensions, but got 2 dimensions for input, and 1"):
        fad.take_along_dim(x, i[0], 1)
    with pytest.raises(RuntimeError, match="dtype of indices should be Long but got Int"):
        fad.take_along_dim(x, i.int(), 1)


def test_scattered_values():
    x, i, src = X.copy(), INDEX, X[:2, 1:] + 1
    for reduce, ufunc in (("sum", np.add), ("prod", np.multiply), ("amax", np.maximum), ("amin", np.minimum)):
        expected = x.copy()
        ufunc.at(expected, (i, np.arange(3)[None]), src)
        np.testing.assert_allclose(fad.scatter_reduce(fad.tensor(x), 0, fad.tensor(i), fad.tensor(src), reduce).numpy(),
                                   expected)
    y = fad.zeros(4,
                  dtype=fad.int64).scatter_reduce(0, fad.tensor([1, 1, 3]), fad.tensor([5, 8, 2]), "amax",
                                                  include_self=False)
    assert y.tolist() == [0, 8, 0, 2]
    assert fad.zeros(2).scatter_reduce_(0, fad.tensor([0, 0]), fad.tensor([1.0, 3.0]), "mean").tolist() == [4 / 3, 0]


def test_equal_ones_share_the_gradient():
    for f in (fad.nanmedian, fad.median, fad.max, fad.min):
        x = fad.tensor([1.0, 0, 1, 0, 1, 0], requires_grad=True)
        f(x).backward()
        assert sorted(x.grad.tolist()) == [0, 0, 0, 1 / 3, 1 / 3, 1 / 3]


def test_looking_up():
    edges = fad.tensor([1.0, 3.0])
    assert fad.bucketize(fad.tensor([0.5, 1.0, 4.0]), edges).tolist() == [0, 0, 2]
    assert fad.bucketize(fad.tensor([1.0]), edges, right=True).tolist() == [1]
    assert fad.isin(fad.tensor([1, 2]), fad.tensor([2, 3])).tolist() == [False, True]
    values, inverse, counts = fad.unique_consecutive(fad.tensor([1, 1, 2, 1]), return_inverse=True, return_counts=True)
    assert (values.tolist(), inverse.tolist(), counts.tolist()) == ([1, 2, 1], [0, 0, 1, 2], [2, 1, 1])
    x = fad.tensor([2.0, 1.0, 2.0], requires_grad=True)
    y = fad.unique(x)
    assert y.requires_grad
    with pytest.raises(RuntimeError, match="the derivative for 'unique' is not implemented"):
        y.sum().backward()


def test_parts_that_may_be_changed():
    for f in (lambda t: t.unsafe_split(1), lambda t: t.unsafe_split_with_sizes((1, 1, 1)), lambda t: t.unsafe_chunk(3)):
        x = fad.rand(3, 3, requires_grad=True)
        s = f(x + x)
        s[0].mul_(s[1])
        s[0].sum().backward()
        assert x.grad.abs().sum() > 0
    with pytest.raises(RuntimeError, match="SplitWithSizes .* returns multiple views"):
        (x * 1).split_with_sizes((1, 2))[0].mul_(2)


def test_files():
    x = fad.rand(2, 3, requires_grad=True)
    file = io.BytesIO()
    fad.save({"x": x, "list": [fad.ones(2), 1, "a"]}, file)
    file.seek(0)
    back = fad.load(file)
    assert back["x"].tolist() == x.tolist() and back["x"].requires_grad and back["list"][1:] == [1, "a"]
    file = io.BytesIO()
    pickle.dump(test_files, file)
    file.seek(0)
    with pytest.raises(pickle.UnpicklingError, match="Weights only load failed"):
        fad.load(file)


def test_devices_and_types():
    x = fad.tensor([1.0, 2.0])
    assert fad.device("cpu:0").index == 0 and x.device.type == "cpu" and repr(x.device) == "device(type='cpu')"
    with pytest.raises(RuntimeError, match="there is no device 'cuda'"):
        fad.device("cuda")
    assert x.is_signed() and not fad.is_inference(x) and fad.is_nonzero(x[0])
    assert not x.is_conj() and x.resolve_conj() is x
    assert fad.FloatTensor([1, 2]).dtype == fad.float32 and fad.LongTensor(2, 3).shape == (2, 3)
    assert reversed(fad.arange(3))[0].item() == 2


def test_shapes():
    z = fad.rand(2, 3, dtype=fad.complex128)
    np.testing.assert_allclose(z.adjoint().resolve_conj().numpy(), z.numpy().conj().T)
    assert fad.broadcast_shapes((2, 1), (3,), 1) == (2, 3) and fad.can_cast(fad.float64, fad.float32)
    assert not fad.can_cast(fad.float64, fad.int64)


def test_integers_between_bounds_have_no_derivative():
    s = fad.tensor(0.0, requires_grad=True)
    assert fad.linspace(s, 4, 5, dtype=fad.int64).tolist() == [0, 1, 2, 3, 4]
    assert not fad.linspace(s, 4, 5, dtype=fad.int64).requires_grad
    assert fad.logspace(s, 2, 3, dtype=fad.int64).tolist() == [1, 10, 100]


ADDED = {
    "addmm": lambda z, x, b: fad.addmm(z[0], x, x.t(), beta=b),
    "addmv": lambda z, x, b: fad.addmv(z[0, 0], x, x[0], beta=b),
    "addbmm": lambda z, x, b: fad.addbmm(z[0], x[None], x.t()[None], beta=b),
    "baddbmm": lambda z, x, b: fad.baddbmm(z, x[None], x.t()[None], beta=b)}


@pytest.mark.parametrize("name", ADDED)
def test_what_beta_0_leaves_out_does_not_count(name):
    """Not its nan either; its gradient is zero, and the other gradients are those beside zeros."""
    def gradients(fill, beta):
        z, x = fad.full((1, 3, 3), fill, requires_grad=True), fad.tensor(X, requires_grad=True)
        y = ADDED[name](z, x, beta)
        return y.detach().numpy(), *[g.numpy() for g in fad.autograd.grad(y.exp().sum(), (z, x))]
    y, gz, gx = gradients(np.nan, 0)
    expected = gradients(0.0, 1)
    np.testing.assert_allclose(y, expected[0])
    np.testing.assert_array_equal(gz, 0)
    np.testing.assert_allclose(gx, expected[2])
    with fad.autograd.forward_ad.dual_level():
        z = fad.autograd.forward_ad.make_dual(fad.full((1, 3, 3), np.nan), fad.ones(1, 3, 3))
        dy = fad.autograd.forward_ad.unpack_dual(ADDED[name](z, fad.tensor(X), 0)).tangent
    assert dy is None or not dy.numpy().any()


def test_what_only_numpy_has_is_said_to_be_there():
    for name in ("cov", "quantile"):
        for home in (fad, fad.Tensor):
            assert not hasattr(home, name)
        for home in (fad, fad.ones(2)):
            with pytest.raises(AttributeError, match=f"numpy.{name} takes tensors, too"):
                getattr(home, name)
    assert gradcheck(lambda x: np.quantile(x, 0.3, axis=1), fad.tensor(X, requires_grad=True))


@pytest.mark.parametrize("times", [3, (2, 2), (2, 1, 3)])
def test_numpys_tile_takes_tensors(times):
    x = fad.tensor(X, requires_grad=True)
    np.testing.assert_array_equal(np.tile(x, times).detach(), np.tile(X, times))
    assert gradcheck(lambda x: np.tile(x, times), x)


@pytest.mark.parametrize("name", "maximum hypot eq lt atan2 fmod logical_and mul multiply true_divide xlogy".split())
def test_operands_have_names(name):
    x, y = fad.tensor([1.0, 2.0]), fad.tensor([3.0, 1.0])
    wanted, f = getattr(fad, name)(x, y).tolist(), getattr(fad, name)
    assert f(input=x, other=y).tolist() == f(x, other=y).tolist() == getattr(x, name)(other=y).tolist() == wanted
    if name != "maximum":
        assert getattr(x.clone(), f"{name}_")(other=y).tolist() == [float(v) for v in wanted]
    assert fad.exp(input=x).tolist() == x.exp().tolist()
    with pytest.raises(TypeError, match=rf"{name}\(\) missing 1 required positional argument: 'other'"):
        f(x)


def test_numpys_trim_zeros_takes_tensors():
    x = fad.tensor([0.0, 2.0, 0.0, 3.0, 0.0, 0.0], requires_grad=True)
    y = np.trim_zeros(x)
    assert y.tolist() == [2.0, 0.0, 3.0]
    y.sum().backward()
    assert x.grad[1:4].tolist() == [1, 1, 1]                # of what is cut off there is no derivative: nan
