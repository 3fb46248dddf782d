"""Random programs over numbers of many dtypes: integers of several widths, truths, single precision and complex
numbers, as NumPy promotes and casts them.

The results have NumPy's values and its dtypes, and what NumPy refuses is refused; the two modes and the tiers agree on
derivatives. `python -m tests.fuzz.dtypes [COUNT] [FIRST]` tries COUNT programs from seed FIRST, and prints a shrunk
program for each failure.
"""
import inspect
import re
import warnings

import numpy as np

import fad
from fad.util.errors import FadError

from . import judge
from .statement import Blocks, Statement

HEAD = ("a = x * 1.5", "g = x.astype(np.float32)", "z = x + 0.5j", "c = (1j * x).astype(np.complex64)",
        "k = np.arange(n)",
        "i = np.arange(3, 3 + n, dtype=np.int32)", "u = np.array([250, 3, 7, 128], dtype=np.uint8)", "m = x > 0.3",
        "s = x[0]", "t = np.float32(0.7)",
        "q = 2", "b = False")
ARRAYS, SCALARS = "agzckium", "stqb"
DTYPES = ("float", "np.float32", "complex", "np.complex64", "int", "np.int32", "np.uint8", "bool", "np.int8",
          "np.uint64", "np.float16")
UNARY = ("-{0}", "+{0}", "abs({0})", "np.sin({0})", "np.sqrt({0})", "np.exp({0} * 0.1)", "np.sign({0})",
         "np.square({0})", "np.conj({0})", "np.real({0})", "np.imag({0})", "np.tanh({0})", "np.round({0})",
         "np.floor({0})", "np.cumsum({0})", "np.cumprod({0})", "np.sort({0})", "~{0}", "np.negative({0})",
         "np.where(m, {0}, 0)", "np.where(x > 0.2, {0}, 1.5)", "np.zeros_like({0})", "np.ones_like({0})",
         "np.full_like({0}, 2)", "np.isfinite({0})", "np.angle({0})", "{0}[::-1]", "np.roll({0}, 1)",
         "np.clip({0}, 1, 5)", "np.diff({0}, prepend=0)", "np.reciprocal({0} + 1)", "np.array({0})",
         "np.nan_to_num({0})", "{0}.copy()", "np.log1p(abs({0}))", "np.atleast_1d({0})", "np.heaviside({0}, 0.5)",
         "np.flip({0})", "np.argsort({0})", "np.logical_not({0})", "np.expm1({0} * 0.1)", "np.cbrt({0})")
BINARY = ("{0} + {1}", "{0} - {1}", "{0} * {1}", "{0} / {1}", "{0} // {1}", "{0} % {1}", "{0} ** 2", "{0} ** {1}",
          "2 ** {0}", "np.maximum({0}, {1})", "np.minimum({0}, {1})", "np.where({0} > {1}, {0}, {1})",
          "np.where(m, {0}, {1})", "{0} > {1}", "{0} == {1}", "{0} & {1}", "{0} | {1}", "{0} ^ {1}", "{0} << 1",
          "{0} >> {1}", "np.hypot({0}, {1})", "np.arctan2({0}, {1})", "np.add({0}, {1})", "np.multiply({0}, 2)",
          "np.true_divide({0}, 2)", "{0} + 1", "{0} * 0.5", "{0} + 1j", "1 - {0}", "3 // (1 + abs({0}))",
          "np.float32(2) * {0}", "{0} + np.int8(3)", "np.logaddexp({0}, {1})", "np.copysign({0}, {1})",
          "np.fmod({0}, {1})", "divmod({0}, 3)[1]", "np.power({0}, 2)", "np.float_power({0}, 2)",
          "np.stack([{0} + 0 * k, {1} + 0 * k])[1]", "np.select([m, x > 0.1], [{0}, {1}], 0)", "np.dot({0}, {1}) + k",
          "np.interp(x, k, abs({0}) + 0.0 * k)")
TOTALS = ("{0}.sum()", "np.mean({0})", "np.prod({0})", "np.max({0})", "{0}[0]", "{0}[-1]", "np.dot({0}, {0})",
          "np.sum({0}, dtype=float)", "np.all({0})", "np.any({0})", "{0}[0].real", "np.argmax({0})", "np.std({0})",
          "sum({0})", "np.var({0})", "np.ptp({0})", "np.median({0})", "np.linalg.norm({0})", "np.vdot({0}, {0})",
          "np.count_nonzero({0})", "float({0}[1].real)", "int(abs({0}[1]))", "bool({0}[0])", "complex({0}[2])",
          "round(float(abs({0}[0])))", "len({0})", "{0}[q % n]", "np.trapezoid({0})")
