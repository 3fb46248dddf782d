"""Python's lock (the GIL): compiled code gives it up while it runs, if it runs long enough.

A kernel touches Python's objects only as it begins (arguments) and as it ends (results). A thread that gives the lock
up may wait for milliseconds to have it back, so short kernels keep it, as NumPy's short loops do.
"""
import functools

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.callwrapper import PyCallWrapper

from fad.kernels import boxes

__all__ = ["Wrapper", "held", "held_for_a_while", "is_pythons_thread"]

LONG = 500  # steps; NumPy's loops give the lock up from here on
MANY = "the arrays have more elements than this call is for"
DEPTH, EXTENT = 4, 1 << 15  # larger counts would not fit in an integer


class Wrapper(PyCallWrapper):
    """Numba's wrapper that Python calls; it gives the lock up if the arguments are large for loops of this depth.

    Numba's dispatcher calls it once it knows the arguments' types. Who knows the types of all numbers may call it
    without, with an integer behind the arguments: a TypeError says that an array is none of the kernel's, a ValueError
    that the arrays have more elements together than this integer.
    """

    depth = 1

    def build_wrapper(self, api, builder, closure, args, kws):
        """Emit it."""
        self.limit = cgutils.alloca_once_value(builder, ir.Constant(api.pyobj, None))
        self.state = cgutils.alloca_once_value(builder, ir.Constant(api.voidptr, None))
        self.builder, self.sizes, self.extents = builder, [], []
        self.left = sum(isinstance(kind, types.Array) for kind in self.fndesc.argtypes)
        unpack, to_native, from_native = api.unpack_tuple, api.to_native_value, api.from_native_value
        save, restore = api.save_thread, api.restore_thread

        def save_thread():
            with builder.if_then(_is_long(builder, self.sizes, self.extents, min(self.depth, DEPTH))):
                builder.store(save(), self.state)

        def restore_thread(_):
            saved = builder.load(self.state)
            with builder.if_then(cgutils.is_not_null(builder, saved)):
                restore(saved)

        def as_python(kind, value, env_manager=None):
            return boxes.as_python(self.context, builder, api, env_manager, kind, value,
                                   lambda value: from_native(kind, value, env_manager))

        api.unpack_tuple = lambda args, name, least, most, *objs: unpack(args, name, least, most + 1, *objs, self.limit)
        api.to_native_value = lambda kind, obj: self.native_value(api, kind, obj, to_native)
        api.from_native_value, api.save_thread, api.restore_thread = as_python, save_thread, restore_thread
        self.release_gil = True
        super().build_wrapper(api, builder, closure, args, kws)

    def get_env(self, api, builder):
        """The manager of the kernel's constants that are objects."""
        self.env_manager = super().get_env(api, builder)
        return self.env_manager

    def native_value(self, api, kind, obj, by_numba):
        """Emit the value of an argument, and note how large it is."""
        builder = self.builder
        if isinstance(kind, types.Integer):
            native = by_numba(kind, obj)
            self.extents.append(self.context.cast(builder, native.value, kind, types.intp))
            return native
        if not isinstance(kind, types.Array):
            return by_numba(kind, obj)
        is_limited = cgutils.is_not_null(builder, builder.load(self.limit))
        native = boxes.as_native(self.context, builder, api, self.env_manager, kind, obj, lambda: by_numba(kind, obj),
                                 is_limited)
        array = self.context.make_array(kind)(self.context, builder, native.value)
        self.sizes.append(array.nitems)
        self.extents.extend(cgutils.unpack_tuple(builder, array.shape, kind.ndim))
        self.left -= 1
        if not self.left:
            native.is_error = self._or_too_large(api, native.is_error, is_limited)
        return native

    def _or_too_large(self, api, failed, is_limited):
        """Whether reading has failed, or the arrays have more elements together than they may."""
        builder = self.builder
        result = cgutils.alloca_once_value(builder, failed)
        with builder.if_then(builder.and_(is_limited, builder.not_(failed))):
            total = functools.reduce(builder.add, self.sizes)
            limit = api.long_as_longlong(builder.load(self.limit))
            with builder.if_then(builder.icmp_signed(">", total, builder.sext(limit, total.type)), likely=False):
                api.err_set_string("PyExc_ValueError", MANY)
                builder.store(cgutils.true_bit, result)
        return builder.load(result)


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
