"""Facts about the integers of a program: affine forms, bounds, equalities, and the guards they rest on.

Every integer scalar has an affine form: a constant plus integer multiples of other integers. Two extents with one form
are equal; bounds give the sign of a difference. Where that is not enough, and the integers are extents of inputs whose
values at tracing are known, the fact is *assumed*: it becomes a guard, tested at each call (a call that fails it is
traced anew).
"""
import math
from typing import NamedTuple

from .affine import Affine, combined
from .graph import Var


class ExtentGuard(NamedTuple):
    """form == 0 or form >= 0, over extents of inputs; `where` is the line that asked for it."""

    relation: str
    form: Affine
    where: object = None


class Integers:
    """Facts about the integers of one program (shared by its regions)."""

    def __init__(self) -> None:
        self.forms: dict[Var, Affine] = {}
        self.low: dict[Var, int] = {}
        self.high: dict[Var, Affine] = {}              # v <= high[v]
        self.factors: dict[Var, tuple] = {}            # the two integers that a variable is the product of
        self.operands: dict[Var, tuple] = {}           # the operands of an integer that has no affine form
        self.dims: set[Var] = set()                    # extents of inputs, which guards may test
        self.guards: dict[tuple, ExtentGuard] = {}

    def form(self, n: "int | Var") -> Affine:
        """The affine form of an integer, in terms of variables that have none of their own."""
        if isinstance(n, int):
            return Affine.constant(n)
        known = self.forms.get(n)
        if known is None:
            return Affine.of(n)
        return self._resolve(known)

    def form_of(self, name: str, operands: tuple) -> "Affine | None":
        """The affine form of an op's result, where it has one."""
        forms = [self.form(a) for a in operands]
        if name == "floordiv" and forms[1].is_constant:
            return forms[0].divided(forms[1].const)
        if name == "mod" and self.proves_nonnegative(forms[0]) and self.proves_nonnegative(
                forms[1] - forms[0].shifted(1)):
            return forms[0]
        if name in ("minimum", "maximum"):
            smaller, larger = (forms[0], forms[1]) if name == "minimum" else (forms[1], forms[0])
            if self.proves_nonnegative(larger - smaller):
                return forms[0]
            if self.proves_nonnegative(smaller - larger):
                return forms[1]
        return combined(name, forms)

    def note_result(self, name: str, var: Var, operands: tuple) -> None:
        """Note what is known of the result of an op that has no affine form."""
        self.operands[var] = operands
        forms = [self.form(n) for n in operands]
        if name == "minimum":
            self.high[var] = forms[0] if not forms[0].is_constant else forms[1]
        if name in ("minimum", "maximum", "floordiv"):
            signs = [self.proves_nonnegative(f) for f in forms]
            if any(signs) if name == "maximum" else all(signs):
                self.low[var] = 0
        lows = [self.lower(f) for f in forms]
        if name == "maximum" and any(lows):
            self.low[var] = max(low for low in lows if low is not None)
        if name == "mul":
            self.factors[var] = operands
            known = [low for low in lows if low is not None and low >= 0]
            if len(known) == len(lows) == 2:
                self.low[var] = known[0] * known[1]
        if name == "mod" and self.proves_nonnegative(forms[1].shifted(-1)):
            self.low[var], self.high[var] = 0, forms[1].shifted(-1)

    def note_bounds(self, new: Var, old: Var) -> None:
        """The new variable is as large as the old one."""
        form = self.form(old)
        low = self.lower(form)
        if low is not None:
            self.low[new] = low
        self.high[new], new.hint = form, self.hint(form)

    def note_seen(self, var: Var, value: int, sizes: tuple) -> None:
        """The variable has this value, as long as the sizes that it follows from are what they are."""
        if sizes:
            var.hint, self.operands[var] = value, sizes
        else:
            self.forms[var] = Affine.constant(value)

    def _resolve(self, form: Affine) -> Affine:
        if not any(v in self.forms for v, _ in form.terms):
            return form
        total = Affine.constant(form.const)
        for v, c in form.terms:
            total = total + self.form(v).scaled(c)
        return total

    def hint(self, form: Affine) -> "int | None":
        """The value the form had at tracing, where all its variables' are known."""
        total = form.const
        for v, c in form.terms:
            if v.hint is None:
                return None
            total += c * v.hint
        return total

    def lower(self, form: Affine) -> "int | None":
        """A lower bound of the form, where its variables have lower bounds."""
        total = form.const
        for v, c in form.terms:
            if c < 0 or v not in self.low:
                return None
            total += c * self.low[v]
        return total

    def proves_nonnegative(self, form: Affine, depth: int = 4) -> bool:
        """Whether form >= 0 follows from the bounds."""
        low = form.const
        for v, c in form.terms:
            if c > 0 and v in self.low:
                low += c * self.low[v]
            elif c > 0:
                break
            else:
                return self._replace_bounded(form, depth)
        else:
            if low >= 0:
                return True
        return self._replace_bounded(form, depth)

    def _replace_bounded(self, form: Affine, depth: int) -> bool:
        if depth == 0:
            return False
        for v, c in form.terms:
            if c < 0 and v in self.high:
                rest = form.without(v)
                if self.proves_nonnegative(rest + self._resolve(self.high[v]).scaled(c), depth - 1):
                    return True
        return False

    def _guardable(self, form: Affine) -> bool:
        return bool(form.terms) and all(v in self.dims for v, _ in form.terms)

    def assume_nonnegative(self, form: Affine, where: object = None) -> bool:
        """Make form >= 0 true of this program, by proof or by a guard; False if neither works."""
        if self.proves_nonnegative(form):
            return True
        hint = self.hint(form)
        if hint is None or hint < 0 or not self._guardable(form):
            return False
        self.guards[(">=", form)] = ExtentGuard(">=", form, where)
        if len(form.terms) == 1 and form.terms[0][1] == 1:
            v = form.terms[0][0]
            self.low[v] = max(self.low.get(v, 0), -form.const)
        return True

    def iteration_number(self, index: "int | Var", start: "int | Var", step: int) -> Affine:
        """The number of iterations before the one with this index, in a loop whose step is 1 or -1."""
        return (self.form(index) - self.form(start)).scaled(step)

    def least(self, form: Affine, depth: int = 4) -> Affine:
        """A form that is nowhere above this one: indices of loops stand at the bound where it is least."""
        for v, c in form.terms:
            bound = (None if v in self.dims else self.high.get(v) if c < 0
                     else Affine.constant(self.low[v]) if v in self.low else None)
            if bound is not None and depth:
                rest = form.without(v)
                return self.least(rest + self._resolve(bound).scaled(c), depth - 1)
        return form

    def assume_zero(self, form: Affine, where: object = None) -> bool:
        """Make form == 0 true of this program, by proof or by a guard; False if neither works."""
        form = _reduced(self._resolve(form))
        if form.is_constant:
            return form.const == 0
        if self.hint(form) != 0 or not self._guardable(form):
            return False
        self.guards[("==", form)] = ExtentGuard("==", form, where)
        self._substitute(form)
        return True

    def pin(self, n: "int | Var", where: object = None) -> "int | None":
        """The value that an integer had at tracing, made true by guards on the extents that it comes from; None
        without such extents."""
        form = self.form(n)
        if form.is_constant:
            return form.const
        hint = self.hint(form)
        if hint is None:
            return None
        if self.assume_zero(form.shifted(-hint), where) or all(self._pin_term(v, where) for v, _ in form.terms):
            return hint
        return None

    def is_of_extents(self, form: Affine) -> bool:
        """Whether an integer with this form comes from extents of inputs alone, so that guards on them can pin it."""
        return self.hint(form) is not None and all(v in self.dims or v in self.operands for v, _ in form.terms)

    def _pin_term(self, v: Var, where: object) -> bool:
        operands = self.operands.get(v, ())
        if v in self.dims:
            assert v.hint is not None  # a form's hint needs its terms'
            return self.assume_zero(Affine.of(v).shifted(-v.hint), where)
        if not operands or any(self.pin(n, where) is None for n in operands):
            return False
        self.forms[v] = Affine.constant(v.hint)                                       # type: ignore[arg-type]
        return True

    def _substitute(self, form: Affine) -> None:
        """From form == 0, express the youngest variable with coefficient +-1 by the others."""
        for v, c in reversed(form.terms):
            if abs(c) == 1:
                rest = form.without(v)
                self.forms[v] = rest.scaled(-c)
                return

    def equal_extents(self) -> dict:
        """Extents of inputs that the guards hold equal to another one, or to a number: {variable: variable or int}."""
        equal: dict = {}
        for v in self.dims:
            form = self.form(v)
            if form.is_constant:
                equal[v] = form.const
            elif form.const == 0 and len(form.terms) == 1 and form.terms[0][1] == 1 and form.terms[0][0] is not v:
                equal[v] = form.terms[0][0]
        return equal


def _reduced(form: Affine) -> Affine:
    """A form of smaller numbers that is zero where this one is: 66 n = 264 says n = 4."""
    return form.divided(math.gcd(form.const, *(c for _, c in form.terms))) or form
