"""Transforms of functions (fad.grad, jvp, vjp, vmap, ...), called on tensors, against the same function on tensors."""
import warnings

import numpy as np
import pytest

import fad
from fad.util.errors import ConcreteValueError, FadError, FallbackWarning, UnsupportedFunctionError

from .support import close, leaf

X, DX = [3.0, 4.0], [5.0, 6.0]


def test_a_tensor_that_a_function_returns_is_data():
    y = fad.tensor([1.0, 2.0])

    def constant(x):
        return y
    x, dx = fad.tensor(X), fad.tensor(DX)
    value, tangent = fad.jvp(constant, (x,), (dx,))
    close(value, [1, 2]), close(tangent, 0)
    close(fad.linearize(constant, x)[1](dx), 0)
    close(fad.vmap(constant)(x), [[1, 2], [1, 2]])
    close(fad.jacrev(constant)(x), np.zeros((2, 2))), close(fad.jacfwd(constant)(np.ones(2)), np.zeros((2, 2)))
    close(fad.grad(lambda x: y[0])(x), 0)
    compiled = fad.jit(constant)
    close(compiled(x), [1, 2])
    y += 1
    close(compiled(x), [2, 3])


def test_a_returned_tensor_with_a_gradient_is_refused_or_itself():
    w = leaf(1, 2)
    with pytest.raises(ConcreteValueError, match="requires gradients"):
        fad.jvp(lambda x: w, (fad.tensor(X),), (fad.tensor(DX),), fallback=False)
    with pytest.warns(FallbackWarning):
        value, tangent = fad.jvp(lambda x: w, (fad.tensor(X),), (fad.tensor(DX),))
    assert value is w
    close(tangent, [0, 0])


def test_pullbacks_and_linear_maps_have_a_history():
    x = leaf(*X)
    value, pullback = fad.vjp(lambda x: x ** 3, x)
    g, = pullback(fad.tensor(DX, requires_grad=True))
    assert value.requires_grad and g.requires_grad
    close(g, [135, 288])
    close(fad.autograd.grad(value.sum(), x)[0], [27, 48])
    close(fad.autograd.grad(g.sum(), x)[0], [90, 144])
    value, push = fad.linearize(lambda x: x ** 3, x)
    tangent = push(fad.tensor(DX))
    close(tangent, [135, 288]), close(fad.autograd.grad(tangent.sum(), x)[0], [90, 144])


def test_a_pullback_is_linear_in_its_tensor():
    g = leaf(*DX)
    _, pullback = fad.vjp(lambda x: x ** 3, fad.tensor(X))
    pulled, = pullback(g)
    close(fad.autograd.grad(pulled.sum(), g)[0], [27, 48])


def test_a_pullback_takes_the_mode_at_its_call():
    x = leaf(*X)
    value, pullback, aux = fad.vjp(lambda x: (x ** 3, x + 1), x, has_aux=True)
    with fad.no_grad():
        g, = pullback(fad.tensor(DX))
    assert isinstance(g, fad.Tensor) and not g.requires_grad
    close(g, [135, 288]), close(aux, [4, 5])


def test_a_pullback_of_changed_tensors_is_refused():
    x = leaf(*X)
    _, pullback = fad.vjp(lambda x: x ** 3, x)
    with fad.no_grad():
        x += 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        pullback(fad.tensor(DX))


def test_a_pullback_needs_no_history():
    value, pullback = fad.vjp(lambda x, k: x ** k, fad.tensor(X), np.array(3.0))
    gx, gk = pullback(fad.ones(2))
    assert isinstance(value, fad.Tensor) and isinstance(gx, fad.Tensor)
    close(gx, [27, 48])
    with pytest.raises(ValueError, match="shape"):
        pullback(fad.ones(3))


MODES = {"no_grad": fad.no_grad, "inference_mode": fad.inference_mode,
         "set_grad_enabled": lambda: fad.set_grad_enabled(False),
         "forward": lambda: fad.autograd.forward_ad._set_fwd_grad_enabled(False)}


