"""Products of extents: the number of elements of a shape, whether two shapes have equally many, and the extent for -1.

A product is kept as its factors, so that what two shapes have in common cancels without a division in the program.
"""
from typing import Any

from ..ir.build import Value, current
from ..ir.op import registry
from ..util.array import Extent
from . import extents


def factors(shape: tuple) -> "tuple[int, list]":
    """The constant factor of a shape's size, and its other factors as variables, sorted."""
    const, rest = 1, []
    for n in shape:
        k, vars = _split(n)
        const *= k
        rest += vars
    return const, sorted(rest, key=lambda v: v.id)


def _split(n: Extent) -> "tuple[int, list]":
    if not isinstance(n, Value):
        return int(n), []
    facts = current().integers
    form = facts.form(n.atom)
    if form.is_constant:
        return form.const, []
    if form.const or len(form.terms) > 1:
        return 1, [n.atom]
    var, k = form.terms[0]
    parts = facts.factors.get(var)
    if parts is None:
        return k, [var]
    const, rest = factors(tuple([current().value_of(p) for p in parts]))
    return k * const, rest


def _cancel(a: list, b: list) -> "tuple[list, list]":
    a, b = list(a), list(b)
    for v in list(a):
        if v in b:
            a.remove(v)
            b.remove(v)
    return a, b


def size_of(shape: tuple) -> Any:
    """The number of elements, its factors in one order whatever the shape's, so that equal products are one integer."""
    const, rest = factors(shape)
    total: Any = const
    for v in rest:
        total = total * current().value_of(v)
    return total


def agree_in_size(a: tuple, b: tuple, what: str) -> None:
    """See to it that two shapes have equally many elements."""
    (ka, va), (kb, vb) = factors(a), factors(b)
    left, right = _cancel(va, vb)
    if not left and not right and ka == kb:
        return
    if not left and not right and 0 in (ka, kb):
        left, right = va, vb                                     # what cancelled may have been zero
    extents.agree(_times(ka, left), _times(kb, right), what)


def _times(const: int, vars: list) -> Any:
    return size_of((const, *[current().value_of(v) for v in vars]))


def quotient(total: tuple, known: tuple, what: str) -> Any:
    """The extent which, with the known ones, makes up as many elements as the shape `total` has."""
    (ka, va), (kb, vb) = factors(total), factors(known)
    left, right = _cancel(va, vb)
    if not right and kb and ka % kb == 0:
        return _times(ka // kb, left)
    whole, part = size_of(total), size_of(known)
    if isinstance(whole, int) and isinstance(part, int):
        if not part or whole % part:
            raise extents.ExtentError(f"{what}: {whole} is no multiple of {part}")
        return whole // part
    result = registry["floordiv"](whole, part)
    extents.agree(result * part, whole, f"sizes ({what})")
    return result
