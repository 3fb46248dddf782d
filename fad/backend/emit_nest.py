"""Printing nest trees: loops, registers, rows and arrays, with small expressions written where they are used."""
from collections.abc import Callable
from typing import Any

from ..ir.graph import Var
from .allocation_hoisting import insert, room_for
from .array_contraction import homes, kept_index, uses
from .conflicts import READ
from .emit_add import LINE, NUMBER, Added, adds_to, print_add
from .emit_call import call_text, fill_text, fill_value
from .emit_check import print_check
from .emit_control import print_control
from .emit_expr import Expressions
from .emit_reduce import begin, print_place, print_reduce, print_scan
from .emit_shifted import Registers, print_shifted
from .fission import separated
from .fuse import Scheduler
from .indexmap import Axis, Elem, at
from .loop_ir import Begin, Loop, Step, steps_of
from .loop_splitting import split_short
from .lower import Lowering
from .names import Names
from .parallel import note_region
from .reductions import combine, combined, dtype_argument, unit
from .shifted_fusion import shifted
from .shifted_loop import ShiftedLoop, in_registers
from .simd_blocking import LANES, BlockLoop
from .templates import ExprText, bare, template
from .unroll_and_jam import begins_with_a_term, can_jam, loads_first, print_jammed
from .zero_terms import Terms, find_terms

WINDOW = 40                                 # how many statements away an expression may be used


