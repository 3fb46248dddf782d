"""The body of a region, forward and reverse together, and its division in two by a minimum cut.

The joint program is traced once, symbolically. Its equations that depend on cotangents are the reverse half; what that half reads of
the rest is saved by the forward half, or computed anew: `cut.py` chooses.
"""
from collections.abc import Callable, Iterable
from typing import Any

from ..ir.build import Builder, as_extent, building, current
from ..ir.graph import Equation, Func, Literal, Var, extents_of, free_vars
from ..ir.types import Type, type_of
from ..ir.walk import Environment, run_equation
from ..ops.kinds import guarding
from .activity import is_continuous
from .cut import INFINITE, minimum_cut
from .inputs import renamed, zeros_like
from .masks import chooses, is_masked
from .rounding import Exact, decisive, rounded

# Computed anew rather than saved: what costs less than a trip to memory.
CHEAP = {"add", "sub", "mul", "neg", "div", "square", "abs", "sign", "maximum", "minimum", "where", "cast", "mask", "guarded_mul", "floordiv",
         "mod", "less", "less_equal", "greater", "greater_equal", "equal", "not_equal", "logical_and", "logical_or", "logical_not",
         "logical_xor", "bitwise_and", "bitwise_or", "bitwise_xor", "invert", "left_shift", "right_shift", "real", "imag", "conj", "stop_gradient",
         "sqrt", "isfinite", "isnan"}
CHEAP_KINDS = {"shape", "index"}
USUAL_EXTENT = 100                                           # what an extent is taken for that may be anything


class Joint:
    """The joint program of one region.

    builder      holds its equations; `lead` and `carries` are its inputs, `gs` the cotangents that come in (of the active outputs),
    totals       {free variable: the input that holds its cotangent so far},
    gxs, totals_out   the cotangents that go out.
    """

    def __init__(self, sweep: Any, eqn: Equation, region: Func, given: list, index: "Callable | None" = None):
        guarded = chooses(eqn) or is_masked(eqn, sweep.masked)
        self.region, self.given = region, given
        with building("joint", region=True) as self.builder:
            inner = type(sweep)(Environment(sweep.env), sweep.active)
            if guarded:
                inner.masked.update(v for e in region.equations for v in e.outputs)
            self.lead = list(index(self.builder)) if index else []
            self.carries = self._inputs(region.inputs[len(self.lead):], inner.env)
            self.changing = Changing(self.builder, set(atoms(self.carries)))
            self.builder.changing = self.changing             # type: ignore[attr-defined]
            inner.env.update(zip(region.inputs, self.lead + self.carries))
            inner.forward(region)
            self.outputs = [inner.env.read(a) for a in region.outputs]
            self.forward_count = len(self.builder.equations)
            with guarding(guarded):
                self._backward(inner)

    def _inputs(self, variables: tuple, env: Environment) -> list:
        """Inputs like the region's, those first that are extents of others."""
        extents = set(extents_of(variables))
        for v in sorted(variables, key=lambda v: v not in extents):
            env[v] = self.builder.input(renamed(v.type, env), v.name)
            if v in extents:
                self.builder.integers.low[env[v].atom] = 0
        return [env[v] for v in variables]

    def _backward(self, inner: Any) -> None:
        region, builder = self.region, self.builder
        self.gs = [builder.input(_cotangent_type(self.outputs[k]), "g") for k in self.given]
        self.totals: dict[Var, Any] = {}
        for v in free_vars(region):
            if v in inner.active and is_continuous(v):
                self.totals[v] = builder.input(_cotangent_type(inner.env.read(v)), f"g{v.name}")
        inner.cotangents.update(self.totals)
        for k, g in zip(self.given, self.gs):
            inner.add(region.outputs[k], g)
        inner.backward()
        carried = region.inputs[len(self.lead):]
        self.gxs = {k: _dense(inner.cotangents.get(v), self.carries[k]) for k, v in enumerate(carried) if v in inner.active}
        self.totals_out = {v: inner.cotangents[v] for v, g in self.totals.items() if inner.cotangents[v] is not g}

    # -- the division -----------------------------------------------------------------------------------------------------

    def divide(self) -> "Division":
        """What the forward half saves, and the equations of the two halves."""
        return Division(self)


class Changing:
    """Which variables of a joint program depend on what its loop carries, so that the reverse half does not have them for nothing."""

    def __init__(self, builder: Builder, carries: set):
        self.builder, self.known, self.seen = builder, carries, 0

    def __contains__(self, v: Var) -> bool:
        """Whether v changes in this loop or in one around it."""
        equations = self.builder.equations
        for eqn in equations[self.seen:]:
            if any(a in self.known for a in reads(eqn)):
                self.known.update(eqn.outputs)
        self.seen = len(equations)
        return v in self.known or changes_around(v, self.builder)


def changes_around(v: Var, builder: Builder) -> bool:
    """Whether v is of a loop around this region's that is being differentiated, and changes there."""
    around = builder.parent
    while around is not None and not hasattr(around, "changing"):
        around = around.parent
    return around is not None and v in around.changing


