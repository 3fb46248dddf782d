"""Rewriting: control flow in a function's syntax tree becomes calls of the runtime (control.py), which decides while
tracing.

    if c:                    def then(): nonlocal y; y = ...
        y = ...       ->     def otherwise(): nonlocal y; y = ...
    else:                    __fad__.if_(c, then, otherwise, ("y",))
        y = ...

Blocks become nested functions that share the function's variables (nonlocal), so plain Python code keeps its plain
meaning, and lines keep their numbers. The rewriter replaces if, for, while and assert
here, expressions and calls in expressions.py, operators, comparisons, items and attributes in access.py.
"""
import ast
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any, NamedTuple

from ...util.codes import CodeFacts
from ...util.profiled import unprofiled
from .access import IDENTITIES, WRITING, has_place
from .expressions import RUNTIME, ExpressionRewriter, tested
from .liveness import Liveness, assigned, written_to
from .lower import CannotLowerError, JumpLowering
from .matches import as_conditions
from .nodes import Displays, Patterns, Scope, assign, hands_on_names, load, own_nodes, placed
from .origin import BLOCK, compiled_in, definition_of
from .own_names import with_names_given
from .recursion_limit import with_higher_limit
from .trees import Transformer, copied, signature, walk
from .walrus import with_loops


class RewrittenCode(NamedTuple):
    """Code with its control flow rewritten, and the names that it only reads element by element."""

    code: "CodeType | None" = None
    indexed: frozenset = frozenset()


_rewritten: CodeFacts[RewrittenCode] = CodeFacts()


@unprofiled
def rewritten_code(f: FunctionType) -> "CodeType | None":
    """The code of f with its control flow rewritten; None where the source is not at hand or has to stay as it is."""
    return _rewritten.of(f.__code__, lambda: _rewrite(f)).code


@with_higher_limit
def _rewrite(f: FunctionType) -> RewrittenCode:
    found = definition_of(f)
    if found is None or hands_on_names(found[0]):
        return RewrittenCode()
    outer = frozenset(f.__code__.co_freevars) - {"__class__"}
    node, owner = with_loops(as_conditions(copied(found[0])), outer | f.__globals__.keys()), found[1]
    node = with_names_given(node, outer)
    indexed = _names_indexed(node)
    try:
        if isinstance(node, ast.Lambda):
            node.body = Rewriter(owner).visit(node.body)
        else:
            node.decorator_list, node.returns = [], None
            Rewriter(owner).function(node)
    except CannotLowerError:
        return RewrittenCode()
    Displays(RUNTIME).visit(node)
    return RewrittenCode(compiled_in(node, f.__code__, owner), indexed)


def indexed_names(f: FunctionType) -> frozenset:
    """The names that the text of f has nowhere but in front of a subscript that is read, or of `.append`: of what
    stands behind one nothing is read but elements, one by one.
    """
    return _rewritten.of(f.__code__, lambda: _rewrite(f)).indexed


def _names_indexed(node: ast.AST) -> frozenset:
    nodes = list(walk(node))
    owners = [
        n.value for n in nodes if isinstance(n, (ast.Subscript, ast.Attribute)) and _reads_no_more_than_elements(n)
    ]
    bases = {id(x): x.id for x in owners if isinstance(x, ast.Name)}
    others = {n.id for n in nodes if isinstance(n, ast.Name) and id(n) not in bases}
    others.update(name for n in nodes if isinstance(n, (ast.Global, ast.Nonlocal)) for name in n.names)
    return frozenset(bases.values()) - others


def _reads_no_more_than_elements(n: "ast.Subscript | ast.Attribute") -> bool:
    return isinstance(n.ctx, ast.Load) if isinstance(n, ast.Subscript) else n.attr in WRITING


def _functions_in(node: ast.AST) -> list:
    """The functions within a function, at any depth."""
    return [n for n in walk(node) if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef)) and n is not node]


