"""numpy.polynomial: series of powers and of Chebyshev, Legendre, Laguerre and Hermite polynomials, from the lowest
degree up.

Each family obeys P[k+1] = (a x + b) P[k] - c P[k-1] with numbers a, b, c that depend on k (F. W. J. Olver et al., NIST
Handbook of Mathematical Functions, table 18.9.1). The recurrence sums its series (C. W. Clenshaw, MTAC 9 (1955) 118).
Linear maps of the coefficients (derivatives, integrals, changes of family) are matrices, which NumPy makes of unit
vectors.
"""
import operator
from collections.abc import Callable
from functools import partial, reduce
from typing import Any, NamedTuple

import numpy as np

from ...ir.op import registry
from ...ir.types import type_of
from ...util.array import AnyArray, ArrayLike, ArrayOrNumber
from ...util.lazy import imported
from .. import extents
from ..kinds import shape_of
from ..literals import constant, is_value
from ..override import BY_NAME, METHODS, override
from .arguments import as_array, fixed, live, rank, refuse, taken
from .polynomial import trimmed_behind

UNROLLED = 32          # coefficients up to which a sum is written out


class Family(NamedTuple):
    """A family of polynomials: NumPy's module, the prefix of its functions, its class, and a, b, c of the recurrence
    by k."""

    module: str
    prefix: str
    series: str
    step: Callable


FAMILIES = (
    Family("polynomial", "poly", "Polynomial", lambda k: (1.0, 0.0, 0.0)),
    Family("chebyshev", "cheb", "Chebyshev", lambda k: (2.0 if k else 1.0, 0.0, 1.0)),
    Family("legendre", "leg", "Legendre", lambda k: ((2.0 * k + 1.0) / (k + 1.0), 0.0, k / (k + 1.0))),
    Family("laguerre", "lag", "Laguerre", lambda k: (-1.0 / (k + 1.0), (2.0 * k + 1.0) / (k + 1.0), k / (k + 1.0))),
    Family("hermite", "herm", "Hermite", lambda k: (2.0, 0.0, 2.0 * k)),
    Family("hermite_e", "herme", "HermiteE", lambda k: (1.0, 0.0, float(k))),
)


def count_of(c: AnyArray) -> int:
    return fixed(shape_of(c)[0], "the number of coefficients")


def _sum(family: Family, x: AnyArray, c: AnyArray) -> AnyArray:
    """The sum of c[k] P[k](x), which broadcast."""
    n = count_of(c)
    zero = registry["zeros_like"](taken(c, 0) * x)
    if n <= UNROLLED:
        return _clenshaw([family.step(k) for k in range(n + 1)], x, [taken(c, k) for k in range(n)], zero)
    steps = [constant(np.array(column)) for column in zip(*[family.step(k) for k in range(n + 1)])]

    def iteration(k: Any, later: object, latest: object) -> tuple:
        j = n - 1 - k
        a, b, further = taken(steps[0], j), taken(steps[1], j), taken(steps[2], j + 1)
        return latest, taken(c, j) + (a * x + b) * latest - further * later
    return registry["for"].run_regions([0, n, 1, zero, zero], (iteration,))[1]


def _clenshaw(steps: list, x: AnyArray, rows: list, zero: AnyArray) -> AnyArray:
    later, latest = None, rows[-1] + zero
    for k in range(len(rows) - 2, -1, -1):
        a, b, _ = steps[k]
        y = rows[k] + _times(_times(x, a) + b if b else _times(x, a), latest)
        further = steps[k + 1][2]
        y = y - _times(later, further) if further and later is not None else y
        later, latest = latest, y
    return latest


def _times(x: AnyArray, a: ArrayOrNumber) -> AnyArray:
    return x if isinstance(a, float) and a == 1.0 else x * a


def val(family: Family, x: AnyArray, c: AnyArray, tensor: bool = True) -> AnyArray:
    x, c = live(x), live(c)
    c = c if rank(c) else registry["reshape"](c, 1)
    return _sum(family, x, registry["reshape"](c, *shape_of(c), *[1] * rank(x)) if tensor and rank(x) else c)


def val_at_points(family: Family, *args: AnyArray) -> AnyArray:
    """val2d, val3d: at the points (x, y, ...)."""
    x, *others, c = args
    shapes = [shape_of(as_array(y)) for y in (x, *others)]
    if any(len(shape) != len(shapes[0]) for shape in shapes):
        raise ValueError(f"{', '.join('xyz'[:len(shapes)])} are incompatible: their shapes differ")
    for first, *others_extents in zip(*shapes):
        for n in others_extents:
            extents.agree(first, n, "extents of the points' coordinates")
    return reduce(lambda c, y: val(family, y, c, tensor=False), others, val(family, x, c))


