"""The call of a kernel from Python: one function reads the arguments of all kernels, runs them and makes the results.

    wrapper(args)                                  each kernel's, which Python calls
        run(args, TABLE of the kernel)             here, one of the parts that kernels share (parts.py)
            read each argument into a frame        boxing.py
            enter(frame, results, error)           each kernel's: calls it with what lies in the frame
            make an object of each result          boxing.py

Numba writes all of this for each kernel: as much code as a small kernel has.

**Python's lock.** A kernel touches Python's objects only as it begins and as it ends. It gives the lock up if the
arguments are large for loops of its depth. A thread that gives the lock up may wait for milliseconds to have it back,
so short kernels keep it, as NumPy's short loops do.

Numba's dispatcher calls the wrapper once it knows the arguments' types. A caller that knows the types of all numbers
may call it without the dispatcher, with an integer behind the arguments: a TypeError says that an array is none of the
kernel's, a ValueError that the arrays have more elements together than this integer.
"""
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.callconv import excinfo_t

from fad.kernels import boxing, parts
from fad.kernels.c_symbols import BYTE, WORD

__all__ = ["DEPTH", "emit_wrapper", "is_served"]

LONG = 500  # steps; NumPy's loops give the lock up from here on
MANY = "the arrays have more elements than this call is for"
COUNT = "a kernel is called with another number of arguments than it has"
DEPTH, EXTENT = 4, 1 << 15  # larger counts would not fit in an integer

CODE, ERROR = ir.IntType(32), ir.PointerType(ir.PointerType(excinfo_t))
ENTER = ir.FunctionType(CODE, [BYTE, BYTE, ERROR])
ITEMS = boxing.ITEM.as_pointer()
# how a kernel is entered, its arguments, its results, their numbers, the bytes of both frames, the depth of its loops
TABLE = ir.LiteralStructType([ENTER.as_pointer(), ITEMS, ITEMS, WORD, WORD, WORD, WORD, WORD])
RUN = ir.FunctionType(BYTE, [BYTE, TABLE.as_pointer()])
ONE = -1  # number of results: one, which is no tuple


def is_served(fndesc):
    """Whether there are readers and boxes for all that a function takes and returns."""
    kind = fndesc.restype
    results = tuple(kind) if isinstance(kind, (types.Tuple, types.UniTuple)) else (kind,)
    return all(map(boxing.is_plain, fndesc.argtypes)) and all(map(boxing.is_known, results))


# -- of each kernel --------------------------------------------------------------------------------------------------


def emit_wrapper(context, module, callee, fndesc, depth):
    """Emit the function that Python calls, for a kernel with loops within loops up to this depth."""
    wrapper = ir.Function(module, ir.FunctionType(BYTE, [BYTE] * 3), fndesc.llvm_cpython_wrapper_name)
    builder = ir.IRBuilder(wrapper.append_basic_block("entry"))
    table = _global(module, "fad.table", _table(context, module, callee, fndesc, depth))
    builder.ret(builder.call(_run(context, module), [wrapper.args[1], table], tail=True))


def _global(module, name, value):
    found = ir.GlobalVariable(module, value.type, name)
    found.linkage, found.global_constant, found.initializer = "internal", True, value
    return found


def _table(context, module, callee, fndesc, depth):
    frame = ir.LiteralStructType(callee.function_type.args[2:])
    arguments, at = [], 0
    for kind in fndesc.argtypes:
        read = boxing.reader_of(context, module, kind)
        arguments.append(boxing.item(module, read, kind, _distance(frame, at), is_result=False))
        at += len(list(context.get_arg_packer([kind]).argument_types))
    kind, returned = fndesc.restype, callee.function_type.args[0].pointee
    is_tuple = isinstance(kind, (types.Tuple, types.UniTuple))
    results = [
        boxing.item(module, boxing.box_of(context, module, t), t, _distance(returned, k) if is_tuple else WORD(0), True)
        for k, t in enumerate(kind if is_tuple else (kind,))
    ]
    numbers = len(arguments), len(results) if is_tuple else ONE
    sizes = [_size(t) for t in (frame, returned)]
    items = [_items(module, name, values) for name, values in (("arguments", arguments), ("results", results))]
    words = [*map(WORD, numbers), *sizes, WORD(min(depth, DEPTH))]
    return ir.Constant(TABLE, [_enter(module, callee, frame), *items, *words])


def _items(module, name, values):
    value = ir.Constant(ir.ArrayType(boxing.ITEM, len(values)), values)
    return _global(module, f"fad.{name}", value).bitcast(ITEMS)


def _distance(kind, k):
    """The distance in bytes of a field of a struct or array from its start."""
    return ir.Constant(kind.as_pointer(), None).gep([ir.IntType(32)(0), ir.IntType(32)(k)]).ptrtoint(WORD)


def _size(kind):
    return ir.Constant(kind.as_pointer(), None).gep([ir.IntType(32)(1)]).ptrtoint(WORD)


def _enter(module, callee, frame):
    """The function that calls a kernel with what lies in a frame."""
    function = ir.Function(module, ENTER, "fad.enter")
    function.linkage = "internal"
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    given, result, error = function.args
    given = builder.bitcast(given, frame.as_pointer())
    values = [builder.load(cgutils.gep_inbounds(builder, given, 0, k)) for k in range(len(frame.elements))]
    result = builder.bitcast(result, callee.function_type.args[0])
    builder.ret(builder.call(callee, [result, error, *values], attrs=("noinline",)))
    return function


# -- of all kernels --------------------------------------------------------------------------------------------------


