"""The gamma function's family. Formulas: Digital Library of Mathematical Functions, chapters 5 and 25."""
from typing import Any

from ...ir.op import Op
from ...ir.traits import Traits
from ...ir.types import FLOAT, Type
from ...util.array import AnyArray
from ..choice import where
from ..extents import broadcast_of
from ..kinds import Partials
from ..pointwise import composed, real_part
from ..transcendental import cos, sin
from .base import PI, POSITIVE, SCIPY, NoFormula, real_only, special

ORDER = NoFormula("it is a function of an integer order")
NO_TRIGAMMA = "SciPy has no trigamma function of complex arguments"

# -- gamma and its logarithmic derivatives ---------------------------------------------------------


def _trigamma(y: AnyArray, x: AnyArray) -> AnyArray:
    return polygamma(1, x)


def _rgamma_slope(y: Any, x: Any) -> Any:
    """-psi(x) / gamma(x); left of 1/2 by reflection, which is finite at the poles of both."""
    left = real_part(x) < 0.5
    z = where(left, 1.0 - x, x)
    mirrored = gamma(where(left, z, 1.0)) * (cos(PI * x) - digamma(z) * sin(PI * x) / PI)
    return where(left, mirrored, -y * digamma(z))


gamma = special("gamma", lambda y, x: y * digamma(x), traits=Traits(raises="several"))
gammaln = special("gammaln", lambda y, x: digamma(x), traits=Traits(raises="several"))
loggamma = special("loggamma", lambda y, x: digamma(x))
gammasgn = special("gammasgn", None, traits=Traits(jumps=True))
rgamma = special("rgamma", _rgamma_slope)
digamma: Op = special("digamma", real_only(_trigamma, NO_TRIGAMMA))
zeta: Op = special("zeta", NoFormula("the zeta function's derivative with respect to its exponent has no closed form"),
                   lambda y, s, q: -s * zeta(s + 1.0, q), domain=((2.0, 4.0), POSITIVE), behind="_zeta")
riemann_zeta = special("riemann_zeta",
                       NoFormula("the zeta function's derivative with respect to its exponent has no closed form"),
                       domain=(2.0, 4.0), behind="_riemann_zeta", printed="zeta")
zetac = special("zetac", NoFormula("the zeta function's derivative with respect to its exponent has no closed form"),
                domain=(2.0, 4.0))
beta = special("beta", lambda y, a, b: y * (digamma(a) - digamma(a + b)),
               lambda y, a, b: y * (digamma(b) - digamma(a + b)))
betaln = special("betaln", lambda y, a, b: digamma(a) - digamma(a + b), lambda y, a, b: digamma(b) - digamma(a + b))
poch = special("poch", lambda y, z, m: y * (digamma(z + m) - digamma(z)), lambda y, z, m: y * digamma(z + m))
binom = special("binom", lambda y, n, k: y * (digamma(n + 1.0) - digamma(n - k + 1.0)),
                lambda y, n, k: y * (digamma(n - k + 1.0) - digamma(k + 1.0)), domain=((2.0, 4.0), POSITIVE))

# -- polygamma, which SciPy writes as a Python function --------------------------------------------
polygamma: Op = composed("polygamma", lambda n, x: SCIPY.polygamma(n, x)[()],
                         lambda n, x: Type(FLOAT, broadcast_of(n, x)),
                         "polygamma({0}, {1})", Partials(ORDER, lambda y, n, x: polygamma(n + 1, x)), (2, POSITIVE),
                         arity=2, module="special", doc="The n-th derivative of the digamma function")
