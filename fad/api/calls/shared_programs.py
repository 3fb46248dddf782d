"""Programs shared by functions of the same code over the same kinds of values, made anew at each call.

The first such function is traced as it is. Once there is a second one, their numbers and arrays (closure cells,
defaults) become further arguments of a staged function of their pattern (trace/guards/closures.py), which serves all
later ones. Numbers are part of its programs until they are seen to vary.

A pattern is not shared where that would make a difference: where the function changes its closure, where the pattern
cannot be staged, or where the code also knows a copied thing by itself (as the value of a global name, say). Such a
function is traced as it is.
"""
import gc
import threading
from collections.abc import Callable
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from ...ir.build import Value, current
from ...trace.guards.checks import Checks
from ...trace.guards.closures import Filling, FunctionParts, FunctionPattern, parts_of
from ...trace.guards.part_kinds import PartKind
from ...trace.heap.effects import undo
from ...trace.runtime.capture import seen_within
from ...util.errors import UnstageableError
from ...util.exclusion import undisturbed
from ...util.forks import renewed
from ...util.interrupts import reraise_interrupt
from ...util.where import module_name, package_name
from .refusals import forget_refusals

MOST = 256                                                    # patterns that are kept
TRIALS = 3                                                    # failures after which a pattern is not tried any more
VALUES = 32  # programs for one value each of a number that cannot be an argument
_patterns: dict[tuple, Any] = {}                              # key -> the Sharing; the numbers of what was seen once
_UNSEEN = object()
# the fad objects that keep what a function read; others lead to the trace
_HOLDING = ("fad.trace.guards.guard", "fad.trace.guards.snapshot")
_CLOSED = (str, bytes, int, float, complex, np.ndarray, np.generic, Value, ModuleType, type, FunctionType,
           BuiltinFunctionType, CodeType)


def _has_sides(x: object) -> bool:
    """Whether a number has a zero in it, which has a sign that == does not see."""
    return x == 0 or (type(x) is complex and not (x.real and x.imag))


class KnownByItself(Exception):
    """The program of a pattern reads a thing by itself that was copied as a part of the function."""


class SharedCall:
    """A call of the staged function of a pattern: `ids` of the parts of the function that it is made for, and the
    functions that were made of the pattern for its trace."""

    __slots__ = ("fillings", "ids")

    def __init__(self, ids: dict):
        self.ids = ids
        self.fillings: list[Filling] = []


class Sharing:
    """The staged function of a pattern, whose first arguments are the slots.

    before: the numbers among the slots of the first function; floats: which of the slots are Python's non-integer
    numbers; absolute: ids of what its programs know by itself, and not as a part of the function
    """

    def __init__(self, staged: Any, f: object, parts: FunctionParts, before: dict):
        self.pattern, self.count, self.before = FunctionPattern(f), len(parts.slots), before
        self.floats = frozenset(k for k, x in enumerate(parts.slots) if type(x) in (float, complex))
        self.pinned: set[int] = set()
        self.failures = 0
        self.absolute: set[int] = set()
        self.lock = renewed(threading.RLock())                # of the lines above; nobody traces within
        self.serving = threading.local()                      # call: this thread's SharedCall
        self.staged = staged.of_pattern(self)

    def serve(self, parts: FunctionParts, call: Callable, *args: object, **kwargs: object) -> Any:
        """The result of the staged function (or of a method of it) for a function of these parts."""
        before = getattr(self.serving, "call", None)
        self.serving.call = SharedCall(parts.ids)
        try:
            return call(*parts.slots, *args, **kwargs)
        finally:
            self.serving.call = before

    def body(self, make: Callable) -> Callable:
        """The body of a transform, of the slots and the arguments."""
        def body(*args: object, **kwargs: object) -> Any:
            filling = self.pattern.fill(args[:self.count], seen_within)
            self.serving.call.fillings.append(filling)
            current().trace.lifted.update(filling.names)
            return make(filling.function).body(*args[self.count:], **kwargs)
        return body

    def watch(self, known: dict, leaves: list, varying: set) -> None:
        """Numbers vary that have had two values; 0.0 is equal to -0.0, and nan to nothing."""
        for k in self.floats - varying - self.pinned:
            x = leaves[k]
            if _has_sides(x) or x != x or known.setdefault(k, x) != x:
                varying.add(k)

    def traced(self, staged: Any, leaves: list, structure: Any, dynamic: list) -> Any:
        """A program for these leaves. Several threads may make one at a time."""
        call = self.serving.call
        try:
            return self._traced(call, staged, leaves, structure, dynamic)
        except KnownByItself:
            raise
        except Exception as error:
            reraise_interrupt(error)
            with self.lock:
                lifted = self.floats.intersection(dynamic) - self.pinned
                self.pinned |= lifted
                staged.varying -= lifted
                self.failures += not lifted
            raise
        finally:
            call.fillings.clear()

    def _traced(self, call: SharedCall, staged: Any, leaves: list, structure: Any, dynamic: list) -> Any:
        program = staged._trace(leaves, structure, dynamic)
        effects = program.traced.effects
        try:
            effects.refuse_draws(None)
            if effects.changed or program.locks or not _is_free_of(program, call.fillings):
                raise UnstageableError("a function changes what it closes over, returns it, or takes a lock")
            # nobody else has them: they stay where they are
            copies = {id(x) for filling in call.fillings for x in filling.made.values()}
            kept = [s for s in program.traced.sources.guards if not copies.intersection((id(s.owner), id(s.value)))
                    and not isinstance(s.value, Value)]
            program.traced = program.traced._replace(sources=Checks(kept))
            for filling in call.fillings:
                filling.release()
            if not program.is_current():
                raise UnstageableError("a function changes what it reads")
        except BaseException:
            undo([effects])
            raise
        program.traced = program.traced._replace(effects=None)
        known = known_by_itself(program.traced)
        if not known.isdisjoint(call.ids):
            raise KnownByItself
        with self.lock:
            self.absolute = self.absolute | known
            if self.pinned and len(staged.programs) > VALUES:
                staged.programs = {}
        return program

    def serves(self, parts: FunctionParts) -> bool:
        """Whether the programs may serve a function of these parts."""
        return self.failures < TRIALS and self.absolute.isdisjoint(parts.ids)


