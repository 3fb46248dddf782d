"""Python's lock (the GIL): compiled code gives it up while it runs, if it runs long enough.

A kernel touches Python's objects only as it begins (arguments) and as it ends (results). A thread that gives the lock
up may wait for milliseconds to have it back, so short kernels keep it, as NumPy's short loops do.
"""
import functools

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.callwrapper import PyCallWrapper

__all__ = ["Wrapper", "held", "held_for_a_while", "is_pythons_thread"]

LONG = 500  # steps; NumPy's loops give the lock up from here on
DEPTH, EXTENT = 4, 1 << 15  # larger counts would not fit in an integer


class Wrapper(PyCallWrapper):
    """Numba's wrapper that Python calls; it gives the lock up if the arguments are large for loops of this depth."""

    depth = 1

    def build_wrapper(self, api, builder, closure, args, kws):
        """Emit it."""
        state = cgutils.alloca_once_value(builder, ir.Constant(api.voidptr, None))
        sizes, extents = [], []
        to_native, save, restore = api.to_native_value, api.save_thread, api.restore_thread

        def measured(kind, obj):
            native = to_native(kind, obj)
            if isinstance(kind, types.Array):
                array = self.context.make_array(kind)(self.context, builder, native.value)
                sizes.append(array.nitems)
                extents.extend(cgutils.unpack_tuple(builder, array.shape, kind.ndim))
            elif isinstance(kind, types.Integer):
                extents.append(self.context.cast(builder, native.value, kind, types.intp))
            return native

        def save_thread():
            with builder.if_then(_is_long(builder, sizes, extents, min(self.depth, DEPTH))):
                builder.store(save(), state)

        def restore_thread(_):
            saved = builder.load(state)
            with builder.if_then(cgutils.is_not_null(builder, saved)):
                restore(saved)

        api.to_native_value, api.save_thread, api.restore_thread = measured, save_thread, restore_thread
        self.release_gil = True
        super().build_wrapper(api, builder, closure, args, kws)


def _is_long(builder, sizes, extents, depth):
    """Whether the elements of all arrays, or the largest extent to the power of the depth, are many."""
    if not extents:
        return ir.Constant(ir.IntType(1), 0)
    word = extents[0].type
    total = functools.reduce(builder.add, sizes, word(0))
    largest = functools.reduce(functools.partial(_larger, builder), extents)
    clipped = builder.select(builder.icmp_signed("<", largest, word(EXTENT)), largest, word(EXTENT))
    clipped = _larger(builder, clipped, word(0))
    steps = functools.reduce(builder.mul, [clipped] * depth)
    return builder.icmp_signed(">=", _larger(builder, total, steps), word(LONG))


def _larger(builder, a, b):
    return builder.select(builder.icmp_signed(">", a, b), a, b)


def is_pythons_thread(builder):
    """Emit whether Python knows this thread, so that it may have the lock.

    A thread of Numba's own (prange) is none; it must not wait for a lock that is held by who waits for it.
    """
    kind = ir.FunctionType(ir.IntType(8).as_pointer(), [])
    known = _of_python(builder, kind, "PyGILState_GetThisThreadState")
    return cgutils.is_not_null(builder, builder.call(known, []))


def held(builder, emit):
    """Emit code that holds the lock, whether the thread has it already or not; only for threads that Python knows."""
    before = _ensure(builder)
    result = emit()
    _release(builder, before)
    return result


def held_for_a_while(builder, emit):
    """The same for code that can wait: a thread that has the lock lets others have it first.

    A kernel that turns out to be long may have begun with the lock.
    """
    state = ir.IntType(8).as_pointer()
    save = _of_python(builder, ir.FunctionType(state, []), "PyEval_SaveThread")
    restore = _of_python(builder, ir.FunctionType(ir.VoidType(), [state]), "PyEval_RestoreThread")
    before = _ensure(builder)
    with builder.if_then(cgutils.is_null(builder, before)):  # it had the lock
        builder.call(restore, [builder.call(save, [])])
    result = emit()
    _release(builder, before)
    return result


def _ensure(builder):
    return builder.call(_of_python(builder, ir.FunctionType(ir.IntType(32), []), "PyGILState_Ensure"), [])


def _release(builder, before):
    kind = ir.FunctionType(ir.VoidType(), [ir.IntType(32)])
    builder.call(_of_python(builder, kind, "PyGILState_Release"), [before])


def _of_python(builder, kind, name):
    function = cgutils.get_or_insert_function(builder.module, kind, name)
    function.attributes.add("inaccessiblememonly")  # numbers read before the call are the same behind it
    return function
