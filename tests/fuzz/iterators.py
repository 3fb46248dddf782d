"""Random functions that take from things which go on: iterators, generators with `finally`, managers, queues, dicts and
sets that shrink and grow, under conditions on data.

Each is called at three points, in Python and in a transform. Values, gradients and a log outside are the same after
each call. `python -m tests.fuzz.iterators [COUNT] [FIRST]` tries COUNT functions from seed FIRST, and prints a shrunk
one for each failure.
"""
import numpy as np

import fad
from fad.util.errors import UnstageableError

from . import calls, differences, judge
from .calls import attempt, text_of, within
from .statement import Blocks, Statement

HEAD = """
import collections, contextlib, functools, heapq, itertools, math, operator
import numpy as np
LOG, TOTALS, SEEN = [], {"n": 0}, set()

def counted(tag, n=4):
    try:
        for k in range(n):
            yield 0.3 + 0.2 * k
    finally:
        LOG.append("closed " + tag)

def scaled(items, a):
    for u in items:
        yield u * a

def many(a):
    k = 0
    while k < 12:
        k += 1
        yield a / k

@contextlib.contextmanager
def managed(tag):
    LOG.append("in " + tag)
    try:
        yield 0.7
    finally:
        LOG.append("out " + tag)

class Stepper:
    def __init__(self, n):
        self.k, self.n = 0, n

    def __iter__(self):
        return self

    def __next__(self):
        self.k += 1
        if self.k > self.n:
            raise StopIteration
        return 0.25 * self.k

class Meter:
    limit = 2

    def __init__(self):
        self.count, self.best = 0, 9.0

    @property
    def half(self):
        return 0.5 * self.best

    def __enter__(self):
        LOG.append("enter")
        return self

    def __exit__(self, kind, error, trace):
        LOG.append("exit " + str(kind and kind.__name__))
        return kind is ZeroDivisionError

    def __call__(self, v):
        self.count += 1
        self.best = min(self.best, v)
        return v + 0.1 * self.count
"""
START = within("""
    it = iter([0.2, s, 0.5, 0.9]) | it = iter((0.3, 0.6, t)) | it = counted('a') | it = scaled(counted('b'), t) |
    it = zip([0.1, 0.4, 0.8], y) | it = enumerate([t, 0.3, 0.6]) | it = map(abs, [0.4, -0.3, t]) | it = many(t) |
    it = itertools.chain([0.4, t], [0.2]) | it = itertools.islice(many(s), 4) | it = Stepper(4) | it = iter(y) |
    it = reversed([0.1, t, 0.6]) | it = iter({{'a': 0.2, 'b': t}}.values()) | it = filter(None, [0.2, 0.0, t, 0.7]) |
    it = itertools.islice(itertools.cycle([0.2, t]), 7) | it = itertools.accumulate([0.2, t, 0.4]) |
    it = (u * u for u in [0.3, t, 0.8]) |
    it = itertools.product([0.3, t], [0.5]) | it = itertools.repeat(t, 3) | it = iter(range(4))""")
ITEMS = within("""
    [0.2, t, 0.7] | y | counted('c', 3) | it | it | q | list(d.values()) | zip(y, [0.3, 0.6, 0.2]) | Stepper(3) |
    itertools.islice(it, 2) | enumerate(y) | reversed(y) | scaled(y, t) | range(3) | sorted(q) | d | zip(it, y) |
    map(math.sin, q) | itertools.takewhile(lambda u: number(u) < 0.6, q) | itertools.pairwise(q) | list(q)""")
