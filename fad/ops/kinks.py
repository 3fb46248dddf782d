"""Kinks: what the derivative is where a function has none, in one table that the docs print and the tests try.

The rules follow PyTorch's note "Gradients for non-differentiable functions". For each op the first that fits counts:

1. Where the function is differentiable, its derivative.
2. Where it is convex nearby, the subgradient of least norm.
3. Where it is concave nearby, the supergradient of least norm.
4. Where it is defined, the limit of the derivative by continuity, which may be infinite; if there are several, one is
   chosen and told here.
5. Where it is not defined, anything; as a rule nan.
"""
from typing import NamedTuple


class Kink(NamedTuple):
    """At x = `at`, the gradient of `call` is `gradient`, by `rule`; `why` explains the choice, if there was one."""

    call: str
    at: tuple
    gradient: tuple
    rule: int
    why: str = ""


INF = float("inf")
KINKS = (
    Kink("np.abs(x)", (0.0,), (0.0,), 2),
    Kink("np.fabs(x)", (0.0,), (0.0,), 2),
    Kink("np.abs(x)", (0j,), (0j,), 2),
    Kink("np.hypot(x, y)", (0.0, 0.0), (0.0, 0.0), 2),
    Kink("np.maximum(x, y)", (1.0, 1.0), (0.5, 0.5), 2, "half to each of two equals"),
    Kink("np.minimum(x, y)", (1.0, 1.0), (0.5, 0.5), 3, "half to each of two equals"),
    Kink("np.fmax(x, y)", (1.0, 1.0), (0.5, 0.5), 2, "half to each of two equals"),
    Kink("np.fmin(x, y)", (1.0, 1.0), (0.5, 0.5), 3, "half to each of two equals"),
    Kink("np.max([x, y])", (1.0, 1.0), (0.5, 0.5), 2, "equals share"),
    Kink("np.min([x, y])", (1.0, 1.0), (0.5, 0.5), 3, "equals share"),
    Kink("np.ptp([x, y])", (1.0, 1.0), (0.0, 0.0), 2),
    Kink("np.maximum.accumulate([x, y])[1]", (1.0, 1.0), (0.5, 0.5), 2, "equals share"),
    Kink("np.sort([x, y])[0]", (1.0, 1.0), (1.0, 0.0), 4, "equals keep their order"),
    Kink("np.median([x, y, 2.0])", (1.0, 1.0), (0.0, 1.0), 4, "of equals in order, the one in the middle"),
    Kink("np.unique([x, y])[0]", (1.0, 1.0), (1.0, 0.0), 4, "the first of equals"),
    Kink("np.std([x, y])", (1.0, 1.0), (0.0, 0.0), 2),
    Kink("np.maximum(x, 0.0)", (0.0,), (0.5,), 2, "half, as to each of two equals"),
    Kink("np.clip(x, 0.0, 1.0)", (0.0,), (1.0,), 4, "from inside"),
    Kink("np.clip(x, 0.0, 1.0)", (1.0,), (1.0,), 4, "from inside"),
    Kink("np.sqrt(x)", (0.0,), (INF,), 4),
    Kink("np.cbrt(x)", (0.0,), (INF,), 4),
    Kink("np.arcsin(x)", (1.0,), (INF,), 4),
    Kink("np.arccosh(x)", (1.0,), (INF,), 4),
    Kink("x ** 2", (0.0,), (0.0,), 1),
    Kink("x ** 0.5", (0.0,), (INF,), 4),
    Kink("x ** 0.0", (0.0,), (0.0,), 1),
    Kink("x ** y", (0.0, 2.0), (0.0, 0.0), 1),
    Kink("x ** y", (0.0, 0.0), (0.0, 0.0), 4, "along the exponent, that of 0 ** y for y > 0"),
    Kink("np.sign(x)", (0.0,), (0.0,), 4),
    Kink("np.floor(x)", (1.0,), (0.0,), 4),
    Kink("np.ceil(x)", (1.0,), (0.0,), 4),
    Kink("np.rint(x)", (0.5,), (0.0,), 4),
    Kink("np.trunc(x)", (1.0,), (0.0,), 4),
    Kink("np.heaviside(x, y)", (0.0, 0.5), (0.0, 1.0), 4),
    Kink("np.remainder(x, y)", (1.0, 0.5), (1.0, -2.0), 4, "from the right"),
    Kink("np.fmod(x, y)", (1.0, 0.5), (1.0, -2.0), 4, "from the right"),
    Kink("np.copysign(x, y)", (0.0, 1.0), (0.0, 0.0), 2),
    Kink("np.arctan2(x, y)", (0.0, 0.0), (0.0, 0.0), 5, "zero, so that a point at the origin is left where it is"),
    Kink("np.angle(x)", (0j,), (0j,), 5, "zero, as for arctan2"),
    Kink("np.linalg.norm(np.array([[x, 0.0], [0.0, y]]), 'nuc')", (1.0, 0.0), (1.0, 0.0), 2,
         "singular values that are zero"),
    Kink("np.linalg.eigvalsh(np.array([[x, 0.0], [0.0, y]]))[0]", (1.0, 1.0), (1.0, 0.0), 4,
         "along the eigenvector that LAPACK gives"),
    Kink("np.linalg.qr(np.array([[x, 0.0], [0.0, y]]))[1][1, 1]", (1.0, 0.0), (float("nan"), float("nan")), 5,
         "columns that depend on each other"),
    Kink("np.real(np.sign(x))", (0j,), (0j,), 5, "zero"),
    Kink("np.logaddexp(x, y)", (-INF, -INF), (0.5, 0.5), 4, "along x = y"),
    Kink("sp.logsumexp([x, y])", (-INF, -INF), (0.0, 0.0), 5, "zero: the result is -inf, and has no share in a sum"),
    Kink("sp.logsumexp([x, y], b=[False, False])", (1.0, 2.0), (0.0, 0.0), 1, "zero: nothing counts"),
    Kink("np.logaddexp.reduce([x, y])", (-INF, -INF), (0.0, 0.0), 5, "as logsumexp"),
    Kink("np.logaddexp.accumulate([x, y])[1]", (-INF, -INF), (0.0, 1.0), 4, "along the last element"),
    Kink("np.where(x > 0, x, 0.0)", (0.0,), (0.0,), 1, "the branch that is taken"),
    Kink("sp.xlogy(x, y)", (0.0, 0.0), (0.0, 0.0), 4,
         "along y for x = 0, where the function is zero; along x likewise"),
    Kink("sp.xlogy(x, y)", (0.0, 2.0), (0.6931471805599453, 0.0), 1),
    Kink("sp.entr(x)", (0.0,), (INF,), 4),
    Kink("sp.rel_entr(x, y)", (0.0, 1.0), (-INF, 0.0), 4),
    Kink("sp.kl_div(x, y)", (0.0, 1.0), (-INF, 1.0), 4),
    Kink("sp.huber(1.0, x)", (1.0,), (1.0,), 1),
    Kink("sp.i0e(x)", (0.0,), (0.0,), 3),
)
