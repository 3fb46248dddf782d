"""Statements of random programs that use what Python has besides loops and branches: functions of functions,
generators, unpacking, stacks."""
from .statement import Statement

HELPERS = """
import functools
from collections import deque, namedtuple
from dataclasses import dataclass

GAINS = {"low": 0.3, "high": 0.8}
State = namedtuple("State", "q p")

@dataclass
class Layer:
    weight: object
    bias: object = 0.1

    def __call__(self, v):
        return np.tanh(self.weight * v + self.bias)

def rk4(rate, y, h, *args):
    k1 = rate(y, *args)
    k2 = rate(y + 0.5 * h * k1, *args)
    k3 = rate(y + 0.5 * h * k2, *args)
    return y + h * (k1 + 2.0 * k2 + 2.0 * k3 + rate(y + h * k3, *args)) / 6.0

def integrate(rate, y, steps=4, h=0.1, **options):
    for j in range(steps):
        y = rk4(rate, y, h, *options.values())
    return y

def pendulum(y, w=0.4):
    return np.array([y[1], -np.sin(y[0]) - w * y[1]])

def newton(g, u, iterations=6):
    for j in range(iterations):
        slope = (g(u + 1e-3) - g(u - 1e-3)) / 2e-3
        if abs(slope) < 0.05:
            break
        u = u - 0.5 * g(u) / slope
        if abs(u) > 3.0:
            return 0.4 * u
    else:
        u = u + 0.1
    return u

def bisect(g, lo, hi):
    while hi - lo > 0.06:
        mid = 0.5 * (lo + hi)
        if g(mid) > 0.0:
            hi = mid
        else:
            lo = mid
    return 0.5 * (lo + hi)

def smoothed(v, w=0.3):
    state = v[0]
    for u in v:
        state = (1.0 - w) * state + w * u
        yield state

def windows(v, width=3):
    for j in range(len(v) - width + 1):
        yield v[j:j + width]

def composed(*functions):
    return lambda u: functools.reduce(lambda value, g: g(value), functions, u)

def scaled(gain):
    def apply(g):
        @functools.wraps(g)
        def wrapped(*args, **kwargs):
            return gain * g(*args, **kwargs)
        return wrapped
    return apply

@scaled(0.7)
def leaky(u, slope=0.1):
    return u if u > 0.0131 else slope * u

def depth_first(v):
    stack, total = [(0, len(v))], 0.0
    while stack:
        lo, hi = stack.pop()
        if hi - lo < 3:
            total = 0.8 * total + np.sum(v[lo:hi] ** 2)
        else:
            mid = (lo + hi) // 2
            stack.append((lo, mid))
            stack.append((mid, hi))
    return total / len(v)

def safe_ratio(u, v):
    try:
        if v == 0.0:
            raise ZeroDivisionError
        return u / (1.0 + v * v)
    except ZeroDivisionError:
        return 0.0
    finally:
        u = None

def quicksorted(v):
    v = v.copy()
    for i in range(1, len(v)):
        u, j = v[i], i - 1
        while j >= 0 and v[j] > u:
            v[j + 1] = v[j]
            j -= 1
        v[j + 1] = u
    return v
"""