SIMPLE = within("""
    t = t + number(next(it, 0.1)) | t = number(next(it)) | s = s + number(next(it, t)) * t | q.append(t) |
    q.append(s * 0.5) | q.appendleft(0.3) | t = q.pop() if q else t | t = q.popleft() if q else 0.2 | q.rotate(1) |
    d['c'] = s | d['a'] = t | t = d.pop('a', 0.3) | d.setdefault('e', t) | d['n'] = d.get('n', 0) + 1 |
    t = sum(d.values()) * 0.2 | LOG.append(str(len(q))) | LOG.append('step') | TOTALS['n'] += 1 | SEEN.add(len(d)) |
    s = s + y[0] * t | s = np.tanh(s + t) | t = t * 0.8 | y = y * 0.9 | y[1] = t | y[0] += 0.1 * s | m.best = t |
    t = m(t) | t = m.half | s += m.count * 0.1 | q.clear() | q.extend([0.1, t]) | k += 1 | t = max(q, default=t) |
    it = iter([0.6, t, 0.2]) | it = counted('d') | it = None or it | g = counted('e'); t = next(g) | g = None |
    first, *rest = [t, s, 0.3]; s = first + sum(rest) * 0.1 | a, b = b, a + 0.1 * t | heapq.heappush(h, len(q)) |
    k = heapq.heappop(h) if h else k | s = s + sum(itertools.islice(many(t), 3)) * 0.1 |
    t = functools.reduce(operator.mul, q, 0.9) |
    t = sum(u for u in q if number(u) > 0.25) * 0.3 | d = {{**d, 'z': t}} | d |= {{'w': 0.3}} | del d['a'] |
    w = [u * 0.5 for u in q]; s += sum(w) | t = dict(zip('ab', y))['b'] | s = s if t > 0.3 else s * 0.9 |
    LOG.append(sorted(d)[0]) | t = min(d.values(), default=0.4) | s += any(u > 0.5 for u in q) * 0.2 |
    s += len([*it]) * 0.1 |
    TOTALS.update(k=k) | SEEN.discard(2) | t = list(scaled([t, 0.2], s))[-1] | t, k = t * 0.9, k + 1""")
TESTS = within("""
    t > {0:.3f} | s < {0:.3f} | y[0] > {0:.3f} | len(q) > 2 | 'a' in d | k % 2 == 0 | m.count < m.limit | q |
    next(it, None) is None | t > 0.2 and s < {0:.3f} | len(d) < 4 | not q or t < {0:.3f} | abs(y[1] - t) < {0:.3f}""")


class Generator(Blocks):
    """Makes one function from a seed. q is a deque and d a dict of numbers, h a heap of integers."""

    def program(self):
        head = ["y = x * 1.0", "s, t, k = x[0] * 0.5, x[1] + 0.2, 0", "a, b = 0.3, t", "m = Meter()", "h = [3, 5]",
                "q = collections.deque([0.3, t])", "d = {'a': 0.2, 'b': s}", "g = None", self.r.choice(START)]
        body = [s for _ in range(self.r.randint(2, 4)) for s in [*self.statement(0), *self.nested(0)]]
        ends = ["s", "t * 0.7", "0.2 * sum(q)", "0.3 * y.sum()", "0.1 * sum(d.values())", "a * b", "0.1 * k"]
        number = "number = lambda u: u if not isinstance(u, (tuple, str)) else 0.3 * len(u)"
        inner = [Statement(number), *map(Statement, head), *body, Statement(f"return {' + '.join(ends)}")]
        return [Statement("def f(x):", inner)]

    def statement(self, depth):
        if depth < 3 and self.r.random() < 0.3:
            return self.nested(depth)
        if self.loops and self.r.random() < 0.12:
            return [Statement(f"if {self.test()}:", [Statement(self.r.choice(["break", "continue", "return s + t"]))])]
        return [Statement(part) for part in self.r.choice(SIMPLE).format().split("; ")]

    def test(self):
        return self.r.choice(TESTS).format(self.r.uniform(0.05, 0.9))

    def nested(self, depth):
        kind = self.r.choice(["for", "for", "if", "if", "with", "try", "while", "def"])
        if kind == "for":
            items = self.r.choice(ITEMS).format()
            return [Statement(f"for u in {items}:", [Statement("t = t * 0.6 + 0.3 * number(u)"),
                                                     *self.iteration(2, depth)])]
        if kind == "if":
            return [Statement(f"if {self.test()}:", self.block(2, depth + 1),
                              self.block(2, depth + 1) if self.r.random() < 0.5 else [])]
        if kind == "with":
            manager = self.r.choice(["managed('w') as v", "m", "managed('v'), m", "contextlib.suppress(StopIteration)",
                                     "contextlib.closing(counted('k')) as g"])
            return [Statement(f"with {manager}:", self.block(2, depth + 1))]
        if kind == "try":
            error = self.r.choice(["StopIteration", "KeyError", "(StopIteration, IndexError)", "ZeroDivisionError"])
            end = self.r.choice([f"except {error}:", f"except {error} as error:", "finally:"])
            inside = self.r.choice([[], [Statement("t = number(next(it))")], [Statement("d.pop('zz')")],
                                    [Statement(f"if {self.test()}:", [Statement("raise KeyError('told')")])],
                                    [Statement(f"if {self.test()}:", [Statement("t = 1 / 0")])]])
            return [Statement("try:", [*self.block(1, depth + 1), *inside]),
                    Statement(end, [Statement("LOG.append('handled')"), *self.block(1, depth + 1)])]
        if kind == "while":
            w = f"w{self.r.randint(0, 99)}"
            return [Statement(f"{w} = 0"), Statement(f"while {w} < 3 and ({self.test()}):",
                                                     [Statement(f"{w} += 1"), *self.iteration(2, depth)])]
        return [Statement("def inner():", [Statement("nonlocal s, t, k"), *self.within_function(depth)]),
                Statement("inner()")]

    def within_function(self, depth):
        loops, self.loops = self.loops, 0
        local = ("it =", "g =", "y =", "d =", "a, b =", "d |=", "for u in")
        body = [s for s in self.block(2, depth + 1) if not any(text in text_of([s]) for text in local)]
        self.loops = loops
        return body


