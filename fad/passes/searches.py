"""split_searches: searches in two passes. The place of the largest element is the first place where it stands.

    for j in range(m):                            top = max(x)
        if x[j] > best: best, k = x[j], j   --->  k = min(j where x[j] == top)

A search compares each element with the best one so far, and goes another way where it is better; a processor guesses
that wrong. Both passes become vector instructions. One walk over the program.
"""
from typing import Any

from ..ir.graph import Atom, Equation, Func
from ..ir.op import registry
from ..ir.types import INT
from ..ops.kinds import shape_of
from ..util.array import AnyArray
from .legalisation import opened
from .rewrite import Scope, rewrite

SHORTEST = 8                                                 # extent that is worth it, where it is known
BEST = {"argmax": "max", "argmin": "min"}


def split_searches(func: Func) -> Func:
    """A search along the last axis, for the place of the largest or smallest real number, is a maximum or minimum, and
    a search for the places of that, unless it goes down a column.

        k = argmax(x)   ->   k = min(where((x == max(x)) | (x != x), iota(n), n))
    """
    return rewrite(func, _visit)


def _visit(eqn: Equation, scope: Scope) -> Any:
    if eqn.op.name not in BEST:
        return None
    t = eqn.inputs[0].type
    n = t.shape[-1]
    if t.dtype.kind not in "fiu" or eqn.params["axis"] != t.rank - 1 or isinstance(n, int) and n < SHORTEST:
        return None
    if _is_strided(eqn.inputs[0], scope):
        return None
    best = BEST[eqn.op.name]
    return opened(eqn, lambda x, axis: _place(x, axis, best), scope)


def _is_strided(x: Atom, scope: Scope) -> bool:
    """Whether the elements come from a column of an array: vectors of these take as long as one element at a time."""
    made = scope.producer(x)
    if made is None:
        return False
    if made.reads_part:
        return made.params["spec"][-1] == "i"
    return made.op.kind == "elementwise" and any(_is_strided(a, scope) for a in made.inputs if a.type.shape)


def _place(x: AnyArray, axis: int, best: str) -> AnyArray:
    """The first place along the last axis where the best element is; a nan is, where there is one."""
    *outer, n = shape_of(x)
    found = registry["equal"](x, registry["reshape"](registry[best](x, axes=(axis,)), *outer, 1))
    if x.dtype.kind == "f":
        found = registry["logical_or"](found, registry["not_equal"](x, x))
    return registry["min"](registry["where"](found, registry["iota"](n, dtype=INT), n), axes=(axis,))
