"""scipy.ndimage: filters of known sizes as sums of shifted arrays, and interpolation between grid points."""
import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...ir.op import registry
from ...ir.types import INT
from ..choice import where
from ..face import BY_NAME, face
from ..kinds import shape_of
from .arguments import as_array, fixed, one_axis, rank, refuse
from .fft import signal

EDGES = {"reflect": "symmetric", "grid-mirror": "symmetric", "constant": "constant", "grid-constant": "constant", "nearest": "edge", "mirror": "reflect",
         "wrap": "wrap", "grid-wrap": "wrap"}


def _around(x: Any, ax: int, before: int, after: int, mode: str, cval: Any) -> Any:
    """x with what its filter sees outside of it, along an axis."""
    if mode not in EDGES:
        raise ValueError("boundary mode not supported")
    widths = [(before, after) if k == ax else (0, 0) for k in range(rank(x))]
    return BY_NAME["numpy.pad"].call(x, widths, EDGES[mode], **({"constant_values": cval} if EDGES[mode] == "constant" else {}))


def _weighted(x: Any, weights: list, size: int, origin: int, ax: int, mode: str, cval: Any) -> Any:
    """The sum of weights[k] x[i + k - size // 2 - origin] along an axis."""
    before = size // 2 + origin
    if not 0 <= before < size:
        raise ValueError("invalid origin")
    padded, n = _around(x, ax, before, size - 1 - before, mode, cval), shape_of(x)[ax]
    total: Any = 0.0
    for k, weight in enumerate(weights):
        total = total + weight * registry["slice_axis"](padded, ax, k, n)
    return total


def _elements(w: Any) -> list:
    n = fixed(shape_of(w)[0], "the size of a filter")
    return [registry["index"](w, k, spec=("i",), at=0) for k in range(n)]


def _no_output(name: str, output: Any) -> None:
    if output is not None:
        raise refuse(name, "output", do="assign the result")


@face("scipy.ndimage.correlate1d", samples=("ndimage.correlate1d(x, v[:3])", "ndimage.correlate1d(x, v[:2], axis=0, mode='wrap')"))
def correlate1d(input: Any, weights: Any, axis: int = -1, output: Any = None, mode: str = "reflect", cval: Any = 0.0, origin: int = 0) -> Any:
    _no_output("scipy.ndimage.correlate1d", output)
    x, taps = signal(input), _elements(as_array(weights))
    return _weighted(x, taps, len(taps), origin, one_axis(axis, rank(x)), mode, cval)


@face("scipy.ndimage.convolve1d", samples=("ndimage.convolve1d(x, v[:3], mode='nearest')",))
def convolve1d(input: Any, weights: Any, axis: int = -1, output: Any = None, mode: str = "reflect", cval: Any = 0.0, origin: int = 0) -> Any:
    _no_output("scipy.ndimage.convolve1d", output)
    x, taps = signal(input), _elements(as_array(weights))[::-1]
    return _weighted(x, taps, len(taps), -origin - (len(taps) % 2 == 0), one_axis(axis, rank(x)), mode, cval)


def _for_axes(given: Any, axes: tuple) -> list:
    """One value for each axis that is filtered."""
    return list(given) if isinstance(given, (tuple, list)) else [given] * len(axes)


def _separable(name: str, along: Callable) -> Callable:
    """A filter of many dimensions that is one of one dimension along each axis in turn."""
    def filtered(input: Any, amount: Any, *options: Any, axes: Any = None, **named: Any) -> Any:
        x = signal(input)
        over = tuple(range(rank(x))) if axes is None else tuple([one_axis(ax, rank(x)) for ax in ((axes,) if isinstance(axes, int) else axes)])
        for k, ax in enumerate(over):
            here = {key: _for_axes(value, over)[k] for key, value in named.items()}
            x = along(x, _for_axes(amount, over)[k], ax, *[_for_axes(o, over)[k] for o in options], **here)
        return x
    return filtered


def _gaussian_taps(sigma: float, order: int, radius: int) -> list:
    """The samples of a Gaussian, or of its derivative, by Hermite's recurrence: its polynomial q goes to q' - x q / sigma^2."""
    x = np.arange(-radius, radius + 1)
    bell = np.exp(-0.5 * (x / sigma) ** 2)
    polynomial = np.polynomial.Polynomial([1.0])
    for _ in range(order):
        polynomial = polynomial.deriv() - polynomial * np.polynomial.Polynomial([0.0, 1.0 / sigma ** 2])
    return [float(t) for t in bell / bell.sum() * polynomial(x)]


