"""scipy.ndimage's filters: those of known sizes are sums of shifted arrays."""
import functools
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ...ir.op import registry
from ...ir.types import type_of
from ...util.array import AnyArray, ArrayLike, ArrayOrNumber, Axes
from ..kinds import is_complex, shape_of
from ..override import BY_NAME, override
from .arguments import as_array, axes_of, fixed, in_dtype, one_axis, rank, refuse, taken
from .fft import signal

EDGES = {"reflect": "symmetric", "grid-mirror": "symmetric", "constant": "constant", "grid-constant": "constant",
         "nearest": "edge", "mirror": "reflect", "wrap": "wrap", "grid-wrap": "wrap"}


def image(name: str, input: object) -> AnyArray:
    """The array to be filtered, of floating numbers."""
    x = as_array(input)
    if type_of(x).dtype.kind in "biu":
        raise refuse(f"scipy.ndimage.{name}", "arrays of whole numbers", "SciPy rounds each step to whole numbers",
                     "take x.astype(float)")
    return signal(x)


def in_dtype_of(x: ArrayOrNumber, y: AnyArray) -> AnyArray:
    """y, computed from x, in x's precision."""
    return y if is_complex(y) and not is_complex(x) else in_dtype(y, type_of(x).dtype)


def _around(x: ArrayOrNumber, ax: int, before: int, after: int, mode: str, cval: float) -> AnyArray:
    """x with what its filter sees outside of it, along an axis."""
    if mode not in EDGES:
        raise ValueError("boundary mode not supported")
    widths = [(before, after) if k == ax else (0, 0) for k in range(rank(x))]
    return BY_NAME["numpy.pad"].call(x, widths, EDGES[mode],
                                     **({"constant_values": cval} if EDGES[mode] == "constant" else {}))


def _weighted(x: ArrayOrNumber, weights: list, size: int, origin: int, ax: int, mode: str, cval: float) -> AnyArray:
    """The sum of weights[k] x[i + k - size // 2 - origin] along an axis."""
    total: Any = 0.0
    for part, weight in zip(_window(x, size, origin, ax, mode, cval), weights):
        total = total + weight * part
    return in_dtype_of(x, total)


def _window(x: ArrayOrNumber, size: int, origin: int, ax: int, mode: str, cval: float) -> Iterator[AnyArray]:
    """x[i + k - size // 2 - origin] along an axis, for each k in the window."""
    before = size // 2 + origin
    if not 0 <= before < size:
        raise ValueError("invalid origin")
    padded, n = _around(x, ax, before, size - 1 - before, mode, cval), shape_of(x)[ax]
    for k in range(size):
        yield registry["slice_axis"](padded, ax, k, n)


def _elements(w: AnyArray) -> list:
    n = fixed(shape_of(w)[0], "the size of a filter")
    return [taken(w, k) for k in range(n)]


def no_output(name: str, output: object) -> None:
    if output is not None:
        raise refuse(name, "output", do="assign the result")


@override("scipy.ndimage.correlate1d",
          samples=("ndimage.correlate1d(x, v[:3])", "ndimage.correlate1d(x, v[:2], axis=0, mode='wrap')"))
def correlate1d(input: ArrayLike, weights: ArrayLike, axis: int = -1, output: object = None, mode: str = "reflect",
                cval: float = 0.0, origin: int = 0) -> AnyArray:
    no_output("scipy.ndimage.correlate1d", output)
    x, taps = image("correlate1d", input), _elements(as_array(weights))
    return _weighted(x, taps, len(taps), origin, one_axis(axis, rank(x)), mode, cval)


@override("scipy.ndimage.convolve1d", samples=("ndimage.convolve1d(x, v[:3], mode='nearest')",))
def convolve1d(input: ArrayLike, weights: ArrayLike, axis: int = -1, output: object = None, mode: str = "reflect",
               cval: float = 0.0, origin: int = 0) -> AnyArray:
    no_output("scipy.ndimage.convolve1d", output)
    x, taps = image("convolve1d", input), _elements(as_array(weights))[::-1]
    return _weighted(x, taps, len(taps), -origin - (len(taps) % 2 == 0), one_axis(axis, rank(x)), mode, cval)


def _for_axes(given: object, axes: tuple) -> list:
    """One value for each axis that is filtered."""
    return list(given) if isinstance(given, (tuple, list)) else [given] * len(axes)


def _separable(name: str, along: Callable) -> Callable:
    """A filter of many dimensions that is one of one dimension along each axis in turn."""
    def filtered(input: AnyArray, amount: object, *options: object, axes: Axes = None, **named: object) -> AnyArray:
        x = image(name, input)
        over = (tuple(range(rank(x))) if axes is None
                else tuple([one_axis(ax, rank(x)) for ax in ((axes,) if isinstance(axes, int) else axes)]))
        for k, ax in enumerate(over):
            here = {key: _for_axes(value, over)[k] for key, value in named.items()}
            x = along(x, _for_axes(amount, over)[k], ax, *[_for_axes(o, over)[k] for o in options], **here)
        return x
    return filtered


