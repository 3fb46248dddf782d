"""What a function can change outside itself is found in few steps, whatever runs around it; where there is too much of it, the tape runs."""
import ast
import logging
from importlib import import_module

import numpy as np
import pytest

import fad
from fad.trace.containers import MOST
from fad.trace.guards.bytecode import global_names, names_of_tools, names_used
from fad.trace.guards.reads import Reads
from fad.trace.outside import Outside
from fad.util.errors import UnstageableError

X = np.array([0.3, 0.7])
SEEN = []
log = logging.getLogger(__name__)


def asserts(x):
    assert np.sum(x) > 0, f"{x} is not positive"
    SEEN.append(1)
    return np.sum(x ** 2)


def asserts_within(x):
    def positive(y):
        assert (y > 0).all() and len(SEEN) >= 0
        return y
    return np.sum(positive(x) ** 2)


def logs(x):
    log.debug("step %s", 1)
    return np.sum(x ** 2)


def visited(monkeypatch, f):
    """How many things are looked at to know what f can change."""
    found, note = [], Outside._note
    monkeypatch.setattr(Outside, "_note", lambda self, x: found.append(x) or note(self, x))
    Outside(f)
    return len(found)


# pytest rewrites the assertions of this file: they name objects of pytest's, from which all tests of a session can be reached
@pytest.mark.parametrize(("f", "most"), [(asserts, 20), (asserts_within, 20), (logs, 3000)], ids=lambda x: getattr(x, "__name__", x))
def test_little_is_looked_at(monkeypatch, f, most):
    assert visited(monkeypatch, f) <= most


@pytest.mark.parametrize("f", [asserts, asserts_within])
def test_what_a_tool_writes_into_code_is_not_read_by_it(f):
    assert names_of_tools(f.__code__)
    assert not [name for name in names_used(f.__code__) | global_names(f.__code__) if "@" in name]
    reads = Reads()
    reads.add(f)
    assert not reads.unknown and len(reads.snapshot.nodes) < 100


def test_what_a_tool_writes_into_code_runs_where_the_text_is_not_at_hand():
    tree = ast.parse("def f(x):\n    tool('called')\n    return x[0] * x[1]")
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id == "tool":
            node.id = "@tool"
    calls = []
    scope = {"@tool": calls.append}
    exec(compile(tree, "<made>", "exec"), scope)              # noqa: S102 - as an import hook does
    assert np.isclose(fad.jit(scope["f"])(X), 0.21)
    assert np.allclose(fad.grad(scope["f"])(X), [0.7, 0.3])
    assert set(calls) == {"called"}


def test_the_tape_runs_where_there_is_too_much_to_put_back(monkeypatch):
    for module in ("outside", "capture"):
        monkeypatch.setattr(import_module(f"fad.trace.{module}"), "MOST", 1000)
    many = [[1.0] for _ in range(1001)]

    def f(x):
        return x[0] * x[1] * many[-1][0]
    with pytest.raises(UnstageableError, match="can reach more than 1,000"):
        fad.jit(f, fallback=False)(X)
    slope = fad.grad(f)
    with pytest.warns(fad.FallbackWarning, match="step by step"):
        assert np.allclose(slope(X), [0.7, 0.3])
    many[-1][0] = 2.0
    assert np.allclose(slope(X), [1.4, 0.6])


def test_the_tape_has_no_limit_of_containers(monkeypatch):
    monkeypatch.setattr(import_module("fad.trace.outside"), "MOST", 1000)
    many = [[1.0] for _ in range(MOST + 1)]
    with pytest.warns(fad.FallbackWarning, match="step by step"):
        assert fad.jit(lambda x: x[0] * many[-1][0])(X) == 0.3
