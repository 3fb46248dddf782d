"""Reverse mode of a tape whose derivative nobody differentiates: on the arrays that the tape holds.

The tape has computed every step when the reverse sweep begins. So the sweep computes no step again, and records none of
its own: the rules of the ops compute with arrays, as NumPy does.
"""
from collections.abc import Sequence

import numpy as np

from ..ir import stack
from ..ir.graph import Equation, Func, Var
from ..ir.live import UNKNOWN, LiveBuilder, unwarned
from ..ir.walk import Environment, run_equation
from ..util.where import note_line
from .inputs import bind_arguments
from .masks import behind_choices
from .vjp import Reverse, pull_back


def pull_back_here(func: Func, args: Sequence, wanted: Sequence[int]) -> tuple:
    """As pull_back: values of func's outputs, and the pullback. Where the program is a tape that no derivative is taken
    of, they are arrays."""
    tape = _outermost_tape()
    env = None if tape is None or any(eqn.regions for eqn in func.equations) else _known(tape, func, args)
    if tape is None or env is None:
        return pull_back(func, args, wanted)
    sweep = _OfArrays(env, {func.inputs[k] for k in wanted})
    with stack.concrete(), np.errstate(**unwarned(tape)):
        sweep.forward(func)

    def pullback(gs: Sequence) -> list:
        given = [None if g is None else tape.value(g) for g in gs]
        sweep.cotangents = {}
        with stack.concrete(), np.errstate(**unwarned(tape)):
            for atom, g in zip(func.outputs, given, strict=True):
                sweep.add(atom, g)
            sweep.backward()
        return [sweep.cotangents.get(func.inputs[k]) for k in wanted]
    return [env.read(a) for a in func.outputs], pullback


def _outermost_tape() -> "LiveBuilder | None":
    """The tape that is the program itself, and no region of one: what is computed in it is no part of a function that a
    derivative is taken of."""
    builder = stack.builders()[-1] if stack.builders() else None
    return builder if isinstance(builder, LiveBuilder) and builder.parent is None else None


def _known(tape: LiveBuilder, func: Func, args: Sequence) -> "Environment | None":
    """The values of func's variables that the tape holds, on arguments that it knows; None if it does not know one of
    them.
    """
    values = [tape.known(x) for x in args]
    if any(x is UNKNOWN for x in values):
        return None
    env = bind_arguments(func, values)
    for eqn in func.equations:
        env.update((v, tape.values[v]) for v in eqn.outputs if v in tape.values)
        for a in eqn.inputs:
            if isinstance(a, Var) and a not in env and a in tape.values:
                env[a] = tape.values[a]
    return env


class _OfArrays(Reverse):
    """The sweeps on arrays."""

    def forward(self, func: Func) -> None:
        self.masked |= behind_choices(func)
        for eqn in func.equations:
            if not all(v in self.env for v in eqn.outputs):
                run_equation(eqn, self.env)
            self.note_active(eqn)

    def pull(self, eqn: Equation) -> None:
        try:
            self.pull_through(eqn)
        except Exception as error:
            note_line(error, eqn.where)
            raise
