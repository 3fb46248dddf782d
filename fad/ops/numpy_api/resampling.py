"""scipy.ndimage's interpolation: spline_filter, map_coordinates, shift, zoom, affine_transform and rotate, with
splines of degree 0 to 5.

Recursive filters, one for each pole, compute the coefficients of a spline through the samples (M. Unser, A. Aldroubi
and M. Eden, IEEE Transactions on Pattern Analysis and Machine Intelligence 13 (1991) 277). The mode continues them
outside the samples.
"""
import functools
import itertools
import math
from typing import Any

import numpy as np

from ...ir.op import registry
from ...ir.types import INT, type_of
from ...util.array import AnyArray, ArrayLike, ArrayOrNumber, Extent
from ...util.lazy import imported
from ..choice import where
from ..kinds import shape_of
from ..literals import constant
from ..override import BY_NAME, override
from .arguments import as_array, fixed, in_dtype, live, one_axis, rank, refuse, taken
from .ndimage import image, in_dtype_of, no_output
from .piecewise import beside

MODES = ("constant", "grid-constant", "nearest", "grid-wrap", "mirror", "reflect", "grid-mirror")
POLES = {0: (), 1: (), 2: (8.0 ** 0.5 - 3.0,), 3: (3.0 ** 0.5 - 2.0,),
         4: tuple([(664.0 - sign * 438976.0 ** 0.5) ** 0.5 + sign * 304.0 ** 0.5 - 19.0 for sign in (1.0, -1.0)]),
         5: tuple([(67.5 - sign * 4436.25 ** 0.5) ** 0.5 + sign * 26.25 ** 0.5 - 6.5 for sign in (1.0, -1.0)])}
BORDER = 12                 # samples added at each end where a mode has no recursion of its own


def _checked(name: str, order: int, mode: str) -> None:
    if order not in POLES:
        raise RuntimeError("spline order not supported")
    if mode not in MODES:
        raise refuse(f"scipy.ndimage.{name}", f"mode={mode!r}")


# -- coefficients ----------------------------------------------------------------------------------


def _filtered(x: AnyArray, order: int, ax: int, mode: str) -> AnyArray:
    """The coefficients of the splines along an axis."""
    c = BY_NAME["numpy.moveaxis"].call(x, ax, 0)
    if (isinstance(shape_of(c)[0], int) and shape_of(c)[0] == 1) or not POLES[order]:
        return x
    c = c * math.prod([(1.0 - z) * (1.0 - 1.0 / z) for z in POLES[order]])
    for z in POLES[order]:
        c = _one_pole(c, z, "reflect" if mode in ("grid-mirror", "nearest") else mode)
    return BY_NAME["numpy.moveaxis"].call(c, 0, ax)


def _one_pole(c: AnyArray, z: float, mode: str) -> AnyArray:
    """Forward: c[k] + z c[k - 1]; then backward: z (c[k + 1] - c[k])."""
    n, join = shape_of(c)[0], BY_NAME["numpy.concatenate"].call
    # from the first sample backwards, one period
    before: dict = {"reflect": [c[:1], c, c[:0:-1]], "grid-wrap": [c[:1], c[:0:-1]]}
    period = before.get(mode, [c, c[1:-1][::-1]])
    start = _decaying_sum(join(period), z)
    start = _as_scipy_began(start, c, z) if mode == "reflect" and not _reflects_exactly() else start
    forward = join([start[None], c[1:]])
    factors = registry["full"](z, *shape_of(c), dtype=np.dtype(float))
    c = registry["linear_scan"](factors, forward, axis=0, reverse=False)
    if mode == "reflect":
        end = c[-1] * (z / (z - 1.0))
    elif mode == "grid-wrap":
        end = -z * _decaying_sum(join([c[-1:], c[:-1]]), z)
    else:
        end = (z * c[-2] + c[-1]) * (z / (z * z - 1.0))
    terms = join([registry["slice_axis"](c, 0, 0, n - 1) * -z, end[None]])
    return registry["linear_scan"](factors, terms, axis=0, reverse=True)


@functools.cache
def _reflects_exactly() -> bool:
    """Whether splines of reflected samples go through them. Those of SciPy before 1.18 miss them."""
    c = imported("scipy.ndimage").spline_filter1d([0.0, 1.0], 2, mode="reflect")
    return bool(abs(7.0 * c[0] + c[1]) < 1e-12)


def _as_scipy_began(start: AnyArray, c: AnyArray, z: float) -> AnyArray:
    """The first value of SciPy before 1.18: in its sum over a period, the last part of c[0] is the sum so far (of the
    order of z**2n)."""
    n = in_dtype(as_array(shape_of(c)[0]), float)
    far = z ** (2.0 * n)
    so_far = (start - c[0]) * ((1.0 - far) / z) - z ** (n - 1.0) * c[-1] - far / z * c[0]
    return start + far / (1.0 - far) * (so_far - c[0])


