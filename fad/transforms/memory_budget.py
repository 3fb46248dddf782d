"""The memory that the reverse sweeps of loops may take for saved values: a setting, split among loops and their bodies.

A loop that runs in segments keeps its carries at each segment's start. When the reverse sweep comes to a segment, the
loop computes it again, saving (Griewank & Walther, Algorithm 799: revolve, ACM TOMS 26, 2000; for more levels Griewank
& Walther, Evaluating Derivatives, SIAM 2008, section 12.2). Each further level costs one more run forward, and
multiplies the number of iterations that a given memory serves.
"""
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from ..ir.affine import Affine
from ..ir.build import current
from ..ir.graph import Equation, Literal, Var, is_loop
from ..util.ambient import ambient
from ..util.array import ArrayOrNumber
from ..util.errors import TapeMemoryError

_state: Any = ambient(threading.local())
USUAL_ITERATIONS = 1_000_000                                       # of a loop whose number of iterations is not known
MOST_LEVELS = 8
MOST_DEPTH = 1                                                # of loops that run in segments inside others that do
INNER_SHARE = 8  # a loop's share is so many times that of a loop inside it


@contextmanager
def allowing(limit: "int | None", depth: int = 0) -> Iterator[None]:
    """Within the block, loops may save so many bytes; None: any number. depth: the number of loops around this one that
    run in segments.

    Where the limit cannot be kept, loops at depth 0 raise, those inside save as little as can be.
    """
    outer = allowance(), depth_here()
    _state.limit, _state.depth = limit, depth
    try:
        yield
    finally:
        _state.limit, _state.depth = outer


def depth_here() -> int:
    """In how many loops that run in segments the present one stands."""
    return getattr(_state, "depth", 0)


def allowance() -> "int | None":
    """The bytes that what loops save may take here."""
    return getattr(_state, "limit", None)


def has_budget() -> bool:
    """Whether what loops save is limited here, or was in a loop around."""
    return allowance() is not None or depth_here() > 0


