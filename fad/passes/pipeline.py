"""The pipeline: which passes run, in which order, and why in that order.

preparation.py has the passes that run after these, before code is generated.
"""
from collections.abc import Callable, Iterable

from ..ir.check import check, check_order
from ..ir.graph import Func, free_vars
from ..util.config import config
from ..util.errors import CheckError
from .cancels import without_cancelling
from .common_factors import common_factors
from .cse import cse, cse_of_integers
from .dce import dce
from .equal_carries import join_equal_fills
from .factor_sums import factor_sums
from .fold import fold
from .gathers import hoist_gathers
from .hoist_checks import hoist_checks
from .hoist_reads import hoist_reads_of_carries
from .induction import substitute_inductions
from .inline import inline
from .invariant_carries import drop_invariant_carries
from .known_conditions import known_conditions
from .licm import licm
from .overflow import overflow
from .raise_products import raise_products
from .simplify import simplify
from .sink_assignments import sink_assignments
from .splits import split_early
from .summed_arrays import sum_at_once
from .transposes import hoist_transposes

Pass = Callable[[Func], Func]

PIPELINE: tuple[Pass, ...] = (
    inline,              # no derivative will be asked for any more
    overflow,            # as the user wrote it: a folded equation has lost its operands
    split_early, hoist_gathers, raise_products,   # while all that is computed is still in one piece
    dce,                 # the reverse sweep leaves much dead code; less to look at below
    drop_invariant_carries,           # seeds of the reverse sweep are numbers in its loops, too
    substitute_inductions,
    fold, simplify,      # numbers first: identities look for them
    drop_invariant_carries,           # sums with zero were in the way
    cse, known_conditions, fold,
    simplify,            # equal values are one variable now, which identities (x - x's extents, where(c, x, x)) see
    drop_invariant_carries,           # a branch may yield what is computed in front of it
    join_equal_fills,    # values that are read and then saved are one variable now
    factor_sums, common_factors,   # nothing is computed twice, nothing is dead: who reads what is known
    sum_at_once,         # what is added to a row is one product of a sum then
    hoist_transposes,    # of what nobody else reads
    licm, hoist_checks, cse,   # a hoisted equation may equal one in front of the loop
    dce,                 # equations that the identities left without use
)


def rearranged(func: Func) -> Func:
    """The Func rearranged for transforms: its derivatives need less work then, and so does the program."""
    return through((split_early, hoist_gathers, raise_products, without_cancelling, licm, cse_of_integers,
                    hoist_checks, hoist_reads_of_carries, sink_assignments), func)


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
            _check_after(run, func, before, outer)
    return func


def _check_after(run: Pass, func: Func, before: Func, outer: Iterable) -> None:
    try:
        check(func, outer)
        check_order(func, before)
    except CheckError as error:
        raise CheckError(f"after the pass {run.__name__}, {error}") from error
