"""Values on their way between Python and kernels.

    direction       by Numba                                    here                            nanoseconds
    to a kernel     a reference to the array, counted anew      what the array's fields say     40 -> 5
    back            an array on Numba's memory, its .base       up to SMALL: NumPy's own copy   450 -> 110

The caller holds each array that comes in, so no reference is counted. Numba makes two objects for each array that goes
out, which takes longer than to copy a few hundred numbers. The original has one reference, so nobody can tell the copy
from it.

Each function here is one of the parts that kernels share (parts.py). A kernel has a table of its arguments and of its
results (running.py), an ITEM for each: the function, a dtype, the place in a frame, the rank, and for an argument the
size of an element, for a result the flags of its array.

Numba's dispatcher looks for the kernel by the types of all arguments. Here each array is tested as it is read. So the
kernel of a known program may be called without its dispatcher.
"""
import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.runtime.nrtdynmod import _meminfo_struct_type
from numba.np.numpy_support import as_dtype
from numpy._core._multiarray_umath import _ARRAY_API

from fad.kernels import parts
from fad.kernels.c_symbols import BYTE, WORD, bind, table_entry

__all__ = ["ITEM", "SIZES", "box_of", "is_known", "is_plain", "item", "reader_of"]

SMALL = 1024  # bytes; NumPy keeps the memory of such arrays for the next ones
# places in NumPy's table of C functions, which never change
CLASS = bind("fad.numpy.ndarray", table_entry(_ARRAY_API, 2))
EQUIVALENT = bind("fad.numpy.equivalent", table_entry(_ARRAY_API, 182))  # PyArray_EquivTypes(dtype, dtype)
EMPTY = bind("fad.numpy.empty", table_entry(_ARRAY_API, 184))  # PyArray_Empty(ndim, shape, dtype, is_fortran)
INTEGERS = [f"{u}int{n}" for u in ("", "u") for n in (8, 16, 32, 64)]
NAMES = "bool", "float32", "float64", "complex64", "complex128", *INTEGERS
DTYPES = {np.dtype(name): bind(f"fad.numpy.dtype.{name}", id(np.dtype(name))) for name in NAMES}  # which live for ever
HEAD = object.__basicsize__  # of every object; behind it an array has these fields:
BIT, NUMBER = ir.IntType(1), ir.IntType(32)
FIELDS = ir.LiteralStructType([BYTE, NUMBER, WORD.as_pointer(), WORD.as_pointer(), BYTE, BYTE, NUMBER])
DATA, NDIM, SHAPE, STRIDES, BASE, DTYPE, FLAGS = range(7)
PLAIN = 0x501  # flags: in C order, aligned, writeable
UNFIT = "the array has another dtype, rank or layout than the kernel's argument"
MAY_BE_COPIED, WRITEABLE = 1, 2  # flags of a result

ITEM = ir.LiteralStructType([BYTE, BYTE, WORD, WORD, WORD])
SIZES = ir.LiteralStructType([WORD, WORD, WORD])  # of all arguments: elements, the largest extent, how many arrays
READ = ir.FunctionType(BIT, [BYTE, ITEM.as_pointer(), BYTE, SIZES.as_pointer(), BIT])
BOX = ir.FunctionType(BYTE, [BYTE, ITEM.as_pointer()])
NUMBERS = types.Boolean, types.Integer, types.Float, types.Complex
COMMON = types.boolean, types.int64, types.float64, types.complex128  # whose functions are parts


def is_known(kind):
    """Whether there is a box for this type."""
    is_simple = type(kind) in NUMBERS or kind == types.none
    return is_simple or (isinstance(kind, types.Array) and _dtype(kind) in DTYPES)


def is_plain(kind):
    """Whether there is a reader for this type."""
    if type(kind) in NUMBERS:
        return True
    is_array = isinstance(kind, types.Array) and kind.layout == "C" and kind.mutable and kind.aligned and kind.ndim > 0
    return is_array and _dtype(kind) in DTYPES


def _dtype(kind):
    return as_dtype(kind.dtype) if type(kind.dtype) in NUMBERS else None


def item(module, function, kind, place, is_result):
    """The ITEM of a value of this type at this place: a constant."""
    dtype, rank, last = BYTE(None), 0, 0
    if isinstance(kind, types.Array):
        dtype, rank, last = _symbol(module, DTYPES[_dtype(kind)]), kind.ndim, _dtype(kind).itemsize
        if is_result:
            last = (kind.layout == "C" and kind.ndim > 0) * MAY_BE_COPIED | kind.mutable * WRITEABLE
    return ir.Constant(ITEM, [function.bitcast(BYTE), dtype, place, WORD(rank), WORD(last)])


def _symbol(module, name):
    """The address that is bound to a name."""
    known = module.globals.get(name)
    if known is None:
        known = ir.GlobalVariable(module, ir.IntType(8), name)
        known.linkage = "external"
    return known


def _word(builder, given, k):
    return builder.load(cgutils.gep_inbounds(builder, given, 0, k))


