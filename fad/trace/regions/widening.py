"""Whether the first iterations of a loop compute the same numbers in the types that its carries come to.

A loop that is one region gives what it carries one dtype. Python's first iteration still has the narrower one: an int
before it becomes a float, a float before it becomes complex. Most bodies do not mind (`s = 0`, then `s += x[k]`). Some
do: they ask for the dtype, round in it, or take the square root of a negative number. So a body was also traced in the
types of its first iterations (ops/carry.py keeps these traces), and the two programs are compared here. Each value has
a name; what has one name in both programs is one number. Where a result differs, the iteration is peeled off (see
unroll.py).
"""
import math
from typing import Any, NamedTuple

import numpy as np

from ...ir.build import Value, current
from ...ir.graph import Equation, Literal, Var, has_effect
from ...ir.traits import NO_WIDENING, Widening
from ...ir.types import BOOL, Type, dtype_text, loop_dtypes, promoted, type_of
from ...ir.views import LoopView
from ...ops.carry import UNDEFINED, Iteration, convert, zeros_of
from ...ops.mixed import DtypeKind
from ...util.array import ArrayOrNumber
from ...util.errors import UnstageableError
from ...util.interrupts import reraise_interrupt


class ComparedPart(NamedTuple):
    """A program to be compared: a body, a test, or a region in one of these."""

    inputs: list
    equations: list
    outputs: list


def _part_of(region: Any) -> ComparedPart:
    return ComparedPart(list(region.inputs), region.equations, list(region.outputs))


class WideningError(UnstageableError):
    """An iteration of a loop computes in another dtype than later ones, and something else."""


def require_same_iterations(eqn: Equation, iterations: "list[Iteration]", names: tuple) -> None:
    """An error if an iteration that was traced in narrower types computes other numbers than the loop's region does, or
    leaves a narrower type.
    """
    lead = 0 if LoopView(eqn).index is None else 1
    for iteration in iterations:
        for k, t in iteration.narrowed.items():
            raise _refusal(names, k, iteration.last[k], t)
        kept = [k for k, t in enumerate(iteration.last) if t is not None]
        changed = [k for k, t in enumerate(iteration.types)
                   if k in kept and t is not None and _kind(t) != _kind(iteration.last[k])]
        parts = [(iteration.body, lead), (iteration.test, 0)]
        if changed and not all(part is None or _same(eqn, iteration, kept, part, lead) for part, lead in parts):
            raise _refusal(names, changed[0], iteration.types[changed[0]], iteration.last[changed[0]])


def _refusal(names: tuple, k: int, before: Type, after: Type) -> WideningError:
    name = (names[k] if k < len(names) else "") or "a value that the loop carries"
    return WideningError(f"{name} changes its dtype from {kind_text(before)} to {kind_text(after)}, and iterations "
                         "before and after compute differently",
                         why="a loop that is one part of the program gives a name one dtype",
                         do="start it with the dtype that it will have")


def _kind(t: Type) -> tuple:
    return t.dtype, t.weak


def kind_text(t: "Type | DtypeKind") -> str:
    """A dtype, and whether it is Python's, in words."""
    return ("a Python " if t.weak else "") + dtype_text(t.dtype)


def _same(eqn: Equation, iteration: Iteration, kept: list, part: Any, lead: int) -> bool:
    loop = LoopView(eqn)
    region: Any = loop.body if part is iteration.body else loop.test
    comparison = _Comparison(current().trace.supposed)
    wide, narrow = region.inputs, [_atom(x) for x in (*part.lead, *_row(part.inputs, kept))]
    for k, (v, a) in enumerate(zip(wide, narrow)):
        is_known = k >= lead and iteration.is_first
        comparison.begin(v, a, _start(iteration.carries.init[kept[k - lead]], v) if is_known else UNDEFINED)
    is_test = part is iteration.test
    results = part.outputs if is_test else _row(part.outputs, kept)
    return comparison.is_same(ComparedPart(narrow, part.equations, [_atom(x) for x in results]), _part_of(region))


