"""The programs of a staged function: one for each kind of arguments, found or traced.

Python ints are part of a program until they are seen to vary. A trace that draws random numbers or changes something
outside may have to be made again.
"""
import functools
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from ...backend.running.executable import Program
from ...ir.build import current
from ...trace.guards.guard import of_all_in
from ...trace.guards.kinds import CONTAINERS
from ...trace.guards.profiled_calls import observing
from ...trace.guards.reads import guard_all
from ...trace.guards.snapshot import Snapshot
from ...trace.heap.effects import undo
from ...trace.heap.journal import all_made
from ...trace.heap.state import nodes_of
from ...trace.heap.suspended import settle_generators
from ...trace.lists.export import deliver
from ...trace.lists.tails import tailing
from ...trace.objects.draws import kernel_drawing
from ...trace.outcome.leaks import refuse_changed_arguments
from ...trace.runtime.capture import arguments
from ...trace.tracing import Traced, positional_guards, trace
from ...trace.values.constants import deciding, pinning
from ...transforms.vectorise import vectorise
from ...util import tree
from ...util.attempts import attempted
from ...util.collection import collection_paused
from ...util.config import config
from ...util.errors import UnstageableError
from ...util.exclusion import missed, tracing_alone
from ...util.log import tell, timed
from .fallback import Fallback
from .leaves import Signature, signature_of
from .names import leaf_names
from .shared_programs import Sharing
from .state import ChangingState

MODES = (tailing, kernel_drawing, observing, deciding)             # in which a trace is made that is refused
RETRIES = 5                                                   # traces after one in which random numbers were drawn
PATIENCE = 1.0                                                # seconds for these
FEW, SMALL = 16, 1 << 16  # programs that are kept though they are not current, and bytes of arrays that only they use


