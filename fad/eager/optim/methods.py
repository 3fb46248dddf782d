"""SGD, Adam and their kin, LBFGS."""
import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ..state import changed
from ..tensor import Tensor
from .optimizer import Optimizer, write, zeros


def _check(**bounds: Any) -> None:
    for name, value in bounds.items():
        if value < 0:
            raise ValueError(f"Invalid {name.replace('_', ' ')} value: {value}" if name != "lr" else f"Invalid learning rate: {value}")


class SGD(Optimizer):
    """Gradient descent, with momentum, Nesterov's too, and weight decay."""

    def __init__(self, params: Iterable, lr: float = 1e-3, momentum: float = 0, dampening: float = 0, weight_decay: float = 0, nesterov: bool = False, *,
                 maximize: bool = False):
        _check(lr=lr, momentum=momentum, weight_decay=weight_decay)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        super().__init__(params, {"lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay, "nesterov": nesterov,
                                  "maximize": maximize})

    def update(self, p: Tensor, g: np.ndarray, group: dict, state: dict) -> None:
        g = -g if group["maximize"] else g
        if group["weight_decay"]:
            g = g + group["weight_decay"] * p._a
        m = group["momentum"]
        if m:
            before = state.get("momentum_buffer")
            state["momentum_buffer"] = v = np.array(g) if before is None else m * before + (1 - group["dampening"]) * g
            g = g + m * v if group["nesterov"] else v
        write(p, p._a - group["lr"] * g)


class Adam(Optimizer):
    """Steps by running means of the gradient and of its square (Kingma & Ba, 2015)."""

    decoupled = False

    def __init__(self, params: Iterable, lr: float = 1e-3, betas: tuple = (0.9, 0.999), eps: float = 1e-8, weight_decay: float = 0, amsgrad: bool = False, *,
                 maximize: bool = False):
        _check(lr=lr, epsilon=eps, weight_decay=weight_decay)
        for k, beta in enumerate(betas):
            if not 0 <= beta < 1:
                raise ValueError(f"Invalid beta parameter at index {k}: {beta}")
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "amsgrad": amsgrad, "maximize": maximize})

    def update(self, p: Tensor, g: np.ndarray, group: dict, state: dict) -> None:
        (b1, b2), lr = group["betas"], group["lr"]
        g = -g if group["maximize"] else g
        x = p._a
        if group["weight_decay"]:
            if self.decoupled:
                x = x * (1 - lr * group["weight_decay"])
            else:
                g = g + group["weight_decay"] * x
        t = state["step"] = state.get("step", 0) + 1
        m = state["exp_avg"] = b1 * state.get("exp_avg", zeros(p)) + (1 - b1) * g
        v = state["exp_avg_sq"] = b2 * state.get("exp_avg_sq", np.zeros_like(p._a.real)) + (1 - b2) * (g * g.conj()).real
        if group["amsgrad"]:
            v = state["max_exp_avg_sq"] = np.maximum(state.get("max_exp_avg_sq", 0.0), v)
        write(p, x - lr / (1 - b1 ** t) * m / (np.sqrt(v) / np.sqrt(1 - b2 ** t) + group["eps"]))


class AdamW(Adam):
    """Adam with weight decay apart from the gradient (Loshchilov & Hutter, 2019)."""

    decoupled = True

    def __init__(self, params: Iterable, lr: float = 1e-3, betas: tuple = (0.9, 0.999), eps: float = 1e-8, weight_decay: float = 1e-2, amsgrad: bool = False,
                 *, maximize: bool = False):
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, maximize=maximize)


class RMSprop(Optimizer):
    """Steps by the gradient over the root of its running mean square (Hinton)."""

    def __init__(self, params: Iterable, lr: float = 1e-2, alpha: float = 0.99, eps: float = 1e-8, weight_decay: float = 0, momentum: float = 0,
                 centered: bool = False):
        _check(lr=lr, alpha=alpha, epsilon=eps, weight_decay=weight_decay, momentum=momentum)
        super().__init__(params, {"lr": lr, "alpha": alpha, "eps": eps, "weight_decay": weight_decay, "momentum": momentum, "centered": centered})

    def update(self, p: Tensor, g: np.ndarray, group: dict, state: dict) -> None:
        a = group["alpha"]
        if group["weight_decay"]:
            g = g + group["weight_decay"] * p._a
        v = state["square_avg"] = a * state.get("square_avg", zeros(p)) + (1 - a) * g * g
        if group["centered"]:
            mean = state["grad_avg"] = a * state.get("grad_avg", zeros(p)) + (1 - a) * g
            v = v - mean * mean
        d = g / (np.sqrt(v) + group["eps"])
        if group["momentum"]:
            d = state["momentum_buffer"] = group["momentum"] * state.get("momentum_buffer", zeros(p)) + d
        write(p, p._a - group["lr"] * d)


