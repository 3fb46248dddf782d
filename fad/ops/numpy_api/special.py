"""The overrides of scipy.special: its ufuncs are ops of that name; its functions are written in them."""
import math
from typing import Any

import numpy as np

from ...ir.op import Op, registry
from ...ir.types import FLOAT, result_dtype, type_of
from ...util.array import AnyArray, ArrayLike, Axes
from ...util.errors import UnsupportedFunctionError
from ..complex import make_complex
from ..extents import broadcast_of
from ..kinds import is_complex, shape_of
from ..literals import as_array
from ..override import add_override, add_ufunc, override
from ..pointwise import real_part
from ..reduce import put_back
from ..special import bessel, elliptic, errors, gamma, hypergeometric, incomplete, information, orthogonal, statistics
from .arguments import axes_of, check_all, in_dtype

# -- ufuncs of one result --------------------------------------------------------------------------

FUNCTIONS = {"zeta", "riemann_zeta", "lambertw", "polygamma", "sinc", "spherical_jn", "spherical_yn", "spherical_in",
             "spherical_kn"}
SHARED = {"psi": "digamma", "jn": "jv", "exp2": "exp2", "expm1": "expm1", "log1p": "log1p", "cbrt": "cbrt",
          "sinc": "sinc", "round": "rint"}

# whose ops are in the table by now
FAMILIES = (bessel, elliptic, errors, gamma, hypergeometric, incomplete, information, orthogonal, statistics)

for _op in list(registry.values()):
    if isinstance(_op, Op) and "scipy" in _op.facts and _op.name not in FUNCTIONS and "[" not in _op.text:
        add_ufunc(_op, f"scipy.special.{_op.name}")
for _name, _of in SHARED.items():
    add_override(f"scipy.special.{_name}", registry[_of])

# -- ufuncs of several results ---------------------------------------------------------------------

_parts: dict[str, dict[int, Op]] = {}
for _op in registry.values():
    if isinstance(_op, Op) and "part" in _op.facts:
        _call, _number = _op.facts["part"]
        _parts.setdefault(_call, {})[_number] = _op


def _several(ops: list) -> Any:
    return lambda *xs: tuple([part(*xs) for part in ops])


for _call, _found in _parts.items():
    add_override(f"scipy.special.{_call}", _several([_found[k] for k in sorted(_found)]))


@override("scipy.special.kelvin")
def kelvin(x: ArrayLike) -> tuple:
    """ber + i bei, ker + i kei, and their derivatives."""
    pairs = (bessel.ber, bessel.bei), (bessel.ker, bessel.kei), (bessel.berp, bessel.beip), (bessel.kerp, bessel.keip)
    return tuple([make_complex(a(x), b(x)) for a, b in pairs])


# -- gamma's family --------------------------------------------------------------------------------


@override("scipy.special.zeta")
def zeta(x: ArrayLike, q: object = None, out: object = None) -> AnyArray:
    """Riemann's zeta function, or Hurwitz's of q."""
    if out is not None:
        raise UnsupportedFunctionError("scipy.special.zeta(out=...) is not supported on traced arrays",
                                       do="assign the result")
    return gamma.riemann_zeta(x) if q is None else gamma.zeta(x, q)


@override("scipy.special.polygamma")
def polygamma(n: object, x: object) -> Any:
    """The n-th derivative of the digamma function."""
    return gamma.polygamma(n, x)


@override("scipy.special.multigammaln")
def multigammaln(a: AnyArray, d: Any) -> AnyArray:
    """log of the multivariate gamma function of dimension d, a sum of d terms."""
    d, a = int(d), as_array(a)
    check_all(~(a <= 0.5 * (d - 1)), "condition a > 0.5 * (d-1) not met")
    return in_dtype(sum(gamma.gammaln(a - 0.5 * k) for k in range(d)), FLOAT) + 0.25 * d * (d - 1) * math.log(math.pi)


@override("scipy.special.factorial")
def factorial(n: AnyArray, exact: bool = False, extend: str = "zero") -> Any:
    """gamma(n + 1); 0 for negative n, as SciPy extends it."""
    if exact:
        raise UnsupportedFunctionError("scipy.special.factorial(exact=True) is not supported on traced arrays",
                                       do="leave exact=False")
    y = gamma.gamma(n + 1.0)
    return y if extend == "complex" else registry["where"](n < 0, 0.0, y)


@override("scipy.special.comb")
def comb(N: AnyArray, k: Any, *, exact: bool = False, repetition: bool = False) -> Any:
    """The binomial coefficient; 0 unless 0 <= k <= N."""
    if exact:
        raise UnsupportedFunctionError("scipy.special.comb(exact=True) is not supported on traced arrays",
                                       do="leave exact=False")
    if repetition:
        return registry["where"]((k == 0) & (N >= 0), 1.0, gamma.binom(N + k - 1, k))
    return registry["where"]((k >= 0) & (N >= 0) & (k <= N), gamma.binom(N, k), 0.0)


