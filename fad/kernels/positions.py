"""The position of the next draw, which there is once this one was made (see draws.py)."""
from llvmlite import ir
from numba.core import types

from fad.kernels.promotion import compiled_as

__all__ = ["next_position"]


def next_position(position, value):
    """The position behind this one, at which the value was drawn."""
    return position + 1


def _rule(position, value):
    return types.int64, types.int64, types.unliteral(value)


def _emit(context, builder, sig, args):
    return builder.add(args[0], ir.IntType(64)(1))


compiled_as(next_position, _rule, _emit)
