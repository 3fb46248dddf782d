"""Arrays made and reshaped in compiled code at little cost to the compiler.

Numba's own np.empty, reshape, copy and ascontiguousarray are each several functions to compile; these emit code at
once. They have a meaning in compiled code only, and do not check.
"""
import functools
import sys

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.runtime.nrtdynmod import _meminfo_struct_type
from numba.core.typing import signature
from numba.extending import intrinsic
from numba.np import arrayobj
from numba.np.numpy_support import as_dtype

from fad.kernels import error_paths, parts

__all__ = [
    "as_columns", "as_rows", "blank", "contiguous", "copied", "flattened", "made", "oriented", "reshaped", "transposed",
    "viewed",
]

PAGE = 4096
LARGE = 1 << 22  # bytes of an array that is worth large pages
HUGEPAGE = 14  # MADV_HUGEPAGE
ALIGNMENT = 32  # as Numba's own arrays
SIZE, NO = ir.IntType(64), ir.Constant(ir.IntType(1), 0)
REFUSALS = (
    (ValueError, "negative dimensions are not allowed"),
    (ValueError, "array is too big; `arr.size * arr.dtype.itemsize` is larger than the maximum possible size."),
    (MemoryError, "Allocation failed (probably too large)."),
)
KEPT = (1 << 25) - 2 * PAGE  # bytes: the largest array from whose end the GNU C library learns

# The C library gives the memory of an array that ends back to the system, unless it has seen one as large end before
# (at first: 128 kB), and asks for it again at the
# next call: a page fault for each page, which can be half of the time of a sweep over a megabyte. So here ends a large
# one, of which nothing was touched.
np.empty(KEPT, np.uint8)


def made(context, builder, kind, extents):
    """A new array in C order, not filled: a value of LLVM.

    A function of the module checks the extents (one may be negative, they may be too large together) and the memory,
    and each function raises the error in one place: a kernel may make hundreds of arrays.
    """
    itemsize = context.get_constant(types.intp, as_dtype(kind.dtype).itemsize)
    meminfo = builder.call(_allocation(context, builder.module, len(extents)), [*extents, itemsize])
    _refuse(context, builder, meminfo)
    data = _data_inside(context, builder, meminfo)
    strides = [itemsize]
    for n in extents[:0:-1]:
        strides.insert(0, builder.mul(strides[0], n))
    count = functools.reduce(builder.mul, extents) if extents else context.get_constant(types.intp, 1)
    fields = {
        "meminfo": meminfo,
        "parent": ir.Constant(cgutils.voidptr_t, None),
        "nitems": count,
        "itemsize": itemsize,
        "data": builder.bitcast(data, context.get_data_type(kind.dtype).as_pointer()),
        "shape": cgutils.pack_array(builder, extents, ty=SIZE),
        "strides": cgutils.pack_array(builder, strides[: len(extents)], ty=SIZE),
    }
    value = ir.Constant(context.get_value_type(kind), ir.Undefined)
    for name, field in fields.items():
        value = builder.insert_value(value, field, context.data_model_manager[kind].get_field_position(name))
    return value


def _allocation(context, module, rank):
    """The function (*extents, itemsize) that allocates an array: its MemInfo, or a number of REFUSALS."""
    kind = _allocation_kind(rank)
    return parts.function(context, module, f"allocation_{rank}", kind, _emit_allocation, noalias=True)


def _allocation_kind(rank):
    return ir.FunctionType(cgutils.voidptr_t, [SIZE] * (rank + 1))


