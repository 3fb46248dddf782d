"""The pipeline: which passes run, in which order, and why in that order."""
from collections.abc import Callable, Iterable

from ..ir.check import check
from ..ir.graph import Func, free_vars
from ..util.config import config
from ..util.errors import CheckError
from .cancels import without_cancelling
from .common_factors import common_factors
from .copy_elision import elide_copies
from .cse import cse
from .dce import dce
from .dead_initialisation import drop_dead_initialisation
from .factor_sums import factor_sums
from .fold import fold
from .gathers import hoist_gathers
from .hoist_checks import hoist_checks
from .hoist_reads import hoist_reads
from .inline import inline
from .invariant_carries import drop_invariant_carries
from .legalisation import legalise
from .licm import licm
from .loop_distribution import distribute
from .loop_reversal import reverse_loops
from .overflow import overflow
from .raise_products import raise_products
from .read_before_write import read_before_write
from .rematerialise import rematerialise
from .scalar_promotion import promote_sums
from .scalar_replacement import replace_aggregates
from .scatter_to_gather import scatter_to_gather
from .simplify import simplify
from .splits import split_early
from .transposes import hoist_transposes

Pass = Callable[[Func], Func]

PIPELINE: tuple[Pass, ...] = (
    inline,              # no derivative will be asked for any more
    overflow,            # as the user wrote it: a folded equation has lost its operands
    split_early, hoist_gathers, raise_products,   # while all that is computed is still in one piece
    dce,                 # the reverse sweep leaves much dead code; less to look at below
    drop_invariant_carries,           # seeds of the reverse sweep are numbers in its loops, too
    fold, simplify,      # numbers first: identities look for them
    drop_invariant_carries,           # sums with zero were in the way
    cse, simplify,       # equal values are one variable now, which identities (x - x's extents, where(c, x, x)) see
    factor_sums, common_factors,   # nothing is computed twice, nothing is dead: who reads what is known
    hoist_transposes,    # of what nobody else reads
    licm, hoist_checks, cse,   # a hoisted equation may equal one in front of the loop
    dce,                 # equations that the identities left without use
)


AFTER_REPLACEMENT: tuple[Pass, ...] = (fold, simplify, cse, simplify, licm, cse, dce)
LOOPS: tuple[Pass, ...] = (reverse_loops, hoist_reads, promote_sums, drop_dead_initialisation, elide_copies,
                           scatter_to_gather, distribute, read_before_write)


def prepared(func: Func) -> Func:
    """The Func as the backend takes it.

    All ops have a kernel. Small arrays of loops are scalars, and so are elements that a loop reads or adds to at one
    place. Sums run in the order of memory. Arrays are read before they are written to.
    """
    func = through((legalise,), func)
    new = through((replace_aggregates,), func)
    return through((*LOOPS, rematerialise), new if new is func else through(AFTER_REPLACEMENT, new))


def rearranged(func: Func) -> Func:
    """The Func rearranged for transforms: its derivatives need less work then, and so does the program."""
    return through((split_early, hoist_gathers, raise_products, without_cancelling), func)


def optimise(func: Func) -> Func:
    """The Func after all passes, in order."""
    return through(PIPELINE, func)


def through(passes: Iterable[Pass], func: Func) -> Func:
    """The Func after these passes; each is checked where the configuration says so."""
    checked = config.check_trace
    outer = free_vars(func) if checked else ()               # a pass adds none
    for run in passes:
        before, func = func, run(func)
        if checked and func is not before:
            _check_after(run, func, outer)
    return func


def _check_after(run: Pass, func: Func, outer: Iterable) -> None:
    try:
        check(func, outer)
    except CheckError as error:
        raise CheckError(f"after the pass {run.__name__}, {error}") from error
