"""Dependence: from which elements of a program's inputs a derivative flows to which elements of its results.

Sparsity patterns are propagated as bit sets. Beside each real (or complex) array the sweep computes an int64 array of
its shape; bit k of an element says that the element depends on the k-th of up to 64 groups of input elements. The
result is a program like any other, so loops, gathers, slices and scatters cost what they cost the function itself
(Griewank & Walther, Evaluating Derivatives, 2008, section 7.1, "index domains by bit vectors"; Giering & Kaminski,
Automatic sparsity detection implemented as a source-to-source transformation, 2006).

The pattern holds for all values of the inputs that are differentiated: values that vary with them (varying.py) are not
computed. Their decisions go either way: the union over both branches, over all iterations that a loop may have, over
all elements that an index may pick. Other arguments, indices and extents do not vary; they are computed and followed
exactly. An array whose extents vary has one set for all its elements.
"""
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..ir.build import at_line
from ..ir.graph import Atom, Equation, Func, Literal, Var
from ..ir.op import registry
from ..ir.types import INT
from ..ir.walk import Environment, run_equation
from ..ops.kinds import same_shape, shape_of
from ..util.array import AnyArray
from ..util.errors import NoDerivativeError
from .activity import is_continuous, spread_activity
from .dependence_control import OF_CONTROL
from .dependence_rules import RULES, along_last, everything
from .varying import find_varying

EMPTY = np.int64(0)


class Dependence:
    """One sweep over a Func: `env` holds the values that do not vary, `sets` the bit sets (absent: empty)."""

    def __init__(self, env: Environment, varying: set, active: set, parent: "Dependence | None" = None):
        self.env, self.varying, self.active, self.parent = env, varying, active, parent
        self.sets: dict[Var, Any] = {}

    def inner(self) -> "Dependence":
        """A sweep over a region."""
        return type(self)(Environment(self.env), self.varying, self.active, self)

    # -- what is known -----------------------------------------------------------------------------

    def varies(self, atom: Atom) -> bool:
        return atom in self.varying

    def value(self, atom: Atom) -> Any:
        """The value of what does not vary."""
        return self.env.read(atom)

    def set_of(self, atom: Atom) -> Any:
        """The bit sets of a variable, None where all are empty."""
        sweep: Dependence | None = self
        while sweep is not None and not isinstance(atom, Literal):
            if atom in sweep.sets:
                return sweep.sets[atom]
            sweep = sweep.parent
        return None

    def shape(self, atom: Atom, known: "dict | None" = None) -> "tuple | None":
        """The extents; None for one that varies. `known`: stand-ins for extents whose values this sweep does not have.
        """
        shape = [(known or {}).get(n, n) for n in atom.type.shape]
        return None if any(self.varies(n) for n in shape) else tuple([self.value(n) for n in shape])

    def fitted(self, found: object, shape: "tuple | None") -> Any:
        """Bit sets (None: empty) of an array of this shape; of one whose extents vary, their union."""
        if shape is None:
            return EMPTY if found is None else everything(found)
        if not shape:
            return EMPTY if found is None else found
        if found is None:
            return registry["full"](0, *shape, dtype=INT)
        return found if same_shape(shape_of(found), shape) else registry["broadcast_to"](found, *shape)

    # -- the sweep ---------------------------------------------------------------------------------

    def run(self, func: Func) -> None:
        for eqn in func.equations:
            with at_line(eqn.where):
                self.step(eqn)

    def step(self, eqn: Equation) -> None:
        if eqn.regions:
            OF_CONTROL[eqn.op.name](self, eqn)
        elif eqn.op.traits.tells:                            # the program that asks for the pattern tells it
            return
        elif not any(self.varies(a) for a in eqn.inputs):
            run_equation(eqn, self.env)
        elif not eqn.op.effect and not getattr(eqn.op.derivative, "is_zero", False):
            self._spread(eqn)

    def _spread(self, eqn: Equation) -> None:
        sets = [self.set_of(a) for a in eqn.inputs]
        outputs = [v for v in eqn.outputs if is_continuous(v)]
        if not outputs or all(s is None for s in sets):
            return
        rule = along_last if eqn.op.traits.rowwise else RULES.get(eqn.op.name) or RULES.get(eqn.op.kind)
        found = rule(self, eqn, sets) if rule is not None and self._is_laid_out(eqn, sets) else None
        if found is None:
            found = self.union(sets)
        for v in outputs:
            self.sets[v] = self.fitted(found, self.shape(v))

    def _is_laid_out(self, eqn: Equation, sets: list) -> bool:
        """Whether every bit set has the shape of its array, and the one result's shape does not vary."""
        if eqn.writes_part:                                  # its rule takes operands whose extents vary
            return True
        return len(eqn.outputs) == 1 and self.shape(eqn.outputs[0]) is not None and all(
            s is None or self.shape(a) is not None for a, s in zip(eqn.inputs, sets))

    def union(self, sets: Sequence) -> Any:
        """One set of all that is in these."""
        total = None
        for s in sets:
            if s is not None:
                total = everything(s) if total is None else total | everything(s)
        return total



def propagate(func: Func, args: Sequence, seeds: dict) -> list:
    """Bit sets of func's outputs, in their shapes, from those of some inputs (seeds: position -> int64 array), in the
    current builder.

    NoDerivativeError where the shape of a result varies with these inputs.
    """
    wanted = {func.inputs[k] for k in seeds}
    active = set(wanted)
    spread_activity(func, active)
    sweep = Dependence(Environment(), find_varying(func, set(wanted)), active)
    for var, value in zip(func.inputs, args, strict=True):
        sweep.env.bind_input(var, value)
    for k, bits in seeds.items():
        sweep.sets[func.inputs[k]] = bits
    sweep.run(func)
    return [_of_output(sweep, a) for a in func.outputs]


def _of_output(sweep: Dependence, atom: Atom) -> AnyArray:
    if sweep.shape(atom) is None:
        raise NoDerivativeError("the shape of a result depends on the values that are differentiated, so that there is "
                                "no one sparsity pattern",
                                do="return an array whose shape follows from shapes, or use fad.jacobian")
    return sweep.fitted(sweep.set_of(atom), sweep.shape(atom))
