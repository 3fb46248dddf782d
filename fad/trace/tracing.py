"""Tracing: run a function once on tracers, and keep what it did as a Func."""
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any, NamedTuple

import numpy as np

from ..ir import stack
from ..ir.build import Builder, Value, as_atom, building, current
from ..ir.check import check
from ..ir.graph import Func, Var
from ..ir.live import UNKNOWN, LiveBuilder
from ..ir.records import ONCE
from ..ir.types import INT, Type, is_too_large, type_of
from ..passes.replacement_candidates import small_arrays
from ..passes.unify import unify
from ..util import tree
from ..util.array import AnyArray, ArrayOrNumber
from ..util.config import config
from ..util.errors import UnstageableError
from .guards.checks import Checks
from .guards.reads import reads_of, refuse_unknown, unseen_reads
from .guards.weak_guards import without_hold
from .heap.effects import Effects, effects_of, guards_of_rewritten
from .heap.foreign import settle_foreign
from .heap.journal import journal
from .heap.kernel_draws import settle as settle_draws
from .heap.lifting import keep_lifted_apart, lifted
from .heap.none_tests import refuse_unseen_questions
from .heap.percall import placed, refuse_leaks, settle
from .heap.state import is_numeric
from .heap.trees import guards_without_copies, refuse_changed_trees
from .lists.export import plain
from .outcome.delivery import Left, left_by
from .outcome.leaks import refuse_incomplete, refuse_texts, refuse_unseen_changes, refuse_unseen_reads, settle_known
from .outcome.left_inside import LeftInside
from .outcome.returned import in_parts, is_derived_array
from .regions.handlers import refuse_listeners
from .regions.joins import require_same_kinds, suspecting_kinds
from .regions.widening import ComparedPart
from .runtime.capture import captured, seen_within
from .runtime.library import original_of
from .values.aliases import check as check_twins
from .values.outside_views import keep_captures_apart, refused_for_owners, with_owners
from .values.tracer import Tracer


class Traced(NamedTuple):
    """A traced function.

    func       inputs: the traced leaves, then the captured arrays. Outputs: the result's data leaves, then the new
               contents of the inputs that the function wrote to
    structure  of the result
    statics    the result's leaves that are not data, as {position: value}
    captured   arrays from outside, in the order of their inputs
    written    which inputs the function wrote to in place, captured arrays counted after the others
    guards     what the trace rests on: (relation, ((input, axis or None), coefficient) pairs, constant)
    sources    the outside values it read
    dense      inputs that must be in C order, as when it was traced: a view or a copy depended on it
    later      inputs that are given in a second step (see api/derivatives/pullback.py)
    lost       inputs that the function may have written to, nobody knows what (see roll.py)
    apart      pairs (input, others): a differentiated function writes to the input, which must share no memory
    unrolled   pairs (line, reason) of loops that are not one region of the program
    identical  triples (input, input, whether): whether the two are one array, where the function asks for that
    prelude    calls of Python that give the values of the last inputs, behind the captured ones (see ir/prelude.py)
    effects    what the trace has changed outside (see effects.py)
    stores     effects of each call of the program (see ir/delivery.py); they need `delivered` further outputs
    inside     of a function within the program: what it leaves outside itself (see left_inside.py)
    locks      that the function takes (see heap/locking.py)
    """

    func: Func
    structure: tree.Structure
    statics: dict
    captured: tuple
    written: tuple
    guards: tuple
    sources: Checks
    dense: tuple = ()
    later: tuple = ()
    lost: tuple = ()
    unrolled: tuple = ()
    apart: tuple = ()
    identical: tuple = ()
    prelude: Sequence = ()
    effects: Any = None
    stores: tuple = ()
    delivered: int = 0
    inside: Any = None
    locks: tuple = ()


is_data = is_numeric                                         # of leaves: others are static Python values


def trace(f: Callable, leaves: Sequence, call: "Callable | None" = None, name: str = "", names: Sequence = (),
          own: bool = False, moving: Sequence = (), runs: "str | None" = ONCE, state: Sequence = ()) -> Traced:
    """Trace f on inputs like these leaves.

    call(f, inputs) makes the call (by default with the inputs in order). names: the inputs'. own: f is a body of fad's
    own, which sees to the capture of what it calls. moving: the inputs that a derivative is taken through. runs:
    how often the Func runs each time that the program around it does (ONCE, EXAMPLE, or None: unknown). state:
    locations outside whose numbers are inputs.

    Within another trace, the Func is a region of the program around it, and may use its values.
    """
    def once_more(owners: dict) -> Traced:
        return _trace(f, leaves, call or _in_order, name, names, own, moving, runs, state, owners)
    return once_more({}) if stack.builders() else with_owners(once_more)


