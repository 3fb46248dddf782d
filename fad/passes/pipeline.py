"""The pipeline: which passes run, in which order, and why in that order."""
from ..ir.graph import Func


def optimise(func: Func) -> Func:
    """The Func after all passes."""
    return func
