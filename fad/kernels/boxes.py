"""Arrays on their way between Python and kernels.

    direction       by Numba                                    here                            nanoseconds
    to a kernel     a reference to the array, counted anew      what the array's fields say     40 -> 5
    back            an array on Numba's memory, its .base       up to SMALL: NumPy's own copy   450 -> 110

The caller holds each array that comes in, so no reference is counted. Numba makes two objects for each array that goes
out, which takes longer than to copy a few hundred numbers. The original has one reference, so nobody can tell the copy
from it.

Numba's dispatcher looks for the kernel by the types of all arguments. Here each array is tested as it is read. So the
kernel of a known program may be called without its dispatcher: see `gil.Wrapper`.
"""
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.pythonapi import NativeValue
from numba.core.runtime.nrtdynmod import _meminfo_struct_type
from numba.np.numpy_support import as_dtype
from numpy._core._multiarray_umath import _ARRAY_API

from fad.kernels.c_symbols import BYTE, WORD, bind, table_entry

__all__ = ["as_native", "as_python"]

SMALL = 1024  # bytes; NumPy keeps the memory of such arrays for the next ones
# places in NumPy's table of C functions, which never change
CLASS = bind("fad.numpy.ndarray", table_entry(_ARRAY_API, 2))
EQUIVALENT = bind("fad.numpy.equivalent", table_entry(_ARRAY_API, 182))  # PyArray_EquivTypes(dtype, dtype)
EMPTY = bind("fad.numpy.empty", table_entry(_ARRAY_API, 184))  # PyArray_Empty(ndim, shape, dtype, is_fortran)
HEAD = object.__basicsize__  # of every object; behind it an array has these fields:
FIELDS = ir.LiteralStructType([BYTE, ir.IntType(32), WORD.as_pointer(), WORD.as_pointer(), BYTE, BYTE, ir.IntType(32)])
DATA, NDIM, SHAPE, STRIDES, BASE, DTYPE, FLAGS = range(7)
PLAIN = 0x501  # flags: in C order, aligned, writeable
UNFIT = "the array has another dtype, rank or layout than the kernel's argument"


# -- to a kernel -----------------------------------------------------------------------------------------------------


def as_native(context, builder, api, env_manager, kind, obj, by_numba, exactly):
    """Emit the NativeValue of an array; by_numba() emits that of anything else. exactly: a bit, whether arrays of
    classes derived from NumPy's are refused.
    """
    if not _is_plain(kind):
        return by_numba()
    place = cgutils.alloca_once(builder, context.get_value_type(kind))
    dtype = _dtype(env_manager, kind)
    read = _reading(context, builder.module, kind.ndim)
    into = builder.bitcast(place, _words(kind.ndim))
    itemsize = WORD(as_dtype(kind.dtype).itemsize)
    fits = builder.call(read, [builder.bitcast(obj, BYTE), builder.bitcast(dtype, BYTE), itemsize, into, exactly])
    failed = builder.not_(fits)
    with builder.if_then(failed, likely=False):
        api.err_set_string("PyExc_TypeError", UNFIT)
    return NativeValue(builder.load(place), is_error=failed)


def _is_plain(kind):
    return isinstance(kind, types.Array) and kind.layout == "C" and kind.mutable and kind.aligned and kind.ndim > 0


def _words(rank):
    """The place of an array in Numba's form: what counts its references, its parent, its numbers of elements and of
    bytes of one, its data, its extents, its strides.
    """
    return ir.ArrayType(WORD, 5 + 2 * rank).as_pointer()


def _dtype(env_manager, kind):
    """The dtype, as an object."""
    return env_manager.read_const(env_manager.add_const(as_dtype(kind.dtype)))