class Printer:
    """Prints the blocks of one function, line by line."""

    def __init__(self, lowering: Lowering, names: Names):
        self.lowering, self.names = lowering, names
        self.storage, self.views = lowering.storage, lowering.views
        self.scheduler = Scheduler(self.views, self.storage)
        self.expressions = Expressions(self.scalar, self.element, self.axis)
        self.homes: dict[Var, Any] = {}
        self.pending_reads: dict[Var, set] = {}
        self.pending: dict[Var, ExprText] = {}                   # expressions to be written where they are used
        self.held: dict[Var, str] = {}  # roots that are added up in a register, in the loop that is being printed
        self.unbegun: set[Var] = set()                       # the coming reductions that have no first value
        self.axes: dict[Axis, str] = {}
        self.allocated: set[Var] = set()
        self.lines: list[str] = []
        self.mentioned: list[Any] = []                       # the user's lines
        self.indent = "    "
        self.places: list[Any] = []  # the loops and branches that are being printed, outermost first
        self.place: Any = None                               # the user's line that was last mentioned
        self.inputs: set[Var] = set()                        # the function's own, whose arrays are the caller's
        self.in_lanes = False                                # whether a block of points is being printed
        self.added: Added | None = None                      # the last line that added to something
        self.regions: list[tuple] = []  # (head, nest) of the loops that stand in no other nest: see parallel.py
        self.rotating: dict[Var, Registers] = {}              # roots whose elements wait in registers (emit_shifted.py)
        self.mostly_zero: set[Var] = set()                   # arrays of the function that are mostly zeros
        self.starting: set = set()  # sums in blocks (loops, then roots) whose first term is stored, not added to zeros
        self.terms: dict[Loop, Terms] = {}                   # of sums over blocks of points (zero_terms.py)
        self.sum_types: dict[str, Any] = {}                  # dtypes of what is added up in registers

    # -- lines -------------------------------------------------------------------------------------

    def line(self, text: str, step: "Step | None" = None) -> None:
        """One line, with the user's line behind it where it is another than before."""
        where = step.eqn.where if step is not None and step.eqn is not None else None
        text = self.indent + text
        if where is not None and (where.file, where.line) != self.place and where.text:
            self.place = (where.file, where.line)
            self.mentioned.append(where)
            text = f"{text:<58}  # {where.text}"
        self.lines.append(text)

    def indented(self, action: Callable) -> None:
        before, self.indent = self.indent, self.indent + "    "
        action()
        self.indent = before

    # -- blocks ------------------------------------------------------------------------------------

    def block(self, steps: list, outputs: tuple) -> None:
        """The statements of one block."""
        returned = {self.storage.root(a) for a in outputs if isinstance(a, Var)}
        nodes = self.scheduler.arrange_block(steps, outputs, set(self.homes))
        nodes = shifted(nodes, self.scheduler, returned | set(self.homes))
        found = uses(nodes, self.scheduler)
        written = {self.storage.root(v) for node in nodes for s in steps_of(node) for v in s.outs}
        pinned = returned | {r for r in found if r not in written or r in self.homes}
        self.homes.update(homes(found, pinned))
        self.homes.update(in_registers(nodes))
        nodes = separated(nodes, self.scheduler, self.homes)
        single = _read_once(found, returned, self.storage)
        for k, node in enumerate(nodes):
            for root, step in self._first_written(node).items():
                self._allocate(root, step)
            last = self.lines[-1] if self.lines else None
            self.node(node, nodes[k + 1:k + 1 + WINDOW], single)
            if isinstance(node, Loop) and not isinstance(node, ShiftedLoop):
                note_region(self, node, last)

    def nodes(self, nodes: list, single: set) -> None:
        for k, node in enumerate(nodes):
            self.node(node, nodes[k + 1:k + 1 + WINDOW], single)

    def node(self, node: Any, rest: list, single: set) -> None:
        if isinstance(node, BlockLoop):
            self._blocks(node, single)
        elif isinstance(node, ShiftedLoop):
            print_shifted(self, node, single)
        elif isinstance(node, Loop):
            self._loop(node, single)
        elif isinstance(node, Begin):
            if self.is_held(node.step, next((n for n in rest if isinstance(n, Loop)), None), set(self.axes)):
                self.unbegun.add(self.storage.root(node.step.out))
            elif begins_with_a_term(self, node.step, rest):
                self.starting.add(rest[0])
            else:
                begin(self, node.step)
        elif not (self._can_wait(node, rest, single) and self._wait(node)):
            self.step(node)

    def _blocks(self, loop: BlockLoop, single: set) -> None:
        start, count = self.names.of(loop.start), self.names.of(loop.count)
        extent = self.expressions.index(loop.axis.extent)
        self.in_lanes = True
        find_terms(self, loop)
        self.line(f"for {start} in range(0, {extent.source}, {LANES}):")

        def block() -> None:
            self.line(f"{count} = min({LANES}, {extent.source} - {start})")
            self.nodes(loads_first(self, loop.nodes), single)
        self.indented(block)
        self.in_lanes = False

    def _loop(self, loop: Loop, single: set) -> None:
        if can_jam(self, loop):
            print_jammed(self, loop, single)
            return
        name = self.axes[loop.axis] = self.names.loop(self.axes.values())
        held = [s for s in loop.nodes if isinstance(s, Step) and self.is_held(s, loop, set(self.axes))]
        for step in held:
            self.held[self.storage.root(step.out)] = sum_name = self.names.fresh("partial")
            self.sum_types[sum_name] = step.out.type.dtype
            self.line(f"{sum_name} = {unit(step)}", step)
        self.line(f"for {name} in range({self.expressions.index(loop.axis.extent).source}):")
        head = self.lines[-1]
        self.indented(lambda: self.nodes(loop.nodes, single))
        if self.lines[-1] is head:                            # all that it does is to copy elements onto themselves
            self.lines.pop()
        split_short(self, head)
        del self.axes[loop.axis]
        for step in held:
            self.release(step, self.held.pop(self.storage.root(step.out)))

    def is_held(self, step: Step, loop: "Loop | None", around: set) -> bool:
        """Whether a reduction adds to one element all through an innermost loop (around: the axes of the loops
        outside).
        """
        if (
            step.kind != "reduce"
            or loop is None
            or not self.home(step.out).kept
            or any(isinstance(n, (Loop, Begin)) for n in loop.nodes)
        ):
            return False
        inside = [n for n in loop.nodes if n.kind == "reduce" and n.out is step.out]
        outer = around - {loop.axis}
        return len(inside) == 1 and all(a in outer for i in inside[0].target for a in i.axes())

    def release(self, step: Step, name: str) -> None:
        """Put what was added up in a register where it belongs."""
        target = self.target(step)
        if self.storage.root(step.out) in self.unbegun:
            self.unbegun.discard(self.storage.root(step.out))
            self.line(f"{target} = {name}")
        else:
            self.line(combined(target, combine(step), ExprText(name), step.out.type.dtype))
        self.names.release(name)

    def _can_wait(self, step: Step, rest: list, single: set) -> bool:
        """Whether the step's expression may be written where its result is read, once and before anything it reads
        changes.
        """
        own = self.storage.root(step.out)
        if step.kind != "map" or own not in single or not self.home(step.out).is_register:
            return False
        reads = self.reads(step)
        for node in rest:
            if not isinstance(node, Step):
                return False
            accesses = self.scheduler.accesses(node)
            if any(root is own and mode == READ for root, _, mode in accesses):
                return node.kind in ("map", "add", "reduce") and _once(node, step.out, self)
            if any(root in reads and mode != READ for root, _, mode in accesses):
                return False
        return False

    def reads(self, step: Step) -> set:
        """Roots that the step's expression reads, those read by the expressions within it included."""
        found: set = set()
        for e in step.reads():
            root = self.storage.root(e.var)
            found |= self.pending_reads[root] if root in self.pending else set(self.storage.arrays_of(root))
        return found

    def _wait(self, step: Step) -> bool:
        """Keep the step's expression for its reader, unless it has grown too long."""
        value = self.expressions.value(step)
        # whatever its names are numbered: equal code is to have equal text
        short = len(NUMBER.sub("", value.source)) <= LINE // 2
        if short:
            self.pending_reads[self.storage.root(step.out)] = self.reads(step)
            self.pending[self.storage.root(step.out)] = value
        return short

    # -- variables ---------------------------------------------------------------------------------

    def home(self, var: Var) -> Any:
        return self.homes[self.storage.root(var)]

    def name(self, var: Var, step: "Step | None" = None) -> str:
        """The name of the variable or of the array it lives in."""
        root = self.storage.root(var)
        return self.names.of(root, step.eqn.op.traits.stem if step is not None and step.eqn is not None else "t")

    def scalar(self, var: Var) -> ExprText:
        """A number in a register, or the expression that it stands for."""
        root = self.storage.root(var)
        waiting = self.pending.get(root)
        return waiting if waiting is not None else ExprText(self.names.of(root))

    def axis(self, axis: Axis) -> str:
        return self.axes[axis]

    def element(self, elem: Elem) -> ExprText:
        """An element that is read."""
        root = self.storage.root(elem.var)
        home = self.homes.get(root)
        if root in self.rotating and (register := self.rotating[root].of(elem.at)) is not None:
            return ExprText(register)
        if not elem.at or (home is not None and home.is_register):
            return self.scalar(elem.var)
        return ExprText(self._subscripted(self.names.of(root), elem.at, home))

    def _subscripted(self, name: str, place: tuple, home: Any) -> str:
        kept = home.kept if home is not None else range(len(place))
        return f"{name}[{', '.join(self.expressions.index(kept_index(place, k, home)).source for k in kept)}]"

    def target(self, step: Step) -> str:
        """The place that a step writes to."""
        home, root = self.home(step.out), self.storage.root(step.out)
        if root in self.held:
            return self.held[root]
        if root in self.rotating:
            return self.rotating[root].names[0]
        if not step.target or home.is_register:
            return self.name(step.out, step)
        return self._subscripted(self.name(step.out, step), step.target, home)

    def extents(self, var: Var) -> tuple:
        """The extents of what is kept of an array."""
        home, shape = self.home(var), self.storage.root(var).type.shape
        return tuple(
            [at(LANES) if home.lanes and home.lanes[0] == k else self.views.number(shape[k]) for k in home.kept]
        )

    def shape(self, var: Var) -> str:
        """The extents of what is kept of an array, as NumPy's creation functions take them."""
        return _shape([self.expressions.index(n).source for n in self.extents(var)])

    # -- storage -----------------------------------------------------------------------------------

    def _first_written(self, node: object) -> dict:
        """The arrays that this node is the first to write to and does not make, in order, each with the first step that
        writes to it.
        """
        found: dict[Var, Step] = {}
        made: set[Var] = set()
        for step in steps_of(node):
            if step.kind in ("map", "add", "reduce", "scan", "place"):
                root = self.storage.root(step.out)
                if root not in self.allocated and self.home(root).kept and not _makes_its_array(node, step):
                    found.setdefault(root, step)
            elif step.kind in ("fill", "call", "control"):
                made.update(map(self.storage.root, step.outs))
        return {root: step for root, step in found.items() if root not in made}

    def _allocate(self, root: Var, step: Step) -> None:
        name, extents, room = (
            self.name(root, step),
            [self.expressions.index(n).source for n in self.extents(root)],
            self.room(root),
        )
        self.allocated.add(root)
        if room is None:
            self.line(f"{name} = {self._made(root, extents)}")
        elif room.exact:
            insert(self, room.place, f"{name} = {self._made(root, extents)}")
        else:
            whole = self.names.fresh("room")
            most, *others = [self.expressions.index(n).source for n in room.extents]
            # there may be no iteration
            insert(self, room.place, f"{whole} = {self._made(root, [f'max({most}, 0)', *others])}")
            self.line(f"{name} = {whole}[:{extents[0]}]")

    def fill_room(self, root: Var, step: Step, value: str) -> None:
        """Make an array in front of a loop, and fill it where it is needed."""
        self._allocate(root, step)
        if value:
            self.line(f"{self.name(root, step)}[{', '.join(':' * len(self.home(root).kept))}] = {value}", step)

    @staticmethod
    def _made(root: Var, extents: list) -> str:
        return f"np.empty({_shape(extents)}{dtype_argument(root.type.dtype)})"

    def room(self, root: Var) -> Any:
        """The place where an array that is not allocated yet may be made, if not where it is needed."""
        return None if root in self.allocated else room_for(self, root, self.extents(root))

    # -- steps ---------------------------------------------------------------------------------------------------------

    def step(self, step: Step) -> None:
        _PRINT[step.kind](self, step)
        rotating = self.rotating.get(self.storage.root(step.out)) if self.rotating else None
        if rotating is not None and rotating.array.stored:
            self.line(f"{self._subscripted(self.name(step.out), step.target, None)} = {rotating.names[0]}")

    def _map(self, step: Step) -> None:
        value, target = self.expressions.value(step).source, self.target(step)
        if adds_to(self, step, target, value):
            self.line(f"{target} {value[len(target) + 1]}= {bare(value[len(target) + 3:])}", step)
        elif value != target:
            self.line(f"{target} = {value}", step)

    def _fill(self, step: Step) -> None:
        root = self.storage.root(step.out)
        value = fill_value(self, step)
        if self.room(root) is not None:
            self.fill_room(root, step, value)
            return
        self.allocated.add(root)
        self.line(f"{self.name(root, step)} = {fill_text(self, step, value)}", step)

    def _call(self, step: Step) -> None:
        root = self.storage.root(step.outs[0]) if step.eqn is None else None
        if root is not None and self.room(root) is not None:
            self._allocate(root, step)
            self.line(f"{self.name(step.out)}[{', '.join(':' * len(root.type.shape))}] = {self.name(step.arrays[0])}")
            return
        for v in step.outs:
            self.allocated.add(self.storage.root(v))
        self.line(call_text(self, step), step)

