"""Loops on all cores: a loop of the text whose iterations are independent becomes a function that runs a part of it.

    for i in range(n):                     @helper
        total += f(x[i])                   def loop(k, row, span, n, x, y, totals):
        y[i] = g(x[i])                         total = 0.0
                                   ───►        first = max(0, k * span)
                                               for i in range(first, min(first + span, n)):
                                                   total += f(x[i])
                                                   y[i] = g(x[i])
                                               totals[row] += total

The nest tells what iterations share (`roles`): each touches a part of its own of an array, has the array for itself
(array contraction), or adds to it. The text tells the rest: numbers are assigned before they are read, or only added
up. Parts add up in arrays of their own, which are joined in their order. So the result depends on the number of threads
and on nothing else. docs/design/parallel.md has the reasons and the figures.
"""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from ...ir.graph import Var
from ...util.interrupts import reraise_interrupt
from ..schedule.conflicts import READ
from ..schedule.indexmap import Axis, Index, at
from ..schedule.loop_ir import Begin, Loop
from ..schedule.reductions import combine, dtype_argument
from ..schedule.simd_blocking import LANES, BlockLoop
from ..text.aliasing import sharing_groups
from ..text.lines import ASSIGNS, NAME, Block, Statement, code_of, live_before, locals_of, note_live, parts, statements
from .printer import Printer

WORK = 1_000_000          # units of work that are worth threads: a tenth of a millisecond at least
TURN = 200_000_000        # units that a thread does before handlers of signals may run
CALL, UNKNOWN = 6, 16     # units of a function call, assumed iterations of an unknown loop
VECTOR = 4                # points of a block whose statements are done at once
_LISTED = re.compile(r"\bterms(_\d+)?\[")  # the end of a list of terms (see zero_terms.py)
_FOR = re.compile(r"( *)for (\w+) in range\((.*)\):")
_MADE = re.compile(r" *(\w+) = np\.(?:empty|zeros)\(.*\)")
OWN, PRIVATE, SUM = "own", "private", "sum"


class Role(NamedTuple):
    """The use that the iterations of a loop make of an array that they write to; rank: of the part that is kept."""

    kind: str
    dtype: Any
    rank: int


# -- what the nest tells ---------------------------------------------------------------------------


def note_region(printer: Printer, node: Loop, last: "str | None") -> None:
    """Note the loop that was printed behind this line, by its head."""
    for line in reversed(printer.lines):
        if line is last:
            break
        if line.startswith(f"{printer.indent}for "):
            printer.regions.append((line, node))
            break


def roles(printer: Printer, node: Loop) -> "dict | None":
    """Name -> role of each array that the nest writes to; None if its iterations are not independent."""
    touched: dict[Var, list] = {}
    begun = set()
    for step, is_begin in _steps(node):
        if step.kind not in ("map", "reduce", "add", "check"):
            return None
        for access in printer.scheduler.accesses(step):
            if not (is_begin and access.mode == READ):
                touched.setdefault(access.root, []).append((access, step))
        begun.update([printer.storage.root(step.out)] if is_begin else [])
    written = {root for root, found in touched.items() if any(access.mode != READ for access, _ in found)}
    found = {}
    for root in [root for root in touched if root in written]:    # in the order of the text
        home = printer.homes.get(root)
        if home is not None and home.is_register:
            continue
        kind = _kind(node, home, touched[root], root in begun, written)
        if kind is None:
            return None
        found[printer.names.of(root)] = Role(kind, root.type.dtype, len(root.type.shape if home is None else home.kept))
    return found


def _steps(node: Loop) -> Iterator[tuple]:
    for inner in node.nodes:
        if isinstance(inner, Loop):
            yield from _steps(inner)
        else:
            yield (inner.step, True) if isinstance(inner, Begin) else (inner, False)


def _kind(node: Loop, home: object, touched: list, is_begun: bool, written: set) -> "str | None":
    places = [access.place for access, _ in touched]
    if home is not None and _is_private(node, home, places):
        return PRIVATE
    if any(place is None or len(place) != len(places[0]) for place in places):
        return None
    for axis in range(len(places[0])):
        first = _part(node, places[0][axis], written)
        if first is not None and all(_part(node, place[axis], written) == first for place in places):
            return OWN
    adds = all(access.mode != READ and (step.kind == "add" or (step.kind == "reduce" and combine(step) == "{0} + {1}"))
               for access, step in touched)
    return SUM if adds and not is_begun else None


