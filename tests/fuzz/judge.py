"""What must hold of a random program: values as NumPy's, derivatives as differences, forward as reverse, and the same
numbers in every tier.

`python -m tests.fuzz.judge [COUNT] [FIRST]` tries COUNT programs from seed FIRST, and prints a shrunk program for each
failure.
"""
import functools
import re
import sys
import time
import warnings
from contextlib import contextmanager

import numpy as np

import fad
from fad.util.errors import SideEffectError

from ..texts import executed
from . import differences
from .generate import HELPERS, generate, render
from .shrink import shrink
from .text import as_text

# no round numbers: those meet the programs' own
POINT = np.array([0.3141593, -0.6180340, 0.8318531, 0.1414214, -0.2718282, 0.5498161])
DIRECTION = np.sin(3 * POINT)
COMPILED = 50                                                 # one program in so many is compiled, too
# how far values, two ways to one derivative, and differences may be apart
VALUE, MODES, SMOOTH = 1e-11, 1e-10, 1e-7


@functools.cache
def helpers():
    """The functions that programs call, once for all programs."""
    return executed(HELPERS, {"__name__": "helpers"})


def compiled_function(body):
    """f of these statements."""
    return executed(render(body) + "\n", dict(helpers(), __name__="program"))["f"]


@contextmanager
def tier(name, refusals=True, raising=False):
    """Programs run by the interpreter, as generated text in plain Python, or compiled.

    A refusal to generate text is a failure. So is a run on the tape for an error that is not fad's own word: an honest
    refusal is a FadError, and a bare TypeError or AttributeError is a mistake of fad's that the tape would hide (unless
    the program raises errors itself, see handlers.py). Without refusals, every run on the tape is a failure.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore" if refusals else "error", fad.FallbackWarning)
        warnings.simplefilter("error", fad.InternalErrorWarning)
        if not raising:
            warnings.filterwarnings("error", r"(?s).*\n  why: [A-Z]\w*(Error|Exception)\b", fad.FallbackWarning)
        warnings.filterwarnings("error", ".*interpreted, not compiled")
        if name == "text":
            with as_text():
                yield
        else:
            with fad.config.using(compile={"interpreted": "never", "compiled": "now"}[name]):
                yield


def judge(f, tiers=("interpreted", "text"), second=False, refusals=True, raising=False):
    """None if all holds of f (or it is no fair test), else what does not."""
    first = None
    try:
        with np.errstate(over="raise"):
            want = f(POINT.copy())
        smooth = differences.gradient(f, POINT)
    except (LookupError, ValueError, ArithmeticError, UnboundLocalError, AssertionError, SystemError):
        # no program at all, or one whose values leave all bounds (of which np.dot makes a SystemError)
        return None
    if not np.isfinite(want):
        return None
    for name in tiers:
        try:
            with tier(name, refusals, raising):
                found = (_second_order if second else _first_order)(f)
                problem = _problem(f, want, smooth, found, first)
        except SideEffectError:
            # two names for one array, where it cannot be known which: refused, not guessed
            return None
        except Exception as error:
            problem = f"{type(error).__name__}: {error}"
        if problem:
            return f"{name}, {problem}"
        first = first or found
    return None


def _first_order(f):
    """The value by the two modes, the gradient, and the slope along a direction by the two modes."""
    x = POINT.copy()
    value, gradient = fad.value_and_grad(f)(x)
    again, forward = fad.jvp(f, (x,), (DIRECTION,))
    assert np.array_equal(x, POINT), "the argument was changed"
    return {"value": value, "gradient": gradient, "value of forward mode": again, "forward": forward,
            "reverse": gradient @ DIRECTION}


def _second_order(f):
    """The value by itself, the gradient and its slope along a direction, forward over reverse and reverse over
    forward."""
    x = POINT.copy()
    gradient, forward = fad.jvp(fad.grad(f), (x,), (DIRECTION,))
    reverse = fad.grad(lambda x: fad.jvp(f, (x,), (DIRECTION,))[1])(x)
    assert np.array_equal(x, POINT), "the argument was changed"
    return {"value": fad.jit(f)(x), "gradient": gradient, "forward": forward, "reverse": reverse}


def _problem(f, want, smooth, found, first):
    """What does not hold of these numbers, found by one tier; `first` are those of another."""
    for name in found:
        if name.startswith("value") and _apart(found[name], want, VALUE) and not unsteady(f, found[name], want):
            return f"{name}: {found[name]} instead of {want}"
    second, derivative = "value of forward mode" not in found, None
    if second:
        derivative = fad.grad(f)
    pairs = [("reverse", found["reverse"], found["forward"]),
             *((name, found[name], first[name]) for name in first or ())]
    for name, got, expected in pairs:
        if name == "reverse" and not np.all(np.isfinite(got)) and differences.meets_root_of_zero(f, POINT):
            # the slope of the root is infinite, and what it is multiplied by is zero
            continue
        if _apart(got, expected, MODES) and not unsteady(functools.partial(_named, f, name, second), got, expected):
            return f"{name}: {got} instead of {expected}"
    if (smooth and _apart(found["gradient"], smooth[0], SMOOTH, smooth[1])
            and _contradicted(f, found["gradient"], *smooth)):
        return f"gradient: {found['gradient']} instead of {smooth[0]}"
    iteration = differences.slope(derivative, POINT, DIRECTION) if second and smooth else None
    if (iteration and _apart(found["forward"], iteration[0], SMOOTH, iteration[1])
            and differences.is_steady(derivative, POINT, DIRECTION, found["forward"])):
        return f"second order: {found['forward']} instead of {iteration[0]}"
    return None


def _named(f, name, second, x):
    """One of the numbers of f at another point."""
    if name.startswith("value"):
        return f(x)
    g = fad.grad(f)
    return g(x) if not second or name == "gradient" else fad.jvp(g, (x,), (DIRECTION,))[1]


def _apart(got, expected, tolerance, off=0.0):
    """Whether numbers differ by more than this part of the largest of them; where nothing is finite, nothing is
    said."""
    if not np.all(np.isfinite(expected)):
        return False
    return not np.all(np.abs(got - expected) <= off + tolerance * (1.0 + np.max(np.abs(expected))))


def _contradicted(f, got, expected, off):
    """Whether differences say so with any step; what is nan they contradict, unless f takes a root of zero, whose slope
    is infinite."""
    if not np.all(np.isfinite(got)):
        return not differences.meets_root_of_zero(f, POINT)
    return differences.contradict(f, POINT, got, expected, off + SMOOTH * (1.0 + np.max(np.abs(expected))))


def unsteady(f, got, expected):
    """Whether rounding of the argument changes f by as much as these differ: then the program, not fad, makes the
    difference."""
    return differences.spread(f, POINT) > 0.1 * np.max(np.abs(got - expected))


def report(seed, compile=False, generate=generate, refusals=True, raising=False):
    """None, or the failure of this seed's program with the program shrunk."""
    body, second = generate(seed), seed % 2 == 1
    tiers = ("interpreted", "text", "compiled") if compile else ("interpreted",) if seed % 8 in (1, 4) else ("text",)
    problem = judge(compiled_function(body), tiers, second, refusals, raising)
    if problem is None:
        return None
    kind = re.split("[:;.0-9]", problem)[0]

    small = shrink(body,
                   lambda smaller: (judge(compiled_function(smaller), tiers, second, refusals, raising)
                                    or "").startswith(kind))
    return f"seed {seed}: {judge(compiled_function(small), tiers, second, refusals, raising)}\n{render(small)}"


