"""Saved modules, and the hooks around forward."""
import copy
import pickle

import numpy as np
import pytest

import fad
from fad import nn


class Counted(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("kept", fad.zeros(2))
        self.register_buffer("passing", fad.ones(2), persistent=False)


def test_what_is_saved():
    model = nn.Sequential(nn.Linear(2, 1), Counted())
    assert list(model.state_dict()) == ["0.weight", "0.bias", "1.kept"]
    other = nn.Sequential(nn.Linear(2, 1), Counted())
    result = other.load_state_dict(model.state_dict())
    assert not any(result) and repr(result) == "<All keys matched successfully>"
    assert (other[0].weight == model[0].weight).all()
    without = {k: v for k, v in model.state_dict().items() if k != "1.kept"}
    with pytest.raises(RuntimeError, match=r'Missing key\(s\) in state_dict: "1.kept"'):
        other.load_state_dict(without)
    assert other.load_state_dict(without, strict=False).missing_keys == ["1.kept"]


def test_buffers_that_pass():
    model = nn.Module()
    model.register_buffer("b", fad.zeros(1), persistent=False)
    assert not model.state_dict() and len(list(model.buffers())) == 1
    model.register_buffer("b", fad.zeros(1))
    assert list(model.state_dict()) == ["b"]
    del model.b
    model.c = nn.Buffer(fad.zeros(1), persistent=False)
    assert not model.state_dict() and [name for name, _ in model.named_buffers()] == ["c"]


def test_values_put_in_place():
    model, given = nn.Linear(2, 1), {"weight": fad.ones(1, 2), "bias": fad.zeros(1)}
    before = model.weight
    model.load_state_dict(given, assign=True)
    assert model.weight is not before and isinstance(model.weight, nn.Parameter)
    assert model.weight.data_ptr() == given["weight"].data_ptr()


def test_forward_hooks_with_their_options():
    class Scaled(nn.Module):
        def forward(self, x, *, by=1.0):
            return x * by
    model, seen = Scaled(), []
    model.register_forward_pre_hook(lambda m, args, kwargs: (args, {"by": kwargs["by"] * 2}), with_kwargs=True)
    model.register_forward_hook(lambda m, args, kwargs, y: seen.append((kwargs["by"], y)), with_kwargs=True)
    model.register_forward_hook(lambda m, args, y: y + 1, prepend=True)
    assert model(fad.ones(1), by=3.0).item() == 7.0 and seen[0][0] == 6.0 and seen[0][1].item() == 7.0


def test_each_once_or_each_name():
    model = nn.Module()
    model.a = model.b = nn.Linear(1, 1, bias=False)
    assert len(list(model.children())) == 1 and len(list(model.named_parameters())) == 1
    assert [name for name, _ in model.named_parameters(remove_duplicate=False)] == ["a.weight", "b.weight"]


def test_in_another_dtype():
    model = nn.Sequential(nn.Linear(2, 2, dtype=fad.float32), nn.BatchNorm1d(2))
    assert model[0].weight.dtype == np.float32
    weight = model[0].weight
    model.to(fad.float64)
    assert model[0].weight is weight and {p.dtype for p in model.parameters()} == {np.dtype(np.float64)}
    assert model[1].num_batches_tracked.dtype == np.int64
    with pytest.raises(TypeError, match="floating point or complex"):
        model.to(fad.int64)


@pytest.mark.parametrize("again", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_copies(again):
    model = nn.Sequential(nn.Linear(2, 1), nn.ModuleList([nn.Linear(1, 1)]), nn.ParameterDict({"a": fad.ones(1)}))
    other = again(model)
    assert list(other.state_dict()) == list(model.state_dict())
    assert all((p == q).all() and p is not q for p, q in zip(model.parameters(), other.parameters()))


def test_containers():
    layers = [nn.Linear(1, k + 1) for k in range(3)]
    model = nn.Sequential(*layers)
    del model[0]
    assert list(model) == layers[1:] and list(model._modules) == ["0", "1"]
    model.insert(0, layers[0])
    assert model.pop(1) is layers[1]
    held = nn.ModuleList(layers)
    held += [nn.ReLU()]
    del held[1:3]
    assert list(held)[0] is layers[0] and len(held) == 2 and isinstance(held[:1], nn.ModuleList)
    named = nn.ModuleDict({"a": layers[0]})
    named.update([("b", layers[1])])
    assert list(named.items()) == [("a", layers[0]), ("b", layers[1])] and named.pop("a") is layers[0]
    assert "a" not in named
    values = nn.ParameterDict({"a": fad.ones(1), "b": fad.zeros(1)})
    assert set(values) == {"a", "b"} and values.get("c") is None
    assert all(isinstance(p, nn.Parameter) for p in values.values())


@pytest.mark.parametrize("make",
                         [nn.ReLU, lambda: nn.MaxPool2d(2, stride=1), nn.MSELoss, nn.GELU,
                          lambda: nn.AvgPool2d((4, 4), 2)])
def test_modules_of_functions_are_pickled_and_show_their_options(make):
    module = make()
    again = pickle.loads(pickle.dumps(module))
    assert type(again) is type(module) and repr(again) == repr(module)
    assert nn.ReLU().inplace is False and nn.ReLU(inplace=True).inplace
    assert nn.MaxPool2d(2, padding=1).padding == 1 and nn.MaxPool2d(2).dilation == 1


def test_what_is_unpacked_has_the_shape_of_what_was_packed():
    x = fad.tensor([1.0, 2.0], requires_grad=True)
    with fad.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t[:1]):
        y = x * x
    with pytest.raises(RuntimeError, match=r"unpack_hook has shape \[1\], but the tensor that was saved had \[2\]"):
        y.sum().backward()



def test_results_are_pickled_as_leaves():
    y = pickle.loads(pickle.dumps(fad.tensor([1.0, 2.0], requires_grad=True) * 2))
    assert y.is_leaf and y.requires_grad
    np.testing.assert_array_equal(y.detach().numpy(), [2.0, 4.0])


def test_a_hook_that_is_registered_while_its_node_runs():
    x = fad.tensor([1.0, 2.0], requires_grad=True)
    for before in (False, True):
        y = x ** 2
        if before:
            y.grad_fn.register_prehook(lambda gs: None)
        y.grad_fn._raw_saved_self.register_hooks(
            lambda t: t, lambda t, y=y: y.grad_fn.register_hook(lambda gi, go: (gi[0] / 2,)) and t)
        g, = fad.autograd.grad(y.sum(), x)
        np.testing.assert_array_equal(g.numpy(), [1.0, 2.0])
        x = x.detach().requires_grad_()
