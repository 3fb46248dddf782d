"""Jumps become flags: a function without `break`, `continue` and (but for its last line) `return`, which computes the
same.

    for v in x:                          returned = False
        if v < 0:                        for v in x:                  # goes on while not returned
            return v          ->             if v < 0: value = v; returned = True
    return 0.0                           if not returned: value = 0.0
                                         return value

If one branch of an `if` always jumps, the statements behind the `if` move into the other branch, so that most functions
need no flag at all. A flag is a plain bool for as long as the tests on the way to it are plain.
"""
import ast
from collections.abc import Iterable
from typing import Any

from .nodes import SCOPES, assign, binds, load, own_nodes, placed
from .trees import Transformer, children, copied, walk

VALUE, RETURNED = "_fad_value", "_fad_returned"
JUMPS = (ast.Return, ast.Break, ast.Continue)


class CannotLowerError(Exception):
    """A function has to stay as it is; the reason is told."""


def jumps_of(node: ast.AST) -> set:
    """The kinds of jumps that leave a statement: return anywhere in it, break and continue of a loop around it."""
    if isinstance(node, SCOPES):
        return set()
    if isinstance(node, JUMPS):
        return {type(node)}
    if isinstance(node, (ast.For, ast.While)):
        return jumps_in(node.body) & {ast.Return} | jumps_in(node.orelse)
    return jumps_in(children(node))


def jumps_in(nodes: Iterable) -> set:
    """The kinds of jumps that leave any of these statements."""
    return set().union(*map(jumps_of, nodes))


def always_jumps(block: list) -> bool:
    """Whether no path leads to the end of a block."""
    if not block:
        return False
    last = block[-1]
    if isinstance(last, (*JUMPS, ast.Raise)):
        return True
    if isinstance(last, (ast.For, ast.While)):                # it ends by its else clause, or never
        is_endless = isinstance(last, ast.While) and isinstance(last.test, ast.Constant) and last.test.value is True
        return (is_endless or always_jumps(last.orelse)) and ast.Break not in jumps_in(last.body)
    return isinstance(last, ast.If) and always_jumps(last.body) and always_jumps(last.orelse)


def cut_after_jump(block: list) -> list:
    """The block without what can never be reached."""
    for k, s in enumerate(block):
        if isinstance(s, (*JUMPS, ast.Raise)) or always_jumps([s]):
            return block[:k + 1]
    return block


def _cut_within(block: list) -> list:
    """The same, of the blocks within the block, too: a jump there may be the only one of its kind."""
    block = cut_after_jump(block)
    for s in block:
        for part in (s, *getattr(s, "handlers", ()), *getattr(s, "cases", ())) if not isinstance(s, SCOPES) else ():
            for name in ("body", "orelse", "finalbody"):
                if getattr(part, name, None):
                    setattr(part, name, _cut_within(getattr(part, name)))
    return block


def _needs_flags(node: ast.AST) -> bool:
    """Whether a jump other than return stands in a statement, a :=, or a loop with an else clause, which is no part of
    the loops that are rewritten.
    """
    return any(
        isinstance(n, (ast.Break, ast.Continue, ast.NamedExpr)) or isinstance(n, (ast.For, ast.While)) and n.orelse
        for n in own_nodes(node)
    )