def _decaying_sum(x: AnyArray, z: float) -> AnyArray:
    """The sum of z**k x[k] over all k, of rows that repeat themselves."""
    n = shape_of(x)[0]
    powers = z ** in_dtype(registry["iota"](n, dtype=INT), float)
    return registry["sum"](x * beside(powers, x), axes=(0,)) / (1.0 - z ** in_dtype(as_array(n), float))


@override("scipy.ndimage.spline_filter1d",
          samples=("ndimage.spline_filter1d(x, 3)", "ndimage.spline_filter1d(x, 5, axis=0, mode='reflect')",
                   "ndimage.spline_filter1d(v, 2, mode='grid-wrap')"))
def spline_filter1d(input: ArrayLike, order: int = 3, axis: int = -1, output: object = np.float64,
                    mode: str = "mirror") -> AnyArray:
    _checked("spline_filter1d", order, mode)
    if output is not np.float64:
        raise refuse("scipy.ndimage.spline_filter1d", "output")
    x = _double(image("spline_filter1d", input))
    return _filtered(x, order, one_axis(axis, rank(x)), mode)


@override("scipy.ndimage.spline_filter", samples=("ndimage.spline_filter(x, 4)",))
def spline_filter(input: ArrayLike, order: int = 3, output: object = np.float64, mode: str = "mirror") -> AnyArray:
    x = image("spline_filter", input)
    for ax in range(rank(x)):
        x = spline_filter1d(x, order, ax, output, mode)
    return x


def _double(x: AnyArray) -> AnyArray:
    return in_dtype(x, np.result_type(type_of(x).dtype, float))


def _coefficients(x: AnyArray, axes: tuple, order: int, mode: str, cval: object, prefilter: bool) -> tuple:
    """The coefficients along some axes, and how many of them come before the first sample's."""
    x = _double(x)
    if not prefilter or order < 2:
        return x, 0
    border = BORDER if mode in ("nearest", "grid-constant") else 0
    if border:
        widths = [(border, border) if ax in axes else (0, 0) for ax in range(rank(x))]
        x = BY_NAME["numpy.pad"].call(x, widths,
                                      **({"mode": "edge"} if mode == "nearest" else {"constant_values": cval}))
    for ax in axes:
        x = _filtered(x, order, ax, mode)
    return x, border


# -- values between the samples --------------------------------------------------------------------


def _inside(at: AnyArray, n: Extent, mode: str) -> tuple:
    """An integer index brought into the array, and whether what is there counts."""
    if isinstance(n, int) and n == 1 and mode != "grid-constant":
        return at * 0, True
    if mode == "nearest":
        return where(at < 0, 0, where(at > n - 1, n - 1, at)), True
    if mode == "grid-wrap":
        return at % n, True
    if mode in ("mirror", "constant"):
        turn = abs(at) % (2 * (n - 1))
        return where(turn > n - 1, 2 * (n - 1) - turn, turn), True
    if mode in ("reflect", "grid-mirror"):
        turn = at % (2 * n)
        return where(turn > n - 1, 2 * n - 1 - turn, turn), True
    counts = (at >= 0) & (at < n)
    return where(counts, at, 0), counts


def _taps(place: AnyArray, n: Extent, order: int, mode: str) -> list:
    """The coefficients for a place: index, whether it is in the array, weight (those of piecewise.basis, with knots
    one apart)."""
    moved = place if order % 2 else place + 0.5
    low = registry["floor"](moved)
    weights: list = [1.0]
    for r in range(1, order + 1):
        carried: Any = 0.0
        for j in range(r):
            part = weights[j] / r
            weights[j], carried = carried + (j + 1.0 - (moved - low)) * part, (moved - low + (r - j - 1.0)) * part
        weights.append(carried)
    first = registry["cast"](low, dtype=INT) - order // 2
    return [(*_inside(first + j, n, mode), weight) for j, weight in enumerate(weights)]


def _outside(place: AnyArray, n: Extent) -> AnyArray:
    return (place < 0) | (place > n - 1)


def _sampled(c: AnyArray, places: list, order: int, mode: str, cval: object) -> AnyArray:
    """The spline at places given by an array for each of the first axes."""
    ns, spec = shape_of(c)[:len(places)], ("a",) * len(places) + (":",) * (rank(c) - len(places))
    total: Any = 0.0
    for chosen in itertools.product(*[_taps(place, n, order, mode) for place, n in zip(places, ns)]):
        index, counts, weights = zip(*chosen)
        value = registry["index"](c, *index, spec=spec, at=0)
        for inside in counts:
            value = value if inside is True else where(beside(inside, value), value, cval)
        weight = math.prod(weights)
        total = total + (value * weight if isinstance(weight, float) else value * beside(weight, value))
    if mode == "constant":  # values outside the grid are not interpolated with its edge
        for place, n in zip(places, ns):
            total = where(beside(_outside(place, n), total), cval, total)
    return total


