"""Outlining: statements that a kernel's text repeats under other names become one function, compiled once and called.

```text
for t in range(1, q): …a text's forward sweep…          a = forward(texts_0, a, q, …)
for t in range(1, r): …the next one's…           ->     a_2 = forward(texts_1, a_2, r, …)
```

A traced program has no calls, so a helper that the user calls sixty times stands there sixty times, and so does its
reverse sweep. Outlining finds them again by their text: runs of statements that are equal up to a renaming of
variables (suffix_array.py). The names that such a run reads become the function's parameters, the names that are read
behind it become its results (lines.py), so the meaning cannot change. The runs that save most come first, and the
rest is looked through again, in at most ROUNDS rounds. Numba compiles a function for each kind of arguments, should
they differ.

Arrays of generated code share no memory, and LLVM has to know that of a function's arguments to make vectors of its
loops. Where the text leaves open whether two arguments share memory, the function says so (`may_share`).

Source: C. W. Fraser, E. W. Myers, A. L. Wendt, "Analyzing and compressing assembly code" (1984); LLVM's machine
outliner.
"""
import heapq
import itertools
import re
import textwrap
from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

from ...util.cached import cached_attribute
from ...util.interrupts import reraise_interrupt
from ...util.where import Where
from .aliasing import shared_by_call, sharing_groups
from .lines import Block, Statement, code_of, live_before, locals_of, note_live, statements
from .suffix_array import repeated_runs

LEAST = 150  # lines that a function must save: a tenth of a second of compilation, about
SMALL = 10  # lines of a run that is not worth a function, however often it is repeated
WORTH = 2  # lines for each thing that is passed, at least: the call must be worth it
WORTH_IN_A_LOOP = 8  # the same for plain statements in a loop, which LLVM keeps in registers
ROUNDS = 4
LOOKED_AT = 500                                             # repeated runs in a round
WIDTH = 140                                                  # of the lines of a call
_CALL = re.compile(r" *([\w, ]+ = )?\w+_?part(_\d+)?\(")


class OutlinedFunction(NamedTuple):
    """A function of the text: its lines are those of its body."""

    name: str
    parameters: list
    lines: list
    may_share: tuple = ()
    calls: int = 0


class StatementRun:
    """Statements in a row: length of them, from the one at `first` of a block on."""

    def __init__(self, block: Block, first: int, length: int):
        self.block, self.first, self.length = block, first, length
        self.statements = block[first:first + length]
        self.span = self.statements[0].first, self.statements[-1].last

    @cached_attribute
    def names(self) -> list:
        return [n for s in self.statements for n in s.names]

    @cached_attribute
    def pattern(self) -> tuple:
        return pattern(self.names)

    @property
    def results(self) -> set:
        """The names that are assigned to here and read behind."""
        defs = frozenset().union(*[s.defs for s in self.statements])
        return {n for n in defs if self.block.is_read_behind(n, self.first + self.length - 1)}

    def places(self, names: Iterable[str]) -> set:
        """The names by where they first stand in the run; those that stand elsewhere only are left out."""
        first: dict[str, int] = {}
        for k, n in enumerate(self.names):
            first.setdefault(n, k)
        return {first[n] for n in names if n in first}


class RepeatedRuns(NamedTuple):
    """Runs that become calls of one function: their places in the first one's list of names stand for parameters and
    results.
    """

    runs: list
    parameters: list
    results: list


def outlined(main: OutlinedFunction, taken: set, mentioned: Iterable[Where] = ()) -> list:
    """The functions of the text, the given one last. taken: names that mean something else; mentioned: the user's lines
    that stand in comments.
    """
    found: list[OutlinedFunction] = []
    users = users_functions(mentioned)
    shares: dict = {}
    waiting = [main]
    while waiting:
        function = waiting.pop()
        for _ in range(ROUNDS):
            function, more = _round(function, taken, users, shares)
            waiting += more
            if not more:
                break
        found.insert(0, function)
    return found


def _round(function: OutlinedFunction, taken: set, users: dict, shares: dict) -> tuple:
    """The function with calls in place of what is repeated, and the functions that are called."""
    if len(function.lines) < LEAST // 2:
        return function, []
    try:
        local = locals_of(function.lines, function.parameters)
        block = statements(function.lines, local)
    except ValueError as error:                              # a statement that is not among those that we know
        reraise_interrupt(error)
        return function, []
    note_live(block, frozenset())
    blocks = list(block.blocks())
    groups = _groups(blocks, block)
    if not groups:
        return function, []
    known = sharing_groups(function.lines, function.parameters, function.may_share, shares)
    made, lines = [], list(function.lines)
    for group in groups:
        name = _named(group, function.lines, taken | local, users)
        taken.add(name)
        made.append(_function(name, group, function.lines, known))
        names = group.runs[0].names
        shares[name] = shared_by_call([names[k] for k in group.results], made[-1].parameters, made[-1].lines, shares)
        for run in group.runs:
            first, last = run.span
            lines[first:last] = [_call(name, group, run, function.lines), *[""] * (last - first - 1)]
    return function._replace(lines=[line for line in lines if line]), made