class JumpLowering:
    """Lowers the jumps of one function."""

    def __init__(self) -> None:
        self.loops: list[tuple] = []  # (break flag, continue flag) of the loops around, innermost last
        self.count = 0
        self.used: set[str] = set()                           # flags that are tested somewhere

    def function(self, body: list) -> list:
        """The body of a function, lowered."""
        if ast.Return not in jumps_in(body[:-1]) and not any(map(_needs_flags, body)):
            if not body or isinstance(body[-1], ast.Return) or ast.Return not in jumps_of(body[-1]):
                return body                                   # its only return is its last line
        last = body[-1]
        if not always_jumps(body):
            body = [*body, ast.copy_location(ast.Return(ast.Constant(None)), last)]
        out = self.block(body)
        out.append(ast.copy_location(ast.Return(load(VALUE)), last))
        if RETURNED in self.used:
            out.insert(0, ast.copy_location(assign(RETURNED, ast.Constant(False)), body[0]))
        # assignments to flags that nobody tests go
        return [s for s in map(_Prune(self.used).visit, out) if s is not None]

    def block(self, block: list) -> list:
        """A block, lowered; jumps in it end the iteration, the loop or the function by flags."""
        block = cut_after_jump(list(block))
        out: list[Any] = []
        for k, s in enumerate(block):
            rest = block[k + 1:]
            if isinstance(s, ast.If) and rest and jumps_of(s):
                moved = self._moved(s, rest)
                if moved is not None:
                    return out + self.statement(moved)
            # asked before: lowering changes some statements in place
            flags = self.flags_of(s) if rest else []
            out += self.statement(s)
            if flags:
                self.used.update(flags)
                out.append(ast.copy_location(ast.If(_not_any(flags), self.block(rest) or [ast.Pass()], []), rest[0]))
                return out
        return out

    def _moved(self, s: ast.If, rest: list) -> "ast.If | None":
        """The `if` with the rest of its block in the branch that goes on, where the other one never does."""
        if always_jumps(s.body):
            return ast.copy_location(ast.If(s.test, s.body, [*s.orelse, *rest]), s)
        if s.orelse and always_jumps(s.orelse):
            return ast.copy_location(ast.If(s.test, [*s.body, *rest], s.orelse), s)
        return None

    def flags_of(self, node: ast.AST) -> list:
        """The flags that a statement may set and that end what comes after it."""
        broken, continued = self.loops[-1] if self.loops else ("", "")
        names = {ast.Return: RETURNED, ast.Break: broken, ast.Continue: continued}
        found = jumps_of(node)
        return [name for kind, name in names.items() if kind in found]

    def statement(self, s: object) -> list:
        if isinstance(s, ast.Return):
            value = s.value or ast.Constant(None)
            return [
                ast.copy_location(assign(VALUE, value), s),
                ast.copy_location(assign(RETURNED, ast.Constant(True)), s),
            ]
        if isinstance(s, (ast.Break, ast.Continue)):
            return [ast.copy_location(assign(self.loops[-1][isinstance(s, ast.Continue)], ast.Constant(True)), s)]
        if isinstance(s, ast.If):
            self.count += 1
            before, test = test_in_steps(s.test, f"_fad_test_{self.count}")
            return [*before, ast.copy_location(ast.If(test, self.block(s.body), self.block(s.orelse)), s)]
        if isinstance(s, (ast.For, ast.While)):
            return self.loop(s)
        if isinstance(s, SCOPES):
            return [s]
        if isinstance(s, ast.Try) and jumps_in(s.finalbody):
            return self.ended_by_finally(s)
        return [self.compound(s)]

    def ended_by_finally(self, s: ast.Try) -> list:
        """A try whose `finally` jumps. Where it does, errors on their way and jumps in the try end; where it does not,
        they go on.

            try: a                           error = None; try: a
            finally:                  ->     except BaseException as e: error = e
                b                            kept = flag; flag = False          # flag: of a jump in a
                if c: break                  b; if c: broken = True
                                             if not broken: flag = kept; if error is not None: raise error
        """
        inside: list[Any] = [*s.body, *s.handlers, *s.orelse]
        flags = list(dict.fromkeys(flag for b in inside for flag in self.flags_of(b)))
        own = list(dict.fromkeys(flag for b in s.finalbody for flag in self.flags_of(b)))
        self.count += 1
        error, caught = f"_fad_error_{self.count}", f"_fad_caught_{self.count}"
        kept = [f"_fad_kept_{self.count}_{k}" for k in range(len(flags))]
        goes_on = not always_jumps(s.finalbody)
        taken_in: list[ast.stmt] = [assign(error, load(caught))] if goes_on else [ast.Pass()]
        handler = ast.ExceptHandler(load("BaseException"), caught if goes_on else None, taken_in)
        body: list[ast.stmt] = (
            [ast.copy_location(ast.Try(s.body, s.handlers, s.orelse, []), s)] if s.handlers else s.body
        )
        out = [placed(assign(error, ast.Constant(None)), s)] if goes_on else []
        out.append(self.compound(placed(ast.Try(body, [handler], [], []), s)))
        if goes_on:
            self.used.update(flags, own)
            out += [placed(assign(k, load(flag)), s) for k, flag in zip(kept, flags)]
        out += [placed(assign(flag, ast.Constant(False)), s) for flag in flags]
        out += self.block(s.finalbody)
        if goes_on:
            is_raised = ast.Compare(load(error), [ast.IsNot()], [ast.Constant(None)])
            restored = [assign(flag, load(k)) for k, flag in zip(kept, flags)]
            raised = ast.If(is_raised, [ast.Raise(load(error), None)], [])
            out.append(placed(ast.If(_not_any(own), [*restored, raised], []), s.finalbody[-1]))
        return out

    def compound(self, s: Any) -> Any:
        """with, try, match: their blocks are lowered, their own meaning stays. The else clause of a try is run where
        its body has come to its end.
        """
        flags = (
            dict.fromkeys(flag for b in s.body for flag in self.flags_of(b))
            if isinstance(s, ast.Try) and s.orelse
            else {}
        )
        for field in ("body", "orelse", "finalbody"):
            if isinstance(getattr(s, field, None), list):
                setattr(s, field, self.block(getattr(s, field)) or ([ast.Pass()] if field == "body" else []))
        for part in (*getattr(s, "handlers", []), *getattr(s, "cases", [])):
            part.body = self.block(part.body)
        if flags:
            self.used.update(flags)
            s.orelse = [ast.copy_location(ast.If(_not_any(list(flags)), s.orelse, []), s.orelse[0])]
        return s

    def loop(self, s: Any) -> list:
        """A loop; the flags that end it are kept with the node, as `stops`."""
        if isinstance(s, ast.While) and any(isinstance(n, ast.NamedExpr) for n in walk(s.test)):
            s = _test_inside(s)
        self.count += 1
        flags = (f"_fad_broken_{self.count}", f"_fad_continued_{self.count}")
        s.body = _cut_within(s.body)
        jumps = jumps_in(s.body)                              # before they are lowered
        self.loops.append(flags)
        body = self.block(s.body)
        self.loops.pop()
        if ast.Continue in jumps and flags[1] in self.used:
            body.insert(0, ast.copy_location(assign(flags[1], ast.Constant(False)), s.body[0]))
        new = ast.For(s.target, s.iter, body, [], None) if isinstance(s, ast.For) else ast.While(s.test, body, [])
        ast.copy_location(new, s)
        new.stops = [flags[0]] * (ast.Break in jumps) + [RETURNED] * (ast.Return in jumps)  # type: ignore[union-attr]
        self.used.update(new.stops)                                  # type: ignore[union-attr]
        out: list[Any] = [ast.copy_location(assign(flags[0], ast.Constant(False)), s)] if ast.Break in jumps else []
        out.append(new)
        if s.orelse:
            rest = self.block(s.orelse)
            out += [ast.copy_location(ast.If(_not_any(new.stops), rest, []), s.orelse[0])] if new.stops else rest  # type: ignore[union-attr]
        return out


