"""Loop guards: code in front of a loop, or behind it, that runs only if the loop has an iteration."""

from ..ir.graph import Equation, Func, Var
from ..ir.op import registry
from ..ir.types import BOOL, Type
from ..ir.views import LoopView


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
    params = {"names": ("",) * len(results), "extents": ()}
    return [test, Equation(registry["cond"], (condition,), results, params, branches, loop.where)]


def _branch(equations: list, results: tuple) -> Func:
    """The equations as a region, with variables of its own."""
    own = {v: Var(v.type, v.name, v.hint) for e in equations for v in e.outputs}
    copies = [e.replace(inputs=tuple([own.get(a, a) for a in e.inputs]), outputs=tuple([own[v] for v in e.outputs]))
              for e in equations]
    return Func("branch", (), copies, tuple([own[v] for v in results]))
