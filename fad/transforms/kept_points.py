"""The point at which a function was called last is no special point of its derivative.

    if not np.array_equal(x, self.last):                     a memo of one entry
        self.last, self.value = x.copy(), expensive(x)
    return self.value

At that point the memo gives a number, whose derivative would be zero. But a derivative is about the points around it,
and there the function computes. So in a function that is differentiated, nothing that depends on the arguments equals
what an earlier call has left and this one replaces. Where the function is continuous, its value is the same.
"""
from collections.abc import Callable, Iterable, Sequence

from ..ir.graph import Atom, Equation, Func, Literal, Var, all_equations
from ..ir.op import registry
from ..ir.types import Type
from ..passes.rewrite import Scope, as_atom, rewrite
from .activity import spread_activity

_APART = {"equal": False, "not_equal": True}                  # comparisons, and what they say of what is apart


def apart_from(func: Func, moving: Iterable[Var], earlier: Callable) -> Func:
    """func where nothing that moves equals what an earlier call has left: earlier() tells its variables, and numbers.
    """
    if not any(eqn.op.name in _APART for eqn in all_equations(func)):
        return func
    active, (standing, numbers) = set(moving), earlier()
    spread_activity(func, active)

    def is_kept(a: Atom) -> bool:
        return a.value in numbers if isinstance(a, Literal) else a in standing

    def visit(eqn: Equation, scope: Scope) -> "Equation | Sequence | None":
        if eqn.op.name in _APART:
            for x, other in (eqn.inputs, eqn.inputs[::-1]):
                if x in active and other not in active and is_kept(other):
                    return _filled(eqn, _APART[eqn.op.name])
        if not eqn.regions and not standing.isdisjoint(eqn.inputs):
            standing.update(eqn.outputs)
        return None
    return rewrite(func, visit)


def _filled(eqn: Equation, truth: bool) -> "Equation | Sequence":
    """A comparison that says the same of all elements."""
    t = eqn.outputs[0].type
    if not t.shape:
        return [Literal(truth, t)]
    given = Literal(truth, Type(t.dtype, (), True)), *map(as_atom, t.shape)
    return eqn.replace(op=registry["full"], inputs=given, params={"dtype": t.dtype})
