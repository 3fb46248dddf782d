"""Schedules made of schedules, and those that go up and down."""
import bisect
import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from .optimizer import Optimizer
from .schedules import EPOCH_DEPRECATION_WARNING, LRScheduler, for_groups, number


def set_momentum(group: dict, value: float) -> None:
    """Give a group of parameters another momentum: that of its name, or the first of its betas."""
    if "betas" in group:
        group["betas"] = (value, *group["betas"][1:])
    else:
        group["momentum"] = value


def _check_momentum(optimizer: Optimizer) -> None:
    if "momentum" not in optimizer.defaults and "betas" not in optimizer.defaults:
        raise ValueError("optimizer must support momentum or beta1 with `cycle_momentum` option enabled")


class CosineAnnealingWarmRestarts(LRScheduler):
    """Half a cosine down to eta_min, begun anew after T_0 steps, and each time T_mult times as long (Loshchilov and Hutter, SGDR, 2017)."""

    def __init__(self, optimizer: Optimizer, T_0: int, T_mult: int = 1, eta_min: float = 0.0, last_epoch: int = -1):
        if T_0 <= 0 or not isinstance(T_0, int):
            raise ValueError(f"Expected positive integer T_0, but got {T_0}")
        if T_mult < 1 or not isinstance(T_mult, int):
            raise ValueError(f"Expected integer T_mult >= 1, but got {T_mult}")
        if not isinstance(eta_min, (float, int)):
            raise ValueError(f"Expected float or int eta_min, but got {eta_min} of type {type(eta_min)}")
        self.T_0, self.T_i, self.T_mult, self.eta_min, self.T_cur = T_0, T_0, T_mult, eta_min, last_epoch
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list:
        share = (1 + math.cos(math.pi * self.T_cur / self.T_i)) / 2
        return [self.eta_min + (base - self.eta_min) * share for base in self.base_lrs]

    def step(self, epoch: Any = None) -> None:
        """Go on by one step, or to a step, which may be a fraction."""
        if epoch is not None and epoch < 0:
            raise ValueError(f"Expected non-negative epoch, but got {epoch}")
        epoch = self.last_epoch + 1 if epoch is None else epoch
        done, length = epoch, self.T_0
        while done >= length:
            done, length = done - length, length * self.T_mult
        self.T_cur, self.T_i, self.last_epoch = done, length, math.floor(epoch)
        self._step_count += 1
        self.put(self.get_lr())


class CyclicLR(LRScheduler):
    """Up from base_lr to max_lr and down again, in straight lines, the height scaled by mode (Smith, Cyclical learning rates, 2017).

    With cycle_momentum the momentum (or the first of the betas) goes the other way, between max_momentum and base_momentum.
    """

    def __init__(self, optimizer: Optimizer, base_lr: Any, max_lr: Any, step_size_up: int = 2000, step_size_down: "int | None" = None,
                 mode: str = "triangular", gamma: float = 1.0, scale_fn: "Callable | None" = None, scale_mode: str = "cycle", cycle_momentum: bool = True,
                 base_momentum: Any = 0.8, max_momentum: Any = 0.9, last_epoch: int = -1):
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise ValueError("mode is invalid and scale_fn is None")
        low, self.max_lrs = for_groups(optimizer, "base_lr", base_lr), for_groups(optimizer, "max_lr", max_lr)
        self.up, self.length = float(step_size_up), float(step_size_up + (step_size_up if step_size_down is None else step_size_down))
        self.mode, self.gamma, self.scale_fn, self.cycle_momentum = mode, gamma, scale_fn, cycle_momentum
        self.scale_mode = scale_mode if scale_fn is not None else "iterations" if mode == "exp_range" else "cycle"
        if last_epoch == -1:
            self.optimizer = optimizer
            self.put(low)
            for group, rate in zip(optimizer.param_groups, low):
                group["initial_lr"] = number(rate)
        if cycle_momentum:
            _check_momentum(optimizer)
            self.base_momentums = for_groups(optimizer, "base_momentum", base_momentum)
            self.max_momentums = for_groups(optimizer, "max_momentum", max_momentum)
            for group, low_m, high_m in zip(optimizer.param_groups, self.base_momentums, self.max_momentums):
                if last_epoch == -1:
                    group.update(base_momentum=low_m, max_momentum=high_m)
                    set_momentum(group, high_m)
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list:
        height = self._height()
        if self.cycle_momentum:
            for group, low, high in zip(self.optimizer.param_groups, self.base_momentums, self.max_momentums):
                set_momentum(group, high - (high - low) * height)
        return [base + (top - base) * height for base, top in zip(self.base_lrs, self.max_lrs)]

    def _height(self) -> float:
        """How far up between the two rates this step is."""
        cycle, place = divmod(self.last_epoch, self.length)
        height = place / self.up if place <= self.up else (self.length - place) / (self.length - self.up)
        return height * self._scale(cycle + 1 if self.scale_mode == "cycle" else self.last_epoch)

    def _scale(self, x: float) -> float:
        if self.scale_fn is not None:
            return self.scale_fn(x)
        return {"triangular": 1.0, "triangular2": 0.5 ** (x - 1)}.get(self.mode, self.gamma ** x)


