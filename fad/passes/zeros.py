"""Arrays that are filled with one number, zeros above all."""
from collections.abc import Callable
from typing import Any

import numpy as np

from ..ir.absent import is_absent
from ..ir.graph import Atom, Literal


def is_number(a: Atom, value: float) -> bool:
    """Whether an atom is this number, written in the program."""
    return isinstance(a, Literal) and not isinstance(a.value, bool) and a.value == value


def adds_nothing(zero: Any, x: Atom) -> bool:
    """Whether x + zero is x, for a zero written in the program, to the sign of zeros: -0.0 + 0.0 is 0.0."""
    if not is_number(zero, 0):
        return False
    kinds = x.type.dtype.kind, zero.type.dtype.kind
    return kinds[0] in "biu" or is_absent(zero.value) or (kinds == ("f", "f") and bool(np.signbit(zero.value)))


def filling(a: Atom, definition: Callable) -> Any:
    """The number that fills an array; any other atom itself. definition(atom) is the equation behind it, or None."""
    made = definition(a)
    return made.inputs[0] if made is not None and made.op.name == "full" else a


def is_nothing(a: Atom, definition: Callable) -> bool:
    """Whether an array is zeros to which anything is added as if it were not there."""
    return adds_nothing(filling(a, definition), a)
