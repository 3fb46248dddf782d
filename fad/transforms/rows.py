"""The rows of a block (see blocks.py): the values that its iterations save, computed again, a row an iteration.

An array that is a version of the one before (versions.py) is computed from the row before it. Any other array is put in
its row once it is made and read from there, so that the carry may be overwritten without a copy.
"""
from typing import Any

from ..ir.build import Value, current
from ..ir.graph import Atom, Var, extents_of
from ..ir.types import INT
from ..ir.walk import Environment
from ..ops.choice import cast
from ..ops.control import FOR
from ..ops.index import index_add, update
from ..util.array import AnyArray, ArrayOrNumber, Extent
from .save_or_recompute import live
from .tape import Iterations, Padded, Tape, is_fixed, keeper_of


class BlockRows:
    """blocks: those it belongs to; width: of the rows of vectors; first, end: the numbers of the block's first
    iteration and of the one behind its last.
    """

    def __init__(self, blocks: Any, width: dict, first: AnyArray, end: Extent):
        self.blocks, self.again, self.division, self.first, self.end = blocks, blocks.again, blocks.division, first, end
        versions = self.again.versions
        represented = [self.division.joint.carries[version.place].atom for version in versions.values()]
        self.carried = [v for v in blocks.state if v not in represented]
        others = [v for v in self.again.arrays if v not in versions]
        self.spare = bool(others)  # every iteration runs then; the last one leaves one more version
        iterations = Iterations(self.again.iterations + self.spare, bounded(blocks.index(first)),
                                *blocks.iterations[2:])
        own = iterations._replace(count=bounded(end - first))

        def keeper(v: Var, _: Iterations) -> Any:
            if v in width:
                return Padded(v, iterations.count, width[v])
            # places are known for iterations that happen
            return keeper_of(v, iterations if is_fixed(v, current()) else own)
        self.versions = Tape(list(versions), iterations, blocks.lines, keeper)
        self.others = Tape(others, iterations, blocks.lines, keeper)
        equations, wanted = self.division.equations, set(self.again.equations)
        known = {k for version in versions.values() for k in (*version.skipped, version.maker)}
        self.before = sorted(live(equations, extents_of(self.again.arrays)) & wanted)
        self.makers = sorted(live(equations, self.versions.variables) & wanted)
        self.first_of_all = sorted((live(equations, others, self.versions.variables) & wanted) - known)
        self.rest = sorted(wanted - known - {*self.first_of_all})

    def fill(self, state: dict) -> None:
        """Compute all rows; state: the carried arrays with which the block begins."""
        env, n = self.blocks.environment(self.first), len(self.carried)
        env.update(state)
        self.division.run(self.makers, env)
        m = n + len(self.versions.init)
        begun = self.versions.push(self.versions.init, tuple([env.read(v) for v in self.versions.variables]), 0)
        end = self.end if self.spare else self.end - 1
        results = FOR.run_regions([self.first, end, 1, *[state[v] for v in self.carried], *begun, *self.others.init],
                                  (lambda k, *values: self._iteration(k, values[:n], values[n:m], values[m:]),))
        self.versions.start_reverse(list(results[n:m]))
        self.others.start_reverse(list(results[m:]))

    def read(self, v: Atom, k: AnyArray, env: Environment) -> ArrayOrNumber:
        """The value that iteration number k saves under this name."""
        tape = self.versions if v in self.again.versions else self.others
        return tape.reader([], bounded(k - self.first))(tape.variables.index(v), env)

    def _iteration(self, k: AnyArray, carried: tuple, versions: tuple, others: tuple) -> list:
        row, env = bounded(k - self.first), self.blocks.environment(k)
        env.update(zip(self.carried, carried))
        self.division.run(self.before, env)
        self.versions.start_reverse(list(versions))
        env.update([(v, self.read(v, k, env)) for v in self.versions.variables])
        self.division.run(self.first_of_all, env)
        made = self.others.push(list(others), tuple([env.read(v) for v in self.others.variables]), row)
        self.others.start_reverse(made)
        env.update([(v, self.read(v, k, env)) for v in self.others.variables])
        self.division.run(self.rest, env)
        places = [k for k in self.again.state if self.division.joint.carries[k].atom in self.carried]
        variables = self.versions.variables
        following = self.versions.each(list(versions),
                                       lambda keeper, own, j: self._next(keeper, own, variables[j], env, row))
        return self.division.outputs(env, places) + following + made

    def _next(self, keeper: Any, own: list, v: Var, env: Environment, row: ArrayOrNumber) -> list:
        """The rows of an array with its version after this iteration in the next row."""
        version = self.again.versions[v]
        if version.maker is None:
            (x,) = [env.read(v)] if version.pieces else self.division.outputs(env, [version.place])
            own = keeper.push(own, x, row + 1)
        for piece in version.pieces:
            x, place = env.read(piece.value), (row + 1, *[env.read(a) for a in piece.operands])
            if version.maker is not None and piece.adds:
                x = env.read(v) + x
            write = index_add if version.maker is None and piece.adds else update
            own = [write(own[0], x, *place, spec=("i", *piece.spec), at=0)]
        return own


def bounded(n: object) -> Any:
    """An integer that needs no check for 64 bits, nor does what follows from it: it counts places of a tape in memory.
    """
    return cast(n, dtype=INT) if isinstance(n, Value) else n