class Rewriter(ExpressionRewriter):
    """Rewrites one function and those within it."""

    def __init__(self, owner: str = "", scope: "Scope | None" = None, numbers: "list | None" = None,
                 unsure: frozenset = frozenset()):
        self.owner, self.scope, self.unsure = owner, scope, unsure
        self.numbers = numbers if numbers is not None else [0]

    def visit_Name(self, e: ast.Name) -> Any:
        """The read of a variable that may be unbound is checked."""
        is_checked = e.id in self.unsure and isinstance(e.ctx, ast.Load)
        return placed(self.runtime("bound", e), e) if is_checked else e

    # -- functions ---------------------------------------------------------------------------------

    def function(self, node: ast.FunctionDef) -> None:
        """Rewrite a function's body in place; the statements of generators stay as they are."""
        if any(isinstance(n, (ast.Yield, ast.YieldFrom, ast.Await)) for s in node.body for n in own_nodes(s)):
            outer = _Expressions(self.owner, Scope(node), self.numbers, self.unsure)
            node.body = outer.notes(node) + outer.block(node.body)
            return
        scope = Scope(node)
        inner = Rewriter(self.owner, scope, self.numbers)
        noted = inner.notes(node)
        body = JumpLowering().function(node.body)
        within = getattr(node, "bound_within", {})            # by a comprehension of no items they are not
        inner.unsure = self.unsure | (Liveness(body).unsure | within.keys()) - {*scope.parameters}
        bound = {**assigned(body), **within}
        own = [n for n in bound if n not in scope.globals | scope.nonlocals | set(scope.parameters)]
        first = body[0]
        node.body = inner.block(body)
        if own:
            targets: list = [ast.Name(n, ast.Store()) for n in own]
            bind = ast.If(ast.Constant(False), [ast.Assign(targets, ast.Constant(None), lineno=0)], [])
            node.body.insert(0, placed(bind, first))         # never runs: it makes the names the function's own
        node.body[:0] = noted

    def notes(self, node: ast.FunctionDef) -> list:
        """The call by which a function announces itself to the runtime: the outer variables and global names that it
        binds, and its own variables that functions within it bind.
        """
        scope, first = self.scope, node.body[0]
        others = scope.globals | scope.nonlocals              # type: ignore[union-attr]
        shared = {n for inner in _functions_in(node) for n in Scope(inner).nonlocals}
        bound = {*assigned(node.body), *getattr(node, "bound_within", ())}
        own = shared & (bound.union(scope.parameters) - others)  # type: ignore[union-attr]
        out = [("rebinds", others)] if others else []
        out += [("binds", own)] if own else []
        calls = [self.runtime(name, self.variables(sorted(names))) for name, names in out]
        if node.args.kwarg is not None:
            calls.append(self.runtime("made", load(node.args.kwarg.arg)))
        return [placed(ast.Expr(call), first) for call in calls]

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        node.args = self.visit(node.args)
        node.decorator_list = [self.decorator(d) for d in node.decorator_list]
        self.function(node)
        return node

    def visit_AsyncFunctionDef(self, node: object) -> Any:
        return _Identities(self.runtime).generic_visit(node)

    def visit_ClassDef(self, node: Any) -> Any:
        """Methods are functions; of other statements of a class only the calls are rewritten: no function within them
        would see the class's names.
        """
        node.decorator_list = [self.decorator(d) for d in node.decorator_list]
        node.bases, node.keywords = list(map(self.visit, node.bases)), list(map(self.visit, node.keywords))
        inner = Rewriter(node.name, self.scope, self.numbers, self.unsure)
        calls = _Calls(self.runtime, self.unsure)
        node.body = [
            inner.visit(s) if isinstance(s, (ast.FunctionDef, ast.ClassDef)) else calls.visit(s) for s in node.body
        ]
        return node

    def decorator(self, e: Any) -> Any:
        return placed(self.runtime("call", self.visit(e)), e)

    # -- statements --------------------------------------------------------------------------------

    def block(self, statements: list) -> list:
        out: list = []
        for s in statements:
            new = self.visit(s)
            out += new if isinstance(new, list) else [new]
        return out

    def visit_Import(self, s: ast.Import) -> list:
        """An import, and what is noted of the modules that it binds."""
        parts = [(a.asname or a.name.split(".")[0], a.name if a.asname else a.name.split(".")[0], "") for a in s.names]
        return [s, *[self._imported(s, n, ast.Constant(module), name) for n, module, name in parts]]

    def visit_ImportFrom(self, s: ast.ImportFrom) -> list:
        package = load("__package__") if s.level else ast.Constant("")
        module = placed(self.runtime("module_name", ast.Constant(s.level), ast.Constant(s.module or ""), package), s)
        return [s, *[self._imported(s, a.asname or a.name, module, a.name) for a in s.names]]

    def _imported(self, s: ast.stmt, bound: str, module: object, name: str) -> ast.stmt:
        made = self.runtime("imported", load(bound), module, ast.Constant(name))
        return placed(assign(bound, made), s)

    def local(self, purpose: str, s: ast.AST, statements: list, argument: str = "") -> ast.FunctionDef:
        """A block as a nested function that shares the variables of the one around it."""
        self.numbers[0] += 1
        names = list(assigned(statements))
        head: list = []
        shared = [n for n in names if n not in self.scope.globals]       # type: ignore[union-attr]
        if shared:
            head.append(placed(ast.Nonlocal(shared), s))
        if len(shared) < len(names):
            others = [n for n in names if n not in shared]
            head += [
                placed(ast.Global(others), s), placed(ast.Expr(self.runtime("rebinds", self.variables(others))), s)
            ]
        body = head + (self.block(statements) or [placed(ast.Pass(), s)])
        made: Any = ast.FunctionDef(
            name=f"{BLOCK}{purpose}_{self.numbers[0]}",
            args=signature(*[argument] if argument else []),
            body=body,  # type: ignore[call-arg]
            decorator_list=[],
            type_params=[],
        )
        return placed(made, s)

    def visit_If(self, s: Any) -> list:
        then = self.local("then", s, s.body)
        otherwise = self.local("else", s, s.orelse) if s.orelse else None
        own = assigned(s.body + s.orelse)
        call = self.runtime(
            "if_",
            self.visit(tested(s.test)),
            _name(then),
            _name(otherwise),
            self.strings([n for n in own if n in s.live]),
            self.strings(own),
        )
        return [f for f in (then, otherwise) if f is not None] + [placed(ast.Expr(call), s)]

    def visit_For(self, s: Any) -> list:
        item = placed(ast.Assign([s.target], load("_fad_item"), lineno=0), s)
        carried = self.carried(assigned([item, *s.body]), s)
        body = self.local("body", s, [item, *s.body], "_fad_item")
        call = self.runtime("for_", self.visit(s.iter), _name(body), *carried)
        return [body, placed(ast.Expr(call), s)]

    def visit_While(self, s: Any) -> list:
        carried = self.carried(assigned([*s.body, s.test]), s)
        test = self.local("test", s, [placed(ast.Return(tested(s.test)), s.test)])
        body = self.local("body", s, s.body)
        call = self.runtime("while_", _name(test), _name(body), *carried)
        return [test, body, placed(ast.Expr(call), s)]

    def carried(self, names: dict, s: Any) -> list:
        """Names that iterations hand on; those of them bound anew; those whose arrays may be written to; the flags that
        end the loop; all names bound.
        """
        kept = [n for n in names if n in s.head]
        written = sorted(written_to(s.body))
        stops = getattr(s, "stops", [])
        return [
            self.strings(kept),
            self.strings([n for n in kept if names[n]]),
            self.strings(written),
            self.strings(stops),
            self.strings(names),
        ]

    def visit_AnnAssign(self, s: ast.AnnAssign) -> Any:
        """Annotations of locals are never evaluated, and a shared name may have none."""
        if s.value is None:
            return placed(ast.Pass(), s)
        return self.visit(placed(ast.Assign([s.target], s.value, lineno=0), s))

    def visit_Try(self, s: Any) -> Any:
        """A `try` with handlers is a function of its own, so that it can be traced again (see regions/paths.py)."""
        if not s.handlers or getattr(s, "is_apart", False):
            return self.handled(s)
        s.is_apart = True
        own = assigned([s])
        body = self.local("try", s, [s])
        live = self.strings([n for n in own if n in s.live])
        call = self.runtime("try_", _name(body), live, self.strings(own))
        return [body, placed(ast.Expr(call), s)]

    def handled(self, s: Any) -> Any:
        """A `try` whose handlers tell the runtime what they take in."""
        computed = [h.type is not None and any(isinstance(n, ast.Call) for n in walk(h.type)) for h in s.handlers]
        s = self.generic_visit(s)
        if not s.handlers:
            return s
        for h in s.handlers:
            h.body.insert(0, placed(ast.Expr(self.runtime("pass_on")), h))
        kinds: list = [load("BaseException") if is_computed or not h.type else h.type      # Python asks only if it must
                       for h, is_computed in zip(s.handlers, computed)]
        handled = self.later(placed(ast.Tuple([copied(k) for k in kinds], ast.Load()), s))
        for h in s.handlers:
            if any(getattr(n, "id", "") == "UnboundLocalError" for n in walk(h)):
                h.type = placed(self.runtime("unbound", h.type), h)
        caught = "caught" if getattr(s, "is_apart", False) else "caught_plainly"
        return placed(ast.With([ast.withitem(self.runtime(caught, handled), None)], [s]), s)

    def visit_With(self, s: ast.With) -> Any:
        """A manager may take errors in, as a handler does."""
        s = self.generic_visit(s)                             # type: ignore[assignment]
        for item in s.items:
            item.context_expr = placed(self.runtime("context", item.context_expr), item.context_expr)
        places = [item for item in s.items if item.optional_vars is not None and has_place(item.optional_vars)]
        for item in reversed(places):
            name, target = self._temporary(), item.optional_vars
            item.optional_vars = placed(ast.Name(name, ast.Store()), target)                  # type: ignore[arg-type]
            s.body[:0] = self._stored(target, load(name), s)
        return s

    def visit_Match(self, s: Any) -> Any:
        s = self.generic_visit(s)
        s.subject = placed(self.runtime("matched", s.subject), s.subject)
        return s

    def visit_match_case(self, c: Any) -> Any:
        """Values and classes in a pattern are no expressions to be rewritten: case Colour.RED, case geometry.Point(x,
        y).
        """
        pattern = Patterns().visit(c.pattern)
        c.pattern = ast.MatchAs()
        c = self.generic_visit(c)
        c.pattern = pattern
        return c

    def visit_Assign(self, s: ast.Assign) -> list:
        s = self.generic_visit(s)                             # type: ignore[assignment]
        s.value = self.list_made(s.value)
        rests = [
            n.value
            for target in s.targets
            for n in walk(target)
            if isinstance(n, ast.Starred) and isinstance(n.value, ast.Name)
        ]
        return self.stores(s) + [placed(ast.Expr(self.runtime("made", load(n.id))), s) for n in rests]

    def visit_Return(self, s: Any) -> Any:
        s = self.generic_visit(s)
        s.value = self.list_made(s.value)
        return s

    def visit_Raise(self, s: ast.Raise) -> Any:
        """A `raise`: under a condition on data the program raises, else the statement does."""
        s = self.generic_visit(s)                             # type: ignore[assignment]
        if s.exc is None:
            return s
        return placed(ast.If(self.runtime("raises", self.later(s.exc)), [s], []), s)

    def visit_Assert(self, s: ast.Assert) -> Any:
        message = ast.Constant(None) if s.msg is None else self.later(self.visit(s.msg))
        return placed(ast.Expr(self.runtime("assert_", self.visit(tested(s.test)), message)), s)


class _Expressions(Rewriter):
    """Rewrites only the expressions of a function."""

    def visit_If(self, s: object) -> Any:
        return self.generic_visit(s)

    visit_For = visit_While = visit_Assert = visit_If

    def visit_Try(self, s: object) -> Any:
        return self.handled(s)


class _Identities(Transformer):
    """Rewrites nothing but `a is b`."""

    identity: Any = Rewriter.identity

    def __init__(self, runtime: Callable, unsure: frozenset = frozenset()):
        self.runtime, self.unsure = runtime, unsure

    def visit_Compare(self, e: ast.Compare) -> Any:
        return self.identity(e) if len(e.ops) == 1 and type(e.ops[0]) in IDENTITIES else self.generic_visit(e)


class _Calls(_Identities):
    """Rewrites calls, too, and reads of variables that may be unbound."""

    visit_Name = Rewriter.visit_Name

    def visit_Call(self, e: Any) -> Any:
        e = self.generic_visit(e)
        e.func = placed(self.runtime("call", e.func), e)
        return e


def _name(function: Any) -> Any:
    return ast.Constant(None) if function is None else load(function.name)