POINTS = (np.array([0.3117, 0.2143, 0.5071]), np.array([0.9123, -0.1171, 0.2213]), np.array([0.0517, 0.7919, 0.4241]))


class World:
    """A function with a log of its own."""

    def __init__(self, text, number):
        self.scope = judge.executed(HEAD + f"#{number}", {"__name__": "program"})
        self.f = judge.executed(f"#{number}\n{text}", self.scope)["f"]

    @property
    def state(self):
        """In which order a function lets its variables go at its end is not compared."""
        log, last = self.scope["LOG"], []
        while len(last) < len(log) and log[-1 - len(last)].startswith("closed"):
            last.append(log[-1 - len(last)])
        return log[:len(log) - len(last)], sorted(last), dict(self.scope["TOTALS"]), sorted(self.scope["SEEN"])


def slope_of(text, points, x):
    """The gradient at x after calls at these points, by differences; None where the function is not smooth."""
    def replayed(x):
        world = World(text, 2)
        for z in points:
            world.f(z.copy())
        found = attempt(world.f, x)
        return np.nan if isinstance(found, Exception) else found
    found = differences.gradient(replayed, x)
    return None if found is None else found[0]


def calls_of(text, tier):
    """None, or what is not right at one of the calls."""
    try:
        python, traced = World(text, 0), World(text, 1)
    except SyntaxError:                                       # a statement stands where it may not
        return None
    g = fad.value_and_grad(traced.f, compile="never" if tier == "interpreted" else "now")
    for number, x in enumerate(POINTS):
        at, before = f"call {number + 1}", traced.state
        expected = attempt(python.f, x.copy())
        got = attempt(g, x.copy())
        if isinstance(got, UnstageableError):
            return None
        if isinstance(expected, Exception):
            if not isinstance(got, Exception):
                return f"{at}: raises: {got} instead of {expected!r}"
            if not isinstance(got, type(expected)):
                return f"{at}: error: {got!r} instead of {expected!r}"
            log, _, *rest = traced.state                      # a traceback may keep a generator from being closed
            is_right = any([log, *rest] == [s[0], *s[2:]] for s in (python.state, before))
            return None if is_right else f"{at}: log: {traced.state} for {python.state}, an error"
        if isinstance(got, Exception):
            return f"{at}: unexpected: {type(got).__name__}: {got}"
        if not np.allclose(got[0], expected, rtol=1e-9, atol=1e-9, equal_nan=True):
            return f"{at}: value: {got[0]} instead of {expected}"
        if python.state != traced.state:
            return f"{at}: log: {traced.state} instead of {python.state}"
        slope = slope_of(text, POINTS[:number], x)
        if slope is not None and not np.allclose(got[1], slope, rtol=1e-3, atol=1e-4):
            return f"{at}: gradient: {got[1]} instead of {slope}"
    return None


def report(seed, compile=False):
    """None, or the failure of this seed's program with the program shrunk."""
    tier = "compiled" if compile else "interpreted"
    return calls.shrunk(seed, tier, Generator.of(seed), lambda body, tier: calls_of(text_of(body), tier))


if __name__ == "__main__":
    judge.command(report)
