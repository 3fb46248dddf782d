"""Random sequences of calls: what a function takes from outside is changed between them, and what it is given has
another shape, dtype or layout.

What was made for one call must never answer another: every value is NumPy's, and every derivative that of a function
written anew. `python -m tests.fuzz.calls [COUNT] [FIRST]` tries COUNT sequences from seed FIRST, and prints a shrunk
one for each failure.
"""
import re
import warnings

import numpy as np

import fad
from fad.util.errors import FadError

from . import judge
from .shrink import shrink
from .statement import Blocks, Statement, render_block

STATE = """
import dataclasses, functools, math, types
import numpy as np
from collections import OrderedDict, defaultdict, deque, namedtuple

class Model:
    rate, table = 0.5, {"u": 0.3}
    def __init__(self):
        self.w, self.k, self.parts, self.kind = np.array([0.4, -0.3, 0.9]), 2, [0.5, 0.25], "soft"
        self.inner = types.SimpleNamespace(b=0.7, v=np.array([0.2, 0.1, 0.3]), next=None)
    @property
    def scale(self):
        return 1.0 + self.rate * self.k
    def apply(self, x):
        return np.tanh(self.rate * x) * self.k if self.kind == "soft" else np.sin(x) * self.scale
    def __call__(self, x):
        return sum(p * x[0] for p in self.parts) + self.inner.b * x[-1]
    def __len__(self):
        return len(self.parts)
    def __getitem__(self, k):
        return self.parts[k]

class Gate:
    share = 0.6
    def __init__(self, k):
        self.k, self.within = k, types.SimpleNamespace(u=[0.3])
    def __matmul__(self, x):
        return np.sum(x) * self.k * GAIN + self.within.u[0]
    def __float__(self):
        return self.share * LS[0] + helped(self.k)

def helped(k):
    return k * DT['p']

@dataclasses.dataclass
class Options:
    order: int = 2
    damping: float = 0.3
    names: tuple = ("p", "q")

Pair = namedtuple("Pair", "left right")

def soft(x, slope=0.4):
    return x / (1.0 + slope * x * x)

def wavy(x, slope=0.7):
    return np.sin(slope * x)

def scaled(x, by):
    return x * by * GAIN

def outer(depth):
    def inner(x):
        return x * (held + depth * 0.1)
    held = 0.6
    def change(value):
        nonlocal held
        held = value
    return inner, change

GAIN, COUNT, MODE, FLAG, LIMIT = 1.3, 3, "a", True, None
W, I, MASK = np.array([0.3, -0.2, 0.5]), np.array([2, 0, 1]), np.array([True, False, True])
M = np.array([[0.2, 0.4, -0.3], [0.1, 0.9, 0.2], [-0.5, 0.3, 0.6]])
LS, DT, ST, TP = [0.2, 0.5, -0.4], {"p": 0.3, "q": np.array([0.1, 0.2, 0.3])}, {1, 2}, (0.3, [0.6, 0.2])
NESTED = {"a": {"b": [1.5, {"c": 0.25}]}, "list": [np.array([1.0, 2.0, 3.0]), (0.1, 0.2)]}
OB, OP, PAIR, DQ = Model(), Options(), Pair(0.4, [0.1, 0.7]), deque([0.1, 0.2])
ACT, ACTS, LATER = soft, [soft, wavy], functools.partial(soft, slope=0.9)
CLOSED, CHANGE = outer(2)
GATE, GATES = Gate(0.3), [Gate(0.2), Gate(0.5)]
"""



def within(text):
    """The parts of a text between bars."""
    return [part.strip() for part in text.split(" |")]


