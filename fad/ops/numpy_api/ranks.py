"""scipy.ndimage's filters that pick a value of each window, and grey morphology; scipy.signal's medians.

A window is a list of shifted arrays; the result is a sum over them with weight one for the picked value and zero for
all others. At ties, equals keep their order (as in sort).
"""
import itertools
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ...ir.op import registry
from ...util.array import AnyArray, ArrayLike, Axes
from ..kinds import shape_of
from ..override import BY_NAME, override
from .arguments import as_array, one_axis, rank, refuse
from .ndimage import EDGES, image, no_output


def _as_many(given: object, count: int) -> list:
    return list(given) if isinstance(given, (tuple, list)) else [given] * count


def _footprint(name: str, x: AnyArray, size: object, footprint: object, axes: Axes) -> "tuple[np.ndarray, tuple]":
    """The window's mask, over the axes that are filtered."""
    given = axes if isinstance(axes, (tuple, list)) else (axes,)
    over = tuple(range(rank(x))) if axes is None else tuple([one_axis(ax, rank(x)) for ax in given])
    if over != tuple(sorted(set(over))):
        raise refuse(f"scipy.ndimage.{name}", "axes that do not ascend")
    if footprint is None:
        if size is None:
            raise RuntimeError("no footprint or filter size provided")
        footprint = np.ones(_as_many(size, len(over)), bool)
    mask = np.asarray(footprint, bool)
    if mask.ndim != len(over):
        raise RuntimeError(f"footprint.ndim ({mask.ndim}) must match len(axes) ({len(over)})")
    if not mask.any():
        raise ValueError("All-zero footprint is not supported.")
    whole = [mask.shape[over.index(k)] if k in over else 1 for k in range(rank(x))]
    return mask.reshape(whole), over


def window(x: AnyArray, mask: np.ndarray, mode: list, cval: object, origins: list) -> list:
    """x shifted by each place of a window's mask."""
    padded = x
    for ax, (n, origin, edge) in enumerate(zip(mask.shape, origins, mode)):
        before = n // 2 + origin
        if edge not in EDGES:
            raise RuntimeError("boundary mode not supported")
        if not 0 <= before < n:
            raise ValueError("invalid origin")
        if n > 1:
            widths = [(before, n - 1 - before) if k == ax else (0, 0) for k in range(rank(x))]
            more = {"constant_values": cval} if EDGES[edge] == "constant" else {}
            padded = BY_NAME["numpy.pad"].call(padded, widths, EDGES[edge], **more)
    seen = []
    for at in itertools.product(*map(range, mask.shape)):
        if mask[at]:
            part = padded
            for ax, k in enumerate(at):
                part = registry["slice_axis"](part, ax, k, shape_of(x)[ax]) if mask.shape[ax] > 1 else part
            seen.append(part)
    return seen


def _picked(name: str, choose: Callable, x: AnyArray, size: object, footprint: object, mode: str, cval: object,
            origin: object, axes: Axes) -> AnyArray:
    mask, over = _footprint(name, x, size, footprint, axes)
    at = {ax: k for k, ax in enumerate(over)}
    origins, modes = _as_many(origin, len(over)), _as_many(mode, len(over))
    seen = window(x, mask, [modes[at[k]] if k in at else "reflect" for k in range(rank(x))], cval,
                  [origins[at[k]] if k in at else 0 for k in range(rank(x))])
    place = choose(len(seen))
    if place == 0 or place == len(seen) - 1:
        best = registry["minimum" if place == 0 else "maximum"]
        found = seen[0]
        for part in seen[1:]:
            found = best(found, part)
        return found
    ordered = BY_NAME["numpy.sort"].call(BY_NAME["numpy.stack"].call(seen, axis=-1), axis=-1)
    return ordered[..., place]


@override("scipy.ndimage.median_filter",
          samples=("ndimage.median_filter(x, 3)", "ndimage.median_filter(x, (1, 2), mode='wrap')"))
