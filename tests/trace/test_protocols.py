"""What Python's own C code asks of users' objects (which is less, what is equal, what comes next) is traced as
operators are: by the methods' text."""
import bisect
import copy
import functools
import heapq
import itertools
import math
import operator
import warnings

import numpy as np
import pytest

import fad

X = np.array([0.8, 0.55, 1.1])
SCALE = [2.0]


class Point:
    """Two numbers. Each method needs its text: math's functions of traced numbers, and a global of the user's."""

    def __init__(self, a, b):
        self.a, self.b = a, b

    def size(self):
        return math.sqrt(self.a ** 2 + self.b ** 2) * SCALE[0]

    def __lt__(self, other):
        return self.size() < other.size()

    def __gt__(self, other):
        return math.exp(self.size()) > math.exp(other.size())

    def __eq__(self, other):
        return math.floor(self.a * SCALE[0]) == math.floor(other.a * SCALE[0])

    __hash__ = None

    def __add__(self, other):
        return Point(math.sin(self.a) + other.a * SCALE[0], self.b + other.b)

    def __mul__(self, k):
        return Point(math.cos(self.a) * k, self.b * SCALE[0])

    def __neg__(self):
        return Point(-math.exp(self.a), self.b)

    def __abs__(self):
        return self.size()

    def __bool__(self):
        return math.sqrt(self.a) > 0.75

    def __divmod__(self, k):
        return math.log(self.a) * k, k

    def __rdivmod__(self, k):
        return math.tan(self.a) * k

    def __floor__(self):
        return math.log(self.a) * SCALE[0]

    def __copy__(self):
        return Point(math.sqrt(self.a), SCALE[0])

    def __deepcopy__(self, memo):
        return Point(math.cbrt(self.a) if hasattr(math, "cbrt") else math.pow(self.a, 1 / 3), len(memo))

    def __call__(self, k):
        return math.pow(self.a, k) * SCALE[0]


class Row:
    """A sequence by the old protocol: indices from 0 until one is wrong. It can be iterated, and may be an operand of
    min and max as well."""

    def __init__(self, items):
        self.items = items

    def __getitem__(self, k):
        if k >= 3:
            raise IndexError(k)
        return math.sqrt(self.items[k]) * SCALE[0]

    def __len__(self):
        return 3

    def __lt__(self, other):
        return math.sin(self.items[0]) < math.sin(other.items[0])

    def __gt__(self, other):
        return other < self


@functools.total_ordering
class Ordered:
    def __init__(self, a):
        self.a = a

    def __eq__(self, other):
        return math.floor(self.a * SCALE[0]) == math.floor(other.a * SCALE[0])

    def __lt__(self, other):
        return math.exp(self.a) < math.exp(other.a)

    __hash__ = None


class Pair:
    def __init__(self, a):
        self.a = a

    def __iter__(self):
        yield math.sin(self.a) * SCALE[0]
        yield math.cos(self.a)


def points(x):
    return [Point(v, 1.0) for v in x]


def sort(x):
    found = points(x)
    found.sort()
    found.sort(key=lambda p: (1, -p), reverse=True)
    return found[0].a + 3.0 * found[2].a


def listed(x):
    found = points(x)
    found.remove(Point(x[1], 2.0))
    return found[1].a * (2 + found.index(Point(x[2], 0.0))) + x[0] * found.count(Point(x[2], 3.0))


def heaped(x):
    heap = points(x)[:2]
    heapq.heapify(heap)
    heapq.heappush(heap, Point(x[2], 1.0))
    first = heapq.heappop(heap)
    replaced = heapq.heapreplace(heap, first).a
    return first.a + 2.0 * replaced ** 2 + heapq.heappushpop(heap, Point(x[0] * 0.1, 1.0)).a * heap[0].a


def merged(x):
    found = sum(k * p.a for k, p in enumerate(heapq.merge(points(x)[:1], points(x)[1:])))
    return found + heapq.nsmallest(2, points(x))[1].a ** 2 + heapq.nlargest(1, points(x), key=abs)[0].a * x[1]