def _is_private(node: Loop, home: Any, places: list) -> bool:
    """Whether the array has lost the axis of this loop (see array_contraction)."""
    if isinstance(node, BlockLoop):
        return home.lanes is not None and home.lanes[1] is node.start
    lost = [k for k in range(len(home.root.type.shape)) if k not in home.kept]
    return None not in places and any(all(node.axis in place[k].axes() for place in places) for k in lost)


def _part(node: Loop, index: Index, written: set) -> "Index | None":
    """The subscript, where it has another value in each iteration of the loop; without the lane of a block."""
    if any(isinstance(s, Var) and s in written for s, _ in index.terms):
        return None
    if not isinstance(node, BlockLoop):
        return index if index.moves_only_with(node.axis) else None
    lanes = [s for s, c in index.terms if isinstance(s, Axis) and c == 1 and s.extent == at(node.count)]
    if (
        len(lanes) != 1
        or (node.start, 1) not in index.terms
        or any(not isinstance(s, Var) for s, _ in index.terms if s is not lanes[0])
    ):
        return None
    return index - Index.of(lanes[0])


# -- what the text tells ---------------------------------------------------------------------------


class ParallelLoop:
    """A loop of the text that may run in parts.

    sums: the numbers that it adds up, with their dtypes; inputs: what it reads; made: the lines that make its private
    arrays.
    """

    def __init__(self, block: Block, k: int, lines: list, known: dict, dtypes: dict):
        self.statement: Statement = block[k]
        self.head, *self.body = lines[self.statement.first:self.statement.last]
        self.codes = [code_of(line) for line in self.body]
        found = _FOR.fullmatch(code_of(self.head))
        self.indent, self.index, bounds = found.groups() if found else ("", "", "")
        self.bounds, self.roles = parts(bounds), known
        self.step = LANES if len(self.bounds) == 3 else 1
        self.extent = self.bounds[1] if len(self.bounds) == 3 else self.bounds[0]
        self.sums: dict = {}
        self.made: dict = {}
        self.inputs: list = []
        self.is_possible = (
            found is not None
            and not self.statement.leaves
            and not block.is_read_behind(self.index, k)
            and (len(self.bounds) == 1 or self.bounds[::2] == ["0", str(LANES)])
            and self._knows_arrays()
            and self._knows_numbers(block, k, dtypes)
            and self._makes_arrays(lines)
        )

    def _of(self, kind: str) -> list:
        return [name for name, role in self.roles.items() if role.kind == kind and name in self.written]

    def _knows_arrays(self) -> bool:
        """Whether there is a role for each array that is written to, and those that are sums are only added to."""
        self.written = {t.partition("[")[0] for code in self.codes for t in _targets(code) if "[" in t}
        return self.written <= self.roles.keys() and all(map(self._is_only_added_to, self._of(SUM)))

    def _is_only_added_to(self, name: str) -> bool:
        adds = re.compile(rf" *{name}(?:\[([^=]*)\])? [-+]= (.*)")
        for code in self.codes:
            found = adds.fullmatch(code)
            others = code if found is None else f"{found[1]} {found[2]}"
            if name in NAME.findall(others):
                return False
        return True

    def _knows_numbers(self, block: Block, k: int, dtypes: dict) -> bool:
        """Whether what an iteration assigns to is assigned before it is read, and not read behind the loop; or added
        up.
        """
        gen = live_before(self.statement.bodies[0], frozenset())
        for name in sorted(self.statement.defs - {self.index}):
            if name in gen:
                if not self._is_only_added_to(name) or str(dtypes.get(name)) not in (
                    "float64",
                    "float32",
                    "complex128",
                    "int64",
                ):
                    return False
                self.sums[name] = dtypes[name]
            elif block.is_read_behind(name, k):
                return False
        return True

    def _makes_arrays(self, lines: list) -> bool:
        """Whether the lines are found that make the private arrays; what these lines read is the same there."""
        for name in self._of(PRIVATE):
            places = [
                j for j in range(self.statement.first) if (m := _MADE.fullmatch(code_of(lines[j]))) and m[1] == name
            ]
            if len(places) != 1:
                return False
            needs = set(NAME.findall(code_of(lines[places[0]]).partition(" = ")[2]))
            if any(needs & set(_targets(code_of(line))) for line in lines[places[0]:self.statement.first]):
                return False
            self.made[name] = lines[places[0]]
        read = [n for line in self.made.values() for n in NAME.findall(code_of(line).partition(" = ")[2])]
        mine = {*self.sums, *self.made, self.index}
        wanted = [*self.statement.names, *read]
        live = self.statement.gen | set(read)
        self.inputs = [
            n for n in dict.fromkeys(wanted) if n in live and n not in mine and n not in ("np", *self._of(SUM))
        ]
        return True

    # -- the parts ---------------------------------------------------------------------------------

    def work(self) -> str:
        """About how much the loop does, as an expression."""
        fixed = {*self.inputs, *self._of(SUM)} - self.statement.defs
        inside = _cost(self.statement.bodies[0], [*self.body], self.statement.first + 1, fixed)
        return f"{_factor(self.extent)} * {_factor(inside)}" + (f" // {LANES * VECTOR}" if self.step > 1 else "")

    def texts(self, names: Any, threads: int, groups: dict) -> tuple:
        """The lines that take the loop's place, and those of the function of its parts."""
        fresh = names.fresh
        function, many, span, turns = fresh("loop"), fresh("threads"), fresh("span"), fresh("turns")
        rows = {name: fresh(f"{name}s") for name in (*self.sums, *self._of(SUM))}
        part, row, turn = fresh("part"), fresh("row"), fresh("turn")
        ends = fresh("first"), fresh("last")
        size = " + ".join(
            " * ".join(f"{name}.shape[{k}]" for k in range(self.roles[name].rank)) for name in self._of(SUM)
        )
        least = f"{WORK}" + (f" + {8 * threads} * {_factor(size)}" if size else "")
        work, unit = self.work(), f" * {LANES}" if self.step > 1 else ""
        main = [
            f"{many} = {threads} if {work} > {least} else 1",
            f"{turns} = 1 + {work} // ({many} * {TURN})",
            f"{span} = -(-{_factor(self.extent)} // ({many} * {turns}{unit})){unit}",
            *[self._rows(name, rows[name], many) for name in rows],
            f"for {turn} in range({turns}):",
            f"    in_parallel({function}, {many}, {turn} * {many}, {', '.join([span, *self.inputs, *rows.values()])})",
            *([f"for {row} in range({many}):"] if rows else []),
            *[line for name in rows for line in self._joined(name, rows[name], row)],
        ]
        return [self.indent + line for line in main], self._function(function, part, row, span, ends, rows, groups)

    def _rows(self, name: str, rows: str, many: str) -> str:
        """The line that makes the sums of all parts."""
        if name in self.sums:
            return f"{rows} = np.zeros({many}{dtype_argument(self.sums[name])})"
        shape = "".join(f", {name}.shape[{k}]" for k in range(self.roles[name].rank))
        return f"{rows} = np.zeros(({many}{shape}){dtype_argument(self.roles[name].dtype)})"

    def _joined(self, name: str, rows: str, row: str) -> list:
        """The lines that add the sum of one part to all."""
        if name in self.sums:
            return [f"    {name} += {rows}[{row}]"]
        axes = [f"i{k}" for k in range(self.roles[name].rank)]
        loops = ["    " * (k + 1) + f"for {axis} in range({name}.shape[{k}]):" for k, axis in enumerate(axes)]
        return [*loops, "    " * (len(axes) + 1) + f"{name}[{', '.join(axes)}] += {rows}[{', '.join([row, *axes])}]"]

    def _function(self, function: str, part: str, row: str, span: str, ends: tuple, rows: dict, groups: dict) -> list:
        parameters = [part, row, span, *self.inputs, *rows.values()]
        classes = [groups.get(n) for n in self.inputs]
        shared = [n for n, c in zip(self.inputs, classes) if c is not None and classes.count(c) > 1]
        step = f", {LANES}" if self.step > 1 else ""
        made = [line.strip() for line in self.made.values()]
        return [f"@helper{'(' + ', '.join(map(repr, shared)) + ')' if shared else ''}",
                f"def {function}({', '.join(parameters)}):",
                f'    """Part number `{part}` of a loop, {span} iterations of it."""',
                *[f"    {line}" for line in made],
                *[f"    {name} = {rows[name]}[{row}]" for name in self._of(SUM)],
                *[f"    {name} = {dtype.type(0)}" for name, dtype in self.sums.items()],
                f"    {ends[0]} = max(0, {part} * {span})",
                f"    {ends[1]} = min({ends[0]} + {span}, {self.extent})",
                f"    for {self.index} in range({ends[0]}, {ends[1]}{step}):",
                *[line[len(self.indent) - 4:] for line in self.body],
                *[f"    {rows[name]}[{row}] += {name}" for name in self.sums]]


