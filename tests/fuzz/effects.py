"""Random sequences of calls of functions that change what stands outside: arrays, lists, dicts, objects, globals and
variables of other functions.

After every call of its jitted form all is as Python itself leaves it, or it was refused, and all is as before. `python
-m tests.fuzz.effects [COUNT] [FIRST]` tries COUNT sequences from seed FIRST, and prints a shrunk one for each failure.
"""
from collections import deque
from types import FunctionType, ModuleType

import numpy as np

import fad
from fad.util.errors import FadError

from . import calls, judge
from .calls import attempt, text_of, within
from .statement import Statement

EFFECTS = within("""
    W[{0}] = {1} | W[:2] += y[:2] | W *= 0.9 | M[0] = y[:3] | M[:, 1] += {1} | M.T[2] *= 0.5 | OB.w[{0}] += {1} |
    OB.inner.v[:] = y[:3] * 0.3 | DT['q'][1] = {1} | NESTED['list'][0][0] += {1} | np.add.at(W, I, 0.1) | W.fill(0.3) |
    W.sort() | np.copyto(W, y[:3]) | np.sin(W, out=W) | I[0], I[1] = I[1], I[0] | LS[{0}] = {1} |
    LS.append(0.25) if len(LS) < 9 else None | LS.append({1}) if len(LS) < 9 else None | LS.pop() | LS.reverse() |
    LS[:] = [0.1, {1}, 0.2] | LS.insert(0, 0.7) if len(LS) < 9 else None | DT['p'] = {1} | DT['r'] = 0.4 |
    DT['r'] = {1} | DT.pop('r', None) | DT.update(p={1}) | DT['p'] *= 0.5 | ST.add(7) | TP[1][0] = {1} |
    TP[1].append(0.3) if len(TP[1]) < 9 else None | OB.k += 1 | OB.rate = {1} | OB.extra = {1} | OB.extra = 0.6 |
    OB.parts[0] = {1} | OB.parts.append(0.1) if len(OB.parts) < 9 else None | OB.inner.b *= 0.7 | OB.inner.b = {1} |
    OB.inner.v = y[:3] * 1.0 | OP.order = 1 | OP.damping += {1} | PAIR.right[0] = {1} | DQ.append({1}) | DQ.rotate(1) |
    DQ.popleft() if len(DQ) > 1 else None | Model.rate = {1} | Model.table['u'] += 0.1 | setattr(OB, 'k', 4) |
    setattr(OB, 'rate', {1}) | vars(OB)['k'] = 2 | GATES[0].k = {1} | GATE.within.u[0] = {1} | GATES.reverse() |
    NESTED["a"]["b"][0] = {1} | NESTED['a']['b'][1]['c'] += {1} | GAIN = {1} | GAIN = GAIN * 0.5 | COUNT += 1 |
    MODE = 'b' | FLAG = not FLAG | LIMIT = {1} | CHANGE({1}) | CHANGE(0.3) | W = W * {1} | W = y[:3] * 1.0 |
    ACTS.reverse() | ACT = wavy | DT = {{'p': {1}, 'q': W * 1.0}} | y[0] = W[1]; W[1] = 0.9 | v = W; v[0] += {1} |
    row = M[1]; row += y[:3] | OB.w = W | DT['q'] = OB.w | LS2 = LS; LS2.append(0.5) if len(LS) < 9 else None |
    o2 = OB; o2.k = 1 | del DT['p'] | LS.clear() | y = W; y[0] = 0.2 | s = LS.pop(0) + s""")
NUMBERS = within("y[0] | s | 0.3 | y.sum() * 0.2 | W[0] | LS[0] | 2 | GAIN | OB.rate")
GLOBALS = ("GAIN", "COUNT", "MODE", "FLAG", "LIMIT", "W", "ACT", "DT")
STATE = ("GAIN", "COUNT", "MODE", "FLAG", "LIMIT", "W", "I", "MASK", "M", "LS", "DT", "ST", "TP", "NESTED", "OB", "OP",
         "PAIR", "DQ", "ACT", "ACTS", "GATE", "GATES")


