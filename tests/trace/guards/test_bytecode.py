"""What a tool writes into code (pytest, where a test asserts) is no part of what the code reads."""
import ast

import numpy as np
import pytest

import fad
from fad.trace.guards.bytecode import global_names, names_of_tools, names_used, runs_texts
from fad.trace.guards.reads import Reads

X = np.array([0.3, 0.7])
SEEN = []


def asserts(x):
    assert np.sum(x) > 0, f"{x} is not positive"
    SEEN.append(1)
    return np.sum(x ** 2)


def asserts_within(x):
    def positive(y):
        assert (y > 0).all() and len(SEEN) >= 0
        return y
    return np.sum(positive(x) ** 2)


# pytest rewrites the assertions of this file: they name objects of pytest's, from which all tests of a session can be
# reached
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
    exec(compile(tree, "<made>", "exec"), scope)              # as an import hook does
    assert np.isclose(fad.jit(scope["f"])(X), 0.21)
    assert np.allclose(fad.grad(scope["f"])(X), [0.7, 0.3])
    assert set(calls) == {"called"}


class Node:
    """An expression, whose method has the name of a function of Python's."""

    def __init__(self, left, right, op):
        self.left, self.right, self.op = left, right, op

    def eval(self):
        left, right = (x.eval() if isinstance(x, Node) else x for x in (self.left, self.right))
        return {"*": lambda: left * right, "/": lambda: left / right, "+": lambda: left + right}[self.op]()


def test_a_method_called_eval_is_the_users():
    assert np.allclose(fad.grad(lambda x: Node(Node(x[0], x[1], "*"), Node(x[0], 2.0, "/"), "+").eval(),
                                fallback=False)(X), [1.2, 0.3])


def calls_eval(x):
    return eval("x[0] * 2")


def calls_it_elsewhere(x):
    import builtins
    return builtins.eval("x[0] * 2", {"x": x})


@pytest.mark.parametrize("f, runs",
                         [(calls_eval, True), (calls_it_elsewhere, True), (Node.eval, False),
                          (lambda x: [eval(t) for t in ("1", "2")], True)])
def test_code_that_runs_texts(f, runs):
    assert runs_texts(f.__code__) is runs