def _emit_allocation(context, builder, function):
    """The system is told that a large array may lie in large pages, as NumPy tells it: the first writing to memory
    costs a page fault a page, which can take longer than the computation.
    """
    *extents, itemsize = function.args
    negative, overflow, size = NO, NO, SIZE(1)
    for n in extents:
        negative = builder.or_(negative, builder.icmp_signed("<", n, SIZE(0)))
    for n in (*extents, itemsize):
        product = builder.smul_with_overflow(size, n)
        size, overflow = builder.extract_value(product, 0), builder.or_(overflow, builder.extract_value(product, 1))
    for failed, reason in ((negative, 0), (overflow, 1)):
        with builder.if_then(failed, likely=False):
            builder.ret(SIZE(reason).inttoptr(cgutils.voidptr_t))
    meminfo = context.nrt.meminfo_alloc_aligned_unchecked(builder, size, ALIGNMENT)
    with builder.if_then(cgutils.is_null(builder, meminfo), likely=False):
        builder.ret(SIZE(2).inttoptr(cgutils.voidptr_t))
    if sys.platform == "linux":
        with builder.if_then(builder.icmp_signed(">=", size, SIZE(LARGE)), likely=False):
            _advise(builder, _place_of_data(builder, meminfo), size)
    builder.ret(meminfo)


for _rank in (1, 2, 3):
    parts.part(f"allocation_{_rank}", _allocation_kind(_rank), noalias=True)(_emit_allocation)


def _place_of_data(builder, meminfo):
    """The address that a MemInfo holds, without Numba's function for it."""
    head = builder.bitcast(meminfo, _meminfo_struct_type.as_pointer())
    return builder.load(cgutils.gep_inbounds(builder, head, 0, 3))


def _data_inside(context, builder, meminfo):
    """The address of a new array's elements, told to LLVM as a place inside the memory that its MemInfo begins.

    As the address that the MemInfo holds it could be that of any array; so LLVM knows that new arrays share no memory
    with each other and with arguments. A call that releases a MemInfo may touch all of that memory, so that nothing is
    read behind it.
    """
    data = _place_of_data(builder, meminfo)
    distance = builder.sub(builder.ptrtoint(data, SIZE), builder.ptrtoint(meminfo, SIZE))
    hidden = builder.asm(ir.FunctionType(SIZE, [SIZE]), "", "=r,0", [distance], side_effect=False)
    return builder.gep(meminfo, [hidden])


def _advise(builder, data, size):
    """Tell the system that this memory may lie in large pages."""
    start = builder.ptrtoint(data, SIZE)
    inside = builder.and_(builder.add(start, SIZE(PAGE - 1)), SIZE(-PAGE))
    rest = builder.sub(builder.add(start, size), inside)
    kind = ir.FunctionType(ir.IntType(32), [cgutils.voidptr_t, SIZE, ir.IntType(32)])
    advise = cgutils.get_or_insert_function(builder.module, kind, "madvise")
    builder.call(advise, [builder.inttoptr(inside, cgutils.voidptr_t), rest, ir.Constant(ir.IntType(32), HUGEPAGE)])


def _refuse(context, builder, meminfo):
    """Leave the function with an error where there is no memory."""
    known = vars(builder.function)
    if "fad_refusals" not in known:
        cold = ir.IRBuilder(builder.append_basic_block("refusals"))
        known["fad_refusals"] = cold.phi(cgutils.voidptr_t)
        error_paths.raise_error(context, cold, cold.call(_refusal(context, cold.module), [known["fad_refusals"]]))
    refusals = known["fad_refusals"]
    refusals.add_incoming(meminfo, builder.block)
    there = builder.append_basic_block()
    builder.cbranch(
        builder.icmp_unsigned("<", builder.ptrtoint(meminfo, SIZE), SIZE(len(REFUSALS))), refusals.parent, there
    ).set_weights([1, 99])
    builder.position_at_end(there)


@parts.part("refusal", ir.FunctionType(error_paths.ERROR, [cgutils.voidptr_t]))
def _refusal(context, builder, function):
    """refusal(what an allocation has answered): the error."""
    *errors, result = (error_paths.error_of(context, builder, *refusal) for refusal in REFUSALS)
    for number, error in enumerate(errors):
        is_this = builder.icmp_signed("==", builder.ptrtoint(function.args[0], SIZE), SIZE(number))
        result = builder.select(is_this, error, result)
    builder.ret(result)