# -- which runs ------------------------------------------------------------------------------------


def _groups(blocks: list, whole: Block) -> list:
    """Groups of runs that do not overlap, those that save most first."""
    sequence, places = _numbered(blocks)
    weights = list(itertools.accumulate([s.weight for block in blocks for s in (*block, _END)], initial=0))
    waiting: list[tuple] = []

    def wait(length: int, at: Iterable[int]) -> None:
        apart = _disjoint(length, at)
        saved = (len(apart) - 1) * (weights[apart[0] + length] - weights[apart[0]]) if apart else 0
        if saved >= LEAST:
            heapq.heappush(waiting, (-saved, length, apart))

    for length, at in repeated_runs(sequence):
        if weights[at[0] + length] - weights[at[0]] >= SMALL:
            wait(length, at)
            period = min(q - p for p, q in itertools.pairwise(sorted(at)))
            if period < length:                              # it overlaps with itself: repeated parts side by side
                wait(period, at)
    covered = bytearray(whole[-1].last)
    chosen: list[RepeatedRuns] = []
    for _ in range(LOOKED_AT):
        if not waiting:
            break
        _, length, at = heapq.heappop(waiting)
        runs = {p: StatementRun(places[p][0], places[p][1], length) for p in at}
        runs = {p: run for p, run in runs.items() if 1 not in covered[run.span[0]:run.span[1]]}
        alike: dict[tuple, list] = {}
        for p, run in runs.items():
            alike.setdefault(run.pattern, []).append(p)
        best = max(alike.values(), key=len, default=[])
        group = _group([runs[p] for p in best]) if len(best) > 1 else None
        if group is not None:
            chosen.append(group)
            for run in group.runs:
                covered[run.span[0]:run.span[1]] = b"\1" * (run.span[1] - run.span[0])
            wait(length, [p for p in runs if p not in best])
        elif len(alike) > 1:                                 # the parts before and behind the first difference
            first = min(_agreeing(runs[a[0]], runs[b[0]]) for a, b in itertools.pairwise(alike.values()))
            wait(first, runs)
            wait(length - first - 1, [p + first + 1 for p in runs])
    return chosen


_END = Statement(0, "")                                      # stands behind each block


def _numbered(blocks: list) -> tuple[list, list]:
    """The statements of all blocks as one sequence of numbers, equal for equal texts, and each number's (block, place).
    """
    numbers: dict[Any, int] = {}
    sequence: list[int] = []
    places: list[tuple] = []
    for block in blocks:
        for k, s in enumerate(block):
            text = (s.skeleton, pattern(s.names)) if not s.leaves else len(places)
            sequence.append(numbers.setdefault(text, len(numbers)))
            places.append((block, k))
        sequence.append(numbers.setdefault(len(places), len(numbers)))
        places.append((block, len(block)))
    return sequence, places


def pattern(names: Iterable[str]) -> tuple:
    """Equal for lists of names that differ by a renaming."""
    first: dict[str, int] = {}
    return tuple([first.setdefault(n, len(first)) for n in names])


def _disjoint(length: int, at: Iterable[int]) -> tuple:
    """Those of the places, from the first on, at which runs of this length do not overlap."""
    found: list[int] = []
    for p in sorted(at) if length else ():
        if not found or found[-1] + length <= p:
            found.append(p)
    return tuple(found)


def _agreeing(a: StatementRun, b: StatementRun) -> int:
    """The number of statements, from the first on, in which two runs are equal up to a renaming."""
    there: dict[str, str] = {}
    back: dict[str, str] = {}
    for k, (s, t) in enumerate(zip(a.statements, b.statements)):
        if any(there.setdefault(x, y) != y or back.setdefault(y, x) != x for x, y in zip(s.names, t.names)):
            return k
    return a.length


# -- functions -------------------------------------------------------------------------------------