def _targets(code: str) -> list:
    """The targets of a line that assigns."""
    if code.strip().startswith("for "):
        return [code.strip()[4:].partition(" in ")[0]]
    found = None if code.strip().startswith(("if ", "elif ", "while ", "return", "raise")) else ASSIGNS.search(code)
    return [] if found is None else parts(code[:found.start()].strip())


def _cost(block: Block, lines: list, first: int, fixed: set) -> str:
    """About how much the statements do, as an expression in what does not change while they run."""
    total, terms = 0, []
    for s in block:
        code = code_of(lines[s.first - first]).strip()
        found = _FOR.fullmatch(code)
        if found is not None:
            terms.append(f"{_trips(parts(found[3]), fixed)} * {_factor(_cost(s.bodies[0], lines, first, fixed))}")
            continue
        total += 1 + CALL * len(re.findall(r"(?<![\w.])[a-z]\w*\(", code))
        terms += [_cost(body, lines, first, fixed) for body in s.bodies]
    return " + ".join([*terms, str(total)])


def _trips(bounds: list, fixed: set) -> str:
    """The number of a loop's iterations."""
    if any(n not in fixed for bound in bounds for n in NAME.findall(bound)):
        return str(LANES if bounds == ["count"] else 1 if any(map(_LISTED.search, bounds)) else UNKNOWN)
    first, last = ("0", bounds[0]) if len(bounds) == 1 else bounds[:2]
    step = bounds[2] if len(bounds) == 3 else "1"
    return f"(abs({last} - ({first})) // {step.lstrip('-')})" if first != "0" or step != "1" else _factor(last)


