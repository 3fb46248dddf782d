"""Arrays that grow, and the question whether memory is left for more.

Loops of unknown length keep the values for their reverse sweep on such arrays (stacks).

    >>> resized(np.array([1.0, 2.0]), 3)
    array([1., 2., 0.])
    >>> room_for(1000)
    True
"""
import importlib
import sys

import numpy as np
from numba.core import cgutils, types

from fad.kernels.gil import held_for_a_while, is_pythons_thread
from fad.kernels.memory import blank, viewed
from fad.kernels.promotion import compiled_as, emit_python, inner

__all__ = ["resized", "room_for"]

SMALL = 1 << 26
UNKNOWN = (1 << 62) - 1


def room_for(count):
    """Whether so many bytes fit in the available memory; small amounts are not checked."""
    return count < SMALL or count < _available()


def _available():
    """The answer of fad.util.memory, if it is at hand (an exported module does without)."""
    try:
        return importlib.import_module("fad.util.memory").available()
    except ImportError:
        return sys.maxsize


def _emit_room_for(context, builder, sig, args):
    """count < fad.util.memory.available(), asked where count is not small and Python knows the thread; else true."""
    found = cgutils.alloca_once_value(builder, context.get_constant(types.int64, UNKNOWN))
    is_large = builder.icmp_signed(">=", args[0], args[0].type(SMALL))
    with builder.if_then(is_large, likely=False), builder.if_then(is_pythons_thread(builder)):
        module = context.insert_const_string(builder.module, "fad.util.memory")
        held_for_a_while(builder, lambda: _ask(context.get_python_api(builder), builder, module, found))
    return builder.icmp_signed("<", args[0], builder.load(found))


def _ask(python, builder, name, found):
    """Emit the call; whatever goes wrong in it changes nothing."""
    module = python.import_module(name)
    with builder.if_then(cgutils.is_not_null(builder, module)):
        answer = python.call_method(module, "available")
        with builder.if_then(cgutils.is_not_null(builder, answer)):
            builder.store(python.long_as_longlong(answer), found)
            python.decref(answer)
        python.decref(module)
    python.err_clear()


room_for = compiled_as(room_for, lambda *args: (types.boolean, types.int64), _emit_room_for)
NO_ROOM = "what a loop saves for its reverse sweep does not fit in memory"


def resized(x, n):
    """x with n elements along its first axis: cut off, or with zeros behind; x itself if it has n. Raises MemoryError
    if they do not fit in memory.

    >>> x = np.arange(3)
    >>> resized(x, 3) is x, resized(x, 2)
    (True, array([0, 1]))
    """
    if x.shape[0] == n:
        return x
    if not room_for(n * (x.size // max(x.shape[0], 1)) * x.itemsize):
        raise MemoryError(NO_ROOM)
    y = np.zeros((n,) + x.shape[1:], x.dtype)
    kept = min(n, x.shape[0])
    y[:kept] = x[:kept]
    return y


@inner(lambda x, n: x)
def _copied(x, n):
    """A copy of x with n elements along its first axis."""
    if not room_for(n * x.strides[0]):
        raise MemoryError(NO_ROOM)
    y = blank((n,) + x.shape[1:], x.dtype)
    new, old = viewed(y, (y.size,)), viewed(x, (x.size,))
    kept = old.size if old.size < new.size else new.size
    for k in range(kept):
        new[k] = old[k]
    for k in range(kept, new.size):
        new[k] = 0
    return y


def _resized(x, n):
    return x if x.shape[0] == n else _copied(x, n)


resized = compiled_as(resized, lambda x, n: (x, x, types.intp), emit_python(_resized))
