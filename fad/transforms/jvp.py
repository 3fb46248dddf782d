"""Forward mode: f and its directional derivative side by side.

Every equation runs as it did. Beside it runs the tangent that its op's rule gives; a zero tangent is None and costs
nothing. The work is at most a small multiple of the function's.
"""
from collections.abc import Sequence
from typing import Any

from ..ir.build import at_line
from ..ir.graph import Atom, Equation, Func, Literal, Var
from ..ir.types import Type
from ..ir.walk import Environment, run_equation
from ..ops.kinds import spread
from ..util.array import AnyArray
from .control import JVP_OF_CONTROL
from .inputs import bind_arguments, dense, standing_alone


class Forward:
    """One forward sweep over a Func inside the current builder: values in `env`, tangents in `tangents` (absent:
    zero)."""

    def __init__(self, env: Environment, parent: "Forward | None" = None):
        self.env, self.parent = env, parent
        self.tangents: dict[Var, Any] = {}

    def inner(self) -> "Forward":
        """A sweep over a region."""
        return type(self)(Environment(self.env), self)

    def tangent(self, atom: Atom) -> "AnyArray | None":
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
            with at_line(eqn.where):
                JVP_OF_CONTROL[eqn.op.name](self, eqn)
            return
        run_equation(eqn, self.env)
        dxs = tuple([self.tangent(a) for a in eqn.inputs])
        if all(d is None for d in dxs):
            return
        xs = tuple([self.env.read(a) for a in eqn.inputs])
        ys = tuple([self.env[v] for v in eqn.outputs])
        with at_line(eqn.where):                             # a tangent's equations belong to the line they go with
            for v, dy in zip(eqn.outputs, eqn.op.derivative.jvp(eqn.op, ys, xs, dxs, eqn.params)):
                if dy is not None and v.type.dtype.kind in "fc":
                    self.tangents[v] = spread(dy, self.env[v])


def push_forward(func: Func, args: Sequence, tangents: Sequence) -> tuple:
    """Values and tangents of func's outputs, computed in the current builder. The tangent None is zero, in and out."""
    env = bind_arguments(func, args)
    sweep = Forward(env)
    for var, dx in zip(func.inputs, tangents):
        if dx is not None:
            sweep.tangents[var] = dx
    sweep.run(func)
    return [env.read(a) for a in func.outputs], [sweep.tangent(a) for a in func.outputs]


def jvp(func: Func, moving: Sequence[int]) -> Func:
    """The Func (inputs..., tangents of the moving inputs...) -> (outputs..., tangents of the real and complex
    outputs...)."""
    with standing_alone(func, "jvp") as (builder, args):
        tangents: list = [None] * len(args)
        for k in moving:
            tangents[k] = builder.input(Type(args[k].dtype, args[k].atom.type.shape), f"d{func.inputs[k].name}")
        ys, dys = push_forward(func, args, tangents)
        dys = [dense(dy, y) for y, dy, a in zip(ys, dys, func.outputs) if a.type.dtype.kind in "fc"]
        return builder.finish(tuple(ys) + tuple(dys))
