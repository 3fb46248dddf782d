"""numpy.polynomial's series and numpy.poly1d as objects, with traced coefficients or at traced points."""
import operator
from collections.abc import Callable
from functools import partial, reduce
from typing import Any

import numpy as np

from ...ir.build import current
from ...ir.op import registry
from ...ir.types import type_of
from ...util.array import AnyArray, ArrayOrNumber
from ...util.library_object import LibraryObject
from ..literals import is_value
from ..override import BY_NAME, override
from ..precision import double
from .arguments import as_array, captured, live, rank, refuse
from .polynomial import trimmed, trimmed_behind
from .series import FAMILIES, Family, count_of, derived, integrated, is_empty, lengthened, val, vector
from .series_products import whole_power, whole_product


@override("numpy.polynomial._polybase.ABCPolyBase.__call__")
def called(series: Any, arg: Any) -> Any:
    """A series (Polynomial, Chebyshev, ...) at a traced point."""
    offset, scale = np.polynomial.polyutils.mapparms(series.domain, series.window)
    return BY_NAME[f"{type(series)._val.__module__}.{type(series)._val.__name__}"].call(
        offset + scale * as_array(arg), series.coef)


@override("numpy.poly1d.__call__")
def poly1d_called(poly: Any, val: object) -> Any:
    c = poly.coeffs
    return BY_NAME["numpy.polyval"].call(current().watch(c) if isinstance(c, np.ndarray) else c, val)


class Series(LibraryObject):
    """A series with traced coefficients. NumPy cuts off trailing zeros after arithmetic; this class does so when the
    coefficients are read."""

    def __init__(self, family: Family, coef: AnyArray, domain: object = None, window: object = None, symbol: str = "x",
                 is_cut: bool = True):
        if is_value(domain) or is_value(window):
            raise refuse(f"numpy.polynomial.{family.series}", "a traced domain or window",
                         do="map the argument before the call")
        own = getattr(np.polynomial, family.series)([0.0], domain, window, symbol)      # NumPy looks at them
        self.domain, self.window = own.domain, own.window
        self.of, self.do = f"numpy.polynomial.{family.series}", f"call functions of numpy.polynomial.{family.module}"
        self._family, self._given, self._is_cut = family, vector(coef), is_cut

    @property
    def coef(self) -> Any:
        return self._given if self._is_cut else trimmed_behind(self._given)

    def __call__(self, arg: AnyArray) -> AnyArray:
        return val(self._family, self._mapped(double(as_array(arg))), self._given)

    def _mapped(self, arg: ArrayOrNumber) -> AnyArray:
        """A point of the domain as one of the window."""
        offset, scale = np.polynomial.polyutils.mapparms(self.domain, self.window)
        return arg if (offset, scale) == (0, 1) else offset + scale * arg    # type: ignore[return-value]

    def _scale(self) -> float:
        return float(np.polynomial.polyutils.mapparms(self.domain, self.window)[1])

    def _made(self, coef: AnyArray, is_cut: bool = False) -> "Series":
        """A series of this family and domain."""
        return Series(self._family, coef, self.domain, self.window, is_cut=is_cut)

    def deriv(self, m: int = 1) -> "Series":
        return self._made(derived(self._family, self._given, m, self._scale()), self._is_cut)

    def integ(self, m: int = 1, k: object = (), lbnd: "ArrayOrNumber | None" = None) -> "Series":
        start = 0 if lbnd is None else self._mapped(lbnd)     # NumPy's 0 is one of the window
        return self._made(integrated(self._family, self._given, m, k, start, 1.0 / self._scale()), self._is_cut)

    def degree(self) -> int:
        return count_of(self.coef) - 1

    __array_ufunc__ = None

    def __array__(self, *_: object, **__: object) -> Any:
        raise TypeError("a series is no array")               # so that NumPy's series leave operators to this one

    def __add__(self, other: "Series") -> "Series":
        return self._with(operator.add, other)

    def __sub__(self, other: object) -> "Series":
        return self._with(operator.sub, other)

    def __rsub__(self, other: object) -> "Series":
        return self._with(lambda a, b: b - a, other)

    def __mul__(self, other: object) -> "Series":
        b = self._beside(other)
        if b is None:
            return NotImplemented
        a = self._given
        return self._made(a * b if min(count_of(a), count_of(b)) == 1 else whole_product(self._family, a, b))

    def __pow__(self, n: int) -> "Series":
        return self._made(whole_power(self._family, self._given, n))

    def __neg__(self) -> "Series":
        return self._made(-self._given, self._is_cut)

    __radd__, __rmul__ = __add__, __mul__

    def _with(self, join: Callable, other: object) -> "Series":
        """The sum or difference of this series and what stands beside it."""
        b = self._beside(other)
        if b is None:
            return NotImplemented
        n = max(count_of(self._given), count_of(b))
        return self._made(join(lengthened(self._given, n), lengthened(b, n)))

    def _beside(self, other: Any) -> Any:
        """The coefficients of a series of this family, or of a number; None of anything else."""
        if type(other).__name__ == self._family.series or isinstance(other, Series) and other._family is self._family:
            for name in ("domain", "window"):
                if not np.array_equal(getattr(self, name), getattr(other, name)):
                    raise TypeError(f"{name.capitalize()}s differ")
            return other._given if isinstance(other, Series) else live(other.coef)
        is_number = is_value(other) or isinstance(other, (int, float, complex, np.generic))
        return vector(other) if is_number and not rank(other) else None


