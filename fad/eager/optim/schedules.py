"""Learning-rate schedules: each says how a rate follows from the one before, so that several act on one optimiser."""
import math
import warnings
from collections.abc import Iterable
from types import FunctionType
from typing import Any

from ..tensors.errors import refuse_if
from ..tensors.tensor import Tensor
from .optimizer import Optimizer

_TOO_EARLY = (
    "Detected call of `lr_scheduler.step()` before `optimizer.step()`. You should call them in the opposite order: "
    "`optimizer.step()` before `lr_scheduler.step()`. Failure to do this will result in skipping the first value of "
    "the learning rate schedule. See more details at docs/stable/optim.html#how-to-adjust-learning-rate")


class LRScheduler:
    """Base of schedules: get_lr gives the rates of step last_epoch, from those in the optimiser's groups now."""

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1):
        refuse_if(not isinstance(optimizer, Optimizer), f"{type(optimizer).__name__} is not an Optimizer", TypeError)
        self.optimizer = optimizer
        for k, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", number(group["lr"]))
            elif "initial_lr" not in group:
                raise KeyError(f"param 'initial_lr' is not specified in param_groups[{k}] when resuming an optimizer")
        self.base_lrs = [group["initial_lr"] for group in optimizer.param_groups]
        self.last_epoch, self._step_count = last_epoch, 0
        self.step()

    def get_lr(self) -> list:
        """The rates of this step; the first step's are those that are in the groups."""
        return [rate * self.change(self.last_epoch) if self.last_epoch else rate for rate in self.rates()]

    def change(self, epoch: int) -> float:
        """The rate of a step as a multiple of the one before."""
        raise NotImplementedError

    def rates(self) -> list:
        """The rates that are in the optimiser's groups now."""
        return [number(group["lr"]) for group in self.optimizer.param_groups]

    def get_last_lr(self) -> list:
        """The rates last put into the optimiser."""
        return self._last_lr

    def step(self) -> None:
        """Go on by one step."""
        self._step_count += 1
        if self._step_count == 2 and not self.optimizer._stepped:
            warnings.warn(_TOO_EARLY, UserWarning, stacklevel=2)
        self.last_epoch += 1
        self.put(self.get_lr())

    def put(self, rates: Iterable) -> None:
        """Put rates into the optimiser's groups."""
        for group, rate in zip(self.optimizer.param_groups, rates):
            if isinstance(group["lr"], Tensor):
                group["lr"].fill_(rate)
            else:
                group["lr"] = rate
        self._last_lr = self.rates()

    def state_dict(self) -> dict:
        """Everything but the optimiser; of functions None, of other callables what they hold."""
        return {k: _kept(v) for k, v in self.__dict__.items() if k != "optimizer"}

    def load_state_dict(self, state_dict: dict) -> None:
        """Take over a state."""
        for k, v in state_dict.items():
            have = self.__dict__.get(k)
            if isinstance(have, list) and have and all(callable(f) for f in have):
                v = [_restored(f, kept) for f, kept in zip(have, v)]
            self.__dict__[k] = _restored(have, v) if callable(have) else v


def _kept(v: object) -> Any:
    if isinstance(v, list) and v and all(callable(f) for f in v):
        return [_kept(f) for f in v]
    return (v if not callable(v) else None if type(v) is FunctionType or not hasattr(v, "__dict__")
            else dict(v.__dict__))


def _restored(f: object, kept: object) -> Any:
    if kept is not None and hasattr(f, "__dict__"):
        f.__dict__.update(kept)
    return f


def number(rate: object) -> Any:
    """A learning rate as a number (it may be a tensor)."""
    return rate.item() if isinstance(rate, Tensor) else rate


def for_groups(optimizer: Optimizer, name: str, value: object) -> list:
    """One value for each of the optimiser's groups, its own where it is a tensor."""
    if not isinstance(value, (tuple, list)):
        return for_groups(optimizer, name, [value] * len(optimizer.param_groups))
    refuse_if(len(value) != len(optimizer.param_groups), f"{name} must have the same length as optimizer.param_groups. "
              f"{name} has {len(value)} values, param_groups has {len(optimizer.param_groups)}.", ValueError)
    return [v.clone() if isinstance(v, Tensor) else v for v in value]


class LambdaLR(LRScheduler):
    """The first rate times a function of the step."""

    def __init__(self, optimizer: Optimizer, lr_lambda: object, last_epoch: int = -1):
        if isinstance(lr_lambda, (tuple, list)) and len(lr_lambda) != len(optimizer.param_groups):
            raise ValueError(f"Expected {len(optimizer.param_groups)} lr_lambdas, but got {len(lr_lambda)}")
        self.lr_lambdas = for_groups(optimizer, "lr_lambda", lr_lambda)
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list:
        return [base * f(self.last_epoch) for base, f in zip(self.base_lrs, self.lr_lambdas)]