def _reading(context, module, rank):
    """The function (array, dtype, itemsize, place, exactly) of the module that puts an array's fields in the order of
    Numba's, if it is of the dtype and plain.
    """
    bit, number = ir.IntType(1), ir.IntType(32)
    shape = ir.FunctionType(bit, [BYTE, BYTE, WORD, _words(rank), bit])
    function, builder = _new_function(module, shape, f"fad_array_fields_{rank}")
    if builder is None:
        return function
    obj, dtype, itemsize, place, exactly = function.args
    _refuse_unless(builder, _is_array(builder, obj, exactly))
    fields = builder.bitcast(builder.gep(obj, [WORD(HEAD)]), FIELDS.as_pointer())

    def field(k):
        return builder.load(cgutils.gep_inbounds(builder, fields, 0, k))
    _refuse_unless(builder, builder.icmp_signed("==", field(NDIM), number(rank)))
    _refuse_unless(
        builder, builder.icmp_signed("==", builder.and_(field(FLAGS), number(PLAIN)), number(PLAIN)))
    with builder.if_then(builder.icmp_unsigned("!=", field(DTYPE), dtype), likely=False):
        equivalent = ir.FunctionType(ir.IntType(8), [BYTE, BYTE])
        call = cgutils.get_or_insert_function(module, equivalent, EQUIVALENT)
        _refuse_unless(builder, cgutils.is_not_null(builder, builder.call(call, [field(DTYPE), dtype])))
    shape, strides, items, size = field(SHAPE), [itemsize], [], WORD(1)
    for axis in reversed(range(rank)):
        items.insert(0, builder.load(cgutils.gep_inbounds(builder, shape, axis)))
        size = builder.mul(size, items[0])
        strides.insert(0, builder.mul(strides[0], items[0]))
    data = builder.ptrtoint(field(DATA), WORD)
    words = [WORD(0), builder.ptrtoint(obj, WORD), size, itemsize, data, *items, *strides[1:]]
    for k, word in enumerate(words):
        builder.store(word, cgutils.gep_inbounds(builder, place, 0, k))
    builder.ret(bit(1))
    return function