def _trace(f: Callable, leaves: Sequence, call: Callable, name: str, names: Sequence, own: bool, moving: Sequence,
           runs: "str | None", state: Sequence, owners: dict) -> Traced:
    """One trace, as trace() makes it. owners: arrays from outside whose views are views of them in the program, too."""
    with (building(name or _name_of(f), Tracer, region=bool(stack.builders())) as builder,
          nullcontext(_inputs(builder, leaves, names, runs, owners)) as inputs, refused_for_owners(builder),
          lifted(builder.root, state, seen_within), effects_of(builder) as effects):
        run = _FunctionRun(builder, effects, inputs, lambda given: _run(f, call, own, given))
        run.begin(leaves, moving)
        outputs = run.outputs()
        if run.is_whole:
            settle(builder)
        func = builder.finish(tuple(outputs))
        if run.is_whole and (builder.trace.drawn or builder.trace.handles):
            refuse_leaks(builder, func, run.statics.values())
        if not builder.live:
            run.compare_kinds(func)
            if run.left is not None:                          # the program will write it
                effects.take_back()
            elif run.is_whole:
                settle_known(builder)
    if not run.is_whole:
        return run.within(func)
    traced = run.whole(func)
    builder.trace.let_go()
    return traced


class _FunctionRun:
    """The function of a trace as it runs: its inputs, its result, and what it has left in arrays and outside.

    written, lost   places of inputs that it has written to, or may have, nobody knows what
    outer           (place among the captured arrays, contents) of arrays from outside that it has written to
    left, inside    its effects: of a whole program, of a function within a program
    """

    def __init__(self, builder: Builder, effects: Effects, inputs: list, run: Callable):
        self.builder, self.effects, self.inputs, self.run = builder, effects, inputs, run
        self.is_whole, self.before = builder.parent is None, [x._var for x in inputs]
        self.left: Left | None = None
        self.inside: LeftInside | None = None

    def begin(self, leaves: Sequence, moving: Sequence) -> None:
        """Run the function for inputs like these leaves."""
        builder = self.builder
        builder.given = leaves
        given = _followed(builder, self.inputs, leaves, moving) if isinstance(builder, LiveBuilder) else self.inputs
        builder.region.arrived = {id(new): (new, x) for new, x in zip(given, leaves)}
        with suspecting_kinds(builder):
            self.out, self.structure, self.statics, self.result = self.run(given)
        if self.is_whole:
            refuse_changed_trees(builder, [self.result, *self.statics.values()])
            _refuse_unseen(builder, self.effects)
        self.lost = tuple([k for k, x in enumerate(self.inputs) if x.is_unknown])
        self.written = tuple([k for k, x in enumerate(self.inputs)
                              if k not in self.lost and x.atom is not self.before[k]])
        self.outer = _written_outside(builder) if self.is_whole else []
        if self.is_whole and not builder.live:
            settle_foreign(builder, bool(self.written or self.lost))
            keep_captures_apart(builder, [k for k, _ in self.outer])
            arrays = [array for array, _ in builder.trace.captured.values()]
            keep_lifted_apart(builder, [arrays[k] for k, _ in self.outer], bool(self.written or self.lost))

    def outputs(self) -> list:
        """The outputs of the program: the result, arrays that were written to, and what is left outside."""
        builder, mark = self.builder, self.effects.mark
        found = [*_results(self.out, self.statics), *[self.inputs[k] for k in self.written],
                 *[x for _, x in self.outer]]
        if not self.is_whole:
            self.inside = LeftInside(builder, mark)
            self.inside.on_tape() if builder.root.live else self.inside.refuse()
            return found + self.inside.outputs
        if builder.live:                                      # what is left outside has its values there
            return found
        self.left = left_by(builder, mark, found, self.result)
        if self.left is not None:
            builder.trace.sources += self.left.guards
            return found + self.left.outputs
        if builder.trace.lifted_owners or builder.trace.tails:
            raise UnstageableError("state that changes at each call stands beside what a program cannot write",
                                   why="the function is traced at each call")
        return found

    def compare_kinds(self, func: Func) -> None:
        """An error if the function does something else for values of the kinds that a branch has joined."""
        with self.effects.taken_back():
            part = ComparedPart(list(func.inputs), func.equations, list(func.outputs))
            require_same_kinds(self.builder, part, [self.structure, self.statics], self._again)

    def _again(self) -> tuple:
        """The outputs and the structure of another run."""
        fresh = [self.builder.value_of(v) for v in self.before]
        out, *shape, result = self.run(fresh)
        made = [*_results(out, shape[1]), *[fresh[k] for k in self.written], *_written_again(self.builder, self.outer)]
        return [as_atom(x) for x in (*made, *self._left_again(made, result))], shape

    def _left_again(self, outputs: list, result: object) -> list:
        """The effects of another run; what does not fit where it leaves something else, so that the two differ."""
        mark = journal().marks[-1]
        if self.inside is not None:
            return LeftInside(self.builder, mark).outputs
        if self.left is None:
            return []
        again = left_by(self.builder, mark, outputs, result)
        return [*self.left.outputs, 0] if again is None or again.shape != self.left.shape else again.outputs

    def within(self, func: Func) -> Traced:
        """The trace of a function within a program."""
        return Traced(func, self.structure, self.statics, (), self.written, (), Checks(()),
                      delivered=len(self.inside.outputs) if self.inside else 0, inside=self.inside)

    def whole(self, func: Func) -> Traced:
        """The trace of a whole program: with its guards, its prelude, and what it reads and writes outside."""
        builder, state, left = self.builder, self.builder.trace, self.left
        _fix_small_extents(builder, func)
        guards, prelude = positional_guards(builder, func), placed(builder.region.steps, places_of(func))
        dense = tuple([k for k, v in enumerate(func.inputs[:len(self.inputs)]) if v in state.relied])
        func, later = _unified(func, builder)
        if config.check_trace:
            check(func)
        arrays = tuple([array for array, _ in state.captured.values()])
        stores = without_hold(state.sources, left.stores if left else (), prelude)
        return Traced(func, self.structure, self.statics, arrays,
                      (*self.written, *[len(self.inputs) + k for k, _ in self.outer]), guards,
                      Checks(guards_without_copies(builder, arrays)), dense, later, self.lost,
                      tuple(state.unrolled.items()), _places_apart(builder, self.before),
                      _told_apart(builder, self.inputs), prelude, self.effects, stores,
                      len(left.outputs) if left else 0, locks=tuple(state.locks.values()))


