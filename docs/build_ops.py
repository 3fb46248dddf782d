"""Write ops.md, the page of ops, from the table that the compiler itself reads."""

import importlib
import re
from pathlib import Path

from reasons import reason

from fad.ir.op import Op
from fad.ops import kinds
from fad.ops.face import BY_NAME, Face
from fad.ops.table import TABLE

PAGE = Path(__file__).parent / "ops.md"
MODULES = (
    "numpy", "numpy.linalg", "numpy.fft", "numpy.polynomial", "scipy.special", "scipy.linalg", "scipy.stats", "scipy.signal", "scipy.ndimage", "scipy.spatial.distance",
    "scipy.integrate", "scipy.interpolate", "math")
COMPLETE = ("numpy", "numpy.linalg", "numpy.fft", "scipy.special")  # the modules of which every public function is accounted for
FUNCTIONS = """# The ops

This page is printed from the tables that the compiler itself reads: first what NumPy and SciPy offer, function by function,
then the ops in which these functions are written.
"""
OPS = """# The table of ops

A program that fad traces is made of these ops, each of which knows its own derivative.

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


def standing(face: Face) -> str:
    """What is to be said of a function's differentiability."""
    if face.note:
        return face.note
    said = derivative(face.call) if isinstance(face.call, Op) else "yes"
    return said if said.startswith(("zero", "none", "no rule")) else "yes"


def function_row(face: Face) -> str:
    """One function: its name, whether it is differentiable, to which order it is tested."""
    tried = face.samples or (isinstance(face.call, Op) and (face.call.samples or "domain" in face.call.facts))
    return f"| `{public(face.name)}` | {cell(standing(face))} | {2 if tried else '–'} |"


def public(name: str) -> str:
    """The name by which users know it: SciPy keeps the methods of its distributions in classes of private modules."""
    return re.sub(r"\._\w+\.", ".", name).replace("_gen.", ".")


def module_of(name: str) -> str:
    """The module (of those listed) that a function belongs to."""
    return max((m for m in MODULES if name.startswith(m + ".")), key=len, default="")


def public_functions(module: str) -> list[str]:
    """The functions (not the classes) that a module offers."""
    home = importlib.import_module(module)
    names = (name for name in dir(home) if not name.startswith("_"))
    return [name for name in names if callable(getattr(home, name)) and not isinstance(getattr(home, name), type)]


def functions_of(module: str) -> str:
    """The table of a module's functions, and those of its functions that are in no table, with the reason."""
    faces = sorted((face for face in BY_NAME.values() if module_of(face.name) == module), key=lambda face: face.name)
    rows = "\n".join(map(function_row, faces))
    text = f"## {module}\n\n| function | differentiable | tested to order |\n|---|---|---|\n{rows}\n"
    return text + (without_record(module) if module in COMPLETE else "")


def without_record(module: str) -> str:
    """The functions of a module that fad does not trace, by reason."""
    why: dict[str, list[str]] = {}
    for name in public_functions(module):
        if f"{module}.{name}" not in BY_NAME:
            why.setdefault(reason(name), []).append(f"`{name}`")
    rows = "\n".join(f"| {cause} | {', '.join(names)} |" for cause, names in sorted(why.items()))
    return f"\nNot traced:\n\n| why | functions |\n|---|---|\n{rows}\n" if rows else ""


def page() -> str:
    """The whole page: functions module by module, then ops kind by kind."""
    ops = [op for op in TABLE.values() if isinstance(op, Op)]
    kinds_of_op = sorted({op.kind for op in ops})
    sections = [section(kind, [op for op in ops if op.kind == kind]) for kind in kinds_of_op]
    return "\n".join([FUNCTIONS, *map(functions_of, MODULES), OPS, f"{len(ops)} ops.\n", *sections])


def main() -> None:
    """Write the page."""
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
