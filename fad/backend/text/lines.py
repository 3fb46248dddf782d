"""Generated text as statements: the names that each line reads and assigns, and those that are live behind it.

Backward liveness over structured code. The text is the printer's, so one statement is one line, and these are all:
assignments, `+=` and its like, `for … in range(…)`, `while`, `if`/`elif`/`else`, `raise`, `break`, `pass`, `return`.
Text of any other form is refused with a ValueError.

>>> lines = ["s = 0.0", "for i in range(n):", "    s += x[i]  # the user's line"]
>>> block = statements(lines, locals_of(lines, ["n", "x"]))
>>> [(sorted(s.gen), sorted(s.defs)) for s in block]
[([], ['s']), (['n', 's', 'x'], ['i', 's'])]
>>> note_live(block, frozenset({"s"}))
>>> [n for n in ("i", "n", "s", "t", "x") if block.is_read_behind(n, 0)]
['n', 's', 'x']
"""
import bisect
import re
from collections.abc import Iterable, Iterator

from ...util.cached import cached_attribute

_TOKEN = re.compile(r"""("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|(\.[A-Za-z_]\w*)|(?<![\w.])([A-Za-z_]\w*)(?!\w|=[^=])""")
NAME = re.compile(r"(?<![\w.])[A-Za-z_]\w*")
ASSIGNS = re.compile(r" (?:[-+*/%&|^@]|//|\*\*|<<|>>)?= ")
_TARGET = re.compile(r"([A-Za-z_]\w*)(\[.*\])?")
_WORD = re.compile(r"[a-z]+")
_STRANGE = re.compile(r"\blambda\b|\bcontinue\b|\bglobal\b|:= |\bf['\"]")
_HEAD = re.compile(r"for \w+ in range\(.*\):|while .*:|if .*:")
_LOOP = 12  # how many plain lines cost a compiler as much as a loop, about


class Statement:
    """One statement with all that is in it.

    first, last  its lines are lines[first:last]
    skeleton     its text without the names of local variables; names: these, in the order in which they stand
    gen, kill    what it reads before assigning to it, and what it assigns to on every way; defs: all that it assigns to
    leaves       whether it may leave the block it stands in other than by an exception
    weight       about what it costs to compile, in lines
    """

    __slots__ = (
        "first", "last", "head", "bodies", "skeleton", "names", "gen", "kill", "defs", "leaves", "falls", "weight",
    )

    def __init__(self, first: int, head: str):
        self.first, self.head, self.last = first, head, first + 1
        self.bodies: list[Block] = []
        self.skeleton: tuple = ()
        self.names: tuple = ()
        self.gen: frozenset = frozenset()
        self.kill: frozenset = frozenset()
        self.defs: frozenset = frozenset()
        self.leaves, self.falls, self.weight = False, True, 1


class Block(list):
    """Statements in a row; after: the names that are read behind them (see note_live); in_loop: whether a loop runs
    them.
    """

    after: frozenset = frozenset()
    in_loop = False

    def blocks(self) -> "Iterator[Block]":
        """This block and those within it."""
        yield self
        for s in self:
            for body in s.bodies:
                yield from body.blocks()

    @cached_attribute
    def _uses(self) -> dict:
        """For each name, the places of the statements that read or assign to it, each with whether it is read first."""
        found: dict[str, list] = {}
        for k, s in enumerate(self):
            for n in s.gen | s.kill:
                found.setdefault(n, []).append((k, n in s.gen))
        return found

    def is_read_behind(self, name: str, k: int) -> bool:
        """Whether a name is read behind statement k before it is assigned to."""
        uses = self._uses.get(name, ())
        place = bisect.bisect(uses, (k, True))
        return uses[place][1] if place < len(uses) else name in self.after


def code_of(line: str) -> str:
    """A line without its comment.

    >>> code_of("raise ValueError('x  # y')  # the user's line")
    "raise ValueError('x  # y')"
    """
    at = line.find("  # ")
    while at >= 0 and _ends_in_text(line[:at]):
        at = line.find("  # ", at + 1)
    return (line if at < 0 else line[:at]).rstrip()


def _ends_in_text(start: str) -> bool:
    """Whether a quotation that begins here is not over."""
    rest = _TOKEN.sub(lambda m: "" if m[1] else m[0], start) if "'" in start or '"' in start else ""
    return "'" in rest or '"' in rest


def locals_of(lines: Iterable[str], parameters: Iterable[str]) -> set:
    """The names that these lines assign to, and the parameters."""
    found = set(parameters)
    for line in lines:
        found.update(_targets(code_of(line).strip())[0])
    return found


def _targets(code: str) -> tuple:
    """The names that a line assigns to as a whole, and whether it reads them first."""
    if code.startswith("for "):
        return (code[4:code.index(" in ")],), False
    found = None if code.startswith(("if ", "elif ", "while ", "return", "raise")) else ASSIGNS.search(code)
    if found is None:
        return (), False
    names = [_TARGET.fullmatch(part) for part in parts(code[:found.start()])]
    if None in names:
        raise ValueError(code)
    return tuple([m[1] for m in names if m is not None and not m[2]]), found[0] != " = "


def parts(text: str) -> list:
    """The parts that commas outside brackets separate."""
    parts, depth, start = [], 0, 0
    for k, c in enumerate(text):
        depth += (c in "[(") - (c in "])")
        if c == "," and depth == 0:
            parts.append(text[start:k].strip())
            start = k + 1
    return [*parts, text[start:].strip()]


