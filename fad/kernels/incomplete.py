"""Derivatives of the incomplete gamma and beta functions with respect to their shapes.

    d/da P(a, x) = integral over t < x of p(t) (log t - psi(a))        p: the density

The mean of log t - psi(a) is zero, and it grows with t. So its integral is taken over the tail that x lies in, where it
has one sign: nothing cancels, and the result keeps its digits however small it is. A second derivative has
(log t - psi(a))^2 - psi'(a) in its place. The end of a tail is where the density has fallen by exp(-REACH); Gauss'
rule does the rest. In the lower tail a density of a small shape falls slowly. There P(a, x) is
P(a + 1, x) + x^a e^-x / gamma(a + 1), and the second term has a closed form. (DLMF, chapter 8)

Against mpmath, first derivatives have a relative error of 2e-13 (gamma) and 8e-13 (beta) for shapes from 1e-3 to 1e4.
Second derivatives are sums of terms of both signs, and have this error relative to the terms. The work is 40 or 80
values of the density.

    >>> round(float(gammainc_da(1.0, 2.0)), 12), round(float(betainc_da(1.0, 1.0, 0.5) / np.log(0.5)), 12)
    (-0.220825426212, 0.5)
"""
import math

import numpy as np
from scipy.special import polygamma as scipys_polygamma

from fad.kernels.arithmetic import absolute, like, maximum, minimum, sqrt, where
from fad.kernels.elementary import exp, expm1, log, log1p
from fad.kernels.promotion import compiled_as, emit_python, quiet, real_floats
from fad.kernels.special import gammaln, psi, zeta

__all__ = ["betainc_da", "betainc_daa", "betainc_dab", "betainc_db", "betainc_dbb", "gammainc_da", "gammainc_daa"]

REACH = 42.0                                                 # exp(-42) is 6e-19
STEPS = 10                                                   # Newton's, to the end of a tail
# Shapes beyond, whose results would have few digits: nan. RATIO is for beta, SMALLEST for second derivatives.
LARGEST, RATIO, SMALLEST = 1e8, 1e-9, 1e-7
LEAST = 2.3e-308                                             # of the argument; what is less has few digits, too
NODES, WEIGHTS = (0.5 * a for a in np.polynomial.legendre.leggauss(40))
NODES += 0.5
HALF_LOG_2PI = 0.5 * math.log(2.0 * math.pi)


def _part(arity, **how):
    """Decorate a part of the functions below: of float64, compiled, and of arrays in plain Python."""
    def decorate(body):
        return compiled_as(quiet(body, body.__doc__), real_floats(arity), emit_python(body, inline=False, **how))
    return decorate


# -- the density at the end of the tail, times x, and its slopes: without cancellation for large shapes --------------


@_part(2)
def _log(z, ratio):
    """log(ratio) of ratio = 1 + z, which keeps its digits near z = 0."""
    return where(absolute(z) < 0.5, log1p(z), log(ratio))


@_part(2)
def _log1pmx(z, ratio):
    """log(ratio) - z of ratio = 1 + z, without the cancellation near z = 0."""
    r = z / (2.0 + z)
    rr = r * r
    series = 1.0 / 35.0
    for k in range(15, -1, -1):
        series = series * rr + 1.0 / (2.0 * k + 3.0)
    return where(absolute(z) < 0.5, 2.0 * r * rr * series - z * r, log(ratio) - z)


@_part(1)
def _beyond_stirling(a):
    """log gamma(a) - ((a - 1/2) log a - a + log(2 pi) / 2)."""
    big = maximum(a, 16.0)
    u = 1.0 / (big * big)
    inner = 1.0 / 1260.0 - u * (1.0 / 1680.0 - u * (1.0 / 1188.0 - u * (691.0 / 360360.0 - u / 156.0)))
    series = (1.0 / 12.0 - u * (1.0 / 360.0 - u * inner)) / big
    return where(a < 16.0, gammaln(a) - (a - 0.5) * log(a) + a - HALF_LOG_2PI, series)


@_part(1)
def _above_psi(a):
    """log(a) - psi(a), about 1 / (2 a)."""
    big = maximum(a, 16.0)
    u = 1.0 / (big * big)
    inner = 1.0 / 252.0 - u * (1.0 / 240.0 - u * (1.0 / 132.0 - u * (691.0 / 32760.0 - u / 12.0)))
    series = 0.5 / big + u * (1.0 / 12.0 - u * (1.0 / 120.0 - u * inner))
    return where(a < 16.0, log(a) - psi(a), series)