@face("scipy.ndimage.gaussian_filter1d", samples=("ndimage.gaussian_filter1d(x, 0.6)", "ndimage.gaussian_filter1d(v, 0.8, order=1, mode='constant')"))
def gaussian_filter1d(input: Any, sigma: Any, axis: int = -1, order: int = 0, output: Any = None, mode: str = "reflect", cval: Any = 0.0,
                      truncate: float = 4.0, *, radius: "int | None" = None) -> Any:
    _no_output("scipy.ndimage.gaussian_filter1d", output)
    if not isinstance(sigma, (int, float, np.number)):
        raise refuse("scipy.ndimage.gaussian_filter1d", "a traced sigma", "the size of the filter follows from it", "write the weights, and use convolve1d")
    sigma = float(sigma)
    half = int(truncate * sigma + 0.5) if radius is None else radius
    x = signal(input)
    taps = _gaussian_taps(sigma, order, half)[::-1]
    return _weighted(x, taps, len(taps), 0, one_axis(axis, rank(x)), mode, cval)


@face("scipy.ndimage.gaussian_filter", samples=("ndimage.gaussian_filter(x, 0.5)", "ndimage.gaussian_filter(x, (0.5, 0.4), mode='wrap')"))
def gaussian_filter(input: Any, sigma: Any, order: Any = 0, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, truncate: float = 4.0, *,
                    radius: Any = None, axes: Any = None) -> Any:
    _no_output("scipy.ndimage.gaussian_filter", output)

    def along(x: Any, sigma: Any, ax: int, order: int, mode: str, radius: "int | None") -> Any:
        if not isinstance(sigma, (int, float)) or sigma > 1e-15:
            return gaussian_filter1d(x, sigma, ax, order, None, mode, cval, truncate, radius=radius)
        return x
    return _separable("gaussian_filter", along)(input, sigma, order, mode, radius, axes=axes)


@face("scipy.ndimage.uniform_filter1d", samples=("ndimage.uniform_filter1d(x, 3)",))
def uniform_filter1d(input: Any, size: int, axis: int = -1, output: Any = None, mode: str = "reflect", cval: Any = 0.0, origin: int = 0) -> Any:
    _no_output("scipy.ndimage.uniform_filter1d", output)
    x = signal(input)
    return _weighted(x, [1.0 / size] * size, size, origin, one_axis(axis, rank(x)), mode, cval)


@face("scipy.ndimage.uniform_filter", samples=("ndimage.uniform_filter(x, 2)",))
def uniform_filter(input: Any, size: Any = 3, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0, *, axes: Any = None) -> Any:
    _no_output("scipy.ndimage.uniform_filter", output)
    along: Callable = lambda x, size, ax, mode, origin: uniform_filter1d(x, size, ax, None, mode, cval, origin) if size > 1 else x  # noqa: E731
    return _separable("uniform_filter", along)(input, size, mode, origin, axes=axes)


def _windowed(name: str, flips: bool) -> Callable:
    """correlate or convolve: one shifted array for each weight."""
    def filtered(input: Any, weights: Any, output: Any = None, mode: str = "reflect", cval: Any = 0.0, origin: Any = 0, *, axes: Any = None) -> Any:
        _no_output(f"scipy.ndimage.{name}", output)
        x, w = signal(input), as_array(weights)
        if axes is not None or rank(w) != rank(x):
            raise refuse(f"scipy.ndimage.{name}", "axes, or weights of another rank than the input's")
        sizes = [fixed(n, "the size of a filter") for n in shape_of(w)]
        whole = x
        for ax, (m, o) in enumerate(zip(sizes, _for_axes(origin, tuple(sizes)))):
            before = m // 2 + (-o - (m % 2 == 0) if flips else o)
            if not 0 <= before < m:
                raise ValueError("invalid origin")
            whole = _around(whole, ax, before, m - 1 - before, mode, cval)
        total: Any = 0.0
        for at in itertools.product(*map(range, sizes)):
            seen = whole
            for ax, k in enumerate(at):
                seen = registry["slice_axis"](seen, ax, sizes[ax] - 1 - k if flips else k, shape_of(x)[ax])
            total = total + registry["index"](w, *at, spec=("i",) * len(at), at=0) * seen
        return total
    return filtered


face("scipy.ndimage.correlate", samples=("ndimage.correlate(x, x[:2, :3])",))(_windowed("correlate", False))
face("scipy.ndimage.convolve", samples=("ndimage.convolve(x, x[:2, :3], mode='constant', cval=1.5)",))(_windowed("convolve", True))

# -- interpolation ------------------------------------------------------------------------------------------------------------------


def _inside(at: Any, n: Any, mode: str) -> tuple:
    """An integer index brought into the array, and whether what is there counts."""
    if mode == "nearest":
        return where(at < 0, 0, where(at > n - 1, n - 1, at)), True
    if mode == "grid-wrap":
        return at % n, True
    if mode == "mirror":
        turn = abs(at) % (2 * (n - 1))
        return where(turn > n - 1, 2 * (n - 1) - turn, turn), True
    if mode in ("reflect", "grid-mirror"):
        turn = at % (2 * n)
        return where(turn > n - 1, 2 * n - 1 - turn, turn), True
    counts = (at >= 0) & (at < n)
    return where(counts, at, 0), counts


