"""Rewriting of reads, writes and operators: each becomes a call of the runtime, which knows the special methods of
users' classes (datamodel.py).

    x[i], o.y = f()    ->    _fad_1, _fad_2 = f()
                             __fad__.set_item(_fad_1, x, i)
                             __fad__.set_attribute(_fad_2, o, "y")
"""
import ast
from collections.abc import Callable, Iterable
from typing import Any

from .lower import CannotLowerError
from .nodes import binds, load, placed
from .trees import Transformer

IDENTITIES: dict[type, str] = {ast.Is: "is_", ast.IsNot: "is_not"}
WRITING = {"append"}                                         # methods of lists that read nothing of the list


class AccessRewriter(Transformer):
    """The part of the rewriter that sees to operators, items and attributes. Values are computed in Python's order, and
    once.
    """

    numbers: list
    unsure: frozenset  # variables that may be unbound where they are read
    runtime: Callable  # (name, *arguments) -> a call of the runtime; of the rewriter, as the next two
    later: Callable                                           # expression -> a function that computes it
    _mangled: Callable                                        # name of an attribute -> as the compiled class knows it

    # -- operators ---------------------------------------------------------------------------------

    def visit_BinOp(self, e: ast.BinOp) -> Any:
        if isinstance(e.left, ast.Constant) and isinstance(e.right, ast.Constant):
            return e  # Python computes it once
        if isinstance(e.op, ast.Mod) and (
            isinstance(e.left, ast.JoinedStr) or isinstance(getattr(e.left, "value", None), str)
        ):
            return placed(self.runtime("percent", self.visit(e.left), self.visit(e.right)), e)
        new: Any = placed(self.runtime("binary", _name_of(e.op), self.visit(e.left), self.visit(e.right)), e)
        new.is_of_lists = any(is_of_lists(x) for x in (e.left, e.right))
        return new

    def visit_Compare(self, e: ast.Compare) -> Any:
        if len(e.ops) == 1 and type(e.ops[0]) in IDENTITIES:
            return self.identity(e)
        if len(e.ops) == 1 and not isinstance(e.ops[0], (ast.In, ast.NotIn)):
            return placed(
                self.runtime("compare", _name_of(e.ops[0]), self.visit(e.left), self.visit(e.comparators[0])), e
            )
        if any(map(binds, e.comparators)):
            return self.generic_visit(e)
        parts: list[Any] = []
        for op, value in zip(e.ops, e.comparators):
            parts += [_name_of(op), self.later(self.visit(value))]
        return placed(self.runtime("chain", self.visit(e.left), *parts), e)

    def identity(self, e: Any) -> Any:
        """a is b, a is not b: the runtime knows of values that may be None."""
        e = self.generic_visit(e)
        return placed(self.runtime(IDENTITIES[type(e.ops[0])], e.left, *e.comparators), e)

    # -- reads -------------------------------------------------------------------------------------

    def visit_Attribute(self, e: ast.Attribute) -> Any:
        return self._read(e, e.attr in WRITING, "attribute", self._attribute_name)

    def visit_Subscript(self, e: ast.Subscript) -> Any:
        return self._read(e, isinstance(e.ctx, ast.Load), "item", self._subscript)

    def _read(self, e: Any, of_elements: bool, name: str, key: Callable) -> Any:
        """of_elements: nothing is read of e.value, which nobody has but this expression, but elements."""
        if of_elements and isinstance(e.value, (ast.Attribute, ast.Subscript)):
            e.value.is_indexed = True                         # type: ignore[union-attr]
        is_indexed = [ast.Constant(True)] if getattr(e, "is_indexed", False) else []
        e = self.generic_visit(e)
        return placed(self.runtime(name, e.value, key(e), *is_indexed), e) if isinstance(e.ctx, ast.Load) else e

    def visit_Starred(self, e: ast.Starred) -> Any:
        e = self.generic_visit(e)                             # type: ignore[assignment]
        if isinstance(e.ctx, ast.Load):
            way = "iterated" if getattr(e, "is_of_set", False) else "listed"
            e.value = placed(self.runtime(way, e.value), e.value)
        return e

    def visit_Set(self, e: ast.Set) -> ast.AST:
        for x in e.elts:
            x.is_of_set = True                                # type: ignore[attr-defined]
        return self.generic_visit(e)

    def visit_comprehension(self, of: ast.comprehension) -> Any:
        if has_place(of.target):
            raise CannotLowerError("a comprehension writes to an item or an attribute")
        of = self.generic_visit(of)                           # type: ignore[assignment]
        if not of.is_async:
            of.iter = placed(self.runtime("iterated", of.iter), of.iter)
        return of

    def _attribute_name(self, e: ast.Attribute) -> ast.Constant:
        return ast.Constant(self._mangled(e.attr))

    def _subscript(self, e: ast.Subscript) -> Any:
        """A subscript as an expression."""
        return self._as_value(e.slice)

    def _as_value(self, s: object) -> Any:
        if isinstance(s, ast.Slice):
            return placed(self.runtime("slice", *[x or ast.Constant(None) for x in (s.lower, s.upper, s.step)]), s)
        if isinstance(s, ast.Tuple):
            return ast.copy_location(ast.Tuple([self._as_value(x) for x in s.elts], ast.Load()), s)
        return s

    # -- writes ------------------------------------------------------------------------------------

    def stores(self, s: ast.Assign) -> list:
        """An assignment whose targets and value are rewritten, as statements that write to one target each."""
        if any(isinstance(target, (ast.Tuple, ast.List)) for target in s.targets) and not isinstance(
            s.value, (ast.Tuple, ast.List)
        ):
            s.value = placed(self.runtime("unpacked", s.value), s.value)
        if not any(map(has_place, s.targets)):
            return [s]
        if len(s.targets) == 1 and isinstance(s.targets[0], (ast.Subscript, ast.Attribute)):
            return [self._store(s.targets[0], s.value, s)]
        name = self._temporary()
        out: list[Any] = [_assign([name], s.value, s)]
        for target in s.targets:
            out += self._stored(target, load(name), s)
        return out

    def _stored(self, target: Any, value: Any, s: ast.AST) -> list:
        """target = value"""
        if not has_place(target):
            return [placed(ast.Assign([target], value, lineno=0), s)]
        if isinstance(target, (ast.Subscript, ast.Attribute)):
            return [self._store(target, value, s)]
        parts = [(x.value, True) if isinstance(x, ast.Starred) else (x, False) for x in target.elts]
        names = [self._temporary() for _ in parts]
        into = [_target(n, is_starred) for n, (_, is_starred) in zip(names, parts)]
        out: list[Any] = [placed(ast.Assign([ast.Tuple(into, ast.Store())], value, lineno=0), s)]
        for n, (x, _) in zip(names, parts):
            out += self._stored(x, load(n), s)
        return out

    def _store(self, target: Any, value: Any, s: ast.AST) -> ast.Expr:
        if isinstance(target, ast.Subscript):
            return placed(ast.Expr(self.runtime("set_item", value, target.value, self._subscript(target))), s)
        return placed(ast.Expr(self.runtime("set_attribute", value, target.value, self._attribute_name(target))), s)

    def _temporary(self) -> str:
        self.numbers[0] += 1
        return f"_fad_stored_{self.numbers[0]}"

    def visit_AugAssign(self, s: ast.AugAssign) -> Any:
        if binds(s.value):
            return self.generic_visit(s)
        value, target, op = self.visit(s.value), s.target, _name_of(s.op)
        if isinstance(target, ast.Name):
            made = self.runtime("inplace", op, self.visit(placed(load(target.id), target)), value)
            return placed(ast.Assign([target], made, lineno=0), s)
        place: Any = self.generic_visit(target)
        if isinstance(place, ast.Subscript):
            return placed(
                ast.Expr(self.runtime("augment_item", op, place.value, self._subscript(place), self.later(value))), s
            )
        return placed(
            ast.Expr(
                self.runtime("augment_attribute", op, place.value, self._attribute_name(place), self.later(value))
            ),
            s,
        )

    def visit_Delete(self, s: ast.Delete) -> list:
        s = self.generic_visit(s)                             # type: ignore[assignment]
        names = [t.id for t in s.targets if isinstance(t, ast.Name)]
        # to delete a variable that has no value is an error, as to read it is
        reads = [placed(ast.Expr(self.visit(load(n))), s) for n in names if n in self.unsure]
        return [*reads, *[self._deleted(target, s) for target in s.targets]]

    def _deleted(self, target: Any, s: ast.AST) -> ast.stmt:
        if isinstance(target, ast.Subscript):
            return placed(ast.Expr(self.runtime("delete_item", target.value, self._subscript(target))), s)
        if isinstance(target, ast.Attribute):
            return placed(ast.Expr(self.runtime("delete_attribute", target.value, self._attribute_name(target))), s)
        return placed(ast.Delete([target]), s)


def is_of_lists(e: object) -> bool:
    """Whether an expression is a list, or made of lists by operators: a + b, n * a."""
    return isinstance(e, (ast.List, ast.BinOp)) or getattr(e, "is_of_lists", False)


def has_place(target: object) -> bool:
    """Whether an item or an attribute stands in a target."""
    if isinstance(target, ast.Starred):
        return has_place(target.value)
    return isinstance(target, (ast.Subscript, ast.Attribute)) or (
        isinstance(target, (ast.Tuple, ast.List)) and any(map(has_place, target.elts))
    )


def _name_of(op: ast.AST) -> ast.Constant:
    return ast.Constant(type(op).__name__)


def _assign(names: Iterable, value: Any, s: ast.AST) -> Any:
    return placed(ast.Assign([ast.Name(n, ast.Store()) for n in names], value, lineno=0), s)


def _target(name: str, is_starred: bool) -> Any:
    target = ast.Name(name, ast.Store())
    return ast.Starred(target, ast.Store()) if is_starred else target