def inserted(x):
    found = [Point(0.1, 1.0), Point(x[0], 1.0)]
    bisect.insort(found, Point(x[1], 1.0))
    by_key = bisect.bisect_left([0.1, 0.9], x[1], key=lambda v: math.sin(v) * SCALE[0])
    return found[1].a ** 2 + x[1] * bisect.bisect(found, Point(x[2], 1.0)) + x[2] * by_key


def compared(p, q):
    return (p.size() > q.size()) - (p.size() < q.size())


class Reduced:
    def __init__(self, a):
        self.a = a

    def __reduce__(self):
        return Reduced, (math.sin(self.a) * SCALE[0],)


class Linked:
    """Its copy has a copy of what it is linked to, the same one for all that are copied at once."""

    def __init__(self, a, other=None):
        self.a, self.other = a, other

    def __deepcopy__(self, memo):
        made = memo[id(self)] = Linked(math.sin(self.a) * SCALE[0])
        made.other = copy.deepcopy(self.other, memo)
        return made


def deeply(x):
    link = Linked(x[0])
    link.other = [link, points(x)[1]]
    held = {"all": [link, link.other], "one": (Linked(x[2]), points(x)[0])}
    copied = copy.deepcopy(held)
    copied["all"][0].a *= 3.0
    same = copied["all"][1][0] is copied["all"][0] and copied["all"][0].other is copied["all"][1]
    others = copied["one"][1].a + held["one"][0].a + copy.deepcopy([Reduced(x[1])])[0].a
    return copied["all"][1][0].a * copied["all"][1][1].a + link.a * same + others


PROGRAMS = {
    "deepcopy": deeply,
    "heap": heaped, "merge": merged, "bisect": inserted,
    "cmp_to_key": lambda x: sorted(points(x), key=functools.cmp_to_key(compared))[1].a ** 2,
    "max": lambda x: max(points(x)).a ** 2,
    "min": lambda x: min(*points(x)).a ** 2,
    "by_abs": lambda x: max(points(x), key=abs).a + min(points(x), key=Point.size).a * x[0],
    "sorted": lambda x: sorted(points(x))[0].a * 3 + sorted(points(x), reverse=True)[1].a,
    "in_tuples": lambda x: sorted([(1, p) for p in points(x)])[0][1].a
                           + max([2, points(x)[1]], [2, points(x)[2]])[1].a * x[0],
    "sort": sort,
    "list_methods": listed,
    "contains": lambda x: x[0] * (2.0 if Point(x[2], 7.0) in points(x) else 3.0)
                          + x[1] * (2.0 if Point(9.0, 1.0) in points(x) else 3.0),
    "tuples": lambda x: x[0] * ((1, points(x)[0]) < (1, points(x)[2]))
                        + x[1] * ([points(x)[0], 1] == [points(x)[0], 1]),
    "differ": lambda x: x[0] * ((1, points(x)[0]) != (1, points(x)[2])) + x[1] * ((points(x)[1],) > (points(x)[0],)),
    "by_index": lambda x: sum(v * x[0] for v in Row(x)) + list(Row(x))[1] + max(Row(x)) + sum(Row(x)),
    "unpacked": lambda x: (lambda a, *rest: a * rest[1])(*Row(x)) + sum(a * b for a, b in zip(Row(x), [1.0, 2.0, 3.0])),
    "reversed": lambda x: next(iter(reversed(Row(x)))) + next(iter(Row(x))) * x[1],
    "in_row": lambda x: x[0] * (2.0 if -1.0 in Row(x) else 3.0),
    "two_rows": lambda x: min(Row(x), Row(x[::-1]))[0] + max(Row(x), Row(x[::-1]))[1],
    "map": lambda x: sum(map(abs, points(x))) + sum(map(Point(x[0], 1.0), [1, 2])) + sum(map(math.sqrt, Row(x))),
    "filter": lambda x: sum(p.a for p in filter(None, points(x))) + sum(v.a for v in filter(Point.__bool__, points(x))),
    "any_all": lambda x: x[0] * any(points(x)) + x[1] * all(points(x)),
    "operators": lambda x: operator.add(*points(x)[:2]).a + operator.neg(points(x)[0]).a
                           + operator.lt(*points(x)[:2]) * x[0] + operator.getitem(Row(x), 1),
    "reduce": lambda x: functools.reduce(operator.add, points(x)).a + abs(functools.reduce(max, points(x))),
    "divmod": lambda x: divmod(points(x)[0], 3)[0] + divmod(x[1], 0.3)[1] + divmod(7, points(x)[2])
                        + divmod(x[1], points(x)[2]),
    "total_ordering": lambda x: x[0] * (Ordered(x[0]) >= Ordered(x[1])) + x[1] * (Ordered(x[0]) <= Ordered(x[2]))
                                + max(map(Ordered, x)).a,
    "gone_through": lambda x: math.prod(Pair(x[0])) + functools.reduce(operator.mul, Pair(x[1]))
                              + sum(itertools.chain(Pair(x[0]), Row(x))),
    "itertools": lambda x: sum(itertools.islice(Row(x), 2))
                           + sum(itertools.chain.from_iterable([Pair(x[0]), Pair(x[1])]))
                           + math.hypot(*Pair(x[0]), x[1]),
    "copied": lambda x: copy.copy(points(x)[0]).a * copy.deepcopy(points(x)[1]).a + math.floor(points(x)[2])
                        + math.floor(2.7) * x[0],
    "partial": lambda x: functools.partial(operator.add, points(x)[0])(points(x)[1]).a,
}