def _refuse_unseen(builder: Builder, effects: Effects) -> None:
    """Refuse reads, changes and questions that no guard covers; a program's guards for its unseen reads."""
    refuse_unseen_reads(builder)
    refuse_incomplete(builder)
    if not builder.live:
        refuse_unseen_changes(builder)
        refuse_listeners(builder)
        refuse_unseen_questions(builder)
        refuse_unknown(reads_of(builder), "a method that Python calls by itself")
        builder.trace.sources += [*guards_of_rewritten(), *effects.unseen_reads()]
        with effects.taken_back():
            builder.trace.sources += unseen_reads(builder)


def _results(out: Sequence, statics: dict) -> list:
    return [_result(x) for k, x in enumerate(out) if k not in statics]


def _followed(builder: LiveBuilder, inputs: list, leaves: Sequence, moving: Sequence) -> list:
    """On a tape: inputs with the leaves' values, none if a solver calls f at many points; ints and bools themselves."""
    for k, (new, x) in enumerate(zip(inputs, leaves)):
        builder.follow(new, UNKNOWN if builder.region.runs is None else x, k in moving)
    return [new if new.dtype.kind in "fc" else builder.take(x) for new, x in zip(inputs, leaves)]


def _run(f: Callable, call: Callable, own: bool, inputs: list) -> tuple:
    """The result of f for these inputs: its leaves, its structure, the leaves that are not data, and the result itself.
    """
    result = plain(call(f if own else captured(f), inputs))
    settle_draws()
    check_twins(current())
    result = in_parts(current(), result)
    out, structure = tree.flatten(result, is_shared=True)
    out = [current().lift(x) if getattr(x, "__fad_level__", 0) == 1 else x for x in out]        # tensors from outside
    statics = {
        k: original_of(x)
        for k, x in enumerate(out)
        if is_too_large(x) or is_derived_array(x) or not (is_data(x) or isinstance(x, (bool, list)))
    }
    refuse_texts(list(statics.values()), structure)
    return out, structure, statics, result


FIXED = 4  # an extent of a small array in a loop, up to this one, is a number of the program


