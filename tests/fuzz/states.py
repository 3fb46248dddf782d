"""Random functions whose state changes at each call: counters, best values, logs, last points, annealed rates, in all
that holds state.

Each is called six times in a transform, and in Python. Values, what is left outside and the derivative are the same
after each call, or the call is refused and has changed nothing. What raises an error leaves what Python leaves, or
nothing. `python -m tests.fuzz.states [COUNT] [FIRST]` tries COUNT functions from seed FIRST, and prints a shrunk one
for each failure.
"""

import numpy as np

import fad
from fad.util.errors import FadError

from . import calls, differences, effects, judge
from .calls import attempt, text_of, within
from .effects import alike, difference, state_of
from .statement import Statement

CALLS = 6
EFFECTS = within("""
    COUNT += 1 | COUNT += 1; s = s + COUNT * 0.1 | GAIN = GAIN * 0.9 | GAIN = 0.9 * GAIN + 0.1 * {0} | LIMIT = {0} |
    FLAG = not FLAG | LIMIT = None | MODE = 'b' if MODE == 'a' else 'a' | MODE = 'b' if {0} > 0.3 else 'a' |
    MODE = MODE if y[1] > {0} else 'c' | W = W * 0.9 + y[:3] * 0.1 | W = y[:3] | M = M * 0.9 + np.outer(W, y[:3]) |
    CHANGE({0}) | OB.k += 1 | OB.k = (OB.k + 1) % 3 | OB.rate *= 0.9 | OB.rate = {0} | OB.rate = min(OB.rate, {0}) |
    Model.rate = Model.rate * 0.9 + 0.1 * {0} | Model.table['u'] += 0.1 | Model.table['u'] = {0} |
    OB.w = OB.w * 0.5 + y[:3] | OB.w = y[:3] * 1.0 | OB.w = W | W, OB.w = OB.w, W | OB.inner.b = max(OB.inner.b, {0}) |
    OB.inner.b *= 0.7 | OB.inner.v = y[:3] * 0.3 | OB.inner.v = OB.inner.v + y[:3] | OB.extra = {0} |
    OB.extra = getattr(OB, 'extra', 0.2) * 0.5 + {0} | OB.parts[0] = {0} | OB.parts[-1] *= 0.5 | OB.parts.append({0}) |
    OB.parts = [{0}, 0.2] | LS.append({0}) | LS.append(float({0})) | LS.append({0}); s = s + len(LS) * 0.1 |
    s = s + LS[-1] * 0.1; LS.append(float({0})) | LS[0] = {0} | LS[-1] = LS[-1] * 0.5 + {0} | LS[1] += 0.1 |
    LS.extend([{0}, 0.1]) | LS[:] = [0.1, {0}, 0.2] | LS.append({0}); LS.pop(0) | LS = LS + [{0}] | LS.pop() |
    LS.insert(0, {0}) | DT['p'] = min(DT['p'], {0}) | DT['p'] *= 0.5 | DT['r'] = {0} |
    DT['r'] = DT.get('r', 0.9) * 0.5 + 0.1 | DT['q'] = y[:3] * 0.5 | DT['q'] = OB.w | DT.update(p={0}) |
    DT['n'] = DT.get('n', 0) + 1 | DT = {{'p': {0}, 'q': W}} | TP[1].append({0}) | TP[1][0] = {0} | TP = ({0}, TP[1]) |
    NESTED['a']['b'][0] += 0.1 | NESTED['a']['b'][1]['c'] = {0} | NESTED['list'][0] = NESTED['list'][0] * 0.5 + y[:3] |
    NESTED['list'].append({0}) | NESTED['list'][1] = ({0}, 0.1) | OP.order = OP.order % 3 + 1 | OP.damping += {0} |
    OP.damping = OP.damping * 0.5 | PAIR.right[0] = {0} | PAIR.right[0] *= 0.5 | DQ.append({0}) |
    DQ.append({0}); DQ.popleft() | GATES[0].k *= 0.9 | GATE.k = {0} | GATE.within.u[0] += {0} |
    GATES[1].within.u.append({0}) | Gate.share = {0} | ACT = wavy if ACT is soft else soft | ACTS.reverse() |
    ST.add(COUNT) | ST.add(7) | W *= 0.9 | W += 0.1 * y[:3] | W[0] = {0} | W[1:] *= {0} | W[0], W[1] = W[1], {0} |
    OB.w += 0.1 * y[:3] | OB.w[-1] = {0} | M[0] = y[:3] | M.T[1] *= 0.5 | np.multiply(W, 0.5, out=W) |
    np.copyto(OB.w, y[:3]) | v = M[1]; v += {0} | OB.inner.v[1] = {0} | NESTED['list'][0] *= 0.5 | DT['q'] += 0.1 |
    OB.inner.v.sort() | OB.last = x | OB.last = y | OB.last = (s, y * 1.0) | OB.last = [s, y[0]] | OB.last = y[1:] |
    o2 = OB; o2.k += 1 | v = LS; v.append({0}) | LS2 = OB.parts; LS2[0] = {0} | vars(OB)['k'] = OB.k + 1 |
    setattr(OB, 'rate', {0}) | GAIN, COUNT = {0}, COUNT + 1 | OB.k, OB.rate = OB.k + 1, OB.rate * 0.5""")