def _group(runs: list) -> "RepeatedRuns | None":
    """The runs as calls of one function, if that pays."""
    results = sorted(set().union(*[run.places(run.results) for run in runs]))
    parameters: list[set] = []
    for run in runs:
        needed = live_before(run.statements, frozenset(run.names[k] for k in results))
        parameters.append(run.places(needed))
        if parameters[-1] != parameters[0] or parameters[-1] != run.places(
            live_before(run.statements, frozenset(run.results))
        ):
            return None  # a name that one of them does not always assign to has no meaning there
    group = RepeatedRuns(runs, sorted(parameters[0]), results)
    size = sum(s.weight for s in runs[0].statements)
    passed = len(group.parameters) + len(group.results)
    saved = (len(runs) - 1) * size - (len(runs) + 1) * (2 + passed // 4)
    is_plain = all(not s.bodies for s in runs[0].statements)
    worth = WORTH_IN_A_LOOP if is_plain and any(run.block.in_loop for run in runs) else WORTH
    return group if saved >= LEAST and size >= worth * passed else None


def _function(name: str, group: RepeatedRuns, lines: list, known: dict) -> OutlinedFunction:
    first, last = group.runs[0].span
    names = group.runs[0].names
    indent = len(lines[first]) - len(lines[first].lstrip()) - 4
    body = [line[indent:] for line in lines[first:last]]
    if group.results:
        body.append(f"    return {', '.join(names[k] for k in group.results)}")
    return OutlinedFunction(name, [names[k] for k in group.parameters], body, _may_share(group, known), len(group.runs))


def _may_share(group: RepeatedRuns, known: dict) -> tuple:
    """The parameters whose arrays may share memory with another's, in one call at least."""
    found: set = set()
    for run in group.runs:
        names = run.names
        classes = [known.get(names[k]) for k in group.parameters]
        count = Counter(c for c in classes if c is not None)
        found.update(k for k, c in zip(group.parameters, classes) if c is not None and count[c] > 1)
    return tuple([group.runs[0].names[k] for k in group.parameters if k in found])


def _call(name: str, group: RepeatedRuns, run: StatementRun, lines: list) -> str:
    first, last = run.span
    names = run.names
    results = ", ".join(names[k] for k in group.results)
    call = f"{name}({', '.join(names[k] for k in group.parameters)})"
    indent = lines[first][:len(lines[first]) - len(lines[first].lstrip())]
    text = f"{indent}{results} = {call}" if results else indent + call
    comments = list(filter(None, map(_comment, lines[first:last])))
    return f"{text:<58}  # {comments[0]}" if comments else text


def _comment(line: str) -> str:
    return line[len(code_of(line)):].strip()[2:]


def _named(group: RepeatedRuns, lines: list, taken: set, users: dict) -> str:
    """A name for the function: that of the user's function that most of its lines come from."""
    first, last = group.runs[0].span
    counted = Counter(users[c] for c in map(_comment, lines[first:last]) if c in users)
    wanted = f"{counted.most_common(1)[0][0]}_part" if counted else "part"
    name, k = wanted, 1
    while name in taken:
        k += 1
        name = f"{wanted}_{k}"
    return name


def users_functions(mentioned: Iterable[Where]) -> dict:
    """The user's function in which each of his lines stands. Bodies of loops are functions of captured code, and belong
    to the function of the lines above.

    >>> users_functions([Where("m.py", 2, "f"), Where("m.py", 9, "g")])      # lines that are not at hand have no text
    {'': 'g'}
    """
    found, function = {}, ""
    for where in sorted(mentioned):
        if where.function.isidentifier():
            function = where.function
        if function:
            found[where.text] = function
    return found


def text_of(function: OutlinedFunction) -> list:
    """The lines of a function that is called by others."""
    shared = f"({', '.join(map(repr, function.may_share))})"
    times = "once" if function.calls == 1 else f"at {function.calls} places"
    return [
        f"@helper{shared if function.may_share else ''}",
        *_wrapped(f"def {function.name}({', '.join(function.parameters)}):"),
        f'    """Called {times}."""',
        *wrapped(function.lines),
    ]


def wrapped(lines: list) -> list:
    """The lines, calls of many parameters and results on several lines each."""
    return [part for line in lines for part in (_wrapped(line) if len(line) > WIDTH and _CALL.match(line) else [line])]


def _wrapped(line: str) -> list:
    code, comment = code_of(line), _comment(line)
    indent = code[:len(code) - len(code.lstrip())]
    results, equals, call = code.strip().rpartition(" = ")
    whole = f"({results})\0=\0{call}" if equals and ", " in results else code.strip().replace(" = ", "\0=\0")
    parts = textwrap.wrap(
        whole,
        WIDTH,
        initial_indent=indent,
        subsequent_indent=indent + "        ",
        break_long_words=False,
        break_on_hyphens=False,
    )
    parts = [part.replace("\0", " ") for part in parts]
    return [f"{parts[0]}  # {comment}" if comment else parts[0], *parts[1:]]
