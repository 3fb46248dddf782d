"""State that a function reads and then writes anew: a counter, a best value so far, the last point.

As a constant of the program it would fail its own guard, and the function would be traced at each call. So the next
trace takes it as an input: a step of the prelude reads it where it stands, a guard asks only for its type, and what the
function makes of it is delivered (see delivery.py).

    self.calls += 1          ->      c = self.calls             guard: type(self.calls) is int
                                     kernel(x, c)
                                     self.calls = c + 1
"""
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from ...ir.build import Builder
from ...ir.delivery import Location
from ...ir.prelude import Made
from ...ir.types import BOOL, Type, is_too_large, type_of
from ...util.array import ArrayOrNumber
from ...util.defects import ignore_expected
from ...util.errors import UnstageableError
from ...util.forks import undone_by
from ...util.memory import overlap
from ...util.own import write_attribute
from ..frontend.numba_forms import is_of_jitclass
from ..guards.closures import parts_at
from ..guards.guard import in_class
from ..guards.inputs import KindGuard
from ..guards.kinds import MISSING, is_open
from ..guards.part_kinds import is_apart
from ..guards.reads import guard
from ..objects.containers import contents
from .operands import input_by, new_step
from .trees import copied


def value_at(location: Location) -> Any:
    """The value there; MISSING if there is none."""
    try:
        return location.read()
    except Exception as error:  # nothing stands there, or a class of the user's does not answer
        ignore_expected(error, "what a function changes is no input of its program")
        return MISSING


def slots_at(location: Location) -> list:
    """The places of the numbers and arrays in the container or object that stands at a location."""
    value = value_at(location)
    parts = parts_at([location], [value]) if is_apart(value) else None
    return parts.places if parts is not None else []


def is_liftable(x: ArrayOrNumber) -> bool:
    """Whether an input may take the place of x: a number, a truth value, an array of numbers."""
    if type(x) in (bool, int, float, complex):
        return not is_too_large(x)
    if isinstance(x, np.generic):
        return x.dtype.kind in "biufc"
    return type(x) is np.ndarray and x.dtype.kind in "biufc" and x.ndim > 0 and x.flags.carray


@contextmanager
def lifted(root: Builder, locations: Sequence[Location], see: Callable) -> Iterator[None]:
    """While the function is traced, inputs stand at these locations, as far as numbers and arrays do now; and copies
    with inputs in them in the place of containers and objects. see(x): what captured code sees of another thing there.
    """
    put: list[tuple] = []
    try:
        for location, value, x in _inputs(root, locations, see):
            root.trace.lifted_owners[id(location.owner)] = location.owner
            root.trace.lifted_from[location.key] = x
            if _is_read_so(location):
                root.trace.lifted[id(location.owner), location.at or ""] = x
            else:
                put.append((location, x, value, _is_own(location)))
        with undone_by(lambda: _taken_out(put)):
            for location, x, _, _ in put:
                _write(location, x)
                if location.kind == "attribute":
                    root.trace.opened.setdefault(id(location.owner), location.owner)
                    if is_open(location.owner) and not isinstance(location.owner, ModuleType):
                        guard(root, location.owner)
            yield
    finally:
        _taken_out(put)


def _taken_out(put: list) -> None:
    """Put back what stood at the locations before."""
    for location, x, value, is_own in reversed(put):
        if value_at(location) is x:
            _write(location, value) if is_own else object.__delattr__(location.owner, location.at)


def _inputs(root: Builder, locations: Sequence[Location], see: Callable) -> list:
    """Inputs and copies that stand at the locations while the function is traced: (location, the value there, it)."""
    locations = [at for at in [x.held() for x in locations] if at.thing is not None]
    found = [(at, value_at(at)) for at in locations if type(at.owner) is not Location]
    found = [(at, x) for at, x in found if _is_read_so(at) or _can_be_put(at)]
    trees = [(at, x) for at, x in found if is_apart(x)]
    wanted = {at.key for at in locations if type(at.owner) is Location and is_liftable(value_at(at))}
    copies = copied(root, [at for at, _ in trees], [x for _, x in trees], wanted, _input, see)
    return [*[(at, x, _input(root, at, x)) for at, x in found if is_liftable(x)], *copies]


def _is_read_so(location: Location) -> bool:
    """Whether captured code asks which input stands at a location, and none is put there."""
    return location.kind in ("variable", "global") or is_of_jitclass(location.owner)


def _input(root: Builder, location: Location, value: ArrayOrNumber) -> Any:
    """The input of the program for what stands at a location, and the step of the prelude that reads it."""
    t = Type(BOOL, (), True) if type(value) is bool else type_of(value)
    step = new_step(location.read)
    step.is_stable = True
    x = input_by(step, t, location.at if isinstance(location.at, str) and location.at.isidentifier() else "state")
    root.trace.drawn[x.atom] = Made(step.number, (0,)), value
    root.trace.sources.append(KindGuard(location, value))
    if x.ndim:
        root.trace.lifted_arrays[id(x)] = location
    return x


def keep_lifted_apart(root: Builder, written: list, changes_arguments: bool) -> None:
    """See to it that no array that is read at a location lies in memory that the program writes to: it would hold what
    it did before. written: arrays from outside.
    """
    guards = [g for g in root.trace.sources if getattr(g, "shape", None) is not None]
    for guard_of_array in guards:
        guard_of_array.apart = written
    standing = [x for _, x in root.trace.drawn.values() if type(x) is np.ndarray]
    if guards and (changes_arguments or root.trace.apart or any(overlap(x, y) for x in standing for y in written)):
        raise UnstageableError("an array is written to that may be one with another one outside",
                               why="which array stands there is known at each call, and not before")


def _can_be_put(location: Location) -> bool:
    owner = location.owner
    if location.kind == "item":
        return any(isinstance(owner, c) and type(owner).__getitem__ is c.__getitem__ for c in (list, dict, deque))
    if isinstance(owner, (type, ModuleType)):
        return location.at in vars(owner)
    if not is_open(owner) or isinstance(in_class(type(owner), "__getattribute__"), FunctionType):
        return False
    found = in_class(type(owner), location.at)
    return location.at in contents(owner) or is_liftable(found)


def _is_own(location: Location) -> bool:
    """Whether an attribute is the object's own, and not its class's."""
    is_objects = location.kind == "attribute" and not isinstance(location.owner, (type, ModuleType))
    return not is_objects or location.at in contents(location.owner)


def _write(location: Location, x: object) -> None:
    owner = location.owner
    if location.kind == "attribute":
        write_attribute(owner, location.at, x)
    elif isinstance(owner, dict):
        dict.__setitem__(owner, location.at, x)
    else:
        (deque if isinstance(owner, deque) else list).__setitem__(owner, location.at, x)
