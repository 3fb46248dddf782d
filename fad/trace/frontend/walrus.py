"""Comprehensions that bind names of the function around them (:=) become functions with a loop.

    ys = [y for v in x if (y := f(v)) > 0]   ->   def of_items(items):
                                                      nonlocal y
                                                      made = []
                                                      for v in items:
                                                          if (y := f(v)) > 0: made.append(y)
                                                      return made
                                                  ys = of_items(x)

any(... for ...) and all(...) return at the first item that decides.
"""
import ast
from collections.abc import Iterable

from .nodes import TAKE_ALL, Scope, assign, binds, is_simple, load, placed
from .trees import Transformer, signature, walk

Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
ITEMS, MADE = "_fad_items", "_fad_made"
_LISTED = TAKE_ALL | {"tuple", "set", "frozenset", "dict"}
_ADDING = {ast.ListComp: "append", ast.SetComp: "add", ast.GeneratorExp: "append"}


def with_loops(node: ast.AST, known: Iterable) -> ast.AST:
    """A function, without such comprehensions in it and in the functions within; a lambda as it is. known: the names
    that have a value outside, which no builtin function has.
    """
    bound = [n for n in walk(node) if not isinstance(getattr(n, "ctx", None), ast.Load)]
    own = {getattr(n, "id", getattr(n, "arg", "")) for n in bound}
    return _Loops({*known, *own}).visit(node)  # type: ignore[no-any-return]


class _Loops(Transformer):
    def __init__(self, known: set) -> None:
        self.known = known
        self.made: list = []                                  # functions of the innermost function
        self.scope: Scope | None = None
        self.count = 0

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        around, self.made, self.scope = (self.made, self.scope), [], Scope(node)
        node.body = [self.visit(s) for s in node.body]
        made, (self.made, self.scope) = self.made, around
        own = [n for f in made for n in Scope(f).nonlocals - Scope(node).nonlocals]
        node.body[:0] = made
        node.bound_within = dict.fromkeys(own)                # type: ignore[attr-defined]
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        """No function within a class sees its names."""
        node.body = [self.visit(s) if isinstance(s, ast.FunctionDef) else s for s in node.body]
        return node

    def _as_it_is(self, node: object) -> object:
        return node

    visit_AsyncFunctionDef = visit_Lambda = _as_it_is

    def _comprehension(self, e: Comprehension) -> ast.expr:
        return self._called(e, self._filling(e)) if self._is_loop(e) else e

    visit_ListComp = visit_SetComp = visit_DictComp = _comprehension
    visit_GeneratorExp = _as_it_is

    def visit_Call(self, e: ast.Call) -> ast.AST:
        """sum(... for ...) and its like go through all items, any and all through some."""
        given = e.args[0] if len(e.args) == 1 else None
        name = e.func.id if isinstance(e.func, ast.Name) and e.func.id not in self.known else ""
        if not isinstance(given, ast.GeneratorExp) or not self._is_loop(given):
            return self.generic_visit(e)
        if name in ("any", "all") and not e.keywords:
            return self._called(given, self._deciding(given, name == "any"))
        if name in _LISTED:
            e.args = [self._called(given, self._filling(given))]
        return e

    def _is_loop(self, e: Comprehension) -> bool:
        is_whole = all(is_simple(of.target) and not of.is_async for of in e.generators)
        return self.scope is not None and is_whole and binds(e) and not any(
            isinstance(n, (ast.Await, ast.Yield, ast.YieldFrom)) for n in walk(e))

    def _filling(self, e: Comprehension) -> list:
        """The statements that make what a comprehension makes."""
        if isinstance(e, ast.DictComp):
            made: ast.expr = ast.Dict([], [])
            add: ast.stmt = ast.Assign([ast.Subscript(load(MADE), e.key, ast.Store())], e.value, lineno=0)
        else:
            made = ast.Call(load("set"), [], []) if isinstance(e, ast.SetComp) else ast.List([], ast.Load())
            add = ast.Expr(ast.Call(ast.Attribute(load(MADE), _ADDING[type(e)], ast.Load()), [e.elt], []))
        first = assign(MADE, made)
        return [first, self._nest(e, add), ast.Return(load(MADE))]

    def _deciding(self, e: ast.GeneratorExp, is_any: bool) -> list:
        test = e.elt if is_any else ast.UnaryOp(ast.Not(), e.elt)
        found = ast.If(test, [ast.Return(ast.Constant(is_any))], [])
        return [self._nest(e, found), ast.Return(ast.Constant(not is_any))]

    @staticmethod
    def _nest(e: Comprehension, innermost: ast.stmt) -> ast.stmt:
        """The loops of a comprehension, the first one over the function's argument."""
        for k, of in reversed(list(enumerate(e.generators))):
            for test in reversed(of.ifs):
                innermost = ast.If(test, [innermost], [])
            innermost = ast.For(of.target, of.iter if k else load(ITEMS), [innermost], [], None)
        return innermost

    def _called(self, e: Comprehension, statements: list) -> ast.Call:
        """The call of a function with these statements, which stands in front of the others."""
        bound = {n.target.id for n in walk(e) if isinstance(n, ast.NamedExpr)}
        outer = self.scope.globals                            # type: ignore[union-attr]
        declared = [kind(sorted(names)) for kind, names in ((ast.Global, bound & outer), (ast.Nonlocal, bound - outer))
                    if names]
        self.count += 1
        name = f"_fad_of_items_{self.count}"
        f = placed(ast.FunctionDef(name=name, args=signature(ITEMS), body=[*declared, *statements],
                                   decorator_list=[], type_params=[]), e)   # type: ignore[call-arg]
        self.made.append(self.visit(f))
        return placed(ast.Call(load(name), [self.visit(e.generators[0].iter)], []), e)
