"""Special data, over the overrides: zeros of both signs, ties, nan, infinities, subnormal and huge numbers, leading
zeros, degenerate matrices, empty arrays.

The value is NumPy's, in both tiers; an error is NumPy's, or fad's own. A derivative is the function's, or nan: where
the slopes to both sides settle on one number, nothing else may come out that is finite. All values are tried
interpreted; compiled ones, and derivatives, for a share of the samples (see shares.py).
"""
import re
import warnings
import zlib

import numpy as np
import pytest

import fad
from fad.ops.override import BY_NAME, load_all
from fad.util.errors import FadError

from ..texts import executed
from ..turns import in_turn
from .shares import share
from .test_overrides import SCOPE, VALUES, listed, names_in

load_all()
LEFT_TO_OTHERS = ("signal.", "stats.", "interpolate.", "integrate.", "distance.", "ndimage.", "optimize.", "fftpack.",
                  "math.")
SAMPLES = [e for e in sorted({sample for override in BY_NAME.values() for sample in override.samples})
           if names_in(e) and not any(library in e for library in LEFT_TO_OTHERS)]
X, V, S = (VALUES[name] for name in "xvS")
ONE_AFTER_ANOTHER = np.outer(np.arange(1.0, 5.0), np.ones(4))


def put(x, *entries):
    """x with other values at some places."""
    x = x.copy()
    for place, value in entries:
        x.flat[place] = value
    return x


SPECIAL = {
    "negative zeros": (-0.0 * X, -0.0 * V, -0.0 * abs(S)),
    "zeros": (0 * X, 0 * V, 0 * abs(S)),
    "some zeros": (put(X, (0, -0.0), (1, 0.0), (5, -0.0)), put(V, (0, -0.0), (2, 0.0)),
                   put(np.eye(4), (1, -0.0), (4, -0.0))),
    "all equal": (np.full((3, 4), 0.5), np.full(4, 0.5), np.full((4, 4), 0.5)),
    "ties": (put(X, (1, X.flat[0]), (5, X.flat[0])), put(V, (2, V[0])), np.diag([2.0, 2.0, 3.0, 3.0])),
    "leading zeros": (put(X, (0, 0.0), (1, 0.0), (4, 0.0), (8, 0.0)), put(V, (0, 0.0), (1, 0.0)), ONE_AFTER_ANOTHER),
    "trailing zeros": (put(X, (3, 0.0), (7, 0.0), (11, 0.0)), put(V, (3, 0.0), (2, 0.0)),
                       np.eye(4) * 2 + np.eye(4, k=1)),
    "nan": (put(X, (5, np.nan)), put(V, (1, np.nan)), put(S, (6, np.nan))),
    "infinity": (put(X, (5, np.inf)), put(V, (1, np.inf)), put(S, (6, np.inf))),
    "minus infinity": (put(X, (5, -np.inf)), put(V, (1, -np.inf)), put(S, (6, -np.inf))),
    "subnormal": (np.full((3, 4), 5e-324), np.full(4, 5e-324), S * 1e-310),
    "huge": (X * 1e300, V * 1e300, S * 1e300),
    "empty": (np.zeros((3, 0)), np.zeros(0), np.zeros((0, 0))),
}
FINITE = ("zeros", "some zeros", "all equal", "ties", "leading zeros", "trailing zeros")
INFINITE = ("nan", "infinity", "minus infinity")
EXTREME = ("infinity", "minus infinity", "subnormal", "huge")

