"""Threads of compiled code: parts of a loop that run at the same time, each on a thread of the system's.

    in_parallel(part, threads, first, *args)      part(first + 0, 0, *args), part(first + 1, 1, *args), ..., joined

The threads begin and end with the call, so nothing is there before it or left behind it: neither a fork nor the end of
Python meets a thread of fad's. Beginning and ending one takes about 20 microseconds. A process has one such call at a
time: another one, from another thread of Python's, runs its parts one after the other. Part k of a loop is the same
wherever it runs, so the result does not depend on this.
"""

import ctypes
import os

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import lower_builtin

from fad.kernels.c_symbols import BYTE, WORD, bind
from fad.kernels.helpers import function_of

__all__ = ["MOST", "in_parallel"]

MOST = 64  # threads
CODE = ir.IntType(32)

_busy = ctypes.c_int64(0)  # whether a call runs its parts on threads
_system = ctypes.CDLL(None) if os.name == "posix" else None


def _bound(name):
    """The symbol of a function of the system's, None where there is none."""
    function = getattr(_system, name, None) if _system is not None else None
    return function and bind(f"fad.{name}", ctypes.cast(function, ctypes.c_void_p).value)


CREATE, JOIN = _bound("pthread_create"), _bound("pthread_join")
BUSY = bind("fad.threads.busy", ctypes.addressof(_busy))
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: setattr(_busy, "value", 0))


def in_parallel(part, threads, first, *args):
    """Call part(first + k, k, *args) for each k below `threads` (at most MOST), at the same time if that is possible.

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
    region = _Region(context, builder, sig, args)
    with builder.if_else(region.may_begin()) as (on_threads, in_turn):
        with on_threads:
            region.run_on_threads()
        with in_turn:
            region.run_in_turn()
    region.raise_first_error()
    return context.get_dummy_value()


class _Region:
    """One call: a task for each part (what all of them are given, number, row, status, error) and the threads."""

    def __init__(self, context, builder, sig, args):
        self.context, self.builder = context, builder
        self.threads, self.first = args[1], args[2]
        self.sig = signature(types.none, types.intp, types.intp, *sig.args[3:])
        self.error = ir.IntType(8).as_pointer()
        given = ir.LiteralStructType([a.type for a in args[3:]])
        self.task = ir.LiteralStructType([given.as_pointer(), WORD, WORD, CODE, self.error])
        self.given = cgutils.alloca_once(builder, given)
        for k, a in enumerate(args[3:]):
            builder.store(a, cgutils.gep_inbounds(builder, self.given, 0, k))
        self.tasks = cgutils.alloca_once(builder, ir.ArrayType(self.task, MOST))
        self.ids = cgutils.alloca_once(builder, ir.ArrayType(WORD, MOST))
        self.begun = cgutils.alloca_once(builder, ir.ArrayType(CODE, MOST))
        descriptor = function_of(context, sig.args[0].typing_key, self.sig.args)
        self.entry = self._entry(context.declare_function(builder.module, descriptor))
        with cgutils.for_range(builder, self.threads) as loop:
            self._fill(loop.index)

    def _fill(self, k):
        for place, value in enumerate((self.given, self.builder.add(self.first, k), k, CODE(0), self.error(None))):
            self.builder.store(value, self._field(k, place))

    def _field(self, k, place):
        return cgutils.gep_inbounds(self.builder, self.tasks, 0, k, place)

    def _task(self, k):
        return self.builder.bitcast(cgutils.gep_inbounds(self.builder, self.tasks, 0, k), BYTE)

    def _entry(self, function):
        """The function of a thread: it calls the part, and notes its status in the task."""
        kind = ir.FunctionType(BYTE, [BYTE])
        entry = ir.Function(self.builder.module, kind, self.builder.module.get_unique_name(f"{function.name}.thread"))
        entry.linkage = "internal"
        builder = ir.IRBuilder(entry.append_basic_block("entry"))
        task = builder.bitcast(entry.args[0], self.task.as_pointer())
        given, number, row, code, error = (cgutils.gep_inbounds(builder, task, 0, k) for k in range(5))
        given = builder.load(given)
        values = [builder.load(cgutils.gep_inbounds(builder, given, 0, k)) for k in range(len(self.sig.args) - 2)]
        status, _ = self.context.call_conv.call_function(
            builder, function, types.none, self.sig.args, [builder.load(number), builder.load(row), *values]
        )
        builder.store(status.code, code)
        builder.store(builder.bitcast(status.excinfoptr, self.error), error)
        self.excinfo = status.excinfoptr.type
        builder.ret(BYTE(None))
        return entry

    def may_begin(self):
        """Emit whether this call has the process's threads; it has them until it is over."""
        if CREATE is None or JOIN is None:
            return ir.Constant(ir.IntType(1), 0)
        many = self.builder.icmp_signed(">", self.threads, WORD(1))
        taken = cgutils.alloca_once_value(self.builder, ir.Constant(ir.IntType(1), 0))
        with self.builder.if_then(many):
            swapped = self.builder.cmpxchg(self._busy(), WORD(0), WORD(1), "seq_cst", "seq_cst")
            self.builder.store(self.builder.extract_value(swapped, 1), taken)
        return self.builder.load(taken)

    def _busy(self):
        found = self.builder.module.globals.get(BUSY)
        if found is None:
            found = ir.GlobalVariable(self.builder.module, WORD, BUSY)
            found.linkage = "external"
        return found

    def run_on_threads(self):
        """Emit a thread for each part but the first, which this thread takes. A part that gets no thread runs here."""
        builder, pointer = self.builder, WORD.as_pointer()
        create = self._function(CREATE, [pointer, BYTE, self.entry.type, BYTE])
        join = self._function(JOIN, [WORD, BYTE.as_pointer()])
        with cgutils.for_range(builder, self.threads, WORD(1)) as loop:
            place = cgutils.gep_inbounds(builder, self.ids, 0, loop.index)
            failed = builder.call(create, [place, BYTE(None), self.entry, self._task(loop.index)])
            builder.store(failed, cgutils.gep_inbounds(builder, self.begun, 0, loop.index))
        builder.call(self.entry, [self._task(WORD(0))])
        with cgutils.for_range(builder, self.threads, WORD(1)) as loop:
            failed = builder.load(cgutils.gep_inbounds(builder, self.begun, 0, loop.index))
            with builder.if_else(cgutils.is_null(builder, failed)) as (there, here):
                with there:
                    number = builder.load(cgutils.gep_inbounds(builder, self.ids, 0, loop.index))
                    builder.call(join, [number, BYTE.as_pointer()(None)])
                with here:
                    builder.call(self.entry, [self._task(loop.index)])
        builder.store_atomic(WORD(0), self._busy(), "seq_cst", 8)

    def _function(self, name, kinds):
        return cgutils.get_or_insert_function(self.builder.module, ir.FunctionType(CODE, kinds), name)

    def run_in_turn(self):
        """Emit the parts one after the other."""
        with cgutils.for_range(self.builder, self.threads) as loop:
            self.builder.call(self.entry, [self._task(loop.index)])

    def raise_first_error(self):
        """Emit the error of the first part that has one."""
        builder, conv = self.builder, self.context.call_conv
        with cgutils.for_range(builder, self.threads) as loop:
            code = builder.load(self._field(loop.index, 3))
            error = builder.bitcast(builder.load(self._field(loop.index, 4)), self.excinfo)
            status = conv._get_return_status(builder, code, error)
            with cgutils.if_unlikely(builder, status.is_error):
                conv.return_status_propagate(builder, status)