def _start(x: object, v: Var) -> Any:
    """The initial value of a carry; zero where it has no value yet."""
    return zeros_of(v.type) if x is UNDEFINED and not v.type.shape else x


def _row(values: list, kept: list) -> list:
    """The values of these carries; UNDEFINED of those that were found later (extents that change)."""
    return [values[k] if k < len(values) else UNDEFINED for k in kept]


def _atom(x: object) -> Any:
    # handed on, not read: see maybe_unbound.py
    return x._var if isinstance(x, Value) else x if x is UNDEFINED else Literal(x, type_of(x))


def is_same_program(narrow: ComparedPart, wide: ComparedPart, supposed: dict) -> bool:
    """Whether two traces of one function compute the same, where one supposes other kinds of some values."""
    return _Comparison(supposed).is_same(narrow, wide)


class _Comparison:
    """Names for the values of two programs. The narrow program's are its own variables, and numbers that are known."""

    def __init__(self, supposed: dict) -> None:
        self.supposed = supposed                              # see ops/mixed.py
        self.names: dict[Var, Any] = {}
        # names of the wide program that are others of the narrow one, rounded to a dtype
        self.rounded: dict[Any, tuple] = {}

    def begin(self, wide: Any, narrow: Any, start: object) -> None:
        """Name an input of both programs; start: the number that it is known to be."""
        if narrow is UNDEFINED:
            if start is not UNDEFINED:
                self.names[wide] = self.name(_atom(start))
            return
        if isinstance(start, Value):
            self.names[wide] = self.names[narrow] = start.atom
        elif start is not UNDEFINED and not getattr(start, "shape", ()):
            self.names[narrow], self.names[wide] = _number(start), _number(convert(start, wide.type))
        else:
            self.names[narrow] = narrow
            self.names[wide] = narrow
        if not np.can_cast(narrow.type.dtype, wide.type.dtype, "safe") and not _is_known(self.names[narrow]):
            self.names[wide] = wide
        if self.names[wide] != self.names[narrow]:
            self.rounded[self.names[wide]] = (self.names[narrow], wide.type.dtype)

    def name(self, a: Any) -> Any:
        return UNDEFINED if a is UNDEFINED else _number(a.value) if isinstance(a, Literal) else self.names.get(a, a)

    def is_same(self, narrow: ComparedPart, wide: ComparedPart) -> bool:
        """Whether two programs, whose inputs have names, have the same results and effects."""
        made: dict[tuple, list[Equation]] = {}
        effects: tuple[list, list] = ([], [])
        for eqn in narrow.equations:
            if eqn.op.effect:
                effects[0].append((*self._key(eqn), *_told(eqn)))
            elif not self._is_known(eqn) and not self._is_again(eqn, made.setdefault(self._key(eqn), [])):
                if has_effect(eqn):
                    effects[0].append(eqn)
        for eqn in wide.equations:
            if eqn.op.effect:
                effects[1].append((*self._key(eqn), *_told(eqn)))
            elif not self._is_known(eqn):
                found = self._find(eqn, made)
                if has_effect(eqn):
                    effects[1].append(found)
        ends = [(self.name(x), self.name(y)) for x, y in zip(narrow.outputs, wide.outputs)]
        return effects[0] == effects[1] and all(x is UNDEFINED or x == y for x, y in ends)

    def _key(self, eqn: Equation) -> tuple:
        return eqn.op.name, *[self.name(a) for a in eqn.inputs]

    def _is_known(self, eqn: Equation) -> bool:
        """Name what an equation computes from known numbers, or hands on as it is."""
        if eqn.regions or len(eqn.outputs) != 1:
            return False
        if eqn.outputs[0] in self.supposed:
            self._suppose(eqn.outputs[0], *self.supposed[eqn.outputs[0]])
            return True
        y, names = eqn.outputs[0], [self.name(a) for a in eqn.inputs]
        if _hands_on(eqn) or self._is_truth(eqn, names):
            self.names[y] = names[0]
            return True
        if eqn.op.kind != "elementwise" or y.type.shape or not all(map(_is_known, names)):
            return False
        try:
            with np.errstate(all="ignore"):
                found = eqn.op.run(*[_typed(n[1], a.type) for n, a in zip(names, eqn.inputs)], **eqn.params)
        except (ArithmeticError, TypeError, ValueError) as error:
            reraise_interrupt(error)
            return False
        self.names[y] = _number(np.asarray(found, y.type.dtype)[()])
        return True

    def _is_truth(self, eqn: Equation, names: list) -> bool:
        """Whether the truth is asked for of a number that is supposed to be a bool."""
        return eqn.op.name == "not_equal" and names[1] == _number(0) and any(
            result is names[0] and kind.dtype == BOOL for result, kind in self.supposed.values()
        )

    def _suppose(self, y: Var, result: Var, kind: Any) -> None:
        """Name a result that is supposed to be of a kind, y: it is the same number, or where the result's type has no
        room, one that was rounded.
        """
        if kind.known is not None:
            self.names[result] = _number(kind.known)
        self.names[y] = self.name(result) if kind.known is not None or kind.is_exact else y
        if self.names[y] is y:
            self.rounded[self.name(result)] = (y, result.type.dtype)

    def _is_again(self, eqn: Equation, made: "list[Equation]") -> bool:
        """Whether a narrow equation computes what another one of these did; else it becomes one of them."""
        for found in made if not eqn.regions else ():
            if self._is_alike(found, eqn) and _is_in_one_dtype(found, eqn):
                return bool(self._give(found, eqn))
        made.append(eqn)
        return False

    def _find(self, eqn: Equation, made: dict) -> "Equation | None":
        """The narrow equation that computes the same as a wide one, whose results get its results' names."""
        key, is_same = self._key(eqn), self._are_regions_same if eqn.regions else _is_exact
        for found in made.get(key, ()):
            if self._is_alike(found, eqn) and is_same(found, eqn):
                return self._give(found, eqn)
        dtypes = [self.rounded[n][1] for n in key if n in self.rounded]
        for found in made.get(tuple([self.rounded.get(n, (n,))[0] for n in key]), ()) if dtypes else ():
            is_alike = self._is_alike(found, eqn) and _is_in_one_dtype(found, eqn)
            if is_alike and all(t in _loop(found)[0] for t in dtypes):
                return self._give(found, eqn)
        return None

    def _give(self, found: Equation, eqn: Equation) -> Equation:
        self.names.update((y, self.names.get(x, x)) for x, y in zip(found.outputs, eqn.outputs))
        return found

    def _is_alike(self, x: Equation, y: Equation) -> bool:
        return len(x.outputs) == len(y.outputs) and len(x.regions) == len(y.regions) and _params(x) == _params(y)

    def _are_regions_same(self, x: Equation, y: Equation) -> bool:
        for narrow, wide in zip(x.regions, y.regions):
            if len(narrow.inputs) != len(wide.inputs):
                return False
            for a, b in zip(narrow.inputs, wide.inputs):
                self.begin(b, a, UNDEFINED)
            if any(self.names[b] is b for b in wide.inputs) or not self.is_same(_part_of(narrow), _part_of(wide)):
                return False
        return True