def _test_inside(s: ast.While) -> ast.While:
    """while (y := f(x)): ... as while True: if not (y := f(x)): break; ... so that the name is bound where it is used.
    """
    if s.orelse:
        raise CannotLowerError("a while with := in its test and an else clause")
    leave = ast.copy_location(ast.If(ast.UnaryOp(ast.Not(), s.test), [ast.copy_location(ast.Break(), s)], []), s)
    return ast.copy_location(ast.While(ast.Constant(True), [leave, *s.body], []), s)


def test_in_steps(test: ast.expr, name: str) -> tuple:
    """A test that binds names in a part which may not be reached, as statements that compute it step by step, and what
    is left of it.

        if a and (y := f(x)) > 1: ...     ->     t = not not a
                                                 if t: t = not not (y := f(x)) > 1
                                                 if t: ...
    """
    return (_steps(test, name), placed(load(name), test)) if _binds_late(test) else ([], test)


def _binds_late(e: ast.expr) -> bool:
    if isinstance(e, ast.UnaryOp) and isinstance(e.op, ast.Not):
        return _binds_late(e.operand)
    if isinstance(e, ast.BoolOp):
        return any(map(binds, e.values[1:])) or _binds_late(e.values[0])
    return _links(e) is not None


def _links(e: ast.expr) -> "ast.BoolOp | None":
    """a < (y := b) < c as a < (y := b) and y < c."""
    if (
        not isinstance(e, ast.Compare)
        or not all(isinstance(v, ast.NamedExpr) for v in e.comparators[:-1])
        or len(e.ops) < 2
    ):
        return None
    left, links = e.left, list[ast.expr]()
    for op, right in zip(e.ops, e.comparators):
        links.append(ast.copy_location(ast.Compare(left, [op], [right]), e))
        left = ast.copy_location(load(right.target.id), right) if isinstance(right, ast.NamedExpr) else right
    return ast.copy_location(ast.BoolOp(ast.And(), links), e)


def _steps(e: ast.expr, name: str) -> list:
    """Statements after which the name is whether e holds."""
    if _binds_late(e):
        if isinstance(e, ast.UnaryOp):
            return [*_steps(e.operand, name), placed(assign(name, ast.UnaryOp(ast.Not(), load(name))), e)]
        e = _links(e) or e
        assert isinstance(e, ast.BoolOp)
        first, *rest = e.values
        reached = load(name) if isinstance(e.op, ast.And) else ast.UnaryOp(ast.Not(), load(name))
        return [*_steps(first, name), *[placed(ast.If(copied(reached), _steps(v, name), []), v) for v in rest]]
    return [placed(assign(name, ast.UnaryOp(ast.Not(), ast.UnaryOp(ast.Not(), e))), e)]


class _Prune(Transformer):
    """Takes away assignments to flags that are never tested."""

    def __init__(self, used: set):
        self.used = used

    def visit_Assign(self, node: ast.Assign) -> Any:
        name = node.targets[0].id if isinstance(node.targets[0], ast.Name) else ""
        is_flag = name == RETURNED or name.startswith(("_fad_broken_", "_fad_continued_"))
        return None if is_flag and name not in self.used else node

    def generic_visit(self, node: Any) -> Any:
        if isinstance(node, SCOPES):
            return node
        node = super().generic_visit(node)
        if isinstance(getattr(node, "body", None), list) and not node.body:
            node.body = [placed(ast.Pass(), getattr(node, "pattern", node))]       # a case has no line of its own
        return node


def _not_any(flags: list) -> ast.expr:
    tests: list[Any] = [load(f) for f in flags]
    return ast.UnaryOp(ast.Not(), tests[0] if len(tests) == 1 else ast.BoolOp(ast.Or(), tests))