@_part(3)
def _gamma_front(a, x, by):
    """x^a e^-x / (gamma(a) by). The division comes before the exponential, which may underflow."""
    return sqrt(a / (2.0 * math.pi)) * exp(a * _log1pmx((x - a) / a, x / a) - _beyond_stirling(a) - log(by))


@_part(4)
def _beta_front(p, q, x, w):
    """x^(p-1) w^q / beta(p, q), where w = 1 - x."""
    n, d = p + q, x * q - w * p
    exponent = p * _log1pmx(d / p, x / p * n) + q * _log1pmx(-d / q, w / q * n)
    return sqrt(p / (2.0 * math.pi) * (q / n)) * exp(
        exponent - log(x) + _beyond_stirling(n) - _beyond_stirling(p) - _beyond_stirling(q))


def _trigamma_of_numbers(x):
    return zeta(2.0, x)


trigamma = compiled_as(quiet(lambda x: scipys_polygamma(1, x), "The derivative of psi.", "trigamma"), real_floats(1),
                       emit_python(_trigamma_of_numbers))

# -- incomplete gamma: t = x e^(s v), so that t p(t) = p(x) x exp(s a v - x (e^(s v) - 1)), which v > 0 lets fall -----


@_part(3)
def _end_of_gamma(a, x, s):
    """The v of the tail's end. The exponent is convex, so that Newton's steps come from above."""
    d = absolute(x - a)
    v = where(s < 0.0, (REACH + x) / a, 2.0 * REACH / (d + sqrt(d * d + 2.0 * x * REACH)))
    for _ in range(STEPS):
        e = x * expm1(s * v)
        v = v - (e - s * a * v - REACH) / (s * (x + e - a))
    return v


@_part(8, fast=True)
def _over_gamma_tail(a, x, s, end, level, c0, c1, c2):
    """The integral of c0 + c1 L + c2 L^2 over the tail, where L is `level` at x."""
    total = 0.0 * end
    for i in range(NODES.size):
        v = end * NODES[i]
        u = level + s * v
        total = total + WEIGHTS[i] * exp(s * a * v - x * expm1(s * v)) * (c0 + u * (c1 + c2 * u))
    return end * total


@_part(4)
def _gamma_shape(a, x, c1, c2):
    """The first (c1 = 1, c2 = 0) or second derivative (0, 1) of gammainc(a, x) with respect to a."""
    lower = where(x <= a + 0.5, 1.0, 0.0)                    # psi(a + 1) is about log(a + 1/2)
    s, shape = 1.0 - 2.0 * lower, a + lower
    level = _log((x - shape) / shape, x / shape) + _above_psi(shape)
    c0 = 0.0 * a
    if c2 != 0.0:
        c0 = -trigamma(shape)
    tail = _over_gamma_tail(shape, x, s, _end_of_gamma(shape, x, s), level, c0, c1, c2)
    by = where(s < 0.0, x, 1.0)
    tail = by * tail + lower * (c0 + level * (c1 + c2 * level))
    constant = (x == 0.0) | (x == math.inf)
    value = where(constant, 0.0, -s * _gamma_front(shape, x, by) * tail)
    return where((a > 0.0) & (a >= c2 * SMALLEST) & (a <= LARGEST) & (constant | (x >= LEAST)), value, math.nan)


# -- incomplete beta: v is a distance from logit(x), and t = x e^-v / (1 - x + x e^-v) --------------------------------


@_part(4)
def _end_of_beta(p, n, x, w):
    """The v of the tail's end, as for gamma."""
    v = (REACH - n * log(w)) / p
    for _ in range(STEPS):
        e = x * expm1(-v)
        v = v - (p * v + n * log1p(e) - REACH) / (p - n * (x + e) / (1.0 + e))
    return v


@_part(13, fast=True)
def _over_beta_part(p, n, x, w, start, width, first, level_a, level_b, c0, c1, c2, c3):
    """The integral of c0 + A (c1 + c2 A + c3 B) over a part of the tail; A and B are `level_a`, `level_b` at x."""
    total = 0.0 * width
    for i in range(NODES.size):
        v = start + width * NODES[i]
        d = where(v < 0.7, log1p(x * expm1(-v)), log(w + x * exp(-v)))
        u_a, u_b = level_a - d - first * v, level_b - d - (1.0 - first) * v
        total = total + WEIGHTS[i] * exp(-p * v - n * d) * (c0 + u_a * (c1 + c2 * u_a + c3 * u_b))
    return width * total


