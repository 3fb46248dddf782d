"""rotate_elements: scalar replacement across iterations. Elements that several iterations touch wait in numbers.

    for i in range(n):                       w = g[0]
        x = g[i]                             for i in range(n):
        g[i + 1] += a * x             --->       x = w; w = g[i + 1] + a * x
        g[i] = b * x                             g[i] = b * x
                                             g[n] = w

Each element is loaded as it enters the window of elements that an iteration touches, and stored as it leaves, so no
iteration waits for the stores of the one before (D. Callahan, S. Carr, K. Kennedy, "Improving register allocation for
subscripted variables", 1990). LLVM makes vectors of such loops where the numbers follow from each other in no circle.

Where iterations only add to elements, the terms wait, and an element is loaded as it leaves, at the address where it is
stored. A loop over several rows has tests for overlap: a load ahead of the stores would fail them, and LLVM's vectors
would never run.
"""
from typing import Any

from ..ir.absent import absent
from ..ir.graph import Atom, Equation, Func, Literal, Var, has_effect, has_loop, is_branch, is_counted
from ..ir.op import registry
from ..ir.types import Type
from ..ir.uses import use_counts
from ..ir.views import BranchView, LoopView, with_results
from .dependence_test import Places
from .loop_guards import if_it_runs, runs
from .rewrite import Scope, as_atom, rewrite
from .subscripts import IntegerArithmetic
from .window_candidates import Window, Windows, defined_within, place_of, shifts_in

MOST = 12                                                    # numbers that a loop carries for them


def rotate_elements(func: Func) -> Func:
    """Elements that an iteration writes and the next ones touch again are numbers in an innermost loop of step 1 or -1.

        for i: g[i + 1] += a * g[i]   ->   w = g[0]; for i: v = g[i + 1] + a * w; g[i] = w; w = v; and g[n] = w
    """
    places: list[Places] = []

    def visit(eqn: Equation, scope: Scope) -> "Equation | None":
        loop = LoopView(eqn) if is_counted(eqn) else None
        if loop is None or loop.step not in (1, -1) or runs(eqn) is False:
            return None
        if any(has_loop(e) or has_effect(e) for e in loop.body.equations):
            return None
        shifts = shifts_in(loop)
        candidates = [k for k in range(len(loop.carries)) if loop.carries[k].type.shape]
        if not any(Windows(loop, k, shifts).of_waiting() for k in candidates):
            return None
        if not places:
            places.append(Places(func))
        windows = [w for k in candidates for w in Windows(loop, k, shifts).possible(places[0])]
        if not windows or sum(len(w.waiting(loop.step)) for w in windows) > MOST:
            return None
        *before, last = _Rotated(loop, windows, shifts, [_filling(a, scope) for a in loop.init]).equations()
        for e in before:
            scope.add(e)
        return last

    return rewrite(func, visit)


def _filling(array: Atom, scope: Scope) -> "Literal | None":
    """The number that all elements of an array are, where that is known."""
    made = scope.producer(array)
    if made is None or made.op.name != "full" or not isinstance(made.inputs[0], Literal):
        return None
    return Literal(array.type.dtype.type(made.inputs[0].value), Type(array.type.dtype))


