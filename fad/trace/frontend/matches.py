"""Statements that are written as conditions: on traced values these are branches of the program.

    match state:                          subject = state
        case "grow" | "rest": ...    ->   if subject == "grow" or subject == "rest": ...
        case None: ...                    elif subject is None: ...
        case k if k > 3: ...              (kept: a name is bound in front of its guard)
        case _: ...                       else: ...

Patterns of sequences, mappings and classes ask Python itself. Their constants are asked by a guard, since Python would
ask whether a traced truth value *is* True:

    case (True, x): ...              ->   case (t, x) if t is True: ...

    a, b = [0.0, x] if c else y      ->   if c: a, b = [0.0, x]
                                          else: a, b = y

A branch gives each name one structure; what is unpacked at once may be a list on one side and an array on the other.
"""
import ast
from collections.abc import Callable
from typing import Any

from .nodes import assign, load, own_nodes
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
        self.is_generator = False

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """The statements of generators stay what they are."""
        around, self.is_generator = self.is_generator, any(
            isinstance(n, (ast.Yield, ast.YieldFrom)) for s in node.body for n in own_nodes(s))
        node = self.generic_visit(node)
        self.is_generator = around
        return node

    def visit_Assign(self, s: ast.Assign) -> ast.stmt:
        choice = s.value
        if self.is_generator or not (_unpacks(s) and isinstance(choice, ast.IfExp)):
            return s
        ways = [ast.Assign([copied(t) for t in s.targets], way) for way in (choice.body, choice.orelse)]
        return ast.copy_location(ast.If(choice.test, *[[self.visit(ast.copy_location(w, s))] for w in ways]), s)

    def visit_Match(self, s: Any) -> Any:
        s = self.generic_visit(s)
        if self.is_generator or not all(map(_is_plain, s.cases)):
            s.cases = [way for case in s.cases for way in self.guarded(case)]
            return s
        name = self.new_name()
        orelse: list = []
        for case in reversed(s.cases):
            orelse = _condition(case, name, orelse)
        subject = assign(name, s.subject)
        return [located(ast.copy_location(x, s)) for x in (subject, *orelse)]

    def new_name(self) -> str:
        self.count += 1
        return f"{SUBJECT}{self.count}"

    def guarded(self, case: ast.match_case) -> list:
        """A case whose guard asks for the constants of its pattern: one for each way through alternatives that hold
        some.
        """
        cases = []
        for pattern in _ways(case.pattern):
            constants = _Constants(self.new_name)
            pattern = constants.visit(pattern)
            tests = [*constants.tests, *([] if case.guard is None else [copied(case.guard)])]
            guard = ast.BoolOp(ast.And(), tests) if len(tests) > 1 else tests[0] if tests else None
            for x in (pattern, guard) if guard else (pattern,):
                located(ast.copy_location(x, case.pattern))
            cases.append(ast.match_case(pattern, guard, [copied(x) for x in case.body]))
        return cases


class _Constants(Transformer):
    """Puts names in the place of a pattern's constants; tests: what a guard asks of them."""

    def __init__(self, new_name: Callable) -> None:
        self.new_name = new_name
        self.tests: list[ast.expr] = []

    def visit_MatchSingleton(self, p: ast.MatchSingleton) -> ast.pattern:
        return self.named([p])

    def visit_MatchOr(self, p: ast.MatchOr) -> ast.pattern:
        if len(p.patterns) == 1:
            return self.visit(p.patterns[0])
        return self.named(p.patterns) if _has_constants(p) else p

    def named(self, alternatives: list) -> ast.pattern:
        name = self.new_name()
        self.tests.append(_any_of(alternatives, name))
        return ast.MatchAs(None, name)


def _has_constants(p: ast.pattern) -> bool:
    return any(isinstance(x, ast.MatchSingleton) for x in walk(p))


def _ways(p: ast.pattern) -> list:
    """A pattern, once for each way through alternatives that are patterns of containers and hold constants."""
    spot = next((x for x in walk(p) if isinstance(x, ast.MatchOr) and len(x.patterns) > 1 and _has_constants(x)
                      and not _are_values(x)), None)
    if spot is None:
        return [copied(p)]
    alternatives, ways = spot.patterns, []
    for alternative in alternatives:
        spot.patterns = [alternative]
        ways += _ways(p)
    return ways


def _is_plain(case: Any) -> bool:
    """Whether a case compares values, or takes what is left."""
    p = case.pattern
    if isinstance(p, ast.MatchAs):
        return p.pattern is None and (p.name is None or case.guard is None)
    return _are_values(p)


def _are_values(p: ast.pattern) -> bool:
    return all(isinstance(x, (ast.MatchValue, ast.MatchSingleton)) for x in _alternatives(p))


def _alternatives(p: object) -> list:
    return p.patterns if isinstance(p, ast.MatchOr) else [p]


def _condition(case: Any, name: str, orelse: list) -> list:
    """The statements of a case, with those of the cases behind it."""
    tests: list = []
    bound: list = []
    if not isinstance(case.pattern, ast.MatchAs):
        tests.append(_any_of(_alternatives(case.pattern), name))
    elif case.pattern.name is not None:
        bound = [assign(case.pattern.name, load(name))]
    tests += [case.guard] if case.guard is not None else []
    body = [*[ast.copy_location(x, case.pattern) for x in bound], *case.body]
    if not tests:
        return body
    test = tests[0] if len(tests) == 1 else ast.BoolOp(ast.And(), tests)
    return [ast.copy_location(ast.If(test, body, orelse), case.pattern)]


def _any_of(patterns: list, name: str) -> ast.expr:
    found = [_test(p, name) for p in patterns]
    return found[0] if len(found) == 1 else ast.BoolOp(ast.Or(), found)


def _test(p: Any, name: str) -> ast.expr:
    """Whether the subject fits a pattern: None, True and False are compared by `is`, as Python does it."""
    is_constant = isinstance(p, ast.MatchSingleton)
    value = ast.Constant(p.value) if is_constant else p.value
    return ast.Compare(load(name), [ast.Is() if is_constant else ast.Eq()], [value])
