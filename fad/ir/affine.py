"""Affine forms: sums of integer multiples of symbols, and a constant.

A symbol is an integer variable of the program. In the backend it may also be an axis of a loop nest, or an element of
an array of integers (see backend/schedule/indexmap.py). A symbol's `order` says where its term stands, so that equal
forms are equal tuples.
"""
from typing import NamedTuple, TypeVar

Form = TypeVar("Form", bound="Affine")


class Affine(NamedTuple):
    """const + sum of coefficient * symbol; terms are sorted by the symbols' order, and no coefficient is zero.

    >>> from fad.ir.graph import Var
    >>> from fad.ir.types import INT, Type
    >>> n = Affine.of(Var(Type(INT), "n"))
    >>> (n + n).shifted(3) - n
    Affine(terms=((n, 1),), const=3)
    """

    terms: tuple = ()
    const: int = 0

    @classmethod
    def of(cls: "type[Form]", symbol: object) -> Form:
        """The form of one symbol."""
        return cls(((symbol, 1),))

    @classmethod
    def constant(cls: "type[Form]", value: int) -> Form:
        """The form of a number."""
        return cls((), value)

    def __add__(self: Form, other: "Affine") -> Form:         # type: ignore[override]
        if not other.terms:
            return self.shifted(other.const)
        sums = dict(self.terms)
        for s, c in other.terms:
            sums[s] = sums.get(s, 0) + c
        terms = sorted([(s, c) for s, c in sums.items() if c], key=_order)
        return type(self)(tuple(terms), self.const + other.const)

    def __sub__(self: Form, other: "Affine") -> Form:
        return self + other.scaled(-1)

    def shifted(self: Form, by: int) -> Form:
        """The form plus a number."""
        return type(self)(self.terms, self.const + by)

    def scaled(self: Form, k: int) -> Form:
        """The form times a number."""
        return type(self)(tuple([(s, c * k) for s, c in self.terms]) if k else (), self.const * k)

    def divided(self: Form, k: int) -> "Form | None":
        """The floor of self / k where that is affine again: where k > 0 divides every coefficient."""
        if k <= 0 or any(c % k for _, c in self.terms):
            return None
        return type(self)(tuple([(s, c // k) for s, c in self.terms]), self.const // k)

    def coefficient(self, symbol: object) -> int:
        """By how much the form grows with a symbol."""
        return next((c for s, c in self.terms if s is symbol), 0)

    def without(self: Form, symbol: object) -> Form:
        """The form without the term of a symbol."""
        return type(self)(tuple([term for term in self.terms if term[0] is not symbol]), self.const)

    @property
    def is_constant(self) -> bool:
        """Whether the form is a number."""
        return not self.terms


def combined(name: str, forms: "list[Form]") -> "Form | None":
    """The form of add, sub, neg or mul of these forms, where it is affine; None for other ops.

    >>> combined("mul", [Affine.constant(2), Affine.constant(3)])
    Affine(terms=(), const=6)
    """
    if name == "add":
        return forms[0] + forms[1]
    if name == "sub":
        return forms[0] - forms[1]
    if name == "neg":
        return forms[0].scaled(-1)
    if name == "mul" and not forms[0].terms:
        return forms[1].scaled(forms[0].const)
    if name == "mul" and not forms[1].terms:
        return forms[0].scaled(forms[1].const)
    return None


def _order(term: tuple) -> tuple:
    return term[0].order
