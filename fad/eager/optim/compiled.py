"""A step of training (loss, gradient, optimiser's rule) as one program that every further step replays."""
from collections.abc import Callable

import numpy as np

from ...api.derivatives.derivative import jit, value_and_grad
from ...trace.runtime.capture import captured
from ...util import tree
from ...util.array import AnyArray, ArrayOrNumber
from ...util.errors import ArgumentError
from ..nn.containers import swapped_parameters
from ..nn.module import Module
from ..tensors.state import now
from ..tensors.tensor import Tensor, raw, wrap
from .optimizer import Optimizer, write


class Moved:
    """A parameter as an optimiser's update sees it within the program: values that it replaces, no graph."""

    def __init__(self, a: ArrayOrNumber):
        self._a, self._vc = a.copy(), [0]


class ModelLayout:
    """The parts of a model, as long as it consists of them: modules, and where each tensor and each module is held."""

    def __init__(self, model: Module):
        self.modules = list(model.modules())
        self.places = [(table, name, value) for m in self.modules for table in (m._parameters, m._buffers, m._modules)
                       for name, value in table.items()]
        self.tensors = {**dict(model.named_parameters()), **dict(model.named_buffers())}

    def holds(self) -> bool:
        """Whether the model still consists of the same parts."""
        return all(table.get(name) is value for table, name, value in self.places)

    def training(self) -> tuple:
        """The modules that are in training mode."""
        return tuple([m.training for m in self.modules])

    def listens(self) -> bool:
        """Whether a module has hooks."""
        return any(m._forward_hooks or m._forward_pre_hooks or m._backward_hooks or m._backward_pre_hooks
                   for m in self.modules)


