"""What a text repeats becomes a function that is called: the numbers stay the same to the last bit, whatever is
repeated."""
import random
import re
import subprocess
import sys

import numpy as np
import pytest

import fad
from fad.backend.running import cache
from fad.backend.text import outline
from fad.backend.text.aliasing import sharing_groups
from fad.backend.text.outline import OutlinedFunction, outlined, text_of
from fad.passes.pipeline import optimise

from .programs import PROGRAMS, garch, heat, seidel
from .support import check, python_function
from .test_programs import both


@pytest.fixture
def eager(monkeypatch):
    """Anything that is repeated becomes a function."""
    monkeypatch.setattr(outline, "LEAST", 1)
    monkeypatch.setattr(outline, "SMALL", 1)
    monkeypatch.setattr(outline, "WORTH", 0)
    monkeypatch.setattr(outline, "WORTH_IN_A_LOOP", 0)


class Author:
    """Writes random texts of the forms that the printer has, in which parts are repeated under other names."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.parts = [[self.statement(2) for _ in range(self.random.randrange(1, 5))] for _ in range(2)]

    def scalar(self):
        return f"<s{self.random.randrange(4)}>"

    def array(self):
        return f"<a{self.random.randrange(3)}>"

    def value(self):
        choices = (self.scalar(), f"{self.array()}[{self.random.randrange(3)}]", f"{self.random.randrange(1, 9)}.0")
        return f"{self.random.choice(choices)} {self.random.choice('+-*')} 0.5 * {self.random.choice(choices)}"

    def statement(self, depth):
        """Lines of one statement; names in angle brackets are replaced."""
        kind = self.random.choice(("set", "set", "add", "put", "swap", "new", "for", "if", "while")
                                  if depth else ("set", "add", "put", "swap", "new"))
        if kind == "set":
            return [f"{self.scalar()} = {self.value()}"]
        if kind == "add":
            return [f"{self.scalar()} += {self.value()}"]
        if kind == "put":
            target, sign = f"{self.array()}[{self.random.randrange(3)}]", self.random.choice(("", "+"))
            return [f"{target} {sign}= {self.value()}  # the user's line"]
        if kind == "swap":
            x, y = self.random.sample(range(3), 2)
            return [f"<a{x}>, <a{y}> = <a{y}>, <a{x}>"]
        if kind == "new":
            return [f"{self.array()} = {self.random.choice((f'{self.array()}.copy()', 'np.zeros(3)'))}"]
        body = ["    " + line for _ in range(self.random.randrange(1, 3)) for line in self.statement(depth - 1)]
        if kind == "for":
            return ["for i in range(<n>):", *[line.replace("[0]", "[i]") for line in body]]
        if kind == "while":
            return ["<k> = 0", "while True:", *body, "    if not <k> < <n>:", "        break", "    <k> = <k> + 1"]
        other = ["else:", *["    " + line for line in self.statement(depth - 1)]] if self.random.random() < 0.5 else []
        return [f"if {self.scalar()} < {self.random.randrange(9)}.0:", *body, *other]

    def named(self, lines):
        """The lines under names of variables that are all defined."""
        scalars, arrays = self.random.sample("pqrstu", 4), self.random.sample("xyzw", 3)
        for kind, names in (("s", scalars), ("a", arrays), ("n", ["n"]), ("k", [self.random.choice("kl")])):
            for k, name in enumerate(names):
                lines = [line.replace(f"<{kind}{k if kind in 'sa' else ''}>", name) for line in lines]
        return lines

    def body(self):
        lines = [f"{name} = {k}.0" for k, name in enumerate("pqrstu")] + [f"{name} = np.ones(3)" for name in "zw"]
        for _ in range(self.random.randrange(4, 9)):
            part = self.random.choice(self.parts) if self.random.random() < 0.8 else [self.statement(2)]
            lines += self.named([line for s in part for line in s])
        return ["    " + line for line in [*lines, "return p, q, r, s, t, u, x, y, z, w"]]


def module(functions):
    texts = ["\n".join(text_of(f) if f.calls else [f"def kernel({', '.join(f.parameters)}):", *f.lines])
             for f in functions]
    return "\n".join(["import numpy as np", "from fad.kernels.helpers import helper", *texts]) + "\n"


def run(functions):
    with np.errstate(all="ignore"):
        return python_function(module(functions))(np.arange(3.0), np.arange(3.0) + 1, 3)


@pytest.mark.parametrize("seed", range(300))
def test_random_texts_mean_the_same(seed, eager):
    main = OutlinedFunction("kernel", ["x", "y", "n"], Author(seed).body())
    functions = outlined(main, {"kernel"})
    for got, wanted in zip(run(functions), run([main])):
        np.testing.assert_array_equal(got, wanted, err_msg=module(functions))


def test_random_texts_are_outlined(eager):
    """The test above is one of outlining: most of its texts call functions."""
    found = [len(outlined(OutlinedFunction("kernel", ["x", "y", "n"], Author(seed).body()), {"kernel"}))
             for seed in range(100)]
    assert sum(n > 1 for n in found) > 50 and max(found) > 2


@pytest.mark.parametrize("seed", range(4))
def test_random_texts_compile_to_the_same(seed, eager):
    main = OutlinedFunction("kernel", ["x", "y", "n"], Author(seed).body())
    text = module(outlined(main, {"kernel"}))
    got = cache.load(text, "kernel", None)(np.arange(3.0), np.arange(3.0) + 1, 3)
    for y, z in zip(got, run([main])):
        np.testing.assert_allclose(y, z, rtol=1e-12, err_msg=text)


@pytest.mark.parametrize("f, args", [(f, args) for f, *args in PROGRAMS], ids=[p[0].__name__ for p in PROGRAMS])
def test_programs_mean_the_same(f, args, eager):
    for func, values, guards in both(f, args):
        check(optimise(func), values, guards, jit=f in (garch, heat, seidel))


# -- a model that calls a helper many times --------------------------------------------------------


def forward(pi, A, B, text):
    a = pi * B[:, text[0]]
    total = 0.0
    for t in range(1, text.size):
        s = a.sum()
        total += np.log(s)
        a = (a / s) @ A * B[:, text[t]]
    return total + np.log(a.sum())


def likelihood(pi, A, B, texts):
    return sum(forward(pi, A, B, text) for text in texts)


def model(count):
    rng = np.random.default_rng(0)
    texts = [rng.integers(0, 6, 5 + k) for k in range(count)]
    return rng.uniform(0.1, 1, 4), rng.uniform(0.1, 1, (4, 4)), rng.uniform(0.1, 1, (4, 6)), texts


@pytest.fixture(scope="module")
def gradient():
    """The gradient of the model, compiled once for the tests that call it."""
    return fad.grad(likelihood, (0, 1, 2), compile="now")


def test_equal_calls_share_their_code(gradient):
    args = model(12)
    text = fad.source(gradient, *args)
    calls = [int(n) for n in re.findall(r'"""Called at (\d+) places."""', text)]
    assert len(calls) >= 2 and max(calls) > 9
    assert text.count("forward_part(") in [n + 1 for n in calls]
    wanted = fad.grad(likelihood, (0, 1, 2), compile="never")(*args)
    for y, z in zip(gradient(*args), wanted):
        np.testing.assert_allclose(y, z, rtol=1e-10)


def test_an_exported_module_has_the_functions(tmp_path):
    args, gradient = model(12), fad.grad(likelihood, (0, 1, 2), compile="never")
    path = fad.export(gradient, *args, path=tmp_path / "exported.py", name="slope")
    assert "@numba.njit" in path.read_text() and "@helper" not in path.read_text()
    code = f"import sys; sys.modules['fad'] = None; sys.path.insert(0, {str(tmp_path)!r}); import exported"
    subprocess.run([sys.executable, "-c", code], check=True)
    scope = {"__name__": "exported"}
    exec(compile(path.read_text(), str(path), "exec"), scope)
    for y, z in zip(scope["slope"](*args[:3], *args[3]), gradient(*args)):
        np.testing.assert_allclose(y, z, rtol=1e-10)


def test_more_calls_add_few_lines():
    """Not the loops of another text, forward and reverse, but their calls."""
    eight, sixteen = (fad.source(fad.grad(likelihood, (0, 1, 2)), *model(n)).count("\n") for n in (8, 16))
    assert sixteen - eight < 8 * 35


def test_small_programs_stay_whole():
    assert "helper" not in fad.source(fad.grad(likelihood, (0, 1, 2)), *model(2))


def test_what_fails_in_a_function_is_raised(gradient):
    pi, A, B, texts = model(12)
    gradient(pi, A, B, texts)
    texts[7][2] = 99
    with pytest.raises(IndexError, match="out of range"):
        gradient(pi, A, B, texts)


# -- which arrays share memory ---------------------------------------------------------------------


@pytest.mark.parametrize("line, shared", [
    ("v = u", True), ("v = u[1:]", True), ("v = u.reshape(n)", True), ("v = (u if c else w)", True),
    ("v = flipped(u)", True), ("v, s = parts(u)", True), ("v = u.copy()", False), ("v = np.dot(u, w)", False),
    ("w = v.reshape((u.shape[0], n))", False), ("v = np.empty(u.shape[0])", False), ("v, u = u, v", False),
    ("s = u[0] * v[0]", False), ("s = u[0]", False)])
def test_groups_of_arrays(line, shared):
    found = sharing_groups(["u = np.empty(n)", "v = np.empty(n)", line, "v[0] = u[0] + s"], ["n", "c", "w", "s"])
    assert (found["u"] == found["v"]) is shared


def test_arrays_that_may_be_one_are_named():
    lines = ["u = np.empty(n)", "v = u[1:]", "w = np.empty(n)", "z = np.empty(n)"]
    for a, b in (("u", "v"), ("w", "z"), ("z", "w")):
        lines += ["for i in range(n):", *[f"    {a}[i] = {b}[i] + {k}.0" for k in range(200)]]
    functions = outlined(OutlinedFunction("f", ["n"], ["    " + line for line in [*lines, "return u, w, z"]]), {"f"})
    assert [f.may_share for f in functions if f.calls] == [("u", "v")]
    assert "@helper('u', 'v')" in module(functions)


def test_the_place_of_the_smallest_element_leaves_a_function():
    """It is bound in a condition, so the function takes it, too."""
    def f(x):
        n = x.shape[0]
        A = np.outer(np.sin(3.0 * x), np.cos(2.0 * x)) + 0.3 * np.eye(n)
        last = 0
        for _ in range(2):
            for k in range(n - 1):
                p = k + np.argmin(A[k:, 0]) - 1
                A[:, k] *= 0.95
                A[[k, p]] = A[[p, k]]
                for i in range(n - 1, k, -1):
                    for j in range(k, n):
                        A[i, j] -= 0.1 * A[i, k] * A[last, j]
                    last = k
                last = p
        return np.sum(np.sin(A) * A)
    x = np.linspace(0.2, 1.0, 5)
    slope = fad.jit(lambda x, v: fad.jvp(f, (x,), (v,))[1], compile="now")(x, np.ones(5))
    assert slope == pytest.approx((f(x + 1e-6) - f(x - 1e-6)) / 2e-6, rel=1e-7)
