"""Ctrl-C in long loops: compiled code that Python called asks, every so many turns, whether a signal has come.

Where the thread does not hold Python's lock (a worker thread, a caller with nogil=True) nothing is asked: PyGILState_Check says so
(https://docs.python.org/3/c-api/init.html). The exception that the signal's handler raised goes on to the caller.

    >>> interruptible(0)
    1
"""
from llvmlite import ir
from numba.core import cgutils, types

from fad.kernels.promotion import compiled_as

__all__ = ["interruptible"]

EVERY = 1 << 6


def interruptible(turns):
    """turns + 1; now and then, the handlers of signals that have come run first."""
    return turns + 1


def _emit(context, builder, sig, args):
    """Run the Python handlers of signals that have come; what one raises is raised here."""
    turns, word = args[0], args[0].type
    now = builder.icmp_signed("==", builder.and_(turns, word(EVERY - 1)), word(EVERY - 1))
    kind = ir.FunctionType(ir.IntType(32), [])
    holds, check = (cgutils.get_or_insert_function(builder.module, kind, f) for f in ("PyGILState_Check", "PyErr_CheckSignals"))
    for function in (holds, check):
        function.attributes.add("inaccessiblememonly")  # numbers read before the call are the same behind it
    with builder.if_then(now, likely=False), builder.if_then(cgutils.is_not_null(builder, builder.call(holds, []))):
        with builder.if_then(cgutils.is_not_null(builder, builder.call(check, [])), likely=False):
            context.call_conv.return_exc(builder)
    return builder.add(turns, word(1))


interruptible = compiled_as(interruptible, lambda *args: (types.int64, types.int64), _emit)
