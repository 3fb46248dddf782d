"""Loop inversion: a `while` that counts up to a bound becomes a `for`, and asks the rest of its test behind the body.

    t, found = 0, False                          t, found = 0, False
    while (t < n) & (not found):                 for _ in range(t, n):
        found = x[t] < 0               --->          found = x[t] < 0
        t = t + 1                                    t = t + 1
                                                     if found:
                                                         break

So a `break` or `return` in the user's loop is a jump again, and LLVM knows how often the loop runs at most. The number
that counts stays, since it may be read behind the loop. (S. Muchnick, "Advanced Compiler Design and Implementation",
1997, section 18.5.)
"""
import functools
from typing import Any, NamedTuple, cast

from ...ir.graph import Equation, Func, Literal, Var, has_effect
from ...ir.op import registry
from ...ir.types import BOOL, INT, Type
from ...ir.uses import DefUse, defined_in
from ...ir.views import LoopView
from ...passes.zeros import is_number


class Inverted(NamedTuple):
    """The number that the loop counts from, the bound that it stays below, and a region of the test's inputs that tells
    whether it ends sooner: no equations and False if it does not.
    """

    start: Any
    stop: Any
    ends: Func


def inverted(loop: LoopView) -> "Inverted | None":
    """The parts of a `while` that is a `for`: it asks whether a number that grows by 1 in each iteration is below a
    bound, and what else it asks holds for the first iteration.
    """
    return None if loop.test is None or any(map(has_effect, loop.test.equations)) else _Test(loop).inverted()


class _Test:
    """The test of a `while`; initial: what is known of the carries in front of the loop."""

    def __init__(self, loop: LoopView):
        self.loop, self.test = loop, cast(Func, loop.test)
        self.chains, self.carries = DefUse.of(self.test), list(loop.carries_of(self.test))
        self.initial: dict[Any, Any] = dict(zip(self.carries, loop.init))

    def inverted(self) -> "Inverted | None":
        """The parts of the loop; None if no comparison counts, or another condition may fail before the first
        iteration.
        """
        asked = self._asked(self.test.outputs[0])
        counts = [eqn for eqn in map(self.chains.definition, asked) if eqn is not None and self._counts(eqn)]
        if not counts:
            return None
        (carry, stop), rest = counts[0].inputs, [a for a in asked if a is not counts[0].outputs[0]]
        if not all(map(self._holds_at_first, rest)):
            return None
        return Inverted(self.initial[carry], stop, self._ends(rest))

    def _asked(self, a: object) -> list:
        """The parts of a conjunction."""
        eqn = self.chains.definition(a)
        is_both = eqn is not None and _is(eqn, "logical_and")
        return [c for b in eqn.inputs for c in self._asked(b)] if eqn is not None and is_both else [a]

    def _counts(self, eqn: Equation) -> bool:
        """Whether this asks if a carry that grows by 1 is below what stays."""
        if not _is(eqn, "less") or any(a.type.dtype != INT for a in eqn.inputs):
            return False
        carry, bound = eqn.inputs
        if carry not in self.carries or bound in defined_in(self.test):
            return False
        k = self.carries.index(carry)
        made = DefUse.of(self.loop.body).definition(self.loop.next[k])
        return made is not None and made.op.name == "add" and made.inputs[0] is self.loop.carries[k] and is_number(
            made.inputs[1], 1)

    def _holds_at_first(self, a: object) -> "bool | None":
        """Whether something is true in front of the loop; None if that is not known."""
        a = self.initial.get(a, a)
        if isinstance(a, Literal):
            return bool(a.value)
        eqn = self.chains.definition(a)
        found = self._holds_at_first(eqn.inputs[0]) if eqn is not None and _is(eqn, "logical_not") else None
        return None if found is None else not found

    def _ends(self, rest: list) -> Func:
        """The region that tells whether one of these does not hold."""
        more: list[Equation] = []

        def made(name: str, *inputs: object) -> Var:
            more.append(Equation(registry[name], inputs, (Var(Type(BOOL)),), {}, (), self.loop.eqn.where))
            return more[-1].outputs[0]
        fails = []
        for a in rest:
            eqn = self.chains.definition(a)
            fails.append(eqn.inputs[0] if eqn is not None and _is(eqn, "logical_not") else made("logical_not", a))
        if not fails:
            return self.test.replace(equations=[], outputs=(Literal(False, Type(BOOL)),))
        total = functools.reduce(lambda x, y: made("logical_or", x, y), fails)
        return self.test.replace(equations=[*self.test.equations, *more], outputs=(total,))


def _is(eqn: Equation, name: str) -> bool:
    return eqn.op.name == name and not eqn.outputs[0].type.shape
