"""drop_guards: value range propagation. Bounds of integers and conditions of branches answer comparisons before the
program runs.

    for k in range(n):                                    for k in range(n):
        if i - k >= 0:                                        if i - k >= 0:
            check i - k                        --->               s += x[i - k]
            s += x[i - k if i - k >= 0 else i - k + n]
"""
from collections.abc import Iterator

from ..ir.affine import Affine
from ..ir.graph import Atom, Equation, Func, Literal, Var, all_equations, is_branch
from ..ir.types import INT
from ..ir.views import BranchView
from .dependence_test import Places
from .rewrite import Scope, rewrite

GUARDS = ("less", "wrap_index", "check_index")
EXTREMES = {"maximum": 1, "minimum": -1}
#: The coefficients of a and b, and a constant: the sum is not negative if the comparison of a and b is true.
ORDERS = {"less": (-1, 1, -1), "less_equal": (-1, 1, 0), "greater": (1, -1, -1), "greater_equal": (1, -1, 0)}


def drop_guards(func: Func) -> Func:
    """A comparison of integers is True where bounds say so: the loop that it guards has an iteration. An index that is
    never negative does not count from the end, and one that is in its array is not checked. The larger of two integers
    is the one that bounds say is larger.

        for k in range(n): a = x[0] if 0 < k + 1 else 0.0; for i in range(k + 1): ...   ->   a = x[0] if True else 0.0
        m = maximum(n - 1, 0), where n >= 2                                             ->   m = n - 1
    """
    if not any(map(_is_asked, all_equations(func))):
        return func
    known = _Known(func)
    func = known.region(func, ())

    def visit(eqn: Equation, scope: Scope) -> "tuple | None":
        if not eqn.outputs or eqn.outputs[0] not in known.answers:
            return None
        number = known.answers[eqn.outputs[0]]
        return (Literal(True, eqn.outputs[0].type) if number is None else eqn.inputs[number],)

    return rewrite(func, visit) if known.answers else func


def _is_asked(eqn: Equation) -> bool:
    return eqn.op.name in (*GUARDS, *EXTREMES) and all(map(_is_integer, eqn.inputs))


def _is_integer(a: Atom) -> bool:
    return a.type.dtype == INT and not a.type.shape


class _Known:
    """The integers of a program.

    answers: {a result: the number of the operand that it is; None where a comparison holds}
    """

    def __init__(self, func: Func):
        self.ranges = Places(func).ranges
        self.answers: dict[Var, int | None] = {}
        self.forms: dict[Var, Affine] = {}

    def region(self, region: Func, facts: tuple) -> Func:
        """The region without the checks that hold. facts: sums that are not negative here."""
        kept = []
        for e in region.equations:
            if _is_asked(e) and (found := self._answers(e, facts)):
                if not e.outputs:
                    continue
                self.answers[e.outputs[0]] = found[0]
            inner = [self.region(r, (*facts, *self._implied_by_branch(e, k))) for k, r in enumerate(e.regions)]
            kept.append(e if all(a is b for a, b in zip(inner, e.regions)) else e.replace(regions=tuple(inner)))
        unchanged = len(kept) == len(region.equations) and all(a is b for a, b in zip(kept, region.equations))
        return region if unchanged else region.replace(equations=kept)

    def _answers(self, e: Equation, facts: tuple) -> tuple:
        """The answer that bounds give for a result, as in `answers`; () if they give none."""
        a, b = e.inputs
        if e.op.name in EXTREMES:
            gap = (self.form(a) - self.form(b)).scaled(EXTREMES[e.op.name])
            return (0,) if self._is_natural(gap, facts) else (1,) if self._is_natural(gap.scaled(-1), facts) else ()
        if e.op.name == "less":
            return (None,) if self._is_less(a, b, facts) else ()
        is_natural = self.ranges.is_natural(a) or self._is_natural(self.form(a), facts)
        if e.op.name == "wrap_index":
            return (0,) if is_natural else ()
        return (None,) if is_natural and self._is_less(a, b, facts) else ()

    def _is_less(self, a: Atom, b: Atom, facts: tuple) -> bool:
        return self.ranges.is_less(a, b) or self._is_natural(self.form(b) - self.form(a).shifted(1), facts)

    def _is_natural(self, form: Affine, facts: tuple) -> bool:
        """Whether a form is not negative: by bounds, or since it is at least one of the facts."""
        return any(self.ranges.is_nowhere_negative(form - fact) for fact in (Affine.constant(0), *facts))

    def form(self, a: Atom) -> Affine:
        """An integer as a sum of those that are known by name only."""
        if isinstance(a, Literal):
            return Affine.constant(int(a.value))
        if a not in self.forms:
            self.forms[a] = self._form(a)
        return self.forms[a]

    def _form(self, a: Var) -> Affine:
        exact, made = self.ranges.exact(a, self.ranges.everywhere()), self.ranges.made.get(a)
        if exact is not None:
            return exact
        if made is None or made.op.name not in ("add", "sub") or not all(map(_is_integer, made.inputs)):
            return Affine.of(a)
        x, y = map(self.form, made.inputs)
        return x + y if made.op.name == "add" else x - y

    # -- conditions ------------------------------------------------------------------------------------------------

    def _implied_by_branch(self, e: Equation, number: int) -> Iterator[Affine]:
        """The sums that are not negative in a branch of this number."""
        if is_branch(e) and e.inputs[0].type.dtype.kind == "b":
            yield from self._implied(e.inputs[0], bool(number))

    def _implied(self, condition: Atom, value: bool) -> Iterator[Affine]:
        """The sums that are not negative where a condition has this value."""
        made = self.ranges.made.get(condition) if isinstance(condition, Var) else None
        if made is None or not isinstance(condition, Var):
            return
        name = made.op.name
        if name in ORDERS and all(map(_is_integer, made.inputs)):
            a, b, more = ORDERS[name]
            gap = self.form(made.inputs[0]).scaled(a) + self.form(made.inputs[1]).scaled(b)
            yield gap.shifted(more) if value else gap.scaled(-1).shifted(-1 - more)
        elif name == "logical_not":
            yield from self._implied(made.inputs[0], not value)
        elif name == ("logical_and" if value else "logical_or"):
            for part in made.inputs:
                yield from self._implied(part, value)
        elif is_branch(made) and made.inputs[0].type.dtype.kind == "b":           # a and b:  cond a: b else False
            for side, a in enumerate(BranchView(made).yielded(condition)):
                if isinstance(a, Literal) and bool(a.value) is not value:
                    yield from self._implied(made.inputs[0], not side)
