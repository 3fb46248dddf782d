"""Def-use chains: which equation defines a variable, and which equations read it (Muchnick, Advanced Compiler Design
and Implementation, 1997, section 8.10).

The IR is SSA, so that a variable has one definition. An equation with regions reads what they use from around them.
"""
from collections import Counter
from collections.abc import Iterable

from .graph import Equation, Func, Var, extents_of, free_vars


def operands(eqn: Equation) -> list:
    """The variables that an equation reads, each as often as it does: inputs, then what its regions use from around."""
    return [a for a in eqn.inputs if isinstance(a, Var)] + [v for region in eqn.regions for v in free_vars(region)]


def reads(eqn: Equation) -> list:
    """The operands of an equation, and the extents that the types of its results name."""
    own = set(eqn.outputs)
    return operands(eqn) + [n for n in extents_of(eqn.outputs) if n not in own]


def defined_by(equations: Iterable) -> set:
    """The variables that these equations define."""
    return {v for eqn in equations for v in eqn.outputs}


def defined_in(region: Func) -> set:
    """The variables that a region binds itself: its inputs, and what its equations define."""
    return {*region.inputs, *defined_by(region.equations)}


def use_counts(func: Func) -> Counter:
    """The number of times that a Func and its regions read each variable, at any depth."""
    counts = Counter(a for a in func.outputs if isinstance(a, Var))
    for eqn in func.equations:
        counts.update(a for a in eqn.inputs if isinstance(a, Var))
        for region in eqn.regions:
            counts.update(use_counts(region))
    return counts


class Definitions:
    """The definitions of variables in a list of equations that is being made: it grows and is cut at its end. After a
    cut a definition that is there may not be found; one that is found is there.

    >>> from fad.ir.types import FLOAT, Type
    >>> x, y, z = [Var(Type(FLOAT), name) for name in "xyz"]
    >>> equations = [Equation("sin", (x,), (y,), {})]
    >>> made = Definitions(equations)
    >>> made.of(y).op, made.of(z)
    ('sin', None)
    >>> equations[:] = [Equation("cos", (x,), (z,), {})]
    >>> made.of(y), made.of(z).op
    (None, 'cos')
    """

    __slots__ = ("count", "equations", "last", "position")

    def __init__(self, equations: list):
        self.equations, self.count = equations, 0
        self.position: dict[Var, int] = {}
        self.last: Equation | None = None

    def of(self, v: Var) -> "Equation | None":
        """The equation that defines v, if it is in the list."""
        equations, count = self.equations, self.count
        if count and (count > len(equations) or equations[count - 1] is not self.last):
            self.position, count = {}, 0
        if count < len(equations):
            self.position.update((out, k) for k in range(count, len(equations)) for out in equations[k].outputs)
            self.last = equations[-1]
        self.count = len(equations)
        k = self.position.get(v)
        return equations[k] if k is not None and v in equations[k].outputs else None


class DefUse:
    """The chains of one block, that is of the equations and outputs of a Func or region, as it is now.

    >>> from fad.ir.types import FLOAT, Type
    >>> x, y, z = [Var(Type(FLOAT), name) for name in "xyz"]
    >>> chains = DefUse([Equation("sin", (x,), (y,), {}), Equation("mul", (y, y), (z,), {})], (z,))
    >>> chains.position(z), chains.use_count(y), chains.definition(x)
    (1, 2, None)
    """

    def __init__(self, equations: list, outputs: tuple = ()):
        self.equations, self.outputs = equations, outputs
        self._position = {v: k for k, eqn in enumerate(equations) for v in eqn.outputs}
        self._users: dict[Var, list] | None = None

    @classmethod
    def of(cls, func: Func) -> "DefUse":
        """The chains of a Func or region."""
        return cls(func.equations, func.outputs)

    def position(self, v: object) -> "int | None":
        """The number of the equation that defines v; None for a literal, an input, or a variable from outside."""
        return self._position.get(v)                          # type: ignore[call-overload]

    def definition(self, v: object) -> "Equation | None":
        """The equation that defines v; None where `position` is None."""
        k = self.position(v)
        return None if k is None else self.equations[k]

    def users(self, v: Var) -> list:
        """The equations that read v, in order, each once for each time that it does."""
        if self._users is None:
            self._users = {}
            for eqn in self.equations:
                for a in operands(eqn):
                    self._users.setdefault(a, []).append(eqn)
        return self._users.get(v, [])

    def use_count(self, v: Var) -> int:
        """The number of times that v is read, and handed on as an output."""
        return len(self.users(v)) + self.outputs.count(v)
