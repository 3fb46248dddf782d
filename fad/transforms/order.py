"""The order of a reverse half: values are read back, computed again or restored, each before its readers.

A topological order by depth-first search, linear in the equations and their operands; a cycle is reported.
"""
from collections.abc import Iterable, Iterator
from typing import Any

from ..ir.graph import Var, extents_of
from ..ir.uses import DefUse, reads


class Cycle(Exception):
    """No order exists: each of `steps` waits for the next one."""

    def __init__(self, steps: list):
        super().__init__("steps that wait for each other")
        self.steps = steps


class Order:
    """Finds the steps that lead to the wanted variables. A step is an equation's number, or a variable to read from the
    tape.

    again: {variable: the one that takes its place in the reverse half}; found: those of them that were needed.
    """

    def __init__(self, chains: DefUse, saved: Iterable, again: dict):
        self.chains, self.saved, self.again = chains, set(saved), again
        self.found: set = set()
        self.steps: list = []
        self.done: set = set()

    def step_for(self, v: Var) -> Any:
        """The step that makes a variable, None where it is there already."""
        if v in self.saved:
            return v
        if v in self.again:
            self.found.add(v)
            v = self.again[v]
        return self.chains.position(v)

    def needs(self, step: Any) -> list:
        used = list(extents_of([step])) if isinstance(step, Var) else reads(self.chains.equations[step])
        return [s for s in map(self.step_for, used) if s is not None]

    def reached(self, wanted: Iterable) -> set:
        """All steps that the wanted variables need."""
        waiting = [s for s in map(self.step_for, wanted) if s is not None]
        found = set(waiting)
        while waiting:
            more = [s for s in self.needs(waiting.pop()) if s not in found]
            found.update(more)
            waiting += more
        return found

    def visit(self, goal: object) -> None:
        """Take a step, after all that it needs."""
        path: list = []
        waiting: list[Iterator] = [iter([goal])]
        while waiting:
            step = next(waiting[-1], None)
            if step is None:
                waiting.pop()
                if path:
                    self.done.add(path[-1])
                    self.steps.append(path.pop())
            elif step in path:
                raise Cycle(path[path.index(step):])
            elif step not in self.done:
                path.append(step)
                waiting.append(iter(self.needs(step)))