class Adagrad(Optimizer):
    """Steps by the gradient over the root of the sum of its squares (Duchi et al., 2011)."""

    def __init__(self, params: Iterable, lr: float = 1e-2, lr_decay: float = 0, weight_decay: float = 0, initial_accumulator_value: float = 0,
                 eps: float = 1e-10):
        _check(lr=lr, lr_decay=lr_decay, weight_decay=weight_decay, epsilon=eps)
        super().__init__(params, {"lr": lr, "lr_decay": lr_decay, "weight_decay": weight_decay, "eps": eps,
                                  "initial_accumulator_value": initial_accumulator_value})

    def update(self, p: Tensor, g: np.ndarray, group: dict, state: dict) -> None:
        if group["weight_decay"]:
            g = g + group["weight_decay"] * p._a
        t = state["step"] = state.get("step", 0) + 1
        s = state["sum"] = state.get("sum", group["initial_accumulator_value"]) + g * g
        write(p, p._a - group["lr"] / (1 + (t - 1) * group["lr_decay"]) * g / (np.sqrt(s) + group["eps"]))


class LBFGS(Optimizer):
    """Limited-memory BFGS (Nocedal & Wright, chapter 7); step takes a closure that computes the loss and its gradients.

    line_search_fn="strong_wolfe" looks for a step that fulfils the strong Wolfe conditions, by bisection and doubling.
    """

    def __init__(self, params: Iterable, lr: float = 1, max_iter: int = 20, max_eval: "int | None" = None, tolerance_grad: float = 1e-7,
                 tolerance_change: float = 1e-9, history_size: int = 100, line_search_fn: "str | None" = None):
        super().__init__(params, {"lr": lr, "max_iter": max_iter, "max_eval": max_eval or max_iter * 5 // 4, "tolerance_grad": tolerance_grad,
                                  "tolerance_change": tolerance_change, "history_size": history_size, "line_search_fn": line_search_fn})
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")

    def _gradient(self) -> np.ndarray:
        return np.concatenate([(np.zeros(p._a.size) if p._g is None else p._g._a).reshape(-1) for p in self.param_groups[0]["params"]])

    def _values(self) -> np.ndarray:
        return np.concatenate([p._a.reshape(-1) for p in self.param_groups[0]["params"]])

    def _place(self, x: np.ndarray) -> None:
        start = 0
        for p in self.param_groups[0]["params"]:
            write(p, x[start:start + p._a.size].reshape(p._a.shape))
            start += p._a.size

    def step(self, closure: Callable) -> Any:                                     # type: ignore[override]
        """Up to max_iter steps."""
        def evaluate(x: np.ndarray) -> tuple:
            self._place(x)
            with changed(grad=True):
                value = closure()
            return float(value), self._gradient(), value
        group, memory = self.param_groups[0], self.state["memory"]
        with changed(grad=False):
            x = self._values()
            f, g, first = evaluate(x)
            evaluations = 1
            for _k in range(group["max_iter"]):
                if np.abs(g).max(initial=0) <= group["tolerance_grad"] or evaluations >= group["max_eval"]:
                    break
                d = self._direction(g, memory)
                slope = float(g @ d)
                if slope > -group["tolerance_change"]:
                    break
                t = min(1.0, 1.0 / np.abs(g).sum()) * group["lr"] if not memory.get("s") else group["lr"]
                if group["line_search_fn"] == "strong_wolfe":
                    t, f_new, g_new, used = _wolfe(evaluate, x, t, d, f, slope)
                else:
                    (f_new, g_new, _), used = evaluate(x + t * d), 1
                evaluations += used
                self._remember(memory, t * d, g_new - g, group["history_size"])
                moved, changed_by = np.abs(t * d).max(), abs(f_new - f)
                x, f, g = x + t * d, f_new, g_new
                if moved <= group["tolerance_change"] or changed_by < group["tolerance_change"]:
                    break
            self._place(x)
        return first

    @staticmethod
    def _remember(memory: dict, s: np.ndarray, y: np.ndarray, size: int) -> None:
        if s @ y > 1e-10:
            memory["s"] = [*memory.get("s", []), s][-size:]
            memory["y"] = [*memory.get("y", []), y][-size:]

    @staticmethod
    def _direction(g: np.ndarray, memory: dict) -> np.ndarray:
        """Minus the inverse Hessian's approximation times g: the two-loop recursion."""
        q, pairs, weights = -g, list(zip(memory.get("s", []), memory.get("y", []))), []
        for s, y in reversed(pairs):
            a = (s @ q) / (y @ s)
            q = q - a * y
            weights.append(a)
        if pairs:
            s, y = pairs[-1]
            q = q * ((s @ y) / (y @ y))
        for (s, y), a in zip(pairs, reversed(weights)):
            q = q + s * (a - (y @ q) / (y @ s))
        return q


def _wolfe(evaluate: Callable, x: np.ndarray, t: float, d: np.ndarray, f: float, slope: float, c1: float = 1e-4, c2: float = 0.9, limit: int = 25) -> tuple:
    """A step t along d with enough decrease and a flat enough slope: (t, value, gradient, evaluations)."""
    low, high = 0.0, math.inf
    used = 0
    while used < limit:
        used += 1                          # noqa: B007  it is told at the end
        f_new, g_new, _ = evaluate(x + t * d)
        new_slope = float(g_new @ d)
        if not f_new <= f + c1 * t * slope:
            high = t
        elif new_slope < c2 * slope:
            low = t
        elif abs(new_slope) > -c2 * slope:
            high = t
        else:
            break
        t = (low + high) / 2 if math.isfinite(high) else 2 * t
    return t, f_new, g_new, used
