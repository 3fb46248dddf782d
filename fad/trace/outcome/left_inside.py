"""Values that a region of the program leaves in objects from before it, and that stay inside the program."""
from collections import deque
from collections.abc import Iterable, Sequence
from operator import is_
from typing import Any

import numpy as np

from ...ir.build import Builder, current
from ...ir.graph import Equation, Func, Var, free_vars
from ...ir.live import is_point
from ...ir.value import Value
from ...ops.records import Records
from ...util.errors import UnstageableError
from ...util.reach import reached, referents
from ..heap.journal import CONTAINER, Mark
from ..heap.state import frozen
from ..heap.state import is_array as _is_array
from ..lists.items import Contents, Items
from ..objects.containers import CHANGING, contents, is_users, put_contents, values_of
from ..objects.maybe_unbound import Unsure
from ..regions import optional
from ..values.aliases import may_be_one
from ..values.choice import is_choice, number_of, table_of
from ..values.place import bases_of
from ..values.tracer import Tracer
from ..values.zero_dim import as_kind
from .delivery import has_traced_keys, is_of_two_dtypes
from .leaks import stays


class LeftInside:
    """The effects of a function within the program: `outputs`, and their locations."""

    def __init__(self, builder: Builder, mark: Mark):
        self.builder = builder
        self.cells = [x for x in mark.changed(CONTAINER) if not has_traced_keys(x)]
        self.entries = [e for e in mark.entries.values() if e.kind is CONTAINER]
        self.after = [list(values_of(contents(e.cell))) for e in self.entries]
        self.is_changed = bool(self.cells)
        self.found: dict[int, Tracer] = {}
        self.fresh: list = []
        self.of_numbers: set[int] = set()                     # rows of lists whose elements are numbers: nothing else
        for inside in map(contents, self.cells):
            self._find([inside] if isinstance(inside, Contents) else values_of(inside), mark.serial)
        self.arguments = {key: (x, y) for key, (x, y) in builder.region.arrived.items()
                          if key in self.found and key not in builder.region.mutated}
        self.left = [x for key, x in self.found.items() if key not in self.arguments]
        self.maybe = [x for x in self.left if x.optional is not None]
        self.has_changed_cells = self.is_changed
        self.arrays: list = []
        self.outputs = [*map(optional.bare, self.left), *[x.optional.flag for x in self.maybe]]
        if not builder.live:
            self._take_arrays()

    def _take_arrays(self) -> None:
        """Arrays of the program around that the function has written to."""
        self.arrays = written_around(self.builder)
        self.before = [self.builder.region.mutated[id(x)][1] for x in self.arrays]
        self.is_changed = self.is_changed or bool(self.arrays)
        self.outputs += map(frozen, self.arrays)

    def on_tape(self) -> "LeftInside":
        """The same on a tape: containers hold their values at once, and the program around gives arrays theirs."""
        self.put(self.outputs)
        self.cells, self.fresh, self.left, self.maybe, self.arguments, self.outputs = [], [], [], [], {}, []
        self._take_arrays()
        return self

    def _find(self, values: Iterable, since: int) -> None:
        def parts(x: object) -> Iterable:
            if is_choice(x):
                return (number_of(x),)
            if isinstance(x, Contents):
                self.of_numbers.update(id(row) for row, t in zip(x.rows or (), x.types or ()) if not t.shape)
                return (*x.items, *(x.rows or ()), x.length)
            if isinstance(x, tuple):
                return x
            if isinstance(x, Records):
                return x.fields.values()
            if isinstance(x, CHANGING) or is_users(x):
                keys = dict.keys(x) if isinstance(x, dict) else ()
                return [*keys, *values_of(_inside(x))] if self.fresh and self.fresh[-1] is x else ()
            return () if isinstance(x, Value) else referents(x)

        for x in reached(values, parts):
            if type(x) is Unsure:
                raise UnstageableError(
                    f"a function leaves {x.bound.name} with a value on some paths only",
                    why="a program stores all that it changes",
                    do="give it a value on every path",
                )
            if isinstance(x, Tracer) and self._is_own(x):
                self.found[id(x)] = x
            elif isinstance(x, CHANGING) or (is_users(x) and not isinstance(x, tuple)):
                self.fresh += [] if stays(self.builder.root, x, since) else [x]

    def _is_own(self, x: Tracer) -> bool:
        """Whether the function has made x. An array from around it that it has written to is put back: it stays itself.
        """
        parent = self.builder.parent
        is_put_back = id(x) in self.builder.region.mutated and x.builder is not self.builder
        return parent is None or (not is_put_back and not parent.sees(x.held))

    def refuse(self) -> None:
        """An error if what was left cannot be said by values alone."""
        if any(x.is_unknown for x, var in self.builder.region.mutated.values() if _is_around(self.builder, var)):
            raise _refusal()
        bases: dict[int, int] = {}
        for x in self.left:
            if is_of_two_dtypes(x, self.builder.root) or not self.builder.sees(x.held) or x.bound is not None:
                raise _refusal()
            for base in bases_of(x, self.builder.root) if _is_array(x) and id(x) not in self.of_numbers else ():
                if id(base) in self.builder.region.arrived or (
                    self._is_own(base) and bases.setdefault(id(base), id(x)) != id(x)
                ):
                    raise _refusal()

    def is_scratch(self, func: Func) -> bool:
        """Whether only arrays are changed, and the function reads no elements of them that it has not written."""
        reading = func.replace(equations=list(map(_without_what_is_replaced, func.equations)))
        return not self.has_changed_cells and set(self.before).isdisjoint(free_vars(reading))

    def earlier(self) -> "tuple[set, set]":
        """Variables and floats that an earlier call has left, and that the function replaces or adds to."""
        captured, variables, numbers = self.builder.root.trace.captured, set(self.before), set[float]()
        now = {id(x) for after in self.after for x in after}
        gone = [x for e in self.entries for x in values_of(e.before)
                if id(x) not in now or isinstance(e.cell, (list, dict, deque))]

        def parts(x: object) -> Iterable:
            return x if type(x) is tuple else values_of(contents(x)) if isinstance(x, CHANGING) or is_users(x) else ()
        for x in reached(gone, parts):
            x = captured[id(x)][1] if id(x) in captured else x
            variables.update({x.held} if isinstance(x, Tracer) else ())
            numbers.update({x} if isinstance(x, float) and is_point(x) else ())
        known = {x.origin for array, x in captured.values() if not x.shape and array.item() in numbers}
        return variables | known, numbers

    def put(self, values: Sequence) -> None:
        """The program around has these values for the outputs."""
        alternatives = self.builder.trace.alternatives
        new: dict[int, Any] = {key: y for key, (_, y) in self.arguments.items()}
        for x, y in zip(self.left, values):
            y = y if isinstance(y, Value) else current().constant(np.asarray(y)) if _is_array(x) else y
            if x.zero_dim is not False and isinstance(y, Tracer):
                y = as_kind(y, x.zero_dim)
            new[id(x)] = y
            if _is_array(x):
                alternatives[id(y)] = y, [b for b in bases_of(x, self.builder.root) if not self._is_own(b)]
        for x, flag in zip(self.maybe, values[len(self.left):]):
            optional.note(new[id(x)], flag, x.optional.name)
        insides = [(cell, _inside(cell)) for cell in [*self.cells, *self.fresh]]     # alive, so that ids stay theirs
        for cell, before in insides:
            after = _mapped(before, new)
            if after is not before:
                if isinstance(after, Contents) or not isinstance(cell, Items):
                    put_contents(cell, after)
                else:
                    list.__setitem__(cell, slice(None), after)
        lent = getattr(current().root, "lent", {})            # objects of libraries hold what the arrays are given here
        before = dict(lent)
        lent.clear()
        for array, y in zip(self.arrays, values[len(self.left) + len(self.maybe):]):
            array.set(y)
        lent.update(before)
        for twin in self.builder.region.twins:                       # the function around may not change them, either
            may_be_one(twin.one, twin.other, twin.exempt)


