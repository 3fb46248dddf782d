"""numpy.polynomial: products, powers, quotients and zeros of series, in every family.

A product is bilinear, and times x, a line and a companion matrix are (affine) linear maps; NumPy's own functions make
their matrices of unit vectors.
"""
import operator
from collections.abc import Callable
from functools import lru_cache, partial, reduce
from typing import Any

import numpy as np

from ...ir.op import registry
from ...util.array import AnyArray
from .. import extents
from ..kinds import shape_of
from ..literals import constant
from ..override import BY_NAME, override
from ..precision import as_given
from .arguments import as_array, live, rank, refuse
from .polynomial import trimmed_behind
from .series import FAMILIES, Family, count_of, mapped, numpys, vector


@lru_cache(None)
def _product_of_units(family: Family, n: int, m: int) -> np.ndarray:
    """The coefficients of P[i] P[j], for i < n and j < m."""
    multiply, all_of_them = numpys(family, "mul"), np.zeros((n + m - 1, n, m))
    for i, j in np.ndindex(n, m):
        product = multiply(np.eye(n)[i], np.eye(m)[j])
        all_of_them[:len(product), i, j] = product
    return all_of_them


def whole_product(family: Family, a: AnyArray, b: AnyArray) -> AnyArray:
    """The product of two series, with the zeros at its end."""
    if family.prefix == "poly":
        return BY_NAME["numpy.convolve"].call(a, b)
    n, m = count_of(a), count_of(b)
    weights = constant(_product_of_units(family, n, m))
    return registry["sum"](registry["guarded_mul"](weights, registry["reshape"](a, 1, n, 1) * b), axes=(1, 2))


def multiplied(family: Family, c1: AnyArray, c2: AnyArray) -> AnyArray:
    return trimmed_behind(whole_product(family, vector(c1), vector(c2)))


def times_x(family: Family, c: AnyArray) -> AnyArray:
    c = vector(c)
    columns = [numpys(family, "mulx")(unit) for unit in np.eye(count_of(c))]
    matrix = np.stack([np.append(column, np.zeros(count_of(c) + 1 - len(column))) for column in columns], axis=1)
    return trimmed_behind(mapped(matrix, c, 0))


def whole_power(family: Family, c: AnyArray, n: int, maxpower: Any = None) -> AnyArray:
    """A power of a series, with the zeros at its end."""
    if n < 0:
        raise ValueError("Power must be a non-negative integer.")
    if maxpower is not None and n > maxpower:
        raise ValueError("Power is too large")
    if n == 0:
        return registry["full"](1.0, 1, dtype="f8")
    return reduce(partial(whole_product, family), [vector(c)] * n)


def power(family: Family, c: AnyArray, pow: int, maxpower: object = 16) -> AnyArray:
    return trimmed_behind(whole_power(family, c, operator.index(pow), maxpower))


def _require_degree(c: AnyArray, what: str) -> None:
    """A check that the last coefficient is not zero: the extents of the results depend on it."""
    registry["check_that"](registry["not_equal"](c[-1], 0), True, error="ValueError",
                           what=f"the last coefficient of {what} must not be zero")


def divided(family: Family, c1: AnyArray, c2: AnyArray) -> tuple:
    """Long division: quotient and remainder."""
    rest, divisor = vector(c1), vector(c2)
    _require_degree(divisor, "a divisor")
    n, m = count_of(rest), count_of(divisor)
    if n < m:
        return rest[:1] * 0.0, trimmed_behind(rest)
    products, quotient = _product_of_units(family, n - m + 1, m), []
    for k in range(n - m, -1, -1):
        p = mapped(products[:m + k, k], divisor, 0)
        quotient.append(rest[-1] / p[-1])
        rest = rest[:-1] - quotient[-1] * p[:-1] if m + k > 1 else rest * 0.0
    whole = as_given(lambda *_: trimmed_behind(BY_NAME["numpy.stack"].call(quotient[::-1])))(c1, c2)
    rest = trimmed_behind(rest)
    return whole, as_given(lambda *_: rest)(c1, c2) if family.prefix in ("poly", "cheb") else rest


def line(family: Family, off: AnyArray, scl: AnyArray) -> AnyArray:
    make = numpys(family, "line")
    level, slope = (registry["reshape"](live(a), 1) for a in (off, scl))
    return trimmed_behind(level * np.append(make(1.0, 0.0), 0.0) + slope * make(0.0, 1.0))


def from_roots(family: Family, roots: AnyArray) -> AnyArray:
    if not rank(live(roots)):
        raise ValueError("the zeros must be a vector")
    roots = vector(roots)
    n = count_of(roots)
    if n == 0:
        return registry["full"](1.0, 1, dtype="f8")
    make = numpys(family, "line")
    slope, level = make(0.0, 1.0), np.append(make(1.0, 0.0), 0.0)
    lines = [slope - roots[k] * level for k in range(n)]
    return reduce(partial(whole_product, family), lines)


def companion(family: Family, c: AnyArray) -> AnyArray:
    """The companion matrix: a constant, and one matrix for each coefficient over the last."""
    c = vector(c)
    n = count_of(c) - 1
    if n < 1:
        raise ValueError("Series must have maximum degree of at least 1.")
    _require_degree(c, "a series")
    make, units = numpys(family, "companion"), np.eye(n + 1)
    base = make(units[n])
    parts = np.stack([make(units[n] + units[k]) - base for k in range(n)], axis=-1)
    return base + registry["sum"](registry["guarded_mul"](constant(parts), c[:-1] / c[-1]), axes=(2,))


def roots(family: Family, c: AnyArray) -> AnyArray:
    """The eigenvalues of the companion matrix, in NumPy's order; always complex."""
    c = vector(c)
    if count_of(c) < 2:
        return registry["full"](0, 0, dtype=np.dtype(complex))
    if rank(as_array(c)) and not extents.assume_at_least(shape_of(c)[0], 2):
        raise refuse(f"numpy.polynomial.{family.module}.{family.prefix}roots", "a series of unknown length")
    w = BY_NAME["numpy.linalg.eigvals"].call(companion(family, c))
    return BY_NAME["numpy.sort"].call(w)


CALLS: "tuple[tuple[str, Callable, str, str], ...]" = (
    ("mul", multiplied, "v, v[:3]", ""), ("mulx", times_x, "v", ""), ("pow", power, "v[:3], 3", ""),
    ("div", divided, "v, v[:2]", "where the last coefficient of the divisor is not zero"),
    ("line", line, "v[0], v[1]", ""), ("fromroots", from_roots, "v", ""), ("companion", companion, "v", ""),
    ("roots", roots, "", "where the zeros are simple; always complex"))
PRECISION = {"fromroots": "double", "div": ""}
for _family in FAMILIES:
    for _name, _call, _given, _note in CALLS:
        _home = f"polynomial.{_family.module}.{_family.prefix}{_name}"
        if (_family.prefix, _name) not in (("poly", "mul"), ("poly", "fromroots")):
            _sample = f"np.{_home}({_given})" if _given else f"np.sort(np.abs(np.{_home}(v)))"
            override(f"numpy.{_home}", note=_note, samples=(_sample,), precision=PRECISION.get(_name, "given"))(
                partial(_call, _family))

__all__ = ["whole_power", "whole_product"]