@override("scipy.special.perm")
def perm(N: AnyArray, k: Any, exact: bool = False) -> Any:
    """N! / (N - k)!; 0 unless 0 <= k <= N."""
    if exact:
        raise UnsupportedFunctionError("scipy.special.perm(exact=True) is not supported on traced arrays",
                                       do="leave exact=False")
    return registry["where"]((k >= 0) & (N >= 0) & (k <= N), gamma.poch(N - k + 1, k), 0.0)


@override("scipy.special.lambertw")
def lambertw(z: ArrayLike, k: object = 0, tol: object = 1e-8) -> AnyArray:
    """The branch k of the inverse of w e^w."""
    return hypergeometric.lambertw(z, k, tol)


# -- Bessel functions ------------------------------------------------------------------------------


def _spherical(which: Op) -> Any:
    """The function of real z < 0 by reflection, as SciPy has it (DLMF 10.47.14 to 10.47.17)."""
    def spherical(n: AnyArray, z: AnyArray, derivative: bool = False) -> AnyArray:
        def of(op: Op, x: AnyArray) -> AnyArray:
            y = op(n, x)
            return op.derivative.partial(1, y, (n, x)) if derivative else y
        z = as_array(z)
        if is_complex(z):
            return of(which, z)
        x = registry["where"](z < 0, -z, z)                     # not abs: its slope is 0 at 0
        y = of(which, x)
        if which is bessel.spherical_kn:
            mirrored = registry["where"](n % 2 == 0, -y, y) - math.pi * of(bessel.spherical_in, x)
            return registry["where"](z < 0, -mirrored if derivative else mirrored, y)
        is_even = which is not bessel.spherical_yn
        return registry["where"]((z < 0) & (n % 2 == (is_even != derivative)), -y, y)
    return spherical


for _op in (bessel.spherical_jn, bessel.spherical_yn, bessel.spherical_in, bessel.spherical_kn):
    add_override(f"scipy.special.{_op.name}", _spherical(_op))


def _nth_derivative(which: Op, alternating: bool, factor: float) -> Any:
    """The n-th derivative of a Bessel function, a binomial sum over neighbouring orders (DLMF 10.6.7, 10.29.5)."""
    def derivative(v: Any, z: AnyArray, n: int = 1) -> Any:
        total = 0.0
        for k in range(n + 1):
            sign = -1.0 if alternating and k % 2 else 1.0
            total = total + sign * math.comb(n, k) * which(v - n + 2 * k, z)
        return total * (factor / 2.0) ** n
    return derivative


for _name, _op, _alternating, _factor in [
        ("jvp", bessel.jv, True, 1.0), ("yvp", bessel.yv, True, 1.0), ("h1vp", bessel.hankel1, True, 1.0),
        ("h2vp", bessel.hankel2, True, 1.0), ("ivp", bessel.iv, False, 1.0), ("kvp", bessel.kv, False, -1.0)]:
    add_override(f"scipy.special.{_name}", _nth_derivative(_op, _alternating, _factor))

# -- polynomials -----------------------------------------------------------------------------------


@override("scipy.special.diric")
def diric(x: AnyArray, n: Any) -> AnyArray:
    """sin(n x / 2) / (n sin(x / 2)), by continuity where the denominator is zero."""
    n = int(n)
    half = 0.5 * x
    flat = abs(registry["sin"](half)) < 1e-7
    safe = registry["where"](flat, 1.0, n * registry["sin"](half))
    limit = registry["cos"](0.5 * (n - 1) * x) if n % 2 else registry["cos"](half) ** (n - 1)
    return registry["where"](flat, limit, registry["sin"](n * half) / safe)


# -- sums in the logarithmic domain ----------------------------------------------------------------


def _shift(x: object, axes: tuple) -> AnyArray:
    """The finite number near the largest entry that shifts the exponents. It is constant, since it cancels from every
    derivative."""
    high = registry["max"](x, axes=axes)
    return registry["stop_gradient"](put_back(registry["where"](registry["isfinite"](high), high, 0.0), x, axes))


def _exponentials(a: Any, axes: tuple) -> tuple:
    """The shift of the exponents, and exp(a - shift)."""
    shift = _shift(real_part(a), axes)
    return shift, registry["exp"](a - shift)