class Generator(calls.Generator):
    """Functions of calls.py with statements that change something outside among the others."""

    def program(self):
        definition, *changes = super().program()
        body = definition.blocks[0]
        text = text_of(body)
        bound = [name for name in GLOBALS if any(f"{name} {sign}= " in text or f"{name} = " in text for sign in "+*")]
        head = [Statement(f"global {', '.join(bound)}")] if bound else []
        return [Statement(definition.head, [*head, *body]), *changes[:3], Statement("pass  # x"),
                Statement("pass  # x * 0.9")]

    def statement(self, depth):
        return self.effect() if self.r.random() < 0.45 else super().statement(depth)

    def effect(self):
        return [Statement(part)
                for part in self.r.choice(EFFECTS).format(self.r.randint(0, 2), self.r.choice(NUMBERS)).split("; ")]


def state_of(scope):
    """All that can change, as lists of numbers and texts."""
    cls = scope["Model"]
    held = scope["CLOSED"].__closure__[1].cell_contents
    return {**{name: plain(scope[name]) for name in STATE}, "rate": plain(cls.rate), "table": plain(cls.table),
            "held": plain(held)}


def plain(x, depth=0):
    if isinstance(x, np.ndarray):
        return "array", str(x.dtype), x.tolist()
    if isinstance(x, (bool, int, float, str, np.generic)) or x is None:
        return x if isinstance(x, (str, bool)) or x is None else float(x)
    if isinstance(x, (FunctionType, ModuleType, type, np.ufunc)) or depth > 6:
        return getattr(x, "__name__", "")
    if isinstance(x, dict):
        return {k: plain(v, depth + 1) for k, v in x.items()}
    if isinstance(x, (list, tuple, deque, set)):
        return type(x).__name__, [plain(v, depth + 1) for v in (sorted(x) if isinstance(x, set) else x)]
    if not hasattr(x, "__dict__"):                           # what no program should leave behind
        return repr(x)
    return type(x).__name__, plain(vars(x), depth + 1)


def alike(p, q, off=1e-9):
    """Whether two states are the same, numbers up to rounding."""
    if isinstance(p, dict) and isinstance(q, dict):
        return list(p) == list(q) and all(alike(p[k], q[k], off) for k in p)
    if isinstance(p, (list, tuple)) and isinstance(q, (list, tuple)):
        return len(p) == len(q) and all(alike(a, b, off) for a, b in zip(p, q))
    if isinstance(p, float) and isinstance(q, float):
        return bool(np.isclose(p, q, rtol=off, atol=off, equal_nan=True))
    return p == q


def calls_of(body, tier):
    """None, or what was not right at one of the calls of this sequence."""
    plainly, jitted = (judge.executed(calls.STATE + f"#{k}", {"__name__": "program"}) for k in range(2))
    definition = text_of(body[:1])
    f, g = (judge.executed(f"#{k}\n{definition}", scope)["f"] for k, scope in enumerate((plainly, jitted)))
    compiled, off = fad.jit(g), calls.SINGLE if "float32" in text_of(body) else 1e-9
    for number, change in enumerate([Statement("pass  # x"), *body[1:]], 1):
        done, given = change.head.split("  # ")
        if [isinstance(attempt(exec, done, scope), Exception) for scope in (plainly, jitted)] != [False, False]:
            return None
        x = eval(given, {"np": np, "x": judge.POINT[:4].copy()})
        if np.asarray(x).dtype.kind == "i" or isinstance(x, list):
            continue
        at, before = f"call {number}, after {done!r} with {given}", state_of(jitted)
        with judge.tier(tier, raising=True):
            got = attempt(compiled, x.copy())
        if isinstance(got, FadError):
            if not alike(before, state_of(jitted)):
                return f"{at}: refused, and changed {difference(before, state_of(jitted))}"
            return None
        want = attempt(f, x.copy())
        if isinstance(want, NameError):
            return None
        if isinstance(want, Exception):
            return None if isinstance(got, type(want)) else f"{at}: value: {got!r:.500} instead of {want!r:.500}"
        if np.ndim(want) or not np.isfinite(want):
            return None
        wrong = calls.differs("value", want, got)
        if wrong or not alike(state_of(plainly), state_of(jitted), off):
            return f"{at}: {wrong or 'state: ' + difference(state_of(plainly), state_of(jitted))}"
    return None


def difference(p, q):
    return ", ".join(f"{name}: {q[name]} instead of {p[name]}" for name in p if not alike(p[name], q[name]))


def report(seed, compile=False):
    """None, or the failure of this seed's sequence with the sequence shrunk."""
    return calls.shrunk(seed, judge.tier_of(seed, compile), Generator.of(seed), calls_of)


if __name__ == "__main__":
    judge.command(report)