def _factor(text: str) -> str:
    """The expression as a factor of a product."""
    return text if text.isalnum() else f"({text})"


# -- the text of a module --------------------------------------------------------------------------


def parallel_loops(printer: Printer, lines: list, parameters: list) -> Iterator[ParallelLoop]:
    """The loops of a function's lines that may run in parts, in order."""
    found = {id(head): known for head, node in printer.regions if (known := roles(printer, node)) is not None}
    if not found:
        return
    try:
        block = statements(lines, locals_of(lines, parameters))
    except ValueError as error:                              # a statement that is not among those that we know
        reraise_interrupt(error)
        return
    note_live(block, frozenset())
    dtypes = {
        name: var.type.dtype for var, name in printer.names.given.items() if isinstance(var, Var)
    } | printer.sum_types
    for each in block.blocks():
        for k, s in enumerate(each):
            if id(lines[s.first]) in found:
                loop = ParallelLoop(each, k, lines, found[id(lines[s.first])], dtypes)
                if loop.is_possible:
                    yield loop


def in_parts(loops: list, lines: list, parameters: list, names: object, threads: int) -> tuple:
    """The lines with calls in place of these loops, and the lines of the functions that are called."""
    groups = sharing_groups(lines, parameters)
    replaced: dict[int, list] = {}
    covered: set[int] = set()
    functions = []
    for loop in loops:
        main, function = loop.texts(names, threads, groups)
        replaced[loop.statement.first] = main
        covered.update(range(loop.statement.first, loop.statement.last))
        functions.append(function)
    kept = [part for k, line in enumerate(lines) for part in (replaced.get(k, []) if k in covered else [line])]
    for name, line in [item for loop in loops for item in loop.made.items()]:
        if not any(name in NAME.findall(code_of(other)) for other in kept if other is not line):
            kept = [other for other in kept if other is not line]
    return kept, functions
