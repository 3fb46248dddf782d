"""What it takes to compile programs that call one function many times: `python -m tests.bench.many_calls`.

Each program is compiled as it is and with equal statements outlined (backend/text/outline.py), in processor seconds,
and timed in turn.
"""
import re
import time

import numpy as np

import fad
from fad.backend.running import cache
from fad.backend.text import outline
from fad.util.tree import flatten

from .timing import medians


def forward(log_pi, log_A, log_B, text):
    """The forward algorithm of a hidden Markov model, in logarithms."""
    a = log_pi + log_B[:, text[0]]
    for t in range(1, text.size):
        new = np.zeros(a.size)
        for j in range(a.size):
            top = np.max(a + log_A[:, j])
            new[j] = top + np.log(np.sum(np.exp(a + log_A[:, j] - top))) + log_B[j, text[t]]
        a = new
    top = np.max(a)
    return top + np.log(np.sum(np.exp(a - top)))


def log_likelihood(w, texts):
    log_pi, log_A, log_B = (v - np.log(np.sum(np.exp(v), axis=-1, keepdims=True)) for v in (w["pi"], w["A"], w["B"]))
    return sum(forward(log_pi, log_A, log_B, text) for text in texts)


def kinetics(species, reactions):
    """The right-hand side of a network of reactions, written out line by line, as a program of chemists is."""
    rng = np.random.default_rng(1)
    lines, terms = ["def rhs(k, y):"], [[] for _ in range(species)]
    for j in range(reactions):
        a, b, c = rng.integers(0, species, 3)
        lines.append(f"    r{j} = k[{j}] * y[{a}] " + (f"* y[{b}]" if j % 2 else f"/ (1.0 + y[{b}])"))
        terms[a].append(f"- r{j}")
        terms[c].append(f"+ r{j}")
    lines.append("    return np.array([" + ", ".join(" ".join(t) or "0.0 * y[0]" for t in terms) + "])")
    scope = {"np": np}
    exec("\n".join(lines), scope)
    return scope["rhs"]


def integrated(rhs):
    def loss(k, y, n, h):
        for _ in range(n):
            k1 = rhs(k, y)
            k2 = rhs(k, y + h / 2 * k1)
            k3 = rhs(k, y + h / 2 * k2)
            k4 = rhs(k, y + h * k3)
            y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        return np.sum(y * y)
    return loss


def layer(p, x):
    """A layer of attention with one head, and a small network behind it."""
    s = (x @ p["q"]) @ (x @ p["k"]).T / np.sqrt(x.shape[1])
    s = np.exp(s - np.max(s, axis=1, keepdims=True))
    x = x + (s / np.sum(s, axis=1, keepdims=True)) @ (x @ p["v"])
    return x + np.maximum(x @ p["w"], 0.0) @ p["w"].T


def transformer(params, x):
    for p in params:
        x = layer(p, x)
    return np.mean(x * x)


def markov(count):
    rng = np.random.default_rng(0)
    texts = [rng.integers(0, 27, 20 + k) for k in range(count)]
    return log_likelihood, ({"pi": rng.normal(size=5), "A": rng.normal(size=(5, 5)), "B": rng.normal(size=(5, 27))},
                            texts)


def attention(count):
    rng = np.random.default_rng(0)
    shapes = {"q": (48, 48), "k": (48, 48), "v": (48, 48), "w": (48, 96)}
    return transformer, ([{n: rng.normal(size=s) / 8 for n, s in shapes.items()} for _ in range(count)],
                         rng.normal(size=(32, 48)))


def reactions(species, count):
    rng = np.random.default_rng(0)
    return integrated(kinetics(species,
                               count)), (rng.uniform(0.5, 1.5, count), rng.uniform(0.5, 1.5, species), 200, 0.001)


CASES = {"HMM, 4 texts": (markov, 4), "HMM, 16 texts": (markov, 16), "HMM, 60 texts": (markov, 60),
         "attention, 2 layers": (attention, 2),
         "attention, 8 layers": (attention, 8), "kinetics, 60 reactions": (reactions, 20, 60)}


def compiled(case, whole):
    """The compiled value and gradient, the processor seconds that compilation took, and the lines of the text."""
    make, *sizes = CASES[case]
    f, args = make(*sizes)
    least, outline.LEAST = outline.LEAST, 10**9 if whole else outline.LEAST
    try:
        text = fad.source(fad.value_and_grad(f), *args)
    finally:
        outline.LEAST = least
    kernel = cache.load(text, re.findall(r"^def (\w+)", text, re.MULTILINE)[-1], None)
    leaves = [x for x in flatten(args)[0] if not isinstance(x, int)]     # an int is part of the program
    start = time.process_time()
    kernel(*leaves)
    return (lambda: kernel(*leaves)), time.process_time() - start, text.count("\n")


def main():
    print(f"{'program':26}{'lines':>8}{'outlined':>10}{'compile s':>11}{'outlined':>10}{'call us':>10}{'outlined':>10}")
    for case in CASES:
        (g, first, lines), (h, second, fewer) = compiled(case, True), compiled(case, False)
        one, other = medians([g, h])
        print(f"{case:26}{lines:8}{fewer:10}{first:11.2f}{second:10.2f}{one * 1e6:10.0f}{other * 1e6:10.0f}",
              flush=True)


if __name__ == "__main__":
    main()
