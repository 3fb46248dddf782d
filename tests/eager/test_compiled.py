"""Staged functions and functions with rules, called on tensors; NumPy's functions on tensors."""
import numpy as np

import fad

from .support import close, leaf


def test_a_jit_function_is_one_step():
    x = leaf(0.5, 1.0)
    f = fad.jit(lambda t: np.sum(np.sin(t) * t))
    v = x.detach().numpy()
    g, = fad.autograd.grad(f(x), x, create_graph=True)
    close(g, np.cos(v) * v + np.sin(v))
    gg, = fad.autograd.grad(g.sum(), x, create_graph=True)
    close(gg, 2 * np.cos(v) - v * np.sin(v))
    ggg, = fad.autograd.grad(gg.sum(), x)
    close(ggg, -3 * np.sin(v) - v * np.cos(v))


def test_transforms_of_tensors_give_tensors():
    x = leaf(1, 2)
    g = fad.grad(lambda t: np.sum(t ** 3))(x)
    assert isinstance(g, fad.Tensor) and g.requires_grad
    g.sum().backward()
    close(x.grad, [6, 12])
    first, second = fad.jit(lambda d: (d["a"] * d["b"], np.sum(d["a"])))({"a": x, "b": 3.0})
    close(first, [3, 6]), close(second, 3)


def test_custom_rules_hold():
    @fad.custom_vjp
    def h(x):
        return x * 1.0
    h.defvjp(lambda x: (x * 1.0, None), lambda saved, g: (g * 7,))
    x = leaf(1, 2)
    h(x).sum().backward()
    close(x.grad, 7.0)


def test_numpy_functions():
    x = leaf(0.5, 1.0)
    y = np.concatenate([np.exp(x), np.ones(2) * x, np.float64(2) * x, np.stack([x, x])[0]])
    assert isinstance(y, fad.Tensor)
    np.sum(y).backward()
    close(x.grad, np.exp([0.5, 1.0]) + 4)
    assert float(np.linalg.norm(x)) == float(np.linalg.norm([0.5, 1.0]))


def test_a_training_step_compiles():
    nn = fad.nn
    fad.manual_seed(0)
    model = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 1))
    x = np.random.default_rng(0).standard_normal((8, 2))
    y = x.sum(1, keepdims=True)

    def loss(params, x, y):
        return nn.functional.mse_loss(nn.functional_call(model, params, (x,)), y)
    params = {name: p.detach().numpy() for name, p in model.named_parameters()}
    value, grads = fad.value_and_grad(loss)(params, x, y)
    eager = loss(dict(model.named_parameters()), fad.tensor(x), fad.tensor(y))
    eager.backward()
    close(eager, value)
    for name, p in model.named_parameters():
        close(p.grad, grads[name])
