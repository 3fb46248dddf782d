"""Text templates of ops, and their precedence: `{0} * {1}` needs parentheses around a sum, `exp({0})` does not."""
import ast
import re
from functools import cache
from typing import NamedTuple

CONDITIONAL, OR, AND, NOT, COMPARE, BIT_OR, BIT_XOR, BIT_AND, SHIFT, SUM, PRODUCT, SIGN, POWER, ATOM = range(1, 15)

_BINARY = {
    ast.Add: SUM,
    ast.Sub: SUM,
    ast.Mult: PRODUCT,
    ast.Div: PRODUCT,
    ast.FloorDiv: PRODUCT,
    ast.Mod: PRODUCT,
    ast.Pow: POWER,
    ast.BitOr: BIT_OR,
    ast.BitXor: BIT_XOR,
    ast.BitAnd: BIT_AND,
    ast.LShift: SHIFT,
    ast.RShift: SHIFT,
}


class ExprText(NamedTuple):
    """Python source of an expression, and how tightly its outermost operator binds."""

    source: str
    binds: int = ATOM

    def within(self, binds: int) -> str:
        """The source, in parentheses where something stands around it that binds tighter."""
        return self.source if self.binds >= binds else f"({self.source})"


class Template(NamedTuple):
    """A template, how tightly what it makes binds, and what each hole asks for, in order of appearance."""

    text: str
    binds: int
    holes: tuple                       # (argument, binding asked for)

    def fill(self, args: list) -> ExprText:
        texts = iter([args[k].within(asked) for k, asked in self.holes])
        return ExprText(_HOLE.sub(lambda _: next(texts), self.text), self.binds)

    def count(self, k: int) -> int:
        """The number of times that argument k appears."""
        return sum(1 for hole, _ in self.holes if hole == k)


_HOLE = re.compile(r"\{(\w+)\}")


def binding(node: ast.AST) -> int:
    """The precedence of a syntax node."""
    if isinstance(node, ast.BinOp):
        return _BINARY[type(node.op)]
    if isinstance(node, ast.UnaryOp):
        return NOT if isinstance(node.op, ast.Not) else SIGN
    if isinstance(node, ast.BoolOp):
        return OR if isinstance(node.op, ast.Or) else AND
    if isinstance(node, ast.Compare):
        return COMPARE
    return CONDITIONAL if isinstance(node, ast.IfExp) else ATOM


def _asked(parent: ast.AST, child: ast.AST) -> int:
    """The precedence that a child needs to stand in its parent without parentheses."""
    own = binding(parent)
    if isinstance(parent, ast.BinOp):
        first = child is parent.left
        return own + (not first if own != POWER else first)
    if isinstance(parent, (ast.Attribute, ast.Subscript)):
        return ATOM if child is parent.value else 0
    if isinstance(parent, (ast.Compare, ast.BoolOp, ast.IfExp)):
        return own + 1
    return own if isinstance(parent, ast.UnaryOp) else 0


@cache
def template(text: str) -> Template:
    """The template of a text with holes {0}, {1}, ... (a name in a hole is an argument by that name).

    >>> template("{0} * {1}").fill([ExprText("a + b", SUM), ExprText("c")]).source
    '(a + b) * c'
    """
    holes = []
    tree = ast.parse(_HOLE.sub(r"hole_\1", text), mode="eval").body
    top = {"hole": tree}

    def visit(parent: "ast.AST | None", node: ast.AST) -> None:
        if isinstance(node, ast.Name) and node.id.startswith("hole_"):
            key = node.id[5:]
            holes.append((node.col_offset, int(key) if key.isdigit() else key, _asked(parent, node) if parent else 0))
        for child in ast.iter_child_nodes(node):
            visit(node, child)
    visit(None, top["hole"])
    return Template(text, binding(tree), tuple([(k, asked) for _, k, asked in sorted(holes)]))


def sum_of(x: ExprText, y: ExprText) -> ExprText:
    """x + y, in the order that takes the fewest signs.

    >>> sum_of(ExprText("-a", SIGN), ExprText("b * c", PRODUCT)).source
    'b * c - a'
    >>> sum_of(ExprText("-a", SIGN), ExprText("-b", SIGN)).source
    '-(a + b)'
    """
    if not (is_negative(x) or is_negative(y)):
        return template("{0} + {1}").fill([x, y])
    if is_negative(x) and is_negative(y):
        return template("-{0}").fill([template("{0} + {1}").fill([_negated(x), _negated(y)])])
    x, y = (y, x) if is_negative(x) else (x, y)
    return template("{0} - {1}").fill([x, _negated(y)])


def _negated(x: ExprText) -> ExprText:
    return ExprText(bare(x.source[1:]), binding(ast.parse(bare(x.source[1:]), mode="eval").body))


def is_negative(x: ExprText) -> bool:
    """Whether an expression is another one with a minus in front."""
    return x.binds == SIGN and x.source.startswith("-")


def bare(source: str) -> str:
    """An expression without parentheses around all of it.

    >>> bare("(a + b)"), bare("(a + b) * (c)")
    ('a + b', '(a + b) * (c)')
    """
    if not (source.startswith("(") and source.endswith(")")):
        return source
    depth = 0
    for k, c in enumerate(source):
        depth += (c == "(") - (c == ")")
        if depth == 0:
            return source[1:-1] if k == len(source) - 1 else source
    return source
