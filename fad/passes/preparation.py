"""The passes that prepare an optimised program for the backend. Programs that are interpreted do not load them."""
from ..ir.graph import Func
from . import pipeline
from .copy_elision import elide_copies
from .cse import cse
from .dce import dce
from .dead_initialisation import drop_dead_initialisation
from .dead_stores import drop_dead_stores
from .edge_additions import add_edges
from .element_windows import rotate_elements
from .fold import fold
from .guarded_sums import guard_sums
from .hoist_reads import hoist_reads
from .known_bounds import drop_guards
from .legalisation import legalise
from .licm import licm
from .loop_distribution import distribute
from .loop_reversal import reverse_loops
from .merge_axes import merge_axes
from .packing import pack_columns
from .private_carries import privatise_carries
from .read_before_write import read_before_write
from .rematerialise import rematerialise
from .scalar_promotion import promote_sums
from .scalar_replacement import replace_aggregates
from .scatter_to_gather import scatter_to_gather
from .searches import split_searches
from .simplify import simplify
from .slice_additions import slice_additions

AFTER_REPLACEMENT: tuple[pipeline.Pass, ...] = (fold, simplify, cse, simplify, licm, cse, dce)
LOOPS: tuple[pipeline.Pass, ...] = (
    reverse_loops, hoist_reads, promote_sums, drop_dead_initialisation, privatise_carries, elide_copies, pack_columns,
    slice_additions, add_edges, scatter_to_gather, drop_dead_stores, rotate_elements, distribute, read_before_write)


def prepared(func: Func) -> Func:
    """The Func as the backend takes it.

    All ops have a kernel. Products of stacks that are products of matrices are written as such. Small arrays of loops
    are scalars, and so are elements that a loop reads or adds to at one place. Sums run in the order of memory. Arrays
    are read before they are written to.
    """
    func = _tidied((legalise,), func, (cse,))                          # values and their derivative sort once
    func = _tidied((merge_axes,), func, (cse, simplify, dce))          # reshapes meet reshapes
    func = _tidied((replace_aggregates,), func, AFTER_REPLACEMENT)
    func = _tidied((*LOOPS, drop_guards), func, (fold, simplify, licm, cse))  # guards of neighbouring loops are alike
    func = _tidied((split_searches,), func, (cse,))                    # bounds of places have been used
    return _tidied((guard_sums,), pipeline.through((rematerialise,), func), (dce,))


def _tidied(passes: tuple[pipeline.Pass, ...], func: Func, after: tuple[pipeline.Pass, ...]) -> Func:
    """The Func after these passes, and after others if they have changed it."""
    new = pipeline.through(passes, func)
    return new if new is func else pipeline.through(after, new)