@pytest.mark.parametrize("mode", MODES)
def test_recording_cannot_be_turned_off_in_a_traced_function(mode):
    def f(x):
        with MODES[mode]():
            shift = np.sum(x ** 2)
        return np.sum(x ** 3) - shift
    for transform in fad.grad, fad.jacfwd:
        with pytest.raises(UnsupportedFunctionError, match="stop_gradient"):
            transform(f)(np.array(X))
        assert fad.is_grad_enabled() and not fad.is_inference_mode_enabled()
    x = leaf(*X)
    with pytest.warns(FallbackWarning):                      # tensors can
        g = fad.grad(f)(x)
    close(g, fad.autograd.grad(f(x), x)[0])
    assert fad.is_grad_enabled() and not fad.is_inference_mode_enabled()
    with pytest.warns(FallbackWarning):
        assert fad.jit(f)(np.array(X)) == 91 - 25


@pytest.mark.filterwarnings("ignore")
def test_forward_mode_goes_on_where_nothing_is_recorded():
    """As PyTorch's does. Two of them, one in the other, go through the graph and refuse."""
    def f(x, k=1):
        with fad.no_grad():
            shift = x ** 2
        return {"y": x ** 3 - shift}, k * x.sum()
    x = fad.tensor(X)
    along = fad.jvp(f, (x,), (fad.ones(2),))[1]
    rows = fad.jacfwd(f)(x)
    close(along[0]["y"], 3 * x ** 2 - 2 * x)
    close(rows[0]["y"], (3 * x ** 2 - 2 * x).numpy() * np.eye(2))
    close(rows[1], np.ones(2))
    close(fad.jacfwd(f, (1, 0))(x, x)[1][0], np.eye(2) * x.sum().item())
    close(fad.jacfwd(lambda x: (f(x)[1], "aux"), has_aux=True)(x)[0], np.ones(2))
    close(fad.jacrev(f)(x)[0]["y"], np.diag(3 * x ** 2))
    assert fad.jacfwd(f)(fad.zeros(0))[0]["y"].shape == (0, 0)
    push = lambda x: fad.jvp(f, (x,), (fad.ones(2),))[1]
    with pytest.raises(NotImplementedError, match="within one jvp within another"):
        fad.jvp(push, (x,), (fad.ones(2),))


@pytest.mark.parametrize("requires_grad", [False, True])
@pytest.mark.parametrize("name, f", {
    "a mode": lambda x: (x ** 2 - no_history(x ** 2)).sum(),
    "a method of two meanings": lambda x: x.std() * x.max(0)[0],
    "a method of tensors": lambda x: (x.unsqueeze(0) * x.detach()).sum(),
    "data": lambda x: x.std() if x.sum() > 0 else x.sum()}.items())
def test_a_jit_function_that_is_not_traced_runs_on_tensors(name, f, requires_grad):
    x = fad.tensor(X, requires_grad=requires_grad)
    with pytest.warns(FallbackWarning):
        here = fad.jit(f)(x)
    close(here, f(x).detach())
    assert isinstance(here, fad.Tensor) and here.requires_grad == requires_grad
    if requires_grad:
        close(fad.autograd.grad(here, x)[0], fad.autograd.grad(f(x), x)[0])


def no_history(x):
    with fad.no_grad():
        return x * 1


def test_a_function_that_records_nothing_is_refused_or_constant():
    f = fad.no_grad()(lambda x: np.sum(x))
    with pytest.raises(UnsupportedFunctionError, match="no_grad"):
        fad.grad(f)(np.array(X))
    with pytest.warns(FallbackWarning):
        close(fad.grad(f)(leaf(*X)), [0, 0])


def test_recording_may_be_turned_off_around_a_transform():
    x = leaf(*X)
    with fad.no_grad():
        def f(x):
            with fad.enable_grad(), fad.inference_mode(False):
                return np.sum(x ** 2)
        close(fad.grad(f)(x), [6, 8])
        assert not fad.grad(f)(x).requires_grad