def median_filter(input: ArrayLike, size: object = None, footprint: object = None, output: object = None,
                  mode: str = "reflect", cval: float = 0.0, origin: object = 0, *, axes: Axes = None) -> AnyArray:
    no_output("scipy.ndimage.median_filter", output)
    x = image("median_filter", input)
    return _picked("median_filter", lambda n: n // 2, x, size, footprint, mode, cval, origin, axes)


@override("scipy.ndimage.rank_filter",
          samples=("ndimage.rank_filter(x, 1, 2)", "ndimage.rank_filter(v, -1, 3, mode='constant')"))
def rank_filter(input: ArrayLike, rank: int, size: object = None, footprint: "ArrayLike | None" = None,
                output: object = None,
                mode: str = "reflect", cval: float = 0.0, origin: object = 0, *, axes: Axes = None) -> AnyArray:
    no_output("scipy.ndimage.rank_filter", output)

    def choose(n: int) -> int:
        place = rank + n if rank < 0 else rank
        if not 0 <= place < n:
            raise RuntimeError("rank not within filter footprint size")
        return place
    return _picked("rank_filter", choose, image("rank_filter", input), size, footprint, mode, cval, origin, axes)


@override("scipy.ndimage.percentile_filter", samples=("ndimage.percentile_filter(x, 40, 2)",))
def percentile_filter(input: ArrayLike, percentile: Any, size: Any = None, footprint: Any = None, output: Any = None,
                      mode: str = "reflect", cval: object = 0.0, origin: object = 0, *, axes: Axes = None) -> AnyArray:
    no_output("scipy.ndimage.percentile_filter", output)
    share = percentile + 100.0 if percentile < 0.0 else percentile
    if not 0 <= share <= 100:
        raise RuntimeError("invalid percentile")
    choose = lambda n: n - 1 if share == 100.0 else int(float(n) * share / 100.0)
    return _picked("percentile_filter", choose, image("percentile_filter", input), size, footprint, mode, cval, origin,
                   axes)


# -- grey morphology -------------------------------------------------------------------------------


def _turned(origin: object, shape: tuple) -> list:
    """The origins of the mirrored window."""
    return [-o - (n % 2 == 0) for o, n in zip(_as_many(origin, len(shape)), shape)]


def _grey(name: str, x: AnyArray, size: "tuple | None", footprint: object, structure: object, mode: str, cval: float,
          origin: object, axes: Axes) -> AnyArray:
    """The least (erosion) or largest (dilation) value of each window, less (plus) the structure's height."""
    grows = name == "grey_dilation"
    heights = None if structure is None else np.asarray(structure, float)
    if footprint is None and heights is not None:
        footprint = np.ones(heights.shape, bool)
    if axes is not None:
        raise refuse(f"scipy.ndimage.{name}", "axes")
    mask, _ = _footprint(name, x, size, footprint, None)
    heights = np.zeros(mask.shape) if heights is None else heights
    if grows:
        mask, heights, origin = np.flip(mask), np.flip(heights), _turned(origin, mask.shape)
    sign = 1.0 if grows else -1.0
    seen = window(x, mask, _as_many(mode, rank(x)), cval, _as_many(origin, rank(x)))
    raised = [part + sign * h if structure is not None else part for part, h in zip(seen, heights[mask])]
    found = raised[0]
    for part in raised[1:]:
        found = registry["maximum" if grows else "minimum"](found, part)
    return found


def _first(name: str, input: AnyArray, output: object) -> AnyArray:
    no_output(f"scipy.ndimage.{name}", output)
    return image(name, input)


def _grey_face(name: str, steps: Callable) -> None:
    def call(input: AnyArray, size: "tuple | None" = None, footprint: object = None, structure: object = None,
             output: object = None,
             mode: str = "reflect", cval: float = 0.0, origin: object = 0, *, axes: Axes = None) -> AnyArray:
        x = _first(name, input, output)
        erode, dilate = (partial(_grey, f"grey_{step}", size=size, footprint=footprint, structure=structure, mode=mode,
                                 cval=cval, origin=origin, axes=axes) for step in ("erosion", "dilation"))
        return steps(x, erode, dilate)
    override(f"scipy.ndimage.{name}", samples=(f"ndimage.{name}(x, (2, 3))",
                                               f"ndimage.{name}(v, structure=[0.1, 0.0, 0.2])"),
             precision="given")(call)


for _name, _steps in {
        "grey_erosion": lambda x, erode, dilate: erode(x), "grey_dilation": lambda x, erode, dilate: dilate(x),
        "grey_opening": lambda x, erode, dilate: dilate(erode(x)),
        "grey_closing": lambda x, erode, dilate: erode(dilate(x)),
        "morphological_gradient": lambda x, erode, dilate: dilate(x) - erode(x),
        "morphological_laplace": lambda x, erode, dilate: dilate(x) + erode(x) - 2.0 * x,
        "white_tophat": lambda x, erode, dilate: x - dilate(erode(x)),
        "black_tophat": lambda x, erode, dilate: erode(dilate(x)) - x}.items():
    _grey_face(_name, _steps)

# -- scipy.signal ----------------------------------------------------------------------------------


def _sizes(x: AnyArray, kernel_size: object) -> list:
    sizes = [3] * rank(x) if kernel_size is None else _as_many(kernel_size, rank(x))
    if any(n % 2 != 1 for n in sizes):
        raise ValueError("Each element of kernel_size should be odd.")
    return sizes


@override("scipy.signal.medfilt", samples=("signal.medfilt(v, 3)", "signal.medfilt(x)"))
def medfilt(volume: ArrayLike, kernel_size: object = None) -> AnyArray:
    x = image("medfilt", volume)
    return median_filter(x, _sizes(x, kernel_size), mode="constant")


@override("scipy.signal.medfilt2d", samples=("signal.medfilt2d(x, (1, 3))",))
def medfilt2d(input: ArrayLike, kernel_size: object = 3) -> AnyArray:
    x = image("medfilt2d", input)
    return median_filter(x, _sizes(x, kernel_size), mode="constant")


@override("scipy.signal.order_filter", samples=("signal.order_filter(v, np.ones(3), 1)",))
def order_filter(a: ArrayLike, domain: ArrayLike, rank: int) -> AnyArray:
    mask = np.asarray(domain)
    if any(n % 2 != 1 for n in mask.shape):
        raise ValueError("Each dimension of domain argument should have an odd number of elements.")
    return rank_filter(image("order_filter", a), rank, footprint=mask, mode="constant")


@override("scipy.signal.wiener", samples=("signal.wiener(x, 3)", "signal.wiener(v, 3, 0.01)"))
def wiener(im: ArrayLike, mysize: object = None, noise: object = None) -> AnyArray:
    """J. S. Lim, Two-Dimensional Signal and Image Processing, page 548: each value is drawn to its window's mean, the
    more the less the window varies beyond the noise."""
    x = as_array(image("wiener", im))
    sizes = [3] * rank(x) if mysize is None else _as_many(mysize, rank(x))
    ones, count = np.ones(sizes), float(np.prod(sizes))
    windowed = partial(BY_NAME["scipy.signal.correlate"].call, in2=ones, mode="same")
    centre = windowed(x) / count
    spread = windowed(x ** 2) / count - centre ** 2
    noise = BY_NAME["numpy.mean"].call(spread) if noise is None else noise
    flat = spread < noise
    share = 1.0 - noise / registry["where"](flat, 1.0, spread)
    return registry["where"](flat, centre, centre + (x - centre) * share)
