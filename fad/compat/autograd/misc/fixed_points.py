"""Fixed points, differentiated by the implicit function theorem (Griewank and Walther, Evaluating Derivatives, chapter
15)."""
from collections.abc import Callable
from typing import Any

from ....api.derivatives.control import while_loop
from ..differential_operators import make_vjp
from ..extend import defvjp, primitive
from ..spaces import vspace


@primitive
def fixed_point(f: Callable, a: object, x0: object, distance: Callable, tol: float) -> Any:
    """The x with x = f(a)(x), found by iteration from x0 until two iterates are closer than tol."""
    step = f(a)
    return while_loop(lambda pair: distance(*pair) > tol, lambda pair: (step(pair[0]), pair[0]), (step(x0), x0))[0]


def _pull(ans: object, f: Callable, a: object, x0: object, distance: Callable, tol: float) -> Callable:
    """The cotangent u of the fixed point solves u = J' u + g; that of a is (df/da)' u."""
    def step_of(parts: Any) -> Callable:
        a, x, g = parts
        pull = make_vjp(f(a))(x)[0]
        return lambda u: vspace(x).add(pull(u), g)
    pull_a = make_vjp(lambda a, x: f(a)(x))(a, ans)[0]
    return lambda g: pull_a(fixed_point(step_of, (a, ans, g), vspace(x0).zeros(), distance, tol))


defvjp(fixed_point, None, _pull, None, None, None)