def val_on_grid(family: Family, *args: AnyArray) -> AnyArray:
    """grid2d, grid3d: at all combinations of x, y, ..."""
    *xs, c = args
    return reduce(lambda c, y: val(family, y, c), xs, c)


def vander(family: Family, x: AnyArray, deg: Any) -> AnyArray:
    """P[0](x), ..., P[deg](x) along a new last axis."""
    x = live(x)
    x = x if rank(x) else registry["reshape"](x, 1)
    one = x * 0.0 + 1.0                                       # nan where x is not finite, as NumPy's
    columns = [one]
    for k in range(operator.index(deg)):
        a, b, c = family.step(k)
        new = (x * a + b) * columns[-1]
        columns.append(new - c * columns[-2] if c and k else new)
    return BY_NAME["numpy.stack"].call(columns, axis=-1)


def vander_of_several(family: Family, *args: Any) -> AnyArray:
    """vander2d, vander3d: the products of the families' polynomials."""
    *xs, degrees = args
    points = BY_NAME["numpy.broadcast_arrays"].call(*[as_array(x) for x in xs])
    columns = [vander(family, x, deg) for x, deg in zip(points, degrees, strict=True)]
    count = len(columns)
    spread = [registry["reshape"](v, *shape_of(v)[:-1], *[shape_of(v)[-1] if j == k else 1 for j in range(count)])
              for k, v in enumerate(columns)]
    product = reduce(operator.mul, spread)
    shape = shape_of(product)
    return registry["reshape"](product, *shape[:-count], extents.product(shape[-count:]))


def mapped(matrix: np.ndarray, c: AnyArray, axis: int) -> AnyArray:
    """A constant matrix times the coefficients along an axis. It skips the matrix's zeros, so that a nan does not
    spread."""
    moved = BY_NAME["numpy.moveaxis"].call(c, axis, 0)
    weights = constant(matrix.reshape(*matrix.shape, *[1] * (rank(c) - 1)))
    terms = registry["guarded_mul"](weights, registry["reshape"](moved, 1, *shape_of(moved)))
    return BY_NAME["numpy.moveaxis"].call(registry["sum"](terms, axes=(1,)), 0, axis)


def numpys(family: Family, name: str) -> Callable:
    """NumPy's function of a family."""
    return getattr(imported(f"numpy.polynomial.{family.module}"), family.prefix + name)


def derived(family: Family, c: AnyArray, m: int = 1, scl: Any = 1, axis: int = 0) -> AnyArray:
    c = live(c)
    unit = np.eye(fixed(shape_of(c)[axis], "the number of coefficients"))
    return mapped(numpys(family, "der")(unit, m), c, axis) * scl ** m


def integrated(family: Family, c: Any, m: int = 1, k: object = (), lbnd: Any = 0, scl: Any = 1,
               axis: int = 0) -> AnyArray:
    if any(is_value(a) for a in (k, lbnd, scl, *(k if isinstance(k, (list, tuple)) else ()))):
        raise refuse(f"numpy.polynomial.{family.module}.{family.prefix}int", "a traced constant or bound",
                     do="add it to the integral's first coefficient")
    c, integral = live(c), numpys(family, "int")
    n = fixed(shape_of(c)[axis], "the number of coefficients")
    y = mapped(integral(np.eye(n), m, [0] * m, lbnd, scl), c, axis)
    start = integral(np.zeros(n), m, k, lbnd, scl)
    shape = [n + m if j == axis % rank(c) else 1 for j in range(rank(c))]
    return y + np.concatenate([start, np.zeros(n + m - len(start))]).reshape(shape)


def converted(family: Family, c: AnyArray, back: bool) -> AnyArray:
    """The series of powers as one of this family, or the other way round."""
    c = live(c)
    module = imported(f"numpy.polynomial.{family.module}")
    convert = getattr(module, f"poly2{family.prefix}" if back else f"{family.prefix}2poly")
    n = count_of(c)
    columns = [convert(np.eye(n)[k, :k + 1]) for k in range(n)]
    return trimmed_behind(mapped(np.column_stack([np.concatenate([col, np.zeros(n - len(col))]) for col in columns]),
                                  c, 0))


def fitted(family: Family, x: AnyArray, y: AnyArray, deg: Any, rcond: object = None, full: bool = False,
           w: object = None) -> AnyArray:
    """Least squares on the family's polynomials, each column scaled to length 1."""
    if full or np.ndim(deg):
        raise refuse(f"numpy.polynomial.{family.module}.{family.prefix}fit", "full or a list of degrees",
                     do="use np.linalg.lstsq")
    x, y = live(x), live(y)
    columns = vander(family, x, deg)
    if w is not None:
        w = as_array(w)
        n = shape_of(x)[0]
        columns, y = columns * registry["reshape"](w, n, 1), y * (registry["reshape"](w, n, 1) if rank(y) == 2 else w)
    scale = registry["sqrt"](registry["sum"](columns * columns, axes=(0,)))
    scale = registry["where"](scale == 0, 1.0, scale)
    c = BY_NAME["numpy.linalg.lstsq"].call(columns / scale, y, rcond)[0]
    return c / (registry["reshape"](scale, operator.index(deg) + 1, 1) if rank(y) == 2 else scale)