NUMBERS = within("""
    GAIN | W[0] | W.sum() | I[0] | len(LS) | LS[0] | LS[-1] | sum(LS) | max(LS) | DT['p'] | DT.get('r', 0.9) |
    DT['q'][1] | len(DT) | len(ST) | TP[0] | TP[1][0] | sum(TP[1]) | NESTED['a']['b'][0] | NESTED['a']['b'][1]['c'] |
    NESTED['list'][1][0] | NESTED['list'][0][0] | OB.k | OB.rate | OB.scale | OB.w[1] | OB.inner.b | OB.inner.v.sum() |
    len(OB) | OB[0] | OB.parts[-1] | Model.rate | OB.table['u'] | OP.order | OP.damping | PAIR.left | PAIR.right[0] |
    DQ[0] | len(DQ) | COUNT | float(FLAG) | (0.5 if LIMIT is None else LIMIT) | W.size | W.ndim | M[0, 1] |
    np.trace(M) | y.size | x.shape[0] | DEFAULT | len(MODE) | MASK.sum() | globals()['GAIN'] | getattr(OB, 'rate') |
    math.fsum(LS) | np.mean(LS) | hasattr(OB, 'extra') | getattr(OB, 'extra', 0.2) | len(NESTED['list']) |
    sum(v for v in DT.values() if np.ndim(v) == 0) | (1 in ST) | min(DQ) | GATE @ y[:3] | GATES[-1] @ y |
    float(GATES[0]) | float(GATE)""")
ARRAYS = within("""
    W | W[::-1] | W[I] | OB.w | OB.inner.v | DT['q'] | NESTED['list'][0] | M[0] | M[:, 1] | M @ W | np.array(LS[:3]) |
    np.asarray(OB.w) * OB.k | np.where(MASK, W, 0.1) | M.T[2] | np.sort(W)""")
UNARY = within("""
    np.tanh({0}) | np.sin({0}) | ACT({0}) | ACTS[0]({0}) | ACTS[-1]({0}) | LATER({0}) | CLOSED({0}) | scaled({0}, {1}) |
    OB.apply({0}) | soft({0}, slope={1}) | ({0} * {1}) | ({0} + {1}) | ({0} - {1}) | {0} / (1.0 + {1} * {1}) |
    wavy({0})""")
TESTS = within("""
    FLAG | MODE == 'a' | LIMIT is None | OB.kind == 'soft' | GAIN > 1.0 | LS[0] > 0.1 | 'r' in DT | len(LS) > 3 |
    OB.k > 2 | 2 in ST | OP.order == 2 | isinstance(GAIN, int) | W[0] > 0.0 | DT['p'] > y[0] | y.sum() > GAIN |
    ACT is soft | OB.inner.next is None | MASK[0] | W.dtype == float | x.ndim == 1 | callable(ACT) | not DQ |
    type(OB) is Model | bool(LS)""")
LOOPS = within("""
    for v in LS: | for v in W: | for v in OB.parts: | for k in range(COUNT): | for k in range(len(LS)): | for v in DQ: |
    for k in range(OP.order): | for v in TP[1]: | for k, v in enumerate(OB.w): | for name, v in DT.items(): |
    for g in ACTS: | for row in M: | for k in I: | for v in sorted(ST): | for u, v in zip(W, LS): | for name in MODE: |
    for name in OP.names:""")