def reshaped(context, builder, kind, value, extents):
    """The memory of a C-ordered array under other extents, which takes over the reference: a value of LLVM."""
    source = context.make_array(kind)(context, builder, value)
    result = types.Array(kind.dtype, len(extents), "C")
    out, strides = context.make_array(result)(context, builder), [source.itemsize]
    for n in extents[:0:-1]:
        strides.insert(0, builder.mul(strides[0], n))
    kept = {"meminfo": source.meminfo, "parent": source.parent, "itemsize": source.itemsize}
    arrayobj.populate_array(out, data=source.data, shape=extents, strides=strides, **kept)
    return out._getvalue()


def duplicate(context, builder, kind, value):
    """A copy of an array in C order: a value of LLVM."""
    source, whole = context.make_array(kind)(context, builder, value), types.Array(kind.dtype, kind.ndim, "C")
    shape, strides = (cgutils.unpack_tuple(builder, t) for t in (source.shape, source.strides))
    copy = made(context, builder, whole, shape)
    data = builder.extract_value(copy, context.data_model_manager[whole].get_field_position("data"))
    if kind.layout == "C":
        cgutils.raw_memcpy(builder, data, source.data, source.nitems, source.itemsize)
        return copy
    with cgutils.loop_nest(builder, shape, SIZE) as at:
        place = cgutils.get_item_pointer2(context, builder, source.data, shape, strides, kind.layout, at)
        builder.store(builder.load(place), cgutils.get_item_pointer2(context, builder, data, shape, strides, "C", at))
    return copy


def _stack_extents(context, builder, kind, value):
    """The extents (count, m, n) of a stack (..., m, n)."""
    *lead, m, n = cgutils.unpack_tuple(builder, context.make_array(kind)(context, builder, value).shape)
    count = context.get_constant(types.intp, 1)
    for extent in lead:
        count = builder.mul(count, extent)
    return [count, m, n]


@intrinsic
def viewed(typingctx, a, shape):
    """The memory of an array in C order under another shape."""
    if a.layout != "C":
        return None

    def codegen(context, builder, sig, args):
        extents = cgutils.unpack_tuple(builder, args[1])
        value = reshaped(context, builder, sig.args[0], args[0], extents)
        return arrayobj.impl_ret_borrowed(context, builder, sig.return_type, value)

    return signature(types.Array(a.dtype, len(shape), "C"), a, shape), codegen


@intrinsic
def blank(typingctx, shape, dtype):
    """An array of a shape (a tuple) and a dtype, not filled."""
    kind = types.Array(dtype.dtype, len(shape), "C")

    def codegen(context, builder, sig, args):
        return made(context, builder, kind, cgutils.unpack_tuple(builder, args[0]))

    return signature(kind, shape, dtype), codegen


@intrinsic
def copied(typingctx, a):
    """A copy of a stack (..., m, n) in C order, as (count, m, n)."""
    return _copy(a)


@intrinsic
def flattened(typingctx, a):
    """A stack in C order as (count, m, n): a copy unless it is in C order already."""
    return _same_memory(a) if a.layout == "C" else _copy(a)


@intrinsic
def contiguous(typingctx, a):
    """An array in C order: a copy unless it is in C order already."""

    def codegen(context, builder, sig, args):
        if sig.args[0].layout == "C":
            return arrayobj.impl_ret_borrowed(context, builder, sig.return_type, args[0])
        return duplicate(context, builder, sig.args[0], args[0])

    return signature(types.Array(a.dtype, a.ndim, "C"), a), codegen


