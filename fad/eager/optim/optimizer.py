"""Optimizer: parameters in groups with their options, and what is kept for each."""
import functools
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ..handles import Hooks, RemovableHandle
from ..state import changed
from ..tensor import Tensor


def _hooked(step: Callable) -> Callable:
    """step, between the hooks that were registered for it."""
    @functools.wraps(step)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        before, after = self._step_hooks
        for hook in list(before.values()):
            new = hook(self, args, kwargs)
            if new is not None:
                args, kwargs = new
        result = step(self, *args, **kwargs)
        for hook in list(after.values()):
            hook(self, args, kwargs)
        return result
    return call


class Optimizer:
    """Base of optimisers. Parameters come as an iterable, or as groups: dicts with "params" and options of their own."""

    def __init__(self, params: Iterable, defaults: dict):
        if isinstance(params, Tensor):
            raise TypeError(f"params argument given to the optimizer should be an iterable of Tensors or dicts, but got {params.type()}")
        given = list(params)
        if not given:
            raise ValueError("optimizer got an empty parameter list")
        self.defaults, self._step_hooks = defaults, (Hooks(), Hooks())
        self.state: dict = defaultdict(dict)
        self.param_groups: list = []
        for group in given if isinstance(given[0], dict) else [{"params": given}]:
            self.add_param_group(dict(group))

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "step" in cls.__dict__:
            cls.step = _hooked(cls.__dict__["step"])                                          # type: ignore[method-assign]

    def register_step_pre_hook(self, hook: Callable) -> RemovableHandle:
        """Call hook(optimizer, args, kwargs) before every step; a pair that it returns replaces args and kwargs."""
        return RemovableHandle(self._step_hooks[0], hook)

    def register_step_post_hook(self, hook: Callable) -> RemovableHandle:
        """Call hook(optimizer, args, kwargs) after every step."""
        return RemovableHandle(self._step_hooks[1], hook)

    def add_param_group(self, group: dict) -> None:
        """Add parameters with options of their own."""
        params = [group["params"]] if isinstance(group["params"], Tensor) else list(group["params"])
        known = {id(p) for g in self.param_groups for p in g["params"]}
        for p in params:
            if not isinstance(p, Tensor):
                raise TypeError(f"optimizer can only optimize Tensors, but one of the params is {type(p).__name__}")
            if p.grad_fn is not None:                                                       # type: ignore[attr-defined]
                raise ValueError("can't optimize a non-leaf Tensor")
            if id(p) in known:
                raise ValueError("some parameters appear in more than one parameter group")
        self.param_groups.append({**self.defaults, **group, "params": params})

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients (or make them zeros, in place)."""
        for group in self.param_groups:
            for p in group["params"]:
                if p._g is not None:
                    if set_to_none:
                        p._g = None
                    else:
                        p._g.detach_().zero_()

    @_hooked
    def step(self, closure: "Callable | None" = None) -> Any:
        """One step, by the gradients in .grad; a closure computes the loss anew and gives it."""
        loss = None
        if closure is not None:
            with changed(grad=True):
                loss = closure()
        with changed(grad=False):
            for group in self.param_groups:
                for p in group["params"]:
                    if p._g is not None:
                        self.update(p, p._g._a, group, self.state[p])
        return loss

    def update(self, p: Tensor, g: np.ndarray, group: dict, state: dict) -> None:
        """The step of one parameter with gradient g."""
        raise NotImplementedError

    def state_dict(self) -> dict:
        """The state and the groups' options, parameters as numbers."""
        number = {id(p): k for k, p in enumerate(p for g in self.param_groups for p in g["params"])}
        groups = [{**{k: v for k, v in g.items() if k != "params"}, "params": [number[id(p)] for p in g["params"]]} for g in self.param_groups]
        return {"state": {number[id(p)]: dict(s) for p, s in self.state.items() if id(p) in number}, "param_groups": groups}

    def load_state_dict(self, state_dict: dict) -> None:
        """Take over a state of the same parameters."""
        groups = state_dict["param_groups"]
        if [len(g["params"]) for g in groups] != [len(g["params"]) for g in self.param_groups]:
            raise ValueError("loaded state dict contains a parameter group that doesn't match the size of optimizer's group")
        params = [p for g in self.param_groups for p in g["params"]]
        self.state.clear()
        for k, s in state_dict["state"].items():
            self.state[params[k]] = {name: v.copy() if isinstance(v, np.ndarray) else v for name, v in s.items()}
        for own, other in zip(self.param_groups, groups):
            own.update({k: v for k, v in other.items() if k != "params"})

    def __repr__(self) -> str:
        options = "\n".join(f"    {k}: {v}" for g in self.param_groups for k, v in sorted(g.items()) if k != "params")
        return f"{type(self).__name__} (\n{options}\n)"


def write(p: Tensor, a: np.ndarray) -> None:
    """New values for a parameter, in place."""
    p._a[...] = a
    p._vc[0] += 1


def zeros(p: Tensor) -> np.ndarray:
    return np.zeros_like(p._a)


