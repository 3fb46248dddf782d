"""Reads and calls by what depends on the path: a function, a member of an Enum, a key, a place in a list.

    rules = {"air": drag, "water": lift}           rules[medium](v)     ->     if number == 1: drag(v)
    medium = "air" if v > 1 else "water"                                       else:           lift(v)

Each candidate becomes a branch. A branch joins what the candidates give: arrays and numbers by a value, functions and
members of an Enum by a number again (regions/forms.py). The program checks that it has met one of them.
"""
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ...ir.build import Value, current
from ...ir.op import registry
from ...ops.conditional import around
from ...util.array import AnyArray
from ...util.errors import RAISED_ON_A_WAY
from ..regions.branch import choose
from ..values.choice import ChosenThing, is_choice, number_of, table_of
from ..values.constants import constant_of
from ..values.text import TracedText
from ..values.tracer import Tracer
from .datamodel import DataModel

MOST = 16                                                     # candidates
CHOOSING = {Tracer, TracedText, ChosenThing}                  # classes of keys that may depend on the path


def one_of(tests: list, results: list) -> AnyArray:
    """The result whose test holds; the program goes to the tape where none does."""
    if len(tests) == 1:
        what = f"{RAISED_ON_A_WAY}: none of the candidates is meant"
        registry["check_that"](tests[0], True, what=what, error="ValueError")
        return results[0]()
    return choose(tests[0], results[0], lambda: one_of(tests[1:], results[1:]), {})


class ChoosingRuntime(DataModel):
    """The part of the runtime (see control.py) that sees to these."""

    def item(self, c: Any, k: object, is_indexed: bool = False) -> Any:
        """c[k]"""
        found = self._candidates(c, k) if type(k) in CHOOSING else None
        if found is None:
            return super().item(c, k, is_indexed)
        keys, tests = found
        return one_of(tests, [lambda key=key: self.item(c, key, is_indexed) for key in keys])

    def attribute(self, owner: object, name: str, is_indexed: bool = False) -> Any:
        """owner.name"""
        if type(owner) is not ChosenThing:
            return super().attribute(owner, name, is_indexed)
        return self._of_each(owner, lambda one: self.attribute(one, name, is_indexed))

    def called_thing(self, f: ChosenThing) -> Callable:
        """A function that depends on the path, as captured code calls it."""
        def call(*args: object, **kwargs: object) -> AnyArray:
            return self._of_each(f, lambda g: self.call(g)(*args, **kwargs))
        return call

    def _of_each(self, x: ChosenThing, result: Callable) -> AnyArray:
        things = list(x.table.things)
        return one_of([registry["equal"](x.number, k) for k in range(len(things))],
                      [lambda one=one: result(one) for one in things])

    def _candidates(self, c: Any, k: Any) -> "tuple[list, list] | None":
        """The keys that k may be in a dict, list or tuple, and a test for each; None where Python or an array knows."""
        if type(c) is dict and is_choice(k):
            keys = [key for key in c if table_of(k).holds(key)]
            tests = [registry["equal"](number_of(k), number_of(key)) for key in keys]
        elif type(c) is dict and _is_index(k):
            keys = [key for key in c if type(key) is int]
            tests = [registry["equal"](k, key) for key in keys]
        elif type(c) in (list, tuple) and _is_index(k) and _has_no_form(c):
            self.capture.swap(c)                              # how many there are
            keys = list(range(len(c)))
            tests = [registry["equal"](registry["where"](registry["less"](k, 0), k + len(c), k), key) for key in keys]
        else:
            return None
        return (keys, tests) if 0 < len(keys) <= MOST else None


def _is_index(k: object) -> bool:
    """Whether k is an integer that data decide. A loop whose index finds items is unrolled: each is known then."""
    if type(k) is not Tracer or k.ndim or k.dtype.kind != "i" or constant_of(k.atom, 0) is not None:
        return False
    facts = current().integers
    counted = {b.inputs[0] for b in around(current()) if isinstance(b.region.runs, tuple) and b.inputs}
    return not all(v in counted or v in facts.dims for v, _ in facts.form(k.atom).terms)


def _has_no_form(c: Iterable) -> bool:
    """Whether a list is one of functions, of texts or of arrays from outside, which have no row in an array."""
    return all(type(x) is str or (x.ndim > 0 if isinstance(x, Value) else isinstance(x, np.ndarray) or callable(x))
               for x in c)
