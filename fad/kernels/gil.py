"""Python's lock (the GIL): compiled code gives it up while it runs, if it runs long enough.

A kernel touches Python's objects only as it begins (arguments) and as it ends (results). A thread that gives the lock
up may wait for milliseconds to have it back, so short kernels keep it, as NumPy's short loops do.
"""
from llvmlite import ir
from numba.core import cgutils

__all__ = ["held", "held_for_a_while", "is_pythons_thread"]

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
