"""Ctrl-C in long loops, as generated code asks for it: see pauses.py for what is asked and when.

>>> interruptible(0)
1
"""

from numba.core import types

from fad.kernels.pauses import emit_pause, interruptible, new_clock, record_of
from fad.kernels.promotion import compiled_as

__all__ = ["interruptible"]


def _emit(context, builder, sig, args):
    return emit_pause(context, builder, args[0], new_clock(builder), record_of(context, builder, ()), ())


compiled_as(interruptible, lambda *args: (types.int64, types.int64), _emit)
