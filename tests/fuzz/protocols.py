"""Random classes with special methods, and random functions whose objects Python asks: operators, builtin functions,
sorting, iteration, unpacking.

Every method is one of several bodies: math's functions, loops that write to elements, state from outside. Each value
and gradient is Python's, at each of several calls between which that state changes. `python -m tests.fuzz.protocols
[COUNT] [FIRST]` tries COUNT functions from seed FIRST, and prints a shrunk one for each failure.
"""

import fad

from . import calls, judge
from .calls import attempt, shrunk_calls, text_of, within
from .statement import Blocks, Statement

STATE = """
import bisect, copy, functools, heapq, itertools, math, operator
import numpy as np
from collections import deque

GAIN, MODE = 1.3, "a"

class Base:
    rate = 0.7

    def __init__(self, a, k):
        self.a, self.k = a, k

    def looped(self, v):
        y = np.zeros(3)
        for i in range(3):
            y[i] = v * (i + 1) + self.k
        return y.sum() * 0.1

def text(v):
    return "abc"[int(v > 0.5)]
"""
NUMBERS = within("""
    math.sqrt(abs({0}.a) + 1.0) * GAIN | math.sin({0}.a) + {0}.k | {0}.looped({0}.a) | {0}.a * {0}.rate |
    math.exp(0.3 * {0}.a) if MODE == 'a' else {0}.a | {0}.k * GAIN + {0}.a""")
TRUTHS = within("""
    {0} > {1} | {0} > {1} + 0.1 * GAIN | ({0} > {1}) == (MODE == 'a') | not {0} <= {1} |
    math.floor({0} * 3.0) > math.floor({1} * 3.0)""")
# the signature, and the forms of what is returned; {n}, {m} are numbers of self and other
METHODS = {
    "__lt__": ("self, other", TRUTHS), "__gt__": ("self, other", TRUTHS),
    "__eq__": ("self, other", within("abs({0} - {1}) < 0.2 | math.floor({0} * 3.0) == math.floor({1} * 3.0)")),
    "__add__": ("self, other", within("C({0} + {1}, self.k) | C({0}, other.k) | {0} + {1}")),
    "__radd__": ("self, given", within("{0} + given | C({0}, self.k)")),
    "__mul__": ("self, given", within("C({0}, given) | {0} * 0.5")),
    "__neg__": ("self", within("C(-{0}, self.k) | -{0}")), "__abs__": ("self", within("abs({0}) | {0} ** 2")),
    "__bool__": ("self", within("bool({0} > 0.9) | self.k > 1")),
    "__len__": ("self", within("self.k + 1 | 2 + (MODE == 'a')")),
    "__getitem__": ("self, i", within("[{0}, self.a, 0.5][i] | self.a * i if i < 2 + (MODE == 'a') else [][i]")),
    "__contains__": ("self, v", within("{0} > 0.7 | v == self.k")),
    "__iter__": ("self", within("iter([{0}, self.a]) | map(lambda v: v * GAIN, [self.a, {0}])")),
    "__reversed__": ("self", within("iter([self.a, {0}])")),
    "__call__": ("self, v", within("{0} * v | v + self.k")), "__float__": ("self", within("float({0})")),
    "__int__": ("self", within("self.k + (MODE == 'a')")),
    "__index__": ("self", within("self.k % 2 | int(MODE == 'a')")), "__round__": ("self, n=0", within("{0} + n")),
    "__divmod__": ("self, v", within("({0}, v) | divmod({0}, 0.7)")),
    "__pow__": ("self, v", within("{0} ** v")), "__matmul__": ("self, other", within("{0} * {1}")),
    "__getattr__": ("self, name", within("self.absent(name, {0})")),
    "__enter__": ("self", within("{0} | self.a")), "__exit__": ("self, *error", within("None | error is None")),
    "__str__": ("self", within("text({0}) | MODE")),
    "__format__": ("self, how", within("text({0}) | MODE")), "__hash__": ("self", within("self.k | 7")),
    "__repr__": ("self", within("text({0}) | MODE")),
    "__deepcopy__": ("self, memo", within("C({0}, self.k) | C(self.a, 2)")),
    "__copy__": ("self", within("C({0}, self.k) | C(self.a, 2)")),
}
USES = within("""
    max(L).a | min(L, key=abs).a | min(o, L[0]).a | sorted(L)[0].a | sorted(L, reverse=True)[-1].a * 2 |
    sorted(L, key=lambda q: (q.k, q))[0].a | max([(1, q) for q in L])[1].a | L.index(o) + o.a | L.count(o) * o.a |
    x[0] * (o in L) | x[1] * (o not in (L[0], 2)) | x[0] * (L == [o, *L[1:]]) | x[1] * ((1, o) < (1, L[1])) |
    sum(L[:2], 0.0) | sum([o.a, *o]) | functools.reduce(operator.add, L[:1]).a | sum(map(abs, L)) |
    sum(map(o, [x[0], 2.0])) | x[0] * len(list(filter(None, L))) | x[0] * any(L) + x[1] * all(L) | x[2] * (not o) |
    x[0] * len(o) | sum(v for v in o) | sum(list(o)) | max(o) | (lambda u, *v: u * 2)(*o) |
    sum(u * v for u, v in zip(o, x)) | list(reversed(o))[0] | next(iter(o)) | o[1] | o[0] * o.k | x[0] * (2 in o) |
    o(x[0]) | float(o) | x[0] * int(o) | [x[0], x[1]][o] | round(o, 1) | divmod(o, 0.4)[0] | o ** 2 | o @ L[1] |
    o.missing | (-o).a | (o * 2).a | (o + L[1]).a | abs(o) | {'a': x[0], 'b': x[1], 'c': x[2]}[str(o)] |
    {'a': x[0], 'b': x[1], 'c': x[2]}[f'{o}'] | {'a': x[0], 'b': x[1], 'c': x[2]}['%s' % o] |
    x[0] * len({o: 1, L[1]: 2}) | x[1] * (o == L[1]) | x[1] * (o != L[1]) | x[0] * (o < L[1] < L[0]) |
    (x[0] if o else x[1]) | (o and L[1]).a | (L[0] or o).a | sum(itertools.chain(o, [x[0]])) |
    sum(itertools.islice(o, 1)) | math.prod(o) | operator.add(o, L[1]).a | operator.itemgetter(1)(o) |
    operator.lt(o, L[1]) * x[0] | operator.attrgetter('a')(o) | np.sum([v for v in o]) | sum([q.a for q in deque(L)]) |
    sum(i * v for i, v in enumerate(o)) | [*o][1] | dict(zip('ab', o))['a'] |
    sum(a.a * b.a for a, b in itertools.pairwise(sorted(L))) | tuple(o)[0] | max(*L).a | getattr(o, 'none', x[0]) |
    (lambda h: (heapq.heapify(h), heapq.heappop(h).a + 2.0 * h[0].a)[1])(list(L)) | heapq.nsmallest(2, L)[1].a |
    heapq.nlargest(1, L)[0].a | sum(k * q.a for k, q in enumerate(heapq.merge(L[:1], L[1:]))) |
    x[0] * bisect.bisect(sorted(L), o) | (lambda h: (bisect.insort(h, o), h[1].a)[1])(sorted(L)) |
    sorted(L, key=functools.cmp_to_key(lambda p, q: (q < p) - (p < q)))[0].a | copy.deepcopy([o, L[1]])[0].a |
    copy.deepcopy({'k': (L[0], [o])})['k'][1][0].a | copy.copy(o).a |
    {'a': x[0], 'b': x[1], 'c': x[2]}[''.join(map(str, L[:1]))] | {'a': x[0], 'b': x[1], 'c': x[2]}[str([o])[1]] |
    {'a': x[0], 'b': x[1], 'c': x[2]}[repr(o)] | {'a': x[0], 'b': x[1], 'c': x[2]}['{}'.format(o)] |
    x[0] * hasattr(o, 'missing')""")
