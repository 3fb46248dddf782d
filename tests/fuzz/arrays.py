"""Random straight-line programs on arrays of several axes: elementwise, broadcast, reduced, contracted, sliced,
gathered, written to.

One axis is long, so that what the compiler does with many independent points (passes over them, blocks, lanes) is tried
in many orders, with layouts in which the long axis comes first, last and between. A value is a name and the letters of
its axes. `python -m tests.fuzz.arrays [COUNT] [FIRST]` tries COUNT programs from seed FIRST.
"""
import random
import sys
import warnings

import numpy as np

import fad

from ..texts import executed
from .judge import tier

EXTENTS = {"n": 135, "k": 3, "d": 2}
INPUTS = {"X": "nd", "A": "kd", "W": "kdd", "b": "k", "y": "n", "Z": "kn"}
UNARY = ("np.sin({0})", "np.tanh({0})", "np.exp(-{0} * {0})", "np.sqrt(1.0 + {0} ** 2)", "np.log1p({0} ** 2)",
         "np.abs({0})", "0.5 * {0}", "-{0}", "np.where({0} > 0.1, {0}, 0.3 * {0})", "np.maximum({0}, 0.2)", "{0} * 1.0",
         "np.clip({0}, -0.4, 0.4)", "np.maximum({0}, 1.0 * {0})", "np.sign({0}) * {0}", "({0} + 1e6) - 1e6",
         "{0} % 0.7", "np.where({0} == np.round({0}, 1), 0.0, {0})", "np.floor({0} * 3.0) * {0}")
BINARY = ("{0} + {1}", "{0} - {1}", "{0} * {1}", "{0} / (2.0 + {1} ** 2)", "np.logaddexp({0}, {1})",
          "np.maximum({0}, {1})", "np.hypot({0}, 1.0 + {1} ** 2)",
          "np.minimum(np.maximum({0}, {1}), {1})", "np.where({0} <= {1}, {1}, {0})", "np.fmax({0}, {1}) - {1}",
          "np.copysign({0}, {1})")
REDUCTIONS = ("np.sum({0}, axis={1})", "np.mean({0}, axis={1})", "np.max({0}, axis={1})", "np.min({0}, axis={1})",
              "np.prod(np.tanh({0}), axis={1})",
              "np.log(np.sum(np.exp(np.tanh({0})), axis={1}))", "np.var({0}, axis={1})")
ORDER = np.random.default_rng(3).permutation(EXTENTS["n"])


class Generator:
    """Makes one program from a seed."""

    def __init__(self, seed, size=14):
        self.r, self.size, self.lines = random.Random(seed), size, []
        self.values = [("X", "nd"), ("A", "kd"), ("b", "k"), ("y", "n"), ("Z", "kn")]

    def program(self, loop=False):
        """The text of f; with loop, its statements run three times, on what the iteration before made of the inputs."""
        makers = (self.unary, self.binary, self.binary, self.reduction, self.contraction, self.scan, self.part,
                  self.write, self.filled, self.total)
        while len(self.lines) < self.size:
            self.r.choice(makers)()
        results = " + ".join(f"np.mean(np.tanh({name}))" for name, _ in self.values)
        lines = (["for iteration in range(3):", *[f"    {line}" for line in [*self.lines, *self.carried()]]]
                 if loop else self.lines)
        return "\n    ".join([f"def f({', '.join(INPUTS)}):", *lines, f"return {results}"]) + "\n"

    def carried(self):
        """What an iteration hands on: an input and a late value with the same axes."""
        for name, letters in INPUTS.items():
            alike = [v for v, found in self.values[len(INPUTS) - 1:] if found == letters]
            if alike:
                yield f"{name} = np.tanh(0.5 * {name} + {self.r.choice(alike)})"

    def pick(self, need=""):
        """A value, a late one rather than an early one."""
        late = [v for v in self.values if set(need) <= set(v[1])]
        return late[max(self.r.randrange(len(late)), self.r.randrange(len(late)))]

    def make(self, text, letters):
        self.values.append((f"v{len(self.lines)}", letters))
        self.lines.append(f"v{len(self.lines)} = {text}")

    def unary(self):
        name, letters = self.pick()
        self.make(self.r.choice(UNARY).format(name), letters)

    def binary(self):
        a, b = self.pick(), self.pick()
        letters = list(dict.fromkeys(a[1] + b[1]))
        if self.r.random() < 0.5:
            self.r.shuffle(letters)
        self.make(self.r.choice(BINARY).format(*(stretched(*v, letters) for v in (a, b))), "".join(letters))

    def reduction(self):
        name, letters = self.pick()
        if letters:
            axis = self.r.randrange(len(letters))
            self.make(self.r.choice(REDUCTIONS).format(name, axis), letters[:axis] + letters[axis + 1:])

    def contraction(self):
        operands = [self.pick(), self.pick()] if self.r.random() < 0.7 else [("W", "kde"), self.pick("d")]
        names, letters = zip(*operands)
        union = sorted(set("".join(letters)))
        out = self.r.sample(union, self.r.randint(0, min(3, len(union))))
        text = f"np.einsum('{','.join(letters)}->{''.join(out)}', {', '.join(names)})"
        if "e" in out:
            out[out.index("e")] = "d" if "d" not in out else "e"
        if "e" not in out:
            self.make(f"{text} / {float(np.prod([EXTENTS.get(c, 2) for c in union if c not in out]))}", "".join(out))

    def scan(self):
        name, letters = self.pick()
        if letters:
            self.make(f"np.cumsum({name}, axis={self.r.randrange(len(letters))}) * 0.1", letters)

    def part(self):
        name, letters = self.pick("n")
        at = letters.index("n")
        self.make(f"{name}[{':, ' * at}{self.r.choice(('::-1', 'ORDER'))}]", letters)
        if len(letters) > at + 1:
            self.make(f"{name}[{':, ' * (at + 1)}{self.r.randint(-2, 1)}]", letters[:at + 1] + letters[at + 2:])

    def write(self):
        name, letters = self.pick()
        if letters:
            k = len(self.lines)
            entry = self.r.choice(("0", "1:", "-1", ":1"))
            self.make(f"{name}.copy()", letters)
            self.lines.append(f"v{k}[{entry}] {self.r.choice(('=', '+='))} {name}[{entry}] * 0.7")

    def filled(self):
        """An array that starts as one number, with columns written to."""
        name, letters = self.pick()
        if letters:
            k = len(self.lines)
            self.make(f"np.full({name}.shape, {self.r.choice(('0.0', '0.3'))})", letters)
            for _ in range(self.r.randint(1, 3)):
                entry = self.r.choice(("..., 0", "..., -1", "..., 1:", "0", "..."))
                sign, factor = self.r.choice(("=", "+=", "+=", "*=")), self.r.choice(("0.7", "1.3"))
                self.lines.append(f"v{k}[{entry}] {sign} {name}[{entry}] * {factor}")

    def total(self):
        name, _ = self.pick()
        self.make(f"np.mean({name})", "")