def tier_of(seed, compile):
    """The tier in which this seed's program is judged."""
    return "compiled" if compile else ("interpreted", "text")[seed % 2]


def shrunk(seed, tier, body, judged, text_of=lambda body: render(body) + "\n", scope=None):
    """None, or the failure of a seed's program with the program shrunk, for generators with a judge of their own:
    judged(f) is None or what is wrong. text_of(body): the program's text, if its function has other arguments; scope:
    what it sees, if that is not the helpers.
    """
    def problem(body):
        try:
            return judged(executed(text_of(body), dict(scope or helpers(), __name__="program"))["f"])
        except Exception as error:                           # whatever it is, NumPy does not raise it
            return f"{type(error).__name__}: {error}"
    found = problem(body)
    if found is None:
        return None
    small = shrink(body, lambda smaller: (problem(smaller) or "")[:10] == found[:10])
    return f"seed {seed}, {tier}: {problem(small)}\n{text_of(small)}"


def main(count=1000, first=0, report=report):
    """Try many programs; the number of failures."""
    failures = 0
    for seed in range(first, first + count):
        found = report(seed, compile=seed % COMPILED == 0)
        if found:
            failures += 1
            print(found, flush=True)
        if (seed + 1) % 1000 == 0:
            print(f"up to seed {seed}: {failures} failures", file=sys.stderr, flush=True)
    print(f"{count} programs from seed {first}, {failures} failures, {time.process_time() / count:.3f} s of CPU each")
    return failures


def command(report=report):
    """Run main by the arguments of the command line, and leave Python with an error if there was a failure."""
    sys.exit(bool(main(*map(int, sys.argv[1:]), report=report)))


if __name__ == "__main__":
    command()
