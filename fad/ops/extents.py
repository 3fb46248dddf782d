"""Arithmetic and comparison of extents (ints, or integers of a program), for the infer functions and NumPy's overrides.
"""
from typing import Any

from ..ir.build import Value, as_extent, current
from ..ir.op import registry
from ..util.array import ArrayOrNumber, Extent
from ..util.errors import BROADCAST, PINNED, ExtentError
from ..util.where import here
from .kinds import same_extent, shape_of


def minimum(a: object, b: object) -> Any:
    return min(a, b) if isinstance(a, int) and isinstance(b, int) else registry["minimum"](a, b)


def maximum(a: object, b: Extent) -> Any:
    return max(a, b) if isinstance(a, int) and isinstance(b, int) else registry["maximum"](a, b)


def product(extents: Any) -> Any:
    total: Any = 1
    for n in extents:
        total = total * n
    return total


def hint(n: ArrayOrNumber) -> "int | None":
    """The value of an extent at tracing, if known."""
    if not isinstance(n, Value):
        return int(n)
    facts = current().integers
    if n.atom.hint is None:
        for v, _ in facts.form(n.atom).terms:                 # taken from an array of sizes: np.array(x.shape)[0]
            found = None if v.hint is not None else type(n)(n.builder, v).at_sizes()
            if found is not None:
                facts.note_seen(v, int(found[0]), found[1])
    return n.atom.hint if n.atom.hint is not None else facts.hint(facts.form(n.atom))


def pinned(x: "Value | ArrayOrNumber") -> Any:
    """The content of x at the sizes of this call, which guards on them make true. None where x follows from more."""
    found = x.at_sizes() if isinstance(x, Value) else None
    if found is None or any(current().integers.pin(n, here()) is None for n in found[1]):
        return None
    return found[0]


def difference(a: Any, b: Any) -> Any:
    """max(a - b, 0), simply a - b where that is known (or assumed, as a guard) not to be negative."""
    if isinstance(a, int) and isinstance(b, int):
        return max(a - b, 0)
    facts = current().integers
    form = facts.form(as_extent(a)) - facts.form(as_extent(b))
    if facts.assume_nonnegative(form, here()):
        return current().from_form(form)
    return maximum(a - b, 0)


def assume_at_least(a: Extent, b: Extent, more: int = 0) -> bool:
    """Whether a >= b + more can be proved or, about extents of inputs, assumed. False tells nothing (see is_at_least).
    It makes no equation, so that the region of a and b may have ended."""
    if isinstance(a, int) and isinstance(b, int):
        return a >= b + more
    facts = current().integers
    return facts.assume_nonnegative(facts.form(as_extent(a)) - facts.form(as_extent(b)) - facts.form(more), here())


def is_at_least(a: Extent, b: Extent) -> bool:
    """Whether a >= b, under a guard either way: for what is written in two ways. Of lengths that depend on data the
    program says so itself: it is for those that are large enough, as nearly all are.
    """
    if assume_at_least(a, b):
        return True
    if assume_at_least(b, a, 1):
        return False
    sizes = [n if isinstance(n, int) else hint(n) and current().integers.pin(as_extent(n), here()) for n in (a, b)]
    if None not in sizes:
        return sizes[0] >= sizes[1]                          # type: ignore[operator]
    registry["check_that"](registry["greater_equal"](a, b), True, what=PINNED, error="ValueError")
    return True


def always_at_least(a: Extent, b: Extent) -> bool:
    """The same, where what is assumed may be that a >= b in all iterations of the loops around."""
    if assume_at_least(a, b):
        return True
    if isinstance(a, int) and isinstance(b, int):
        return False
    facts = current().integers
    return facts.assume_nonnegative(facts.least(facts.form(as_extent(a)) - facts.form(as_extent(b))), here())


def agree(a: Extent, b: Extent, what: str = "extents") -> Any:
    """The common extent of a and b, which must be equal: known, assumed, or checked as the program runs."""
    if isinstance(a, int) and isinstance(b, int):
        if a != b:
            raise ExtentError(f"{what} differ: {a} and {b}")
        return a
    builder = current()
    facts = builder.integers
    form = facts.form(as_extent(a)) - facts.form(as_extent(b))
    if facts.assume_zero(form, here()):
        return _elder(a, b)
    values = hint(a), hint(b)
    if form.is_constant or (None not in values and values[0] != values[1] and builder.is_certain):
        raise ExtentError(f"{what} differ: {values[0]} and {values[1]}")
    builder.emit(registry["check_equal"], (a, b), (), {"what": what})
    return _elder(a, b)


def _elder(a: Extent, b: Extent) -> ArrayOrNumber:
    """Of two equal extents the number, or else the older variable: what was made outside a region holds around it."""
    if isinstance(a, int) or isinstance(b, int):
        return a if isinstance(a, int) else b
    return a if as_extent(a).id <= as_extent(b).id else b


def is_one(n: Extent) -> bool:
    """Whether an extent is 1, specialising on it where the extents seen at tracing made it 1."""
    if isinstance(n, int):
        return n == 1
    return hint(n) == 1 and current().integers.pin(as_extent(n), here()) == 1


def broadcast_shapes(*shapes: tuple) -> tuple:
    """NumPy's broadcasting over extents."""
    rank = max((len(s) for s in shapes), default=0)
    out = []
    for k in range(rank):
        column = [s[k - rank + len(s)] for s in shapes if k - rank + len(s) >= 0]
        out.append(_broadcast_extents(column))
    return tuple(out)


def _broadcast_extents(column: list) -> ArrayOrNumber:
    result: Any = 1
    for n in column:
        if isinstance(n, int) and n == 1:
            continue
        if isinstance(result, int) and result == 1:
            result = n
        elif result is not n:
            result = _join(result, n)
    return result


def _join(a: Extent, b: Extent) -> ArrayOrNumber:
    if not (isinstance(a, int) and isinstance(b, int)) and hint(a) != hint(b):
        if is_one(a):
            return b
        if is_one(b):
            return a
    facts = current().integers
    are_large = all(facts.proves_nonnegative(facts.form(as_extent(n)).shifted(-2)) for n in (a, b))
    try:
        return agree(a, b, "extents" if are_large else BROADCAST)
    except ExtentError as error:
        raise ExtentError(f"operands could not be broadcast together: extents {hint(a)} and {hint(b)}",
                          where=error.where) from None


def broadcast_onto(shape: tuple, target: tuple) -> None:
    """See to it that an array of this shape broadcasts to the target."""
    if len(shape) > len(target):
        raise ExtentError(f"an array of {len(shape)} axes does not broadcast to {len(target)}")
    for n, m in zip(shape[::-1], target[::-1]):
        if not same_extent(n, m) and not is_one(n):
            agree(n, m, "extents of an array and of what it is broadcast to")


def broadcast_of(*args: ArrayOrNumber) -> tuple:
    """The shape that these arguments broadcast to."""
    shapes = [shape_of(a) for a in args]
    first = shapes[0]
    if all(s is first or not s for s in shapes):
        return first
    return broadcast_shapes(*shapes)
