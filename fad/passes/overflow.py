"""overflow: checks for Python's integers, which have no largest one and raise for a division by zero.

A bound of every integer follows from those of its operands (interval arithmetic on magnitudes). Where the bound exceeds
64 bits, the operation runs on floats as well, and the program checks the result.
"""
import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..ir.graph import Atom, Equation, Func, Literal, Var, all_equations, is_branch, is_loop
from ..ir.op import registry
from ..ir.types import INT, LARGEST, Type
from ..ir.views import LoopView
from ..util.errors import INTEGER_OVERFLOW, LARGEST_INT
from ..util.interrupts import reraise_interrupt
from .rewrite import Scope, rewrite

EXTENT = 2.0**30  # arrays are not much longer, and trip counts stay below it
DATA = float(LARGEST)                                         # a bound of integers that are data
FLOAT, BOOL = Type(np.dtype(float)), Type(np.dtype(bool))


class IntegerBound(NamedTuple):
    """At most times * (the largest integer that a loop carries) + base + ticks * (the number of iterations of all
    loops).
    """

    times: float = 0.0
    base: float = 0.0
    ticks: float = 0.0

    @property
    def total(self) -> float:
        return self.base + self.ticks * EXTENT

    def scaled(self, k: float) -> "IntegerBound":
        return IntegerBound(*[part * k if part else 0.0 for part in self])


def overflow(func: Func) -> Func:
    """In front of an operation on Python integers that may leave 64 bits: the same operation on floats, and a check.

        k2 = k * 3   ->   check_that(abs(float(k) * 3.0) < 2**63); k2 = k * 3      where a loop carries k

    The pass puts a check before each division of Python integers (the divisor is not 0) and each shift (not negative).

    The bounds of extents and counters are known, and those of their sums and products of two. NumPy's integers wrap
    around; the pass leaves them alone.
    """
    extents = {n for v in func.inputs for n in v.type.shape}              # of arguments: those of 0 are other programs
    partial = {id(eqn) for eqn in all_equations(func) if _is_partial(eqn) and eqn.inputs[1] not in extents}
    unsure: set[Var] = set()
    if any(_may_grow(eqn) for eqn in all_equations(func)):
        finder = _OverflowFinder(func)
        finder.region(func, {v: IntegerBound(base=DATA) for v in func.inputs}, True)
        unsure = finder.unsure
    return rewrite(func, lambda eqn, scope: _checked(eqn, scope, unsure, partial)) if unsure or partial else func


def _is_pythons(eqn: Equation) -> bool:
    return len(eqn.outputs) == 1 and eqn.outputs[0].type.weak and eqn.outputs[0].type.dtype == INT


def _may_grow(eqn: Equation) -> bool:
    """Whether this operation makes large integers of small ones, by itself or repeated."""
    if not eqn.op.traits.grows or not _is_pythons(eqn):
        return False
    return (eqn.op.traits.grows == "powers"
            or all(isinstance(a, Var) or abs(a.value) > (1 if eqn.op.name == "mul" else EXTENT) for a in eqn.inputs))


def _is_partial(eqn: Equation) -> bool:
    """Whether this may divide a Python integer by zero, or shift it by a negative number."""
    pythons = all(a.type.weak and a.type.dtype == INT for a in eqn.inputs)
    return eqn.op.traits.guard is not None and pythons and (isinstance(eqn.inputs[1], Var) or eqn.inputs[1].value <= 0)


class _OverflowFinder:
    """The operations that may leave 64 bits."""

    def __init__(self, func: Func):
        self.unsure: set[Var] = set()
        self.extents = {n for eqn in all_equations(func) for v in eqn.outputs for n in v.type.shape
                        if isinstance(n, Var)}

    def size(self, a: Atom, known: dict) -> IntegerBound:
        if isinstance(a, Literal):
            if isinstance(a.value, (int, np.integer)) and abs(a.value) < 2**1000:
                return IntegerBound(base=abs(float(a.value)))
            return IntegerBound(base=math.inf)
        found = known.get(a, IntegerBound(base=EXTENT))
        return IntegerBound(base=EXTENT) if a in self.extents and not found.total < EXTENT else found

    def region(self, region: Func, known: dict, note: bool) -> "list[IntegerBound]":
        """The sizes of a region's results; `note` which operations are unsure."""
        for eqn in region.equations:
            if eqn.regions:
                self.control(eqn, known, note)
            elif all(not v.type.shape and v.type.dtype == INT for v in eqn.outputs):
                self.step(eqn, known, note)
        return [self.size(a, known) for a in region.outputs]

    def step(self, eqn: Equation, known: dict, note: bool) -> None:
        rule = RULES.get(eqn.op.name)
        found = rule(*[self.size(a, known) for a in eqn.inputs]) if rule else IntegerBound(base=DATA)
        if eqn.op.name == "floordiv" and isinstance(eqn.inputs[1], Literal) and eqn.inputs[1].value:
            found = found.scaled(1.0 / abs(eqn.inputs[1].value))
        if note and eqn.op.traits.grows and _is_pythons(eqn) and not found.total < LARGEST_INT:
            self.unsure.add(eqn.outputs[0])
            found = IntegerBound(base=LARGEST_INT)
        known.update(dict.fromkeys(eqn.outputs, found))

    def control(self, eqn: Equation, known: dict, note: bool) -> None:
        if is_loop(eqn):
            found = self.loop(LoopView(eqn), known, note)
        else:
            inputs = {v: IntegerBound(base=DATA) for region in eqn.regions for v in region.inputs}
            rows = [self.region(region, {**known, **inputs}, note) for region in eqn.regions]
            found = ([_largest(*column) for column in zip(*rows)] if is_branch(eqn)
                     else [IntegerBound(base=DATA)] * len(eqn.outputs))
        known.update(zip(eqn.outputs, found))

    def loop(self, loop: LoopView, known: dict, note: bool) -> "list[IntegerBound]":
        """Sizes of the carries: a carry that each iteration adds to, or leaves below the largest carry, grows with the
        iterations; any other has no bound.
        """
        first = [self.size(a, known) for a in loop.init]
        if loop.index is not None:
            known[loop.index] = _sum(*[self.size(a, known) for a in loop.bounds])
        steady = {k for k, v in enumerate(loop.carries) if not v.type.shape and v.type.dtype == INT}
        while True:
            begun = [IntegerBound(times=1.0) if k in steady else IntegerBound(base=LARGEST_INT)
                     for k in range(len(first))]
            iteration = self.region(loop.body, {**known, **dict(zip(loop.carries, begun))}, False)
            wild = {k for k in steady if iteration[k].times > 1 or not iteration[k].total < LARGEST_INT}
            if not wild:
                break
            steady -= wild
        found = [IntegerBound(base=LARGEST_INT)] * len(first)
        anew = {k for k in steady if not iteration[k].times}
        for k in anew:                                        # of no carry: as large in every iteration
            found[k] = _largest(first[k], iteration[k])
        if steady:
            start = _largest(*[found[k] if k in anew else first[k] for k in steady])
            growth = max([iteration[k].base + iteration[k].ticks for k in steady - anew], default=0.0)
            found = [IntegerBound(start.times, start.base, start.ticks + growth) if k in steady - anew else size
                     for k, size in enumerate(found)]
        if note:
            for region in loop.eqn.regions:
                self.region(region, {**known, **dict(zip(loop.carries_of(region), found))}, True)
        return found