@pytest.mark.parametrize("f", [
    lambda x: x.std(), lambda x: x.var(0).sum(), lambda x: x.max(0)[0].sum(), lambda x: x.min(1)[0].sum(),
    lambda x: x.sort()[0].sum(), lambda x: x.repeat(2, 1).sum(), lambda x: (x.transpose(0, 1) * x).sum(),
    lambda x: x.squeeze(0).sum(), lambda x: x.nonzero()[0].sum() * x.sum(), lambda x: x.argsort(0).sum() * x.sum(),
    lambda x: x.take(np.array([1, 0])).sum(),
    lambda x: x.max(), lambda x: x.mean(0).sum(), lambda x: x.cumsum(1).sum(), lambda x: x.prod(),
    lambda x: x.clip(0.2, 0.5).sum(), lambda x: x.flatten().sum(), lambda x: x.diagonal(0).sum(), lambda x: x.trace(),
    lambda x: x.swapaxes(0, 1)[0].sum(), lambda x: x.round().sum(), lambda x: x.argmax(0).sum() * x.sum()])
def test_a_method_of_arrays_that_tensors_have_too_means_the_same_or_is_refused(f):
    x = fad.tensor([[0.3, 0.6], [0.5, 0.4]])
    try:
        here = fad.value_and_grad(f, fallback=False)(x)
    except (FadError, ValueError, TypeError):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            here = fad.value_and_grad(f)(x)                  # by the tensors' graph
    t = x.clone().requires_grad_()
    value = f(t)
    close(here[0], value.detach()), close(here[1], fad.autograd.grad(value, t)[0])


def test_methods_of_tensors_on_traced_values():
    x = fad.tensor(X)
    close(fad.grad(lambda x: (x.clone() * x.exp()).sum())(x), np.exp(X) * (1 + np.array(X)))
    with pytest.raises(AttributeError, match="no attribute 'detach'(.|\n)*stop_gradient"):
        fad.grad(lambda x: (x.detach() * x).sum(), fallback=False)(x)
    with pytest.raises(AttributeError, match="no attribute 'expand'"):
        fad.grad(lambda x: x.expand(2, 2).sum(), fallback=False)(x)


def test_programs_of_arrays_are_not_those_of_tensors():
    f = fad.jit(lambda x: x.std())
    assert f(np.array(X)) == 0.5
    with pytest.warns(FallbackWarning):
        close(f(fad.tensor(X)), 0.5 ** 0.5)
    assert f(np.array(X)) == 0.5
    with pytest.raises(UnsupportedFunctionError, match="ambiguous"):
        fad.grad(lambda x: x.std(), fallback=False)(fad.tensor(X))


@pytest.mark.parametrize("requires_grad", [False, True])
def test_arguments_that_a_function_changes(requires_grad):
    def first_is_seven(x):
        x[0] = 7.0
        return (x * x).sum()
    x = fad.tensor(X, requires_grad=requires_grad) * 1
    f = fad.jit(first_is_seven)
    assert f(np.array(X)) == 65
    with pytest.warns(FallbackWarning):
        assert f(x).item() == 65
    assert x.tolist() == [7, 4] and x._version == 1
    x = fad.tensor(X, requires_grad=requires_grad)
    close(fad.grad(first_is_seven)(x), [0, 8]), close(x, X)     # a derivative leaves its arguments alone


def test_ravel_of_tensors():
    p = {"w": leaf(1, 2).reshape(2, 1), "b": fad.tensor(5, dtype=fad.float32), "name": "x"}
    vector, back = fad.ravel(p)
    assert vector.requires_grad and vector.dtype == fad.float64
    close(vector, [5, 1, 2])
    again = back(vector * 2)
    assert again["name"] == "x" and again["b"].dtype == fad.float32
    close(again["w"], [[2], [4]]), close(again["b"], 10)
    close(fad.autograd.grad((again["w"] ** 2).sum(), p["w"])[0], [[8], [16]])
    close(fad.grad(lambda v: (back(v)["w"] ** 3).sum())(fad.tensor([1.0, 2, 3])), [0, 12, 27])
