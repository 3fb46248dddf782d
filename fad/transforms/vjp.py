"""Reverse mode: a Func that computes f and then, backwards, the cotangents of its inputs.

The forward sweep runs every equation as it was. The reverse sweep visits them last to first, asks each op's rule for the
cotangents of its inputs, and adds them up: in place, for parts of arrays (AddInto), with no dense zeros.
"""
from typing import Any, Sequence

from ..ir.build import building, current
from ..ir.graph import Equation, Func, Literal, Var
from ..ir.op import registry
from ..ir.types import Type
from ..ir.walk import Environment, run_equation
from ..ops.kinds import NotDifferentiable, Zero, accumulate
from .control import VJP_OF_CONTROL
from .inputs import copy_inputs
from .transpose import pullback_by_transposition


class Reverse:
    """One forward and reverse sweep inside the current builder. `active` holds the variables a derivative flows through."""

    def __init__(self, env: Environment, active: set):
        self.env, self.active = env, active
        self.pullbacks: list[Any] = []
        self.cotangents: dict[Var, Any] = {}

    # -- forward --------------------------------------------------------------------------------------------------------

    def forward(self, func: Func) -> None:
        """Run func's equations, keeping what their pullbacks need."""
        for eqn in func.equations:
            if eqn.regions:
                VJP_OF_CONTROL[eqn.op.name](self, eqn)
            else:
                self.step(eqn)

    def step(self, eqn: Equation) -> None:
        run_equation(eqn, self.env)
        if self.is_active(eqn):
            self.active.update(v for v in eqn.outputs if v.type.dtype.kind in "fc")
            self.pullbacks.append(lambda: self.pull(eqn))

    def is_active(self, eqn: Equation) -> bool:
        """Whether a derivative flows through this equation (without regions)."""
        return (any(a in self.active for a in eqn.inputs if isinstance(a, Var)) and not type(eqn.op.derivative) is Zero
                and any(v.type.dtype.kind in "fc" for v in eqn.outputs))

    # -- reverse --------------------------------------------------------------------------------------------------------

    def add(self, atom: Any, g: Any) -> None:
        """Add a cotangent to a variable's."""
        if g is not None and isinstance(atom, Var) and atom in self.active:
            self.cotangents[atom] = accumulate(self.cotangents.get(atom), g)

    def backward(self) -> None:
        """All pullbacks, last to first."""
        while self.pullbacks:
            self.pullbacks.pop()()

    def pull(self, eqn: Equation) -> None:
        gs = tuple([self.cotangents.pop(v, None) for v in eqn.outputs])
        if all(g is None for g in gs):
            return
        needs = tuple([isinstance(a, Var) and a in self.active for a in eqn.inputs])
        xs = tuple([self.env.read(a) for a in eqn.inputs])
        ys = tuple([self.env[v] for v in eqn.outputs])
        current().where = eqn.where                          # the reverse sweep's equations belong to the line they undo
        for a, g, need in zip(eqn.inputs, _pullback(eqn, gs, ys, xs, needs), needs):
            if need:
                self.add(a, g)
        current().where = None


def _pullback(eqn: Equation, gs: tuple, ys: tuple, xs: tuple, needs: tuple) -> tuple:
    derivative = eqn.op.derivative
    if getattr(derivative, "has_pullback", True) or isinstance(derivative, NotDifferentiable):
        return derivative.pullback(eqn.op, gs, ys, xs, eqn.params, needs)
    return pullback_by_transposition(eqn.op, gs, ys, xs, eqn.params, needs)


def vjp(func: Func, wanted: Sequence[int]) -> Func:
    """The Func (inputs..., cotangents of the real and complex outputs...) -> (outputs..., cotangents of the wanted inputs...)."""
    with building(f"{func.name}_vjp") as builder:
        env = Environment()
        args = copy_inputs(builder, func, env)
        sweep = Reverse(env, {func.inputs[k] for k in wanted})
        sweep.forward(func)
        values = [env.read(a) for a in func.outputs]
        for a, y in zip(func.outputs, values):
            if a.type.dtype.kind in "fc":
                g = builder.input(Type(a.type.dtype, tuple(getattr(n, "var", n) for n in getattr(y, "shape", ()))), f"g{getattr(a, 'name', '')}")
                sweep.add(a, g)
        sweep.backward()
        wanted_cotangents = [sweep.cotangents.get(func.inputs[k]) for k in wanted]
        return builder.finish(tuple(values) + tuple(registry["zeros_like"](args[k]) if g is None else g for k, g in zip(wanted, wanted_cotangents)))


__all__ = ["Reverse", "vjp", "Literal"]
