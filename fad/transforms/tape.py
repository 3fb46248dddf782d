"""The memory of a loop's forward half for its reverse half: ordinary arrays of the program, carried by both loops.

Rows    values of one shape: an array with a row for each iteration. If the number of iterations is not known, the
        loop runs in stretches, each as long as all iterations before it together. The rows of a stretch are made
        before it, so no iteration asks for capacity.
Ramp    values with one extent that changes by the same number in each iteration of a loop of known length: a flat
        array, in which the places are known.
Padded  a Ramp (or Rows) of few iterations, in rows of one width that begin at cache lines.
Stack   values of any other extents: a flat array, last in first out, that doubles when it is full (amortised constant
        time). The loops carry it with its pointer and its extent.

All of these are values of the IR, so derivatives of derivatives of loops need no rule of their own.
"""
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ..ir.build import Builder, at_line, current
from ..ir.graph import Var
from ..ir.op import registry
from ..ir.types import INT
from ..ops.control import resize, unwritten
from ..ops.extents import maximum, product
from ..ops.index import index, update
from ..ops.kinds import shape_of
from ..util.array import AnyArray, ArrayOrNumber, Extent
from .memory_budget import has_budget

FIRST_EXTENT = 16
CACHE_LINE = 64                                               # bytes
ALWAYS_FITS = 1 << 24                                         # bytes


class Iterations(NamedTuple):
    """The iterations of a loop whose number is known, and what its body calls their index."""

    count: Any
    start: Any
    step: Any
    index: "Var | None" = None  # type: ignore[assignment]  # of a tuple it is a method


def see_to_room(keepers: list, around: Builder) -> None:
    """Check, before an outermost loop, that what it saves fits in memory. A stack checks this as it grows."""
    if is_repeated(around):
        return
    count: Any = 0
    for keeper in keepers:
        count = count + keeper.bytes
    if not (isinstance(count, int) and count < ALWAYS_FITS):
        registry["check_room"](count)


def is_inside_a_loop(builder: "Builder | None") -> bool:
    """Whether the builder is of a loop or branch that is being differentiated (see joint.py), or inside one."""
    while builder is not None and builder.changing is None:
        builder = builder.parent
    return builder is not None


def is_repeated(builder: "Builder | None") -> bool:
    """The same, and whether it is of an iteration that is reversed at once (see at_once.py), or inside one."""
    if is_inside_a_loop(builder):
        return True
    while builder is not None and not builder.at_once:
        builder = builder.parent
    return builder is not None


def is_fixed(v: Var, around: Builder) -> bool:
    """Whether a variable has the same extents in each iteration, though an iteration may compute them."""
    return all(isinstance(n, int) or around.sees(n) or all(around.sees(w) for w, _ in around.integers.form(n).terms)
               for n in v.type.shape)


def fixed_extents(v: Var) -> list:
    """The extents of such a variable, in front of the loop."""
    around = current()
    return [around.value_of(n) if isinstance(n, int) or around.sees(n) else around.from_form(around.integers.form(n))
            for n in v.type.shape]


class OneArray:
    """A store of all values of a variable in one array of these extents, which the forward loop carries."""

    carries = 1
    links: tuple = ()
    dtype: Any
    extents: tuple

    def start(self) -> list:
        return [unwritten(*self.extents, dtype=self.dtype)]

    def start_reverse(self, final: list) -> list:
        (self.saved,) = final
        return []


class TapeRows(OneArray):
    """An array with a row for each iteration, or, in a loop of unknown length, as many rows as were made so far."""

    def __init__(self, v: Var, iterations: "Iterations | None"):
        extents = fixed_extents(v)
        self.dtype, self.extents = v.type.dtype, (FIRST_EXTENT if iterations is None else iterations.count, *extents)
        self.bytes = 0 if iterations is None else product([v.type.dtype.itemsize, *self.extents])
        self.spec = ("i",) + (":",) * len(extents)

    @staticmethod
    def grown(state: list, room: AnyArray) -> list:
        """The state with rows for so many iterations."""
        return [resize(state[0], room)]

    def used(self, state: list, iterations: AnyArray) -> list:
        """The state with the rows of so many iterations."""
        return [index(state[0], 0, iterations, spec=(("s", 1), *self.spec[1:]), at=0)]

    def push(self, state: list, x: AnyArray, k: object) -> list:
        return [update(state[0], x, k, spec=self.spec, at=0)]

    def pop(self, state: list, k: AnyArray, extents: tuple) -> tuple:
        return [], index(self.saved, k, spec=self.spec, at=0)


