"""SGD, Adam and its kin: optimisers that move each parameter by its own gradient, and running means of it.

A rule is code over arrays, so that it runs on a parameter's array and within a compiled step alike. (A complex parameter is moved as its real
and imaginary parts.) What is kept for a parameter has PyTorch's names.
"""
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..tensor import Tensor
from .optimizer import Optimizer, check, check_betas, counted, decayed, plain, write, zeros


class SGD(Optimizer):
    """Gradient descent, with momentum, Nesterov's too, and weight decay."""

    def __init__(self, params: Iterable, lr: float = 1e-3, momentum: float = 0, dampening: float = 0, weight_decay: float = 0, nesterov: bool = False, *,
                 maximize: bool = False, **switches: Any):
        check(lr=lr, momentum=momentum, weight_decay=weight_decay)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        super().__init__(params, {"lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay, "nesterov": nesterov,
                                  "maximize": maximize, **plain(switches)})

    def update(self, p: Tensor, g: np.ndarray, group: dict, state: dict) -> None:
        g = decayed(p, g, group)
        m = group["momentum"]
        if m:
            before = state.get("momentum_buffer")
            state["momentum_buffer"] = v = np.array(g) if before is None else m * before + (1 - group["dampening"]) * g
            g = g + m * v if group["nesterov"] else v
        write(p, p._a - group["lr"] * g)


class _Moments(Optimizer):
    """Base of Adam and its kin: running means of the gradient and of its square."""

    decoupled = False                                  # whether weight decay is apart from the gradient, always or by option

    def __init__(self, params: Iterable, lr: float, betas: tuple, eps: float, weight_decay: float, *, maximize: bool = False, switches: dict, **more: Any):
        check(lr=lr, epsilon=eps, weight_decay=weight_decay)
        check_betas(betas)
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "maximize": maximize, **more, **plain(switches)})

    def moments(self, p: Tensor, g: np.ndarray, group: dict, state: dict) -> tuple:
        """(decayed parameter, gradient, number of the step, mean, mean of squares)."""
        b1, b2 = group["betas"]
        apart = self.decoupled or group.get("decoupled_weight_decay", False)
        x = p._a * (1 - group["lr"] * group["weight_decay"]) if apart and group["weight_decay"] else p._a
        g = decayed(p, g, {**group, "weight_decay": 0} if apart else group)
        m = state["exp_avg"] = b1 * state.get("exp_avg", zeros(p)) + (1 - b1) * g
        v = state["exp_avg_sq"] = b2 * state.get("exp_avg_sq", zeros(p)) + (1 - b2) * g * g
        return x, g, counted(state), m, v


class Adam(_Moments):
    """Steps by running means of the gradient and of its square (Kingma & Ba, 2015)."""

    def __init__(self, params: Iterable, lr: float = 1e-3, betas: tuple = (0.9, 0.999), eps: float = 1e-8, weight_decay: float = 0, amsgrad: bool = False, *,
                 maximize: bool = False, decoupled_weight_decay: bool = False, **switches: Any):
        super().__init__(params, lr, betas, eps, weight_decay, maximize=maximize, amsgrad=amsgrad, decoupled_weight_decay=decoupled_weight_decay,
                         switches=switches)

    def update(self, p: Tensor, g: np.ndarray, group: dict, state: dict) -> None:
        (b1, b2), lr = group["betas"], group["lr"]
        x, g, t, m, v = self.moments(p, g, group, state)
        if group["amsgrad"]:
            v = state["max_exp_avg_sq"] = np.maximum(state.get("max_exp_avg_sq", zeros(p)), v)
        write(p, x - lr / (1 - b1 ** t) * m / (np.sqrt(v) / np.sqrt(1 - b2 ** t) + group["eps"]))


