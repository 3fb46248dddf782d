"""Values that are known while tracing: what was computed from numbers of the program alone."""
from typing import Any

import numpy as np

from ..ir import stack
from ..ir.build import Builder, current
from ..ir.graph import Equation, Literal, Var


def _producer(builder: "Builder | None", var: Var) -> "Equation | None":
    while builder is not None:
        for eqn in reversed(builder.equations):
            if var in eqn.outputs:
                return eqn
        builder = builder.parent
    return None


def constant_of(var: Any, limit: int = 1000) -> Any:
    """The value of a variable that depends on no input (within `limit` equations), or None."""
    with_values = _evaluate(var, {}, [limit])
    return with_values


def _evaluate(atom: Any, known: dict, budget: list) -> Any:
    if isinstance(atom, (int, np.integer)):
        return atom
    if isinstance(atom, Literal):
        return atom.value
    if atom in known:
        return known[atom]
    fresh = current().root.fresh_constants.get(atom)
    if fresh is not None:
        return fresh
    eqn = _producer(current(), atom)
    if eqn is None or eqn.regions or budget[0] <= 0:
        return None
    budget[0] -= 1
    args = [_evaluate(a, known, budget) for a in eqn.inputs]
    if any(a is None for a in args):
        return None
    with stack.concrete():
        results = eqn.op(*args, **eqn.params)
    known.update(zip(eqn.outputs, results if isinstance(results, tuple) else (results,)))
    return known[atom]
