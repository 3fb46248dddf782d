"""Averages of a model's parameters over its training: stochastic weight averaging (Izmailov et al., 2018) and exponential moving averages."""
import copy
import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..nn.module import Module
from ..nn.norms import _BatchNorm
from ..state import changed
from ..tensor import wrap
from .optimizer import Optimizer
from .schedules import LRScheduler, for_groups


def get_ema_avg_fn(decay: float = 0.999) -> Callable:
    """avg_fn of exponential moving averages: decay * average + (1 - decay) * value."""
    _is_share(decay)
    return lambda average, value, count: decay * average + (1 - decay) * value


def get_swa_avg_fn() -> Callable:
    """avg_fn of the mean."""
    return lambda average, value, count: average + (value - average) / (count + 1)


def _for_each(avg_fn: Callable) -> Callable:
    def all_of_them(averages: Any, values: Any, count: Any) -> None:
        with changed(grad=False):
            for average, value in zip(averages, values):
                average.copy_(avg_fn(average, value, count) if average._a.dtype.kind in "fc" else value)
    return all_of_them


def get_ema_multi_avg_fn(decay: float = 0.999) -> Callable:
    """multi_avg_fn of exponential moving averages, in place."""
    return _for_each(get_ema_avg_fn(decay))


def get_swa_multi_avg_fn() -> Callable:
    """multi_avg_fn of the mean, in place."""
    return _for_each(get_swa_avg_fn())


def _is_share(decay: float) -> None:
    if not 0 <= decay <= 1:
        raise ValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1] range.")


class AveragedModel(Module):
    """A copy of a model whose parameters are the averages of the model's at each update_parameters.

    avg_fn        avg_fn(average, value, count): the new average (by default the mean)
    multi_avg_fn  the same for all parameters at once, in place
    use_buffers   whether buffers are averaged too, not taken over
    """

    def __init__(self, model: Module, device: Any = None, avg_fn: "Callable | None" = None, multi_avg_fn: "Callable | None" = None, use_buffers: bool = False):
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = copy.deepcopy(model).to(device=device)
        self.register_buffer("n_averaged", wrap(np.zeros((), np.int64)))
        self.avg_fn, self.multi_avg_fn, self.use_buffers = avg_fn, multi_avg_fn, use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self.module(*args, **kwargs)

    def update_parameters(self, model: Module) -> None:
        """Take the model's values into the averages."""
        averages, values = ([t.detach() for t in itertools.chain(m.parameters(), m.buffers() if self.use_buffers else ())] for m in (self.module, model))
        with changed(grad=False):
            if int(self.n_averaged._a) == 0:
                for average, value in zip(averages, values):
                    average.copy_(value)
            elif self.multi_avg_fn is not None:
                self.multi_avg_fn(averages, values, self.n_averaged)
            else:
                _for_each(self.avg_fn or get_swa_avg_fn())(averages, values, self.n_averaged)
            if not self.use_buffers:
                for mine, its in zip(self.module.buffers(), model.buffers()):
                    mine.detach().copy_(its.detach())
            self.n_averaged.add_(1)


def update_bn(loader: Any, model: Module, device: Any = None) -> None:
    """Make the running statistics of the model's batch normalisations anew: those over the batches of a loader (each the input, or a list that begins with it)."""
    layers = [m for m in model.modules() if isinstance(m, _BatchNorm)]
    momenta = [m.momentum for m in layers]
    if not layers:
        return
    training = model.training
    model.train()
    for m in layers:
        m.reset_running_stats()
        m.momentum = None
    with changed(grad=False):
        for batch in loader:
            model(batch[0] if isinstance(batch, (list, tuple)) else batch)
    for m, momentum in zip(layers, momenta):
        m.momentum = momentum
    model.train(training)


class SWALR(LRScheduler):
    """The rate goes to swa_lr in anneal_epochs steps, along half a cosine or linearly, and stays there."""

    def __init__(self, optimizer: Optimizer, swa_lr: Any, anneal_epochs: int = 10, anneal_strategy: str = "cos", last_epoch: int = -1):
        for rate, group in zip(for_groups(optimizer, "swa_lr", swa_lr), optimizer.param_groups):
            group["swa_lr"] = rate
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        self.anneal_epochs, self._anneal_strategy = anneal_epochs, anneal_strategy
        super().__init__(optimizer, last_epoch)

    def _share(self, step: int) -> float:
        t = max(0.0, min(1.0, step / max(1, self.anneal_epochs)))
        return t if self._anneal_strategy == "linear" else (1 - math.cos(math.pi * t)) / 2

    def get_lr(self) -> list:
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        before, now = self._share(step - 1), self._share(step)
        rates = []
        for group, rate in zip(self.optimizer.param_groups, self.rates()):
            first = group["swa_lr"] if before == 1 else (rate - before * group["swa_lr"]) / (1 - before)
            rates.append(group["swa_lr"] * now + first * (1 - now))
        return rates
