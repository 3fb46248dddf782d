"""Loop guards: code in front of a loop, or behind it, that runs only if the loop has an iteration."""

from ..ir.graph import Equation, Func, Literal, Var, all_equations
from ..ir.op import registry
from ..ir.types import BOOL, INT, Type
from ..ir.views import LoopView
from .dependence_test import Places
from .rewrite import Scope, rewrite


def runs(loop: Equation) -> "bool | None":
    """Whether a counted loop has any iteration; None if only the running program can tell."""
    iterations = LoopView(loop).iterations
    return None if iterations is None else bool(iterations)


def if_it_runs(loop: Equation, equations: list, results: tuple, otherwise: tuple) -> list:
    """Equations that compute the results of these equations (which have no regions) if the loop, whose step is a
    number, has an iteration, and `otherwise` if not.
    """
    if runs(loop):
        return equations
    condition = Var(Type(BOOL))
    test = Equation(registry["less"], LoopView(loop).ends, (condition,), {}, (), loop.where)
    branches = (Func("branch", (), [], otherwise), _branch(equations, results))
    return [test, Equation(registry["cond"], (condition,), results, {"names": (), "extents": ()}, branches, loop.where)]


def _branch(equations: list, results: tuple) -> Func:
    """The equations as a region, with variables of its own."""
    own = {v: Var(v.type, v.name, v.hint) for e in equations for v in e.outputs}
    copies = [e.replace(inputs=tuple([own.get(a, a) for a in e.inputs]), outputs=tuple([own[v] for v in e.outputs]))
              for e in equations]
    return Func("branch", (), copies, tuple([own[v] for v in results]))


def drop_guards(func: Func) -> Func:
    """A comparison of integers is True where their bounds say so: the loop that it guards has an iteration.

        for k in range(n): a = x[0] if 0 < k + 1 else 0.0; for i in range(k + 1): ...   ->   a = x[0] if True else 0.0
    """
    if not any(map(_is_guard, all_equations(func))):
        return func
    ranges = Places(func).ranges

    def visit(eqn: Equation, scope: Scope) -> "tuple | None":
        if not _is_guard(eqn):
            return None
        return (Literal(True, eqn.outputs[0].type),) if ranges.is_less(*eqn.inputs) else None

    return rewrite(func, visit)


def _is_guard(eqn: Equation) -> bool:
    return eqn.op.name == "less" and all(a.type.dtype == INT and not a.type.shape for a in eqn.inputs)
