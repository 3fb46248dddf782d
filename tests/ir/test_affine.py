"""Affine forms compute as the integers that they stand for do, and equal forms are equal tuples."""
import itertools
import random

import pytest

from fad.backend.schedule.indexmap import Axis, Elem, Index, at
from fad.ir.affine import Affine
from fad.ir.graph import Var
from fad.ir.types import INT, Type

VARS = [Var(Type(INT), name) for name in "nmk"]
AXES = [Axis(at(4)), Axis(at(VARS[0]))]


def value(form, of):
    return form.const + sum(c * of[s] for s, c in form.terms)


def forms(cls, symbols, seed):
    rng = random.Random(seed)
    terms = [cls.of(s).scaled(rng.randint(-3, 3)) for s in symbols]
    return sum(rng.sample(terms, len(terms)), cls.constant(rng.randint(-5, 5)))


@pytest.mark.parametrize("cls, symbols", [(Affine, VARS), (Index, [*VARS, *AXES, Elem(VARS[1])])],
                         ids=["ir", "backend"])
@pytest.mark.parametrize("seed", range(5))
def test_arithmetic(cls, symbols, seed):
    of = {s: k * k + seed - 3 for k, s in enumerate(symbols)}
    x, y = forms(cls, symbols, seed), forms(cls, symbols, seed + 100)
    results = {x + y: value(x, of) + value(y, of), x - y: value(x, of) - value(y, of), x.scaled(-2): -2 * value(x, of),
               x.shifted(7): value(x, of) + 7, x.scaled(0): 0, x.scaled(6).shifted(5).divided(3): 2 * value(x, of) + 1}
    for form, want in results.items():
        assert type(form) is cls and value(form, of) == want and all(c for _, c in form.terms)
    for s in symbols:
        assert x.without(s) + cls.of(s).scaled(x.coefficient(s)) == x and x.without(s).coefficient(s) == 0


def test_the_order_of_a_sum_does_not_matter():
    parts = [Index.of(s).scaled(k + 1) for k, s in enumerate([*VARS[:2], AXES[0], Elem(VARS[2])])]
    sums = {sum(order, Index()) for order in itertools.permutations(parts)}
    assert len(sums) == 1


def test_what_has_no_affine_quotient():
    form = Affine.of(VARS[0]).scaled(3)
    assert form.divided(2) is None and form.divided(0) is None and form.divided(-3) is None
    assert not form.is_constant and (form - form).is_constant and form - form == Affine()