@contextmanager
def for_the_body(eqn: Equation, share: "int | None") -> Iterator[None]:
    """Within the block, the loops inside this equation are differentiated. Those inside a loop divide a part of its
    share, down to a certain depth.
    """
    if not is_loop(eqn) or eqn.params.get("checkpoint") is False:
        yield
        return
    depth = depth_here() + has_budget()
    with allowing(None if share is None or depth > MOST_DEPTH else max(share // INNER_SHARE, 1), depth):
        yield


def share_of(siblings: int) -> "int | None":
    """The share of one of so many loops. A part of the allowance is left for cotangents and copies of the carries."""
    limit = allowance()
    return None if limit is None else limit * 3 // (4 * max(siblings, 1))


def is_small(eqn: Equation, saved: list, share: int) -> bool:
    """Whether one iteration is known to save a small part of the share, so that its inner loops may save all they need.
    """
    iteration = _total(saved)
    return iteration.known and iteration.bytes * INNER_SHARE <= share


class CheckpointPlan(NamedTuple):
    """A loop in segments: so many iterations are saved at once, so many segments' starts are kept at each of the
    further levels.
    """

    iterations: "int | None"                                      # None: the square root of how many there are
    starts: int
    levels: int

    def capacity(self, level: int) -> int:
        """The number of iterations in a chunk of this level."""
        return self.iterations * sum(self.starts ** k for k in range(level))       # type: ignore[operator]


def plan_for(eqn: Equation, saved: list, kept: list, iterations: "ArrayOrNumber | None",
             share: "int | None") -> "CheckpointPlan | None":
    """The plan of a loop in segments; None if it saves all its iterations.

    saved: the variables that each iteration saves; kept: the carries that a segment's start needs; iterations: their
    number, None if not known.
    """
    wanted = eqn.params.get("checkpoint")
    if wanted is False or not saved or (share is None and not wanted):
        return None
    little = CheckpointPlan(None if iterations is not None else 64, 64, 2)  # whatever an iteration saves
    if share is None:
        return little
    iteration, state = _total(saved), _total(kept)
    # one segment's start may be too much, whatever an iteration saves
    hopeless = (iteration.known or state.bytes > share) and state.known and depth_here() == 0
    if iterations is None:
        plan = CheckpointPlan(share // (5 * iteration.bytes), share // (5 * state.bytes), 3)
        if not (plan.iterations and plan.starts) and hopeless:
            _refuse(eqn, share, iteration, state.bytes, None)
        return plan if plan.iterations and plan.starts else little
    known = _Largest().of(iterations)
    number = USUAL_ITERATIONS if known is None else known
    if number * iteration.bytes <= share and not wanted:
        return None
    for levels in range(2, MOST_LEVELS):
        plan = CheckpointPlan(share // (levels * iteration.bytes), share // (levels * state.bytes), levels)
        if plan.iterations and plan.starts and plan.capacity(levels) >= number:
            return plan
    if known is not None and hopeless:
        _refuse(eqn, share, iteration, state.bytes, number)
    return little


def _refuse(eqn: Equation, share: int, iteration: "_Total", state: int, number: "int | None") -> None:
    each = "iteration" if number is None else f"of {number:,} iterations"
    saves = f"{iteration.bytes:,} more" if iteration.known else "more"
    raise TapeMemoryError(f"{share:,} bytes are too few for what a loop saves", where=eqn.where, do="allow more memory",
                          why=f"an iteration starts from {state:,} bytes and saves {saves} in each {each}")


class _Total(NamedTuple):
    bytes: int
    known: bool                                              # or a guess


def _total(variables: list) -> _Total:
    """The bytes of these variables at most, for the sizes that the program is held to."""
    largest, total, known = _Largest(), 0, True
    for v in variables:
        size = max(v.type.dtype.itemsize, 1)
        for n in v.type.shape:
            extent = largest.of(n)
            size, known = size * max(100 if extent is None else extent, 1), known and extent is not None
        total += size
    return _Total(max(total, 1), known)


class _Largest:
    """The largest value of an integer in the program: extents of inputs are held below a bound, by guards."""

    def of(self, n: object) -> "int | None":
        """The largest value of an int or an integer of the program; None where nobody knows."""
        n = getattr(n, "atom", n)
        if isinstance(n, (int, Literal)):
            return n if isinstance(n, int) else int(n.value)
        return self._form(current().integers.form(n), 6)

    def _form(self, form: Affine, depth: int) -> "int | None":
        facts, total = current().integers, form.const
        for v, c in form.terms:
            bound = self._variable(v, depth) if c > 0 else facts.low.get(v, 0)
            if bound is None:
                return None
            total += c * bound
        return total

    def _variable(self, v: Var, depth: int) -> "int | None":
        facts = current().integers
        if v in facts.dims:
            return self._dim(v)
        if depth and v in facts.high:
            return self._form(facts.form(0) + facts.high[v], depth - 1)
        if depth and v in facts.factors:
            parts = [self._form(facts.form(n), depth - 1) for n in facts.factors[v]]
            return None if None in parts else parts[0] * parts[1]              # type: ignore[operator]
        return self._computed(v, depth)

    def _computed(self, v: Var, depth: int) -> "int | None":
        """The value at tracing of an integer computed from extents of inputs, with a margin; guards hold the extents
        below a bound.
        """
        operands = current().integers.operands.get(v)
        if not depth or v.hint is None or not operands:
            return None
        parts = [n if isinstance(n, int) else self._form(current().integers.form(n), depth - 1) for n in operands]
        return None if None in parts else max(2 * v.hint, 2)

    def _dim(self, v: Var) -> "int | None":
        """The extent seen at tracing, and up to a quarter more: a call with a larger one is traced anew."""
        if v.hint is None:
            return None
        step = max(1 << v.hint.bit_length() - 3, 2) if v.hint > 4 else 4
        bound = -(-v.hint // step) * step
        held = current().integers.assume_nonnegative(Affine.of(v).scaled(-1).shifted(bound))
        return bound if held else None
