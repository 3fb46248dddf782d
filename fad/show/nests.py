"""A program as it is printed: kernels (fused loop nests), loops and branches as frames, and what flows between.

A recorder is a printer that notes what it prints. So the picture shows the fusion that the generated code has.
"""
from collections.abc import Iterator
from typing import Any

from ..backend.emission.emit import printed
from ..backend.emission.emit_nest import NestPrinter
from ..backend.schedule.loop_ir import Begin, Loop, Step
from ..ir.graph import Var, all_equations, extents_of, is_loop
from ..ir.views import LoopView
from ..util.interrupts import reraise_interrupt

BARE = {"fill": "new array", "control": "", "check": "check"}


class Part:
    """A kernel, or a frame with parts of its own.

    title    what it is: the loops of the nest ("for i in m"), or the head of a loop or branch
    ops      names of its operations, in order, each once
    lines    the user's lines that it comes from
    reads, writes    roots of the arrays and numbers it reads and writes
    regions  of a frame: lists of parts
    """

    def __init__(self, title: str, steps: list, recorder: "Recorder"):
        self.title = title
        self.ops = list(dict.fromkeys(_op(s) for s in steps if _op(s)))
        self.places = list(dict.fromkeys((s.eqn.where.file, s.eqn.where.line, s.eqn.where.text) for s in steps
                                         if s.eqn is not None and s.eqn.where is not None and s.eqn.where.text))
        accesses = [a for s in steps for a in recorder.scheduler.accesses(s)]
        self.writes = {a[0] for a in accesses if a[2] != "r"}
        self.reads = {a[0] for a in accesses if a[2] == "r"} | {a[0] for a in accesses if a[2] == "+"}
        self.regions: list[list[Part]] = []

    @property
    def is_single(self) -> bool:
        """Whether it is one statement, no loop nest and no frame."""
        return not self.title

    def join(self, other: "Part") -> None:
        """Take another one in, that comes behind."""
        self.ops = list(dict.fromkeys([*self.ops, *other.ops]))
        self.places = list(dict.fromkeys([*self.places, *other.places]))
        self.reads |= other.reads - self.writes
        self.writes |= other.writes

    @property
    def lines(self) -> list:
        """The user's lines."""
        return [text for _, _, text in self.places]


def _op(step: Step) -> str:
    if step.kind in BARE:
        return step.eqn.op.name if step.kind == "check" and step.eqn is not None else BARE[step.kind]
    return step.eqn.op.name if step.eqn is not None else "copy"


class Recorder(NestPrinter):
    """Prints as its base does, and keeps what it prints in `parts`."""

    def __init__(self, *args: Any):
        super().__init__(*args)
        self.parts: list[Part] = []
        self.frame: Part | None = None
        self.within = 0                                      # nests that are being printed

    def block(self, steps: list, outputs: tuple) -> None:
        if self.within or self.frame is None:
            super().block(steps, outputs)
            return
        outer, self.parts = self.parts, []
        self.frame.regions.append(self.parts)
        frame, self.frame = self.frame, None
        super().block(steps, outputs)
        self.frame, self.parts = frame, outer

    def node(self, node: Any, rest: list, single: set) -> None:
        if self.within or isinstance(node, Begin):
            super().node(node, rest, single)
        elif isinstance(node, Loop):
            self.parts.append(Part(f"for {self._loops(node)}", list(steps_of(node)), self))
            self.within += 1
            super().node(node, rest, single)
            self.within -= 1
        else:
            self._single(node, rest, single)

    def _single(self, step: Step, rest: list, single: set) -> None:
        part = Part(f"{step.eqn.op.traits.control} …" if step.kind == "control" else "", [step], self)
        self.parts.append(part)
        outer, self.frame = self.frame, part if step.kind == "control" else None
        count = len(self.lines)
        super().node(step, rest, single)
        self.frame = outer
        if step.kind == "control":
            head = next((line for line in self.lines[count:] if line.strip().startswith(("for ", "while ", "if "))), "")
            part.title = head.partition("  # ")[0].strip().rstrip(":")

    def _loops(self, node: Loop) -> str:
        inner = next((self._loops(n) for n in node.nodes if isinstance(n, Loop)), "")
        try:
            extent = self.expressions.index(node.axis.extent).source
        except (KeyError, AttributeError) as error:  # it depends on loops around it, without names yet
            reraise_interrupt(error)
            extent = "…"
        return extent + (f" × {inner}" if inner else "")


def steps_of(node: Any) -> Iterator[Step]:
    """The steps of a node of the nest tree."""
    if isinstance(node, Loop):
        for n in node.nodes:
            yield from steps_of(n)
    else:
        yield node.step if isinstance(node, Begin) else node


class Nests:
    """The parts of a program in order; its inputs and results; which arrays hold what is saved for the reverse sweep.
    """

    def __init__(self, func: Any, name: str, guards: tuple):
        self.func, recorder, _ = printed(func, name, guards=guards, kind=Recorder)
        root = recorder.storage.root
        self.parts = _together(recorder.parts)
        self.saved = set(map(root, _saved(self.func)))
        self.inputs = [(recorder.names.given[v], root(v), v.type) for v in self.func.inputs]
        self.outputs = [root(a) for a in self.func.outputs if isinstance(a, Var)]
        used = {v for part in walked(self.parts) for v in part.reads | part.writes}
        self.name_of = {v: recorder.names.given.get(v, "") for v in used}
        self.extents = set(extents_of(self.func.inputs))
        self._text_of = recorder

    def extent(self, n: object) -> str:
        """An extent as the generated text has it."""
        return self._text_of.expressions.index(self._text_of.views.number(n)).source


def _saved(func: Any) -> set:
    """The arrays that loops fill for their reverse sweeps: made without contents, and carried."""
    found: set = set()
    for eqn in all_equations(func):
        if eqn.op.name == "unwritten":
            found.add(eqn.outputs[0])
        elif is_loop(eqn):
            found.update(out for a, out in zip(LoopView(eqn).init, eqn.outputs) if a in found)
    return found


def _together(parts: list) -> list:
    """The parts, with single statements that follow one another as one part."""
    done: list[Part] = []
    for part in parts:
        part.regions = [_together(region) for region in part.regions]
        if done and done[-1].is_single and part.is_single:
            done[-1].join(part)
        else:
            done.append(part)
    return done


def walked(parts: list) -> Iterator[Part]:
    """All parts, those of frames included."""
    for part in parts:
        yield part
        for region in part.regions:
            yield from walked(region)