class StepLR(LRScheduler):
    """Times gamma every step_size steps."""

    def __init__(self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1):
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch)

    def change(self, epoch: int) -> float:
        return 1.0 if epoch % self.step_size else self.gamma


class ExponentialLR(LRScheduler):
    """Times gamma at every step."""

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1):
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def change(self, epoch: int) -> float:
        return self.gamma


class CosineAnnealingLR(LRScheduler):
    """Half a cosine from the first rate to eta_min, in T_max steps (Loshchilov & Hutter, 2017)."""

    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1):
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch)

    def _share(self, epoch: int) -> float:
        return (1 + math.cos(math.pi * epoch / self.T_max)) / 2

    def get_lr(self) -> list:
        k, low = self.last_epoch, self.eta_min
        if k == 0:
            return self.rates()
        if (k - 1 - self.T_max) % (2 * self.T_max) == 0:  # at the bottom the rate before says nothing of the first
            return [rate + (base - low) * (1 - self._share(1)) for rate, base in zip(self.rates(), self.base_lrs)]
        return [low + (rate - low) * self._share(k) / self._share(k - 1) for rate in self.rates()]


class ReduceLROnPlateau(LRScheduler):
    """Times factor when a measure has not become better for more than `patience` steps."""

    def __init__(self, optimizer: Optimizer, mode: str = "min", factor: float = 0.1, patience: int = 10,
                 threshold: float = 1e-4, threshold_mode: str = "rel",
                 cooldown: int = 0, min_lr: object = 0, eps: float = 1e-8):
        refuse_if(factor >= 1.0, "Factor should be < 1.0.", ValueError)
        refuse_if(not isinstance(optimizer, Optimizer), f"{type(optimizer).__name__} is not an Optimizer", TypeError)
        refuse_if(mode not in ("min", "max"), "mode " + mode + " is unknown!", ValueError)
        refuse_if(threshold_mode not in ("rel", "abs"), "threshold mode " + threshold_mode + " is unknown!", ValueError)
        if isinstance(min_lr, (tuple, list)) and len(min_lr) != len(optimizer.param_groups):
            raise ValueError(f"expected {len(optimizer.param_groups)} min_lrs, got {len(min_lr)}")
        self.optimizer, self.mode, self.factor, self.patience = optimizer, mode, factor, patience
        self.threshold, self.threshold_mode, self.cooldown, self.eps = threshold, threshold_mode, cooldown, eps
        self.min_lrs = for_groups(optimizer, "min_lr", min_lr)
        self.default_min_lr = None if isinstance(min_lr, (tuple, list)) else min_lr
        self.best = self.mode_worse = math.inf if mode == "min" else -math.inf
        self.num_bad_epochs = self.cooldown_counter = self.last_epoch = 0
        self._last_lr = self.rates()

    def is_better(self, a: float, best: "float | None" = None) -> bool:
        """Whether a measure is better than the best by more than the threshold."""
        best = self.best if best is None else best
        margin = self.threshold * (best if self.threshold_mode == "rel" else 1.0) if math.isfinite(best) else 0.0
        return a < best - margin if self.mode == "min" else a > best + margin

    @property
    def in_cooldown(self) -> bool:
        """Whether measures are not looked at yet, after the last change of the rates."""
        return self.cooldown_counter > 0

    def step(self, metrics: object) -> None:  # type: ignore[override]
        """Take note of a measure."""
        value = float(metrics)
        self.last_epoch += 1
        if self.is_better(value):
            self.best, self.num_bad_epochs = value, 0
        else:
            self.num_bad_epochs += 1
        if self.in_cooldown:
            self.cooldown_counter, self.num_bad_epochs = self.cooldown_counter - 1, 0
        if self.num_bad_epochs > self.patience:
            self._reduce()
            self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0
        self._last_lr = self.rates()

    def _reduce(self) -> None:
        missing = len(self.optimizer.param_groups) - len(self.min_lrs)
        if missing and self.default_min_lr is None:
            raise RuntimeError(f"The number of param groups in the `optimizer` ({len(self.optimizer.param_groups)}) "
                               f"differs from when `ReduceLROnPlateau` was initialized ({len(self.min_lrs)}), usually "
                               "due to a new param group being added to the optimizer. Please modify the `min_lrs` "
                               "field to match the length of the `optimizer` param groups.")
        self.min_lrs += [self.default_min_lr] * missing
        new = [max(old * self.factor, low) for old, low in zip(self.rates(), self.min_lrs)]
        self.put([b if a - b > self.eps else a for a, b in zip(self.rates(), new)])
