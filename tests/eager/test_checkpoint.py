"""Checkpoints on tensors: when the function runs again, nested, with in-between passes, what is refused."""
import contextlib
import copy
import weakref

import pytest

import fad
from fad.autograd import Function
from fad.autograd.checkpoint import (
    CheckpointError,
    GraphExecGroup,
    checkpoint,
    checkpoint_sequential,
    set_checkpoint_debug_enabled,
    set_checkpoint_early_stop,
)

from .support import close, leaf


def counted(f):
    def call(*args):
        call.count += 1
        return f(*args)
    call.count = 0
    return call


def gradient(f):
    def call(x):
        with fad.enable_grad():
            return fad.autograd.grad(f(x).sum(), x, create_graph=True)[0]
    return call


def kept(f):
    return lambda *args, **kwargs: checkpoint(f, *args, use_reentrant=False, **kwargs)


@pytest.mark.parametrize("reentrant", [True, False])
def test_the_gradient_is_the_same(reentrant):
    f = counted(lambda x: (x * x).exp().sin())
    x, y = leaf(0.5, 1), leaf(0.5, 1)
    checkpoint(f, x, use_reentrant=reentrant).sum().backward()
    assert f.count == 2
    f(y).sum().backward()
    close(x.grad, y.grad.numpy())


@pytest.mark.parametrize("early_stop", [True, False])
def test_nested_and_higher_order(early_stop):
    f = lambda x: x.sin().exp().sin()
    g = gradient
    x = leaf(0.3, 0.7)
    with set_checkpoint_early_stop(early_stop):
        for expected, actual in ((f, kept(kept(f))), (g(f), g(kept(kept(f)))), (g(g(f)), g(kept(g(f)))),
                                 (g(g(f)), kept(g(g(kept(f))))),
                                 (g(g(g(f))), g(kept(g(kept(g(kept(f)))))))):
            close(actual(x), expected(x).detach().numpy())


def test_it_stops_as_early_as_it_may():
    last = counted(lambda x: x.clone())
    for told, within, runs in (({}, None, 1), ({"early_stop": False}, None, 2), ({}, False, 2),
                               ({"early_stop": True}, False, 2), ({"early_stop": False}, True, 1)):
        last.count = 0
        if within is None:
            y = checkpoint(lambda x: last(x.sin().cos()), leaf(1), use_reentrant=False, **told)
        else:
            with set_checkpoint_early_stop(within):
                y = checkpoint(lambda x: last(x.sin().cos()), leaf(1), use_reentrant=False, **told)
        y.backward()
        assert last.count == runs


def test_another_function_the_second_time_is_noticed():
    def changing(*functions):
        runs = iter(functions)
        return lambda x: next(runs)(x)
    two, three = (lambda x: x.sin().exp()), (lambda x: x.sin().exp().sin())
    wide = lambda x: x.sin() * fad.tensor([1.0, 2.0])
    with pytest.raises(CheckpointError, match="A different number of tensors was saved"):
        checkpoint(changing(three, two), leaf(1), use_reentrant=False).sum().backward()
    checkpoint(changing(two, three), leaf(1), use_reentrant=False).sum().backward()
    with pytest.raises(CheckpointError, match="trying to save more tensors during recomputation"):
        checkpoint(changing(two, three), leaf(1), use_reentrant=False, early_stop=False).sum().backward()
    with pytest.raises(CheckpointError, match="tensors have different metadata"):
        checkpoint(changing(two, wide), leaf(1), use_reentrant=False).sum().backward()
    with set_checkpoint_debug_enabled(True), pytest.raises(CheckpointError, match="because you passed `debug=True`"):
        checkpoint(changing(two, wide), leaf(1), use_reentrant=False).sum().backward()


def test_what_is_saved_can_be_read():
    f = counted(lambda a: fad.exp(a * 1))
    y = checkpoint(f, leaf(1, 2), use_reentrant=False)
    for runs in (2, 3):
        close(y.grad_fn._saved_result, y.detach().numpy())
        assert f.count == runs
    y.sum().backward()
    with pytest.raises(RuntimeError, match="already been freed"):
        y.grad_fn._saved_result  # noqa: B018


