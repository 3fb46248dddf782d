"""unify: extents that a guard holds equal become one variable, or the number that they are."""
from typing import Any

from ..ir.graph import Func, Var
from .rewrite import Scope, renewed_inputs, rewrite


def unify(func: Func, equal: "dict[Var, Any]") -> Func:
    """func with the variables of `equal` replaced by what they are equal to, in the types of its inputs too.

        f(x: f64[n], y: f64[m]) with m = n   ->   f(x: f64[n], y: f64[n])
    """
    if not equal:
        return func
    scope = Scope()
    scope.replaced.update(equal)
    renewed = renewed_inputs(func, scope)
    return rewrite(renewed, lambda eqn, scope: None, scope)