# What is known to differ: (beginning of an expression, special data, why).
DIFFERENT = (
    ("np.convolve", INFINITE, "zeros beside the shorter vector are multiplied by what is not finite"),
    ("np.correlate", INFINITE, "the same"),
    ("np.poly", ("nan", *EXTREME),
     "the same, and Horner's rule begins with the first coefficient, NumPy's with zero times x"),
    ("la.convolution_matrix", INFINITE, "the same"),
    ("np.polynomial", ("nan", *EXTREME), "the same; Clenshaw's rule of NumPy begins otherwise"),
    ("np.geomspace", INFINITE, "NumPy puts the ends in by hand"),
    ("np.einsum", EXTREME, "the order of products"),
    ("np.linalg", EXTREME, "what LAPACK makes of them differs from library to library"),
    ("np.matvec", EXTREME, "the order of sums"),
    ("np.vecmat", EXTREME, "the order of sums"),
    ("la.", EXTREME, "what LAPACK makes of them differs from library to library"),
    ("la.lu_solve", FINITE + ("negative zeros",), "SciPy divides by a zero pivot, fad raises"),
    ("la.polar", FINITE + ("negative zeros",), "SciPy goes by singular values; fad needs full rank, and raises"),
    ("la.orthogonal_procrustes", FINITE + ("negative zeros",), "the same"),
    ("la.solve", FINITE + ("negative zeros",),
     "SciPy takes the structure into account, and finds other matrices singular"),
    ("la.inv", FINITE, "the same"),
    ("la.fractional_matrix_power", FINITE + ("negative zeros",),
     "at rounding's mercy: SciPy's result is complex if an eigenvalue of zero comes out negative"),
    ("np.fft", (*INFINITE, "empty"), "whole transforms of what is not finite; of nothing, what stood in memory"),
    ("np.real(np.fft", INFINITE, "the same"),
    ("la.matmul_toeplitz", ("empty",), "SciPy loses an extent"),
    ("la.fiedler", ("empty",), "the same"),
    ("np.poly(", ("empty",), "NumPy gives a number"),
    ("np.polydiv", ("trailing zeros",), "a remainder that is rounding alone"),
    ("np.linalg.cond", FINITE, "a singular matrix's is a quotient of rounding errors"),
)
SIGNS = ("la.", "np.linalg", "np.fft", "np.real(np.fft", "np.einsum", "np.poly", "np.gradient", "np.median", "np.nanm",
         "np.subtract", "np.pad", "np.vecmat", "np.quantile", "np.nanquantile", "np.percentile",
         "np.nanpercentile")            # sums of zeros in another order, and their signs
# Zeros of both signs are equal. Which one NumPy takes for the least or the first depends on the instructions of the
# machine.
ORDERING = re.compile(r"\b(nan)?(arg)?(min|max|sort|ptp|partition|clip)\b|minimum|maximum|fmin|fmax|sort|"
                      r"unique|union1d|intersect1d|set(diff|xor)1d")

# Kinks where a choice is made that differences do not show: sorted ties keep their order, equal eigenvalues their
# vectors (docs/kinks.md).
CHOSEN = ("median", "quantile", "percentile", "sort", "setdiff1d", "setxor1d", "eigvalsh_tridiagonal", "pivoting=True",
          "unique", "union1d", "intersect1d", "lstsq", "pinv", "copysign")


def function_of(expression):
    """The function, with a text that can be found, and the names of its arguments."""
    names = names_in(expression)
    setting = "    P = S @ S.T + 4 * np.eye(len(S))\n" if "S" in names and "P" in expression else ""
    text = f"def f({', '.join(names)}):\n{setting}    return {expression}\n"
    return executed(text, dict(SCOPE))["f"], names


def at(data, names):
    return [dict(zip("xvS", data))[name].copy() for name in names]


def outcome(f, xs):
    """The result, or the error."""
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return f(*xs), None
    except Exception as error:
        return None, error