def _without_what_is_replaced(eqn: Equation) -> Equation:
    """An equation that replaces all elements of an array, without that operand; another one as it is."""
    if not eqn.replaces_part or set(eqn.params["spec"]) != {":"}:
        return eqn
    return Equation(eqn.op, eqn.inputs[1:], eqn.outputs, eqn.params)


def written_around(builder: Builder) -> list:
    """The arrays of the program around a function that the function has written to; of a view its base."""
    return [
        x
        for x, var in builder.region.mutated.values()
        if x.view_of is None and not x.is_clobbered and x._var is not var and _is_around(builder, var)
    ]


def _is_around(builder: Builder, var: Var) -> bool:
    """Whether a variable is one of the program around a function."""
    return builder.parent is not None and builder.parent.sees(var)


def _refusal() -> UnstageableError:
    return UnstageableError(
        "an array is left outside the function that may be another one, or a part of it",
        why="a program would store a copy",
        do="store a copy of it (x.copy())",
    )


def _inside(cell: object) -> Any:
    """The contents of a container; the elements, one by one, of a list of captured code."""
    return list(cell) if isinstance(cell, Items) and cell.rows is None else contents(cell)


def _mapped(inside: object, new: dict) -> Any:
    """Contents with other values; the same object where none is replaced."""
    def value(x: object) -> Any:
        if id(x) in new:
            return new[id(x)]
        if is_choice(x) and id(number_of(x)) in new:
            return table_of(x).chosen(new[id(number_of(x))])
        if isinstance(x, tuple) and x:
            parts = [value(y) for y in x]
            if any(a is not b for a, b in zip(parts, x)):
                make: Any = getattr(type(x), "_make", tuple)
                new[id(x)] = make(parts)                      # one tuple, wherever it stands
                return new[id(x)]
        if isinstance(x, Records):
            fields = {name: value(y) for name, y in x.fields.items()}
            return x if all(fields[name] is x.fields[name] for name in fields) else Records(x.dtype, x.rank, fields)
        return x
    if isinstance(inside, dict):
        values = [value(x) for x in inside.values()]
        return inside if all(map(is_, values, inside.values())) else dict(zip(inside, values))
    if isinstance(inside, Contents):
        rows, length = _mapped(inside.rows, new), value(inside.length)
        is_same = rows is inside.rows and length is inside.length
        return inside if is_same else inside._replace(rows=rows, length=length)
    if isinstance(inside, list):
        listed = [value(x) for x in inside]
        return inside if all(a is b for a, b in zip(listed, inside)) else listed
    return inside
