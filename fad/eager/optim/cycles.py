"""Schedules made of schedules, and those that go up and down."""
import bisect
import math
from collections.abc import Callable, Sequence
from typing import Any

from .optimizer import Optimizer
from .schedules import LRScheduler


class MultiplicativeLR(LRScheduler):
    """At every step times a function of the step."""

    def __init__(self, optimizer: Optimizer, lr_lambda: Any, last_epoch: int = -1):
        self.lr_lambdas = list(lr_lambda) if isinstance(lr_lambda, (tuple, list)) else [lr_lambda] * len(optimizer.param_groups)
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list:
        groups = self.optimizer.param_groups
        return [g["lr"] * (f(self.last_epoch) if self.last_epoch > 0 else 1) for g, f in zip(groups, self.lr_lambdas)]


class PolynomialLR(LRScheduler):
    """Down to zero in total_iters steps, along (1 - step / total_iters) ** power."""

    def __init__(self, optimizer: Optimizer, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1):
        self.total_iters, self.power = total_iters, power
        super().__init__(optimizer, last_epoch)

    def factor(self, epoch: int) -> float:
        return (1 - min(epoch, self.total_iters) / self.total_iters) ** self.power


class CosineAnnealingWarmRestarts(LRScheduler):
    """Half a cosine down to eta_min, begun anew after T_0 steps, and each time T_mult times as long (Loshchilov and Hutter, SGDR, 2017)."""

    def __init__(self, optimizer: Optimizer, T_0: int, T_mult: int = 1, eta_min: float = 0.0, last_epoch: int = -1):
        self.T_0, self.T_mult, self.eta_min = T_0, T_mult, eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list:
        done, length = self.last_epoch, self.T_0
        while done >= length:
            done, length = done - length, length * self.T_mult
        return [self.eta_min + (base - self.eta_min) * (1 + math.cos(math.pi * done / length)) / 2 for base in self.base_lrs]


class CyclicLR(LRScheduler):
    """Up from base_lr to max_lr and down again, in straight lines, the height scaled by mode (Smith, Cyclical learning rates, 2017)."""

    def __init__(self, optimizer: Optimizer, base_lr: float, max_lr: float, step_size_up: int = 2000, step_size_down: "int | None" = None,
                 mode: str = "triangular", gamma: float = 1.0, scale_fn: "Callable | None" = None, scale_mode: str = "cycle", last_epoch: int = -1):
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise ValueError("mode is invalid and scale_fn is None")
        self.low, self.high, self.up, self.length = base_lr, max_lr, step_size_up, step_size_up + (step_size_down or step_size_up)
        self.mode, self.gamma, self.scale_fn, self.scale_mode = mode, gamma, scale_fn, scale_mode
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list:
        cycle, place = divmod(self.last_epoch, self.length)
        height = place / self.up if place <= self.up else (self.length - place) / (self.length - self.up)
        if self.scale_fn is not None:
            scale = self.scale_fn(cycle + 1 if self.scale_mode == "cycle" else self.last_epoch)
        else:
            scale = {"triangular": 1.0, "triangular2": 0.5 ** cycle, "exp_range": self.gamma ** self.last_epoch}[self.mode]
        return [self.low + (self.high - self.low) * height * scale for _ in self.base_lrs]


