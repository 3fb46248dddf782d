"""Match statements of plain values as conditions: on traced values these are branches of the program.

    match state:                          subject = state
        case "grow" | "rest": ...    ->   if subject == "grow" or subject == "rest": ...
        case None: ...                    elif subject is None: ...
        case k if k > 3: ...              (kept: a name is bound in front of its guard)
        case _: ...                       else: ...

Patterns of sequences, mappings and classes ask Python itself; their statements stay as they are.
"""
import ast
from typing import Any

from .trees import Transformer, located, walk

SUBJECT = "_fad_subject_"


def as_conditions(node: Any) -> Any:
    """The tree, its match statements of plain values as conditions; the same tree, changed."""
    return _Matches().visit(node) if any(isinstance(n, ast.Match) for n in walk(node)) else node


class _Matches(Transformer):
    def __init__(self) -> None:
        self.count = 0

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