def _along(c: object, ax: int, place: AnyArray, order: int, mode: str, cval: object) -> AnyArray:
    moved = BY_NAME["numpy.moveaxis"].call(c, ax, 0)
    return BY_NAME["numpy.moveaxis"].call(_sampled(moved, [place], order, mode, cval), 0, ax)


@override("scipy.ndimage.map_coordinates", samples=(
    "ndimage.map_coordinates(x, [2.0 * v, 3.0 * v], order=1)",
    "ndimage.map_coordinates(x, [v, 2.5 * v], order=1, mode='nearest')",
    "ndimage.map_coordinates(x, [2.0 * v, 3.0 * v])",
    "ndimage.map_coordinates(x, [5.0 * v - 1.5, 3.0 * v], order=2, mode='reflect')"))
def map_coordinates(input: ArrayLike, coordinates: ArrayLike, output: object = None, order: int = 3,
                    mode: str = "constant", cval: float = 0.0, prefilter: bool = True) -> AnyArray:
    no_output("scipy.ndimage.map_coordinates", output)
    _checked("map_coordinates", order, mode)
    x, at = image("map_coordinates", input), live(coordinates)
    places = [taken(at, k) for k in range(rank(x))]
    c, border = _coefficients(x, tuple(range(rank(x))), order, mode, cval, prefilter)
    return in_dtype_of(x, _sampled(c, [in_dtype(place, float) + border for place in places], order, mode, cval))


def _counted(n: Extent) -> AnyArray:
    return in_dtype(registry["iota"](n, dtype=INT), float)


def _of_each(given: Any, count: int) -> list:
    """One value for each axis."""
    given = as_array(given)
    return [given[k] if rank(given) else given for k in range(count)]


@override("scipy.ndimage.shift", samples=("ndimage.shift(x, 0.4)", "ndimage.shift(x, [v[0], -v[1]], mode='grid-wrap')",
                                          "ndimage.shift(v, 1.3, order=1, cval=0.5)"))
def shift(input: ArrayLike, shift: ArrayLike, output: object = None, order: int = 3, mode: str = "constant",
          cval: float = 0.0, prefilter: bool = True) -> AnyArray:
    no_output("scipy.ndimage.shift", output)
    _checked("shift", order, mode)
    x = image("shift", input)
    c, border = _coefficients(x, tuple(range(rank(x))), order, mode, cval, prefilter)
    for ax, by in enumerate(_of_each(shift, rank(x))):
        c = _along(c, ax, _counted(shape_of(x)[ax]) - by + border, order, mode, cval)
    return in_dtype_of(x, c)


@override("scipy.ndimage.zoom", samples=("ndimage.zoom(x, 2)", "ndimage.zoom(x, (0.7, 1.6), order=2, mode='mirror')",
                                         "ndimage.zoom(v, 3, mode='grid-wrap', grid_mode=True)"))
def zoom(input: ArrayLike, zoom: Any, output: Any = None, order: int = 3, mode: str = "constant", cval: object = 0.0,
         prefilter: bool = True, *, grid_mode: bool = False) -> ArrayOrNumber:
    no_output("scipy.ndimage.zoom", output)
    _checked("zoom", order, mode)
    x = image("zoom", input)
    factors = list(zoom) if isinstance(zoom, (tuple, list, np.ndarray)) else [zoom] * rank(x)
    if any(not isinstance(f, (int, float, np.number)) for f in factors):
        raise refuse("scipy.ndimage.zoom", "a traced factor", "the size of the result follows from it",
                     "use scipy.ndimage.affine_transform")
    if prefilter and all(f == 1 for f in factors):
        return x * 1.0
    c, border = _coefficients(x, tuple(range(rank(x))), order, mode, cval, prefilter)
    for ax, factor in enumerate(factors):
        n = fixed(shape_of(x)[ax], "the extent of an image that is zoomed")
        count = round(n * factor)
        if grid_mode:
            place = (np.arange(count) + 0.5) * (n / count) - 0.5
        else:
            place = np.arange(count) * ((n - 1) / (count - 1) if count > 1 else 1.0)
        c = _along(c, ax, constant(place + border), order, mode, cval)
    return in_dtype_of(x, c)


