"""Programs of names.py as functions that change their arguments, some of which share memory.

`fad.jit` changes them as NumPy does. A derivative leaves them as they are, and has NumPy's value; where an argument is
written to that shares its memory with another one it may be refused, and only then. `python -m tests.fuzz.arguments
[COUNT] [FIRST]` tries COUNT programs from seed FIRST, and prints a shrunk program for each failure.
"""
import warnings

import numpy as np

import fad
from fad.util.errors import SideEffectError

from . import differences, judge, names
from .statement import render_block

# what the first lines of these programs make is given instead
GIVEN = ("a = ", "b = ", "c = ", "d = ", "M = ")
KINDS = 7
SEPARATE = (0, 3)                                            # of these kinds, arguments share no memory


def text_of(body):
    """The program as a function of its arrays."""
    first = next((k for k, s in enumerate(body) if not s.head.startswith(GIVEN)), len(body))
    return "\n".join(["def f(x, a, b, c, d, M):", "    n = x.shape[0]", *render_block(body[first:], 1)]) + "\n"


def arguments(kind):
    """Arrays of their own, parts of one another, in other orders than C's, or with steps."""
    x = judge.POINT.copy()
    a, b, c, M = x * 1.0, x[1:] * 0.7, np.sin(x[:4]), np.outer(x[:3], x[1:4])
    d = b[::-1].copy()
    changed = {1: {"b": a[1:]}, 2: {"c": a}, 3: {"d": np.repeat(x, 2)[::2], "M": np.asfortranarray(M)},
               4: {"c": M[:, 1]}, 5: {"d": b[::-1]}, 6: {"a": x}}
    return list({"x": x, "a": a, "b": b, "c": c, "d": d, "M": M, **changed.get(kind, {})}.values())


def directions(given):
    return [np.cos(3.0 * np.arange(u.size) + k).reshape(u.shape) for k, u in enumerate(given)]


def judge_changes(f, kind, tier):
    """None if the result and the arguments are NumPy's (or it is no program), else what is not."""
    plain, given = arguments(kind), arguments(kind)
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            want = f(*plain)
    except Exception:                                        # whatever it is: no program
        return None
    try:
        with judge.tier(tier):
            got = fad.jit(f)(*given)
    except SideEffectError:
        return None
    except Exception as error:                               # whatever it is, NumPy does not raise it
        return f"{type(error).__name__}: {error}"
    if not np.isfinite(want):
        return None
    wrong = _wrong((want, *plain), (got, *given))
    return f"not as NumPy's: {wrong}" if wrong else judge_derivatives(f, kind, tier, want)


def judge_derivatives(f, kind, tier, want):
    """None if value, gradient and slope are right, and the arguments what they were, or if it is refused with
    reason."""
    given = arguments(kind)
    along = directions(given)
    try:
        with judge.tier(tier):
            value, gradients = fad.value_and_grad(f, argnums=tuple(range(6)))(*given)
            again, slope = fad.jvp(f, tuple(given), tuple(along))
    except SideEffectError as error:
        return f"refused: {error}" if kind in SEPARATE and "shares its memory" in str(error) else None
    except Exception as error:                               # whatever it is, NumPy does not raise it
        return f"derivative, {type(error).__name__}: {error}"
    wrong = _wrong((0.0, *arguments(kind)), (0.0, *given))
    if wrong:
        return f"changed by a derivative: {wrong}"
    if not np.allclose([value, again], want, rtol=1e-9, atol=1e-9):
        return f"value beside a derivative: {value}, {again} instead of {want}"
    reverse = sum(np.sum(g * v) for g, v in zip(gradients, along))
    if not np.isclose(reverse, slope, rtol=1e-8, atol=1e-8) and np.isfinite(slope):
        return f"reverse: {reverse} instead of {slope}"

    def at(t):
        return f(*[u + t[0] * v for u, v in zip(arguments(kind), along)])
    smooth = differences.slope(at, np.zeros(1), np.ones(1))
    if (smooth and np.isclose(at(np.zeros(1)), want)
            and abs(slope - smooth[0]) > 1e-6 * (1.0 + abs(smooth[0])) + smooth[1]
            and differences.is_steady(at, np.zeros(1), np.ones(1), slope)):
        return f"slope: {slope} instead of {smooth[0]}"
    return None


def _wrong(want, got):
    return ", ".join(name for name, p, q in zip(("result", *"xabcdM"), want, got)
                     if not np.allclose(q, p, rtol=1e-9, atol=1e-9, equal_nan=True))


def report(seed, compile=False):
    """None, or the failure of this seed's program with the program shrunk."""
    kind, tier = seed % KINDS, "compiled" if compile else ("interpreted", "text")[seed // KINDS % 2]
    return judge.shrunk(seed, f"{tier}, arguments of kind {kind}", names.Generator.of(seed),
                        lambda f: judge_changes(f, kind, tier), text_of)


if __name__ == "__main__":
    judge.command(report)
