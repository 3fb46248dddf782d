"""Sign analysis: the integers of a function that are never negative, as far as the ranges of its loops tell.

A subscript that may be negative counts from the end. That costs a comparison for each element, and more where it keeps
LLVM from reading neighbours at once. An integer is written as a sum of variables; loop indices are replaced, from the
innermost loop outwards, by the ends of their ranges.
"""
import operator
from itertools import count

from numba.core import ir
from numba.core.analysis import compute_cfg_from_blocks

from fad.kernels.variables import natural_names, only_value, origin, range_arguments

__all__ = ["SignAnalysis"]


class SignAnalysis:
    """Facts about the integers of a function in Numba's representation. defined: see variables.definitions."""

    def __init__(self, blocks, defined):
        self.defined, self.natural = defined, natural_names(defined)
        self.known = {}  # (name, block) -> whether it is natural there
        self.loops = {}  # name of a loop's index -> (blocks of the loop, start, stop, step), ...
        self.places = {}  # name -> the block where it is assigned (last)
        self.uses = count()
        found = compute_cfg_from_blocks(blocks).loops().values()
        self.around = {label: {loop.header for loop in found if label in loop.body} for label in blocks}
        for label, block in blocks.items():
            for statement in block.body:
                if isinstance(statement, ir.Assign):
                    self.places[statement.target.name] = label
                span = self._range_of(statement)
                if span is not None:
                    body = min((loop.body for loop in found if label in loop.body), key=len, default=())
                    self.loops.setdefault(statement.target.name, []).append((body, *span))

    def is_natural(self, name, block):
        """Whether a variable is not negative where it is used in a block."""
        if name in self.natural:
            return True
        if (name, block) not in self.known:
            self.known[name, block] = False  # until it is found out: a sum of itself
            self.known[name, block] = self._is_natural_sum(self._sum_of(name, block), block)
        return self.known[name, block]

    # -- loops --------------------------------------------------------------------------------------------------------

    def _range_of(self, statement):
        """Start, stop and step of the range whose numbers a statement gives to a loop's index; start None: 0."""
        if not isinstance(statement, ir.Assign) or statement.target.name.startswith("$"):
            return None
        value = origin(self.defined, statement.value)
        args = range_arguments(self.defined, value, ("pair_first", "iternext", "getiter"))
        if args is None:
            return None
        step = only_value(self.defined, args[2]) if len(args) == 3 else 1
        start, stop = (None, args[0]) if len(args) == 1 else args[:2]
        return (start, stop, step) if step in (1, -1) else None

    def _ends(self, name, block):
        """(blocks of the loop, least, largest value) of a loop's index, as sums; None where it is not the index of one
        loop there.
        """
        around = [loop for loop in self.loops.get(name, ()) if block in loop[0]]
        if len(around) != 1 or len(self.loops[name]) != len(self.defined[name]):
            return None
        body, start, stop, step = around[0]
        if any(other[0] < body for other in self.loops[name]):  # the value that an inner loop has left
            return None
        first = {} if start is None else self._sum_of(start.name, block)
        last = _plus(self._sum_of(stop.name, block), {None: -step})
        return (body, first, last) if step == 1 else (body, last, first)

    # -- sums ---------------------------------------------------------------------------------------------------------

    def _made_around(self, name, block):
        """The one value of a variable and the block where it is made, if all loops around that are around the use, too;
        else None.

        An earlier loop leaves a value made of its index, which may have the name of the index of a loop around the use.
        """
        values = self.defined.get(name, ())
        if len(values) != 1 or name in self.loops or not self.around[self.places[name]] <= self.around[block]:
            return None
        return values[0], self.places[name]

    def _sum_of(self, name, block):
        """{variable: coefficient, None: constant} of an integer that is used in a block.

        A variable that changes has a value of its own in each use: (its name, a number).
        """
        if name in self.loops and not any(block in body for body, *_ in self.loops[name]):
            return {(name, block): 1}  # an index when its loop is over
        made = self._made_around(name, block)
        if made is None:
            return {name if name in self.loops or len(self.defined.get(name, ())) == 1 else (name, next(self.uses)): 1}
        value, place = made
        if isinstance(value, ir.Var):
            return self._sum_of(value.name, place)
        if isinstance(value, (ir.Const, ir.Global, ir.FreeVar)) and type(value.value) is int:
            return {None: value.value}
        if isinstance(value, ir.Expr) and value.op == "unary" and value.fn is operator.neg:
            return _times(self._sum_of(value.value.name, place), -1)
        if (
            isinstance(value, ir.Expr)
            and value.op == "binop"
            and value.fn in (operator.add, operator.sub, operator.mul)
        ):
            a, b = self._sum_of(value.lhs.name, place), self._sum_of(value.rhs.name, place)
            if value.fn is not operator.mul:
                return _plus(a, _times(b, 1 if value.fn is operator.add else -1))
            for x, y in ((a, b), (b, a)):
                if not x.keys() - {None}:
                    return _times(y, x.get(None, 0))
        return {name: 1}

    def _is_natural_sum(self, terms, block):
        while True:
            ends = {name: self._ends(name, block) for name in terms if name in self.loops}
            inner = min((name for name in ends if ends[name]), key=lambda name: len(ends[name][0]), default=None)
            if inner is None:
                return all(c >= 0 and (name is None or self._is_natural_term(name, block)) for name, c in terms.items())
            c = terms[inner]
            terms = _plus({k: v for k, v in terms.items() if k != inner}, _times(ends[inner][1 if c > 0 else 2], c))

    def _is_natural_term(self, name, block):
        """Whether a product, or what is not a sum, is not negative."""
        if (name[0] if isinstance(name, tuple) else name) in self.natural:
            return True
        made = self._made_around(name, block)
        if (
            made is None
            or not isinstance(made[0], ir.Expr)
            or made[0].op != "binop"
            or made[0].fn not in (operator.mul, operator.floordiv)
        ):
            return False
        value, place = made
        a, b = value.lhs.name, value.rhs.name
        if value.fn is operator.mul:
            gap = _plus(self._sum_of(a, place), _times(self._sum_of(b, place), -1))
            if gap == {None: 1} or gap == {None: -1}:  # neighbours: one of them is 0, or both are of one sign
                return True
        return self.is_natural(a, place) and self.is_natural(b, place)


def _plus(a, b):
    total = dict(a)
    for name, c in b.items():
        total[name] = total.get(name, 0) + c
    return {name: c for name, c in total.items() if c}


def _times(a, k):
    return {name: c * k for name, c in a.items() if c * k}
