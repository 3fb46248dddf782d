"""Strip mining: long loops of kernels run in strips, and between two strips they look for signals (safepoints.py).

    for i in range(n):        left = n
        ...                   while True:
                                  strip = min(left, 65536)
                     --->         left -= strip
                                  ...                       # `strip` iterations, which LLVM can make vectors of
                                  if left <= 0:
                                      break
                                  pause

This happens as the loop is lowered, so that the text stays as it is. Other loops (`while`) count their iterations.
Functions of fad.kernels, which kernels call on whole arrays, do not pause.
"""
import contextlib
import math

from llvmlite import ir as llvm_ir
from numba.core import cgutils, ir, types
from numba.core.compiler_machinery import register_pass

from fad.kernels import safepoints
from fad.kernels.error_paths import failing_calls
from fad.kernels.lowering import LeanLower
from fad.kernels.numba_pipeline import LeanCompiler, LeanLowering

__all__ = ["KernelCompiler"]

WORD = llvm_ir.IntType(64)
# iterations of a strip; NESTED: of the first one of a loop around others, which are often short
FIRST, NESTED, OFTEN, SELDOM = 1 << 2, 1 << 4, 1 << 6, 1 << 16
TURN = 1 << 10  # most iterations of a `while` between two looks at the clock
WORK = 1 << 22  # statements of a strip, where an iteration's can be counted


