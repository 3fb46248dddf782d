"""Forward mode: a Func that computes f and its directional derivative side by side.

Every equation runs as it did, and beside it the tangent its op's rule gives; a tangent that is zero is None and costs nothing.
"""
from typing import Any, Sequence

from ..ir.build import building, current
from ..ir.graph import Equation, Func, Literal, Var
from ..ir.op import registry
from ..ir.types import Type
from ..ir.walk import Environment, bind_outputs, run_equation
from ..ops.kinds import spread
from .control import JVP_OF_CONTROL
from .inputs import copy_inputs


class Forward:
    """One forward sweep over a Func inside the current builder: values in `env`, tangents in `tangents` (absent: zero)."""

    def __init__(self, env: Environment, parent: "Forward | None" = None):
        self.env, self.parent = env, parent
        self.tangents: dict[Var, Any] = {}

    def tangent(self, atom: Any) -> Any:
        """The tangent of a variable, None for zero."""
        if isinstance(atom, Literal):
            return None
        sweep: Forward | None = self
        while sweep is not None:
            if atom in sweep.tangents:
                return sweep.tangents[atom]
            sweep = sweep.parent
        return None

    def run(self, func: Func) -> None:
        """All equations of func in order."""
        for eqn in func.equations:
            self.step(eqn)

    def step(self, eqn: Equation) -> None:
        if eqn.regions:
            JVP_OF_CONTROL[eqn.op.name](self, eqn)
            return
        run_equation(eqn, self.env)
        dxs = tuple([self.tangent(a) for a in eqn.inputs])
        if all(d is None for d in dxs):
            return
        xs = tuple([self.env.read(a) for a in eqn.inputs])
        ys = tuple([self.env[v] for v in eqn.outputs])
        current().where = eqn.where                          # a tangent's equations belong to the line they go with
        for v, dy in zip(eqn.outputs, eqn.op.derivative.jvp(eqn.op, ys, xs, dxs, eqn.params)):
            if dy is not None and v.type.dtype.kind in "fc":
                self.tangents[v] = spread(dy, self.env[v])
        current().where = None

    def results(self, func: Func) -> tuple:
        """The values and tangents (None: zero) of the outputs."""
        return tuple([self.env.read(a) for a in func.outputs]), tuple([self.tangent(a) for a in func.outputs])


def zeros(x: Any) -> Any:
    return registry["zeros_like"](x)


def jvp(func: Func, moving: Sequence[int]) -> Func:
    """The Func (inputs..., tangents of the moving inputs...) -> (outputs..., tangents of the outputs...).

    An output that is not real or complex has no tangent; its place is left out.
    """
    with building(f"{func.name}_jvp") as builder:
        env = Environment()
        args = copy_inputs(builder, func, env)
        sweep = Forward(env)
        for k in moving:
            x = args[k]
            sweep.tangents[func.inputs[k]] = builder.input(Type(x.dtype, x.var.type.shape), f"d{func.inputs[k].name}")
        sweep.run(func)
        values, tangents = sweep.results(func)
        tangents = tuple([zeros(y) if dy is None else dy for y, dy, a in zip(values, tangents, func.outputs) if a.type.dtype.kind in "fc"])
        return builder.finish(values + tangents)


__all__ = ["Forward", "jvp", "bind_outputs"]
