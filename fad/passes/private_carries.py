"""privatise_carries: array privatisation in loops. Scratch memory that every iteration fills anew is not carried.

The condition is that of R. Allen, K. Kennedy, "Optimizing Compilers for Modern Architectures", 2001, section 5.3: an
iteration reads only what it has written itself (coverage.py), and nobody reads the array behind the loop.
"""
from collections.abc import Collection
from typing import Any

from ..ir.graph import Equation, Func, Var, is_counted
from ..ir.op import registry
from ..ir.uses import use_counts
from ..ir.views import LoopView, with_results
from .coverage import Accesses, Coverage
from .dce import dce
from .rewrite import as_atom, rewrite


def privatise_carries(func: Func) -> Func:
    """If each iteration reads only elements that it has written itself, it gets an empty array of its own. The
    backend makes it once for all iterations, or fills what it is copied to in its place (copy_elision.py).

        t = for k, t: t = for i: yield update(t, x[i] * w[k], i); ...; yield t
            ->   for k: t = unwritten(n); t = for i: yield update(t, x[i] * w[k], i); ...
    """
    uses = use_counts(func)
    new = rewrite(func, lambda eqn, scope: _private(eqn, uses) if is_counted(eqn) else None)
    return func if new is func else dce(new)


def _private(eqn: Equation, uses: Collection) -> "Equation | None":
    loop = LoopView(eqn)
    found = [k for k, carry in enumerate(loop.carries) if _is_private(loop, k, carry, uses)]
    if not found:
        return None
    made = [Equation(registry["unwritten"], tuple(map(as_atom, carry.type.shape)), (carry,),
                     {"dtype": carry.type.dtype}, (), eqn.where) for carry in (loop.carries[k] for k in found)]
    rest = with_results(eqn, [k for k in range(len(eqn.outputs)) if k not in found])
    body = LoopView(rest).body
    return LoopView(rest).replace(body=body.replace(equations=[*made, *body.equations]))


def _is_private(loop: LoopView, k: int, carry: Var, uses: Any) -> bool:
    if not carry.type.shape or loop.next[k] is carry or uses[loop.results[k]] or loop.eqn.params["extents"]:
        return False
    versions = Accesses(loop.body, carry).versions
    if [j for j, a in enumerate(loop.next) if a in versions] != [k]:
        return False                                         # it goes to another carry, too
    return not Coverage({}).of(loop.body, carry).is_exposed