class StagedPrograms:
    """The part of a staged function (see staged.py) that finds or traces its programs."""

    program_class: Callable = Program
    body: Callable                                            # of the staged function
    compile: "str | None"
    static: tuple
    writes: bool
    programs: "dict[Any, list[Program]]"
    varying: "set[int]"
    seen: "dict[Any, dict[int, int]]"
    state: ChangingState
    fallback: Fallback
    lifting: "Sharing | None"
    kernel_name: Any
    _register: Callable
    _title: Callable

    def program(self, leaves: list, structure: tree.Structure) -> "tuple[Program, list]":
        """The program that serves these arguments, traced now if there is none yet, and its data leaves."""
        signature = self._signature(leaves, structure)
        return self._program(signature, leaves, structure, self._current(signature)), signature.data

    def _signature(self, leaves: list, structure: tree.Structure) -> Signature:
        self._watch(leaves, structure)
        return signature_of(leaves, structure, self.varying, self._static_positions(structure))

    def _program(self, signature: Signature, leaves: list, structure: tree.Structure, candidates: list,
                 passed: "tuple[Program, ...]" = ()) -> Program:
        """The first of these programs that accepts the data, or a new one. passed: those for another way."""
        found = _accepting(candidates, signature.data)
        if found is not None:
            return found
        locks = tuple(self.state.locks.values())
        while found is None:
            found = self._new_program(signature, leaves, structure, locks, passed)
            locks += missed()
        return found

    def _new_program(self, signature: Signature, leaves: list, structure: tree.Structure,
                     locks: tuple, passed: tuple) -> "Program | None":
        """A program traced now, or one that another thread has made meanwhile; None if the trace should have had
        further locks (see util/exclusion.py).
        """
        with tracing_alone(locks):
            candidates = self._current(signature)
            found = _accepting([p for p in candidates if p not in passed], signature.data)
            if found is not None:
                return found
            self.state.notices(self._stale(signature.key, candidates))
            try:
                program = self._traced_anew(leaves, structure, signature.places)
            except UnstageableError:
                if missed():
                    return None
                raise
            self.state.locks.update({id(x): x for x in program.traced.locks})
            if missed():
                program.take_back()
                return None
            # otherwise it changed what it read, for good, or another thread changed the settings
            program.is_kept = program.is_current() and program.shape == signature.key[0]
            if program.is_kept:
                self._keep(program, signature.key, candidates)
        self._register()
        return program

    def _keep(self, program: Program, key: tuple, current: list) -> None:
        """Keep a new program, and of those that are not current a few: what they rest on may be so again (a flag)."""
        used = set(map(id, program.traced.captured))
        others = self._stale(key, current)
        others = [p for p in others if sum(x.nbytes for x in p.traced.captured if id(x) not in used) <= SMALL]
        self.programs[key] = [*others[-FEW:], *current, program]

    def _current(self, signature: Signature, passed: tuple = ()) -> list:
        """The programs for arguments of this kind that are current, but for those that were passed."""
        return [p for p in self.programs.get(signature.key, ()) if p.is_current() and p not in passed]

    def _stale(self, key: tuple, current: list) -> list:
        """The programs for arguments of this kind that are not current."""
        return [p for p in self.programs.get(key, ()) if not any(p is other for other in current)]

    def _traced_anew(self, leaves: list, structure: tree.Structure, dynamic: list) -> Program:
        """A program for these arguments; the leaves at the places `dynamic` are data. The trace has made its changes
        outside once and for all, or the program knows that it must be traced anew."""
        with timed() as took:
            program = self._traced(leaves, structure, dynamic)
        program.traced_in = took[0]
        tell("trace", lambda: f"traced {self._title()}, {program.runner.size} equations: {took[0]:.3f} s")
        return program

    def _traced(self, leaves: list, structure: tree.Structure, dynamic: list) -> Program:
        if self.lifting is not None:
            return self.lifting.traced(self, leaves, structure, dynamic)
        begun = time.monotonic()
        for retries in reversed(range(RETRIES + 1)):
            program, done = self._traced_with_effects(leaves, structure, dynamic)
            drawing = next((effects for effects in done if effects.mark.has_drawn), None)
            if drawing is None:
                break
            try:  # other threads draw from the generators that all share: another trace may meet none of them
                if not retries or threading.active_count() == 1 or time.monotonic() - begun > PATIENCE:
                    drawing.refuse_draws(getattr(self, "__wrapped__", None))
            finally:
                undo(done)
        if done[0].changed or not program.is_current():
            program.undo = functools.partial(undo, done)
            program.depend_on(done[0].sources())
        program.traced = program.traced._replace(effects=None)
        return program

    def _traced_with_effects(self, leaves: list, structure: tree.Structure, dynamic: list) -> "tuple[Program, list]":
        """A program, and what is changed by each of its traces."""
        done: list = []
        try:
            program = self.state.traced(lambda state: self._trace(leaves, structure, dynamic, state))
            done.append(program.traced.effects)
            if done[0].changed and program.is_current():
                program = self._trace(leaves, structure, dynamic)
                done.append(program.traced.effects)
                done[1].refuse_changes(getattr(self, "__wrapped__", None), program.is_current())
        except BaseException:
            undo(done)
            raise
        return program, done

    def _watch(self, leaves: list, structure: tree.Structure) -> None:
        """Python ints are part of the program until they are seen to vary."""
        known = self.seen.setdefault((structure, len(leaves)),
                                     {} if self.lifting is None else dict(self.lifting.before))
        for k, x in enumerate(leaves):
            if type(x) is int and known.setdefault(k, x) != x:
                self.varying.add(k)
        if self.lifting is not None:
            self.lifting.watch(known, leaves, self.varying)

    def _static_positions(self, structure: tree.Structure) -> frozenset:
        numbers = frozenset() if self.lifting is None else self.lifting.floats - self.varying
        if not self.static:
            return numbers
        args, kwargs = structure.unflatten(list(range(structure.leaves)))
        chosen: list = []
        for which in self.static:
            if isinstance(which, int) and which < len(args):
                chosen += tree.flatten(args[which])[0]
            elif which in kwargs:
                chosen += tree.flatten(kwargs[which])[0]
        return numbers.union(chosen)

    def _trace(self, leaves: list, structure: tree.Structure, dynamic: list, state: Sequence = ()) -> Program:
        def call(body: Callable, inputs: list) -> Any:
            filled = list(leaves)
            seen = arguments(getattr(self, "__wrapped__", None), fixed.values())
            for k, x in zip((*dynamic, *fixed), (*inputs, *seen)):
                filled[k] = x
            args, kwargs = current().trace.arguments = structure.unflatten(filled)
            all_made(nodes_of((args, kwargs), structure))
            current().trace.sources += [of_all_in(x) for x in fixed.values() if isinstance(x, CONTAINERS)]
            guard_all(current().root, Snapshot().add(fixed))  # captured code may take objects out without a name
            result = body(*args, **kwargs)
            settle_generators(results=[result])
            if self.writes:
                refuse_changed_arguments((args, kwargs), filled, structure)
            return deliver(result)
        names = leaf_names(getattr(self, "__wrapped__", None), structure)
        data = set(dynamic)
        fixed = {k: x for k, x in enumerate(leaves) if k not in data}
        with collection_paused(), config.held():
            def once_more() -> Any:
                return trace(self.body, [leaves[k] for k in dynamic], call, name=getattr(self, "__name__", "f"),
                             names=[names[k] for k in dynamic], own=True, state=state)
            modes = (*MODES, pinning) if self.fallback.is_on else MODES
            traced = attempted(once_more, modes, observing.first if self.state.is_read_unseen else ())
            traced = _in_lanes(traced)
            try:
                own = 0 if self.lifting is None else sum(k < self.lifting.count for k in dynamic)
                return self.program_class(traced, policy=self.compile, structure=structure, fixed=fixed,
                                          writes=self.writes, name=self.kernel_name, own=own)
            except BaseException:
                undo([traced.effects])
                raise


def _accepting(programs: "list[Program]", data: list) -> "Program | None":
    """The first of these programs that accepts the data."""
    return next((p for p in programs if p.accepts(data)), None)


def _in_lanes(traced: Traced) -> Traced:
    """The trace with its independent loops in blocks (see transforms/vectorise.py), and the guards that this rests on.
    """
    func, builder = vectorise(traced.func)
    if builder is None:
        return traced
    return traced._replace(func=func, guards=traced.guards + positional_guards(builder, func))
