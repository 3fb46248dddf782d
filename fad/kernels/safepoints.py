"""Ctrl-C in long loops: some times a second, compiled code asks whether a signal has come.

Between the strips of a loop (strip_mining.py) it looks at a coarse clock. When the clock has moved, it takes Python's
lock (gil.py) and runs the handlers. An exception of a handler goes on to the caller. A handler may do anything: if it
has resized an array that the code works on, the code raises an error, since the memory is gone.
"""
import contextlib
import ctypes
import functools
import sys

from llvmlite import ir
from numba.core import cgutils
from numba.core.callconv import RETCODE_EXC, RETCODE_USEREXC

from fad.kernels import error_paths, parts
from fad.kernels.c_symbols import bind
from fad.kernels.gil import held_for_a_while, is_pythons_thread

__all__ = ["emit_pause", "new_clock", "record_of", "watch"]

COARSE = {"linux": 6, "darwin": 5}  # CLOCK_MONOTONIC_COARSE, CLOCK_MONOTONIC_RAW_APPROX: read in nanoseconds
WORD, INT, BYTE = ir.IntType(64), ir.IntType(32), ir.IntType(8).as_pointer()
TIME = ir.LiteralStructType([WORD, WORD])
NOTHING, RAISED = error_paths.ERROR(None), WORD(1).inttoptr(error_paths.ERROR)
TICKS = "fad.ticks"  # of Windows: milliseconds since it was started
if sys.platform == "win32":
    bind(TICKS, ctypes.cast(ctypes.windll.kernel32.GetTickCount64, ctypes.c_void_p).value)
TELLS = "an array was resized, by the handler of a signal, while compiled code was working on it"


def new_clock(builder):
    """A place for what the clock said last: one for each function."""
    return cgutils.alloca_once(builder, WORD)                # it is zero where the function begins


def record_of(context, builder, arrays):
    """A record of these arrays, pairs of type and value, made where the function begins: their number; for each its
    rank, its place in Python, its place in memory and its extents.

    Loops hold one pointer to it. Values that they held for the sake of a rare call made some loops half as slow again.
    """
    known = [WORD(len(arrays))]
    with builder.goto_entry_block():
        record = builder.alloca(WORD, WORD(1 + sum(3 + kind.ndim for kind, _ in arrays)))
    # a truth value among the arguments is unpacked by a branch: the arrays behind it are known in a later block only
    known_in = arrays[-1][1].parent if arrays else builder.function.entry_basic_block
    with builder.goto_block(known_in):
        for kind, value in arrays:  # no struct proxy: it has a place, and leaves the builder behind the block's end
            field = functools.partial(context.data_model_manager[kind].get, builder, value)
            places = [builder.ptrtoint(field(name), WORD) for name in ("parent", "data")]
            known += [WORD(kind.ndim), *places, *cgutils.unpack_tuple(builder, field("shape"), kind.ndim)]
        for k, word in enumerate(known):
            builder.store(word, builder.gep(record, [WORD(k)]))
    return record


def emit_pause(context, builder, clock, record, release):
    """Emit a look at the clock, in a function that has a record of its arguments.

    release() emits what the function lets go of before it ends with an error.
    """
    error = builder.call(_pause(context, builder.module), [clock, record])
    with builder.if_then(cgutils.is_not_null(builder, error), likely=False):
        release()
        is_raised = builder.icmp_unsigned("==", error, RAISED)
        error_paths.raise_error(context, builder, error, builder.select(is_raised, RETCODE_EXC, RETCODE_USEREXC))


@contextlib.contextmanager
def watch(context, builder, record):
    """A context in which the call of a helper is emitted: the helper's pauses know only the arrays that it is given."""
    count = _handled(context, builder.module)
    before = builder.load(count)
    yield
    with builder.if_then(builder.icmp_signed("!=", builder.load(count), before), likely=False):
        error = builder.call(_sizes(context, builder.module), [record])
        with builder.if_then(cgutils.is_not_null(builder, error), likely=False):
            error_paths.raise_error(context, builder, error)


_handled = parts.counter("handled")                          # how often handlers have run in pauses