def lengthened(c: AnyArray, n: int) -> AnyArray:
    missing = extents.difference(n, shape_of(c)[0])
    if isinstance(missing, int) and missing == 0:
        return c
    return registry["concatenate"](c, registry["full"](0, missing, dtype=type_of(c).dtype), axis=0)


def is_empty(c: AnyArray) -> bool:
    """Whether it is known that there are no coefficients."""
    return any(isinstance(n, int) and n == 0 for n in shape_of(c))


def vector(c: ArrayLike) -> AnyArray:
    """Coefficients; a number is one of them."""
    x = live(c)
    if rank(x) > 1:
        raise ValueError("Coefficient array is not 1-d")
    if is_empty(x):
        raise ValueError("Coefficient array is empty")
    return x if rank(x) else registry["reshape"](x, 1)


def combined(join: Callable, c1: ArrayLike, c2: ArrayLike) -> AnyArray:
    """Sums and differences."""
    a, b = vector(c1), vector(c2)
    n = extents.maximum(shape_of(a)[0], shape_of(b)[0])
    return trimmed_behind(join(lengthened(a, n), lengthened(b, n)))


for _family in FAMILIES:
    _home, _p = f"numpy.polynomial.{_family.module}", _family.prefix
    _np = f"np.polynomial.{_family.module}.{_p}"
    override(f"{_home}.{_p}val", samples=(f"{_np}val(x, v)", f"{_np}val(v, x[:, :2])"))(partial(val, _family))
    for _several in ("2d", "3d"):
        override(f"{_home}.{_p}val{_several}",
                 samples=(f"{_np}val2d(v, 2 * v, x)",) if _several == "2d" else ())(partial(val_at_points, _family))
        override(f"{_home}.{_p}grid{_several}",
                 samples=(f"{_np}grid2d(v, v[:2], x)",) if _several == "2d" else ())(partial(val_on_grid, _family))
        override(f"{_home}.{_p}vander{_several}", samples=(f"{_np}vander2d(v, 2 * v, [1, 2])",) if _several == "2d"
                 else ())(partial(vander_of_several, _family))
    override(f"{_home}.{_p}vander", samples=(f"{_np}vander(v, 3)",))(partial(vander, _family))
    override(f"{_home}.{_p}der", samples=(f"{_np}der(x, 2, scl=0.5)",), precision="given")(partial(derived, _family))
    override(f"{_home}.{_p}int", samples=(f"{_np}int(x, 1, [2.0], axis=1)",), precision="given")(
        partial(integrated, _family))
    override(f"{_home}.{_p}fit", samples=(f"{_np}fit(v, np.sin(v), 2)",))(partial(fitted, _family))
    override(f"{_home}.{_p}add", samples=(f"{_np}add(v, v[:2])", f"{_np}add(v, v[0])"))(partial(combined, operator.add))
    override(f"{_home}.{_p}sub", samples=(f"{_np}sub(v[:2], v)",))(partial(combined, operator.sub))
    if _p != "poly":
        override(f"{_home}.{_p}2poly", samples=(f"{_np}2poly(v)",), precision="given")(
            partial(converted, _family, back=False))
        override(f"{_home}.poly2{_p}",
                 samples=(f"np.polynomial.{_family.module}.poly2{_p}(v)",))(partial(converted, _family, back=True))


@override("numpy.polynomial.polynomial.polymul", samples=("np.polynomial.polynomial.polymul(v, v[:2])",))
def polymul(c1: ArrayLike, c2: ArrayLike) -> AnyArray:
    return trimmed_behind(BY_NAME["numpy.convolve"].call(*[trimmed_behind(vector(c)) for c in (c1, c2)]))


@override("numpy.polynomial.polynomial.polyvalfromroots", samples=("np.polynomial.polynomial.polyvalfromroots(x, v)",))
def polyvalfromroots(x: AnyArray, r: AnyArray, tensor: bool = True) -> AnyArray:
    x, r = live(x), live(r)
    r = registry["reshape"](r, *shape_of(r), *[1] * rank(x)) if tensor and rank(x) else r
    return METHODS["prod"](x - r, axis=0)


@override("numpy.polynomial.polynomial.polyfromroots", samples=("np.polynomial.polynomial.polyfromroots(v)",),
          precision="double")
def polyfromroots(roots: ArrayLike) -> AnyArray:
    return BY_NAME["numpy.poly"].call(roots)[::-1]


__all__ = ["FAMILIES", "Family"]
