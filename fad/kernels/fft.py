"""Fourier transforms along the last axis, of any length, in compiled code; plain Python runs numpy.fft.

O(n log n) for every length n. A length of small primes goes through a Stockham mixed-radix transform (autosorting, so
no bit reversal), any other through Bluestein's convolution of a power of two. Computed in double precision and rounded,
so complex64 in, complex64 out. Sources: C. Van Loan, "Computational Frameworks for the Fast Fourier Transform" (1992),
sections 1.7 and 4.2.3.

    >>> fft(np.array([1.0, 0.0, 0.0])).tolist()
    [(1+0j), (1+0j), (1+0j)]
"""
import math

import numpy as np
from numba.core import types

from fad.kernels.arrays import zeros
from fad.kernels.elementary import cos, sin
from fad.kernels.memory import blank, contiguous, viewed
from fad.kernels.promotion import compiled_as, emit_python, inner, quiet
from fad.kernels.stacks import complex_dtype

__all__ = ["fft", "ifft", "irfft", "rfft"]

#: A length with a prime factor above this one goes through Bluestein's transform.
LARGEST_RADIX = 31
#: Parts of the third and fifth roots of unity, and of the square of the latter.
SIN_3 = math.sin(2 * math.pi / 3)
COS_5, COS_5_2 = math.cos(2 * math.pi / 5), math.cos(4 * math.pi / 5)
SIN_5, SIN_5_2 = math.sin(2 * math.pi / 5), math.sin(4 * math.pi / 5)
COMPLEX_ROW = types.Array(types.complex128, 1, "C")


@inner(lambda *_: types.complex128, inline=True)
def _divided(z, n):
    """z / n, n real: Numba makes a complex number of n."""
    return complex(z.real / n, z.imag / n)


@inner(lambda *_: types.complex128, inline=True)
def _scaled(z, factor):
    """z * factor, factor real."""
    return complex(z.real * factor, z.imag * factor)


@inner(lambda z: types.complex128, inline=True)
def _turned(z):
    """-i z"""
    return complex(z.imag, -z.real)


@inner(lambda n: COMPLEX_ROW)
def _roots(n):
    """exp(-2 pi i k / n) for k < n: a quarter of them, if n is a multiple of 4, says the others."""
    out = blank((n,), np.complex128)
    part = n // 4 if n % 4 == 0 else n
    for k in range(part):
        angle = -2 * np.pi * k / n
        out[k] = complex(cos(angle), sin(angle))
    for k in range(part, n):
        out[k] = _turned(out[k - part])
    return out


@inner(lambda *_: types.intp)
def _next_radix(n):
    """4, or the smallest prime factor of n."""
    if n % 4 == 0:
        return 4
    for r in range(2, LARGEST_RADIX + 1):
        if n % r == 0:
            return r
    return n


@inner(lambda *_: types.boolean)
def _is_smooth(n):
    while n > 1:
        r = _next_radix(n)
        if r > LARGEST_RADIX:
            return False
        n //= r
    return True


# A pass of radix r on transforms of length n, s of them interleaved: y[q + s (r p + u)] is the u-th output of the
# butterfly
# on x[q + s (p + m t)], t < r, times the root of unity of index p u s; m = n / r. Then r s transforms of length m
# remain. w: the roots of unity of the whole length.


@inner(lambda *_: types.none)
def _pass_2(x, y, m, s, w):
    for p in range(m):
        root = w[p * s]
        for q in range(s):
            a, b = x[q + s * p], x[q + s * (p + m)]
            y[q + s * 2 * p] = a + b
            y[q + s * (2 * p + 1)] = (a - b) * root


@inner(lambda *_: types.none)
def _pass_4(x, y, m, s, w):
    for p in range(m):
        w1, w2, w3 = w[p * s], w[2 * p * s], w[3 * p * s]
        for q in range(s):
            a, b, c, d = x[q + s * p], x[q + s * (p + m)], x[q + s * (p + 2 * m)], x[q + s * (p + 3 * m)]
            ac, bd, e, f = a + c, b + d, a - c, _turned(b - d)
            y[q + s * 4 * p] = ac + bd
            y[q + s * (4 * p + 1)] = (e + f) * w1
            y[q + s * (4 * p + 2)] = (ac - bd) * w2
            y[q + s * (4 * p + 3)] = (e - f) * w3


