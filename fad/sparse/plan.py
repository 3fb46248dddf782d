"""A plan: pattern, colours and programs of a sparse derivative, for arguments of one kind."""
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse

from ..api.calls.leaves import leaf_key
from ..ir.graph import Func, Var
from ..ir.uses import operands
from ..trace.tracing import is_data
from ..util import tree
from ..util.errors import ArgumentError, NoDerivativeError, SideEffectError
from .colouring import colour_columns, colour_symmetric, count_of, is_read_in_column
from .pattern import Pattern
from .probing import find_pattern
from .sweeps import entries_of, sets_of

FORMATS = {"csr": scipy.sparse.csr_array, "csc": scipy.sparse.csc_array}
REVERSE = 2.0                                                # what a reverse sweep costs, in forward sweeps


class SparsePlan:
    """The facts of a derivative for arguments of one kind. `serves` says whether its pattern holds for other arguments
    of that kind."""

    def __init__(self, owner: Any, args: tuple, kwargs: dict, leaves: list):
        self.owner, self.what = owner, owner.what
        self.sizes = [np.size(x) for x in _wanted_leaves(args, self.what.chosen)]
        self.watched: list = []
        self.program: Any = None
        self._trace_sets(args, kwargs, leaves)
        self.pattern = (owner.given
                        or Pattern(find_pattern(self._sweep(args, kwargs), sum(self.heights), sum(self.sizes))))
        self._check_shape()
        self._colour(args, kwargs)

    # -- the pattern -------------------------------------------------------------------------------

    def _trace_sets(self, args: tuple, kwargs: dict, leaves: list) -> None:
        """Trace the sweeps of bit sets, and remember what else than shapes they depend on."""
        sets = [np.zeros(n, np.int64) for n in self.sizes]
        self.staged = sets_of(self.owner.f, self.what, len(sets))
        self.program, data = self.staged.program_for(*sets, *args, **kwargs)
        if self.program.traced.stores:
            raise SideEffectError(f"fad.{self.owner.name} of a function that changes something outside itself",
                                  why="the function would do so in the sweeps that find the pattern, too",
                                  do="return the new value, or use fad.jacobian")
        self.heights = [len(s) for s in self._sets(sets, args, kwargs)]
        if self.owner.given is not None:
            return
        func = self.program.runner.func
        used = _used(func)
        dynamic = [k for k, x in enumerate(leaves)
                   if leaf_key(k + len(sets), x, self.staged.varying, frozenset()) is not None]
        for k, var in enumerate(func.inputs[len(sets):]):
            if var not in used:
                continue
            if k < len(dynamic):
                self.watched.append((dynamic[k], np.array(leaves[dynamic[k]])))
            elif k < len(dynamic) + len(self.program.traced.captured):
                array = self.program.traced.captured[k - len(dynamic)]
                self.watched.append((array, np.array(array)))
            else:
                raise NoDerivativeError("the sparsity pattern depends on what is drawn anew at each call",
                                        do="draw before, and pass what is drawn")

    def _sets(self, sets: list, args: tuple, kwargs: dict) -> list:
        return self.staged(*sets, *args, **kwargs)

    def _sweep(self, args: tuple, kwargs: dict) -> Callable:
        """int64 sets of all columns -> those of all rows."""
        ends = np.cumsum(self.sizes)[:-1]

        def sweep(seeds: np.ndarray) -> np.ndarray:
            return np.concatenate([*self._sets(np.split(seeds, ends), args, kwargs), np.zeros(0, np.int64)])
        return sweep

    def serves(self, leaves: list) -> bool:
        """Whether what the pattern depends on is what it was."""
        if not self.program.is_current():
            return False
        return all(np.array_equal(leaves[at] if isinstance(at, int) else at, kept) for at, kept in self.watched)

    def _check_shape(self) -> None:
        wanted = (sum(self.heights), sum(self.sizes))
        if self.pattern.shape != wanted:
            raise ArgumentError(f"a pattern of shape {self.pattern.shape} for a matrix of shape {wanted}",
                                do="rows are the results' elements, columns those of the arguments, raveled")
        if self.what.is_hessian and not self.pattern.is_symmetric:
            if self.owner.given is not None:
                raise ArgumentError("the pattern of a Hessian that is not symmetric", do="give both triangles")
            self.pattern = Pattern(self.pattern.tocsr() + self.pattern.tocsr().T)

    # -- colours -----------------------------------------------------------------------------------

    def _colour(self, args: tuple, kwargs: dict) -> None:
        """Colours, the program that computes the entries, and its further arguments."""
        csr = self.pattern.tocsr()
        self.template = FORMATS[self.owner.format](csr.astype(float))
        coo = self.template.tocoo()
        rows, columns = (a.astype(np.int64) for a in coo.coords)
        if self.what.is_hessian:
            self._colour_symmetric(csr, rows, columns)
        else:
            self.colours, self.reverse = self._cheapest(csr, args, kwargs)
            self.read, self.seeded = (columns, rows) if self.reverse else (rows, columns)
        self.staged_entries = self._staged_entries(self.reverse)
        self._arrange()

    def _colour_symmetric(self, csr: object, rows: np.ndarray, columns: np.ndarray) -> None:
        self.colours, self.reverse = colour_columns(csr), False
        self.read, self.seeded = rows, columns
        stars = colour_symmetric(csr)
        if count_of(stars) < count_of(self.colours):
            mirrored = is_read_in_column(rows, columns, stars)
            self.colours = stars
            self.read, self.seeded = np.where(mirrored, columns, rows), np.where(mirrored, rows, columns)

    def _cheapest(self, csr: Any, args: tuple, kwargs: dict) -> "tuple[np.ndarray, bool]":
        """The colours of the columns or of the rows, whichever take less time; and whether it is the rows."""
        mode = self.owner.mode
        if mode == "reverse":
            return colour_columns(csr.T.tocsr()), True
        columns = colour_columns(csr)
        if mode == "forward":
            return columns, False
        is_cheap = count_of(columns) <= REVERSE
        rows = None if is_cheap else colour_columns(csr.T.tocsr())
        if (rows is None or REVERSE * count_of(rows) >= count_of(columns)) and self._has_forward(args, kwargs):
            return columns, False
        return (colour_columns(csr.T.tocsr()) if rows is None else rows), True

    def _has_forward(self, args: tuple, kwargs: dict) -> bool:
        """Whether forward mode has a rule for all that the function calls."""
        try:
            self._staged_entries(False).program_for(np.arange(3, dtype=np.int32),
                                                    *[np.zeros(n, np.int32) for n in self.sizes],
                                                    *[np.zeros(3, np.int64) for _ in self.heights], *args, **kwargs)
        except NoDerivativeError:
            return False
        return True

    def _staged_entries(self, reverse: bool) -> Any:
        return entries_of(self.owner.f, self.what, len(self.sizes), len(self.heights), reverse, self.owner.policy)

    def _arrange(self) -> None:
        """The arrays that the program takes: numbers of colours, the colour of each element, the place of each entry.
        """
        seeded, read = (self.heights, self.sizes) if self.reverse else (self.sizes, self.heights)
        colours = np.split(self.colours.astype(np.int32), np.cumsum(seeded)[:-1])
        places, self.order, first = [], [], 0
        for n in read:
            mine = np.flatnonzero((self.read >= first) & (self.read < first + n))
            places.append(self.colours[self.seeded[mine]] * n + self.read[mine] - first)
            self.order.append(mine)
            first += n
        self.given = [np.arange(count_of(self.colours), dtype=np.int32), *colours, *places]
        del self.read, self.seeded

    # -- calls -------------------------------------------------------------------------------------

    def matrix(self, args: tuple, kwargs: dict) -> Any:
        """The sparse derivative at these arguments."""
        if not len(self.given[0]):
            return self.template.copy()
        parts = self.staged_entries(*self.given, *args, **kwargs)
        made = object.__new__(type(self.template))            # copy.copy in a third of the time
        made.__dict__.update(self.template.__dict__)
        # copies, since SciPy may change them in place
        made.indices, made.indptr = self.template.indices.copy(), self.template.indptr.copy()
        made.data = parts[0] if len(parts) == 1 else self._joined(parts)
        return made

    def _joined(self, parts: list) -> np.ndarray:
        data = np.empty(self.pattern.nnz, np.result_type(*parts))
        for mine, part in zip(self.order, parts):
            data[mine] = part
        return data


def _used(func: Func) -> set:
    """The variables whose values a Func uses, and not their extents alone."""
    used = {a for a in func.outputs if isinstance(a, Var)}
    for eqn in func.equations:
        used.update(operands(eqn))
    return used


def _wanted_leaves(args: tuple, chosen: tuple) -> list:
    """The arrays and numbers that are differentiated."""
    found = []
    for k in chosen:
        if isinstance(k, int) and -len(args) <= k < len(args):
            found += [x for x in tree.flatten(args[k])[0] if is_data(x)]
    return found