NUMBERS = within("y[0] | s | 0.3 | y.sum() * 0.2 | W[0] | LS[0] | LS[-1] | 2 | GAIN | OB.rate | OB.k * 0.1 | COUNT | "
                 "np.tanh(s) | OB.w[1] * y[1] | np.float64(0.5)")
GLOBALS = ("GAIN", "COUNT", "MODE", "FLAG", "LIMIT", "W", "M", "ACT", "DT", "LS", "TP")
EXAMPLES = np.array([[1.0], [0.6], [0.3]])


def at_examples(f, vmap=None):
    """The sum of f over a batch made of its argument; without vmap the loop over the batch."""
    return lambda x: np.sum(vmap(f)(EXAMPLES * x) if vmap else [f(row) for row in EXAMPLES * x])


TRANSFORMS = (fad.jit, fad.value_and_grad, fad.value_and_grad, lambda f: fad.jit(fad.value_and_grad(f)),
              lambda f: fad.value_and_grad(at_examples(f, fad.vmap)))


class Generator(effects.Generator):
    """Functions of calls.py with statements that change state among the others, in branches and loops, too."""

    def program(self):
        body = super(effects.Generator, self).program()[0].blocks[0]
        text = text_of(body)
        bound = [n for n in GLOBALS
                 if any(t in text for t in (f"{n} = ", f"{n} += ", f"{n} *= ", f"{n}, ", f", {n} = "))]
        head = [Statement(f"global {', '.join(bound)}")] if bound else []
        return [Statement("def f(x, DEFAULT=0.8):", [*head, *body])]

    def effect(self):
        changes = [Statement(part) for part in self.r.choice(EFFECTS).format(self.r.choice(NUMBERS)).split("; ")]
        if self.r.random() < 0.2:
            test = self.r.choice(["y[0] > 0.1", "COUNT % 2 == 0", "OB.k % 3 == 0", "s < LS[0]", "GAIN > 0.5",
                                  "len(LS) > 4", "FLAG", "MODE == 'a'", "MODE != 'c'", "MODE in ('b', 'c')"])
            return [Statement(f"if {test}:", changes)]
        return changes


def point(number):
    return judge.POINT[:4] * np.cos(0.7 * number) + 0.05 * number


