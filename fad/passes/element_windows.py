"""rotate_elements: scalar replacement across iterations. Elements that several iterations touch wait in numbers.

    for i in range(n):                       w = g[0]
        x = g[i]                             for i in range(n):
        g[i + 1] += a * x             --->       x = w; w = g[i + 1] + a * x
        g[i] = b * x                             g[i] = b * x
                                             g[n] = w

Each element is loaded as it enters the window of elements that an iteration touches, and stored as it leaves, so no
iteration waits for the stores of the one before (D. Callahan, S. Carr, K. Kennedy, "Improving register allocation for
subscripted variables", 1990). LLVM makes vectors of such loops where the numbers follow from each other in no circle.
"""
from typing import Any, NamedTuple

from ..ir.absent import absent
from ..ir.graph import Equation, Func, Literal, Var, has_effect, has_loop, is_branch, is_counted
from ..ir.op import registry
from ..ir.spec import subscripts_of
from ..ir.types import Type
from ..ir.uses import defined_in, operands, use_counts
from ..ir.views import BranchView, LoopView, with_results
from .coverage import Accesses
from .dependence_test import Places
from .loop_guards import if_it_runs, runs
from .rewrite import Scope, as_atom, as_extent, rewrite
from .subscripts import IntegerArithmetic

WIDEST = 4                                                   # elements that an iteration touches
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
        shifts = _shifts(loop)
        candidates = [k for k in range(len(loop.carries)) if loop.carries[k].type.shape]
        if not any(_Windows(loop, k, shifts).of_waiting() for k in candidates):
            return None
        if not places:
            places.append(Places(func))
        windows = [w for k in candidates for w in _Windows(loop, k, shifts).possible(places[0])]
        if not windows or sum(w.last - w.first for w in windows) > MOST:
            return None
        *before, last = _Rotated(loop, windows, shifts).equations([_filling(a, scope) for a in loop.init])
        for e in before:
            scope.add(e)
        return last

    return rewrite(func, visit)


def _filling(array: Any, scope: Scope) -> "Literal | None":
    """The number that all elements of an array are, where that is known."""
    made = scope.producer(array)
    if made is None or made.op.name != "full" or not isinstance(made.inputs[0], Literal):
        return None
    return Literal(array.type.dtype.type(made.inputs[0].value), Type(array.type.dtype))


def _shifts(loop: LoopView) -> dict:
    """{an integer of the body: what is added to the loop's index}"""
    shifts: dict[Any, int] = {loop.index: 0}

    def collect(region: Func) -> None:
        for e in region.equations:
            if e.op.name in ("add", "sub") and e.inputs[0] in shifts and isinstance(e.inputs[1], Literal):
                more = e.inputs[1].value if e.op.name == "add" else -e.inputs[1].value
                shifts[e.outputs[0]] = shifts[e.inputs[0]] + more
            for inner in e.regions:
                collect(inner)
    collect(loop.body)
    return shifts


class Window(NamedTuple):
    """Elements of the number-th carry that an iteration touches: along an axis index + first, ..., index + last, the
    other subscripts being `others`; final: what is added to the index where an element has its last value; example: an
    access to one of them."""

    number: int
    axis: int
    others: tuple
    first: int
    last: int
    final: int
    example: Equation

    @property
    def row(self) -> tuple:
        return self.axis, self.others


def _place(e: Equation, shifts: dict, inside: set) -> "tuple | None":
    """The element that an equation touches: ((the axis of the index, the other subscripts), what is added to the
    index); None if that is no element, or the same one in all iterations.
    """
    if "spec" not in e.params or any(entry != "i" for entry in e.params["spec"]):
        return None
    given = [indices[0] for _, indices in subscripts_of(e)]
    moving = [k for k, i in enumerate(given) if i in inside]
    if len(moving) != 1 or given[moving[0]] not in shifts:
        return None
    return (moving[0], tuple([as_extent(i) for i in given if i not in inside])), shifts[given[moving[0]]]


