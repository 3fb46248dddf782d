"""The joint program of a loop's body, divided in two: a minimum cut chooses what the forward half saves (min_cut.py).

The reverse half gets the saved values back, recomputes others, and restores arrays. It can restore every version of an
array with a history (undo_log.py) at the price of the overwritten values. To the cut, a version is a value computed
from these; so the cut weighs the log against the reads of the array.
"""
import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from ..ir.graph import Equation, Literal, Var, extents_of, has_effect
from ..ir.uses import DefUse, defined_by, reads
from ..ir.walk import Environment, run_equation
from ..util.array import ArrayOrNumber
from .activity import is_continuous
from .cost_model import USUAL_EXTENT, bytes_of
from .joint import JointProgram, atoms, changes_around, is_at_rest, iterations_between
from .min_cut import INFINITE, minimum_cut
from .order import Cycle, Order
from .rounding import Exact, decisive, rounded
from .undo_log import History, cost_around

CHEAP_KINDS = {"shape", "index"}  # recomputed, not saved, if all that costs less than a trip to memory
FEW_TERMS = 4                                                # of sums and products of small arrays that are cheap


class Log(NamedTuple):
    """The value of a variable that is kept to be put back. As a value to read, it follows from its array, too."""

    var: Var
    cost: int                                                # of saving it; putting it back is one more trip to memory


def is_cheap(eqn: Equation) -> bool:
    if eqn.regions:
        return False
    if eqn.op.name == "pow":
        return isinstance(eqn.inputs[1], Literal) and eqn.inputs[1].value in (2, 3, 4)   # multiplications
    integral = eqn.op.kind == "elementwise" and not any(is_continuous(v) for v in eqn.outputs)
    return integral or eqn.op.traits.is_cheap or eqn.op.kind in CHEAP_KINDS or _terms(eqn) <= FEW_TERMS


def _terms(eqn: Equation) -> float:
    """The number of terms of each element of a sum or contraction (1 for an outer product); infinite for other ops.

    A small traced extent counts as what it was. If it is larger in another call, only time is lost.
    """
    if eqn.op.name == "sum":
        shape = eqn.inputs[0].type.shape
        extents = [shape[ax] for ax in eqn.params["axes"]]
    elif eqn.op.name == "contract":
        *labels, kept = eqn.params["labels"]
        known = {c: n for letters, x in zip(labels, eqn.inputs) for c, n in zip(letters, x.type.shape)}
        extents = [n for c, n in known.items() if c not in kept]
    else:
        return math.inf
    return math.prod([n if isinstance(n, int) else n.hint if n.hint in range(1, FEW_TERMS + 1) else math.inf
                      for n in extents])


def live(equations: list, wanted: Iterable, stop: Any = ()) -> set:
    """Indices of the equations that the wanted variables need; the variables in `stop` are there already."""
    needed, kept = set(wanted) - set(stop), set()
    for k in range(len(equations) - 1, -1, -1):
        if any(v in needed for v in equations[k].outputs):
            kept.add(k)
            needed.update(v for v in reads(equations[k]) if v not in stop)
    return kept