def _is_free_of(program: Any, fillings: list) -> bool:
    """Whether the program leaves the function's parts as they are, and does not return one."""
    return all(filling.is_untouched and not any(map(filling.holds, program.traced.statics.values()))
               for filling in fillings)


def sharing_of(staged: Any) -> "tuple[Sharing | None, Any]":
    """The pattern that serves this staged function among others, and the parts of its function.

    None for the first function of its kind.
    """
    try:
        parts = undisturbed(lambda: parts_of(staged.rebuild[1][0]))
        if parts is None:
            return None, None
        key = (*staged.options, *parts.key)
        found = _patterns.get(key, _UNSEEN)
    except TypeError as error:                                # an option that cannot be hashed
        reraise_interrupt(error)
        return None, None
    if found is _UNSEEN:
        if len(_patterns) >= MOST:
            for old in list(_patterns)[:MOST // 2]:
                _patterns.pop(old, None)
        _patterns[key] = {k: x for k, x in enumerate(parts.slots) if type(x) in (int, float, complex)}
        return None, None
    if type(found) is dict:
        sharing = Sharing(staged, staged.rebuild[1][0], parts, found)
        again = parts_of(staged.rebuild[1][0])
        if again is None or again.key != parts.key:           # another thread has changed it meanwhile
            return None, None
        found = _patterns[key] = sharing
    return (found, parts) if found.serves(parts) else (None, None)


def forget(staged: Any) -> None:
    """Do without the staged function that serves this one, and try again what was refused."""
    forget_refusals(staged)
    try:
        parts = parts_of(staged.rebuild[1][0])
        if parts is not None:
            _patterns.pop((*staged.options, *parts.key), None)
    except TypeError as error:                                # an option that cannot be hashed
        reraise_interrupt(error)


def known_by_itself(traced: Any) -> set:
    """Ids of what a program's sources are about."""
    ids: set[int] = set(map(id, traced.captured))
    queue = [s.value for s in traced.sources.guards]
    while queue and len(ids) < 10_000:
        x = queue.pop()
        if id(x) not in ids:
            ids.add(id(x))
            cls = type(x)                                     # of a weak proxy, too, of what is gone
            if not issubclass(cls, _CLOSED) and (package_name(cls) != "fad" or module_name(cls) in _HOLDING):
                queue += gc.get_referents(x)
    return ids


class OfStaged(PartKind):
    """The parts of a function's transform: its making and its options, and the function."""

    leads_on = True

    def apart(self, x: Any, outermost: bool) -> tuple:
        return x.options, (x.rebuild[1][0],)

    def static(self, x: Any) -> tuple:
        make, (_, *options), kwargs = x.rebuild               # a pattern does not keep the function
        return make, options, kwargs

    def make(self, static: tuple, children: list) -> Any:
        make, options, kwargs = static
        return make(*children, *options, **kwargs)