class OneCycleLR(LRScheduler):
    """Once up to max_lr and then down far below the start (Smith and Topin, Super-convergence, 2018)."""

    def __init__(self, optimizer: Optimizer, max_lr: float, total_steps: "int | None" = None, epochs: "int | None" = None, steps_per_epoch: "int | None" = None,
                 pct_start: float = 0.3, anneal_strategy: str = "cos", div_factor: float = 25.0, final_div_factor: float = 1e4, last_epoch: int = -1):
        if total_steps is None and (epochs is None or steps_per_epoch is None):
            raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
        self.total_steps = total_steps if total_steps is not None else epochs * steps_per_epoch          # type: ignore[operator]
        self.peak, self.start = max_lr, max_lr / div_factor
        self.end, self.turn, self.anneal_strategy = self.start / final_div_factor, pct_start * self.total_steps - 1, anneal_strategy
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list:
        k = self.last_epoch
        if k > self.total_steps:
            raise ValueError(f"Tried to step {k} times. The total number of steps is {self.total_steps}")
        if k <= self.turn:
            rate = self._between(self.start, self.peak, k / self.turn)
        else:
            rate = self._between(self.peak, self.end, (k - self.turn) / (self.total_steps - 1 - self.turn))
        return [rate for _ in self.base_lrs]

    def _between(self, a: float, b: float, part: float) -> float:
        return b + (a - b) / 2 * (1 + math.cos(math.pi * part)) if self.anneal_strategy == "cos" else a + (b - a) * part


class SequentialLR:
    """Schedules one after the other, the next from each milestone."""

    def __init__(self, optimizer: Optimizer, schedulers: Sequence, milestones: Sequence, last_epoch: int = -1):
        if len(milestones) != len(schedulers) - 1:
            raise ValueError("Sequential Schedulers expects number of schedulers provided to be one more than the number of milestone points, but got number of "
                             f"schedulers {len(schedulers)} and the number of milestones to be equal to {len(milestones)}")
        self.optimizer, self.schedulers, self.milestones, self.last_epoch = optimizer, list(schedulers), list(milestones), last_epoch + 1
        for group in optimizer.param_groups:
            group["lr"] = group["initial_lr"]
        for scheduler in self.schedulers:
            scheduler.last_epoch -= 1
        self.schedulers[0].step()

    def step(self) -> None:
        """Go on by one step."""
        self.last_epoch += 1
        k = bisect.bisect_right(self.milestones, self.last_epoch)
        scheduler = self.schedulers[k]
        scheduler.step(0) if k and self.milestones[k - 1] == self.last_epoch else scheduler.step()

    def get_last_lr(self) -> list:
        """The rates last put into the optimiser."""
        return [group["lr"] for group in self.optimizer.param_groups]

    def state_dict(self) -> dict:
        """Everything but the optimiser, schedules as their states."""
        return {"last_epoch": self.last_epoch, "milestones": self.milestones, "schedulers": [s.state_dict() for s in self.schedulers]}

    def load_state_dict(self, state_dict: dict) -> None:
        """Take over a state."""
        self.last_epoch, self.milestones = state_dict["last_epoch"], state_dict["milestones"]
        for scheduler, given in zip(self.schedulers, state_dict["schedulers"]):
            scheduler.load_state_dict(given)


class ChainedScheduler:
    """Schedules that all act at every step."""

    def __init__(self, schedulers: Sequence, optimizer: "Optimizer | None" = None):
        self.schedulers = list(schedulers)
        self.optimizer = optimizer or self.schedulers[0].optimizer

    def step(self) -> None:
        """Go on by one step: every schedule changes the rates by what it alone would."""
        for scheduler in self.schedulers:
            groups = self.optimizer.param_groups
            rates, before = [group["lr"] for group in groups], scheduler.get_last_lr()
            scheduler.step()
            if not isinstance(scheduler, MultiplicativeLR):
                for group, rate, old, new in zip(groups, rates, before, scheduler.get_last_lr()):
                    group["lr"] = rate * new / old if old else new

    def get_last_lr(self) -> list:
        """The rates last put into the optimiser."""
        return [group["lr"] for group in self.optimizer.param_groups]

    def state_dict(self) -> dict:
        """The states of the schedules."""
        return {"schedulers": [s.state_dict() for s in self.schedulers]}

    def load_state_dict(self, state_dict: dict) -> None:
        """Take over the states of the schedules."""
        for scheduler, given in zip(self.schedulers, state_dict["schedulers"]):
            scheduler.load_state_dict(given)