@override("scipy.ndimage.affine_transform", samples=(
    "ndimage.affine_transform(x, S[:2, :2] * 0.5, [0.1, 0.2])",
    "ndimage.affine_transform(x, np.array([0.8, 0.7]), v[0], mode='mirror', order=2)",
    "ndimage.affine_transform(x, S[:3, :3] * [[0.4], [0.4], [0.0]] + [[0, 0, 0], [0, 0, 0], [0, 0, 1]], "
    "output_shape=(2, 3), order=1)"))
def affine_transform(input: ArrayLike, matrix: ArrayLike, offset: ArrayLike = 0.0, output_shape: Any = None,
                     output: object = None,
                     order: int = 3, mode: str = "constant", cval: float = 0.0, prefilter: bool = True) -> AnyArray:
    """At the place matrix @ index + offset of the input."""
    no_output("scipy.ndimage.affine_transform", output)
    _checked("affine_transform", order, mode)
    x, m = image("affine_transform", input), live(matrix)
    shape, n = (shape_of(x) if output_shape is None else tuple(output_shape)), rank(x)
    if rank(m) == 2 and shape_of(m)[1] == n + 1:              # a transformation of homogeneous coordinates
        m, offset = m[:n, :n], m[:n, n]
    if shape_of(m)[0] != n:
        raise RuntimeError("affine matrix has wrong number of rows")
    c, border = _coefficients(x, tuple(range(n)), order, mode, cval, prefilter)
    starts = [start + border for start in _of_each(offset, n)]
    if rank(m) == 1:
        for ax, start in enumerate(starts):
            c = _along(c, ax, _counted(shape[ax]) * m[ax] + start, order, mode, cval)
        return in_dtype_of(x, c)
    return in_dtype_of(x, _sampled(c, _turned(m, starts, shape), order, mode, cval))


def _turned(m: AnyArray, starts: list, shape: tuple) -> list:
    """The places matrix @ index + start, over all indices of a shape."""
    grids = [registry["reshape"](_counted(n), *[n if k == ax else 1 for k in range(len(shape))])
             for ax, n in enumerate(shape)]
    return [registry["broadcast_to"](sum(m[h, ax] * grid for ax, grid in enumerate(grids)) + start, *shape)
            for h, start in enumerate(starts)]


@override("scipy.ndimage.rotate",
          samples=("ndimage.rotate(x, 20.0)", "ndimage.rotate(x, 90 * v[0], reshape=False, mode='nearest')",
                   "ndimage.rotate(np.stack([x, x * x]), 15, axes=(0, 2), order=2)"))
def rotate(input: ArrayLike, angle: Any, axes: tuple = (1, 0), reshape: bool = True, output: object = None,
           order: int = 3, mode: str = "constant", cval: float = 0.0, prefilter: bool = True) -> AnyArray:
    no_output("scipy.ndimage.rotate", output)
    _checked("rotate", order, mode)
    x = image("rotate", input)
    plane = tuple(sorted(one_axis(ax, rank(x)) for ax in axes))
    if len(set(plane)) != 2:
        raise ValueError("axes should contain exactly two values")
    if reshape and not isinstance(angle, (int, float, np.number)):
        raise refuse("scipy.ndimage.rotate", "a traced angle", "the size of the result follows from it",
                     "use reshape=False")
    turn = in_dtype(as_array(angle), float) * (math.pi / 180.0)
    cosine, sine = registry["cos"](turn), registry["sin"](turn)
    m = BY_NAME["numpy.stack"].call([BY_NAME["numpy.stack"].call(row) for row in ([cosine, sine], [-sine, cosine])])
    within = [shape_of(x)[ax] for ax in plane]
    shape = (_bounds(angle, *[fixed(n, "the extent of an image that is rotated") for n in within]) if reshape
             else tuple(within))
    centre = [(n - 1) / 2 for n in shape]
    c, border = _coefficients(x, plane, order, mode, cval, prefilter)
    starts = [(n - 1) / 2 + border - (m[k, 0] * centre[0] + m[k, 1] * centre[1]) for k, n in enumerate(within)]
    moved = BY_NAME["numpy.moveaxis"].call(c, plane, (0, 1))
    return in_dtype_of(x, BY_NAME["numpy.moveaxis"].call(_sampled(moved, _turned(m, starts, shape), order, mode, cval),
                                                         (0, 1), plane))


def _bounds(angle: float, rows: int, columns: int) -> tuple:
    """The extents of the smallest image that a turned one fits into."""
    special = imported("scipy.special")
    cosine, sine = special.cosdg(angle), special.sindg(angle)
    corners = np.array([[cosine, sine], [-sine, cosine]]) @ [[0, 0, rows, rows], [0, columns, 0, columns]]
    return tuple([int(n) for n in (np.ptp(corners, axis=1) + 0.5).astype(int)])