class _Windows:
    """The windows of one carried array. rows: {the axis of the index and the other subscripts: [(what is added to the
    index, an access)]}; empty if the loop does anything else with the array.
    """

    def __init__(self, loop: LoopView, k: int, shifts: dict):
        self.loop, self.number = loop, k
        self.rows: dict[tuple, list] = {}
        self.versions: set[Any] = set()
        accesses = Accesses(loop.body, loop.carries[k])
        if not accesses.are_parts or not self._is_one_chain(accesses.versions):
            return
        self.versions = accesses.versions
        inside = _all_inside(loop.body)
        for e in accesses.equations:
            place = _place(e, shifts, inside)
            if place is None or (e.writes_part and e.inputs[1].type.dtype != e.inputs[0].type.dtype):
                self.rows = {}
                return
            self.rows.setdefault(place[0], []).append((place[1], e))

    def _is_one_chain(self, versions: set) -> bool:
        """Whether the iteration hands on one version of the array, as this carry."""
        return [a for a in self.loop.next if a in versions] == [self.loop.next[self.number]]

    def of_waiting(self) -> list:
        """The windows whose elements an iteration writes, and a later one touches again."""
        found = []
        for (axis, others), touched in self.rows.items():
            numbers = [shift for shift, _ in touched]
            first, last = min(numbers), max(numbers)
            written = [shift for shift, e in touched if e.writes_part]
            waits = any((a - b) * self.loop.step > 0 for a in written for b in numbers)  # type: ignore[operator]
            if not waits or last - first >= WIDEST:
                continue
            entering, final = (last, min(written)) if self.loop.step == 1 else (first, max(written))
            if not self._is_guessed([e for shift, e in touched if shift != entering]):
                found.append(Window(self.number, axis, others, first, last, final, touched[0][1]))
        return found

    def _is_guessed(self, accesses: list) -> bool:
        """Whether elements that have waited decide what a branch does to the array. The processor guesses the branch,
        and need not wait; for a number it would."""
        follows = {e.outputs[0] for e in accesses if e.reads_part}
        for e in self.loop.body.equations:
            waits = not follows.isdisjoint(operands(e)) or any(follows & defined_in(r) for r in e.regions)
            if waits and is_branch(e) and not self.versions.isdisjoint(e.outputs):
                return True
            if waits:
                follows.update(v for v in e.outputs if v not in self.versions)
        return False

    def possible(self, places: Places) -> list:
        """The windows whose elements are in the array, and not touched by any other subscripts."""
        nest = places.nests[self.loop.index]
        return [w for w in self.of_waiting() if self._is_apart(w, places) and self._is_there(w, places, nest)]

    def _is_apart(self, window: Window, places: Places) -> bool:
        """Whether all other accesses have another index on some axis, by a number that is known."""
        for axis, others in self.rows:
            if (axis, others) == window.row:
                continue
            if axis != window.axis or not any(_differ(a, b, places) for a, b in zip(others, window.others)):
                return False
        return True

    def _is_there(self, window: Window, places: Places, nest: tuple) -> bool:
        """Whether the array has the elements in every iteration: the loop touches both ends in each, or bounds of the
        index say so."""
        touched = self.rows[window.row]
        sure = {shift for shift, e in touched if e in self.loop.body.equations}
        if {window.first, window.last} <= sure:
            return True
        ends = {shift: e for shift, e in touched if shift in (window.first, window.last)}
        return all(_is_inside(e, places, nest) for e in ends.values())


def _all_inside(region: Func) -> set:
    """The variables that a region and those in it define."""
    found = defined_in(region)
    for e in region.equations:
        for inner in e.regions:
            found |= _all_inside(inner)
    return found


def _differ(a: Any, b: Any, places: Places) -> bool:
    """Whether two integers are known to differ."""
    forms = [places.ranges.exact(as_atom(n), frozenset(places.ranges.loops)) for n in (a, b)]
    if None in forms:
        return False
    gap = forms[0] - forms[1]                                # type: ignore[operator]
    return gap.is_constant and gap.const != 0


def _is_inside(e: Equation, places: Places, nest: tuple) -> bool:
    """Whether bounds show that the element that an equation touches is in the array."""
    ranges = places.ranges
    for n, span in zip(e.inputs[0].type.shape, ranges.spans(e, frozenset())):
        end = ranges.exact(as_atom(n), frozenset())
        if not span or end is None:
            return False
        for low, high in span:
            if high is None or not ranges.is_at_least(0, low, nest) or not ranges.is_at_least(1, end - high, nest):
                return False
    return True


