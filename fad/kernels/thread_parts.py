"""Threads of the system's for the parts of a loop (threads.py): one function, which all kernels share."""
from llvmlite import ir
from numba.core import cgutils
from numba.core.callconv import RETCODE_NONE, RETCODE_OK

from fad.kernels import parts
from fad.kernels.c_symbols import BYTE, WORD
from fad.kernels.system_threads import BUSY, CREATE, JOIN

__all__ = ["CODE", "ENTRY", "MOST", "TASK", "run_parts"]

MOST = 64  # threads
CODE = ir.IntType(32)
TASK = ir.LiteralStructType([BYTE, WORD, WORD, CODE, BYTE])  # what all are given, number, row; status, error
ENTRY = ir.FunctionType(BYTE, [BYTE]).as_pointer()           # of a task


@parts.part("run_parts", ir.FunctionType(CODE, [ENTRY, BYTE, WORD, WORD, BYTE.as_pointer()]))
def run_parts(context, builder, function):
    """run_parts(entry, given, threads, first, place of an error): the status of the first part that failed, or of all.
    """
    region = _Region(builder, function.args)
    with builder.if_else(region.may_begin()) as (on_threads, in_turn):
        with on_threads:
            region.run_on_threads()
        with in_turn:
            region.run_in_turn()
    region.return_first_error()
    builder.ret(RETCODE_OK)


class _Region:
    """One call: a task for each part, and the threads."""

    def __init__(self, builder, args):
        self.builder = builder
        self.entry, given, self.threads, first, self.error = args
        self.tasks = cgutils.alloca_once(builder, ir.ArrayType(TASK, MOST))
        self.ids = cgutils.alloca_once(builder, ir.ArrayType(WORD, MOST))
        self.begun = cgutils.alloca_once(builder, ir.ArrayType(CODE, MOST))
        with cgutils.for_range(builder, self.threads) as loop:
            values = given, builder.add(first, loop.index), loop.index, CODE(0), BYTE(None)
            for place, value in enumerate(values):
                builder.store(value, self._field(loop.index, place))

    def _field(self, k, place):
        return cgutils.gep_inbounds(self.builder, self.tasks, 0, k, place)

    def _task(self, k):
        return self.builder.bitcast(cgutils.gep_inbounds(self.builder, self.tasks, 0, k), BYTE)

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
        create = self._function(CREATE, [pointer, BYTE, ENTRY, BYTE])
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

    def return_first_error(self):
        """Emit that the function ends with the error of the first part that has one."""
        builder = self.builder
        with cgutils.for_range(builder, self.threads) as loop:
            code = builder.load(self._field(loop.index, 3))
            is_error = [builder.icmp_signed("!=", code, fine) for fine in (RETCODE_OK, RETCODE_NONE)]
            with cgutils.if_unlikely(builder, builder.and_(*is_error)):
                builder.store(builder.load(self._field(loop.index, 4)), self.error)
                builder.ret(code)