CHANGES = within("""
    GAIN = {0} | GAIN = {1} | GAIN = np.float64({0}) | GAIN = np.array({0}) | COUNT = {1} | MODE = {2} |
    FLAG = not FLAG | LIMIT = {0} | LIMIT = None | W[{3}] = {0} | W *= {0} | W = W * {0} | W = W.astype(np.float32) |
    W = np.array([{0}, 0.1, 0.2, {0}])[:3] | W = W[::-1] | W = [0.1, {0}, 0.3] | W.sort() | I[0], I[1] = I[1], I[0] |
    I = I[::-1] | MASK[{3}] ^= True | M[{3}, 1] = {0} | M = M.T | M = np.asfortranarray(M * {0}) | M += {0} | W = M[1] |
    W = M[:, 2] | OB.w = W | W[...] = {0} | np.copyto(W, {0}) | W.fill({0}) | W.flat[1] = {0} | np.negative(W, out=W) |
    LS[{3}] = {0} | LS.append({0}) | LS.pop() | LS.sort() | LS.reverse() | LS = [{0}, {0}, 0.4] | LS.insert(0, {0}) |
    LS += [{0}] | LS[:] = [0.3, {0}, 0.1] | LS[0] = {1} | DT['p'] = {0} | DT['r'] = {0} | DT.pop('r', None) |
    DT['q'][1] = {0} | DT['q'] = np.array([{0}, 0.3, 0.2]) | DT = {{**DT, 'p': {0}}} | DT.update(p={1}) |
    DT['p'], DT['r'] = {0}, DT['p'] | DT.setdefault('r', {0}) | ST.add({1}) | ST.discard(2) | ST = {{3, 5}} |
    TP = ({0}, TP[1]) | TP[1][0] = {0} | TP[1].append({0}) | TP = (0.1, [{0}]) | NESTED['a']['b'][0] = {0} |
    NESTED['a']['b'][1]['c'] = {0} | NESTED['a'] = {{'b': [{0}, {{'c': {0}}}]}} | NESTED['list'][0][0] = {0} |
    NESTED['list'][1] = ({0}, 0.1) | NESTED['list'].append({0}) | NESTED['list'][0] = np.array([{0}, 1.0, 0.5]) |
    OB.k = {1} | OB.k = {0} | OB.rate = {0} | Model.rate = {0} | OB.parts.append({0}) | OB.parts[0] = {0} |
    OB.kind = {2} | OB.inner.b = {0} | OB.inner.v[0] = {0} | OB.inner.v = W |
    OB.inner = types.SimpleNamespace(b={0}, v=W * 1.0, next=OB.inner) | OB = Model() | OB.w[1] = {0} | OB.extra = {0} |
    OB.__dict__.pop('extra', None) | OB.__dict__.pop('rate', None) | Model.table = {{'u': {0}}} |
    Model.table['u'] = {0} | Model.scale = property(lambda self: {0}) | Model.apply = lambda self, x: x * {0} |
    OB.apply = wavy | Model.__len__ = lambda self: 5 | OB.__dict__.update(k={1}) | vars(OB)['k'] = {1} |
    setattr(OB, 'k', {1}) | OB = type('Other', (Model,), {{'rate': {0}}})() | OP.order = {1} | OP.damping = {0} |
    OP = Options({1}, {0}) | OP.names = ('p',) | PAIR = Pair({0}, PAIR.right) | PAIR.right[0] = {0} |
    PAIR = PAIR._replace(left={0}) | DQ.append({0}) | DQ.popleft() if len(DQ) > 1 else None | DQ.rotate(1) |
    DQ[0] = {0} | DQ = deque([{0}, 0.5]) | ACT = wavy | ACT = soft | ACT = np.tanh | ACT = lambda x: x * {0} |
    ACTS.reverse() | ACTS[0] = np.cos | ACTS.append(wavy) | ACT = OB | soft.__defaults__ = ({0},) |
    LATER = functools.partial(wavy, slope={0}) | LATER = functools.partial(soft, slope=W[0]) |
    LATER.keywords['slope'] = {0} | CHANGE({0}) | CHANGE({1}) | CLOSED, CHANGE = outer({1}) |
    scaled.__code__ = (lambda x, by: x - by * GAIN).__code__ | wavy.__kwdefaults__ = None | f.__defaults__ = ({0},) |
    soft = wavy | wavy = soft | GATES[0].k = {0} | GATE.k = {0} | GATES.reverse() | Gate.share = {0} |
    GATE.within.u[0] = {0} | helped = lambda k: k + {0} | GATES[-1] = Gate({0}) | scaled = lambda x, by: x + by |
    Model.__call__ = lambda self, x: x.sum() * {0} |
    NESTED = {{'a': {{'b': [{0}, {{'c': 0.5}}]}}, 'list': [W, (0.5, {0})]}}""")
