"""Statements that are written as conditions: on traced values these are branches of the program.

    match state:                          subject = state
        case "grow" | "rest": ...    ->   if subject == "grow" or subject == "rest": ...
        case None: ...                    elif subject is None: ...
        case k if k > 3: ...              (kept: a name is bound in front of its guard)
        case _: ...                       else: ...

Patterns of sequences, mappings and classes ask Python itself; their statements stay as they are.

    a, b = [0.0, x] if c else y      ->   if c: a, b = [0.0, x]
                                          else: a, b = y

A branch gives each name one structure; what is unpacked at once may be a list on one side and an array on the other.
"""
import ast
from typing import Any

from .nodes import own_nodes
from .trees import Transformer, copied, located, walk

SUBJECT = "_fad_subject_"


def as_conditions(node: Any) -> Any:
    """The tree with such statements as conditions; the same tree, changed."""
    return _Conditions().visit(node) if any(isinstance(n, ast.Match) or _unpacks(n) for n in walk(node)) else node


def _unpacks(s: ast.AST) -> bool:
    """Whether a conditional expression is unpacked at once."""
    return (
        isinstance(s, ast.Assign)
        and isinstance(s.value, ast.IfExp)
        and isinstance(s.targets[0], (ast.Tuple, ast.List))
    )


class _Conditions(Transformer):
    def __init__(self) -> None:
        self.count = 0

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """The statements of generators stay as they are."""
        is_generator = any(isinstance(n, (ast.Yield, ast.YieldFrom)) for s in node.body for n in own_nodes(s))
        return node if is_generator else self.generic_visit(node)

    def visit_Assign(self, s: ast.Assign) -> ast.stmt:
        choice = s.value
        if not (_unpacks(s) and isinstance(choice, ast.IfExp)):
            return s
        ways = [ast.Assign([copied(t) for t in s.targets], way) for way in (choice.body, choice.orelse)]
        return ast.copy_location(ast.If(choice.test, *[[self.visit(ast.copy_location(w, s))] for w in ways]), s)

    def visit_Match(self, s: Any) -> Any:
        s = self.generic_visit(s)
        if not all(map(_is_plain, s.cases)):
            return s
        self.count += 1
        name = f"{SUBJECT}{self.count}"
        orelse: list = []
        for case in reversed(s.cases):
            orelse = _condition(case, name, orelse)
        subject = ast.Assign([ast.Name(name, ast.Store())], s.subject)
        return [located(ast.copy_location(x, s)) for x in (subject, *orelse)]


def _is_plain(case: Any) -> bool:
    """Whether a case compares values, or takes what is left."""
    p = case.pattern
    if isinstance(p, ast.MatchAs):
        return p.pattern is None and (p.name is None or case.guard is None)
    return all(isinstance(x, (ast.MatchValue, ast.MatchSingleton)) for x in _alternatives(p))


def _alternatives(p: object) -> list:
    return p.patterns if isinstance(p, ast.MatchOr) else [p]


def _condition(case: Any, name: str, orelse: list) -> list:
    """The statements of a case, with those of the cases behind it."""
    tests: list = []
    bound: list = []
    if not isinstance(case.pattern, ast.MatchAs):
        found = [_test(p, name) for p in _alternatives(case.pattern)]
        tests.append(found[0] if len(found) == 1 else ast.BoolOp(ast.Or(), found))
    elif case.pattern.name is not None:
        bound = [ast.Assign([ast.Name(case.pattern.name, ast.Store())], ast.Name(name, ast.Load()))]
    tests += [case.guard] if case.guard is not None else []
    body = [*[ast.copy_location(x, case.pattern) for x in bound], *case.body]
    if not tests:
        return body
    test = tests[0] if len(tests) == 1 else ast.BoolOp(ast.And(), tests)
    return [ast.copy_location(ast.If(test, body, orelse), case.pattern)]


def _test(p: Any, name: str) -> ast.expr:
    """Whether the subject fits a pattern: None, True and False are compared by `is`, as Python does it."""
    is_constant = isinstance(p, ast.MatchSingleton)
    value = ast.Constant(p.value) if is_constant else p.value
    return ast.Compare(ast.Name(name, ast.Load()), [ast.Is() if is_constant else ast.Eq()], [value])
