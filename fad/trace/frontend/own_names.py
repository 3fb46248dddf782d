"""Calls that see the variables of the function they stand in are given these variables.

    y = eval(text)     ->     y = eval(text, {"x": lambda: x, "z": lambda: z})
    d = locals()       ->     d = locals({"x": lambda: x, "z": lambda: z})

A rewritten function has other variables than the text of the program, so Python's own eval would not find them. The
runtime (runtime/evaluation.py) reads the variables that the text names, or all, where they have a value. Liveness takes
the tables for reads. Calls in lambdas, comprehensions and classes stay as they are, and so do functions that contain
them.
"""
import ast
from typing import Any

from .liveness import COMPREHENSIONS, assigned, captured_by_functions
from .nodes import Scope, asks_for_names, load
from .trees import children, located, walk

GIVEN = {"eval": "evaluated", "locals": "own_names", "vars": "own_names"}


def with_names_given(node: Any, outer: frozenset) -> Any:
    """The tree of a function, its calls of eval, locals and vars with the variables that they see; the same tree,
    changed. outer: variables of the functions around that this one names.
    """
    if isinstance(node, ast.FunctionDef) and any(isinstance(n, ast.Name) and n.id in GIVEN for n in walk(node)):
        scope = Scope(node)
        seen = outer | {*assigned(node.body), *scope.parameters} - scope.globals - scope.nonlocals
        for s in node.body:
            _give(s, seen)
    return node


def _give(n: Any, seen: frozenset) -> None:
    """Give the calls in a node these variables."""
    if isinstance(n, ast.FunctionDef):
        with_names_given(n, seen & captured_by_functions([n]))
    elif not isinstance(n, (ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, *COMPREHENSIONS)):
        for c in children(n):
            _give(c, seen)
        is_asking = isinstance(n, ast.Call) and asks_for_names(n) and not n.keywords
        if is_asking and n.func.id in GIVEN.keys() - seen:
            names = sorted(seen)
            n.args.append(ast.Dict([ast.Constant(x) for x in names], [load(x) for x in names]))
            n.has_names = True
            located(n)


def is_given(e: ast.Call) -> bool:
    """Whether this is a call that has the variables it sees."""
    return getattr(e, "has_names", False)
