"""debug_print: text with values in it, printed each time that the program gets there."""
import numpy as np

from ..ir.op import Op
from ..ir.traits import Traits
from ..util.array import ArrayOrNumber
from .kinds import Zero


def _run(*values: ArrayOrNumber, text: str) -> tuple:
    print(text.format(*[np.asarray(value)[()] for value in values]))
    return ()


debug_print = Op("debug_print", _run, lambda *values, text: (), kind="opaque", derivative=Zero(), effect=True,
                 creation=True, kernel="debug_print", kernel_params=("text",),
                 params_lead=True, traits=Traits(tells=True),
                 doc="Prints a text with the values in the place of its fields")
