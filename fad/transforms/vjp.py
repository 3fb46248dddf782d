"""Reverse mode: f, and then, backwards, the cotangents of its inputs.

The forward sweep runs every equation as it was. The reverse sweep visits them last to first, asks each op's rule for
the cotangents of its inputs, and adds them up: in place, for parts of arrays (AddInto), with no dense zeros. The work
is a small multiple of the function's (the cheap gradient principle: Griewank & Walther, Evaluating Derivatives, SIAM
2008, chapter 4).
"""
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..ir.build import Builder, Value, at_line, current
from ..ir.graph import Atom, Equation, Func, Var, extents_of, has_loop
from ..ir.op import registry
from ..ir.types import Type, type_of
from ..ir.walk import Environment, run_equation
from ..ops.kinds import Zero, accumulate, guarding
from ..util.array import AnyArray
from .control import VJP_OF_CONTROL
from .inputs import bind_arguments, dense, standing_alone
from .masks import behind_choices, chooses, is_masked
from .sweeps import ReverseSweep
from .undo_log import log_write


class Reverse:
    """A forward sweep in the current builder and the reverse sweeps that follow it. A derivative flows through the
    variables in `active`."""

    def __init__(self, env: Environment, active: set):
        self.env, self.active = env, active
        self.pullbacks: list[Callable] = []
        self.cotangents: dict[Var, Any] = {}
        self.masked: set[Var] = set()                            # whose products have to be guarded
        self.loops = 0  # equations with loops in the Func, which share a memory budget
        self.trails: dict[Var, int] = {}  # {restorable version of an array: its cost} (see undo_log.py)
        self.demanded: set[Var] = set()                          # the versions that loops and branches have to restore
        # {read of an array: (part of the final array with its result, that array)} (see last_write.py)
        self.finals: dict[Equation, Any] = {}

    # -- forward -----------------------------------------------------------------------------------

    def forward(self, func: Func) -> None:
        """Run func's equations, keeping what their pullbacks need."""
        self.masked |= behind_choices(func)
        self.loops = sum(has_loop(eqn) for eqn in func.equations)
        for eqn in func.equations:
            if eqn.regions:
                before = len(self.pullbacks)
                with at_line(eqn.where):
                    VJP_OF_CONTROL[eqn.op.name](self, eqn)
                self.pullbacks[before:] = [_located(pull, eqn.where) for pull in self.pullbacks[before:]]
                if chooses(eqn) or is_masked(eqn, self.masked):
                    self.pullbacks[before:] = [_guarded(pull) for pull in self.pullbacks[before:]]
            else:
                self.step(eqn)
            self.note_costs(eqn.outputs)

    def step(self, eqn: Equation) -> None:
        if eqn.outputs and eqn.outputs[0] in self.trails:
            with at_line(eqn.where):
                self.pullbacks.append(_located(log_write(self, eqn), eqn.where))
        run_equation(eqn, self.env)
        self.note_active(eqn)

    def note_active(self, eqn: Equation) -> None:
        """Note that a derivative flows through an equation that has run, if one does."""
        if self.is_active(eqn):
            self.active.update(v for v in eqn.outputs if v.type.dtype.kind in "fc")
            self.pullbacks.append(lambda: self.pull(eqn))

    def follow(self, trails: Iterable, demanded: Iterable) -> None:
        """Keep what is overwritten on these trails."""
        self.trails.update((v, trail.cost) for trail in trails for v in trail.versions)
        self.demanded.update(demanded)

    def note_costs(self, variables: Iterable) -> None:
        """Tell the loops within what the arrays cost that they may read."""
        for v in variables:
            if v in self.trails:
                current().notes.costs[self.env.read(v).atom] = self.trails[v]

    def is_active(self, eqn: Equation) -> bool:
        """Whether a derivative flows through this equation (without regions)."""
        return (any(a in self.active for a in eqn.inputs) and type(eqn.op.derivative) is not Zero
                and any(v.type.dtype.kind in "fc" for v in eqn.outputs))

    # -- reverse -----------------------------------------------------------------------------------

    def inner(self, active: set) -> "Reverse":
        """A sweep over a region."""
        return type(self)(Environment(self.env), active)

    def add(self, atom: Atom, g: object) -> None:
        """Add a cotangent to a variable's."""
        if g is not None and isinstance(atom, Var) and atom in self.active:
            self.cotangents[atom] = accumulate(self.cotangents.get(atom), g)

    def go_on_from(self, other: ReverseSweep, shared: dict) -> None:
        """Begin with another sweep's cotangents of the variables that both know: {variable here: variable there}."""
        self.cotangents = {v: other.cotangents[w] for v, w in shared.items() if w in other.cotangents}

    def hand_back(self, other: ReverseSweep, shared: dict) -> None:
        """Give the other sweep the cotangents of the shared variables."""
        other.cotangents.update((w, self.cotangents[v]) for v, w in shared.items() if v in self.cotangents)

    def found_again(self, region: Func) -> dict:
        """{what was read of an array, and never written to again: the same, read from the array as it is in the end}"""
        found = {}
        for eqn in region.equations:
            if eqn in self.finals:
                with at_line(eqn.where):
                    part, end = self.finals[eqn]
                    spec, operands = part.rest(eqn)
                    again = (eqn.op(end, *[self.env.read(a) for a in operands], **{**eqn.params, "spec": spec}) if spec
                             else end)
                found[self.env.read(eqn.outputs[0]).atom] = again.atom
        return found

    def backward(self) -> None:
        """All pullbacks, last to first."""
        for pull in reversed(self.pullbacks):
            pull()

    def pull(self, eqn: Equation) -> None:
        """Add the cotangents of an equation's inputs; the reverse sweep's equations belong to the line they undo."""
        with at_line(eqn.where):
            self.pull_through(eqn)

    def pull_through(self, eqn: Equation) -> None:
        gs = tuple([self.cotangents.pop(v, None) for v in eqn.outputs])
        if all(g is None for g in gs):
            return
        needs = tuple([a in self.active for a in eqn.inputs])
        xs = tuple([self.env.read(a) for a in eqn.inputs])
        ys = tuple([self.env[v] for v in eqn.outputs])
        with guarding(is_masked(eqn, self.masked)):
            gxs = eqn.op.derivative.pullback(eqn.op, gs, ys, xs, eqn.params, needs)
        for a, g, need in zip(eqn.inputs, gxs, needs):
            if need:
                self.add(a, g)


