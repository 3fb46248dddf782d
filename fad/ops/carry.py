"""The types of loop carries and branch results: fad runs the code symbolically and joins the types that come out.

A carry starts with its initial value's type, and fad traces the body with it. If a result does not fit (an int became
a float, an extent changed), the type widens and the body is traced anew, up to a fixed point. An extent that changes
from iteration to iteration becomes a carry of its own: an integer, which the array's type names (the `extents` of the
equation: carry, axis, integer).

If the first iteration changes an extent by a number (`v = v[:-1]`), fad supposes that each does. The body is traced
with the extent's affine form in the loop's index. If an iteration changes it by this number then, that is the step of
an induction; if not, the body is traced anew with an extent of which nothing is known.
"""
import copy
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from ..ir import stack
from ..ir.affine import Affine
from ..ir.build import Builder, Value, as_extent, building, current
from ..ir.graph import Func, Var
from ..ir.integers import Integers
from ..ir.op import registry
from ..ir.types import INT, Type, is_number, promoted, type_of
from ..util.array import ArrayOrNumber
from ..util.errors import UnstageableError
from .mixed import DtypeKind, in_kind


class UndefinedName:
    """Stands for a name that has no value yet; where it meets a value it is zeros of that value's type."""

    def __repr__(self) -> str:
        return "UNDEFINED"


UNDEFINED = UndefinedName()


class RankError(UnstageableError):
    """A carried value changed its number of axes."""


def atom_type(x: Any) -> "Type | None":
    """The type of a value with extents as ints and Vars; None for UNDEFINED."""
    return None if x is UNDEFINED else defined_type(x)


def defined_type(x: ArrayOrNumber) -> Type:
    """The type of a value with extents as ints and Vars."""
    t = type_of(x)
    return Type(t.dtype, tuple([as_extent(n) for n in t.shape]), t.weak)


def join(a: "Type | None", b: "Type | None", name: str) -> "Type | None":
    """The dtype both fit in, with a's extents."""
    if a is None or b is None:
        return b if a is None else a
    if a.rank != b.rank:
        raise RankError(f"{name} has {a.rank} axes in one place and {b.rank} in another",
                        why="a loop or branch on traced values gives a name one type",
                        do="start it with the shape it will have")
    return Type(promoted([a, b]), a.shape, a.weak and b.weak)


def assumed_equal(m: object, n: object) -> bool:
    """Whether two extents are equal: known, or assumed of extents of inputs."""
    facts = current().integers
    return facts.assume_zero(facts.form(m) - facts.form(n))


def visible_extent(n: Any, around: Builder) -> "int | Var | None":
    """An extent of a region as the program around it knows it, or None."""
    facts = around.integers
    if isinstance(n, int) or around.sees(n):
        return n
    form: Affine = facts.form(n)
    if not all(around.sees(v) for v, _ in form.terms):
        return None
    with entering(around):
        return as_extent(around.from_form(form))


@contextmanager
def entering(builder: Builder) -> Iterator[None]:
    """Make a builder current again for a while."""
    builders = stack.builders()
    depth = len(builders)
    builders.append(builder)
    try:
        yield
    finally:
        del builders[depth:]


def convert(x: Any, t: Type) -> ArrayOrNumber:
    """x in the dtype and strength of t; UNDEFINED becomes zeros."""
    if x is UNDEFINED:
        return zeros_of(t)
    have = type_of(x)
    if have.dtype == t.dtype and have.weak == t.weak:
        return x
    if isinstance(x, Value):
        return registry["mul"](x, t.dtype.type(1).item()) if t.weak else registry["cast"](x, dtype=t.dtype)
    if is_number(x) or not have.shape:
        return t.dtype.type(x).item() if t.weak else t.dtype.type(x)
    return registry["cast"](x, dtype=t.dtype)


def widened(x: object, t: "Type | None") -> Any:
    """A number in a type that fits it and t, an array in t's dtype. It stays as it is if t does not fix the type (t is
    None, or an array's for something without a value yet).
    """
    have = atom_type(x)
    if t is None or (have is None and t.shape) or (have is not None and have.rank != t.rank):
        return x
    return convert(x, join(have, t, ""))                      # type: ignore[arg-type]


