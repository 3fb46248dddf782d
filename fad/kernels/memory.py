"""Arrays made and reshaped in compiled code at little cost to the compiler.

Numba's own np.empty, reshape, copy and ascontiguousarray are each some functions to compile; these emit code at once. They
have a meaning in compiled code only, and do not check.
"""
import sys

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.typing import signature
from numba.extending import intrinsic
from numba.np import arrayobj

__all__ = ["as_columns", "as_rows", "blank", "copied", "flattened", "made", "transposed", "viewed"]

PAGE = 4096
LARGE = 1 << 22  # bytes of an array that is worth large pages
HUGEPAGE = 14  # MADV_HUGEPAGE


def made(context, builder, kind, extents):
    """A new array, not filled. The system is told that a large one may lie in large pages, as NumPy tells it: the first writing to
    memory costs a page fault a page, which can take longer than the computation.
    """
    array = arrayobj._empty_nd_impl(context, builder, kind, extents)
    if sys.platform == "linux":
        size = builder.mul(array.itemsize, array.nitems)
        builder.call(_advice(builder.module), [builder.bitcast(array.data, cgutils.voidptr_t), size])
    return array


def _advice(module):
    """The function (memory, bytes) of the module that tells the system so."""
    size = ir.IntType(64)
    function = cgutils.get_or_insert_function(module, ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, size]), "fad_large_pages")
    if function.blocks:
        return function
    function.linkage = "internal"
    function.attributes.add("noinline")
    builder = ir.IRBuilder(function.append_basic_block())
    memory, count = function.args
    with builder.if_then(builder.icmp_signed(">=", count, size(LARGE)), likely=False):
        kind = ir.FunctionType(ir.IntType(32), [cgutils.voidptr_t, size, ir.IntType(32)])
        start = builder.ptrtoint(memory, size)
        inside = builder.and_(builder.add(start, size(PAGE - 1)), size(-PAGE))
        rest = builder.sub(builder.add(start, count), inside)
        advise = cgutils.get_or_insert_function(module, kind, "madvise")
        builder.call(advise, [builder.inttoptr(inside, cgutils.voidptr_t), rest, ir.Constant(ir.IntType(32), HUGEPAGE)])
    builder.ret_void()
    return function


def _reshaped(context, builder, kind, value, extents):
    """The memory of a C-ordered array under other extents; a new reference to it."""
    source = context.make_array(kind)(context, builder, value)
    result = types.Array(kind.dtype, len(extents), "C")
    out, strides = context.make_array(result)(context, builder), [source.itemsize]
    for n in extents[:0:-1]:
        strides.insert(0, builder.mul(strides[0], n))
    kept = {"meminfo": source.meminfo, "parent": source.parent, "itemsize": source.itemsize}
    arrayobj.populate_array(out, data=source.data, shape=extents, strides=strides, **kept)
    return out._getvalue()


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
        value = _reshaped(context, builder, sig.args[0], args[0], extents)
        return arrayobj.impl_ret_borrowed(context, builder, sig.return_type, value)

    return signature(types.Array(a.dtype, len(shape), "C"), a, shape), codegen


@intrinsic
def blank(typingctx, shape, dtype):
    """An array of a shape (a tuple) and a dtype, not filled."""
    kind = types.Array(dtype.dtype, len(shape), "C")

    def codegen(context, builder, sig, args):
        out = made(context, builder, kind, cgutils.unpack_tuple(builder, args[0]))
        return arrayobj.impl_ret_new_ref(context, builder, kind, out._getvalue())

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
def transposed(typingctx, a):
    """A copy of a stack (..., m, n) as (count, n, m), which is LAPACK's order; or back."""
    copy, emit = _copy(types.Array(a.dtype, a.ndim, "A"))

    def codegen(context, builder, sig, args):
        view = _last_axes_exchanged(context, builder, sig.args[0], args[0])
        return emit(context, builder, copy, [view])

    return signature(copy.return_type, a), codegen


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
        value = arrayobj._array_copy(context, builder, signature(whole, sig.args[0]), args)
        # the result takes over the reference of the copy
        return _reshaped(context, builder, whole, value, _stack_extents(context, builder, whole, value))

    return signature(types.Array(a.dtype, 3, "C"), a), codegen


def _same_memory(a):
    def codegen(context, builder, sig, args):
        extents = _stack_extents(context, builder, sig.args[0], args[0])
        value = _reshaped(context, builder, sig.args[0], args[0], extents)
        return arrayobj.impl_ret_borrowed(context, builder, sig.return_type, value)

    return signature(types.Array(a.dtype, 3, "C"), a), codegen