def test_a_group_of_passes_computes_once():
    f = counted(lambda x: (lambda y: (y, y.sin().cos()))(x.sin().cos()))
    x = leaf(1, 2)
    y, z = checkpoint(f, x, use_reentrant=False)
    with GraphExecGroup():
        (gy,) = fad.autograd.grad(z, y, fad.ones(2))
        fad.autograd.grad(y, x, gy)
        assert f.count == 2
    y = checkpoint(lambda x: x.sin().cos(), x, use_reentrant=False)
    with GraphExecGroup():
        y.sum().backward(retain_graph=True)
        with pytest.raises(RuntimeError, match="Performing two backward calls that overlap"):
            y.sum().backward()


def test_random_numbers_and_modules():
    x = fad.ones(50, requires_grad=True)
    y = checkpoint(lambda x: fad.nn.functional.dropout(x * x, 0.5, True) * x, x, use_reentrant=False)
    y.sum().backward()
    close(x.grad, 3 * y.detach().numpy())
    model = fad.nn.Sequential(fad.nn.Linear(3, 4), fad.nn.ReLU(), fad.nn.Linear(4, 2))
    other = copy.deepcopy(model)
    data = fad.rand(5, 3)
    checkpoint_sequential(model, 2, data, use_reentrant=False).sum().backward()
    other(data).sum().backward()
    for p, q in zip(model.parameters(), other.parameters()):
        close(p.grad, q.grad.numpy())


def test_what_the_reentrant_one_cannot_do():
    x = leaf(1, 2)
    with pytest.raises(RuntimeError, match="torch.utils.checkpoint is incompatible"):
        fad.autograd.grad(checkpoint(fad.exp, x, use_reentrant=True).sum(), x)
    checkpoint(fad.exp, x, use_reentrant=True).sum().backward()
    with pytest.raises(RuntimeError, match="none of output has requires_grad=True"):
        (checkpoint(lambda x: x.detach() * 2, x, use_reentrant=True) + x).sum().backward()


def test_nothing_is_kept_alive():
    class Object:
        pass
    thing = Object()
    ref = weakref.ref(thing)
    y = checkpoint(lambda x, o: x.sin().cos(), leaf(1), thing, use_reentrant=False)
    del thing
    assert ref() is not None
    y.backward()
    del y
    assert ref() is None


def test_a_saved_tensor_is_read_once_in_a_pass():
    class Twice(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 1

        @staticmethod
        def backward(ctx, g):
            return ctx.saved_tensors[0] * ctx.saved_tensors[0]
    with pytest.raises(RuntimeError, match="already unpacked once"):
        checkpoint(lambda x: Twice.apply(x * 2), leaf(1), use_reentrant=False).backward()


def test_what_is_for_the_new_way_alone():
    for given in ({"debug": True}, {"context_fn": lambda: (contextlib.nullcontext(), contextlib.nullcontext())}):
        with pytest.raises(ValueError, match="only supported when use_reentrant=False"):
            checkpoint(lambda x: x * 2, leaf(1), use_reentrant=True, **given)


def test_forward_mode_goes_through_a_checkpoint():
    x, dx = fad.tensor([0.3, 0.7], requires_grad=True), fad.tensor([1.0, 2.0])
    forward = fad.autograd.forward_ad
    with forward.dual_level():
        y = checkpoint(lambda z: (z * z).sin(), forward.make_dual(x, dx), use_reentrant=False)
        primal, tangent = forward.unpack_dual(y)
        assert fad.allclose(tangent, (x * x).cos() * 2 * x * dx)
        second, = fad.autograd.grad(tangent.sum(), x, retain_graph=True)
        assert fad.allclose(second, (2 * (x * x).cos() - 4 * x * x * (x * x).sin()) * dx)
        first, = fad.autograd.grad(primal.sum(), x)
        assert fad.allclose(first, (x * x).cos() * 2 * x)


def test_forward_mode_alone_goes_through_a_checkpoint():
    forward = fad.autograd.forward_ad
    with forward.dual_level():
        y = checkpoint(lambda z: z.exp(), forward.make_dual(fad.zeros(2), fad.ones(2)), use_reentrant=False)
        assert forward.unpack_dual(y).tangent.tolist() == [1.0, 1.0]