def zeros_of(t: Type) -> ArrayOrNumber:
    """Zeros of a type."""
    if not t.shape:
        return t.dtype.type(0).item() if t.weak else t.dtype.type(0)
    return registry["full"](0, *[current().value_of(n) for n in t.shape], dtype=t.dtype)


class Supposed(NamedTuple):
    """A link that is to be made; earlier traces found that iterations add `step` to the extent."""

    step: int


class Carries:
    """The types of a loop's carries as far as they are known. `links[carry, axis]` is the integer carry that is the
    extent there.

    The first `given` carries are the caller's; those behind them are extents that were found to change.
    """

    def __init__(self, init: tuple, names: tuple, extents: tuple, counter: "tuple | None" = None):
        self.counter = counter                                # start and step of a loop whose step is 1 or -1
        # of integers that are extents: what each iteration adds, None where that is unknown
        self.steps: dict[int, int | None] = {}
        self.types = [atom_type(x) for x in init]
        self.given = len(self.types)
        self.names = tuple(names) or ("",) * self.given
        self.links = {(carry, axis): integer for carry, axis, integer in extents if type(integer) is int}
        self.init = list(init)
        # in a trace that supposes kinds: carries that iterations leave in narrower ones
        self.supposed: dict[int, DtypeKind] = {}
        for carry, axis, integer in extents:
            if type(integer) is not int:
                if integer is not None:
                    self.steps[len(self.types)] = integer.step
                self._link(carry, axis, self.types[carry].shape[axis])

    def name(self, k: int) -> str:
        return (self.names[k] if k < len(self.names) else "") or f"carried value {k}"

    def at(self, iteration: "Iteration") -> "Carries":
        """The same carries at the types of an iteration."""
        made = copy.copy(self)
        made.types, made.links = iteration.types, iteration.links
        return made

    def inputs(self, builder: Builder, index: "Value | None" = None) -> list:
        """The region's inputs for the carries, UNDEFINED for those without a type. index: the loop's."""
        made: dict[int, Any] = {}
        lead = list(builder.inputs)
        for k in sorted(range(len(self.types)), key=lambda k: k not in self.links.values()):
            t = self.types[k]
            made[k] = UNDEFINED if t is None else self._input(builder, k, t, made)
            if k in self.links.values():
                builder.integers.low[made[k].atom] = 0
            step = self.steps.get(k)
            if step is not None and index is not None:
                self._note_form(builder, k, step, made[k].atom, index)
        values = [made[k] for k in range(len(self.types))]
        builder.inputs = lead + [v.atom for v in values if v is not UNDEFINED]
        with entering(builder):
            return [in_kind(v, self.supposed[k]) if k in self.supposed else v for k, v in enumerate(values)]

    def _note_form(self, builder: Builder, k: int, step: int, n: Var, index: Value) -> None:
        """Note what an extent is in the iteration with this index, in terms of the index."""
        facts, (start, stride) = builder.integers, self.counter         # type: ignore[misc]
        number = facts.iteration_number(index.atom, as_extent(start), stride)
        facts.forms[n] = facts.form(as_extent(self.init[k])) + number.scaled(step)

    def _input(self, builder: Builder, k: int, t: Type, made: dict) -> Any:
        shape = tuple(made[self.links[k, axis]].atom if (k, axis) in self.links else n
                      for axis, n in enumerate(t.shape))
        return builder.input(Type(t.dtype, shape, t.weak), self.names[k] if k < len(self.names) else "")

    def complete(self, results: "tuple | list") -> list:
        """The body's results, with the extents that are carried."""
        results = list(results)
        for (carry, axis), integer in self.links.items():
            if integer == len(results):
                results.append(0 if results[carry] is UNDEFINED else results[carry].shape[axis])
        return results

    def induct(self, lead: tuple, values: list, results: list) -> bool:
        """Suppose steps of extents that are carried, or give up those that this iteration does not take; whether the
        body is to be traced anew for it.
        """
        if self.counter is None:
            return False
        facts, again = current().integers, False
        for (carry, axis), k in self.links.items():
            n = None if results[carry] is UNDEFINED else facts.form(as_extent(results[carry].shape[axis]))
            before = facts.form(values[k].atom) if k < len(values) else None
            if k not in self.steps:
                step = None if n is None else self._step(k, n, before, lead[0], facts)
                if step is not None:
                    self.steps[k], again = step, again or before is not None
            elif self.steps[k] is not None and before is not None and not (
                    n == facts.form(as_extent(results[k])) == before.shifted(self.steps[k])):
                self.steps[k], again = None, True
        return again

    def steps_found(self) -> dict:
        """The numbers that all iterations add to extents that are carried, by carry and axis."""
        return {at: self.steps[k] for at, k in self.links.items() if self.steps.get(k) is not None}

    def gives_up(self) -> bool:
        """Give up all steps that are supposed; whether there are any."""
        supposed = [k for k, step in self.steps.items() if step is not None]
        self.steps.update(dict.fromkeys(supposed))
        return bool(supposed)

    def _step(self, k: int, n: Affine, before: "Affine | None", index: Value, facts: Integers) -> "int | None":
        """The number by which an iteration changes an extent to n, or the first iteration at least."""
        i, start = facts.form(index.atom), facts.form(as_extent(self.counter[0]))     # type: ignore[index]
        slope = n.coefficient(i.terms[-1][0]) * i.terms[-1][1]
        first = n + (start - i).scaled(slope) - facts.form(as_extent(self.init[k]))
        gaps = [n - before, first] if before is not None else [first]
        return next((gap.const for gap in gaps if gap.is_constant and gap.const), None)

    def stepped(self, values: list, results: list) -> list:
        """The results with extents that are counters as such."""
        builder = current()
        for k, step in self.steps.items():
            if step is not None:
                results[k] = builder.emit(registry["add"], (values[k], step), (values[k].type,), {})[0]
        return results

    def note_ends(self, results: list, start: Affine, stop: Affine) -> None:
        """Note the forms of extents behind the loop, whose bounds have these forms."""
        facts, place = current().integers, self._places()
        count = (stop - start).scaled(self.counter[1]) if self.counter else None
        if count is None or not facts.proves_nonnegative(count):
            return
        for k, step in self.steps.items():
            if step is not None and self.types[k] is not None:
                facts.forms[results[place[k]].atom] = facts.form(as_extent(self.init[k])) + count.scaled(step)

    def widen(self, results: list, around: Builder) -> bool:
        """Join the types with the results'; whether anything changed."""
        changed = False
        for k, x in enumerate(results[:len(self.types)]):
            t, new = self.types[k], atom_type(x)
            joined = join(t, new, self.name(k))
            if joined is None:
                continue
            if t is None:
                self.types[k] = joined = self._defined(k, joined, around)
                changed = True
            elif (joined.dtype, joined.weak) != (t.dtype, t.weak):
                self.types[k], changed = joined, True
            if new is not None and t is not None:
                changed |= self._link_extents(k, t, new)
        return changed

    def narrowed(self, results: list) -> dict:
        """The types of results that are not those of their carries (a truth value is one, whoever made it)."""
        pairs = [(k, atom_type(x), self.types[k]) for k, x in enumerate(results[:self.given])]
        return {k: new for k, new, t in pairs
                if new is not None and t is not None
                and (new.dtype != t.dtype or (new.weak != t.weak and t.dtype.kind != "b"))}

    def suppose(self, narrowed: dict) -> bool:
        """Let iterations begin with these kinds, in which an iteration leaves carries; whether that is new."""
        new = {k: DtypeKind(t.dtype, t.weak, None, np.can_cast(t.dtype, self.types[k].dtype, "safe"))
               for k, t in narrowed.items() if k not in self.supposed}
        self.supposed.update(new)
        return bool(new)

    def _link_extents(self, k: int, t: Type, new: Type) -> bool:
        changed = False
        for axis, (m, n) in enumerate(zip(t.shape, new.shape)):
            if (k, axis) not in self.links and not assumed_equal(m, n):
                self._link(k, axis, m)
                changed = True
        return changed

    def _link(self, k: int, axis: int, start: object) -> None:
        self.links[k, axis] = len(self.types)
        self.init.append(current().value_of(start))
        self.types.append(Type(INT, (), type_of(self.init[-1]).weak))

    def _defined(self, k: int, t: Type, around: Builder) -> Type:
        """The type of a carry that was undefined: its extents are those the first iteration gave, or carried."""
        shape = []
        for axis, n in enumerate(t.shape):
            seen = visible_extent(n, around)
            shape.append(0 if seen is None else seen)
            if seen is None:
                self._link(k, axis, 0)
        return Type(t.dtype, tuple(shape), t.weak)

    def extents(self) -> tuple:
        """The links in terms of the carries that have a type."""
        place = self._places()
        return tuple((place[c], axis, place[i]) for (c, axis), i in self.links.items() if c in place)

    def _places(self) -> dict:
        kept = [k for k, t in enumerate(self.types) if t is not None]
        return {k: j for j, k in enumerate(kept)}

    def starts(self) -> list:
        """The initial values in the carries' types; to be called around the loop."""
        return [convert(x, t) for x, t in zip(self.init, self.types) if t is not None]

    def kept_names(self) -> tuple:
        return tuple([self.names[k] if k < len(self.names) else "" for k, t in enumerate(self.types) if t is not None])