def _sum(*sizes: IntegerBound) -> IntegerBound:
    return IntegerBound(*[sum(parts) for parts in zip(*sizes)])


def _largest(*sizes: IntegerBound) -> IntegerBound:
    return IntegerBound(*[max(parts) for parts in zip(*sizes)])


def _product(x: IntegerBound, y: IntegerBound) -> IntegerBound:
    if x.times and y.times:
        return IntegerBound(math.inf, math.inf)
    x, y = (y, x) if y.times else (x, y)
    return x.scaled(y.total)


def _power(x: IntegerBound, y: IntegerBound) -> IntegerBound:
    if x.times or y.times:
        return IntegerBound(math.inf, math.inf)
    try:
        return IntegerBound(base=max(x.total, 1.0) ** y.total)
    except OverflowError as error:
        reraise_interrupt(error)
        return IntegerBound(base=math.inf)


def _shifted(x: IntegerBound, y: IntegerBound) -> IntegerBound:
    return _product(x, _power(IntegerBound(base=2.0), y))


RULES: "dict[str, Callable[..., IntegerBound]]" = {
    "add": _sum, "sub": _sum, "mul": _product, "square": lambda x: _product(x, x), "pow": _power,
    "left_shift": _shifted, "floordiv": lambda x, y: x, "neg": lambda x: x, "abs": lambda x: x,
    "right_shift": lambda x, y: x, "mod": lambda x, y: y, "wrap_index": _largest, "minimum": _largest,
    "maximum": _largest, "where": lambda c, x, y: _largest(x, y), "bitwise_and": _sum, "bitwise_or": _sum,
    "bitwise_xor": _sum}


def _checked(eqn: Equation, scope: Scope, unsure: set, partial: set) -> None:
    """Add the checks in front of an operation."""
    if id(eqn) in partial:
        relation, what, error = eqn.op.traits.guard
        holds = scope.emit(registry[relation], (scope.resolve(eqn.inputs[1]), Literal(0, Type(INT, (), True))), BOOL,
                           {}, eqn.where)
        _check_that(holds, what, error, eqn, scope)
    if not eqn.outputs or eqn.outputs[0] not in unsure:
        return
    x, *others = [_as_float(a, scope, eqn.where) for a in eqn.inputs]
    y = others[0] if others else x
    name = {"square": "mul", "left_shift": "mul"}.get(eqn.op.name, eqn.op.name)
    if eqn.op.name == "left_shift":
        y = scope.emit(registry["exp2"], (y,), FLOAT, {}, eqn.where)
    result = scope.emit(registry[name], (x, y), FLOAT, {}, eqn.where)
    size = scope.emit(registry["abs"], (result,), FLOAT, {}, eqn.where)
    fits = scope.emit(registry["less"], (size, Literal(LARGEST_INT, FLOAT)), BOOL, {}, eqn.where)
    _check_that(fits, INTEGER_OVERFLOW, "OverflowError", eqn, scope)


def _check_that(test: Var, what: str, error: str, eqn: Equation, scope: Scope) -> None:
    scope.add(Equation(registry["check_that"], (test, Literal(True, BOOL)), (), {"what": what, "error": error}, (),
                       eqn.where))


def _as_float(a: Atom, scope: Scope, where: object) -> Atom:
    if isinstance(a, Literal):
        return Literal(float(a.value) if abs(a.value) < 2**1000 else math.inf, FLOAT)
    return scope.emit(registry["cast"], (scope.resolve(a),), FLOAT, {"dtype": FLOAT.dtype}, where)