def _fix_small_extents(builder: Builder, func: Func) -> None:
    """Make the extents of arrays that loops had better keep in scalars numbers of the program: another extent is
    another program.
    """
    facts = builder.integers

    def extent(n: object) -> "int | None":
        if isinstance(n, int):
            return n
        return n.hint if n in facts.dims and n.hint is not None and n.hint <= FIXED else None
    for n in dict.fromkeys(n for v in small_arrays(func, extent) for n in v.type.shape if isinstance(n, Var)):
        facts.pin(n)


def _written_outside(root: Builder) -> list:
    """Arrays from outside that the function wrote to: their places among the captured ones, and what holds their
    contents now. Views of others are written to with them.
    """
    return [(k, x) for k, (_, x) in enumerate(root.trace.captured.values())
            if x.view_of is None and x.atom is not x.origin]


def _written_again(root: Builder, outer: list) -> list:
    """The same arrays from outside as another trace has left them; all that was written to there and not here, too."""
    if root.parent is not None:
        return []
    known = {k for k, _ in (*outer, *_written_outside(root))}
    return [x for k, (_, x) in enumerate(root.trace.captured.values()) if k in known]


def _places_apart(root: Builder, inputs: list) -> tuple:
    """Pairs of arrays, by their places, that must not share memory: a derivative's function writes to one of them."""
    captured = [value.origin for _, value in root.trace.captured.values()]
    place = {v: k for k, v in enumerate([*inputs, *captured])}
    found = {
        place[v]: tuple(dict.fromkeys(place[w] for w in (*others, *captured) if w is not v))
        for v, others in root.trace.apart.items()
    }
    return tuple((k, others) for k, others in found.items() if others)


def _told_apart(root: Builder, inputs: list) -> tuple:
    """Whether inputs are one array, by their places, where the function has asked."""
    place = {id(x): k for k, x in enumerate([*inputs, *[value for _, value in root.trace.captured.values()]])}
    return tuple((place[id(x)], place[id(y)], same) for x, y, same in root.trace.identity_checks)


def _unified(func: Func, builder: Builder) -> "tuple[Func, tuple]":
    """The Func with equal extents made one, and its inputs of the second step."""
    places = [func.inputs.index(v) for v in builder.later]
    func = unify(func, builder.integers.equal_extents())
    return func, tuple([func.inputs[k] for k in places])


def _in_order(f: Callable, inputs: list) -> Any:
    return f(*inputs)


def _name_of(f: object) -> str:
    name = getattr(f, "__name__", "f")
    return name if name.isidentifier() else "f"


def _inputs(builder: Builder, leaves: Sequence, names: Sequence, runs: "str | None", owners: dict) -> list:
    """The inputs that stand for the leaves: the first ones."""
    if builder.parent is None:
        builder.trace.owners.update(owners)
    builder.region.runs = runs
    return [_input(builder, x, names[k] if k < len(names) else "") for k, x in enumerate(leaves)]


def _input(builder: Builder, x: ArrayOrNumber, name: str = "") -> Any:
    t = type_of(x)
    if isinstance(x, Value):                                 # a trace within a trace: the outer extents are this one's
        value = builder.input(t, name, hint=x.atom.hint).standing_for(x)
        builder.trace.dense[value.atom] = x.atom
        return value
    if builder.parent is not None:
        return builder.input(t, name)
    if type(x) is int:                                       # structure may come to depend on it, under a guard
        value = builder.input(Type(INT, (), True), name, hint=x)
        builder.integers.dims.add(value.atom)
        return value
    value = builder.array_input(t.dtype, t.shape, name, weak=t.weak).standing_for(x)
    builder.trace.dense[value.atom] = not isinstance(x, np.ndarray) or x.flags.c_contiguous
    return value


def _result(x: AnyArray) -> AnyArray:
    if isinstance(x, (np.ndarray, list)):
        return current().capture(np.asarray(x))
    return x


def positional_guards(builder: Builder, func: Func) -> tuple:
    """The builder's guards, in terms of inputs' axes (None: of an integer input itself) instead of variables."""
    place = places_of(func)
    return tuple(
        (g.relation, tuple((place[v], c) for v, c in g.form.terms), g.form.const)
        for g in builder.integers.guards.values()
    )


def places_of(func: Func) -> dict:
    """For each input, and each extent of one, the first place where a call has it: (input, axis or None)."""
    place: dict[Var, tuple] = {}
    for k, v in enumerate(func.inputs):
        place.setdefault(v, (k, None))
        for axis, n in enumerate(v.type.shape):
            if isinstance(n, Var):
                place.setdefault(n, (k, axis))
    return place
