"""Methods that nobody calls keep no function from being compiled, and what those read that run is watched all the
same."""
import ast
import sys
import warnings

import numpy as np
import pytest

import fad
from fad.api.calls import staged_programs
from fad.trace.guards.profiled_calls import Observation

from ..packages import of_file

X = np.array([0.6, -0.4, 1.2])
LARGE = """
import os, pickle, subprocess, sys, time
import numpy as np
RATE = 2.0
TABLE = {"a": 1.0}

class Key:
    "Python hashes and compares it by itself, where a dict is asked."
    def __init__(self, name):
        self.name = name
    def __hash__(self):
        return hash(self.name)
    def __eq__(self, other):
        return isinstance(other, Key) and len(self.name) * RATE == len(other.name) * RATE

class Model:
    def __init__(self, w):
        self._w, self.weights = w, {Key("one"): w, Key("three"): 3.0 * w}
    @property
    def w(self):
        return self._w
    @w.setter
    def w(self, value):
        self._w = value * RATE
    def __getattr__(self, name):
        if name.startswith("of_"):
            return TABLE[name[3:]]
        raise AttributeError(name)
    def __getitem__(self, key):
        return getattr(self, key)
    def save(self, path):
        with open(path, "wb") as f:
            pickle.dump(self, f)
    def draw(self):
        subprocess.run(["plot", str(time.time()), eval("1")], env=os.environ)
        return sys._getframe()

class Noisy(Model):
    def __eq__(self, other):
        return time.time() > 0.0
    def __hash__(self):
        return 1
"""
BODIES = {
    "a setter": "m = M.Model(1.0); m.w = x[0]; return np.sum(x) * m.w",
    "a missing attribute": "m = M.Model(1.0); return np.sum(x) * m.of_a * x[1]",
    "an item": "m = M.Model(1.0); return np.sum(x) * m['of_a'] * m['_w']",
    "a key": "m = M.Model(1.0); return np.sum(x ** 2) * m.weights[M.Key('one')]",
}


@pytest.fixture
def module(tmp_path):
    return of_file(tmp_path, LARGE)


def made(module, body):
    scope = {"M": module, "np": np}
    path = f"{module.__file__}.{abs(hash(body))}.py"
    with open(path, "w") as f:
        f.write(f"def f(x):\n    {body}\n")
    exec(compile(open(path).read(), path, "exec"), scope)
    return scope["f"]


def slope(f):
    return np.array([(f(X + h) - f(X - h)) / 2e-6 for h in 1e-6 * np.eye(3)])


@pytest.mark.parametrize("name", BODIES)
def test_methods_that_do_not_run_are_in_nobodys_way(name, module):
    f = made(module, BODIES[name])
    g = fad.grad(f, fallback=False)
    for change in ("RATE", "TABLE", ""):
        np.testing.assert_allclose(g(X), slope(f), rtol=1e-6, atol=1e-9)
        if change == "RATE":
            module.RATE = 3.0
        elif change == "TABLE":
            module.TABLE["a"] = 5.0


def test_what_runs_and_says_another_thing_each_time_belongs_to_the_tape(module):
    f = made(module, "m = M.Noisy(1.0); return np.sum(x) * {m: 2.0}[M.Noisy(2.0)]")
    with pytest.raises(fad.FadError):
        fad.grad(f, fallback=False)(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fad.FallbackWarning)
        np.testing.assert_allclose(fad.grad(f)(X), slope(f), rtol=1e-6)


def test_another_profiler_is_left_alone(module):
    f = made(module, BODIES["a setter"])
    told: list = []
    sys.setprofile(lambda *event: told.append(event[1]))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", fad.FallbackWarning)
            np.testing.assert_allclose(fad.grad(f)(X), 2.0 * slope(lambda x: np.sum(x) * x[0]), rtol=1e-6)
        assert sys.getprofile() is not None and told
    finally:
        sys.setprofile(None)
    fad.grad(f)(X)
    assert sys.getprofile() is None


def test_what_fad_runs_for_itself_does_not_count():
    seen = Observation()
    sys.setprofile(seen.note)
    try:
        fad.source(fad.grad(lambda x: np.sum(x)), X)
        len(X)
    finally:
        sys.setprofile(None)
    assert seen.may_have_run(len) and not seen.may_have_run(slope)
    assert not seen.may_have_run(ast.parse)


@pytest.mark.parametrize("name", BODIES)
def test_the_profiler_rests_while_fad_decides(name, module, monkeypatch):
    f, noted, note = made(module, BODIES[name]), [], Observation.note

    def counted(self, frame, event, given):
        noted.append((event, frame.f_code.co_name))
        note(self, frame, event, given)
    monkeypatch.setattr(Observation, "note", counted)
    traces, trace = [], staged_programs.trace
    monkeypatch.setattr(staged_programs, "trace", lambda *a, **k: (traces.append(f), trace(*a, **k))[1])
    fad.grad(f, fallback=False)(X)
    assert noted and len(traces) == 2                         # one that is refused, one that is observed
    assert {"reach", "rewritten_code", "guard_all", "_rewrite", "_walk"}.isdisjoint(name for _, name in noted)
    assert sys.getprofile() is None
