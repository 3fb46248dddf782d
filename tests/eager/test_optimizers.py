"""Optimisers and schedules beside PyTorch's, step by step.

The numbers of tests/eager/answers/optimizers.json are those of PyTorch 2.13.0 (CPU, float64), recorded by `python
tests/eager/test_optimizers.py` where PyTorch is.
"""
import json
import pathlib

import numpy as np

NUMBERS = pathlib.Path(__file__).parent / "answers" / "optimizers.json"
STEPS = (0, 1, 5)

OPTIMIZERS = [
    ("SGD", {"lr": 0.1}), ("SGD", {"lr": 0.1, "momentum": 0.9, "dampening": 0.2, "weight_decay": 0.01}),
    ("SGD", {"lr": 0.1, "momentum": 0.9, "nesterov": True, "maximize": True}), ("Adam", {"lr": 0.1}),
    ("Adam", {"lr": 0.1, "amsgrad": True, "weight_decay": 0.1}),
    ("Adam", {"lr": 0.1, "decoupled_weight_decay": True, "weight_decay": 0.1, "maximize": True}),
    ("AdamW", {"lr": 0.1, "amsgrad": True}),
    ("RMSprop", {"lr": 0.1}), ("RMSprop", {"centered": True, "momentum": 0.9, "weight_decay": 0.1, "maximize": True}),
    ("LBFGS", {"lr": 0.5, "max_iter": 3}),
    ("LBFGS", {"line_search_fn": "strong_wolfe", "max_iter": 4, "history_size": 2})]

SCHEDULES = [("StepLR", {"step_size": 3}), ("ExponentialLR", {"gamma": 0.9}),
             ("CosineAnnealingLR", {"T_max": 4, "eta_min": 0.01})]


def descend(torch, name, options, with_complex):
    """The parameters after some steps of an optimiser."""
    start = [np.linspace(-1, 1, 6).reshape(2, 3), np.array([0.5, -0.3]),
             np.array([1 + 0.5j, -0.2j])][:3 if with_complex else 2]
    params = [torch.tensor(a, requires_grad=True) for a in start]
    optimizer = getattr(torch.optim, name)(params,
                                           **{k: tuple(v) if isinstance(v, list) else v for k, v in options.items()})

    def closure():
        optimizer.zero_grad()
        w, v = params[:2]
        loss = ((w ** 2).sum() - 1) ** 2 + ((w.sum(1) * v).sum() - 0.3) ** 2 + (v ** 4).sum() + 0.1 * w.sin().sum()
        if with_complex:
            z = params[2]
            loss = loss + ((z * z).real.sum() - 1) ** 2 + (z.abs() ** 2).sum()
        loss.backward()
        return loss
    seen = []
    for _ in range(STEPS[-1] + 1):
        if name == "LBFGS":
            optimizer.step(closure)
        else:
            closure()
            optimizer.step()
        seen.append([x for p in params for x in p.detach().numpy().reshape(-1).view(np.float64).tolist()])
    return [seen[k] for k in STEPS]


def rates(torch, name, options, pair):
    """Rates and momenta of twelve steps; pair: beside an ExponentialLR that acts on the same optimiser."""
    optimizer = torch.optim.SGD([torch.tensor([1.0], requires_grad=True)], lr=0.2, momentum=0.7)
    optimizer.step()
    made = torch.optim.lr_scheduler
    schedules = [getattr(made, name)(optimizer, **options)] + ([made.ExponentialLR(optimizer, 0.95)] if pair else [])
    seen = []
    for _ in range(12):
        seen.append([optimizer.param_groups[0]["lr"], optimizer.param_groups[0]["momentum"]])
        for schedule in schedules:
            schedule.step()
    return seen


def cases():
    for name, options in OPTIMIZERS:
        for with_complex in (False, True) if name != "LBFGS" else (False,):
            yield f"{name} {json.dumps(options)} {with_complex}", descend, name, options, with_complex
    for name, options in SCHEDULES:
        for pair in (False, True):
            yield f"{name} {json.dumps(options)} {pair}", rates, name, options, pair


def rounded(v):
    return [rounded(x) for x in v] if isinstance(v, list) else float(f"{v:.9g}")


if __name__ == "__main__":
    import torch
    torch.set_default_dtype(torch.float64)
    NUMBERS.write_text("{"
                       + ",\n".join(f"{json.dumps(key)}: {json.dumps(rounded(run(torch, *rest)))}"
                                    for key, run, *rest in cases()) + "}\n")
else:
    import pytest

    import fad

    @pytest.fixture(scope="module")
    def numbers():
        return json.loads(NUMBERS.read_text())

    @pytest.mark.parametrize("case", list(cases()), ids=lambda c: c[0])
    def test_numbers(case, numbers):
        key, run, *rest = case
        np.testing.assert_allclose(run(fad, *rest), numbers[key], rtol=1e-7, atol=1e-9)

    @pytest.mark.parametrize("name", sorted({name for name, _ in OPTIMIZERS} - {"LBFGS"}))
    def test_a_state_goes_on_where_it_was(name):
        def model():
            x = fad.tensor([1.0, -2.0], requires_grad=True)
            return x, getattr(fad.optim, name)([x], lr=0.05)

        def go(x, optimizer, steps):
            for _ in range(steps):
                optimizer.zero_grad()
                (x ** 2).sum().backward()
                optimizer.step()
        x, optimizer = model()
        go(x, optimizer, 3)
        y, other = model()
        with fad.no_grad():
            y.copy_(x)
        other.load_state_dict(optimizer.state_dict())
        go(x, optimizer, 2)
        go(y, other, 2)
        np.testing.assert_array_equal(x.detach().numpy(), y.detach().numpy())


def test_state_of_the_optimizer_as_a_whole_is_kept():
    x = fad.ones(2, requires_grad=True)
    optimizer, other = fad.optim.Adam([x]), fad.optim.Adam([x])
    x.sum().backward()
    optimizer.step()
    optimizer.state["seen"] = 3
    other.load_state_dict(optimizer.state_dict())
    assert optimizer.state_dict()["state"]["seen"] == other.state["seen"] == 3 and other.state[x]["step"] == 1


def test_optimizers_refuse_what_pytorch_refuses():
    x, y = fad.ones(2, requires_grad=True), fad.ones(2, requires_grad=True)
    with pytest.raises(ValueError, match="Some param names are missing"):
        fad.optim.SGD([("x", x), y], lr=0.1)
    with pytest.raises(ValueError, match="Tensor lr must be 1-element"):
        fad.optim.LBFGS([x], lr=fad.ones(2))
    with pytest.raises(ValueError, match="Invalid learning rate: -1.0"):
        fad.optim.LBFGS([x], lr=-1.0)