# -- to a kernel -----------------------------------------------------------------------------------------------------


def reader_of(context, module, kind):
    """The function read(object, ITEM, frame, SIZES, exactly) for values of a type: whether it has put the value into
    the frame; if not, an error is set. exactly: arrays of classes derived from NumPy's are refused.
    """
    if isinstance(kind, types.Array):
        return _read_array(context, module)
    return parts.function(context, module, f"read_{kind}", READ, _number_reader(kind))


@parts.part("read_array", READ)
def _read_array(context, builder, function):
    obj, item, frame, sizes, exactly = function.args
    with builder.if_then(builder.not_(_fits(builder, obj, item, exactly)), likely=False):
        context.get_python_api(builder).err_set_string("PyExc_TypeError", UNFIT)
        builder.ret(BIT(0))
    fields = builder.bitcast(builder.gep(obj, [WORD(HEAD)]), FIELDS.as_pointer())
    place = builder.bitcast(builder.gep(frame, [_word(builder, item, 2)]), WORD.as_pointer())
    rank, itemsize = _word(builder, item, 3), _word(builder, item, 4)
    shape, data = _word(builder, fields, SHAPE), builder.ptrtoint(_word(builder, fields, DATA), WORD)
    size, stride = cgutils.alloca_once_value(builder, WORD(1)), cgutils.alloca_once_value(builder, itemsize)
    extents = builder.gep(place, [WORD(5)])
    strides = builder.gep(extents, [rank])
    with cgutils.for_range_slice(builder, builder.sub(rank, WORD(1)), WORD(-1), WORD(-1), inc=False) as (axis, _):
        extent = builder.load(builder.gep(shape, [axis]))
        builder.store(extent, builder.gep(extents, [axis]))
        builder.store(builder.load(stride), builder.gep(strides, [axis]))
        builder.store(builder.mul(builder.load(stride), extent), stride)
        builder.store(builder.mul(builder.load(size), extent), size)
        _note_extent(builder, sizes, extent)
    words = WORD(0), builder.ptrtoint(obj, WORD), builder.load(size), itemsize, data
    for k, word in enumerate(words):
        builder.store(word, builder.gep(place, [WORD(k)]))
    for k, more in ((0, builder.load(size)), (2, WORD(1))):
        builder.store(builder.add(_word(builder, sizes, k), more), cgutils.gep_inbounds(builder, sizes, 0, k))
    builder.ret(BIT(1))


def _note_extent(builder, sizes, extent):
    largest = _word(builder, sizes, 1)
    larger = builder.select(builder.icmp_signed(">", extent, largest), extent, largest)
    builder.store(larger, cgutils.gep_inbounds(builder, sizes, 0, 1))


