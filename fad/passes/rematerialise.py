"""rematerialise: a large array that follows from smaller ones by few operations is computed again where it is read.

The difference of each point and each centre is such an array. The forward sweep reads it before a sum and the reverse
sweep behind it, so it would be stored in between. To load two small operands and subtract takes less time than to store
a number and to load it. Nothing is computed again that a comparison reads: its last bit may differ.
"""
from typing import Any

from ..ir.graph import Atom, Equation, Func, Literal, Var, free_vars
from ..ops.kinds import same_extent
from .dce import dce

FEW = 3                                                      # operations that are done again


def rematerialise(func: Func) -> Func:
    """The Func in which cheap arrays that are read behind a reduction are computed there.

        d = sub(x, c); s = sum(square(d)); g = mul(s, d)   ->   d = sub(x, c); s = ...; e = sub(x, c); g = mul(s, e)
    """
    new = _Sweep(func, func.inputs).run()
    return func if new is func else dce(new)


class _Sweep:
    """One walk over the equations of a function or a region. The level of a value is the number of reductions, one
    behind the other, that it waits for.

    lasting: the variables whose arrays stay as they are while the equations run.
    """

    def __init__(self, func: Func, lasting: Any):
        self.func = func
        self.lasting = set(lasting)
        self.level: dict[Var, int] = {}
        self.cheap: dict[Var, Equation] = {}
        self.copies: dict[tuple, Var] = {}
        self.equations: list[Equation] = []

    def run(self) -> Func:
        for eqn in self.func.equations:
            eqn = eqn.replace(regions=tuple([_Sweep(r, free_vars(r)).run() for r in eqn.regions]))
            level = max([self.level.get(a, 0) for a in eqn.inputs if isinstance(a, Var)], default=0)
            if _is_smooth(eqn):
                eqn = eqn.replace(inputs=tuple([self._again(a, level) for a in eqn.inputs]))
            self.equations.append(eqn)
            self._note(eqn, level)
        return self.func.replace(equations=self.equations)

    def _note(self, eqn: Equation, level: int) -> None:
        waits = eqn.op.kind not in ("elementwise", "shape") and not eqn.reads_part or bool(eqn.regions)
        self.level.update(dict.fromkeys(eqn.outputs, level + waits))
        if eqn.op.kind == "shape" and all(a in self.lasting for a in eqn.inputs if a.type.shape):
            self.lasting.update(eqn.outputs)
        if self._is_cheap(eqn):
            self.cheap[eqn.outputs[0]] = eqn

    def _is_cheap(self, eqn: Equation) -> bool:
        if not eqn.op.traits.affine:
            return False
        out = eqn.outputs[0]
        if len(out.type.shape) < 2 or out.type.dtype.kind != "f":
            return False
        return self._operations(eqn) <= FEW and all(isinstance(a, Literal) or a in self.cheap or a in self.lasting
                                                    and _is_smaller(a, out) for a in eqn.inputs)

    def _operations(self, eqn: Equation) -> int:
        return 1 + sum(self._operations(self.cheap[a]) for a in eqn.inputs if isinstance(a, Var) and a in self.cheap)

    def _again(self, x: Any, level: int) -> Atom:
        """The variable, or one that is computed here, at this level."""
        made = self.cheap.get(x) if isinstance(x, Var) else None
        if made is None or self.level[x] >= level:
            return x
        if (x, level) not in self.copies:
            inputs = tuple([self._again(a, level) for a in made.inputs])
            self.copies[x, level] = Var(x.type, x.name)
            self.equations.append(made.replace(inputs=inputs, outputs=(self.copies[x, level],)))
        return self.copies[x, level]


def _is_smooth(eqn: Equation) -> bool:
    """Whether another last bit of an operand cannot change the result by much."""
    traits = eqn.op.traits
    if eqn.op.kind not in ("elementwise", "reduce", "contract") or eqn.regions:
        return False
    decides = traits.comparison is not None or traits.jumps or traits.chosen_from is not None
    return not decides and (traits.reduction is None or not traits.reduction.is_extreme)


def _is_smaller(x: Var, out: Var) -> bool:
    """Whether the array has one element where the result has many."""
    shape, large = x.type.shape, out.type.shape
    lead = len(large) - len(shape)
    return lead > 0 or any(same_extent(m, 1) and not same_extent(n, 1) for m, n in zip(shape, large[lead:]))
