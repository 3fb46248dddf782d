"""Optimizer: parameters in groups with their options, and what is kept for each."""
import functools
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ...util.array import ArrayOrNumber
from ..graph.view_kinds import real_parts
from ..nn.module import forget_gradients
from ..tensors.errors import refuse_if
from ..tensors.state import changed
from ..tensors.tensor import Tensor


def _noted(step: Callable) -> Callable:
    """step, which a schedule knows of from then on."""
    @functools.wraps(step)
    def call(self: object, *args: object, **kwargs: object) -> Any:
        self._stepped = True
        return step(self, *args, **kwargs)
    return call


class Optimizer:
    """Base of optimisers. Parameters come as an iterable, or as groups: dicts with "params" and their own options."""

    _stepped = False                                  # whether step was called: schedules want it to be, before theirs

    def __init__(self, params: Iterable, defaults: dict):
        if isinstance(params, Tensor):
            raise TypeError(f"params argument given to the optimizer should be an iterable of Tensors or dicts, but "
                            f"got {params.type()}")
        given = list(params)
        refuse_if(not given, "optimizer got an empty parameter list", ValueError)
        self.defaults = defaults
        self.state: dict = defaultdict(dict)
        self.param_groups: list = []
        for group in given if isinstance(given[0], dict) else [{"params": given}]:
            self.add_param_group(dict(group))

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        if "step" in cls.__dict__:
            cls.step = _noted(cls.__dict__["step"])  # type: ignore[method-assign]

    def add_param_group(self, group: dict) -> None:
        """Add parameters (or pairs of a name and a parameter) with options of their own."""
        refuse_if(not isinstance(group, dict), f"param_group must be a dict, but got {type(group)}", TypeError)
        _ordered(group["params"])
        params = [group["params"]] if isinstance(group["params"], Tensor) else list(group["params"])
        named = [isinstance(p, tuple) and len(p) == 2 for p in params]
        refuse_if(any(named) and not all(named), "all optimizer params should be with/without names. Some param names "
                  "are missing", ValueError)
        if any(named):
            group = {**group, "param_names": [name for name, _ in params]}
            params = [p for _, p in params]
        if self.param_groups and ("param_names" in group) != ("param_names" in self.param_groups[0]):
            raise ValueError("all optimizer param groups should be with/without names. cannot add param group "
                             f"{'with' if 'param_names' in group else 'without'} names to the optimizer")
        known = {id(p) for g in self.param_groups for p in g["params"]}
        for p in params:
            if not isinstance(p, Tensor):
                raise TypeError(f"optimizer can only optimize Tensors, but one of the params is {type(p).__name__}")
            if p.grad_fn is not None:
                raise ValueError("can't optimize a non-leaf Tensor")
            refuse_if(id(p) in known, "some parameters appear in more than one parameter group", ValueError)
        if len({id(p) for p in params}) != len(params):
            warnings.warn("optimizer contains a parameter group with duplicate parameters; in future, this will cause "
                          "an error; see github.com/pytorch/pytorch/issues/40967 for more information", stacklevel=3)
        self.param_groups.append({**self.defaults, **group, "params": params})

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients (or make them zeros, in place)."""
        for group in self.param_groups:
            forget_gradients(group["params"], set_to_none)

    @_noted
    def step(self, closure: "Callable | None" = None) -> Any:
        """One step, by the gradients in .grad; a closure computes the loss anew and gives it."""
        loss = None
        if closure is not None:
            with changed(grad=True):
                loss = closure()
        with changed(grad=False):
            for group in self.param_groups:
                rates = {**group, "lr": group["lr"].item()} if isinstance(group["lr"], Tensor) else group
                for p in group["params"]:
                    if p._g is not None:
                        whole = p._a.dtype.kind != "c"
                        self.update(p if whole else RealParts(p), p._g._a if whole else real_parts(p._g._a), rates,
                                    self.state[p])
        return loss

    def update(self, p: Tensor, g: np.ndarray, group: dict, state: dict) -> None:
        """The step of one parameter with gradient g."""
        raise NotImplementedError

    def state_dict(self) -> dict:
        """The state and the groups' options, parameters as numbers."""
        number = {id(p): k for k, p in enumerate(p for g in self.param_groups for p in g["params"])}
        groups = [{**{k: v for k, v in g.items() if k != "params"}, "params": [number[id(p)] for p in g["params"]]}
                  for g in self.param_groups]
        state = {number[id(p)] if isinstance(p, Tensor) else p: dict(s) if isinstance(p, Tensor) else s
                 for p, s in self.state.items() if id(p) in number or not isinstance(p, Tensor)}
        return {"state": state, "param_groups": groups}

    def load_state_dict(self, state_dict: dict) -> None:
        """Take over a state of the same parameters."""
        groups = state_dict["param_groups"]
        if len(groups) != len(self.param_groups):
            raise ValueError("loaded state dict has a different number of parameter groups")
        if [len(g["params"]) for g in groups] != [len(g["params"]) for g in self.param_groups]:
            raise ValueError("loaded state dict contains a parameter group that doesn't match the size of optimizer's "
                             "group")
        params = [p for g in self.param_groups for p in g["params"]]
        self.state.clear()
        for k, s in state_dict["state"].items():
            if k in range(len(params)):
                k, s = params[k], {name: v.copy() if isinstance(v, np.ndarray) else v for name, v in s.items()}
            self.state[k] = s                                 # of the optimiser as a whole, under another name
        for own, other in zip(self.param_groups, groups):
            own.update({k: v for k, v in other.items() if k not in ("params", "param_names")})

    def __repr__(self) -> str:
        lines = [line for number, group in enumerate(self.param_groups)
                 for line in (f"Parameter Group {number}",
                              *[f"    {k}: {v}" for k, v in sorted(group.items()) if k != "params"])]
        return "\n".join([f"{type(self).__name__} (", *lines, ")"])