def _fits(builder, obj, item, exactly):
    """Whether an object is an array of this dtype and rank, and plain."""
    kind = builder.load(builder.bitcast(builder.gep(obj, [WORD(HEAD - WORD.width // 8)]), BYTE.as_pointer()))
    known, result = _symbol(builder.module, CLASS), cgutils.alloca_once_value(builder, BIT(1))
    two, pair = ir.FunctionType(NUMBER, [BYTE, BYTE]), ir.FunctionType(ir.IntType(8), [BYTE, BYTE])
    with builder.if_then(builder.icmp_unsigned("!=", kind, known), likely=False):
        call = cgutils.get_or_insert_function(builder.module, two, "PyType_IsSubtype")
        is_derived = cgutils.is_not_null(builder, builder.call(call, [kind, known]))
        builder.store(builder.and_(builder.not_(exactly), is_derived), result)
    with builder.if_then(builder.load(result)):
        fields = builder.bitcast(builder.gep(obj, [WORD(HEAD)]), FIELDS.as_pointer())
        dtype, wanted = _word(builder, fields, DTYPE), _word(builder, item, 1)
        flags = builder.and_(_word(builder, fields, FLAGS), NUMBER(PLAIN))
        is_plain = builder.icmp_signed("==", flags, NUMBER(PLAIN))
        rank = builder.icmp_signed("==", _word(builder, fields, NDIM), builder.trunc(_word(builder, item, 3), NUMBER))
        builder.store(builder.and_(is_plain, rank), result)
        with builder.if_then(builder.icmp_unsigned("!=", dtype, wanted), likely=False):
            call = cgutils.get_or_insert_function(builder.module, pair, EQUIVALENT)
            alike = cgutils.is_not_null(builder, builder.call(call, [dtype, wanted]))
            builder.store(builder.and_(builder.load(result), alike), result)
    return builder.load(result)


def _number_reader(kind):
    def body(context, builder, function):
        obj, item, frame, sizes, _ = function.args
        api = context.get_python_api(builder)
        native = api.to_native_value(kind, builder.bitcast(obj, api.pyobj))
        with builder.if_then(native.is_error, likely=False):
            builder.ret(BIT(0))
        values = context.get_arg_packer([kind]).as_arguments(builder, [native.value])
        place = builder.gep(frame, [_word(builder, item, 2)])
        place = builder.bitcast(place, ir.LiteralStructType([v.type for v in values]).as_pointer())
        for k, value in enumerate(values):
            builder.store(value, cgutils.gep_inbounds(builder, place, 0, k))
        if isinstance(kind, types.Integer):
            _note_extent(builder, sizes, context.cast(builder, native.value, kind, types.intp))
        builder.ret(BIT(1))
    return body


# -- back ------------------------------------------------------------------------------------------------------------


def box_of(context, module, kind):
    """The function box(frame of results, ITEM) for values of a type: the object, or null and an error. It takes over
    the reference that an array has to its memory.
    """
    if isinstance(kind, types.Array):
        return _box_array(context, module)
    return parts.function(context, module, f"box_{kind}", BOX, _simple_box(kind))


def _simple_box(kind):
    def body(context, builder, function):
        frame, item = function.args
        model = context.data_model_manager[kind]
        place = builder.gep(frame, [_word(builder, item, 2)])
        value = builder.load(builder.bitcast(place, model.get_data_type().as_pointer()))
        api = context.get_python_api(builder)
        result = api.from_native_value(kind, model.from_data(builder, value))
        builder.ret(builder.bitcast(result, BYTE))
    return body


@parts.part("box_array", BOX)
def _box_array(context, builder, function):
    frame, item = function.args
    place = builder.bitcast(builder.gep(frame, [_word(builder, item, 2)]), WORD.as_pointer())
    dtype, rank, flags = (_word(builder, item, k) for k in (1, 3, 4))
    meminfo, parent, count, itemsize, data = (builder.load(builder.gep(place, [WORD(k)])) for k in range(5))
    memory, data, size = builder.inttoptr(meminfo, BYTE), builder.inttoptr(data, BYTE), builder.mul(count, itemsize)
    is_owned, is_held = builder.icmp_unsigned("==", parent, WORD(0)), cgutils.is_not_null(builder, memory)
    may_be_copied = builder.trunc(flags, BIT)
    is_small = builder.icmp_signed("<=", size, WORD(SMALL))
    with builder.if_then(builder.and_(builder.and_(is_owned, is_small), builder.and_(may_be_copied, is_held))):
        with builder.if_then(_is_alone(builder, memory)):
            _copy(context, builder, rank, place, data, size, dtype, memory)
    with builder.if_then(builder.not_(builder.or_(is_owned, is_held))):  # it lies in an argument
        api = context.get_python_api(builder)
        held = api.nrt_meminfo_new_from_pyobject(data, builder.inttoptr(parent, BYTE))
        builder.store(builder.ptrtoint(held, WORD), place)
    kind = ir.FunctionType(BYTE, [BYTE, BYTE, NUMBER, NUMBER, BYTE])
    adapt = cgutils.get_or_insert_function(builder.module, kind, "NRT_adapt_ndarray_to_python_acqref")
    writeable = builder.trunc(builder.lshr(flags, WORD(1)), NUMBER)
    known, rank = _symbol(builder.module, CLASS), builder.trunc(rank, NUMBER)
    result = builder.call(adapt, [builder.bitcast(place, BYTE), known, rank, writeable, dtype])
    context.nrt.decref(builder, types.MemInfoPointer(types.voidptr), builder.inttoptr(builder.load(place), BYTE))
    builder.ret(result)


def _is_alone(builder, meminfo):
    """Whether there is one reference to this memory."""
    head = builder.bitcast(meminfo, _meminfo_struct_type.as_pointer())
    count = builder.load(cgutils.gep_inbounds(builder, head, 0, 0))
    return builder.icmp_unsigned("==", count, count.type(1))


def _copy(context, builder, rank, place, data, size, dtype, memory):
    """Emit the return of an array of NumPy's own, if there is memory for it."""
    api = context.get_python_api(builder)
    api.incref(builder.bitcast(dtype, api.pyobj))             # the call takes a reference over
    kind = ir.FunctionType(BYTE, [NUMBER, WORD.as_pointer(), BYTE, NUMBER])
    empty = cgutils.get_or_insert_function(builder.module, kind, EMPTY)
    shape = builder.gep(place, [WORD(5)])
    made = builder.call(empty, [builder.trunc(rank, NUMBER), shape, dtype, NUMBER(0)])
    with builder.if_then(cgutils.is_not_null(builder, made), likely=True):
        fields = builder.bitcast(builder.gep(made, [WORD(HEAD)]), FIELDS.as_pointer())
        cgutils.raw_memcpy(builder, _word(builder, fields, DATA), data, size, 1)
        context.nrt.decref(builder, types.MemInfoPointer(types.voidptr), memory)
        builder.ret(made)
    api.err_clear()


for _kind in COMMON:
    parts.part(f"read_{_kind}", READ)(_number_reader(_kind))
    parts.part(f"box_{_kind}", BOX)(_simple_box(_kind))