_PRINT: dict[str, Callable] = {
    "map": Printer._map,
    "add": print_add,
    "reduce": print_reduce,
    "scan": print_scan,
    "place": print_place,
    "fill": Printer._fill,
    "call": Printer._call,
    "check": print_check,
    "control": print_control,
}


def _shape(extents: list) -> str:
    return extents[0] if len(extents) == 1 else f"({', '.join(extents)})"


def _makes_its_array(node: object, step: Step) -> bool:
    """Whether the node is the beginning of a reduction, which makes its array itself."""
    return isinstance(node, Begin) and step.kind == "reduce"


def _read_once(found: dict, returned: set, storage: Any) -> set:
    """Roots that one step writes and one step reads, in one body."""
    single = set()
    for root, uses_of in found.items():
        if root in returned or len(uses_of) != 2 or uses_of[0].path != uses_of[1].path:
            continue
        writers = [u for u in uses_of if root in [storage.root(v) for v in u.step.outs]]
        if len(writers) == 1 and writers[0].step.kind == "map":
            single.add(root)
    return single


def _once(step: Step, var: Var, printer: Printer) -> bool:
    """Whether the step's template writes this operand once (or the operand is short enough to be written twice)."""
    if step.eqn is None or step.eqn.op.kind != "elementwise" or not step.eqn.op.text or step.eqn.op.text == "cast":
        return True
    positions = [
        k
        for k, a in enumerate(step.args)
        if isinstance(a, Elem) and printer.storage.root(a.var) is printer.storage.root(var)
    ]
    return all(template(step.eqn.op.text).count(k) == 1 or step.eqn.op.name in ("square",) for k in positions)
