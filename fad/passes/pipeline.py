"""The pipeline: which passes run, in which order, and why in that order."""
from collections.abc import Callable, Iterable

from ..ir.check import check
from ..ir.graph import Func, free_vars
from ..util.config import config
from ..util.errors import CheckError
from .scalar_promotion import accumulate
from .loop_reversal import ascend
from .cancels import without_cancelling
from .cse import cse
from .dce import dce
from .copy_elision import destinations
from .read_before_write import early
from .legalisation import expand
from .fold import fold
from .gathers import hoist_gathers
from .hoist_checks import hoist_checks
from .hoist_reads import hoist_reads
from .inline import inline
from .licm import licm
from .overflow import overflow
from .dead_initialisation import overwrite
from .scalar_replacement import scalarise
from .simplify import simplify
from .splits import split_early
from .scatter_to_gather import stencils
from .invariant_carries import unchanged

Pass = Callable[[Func], Func]

PIPELINE: tuple[Pass, ...] = (
    inline,              # no derivative will be asked for any more
    overflow,            # as the user wrote it: a folded equation has lost its operands
    split_early, hoist_gathers,   # while all that is computed is still in one piece
    dce,                 # the reverse sweep leaves much dead code; less to look at below
    unchanged,           # seeds of the reverse sweep are numbers in its loops, too
    fold, simplify,      # numbers first: identities look for them
    unchanged,           # sums with zero were in the way
    cse, simplify,       # equal values are one variable now, which identities (x - x's extents, where(c, x, x)) see
    licm, hoist_checks, cse,   # a hoisted equation may equal one in front of the loop
    dce,                 # equations that the identities left without use
)


AFTER_SCALARISE: tuple[Pass, ...] = (fold, simplify, cse, simplify, licm, cse, dce)
LOOPS: tuple[Pass, ...] = (ascend, hoist_reads, accumulate, overwrite, destinations, stencils, early)


def prepared(func: Func) -> Func:
    """The Func as the backend takes it.

    All ops have a kernel. Small arrays of loops are scalars, and so are elements that a loop reads or adds to at one
    place. Sums run in the order of memory. Arrays are read before they are written to.
    """
    func = through((expand,), func)
    new = through((scalarise,), func)
    return through(LOOPS, new if new is func else through(AFTER_SCALARISE, new))


def rearranged(func: Func) -> Func:
    """The Func rearranged for transforms: its derivatives need less work then, and so does the program."""
    return through((split_early, hoist_gathers, without_cancelling), func)


def optimise(func: Func) -> Func:
    """The Func after all passes, in order."""
    return through(PIPELINE, func)


def through(passes: Iterable[Pass], func: Func) -> Func:
    """The Func after these passes; each is checked where the configuration says so."""
    checked = config.check_trace
    outer = free_vars(func) if checked else ()               # a pass adds none
    for run in passes:
        func = run(func)
        if checked:
            _check_after(run, func, outer)
    return func


def _check_after(run: Pass, func: Func, outer: Iterable) -> None:
    try:
        check(func, outer)
    except CheckError as error:
        raise CheckError(f"after the pass {run.__name__}, {error}") from error
