"""Leaves that changed between the graph and its backward: what was frozen gets nothing, as in PyTorch."""
import numpy as np
import pytest

import fad


def leaf():
    return fad.ones(2, requires_grad=True)


def freeze_by_method(a):
    a.requires_grad_(False)


def freeze_by_attribute(a):
    a.requires_grad = False


def freeze_by_detaching(a):
    a.detach_()


FREEZE = [freeze_by_method, freeze_by_attribute, freeze_by_detaching]
LOSSES = {"product": lambda a: (a * a.clone()).sum(), "sum": lambda a: a.sum(), "power": lambda a: (a ** 3).sum(),
          "matmul": lambda a: a @ a.exp(),
          "view": lambda a: a.view(1, 2)[0].sum(), "stack": lambda a: fad.stack([a, a]).sum(),
          "softmax": lambda a: a.softmax(0)[0],
          "compiled": lambda a: fad.jit(lambda x: np.sum(np.sin(x)))(a)}


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("freeze", FREEZE)
@pytest.mark.filterwarnings("ignore:Using backward")
def test_a_leaf_frozen_since_the_graph_was_built_gets_nothing(freeze, loss, create_graph):
    a, b = leaf(), leaf()
    y = LOSSES[loss](a) * b.sum()
    freeze(a)
    y.backward(create_graph=create_graph)
    assert a.grad is None and b.grad is not None


def test_what_it_has_stays_and_it_may_thaw():
    a = leaf()
    (a * a).sum().backward()
    y = (a * 3).sum()
    a.requires_grad_(False)
    y.backward(retain_graph=True)
    assert a.grad.tolist() == [2.0, 2.0]
    a.requires_grad_(True)
    y.backward()
    assert a.grad.tolist() == [5.0, 5.0]


def test_its_hooks_run_and_autograd_grad_refuses_it():
    a, seen = leaf(), []
    a.register_hook(lambda g: seen.append("hook"))
    a.register_post_accumulate_grad_hook(lambda p: seen.append("accumulated"))
    y = (a * a).sum()
    a.requires_grad_(False)
    y.backward(retain_graph=True)
    assert seen == ["hook", "accumulated"] and a.grad is None
    with pytest.raises(RuntimeError, match="does not require grad"):
        fad.autograd.grad(y, a)


def test_a_hook_may_freeze_it():
    a = leaf()
    a.register_hook(lambda g: setattr(a, "requires_grad", False))
    (a * a).sum().backward()
    assert a.grad is None


def test_a_module_frozen_after_the_forward():
    model = fad.nn.Sequential(fad.nn.Linear(2, 3), fad.nn.Tanh(), fad.nn.Linear(3, 1))
    y = model(fad.ones(4, 2)).sum()
    model[0].requires_grad_(False)
    y.backward()
    assert [p.grad is None for p in model.parameters()] == [True, True, False, False]


def test_a_leaf_that_became_a_result_is_told():
    a, b = leaf(), leaf()
    y = (a * 1).sum()
    a.requires_grad_(False)
    a.mul_(b)
    with pytest.raises(RuntimeError, match="moved into the graph interior"):
        y.backward()


def test_a_view_of_a_leaf_that_is_frozen_drops_gradients():
    a = leaf()
    part = a[:1]
    a.requires_grad_(False)
    a.mul_(2)
    assert part.requires_grad and not part.is_leaf and "AsStrided" in part.grad_fn.name()
    (part * 2).sum().backward()
    assert a.grad is None