def _dense(g: Any, x: Any) -> Any:
    return zeros_like(x) if g is None else g


def _cotangent_type(y: Any) -> Type:
    t = type_of(y)
    return Type(t.dtype, tuple([as_extent(n) for n in t.shape]))


def atoms(values: Iterable) -> list:
    """The variables among these values."""
    return [x.atom for x in values if hasattr(x, "atom")]


def reads(eqn: Equation) -> list:
    """The variables an equation uses, those of its regions and types among them."""
    used = [a for a in eqn.inputs if isinstance(a, Var)]
    for region in eqn.regions:
        used += free_vars(region)
    own = set(eqn.outputs)
    return used + [n for n in extents_of(eqn.outputs) if n not in own]


def has_effect(eqn: Equation) -> bool:
    return bool(eqn.op.effect) or any(has_effect(e) for r in eqn.regions for e in r.equations)


def is_cheap(eqn: Equation) -> bool:
    if eqn.regions:
        return False
    if eqn.op.name == "pow":
        return isinstance(eqn.inputs[1], Literal) and eqn.inputs[1].value in (2, 3, 4)   # multiplications
    integral = eqn.op.kind == "elementwise" and not any(is_continuous(v) for v in eqn.outputs)
    return integral or eqn.op.name in CHEAP or eqn.op.kind in CHEAP_KINDS


def live(equations: list, wanted: Iterable, stop: Any = ()) -> set:
    """Indices of the equations that the wanted variables need; those in `stop` are had already."""
    needed, kept = set(wanted) - set(stop), set()
    for k in range(len(equations) - 1, -1, -1):
        if any(v in needed for v in equations[k].outputs):
            kept.add(k)
            needed.update(v for v in reads(equations[k]) if v not in stop)
    return kept