def _ordered(params: object) -> None:
    refuse_if(isinstance(params, (set, frozenset)), "optimizer parameters need to be organized in ordered collections, "
              "but the ordering of tensors in sets will change between runs. Please use a list instead.", TypeError)


class RealParts:
    """A complex parameter as its real and imaginary parts, which an optimiser moves one by one."""

    def __init__(self, p: Tensor):
        self._a, self._vc = real_parts(p._a), p._vc


def check(**bounds: object) -> None:
    """Raise for options that are below zero."""
    for name, value in bounds.items():
        refuse_if(isinstance(value, Tensor) and value._a.size != 1, "Tensor lr must be 1-element", ValueError)
        if not value >= 0:
            raise ValueError(f"Invalid {name} value: {value}" if name != "lr" else f"Invalid learning rate: {value}")


def check_betas(betas: tuple) -> None:
    """Raise for weights of running means that are none."""
    for k, beta in enumerate(betas):
        refuse_if(not 0 <= beta < 1, f"Invalid beta parameter at index {k}: {beta}", ValueError)


def plain(switches: dict) -> dict:
    """PyTorch's choices between ways to compute the same: there is one way here, and steps are not differentiable."""
    known = {"foreach": None, "fused": None, "capturable": False, "differentiable": False}
    for name, value in switches.items():
        refuse_if(name not in known, f"an optimizer got an unexpected keyword argument {name!r}", TypeError)
        if value and name in ("capturable", "differentiable"):
            raise ValueError(f"{name}=True is not supported: steps are not recorded here")
    return {**known, **switches}


def decayed(p: object, g: ArrayOrNumber, group: dict) -> ArrayOrNumber:
    """The gradient to descend by: turned round to ascend, with weight decay."""
    g = -g if group["maximize"] else g
    return g + group["weight_decay"] * p._a if group["weight_decay"] else g


def counted(state: dict) -> ArrayOrNumber:
    """The number of this step, which is kept."""
    state["step"] = state.get("step", 0) + 1
    return state["step"]


def write(p: Tensor, a: np.ndarray) -> None:
    """New values for a parameter, in place."""
    p._a[...] = a
    p._vc[0] += 1


def kept(state: dict, name: str, p: Tensor) -> np.ndarray:
    """A running mean that is kept for a parameter; it starts from zeros."""
    found = state.get(name)
    return np.zeros_like(p._a) if found is None else found


class SGD(Optimizer):
    """Gradient descent, with momentum, Nesterov's too, and weight decay."""

    def __init__(self, params: Iterable, lr: float = 1e-3, momentum: float = 0, dampening: float = 0,
                 weight_decay: float = 0, nesterov: bool = False, *, maximize: bool = False, **switches: object):
        check(lr=lr, momentum=momentum, weight_decay=weight_decay)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        super().__init__(params, {"lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay,
                                  "nesterov": nesterov, "maximize": maximize, **plain(switches)})

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
                                  "momentum": momentum, "centered": centered, "maximize": maximize, **plain(switches)})

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