def _gaussian_taps(sigma: float, order: int, radius: int) -> list:
    """The samples of a Gaussian, or of its derivative, by Hermite's recurrence: its polynomial q goes to q' - x q /
    sigma^2."""
    x = np.arange(-radius, radius + 1)
    bell = np.exp(-0.5 * (x / sigma) ** 2)
    polynomial = np.polynomial.Polynomial([1.0])
    for _ in range(order):
        polynomial = polynomial.deriv() - polynomial * np.polynomial.Polynomial([0.0, 1.0 / sigma ** 2])
    return [float(t) for t in bell / bell.sum() * polynomial(x)]


@override("scipy.ndimage.gaussian_filter1d",
          samples=("ndimage.gaussian_filter1d(x, 0.6)", "ndimage.gaussian_filter1d(v, 0.8, order=1, mode='constant')"))
def gaussian_filter1d(input: ArrayLike, sigma: ArrayLike, axis: int = -1, order: int = 0, output: object = None,
                      mode: str = "reflect",
                      cval: float = 0.0, truncate: float = 4.0, *, radius: "int | None" = None) -> AnyArray:
    no_output("scipy.ndimage.gaussian_filter1d", output)
    if not isinstance(sigma, (int, float, np.number)):
        raise refuse("scipy.ndimage.gaussian_filter1d", "a traced sigma", "the size of the filter follows from it",
                     "write the weights, and use convolve1d")
    sigma = float(sigma)
    half = int(truncate * sigma + 0.5) if radius is None else radius
    x = image("gaussian_filter1d", input)
    taps = _gaussian_taps(sigma, order, half)[::-1]
    return _weighted(x, taps, len(taps), 0, one_axis(axis, rank(x)), mode, cval)


@override("scipy.ndimage.gaussian_filter",
          samples=("ndimage.gaussian_filter(x, 0.5)", "ndimage.gaussian_filter(x, (0.5, 0.4), mode='wrap')"))
def gaussian_filter(input: ArrayLike, sigma: ArrayLike, order: ArrayLike = 0, output: object = None,
                    mode: str = "reflect",
                    cval: float = 0.0, truncate: float = 4.0, *, radius: object = None, axes: Axes = None) -> AnyArray:
    no_output("scipy.ndimage.gaussian_filter", output)

    def along(x: ArrayOrNumber, sigma: object, ax: int, order: int, mode: str, radius: "int | None") -> ArrayOrNumber:
        if not isinstance(sigma, (int, float)) or sigma > 1e-15:
            return gaussian_filter1d(x, sigma, ax, order, None, mode, cval, truncate, radius=radius)
        return x
    return _separable("gaussian_filter", along)(input, sigma, order, mode, radius, axes=axes)


@override("scipy.ndimage.uniform_filter1d", samples=("ndimage.uniform_filter1d(x, 3)",))
def uniform_filter1d(input: ArrayLike, size: int, axis: int = -1, output: object = None, mode: str = "reflect",
                     cval: float = 0.0, origin: int = 0) -> AnyArray:
    no_output("scipy.ndimage.uniform_filter1d", output)
    x = image("uniform_filter1d", input)
    return _weighted(x, [1.0 / size] * size, size, origin, one_axis(axis, rank(x)), mode, cval)


@override("scipy.ndimage.uniform_filter", samples=("ndimage.uniform_filter(x, 2)",))
def uniform_filter(input: ArrayLike, size: ArrayLike = 3, output: object = None, mode: str = "reflect",
                   cval: float = 0.0, origin: object = 0, *, axes: Axes = None) -> AnyArray:
    no_output("scipy.ndimage.uniform_filter", output)

    def along(x: ArrayOrNumber, size: Any, ax: int, mode: str, origin: Any) -> Any:
        return uniform_filter1d(x, size, ax, None, mode, cval, origin) if size > 1 else x
    return _separable("uniform_filter", along)(input, size, mode, origin, axes=axes)


# -- the largest and the smallest in a window ------------------------------------------------------


def _extreme(name: str) -> None:
    """The overrides of maximum_filter or minimum_filter, in one dimension and in several."""
    larger = registry[name]

    def along(x: ArrayOrNumber, size: int, ax: int, mode: str, cval: float, origin: int) -> AnyArray:
        return functools.reduce(larger, _window(x, size, origin, ax, mode, cval))

    def filter1d(input: AnyArray, size: int, axis: int = -1, output: object = None, mode: str = "reflect",
                 cval: float = 0.0, origin: int = 0) -> AnyArray:
        no_output(f"scipy.ndimage.{name}_filter1d", output)
        x = image(f"{name}_filter1d", input)
        return along(x, size, one_axis(axis, rank(x)), mode, cval, origin)

    def filtered(input: AnyArray, size: "tuple | None" = None, footprint: object = None, output: object = None,
                 mode: str = "reflect", cval: float = 0.0, origin: object = 0, *, axes: Axes = None) -> AnyArray:
        no_output(f"scipy.ndimage.{name}_filter", output)
        if footprint is not None or size is None:
            raise refuse(f"scipy.ndimage.{name}_filter", "footprint", do="give size")

        def over(x: Any, size: Any, ax: int, mode: Any, origin: Any) -> Any:
            return along(x, size, ax, mode, cval, origin) if size > 1 else x
        return _separable(f"{name}_filter", over)(input, size, mode, origin, axes=axes)
    override(f"scipy.ndimage.{name}_filter1d", samples=(f"ndimage.{name}_filter1d(x, 2, mode='nearest')",))(filter1d)
    override(f"scipy.ndimage.{name}_filter", samples=(f"ndimage.{name}_filter(x, (2, 3), mode='mirror')",))(filtered)