CHANGES = ("{0}[1] = {1}[2]", "{0}[1:] = {1}[:-1]", "{0} += {1}", "{0} *= 2", "{0} -= {1}", "{0} /= 2", "{0} //= 2",
           "{0}[0] += s", "{0}[:] = {1}", "{0}[m] = 1", "{0}[q % n] *= t", "np.add({0}, {1}, out={0})", "{0} **= 2",
           "{0} |= {1}", "{0} %= 3", "{0}.fill(q)", "np.multiply({0}, {1}, out={0}, casting='unsafe')", "{0}[-1] = s",
           "{0}[0] = 300", "np.add.at({0}, [0, 0], 1)", "{0} <<= 1", "{0}[k % 2 == 0] = 0", "np.copyto({0}, {1})",
           "np.copyto({0}, {1}, casting='unsafe')", "{0}.sort()", "{0}[1] = q")
NUMBERS = ("{0} + 1", "{0} * 0.5", "{0} + {1}", "{0} * {1}", "{0} / 3", "{0} // 2", "{0} > {1}", "abs({0})", "-{0}",
           "{0} ** 2", "{0} + 1j * 0", "np.sin({0})", "float({0})", "int({0})", "min({0}, {1})", "max({0}, 1)",
           "not {0}", "{0} and {1}", "{0} or {1}", "np.int64({0})", "np.float32({0})", "{0} % 3", "bool({0})",
           "round(float({0}))", "np.sqrt({0})", "1.5 if {0} else {1}", "{0} - True", "np.exp(-{0} * {0})")
REFUSALS = ("must be an array of real numbers", "take its real part", "not supported for the input types",
            "float16 is unsupported")
# steps of differences that single precision leaves something of
LONG = np.array([0.004, 0.007, 0.01])
# single precision is among the operands, and fad does not round where it need not
SINGLE = 1e-5
TESTS = ("x[0] > 0.1", "s > 0.3", "q > 2", "b", "m[1]", "k[2] == 2", "x.sum() > t", "np.any(m)", "a[1] < 0.4")


class Generator(Blocks):
    """Makes one program from a seed: names of all kinds of numbers, expressions that mix them, and blocks in which
    names become numbers of other kinds."""

    def program(self):
        body = [s for _ in range(self.r.randint(2, 5)) for s in self.statement(0)]
        kept = ", ".join([*self.r.sample(ARRAYS, 3), *self.r.sample(SCALARS, 2)])
        return [*map(Statement, HEAD), *body, Statement(f"return {kept}")]

    def statement(self, depth):
        simple = [self.array, self.array, self.array, self.cast, self.change, self.change, self.number, self.total]
        return [self.r.choice([*simple, *([self.branch, self.loop] if depth < 2 else [])])(depth)]

    def value(self, depth=2):
        """An array expression; scalars are among its leaves."""
        if depth == 0 or self.r.random() < 0.3:
            return self.r.choice(ARRAYS + ARRAYS + SCALARS)
        made = self.r.choice(UNARY + BINARY).format(self.value(depth - 1), self.value(depth - 1))
        return f"({made})"

    def array(self, depth):
        target, value = self.r.choice(ARRAYS), self.value()
        return Statement(f"{target} = {value} + {self.r.choice(['0 * k', '0 * u', 'm', '0.0 * g', 'i'])}")

    def cast(self, depth):
        target, source = self.r.choice(ARRAYS), self.r.choice(ARRAYS)
        return Statement(f"{target} = np.asarray({source}).astype({self.r.choice(DTYPES)})")

    def change(self, depth):
        return Statement(self.r.choice(CHANGES).format(self.r.choice(ARRAYS), self.r.choice(ARRAYS)))

    def number(self, depth):
        target, number = self.r.choice(SCALARS), self.r.choice(NUMBERS)
        return Statement(f"{target} = {number.format(self.r.choice(SCALARS), self.r.choice(SCALARS))}")

    def total(self, depth):
        return Statement(f"{self.r.choice(SCALARS)} = {self.r.choice(TOTALS).format(self.r.choice(ARRAYS))}")

    def branch(self, depth):
        return Statement(f"if {self.r.choice(TESTS)}:", self.block(2, depth + 1),
                         self.block(2, depth + 1) if self.r.random() < 0.4 else [])

    def loop(self, depth):
        head = self.r.choice(["for j in range(3):", "for j in range(n):", "for v in a:", "for v in i:"])
        return Statement(head, self.iteration(2, depth))


