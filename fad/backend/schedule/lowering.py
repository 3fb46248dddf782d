"""A program being lowered: every equation becomes steps with an iteration space, and with places where it reads and
writes.

One Lowering serves a Func and all its regions. Views vanish into subscripts. An update takes over the storage of its
array where nobody needs the old values any more (buffer_reuse.py), and copies the array otherwise. Each op has a rule
that makes its steps (lower.py).
"""
from collections.abc import Callable, Iterator

from ...ir.graph import Atom, Equation, Func, Var, free_vars
from ...ir.op import Op
from ...ir.types import INT
from .buffer_reuse import ArrayOwners, outlasting_parts
from .indexmap import Axis, Elem, Index, at
from .loop_ir import BackendError, Step
from .views import Blank, Views, is_one

_ARRAYS_ONLY = {"reshape"}


class Lowering:
    """Steps of the equations of one program; `views` and `storage` are shared by its regions."""

    def __init__(self, rule_of: "Callable[[Op], Rule | None]"):
        self.rule_of = rule_of                               # the rule of an op: its equation's steps
        self.views, self.storage = Views(), ArrayOwners()
        self.whole: set[Var] = set()                         # variables that somebody needs as arrays
        self.makers: dict[Var, Step] = {}                    # of the results of elementwise ops
        self.copies: list[tuple] = []  # (equation, variable) of arrays that are copied before they are written to

    # -- blocks ------------------------------------------------------------------------------------

    def block(self, func: Func, carried: tuple = (), carries: tuple = ()) -> list:
        """The steps of func's equations, only those that matter; `carried` are roots whose storage the block may
        overwrite.

        carries: of a loop's body, the inputs that its outputs replace in the next iteration.
        """
        self.whole.update(a for a in func.outputs if isinstance(a, Var))
        for eqn in func.equations:
            self.whole.update(_needed_whole(eqn))
        parts = outlasting_parts(func, {v for v in (*func.inputs, *free_vars(func)) if self.storage.root(v) in carried})
        self.storage.enter(func, self.views, carried, parts, carries)
        steps: list[Step] = []
        for k, eqn in enumerate(func.equations):
            self.storage.position = k
            steps += self.steps(eqn)
            steps += [self.copy(v) for v in eqn.outputs if v in self.views.read and (v in parts or self._is_counted(v))]
        steps += [
            self.copy(a)
            for a in dict.fromkeys(func.outputs)
            if a in self.views.read and a in self.whole
        ]
        self.storage.leave()
        for order, step in enumerate(steps):
            step.order = order
        return prune(steps, func.outputs, self.views)

    def steps(self, eqn: Equation) -> list:
        """The steps of one equation (none for a view)."""
        self.views.define_integer(eqn)
        before = self._materialised(eqn)
        if self.views.define(eqn):
            return before
        rule = self.rule_of(eqn.op)
        if rule is None:
            raise BackendError(f"no rule lowers {eqn.op.name}")
        return before + rule(self, eqn)

    def _is_counted(self, v: Var) -> bool:
        """Whether v is an integer that somebody needs in a register: it may be the extent of arrays made before."""
        return v in self.whole and not v.type.shape and v.type.dtype == INT

    def _materialised(self, eqn: Equation) -> list:
        """Copies of views that this equation needs as arrays."""
        wanted = [a for a in dict.fromkeys(_needed_whole(eqn)) if a in self.views.read]
        return [self.copy(a) for a in wanted]

    def copy(self, var: Var) -> Step:
        """The step that makes an array of a view, which from then on is read from that array."""
        step = self.copy_into(var, var)
        del self.views.read[var]
        self.storage.own(var)
        return step

    def copy_into(self, x: Atom, out: Var) -> Step:
        """The step that fills out's array with x."""
        axes, place = self.space(out.type.shape)
        operand = self.views.locate(x, place)
        if isinstance(operand, Blank):
            return Step("fill", None, out)
        if axes and not list(_axes(operand)):
            return Step("fill", None, out, args=(operand,))
        if (
            axes
            and isinstance(operand, Elem)
            and operand.at == place
            and self._extents(operand.var) == self._extents(out)
        ):
            return Step("call", None, out, arrays=(operand.var,))
        return Step("map", None, out, axes=axes, target=place, args=(operand,))

    def note_copy(self, eqn: Equation, out: Var, step: Step) -> None:
        """Remember that eqn began with a copy, if the step is one and does not fill an array with a number."""
        if step.kind != "fill" and out.type.shape:
            self.copies.append((eqn, out))

    def _extents(self, var: Var) -> list:
        return [self.views.number(n) for n in var.type.shape]

    def space(self, shape: tuple) -> tuple:
        """The axes of an iteration space and the place they run through; an extent of 1 needs no axis."""
        axes, place = [], []
        for n in shape:
            if is_one(n):
                place.append(Index())
            else:
                axes.append(Axis(self.views.number(n)))
                place.append(at(axes[-1]))
        return tuple(axes), tuple(place)