CHANGES = within("GAIN = {0} | MODE = 'b' | MODE = 'a' | Base.rate = {0} | KEPT[0].k = {1} | KEPT[1].a = {0} | "
                 "KEPT.reverse() | C.rate = {0} | pass")


class Generator(Blocks):
    """Makes a class, a function and changes of state."""

    def program(self):
        names = [n for n in METHODS if self.r.random() < 0.75]
        methods = [s for name in names for s in self.method(name)]
        use = [s for _ in range(self.r.randint(1, 5)) for s in self.statement(0)]
        f = Statement("def f(x):", [Statement("L = [C(v, k % 2 + 1) for k, v in enumerate(x)]"), Statement("s = 0.0"),
                                    Statement(f"o = {self.r.choice(['L[2]', 'L[0]', 'KEPT[0]', 'C(0.6, 1)'])}"), *use,
                                    Statement("return s")])
        absent = Statement("def absent(self, name, v):",
                           [Statement("if name == 'missing':", [Statement("return v")]),
                            Statement("raise AttributeError(name)")])
        changes = [Statement(self.r.choice(CHANGES).format(f"{self.r.uniform(0.2, 1.5):.3f}", self.r.randint(1, 3)))
                   for _ in range(self.r.randint(1, 4))]
        return [Statement("class C(Base):", [absent, *methods]), f, *changes]

    def method(self, name):
        given, forms = METHODS[name]
        form, n, m = self.r.choice(forms), self.r.choice(NUMBERS).format("self"), self.r.choice(NUMBERS).format("other")
        lines = [Statement(f"return {form.format(f'({n})', f'({m})')}")]
        if self.r.random() < 0.2:
            lines.insert(0, Statement(f"w = {n}"))
        return [Statement(f"def {name}({given}):", lines)]

    def statement(self, depth):
        s = Statement(f"s += {self.r.uniform(0.3, 1.0):.2f} * ({self.r.choice(USES)})")
        if depth == 0 and self.r.random() < 0.3:
            head = self.r.choice(["if o:", "for v in o:", "if x[0] > 0.1:", "with o as v:", "for q in L:",
                                  "if len(L) > 2 and not o:"])
            return [Statement(head, [s])]
        return [s]


def calls_of(body, tier):
    """None, or what was not right at one of the calls."""
    scope = judge.executed(STATE, {"__name__": "program"})
    judge.executed(text_of(body[:2]) + "KEPT = [C(0.55, 1), C(0.85, 2)]\n", scope)
    f = scope["f"]
    kept = {"jit": fad.jit(f), "grad": fad.grad(f), "jvp": fad.jit(lambda x, v: fad.jvp(f, (x,), (v,)))}
    for number, change in enumerate([Statement("pass"), *body[2:]], 1):
        if isinstance(attempt(exec, change.head, scope), Exception):
            return None
        x = judge.POINT[:4].copy()
        problem = calls.judge_call(f, calls.renewed(text_of(body[1:2]), scope, number), kept, x, tier)
        if problem:
            return f"call {number}, after {change.head!r}: {problem}"
    return None


def report(seed, compile=False):
    """None, or the failure of this seed's calls with the function shrunk."""
    return shrunk_calls(seed, judge.tier_of(seed, compile), Generator.of(seed), calls_of,
                        lambda part: len(part) > 1 and part[0].head.startswith("class")
                                     and part[1].head.startswith("def"), 30)


if __name__ == "__main__":
    judge.command(report)
