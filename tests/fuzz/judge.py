"""What must hold of a random program: values agree across the tiers, derivatives with differences and with each other.

`python -m tests.fuzz.judge [COUNT] [FIRST]` tries COUNT programs from seed FIRST, and prints a shrunk program for each failure.
"""
import copy
import functools
import linecache
import re
import sys
import warnings
from contextlib import contextmanager

import numpy as np

import fad
from fad.util.errors import SideEffectError

from .generate import HELPERS, generate, render
from .text import as_text

POINT = np.array([0.3141593, -0.6180340, 0.8318531, 0.1414214, -0.2718282, 0.5498161])        # no round numbers: those meet the programs' own


def _executed(text, scope):
    """scope after this text, its source where inspect finds it."""
    name = f"<program {abs(hash(text))}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    exec(compile(text, name, "exec"), scope)
    return scope


@functools.cache
def _helpers():
    """The functions that programs call, once for all programs."""
    return _executed(HELPERS, {"__name__": "helpers"})


def compiled_function(body):
    """f of these statements."""
    return _executed(render(body) + "\n", dict(_helpers(), __name__="program"))["f"]


def difference_gradient(f, x, h=1e-5):
    """Central differences, and those with twice the step, to see where they can be trusted."""
    rows = []
    for step in (h, 2 * h):
        rows.append(np.array([(f(x + step * e) - f(x - step * e)) / (2 * step) for e in np.eye(x.size)]))
    return rows


def smooth_here(f, x):
    """The gradient by differences, or None where the program is not smooth (a branch changes, a value is not finite)."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        near, far = difference_gradient(f, x)
    if not np.all(np.isfinite(near)) or not np.allclose(near, far, rtol=1e-4, atol=1e-6) or np.max(np.abs(near)) > 1e4:
        return None
    return near


@contextmanager
def tier(name):
    """Programs run by the interpreter, as generated text in plain Python, or compiled; a refusal to generate text is a failure."""
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*interpreted, not compiled")
        if name == "text":
            with as_text():
                yield
        else:
            with fad.config.using(compile={"interpreted": "never", "compiled": "now"}[name]):
                yield


def judge(body, tiers=("interpreted", "text"), second=False):
    """None if all holds (or the program is no fair test), else what does not."""
    f = compiled_function(body)
    try:
        with np.errstate(over="raise"):
            want = f(POINT.copy())
        slope = smooth_here(f, POINT)
    except (IndexError, ValueError, ZeroDivisionError, OverflowError, FloatingPointError, UnboundLocalError):
        return None                                          # no program at all, or one whose values leave all bounds
    if slope is None or not np.isfinite(want):
        return None
    for name in tiers:
        try:
            with tier(name):
                problem = _compare(f, want, slope, second)
        except SideEffectError:
            return None                                      # two names for one array, where it cannot be known which: refused, not guessed
        except Exception as error:
            problem = f"{type(error).__name__}: {error}"
        if problem:
            return f"{name}, {problem}"
    return None


def _compare(f, want, slope, second):
    """First order: value, gradient and tangent. Second: the value by itself, the gradient and its derivative along a direction."""
    x, d = POINT.copy(), np.sin(3 * POINT)
    if second:
        g = fad.grad(f)
        with np.errstate(all="ignore"):
            turn = (g(POINT + 1e-5 * d) - g(POINT - 1e-5 * d)) / 2e-5
        found = [("value", fad.jit(f)(x), want, 1e-9),
                 *zip(("gradient", "second order"), fad.jvp(g, (x,), (d,)), (slope, turn), (1e-4, 1e-3))]
    else:
        value, gradient = fad.value_and_grad(f)(x)
        along = fad.jvp(f, (x,), (d,))
        found = [("value", value, want, 1e-9), ("gradient", gradient, slope, 1e-4), ("value", along[0], want, 1e-9), ("forward", along[1], slope @ d, 1e-4)]
    for name, got, expected, tolerance in found:
        scale = 1.0 + np.max(np.abs(expected))
        if not np.all(np.abs(got - expected) <= tolerance * scale):
            return f"{name}: {got} instead of {expected}"
    if not np.array_equal(x, POINT):
        return "the argument was changed"
    return None


def shrink(body, fails):
    """The smallest program found, by leaving out statements, that still fails."""
    progress = True
    while progress:
        progress = False
        for smaller in _without_one(body):
            if fails(smaller):
                body, progress = smaller, True
                break
    return body


def _without_one(body):
    for k in range(len(body) - 1, -1, -1):
        if not body[k].head.startswith("return"):
            yield body[:k] + body[k + 1:]
        for b, block in enumerate(body[k].blocks):
            for smaller in _without_one(block):
                changed = copy.copy(body[k])
                changed.blocks = body[k].blocks[:b] + [smaller] + body[k].blocks[b + 1:]
                yield body[:k] + [changed] + body[k + 1:]


def report(seed, compile=False):
    """None, or the failure of this seed's program with the program shrunk."""
    body, second = generate(seed), seed % 2 == 1
    tiers = ("interpreted", "text", "compiled") if compile else ("interpreted",) if seed % 8 in (1, 4) else ("text",)
    problem = judge(body, tiers, second)
    if problem is None:
        return None
    kind = re.split("[:;.0-9]", problem)[0]

    def fails(smaller):
        try:
            found = judge(smaller, tiers, second)
        except Exception:
            return False
        return found is not None and found.startswith(kind)
    small = shrink(body, fails)
    return f"seed {seed}: {judge(small, tiers, second)}\n{render(small)}"


def main(count=1000, first=0):
    """Try many programs; the number of failures."""
    failures = 0
    for seed in range(first, first + count):
        found = report(seed, compile=seed % 50 == 0)
        if found:
            failures += 1
            print(found, flush=True)
    print(f"{count} programs, {failures} failures")
    return failures


if __name__ == "__main__":
    sys.exit(bool(main(*map(int, sys.argv[1:]))))