class Ramp(OneArray):
    """A flat array of elements: iteration k has `first + k * slope` of them.

    Iterations that have fewer and fewer lie in the array from the last to the first. Then each place is a sum of
    numbers that are not negative, which is easily seen; one that may be negative keeps LLVM from vector instructions.
    """

    def __init__(self, v: Var, iterations: Iterations, ramp: tuple):
        self.first, self.slope = ramp
        self.last = None
        if isinstance(self.slope, int) and self.slope < 0:
            self.last = iterations.count - 1
            self.first, self.slope = self.first + self.last * self.slope, -self.slope
        self.dtype, self.extents = v.type.dtype, (self._elements(iterations.count),)
        self.bytes = product([v.type.dtype.itemsize, *self.extents])

    def _elements(self, k: ArrayOrNumber) -> ArrayOrNumber:
        """The elements of so many iterations, of those with the fewest."""
        return k * self.first + k * (k - 1) // 2 * self.slope

    def place(self, k: ArrayOrNumber) -> ArrayOrNumber:
        """The place where iteration k begins."""
        return self._elements(k if self.last is None else self.last - k)

    def push(self, state: list, x: AnyArray, k: ArrayOrNumber) -> list:
        count = product(shape_of(x))
        return [update(state[0], registry["reshape"](x, count), self.place(k), count, spec=(("s", 1),), at=0)]

    def pop(self, state: list, k: AnyArray, extents: tuple) -> tuple:
        flat = index(self.saved, self.place(k), product(extents), spec=(("s", 1),), at=0)
        return [], registry["reshape"](flat, *extents)


class Padded(OneArray):
    """An array with a row for each of so many vectors. Rows are whole cache lines wide, so that no SIMD vector crosses
    a line."""

    def __init__(self, v: Var, count: int, width: Extent):
        self.dtype, self.extents = v.type.dtype, (count, width)
        self.bytes = product([v.type.dtype.itemsize, *self.extents])

    def push(self, state: list, x: AnyArray, k: object) -> list:
        return [update(state[0], x, k, 0, *shape_of(x), spec=("i", ("s", 1)), at=0)]

    def pop(self, state: list, k: AnyArray, extents: tuple) -> tuple:
        return [], index(self.saved, k, 0, *extents, spec=("i", ("s", 1)), at=0)