@inner(lambda *_: types.none)
def _pass_3(x, y, m, s, w):
    for p in range(m):
        w1, w2 = w[p * s], w[2 * p * s]
        for q in range(s):
            a, b, c = x[q + s * p], x[q + s * (p + m)], x[q + s * (p + 2 * m)]
            e, f = a - _scaled(b + c, 0.5), _scaled(_turned(b - c), SIN_3)
            y[q + s * 3 * p] = a + b + c
            y[q + s * (3 * p + 1)] = (e + f) * w1
            y[q + s * (3 * p + 2)] = (e - f) * w2


@inner(lambda *_: types.none)
def _pass_5(x, y, m, s, w):
    for p in range(m):
        w1, w2, w3, w4 = w[p * s], w[2 * p * s], w[3 * p * s], w[4 * p * s]
        for q in range(s):
            a, b, c = x[q + s * p], x[q + s * (p + m)], x[q + s * (p + 2 * m)]
            d, e = x[q + s * (p + 3 * m)], x[q + s * (p + 4 * m)]
            be, cd, f, g = b + e, c + d, _turned(b - e), _turned(c - d)
            even_1, odd_1 = a + _scaled(be, COS_5) + _scaled(cd, COS_5_2), _scaled(f, SIN_5) + _scaled(g, SIN_5_2)
            even_2, odd_2 = a + _scaled(be, COS_5_2) + _scaled(cd, COS_5), _scaled(f, SIN_5_2) - _scaled(g, SIN_5)
            y[q + s * 5 * p] = a + be + cd
            y[q + s * (5 * p + 1)] = (even_1 + odd_1) * w1
            y[q + s * (5 * p + 2)] = (even_2 + odd_2) * w2
            y[q + s * (5 * p + 3)] = (even_2 - odd_2) * w3
            y[q + s * (5 * p + 4)] = (even_1 - odd_1) * w4


@inner(lambda *_: types.none)
def _pass_any(x, y, r, m, s, w):
    turn = m * s  # the index of the r-th root of unity
    for p in range(m):
        for u in range(r):
            here = s * (r * p + u)
            for q in range(s):
                y[here + q] = x[q + s * p]
            for t in range(1, r):
                root = w[(t * u % r) * turn]
                for q in range(s):
                    y[here + q] += x[q + s * (p + m * t)] * root
            root = w[p * u * s]
            for q in range(s):
                y[here + q] *= root


@inner(lambda x, y, w: x)
def _smooth(x, y, w):
    """The transform of x, whose length has small prime factors. It ends in x or in y; the other is overwritten."""
    n, s = x.size, 1
    while n > 1:
        r = _next_radix(n)
        m = n // r
        if r == 4:
            _pass_4(x, y, m, s, w)
        elif r == 2:
            _pass_2(x, y, m, s, w)
        elif r == 3:
            _pass_3(x, y, m, s, w)
        elif r == 5:
            _pass_5(x, y, m, s, w)
        else:
            _pass_any(x, y, r, m, s, w)
        x, y, n, s = y, x, m, s * r
    return x


@inner(lambda n: types.Tuple([COMPLEX_ROW] * 3))
def _chirps(n):
    """For Bluestein: the chirp, the transform of its conjugate on a power of two, and that length's roots of unity."""
    length = 1
    while length < 2 * n - 1:
        length *= 2
    w, turns = _roots(length), _roots(2 * n)
    chirp, spread = blank((n,), np.complex128), zeros(length, np.complex128)
    for k in range(n):
        chirp[k] = turns[k * k % (2 * n)]
        spread[k] = np.conj(chirp[k])
        spread[(length - k) % length] = spread[k]
    return chirp, _smooth(spread, blank((length,), np.complex128), w).copy(), w