@intrinsic
def transposed(typingctx, a):
    """A copy of a stack (..., m, n) as (count, n, m), which is LAPACK's order; or back."""
    copy, emit = _copy(types.Array(a.dtype, a.ndim, "A"))

    def codegen(context, builder, sig, args):
        view = _last_axes_exchanged(context, builder, sig.args[0], args[0])
        return emit(context, builder, copy, [view])

    return signature(copy.return_type, a), codegen


@intrinsic
def oriented(typingctx, a, exchanged):
    """A matrix, or where `exchanged` is true its transpose, on the same memory."""
    kind = types.Array(a.dtype, 2, "A")

    def codegen(context, builder, sig, args):
        view = context.make_array(kind)(context, builder, _last_axes_exchanged(context, builder, sig.args[0], args[0]))
        source = context.make_array(sig.args[0])(context, builder, args[0])
        view.shape, view.strides = (builder.select(args[1], there, here) for there, here in
                                    ((view.shape, source.shape), (view.strides, source.strides)))
        return arrayobj.impl_ret_borrowed(context, builder, kind, view._getvalue())

    return signature(kind, a, types.boolean), codegen


def _planes(a, column):
    """Emit an array as (count, m, n), a vector as one row or one column; without a copy up to rank 2."""
    if a.ndim > 2:
        return _same_memory(a) if a.layout == "C" else _copy(a)
    kind = types.Array(a.dtype, 3, "C" if a.layout == "C" else "A")

    def codegen(context, builder, sig, args):
        source = context.make_array(sig.args[0])(context, builder, args[0])
        shape, strides = (cgutils.unpack_tuple(builder, t) for t in (source.shape, source.strides))
        one = context.get_constant(types.intp, 1)
        while len(shape) < 3:
            at = len(shape) if column and len(shape) == 1 else 0
            shape.insert(at, one)
            strides.insert(at, source.itemsize)  # of an axis of extent one: any will do
        out = context.make_array(kind)(context, builder)
        kept = {"meminfo": source.meminfo, "parent": source.parent, "itemsize": source.itemsize, "data": source.data}
        arrayobj.populate_array(out, shape=shape, strides=strides, **kept)
        return arrayobj.impl_ret_borrowed(context, builder, kind, out._getvalue())

    return signature(kind, a), codegen


@intrinsic
def as_rows(typingctx, a):
    """An array as (count, m, n), a vector as one row; without a copy up to rank 2."""
    return _planes(a, column=False)


@intrinsic
def as_columns(typingctx, a):
    """An array as (count, m, n), a vector as one column; without a copy up to rank 2."""
    return _planes(a, column=True)


def _last_axes_exchanged(context, builder, kind, value):
    """The view a.T of a stack, borrowed."""
    source = context.make_array(kind)(context, builder, value)
    view = context.make_array(types.Array(kind.dtype, kind.ndim, "A"))(context, builder)
    shape, strides = (cgutils.unpack_tuple(builder, t) for t in (source.shape, source.strides))
    kept = {"meminfo": source.meminfo, "parent": source.parent, "itemsize": source.itemsize, "data": source.data}
    for axes in (shape, strides):
        axes[-1], axes[-2] = axes[-2], axes[-1]
    arrayobj.populate_array(view, shape=shape, strides=strides, **kept)
    return view._getvalue()


def _copy(a):
    whole = types.Array(a.dtype, a.ndim, "C")

    def codegen(context, builder, sig, args):
        value = duplicate(context, builder, sig.args[0], args[0])
        # the result takes over the reference of the copy
        return reshaped(context, builder, whole, value, _stack_extents(context, builder, whole, value))

    return signature(types.Array(a.dtype, 3, "C"), a), codegen


def _same_memory(a):
    def codegen(context, builder, sig, args):
        extents = _stack_extents(context, builder, sig.args[0], args[0])
        value = reshaped(context, builder, sig.args[0], args[0], extents)
        return arrayobj.impl_ret_borrowed(context, builder, sig.return_type, value)

    return signature(types.Array(a.dtype, 3, "C"), a), codegen