class _Rotated:
    """The loop with numbers in place of the elements of windows.

    filled: for each carry the number that all elements of its first value are, or None; now: {a variable of the body:
    the atom that stands for it}; held: {a version of an array: {(row, what is added to the index): the number, or the
    terms of a sum}}.
    """

    def __init__(self, loop: LoopView, windows: list, shifts: dict, filled: list):
        self.loop, self.windows, self.shifts, self.filled = loop, windows, shifts, filled
        self.inside = defined_within(loop.body)
        self.now: dict[Any, Any] = {}
        self.held: dict[Any, dict] = {}
        self.forward = loop.step == 1

    def equations(self) -> list:
        """The equations in front of the loop, the loop, and those behind it; the last one makes the loop's results."""
        waiting = [(w, shift, n, Var(self._type(w))) for w in self.windows for shift, n in w.waiting(self.loop.step)]
        body = self._body(waiting)
        start, stop, _ = self.loop.bounds
        firsts: list[Atom] = [self._first(w) for w, *_ in waiting]
        before = [e for (w, shift, *_), v in zip(waiting, firsts) if isinstance(v, Var)
                  for e in self._loaded(w, self.loop.init[w.number], start, shift, v)]
        loaded = tuple([v for v in firsts if isinstance(v, Var)])
        zeros = tuple([Literal(absent(v.type.dtype), v.type) for v in loaded])
        kept = {w.number: Var(self.loop.results[w.number].type, self.loop.results[w.number].name)
                for w, shift, *_ in waiting if self._is_stored_behind(w, shift)}
        lasts = [Var(v.type) for *_, v in waiting]
        names = self.loop.eqn.params["names"]
        names = names and (*names, *[""] * len(waiting))
        rotated = self.loop.replace(
            init=(*self.loop.init, *firsts), body=body, params=self.loop.eqn.params | {"names": names},
            results=(*[kept.get(k, v) for k, v in enumerate(self.loop.results)], *lasts))
        in_front = if_it_runs(self.loop.eqn, before, loaded, zeros) if loaded else []
        return [*in_front, rotated, *self._stored_behind(waiting, lasts, kept, stop)]

    def _type(self, w: Window) -> Type:
        return Type(self.loop.carries[w.number].type.dtype)

    def _first(self, w: Window) -> Atom:
        """A number of the window before an iteration has touched its element; -0.0 added to it changes nothing."""
        t = self._type(w)
        return Literal(-t.dtype.type(0), t) if w.adds else self.filled[w.number] or Var(t)

    def _body(self, waiting: list) -> Func:
        loop = self.loop
        entering = [(w, w.last if self.forward else w.first, Var(self._type(w))) for w in self.windows]
        for w, shift, v in entering:
            self.held.setdefault(loop.carries[w.number], {})[w.row, shift] = () if w.adds else v
        for w, shift, _, v in waiting:
            held = self.held[loop.carries[w.number]]
            held[w.row, shift] = (*held.get((w.row, shift), ()), v) if w.adds else v
        equations = self._walk(loop.body.equations)
        after = [self._now(a) for a in loop.next]
        for w in self.windows:
            value = self.held[loop.next[w.number]][w.row, w.final]
            for v in value if w.adds else (value,):
                equations += self._stored(w, (after[w.number], v), loop.index, w.final)
                after[w.number] = equations[-1].outputs[0]
        step = 1 if self.forward else -1
        rest = [(value[n] if w.adds else value) for w, shift, n, _ in waiting
                for value in (self.held[loop.next[w.number]][w.row, shift + step],)]
        new = loop.body.replace(inputs=(*loop.body.inputs, *[v for *_, v in waiting]), equations=equations,
                                outputs=(*after, *rest))
        counts = use_counts(new)
        before = [e for w, shift, v in entering if counts[v]
                  for e in self._loaded(w, loop.carries[w.number], loop.index, shift, v)]
        return new.replace(equations=before + equations)

    def _stored_behind(self, waiting: list, lasts: list, kept: dict, stop: Atom) -> list:
        """The stores of what waits for its last value when the loop ends."""
        equations: list[Equation] = []
        state = dict(kept)
        for (w, shift, *_), v in zip(waiting, lasts):
            if not self._is_stored_behind(w, shift):
                continue
            equations += self._stored(w, (state[w.number], v), stop, shift)
            state[w.number] = equations[-1].outputs[0]
        named = {state[k]: self.loop.results[k] for k in kept}
        equations = [e.replace(outputs=tuple([named.get(v, v) for v in e.outputs])) for e in equations]
        return equations and if_it_runs(self.loop.eqn, equations, tuple([self.loop.results[k] for k in kept]),
                                        tuple(kept.values()))

    def _is_stored_behind(self, w: Window, shift: int) -> bool:
        """Whether an element that waits has not got its last value yet."""
        return shift >= w.final if self.forward else shift <= w.final

    # -- the iteration -------------------------------------------------------------------------------------------------

    def _now(self, a: Any) -> Any:
        return self.now.get(a, a) if isinstance(a, Var) else a

    def _walk(self, equations: list) -> list:
        found: list[Equation] = []
        for e in equations:
            if is_branch(e):
                found += self._branch(e)
            elif e.inputs and (e.reads_part or e.writes_part) and e.inputs[0] in self.held:
                found += self._access(e)
            else:
                found.append(e.replace(inputs=tuple(map(self._now, e.inputs))))
        return found

    def _access(self, e: Equation) -> list:
        """An access to an array with windows."""
        held, key = self.held[e.inputs[0]], place_of(e, self.shifts, self.inside)
        inputs, out = tuple(map(self._now, e.inputs)), e.outputs[0]
        if key not in held:
            if e.writes_part:
                self.held[out] = held
            return [e.replace(inputs=inputs)]
        if e.reads_part:
            self.now[out] = held[key]
            return []
        self.now[out] = inputs[0]
        if e.replaces_part:
            self.held[out] = held | {key: inputs[1]}
            return []
        if isinstance(held[key], tuple):
            self.held[out] = held | {key: (*held[key], inputs[1])}
            return []
        total = Var(Type(out.type.dtype))
        self.held[out] = held | {key: total}
        return [Equation(registry["add"], (held[key], inputs[1]), (total,), {}, (), e.where)]

    def _branch(self, e: Equation) -> list:
        """A branch, which yields the numbers of its windows."""
        view = BranchView(e)
        regions = [r.replace(equations=self._walk(r.equations)) for r in view.branches]
        more: list[Var] = []
        yields: list[list] = [[] for _ in regions]
        dropped = set()
        for k, out in enumerate(view.results):
            ends = view.yielded(out)
            if any(a in self.held for a in ends):
                self.held[out] = self._merged([self.held[a] for a in ends], more, yields)
                arrays = {self._now(a) for a in ends}
                if len(arrays) == 1:
                    self.now[out] = arrays.pop()
                    dropped.add(k)
        regions = [r.replace(outputs=tuple(map(self._now, r.outputs))) for r in regions]
        kept = [k for k in range(len(view.results)) if k not in dropped]
        if not kept and not more:
            return []
        new = with_results(e.replace(inputs=(self._now(view.selector),), regions=tuple(regions)), kept)
        names = new.params["names"] and (*new.params["names"], *[""] * len(more))
        regions = [r.replace(outputs=(*r.outputs, *own)) for r, own in zip(new.regions, yields)]
        return [new.replace(outputs=(*new.outputs, *more), params=new.params | {"names": names},
                            regions=tuple(regions))]

    @staticmethod
    def _merged(helds: list, more: list, yields: list) -> dict:
        """The numbers behind a branch: those that both sides agree on, and further results of it."""
        merged = {}
        for key in helds[0]:
            values = [held[key] for held in helds]
            if all(v is values[0] for v in values):
                merged[key] = values[0]
                continue
            merged[key] = Var(Type(values[0].type.dtype))
            more.append(merged[key])
            for own, v in zip(yields, values):
                own.append(v)
        return merged

    # -- accesses ------------------------------------------------------------------------------------------------------

    def _loaded(self, w: Window, array: Atom, index: Atom, shift: int, out: Var) -> list:
        *before, read = self._accessed("index", w, (array,), index, shift, out.type)
        return [*before, read.replace(outputs=(out,))]

    def _stored(self, w: Window, arrays: tuple, index: Atom, shift: int) -> list:
        """The store of an element, or the addition of a term that has waited."""
        return self._accessed("index_add" if w.adds else "update", w, arrays, index, shift, arrays[0].type)

    def _accessed(self, name: str, w: Window, arrays: tuple, index: Atom, shift: int, t: Type) -> list:
        """The access to an element of a window where the loop's index is this one."""
        integers = IntegerArithmetic(w.example.where)
        given = list(w.others)
        given.insert(w.axis, integers.sum(index, as_atom(shift)))
        spec = ("i",) * len(given)
        return [*integers.equations,
                Equation(registry[name], (*arrays, *map(as_atom, given)), (Var(t),), {"spec": spec, "at": 0}, (),
                         w.example.where)]
