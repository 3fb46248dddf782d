"""A `try` whose outcome depends on data: its paths.

    try:                                failed = (k is not positive definite)
        l = cholesky(k)           ->    cond(failed, the try in which the line raises,
    except LinAlgError:                              the try in which it does not)
        return inf

A fork is a line that raises what a handler takes for some data only, or a test one of whose sides raises it. Behind a
fork the statement is traced once for each outcome: from its beginning, with the answers that led there. So it is Python
itself that raises, unwinds and handles, in the state that the line finds. Each path traces again what stands in front
of the fork; common subexpression elimination leaves one of each (passes/cse.py).

The number of paths is exponential in that of forks on one path, which is bounded (MOST_FORKS). The program
checks that further lines raise nothing, and those whose error nobody can tell (`x ** y` has several). Where they do,
the tape does what Python does.
"""
import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ...ir.build import Value, current
from ...ir.graph import Equation, Literal
from ...ir.op import registry
from ...ir.uses import reads
from ...util.defects import raise_for_user
from ...util.errors import RAISED_ON_A_WAY, UnstageableError
from ..heap.percall import steps_here
from .branch import choose
from .failures import failure_of, is_told_by_result, may_raise
from .unroll import attempted

MOST_FORKS = 6                                               # on one path through a statement


class _RegionRaisesError(Exception):
    """A branch or a loop raises what a handler takes."""


class _Undecided(BaseException):
    """The path has come to a fork whose outcome is open. No handler of the user's may see it.

    needed: the equations of the path that the test needs.
    """

    def __init__(self, path: "Path", test: Value, needed: list):
        super().__init__()
        self.path, self.test, self.needed = path, test, needed


class Path:
    """One path through a `try`: the outcomes of its forks so far. It is open while the statement is traced.

    The builder tells it of each equation (see Builder.emit), and branches ask it.
    """

    def __init__(self, kinds: tuple, forks: set, is_flat: bool, outcomes: tuple):
        self.builder, self.kinds, self.forks, self.outcomes = current(), kinds, forks, outcomes
        self.is_flat = is_flat                                # whether a `try` within has its forks on this path
        self.met: list[tuple] = []                            # the forks so far, by what tells them apart
        self.start, self.steps = len(self.builder.equations), len(steps_here())
        self.is_open = True

    def __enter__(self) -> "Path":
        self.builder.trace.paths.append(self)
        return self

    def __exit__(self, *error: object) -> None:
        self.builder.trace.paths.remove(self)

    def ask(self, test: object, fork: tuple) -> bool:
        """The outcome of a fork on this path, which is told from others by what it asks."""
        if not isinstance(test, Value):
            return bool(test)
        count = self.met.index(fork) if fork in self.met else len(self.met)
        if count < len(self.outcomes):
            if count == len(self.met):
                self.met.append(fork)
            return self.outcomes[count]
        if count == MOST_FORKS:
            raise _refused(f"a try with more than {MOST_FORKS} lines that may raise what its handlers take")
        if len(steps_here()) > self.steps:
            raise _refused("a try that draws random numbers in front of a line that may raise what its handlers take")
        raise _Undecided(self, test, _needed(self.builder.equations[self.start:], test))

    def emitted(self) -> None:
        """An equation was emitted: if it may raise what a handler takes, this is a fork."""
        eqn = self.builder.equations[-1]
        if not self.is_open or not may_raise(eqn, self.kinds):
            return
        with self.closed():
            failure = failure_of(eqn, self.kinds, self.builder)
            if failure is None:
                if is_told_by_result(eqn, self.kinds):        # the handler refuses any other
                    self.builder.trace.settled[id(eqn)] = eqn
                    self._leave_to_tape(eqn, registry["isfinite"](self.builder.value_of(eqn.outputs[0])))
                return
            self.builder.equations.pop()
            if failure.before is not None:
                self._add(failure.before)
            test = failure.when()
        operands = [repr(a.value) if isinstance(a, Literal) else a for a in eqn.inputs]
        fork = eqn.op.name, *operands, str(eqn.params)
        if isinstance(test, Value) and len(self.met) == MOST_FORKS and fork not in self.met:
            with self.closed():
                self._leave_to_tape(eqn, registry["logical_not"](test))
        elif self.ask(test, fork):
            raise_for_user(failure.error())
        if failure.after is not None:
            self._add(failure.after)

    def _leave_to_tape(self, eqn: Equation, holds: Value) -> None:
        """Let the program check that an equation raises nothing. Where it does, the tape does what Python does."""
        registry["check_that"](holds, True, what=f"{RAISED_ON_A_WAY}: {eqn.op.name}", error="ArithmeticError")
        check = self.builder.equations[-1]
        self.builder.trace.settled[id(check)] = check

    @contextmanager
    def closed(self) -> Iterator[None]:
        """Equations that are emitted here are no forks of the path."""
        before, self.is_open = self.is_open, False
        try:
            yield
        finally:
            self.is_open = before

    @contextmanager
    def widened(self, kinds: tuple) -> Iterator[None]:
        """A `try` within the statement, whose forks are the path's, too: its handlers take these errors."""
        before, self.kinds = self.kinds, (*self.kinds, *kinds)
        try:
            yield
        finally:
            self.kinds = before

    def _add(self, eqn: Equation) -> None:
        self.builder.trace.settled[id(eqn)] = eqn
        self.builder.equations.append(eqn)

    def raises_nothing(self, code: object, cells: dict, found: list, trace: Callable) -> bool:
        """Whether a branch or a loop, whose code is this, raises nothing that a handler takes. Then its regions are
        traced, and `found` has the result of trace().
        """
        def closed() -> None:
            start = len(self.builder.equations)
            with self.closed():
                found.append(trace())
            if any(may_raise(e, self.kinds) for e in self.builder.equations[start:]):
                raise _RegionRaisesError

        if code not in self.forks:
            try:
                attempted(closed, cells)
                return True
            except _RegionRaisesError:
                self.forks.add(code)
        return False

    def chosen(self, code: object, test: Value, if_true: Callable, if_false: Callable, both: Callable,
               cells: dict) -> Any:
        """The result of a branch, whose code is this. If a side raises what a handler takes, the test is a fork, and
        else both() traces the two sides.
        """
        found: list = []
        if self.raises_nothing(code, cells, found, both):
            return found[0]
        return (if_true if self.ask(test, ("branch", test.atom)) else if_false)()