def statements(lines: list, local: set) -> Block:
    """The statements of a function's body; `local` are the names of its variables."""
    codes = [code_of(line) for line in lines]
    block, end = _block(codes, 0, _indent(codes[0]), local)
    if end != len(codes):
        raise ValueError(codes[end])
    return block


def _indent(code: str) -> int:
    return len(code) - len(code.lstrip())


def _block(codes: list, k: int, indent: int, local: set) -> tuple:
    block = Block()
    while k < len(codes) and _indent(codes[k]) >= indent:
        if _indent(codes[k]) != indent:
            raise ValueError(codes[k])
        statement, k = _statement(codes, k, indent, local)
        block.append(statement)
    return block, k


def _statement(codes: list, k: int, indent: int, local: set) -> tuple:
    word = _WORD.match(codes[k].strip())
    statement = Statement(k, word[0] if word else "")
    heads = []
    while True:
        heads.append(codes[k].strip())
        k += 1
        if heads[-1].endswith(":"):
            body, k = _block(codes, k, _indent(codes[k]), local)
            statement.bodies.append(body)
        if (
            statement.head != "if"
            or k >= len(codes)
            or _indent(codes[k]) != indent
            or not codes[k].strip().startswith(("elif ", "else:"))
        ):
            break
    statement.last = k
    if statement.bodies and not _HEAD.fullmatch(heads[0]):
        raise ValueError(heads[0])
    _summarise(statement, heads, local)
    return statement, k


def _summarise(s: Statement, heads: list, local: set) -> None:
    skeletons, names, reads = [], [], set()
    for head, body in zip(heads, [*s.bodies, *[[]] * (len(heads) - len(s.bodies))]):
        skeleton, found = _without_names(head, local)
        skeletons += [skeleton, *[t for inner in body for t in ("{", *inner.skeleton, "}")]]
        names += [*found, *[n for inner in body for n in inner.names]]
        reads |= set(found)
    s.skeleton, s.names = tuple(skeletons), tuple(names)
    s.weight = len(heads) + sum(inner.weight for body in s.bodies for inner in body)
    inside = [inner for body in s.bodies for inner in body]
    s.leaves = s.head in ("break", "return") or any(
        inner.leaves and not (s.head in ("for", "while") and inner.head != "return") for inner in inside
    )
    s.falls = s.head not in ("break", "return", "raise")
    targets, augmented = _targets(heads[0])
    s.defs = frozenset(targets).union(*[inner.defs for inner in inside])
    if s.head in ("for", "while"):
        s.weight += _LOOP
        gen, _ = summary(s.bodies[0])
        s.gen = frozenset(reads - set(targets)) | (gen - set(targets))
        s.kill = _before_break(s.bodies[0]) if heads[0] == "while True:" else frozenset()
    elif s.head == "if":
        found = [summary(body) for body in s.bodies]
        s.gen = frozenset(reads).union(*[gen for gen, _ in found])
        kills = [kill for body, (_, kill) in zip(s.bodies, found) if all(inner.falls for inner in body)]
        s.falls = bool(kills) or heads[-1] != "else:"
        s.kill = frozenset.intersection(*kills) if kills and heads[-1] == "else:" else frozenset()
    else:
        s.gen = frozenset(reads) if augmented else frozenset(_without_names(_value(heads[0]), local)[1])
        s.kill = s.defs


def _value(code: str) -> str:
    """The part of a line that it reads: all of it except the names that it assigns to."""
    found = None if code.startswith(("raise", "return")) else ASSIGNS.search(code)
    if found is None:
        return code
    places = [part for part in parts(code[:found.start()]) if "[" in part]
    return ", ".join([*places, code[found.end():]])


def _without_names(code: str, local: set) -> tuple:
    """The text with a mark in place of each local name, and those names."""
    if _STRANGE.search(code):
        raise ValueError(code)
    names: list[str] = []

    def mark(m: re.Match) -> str:
        if m[3] is None or m[3] not in local:
            return m[0]
        names.append(m[3])
        return "$"
    return _TOKEN.sub(mark, code), names


def _before_break(body: list) -> frozenset:
    """The names that the body of an endless loop assigns to before it may leave."""
    kill: set = set()
    for s in body:
        if s.leaves:
            break
        kill |= s.kill
    return frozenset(kill)


def summary(block: list) -> tuple:
    """The gen and kill of statements in a row."""
    kill: set = set()
    for s in block:
        kill |= s.kill
    return live_before(block, frozenset()), frozenset(kill)


def live_before(block: list, after: frozenset) -> frozenset:
    """The names that are read in the block or behind it, before they are assigned to; after: those of behind it."""
    live = set(after)
    for s in reversed(block):
        live -= s.kill
        live |= s.gen
    return frozenset(live)


def note_live(block: Block, after: frozenset, in_loop: bool = False) -> None:
    """Note the names that are read behind each block, and which are in loops; after: the names that are read behind
    this one.
    """
    block.after, block.in_loop = after, in_loop
    live = set(after)
    for s in reversed(block):
        for body in s.bodies:
            # the next iteration reads, too
            again = live_before(body, frozenset(live)) | live if s.head in ("for", "while") else live
            note_live(body, frozenset(again), in_loop or s.head in ("for", "while"))
        live -= s.kill
        live |= s.gen
