"""Learning-rate schedules: each says the rate of a step; step() puts it into the optimiser."""
import math
from collections.abc import Sequence
from typing import Any

from .optimizer import Optimizer


class LRScheduler:
    """Base of schedules: rates() gives the rate of every group at step last_epoch."""

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1):
        self.optimizer = optimizer
        for group in optimizer.param_groups:
            group.setdefault("initial_lr", group["lr"])
        self.base_lrs = [group["initial_lr"] for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        self.step()

    def get_lr(self) -> list:
        """The rates of this step."""
        return [base * self.factor(self.last_epoch) for base in self.base_lrs]

    def factor(self, epoch: int) -> float:
        """The rate of a step as a multiple of the first."""
        raise NotImplementedError

    def get_last_lr(self) -> list:
        """The rates last put into the optimiser."""
        return self._last_lr

    def step(self, epoch: "int | None" = None) -> None:
        """Go on by one step."""
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        self._last_lr = self.get_lr()
        for group, rate in zip(self.optimizer.param_groups, self._last_lr):
            group["lr"] = rate

    def state_dict(self) -> dict:
        """Everything but the optimiser."""
        return {k: v for k, v in self.__dict__.items() if k != "optimizer" and not callable(v)}

    def load_state_dict(self, state_dict: dict) -> None:
        """Take over a state."""
        self.__dict__.update(state_dict)


class LambdaLR(LRScheduler):
    """The first rate times a function of the step."""

    def __init__(self, optimizer: Optimizer, lr_lambda: Any, last_epoch: int = -1):
        self.lr_lambdas = list(lr_lambda) if isinstance(lr_lambda, (tuple, list)) else [lr_lambda] * len(optimizer.param_groups)
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list:
        return [base * f(self.last_epoch) for base, f in zip(self.base_lrs, self.lr_lambdas)]


class StepLR(LRScheduler):
    """Times gamma every step_size steps."""

    def __init__(self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1):
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch)

    def factor(self, epoch: int) -> float:
        return self.gamma ** (epoch // self.step_size)


class MultiStepLR(LRScheduler):
    """Times gamma at milestones."""

    def __init__(self, optimizer: Optimizer, milestones: Sequence, gamma: float = 0.1, last_epoch: int = -1):
        self.milestones, self.gamma = sorted(milestones), gamma
        super().__init__(optimizer, last_epoch)

    def factor(self, epoch: int) -> float:
        return self.gamma ** sum(epoch >= m for m in self.milestones)


class ExponentialLR(LRScheduler):
    """Times gamma at every step."""

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1):
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def factor(self, epoch: int) -> float:
        return self.gamma ** epoch


class LinearLR(LRScheduler):
    """From start_factor to end_factor in total_iters steps."""

    def __init__(self, optimizer: Optimizer, start_factor: float = 1.0 / 3, end_factor: float = 1.0, total_iters: int = 5, last_epoch: int = -1):
        self.start_factor, self.end_factor, self.total_iters = start_factor, end_factor, total_iters
        super().__init__(optimizer, last_epoch)

    def factor(self, epoch: int) -> float:
        return self.start_factor + (self.end_factor - self.start_factor) * min(epoch, self.total_iters) / self.total_iters


class ConstantLR(LRScheduler):
    """Times factor for the first total_iters steps."""

    def __init__(self, optimizer: Optimizer, factor: float = 1.0 / 3, total_iters: int = 5, last_epoch: int = -1):
        self.share, self.total_iters = factor, total_iters
        super().__init__(optimizer, last_epoch)

    def factor(self, epoch: int) -> float:
        return self.share if epoch < self.total_iters else 1.0


class CosineAnnealingLR(LRScheduler):
    """Half a cosine from the first rate to eta_min, in T_max steps (Loshchilov & Hutter, 2017)."""

    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1):
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list:
        share = (1 + math.cos(math.pi * self.last_epoch / self.T_max)) / 2
        return [self.eta_min + (base - self.eta_min) * share for base in self.base_lrs]


class ReduceLROnPlateau:
    """Times factor when a measure has not become better for more than `patience` steps."""

    def __init__(self, optimizer: Optimizer, mode: str = "min", factor: float = 0.1, patience: int = 10, threshold: float = 1e-4, threshold_mode: str = "rel",
                 cooldown: int = 0, min_lr: float = 0, eps: float = 1e-8):
        self.optimizer, self.mode, self.factor, self.patience = optimizer, mode, factor, patience
        self.threshold, self.threshold_mode, self.cooldown, self.min_lr, self.eps = threshold, threshold_mode, cooldown, min_lr, eps
        self.best = math.inf if mode == "min" else -math.inf
        self.bad, self.waiting = 0, 0

    def is_better(self, a: float) -> bool:
        """Whether a measure is better than the best by more than the threshold."""
        margin = self.threshold * (abs(self.best) if self.threshold_mode == "rel" and math.isfinite(self.best) else 1.0)
        return a < self.best - margin if self.mode == "min" else a > self.best + margin

    def step(self, metrics: Any) -> None:
        """Take note of a measure."""
        value = float(metrics)
        if self.is_better(value):
            self.best, self.bad = value, 0
        else:
            self.bad += 1
        if self.waiting > 0:
            self.waiting, self.bad = self.waiting - 1, 0
        if self.bad > self.patience:
            for group in self.optimizer.param_groups:
                new = max(group["lr"] * self.factor, self.min_lr)
                group["lr"] = new if group["lr"] - new > self.eps else group["lr"]
            self.bad, self.waiting = 0, self.cooldown