def difference(expression, got, want):
    """How results differ: "" if they do not."""
    got, want = listed(got), listed(want)
    if [(y.shape, y.dtype) for y in got] != [(y.shape, y.dtype) for y in want]:
        return f"{[(y.shape, y.dtype) for y in got]} for {[(y.shape, y.dtype) for y in want]}"
    for g, w in zip(got, want):
        for a, b in ((g.real, w.real), (g.imag, w.imag)) if w.dtype.kind == "c" else ((g, w),):
            size = np.abs(b[np.isfinite(b)]).max(initial=0.0) if b.dtype.kind == "f" else 0.0
            zeros = (a == 0) & (b == 0)
            has_signs = b.dtype.kind == "f" and not expression.startswith(SIGNS) and not ORDERING.search(expression)
            other_sign = has_signs and (np.signbit(a) != np.signbit(b))[zeros].any()
            if other_sign or not np.allclose(a, b, rtol=1e-9, atol=min(1e-12, 1e-9 * size), equal_nan=True):
                return f"{a.tolist()} for {b.tolist()}"
    return ""


def compare(expression, tier):
    f, names = function_of(expression)
    known = {name for start, data, _ in DIFFERENT if expression.startswith(start) or f"({start}" in expression
             for name in data}
    with fad.config.using(compile=tier):
        g = fad.jit(f)
        for name, data in SPECIAL.items():
            if name in known:
                continue
            (want, expected), (got, error) = outcome(f, at(data, names)), outcome(g, at(data, names))
            if expected is not None and name != "empty":
                assert isinstance(error,
                                  (FadError,
                                   type(expected))), f"{name}: {got if error is None else error!r} for {expected!r}"
            elif error is not None:
                assert name == "empty" or isinstance(error, FadError), f"{name}: {error!r}"
            elif expected is None:
                said = difference(expression, got, want)
                assert not said, f"{name}: {said}"


@pytest.mark.parametrize("expression", in_turn(SAMPLES))
def test_interpreted_values_are_numpys(expression):
    if expression.startswith("la.rq"):
        # fad takes LAPACK's qr: of degenerate matrices rounding decides, by processor
        return
    compare(expression, "never")


@pytest.mark.parametrize("expression", share(SAMPLES, 80))
def test_compiled_values_are_numpys(expression):
    if "eig" in expression or "svd" in expression or "qr" in expression or expression.startswith("la."):
        return                                                # vectors of degenerate matrices are LAPACK's choice
    compare(expression, "now")


def weighted(f):
    """The sum of all real results, each with a weight of its own."""
    def of(*xs):
        y, total = f(*xs), 0.0
        for part in y if isinstance(y, (tuple, list)) else [y]:
            for a in (np.real(part), np.imag(part)) if np.iscomplexobj(part) else (part,):
                total = total + np.sum(a * (1.0 + 0.3 * np.cos(1.0 + np.arange(np.size(a)).reshape(np.shape(a)))))
        return total
    return of


def slopes(f, xs, dxs):
    """The slopes of f along dxs to the right and to the left, at two steps."""
    here = f(*xs)
    return np.array([(f(*[x + h * dx for x, dx in zip(xs, dxs)]) - here) / h for h in (1e-5, -1e-5, 2e-6, -2e-6)])


@pytest.mark.parametrize("expression", share(SAMPLES, 6))
def test_a_derivative_is_the_true_one_or_nan(expression):
    if any(word in expression for word in CHOSEN):
        return
    f, names = function_of(expression)
    loss, rng = weighted(f), np.random.default_rng(zlib.crc32(expression.encode()))
    with fad.config.using(compile="never"):
        for name in FINITE:
            xs = at(SPECIAL[name], names)
            dxs = [rng.uniform(0.5, 1.5, x.shape) * rng.choice([-1, 1], x.shape) for x in xs]
            around, error = outcome(lambda *xs, dxs=dxs: slopes(loss, xs, dxs), xs)
            gs, refused = outcome(fad.grad(loss, argnums=tuple(range(len(xs)))), xs)
            if error is not None or refused is not None or not np.isfinite(around).all():
                continue
            got = sum(np.sum(g * dx) for g, dx in zip(gs, dxs))
            if np.isfinite(got) and np.ptp(around) < 1e-2 * (1 + abs(around[0])):
                assert abs(got - around.mean()) < 2e-2 * (1 + abs(got)), f"{name}: {got} for {around}"
