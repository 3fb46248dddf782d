"""Rewriting of expressions: and, or, not, conditional expressions, calls, comprehensions and f-strings become calls of
the runtime.

    a and b      ->  __fad__.and_(a, lambda: b)           f(x)         ->  __fad__.call(f)(x)
    a if c else b -> __fad__.ifexp(c, lambda: a, lambda: b)
    if a and b:  ->  if __fad__.all_hold(a, lambda: b):   since a test asks for the truth alone

An operand that may not be needed is handed over as a function.
"""
import ast
from collections.abc import Iterable
from typing import Any

from .access import AccessRewriter
from .lower import CannotLowerError
from .nodes import Scope, asks_for_names, binds, is_call_of_globals, is_simple, load, makes_functions, placed, takes_all
from .own_names import GIVEN, is_given
from .trees import signature, walk

RUNTIME = "__fad__"
UNTOUCHED_CALLS = {"super", "locals", "vars", "dir", "eval", "exec"}


def tested(e: ast.expr) -> ast.expr:
    """An expression whose truth alone is asked for; and so is that of the operands of its `and` and `or`."""
    if isinstance(e, ast.BoolOp):
        e.is_test = True                                      # type: ignore[attr-defined]
        e.values = [tested(v) for v in e.values]
    return e


class ExpressionRewriter(AccessRewriter):
    """The part of the rewriter (see syntax.py) that sees to expressions."""

    owner: str
    scope: "Scope | None"

    def visit_BoolOp(self, e: ast.BoolOp) -> Any:
        if any(map(binds, e.values[1:])):
            return self.generic_visit(e)
        first, *rest = [self.visit(v) for v in e.values]
        joins = ("all_hold", "any_holds") if getattr(e, "is_test", False) else ("and_", "or_")
        join = joins[isinstance(e.op, ast.Or)]
        return placed(self.runtime(join, first, *[self.later(v) for v in rest]), e)

    def visit_UnaryOp(self, e: ast.UnaryOp) -> Any:
        if isinstance(e.op, ast.Not):
            return placed(self.runtime("not_", self.visit(tested(e.operand))), e)
        e = self.generic_visit(e)                             # type: ignore[assignment]
        if isinstance(e.operand, ast.Constant):
            return e
        return placed(self.runtime("unary", ast.Constant(type(e.op).__name__), e.operand), e)

    def visit_IfExp(self, e: ast.IfExp) -> Any:
        if binds(e.body) or binds(e.orelse):
            return self.generic_visit(e)
        condition = self.visit(tested(e.test))
        return placed(self.runtime("ifexp", condition, *[self.later(self.visit(way)) for way in (e.body, e.orelse)]), e)

    def visit_JoinedStr(self, e: ast.JoinedStr) -> Any:
        """f"...{x!r:spec}" """
        parts: list = []
        for part in e.values:
            if isinstance(part, ast.FormattedValue):
                spec = [] if part.format_spec is None else [self.visit(part.format_spec)]
                part = placed(
                    self.runtime("formatted", self.visit(part.value), ast.Constant(part.conversion), *spec), part.value
                )  # type: ignore[assignment]
            parts.append(part)
        return placed(self.runtime("joined", *parts), e)

    def visit_Call(self, e: Any) -> Any:
        if is_given(e):
            return self._given(e)
        if asks_for_names(e):
            raise CannotLowerError(f"{e.func.id}() sees the names of the function")
        if isinstance(e.func, ast.Name) and e.func.id in UNTOUCHED_CALLS and not (e.func.id == "vars" and e.args):
            return self._super(e) if e.func.id == "super" and not e.args else self._untouched(self.generic_visit(e))
        if is_call_of_globals(e):
            return placed(self.runtime("global_names", e.func, self.later(placed(ast.Constant(None), e))), e)
        if takes_all(e):
            e.args = [placed(ast.ListComp(e.args[0].elt, e.args[0].generators), e.args[0])]
        e = self.generic_visit(e)
        if getattr(e.func, "attr", "") == "append":
            e.args = [self.list_made(x) for x in e.args]
        e.func = placed(self.runtime("call", e.func), e)
        return e

    def visit_comprehension(self, of: ast.comprehension) -> ast.AST:
        of.ifs = [tested(e) for e in of.ifs]
        return super().visit_comprehension(of)

    def visit_ListComp(self, e: ast.ListComp) -> Any:
        """A comprehension over one iterable, as a loop that fills a list; over several, a list that a loop may index.
        """
        is_shared = makes_functions(e.elt)
        e = self.generic_visit(e)                             # type: ignore[assignment]
        e.elt = self.list_made(e.elt)
        if len(e.generators) > 1 or e.generators[0].is_async or binds(e) or not is_simple(e.generators[0].target):
            return placed(self.runtime("list_", e), e)
        of = e.generators[0]
        parts: list = [self.of_item(of.target, part) for part in (e.elt, *of.ifs)]
        if is_shared:
            parts[:2] = [self.shared(of.target, part) for part in (e.elt, *of.ifs)][:2]
        return placed(self.runtime("comprehension", of.iter, *parts), e)

    def list_made(self, e: Any) -> Any:
        """A list that is given a name, an attribute, a key or a place in a list: a loop may come to append to it, or to
        index it.
        """
        if isinstance(e, ast.List):
            e.elts = [self.list_made(x) for x in e.elts]
        if isinstance(e, ast.List) or getattr(e, "is_of_lists", False):
            return placed(self.runtime("list_", e), e)
        if isinstance(e, ast.Tuple):
            e.elts = [self.list_made(x) for x in e.elts]
        if isinstance(e, ast.Dict):
            e.values = [self.list_made(x) for x in e.values]
        return e

    def shared(self, target: Any, value: Any) -> ast.Call:
        """A function of a comprehension's item, which returns a function of its variables besides."""
        names = [n.id for n in walk(target) if isinstance(n, ast.Name)]
        both = ast.Tuple([value, self.variables(names)], ast.Load())
        return self.runtime("shared", self.of_item(target, placed(both, value)))

    def of_item(self, target: Any, value: Any) -> ast.Lambda:
        """A function of a comprehension's item: lambda x: value, or lambda _fad_item: (lambda x, y: value)(*_fad_item).
        """
        names = [target] if isinstance(target, ast.Name) else target.elts
        inner = placed(ast.Lambda(signature(*[n.id for n in names]), value), value)
        if isinstance(target, ast.Name):
            return inner
        item = ast.Starred(load("_fad_item"), ast.Load())
        return placed(ast.Lambda(signature("_fad_item"), ast.Call(inner, [item], [])), value)

    def _given(self, e: Any) -> Any:
        """eval(text, variables) and locals(variables) (see own_names.py)."""
        *text, table = e.args
        table.values = [self.later(x) for x in table.values]
        return placed(self.runtime(GIVEN[e.func.id], e.func, *map(self.visit, text), self.later(table)), e)

    def _untouched(self, e: ast.AST) -> ast.AST:
        """A call that stays Python's: eval(__fad__.run(text, 'eval'), names)."""
        name = getattr(e.func, "id", "") if isinstance(e, ast.Call) and e.args else ""
        if isinstance(e, ast.Call) and name in ("eval", "exec"):
            e.args[0] = placed(self.runtime("run", e.args[0], ast.Constant(name)), e.args[0])
        return e

    def _super(self, e: ast.Call) -> Any:
        """super() finds its instance in the frame it is called in, which a block's is not."""
        if self.scope is None or not self.scope.parameters:
            return e
        e.args = [placed(load(n), e) for n in ("__class__", self.scope.parameters[0])]
        return e

    # -- pieces ------------------------------------------------------------------------------------

    def later(self, value: Any) -> ast.Lambda:
        """An expression to be computed when, and if, it is needed."""
        return placed(ast.Lambda(signature(), value), value)

    def variables(self, names: Iterable) -> ast.Lambda:
        """A function that has these variables."""
        return self.later(ast.Tuple([load(n) for n in names], ast.Load()))

    def runtime(self, name: str, *args: Any) -> ast.Call:
        return ast.Call(ast.Attribute(load(RUNTIME), name, ast.Load()), list(args), [])

    def strings(self, names: Iterable) -> ast.Tuple:
        """Names as the compiled function knows them."""
        return ast.Tuple([ast.Constant(self._mangled(n)) for n in names], ast.Load())

    def _mangled(self, name: str) -> str:
        private = self.owner and name.startswith("__") and not name.endswith("__")
        return f"_{self.owner.lstrip('_')}{name}" if private else name
