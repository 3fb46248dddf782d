"""Staged functions and functions with rules, called on tensors; NumPy's functions on tensors."""
import numpy as np
import pytest

import fad
from fad.util.errors import ConcreteValueError

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


class Recurrent(fad.nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn, self.out = fad.nn.LSTM(3, 4, batch_first=True), fad.nn.Linear(4, 2)

    def forward(self, x):
        return self.out(self.rnn(x)[0][:, -1])


class Words(fad.nn.Module):
    def __init__(self):
        super().__init__()
        self.rows, self.out = fad.nn.Embedding(10, 4), fad.nn.Linear(4, 2)

    def forward(self, i):
        return self.out(self.rows(i).mean(1))


def network(*layers):
    return lambda: fad.nn.Sequential(*[make() for make in layers])


NN = fad.nn
NETWORKS = {
    "dense": (network(lambda: NN.Linear(3, 4), NN.Tanh, lambda: NN.Linear(4, 2)), (5, 3)),
    "batch norm": (network(lambda: NN.Linear(3, 4), lambda: NN.BatchNorm1d(4), NN.GELU, lambda: NN.Linear(4, 2)),
                   (5, 3)),
    "layer norm": (network(lambda: NN.Linear(3, 4), lambda: NN.LayerNorm(4), NN.SiLU, lambda: NN.Linear(4, 2)), (5, 3)),
    "convolution": (network(lambda: NN.Conv2d(1, 2, 3), NN.ReLU, lambda: NN.MaxPool2d(2), NN.Flatten,
                            lambda: NN.Linear(8, 2)), (5, 1, 6, 6)),
    "recurrent": (Recurrent, (5, 6, 3)), "embedding": (Words, None)}


@pytest.mark.parametrize("name", NETWORKS)
def test_a_training_step_compiles_whole(name):
    """Loss, gradient and the momentum's rule in one jit function of the module's parameters: the numbers of backward()
    and SGD."""
    make, shape = NETWORKS[name]
    fad.manual_seed(0)
    model, rng = make(), np.random.default_rng(0)
    x, y = rng.integers(0, 10, (5, 3)) if shape is None else rng.standard_normal(shape), rng.integers(0, 2, 5)

    def loss(params, x, y):
        return NN.functional.cross_entropy(NN.functional_call(model, params, (x,)), y)

    @fad.jit
    def step(params, velocity, x, y):
        value, g = fad.value_and_grad(loss)(params, x, y)
        velocity = {k: 0.9 * velocity[k] + g[k] for k in params}
        return value, {k: params[k] - 0.1 * velocity[k] for k in params}, velocity
    params = {k: p.detach().numpy().copy() for k, p in model.named_parameters()}
    velocity = {k: np.zeros_like(p) for k, p in params.items()}
    optimizer = fad.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for _ in range(3):
        value, params, velocity = step(params, velocity, x, y)
        optimizer.zero_grad()
        eager = loss(dict(model.named_parameters()), fad.tensor(x), fad.tensor(y))
        eager.backward()
        optimizer.step()
        np.testing.assert_allclose(value, eager.item(), rtol=1e-12)
    for k, p in model.named_parameters():
        np.testing.assert_allclose(params[k], p.detach().numpy(), rtol=1e-9, atol=1e-12)


def test_a_compiled_loss_in_an_eager_step():
    model = NN.Linear(3, 2)
    x, y = fad.randn(5, 3), fad.tensor(np.array([0, 1, 0, 1, 1]))
    loss = fad.jit(lambda params, x, y: NN.functional.cross_entropy(NN.functional_call(model, params, (x,)), y))
    compiled = loss(dict(model.named_parameters()), x, y)
    assert len(compiled.grad_fn.next_functions) == 3                      # the two parameters and x: one step
    compiled.backward()
    got = [p.grad.clone() for p in model.parameters()]
    model.zero_grad()
    NN.functional.cross_entropy(model(x), y).backward()
    for p, g in zip(model.parameters(), got):
        close(p.grad, g.numpy())


def test_tensors_closed_over_are_read_at_each_call():
    t = fad.tensor([1.0, 2.0, 3.0])
    f = fad.jit(lambda x: np.sum(x * t))
    first = f(np.ones(3))
    t.mul_(2)
    assert not isinstance(first, fad.Tensor) and (first, f(np.ones(3))) == (6.0, 12.0)
    w = fad.tensor([1.0, 2.0, 3.0], requires_grad=True)
    with pytest.raises(ConcreteValueError, match="a tensor that requires gradients is used in a traced function"):
        fad.grad(lambda x: np.sum(x * w))(np.ones(3))


def test_tangents_go_through_a_program():
    x, g = fad.tensor([0.5, 1.0]), fad.jit(lambda a, b: np.sin(a) * b)
    with fad.autograd.forward_ad.dual_level():
        y = g(fad.autograd.forward_ad.make_dual(x, fad.ones(2)), 2.0)
        close(fad.autograd.forward_ad.unpack_dual(y).tangent, 2 * np.cos(x.numpy()))
