"""A defect of fad's own is never taken for an answer ("these differ", "this is no region"): the numbers are right, and
a warning says so."""
import importlib
import warnings

import numpy as np
import pytest

import fad
from fad.util.defects import call_library, ignore_expected, is_defect
from fad.util.errors import CheckError, FallbackWarning, InternalErrorWarning

X = np.array([1.0, 2.0, 3.0])


class Failing:
    """In place of an op or a module of fad's, of which the check of the IR says that something is wrong."""

    def __getattr__(self, name):
        raise CheckError("planted")


def named_twice(x):
    t = 1 if x[0] > 0 else 2.5
    return (x * t).sum()


def filled(x):
    out = []
    for v in x:
        out.append(v * v)
    return sum(out)


def filled_with_sines(x):
    out = []
    for v in x:
        out.append(np.sin(v))
    return sum(out)


def statics_in_branches(x):
    kept = (range(3), 1.0) if x[0] > 0 else (range(3), 2.0)
    return x.sum() * kept[1]


class Counter:
    def __init__(self):
        self.calls = 0

    def __call__(self, x):
        self.calls += 1
        return x.sum() * self.calls


def counted(x):
    o = Counter()
    g = fad.jit(o)
    return [g(x) for _ in range(4)]


def counted_in_python(x):
    o = Counter()
    return [o(x) for _ in range(4)]


RNG = np.random.default_rng(0)


def drawn(x):
    return 0.0 * RNG.normal(size=len(x)).sum() + x.sum()


TABLE = {"a": [1.0, 2.0]}


def read(x):
    return sum(TABLE["a"]) * x.sum()


def read_twice(x):
    g = fad.jit(read)
    g(x)
    TABLE["a"][:] = map(float, "12")
    return g(x)


def written_to(x):
    y = np.reshape(x * 2.0, (3, 1))
    y[0] = 1.0
    return y.sum()


def made_anew(x):
    return [fad.jit(lambda x, k=k: x.sum() * k)(x) for k in (1.0, 2.0)]


def made_anew_in_python(x):
    return [x.sum() * k for k in (1.0, 2.0)]


def compiled(f):
    return lambda x: fad.jit(f)(x)


def failing_after(calls):
    """A function that fails after so many calls of the one in whose place it is, as code of fad's: a key is missing."""
    scope = {"left": list(range(calls))}
    text = "def planted(meant):\n    return lambda *args: meant(*args) if left and [left.pop()] else {}['no such key']"
    exec(compile(text, fad.__file__, "exec"), scope)
    return scope["planted"]


# module, name in it, what it is now, what runs, what Python says, what the warning says
PLANTED = [
    ("regions.joins", "is_same_program", failing_after(0), compiled(named_twice), named_twice,
     "taken to make a difference"),
    ("regions.roll", "FOR.run_regions", failing_after(0), compiled(filled), filled, "a loop is not one region"),
    ("regions.roll", "FOR", lambda _: Failing(), compiled(filled_with_sines), filled_with_sines,
     "a loop is not one region"),
    ("heap.state", "call_library", failing_after(0), compiled(statics_in_branches), statics_in_branches,
     "count as different ones"),
    ("values.standin", "_flat", failing_after(0), compiled(written_to), written_to,
     "what NumPy's function returns is not known"),
    ("heap.lifting", "KindGuard", failing_after(0), counted, counted_in_python, "no input of its program"),
    ("heap.lifting", "Location.read", failing_after(0), counted, counted_in_python, "no input of its program"),
    ("heap.operands", "Operands.trial", failing_after(1), compiled(drawn), drawn, "for one size"),
    ("guards.guard", "ItemGuard.now", failing_after(0), read_twice, read, "traced anew"),
    ("guards.snapshot", "is_same", failing_after(0), read_twice, read, "traced anew"),
]


@pytest.mark.parametrize("module, name, planted, run, meant, told", PLANTED, ids=[f"{p[0]} {p[1]}" for p in PLANTED])
def test_what_a_defect_brings_about_is_told(monkeypatch, module, name, planted, run, meant, told):
    *owner, last = name.split(".")
    inside = importlib.import_module(f"fad.trace.{module}")
    for part in owner:
        inside = getattr(inside, part)
    monkeypatch.setattr(inside, last, planted(getattr(inside, last)))
    for known in ("_answers", "_kinds"):                      # what other tests have found, and what this one spoils
        monkeypatch.setattr(importlib.import_module("fad.trace.values.standin"), known, {})
    with pytest.warns(InternalErrorWarning, match=told), warnings.catch_warnings(), fad.config.using(compile="never"):
        warnings.simplefilter("ignore", FallbackWarning)
        np.testing.assert_allclose(run(X), meant(X))


def test_a_defect_of_sharing_is_told(monkeypatch):
    monkeypatch.setattr(importlib.import_module("fad.api.calls.shared_programs").Sharing, "serve", None)
    with pytest.warns(InternalErrorWarning, match="share no program"), fad.config.using(compile="never"):
        np.testing.assert_allclose(made_anew(X), made_anew_in_python(X))


def test_a_defect_where_a_call_leaves_its_state_is_told(monkeypatch):
    monkeypatch.setattr(importlib.import_module("fad.api.calls.fallback"), "settle", None)

    def f(x):
        kept = dict.fromkeys((1, 2, 3), 1.0)
        return kept[int(x[0])] * {}["no such key"]
    with pytest.warns(InternalErrorWarning, match="leaves outside is put back"), pytest.raises(KeyError):
        fad.grad(f)(X)


@pytest.mark.parametrize("call, args", [(np.linalg.cholesky, (-np.eye(2),)), (bool, (X,)), ({}.__getitem__, ("k",))])
def test_what_a_library_says_is_an_answer(call, args):
    with pytest.raises((ArithmeticError, LookupError, ValueError)) as seen:
        call_library(call, *args)
    assert not is_defect(seen.value)
    ignore_expected(seen.value, "")


@pytest.mark.parametrize("error", [KeyboardInterrupt(), MemoryError(), InternalErrorWarning("told before")])
def test_what_is_no_answer_is_raised_again(error):
    with pytest.raises(type(error)):
        ignore_expected(error, "")
