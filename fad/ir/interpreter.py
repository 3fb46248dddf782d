"""The interpreter runs a Func that stands alone on arrays. It drops each array after its last use.

An array that nobody else holds is written to where it lies. A copy for each write would make n² of the n writes of a
loop to an array of n elements, such as its tape. CPython counts who holds an array: a variable, a list of arguments, a
view of it. So every place here lets go of an array before it is used for the last time.
"""
import sys
from collections.abc import Callable, Sequence

import numpy as np

from ..util.patience import steps
from .graph import Equation, Func, Var, free_vars, is_branch
from .uses import defined_in, operands
from .walk import Environment, bind_outputs, note_place


class Interpreter:
    """Runs a Func. steps: its equations and those of its regions, each with the arrays that nothing uses afterwards:
    those to be dropped before it runs, which only the operation itself reads, and those to be dropped behind it.
    """

    def __init__(self, func: Func):
        self.func = func
        self.steps: dict[Func, list[tuple]] = {}                    # made by the first call

    def _note_last_uses(self, func: Func, own: set) -> None:
        """Note the last uses of the variables that are the Func's own to drop."""
        needed = {a for a in func.outputs if isinstance(a, Var)}
        found = []
        for eqn in reversed(func.equations):
            used = operands(eqn) + list(eqn.outputs)
            gone = [v for v in dict.fromkeys(used) if v in own and v not in needed and v.type.shape]
            needed.update(used)
            within = {v for region in eqn.regions for v in free_vars(region)}.union(eqn.outputs)
            found.append((eqn, [v for v in gone if v not in within], [v for v in gone if v in within]))
            for region in eqn.regions:                       # of branches one runs, once
                self._note_last_uses(region, defined_in(region).union(gone if is_branch(eqn) else ()))
        self.steps[func] = found[::-1]

    def __call__(self, values: Sequence) -> tuple:
        """The outputs on these values. Raises OutOfPatience between two equations, where it is time to."""
        if self.func not in self.steps:                      # it comes last: an interrupt may leave others
            self._note_last_uses(self.func, defined_in(self.func) - set(self.func.inputs))
        env = Environment()
        for var, value in zip(self.func.inputs, values, strict=True):
            env.bind_input(var, value)
        for eqn, before, behind in steps(self.steps[self.func]):
            self._step(eqn, before, behind, env)
        return tuple([env.read(a) for a in self.func.outputs])

    def region(self, region: Func, env: Environment) -> tuple:
        """The results of a region."""
        for eqn, before, behind in self.steps[region]:
            self._step(eqn, before, behind, env)
        return tuple([env.read(a) for a in region.outputs])

    def _step(self, eqn: Equation, before: list, behind: list, env: Environment) -> None:
        args = [env.read(a) for a in eqn.inputs]
        for var in before:
            env.drop(var)
        try:
            if eqn.regions:
                regions = tuple([_Region(self, r, env) for r in eqn.regions])
                results = eqn.op.run_regions(args, regions, **eqn.params)
            elif before and eqn.writes_part and _holders(args) == ONE and _is_whole(args[0]):
                results = eqn.op.facts["write"](*args, **eqn.params)
            else:
                results = eqn.op(*args, **eqn.params)
        except Exception as error:
            note_place(error, eqn)
            raise
        bind_outputs(eqn, results, env)
        for var in behind:
            env.drop(var)


class _Region:
    """A region as a function of its inputs, its free variables read from the environment."""

    def __init__(self, interpreter: Interpreter, func: Func, env: Environment):
        self.interpreter, self.func, self.env = interpreter, func, env

    def __call__(self, *args: object) -> tuple:
        return self.take(list(args))

    def take(self, args: list) -> tuple:
        """The results for a list of arguments, which is empty afterwards: only the region holds them."""
        env = Environment(self.env)
        args.reverse()
        for var in self.func.inputs:
            env[var] = args.pop()
        return self.interpreter.region(self.func, env)


def handed_over(args: list, region: Callable) -> list:
    """The arguments of a loop. The interpreter's list lets go of them: only its region is to hold them."""
    found = list(args)
    if isinstance(region, _Region):
        args.clear()
    return found


def results_of(region: Callable, args: list) -> list:
    """The results of a region; the interpreter's takes the arguments out of the list."""
    return list(region.take(args) if isinstance(region, _Region) else region(*args))


def _holders(args: list) -> int:
    """ONE if nobody holds the first argument but this list; 0 if it is no array."""
    return sys.getrefcount(args[0]) if type(args[0]) is np.ndarray else 0


def _is_whole(array: np.ndarray) -> bool:
    """Whether the array has memory of its own."""
    return array.flags.owndata and array.flags.writeable


ONE = _holders([np.empty(1)])