class Run:
    """The function in a world of its own, in Python or in a transform."""

    def __init__(self, definition, number, transform=lambda f: f):
        self.scope = judge.executed(calls.STATE + f"#{number}", {"__name__": "program"})
        self.f = transform(judge.executed(f"#{number}\n{definition}", self.scope)["f"])

    @property
    def state(self):
        return {**state_of(self.scope), "last": effects.plain(getattr(self.scope["OB"], "last", None))}

    def aliases(self):
        """Which of the arrays are one."""
        s = self.scope
        arrays = [s["W"], s["OB"].w, s["DT"].get("q"), s["OB"].inner.v, getattr(s["OB"], "last", None),
                  s["NESTED"]["list"][0], s["M"]]
        return [a is b for a in arrays for b in arrays]


def calls_of(body, seed, tier, run=Run):
    """None, or what was not right at one of the calls. body: the function, and what is done outside before each call
    after the first."""
    definition, transform = text_of(body[:1]), TRANSFORMS[seed % len(TRANSFORMS)]
    plainly = at_examples if transform is TRANSFORMS[-1] else lambda f: f
    changes = ["pass", *(s.head for s in body[1:])][:CALLS]
    changes += ["pass"] * (CALLS - len(changes))
    plain, staged = run(definition, 0, plainly), run(definition, 1, transform)
    for number, change in enumerate(changes):
        x = point(number)
        if any(isinstance(attempt(exec, change, r.scope), Exception) for r in (plain, staged)):
            return None
        before = staged.state
        with judge.tier(tier, raising=True):
            got = attempt(staged.f, x.copy())
        want = attempt(plain.f, x.copy())
        if isinstance(got, Exception) and not alike(before, staged.state):
            if not isinstance(want, Exception) or not alike(plain.state, staged.state):
                return f"call {number + 1}: state: {got!r:.200}, and changed {difference(before, staged.state)}"
        if isinstance(want, Exception) or isinstance(got, Exception):
            # a name without a value is an error of one of two classes
            kind = NameError if isinstance(want, NameError) else type(want)
            fits = isinstance(got, FadError) or (isinstance(want, Exception) and isinstance(got, kind))
            return None if fits else f"call {number + 1}: value: {got!r:.500} instead of {want!r:.500}"
        if np.ndim(want) or not np.isfinite(want) or np.abs(want) > 1e6:
            return None
        wrong = calls.differs("value", want, got if transform is fad.jit else got[0])
        if not wrong and not alike(plain.state, staged.state):
            wrong = "state: " + difference(plain.state, staged.state)
        if not wrong and plain.aliases() != staged.aliases():
            wrong = "state: other arrays are one"
        if not wrong and transform is not fad.jit and number in (1, CALLS - 1):
            wrong = gradient_of(definition, changes[:number + 1], got[1], run, plainly)
        if wrong:
            return f"call {number + 1}: {wrong}"
    return None


def gradient_of(definition, changes, got, run=Run, plainly=lambda f: f):
    """None, or where the gradient of the last call is not its slope, all calls made anew. changes: what is done before
    each of them."""
    number = len(changes) - 1
    direction = np.sin(3.0 * np.arange(1, 5))

    def replayed(x):
        fresh = run(definition, 2, plainly)
        for k, change in enumerate(changes[:-1]):
            exec(change, fresh.scope)
            fresh.f(point(k))
        exec(changes[-1], fresh.scope)
        return fresh.f(x)
    found = differences.slope(replayed, point(number), direction)
    if found is None:
        return None
    apart = np.abs(got @ direction - found[0]) > judge.SMOOTH * (1.0 + np.abs(found[0])) * 10 + found[1]
    return f"gradient: {got} along {direction} instead of {found[0]}" if apart else None


def report(seed, compile=False):
    """None, or the failure of this seed's function with the function shrunk."""
    tier = "compiled" if compile else ("interpreted", "text")[seed // 4 % 2]
    return calls.shrunk(seed, tier, Generator.of(seed), lambda body, tier: calls_of(body, seed, tier))


if __name__ == "__main__":
    judge.command(report)
