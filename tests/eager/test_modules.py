"""Full backward hooks of modules; views that were made without recording; nan among what is reduced."""
import gc
import operator
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
                              ("register_full_backward_pre_hook",
                               "invalid number of grad_output, got 2, but expected 1")):
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


@pytest.mark.parametrize("f", [nn.functional.hardtanh, lambda x: nn.functional.threshold(x, 0.5, 0.1)])
def test_nan_passes_through_activations_with_its_gradient(f):
    x = leaf(float("nan"), 0.2)
    y = f(x)
    assert y[0].isnan() and not y[1].isnan()
    y.sum().backward()
    assert x.grad[0] == 1


ACTIVATIONS = [lambda x: nn.functional.relu(x, inplace=True), lambda x: nn.functional.leaky_relu(x, 0.1, True),
               nn.functional.elu_, nn.functional.selu_, nn.functional.hardtanh_, nn.functional.leaky_relu_,
               lambda x: nn.functional.silu(x, inplace=True), nn.SiLU(True),
               lambda x: nn.functional.threshold_(x, 0.1, 2.0)]


@pytest.mark.parametrize("f", ACTIVATIONS)
def test_activations_in_place(f):
    x = leaf(-0.7, 0.3, 1.2)
    y = x * 1
    assert f(y) is y and fad.autograd.gradcheck(lambda x: f(x * 1), x)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        f(x)


def test_a_negative_slope_in_place_leaves_no_way_back():
    with pytest.raises(RuntimeError, match="please call out-of-place version"):
        nn.functional.leaky_relu_(leaf(-1, 1) * 1, -2.0).sum().backward()


def test_gradients_as_one_vector():
    m = nn.Linear(3, 2)
    m(fad.ones(4, 3)).sum().backward()
    def norm():
        return fad.cat([p.grad.reshape(-1) for p in m.parameters()]).norm().item()
    before = norm()
    assert nn.utils.clip_grad_norm_(m.parameters(), 0.5).item() == pytest.approx(before)
    assert norm() == pytest.approx(0.5, abs=1e-5)
    assert list(nn.ParameterDict({"a": fad.ones(1)}).state_dict()) == ["a"]


@pytest.mark.parametrize("module, name, nearest", [
    ("nn", "MultiheadAttention", ""), ("nn.functional", "conv3d", "conv2d"), ("optim", "NAdam", "Adam"),
    ("optim.lr_scheduler", "MultiStepLR", "StepLR"),
    ("nn.utils", "parametrize", ""), ("utils", "data", "")])
def test_a_name_that_is_pytorchs_alone(module, name, nearest):
    where = operator.attrgetter(module)(fad)
    with pytest.raises(AttributeError) as caught:
        getattr(where, name)
    meant = f". Did you mean: '{nearest}'?" if nearest else "."
    assert str(caught.value) == (f"module 'fad.{module}' has no attribute '{name}'{meant} fad.{module} has a part of "
                                 f"torch.{module}; fad leaves the rest to PyTorch.")


def test_sequences_of_modules_are_lists():
    a, b, c = nn.Tanh(), nn.ReLU(), nn.Sigmoid()
    net = nn.Sequential(a, b)
    net += nn.Sequential(c)
    del net[0]
    assert list(net.named_children()) == [("0", b), ("1", c)]
    net.insert(0, a)
    del net[1:]
    assert list(net) == [a] and net.append(b) is net and net.pop() is b and list(net) == [a]
    with pytest.raises(TypeError, match="not a Module subclass"):
        nn.ModuleList([a]).append(1)


def test_dicts_of_parameters():
    p, q = nn.Parameter(fad.ones(2)), nn.Parameter(fad.ones(3))
    d = nn.ParameterDict({"p": p, "q": q})
    assert list(d) == ["p", "q"] and list(reversed(d)) == ["q", "p"] and d.get("r") is None
    assert d.setdefault("p", q) is p and d.popitem() == ("q", q) and len(d) == 1
    d.update({"q": fad.ones(1)})
    assert isinstance(d["q"], nn.Parameter)
    assert d.setdefault("r", p) is p and d.pop("r") is p and "r" not in d and d == d and d != nn.ParameterDict(d)
    with pytest.raises(ValueError, match="too many values"):
        d.update([("a", p, q)])


def test_options_of_functions_as_modules():
    x = fad.tensor([[-1.0, 2.0]])
    layer = nn.LeakyReLU(0.2)
    assert repr(layer) == "LeakyReLU(negative_slope=0.2)"
    close(layer(x), [[-0.2, 2.0]])
    assert repr(nn.Flatten()) == "Flatten(start_dim=1, end_dim=-1)" and nn.Flatten()(fad.ones(2, 3, 4)).shape == (2, 12)
    with pytest.raises(TypeError, match="Flatten.__init__"):
        nn.Flatten(first=1)


class Tied(fad.nn.Module):
    """One matrix forth and back."""

    def __init__(self):
        super().__init__()
        self.forth, self.back = fad.nn.Linear(2, 2, bias=False), fad.nn.Linear(2, 2, bias=False)
        self.back.weight = self.forth.weight

    def forward(self, x):
        return self.back(self.forth(x)).sum()


def test_a_parameter_with_two_names_has_one_value():
    net, w, x = Tied(), fad.rand(2, 2), fad.ones(1, 2)
    f = lambda w: fad.nn.functional_call(net, {"forth.weight": w}, x)
    close(f(w), (x @ w.T @ w.T).sum())
    close(fad.jit(f)(w), f(w))
    with pytest.raises(ValueError, match="a second value for back.weight"):
        fad.nn.functional_call(net, {"forth.weight": w, "back.weight": w + 1}, x)
    assert net.forth.weight is net.back.weight
    nets = [Tied() for _ in range(2)]
    nets[1].load_state_dict(nets[0].state_dict())
    optimizers = [fad.optim.SGD(net.parameters(), 0.1) for net in nets]
    fad.optim.CompiledStep(lambda model, x: model(x), nets[0], optimizers[0])(x)
    nets[1](x).backward()
    optimizers[1].step()
    close(nets[0].forth.weight, nets[1].forth.weight.detach())