@_part(7)
def _beta_shape(a, b, x, w, c1, c2, c3):
    """The derivative of betainc(a, b, x) with respect to a (c1 = 1), twice (c2 = 1), or with respect to a and b."""
    below = x * b <= w * (a + 0.5)
    lower = where(below, 1.0, 0.0)
    p, q, n = where(below, a, b) + 1.0, where(below, b, a), a + b + 1.0
    y, z = where(below, x, w), where(below, w, x)
    d, mean = y * q - z * p, _above_psi(n)
    near, far = (_log(d / p, y / p * n) + _above_psi(p) - mean, _log(-d / q, z / q * n) + _above_psi(q) - mean)
    level_a, level_b = where(below, near, far), where(below, far, near)
    r, c0 = 1.0 / (n - 1.0), 0.0 * a
    if c1 == 0.0:
        c0 = trigamma(n) - c2 * trigamma(where(below, p, q))
    end = _end_of_beta(p, n, y, z)
    middle = log(y / z)                                      # up to there the density may be flat
    middle = where(middle > 0.0, minimum(middle, end), 0.25 * end)
    tail = (_over_beta_part(p, n, y, z, 0.0 * end, middle, lower, level_a, level_b, c0, c1, c2, c3)
            + _over_beta_part(p, n, y, z, middle, end - middle, lower, level_a, level_b, c0, c1, c2, c3))
    u_a, u_b = level_a - r, level_b - r
    tail = y * tail + (c0 + (c2 + c3) * r * r + u_a * (c1 + c2 * u_a + c3 * u_b)) * r
    constant = (x == 0.0) | (w == 0.0)
    value = where(constant, 0.0, (2.0 * lower - 1.0) * _beta_front(p, q, y, z) * tail)
    least = maximum(RATIO * n, (c2 + c3) * SMALLEST)
    inside = (constant & (x + w == 1.0)) | (minimum(x, w) >= LEAST)
    return where((a >= least) & (b >= least) & (n <= LARGEST) & inside, value, math.nan)


# -- what programs call -------------------------------------------------------------------------------------------


def _derivative(arity):
    """Decorate a function of real numbers, computed in float64 and rounded to their precision."""
    def decorate(body):
        return compiled_as(quiet(body, body.__doc__), real_floats(arity), emit_python(body, apart=True))
    return decorate


@_derivative(2)
def gammainc_da(a, x):
    """The derivative of gammainc(a, x) with respect to a."""
    return like(_gamma_shape(np.float64(a), np.float64(x), 1.0, 0.0), a)


@_derivative(2)
def gammainc_daa(a, x):
    """The second derivative of gammainc(a, x) with respect to a."""
    return like(_gamma_shape(np.float64(a), np.float64(x), 0.0, 1.0), a)


@_derivative(3)
def betainc_da(a, b, x):
    """The derivative of betainc(a, b, x) with respect to a."""
    t = np.float64(x)
    return like(_beta_shape(np.float64(a), np.float64(b), t, 1.0 - t, 1.0, 0.0, 0.0), a)


@_derivative(3)
def betainc_db(a, b, x):
    """The derivative of betainc(a, b, x) = 1 - betainc(b, a, 1 - x) with respect to b."""
    t = np.float64(x)
    return like(-_beta_shape(np.float64(b), np.float64(a), 1.0 - t, t, 1.0, 0.0, 0.0), a)


@_derivative(3)
def betainc_daa(a, b, x):
    """The second derivative of betainc(a, b, x) with respect to a."""
    t = np.float64(x)
    return like(_beta_shape(np.float64(a), np.float64(b), t, 1.0 - t, 0.0, 1.0, 0.0), a)


@_derivative(3)
def betainc_dab(a, b, x):
    """The derivative of betainc(a, b, x) with respect to a and b."""
    t = np.float64(x)
    return like(_beta_shape(np.float64(a), np.float64(b), t, 1.0 - t, 0.0, 0.0, 1.0), a)


@_derivative(3)
def betainc_dbb(a, b, x):
    """The second derivative of betainc(a, b, x) with respect to b."""
    t = np.float64(x)
    return like(-_beta_shape(np.float64(b), np.float64(a), 1.0 - t, t, 0.0, 1.0, 0.0), a)