class AdamW(Adam):
    """Adam with weight decay apart from the gradient (Loshchilov & Hutter, 2019)."""

    decoupled = True

    def __init__(self, params: Iterable, lr: float = 1e-3, betas: tuple = (0.9, 0.999), eps: float = 1e-8, weight_decay: float = 1e-2, amsgrad: bool = False,
                 *, maximize: bool = False, **switches: Any):
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, maximize=maximize, decoupled_weight_decay=True, **switches)


class NAdam(_Moments):
    """Adam with Nesterov's momentum (Dozat, 2016)."""

    def __init__(self, params: Iterable, lr: float = 2e-3, betas: tuple = (0.9, 0.999), eps: float = 1e-8, weight_decay: float = 0,
                 momentum_decay: float = 4e-3, decoupled_weight_decay: bool = False, *, maximize: bool = False, **switches: Any):
        check(momentum_decay=momentum_decay)
        super().__init__(params, lr, betas, eps, weight_decay, maximize=maximize, momentum_decay=momentum_decay,
                         decoupled_weight_decay=decoupled_weight_decay, switches=switches)

    def update(self, p: Tensor, g: np.ndarray, group: dict, state: dict) -> None:
        (b1, b2), lr = group["betas"], group["lr"]
        x, g, t, m, v = self.moments(p, g, group, state)
        now, later = [b1 * (1 - 0.5 * 0.96 ** (k * group["momentum_decay"])) for k in (t, t + 1)]
        product = state["mu_product"] = state.get("mu_product", 1.0) * now
        d = np.sqrt(v / (1 - b2 ** t)) + group["eps"]
        write(p, x - lr * (1 - now) / (1 - product) * g / d - lr * later / (1 - product * later) * m / d)


class RAdam(_Moments):
    """Adam whose variance is rectified, plain momentum as long as there is too little of it to go by (Liu et al., 2020)."""

    def __init__(self, params: Iterable, lr: float = 1e-3, betas: tuple = (0.9, 0.999), eps: float = 1e-8, weight_decay: float = 0,
                 decoupled_weight_decay: bool = False, *, maximize: bool = False, **switches: Any):
        super().__init__(params, lr, betas, eps, weight_decay, maximize=maximize, decoupled_weight_decay=decoupled_weight_decay, switches=switches)

    def update(self, p: Tensor, g: np.ndarray, group: dict, state: dict) -> None:
        b1, b2 = group["betas"]
        x, g, t, m, v = self.moments(p, g, group, state)
        limit = 2 / (1 - b2) - 1
        length = limit - 2 * t * b2 ** t / (1 - b2 ** t)
        known = length > 5
        share = np.where(known, (length - 4) * (length - 2) * limit / ((limit - 4) * (limit - 2) * np.where(known, length, 1.0)), 1.0)
        scale = np.where(known, np.sqrt(share) * np.sqrt(1 - b2 ** t) / (np.sqrt(v) + group["eps"]), 1.0)
        write(p, x - group["lr"] / (1 - b1 ** t) * m * scale)


class Adamax(Optimizer):
    """Adam by the largest gradient in place of the mean of squares (Kingma & Ba, 2015)."""

    def __init__(self, params: Iterable, lr: float = 2e-3, betas: tuple = (0.9, 0.999), eps: float = 1e-8, weight_decay: float = 0, *,
                 maximize: bool = False, **switches: Any):
        check(lr=lr, epsilon=eps, weight_decay=weight_decay)
        check_betas(betas)
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "maximize": maximize, **plain(switches)})

    def update(self, p: Tensor, g: np.ndarray, group: dict, state: dict) -> None:
        b1, b2 = group["betas"]
        g = decayed(p, g, group)
        t = counted(state)
        m = state["exp_avg"] = b1 * state.get("exp_avg", zeros(p)) + (1 - b1) * g
        u = state["exp_inf"] = np.maximum(b2 * state.get("exp_inf", zeros(p)), np.abs(g) + group["eps"])
        write(p, p._a - group["lr"] / (1 - b1 ** t) * m / u)


