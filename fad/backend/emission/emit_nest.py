"""Printing nest trees: loops, registers, rows and arrays, with small expressions written where they are used."""
from collections.abc import Callable
from typing import Any

from ...ir.graph import Var
from ..schedule.array_contraction import homes, uses
from ..schedule.conflicts import READ
from ..schedule.fission import separated
from ..schedule.indexmap import Elem
from ..schedule.loop_ir import Begin, Loop, Step, steps_of
from ..schedule.reductions import unit
from ..schedule.shifted_fusion import shifted
from ..schedule.shifted_loop import ShiftedLoop, in_registers
from ..schedule.simd_blocking import LANES, BlockLoop
from ..text.templates import SUM, bare, template
from .allocation_hoisting import allocate, fill_room, room
from .emit_add import LINE, NUMBER, adds_to, print_add
from .emit_call import call_text, fill_text, fill_value
from .emit_control import print_control
from .emit_reduce import begin, is_held, print_place, print_reduce, print_scan, release
from .emit_shifted import print_shifted
from .loop_splitting import split_short
from .parallel import note_region
from .printer import Printer
from .unroll_and_jam import begins_with_a_term, can_jam, loads_first, print_jammed
from .zero_terms import find_terms

WINDOW = 40                                 # how many statements away an expression may be used


class NestPrinter(Printer):
    """Prints the nest trees of one function."""

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
                allocate(self, root, step)
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
            if is_held(self, node.step, next((n for n in rest if isinstance(n, Loop)), None), set(self.axes)):
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
        held = [s for s in loop.nodes if isinstance(s, Step) and is_held(self, s, loop, set(self.axes))]
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
            release(self, step, self.held.pop(self.storage.root(step.out)))

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

    def _wait(self, step: Step) -> bool:
        """Keep the step's expression for its reader, unless it has grown too long."""
        value = self.expressions.value(step)
        # whatever its names are numbered: equal code is to have equal text
        short = len(NUMBER.sub("", value.source)) <= LINE // 2
        if short:
            self.pending_reads[self.storage.root(step.out)] = self.reads(step)
            self.pending[self.storage.root(step.out)] = value
        return short

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

    # -- steps ---------------------------------------------------------------------------------------------------------

    def step(self, step: Step) -> None:
        _PRINT[step.kind](self, step)
        rotating = self.rotating.get(self.storage.root(step.out)) if self.rotating else None
        if rotating is not None and rotating.array.stored:
            self.line(f"{self.subscripted(self.name(step.out), step.target, None)} = {rotating.names[0]}")

    def _map(self, step: Step) -> None:
        value, target = self.expressions.value(step).source, self.target(step)
        if adds_to(self, step, target, value):
            self.line(f"{target} {value[len(target) + 1]}= {bare(value[len(target) + 3:])}", step)
        elif value != target:
            self.line(f"{target} = {value}", step)

    def _fill(self, step: Step) -> None:
        root = self.storage.root(step.out)
        value = fill_value(self, step)
        if room(self, root) is not None:
            fill_room(self, root, step, value)
            return
        self.allocated.add(root)
        self.line(f"{self.name(root, step)} = {fill_text(self, step, value)}", step)

    def _call(self, step: Step) -> None:
        root = self.storage.root(step.outs[0]) if step.eqn is None else None
        if root is not None and room(self, root) is not None:
            allocate(self, root, step)
            self.line(f"{self.name(step.out)}[{', '.join(':' * len(root.type.shape))}] = {self.name(step.arrays[0])}")
            return
        for v in step.outs:
            self.allocated.add(self.storage.root(v))
        self.line(call_text(self, step), step)


def _print_check(printer: Printer, step: Step) -> None:
    """A condition, and the error that is raised where it does not hold."""
    if step.eqn.op.name == "check_room":
        printer.line(f"if not room_for({printer.expressions.operand(step.args[0]).source}):", step)
        printer.indented(
            lambda: printer.line("raise MemoryError('what a loop saves for its reverse sweep does not fit in memory')")
        )
        return
    a, b = (printer.expressions.operand(x).within(SUM) for x in step.args)
    where = step.eqn.where.text if step.eqn.where is not None else ""
    if step.eqn.op.name == "check_index":
        printer.line(f"if {a} < -{b} or {a} >= {b}:" if " " not in b else f"if {a} < -({b}) or {a} >= {b}:", step)
        error, message = "IndexError", f"index out of range along axis {step.eqn.params['axis']}"
    else:
        printer.line(f"if {a} != {b}:", step)
        error, message = "ValueError", f"{step.eqn.params['what']} differ"
        if step.eqn.op.name == "check_that":
            error, message = step.eqn.params.get("error", "AssertionError"), step.eqn.params["what"]
    printer.indented(lambda: printer.line(f"raise {error}({message + (f': {where}' if where else '')!r})"))


_PRINT: dict[str, Callable] = {
    "map": NestPrinter._map,
    "add": print_add,
    "reduce": print_reduce,
    "scan": print_scan,
    "place": print_place,
    "fill": NestPrinter._fill,
    "call": NestPrinter._call,
    "check": _print_check,
    "control": print_control,
}


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
