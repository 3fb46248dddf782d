"""optim.CompiledStep: the numbers of backward() and step(), whatever the network, the optimiser and the schedule; when
it stays on tensors."""
import numpy as np
import pytest

import fad
from fad.util.errors import ArgumentError, UnsupportedFunctionError

from .test_compiled import NETWORKS

NN, F, OPTIM = fad.nn, fad.nn.functional, fad.optim
OPTIMISERS = {
    "momentum": lambda p: OPTIM.SGD(p, lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.01),
    "sgd": lambda p: OPTIM.SGD(p, lr=0.1),
    "adam": lambda p: OPTIM.Adam(p, lr=0.01), "adamw": lambda p: OPTIM.AdamW(p, lr=0.01, amsgrad=True),
    "rmsprop": lambda p: OPTIM.RMSprop(p, centered=True, momentum=0.5)}


class Branches(NN.Module):
    """A forward with a loop and a branch on what it computes."""

    def __init__(self):
        super().__init__()
        self.inner, self.out = NN.Linear(3, 3), NN.Linear(3, 2)

    def forward(self, x):
        for _ in range(3):
            x = F.tanh(self.inner(x))
        if x.sum() > 0:
            x = x * 2
        else:
            x = x * 3
        return self.out(x)


def loss(model, x, y):
    return F.cross_entropy(model(x), y)


def data(shape, seed=0):
    rng = np.random.default_rng(seed)
    return rng.integers(0, 10, (5, 3)) if shape is None else rng.standard_normal(shape), rng.integers(0, 2, 5)


def pair(make, optimiser):
    """Two equal models with their optimisers, the first of them compiled."""
    models = []
    for _ in range(2):
        fad.manual_seed(0)
        models.append(make())
    first, second = [optimiser(m.parameters()) for m in models]
    return models, first, second, OPTIM.CompiledStep(loss, models[0], first, compile="never")


def on_tensors(model, optimizer, x, y):
    optimizer.zero_grad()
    value = loss(model, fad.tensor(x), fad.tensor(y))
    value.backward()
    optimizer.step()
    return value.item()


def alike(models):
    for p, q in zip(*[[*m.parameters(), *m.buffers()] for m in models]):
        np.testing.assert_allclose(p.detach().numpy(), q.detach().numpy(), rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("name", [*NETWORKS, "branches"])
def test_networks(name):
    make, shape = {**NETWORKS, "branches": (Branches, (5, 3))}[name]
    models, _, second, step = pair(make, OPTIMISERS["momentum"])
    for k in range(5):
        x, y = data(shape, k)
        count = 3 if k == 3 else 5                                       # another size is the same program
        np.testing.assert_allclose(step(x[:count], y[:count]).item(),
                                   on_tensors(models[1], second, x[:count], y[:count]), rtol=1e-9)
    alike(models)
    assert len(step.programs) == 1


@pytest.mark.parametrize("name", OPTIMISERS)
def test_optimisers_and_schedules(name):
    make, shape = NETWORKS["dense"]
    models, first, second, step = pair(make, OPTIMISERS[name])
    schedules = [OPTIM.lr_scheduler.StepLR(o, 2, 0.5) for o in (first, second)]
    for k in range(6):
        np.testing.assert_allclose(step(*data(shape, k)).item(), on_tensors(models[1], second, *data(shape, k)),
                                   rtol=1e-9)
        for schedule in schedules:
            schedule.step()
    alike(models)
    np.testing.assert_equal(first.state_dict()["state"][0].get("step"), second.state_dict()["state"][0].get("step"))
    assert len(step.programs) == 1 and sum(p.traces for p in step.programs.values()) == 1


def test_it_stays_on_tensors_where_somebody_listens():
    models, _, second, step = pair(NETWORKS["dense"][0], OPTIMISERS["sgd"])
    seen = []
    for k in range(3):
        step(*data((5, 3), k))
        on_tensors(models[1], second, *data((5, 3), k))
    handle = models[0][0].weight.register_hook(lambda g: seen.append(g.shape))
    step(*data((5, 3)))
    on_tensors(models[1], second, *data((5, 3)))
    handle.remove()
    assert seen == [(4, 3)]
    models[0][2].register_forward_hook(lambda module, args, y: seen.append("forward"))
    step(*data((5, 3)))
    on_tensors(models[1], second, *data((5, 3)))
    assert seen[1:] == ["forward"]
    alike(models)


def test_another_layer_is_another_model():
    models, *_, step = pair(NETWORKS["dense"][0], OPTIMISERS["sgd"])
    for _ in range(2):
        step(*data((5, 3)))
    models[0][1] = NN.ReLU()
    x, y = data((5, 3))
    before = loss(models[0], fad.tensor(x), fad.tensor(y)).item()
    np.testing.assert_allclose([step(x, y).item()], [before])
    before = loss(models[0], fad.tensor(x), fad.tensor(y)).item()
    np.testing.assert_allclose([step(x, y).item()], [before])


def test_unused_parameters_and_frozen_ones():
    fad.manual_seed(0)
    model = NN.ModuleDict({"used": NN.Linear(3, 2), "unused": NN.Linear(3, 2),
                           "frozen": NN.Linear(3, 2).requires_grad_(False)})
    step = OPTIM.CompiledStep(lambda m, x, y: F.cross_entropy(m["used"](x) + m["frozen"](x), y), model,
                              OPTIM.SGD(model.parameters(), lr=0.1))
    still, frozen = model["unused"].weight.detach().clone(), model["frozen"].weight.detach().clone()
    values = [step(*data((5, 3))).item() for _ in range(4)]
    assert not step.programs and values[-1] < values[0] and (model["unused"].weight == still).all()
    model["unused"].requires_grad_(False)
    values = [step(*data((5, 3))).item() for _ in range(4)]
    assert step.programs and values[-1] < values[0] and (model["frozen"].weight == frozen).all()


def test_what_is_refused():
    model = NN.Linear(3, 2)
    with pytest.raises(ArgumentError, match="LBFGS looks at all parameters together"):
        OPTIM.CompiledStep(loss, model, OPTIM.LBFGS(model.parameters()))
    other = NN.Linear(3, 2)
    step = OPTIM.CompiledStep(lambda m, x, y: loss(lambda x: m(x) + other(x), x, y), model,
                              OPTIM.SGD([*model.parameters(), *other.parameters()]))
    with pytest.raises(ArgumentError, match="parameters that are not the model's"):
        step(*data((5, 3)))
    noisy = NN.Sequential(NN.Linear(3, 2), NN.Dropout(0.5))
    step = OPTIM.CompiledStep(loss, noisy, OPTIM.SGD(noisy.parameters(), lr=0.1))
    step(*data((5, 3)))
    with pytest.raises(UnsupportedFunctionError, match="dropout draws random numbers"):
        step(*data((5, 3)))
    noisy.eval()
    step(*data((5, 3)))