@parts.part("sizes", ir.FunctionType(error_paths.ERROR, [WORD.as_pointer()]))
def _sizes(context, builder, function):
    """sizes(record): null, or the error that an array is not what it was."""
    record, one = function.args[0], WORD(1)
    error = error_paths.error_of(context, builder, RuntimeError, TELLS)
    at = cgutils.alloca_once_value(builder, builder.gep(record, [one]))
    with cgutils.for_range(builder, builder.load(record)):
        here = builder.load(at)
        rank, parent, place = (builder.load(builder.gep(here, [WORD(k)])) for k in range(3))
        extents = builder.gep(here, [WORD(3)])
        _check_size(builder, builder.inttoptr(parent, BYTE), place, rank, extents, error)
        builder.store(builder.gep(extents, [rank]), at)
    builder.ret(NOTHING)


@parts.part("pause", ir.FunctionType(error_paths.ERROR, [WORD.as_pointer()] * 2))
def _pause(context, builder, function):
    """pause(clock, record): null, an error, or RAISED: it is Python's already.

    It stands apart so that the loop that calls it holds as little as can be.
    """
    clock, record = function.args
    time, before = _time(builder), builder.load(clock)
    builder.store(time, clock)
    moved = builder.and_(builder.icmp_signed("!=", time, before), cgutils.is_not_null(builder, before))
    with builder.if_then(moved), builder.if_then(is_pythons_thread(builder)):
        check = cgutils.get_or_insert_function(builder.module, ir.FunctionType(INT, []), "PyErr_CheckSignals")
        check.attributes.add("inaccessiblememonly")
        raised = held_for_a_while(builder, lambda: builder.call(check, []))
        count = _handled(context, builder.module)
        builder.store(builder.add(builder.load(count), WORD(1)), count)
        with builder.if_then(cgutils.is_not_null(builder, raised)):
            builder.ret(RAISED)
        builder.ret(builder.call(_sizes(context, builder.module), [record]))
    builder.ret(NOTHING)


def _check_size(builder, parent, place, rank, extents, error):
    """Return the error unless Python's array has this place and these extents still. An array that compiled code has
    made is not one of Python's.
    """
    with builder.if_then(cgutils.is_not_null(builder, parent)):
        _unless(builder, builder.icmp_signed("==", _field(builder, parent, 8, INT), builder.trunc(rank, INT)), error)
        _unless(builder, builder.icmp_signed("==", _field(builder, parent, 0, WORD), place), error)
        now = builder.inttoptr(_field(builder, parent, 16, WORD), WORD.as_pointer())
        with cgutils.for_range(builder, rank) as loop:
            extent = builder.load_atomic(builder.gep(now, [loop.index]), "monotonic", 8)
            _unless(builder, builder.icmp_signed("==", extent, builder.load(builder.gep(extents, [loop.index]))), error)


def _unless(builder, same, error):
    with builder.if_then(builder.not_(same)):
        builder.ret(error)


def _time(builder):
    """Emit a number, never 0, that moves about fifteen times a second (on systems of another kind: once)."""
    if sys.platform == "win32":
        ticks = cgutils.get_or_insert_function(builder.module, ir.FunctionType(WORD, []), TICKS)
        return builder.or_(builder.lshr(builder.call(ticks, []), WORD(6)), WORD(1 << 62))
    ticking = COARSE.get(sys.platform)
    if ticking is None:
        time = cgutils.get_or_insert_function(builder.module, ir.FunctionType(WORD, [BYTE]), "time")
        return builder.or_(builder.call(time, [ir.Constant(BYTE, None)]), WORD(1 << 62))
    place = cgutils.alloca_once(builder, TIME)
    kind = ir.FunctionType(INT, [INT, BYTE])
    read = cgutils.get_or_insert_function(builder.module, kind, "clock_gettime")
    read.attributes.add("inaccessiblemem_or_argmemonly")
    builder.call(read, [INT(ticking), builder.bitcast(place, BYTE)])
    seconds, rest = (builder.load(cgutils.gep_inbounds(builder, place, 0, k)) for k in range(2))
    return builder.or_(builder.add(builder.shl(seconds, WORD(4)), builder.lshr(rest, WORD(26))), WORD(1 << 62))


def _field(builder, array, offset, kind):
    """A field behind the head of Python's array: its data, rank, extents (PyArrayObject_fields in
    numpy/ndarraytypes.h).
    """
    return _read(builder, builder.bitcast(array, BYTE), object.__basicsize__ + offset, kind)


def _read(builder, start, offset, kind):
    """A number in memory that somebody else may have changed."""
    place = builder.bitcast(builder.gep(start, [WORD(offset)]), kind.as_pointer())
    return builder.load_atomic(place, "monotonic", kind.width // 8)