class TracedCode(NamedTuple):
    """The trace of a body or a test at some types."""

    lead: tuple                                               # the inputs before the carries
    inputs: list                                              # the carries; UNDEFINED for those without a type
    equations: list
    outputs: list


class Iteration:
    """A trace of a loop at other types than those it came to: the types of its first iteration, or of a later one."""

    def __init__(self, carries: Carries, body: TracedCode, is_first: bool):
        self.carries, self.links = carries, dict(carries.links)
        self.types: list[Any] = list(carries.types)           # a Type, or None where there is no value yet
        self.body, self.is_first = body, is_first
        self.last: list[Any] = carries.types                       # those that the loop came to, once it has
        self.test: TracedCode | None = None
        self.supposed = carries.supposed                      # (see Carries)
        self.narrowed: dict[int, Type] = {}  # carries that the iteration leaves in a narrower type than the loop's


def trace_body(body: Callable, carries: Carries, index: "Callable | None" = None,
               iterations: "list | None" = None) -> Func:
    """The region of body(index?, *carries) -> carries, at the types where it fits; `carries` is widened to them.

    iterations: where to keep the traces at the types of iterations that have others.
    """
    is_first = True
    while True:
        around = current()
        with building("body", region=True) as builder:
            lead = index(builder) if index else ()
            values = carries.inputs(builder, *lead[:1])
            try:
                results = carries.complete(body(*lead, *values[:carries.given]))
            except Exception:
                if not carries.gives_up():
                    raise
                continue                                      # what was supposed may have led to it
            iteration = Iteration(carries, TracedCode(lead, values, builder.equations, results), is_first)
            has_grown = carries.widen(results, around)
            has_grown = carries.induct(lead, values, results) or has_grown
            iteration.narrowed = carries.narrowed(results)
            if around.trace.supposing:
                has_grown, iteration.narrowed = carries.suppose(iteration.narrowed) or has_grown, {}
            if iterations is not None and (has_grown or iteration.narrowed):
                iterations.append(iteration)
            if not has_grown:
                results = carries.stepped(values, results)
                results = [convert(x, t) for x, t in zip(results, carries.types) if t is not None]
                return builder.finish(tuple(results))
        is_first = False


def output_vars(types: list, extents: tuple, names: tuple) -> list:
    """Variables of these types; those that `extents` links have each other's for extents."""
    made: dict[int, Var] = {}
    linked = {(c, axis): i for c, axis, i in extents}
    for k in sorted(range(len(types)), key=lambda k: k not in linked.values()):
        t = types[k]
        shape = tuple(made[linked[k, axis]] if (k, axis) in linked else n for axis, n in enumerate(t.shape))
        made[k] = Var(Type(t.dtype, shape, t.weak), names[k] if k < len(names) else "")
    return [made[k] for k in range(len(types))]