class Division:
    """saved: the variables to save, in order; forward and reverse: indices of the equations of the halves."""

    def __init__(self, joint: Joint):
        self.joint, self.equations = joint, joint.builder.equations
        self.inside = joint.builder.owned
        results = atoms(list(joint.gxs.values()) + list(joint.totals_out.values()))
        self._find_dependent()
        self._find_repeated()
        self._choose(results)
        extents = [n for n in extents_of(self.saved) if n in self.inside]
        self.reverse = sorted(live(self.equations, results + extents, set(self.saved)))
        effects = {k for k, e in enumerate(self.equations[:joint.forward_count]) if has_effect(e)}
        wanted = atoms(joint.outputs) + self.saved + extents + [v for k in effects for v in reads(self.equations[k])]
        self.forward = sorted(live(self.equations, wanted) | effects)

    def _find_dependent(self) -> None:
        """The equations that depend on cotangents."""
        moving = set(atoms(self.joint.gs + list(self.joint.totals.values())))
        self.dependent = set()
        for k, eqn in enumerate(self.equations):
            if any(v in moving for v in reads(eqn)):
                moving.update(eqn.outputs)
                self.dependent.add(k)
        self.moving = moving

    def _find_repeated(self) -> None:
        """What is computed again by request (behind a barrier, see ops/custom.py) is of the reverse half: it is never saved."""
        self.repeated: set = set()
        for k, eqn in enumerate(self.equations):
            if k not in self.dependent and (eqn.op.facts.get("barrier") or any(v in self.repeated for v in reads(eqn))):
                self.repeated.update(eqn.outputs)

    def _choose(self, results: list) -> None:
        """The cut; extents of what is saved must be had in the reverse half too."""
        backward = live(self.equations, results) & self.dependent
        outer = self._changing_arrays()
        unsure = rounded(self.equations, is_cheap) - self.repeated    # what is repeated decides anew, and alike
        needed: dict = dict.fromkeys([v for v in results if self._is_primal(v)])
        for k in sorted(backward):
            needed.update(dict.fromkeys(_as_read(self.equations[k], lambda v: self._is_primal(v) or v in outer, unsure)))
        lead = set(atoms(self.joint.lead))
        lost = list(atoms(self.joint.carries))
        lost += outer
        uses: list[tuple] = []
        for k, eqn in enumerate(self.equations):
            if k in self.dependent:
                continue
            read = _as_read(eqn, lambda v: (v in self.inside or v in outer) and v not in lead, unsure)
            uses += [(a, b) for a in read for b in eqn.outputs]
            if not is_cheap(eqn) and self.repeated.isdisjoint(eqn.outputs):
                lost += eqn.outputs
        lost += dict.fromkeys(a for a in [*needed, *(a for a, _ in uses)] if isinstance(a, Exact))
        while True:
            chosen = minimum_cut(uses, lost, needed, lambda v: self._cost(_variable(v), outer))
            self.saved = list(dict.fromkeys(_variable(v) for v in chosen if v not in outer))
            more = [n for n in extents_of(self.saved) if n in self.inside and n not in needed]
            if not more:
                break
            needed.update(dict.fromkeys(more))
        position = {v: k for k, v in enumerate(self._order())}
        self.saved.sort(key=position.__getitem__)

    def _cost(self, v: Var, outer: dict) -> int:
        """What saving a variable costs, in bytes."""
        return INFINITE if v in self.repeated else outer.get(v) or bytes_of(v)

    def kept_carries(self) -> list:
        """Indices of the carries that must be known to compute, in any later turn, what is saved."""
        place = {v: k for k, v in enumerate(atoms(self.joint.carries))}
        wanted, found = set(self.saved), set()
        while True:
            used = set(wanted)
            for k in live(self.equations, wanted):
                used.update(reads(self.equations[k]))
            more = {place[v] for v in used if v in place}
            if more == found:
                return sorted(found)
            found = more
            wanted = set(self.saved) | set(atoms(self.joint.outputs[k] for k in found))

    def _changing_arrays(self) -> dict:
        """Arrays around the region that the loop around it would have to save if they were read here, and what a turn's share of that is.

        A little less than their size: where what is computed from one is as large as the array itself, the array is saved.
        """
        found = dict.fromkeys(v for e in self.equations for v in reads(e) if v.type.rank and v not in self.inside)
        turns = USUAL_EXTENT if self.joint.lead else 1
        return {v: max(bytes_of(v) // turns - 1, 1) for v in found if changes_around(v, self.joint.builder)}

    def _order(self) -> list:
        return list(self.joint.builder.inputs) + [v for e in self.equations for v in e.outputs]

    def _is_primal(self, v: Var) -> bool:
        return v in self.inside and v not in self.moving

    # -- running the halves -----------------------------------------------------------------------------------------------

    def environment(self, lead: Iterable, carries: Iterable) -> Environment:
        env = Environment()
        env.update(zip(atoms(self.joint.lead), lead))
        env.update((x.atom, value) for x, value in zip(self.joint.carries, carries))
        return env

    def run_forward(self, env: Environment) -> tuple:
        """The region's outputs and the values to save."""
        for k in self.forward:
            run_equation(self.equations[k], env)
        return tuple([read(env, x) for x in self.joint.outputs]), tuple([env.read(v) for v in self.saved])

    def run_reverse(self, env: Environment, restore: Callable) -> tuple:
        """The cotangents that go out. restore(number of the saved value, env) gets back what was saved, in order."""
        saved = {v: k for k, v in enumerate(self.saved)}
        kept = set(self.reverse)
        self._restore(self.joint.builder.inputs, saved, env, restore)
        for k, eqn in enumerate(self.equations):
            self._restore(eqn.outputs, saved, env, restore)
            if k in kept:
                self._run_unsaved(eqn, env, saved)
        gxs = [read(env, g) for g in self.joint.gxs.values()]
        return gxs, [read(env, g) for g in self.joint.totals_out.values()]

    def _restore(self, variables: Iterable, saved: dict, env: Environment, restore: Callable) -> None:
        """Get back those that were saved, integers first: they may be extents of the others."""
        for v in sorted((v for v in variables if v in saved), key=lambda v: v.type.rank):
            env[v] = restore(saved[v], env)

    def _run_unsaved(self, eqn: Equation, env: Environment, saved: dict) -> None:
        kept = {v: env[v] for v in eqn.outputs if v in saved}
        run_equation(eqn, env)
        env.update(kept)


def _as_read(eqn: Equation, which: Callable, unsure: set) -> list:
    """Those of the variables that an equation reads, those exact that decide something and are not sure to be computed anew to the last bit."""
    deciding = decisive(eqn) & unsure
    return [Exact(v) if v in deciding else v for v in reads(eqn) if which(v)]


def _variable(v: "Var | Exact") -> Var:
    return v.var if isinstance(v, Exact) else v


def read(env: Environment, x: Any) -> Any:
    return env.read(x.atom) if hasattr(x, "atom") else x


def bytes_of(v: Var) -> int:
    """What it costs to save a variable once a turn."""
    total = max(v.type.dtype.itemsize, 1)
    for n in v.type.shape:
        total *= max(extent_guess(n), 1)
    return min(total, 1 << 40)


def extent_guess(n: Any, depth: int = 3) -> int:
    """A size to weigh an extent by. A program serves all sizes, so that what was seen at tracing counts for little: an extent of an
    input is taken to be large, and what is bounded by another extent to be half as large.
    """
    if isinstance(n, int):
        return n
    facts = current().integers
    form = facts.form(n)
    return max(form.const + sum(c * _variable_guess(v, facts, depth) for v, c in form.terms), 1)


def _variable_guess(v: Var, facts: Any, depth: int) -> int:
    if v in facts.dims:
        return max(v.hint or 0, USUAL_EXTENT)
    bound = facts.high.get(v)
    if bound is None or depth == 0:
        return USUAL_EXTENT // 2
    return max((bound.const + sum(c * _variable_guess(w, facts, depth - 1) for w, c in bound.terms)) // 2, 1)