@parts.part("run", RUN)
def _run(context, builder, function):
    args, table = function.args
    enter, arguments, results, count, made, *sizes, depth = (
        builder.load(cgutils.gep_inbounds(builder, table, 0, k)) for k in range(len(TABLE.elements))
    )
    frame, returned = (_memory(builder, size) for size in sizes)
    limit = _limit(context, builder, args, count)
    seen = cgutils.alloca_once_value(builder, boxing.SIZES(None))
    is_limited = cgutils.is_not_null(builder, limit)
    with cgutils.for_range(builder, count) as loop:
        obj = builder.load(_argument(builder, args, loop.index))
        read = _function_of(builder, arguments, loop.index, boxing.READ)
        ok = builder.call(read, [obj, builder.gep(arguments, [loop.index]), frame, seen, is_limited])
        with builder.if_then(builder.not_(ok), likely=False):
            builder.ret(BYTE(None))
    elements, largest, arrays = (builder.load(cgutils.gep_inbounds(builder, seen, 0, k)) for k in range(3))
    _refuse_many(context, builder, limit, elements, arrays)
    status = _entered(context, builder, enter, frame, returned, _is_long(builder, elements, largest, depth))
    with builder.if_then(status.is_error, likely=False):
        context.call_conv.raise_error(builder, context.get_python_api(builder), status)
        builder.ret(BYTE(None))
    with builder.if_then(builder.icmp_signed("==", made, WORD(ONE))):
        builder.ret(builder.call(_function_of(builder, results, WORD(0), boxing.BOX), [returned, results]))
    builder.ret(_tuple(context, builder, made, results, returned))


def _memory(builder, size):
    place = builder.alloca(ir.IntType(8), size)
    place.align = 16
    return place


def _argument(builder, args, k):
    """The place of an item of a tuple of Python's: PyTupleObject in cpython/tupleobject.h."""
    items = builder.bitcast(builder.gep(args, [WORD(tuple.__basicsize__)]), BYTE.as_pointer())
    return builder.gep(items, [k])


def _limit(context, builder, args, count):
    """The object behind the arguments, or null; another number of arguments is refused."""
    size = builder.bitcast(builder.gep(args, [WORD(object.__basicsize__)]), WORD.as_pointer())
    more = builder.sub(builder.load(size), count)
    with builder.if_then(builder.icmp_unsigned(">", more, WORD(1)), likely=False):
        context.get_python_api(builder).err_set_string("PyExc_TypeError", COUNT)
        builder.ret(BYTE(None))
    limit = cgutils.alloca_once_value(builder, BYTE(None))
    with builder.if_then(cgutils.is_not_null(builder, more)):
        builder.store(builder.load(_argument(builder, args, count)), limit)
    return builder.load(limit)


def _function_of(builder, items, k, kind):
    place = builder.gep(items, [k, ir.IntType(32)(0)])
    return builder.bitcast(builder.load(place), kind.as_pointer())


def _refuse_many(context, builder, limit, elements, arrays):
    """Return with an error if there are more elements than the limit."""
    is_limited = builder.and_(cgutils.is_not_null(builder, limit), cgutils.is_not_null(builder, arrays))
    with builder.if_then(is_limited):
        api = context.get_python_api(builder)
        most = api.long_as_longlong(builder.bitcast(limit, api.pyobj))
        with builder.if_then(builder.icmp_signed(">", elements, most), likely=False):
            api.err_set_string("PyExc_ValueError", MANY)
            builder.ret(BYTE(None))


def _is_long(builder, elements, largest, depth):
    """Whether the elements of all arrays, or the largest extent to the power of the depth, are many."""
    clipped = builder.select(builder.icmp_signed("<", largest, WORD(EXTENT)), largest, WORD(EXTENT))
    steps = WORD(1)
    for k in range(DEPTH):
        steps = builder.mul(steps, builder.select(builder.icmp_signed(">", depth, WORD(k)), clipped, WORD(1)))
    either = builder.select(builder.icmp_signed(">", elements, steps), elements, steps)
    return builder.icmp_signed(">=", either, WORD(LONG))


def _entered(context, builder, enter, frame, returned, is_long):
    """The status of the kernel, which runs without Python's lock if it is long."""
    api = context.get_python_api(builder)
    state = cgutils.alloca_once_value(builder, ir.Constant(api.voidptr, None))
    error = cgutils.alloca_once_value(builder, ERROR.pointee(None))
    with builder.if_then(is_long):
        builder.store(api.save_thread(), state)
    code = builder.call(enter, [frame, returned, error])
    with builder.if_then(cgutils.is_not_null(builder, builder.load(state))):
        api.restore_thread(builder.load(state))
    return context.call_conv._get_return_status(builder, code, builder.load(error))


def _tuple(context, builder, count, results, returned):
    """The tuple of all results; null if one of them cannot be made."""
    kind, set_kind = ir.FunctionType(BYTE, [WORD]), ir.FunctionType(CODE, [BYTE, WORD, BYTE])
    made = builder.call(cgutils.get_or_insert_function(builder.module, kind, "PyTuple_New"), [count])
    put = cgutils.get_or_insert_function(builder.module, set_kind, "PyTuple_SetItem")
    with builder.if_then(cgutils.is_null(builder, made), likely=False):
        builder.ret(BYTE(None))
    with cgutils.for_range(builder, count) as loop:
        box = _function_of(builder, results, loop.index, boxing.BOX)
        obj = builder.call(box, [returned, builder.gep(results, [loop.index])])
        with builder.if_then(cgutils.is_null(builder, obj), likely=False):
            api = context.get_python_api(builder)
            api.decref(builder.bitcast(made, api.pyobj))
            builder.ret(BYTE(None))
        builder.call(put, [made, loop.index, obj])
    return made