@face("scipy.ndimage.map_coordinates", samples=("ndimage.map_coordinates(x, [2.0 * v, 3.0 * v], order=1)",
                                                "ndimage.map_coordinates(x, [v, 2.5 * v], order=1, mode='nearest')"))
def map_coordinates(input: Any, coordinates: Any, output: Any = None, order: int = 3, mode: str = "constant", cval: Any = 0.0, prefilter: bool = True) -> Any:
    """Linear interpolation (order 1) or the nearest grid point (order 0) at fractional indices."""
    _no_output("scipy.ndimage.map_coordinates", output)
    if order not in (0, 1):
        raise refuse("scipy.ndimage.map_coordinates", f"order={order}", "it solves for the coefficients of a spline", "use order=1")
    if mode not in ("constant", "grid-constant", "nearest", "grid-wrap", "mirror", "reflect", "grid-mirror"):
        raise refuse("scipy.ndimage.map_coordinates", f"mode={mode!r}")
    x, at = signal(input), as_array(coordinates)
    places = [registry["index"](at, k, spec=("i",) + (":",) * (rank(at) - 1), at=0) for k in range(rank(x))]
    corners = [_corners(place, n, order, mode) for place, n in zip(places, shape_of(x))]
    total: Any = 0.0
    for chosen in itertools.product(*corners):
        weight: Any = math.prod([c[1] for c in chosen])
        value = registry["index"](x, *[c[0] for c in chosen], spec=("a",) * rank(x), at=0)
        counts = [c[2] for c in chosen if c[2] is not True]
        for c in counts:
            value = where(c, value, cval)
        total = total + weight * value
    if mode == "constant":                                     # what lies outside the grid is not interpolated with its edge
        for place, n in zip(places, shape_of(x)):
            total = where((place < 0) | (place > n - 1), cval, total)
    return total


def _corners(place: Any, n: Any, order: int, mode: str) -> list:
    """The grid points beside a place: index, weight, and whether the point is in the grid."""
    if order == 0:
        at = registry["cast"](registry["floor"](place + 0.5), dtype=INT)
        index, counts = _inside(at, n, mode)
        return [(index, 1.0, counts)]
    low = registry["floor"](place)
    share = place - low
    below = registry["cast"](low, dtype=INT)
    corners = [(below, 1.0 - share), (below + 1, share)]
    return [(*_inside(at, n, mode)[:1], weight, _inside(at, n, mode)[1]) for at, weight in corners]


# -- derivatives of images -----------------------------------------------------------------------------------------------------------


def _summed_over_axes(name: str, samples: tuple) -> Callable:
    """Decorator: a filter that is the sum over all axes of one along each."""
    def register(along: Callable) -> Callable:
        def filtered(input: Any, *args: Any, output: Any = None, mode: str = "reflect", cval: Any = 0.0, **options: Any) -> Any:
            _no_output(f"scipy.ndimage.{name}", output)
            x = signal(input)
            return sum(along(x, ax, *args, mode=mode, cval=cval, **options) for ax in range(rank(x)))
        return face(f"scipy.ndimage.{name}", samples=samples)(filtered)
    return register


@_summed_over_axes("laplace", samples=("ndimage.laplace(x)", "ndimage.laplace(v, mode='wrap')"))
def _second_difference(x: Any, ax: int, mode: str, cval: Any) -> Any:
    return correlate1d(x, [1.0, -2.0, 1.0], ax, None, mode, cval)


@_summed_over_axes("gaussian_laplace", samples=("ndimage.gaussian_laplace(x, 0.6)",))
def _smooth_second_difference(x: Any, ax: int, sigma: Any, mode: str, cval: Any, **options: Any) -> Any:
    return gaussian_filter(x, sigma, [2 if k == ax else 0 for k in range(rank(x))], None, mode, cval, **options)


def _slope(name: str, across: list) -> Callable:
    """A difference along one axis, smoothed along the others."""
    def filtered(input: Any, axis: int = -1, output: Any = None, mode: str = "reflect", cval: Any = 0.0) -> Any:
        _no_output(f"scipy.ndimage.{name}", output)
        x = signal(input)
        ax = one_axis(axis, rank(x))
        for k in range(rank(x)):
            x = correlate1d(x, [-1.0, 0.0, 1.0] if k == ax else across, k, None, mode, cval)
        return x
    return face(f"scipy.ndimage.{name}", samples=(f"ndimage.{name}(x)", f"ndimage.{name}(x, 0, mode='nearest')"))(filtered)


_slope("sobel", [1.0, 2.0, 1.0])
_slope("prewitt", [1.0, 1.0, 1.0])
