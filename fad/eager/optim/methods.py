"""SGD, Adam and its kin: optimisers that move each parameter by its own gradient, and running means of it.

A rule is code over arrays, so that it runs on a parameter's array and within a compiled step alike. (A complex
parameter is moved as its real and imaginary parts.) What is kept for a parameter has PyTorch's names.
"""
from collections.abc import Iterable

import numpy as np

from ..tensor import Tensor
from .optimizer import Optimizer, check, check_betas, counted, decayed, kept, plain, write


class SGD(Optimizer):
    """Gradient descent, with momentum, Nesterov's too, and weight decay."""

    def __init__(self, params: Iterable, lr: float = 1e-3, momentum: float = 0, dampening: float = 0,
                 weight_decay: float = 0, nesterov: bool = False, *, maximize: bool = False, **switches: object):
        check(lr=lr, momentum=momentum, weight_decay=weight_decay)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        super().__init__(params, {"lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay,
                                  "nesterov": nesterov,
                                  "maximize": maximize, **plain(switches)})

    def update(self, p: Tensor, g: np.ndarray, group: dict, state: dict) -> None:
        g = decayed(p, g, group)
        m = group["momentum"]
        if m:
            before = state.get("momentum_buffer")
            state["momentum_buffer"] = v = np.array(g) if before is None else m * before + (1 - group["dampening"]) * g
            g = g + m * v if group["nesterov"] else v
        write(p, p._a - group["lr"] * g)


class Adam(Optimizer):
    """Steps by running means of the gradient and of its square (Kingma & Ba, 2015)."""

    def __init__(self, params: Iterable, lr: float = 1e-3, betas: tuple = (0.9, 0.999), eps: float = 1e-8,
                 weight_decay: float = 0, amsgrad: bool = False, *, maximize: bool = False,
                 decoupled_weight_decay: bool = False, **switches: object):
        check(lr=lr, epsilon=eps, weight_decay=weight_decay)
        check_betas(betas)
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay,
                                  "maximize": maximize, "amsgrad": amsgrad,
                                  "decoupled_weight_decay": decoupled_weight_decay, **plain(switches)})

    def update(self, p: Tensor, g: np.ndarray, group: dict, state: dict) -> None:
        (b1, b2), lr, decay = group["betas"], group["lr"], group["weight_decay"]
        apart = group["decoupled_weight_decay"]                # weight decay is apart from the gradient
        x = p._a * (1 - lr * decay) if apart and decay else p._a
        g = decayed(p, g, {**group, "weight_decay": 0} if apart else group)
        m = state["exp_avg"] = b1 * kept(state, "exp_avg", p) + (1 - b1) * g
        v = state["exp_avg_sq"] = b2 * kept(state, "exp_avg_sq", p) + (1 - b2) * g * g
        t = counted(state)
        if group["amsgrad"]:
            v = state["max_exp_avg_sq"] = np.maximum(kept(state, "max_exp_avg_sq", p), v)
        write(p, x - lr / (1 - b1 ** t) * m / (np.sqrt(v) / np.sqrt(1 - b2 ** t) + group["eps"]))


class AdamW(Adam):
    """Adam with weight decay apart from the gradient (Loshchilov & Hutter, 2019)."""

    def __init__(self, params: Iterable, lr: float = 1e-3, betas: tuple = (0.9, 0.999), eps: float = 1e-8,
                 weight_decay: float = 1e-2, amsgrad: bool = False, *, maximize: bool = False, **switches: object):
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, maximize=maximize, decoupled_weight_decay=True,
                         **switches)


class RMSprop(Optimizer):
    """Steps by the gradient over the root of its running mean square (Hinton)."""

    def __init__(self, params: Iterable, lr: float = 1e-2, alpha: float = 0.99, eps: float = 1e-8,
                 weight_decay: float = 0, momentum: float = 0,
                 centered: bool = False, *, maximize: bool = False, **switches: object):
        check(lr=lr, alpha=alpha, epsilon=eps, weight_decay=weight_decay, momentum=momentum)
        super().__init__(params, {"lr": lr, "alpha": alpha, "eps": eps, "weight_decay": weight_decay,
                                  "momentum": momentum, "centered": centered,
                                  "maximize": maximize, **plain(switches)})

    def update(self, p: Tensor, g: np.ndarray, group: dict, state: dict) -> None:
        a = group["alpha"]
        g = decayed(p, g, group)
        counted(state)
        v = state["square_avg"] = a * kept(state, "square_avg", p) + (1 - a) * g * g
        if group["centered"]:
            mean = state["grad_avg"] = a * kept(state, "grad_avg", p) + (1 - a) * g
            v = v - mean * mean
        d = g / (np.sqrt(v) + group["eps"])
        if group["momentum"]:
            d = state["momentum_buffer"] = group["momentum"] * kept(state, "momentum_buffer", p) + d
        write(p, p._a - group["lr"] * d)
