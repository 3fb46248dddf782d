"""Threads of compiled code: parts of a loop that run at the same time, each on a thread of the system's.

    in_parallel(part, threads, first, *args)      part(first + 0, 0, *args), part(first + 1, 1, *args), ..., joined

The threads begin and end with the call, so nothing is there before it or left behind it: neither a fork nor the end of
Python meets a thread of fad's. Beginning and ending one takes about 20 microseconds. A process has one such call at a
time: another one, from another thread of Python's, runs its parts one after the other. Part k of a loop is the same
wherever it runs, so the result does not depend on this.
"""

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import lower_builtin

from fad.kernels.c_symbols import BYTE
from fad.kernels.helpers import function_of
from fad.kernels.thread_parts import ENTRY, TASK, run_parts

__all__ = ["in_parallel"]


def in_parallel(part, threads, first, *args):
    """Call part(first + k, k, *args) for each k below `threads` (at most thread_parts.MOST), at the same time if that
    is possible.

    In plain Python the parts run one after the other.

    >>> found = [0, 0, 0]
    >>> def part(k, row, found):
    ...     found[row] += k
    >>> in_parallel(part, 3, 10, found)
    >>> found
    [10, 11, 12]
    """
    for k in range(threads):
        part(first + k, k, *args)


@infer_global(in_parallel)
class _Rule(AbstractTemplate):
    def generic(self, args, kws):
        part, _, _, *others = args
        others = tuple(map(types.unliteral, others))
        self.context.resolve_function_type(part, (types.intp, types.intp, *others), {})
        return signature(types.none, part, types.intp, types.intp, *others)


@lower_builtin(in_parallel, types.VarArg(types.Any))
def _emit(context, builder, sig, args):
    """All that the parts are given lies in one place. The threads are those of run_parts, which kernels share."""
    given = cgutils.alloca_once(builder, ir.LiteralStructType([a.type for a in args[3:]]))
    for k, a in enumerate(args[3:]):
        builder.store(a, cgutils.gep_inbounds(builder, given, 0, k))
    entry, excinfo = _entry(context, builder.module, sig, given.type)
    error = cgutils.alloca_once(builder, BYTE)
    code = builder.call(run_parts(context, builder.module),
                        [entry, builder.bitcast(given, BYTE), args[1], args[2], error])
    status = context.call_conv._get_return_status(builder, code, builder.bitcast(builder.load(error), excinfo))
    with cgutils.if_unlikely(builder, status.is_error):
        context.call_conv.return_status_propagate(builder, status)
    return context.get_dummy_value()


def _entry(context, module, sig, given):
    """The function of a thread, which calls the part and notes its status in the task; the type of its error."""
    kinds = types.intp, types.intp, *sig.args[3:]
    part = context.declare_function(module, function_of(context, sig.args[0].typing_key, kinds))
    entry = ir.Function(module, ENTRY.pointee, module.get_unique_name(f"{part.name}.thread"))
    entry.linkage = "internal"
    builder = ir.IRBuilder(entry.append_basic_block("entry"))
    task = builder.bitcast(entry.args[0], TASK.as_pointer())
    values, number, row, code, error = (cgutils.gep_inbounds(builder, task, 0, k) for k in range(5))
    values = builder.bitcast(builder.load(values), given)
    values = [builder.load(cgutils.gep_inbounds(builder, values, 0, k)) for k in range(len(sig.args) - 3)]
    status, _ = context.call_conv.call_function(
        builder, part, types.none, kinds, [builder.load(number), builder.load(row), *values])
    builder.store(status.code, code)
    builder.store(builder.bitcast(status.excinfoptr, BYTE), error)
    builder.ret(BYTE(None))
    return entry, status.excinfoptr.type