def path_here() -> "Path | None":
    """The open path whose statement is traced into the current region; None in a region within it."""
    builder = current()
    paths = builder.trace.paths
    return paths[-1] if paths and paths[-1].is_open and paths[-1].builder is builder else None


def follow(statement: Callable, cells: dict, names: tuple, own: tuple, kinds: tuple, is_flat: bool, forks: set,
           outcomes: tuple = ()) -> None:
    """Trace all paths through a `try` that begin with these outcomes. names, own: of its variables those that are live
    behind it, and those that it binds (see branch.choose).
    """
    path = Path(kinds, forks, is_flat, outcomes)
    try:
        with path:
            attempted(statement, cells, undone=_Undecided)
            return
    except _Undecided as found:
        if found.path is not path:
            raise
        fork = found
    current().equations.extend(fork.needed)
    further = [functools.partial(follow, statement, cells, names, own, kinds, is_flat, forks, (*outcomes, x))
               for x in (True, False)]
    choose(fork.test, *further, cells, names, own)


def _needed(equations: list, test: Value) -> list:
    """Of these equations those that a test needs, which are to be traced again as well."""
    needed, wanted = list[Equation](), {test.atom}
    for eqn in reversed(equations):
        if not wanted.isdisjoint(eqn.outputs):
            if _has_effect(eqn):
                raise _refused("what is printed or called in front of a line that may raise what a handler takes")
            needed.insert(0, eqn)
            wanted.update(reads(eqn))
    return needed


def _has_effect(eqn: Equation) -> bool:
    """Whether an equation does what is to be done once only. (A check may be made twice.)"""
    is_done_once = eqn.op.effect and eqn.op.kind != "check"
    return is_done_once or any(_has_effect(e) for region in eqn.regions for e in region.equations)


def _refused(what: str) -> UnstageableError:
    return UnstageableError(what, why="the statement is traced once for each way through it",
                            do="test for what may go wrong instead")