@inner(lambda x, *_: x)
def _bluestein(x, chirp, kernel, w):
    """The transform of x by a convolution with a chirp: t k = (t^2 + k^2 - (k - t)^2) / 2."""
    n, length = x.size, w.size
    a = zeros(length, np.complex128)
    for k in range(n):
        a[k] = x[k] * chirp[k]
    product = _smooth(a, blank((length,), np.complex128), w)
    for k in range(length):
        product[k] = np.conj(product[k] * kernel[k])
    # the inverse transform is the conjugate of the transform of the conjugate
    result = _smooth(product, blank((length,), np.complex128), w)
    for k in range(n):
        x[k] = _divided(np.conj(result[k]) * chirp[k], length)
    return x


@inner(lambda *_: types.none, apart=True)
def _transform_rows(rows, inverse):
    """The transform of each row of a complex128 array, in place; the inverse one with its 1 / n."""
    n = rows.shape[1]
    smooth = _is_smooth(n)
    chirp, kernel, w = (rows[0], rows[0], _roots(n)) if smooth else _chirps(n)
    spare = blank((n,), np.complex128)
    for i in range(rows.shape[0]):
        row = rows[i]
        if inverse:
            for k in range(n):
                row[k] = np.conj(row[k])
        result = _smooth(row, spare, w) if smooth else _bluestein(row, chirp, kernel, w)
        for k in range(n):
            row[k] = _divided(np.conj(result[k]), n) if inverse else result[k]


# --- the kernels ----------------------------------------------------------------------------------------------------


