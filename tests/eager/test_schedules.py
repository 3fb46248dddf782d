"""Learning-rate schedules: what they come to step by step, closed forms, and states that are taken over."""
import math

import numpy as np
import pytest

import fad
from fad.optim import SGD, lr_scheduler

from .support import leaf

SCHEDULES = {
    "StepLR": (lambda o: lr_scheduler.StepLR(o, 2, 0.5), lambda k: 0.5 ** (k // 2)),
    "ExponentialLR": (lambda o: lr_scheduler.ExponentialLR(o, 0.9), lambda k: 0.9 ** k),
    "LambdaLR": (lambda o: lr_scheduler.LambdaLR(o, lambda k: 1 / (1 + k)), lambda k: 1 / (1 + k)),
    "CosineAnnealingLR": (lambda o: lr_scheduler.CosineAnnealingLR(o, 4),
                          lambda k: (1 + math.cos(math.pi * k / 4)) / 2)}


def optimizer(lr=0.8):
    return SGD([leaf(1.0)], lr=lr)


def rates(schedule, count):
    found = [schedule.get_last_lr()[0]]
    for _ in range(count):
        schedule.optimizer.step()
        schedule.step()
        found.append(schedule.get_last_lr()[0])
    return found


@pytest.mark.parametrize("name", SCHEDULES)
def test_rates_are_those_of_the_closed_form(name):
    make, factor = SCHEDULES[name]
    np.testing.assert_allclose(rates(make(optimizer()), 10), [0.8 * factor(k) for k in range(11)], atol=1e-12)


@pytest.mark.parametrize("name", SCHEDULES)
def test_a_state_goes_on_where_it_was(name):
    make, factor = SCHEDULES[name]
    first = make(optimizer())
    rates(first, 3)
    again = make(optimizer(first.get_last_lr()[0]))
    again.optimizer.param_groups[0]["initial_lr"] = 0.8
    again.load_state_dict(first.state_dict())
    again.put(first.get_last_lr())
    np.testing.assert_allclose(rates(again, 2), [0.8 * factor(k) for k in (3, 4, 5)], atol=1e-12)


@pytest.mark.parametrize("name", SCHEDULES)
def test_a_rate_that_is_a_tensor(name):
    make, factor = SCHEDULES[name]
    schedule = make(optimizer(fad.tensor(0.8)))
    rates(schedule, 5)
    np.testing.assert_allclose(schedule.optimizer.param_groups[0]["lr"].item(), 0.8 * factor(5), atol=1e-7)


def test_a_plateau_lowers_the_rate_after_patience_and_cooldown():
    schedule = lr_scheduler.ReduceLROnPlateau(optimizer(1.0), factor=0.5, patience=1, cooldown=1, min_lr=0.2)
    found = []
    for measure in (3.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0):
        schedule.step(measure)
        found.append(schedule.get_last_lr()[0])
    assert found == [1, 1, 1, 0.5, 0.5, 0.5, 0.25, 0.25, 0.25, 0.2, 0.2]
    with pytest.raises(ValueError, match="Factor should be < 1"):
        lr_scheduler.ReduceLROnPlateau(optimizer(), factor=1.5)
