"""Loops in a `try` whose iterations may raise what its handlers take: the first error ends the loop, and is raised
behind it.

    for v in x:                         for v in x:
        total += log(v)         ->          try: total += log(v)
                                            except ValueError as e: raised, number = True, 1; break
                                        if raised: raise e

Each iteration has its paths (see paths.py). An error that holds traced values stays in the loop: the function is not
staged then.
"""
import functools
from collections.abc import Callable
from types import CellType

from ...ir.build import Value
from ...ir.op import registry
from ...util import tree
from ...util.defects import raise_for_user
from ...util.errors import UnstageableError
from .handlers import pass_on
from .paths import Path, follow

RAISED, NUMBER = "_fad_raised", "_fad_error"


class FailingLoop:
    """The body of a loop, as iterations run it; it stands for the user's."""

    def __init__(self, path: Path, body: Callable, cells: dict, facts: tuple):
        names, rebound, written, stops, own = facts
        self.path, self.body, self.__code__ = path, body, body.__code__
        self.raised, self.number = CellType(False), CellType(0)
        self.cells = {**cells, RAISED: self.raised, NUMBER: self.number}
        self.facts = ((*names, NUMBER), (*rebound, NUMBER), written, (*stops, RAISED), (*own, NUMBER, RAISED))
        self.live = (*names, *stops, NUMBER, RAISED)
        self.errors: list[Exception] = []                     # by their numbers, from 1

    def __call__(self, *item: object) -> None:
        iteration = functools.partial(self._iteration, *item)
        follow(iteration, self.cells, self.live, self.facts[-1], self.path.kinds, False, set())

    def _iteration(self, *item: object) -> None:
        try:
            self.body(*item)
        except self.path.kinds as error:
            pass_on(error)
            self.raised.cell_contents, self.number.cell_contents = True, self._number_of(error)

    def _number_of(self, error: Exception) -> int:
        if any(isinstance(x, Value) for x in tree.flatten(list(error.args))[0]):
            raise UnstageableError("a loop raises an error that holds traced values, and a handler around it takes it",
                                   why="the values belong to one iteration",
                                   do="test for what may go wrong instead")
        same = (k for k, e in enumerate(self.errors) if type(e) is type(error) and e.args == error.args)
        number = next(same, len(self.errors))
        if number == len(self.errors):
            self.errors.append(error)
        return number + 1

    def raise_first(self) -> None:
        """Raise the error that has ended the loop, on the paths where one has."""
        found = self.number.cell_contents
        for k, error in enumerate(self.errors, 1):
            test = registry["equal"](found, k) if isinstance(found, Value) else found == k
            if self.path.ask(test, ("loop", getattr(found, "atom", None), k)):
                raise_for_user(error.with_traceback(None))


def ended_by_errors(path: "Path | None", body: Callable, cells: dict, facts: tuple,
                    rolled: Callable) -> "UnstageableError | None":
    """The answer of rolled(body, cells, facts) about a loop: None if it is traced, else why it is not. In a `try`, a
    loop that may raise what the handlers take ends by the first error.
    """
    if path is None:
        return rolled(body, cells, facts)
    found: list = []
    if path.raises_nothing(body.__code__, cells, found, lambda: rolled(body, cells, facts)):
        return found[0]
    loop = FailingLoop(path, body, cells, facts)
    with path.closed():
        why = rolled(loop, loop.cells, loop.facts)
    if why is None:
        loop.raise_first()
    elif loop.raised.cell_contents is not False:             # an iteration by itself may have ended the loop
        raise why
    return why