def _is_array(builder, obj, exactly):
    """Whether an object is of NumPy's class, or of one derived from it if that will do."""
    module, known = builder.module, _class(builder.module)
    kind = builder.load(builder.bitcast(builder.gep(obj, [WORD(HEAD - WORD.width // 8)]), BYTE.as_pointer()))
    result = cgutils.alloca_once_value(builder, ir.IntType(32)(1))
    with builder.if_then(builder.icmp_unsigned("!=", kind, known), likely=False):
        _refuse_unless(builder, builder.not_(exactly))
        derived = ir.FunctionType(ir.IntType(32), [BYTE, BYTE])
        call = cgutils.get_or_insert_function(module, derived, "PyType_IsSubtype")
        builder.store(builder.call(call, [kind, known]), result)
    return cgutils.is_not_null(builder, builder.load(result))


def _class(module):
    """The address of NumPy's class of arrays."""
    known = module.globals.get(CLASS)
    if known is None:
        known = ir.GlobalVariable(module, ir.IntType(8), CLASS)
        known.linkage = "external"
    return known


def _refuse_unless(builder, holds):
    with builder.if_then(builder.not_(holds), likely=False):
        builder.ret(ir.IntType(1)(0))


def _new_function(module, kind, name):
    """A function of the module, and what emits its body; None where it has one."""
    function = cgutils.get_or_insert_function(module, kind, name)
    if function.blocks:
        return function, None
    function.linkage = "linkonce_odr"
    function.attributes.add("noinline")
    return function, ir.IRBuilder(function.append_basic_block())


# -- back ------------------------------------------------------------------------------------------------------------


def as_python(context, builder, api, env_manager, kind, value, by_numba):
    """Emit the object for an array; by_numba(value) emits that of anything else."""
    if not isinstance(kind, types.Array):
        return by_numba(value)
    if not _is_plain(kind):
        return by_numba(_held(context, builder, api, kind, value))
    place = builder.bitcast(cgutils.alloca_once_value(builder, value), _words(kind.ndim))
    boxing, dtype = _boxing(context, builder.module, kind.ndim), builder.bitcast(_dtype(env_manager, kind), BYTE)
    result = builder.bitcast(builder.call(boxing, [place, dtype]), api.pyobj)
    context.nrt.decref(builder, kind, value)
    return result


def _held(context, builder, api, kind, value):
    """The array, with a reference to what it lies in if that is an argument."""
    array = context.make_array(kind)(context, builder, value)
    is_borrowed = builder.and_(cgutils.is_null(builder, array.meminfo), cgutils.is_not_null(builder, array.parent))
    with builder.if_then(is_borrowed, likely=False):
        words = [builder.bitcast(x, BYTE) for x in (array.data, array.parent)]
        array.meminfo = api.nrt_meminfo_new_from_pyobject(*words)
    return array._getvalue()


def _boxing(context, module, rank):
    """The function (place of an array, dtype) of the module that makes the object. It takes no reference over: the
    caller releases its own.
    """
    function, builder = _new_function(module, ir.FunctionType(BYTE, [_words(rank), BYTE]), f"fad_boxed_{rank}")
    if builder is None:
        return function
    place, dtype = function.args
    api, free, number = context.get_python_api(builder), ir.FunctionType(ir.VoidType(), [BYTE]), ir.IntType(32)
    at = [cgutils.gep_inbounds(builder, place, 0, k) for k in range(6)]
    meminfo, parent, count, itemsize, data = [builder.load(k) for k in at[:5]]
    memory, data, size = builder.inttoptr(meminfo, BYTE), builder.inttoptr(data, BYTE), builder.mul(count, itemsize)
    is_owned = builder.icmp_unsigned("==", parent, WORD(0))
    with builder.if_then(builder.and_(is_owned, builder.icmp_signed("<=", size, WORD(SMALL)))):
        with builder.if_then(cgutils.is_not_null(builder, memory)), builder.if_then(_is_alone(builder, memory)):
            _copy(builder, api, rank, at[5], data, size, dtype)
    known, kind = _class(module), ir.FunctionType(BYTE, [BYTE, BYTE, number, number, BYTE])
    adapt = cgutils.get_or_insert_function(module, kind, "NRT_adapt_ndarray_to_python_acqref")
    arguments = [builder.bitcast(place, BYTE), known, number(rank), number(1), dtype]
    with builder.if_then(builder.and_(builder.not_(is_owned), cgutils.is_null(builder, memory))):
        held = api.nrt_meminfo_new_from_pyobject(data, builder.inttoptr(parent, BYTE))
        builder.store(builder.ptrtoint(held, WORD), at[0])
        result = builder.call(adapt, arguments)
        builder.call(cgutils.get_or_insert_function(module, free, "NRT_decref"), [held])
        builder.ret(result)
    builder.ret(builder.call(adapt, arguments))
    return function


def _is_alone(builder, meminfo):
    """Whether there is one reference to this memory."""
    head = builder.bitcast(meminfo, _meminfo_struct_type.as_pointer())
    count = builder.load(cgutils.gep_inbounds(builder, head, 0, 0))
    return builder.icmp_unsigned("==", count, count.type(1))


def _copy(builder, api, rank, shape, data, size, dtype):
    """Emit the return of an array of NumPy's own, if there is memory for it."""
    number = ir.IntType(32)
    api.incref(builder.bitcast(dtype, api.pyobj))             # the call takes a reference over
    kind = ir.FunctionType(BYTE, [number, WORD.as_pointer(), BYTE, number])
    empty = cgutils.get_or_insert_function(builder.module, kind, EMPTY)
    made = builder.call(empty, [number(rank), shape, dtype, number(0)])
    with builder.if_then(cgutils.is_not_null(builder, made), likely=True):
        fields = builder.bitcast(builder.gep(made, [WORD(HEAD)]), FIELDS.as_pointer())
        cgutils.raw_memcpy(builder, builder.load(cgutils.gep_inbounds(builder, fields, 0, DATA)), data, size, 1)
        builder.ret(made)
    api.err_clear()
