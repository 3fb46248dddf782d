"""Write ops.md, the page of ops, from the table that the compiler itself reads."""

from pathlib import Path

from fad.ir.op import Op
from fad.ops import kinds
from fad.ops.table import TABLE

PAGE = Path(__file__).parent / "ops.md"
INTRODUCTION = """# The ops

This page is printed from the op table. A program that fad traces is made of these ops, each of which knows its own
derivative; what NumPy and SciPy offer is expressed in them.

In the column *derivative*:

- **partials**, **linear**, **multilinear**, **rule**: differentiable, in both modes and to any order; the word says how the
  derivative is written.
  The laws of the tests try each to second order, forward against differences and reverse against forward.
- **zero**: the derivative is zero wherever there is one.
- **none**: there is no derivative; to ask for one raises `NoDerivativeError`.
- **no rule yet**: there is one, and fad does not know it; to ask for it raises `NoDerivativeError`.
"""
WORDS = (  # the first that fits: a subclass stands before its base
    (kinds.Zero, "zero"),
    (kinds.NoRule, "no rule yet"),
    (kinds.NotDifferentiable, "none"),
    (kinds.Partials, "partials"),
    (kinds.Multilinear, "multilinear"),
    (kinds.Linear, "linear"),
)


def derivative(op: Op) -> str:
    """The word for the kind of derivative an op has, with the reason where there is none."""
    if op.derivative is None:
        return "none"
    word = next((word for kind, word in WORDS if isinstance(op.derivative, kind)), "rule")
    reason = getattr(op.derivative, "reason", "")
    return f"{word}: {reason}" if reason else word


def meaning(op: Op) -> str:
    """What the op does, in a few words: its doc, or the NumPy function it is."""
    ufunc = op.facts.get("ufunc")
    said = " ".join((op.__doc__ or "").split())
    return said or (f"`{ufunc.__name__}`" if ufunc is not None else "")


def cell(text: str) -> str:
    """Text that a Markdown table can hold."""
    return text.replace("|", "\\|")


def section(kind: str, ops: list[Op]) -> str:
    """The table of one kind of op."""
    rows = [f"| `{op.name}` | {cell(meaning(op))} | {cell(derivative(op))} |" for op in sorted(ops, key=lambda op: op.name)]
    head = f"## {kind.capitalize()}\n\n| op | what it does | derivative |\n|---|---|---|\n"
    return head + "\n".join(rows) + "\n"


def page() -> str:
    """The whole page, a section for each kind."""
    ops = [op for op in TABLE.values() if isinstance(op, Op)]
    kinds_of_op = sorted({op.kind for op in ops})
    count = f"{len(ops)} ops.\n"
    return "\n".join([INTRODUCTION, count, *(section(kind, [op for op in ops if op.kind == kind]) for kind in kinds_of_op)])


def main() -> None:
    """Write the page."""
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
