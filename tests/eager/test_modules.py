"""Full backward hooks of modules; views that were made without recording; nan among what is reduced."""
import gc
import warnings
import weakref

import pytest

import fad
from fad import nn

from .support import close, leaf


class Scaled(nn.Module):
    def forward(self, x, y=None):
        return x * 2 if y is None else (x * 2, y * 3)


def test_hooks_see_all_gradients_and_may_change_them():
    m, seen = Scaled(), []
    m.register_full_backward_pre_hook(lambda mod, gs: tuple(g * 10 for g in gs))
    m.register_full_backward_hook(lambda mod, gx, gy: (seen.append((gx, gy)), (gx[0] + 1, gx[1]))[1])
    x, y = leaf(1), leaf(1)
    a, b = m(x, y)
    (a + b).sum().backward()
    (gx, gy), = seen
    close(gx[0], 20)
    close(gx[1], 30)
    close(gy[0], 10)
    close(x.grad, 21)
    close(y.grad, 30)


def test_hooks_of_a_module_whose_inputs_need_no_gradient():
    m, seen = nn.Linear(2, 1), []
    m.register_full_backward_hook(lambda mod, gx, gy: seen.append(gx))
    with pytest.warns(UserWarning, match="no inputs require gradients"):
        m(fad.ones(3, 2)).sum().backward()
    assert seen == [(None,)] and m.weight.grad is not None
    m.register_full_backward_hook(lambda mod, gx, gy: (fad.ones(3, 2),))
    with warnings.catch_warnings(), pytest.raises(RuntimeError, match="should always return None"):
        warnings.simplefilter("ignore")
        m(fad.ones(3, 2)).sum().backward()


def test_hooks_are_called_once_and_not_by_gradients_of_gradients():
    loss, calls = nn.MSELoss(), []
    loss.register_full_backward_hook(lambda *args: calls.append(1))
    x = leaf(1)
    y = loss(x, fad.zeros(1))
    (g,) = fad.autograd.grad(y, x, create_graph=True)
    fad.autograd.grad(g, x)
    assert calls == [1]


def test_hooks_with_a_wrong_number_of_gradients():
    for register, message in (("register_full_backward_hook", "invalid number of grad_input, got 2, but expected 1"),
                              ("register_full_backward_pre_hook", "invalid number of grad_output, got 2, but expected 1")):
        m = Scaled()
        getattr(m, register)(lambda mod, *gs: (gs[0][0], gs[0][0]))
        with pytest.raises(RuntimeError, match=message):
            m(leaf(1) * 1).sum().backward()


@pytest.mark.parametrize("hooks", [1, 2])
def test_hooks_make_no_cycle(hooks):
    class Object:
        pass
    m = Scaled()
    for _ in range(hooks):
        m.register_full_backward_hook(lambda *args: None)
    x, thing = leaf(1), Object()
    y = m(x * 1)
    y.grad_fn.metadata["thing"] = thing
    ref = weakref.ref(thing)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        y.exp().sum().backward(create_graph=True)
    x.grad = None
    del y, thing
    gc.collect()
    assert ref() is None


@pytest.mark.parametrize("mode", [fad.no_grad, fad.inference_mode])
def test_views_made_without_recording_drop_gradients(mode):
    base = leaf(1, 2) * 1
    with mode():
        v = base[:]
    y = (v * 2).sum()
    assert v.requires_grad and v.is_leaf and y.requires_grad
    y.backward()
    assert v.grad is None


def test_nan_that_wins_has_the_gradient():
    for f in (fad.max, fad.min, fad.median, fad.nanmedian):
        x = leaf(float("nan"), float("nan"))
        f(x).backward()
        close(x.grad, 0.5)
    x = leaf(1, float("nan"))
    fad.max(x).backward()
    close(x.grad, [0, 1])