class RMSprop(Optimizer):
    """Steps by the gradient over the root of its running mean square (Hinton)."""

    def __init__(self, params: Iterable, lr: float = 1e-2, alpha: float = 0.99, eps: float = 1e-8, weight_decay: float = 0, momentum: float = 0,
                 centered: bool = False, *, maximize: bool = False, **switches: Any):
        check(lr=lr, alpha=alpha, epsilon=eps, weight_decay=weight_decay, momentum=momentum)
        super().__init__(params, {"lr": lr, "alpha": alpha, "eps": eps, "weight_decay": weight_decay, "momentum": momentum, "centered": centered,
                                  "maximize": maximize, **plain(switches)})

    def update(self, p: Tensor, g: np.ndarray, group: dict, state: dict) -> None:
        a = group["alpha"]
        g = decayed(p, g, group)
        counted(state)
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
                 eps: float = 1e-10, *, maximize: bool = False, **switches: Any):
        check(lr=lr, lr_decay=lr_decay, weight_decay=weight_decay, initial_accumulator_value=initial_accumulator_value, epsilon=eps)
        super().__init__(params, {"lr": lr, "lr_decay": lr_decay, "weight_decay": weight_decay, "eps": eps,
                                  "initial_accumulator_value": initial_accumulator_value, "maximize": maximize, **plain(switches)})

    def update(self, p: Tensor, g: np.ndarray, group: dict, state: dict) -> None:
        g = decayed(p, g, group)
        t = counted(state)
        s = state["sum"] = state.get("sum", group["initial_accumulator_value"]) + g * g
        write(p, p._a - group["lr"] / (1 + (t - 1) * group["lr_decay"]) * g / (np.sqrt(s) + group["eps"]))


class Adadelta(Optimizer):
    """Steps by the gradient times the root of the steps' mean square over that of its own (Zeiler, 2012)."""

    def __init__(self, params: Iterable, lr: float = 1.0, rho: float = 0.9, eps: float = 1e-6, weight_decay: float = 0, *, maximize: bool = False,
                 **switches: Any):
        check(lr=lr, epsilon=eps, weight_decay=weight_decay)
        if not 0 <= rho <= 1:
            raise ValueError(f"Invalid rho value: {rho}")
        super().__init__(params, {"lr": lr, "rho": rho, "eps": eps, "weight_decay": weight_decay, "maximize": maximize, **plain(switches)})

    def update(self, p: Tensor, g: np.ndarray, group: dict, state: dict) -> None:
        rho, eps = group["rho"], group["eps"]
        g = decayed(p, g, group)
        counted(state)
        v = state["square_avg"] = rho * state.get("square_avg", zeros(p)) + (1 - rho) * g * g
        before = state.get("acc_delta", zeros(p))
        d = np.sqrt(before + eps) / np.sqrt(v + eps) * g
        state["acc_delta"] = rho * before + (1 - rho) * d * d
        write(p, p._a - group["lr"] * d)


class ASGD(Optimizer):
    """Gradient descent with a rate that falls, and in "ax" the mean of the parameters from step t0 on (Polyak & Juditsky, 1992)."""

    def __init__(self, params: Iterable, lr: float = 1e-2, lambd: float = 1e-4, alpha: float = 0.75, t0: float = 1e6, weight_decay: float = 0, *,
                 maximize: bool = False, **switches: Any):
        check(lr=lr, weight_decay=weight_decay)
        super().__init__(params, {"lr": lr, "lambd": lambd, "alpha": alpha, "t0": t0, "weight_decay": weight_decay, "maximize": maximize, **plain(switches)})

    def update(self, p: Tensor, g: np.ndarray, group: dict, state: dict) -> None:
        g = decayed(p, g, group)
        t, lr = counted(state), group["lr"]
        rate, share = state.get("eta", lr), state.get("mu", 1.0)
        x = p._a * (1 - group["lambd"] * rate) - rate * g
        mean = state.get("ax", zeros(p))
        state["ax"] = mean + (x - mean) * share
        state["eta"] = lr / (1 + group["lambd"] * lr * t) ** group["alpha"]
        state["mu"] = 1 / np.maximum(1.0, t - group["t0"])
        write(p, x)