def _weighted_exponentials(a: Any, b: AnyArray, axes: tuple) -> tuple:
    """The shift of the exponents with a nonzero weight, and b exp(a - shift). A zero weight suppresses an exponential
    that overflows."""
    where, none = registry["where"], b == 0
    shift = _shift(where(none, -math.inf, real_part(a)), axes)
    most = math.log(float(np.finfo(type_of(a).dtype).max)) - 1.0
    return shift, b * registry["exp"](where(none & ~(real_part(a) - shift <= most), most, a - shift))


@override("scipy.special.logsumexp")
def logsumexp(a: ArrayLike, axis: Axes = None, b: Any = None, keepdims: bool = False, return_sign: bool = False) -> Any:
    """log(sum(b exp(a))), and the sum's sign."""
    a, b = as_array(a), None if b is None else as_array(b)
    if not shape_of(a) and (b is None or not shape_of(b)):
        a = registry["reshape"](a, 1)
        axis = None
    is_count = b is None or type_of(b).dtype.kind in "biu"    # a weight that moves has an infinite slope at zero
    if b is not None:
        dtype = result_dtype(a, b)
        a, b = _common(in_dtype(a, dtype), in_dtype(b, dtype))
    a = _float(a)
    axes = axes_of(axis, len(shape_of(a)))
    shift, terms = _exponentials(a, axes) if b is None else _weighted_exponentials(a, b, axes)
    total = registry["sum"](terms, axes=axes)
    shift = registry["reshape"](shift, *shape_of(total))
    sign = None
    if return_sign:
        sign = registry["sign"](total)
        total = registry["abs"](total)
    elif not is_complex(total) and b is not None:
        total = registry["where"](total < 0, math.nan, total)
    if is_count and not is_complex(a):
        size = total if b is None else registry["sum"](registry["abs"](terms), axes=axes)
        total, shift = _of_something(total, size == 0, shift)
    is_plain = b is None and not is_complex(a)
    y = (_log_of_sum(terms, axes) if is_plain else registry["log"](total)) + shift
    if keepdims:
        y, sign = put_back(y, a, axes), None if sign is None else put_back(sign, a, axes)
    return (y, sign) if return_sign else y


def _log_of_sum(terms: AnyArray, axes: tuple) -> AnyArray:
    """The log of the sum of these exponentials, as SciPy computes it. The largest are 1, and the result is
    log(their count) + log1p(sum of the others / their count). Small terms beside a 1 keep their digits.
    """
    ones = registry["cast"](terms == 1.0, dtype=type_of(terms).dtype)
    count = registry["sum"](ones, axes=axes)
    count = registry["where"](count == 0.0, 1.0, count)       # no term is finite, or all are zero
    return registry["log"](count) + registry["log1p"](registry["sum"](terms - ones, axes=axes) / count)


def _of_something(total: AnyArray, empty: AnyArray, shift: AnyArray) -> tuple:
    """The sum and the shift. Where all terms are zero, their shares of the sum were 0 / 0. They are shares of 1 here,
    and the shift makes the result -inf.
    """
    return (total + registry["cast"](empty, dtype=type_of(total).dtype), registry["where"](empty, -math.inf, shift))


def _float(x: object) -> Any:
    dtype = type_of(x).dtype
    return x if dtype.kind in "fc" else registry["cast"](x, dtype="f8")


def _common(a: AnyArray, b: AnyArray) -> tuple:
    """a and b broadcast against each other."""
    shape = broadcast_of(a, b)
    return registry["broadcast_to"](a, *shape), registry["broadcast_to"](b, *shape)


@override("scipy.special.softmax")
def softmax(x: ArrayLike, axis: Axes = None) -> AnyArray:
    """exp(x) over its sum."""
    x = _float(as_array(x))
    axes = axes_of(axis, len(shape_of(x)))
    terms = registry["exp"](x - _shift(x, axes))
    return terms / put_back(registry["sum"](terms, axes=axes), x, axes)


@override("scipy.special.log_softmax")
def log_softmax(x: ArrayLike, axis: Axes = None) -> AnyArray:
    """The logarithm of softmax, without underflow."""
    x = _float(as_array(x))
    axes = axes_of(axis, len(shape_of(x)))
    moved = x - _shift(x, axes)
    return moved - put_back(registry["log"](registry["sum"](registry["exp"](moved), axes=axes)), x, axes)


@override("scipy.special.assoc_laguerre", samples=("sp.assoc_laguerre(v, 2, 0.5)",))
def assoc_laguerre(x: ArrayLike, n: object, k: object = 0.0) -> AnyArray:
    """The generalised Laguerre polynomial, whose argument comes first here."""
    return registry["eval_genlaguerre"](n, k, as_array(x))


@override("scipy.special.softplus")
def softplus(x: ArrayLike) -> AnyArray:
    """log(1 + exp(x))."""
    return registry["logaddexp"](0.0, x)