GIVEN = within("""
    x | x * 0.9 | np.append(x, 0.2) | x[:3] | x[::-1] | np.repeat(x, 2)[::2] | x.astype(np.float32) | x.tolist() |
    x + 0.1 | np.ascontiguousarray(x[::-1]) | np.arange(1, 5) | x[1:]""")
# what the function may use by way of another
ALWAYS = ("pass", "Model", "Gate", "CHANGE", "vars", "setattr", "soft", "wavy", "helped", "LS", "W", "f")
CLOSE, SINGLE = 1e-6, 1e-3


class Generator(Blocks):
    """Makes one function of what stands outside from a seed, and what happens before each of the calls after the
    first."""

    def program(self):
        body = self.function()
        text = " ".join(line for s in body for line in s.lines(0))
        changes = [s for s in (self.change() for _ in range(60))
                   if re.match(r"\w+", s.head)[0] in (*ALWAYS, *re.findall(r"\w+", text))]
        return [Statement("def f(x, DEFAULT=0.8):", body), *changes[:8]]

    def function(self):
        body = [s for _ in range(self.r.randint(2, 5)) for s in self.statement(0)]
        return [Statement("y = np.asarray(x) * 1.0"), Statement("s = 0.0"), *body,
                Statement("return s + np.sum(np.tanh(y))")]

    def statement(self, depth):
        simple = [self.number, self.number, self.array, self.item]
        return [self.r.choice([*simple, *([self.branch, self.loop] if depth < 2 else [])])(depth)]

    def used(self):
        return self.r.choice(NUMBERS)

    def value(self, over, depth=2):
        if depth == 0 or self.r.random() < 0.2:
            return over
        return self.r.choice(UNARY).format(self.value(over, depth - 1), self.used())

    def number(self, depth):
        return Statement(f"s = s + {self.value(self.r.choice(['y[0]', 'y[-1]', 's', 'y.mean()']))} * {self.used()}")

    def array(self, depth):
        outside = self.r.choice(ARRAYS)
        return Statement(self.r.choice([f"y = {self.value('y')}", f"y[:3] = y[:3] * {outside}", f"y[:3] += {outside}",
                                        f"s = s + {outside} @ y[:3]",
                                        f"y = y * {self.used()}"]))

    def item(self, depth):
        place = self.r.choice(["0", "-1", "I[0] % 3", "COUNT % 3", "OB.k // 1 % 2 > 0"])
        return Statement(f"y[{place}] {self.r.choice(['=', '+=', '*='])} {self.used()}")

    def branch(self, depth):
        return Statement(f"if {self.r.choice(TESTS)}:", self.block(2, depth + 1),
                         self.block(2, depth + 1) if self.r.random() < 0.5 else [])

    def loop(self, depth):
        head = self.r.choice(LOOPS)
        numbers = {"for g": "g(y)[0]", "for row": "row[0]", "for name in": "len(name)", "for k in": "k",
                   "": "np.sum(v)"}
        number = next(number for start, number in numbers.items() if head.startswith(start))
        return Statement(head,
                         [Statement(f"s = s + {self.value('y[0]', 1)} * {number} * 0.3"), *self.iteration(1, depth)])

    def change(self):
        numbers = (f"{self.r.uniform(-1, 1):.3f}", self.r.randint(1, 4),
                   self.r.choice(["'a'", "'b'", "'soft'", "'hard'"]), self.r.randint(0, 2))
        done = self.r.choice(CHANGES).format(*numbers) if self.r.random() < 0.85 else "pass"
        return Statement(f"{done}  # {self.r.choice(GIVEN) if self.r.random() < 0.25 else 'x'}")


def text_of(body):
    return "\n".join(render_block(body, 0)) + "\n"


