"""distribute: loop distribution. Functions that only a sum needs leave the loop of a recurrence.

    for i in range(n):                      for each strip of 256 iterations:
        h = a + b * x[i] + c * h                for i in the strip: h = a + b * x[i] + c * h; H[i] = h
        s += log(h) + x[i] / h       --->       for i in the strip: s += log(H[i]) + x[i] / H[i]

The iterations of a recurrence wait for each other; those of the second loop do not, and become vector instructions
(K. Kennedy, K. McKinley, "Loop distribution with arbitrary control flow", Supercomputing 1990). A strip stays in the
first cache. One walk over the program.
"""
from typing import Any

from ..ir.build import building
from ..ir.graph import Equation, Func, Literal, Var, free_vars, has_effect, has_loop, is_counted, traced_value
from ..ir.op import registry
from ..ir.uses import reads
from ..ir.views import LoopView
from ..ir.walk import Environment, run_equation
from ..ops.control import FOR, integer, trip_count, unwritten
from ..ops.extents import minimum
from ..util.array import AnyArray
from .legalisation import input_for
from .reduction_recognition import is_summed
from .rewrite import Scope, rewrite

STRIP = 256                                                  # iterations
FEWEST = 32                                                  # iterations; fewer make few vectors
MOST = 3                                                     # numbers that an iteration hands on


def distribute(func: Func) -> Func:
    """A loop in which a recurrence hands numbers to a sum, by exp, log and their like, adds up in a loop of its own.

        for i: h = a * h + x[i]; s = s + log(h)   ->   for i: h = a * h + x[i]; H[i] = h; for i: s = s + log(H[i])
    """
    return rewrite(func, _visit)


def _visit(eqn: Equation, scope: Scope) -> Any:
    split = _Split.of(eqn, scope.parent is not None) if is_counted(eqn) else None
    if split is None:
        return None
    func, given = split.written_out()
    inner = Scope(scope)
    inner.replaced.update(given)
    opened = rewrite(func, lambda *_: None, inner)
    for new in opened.equations:
        scope.add(new)
    return opened.outputs