def _told(eqn: Equation) -> list:
    """The form in which people see an effect, besides numbers: 0 is not 0.0."""
    return [_kind(a.type) for a in eqn.inputs] if eqn.op.traits.tells else []


def _number(x: object) -> tuple:
    """The name of a number that is known, of whatever dtype."""
    x = x.item() if isinstance(x, np.generic) else x
    return ("number", "nan") if x != x else ("number", x)


def _is_known(name: object) -> bool:
    return isinstance(name, tuple) and name[0] == "number"


def _typed(x: object, t: Type) -> ArrayOrNumber:
    """A known number as a value of this type."""
    x = math.nan if x == "nan" else x
    x = x.real if isinstance(x, complex) and t.dtype.kind != "c" else x
    return t.dtype.type(x).item() if t.weak else t.dtype.type(x)


def _params(eqn: Equation) -> dict:
    """The parameters of an equation, without dtypes (its results' types have them) and names."""
    return {k: v for k, v in eqn.params.items() if k not in ("dtype", "weak", "names")}


def _hands_on(eqn: Equation) -> bool:
    """Whether the result is the first operand, in a dtype that has room for it."""
    t, y = eqn.inputs[0].type if eqn.inputs else None, eqn.outputs[0].type
    if eqn.op.name == "mul":                                  # how a Python number becomes one of another kind
        one = eqn.inputs[1]
        return isinstance(one, Literal) and one.value == 1 and y.weak and np.can_cast(t.dtype, y.dtype, "safe")  # type: ignore[union-attr]
    return eqn.op.traits.barrier or eqn.op.name == "cast" and np.can_cast(t.dtype, y.dtype, "safe")  # type: ignore[union-attr]