class Body:
    """A region as steps."""

    def __init__(self, func: Func, steps: list):
        self.func, self.steps = func, steps
        self._last: dict[Var, int] | None = None              # variable -> the place of the last step that reads it

    def is_read_after(self, place: int, v: Var, views: Views) -> bool:
        """Whether a step behind this place reads the variable."""
        if self._last is None:                               # found once: a loop may carry hundreds of numbers
            self._last = {v: k for k, s in enumerate(self.steps) for v in inputs_of(s, views)}
        return self._last.get(v, -1) > place


class Regions:
    """The regions of one equation."""

    def __init__(self, *bodies: Body):
        self.bodies = bodies

    def inputs(self, views: Views) -> Iterator[Var]:
        """The values that the regions use from around them."""
        for body in self.bodies:
            inside = set(body.func.inputs) | {v for s in body.steps for v in s.outs}
            used = {v for s in body.steps for v in inputs_of(s, views)} | {
                a for a in body.func.outputs if isinstance(a, Var)
            }
            yield from sorted(used - inside, key=lambda v: v.id)


def inputs_of(step: Step, views: Views) -> Iterator[Var]:
    """Every variable whose value the step uses, the old values of what it changes among them."""
    for e in step.reads():
        yield e.var
    yield from step.arrays
    for v in step.outs:
        for n in v.type.shape:
            yield from [s for s, _ in views.number(n).terms if isinstance(s, Var)]
    if step.kind in ("map", "add") and step.eqn is not None and step.eqn.writes_part:
        if isinstance(step.eqn.inputs[0], Var):
            yield step.eqn.inputs[0]
    if step.body is not None:
        yield from step.body.inputs(views)


def prune(steps: list, outputs: tuple, views: Views) -> list:
    """The steps whose results are used."""
    needed: set[Var] = set()

    def need(atom: Atom) -> None:
        if isinstance(atom, Var) and atom not in needed:
            if atom in views.read:
                for b in views.bases[atom]:
                    need(b)
            else:
                needed.add(atom)
    for a in outputs:
        need(a)
    kept = []
    for step in reversed(steps):
        has_effect = step.eqn is not None and step.eqn.op.effect
        if step.kind in ("check", "control") or has_effect or any(v in needed for v in step.outs):
            kept.append(step)
            for v in inputs_of(step, views):
                need(v)
    return kept[::-1]


def _needed_whole(eqn: Equation) -> list:
    """The arrays an equation cannot read element by element."""
    if eqn.regions:
        inner = [a for region in eqn.regions for e in region.equations for a in _needed_whole(e)]
        yielded = [a for region in eqn.regions for a in region.outputs if isinstance(a, Var)]
        return inner + yielded
    if eqn.op.kind == "opaque":
        return [a for a in eqn.inputs if isinstance(a, Var) and a.type.shape]
    return [eqn.inputs[0]] if eqn.op.name in _ARRAYS_ONLY and isinstance(eqn.inputs[0], Var) else []


def _axes(operand: object) -> tuple:
    return tuple(operand.axes()) if hasattr(operand, "axes") else ()


Rule = Callable[[Lowering, Equation], list]