_extreme("maximum")
_extreme("minimum")

# -- windows of several dimensions -----------------------------------------------------------------


def _windowed(name: str, flips: bool) -> Callable:
    """correlate or convolve: one shifted array for each weight."""
    def filtered(input: AnyArray, weights: AnyArray, output: object = None, mode: str = "reflect", cval: float = 0.0,
                 origin: object = 0, *, axes: Axes = None) -> AnyArray:
        no_output(f"scipy.ndimage.{name}", output)
        x, w = image(name, input), as_array(weights)
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
            total = total + taken(w, *at) * seen
        return in_dtype_of(x, total)
    return filtered


override("scipy.ndimage.correlate", samples=("ndimage.correlate(x, x[:2, :3])",))(_windowed("correlate", False))
override("scipy.ndimage.convolve",
         samples=("ndimage.convolve(x, x[:2, :3], mode='constant', cval=1.5)",))(_windowed("convolve", True))

# -- derivatives of images -------------------------------------------------------------------------


def _sum_over_axes(name: str, input: object, output: object, axes: Axes, along: Callable) -> AnyArray:
    """The sum over all axes (or over these) of a filter along each."""
    no_output(f"scipy.ndimage.{name}", output)
    x = image(name, input)
    return sum(along(x, ax) for ax in axes_of(axes, rank(x)))


@override("scipy.ndimage.laplace", samples=("ndimage.laplace(x)", "ndimage.laplace(v, mode='wrap')"))
def laplace(input: ArrayLike, output: object = None, mode: str = "reflect", cval: float = 0.0, *,
            axes: Axes = None) -> AnyArray:
    return _sum_over_axes("laplace", input, output, axes,
                          lambda x, ax: correlate1d(x, [1.0, -2.0, 1.0], ax, None, mode, cval))


@override("scipy.ndimage.gaussian_laplace", samples=("ndimage.gaussian_laplace(x, 0.6)",))
def gaussian_laplace(input: ArrayLike, sigma: object, output: object = None, mode: str = "reflect", cval: float = 0.0,
                     **options: object) -> AnyArray:
    if "axes" in options:
        raise refuse("scipy.ndimage.gaussian_laplace", "axes")
    def along(x: AnyArray, ax: int) -> AnyArray:
        orders = [2 if k == ax else 0 for k in range(rank(x))]
        return gaussian_filter(x, sigma, orders, None, mode, cval, **options)
    return _sum_over_axes("gaussian_laplace", input, output, None, along)


def _slope(name: str, across: list) -> Callable:
    """A difference along one axis, smoothed along the others."""
    def filtered(input: AnyArray, axis: int = -1, output: object = None, mode: str = "reflect",
                 cval: float = 0.0) -> AnyArray:
        no_output(f"scipy.ndimage.{name}", output)
        x = image(name, input)
        ax = one_axis(axis, rank(x))
        for k in range(rank(x)):
            x = correlate1d(x, [-1.0, 0.0, 1.0] if k == ax else across, k, None, mode, cval)
        return x
    return override(f"scipy.ndimage.{name}",
                    samples=(f"ndimage.{name}(x)", f"ndimage.{name}(x, 0, mode='nearest')"))(filtered)


_slope("sobel", [1.0, 2.0, 1.0])
_slope("prewitt", [1.0, 1.0, 1.0])


@override("scipy.ndimage.gaussian_gradient_magnitude", samples=("ndimage.gaussian_gradient_magnitude(x, 0.6)",))
def gaussian_gradient_magnitude(input: ArrayLike, sigma: object, output: object = None, mode: str = "reflect",
                                cval: float = 0.0, *, axes: Axes = None, **options: object) -> AnyArray:
    no_output("scipy.ndimage.gaussian_gradient_magnitude", output)
    if axes is not None:
        raise refuse("scipy.ndimage.gaussian_gradient_magnitude", "axes")
    x = image("gaussian_gradient_magnitude", input)
    slopes = [gaussian_filter(x, sigma, [int(k == ax) for k in range(rank(x))], None, mode, cval, **options)
              for ax in range(rank(x))]
    return registry["sqrt"](sum(slope * slope for slope in slopes))