class Division:
    """saved: the variables to save, in order; restored: numbers of the outputs whose history is followed back; forward:
    indices of the forward half's equations; reverse: the steps of the reverse half (see order.py); cost: in bytes an
    iteration.

    demanded: numbers of the outputs to be restored whether the reverse half needs them or not; states: {number: what it
    costs to have the last version of that output in the reverse half}, where it costs anything.
    """

    def __init__(self, joint: JointProgram, demanded: Iterable = (), states: "Mapping | None" = None):
        self.joint, self.equations = joint, joint.builder.equations
        self.chains = DefUse(self.equations)
        self.inside = joint.builder.owned
        self.histories, self.demanded = dict(joint.histories), demanded
        self.states = {joint.histories[k].state.atom: cost for k, cost in (states or {}).items()
                       if k in joint.histories}
        self.gradients = atoms(list(joint.gxs.values()) + list(joint.totals_out.values()))
        self._find_dependent()
        self._find_repeated()
        self._find_forward()
        self.outer = self._changing_arrays()
        self.resting = {e.inputs[0] for e in self.equations if e.reads_part and is_at_rest(e.inputs[0], joint.builder)}
        self.late: set = set()  # reads of restored arrays that are needed before the restoring
        while not self._divide():
            pass
        self.forward = self.forward_for(self.saved)

    def forward_for(self, kept: list) -> list:
        """The equations that the forward half runs to keep these variables."""
        extents = [n for n in extents_of(kept) if n in self.inside]
        effects = {k for k, e in enumerate(self.equations[:self.joint.forward_count]) if has_effect(e)}
        wanted = atoms(self.joint.outputs) + kept + extents + [v for k in effects for v in reads(self.equations[k])]
        return sorted(live(self.equations, wanted) | effects)

    def _find_dependent(self) -> None:
        """The equations that depend on cotangents, or restore an array."""
        moving = set(atoms(self.joint.gs + list(self.joint.totals.values())))
        restoring = {v for h in self.joint.histories.values() for v in h.again.values()}
        self.dependent = set()
        for k, eqn in enumerate(self.equations):
            if any(v in moving for v in reads(eqn)) or not restoring.isdisjoint(eqn.outputs):
                moving.update(eqn.outputs)
                self.dependent.add(k)
        self.moving = moving

    def _find_repeated(self) -> None:
        """Find the equations of the reverse half that are never saved: those computed again by request (behind a
        barrier, see ops/custom.py), or from arrays that the forward half does not have yet.
        """
        self.repeated: set = set(self.joint.ends)
        for k, eqn in enumerate(self.equations):
            if k not in self.dependent and (eqn.op.traits.barrier or any(v in self.repeated for v in reads(eqn))):
                self.repeated.update(eqn.outputs)

    def _find_forward(self) -> None:
        """Find the equations that the forward half runs in any case. Others may run in the reverse half instead."""
        busy = [v for e in self.equations[:self.joint.forward_count] if e.regions or has_effect(e) for v in reads(e)]
        self.busy = live(self.equations, atoms(self.joint.outputs) + busy)

    def _is_had(self, k: int) -> bool:
        """Whether running an equation in the reverse half costs nothing that counts."""
        return is_cheap(self.equations[k]) or not (k in self.busy or self.equations[k].regions)

    # -- the choice --------------------------------------------------------------------------------

    def _divide(self) -> bool:
        """Choose what to save, and find an order for the reverse half; False if there is none and something was ruled
        out for the next try.
        """
        used = [self.histories[k] for k in self.demanded if k in self.histories]
        cut = self._cut([w for h in used for w in h.again.values()])
        self.saved = [v for v in cut if v not in self.outer and v not in self.states]
        self.saved.sort(key={v: k for k, v in enumerate(self._order())}.__getitem__)
        self.cost = sum(self._cost(v) for v in cut)
        extents = [n for n in extents_of(self.saved) if n in self.inside]
        again = self.joint.again | {v: w for h in self.histories.values() for v, w in h.again.items()}
        while True:
            order = Order(self.chains, self.saved, again)
            wanted = self.gradients + extents + [h.first for h in used]
            reached = order.reached(wanted)
            more = [h for h in self.histories.values() if h in used or not order.found.isdisjoint(h.versions)]
            if len(more) == len(used):
                break
            used = more
        self.restored = [k for k, h in self.histories.items() if h in used]
        try:
            self.reverse = self._in_time(order, reached) if order.found else self._as_traced(wanted)
        except Cycle as cycle:
            self._rule_out(cycle.steps)
            return False
        return True

    def _in_time(self, order: Order, reached: set) -> list:
        """Pullbacks run in the order of the trace, all other steps when they are needed: a read of an array comes
        before the next write is undone.
        """
        for step in sorted(reached & self.dependent) + self.saved + [k for k in reached if k not in self.dependent]:
            order.visit(step)
        return order.steps

    def _as_traced(self, wanted: list) -> list:
        """Integers that are got back come first: they may be extents of the others."""
        kept, saved, steps = live(self.equations, wanted, set(self.saved)), set(self.saved), []

        def get_back(variables: Iterable) -> list:
            return sorted((v for v in variables if v in saved), key=lambda v: v.type.rank)
        steps += get_back(self.joint.builder.inputs)
        for k, eqn in enumerate(self.equations):
            steps += get_back(eqn.outputs) + [k] * (k in kept)
        return steps

    def _rule_out(self, steps: list) -> None:
        """Break a cycle of steps that wait for each other: save a read of an array that comes too late, or else do not
        restore the array.
        """
        versions = {v: k for k, h in self.histories.items() for v in h.versions}
        numbers = [k for k in steps if isinstance(k, int)]
        late = [v for k in numbers if k not in self.dependent
                and not versions.keys().isdisjoint(reads(self.equations[k]))
                for v in self.equations[k].outputs]
        if late:
            self.late.update(late)
        else:
            del self.histories[next(versions[v] for k in numbers for v in reads(self.equations[k]) if v in versions)]

    def would_gain(self, trails: Iterable) -> bool:
        """Whether less would be saved if the loops in the region kept logs for the arrays on these trails.

        The branch would restore within itself what it saves of such an array.
        """
        kept = self.joint.notes.kept
        hoped = {}
        for trail in trails:
            versions = set(atoms(map(self.joint.env.read, trail.versions)))
            hoped[object()] = trail.cost, versions | {v for v, of in kept.items() if not versions.isdisjoint(of)}
        return any(token in hoped for token in self._cut([], hoped))

    def _cut(self, results: list, hoped: "Mapping | None" = None) -> list:
        """The values that cross from the forward half to the reverse half. The reverse half also needs their extents.
        """
        hoped = hoped or {}
        makers = {v: self.chains.definition(w) for v, w in self.joint.again.items()}
        restored = {v: [a for a in reads(e) if a not in self.joint.ends] if e is not None else []
                    for v, e in makers.items()}
        restored.update((v, self._sources(h)) for h in self.histories.values() for v in h.versions)
        restored.update((v, [token]) for token, (_, versions) in hoped.items() for v in versions)
        again = [e for k, e in enumerate(self.equations) if self._is_had(k)]
        unsure = rounded(again, restored, self.resting) - self.repeated  # a repeated equation decides again, and alike
        backward = live(self.equations, self.gradients + results) & self.dependent
        needed: dict = dict.fromkeys([v for v in self.gradients if self._is_primal(v)])
        for k in sorted(backward):
            needed.update(dict.fromkeys(_as_read(self.equations[k], lambda v: self._is_primal(v) or v in self.outer,
                                                 unsure)))
        uses, lost = self._graph(restored, unsure)
        lost += [*hoped, *dict.fromkeys(a for a in [*needed, *(a for a, _ in uses)] if isinstance(a, Exact))]
        while True:
            chosen = minimum_cut(uses, lost, needed, lambda v: hoped[v][0] if v in hoped else
                                 v.cost if isinstance(v, Log) else self._cost(_variable(v)))
            cut = list(dict.fromkeys(map(_variable, chosen)))
            more = [n for n in extents_of(v for v in cut if v not in hoped and v not in self.outer)
                    if n in self.inside and n not in needed]
            if not more:
                return cut
            needed.update(dict.fromkeys(more))

    def _graph(self, restored: Mapping, unsure: set) -> tuple:
        """The edges (value, value computed from it), and the values that only saving keeps. restored: {version of an
        array: the values it is restored from}.
        """
        lead = {*atoms(self.joint.lead), *self.joint.counted}
        uses = [(a, v) for v, sources in restored.items() for a in sources]
        lost = [*[v for v in atoms(self.joint.carries) if v not in lead], *self.outer,
                *map(self._log, self.joint.notes.logged), *self.late, *self.states]
        for k, eqn in enumerate(self.equations):
            if k in self.dependent:
                continue
            read = _as_read(eqn, lambda v: (v in self.inside or v in self.outer) and v not in lead, unsure)
            uses += [(a, b) for a in read for b in eqn.outputs if b not in restored]
            if not self._is_had(k) and self.repeated.isdisjoint(eqn.outputs):
                lost += eqn.outputs
        return uses, [v for v in lost if v not in restored]

    def _sources(self, history: History) -> list:
        """The values that following a history back needs."""
        made = set(history.again.values())
        steps = [self.equations[k] for k in sorted(self.dependent) if not made.isdisjoint(self.equations[k].outputs)]
        used = dict.fromkeys(v for eqn in steps for v in reads(eqn) if self._is_primal(v) or v in self.outer)
        logged = self.joint.notes.logged
        return [history.state.atom, *(self._log(v) if v in logged else v for v in used if v not in history.versions)]

    @staticmethod
    def _log(v: Var) -> Log:
        return Log(v, bytes_of(v) * 3 // 2)

    def _cost(self, v: Var) -> int:
        """The cost of saving a variable, in bytes."""
        return INFINITE if v in self.repeated else self.outer.get(v) or self.states.get(v) or bytes_of(v)

    def kept_carries(self) -> list:
        """Indices of the carries that later iterations need to compute the saved values."""
        place = {v: k for k, v in enumerate(atoms(self.joint.carries))}
        wanted, found = set(self.saved), set[int]()
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
        """{array around the region that the loop around would have to save if it were read here: an iteration's share
        of that}.

        A little less than their size: if a value computed from the array is as large as the array, the array is saved.
        If the loop around may restore the array, it costs the log.
        """
        found = dict.fromkeys(v for e in self.equations for v in reads(e) if v.type.rank and v not in self.inside)
        return {v: share_around(v, self.joint) for v in found if changes_around(v, self.joint.builder)}

    def _order(self) -> list:
        return list(self.joint.builder.inputs) + [v for e in self.equations for v in e.outputs]

    def _is_primal(self, v: Var) -> bool:
        return v in self.inside and v not in self.moving

    # -- running the halves ------------------------------------------------------------------------

    def environment(self, lead: Iterable, carries: Iterable) -> Environment:
        env = Environment()
        env.update(zip(atoms(self.joint.lead), lead))
        env.update((x.atom, value) for x, value in zip(self.joint.carries, carries))
        return env

    def run_forward(self, env: Environment) -> tuple:
        """The region's outputs and the values to save."""
        self.run(self.forward, env)
        return self.outputs(env), tuple([env.read(v) for v in self.saved])

    def run(self, equations: Iterable, env: Environment) -> None:
        """Run equations by their numbers; values that the environment has already stay."""
        for k in equations:
            had = {v: env[v] for v in self.equations[k].outputs if v in env}
            run_equation(self.equations[k], env)
            env.update(had)

    def outputs(self, env: Environment, places: "Iterable | None" = None) -> list:
        """The region's outputs, or those at some places."""
        return [read(env, self.joint.outputs[k])
                for k in (range(len(self.joint.outputs)) if places is None else places)]

    def run_reverse(self, env: Environment, restore: Callable) -> tuple:
        """The cotangents that go out, and the first versions of the restored arrays; the environment holds their last
        versions.

        restore(number of the saved value, env) gets back what was saved.
        """
        number = {v: k for k, v in enumerate(self.saved)}
        histories = [self.histories[k] for k in self.restored]
        earlier: dict = {}                                   # of two reads of one element, the reverse half has one
        for v, w in [*self.joint.again.items(), *(x for h in histories for x in h.again.items())]:
            earlier.setdefault(w, []).append(v)
        # the final state of an array, of this loop or one around it, or one of its elements
        for there in earlier.keys() - defined_by(self.equations):
            env.update(dict.fromkeys(earlier[there], env.read(there)))
        for step in self.reverse:
            if isinstance(step, Var):
                env[step] = restore(number[step], env)
                continue
            eqn = self.equations[step]
            kept = {v: env[v] for v in eqn.outputs if v in number and v in env}
            run_equation(eqn, env)
            env.update(kept)
            env.update((v, env[w]) for w in eqn.outputs for v in earlier.get(w, ()))
        gxs = [read(env, g) for g in self.joint.gxs.values()]
        totals = [read(env, g) for g in self.joint.totals_out.values()]
        return gxs, totals, [env[h.first] for h in histories]


def _as_read(eqn: Equation, which: Callable, unsure: set) -> list:
    """The variables that an equation reads and that decide something exactly, but might differ in the last bit if
    recomputed."""
    deciding = decisive(eqn) & unsure
    return [Exact(v) if v in deciding else v for v in reads(eqn) if which(v)]


def _variable(v: object) -> Any:
    return v.var if isinstance(v, (Exact, Log)) else v


def read(env: Environment, x: ArrayOrNumber) -> Any:
    return env.read(x.atom) if hasattr(x, "atom") else x


def share_around(v: Var, joint: JointProgram) -> int:
    """An iteration's share of the cost of having an array of the loop around in the reverse half, in bytes."""
    cost = cost_around(v, joint.builder)
    iterations = (USUAL_EXTENT if joint.lead else 1) * iterations_between(v, joint.builder)
    return max((bytes_of(v) if cost is None else cost) // iterations - 1, 1)