class Pythons:
    """What real programs do with Python."""

    def deep_call(self, depth):
        """Functions that take functions, and call others in loops."""
        s, t, a, b = self.sum_name(), self.scalar(1), self.pick(self.arrays), self.pick(self.arrays)
        places = ["0", "1", "n % 3", *(f"{i} % 3" for i in self.indices)]
        value = self.pick([f"integrate(pendulum, np.array([{t}, 0.2]))[0]",
                           f"integrate(lambda y: -y + np.sin({s}), {t}, steps=3)",
                           f"np.sum(integrate(pendulum, {a}[:2], w=0.3))",
                           f"np.sum(integrate(lambda y, w: w * np.sin(y) - {b} * 0.2, {a}, 2, w={t})) / n",
                           f"newton(lambda u: np.tanh(u) - 0.3 * {s}, {t})",
                           f"bisect(lambda u: u - 0.4 * {s}, -2.0, 2.0) + {t}",
                           f"composed(np.sin, np.tanh, lambda u: u * {s})({t})", f"leaky({t})",
                           f"leaky({t}, slope={s})",
                           f"depth_first({a})", f"safe_ratio({t}, {s})", f"np.sum(quicksorted({a}) * {b})",
                           f"Layer({t})({a}).mean()",
                           f"Layer({b}, bias={s})({a})[{self.index()}]",
                           f"functools.reduce(lambda p, q: 0.5 * p + q, {a}, {t})",
                           f"sum(map(lambda p, q: p * q, {a}, {b})) / n",
                           f"[np.sin, np.cos, np.tanh][{self.pick(places)}]({t})"])
        return [Statement(f"{s} = np.tanh({value})")]

    def generators(self, depth):
        """Generators, and what consumes them."""
        s, a, u, v = self.sum_name(), self.pick(self.arrays), self.fresh("u"), self.fresh("u")
        return self.pick([[Statement(f"for {u} in smoothed({a}):", [Statement(f"{s} = 0.8 * {s} + 0.1 * {u}")])],
                          [Statement(f"{s} = np.tanh(sum(smoothed({a}, 0.4)))")],
                          [Statement(f"for {u} in windows({a}.copy()):", [Statement(f"{s} += 0.1 * np.mean({u})")])],
                          [Statement(f"{s} = max(smoothed({a}))")],
                          [Statement(f"for {u}, {v} in zip(smoothed({a}), windows({a}.copy())):",
                                     [Statement(f"{s} += 0.1 * {u} * {v}[1]")])],
                          [Statement(f"{s} = np.tanh(np.sum(np.array(list(smoothed({a}))) * {a}))")],
                          [Statement(f"{s} += 0.1 * sum({u} * {v} for {u}, {v} in zip({a}, list(smoothed({a}))))")]])

    def unpacked(self, depth):
        """Tuples taken apart and put together, named tuples, queues, sorted lists."""
        s, t, a, b = self.sum_name(), self.scalar(1), self.pick(self.arrays), self.pick(self.arrays)
        i, u, v, w = [self.fresh(letter) for letter in "iuvw"]
        use = Statement(f"{s} = np.tanh({u} + {v})")
        return self.pick([
            [Statement(f"{u}, *{w}, {v} = {a}[0], {t}, {b}[1], {a}[2]"), Statement(f"{s} += 0.1 * sum({w})"), use],
            [Statement(f"{u}, {v} = {a}[:2]"), use],
            [Statement(f"{w} = State({t}, {a}[1])"),
             Statement(f"for {i} in range(n):",
                       [Statement(f"{w} = State({w}.q + 0.1 * {w}.p, {w}.p - 0.1 * np.sin({w}.q) + 0.05 * {b}[{i}])")]),
             Statement(f"{u}, {v} = {w}"), use],
            [Statement(f"{w} = deque([{t}, {a}[0]], maxlen=3)"),
             Statement(f"for {i} in range(n):", [Statement(f"{w}.append(0.5 * {w}[-1] + 0.2 * {w}[0] + {b}[{i}])")]),
             Statement(f"{u}, {v} = {w}[0], {w}[-1]"), use],
            [Statement(f"{w} = sorted([{a}[0], {t}, {b}[1]])"), Statement(f"{u}, {v} = {w}[0], {w}[1]"), use],
            [Statement(f"{w} = [{a}[0], {t}, {b}[1]]"),
             Statement(f"{u}, {v} = min({w}, key=lambda y: abs(y - 0.217)), {w}.pop()"), use],
            [Statement(f"{u}, {v} = 0.0, 1.0"),
             Statement(f"for {i} in range(n):", [Statement(f"{u}, {v} = {v} * 0.5, {u} + {a}[{i}]")]), use],
            [Statement(f"if ({u} := {t}) > 0.193:", [Statement(f"{v} = {u} * 0.5")], [Statement(f"{v} = -{u}")]), use],
            [Statement(f"{w} = dict(zip('ab', {a}))"),
             Statement(f"{u}, {v} = {w}['a'] * GAINS['low'], {w}['b'] * GAINS['high']"), use],
            [Statement(f"{w} = {{k: {a}[k] * k for k in range(3)}}"),
             Statement(f"{u}, {v} = sum({w}.values()), {w}[1]"), use],
            [Statement(f"{w} = [[{a}[0], {t}], [{b}[1], 0.3]]"),
             Statement(f"for {i} in range(2):", [Statement(f"{w}[{i}][0] += 0.1 * {w}[1 - {i}][1]")]),
             Statement(f"{u}, {v} = np.sum(np.array({w})), {w}[1][0]"), use],
            [Statement(f"{u} = {v} = {t}"), Statement(f"{u} += 0.2 * {a}[1]"), use],
            [Statement(f"{u}, {v} = (any({a} > 0.811) + 0.1) * {t}, 0.2 if all(y < 0.613 for y in {a}) else {b}[0]"),
             use]])
