"""Names that are None on some ways and a number or an array on others, as after a search that may find nothing.

The program has a value (zeros where there is none) and a truth value that says whether it is there: `x is None` asks
that. All else that reads the value (Tracer.atom) needs it to be there. Where the branches around do not say so, the
program checks it, and a check that fails sends the call to the tape, where None is Python's own: x[None] is an array of
one more axis, and a function may return None.
"""
from typing import Any

import numpy as np

from ...ir import stack
from ...ir.build import Value, current
from ...ir.graph import Equation, Func, Literal, Var, is_branch
from ...ir.op import registry
from ...ops.conditional import Conditional, around
from ...ops.literals import python_number
from ...util.errors import NONE_IS_USED, UnstageableError
from ..guards.snapshot import is_same
from ..heap.journal import journal
from ..heap.state import TreeLayout, is_data
from ..objects.originals import original_of
from ..values.aliases import may_be_same, unknown_identity
from ..values.choice import ChosenThing
from ..values.layout import producer
from ..values.text import TracedText
from ..values.tracer import Tracer


class Optional(Conditional):
    """Whether a value is there: a truth value of the program; and where this was checked."""

    def __init__(self, flag: Any, name: str):
        super().__init__(flag, name, f"{NONE_IS_USED}: {name}" if name else NONE_IS_USED, "TypeError")

    def check(self) -> None:
        """Make the program give up here if the value is None, unless it is known to be there."""
        if self.given is not True:
            super().check()

    @property
    def given(self) -> Any:
        """Whether the value is there: True where a branch around says so."""
        sides = [b.region.side for b in around(current()) if b.region.side is not None]
        return True if any(_says(selector.atom, taken, self.flag.atom) for selector, taken in sides) else self.flag


def _says(test: object, holds: bool, flag: Var) -> bool:
    """Whether the flag is up where a condition holds, or does not."""
    if test is flag:
        return holds
    eqn = producer(test) if isinstance(test, Var) else None
    if eqn is None:
        return False
    if eqn.op.name == "logical_not":
        return _says(eqn.inputs[0], not holds, flag)
    if eqn.op.name == ("logical_and" if holds else "logical_or"):
        return any(_says(a, holds, flag) for a in eqn.inputs)
    way = _way_of(eqn, test, holds) if is_branch(eqn) and len(eqn.regions) == 2 else None
    return way is not None and _says(eqn.inputs[0], way, flag)


def _way_of(eqn: Equation, result: object, holds: bool) -> "bool | None":
    """The only way through a branch that leaves this result so, if there is one: of `a and b` that holds, the way on
    which a does.
    """
    ends = [_uncast(region.outputs[eqn.outputs.index(result)], region) for region in eqn.regions]
    others = [
        a is eqn.inputs[0] and bool(way) is not holds or isinstance(a, Literal) and bool(a.value) is not holds
        for way, a in enumerate(ends)
    ]
    return None if all(others) or not any(others) else others[0]


def _uncast(a: object, region: Func) -> Any:
    """A truth value, whether it is Python's or NumPy's."""
    eqn = next((eqn for eqn in region.equations if eqn.op.name == "cast" and a in eqn.outputs), None)
    return a if eqn is None else eqn.inputs[0]


def given(x: object) -> Any:
    """Whether x is not None: Python's answer, or a truth value of the program."""
    return x is not None and (
        True if getattr(x, "optional", None) is None or not isinstance(x, Tracer) else x.optional.given
    )


def is_(a: object, b: object) -> Any:
    """a is b, as Python says of what the traced values stand for."""
    a, b = original_of(a), original_of(b)
    x, other = (a, b) if isinstance(a, Tracer) else (b, a)
    if a is b and isinstance(a, Tracer) and stack.builders() and id(a) in current().trace.two_objects:
        raise UnstageableError("an array, or a view of all of it, is compared by `is`",
                               why="both are one value of the program", do="test the sizes instead")
    if ChosenThing in (type(a), type(b)):
        found = a == b
        return python_number(found) if isinstance(found, Value) else found
    if TracedText in (type(a), type(b)) and a is not b and isinstance(a, str) and isinstance(b, str):
        raise UnstageableError("texts are compared by `is`",
                               why="a program knows what they say, and not which objects of Python's",
                               do="compare them by ==")
    if not isinstance(x, Tracer) and (may_be_same(a, b) or _may_be_one_constant(a, b)):
        raise unknown_identity()
    if a is b or not isinstance(x, Tracer) or not (other is None or is_data(other)):
        return a is b
    if isinstance(other, Tracer) and x.is_array and other.is_array:
        return _is_one_array(x, other)
    if other is None:
        found = given(x)
        return python_number(registry["logical_not"](found)) if isinstance(found, Value) else not found
    if stack.is_live() or x.is_array:
        return False
    if isinstance(other, bool) and x.dtype == bool and x.type.weak:
        return python_number(x if other else registry["logical_not"](x))
    raise UnstageableError("numbers are compared by `is`",
                           why="a program knows what they are, and not which objects of Python's",
                           do="compare them by ==")


def _may_be_one_constant(a: object, b: object) -> bool:
    """Whether two tuples or frozen dataclasses may be one in Python. Regions make them anew, and note nothing: they
    cannot change."""
    parameters = getattr(type(a), "__dataclass_params__", None)
    is_constant = isinstance(a, tuple) or (parameters is not None and parameters.frozen)
    if a is b or not is_constant or type(a) is not type(b) or not stack.builders() or stack.is_live():
        return False
    if journal().is_outer(a) and journal().is_outer(b):
        return False
    one, other = TreeLayout(a), TreeLayout(b)
    return one.structure == other.structure and all(
        isinstance(x, Tracer) or isinstance(y, Tracer) or is_same(x, y) for x, y in zip(one.leaves, other.leaves))


def _is_one_array(a: Tracer, b: Tracer) -> bool:
    """Whether two arrays are one object: of those that the function has made its own values tell, of those from outside
    what they are in this call.
    """
    (x, array), (y, other) = _outside(a), _outside(b)
    lifted = current().root.trace.lifted_arrays
    if x is not y and any(id(v) in lifted and (id(w) in lifted or z is not None)
                          for v, w, z in ((x, y, other), (y, x, array))):
        raise unknown_identity()
    if array is None or other is None:
        return x is y
    current().trace.identity_checks.append((x, y, array is other))
    return array is other


def _outside(x: Tracer) -> tuple:
    """The input that stands for x where the call began, and the outside array behind it; None if the call made it."""
    root, builder = current().root, current()
    while builder is not None:
        given = builder.region.arrived.get(id(x), (x, x))[1]
        if isinstance(given, np.ndarray):
            return x, given
        x, builder = given, builder.parent
    return x, next((array for array, value in root.trace.captured.values() if value is x), None)


def is_not(a: object, b: object) -> Any:
    """a is not b"""
    found = given(a) if b is None else is_(a, b)
    if b is None or not isinstance(found, Value):
        return found if b is None else not found
    return python_number(registry["logical_not"](found))


def need(*values: object) -> None:
    """These are used by what does not know of values that may be None: they have to be there."""
    for x in values:
        if isinstance(x, Tracer) and x.optional is not None:
            x.optional.check()


def bare(x: object) -> Any:
    """A value that may be None, to be read where it is known what to do of it."""
    return current().value_of(x.held) if isinstance(x, Tracer) and x.optional is not None else x


def note(x: object, flag: object, name: str) -> None:
    """From now on x may be None: the flag says whether it is there."""
    if isinstance(x, Tracer) and isinstance(flag, Value):
        x.optional = Optional(flag, name)
        current().trace.has_optional = True