class CompiledStep:
    """step(*args): what loss(model, *args).backward() and optimizer.step() do, as one compiled program; returns the
    loss.

    loss       a function of the model and the arguments (tensors or arrays) that returns a scalar
    model      its parameters are changed in place, and so are the statistics that its layers keep
    optimizer  one that moves each parameter by its own gradient: all but LBFGS
    compile    "now", "auto", "never": as for fad.jit

    The first step runs on tensors and is answered at once; it makes the optimiser's state. A step runs on tensors too
    while one of the optimiser's parameters has no gradient, where somebody listens (hooks, anomaly mode, a profiler),
    where gradients have been accumulated before, or an argument requires one. Learning rates may change from step to
    step; other options, and train() or eval(), make a new program. Parameters' .grad stays empty. A parameter that a
    branch does not reach has the gradient zero in a program, where on tensors it has none.

    >>> import numpy as np, fad
    >>> model = fad.nn.Linear(2, 1)
    >>> optimizer = fad.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    >>> step = fad.optim.CompiledStep(lambda model, x, y: ((model(x) - y) ** 2).mean(), model, optimizer)
    >>> x = fad.randn(20, 2)
    >>> losses = [step(x, x.sum(1, keepdim=True)).item() for _ in range(100)]
    >>> losses[-1] < 1e-3
    True
    """

    def __init__(self, loss: Callable, model: Module, optimizer: Optimizer, *, compile: "str | None" = None):
        if type(optimizer).step is not Optimizer.step:
            raise ArgumentError(f"{type(optimizer).__name__} looks at all parameters together, and cannot be compiled "
                                "as a step", do="use it on tensors, with a closure")
        self.loss, self.model, self.optimizer, self.compile = loss, model, optimizer, compile
        self.programs: dict = {}
        self.moved: tuple | None = None
        self.layout = ModelLayout(model)

    # -- calls ---------------------------------------------------------------------------------------------------------

    def __call__(self, *args: object) -> AnyArray:
        if not self.layout.holds():                            # another model: everything anew
            self.layout, self.programs, self.moved = ModelLayout(self.model), {}, None
        if self.moved is None or not self._quiet(args):
            return self._on_tensors(args)
        names, params, groups, kept = self.moved
        key = tuple([options(g) for g in self.optimizer.param_groups]), self.layout.training()
        program = self.programs.get(key)
        if program is None:
            program = self.programs[key] = jit(self._program(names, groups), compile=self.compile)
        given = (tuple([p._a for p in params]), {name: t._a for name, t in kept.items()},
                 tuple([self._state(p) for p in params]))
        rates = tuple([float(g["lr"]) for g in groups])
        value, values, buffers, states = program(*given, rates, tree.map_leaves(raw, args))
        for p, a in zip(params, values):
            write(p, a)
        for p, new in zip(params, states):
            self._keep_state(p, new)
        for name, t in kept.items():
            if name in buffers:
                write(t, buffers[name])
        return wrap(np.asarray(value))

    def _on_tensors(self, args: tuple) -> Tensor:
        """The step as it would be without compilation."""
        value = self.loss(self.model, *tree.map_leaves(_as_tensor, args))
        value.backward()
        if self.moved is None:
            self.moved = self._with_gradients()
        self.optimizer.step()
        self.optimizer.zero_grad()
        return value.detach()

    def _with_gradients(self) -> "tuple | None":
        """Names, parameters and groups of what moves, and the model's other tensors; None while one has no gradient."""
        name_of = {id(t): name for name, t in self.layout.tensors.items()}
        found = [(p, group) for group in self.optimizer.param_groups for p in group["params"] if p._rg]
        if any(p._g is None or p._a.dtype.kind == "c" for p, _ in found):
            return None
        names = tuple([name_of.get(id(p)) for p, _ in found])
        if None in names:
            raise ArgumentError("the optimiser has parameters that are not the model's",
                                do="make them attributes of a module that holds the model too")
        kept = {name: t for name, t in self.layout.tensors.items() if name not in names}
        return names, tuple([p for p, _ in found]), tuple([group for _, group in found]), kept

    def _quiet(self, args: tuple) -> bool:
        """Whether nothing but the numbers is asked for."""
        if not now().quick or self.layout.listens():
            return False
        if any(not p._rg or p._g is not None or p._x is not None for p in self.moved[1]):
            return False
        return not any(isinstance(x, Tensor) and (x._rg or x._fn is not None) for x in tree.flatten(args)[0])

    # -- the program ---------------------------------------------------------------------------------------------------

    def _program(self, names: tuple, groups: tuple) -> Callable:
        """The step on arrays: (parameters, other tensors, states, rates, args) -> the same, new, and the loss."""
        fixed = [dict(g) for g in groups]

        def compiled_step(params: tuple, buffers: dict, states: tuple, rates: tuple, args: tuple) -> tuple:
            def value_of(params: tuple) -> tuple:
                inside = {name: b.copy() if b.shape else b for name, b in buffers.items()}
                with swapped_parameters(self.model, {**dict(zip(names, params)), **inside}):
                    value = captured(self.loss)(self.model, *args)
                    changed = {name: b for name, b in self.model.named_buffers() if name in inside}
                return value, changed
            (value, kept), grads = value_and_grad(value_of, has_aux=True)(params)
            moved, new = [Moved(p) for p in params], [dict(s) for s in states]
            for p, g, options, rate, s in zip(moved, grads, fixed, rates, new):
                self.optimizer.update(p, g, {**options, "lr": rate}, s)
            return value, tuple([p._a for p in moved]), kept, tuple(new)
        return compiled_step

    # -- the optimiser's state: Python numbers go in as NumPy's, so that they may change -------------------------------

    def _state(self, p: Tensor) -> dict:
        return {k: np.int64(v) if type(v) is int else v for k, v in self.optimizer.state[p].items()}

    def _keep_state(self, p: Tensor, new: dict) -> None:
        old = self.optimizer.state[p]
        for k, v in new.items():
            old[k] = type(old[k])(v) if isinstance(old.get(k), (int, float)) else v


def options(group: dict) -> tuple:
    """The part of a group of parameters that belongs to the program."""
    return tuple(sorted((k, v) for k, v in group.items() if k not in ("params", "lr", "initial_lr")))


def _as_tensor(x: AnyArray) -> AnyArray:
    return wrap(x) if isinstance(x, np.ndarray) else x
