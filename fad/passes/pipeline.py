"""The pipeline: which passes run, in which order, and why in that order."""
from collections.abc import Callable

from ..ir.graph import Func
from .accumulate import accumulate
from .ascend import ascend
from .cancels import without_cancelling
from .cse import cse
from .dce import dce
from .destinations import destinations
from .early import early
from .expand import expand
from .fold import fold
from .gathers import hoist_gathers
from .hoist_checks import hoist_checks
from .hoist_reads import hoist_reads
from .inline import inline
from .licm import licm
from .overflow import overflow
from .overwrite import overwrite
from .scalarise import scalarise
from .simplify import simplify
from .splits import split_early
from .stencils import stencils
from .unchanged import unchanged

PIPELINE: tuple[Callable[[Func], Func], ...] = (
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


AFTER_SCALARISE: tuple[Callable[[Func], Func], ...] = (fold, simplify, cse, simplify, licm, cse, dce)


def prepared(func: Func) -> Func:
    """The Func as the backend takes it.

    All ops have a kernel. Small arrays of loops are scalars, and so are elements that a loop reads or adds to at one
    place. Sums run in the order of memory. Arrays are read before they are written to.
    """
    func = expand(func)
    new = scalarise(func)
    for run in AFTER_SCALARISE if new is not func else ():
        new = run(new)
    for run in (ascend, hoist_reads, accumulate, overwrite, destinations, stencils, early):
        new = run(new)
    return new


def rearranged(func: Func) -> Func:
    """The Func rearranged for transforms: its derivatives need less work then, and so does the program."""
    return without_cancelling(hoist_gathers(split_early(func)))


def optimise(func: Func) -> Func:
    """The Func after all passes, in order."""
    for run in PIPELINE:
        func = run(func)
    return func
