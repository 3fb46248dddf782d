"""Random sequences of calls of functions that print and log, beside all that changes something outside (see
effects.py).

Every call of a jitted form, or of a derivative, says what Python says in that call: each line once, with the same
numbers. `python -m tests.fuzz.lines [COUNT] [FIRST]` tries COUNT sequences from seed FIRST, and prints a shrunk one for
each failure.
"""
import contextlib
import io
import logging
import re

import numpy as np

import fad
from fad.util.errors import FadError

from . import calls, effects, judge
from .calls import attempt, text_of, within
from .statement import Statement

LINES = within("""
    print({1}, {0}, MODE) | print('s', f'{{s:.3f}} of {{{1}!r}}', sep='=', end=';') | print(y) |
    print([s, {1}], (y[0],), {{'y': y[:2]}}) | print(W, len(y), y.shape) | print(OB.k, OB.rate, LS, ST) | print(DT) |
    print({1} > 0.3, -{1}) | print(f'{{LS}} {{OB.parts}}', TP, COUNT) | print(OB.w[{0}], OB.inner.b, NESTED['a']) |
    LOG.info('%.3f at %d', {1}, {0}) | LOG.info('%s of %r', {1}, MODE) | LOG.info(f'{{{1}}} and {{y[{0}]:8.2f}}') |
    LOG.debug('%(a)s, %(b).2e', {{'a': y[:2], 'b': {1}}}) | LOG.warning('limit %s' % LIMIT) |
    LOG.info('{{}} {{:.2f}}'.format(MODE, {1})) | LOG.debug('count %s', [COUNT, {1}]) | LOG.setLevel(20) |
    message = f'{{{1}:.4f}}' ; print(message)""")
NUMBER = re.compile(r"-?\d+\.?\d*(?:e[-+]?\d+)?|nan|inf")
LEVELS = (logging.DEBUG, logging.INFO, logging.WARNING)


class Saying(logging.Handler):
    """Prints what is logged."""

    def emit(self, record):
        print(record.levelname, record.getMessage())


class Generator(effects.Generator):
    """Functions of effects.py with lines among the statements."""

    def effect(self):
        if self.r.random() < 0.4:
            return super().effect()
        line = self.r.choice(LINES).format(self.r.randint(0, 2), self.r.choice(effects.NUMBERS))
        return [Statement(part.strip()) for part in line.split(" ; ")]


def same_lines(want, got):
    """Whether two texts are the same, numbers up to rounding and white space."""
    if NUMBER.sub("#", "".join(want.split())) != NUMBER.sub("#", "".join(got.split())):
        return False
    pairs = list(zip(NUMBER.findall(want), NUMBER.findall(got), strict=True))
    return all(("." in p) == ("." in q) for p, q in pairs) and np.allclose(
        [float(p) for p, _ in pairs], [float(q) for _, q in pairs], rtol=1e-3, atol=1e-3, equal_nan=True)


def calls_of(body, tier):
    """None, or what was not right at one of the calls of this sequence."""
    scopes = [judge.executed(calls.STATE + f"#{k}", {"__name__": "program"}) for k in range(2)]
    for scope in scopes:
        scope["LOG"] = logging.Logger("said")
        scope["LOG"].addHandler(Saying())
    definition = text_of(body[:1])
    f, g = (judge.executed(f"#{k}\n{definition}", scope)["f"] for k, scope in enumerate(scopes))
    staged = fad.jit(g) if len(definition) % 2 else fad.value_and_grad(g)
    for number, change in enumerate([Statement("pass  # x"), *body[1:]], 1):
        done, given = change.head.split("  # ")
        if [isinstance(attempt(exec, done, scope), Exception) for scope in scopes] != [False, False]:
            return None
        for scope in scopes:
            scope["LOG"].setLevel(LEVELS[number % 3])
        x = eval(given, {"np": np, "x": judge.POINT[:4].copy()})
        if np.asarray(x).dtype.kind == "i" or isinstance(x, list):
            continue
        texts = [io.StringIO() for _ in scopes]
        with judge.tier(tier, raising=number % 2 == 0), contextlib.redirect_stdout(texts[1]):
            got = attempt(staged, x.copy())
        with contextlib.redirect_stdout(texts[0]):
            want = attempt(f, x.copy())
        expected, said = [text.getvalue() for text in texts]
        if isinstance(got, FadError) and not isinstance(want, Exception):
            return f"call {number}: refused, and said {said}" if "traced" in said else None
        both_fail = isinstance(got, Exception) and isinstance(want, Exception)
        if isinstance(want, NameError) or both_fail and type(got) is not type(want):
            return None
        if not same_lines(expected, said):
            return f"call {number}, after {done!r} with {given}: said {said!r} instead of {expected!r}"
        if not effects.alike(*map(effects.state_of, scopes)):
            return None                                      # judged by effects.py
    return None


def report(seed, compile=False):
    """None, or the failure of this seed's sequence with the sequence shrunk."""
    return calls.shrunk(seed, judge.tier_of(seed, compile), Generator.of(seed), calls_of)


if __name__ == "__main__":
    judge.command(report)