def _located(pull: Callable, where: object) -> Callable:
    """The pullback of an equation with regions, which belongs to the line it undoes."""
    def located() -> None:
        with at_line(where):
            pull()
    return located


def _guarded(pull: Callable) -> Callable:
    """The pullback of an equation with regions, all products in it guarded."""
    def guarded() -> None:
        with guarding():
            pull()
    return guarded


def named(g: object, name: str) -> Any:
    """g; the variable that holds it gets a name for people, if it has none."""
    if isinstance(g, Value) and g.atom.name == f"v{g.atom.id}":
        g.atom.name = name
    return g


def pull_back(func: Func, args: Sequence, wanted: Sequence[int]) -> tuple:
    """Values of func's outputs, computed in the current builder, and the pullback.

    pullback(cotangents of all outputs, None for zero) -> cotangents of the wanted inputs, None for zero. Call it in
    this builder or in a region of it, any number of times.
    """
    env = bind_arguments(func, args)
    sweep = Reverse(env, {func.inputs[k] for k in wanted})
    sweep.forward(func)

    def pullback(gs: Sequence) -> list:
        sweep.cotangents = {}
        for atom, g in zip(func.outputs, gs, strict=True):
            sweep.add(atom, g)
        sweep.backward()
        return [named(sweep.cotangents.get(func.inputs[k]), f"g{func.inputs[k].name}") for k in wanted]
    return [env.read(a) for a in func.outputs], pullback


def vjp(func: Func, wanted: Sequence[int]) -> Func:
    """The Func (inputs..., cotangents of the real and complex outputs...) -> (outputs..., cotangents of the wanted
    inputs...)."""
    with standing_alone(func, "vjp") as (builder, args):
        ys, pullback = pull_back(func, args, wanted)
        gs = [cotangent_input(builder, y) if a.type.dtype.kind in "fc" else None for a, y in zip(func.outputs, ys)]
        gxs = pullback(gs)
        return builder.finish(tuple(ys) + tuple(dense(g, args[k]) for k, g in zip(wanted, gxs)))


def cotangent_input(builder: Builder, y: AnyArray) -> Any:
    """An input for the cotangent of y. Extents of y that the program computes become extents of their own in the
    input."""
    if not getattr(y, "shape", ()):
        return builder.input(Type(type_of(y).dtype), "g")
    known = set(extents_of(builder.inputs))
    extents = [getattr(n, "atom", n) for n in y.shape]
    own = [n if isinstance(n, int) or n in known else builder.dim(n.hint) for n in extents]
    g = builder.input(Type(y.dtype, tuple(own)), "g")
    return g if own == extents else registry["reshape"](g, *y.shape)