def stretched(name, letters, wanted):
    """A value with its axes in the order wanted, and new axes where it has none."""
    order = [letters.index(c) for c in wanted if c in letters]
    text = name if order == sorted(order) else f"np.transpose({name}, {tuple(order)})"
    return f"{text}[{', '.join(':' if c in letters else 'None' for c in wanted)}]" if len(order) < len(wanted) else text


def compiled_function(text):
    return executed(text, {"np": np, "ORDER": ORDER, "__name__": "arrays"})["f"]


def arguments(seed):
    rng = np.random.default_rng(seed)
    return [rng.standard_normal([EXTENTS[c] for c in letters]) for letters in INPUTS.values()]


def derivatives(text, args, second):
    """Value and gradient; with second, the gradient's derivative along a direction, too."""
    f, every = compiled_function(text), tuple(range(len(args)))
    if second:
        return fad.jvp(fad.grad(f, every), tuple(args), tuple([np.sin(3 * a) for a in args]))
    return fad.value_and_grad(f, every)(*args)


def judge(text, seed, tiers, second):
    """None if the tiers agree with the interpreter, else what does not."""
    args = arguments(seed)
    with tier("interpreted"), np.errstate(all="ignore"), warnings.catch_warnings():
        wanted = fad.ravel(derivatives(text, args, second))[0]
    if not np.all(np.isfinite(wanted)) or np.max(np.abs(wanted)) > 1e8:
        return None
    for name in tiers:
        with tier(name):
            got = fad.ravel(derivatives(text, args, second))[0]
        error = np.max(np.abs(got - wanted)) / (1.0 + np.max(np.abs(wanted)))
        if not error <= 1e-9:
            return f"{name}: off by {error:.1e}"
    return None


def report(seed, compile=False):
    """None, or the failure of this seed's program."""
    text = Generator(seed, 8 if seed % 4 == 3 else 14).program(loop=seed % 4 == 3)
    try:
        problem = judge(text, seed, ("text", "compiled") if compile else ("text",), second=seed % 3 == 2)
    except Exception as error:
        problem = f"{type(error).__name__}: {error}"
    return None if problem is None else f"seed {seed}: {problem}\n{text}"


def main(count=100, first=0):
    """Try many programs; the number of failures."""
    failures = [found for seed in range(first, first + count) if (found := report(seed, compile=seed % 25 == 0))]
    print(*failures, f"{count} programs, {len(failures)} failures", sep="\n")
    return len(failures)


if __name__ == "__main__":
    sys.exit(bool(main(*map(int, sys.argv[1:]))))