def judge_results(f, tier):
    """None, or what is not as NumPy's: a value, a dtype, an error; or a derivative on which the modes disagree."""
    x = judge.POINT[:4].copy()
    want = attempt(f, x)
    if isinstance(want, Exception) and not isinstance(want, (TypeError, ValueError)):
        return None
    with judge.tier(tier, raising=True):
        got = attempt(fad.jit(f), x)
    if isinstance(want, Exception) and isinstance(got, (type(want), FadError)):
        return None
    if isinstance(want, Exception) or isinstance(got, Exception):
        return f"{_named(got)} instead of {_named(want)}"
    joined = _joins(f)
    for place, (p, q) in enumerate(zip(want, got)):
        if problem := _difference(p, q, joined):
            return f"result {place}: {problem}"
    return judge_slopes(f, x, tier)


def attempt(f, x):
    """What f returns, or the exception it raises."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", fad.InternalErrorWarning)
        try:
            return f(x.copy())
        except Exception as error:                           # whatever it is: it is what is compared
            return error


def _named(x):
    return f"{type(x).__name__}: {x}" if isinstance(x, Exception) else "a result"


def _joins(f):
    """Whether a name may be one of two numbers in this program: it has a dtype that holds both."""
    return re.search(r"\b(if|for|min\(|max\(|and|or) ?", inspect.getsource(f)) is not None


def _difference(want, got, joined):
    """What is not the same of two results; a Python number has the dtype that NumPy gives it. joined: a dtype that has
    room for it will do."""
    p, q = np.asarray(want), np.asarray(got)
    is_wider = (np.promote_types(p.dtype, q.dtype) == q.dtype
                or isinstance(want, (int, float, complex))
                and "biufc".index(q.dtype.kind) >= "biufc".index(p.dtype.kind))
    if p.shape != q.shape or p.dtype != q.dtype and not (joined and is_wider):
        return f"{q.dtype}{list(q.shape)} instead of {p.dtype}{list(p.shape)}"
    if q.dtype.kind not in "fc":
        return None if np.array_equal(p, q) else f"{q} instead of {p}"
    off = 0.1 if np.float16 in (p.dtype, q.dtype) else SINGLE
    size = np.max(np.abs(p[np.isfinite(p)]), initial=1.0)
    return None if np.allclose(q, p, rtol=off, atol=off * size, equal_nan=True) else f"{q} instead of {p}"


def judge_slopes(f, x, tier):
    """None, or how reverse mode, forward mode and differences differ on a sum of all that is real and continuous in the
    results."""
    def total(x):
        return sum(np.sum(np.tanh(np.real(y))) for y in f(x) if np.asarray(y).dtype.kind in "fc")
    v = judge.DIRECTION[:4]
    want = attempt(total, x)
    if np.asarray(want).dtype.kind != "f" or not np.isfinite(want):
        return None
    with judge.tier(tier, raising=True):
        reverse, forward = attempt(lambda x: fad.grad(total)(x) @ v,
                                   x), attempt(lambda x: fad.jvp(total, (x,), (v,))[1], x)
    for found in (reverse, forward):
        if isinstance(found, Exception):
            is_refusal = isinstance(found, FadError) or any(text in str(found) for text in REFUSALS)
            return None if is_refusal else f"derivative, {_named(found)}"
    if not np.isfinite(forward) or abs(forward) > 1e4:
        return None
    if abs(reverse - forward) > 1e-3 * (1.0 + abs(forward)):
        return f"reverse: {reverse} instead of {forward}"
    slopes = np.array([(attempt(total, x + h * v) - attempt(total, x - h * v)) / (2.0 * h) for h in LONG])
    is_smooth = np.ptp(slopes) <= 1e-3 * (1.0 + abs(slopes[0]))
    is_off = abs(forward - slopes[0]) > 0.02 * (1.0 + abs(forward))
    return f"slope: {forward} instead of {slopes[0]}" if is_smooth and is_off else None


def report(seed, compile=False):
    """None, or the failure of this seed's program with the program shrunk."""
    # as plain Python the text has Python's integers, whose dtype gives way
    tier = "compiled" if compile or seed % 10 == 0 else "interpreted"
    return judge.shrunk(seed, tier, Generator.of(seed), lambda f: judge_results(f, tier))


if __name__ == "__main__":
    judge.command(report)