def padded_width(v: Var, iterations: Iterations) -> AnyArray:
    """The elements of a row, in whole cache lines, for the largest value that a variable of rank 1 has in any
    iteration, or behind the last.
    """
    first, slope = ramp_of(v, iterations, current()) or (fixed_extents(v)[0], 0)
    last = first + iterations.count * slope
    widest = (last if slope > 0 else first) if isinstance(slope, int) else maximum(first, last)
    line = max(CACHE_LINE // v.type.dtype.itemsize, 1)
    return (widest + line - 1) // line * line


def along(form: Any, iterations: Iterations, around: Builder) -> "tuple | None":
    """(slope, rest) of an integer that is slope times the loop's index, and the rest, in every iteration."""
    if iterations.index is None:
        return None
    i = around.integers.form(iterations.index)
    hidden = [(w, c) for w, c in i.terms if not around.sees(w)]
    if len(hidden) != 1 or abs(hidden[0][1]) != 1:
        return None
    slope = form.coefficient(hidden[0][0]) * hidden[0][1]
    rest = form - i.scaled(slope)
    return (slope, rest) if all(around.sees(w) for w, _ in rest.terms) else None


def ramp_of(v: Var, iterations: Iterations, around: Builder) -> "tuple | None":
    """The elements of a variable in a loop's first iteration, and the constant number of elements that each further
    iteration adds.
    """
    moving = [n for n in v.type.shape if isinstance(n, Var) and not around.sees(n)]
    if len(moving) != 1:
        return None
    found = along(around.integers.form(moving[0]), iterations, around)
    if found is None:
        return None
    slope, rest = found
    others = product([around.value_of(n) for n in v.type.shape if n is not moving[0]])
    return others * (around.from_form(rest) + slope * iterations.start), others * (slope * iterations.step)


class Stack:
    """A flat array of elements, its extent and how many of them are in use. State: [used, room, elements]."""

    carries = 3
    links = ((2, 0, 1),)                                      # the extent of elements is the capacity
    bytes = 0                                                 # that are known in front of the loop

    def __init__(self, v: Var):
        self.dtype = v.type.dtype

    def start(self) -> list:
        # in their final dtype: no second trial
        return [INT.type(0), INT.type(FIRST_EXTENT), unwritten(FIRST_EXTENT, dtype=self.dtype)]

    @staticmethod
    def grown(state: list, room: AnyArray) -> list:
        """As it is: each value makes its own capacity."""
        return state

    @staticmethod
    def used(state: list, iterations: AnyArray) -> list:
        """As it is: it knows how many elements are in use."""
        return state

    def push(self, state: list, x: AnyArray, k: ArrayOrNumber) -> list:
        used, room, elements = state
        count = product(shape_of(x))
        top = used + count
        enough = registry["where"](top <= room, room, top * 2)
        elements = resize(elements, enough)
        if shape_of(x):
            flat = registry["reshape"](x, count)
            elements = update(elements, flat, used, count, spec=(("s", 1),), at=0)
        else:
            elements = update(elements, x, used, spec=("i",), at=0)
        return [top, enough, elements]

    def start_reverse(self, final: list) -> list:
        self.saved = final[2]
        return [final[0]]

    def pop(self, state: list, k: AnyArray, extents: tuple) -> tuple:
        count = product(extents)
        bottom = state[0] - count
        if not extents:
            return [bottom], index(self.saved, bottom, spec=("i",), at=0)
        # The pushes tell that it is not negative. Compiled code sees the pops alone, and would test each subscript.
        start = registry["maximum"](bottom, INT.type(0))
        flat = index(self.saved, start, count, spec=(("s", 1),), at=0)
        return [bottom], registry["reshape"](flat, *extents)


def keeper_of(v: Var, iterations: "Iterations | None") -> Any:
    """The keeper of a variable's values; `iterations` is None where their number is not known."""
    around = current()
    # segments of stretches would be loops four deep
    if is_fixed(v, around) and (iterations is not None or not has_budget()):
        return TapeRows(v, iterations)
    ramp = None if iterations is None else ramp_of(v, iterations, around)
    return Stack(v) if ramp is None or iterations is None else Ramp(v, iterations, ramp)


class Tape:
    """The keepers of all values that a loop saves, and their carries as one list. `iterations` is None if their number
    is not known.

    lines: the user's line of each value; keeper: makes the keeper of one. `grows`: whether rows must be made before
    each stretch of a loop.
    """

    def __init__(self, saved: list, iterations: "Iterations | None", lines: "dict | None" = None,
                 made_by: Callable = keeper_of):
        lines = lines or {}
        self.variables = saved
        self.lines = [lines.get(v) for v in saved]           # the keeper of a value belongs to the value's line
        self.keepers: list[Any] = [made_by(v, iterations) for v in saved]
        self.pointers = [keeper for keeper in self.keepers if isinstance(keeper, Stack)]
        self.grows = iterations is None and any(isinstance(keeper, TapeRows) for keeper in self.keepers)
        see_to_room(self.keepers, current())
        self.init: list = []
        for keeper, line in zip(self.keepers, self.lines):
            with at_line(line):
                self.init += keeper.start()

    def links(self, offset: int, room: "int | None" = None) -> tuple:
        """The carries that are extents of others, the first of the tape's being number `offset`; `room`: the number of
        how many iterations there are rows for.
        """
        out: list = []
        for keeper in self.keepers:
            out += [(offset + k, axis, offset + j) for k, axis, j in keeper.links]
            out += [(offset, 0, room)] if room is not None and isinstance(keeper, TapeRows) else []
            offset += keeper.carries
        return tuple(out)

    def grown(self, state: list, room: AnyArray) -> list:
        """The carries with rows for so many iterations."""
        return self.each(state, lambda keeper, own, _: keeper.grown(own, room))

    def used(self, state: Sequence, iterations: AnyArray) -> list:
        """The carries at the end of so many iterations, without the rows that no iteration has needed: a loop around is
        to save no more than that.
        """
        return self.each(state, lambda keeper, own, _: keeper.used(own, iterations))

    def push(self, state: list, values: tuple, k: object) -> list:
        """The carries after one iteration's values are saved."""
        return self.each(state, lambda keeper, own, number: keeper.push(own, values[number], k))

    def each(self, state: Sequence, change: Callable) -> list:
        """The carries after change(keeper, its own carries, its number) -> its new ones."""
        out: list = []
        for number, (keeper, line) in enumerate(zip(self.keepers, self.lines)):
            with at_line(line):
                out += change(keeper, list(state[:keeper.carries]), number)
            state = state[keeper.carries:]
        return out

    def start_reverse(self, final: list) -> list:
        """The reverse loop's carries (the stacks' pointers), from what the forward loop ended with."""
        out: list = []
        for keeper in self.keepers:
            out += keeper.start_reverse(list(final[:keeper.carries]))
            final = final[keeper.carries:]
        return out

    def reader(self, state: Sequence, k: ArrayOrNumber) -> "Reader":
        return Reader(self, state, k)


class Reader:
    """Gets back the values of one iteration; `state` then holds the reverse loop's carries."""

    def __init__(self, tape: Tape, state: Sequence, k: ArrayOrNumber):
        self.tape, self.k, self.state = tape, k, list(state)
        self.place: dict[int, int] = {}
        for number, keeper in enumerate(tape.keepers):
            if isinstance(keeper, Stack):
                self.place[number] = len(self.place)

    def __call__(self, number: int, env: Any) -> ArrayOrNumber:
        keeper, v = self.tape.keepers[number], self.tape.variables[number]
        extents = tuple([env.read(n) for n in v.type.shape])
        at = self.place.get(number)
        with at_line(self.tape.lines[number]):
            state, x = keeper.pop([] if at is None else [self.state[at]], self.k, extents)
        if at is not None:
            self.state[at] = state[0]
        return x