class OneCycleLR(LRScheduler):
    """Once up to max_lr and then down far below the start (Smith and Topin, Super-convergence, 2018); with three_phase to the start before that."""

    def __init__(self, optimizer: Optimizer, max_lr: Any, total_steps: "int | None" = None, epochs: "int | None" = None, steps_per_epoch: "int | None" = None,
                 pct_start: float = 0.3, anneal_strategy: str = "cos", cycle_momentum: bool = True, base_momentum: Any = 0.85, max_momentum: Any = 0.95,
                 div_factor: float = 25.0, final_div_factor: float = 1e4, three_phase: bool = False, last_epoch: int = -1):
        self.total_steps = _steps(total_steps, epochs, steps_per_epoch)
        if not isinstance(pct_start, float) or not 0 <= pct_start <= 1:
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        self.anneal_strategy, self.cycle_momentum = anneal_strategy, cycle_momentum
        turn, last = float(pct_start * self.total_steps) - 1, self.total_steps - 1
        self.phases = [(turn, "initial_lr", "max_lr", "max_momentum", "base_momentum"), (last, "max_lr", "min_lr", "base_momentum", "max_momentum")]
        if three_phase:
            self.phases[1:] = [(2 * turn, "max_lr", "initial_lr", "base_momentum", "max_momentum"), (last, "initial_lr", "min_lr", "max_momentum", "max_momentum")]
        if cycle_momentum:
            _check_momentum(optimizer)
        if last_epoch == -1:
            rows = zip(optimizer.param_groups, *[for_groups(optimizer, name, v) for name, v in (
                ("max_lr", max_lr), ("base_momentum", base_momentum), ("max_momentum", max_momentum))])
            for group, peak, low, high in rows:
                group.update(initial_lr=peak / div_factor, max_lr=peak, min_lr=peak / div_factor / final_div_factor)
                if cycle_momentum:
                    group.update(base_momentum=low, max_momentum=high)
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list:
        k, start = self.last_epoch, 0.0
        if k > self.total_steps:
            raise ValueError(f"Tried to step {k} times. The total number of steps is {self.total_steps}")
        for end, *names in self.phases:                                      # noqa: B007  the phase that k is in, or the last
            if k <= end:
                break
            start = end if end != self.phases[-1][0] else start
        part = (k - start) / (end - start)
        rates = []
        for group in self.optimizer.param_groups:
            rates.append(self._between(group[names[0]], group[names[1]], part))
            if self.cycle_momentum:
                set_momentum(group, self._between(group[names[2]], group[names[3]], part))
        return rates

    def _between(self, a: float, b: float, part: float) -> float:
        return b + (a - b) / 2 * (1 + math.cos(math.pi * part)) if self.anneal_strategy == "cos" else a + (b - a) * part