@inner(lambda x: types.Array(types.complex128, 2, "C"))
def _wide_rows(x):
    """A copy of an array as rows of complex128."""
    n = x.shape[-1]
    if n == 0:
        raise ValueError("Invalid number of FFT data points (0) specified.")
    out, flat = blank((x.size // n, n), np.complex128), viewed(contiguous(x), (x.size,))
    for i in range(out.shape[0]):
        for k in range(n):
            out[i, k] = flat[i * n + k]
    return out


@inner(lambda rows, n, dtype: types.Array(dtype.dtype, 2, "C"))
def _first(rows, n, dtype):
    """The first n entries of each row, in a complex dtype."""
    out = blank((rows.shape[0], n), dtype)
    for i in range(out.shape[0]):
        for k in range(n):
            out[i, k] = rows[i, k]
    return out


def _fft(x):
    """numpy.fft.fft along the last axis.

    >>> fft(np.array([1.0, 1.0])).tolist()
    [(2+0j), 0j]
    """
    rows = _wide_rows(x)
    _transform_rows(rows, False)
    return viewed(_first(rows, x.shape[-1], complex_dtype(x)), x.shape)


def _ifft(x):
    """numpy.fft.ifft along the last axis.

    >>> ifft(np.array([2.0, 0.0])).tolist()
    [(1+0j), (1+0j)]
    """
    rows = _wide_rows(x)
    _transform_rows(rows, True)
    return viewed(_first(rows, x.shape[-1], complex_dtype(x)), x.shape)


# A real array of even length n = 2 m is a complex one of length m, z[k] = x[2 k] + i x[2 k + 1]. The transforms of x's
# even and odd elements are E[k] = (Z[k] + conj Z[m - k]) / 2 and O[k] = (Z[k] - conj Z[m - k]) / 2i, and that of x is
# E[k] + exp(-2 pi i k / n) O[k] (Van Loan, section 4.3).


@inner(lambda x: types.Array(types.complex128, 2, "C"))
def _paired_rows(x):
    """The elements of each real row of even length, two by two, as complex128."""
    m, flat = x.shape[-1] // 2, viewed(contiguous(x), (x.size,))
    out = blank((x.size // (2 * m), m), np.complex128)
    for i in range(out.shape[0]):
        for k in range(m):
            out[i, k] = complex(flat[2 * (i * m + k)], flat[2 * (i * m + k) + 1])
    return out


@inner(lambda *_: types.none, apart=True)
def _unpaired(rows, w, out):
    """The transforms of real rows of length 2 m, from those of their paired rows."""
    m = rows.shape[1]
    for i in range(rows.shape[0]):
        z = rows[i, 0]
        out[i, 0], out[i, m] = z.real + z.imag, z.real - z.imag
        for k in range(1, m):
            a, b = rows[i, k], np.conj(rows[i, m - k])
            out[i, k] = _scaled(a + b + _turned(a - b) * w[k], 0.5)


@inner(lambda *_: types.none, apart=True)
def _paired(given, w, rows):
    """The transforms of the paired rows, from the first entries of those of real rows of length 2 m; others are zero.
    """
    m, last = rows.shape[1], given.shape[1] - 1
    for i in range(rows.shape[0]):
        first = given[i, 0].real
        end = given[i, m].real if m <= last else 0.0
        rows[i, 0] = complex((first + end) * 0.5, (first - end) * 0.5)
        for k in range(1, m):
            a = given[i, k] if k <= last else complex(0.0, 0.0)
            b = np.conj(given[i, m - k]) if m - k <= last else complex(0.0, 0.0)
            rows[i, k] = _scaled(a + b - _turned((a - b) * np.conj(w[k])), 0.5)


def _rfft(x):
    """numpy.fft.rfft of a real array along the last axis.

    >>> rfft(np.array([1.0, 1.0, 1.0])).tolist()
    [(3+0j), 0j]
    """
    length = x.shape[-1]
    n, shape = length // 2 + 1, x.shape[:-1] + (length // 2 + 1,)
    if length % 2 or length == 0:
        rows = _wide_rows(x)
        _transform_rows(rows, False)
        return viewed(_first(rows, n, complex_dtype(x)), shape)
    paired = _paired_rows(x)
    _transform_rows(paired, False)
    out = blank((paired.shape[0], n), complex_dtype(x))
    _unpaired(paired, _roots(length), out)
    return viewed(out, shape)


def _irfft(x, n):
    """numpy.fft.irfft along the last axis, to real arrays of length n.

    >>> irfft(np.array([3.0, 0.0]), 3).tolist()
    [1.0, 1.0, 1.0]
    """
    given, kept = _wide_rows(x), min(x.shape[-1], n // 2 + 1)
    out = blank((given.shape[0], n), x.real.dtype)
    if n % 2 == 0 and n > 0:
        paired = blank((given.shape[0], n // 2), np.complex128)
        _paired(given, _roots(n), paired)
        _transform_rows(paired, True)
        for i in range(paired.shape[0]):
            for k in range(n // 2):
                out[i, 2 * k], out[i, 2 * k + 1] = paired[i, k].real, paired[i, k].imag
        return viewed(out, x.shape[:-1] + (n,))
    rows = zeros((given.shape[0], n), np.complex128)
    for i in range(rows.shape[0]):
        rows[i, 0] = given[i, 0].real
        for k in range(1, kept):
            rows[i, k] = given[i, k]
            rows[i, n - k] = np.conj(rows[i, k])
    _transform_rows(rows, True)
    for i in range(rows.shape[0]):
        for k in range(n):
            out[i, k] = rows[i, k].real
    return viewed(out, x.shape[:-1] + (n,))


def _kernel(plain, name, body, real):
    """A kernel of one array of floats or complex numbers (and of flags)."""
    single = {types.float32: types.complex64, types.float64: types.complex128}
    double = {c: r for r, c in single.items()}

    def rule(*args):
        x = args[0] if args else None
        if not isinstance(x, types.Array) or not x.ndim or x.dtype not in {*single, *double}:
            return None
        dtype = double.get(x.dtype, x.dtype) if real else single.get(x.dtype, x.dtype)
        return (types.Array(dtype, x.ndim, "C"), *args)

    return compiled_as(quiet(plain, body.__doc__, name), rule, emit_python(body, fast=True, apart=True))


fft, ifft = _kernel(np.fft.fft, "fft", _fft, real=False), _kernel(np.fft.ifft, "ifft", _ifft, real=False)
rfft, irfft = _kernel(np.fft.rfft, "rfft", _rfft, real=False), _kernel(np.fft.irfft, "irfft", _irfft, real=True)