class _InterruptibleLower(LeanLower):
    """Lowering with strip mining."""

    def _find_singly_assigned_variable(self):
        super()._find_singly_assigned_variable()
        self._strips = {}                                    # header of a loop -> its strips, or None
        self._clock = self._record = self._turns = None

    # -- errors ------------------------------------------------------------------------------------

    def lower_block(self, block):
        self._alive = set(self.func_ir.fad_arriving[self._labels[id(block)]])
        super().lower_block(block)

    def _note(self, inst):
        """Follow which variables hold references at this place of the block."""
        if isinstance(inst, ir.Del):
            self._alive.discard(inst.value)
        elif isinstance(inst, ir.Assign):
            self._alive.add(inst.target.name)

    @contextlib.contextmanager
    def _releasing(self):
        """Within, a call that fails lets go of all that this function holds: Numba never does."""
        def let_go(builder):
            if builder is self.builder:
                self._let_go(self._alive)
        with failing_calls(self.context, let_go):
            yield

    def _let_go(self, names):
        for name in sorted(names):
            if name in self._blk_local_varmap or name not in self._singly_assigned_vars:
                self.delvar(name)

    # -- loops -------------------------------------------------------------------------------------

    def lower_inst(self, inst):
        if not isinstance(inst, (ir.Jump, ir.Branch)):
            super().lower_inst(inst)
            self._note(inst)
            return
        known = {target: self.blkmap[target] for target in inst.get_targets()}
        self.blkmap.update({target: self._edge(target) for target in known})
        super().lower_inst(inst)
        self.blkmap.update(known)

    def _edge(self, target):
        """The block of LLVM that an edge from the present block leads to."""
        ended = self._loops.tests.get(self._label)
        here, block = self._strips_of(ended), self.builder.block
        if here is None or target in self._loops.found[ended].body:
            return self._arrival(target)
        end = self.builder.append_basic_block(f"end{self._label}")
        self.builder.position_at_end(end)
        is_over = self.builder.icmp_signed("<=", self.builder.load(here.left), here.size.type(0))
        with self.builder.if_then(self.builder.not_(is_over), likely=False):
            before = self.builder.load(self._known_clock())
            self._pause()
            has_moved = self.builder.icmp_signed("!=", before, self.builder.load(self._known_clock()))
            here.go_on(has_moved)
        self.builder.branch(self._arrival(target))
        self.builder.position_at_end(block)
        return end

    def _arrival(self, target):
        """The block that stands for a target, behind what happens on the way there."""
        loop, strips = self._loops.found.get(target), self._strips_of(target)
        if loop is None:
            return self.blkmap[target]
        if self._label in loop.body:
            if not self._loops.is_counted(target):
                self._count_iteration()
            return self.blkmap[target]
        if strips is None:
            return self.blkmap[target]
        strips.arrive()
        return strips.start

    def _strips_of(self, header):
        if header not in self._strips:
            size = self._size_of_strips(header) if header in self._loops.found else None
            self._strips[header] = _Strips(self, header, *size) if size else None
        return self._strips[header]

    def _size_of_strips(self, header):
        """The iterations of a loop's (first) strip, and whether later strips follow the clock; None for a loop without
        strips.

        Inner loops of which LLVM makes vectors have none: it would no longer see both loops as one nest. They are as
        short as arrays are, and the loops around them pause.
        """
        loops = self._loops
        if not loops.is_counted(header) or loops.is_vector(header, self._is_carried):
            return None
        work = loops.iteration(header)
        on_arrays = any(map(self._works_on_arrays, loops.statements(loops.found[header].body)))
        if work == math.inf or on_arrays:
            size = FIRST if on_arrays else NESTED
            return (size, True) if loops.iterations(header) > size else None
        size = OFTEN if work * OFTEN >= WORK else min(SELDOM, WORK // (work * OFTEN) * OFTEN)
        return (size, False) if loops.iterations(header) > size else None

    def _is_carried(self, name, label):
        """Whether an iteration that begins in a block may begin with this number."""
        return name in self.func_ir.fad_live[label] and isinstance(self.typeof(name), (types.Float, types.Complex))

    def _works_on_arrays(self, statement):
        """Whether a statement makes, copies or fills an array, or calls a function on one."""
        if isinstance(statement, ir.SetItem):
            return isinstance(self.typeof(statement.target.name), types.Array) and not self._is_place(
                statement.index.name
            )
        value = getattr(statement, "value", None)
        if not isinstance(value, ir.Expr) or value.op != "call":
            return False
        return any(
            isinstance(self.typeof(v.name), (types.Array, types.BoundFunction))
            for v in (statement.target, *value.list_vars())
        )

    def _is_place(self, index):
        """Whether a subscript names one element."""
        kind = self.typeof(index)
        return all(isinstance(t, types.Integer) for t in (kind if isinstance(kind, types.BaseTuple) else (kind,)))

    def _count_iteration(self):
        """An iteration of a loop whose length is unknown: now and then, a pause. Turns are like the strips of loops
        whose iterations take an unknown time, but shorter: such a loop may be short, and the next one of another kind.
        """
        self._turns = self._turns or self._new_turns()
        left, size = self._turns
        count = self.builder.sub(self.builder.load(left), WORD(1))
        self.builder.store(count, left)
        with self.builder.if_then(self.builder.icmp_signed("==", count, count.type(0)), likely=False):
            before = self.builder.load(self._known_clock())
            self._pause()
            has_moved = self.builder.icmp_signed("!=", before, self.builder.load(self._known_clock()))
            now = _next_size(self.builder, self.builder.load(size), has_moved, TURN)
            self.builder.store(now, size)
            self.builder.store(now, left)

    def _new_turns(self):
        """Two counters in memory: the iterations that are left of this turn, and those that it has."""
        places = [cgutils.alloca_once(self.builder, WORD) for _ in range(2)]
        with self.builder.goto_entry_block():
            for place in places:
                self.builder.store(WORD(OFTEN), place)
        return places

    # -- pauses ------------------------------------------------------------------------------------

    def _pause(self):
        safepoints.emit_pause(self.context, self.builder, self._known_clock(), self._recorded(), self._release)

    def _known_clock(self):
        self._clock = self._clock or safepoints.new_clock(self.builder)
        return self._clock

    def _release(self):
        """Let go of what the present block leaves: an interrupted function has arrays of its own."""
        self._let_go(self.func_ir.fad_live[self._label])

    def _recorded(self):
        if self._record is None:
            given = zip(self.fndesc.argtypes, self.fnargs)
            self._record = safepoints.record_of(
                self.context, self.builder, [(t, v) for t, v in given if isinstance(t, types.Array)]
            )
        return self._record

    def _lower_call_normal(self, fnty, expr, signature):
        is_helper = isinstance(fnty, types.Function) and hasattr(fnty.typing_key, "fad_apart")
        takes_arrays = any(isinstance(t, types.Array) for t in signature.args)
        with contextlib.ExitStack() as stack:
            if is_helper:
                stack.enter_context(safepoints.watch(self.context, self.builder, self._recorded()))
            if takes_arrays:
                stack.enter_context(self._releasing())
            return super()._lower_call_normal(fnty, expr, signature)


class _Strips:
    """The strips of one loop over a range: `start` is the block where one begins, `left` the iterations left behind it.

    A strip takes `size` iterations. Where nobody knows how long an iteration takes, each strip is twice as long as the
    one before while the clock stands still, and half as long when it has moved.
    """

    def __init__(self, lower, header, size, follows_clock):
        self.builder, self.load, self.first, self.follows_clock = lower.builder, lower.loadvar, size, follows_clock
        self.iterator = lower._loops.iterator(header)        # the name of its variable
        self.start = self.builder.append_basic_block(f"strip{header}")
        with self.builder.goto_block(self.start):
            place = self._parts()[3]
            self.word = place.type.pointee
            self.left, self.size = (cgutils.alloca_once(self.builder, self.word) for _ in range(2))
            left, size = self.builder.load(self.left), self._size()
            strip = self.builder.select(self.builder.icmp_signed("<", left, size), left, size)
            self.builder.store(strip, place)
            self.builder.store(self.builder.sub(left, strip), self.left)
            self.builder.branch(lower.blkmap[header])

    def arrive(self):
        """Emit what comes before the first strip."""
        self.builder.store(self.builder.load(self._parts()[3]), self.left)
        self.builder.store(self.word(self.first), self.size)

    def go_on(self, has_moved):
        """Emit what comes before another strip: the iterator is one number too far, since it moves before it is found
        to be at its end.
        """
        number, _, step, _ = self._parts()
        self.builder.store(self.builder.sub(self.builder.load(number), step), number)
        if self.follows_clock:
            self.builder.store(_next_size(self.builder, self._size(), has_moved, SELDOM), self.size)
        self.builder.branch(self.start)

    def _size(self):
        return self.builder.load(self.size) if self.follows_clock else self.word(self.first)

    def _parts(self):
        """Of Numba's iterator: the place of the coming number, the end, the step, the place of the number of coming
        iterations.
        """
        return cgutils.unpack_tuple(self.builder, self.load(self.iterator), 4)


def _next_size(builder, size, has_moved, most):
    """Emit how many iterations follow before the next look at the clock: half as many if it has moved, else twice as
    many, up to a limit.
    """
    one, limit = size.type(1), size.type(most)
    shorter, longer = builder.lshr(size, one), builder.shl(size, one)
    shorter = builder.select(builder.icmp_signed(">", shorter, one), shorter, one)
    longer = builder.select(builder.icmp_signed("<", longer, limit), longer, limit)
    return builder.select(has_moved, shorter, longer)


@register_pass(mutates_CFG=True, analysis_only=False)
class _InterruptibleLowering(LeanLowering):
    _name = "fad_interruptible_lowering"
    lowering_class = _InterruptibleLower


class KernelCompiler(LeanCompiler):
    """The pipeline of kernels and their helpers: LeanCompiler's, with strip mining."""

    PASSES = tuple(_InterruptibleLowering if one is LeanLowering else one for one in LeanCompiler.PASSES)