for _family in FAMILIES:
    _name = f"np.polynomial.{_family.series}"
    override(f"numpy.polynomial.{_family.module}.{_family.series}", samples=(
        f"{_name}(v)(x)", f"{_name}(v).deriv()(v)", f"(1 - {_name}(v[:2]) * x[0, 0] + {_name}(v))(x)",
        f"({_name}(v) * {_name}(x[0])).deriv()(v)", f"({_name}(v[:3]) ** 2)(v)"))(partial(Series, _family))


@override("numpy.poly1d", samples=("np.poly1d(v)(x)", "np.poly1d(v).deriv()(v[0])",
                                   "(np.poly1d(v) * np.poly1d(v[1:]) * 2 - 1)(x)",
                                   "(np.poly1d(v) ** 2 / 3.0 + np.poly1d([1.0, 2.0])).coeffs"))
class Poly1d(LibraryObject, np.poly1d):
    """numpy.poly1d with traced coefficients."""

    of = "numpy.poly1d"

    def __init__(self, c_or_r: object, r: bool = False, variable: object = None):
        self._given = BY_NAME["numpy.atleast_1d"].call(BY_NAME["numpy.poly"].call(c_or_r) if r else captured(c_or_r))
        if rank(self._given) > 1:
            raise ValueError("Polynomial must be 1d only.")

    @property  # type: ignore[misc]
    def coeffs(self) -> Any:
        """The coefficients, from the first one that is not zero."""
        p = self._given
        return registry["full"](0, 1, dtype=type_of(p).dtype) if is_empty(p) else trimmed(p)

    _coeffs = c = coef = coefficients = coeffs

    def __call__(self, x: object) -> Any:
        return BY_NAME["numpy.polyval"].call(self._given, x)

    def deriv(self, m: int = 1) -> "Poly1d":  # type: ignore[override]
        return Poly1d(BY_NAME["numpy.polyder"].call(self._given, m))

    def integ(self, m: int = 1, k: object = 0) -> "Poly1d":  # type: ignore[override]
        return Poly1d(BY_NAME["numpy.polyint"].call(self._given, m, k or None))

    @property
    def order(self) -> int:
        return count_of(self.coeffs) - 1

    o = order

    def __len__(self) -> int:
        return self.order

    def __mul__(self, other: object) -> "Poly1d":
        return self._with("polymul", other)

    def __add__(self, other: object) -> "Poly1d":
        return self._with("polyadd", other)

    def __sub__(self, other: object) -> "Poly1d":
        return self._with("polysub", other)

    __rmul__, __radd__ = __mul__, __add__

    def __rsub__(self, other: object) -> "Poly1d":
        return -self + other

    def __neg__(self) -> "Poly1d":
        return Poly1d(-self._given)

    def __truediv__(self, number: object) -> "Poly1d":
        return Poly1d(self._given / number)

    def __pow__(self, n: int) -> "Poly1d":  # type: ignore[override]
        return reduce(operator.mul, [self] * n, Poly1d([1.0]))

    def _with(self, name: str, other: object) -> "Poly1d":
        """The polynomial made with another one, or with a number or a list of coefficients."""
        coefficients = other._given if isinstance(other, Poly1d) else getattr(other, "coeffs", other)
        return Poly1d(BY_NAME[f"numpy.{name}"].call(self._given, coefficients))


__all__ = ["Poly1d", "Series"]