def differences(f, x, h=1e-6):
    return np.array([(f(x + h * e) - f(x - h * e)) / (2 * h) for e in np.eye(len(x))])


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_python_asks_is_traced(name):
    f = PROGRAMS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fad.FallbackWarning)  # an order of traced values is on the tape
        np.testing.assert_allclose(fad.jit(f)(X), f(X), rtol=1e-12)
        np.testing.assert_allclose(fad.grad(f)(X), differences(f, X), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_it_reads_is_never_stale(name):
    f, before = PROGRAMS[name], SCALE[0]
    g = fad.jit(f)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", fad.FallbackWarning)
            for SCALE[0] in (2.0, 3.0, 2.0, 0.25):
                np.testing.assert_allclose(g(X), f(X), rtol=1e-12)
    finally:
        SCALE[0] = before


def test_objects_that_are_iterable_are_compared_as_they_are():
    """min(a, b) compares a and b; it does not go through them. map's function is not gone through either."""

    class Both:
        def __init__(self, w):
            self.w = w

        def __iter__(self):
            return iter([self.w])

        def __lt__(self, other):
            return self.w < other.w

        def __gt__(self, other):
            return self.w > other.w

        def __call__(self, v):
            return v * self.w

    a, b = Both(2.0), Both(3.0)
    f = lambda x: x * min(a, b).w + x * max(a, b).w + sum(map(a, [x, x]))
    assert fad.grad(f)(1.5) == 9.0


def shortest(x):
    """Ways through a graph whose lengths are known; what a way costs is traced."""
    ways = {0: [(1, 2), (2, 5)], 1: [(2, 1), (3, 6)], 2: [(3, 2)], 3: []}
    cost, queue, done = {0: x[0]}, [(0, 0)], set()
    while queue:
        length, node = heapq.heappop(queue)
        if node in done:
            continue
        done.add(node)
        for other, more in ways[node]:
            if other not in cost:
                cost[other] = cost[node] * x[other % 3] + length
            heapq.heappush(queue, (length + more, other))
    return cost[3] + bisect.bisect([1, 3, 5], 4) * x[0]


def test_what_is_known_is_put_in_order_while_tracing():
    np.testing.assert_allclose(fad.grad(shortest, fallback=False)(X), differences(shortest, X), rtol=1e-6)


def test_the_end_of_an_iterator_is_handled_on_the_tape():
    def f(x):
        found, step = [], iter([x[0], x[1]]).__next__
        try:
            while True:
                found.append(step() * 2.0)
        except StopIteration:
            found.append(x[2])
        return sum(found) * {0: 1.5}.get(int(x[0] > 5.0))
    with pytest.warns(fad.FallbackWarning):
        np.testing.assert_allclose(fad.grad(f)(X), [3.0, 3.0, 1.5])


class Whole:
    """A sequence whose end is the end of what it holds."""

    def __init__(self, items):
        self.items = items

    def __getitem__(self, k):
        return self.items[k] * 2.0


class Measure:
    """What is a number, a sum and an iterable at once."""

    def __init__(self, a):
        self.a = a

    def __iter__(self):
        return iter([self.a])

    def __float__(self):
        return float(self.a)

    def __add__(self, other):
        return Measure(math.sin(self.a) + other.a)


MEASURED = {
    "initial": lambda x: functools.reduce(operator.add, map(Measure, x), Measure(x[0])).a,
    "repeated": lambda x: sum(m.a for m in itertools.repeat(Measure(x[1]), 2)),
    "converted": lambda x: math.sqrt(Measure(0.8)) * x[0] + math.fsum(Measure(x[1])),
    "started": lambda x: sum(itertools.starmap(pow, [(x[0], 2), (x[1], 3)]))
                         + sum(itertools.accumulate(Measure(x[2]), initial=x[0])),
}


@pytest.mark.parametrize("name", MEASURED)
def test_only_what_is_gone_through_is_iterated(name):
    f = MEASURED[name]
    np.testing.assert_allclose(fad.jit(f)(X), f(X), rtol=1e-12)
    np.testing.assert_allclose(fad.grad(f)(X), differences(f, X), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("held", [list, tuple, np.asarray])
def test_a_sequence_that_ends_by_what_it_holds(held):
    """The index that is out of bounds is an error of the program, if the length is an input's; the loop must end all
    the same."""
    def f(x):
        s, w = 0.0, Whole(held(x))
        for v in w:
            s += v * v
        return s + sum(w) + len(list(w)) * x[0]
    gradient = fad.grad(f, fallback=False)
    for x in (X, X[:2], np.append(X, 2.0)):
        np.testing.assert_allclose(gradient(x), 8.0 * x + 2.0 + np.append(len(x), 0.0 * x[1:]))


@pytest.mark.parametrize("f",
                         [lambda x: any() * x[0], lambda x: filter(None) and x[0], lambda x: max() * x[0],
                          lambda x: all(x, x) * x[0]])
def test_calls_that_python_refuses(f):
    with pytest.raises(TypeError):
        fad.jit(f)(X)


MISTAKEN = {
    "key": lambda x: sorted(points(x), key=lambda: 1.0)[0].a,
    "method": lambda x: operator.methodcaller("size", 1)(points(x)[0]),
    "getter": lambda x: operator.itemgetter(1)(points(x)[0]),
    "absent": lambda x: points(x).index(Point(99.0, 1.0)) * x[0],
    "iterated": lambda x: sum(math.prod(p) for p in points(x)),
    "reversed": lambda x: next(reversed(points(x)[0])),
}


@pytest.mark.parametrize("name", MISTAKEN)
def test_errors_of_the_user_are_no_defects(name):
    with warnings.catch_warnings(), pytest.raises((TypeError, ValueError)):
        warnings.simplefilter("error", fad.InternalErrorWarning)
        fad.jit(MISTAKEN[name])(X)


def test_such_a_sequence_in_code_without_text():
    scope = {"Whole": Whole}
    exec("def f(x):\n    s = 0.0\n    for v in Whole(x):\n        s = s + v * v\n    return s", scope)
    np.testing.assert_allclose(fad.grad(scope["f"])(X), 8.0 * X)


def test_an_index_that_is_wrong_for_the_size_at_hand_is_handled():
    def f(x):
        s, k = 0.0, 0
        while True:
            try:
                s += x[k] ** 2
            except IndexError:
                return s * k
            k += 1
    gradient = fad.grad(f, fallback=False)
    for x in (X, X[:2], np.append(X, 2.0)):
        np.testing.assert_allclose(gradient(x), 2.0 * x * len(x))