class _Split:
    """A loop in two: the numbers of its sums, and of the equations that run early, late, or in both halves; passed: the
    variables that the early half hands to the late one.
    """

    def __init__(self, loop: LoopView, sums: list):
        self.loop, self.sums, self.equations = loop, sums, loop.body.equations
        self.others = [k for k in range(len(loop.carries)) if k not in sums]
        self.maker = {v: k for k, e in enumerate(self.equations) for v in e.outputs}
        self.carried = {loop.carries[k] for k in self.others}
        self.moving = self._moving()
        effects = [k for k, e in enumerate(self.equations) if has_effect(e)]
        self.early = self._needed([loop.next[k] for k in self.others]).union(effects, *[
            self._needed(reads(self.equations[k])) for k in effects])
        for k, e in enumerate(self.equations):               # what cannot become vectors stays
            if k not in self.early and not self._is_number_work(e):
                self.early |= self._needed(e.outputs)
        self.late = [k for k in range(len(self.equations)) if k not in self.early]
        wanted = dict.fromkeys(v for k in self.late for v in reads(self.equations[k])
                               if self.maker.get(v) in self.early or v in self.carried)
        self.passed = [v for v in wanted if not self._is_had_again(v)]
        again = self._needed([v for v in wanted if v not in self.passed])
        self.late = sorted(again.union(self.late))

    @classmethod
    def of(cls, eqn: Equation, is_inner: bool) -> "_Split | None":
        """The halves of a loop that gains by it."""
        loop = LoopView(eqn)
        if loop.step != 1 or eqn.params["extents"] or _is_short(loop, is_inner):
            return None
        if any(map(has_loop, loop.body.equations)):
            return None
        sums = [k for k, c in enumerate(loop.carries)
                if not c.type.shape and c.type.dtype.kind == "f"
                and is_summed(loop.body, c, loop.next[k], within=False)]
        recurs = [c for k, c in enumerate(loop.carries)
                  if k not in sums and not c.type.shape and c.type.dtype.kind in "fc" and c is not loop.next[k]]
        if not sums or not recurs:
            return None
        split = cls(loop, sums)
        return split if split.pays() else None

    def pays(self) -> bool:
        """Whether there are functions in the late half that only vector instructions make cheap, and sums are there."""
        dear = any(k not in self.early and _is_dear(self.equations[k]) for k in self.late)
        is_summed = all(self.maker.get(self.loop.next[k]) in self.late for k in self.sums)
        return dear and is_summed and len(self.passed) <= MOST and not any(v.type.shape for v in self.passed)

    def _moving(self) -> set:
        """The variables that depend on what other iterations leave, sums left aside."""
        found = set(self.carried)
        for e in self.equations:
            if not found.isdisjoint(reads(e)):
                found.update(e.outputs)
        return found

    def _needed(self, variables: Any) -> set:
        """The numbers of the equations that these variables need."""
        found: set[int] = set()
        pending = list(variables)
        while pending:
            k = self.maker.get(pending.pop())
            if k is not None and k not in found:
                found.add(k)
                pending += reads(self.equations[k])
        return found

    def _is_number_work(self, e: Equation) -> bool:
        """Whether an equation computes a number from numbers, or reads one from an array that the loop leaves alone."""
        if any(v.type.shape for v in e.outputs) or e.regions:
            return False
        if e.reads_part:
            array = e.inputs[0]
            return array not in self.maker and array not in self.loop.body.inputs and "a" not in e.params["spec"]
        return e.op.kind == "elementwise"

    def _is_had_again(self, v: Var) -> bool:
        """Whether few operations of the late half make a value that the early half has made, too."""
        needed = [self.equations[k] for k in self._needed([v])]
        return v not in self.moving and not any(
            _is_dear(e) or _decides(e) or not self._is_number_work(e) for e in needed)

    # -- the two loops -------------------------------------------------------------------------------------------------

    def written_out(self) -> tuple:
        """The program that stands for the loop, and the meaning of its variables."""
        given: dict[Var, Any] = {}
        atoms = [a for a in (*self.loop.eqn.inputs, *free_vars(self.loop.body)) if isinstance(a, Var)]
        with building(self.loop.eqn.op.name) as builder:
            builder.where = self.loop.eqn.where
            values = {a: input_for(builder, a, given) for a in dict.fromkeys(atoms) if a not in given.values()}
            env = Environment()
            env.update({outer: builder.value_of(own) for own, outer in given.items()})
            env.update(values)
            func = builder.finish(tuple(self._strips(env)))
        return func.replace(inputs=()), given

    def _strips(self, env: Environment) -> Any:
        start, stop = [integer(env.read(a)) for a in self.loop.bounds[:2]]
        names = self.loop.eqn.params["names"]

        def strip(number: AnyArray, *carries: AnyArray) -> list:
            first = start + number * STRIP
            after, kept = self._first_half(env, first, minimum(first + STRIP, stop), carries)
            after |= self._second_half(env, first, minimum(first + STRIP, stop), carries, kept)
            return [after[k] for k in range(len(carries))]
        init = [env.read(a) for a in self.loop.init]
        return FOR.run_regions([0, (trip_count(start, stop, 1) + STRIP - 1) // STRIP, 1, *init], (strip,), names=names)

    def _first_half(self, env: Environment, first: AnyArray, end: AnyArray, carries: tuple) -> tuple:
        """The recurrences at the end of a strip, and the arrays of what is handed on."""
        loop, count = self.loop, len(self.others)

        def body(i: AnyArray, *values: AnyArray) -> list:
            inner = Environment(env)
            inner[loop.index] = i
            inner.update(zip([loop.carries[k] for k in self.others], values))
            for k in sorted(self.early):
                run_equation(self.equations[k], inner)
            kept = [registry["update"](array, inner.read(v), i - first, spec=("i",), at=0)
                    for v, array in zip(self.passed, values[count:])]
            return [inner.read(loop.next[k]) for k in self.others] + kept
        rooms = [unwritten(STRIP, dtype=v.type.dtype) for v in self.passed]
        init = [*[carries[k] for k in self.others], *rooms]
        after = FOR.run_regions([first, end, 1, *init], (body,), names=self._names(self.others, len(rooms)))
        return dict(zip(self.others, after)), after[count:]

    def _second_half(self, env: Environment, first: AnyArray, end: AnyArray, carries: tuple, kept: tuple) -> dict:
        """The sums at the end of a strip."""
        loop = self.loop

        def body(i: AnyArray, *values: AnyArray) -> list:
            inner = Environment(env)
            inner[loop.index] = i
            inner.update(zip([loop.carries[k] for k in self.sums], values))
            inner.update({v: registry["index"](array, i - first, spec=("i",), at=0)
                          for v, array in zip(self.passed, kept)})
            terms = {k: self._terms(k) for k in self.sums}
            adding = {e for found in terms.values() for e, _ in found}
            for k in self.late:
                if self.equations[k] not in adding:
                    run_equation(self.equations[k], inner)
            return [_sum_of(inner, values[j], terms[k]) if terms[k] else inner.read(loop.next[k])
                    for j, k in enumerate(self.sums)]
        init = [carries[k] for k in self.sums]
        after = FOR.run_regions([first, end, 1, *init], (body,), names=self._names(self.sums, 0))
        return dict(zip(self.sums, after))

    def _terms(self, k: int) -> list:
        """The additions of an iteration to a sum, each with its term, if there are several. Their sum is added at once:
        the compiler takes one addition for a reduction. A term that is the same in all iterations may be there for the
        sake of rounding; nothing is changed then.
        """
        state, found = self.loop.carries[k], []
        while state is not self.loop.next[k]:
            e = next(e for e in self.equations if state in e.inputs)
            (term,) = [a for a in e.inputs if a is not state]
            found.append((e, term))
            state = e.outputs[0]
        is_alike = all(term in self.maker and term.type.dtype == state.type.dtype for _, term in found)
        return found if len(found) > 1 and is_alike else []

    def _names(self, places: list, more: int) -> tuple:
        names = self.loop.eqn.params["names"]
        return tuple([names[k] for k in places] + [""] * more) if names else ()


def _sum_of(env: Environment, start: AnyArray, additions: list) -> AnyArray:
    """The start value with the sum of all terms added."""
    total: Any = None
    for e, term in additions:
        value = env.read(term)
        if e.op.name == "sub":
            total = -value if total is None else total - value
        else:
            total = value if total is None else total + value
    return start + total


def _is_short(loop: LoopView, is_inner: bool) -> bool:
    """Whether the loop had few iterations when the function was traced, or is an inner loop of unknown length."""
    start, stop = map(traced_value, loop.bounds[:2])
    return is_inner if start is None or stop is None else stop - start < FEWEST


def _decides(e: Equation) -> bool:
    """Whether the last bits of numbers decide something, which must be decided once."""
    moves = [v.type.dtype.kind in "fc" for v in (*e.inputs, *e.outputs)]
    return e.op.traits.jumps or (any(moves) and not moves[-1] and not e.reads_part)


def _is_dear(e: Equation) -> bool:
    """Whether an equation is a function that takes as long as many operations, but in vectors."""
    is_power = e.op.name == "pow" and isinstance(e.inputs[1], Literal)
    return e.op.kind == "elementwise" and not e.op.traits.is_cheap and not is_power