def calls(body, tier):
    """None, or what was not right at one of the calls of this sequence."""
    scope, definition = judge.executed(STATE, {"__name__": "program"}), text_of(body[:1])
    f = judge.executed(definition, scope)["f"]
    kept = {"jit": fad.jit(f), "grad": fad.grad(f), "jvp": fad.jit(lambda x, v: fad.jvp(f, (x,), (v,)))}
    for number, change in enumerate([Statement("pass  # x"), *body[1:]], 1):
        done, given = change.head.split("  # ")
        if isinstance(attempt(exec, done, scope), Exception):    # what cannot be changed so, stays
            continue
        x = eval(given, {"np": np, "x": judge.POINT[:4].copy()})
        # as plain Python the text has Python's integers, whose dtype gives way
        if tier == "text" and np.asarray(x).dtype.kind == "i":
            continue
        problem = judge_call(f, renewed(definition, scope, number), kept, x, tier)
        if problem:
            return f"call {number}, after {done!r} with {given}: {problem}"
    return None


def renewed(definition, scope, number):
    """The same function written anew, of which nothing is known yet; f stays what it is."""
    old = scope["f"]
    new = judge.executed(f"# {number}\n{definition}", scope)["f"]
    new.__defaults__, scope["f"] = old.__defaults__, old
    return new


def attempt(f, *args):
    """What f returns, or the exception that it raises."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", fad.InternalErrorWarning)
        try:
            return f(*args)
        except Exception as error:                           # whatever it is: it is what is compared
            return error


def judge_call(f, new, kept, x, tier):
    """None, or what the kept transforms of f have otherwise than f itself, and than those of the new one."""
    want = attempt(f, x)
    if not isinstance(want, Exception) and (np.ndim(want) or not np.isfinite(want)):
        return None
    with judge.tier(tier, raising=True):
        wrong = differs("value", want, attempt(kept["jit"], x))
        if wrong or isinstance(want, Exception) or isinstance(x, list) or x.dtype.kind != "f":
            return wrong
        v = np.cos(x)
        return (differs("gradient", attempt(fad.grad(new), x), attempt(kept["grad"], x))
                or differs("slope", attempt(lambda x: fad.jvp(new, (x,), (v,)), x), attempt(kept["jvp"], x, v)))


def differs(what, want, got):
    """None, or what is not the same; where NumPy refuses, a refusal will do."""
    if isinstance(want, Exception) or isinstance(got, Exception):
        same = isinstance(want, Exception) and isinstance(got, (type(want), FadError))
        return None if same else f"{what}: {got!r:.600} instead of {want!r:.600}"
    pairs = list(zip(want, got)) if isinstance(want, tuple) else [(want, got)]
    off = SINGLE if any(np.asarray(p).dtype == np.float32 for p, _ in pairs) else CLOSE
    if all(np.allclose(q, p, rtol=off, atol=off, equal_nan=True) for p, q in pairs):
        return None
    return f"{what}: {got} instead of {want}"


def report(seed, compile=False):
    """None, or the failure of this seed's sequence with the sequence shrunk."""
    return shrunk(seed, judge.tier_of(seed, compile), Generator.of(seed), calls)


def shrunk(seed, tier, body, judged):
    """None, or the failure of a seed's sequence with the sequence shrunk: judged(body, tier) is None or what is
    wrong."""
    problem = judged(body, tier)
    if problem is None:
        return None
    kind = problem.split(":")[1][:12]
    small = shrink(body,
                   lambda part: bool(part) and part[0].head.startswith("def") and kind in (judged(part, tier) or ""))
    return f"seed {seed}, {tier}: {judged(small, tier)}\n{text_of(small)}"


def shrunk_calls(seed, tier, body, calls_of, is_whole, letters):
    """None, or what calls_of(body, tier) says is wrong at one of a function's calls, with a smaller body that goes
    wrong alike: in so many letters of what is said. is_whole tells which bodies are programs."""
    problem = calls_of(body, tier)
    if problem is None:
        return None
    kind = re.sub(r"call \d+, after .*?: ", "", problem)[:letters]
    small = shrink(body, lambda part: is_whole(part) and kind in (calls_of(part, tier) or ""))
    return f"seed {seed}, {tier}: {calls_of(small, tier)}\n{text_of(small)}"


if __name__ == "__main__":
    judge.command(report)