def _steps(total: "int | None", epochs: "int | None", per_epoch: "int | None") -> int:
    given = {"total_steps": total} if total is not None else {"epochs": epochs, "steps_per_epoch": per_epoch}
    if total is None and (epochs is None or per_epoch is None):
        raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
    for name, n in given.items():
        if not isinstance(n, int) or n <= 0:
            raise ValueError(f"Expected positive integer {name}, but got {n}")
    return total if total is not None else epochs * per_epoch                            # type: ignore[operator]


class _Several(LRScheduler):
    """Schedules of one optimiser."""

    def _take(self, schedulers: Sequence, optimizer: "Optimizer | None") -> None:
        if len(schedulers) < 1:
            raise ValueError(f"{type(self).__name__} expects at least one scheduler to be chained, but got no scheduler.")
        for k, scheduler in enumerate(schedulers):
            if not hasattr(scheduler, "optimizer"):
                raise TypeError(f"{type(self).__name__} at index {k} should have `optimizer` as its attribute.")
        self._schedulers = list(schedulers)
        self.optimizer = schedulers[0].optimizer if optimizer is None else optimizer
        for k, scheduler in enumerate(schedulers):
            if scheduler.optimizer is not self.optimizer:
                raise ValueError(f"{type(self).__name__} expects all schedulers to belong to the same optimizer, but got scheduler "
                                 f"{type(scheduler).__name__} at index {k} has another one.")

    def state_dict(self) -> dict:
        """Everything but the optimiser, schedules as their states."""
        rest = {k: v for k, v in self.__dict__.items() if k not in ("optimizer", "_schedulers")}
        return {**rest, "_schedulers": [s.state_dict() for s in self._schedulers]}

    def load_state_dict(self, state_dict: dict) -> None:
        """Take over a state."""
        self.__dict__.update({k: v for k, v in state_dict.items() if k != "_schedulers"})
        for scheduler, given in zip(self._schedulers, state_dict["_schedulers"]):
            scheduler.load_state_dict(given)


class SequentialLR(_Several):
    """Schedules one after the other, the next from each milestone."""

    def __init__(self, optimizer: Optimizer, schedulers: Sequence, milestones: Sequence, last_epoch: int = -1):
        self._take(schedulers, optimizer)
        if len(milestones) != len(schedulers) - 1:
            raise ValueError("Sequential Schedulers expects number of schedulers provided to be one more than the number of milestone points, but got number of "
                             f"schedulers {len(schedulers)} and the number of milestones to be equal to {len(milestones)}")
        self._milestones, self.last_epoch = list(milestones), last_epoch + 1
        for group in optimizer.param_groups:
            group["lr"] = group["initial_lr"]
        for scheduler in self._schedulers:
            _undo(scheduler)
        self._schedulers[0].step()
        self._last_lr = self._schedulers[0].get_last_lr()

    def step(self, epoch: Any = None) -> None:
        """Go on by one step."""
        self.last_epoch += 1
        k = bisect.bisect_right(self._milestones, self.last_epoch)
        scheduler = self._schedulers[k]
        if k and self._milestones[k - 1] == self.last_epoch:
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", message=EPOCH_DEPRECATION_WARNING[:40])
                scheduler.step(0)
        else:
            scheduler.step()
        self._last_lr = scheduler.get_last_lr()


def _undo(scheduler: Any) -> None:
    """Take back the first step that a schedule made."""
    for one in getattr(scheduler, "_schedulers", ()):
        _undo(one)
    scheduler.last_epoch -= 1


class ChainedScheduler(_Several):
    """Schedules that all act at every step."""

    def __init__(self, schedulers: Sequence, optimizer: "Optimizer | None" = None):
        self._take(list(schedulers), optimizer)
        self._last_lr = self.rates()
        self.last_epoch = 0

    def step(self, epoch: Any = None) -> None:
        """Go on by one step: one schedule after the other changes the rates."""
        for scheduler in self._schedulers:
            scheduler.step()
        self._last_lr = self.rates()