class _Rotated:
    """The loop with numbers in place of the elements of windows.

    now: {a variable of the body: the atom that stands for it}; held: {a version of an array: {(row, what is added to
    the index): the number}}.
    """

    def __init__(self, loop: LoopView, windows: list, shifts: dict):
        self.loop, self.windows, self.shifts = loop, windows, shifts
        self.inside = _all_inside(loop.body)
        self.now: dict[Any, Any] = {}
        self.held: dict[Any, dict] = {}
        self.forward = loop.step == 1

    def equations(self, filled: list) -> list:
        """The equations in front of the loop, the loop, and those behind it; the last one makes the loop's results.

        filled: for each carry the number that all elements of its first value are, or None
        """
        waiting = [(w, shift, Var(self._type(w), "")) for w in self.windows for shift in self._waiting(w)]
        body = self._body(waiting)
        start, stop, _ = self.loop.bounds
        firsts: list[Any] = [filled[w.number] or Var(v.type) for w, _, v in waiting]
        before = [e for (w, shift, _), v in zip(waiting, firsts) if isinstance(v, Var)
                  for e in self._loaded(w, self.loop.init[w.number], start, shift, v)]
        loaded = tuple([v for v in firsts if isinstance(v, Var)])
        zeros = tuple([Literal(absent(v.type.dtype), v.type) for v in loaded])
        kept = {w.number: Var(self.loop.results[w.number].type, self.loop.results[w.number].name)
                for w, shift, _ in waiting if self._is_stored_behind(w, shift)}
        lasts = [Var(v.type) for _, _, v in waiting]
        names = self.loop.eqn.params["names"]
        names = names and (*names, *[""] * len(waiting))
        rotated = self.loop.replace(
            init=(*self.loop.init, *firsts), body=body, params=self.loop.eqn.params | {"names": names},
            results=(*[kept.get(k, v) for k, v in enumerate(self.loop.results)], *lasts))
        in_front = if_it_runs(self.loop.eqn, before, loaded, zeros) if loaded else []
        return [*in_front, rotated, *self._stored(waiting, lasts, kept, stop)]

    def _type(self, w: Window) -> Type:
        return Type(self.loop.carries[w.number].type.dtype)

    def _waiting(self, w: Window) -> range:
        """The shifts of the elements that wait for the next iteration, before it."""
        return range(w.first, w.last) if self.forward else range(w.first + 1, w.last + 1)

    def _body(self, waiting: list) -> Func:
        loop = self.loop
        entering = [(w, w.last if self.forward else w.first, Var(self._type(w))) for w in self.windows]
        for w, shift, v in entering:
            self.held.setdefault(loop.carries[w.number], {})[w.row, shift] = v
        for w, shift, v in waiting:
            self.held[loop.carries[w.number]][w.row, shift] = v
        equations = self._walk(loop.body.equations)
        after = [self._now(a) for a in loop.next]
        for w in self.windows:
            value = self.held[loop.next[w.number]][w.row, w.final]
            made = self._accessed("update", w, (after[w.number], value), loop.index, w.final, loop.next[w.number].type)
            equations += made
            after[w.number] = made[-1].outputs[0]
        step = 1 if self.forward else -1
        rest = [self.held[loop.next[w.number]][w.row, shift + step] for w, shift, _ in waiting]
        new = loop.body.replace(inputs=(*loop.body.inputs, *[v for _, _, v in waiting]), equations=equations,
                                outputs=(*after, *rest))
        counts = use_counts(new)
        before = [e for w, shift, v in entering if counts[v]
                  for e in self._loaded(w, loop.carries[w.number], loop.index, shift, v)]
        return new.replace(equations=before + equations)

    def _stored(self, waiting: list, lasts: list, kept: dict, stop: Any) -> list:
        """The stores of what waits for its last value when the loop ends."""
        equations: list[Equation] = []
        state = dict(kept)
        for (w, shift, _), v in zip(waiting, lasts):
            if not self._is_stored_behind(w, shift):
                continue
            equations += self._accessed("update", w, (state[w.number], v), stop, shift, kept[w.number].type)
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
        held, key = self.held[e.inputs[0]], _place(e, self.shifts, self.inside)
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

    def _loaded(self, w: Window, array: Any, index: Any, shift: int, out: Var) -> list:
        *before, read = self._accessed("index", w, (array,), index, shift, out.type)
        return [*before, read.replace(outputs=(out,))]

    def _accessed(self, name: str, w: Window, arrays: tuple, index: Any, shift: int, t: Type) -> list:
        """The access to an element of a window where the loop's index is this one."""
        integers = IntegerArithmetic(w.example.where)
        given = list(w.others)
        given.insert(w.axis, integers.sum(index, as_atom(shift)))
        spec = ("i",) * len(given)
        return [*integers.equations,
                Equation(registry[name], (*arrays, *map(as_atom, given)), (Var(t),), {"spec": spec, "at": 0}, (),
                         w.example.where)]