def _loop(eqn: Equation) -> tuple:
    """The dtypes that an op computes in, and those of its results."""
    types, results = [a.type for a in eqn.inputs], tuple([v.type.dtype for v in eqn.outputs])
    ufunc = eqn.op.facts.get("ufunc")
    if ufunc is not None:
        return loop_dtypes(ufunc, types)[:ufunc.nin], results
    if eqn.op.kind == "elementwise" and eqn.op.name != "cast":
        return (promoted(types[1:] if eqn.op.name == "where" else types),), results
    return tuple([t.dtype for t in types]), results


def _is_in_one_dtype(x: Equation, y: Equation) -> bool:
    return _loop(x) == _loop(y)


def _is_exact(x: Equation, y: Equation) -> bool:
    """Whether the same op on the same numbers, in other dtypes, has the same results."""
    if _is_in_one_dtype(x, y):
        return True
    if x.op.traits.copies or x.op.creation:
        return all(_has_room(eqn) for eqn in (x, y))
    (a, *_), (b, *_) = _loop(x)[0] or (None,), _loop(y)[0] or (None,)
    step, holds_by = _step(a, b), x.op.traits.widens_by
    if holds_by is not None and step is Widening.INT_TO_FLOAT:
        return isinstance(x.inputs[1], Literal) and bool(holds_by(x.inputs[1].value))
    return bool(step & x.op.traits.widens)


def _step(a: Any, b: Any) -> Widening:
    """The step by which a dtype was widened."""
    if a is None or b is None or a == b or not np.can_cast(a, b, "safe"):
        return NO_WIDENING
    if a.kind in "biu":
        if a != np.int64:
            return Widening.SMALL_INT
        return Widening.INT_TO_COMPLEX if b.kind == "c" else Widening.INT_TO_FLOAT
    if a.kind == "f" and b.kind == "c":
        return Widening.REAL_TO_COMPLEX if b.itemsize == 2 * a.itemsize else NO_WIDENING
    return Widening.COMPLEX_DIGITS if a.kind == "c" else Widening.MORE_DIGITS


def _has_room(eqn: Equation) -> bool:
    """Whether an op that moves numbers has room for them in its result."""
    copied = eqn.op.traits.copies or 1  # what is made of an extent alone has no larger numbers than that
    return all(_fits(a, v.type.dtype) for v in eqn.outputs for a in eqn.inputs[:copied])


def _fits(a: Any, dtype: np.dtype) -> bool:
    if isinstance(a, Literal):
        with np.errstate(all="ignore"):
            return a.value != a.value or bool(np.asarray(a.value).astype(dtype) == a.value)
    return np.can_cast(a.type.dtype, dtype, "safe")