class Rprop(Optimizer):
    """Steps by the gradient's sign, longer while it stays and shorter when it turns (Riedmiller & Braun, 1993)."""

    def __init__(self, params: Iterable, lr: float = 1e-2, etas: tuple = (0.5, 1.2), step_sizes: tuple = (1e-6, 50), *, maximize: bool = False,
                 **switches: Any):
        check(lr=lr)
        if not 0 < etas[0] < 1 < etas[1]:
            raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")
        super().__init__(params, {"lr": lr, "etas": etas, "step_sizes": step_sizes, "maximize": maximize, **plain(switches)})

    def update(self, p: Tensor, g: np.ndarray, group: dict, state: dict) -> None:
        (shorter, longer), (least, most) = group["etas"], group["step_sizes"]
        g = -g if group["maximize"] else g
        counted(state)
        turn = g * state.get("prev", zeros(p))
        size = state.get("step_size", zeros(p) + group["lr"]) * np.where(turn > 0, longer, np.where(turn < 0, shorter, 1.0))
        size = state["step_size"] = np.minimum(np.maximum(size, least), most)
        g = state["prev"] = np.where(turn < 0, 0.0, g)
        write(p, p._a - np.sign(g) * size)


class Adafactor(Optimizer):
    """Adam with the mean of squares kept by rows and columns, and steps in proportion to the parameter (Shazeer & Stern, 2018)."""

    def __init__(self, params: Iterable, lr: float = 1e-2, beta2_decay: float = -0.8, eps: tuple = (None, 1e-3), d: float = 1.0, weight_decay: float = 0.0, *,
                 maximize: bool = False, **switches: Any):
        check(lr=lr, weight_decay=weight_decay)
        if beta2_decay > 0:
            raise ValueError(f"beta2_decay should be <= 0 but is: {beta2_decay}")
        if eps[0] is not None and eps[0] < 0:
            raise ValueError(f"epsilon1 should be >= 0 but is: {eps[0]}")
        if eps[1] < 0:
            raise ValueError(f"epsilon2 should be >= 0 but is: {eps[1]}")
        if d < 1:
            raise ValueError(f"Clipping threshold d should be >= 1 but is: {d}")
        super().__init__(params, {"lr": lr, "beta2_decay": beta2_decay, "eps": eps, "d": d, "weight_decay": weight_decay, "maximize": maximize, **plain(switches)})

    def update(self, p: Tensor, g: np.ndarray, group: dict, state: dict) -> None:
        g, x, lr = -g if group["maximize"] else g, p._a, group["lr"]
        t = counted(state)
        fresh = t ** group["beta2_decay"]
        least = float(np.finfo(x.dtype).eps) if group["eps"][0] is None else group["eps"][0]
        step = np.maximum(group["eps"][1], _size(x)) * np.minimum(lr, 1 / np.sqrt(t))
        if x.ndim > 1:
            rows = state["row_var"] = _toward(state.get("row_var"), (g * g).mean(-1, keepdims=True), fresh)
            columns = state["col_var"] = _toward(state.get("col_var"), (g * g).mean(-2, keepdims=True), fresh)
            v = rows * columns / np.maximum(rows.mean(-2, keepdims=True), least)
        else:
            v = state["variance"] = _toward(state.get("variance"), g * g, fresh)
        u = g / np.sqrt(np.maximum(v, least * least))
        write(p, x * (1 - lr * group["weight_decay"]) - step / np.maximum(1.0, _size(u) / group["d"]) * u)


def _size(x: Any) -> Any:
    """The root of the mean square."""
    return np.sqrt((x * x).mean())


def _toward(before: Any, now: Any, share: Any) -> Any:
    return share * now if before is None else before + (now - before) * share
