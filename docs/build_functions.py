"""Write reference/functions.md, the table of functions, and reference/ops.md, the table of ops.

Both come from the records that the compiler itself reads.
"""

import contextlib
import copy
import functools
import html
import importlib
import io
import operator
import re
import warnings
from pathlib import Path

import numpy as np
from reasons import reason

import fad
from fad.ir.op import Op
from fad.ops import kinds
from fad.ops.numpy_api import within
from fad.ops.override import BY_NAME, Override
from fad.ops.table import TABLE

FOLDER = Path(__file__).parent / "reference"
# the page accounts for every public function of these modules
COMPLETE = ("numpy", "numpy.linalg", "numpy.fft", "scipy.special")
HEAD = """# Functions of NumPy and SciPy

Type a few letters to find out whether fad differentiates a function.

```{raw} html
<p class="fad-filter">
  <input type="search" id="fad-filter" placeholder="for example: logsumexp, argmax, solve"
         aria-label="Filter the functions" autofocus>
  <span id="fad-count"></span>
</p>
<table class="table fad-functions" id="fad-functions">
<thead><tr><th>Function<th>Derivative<th>Remark</thead>
"""
FOOT = """
</table>
```

**yes**
: The function is differentiable in both modes and to any order. A remark names the points where it is not.

**zero**
: The result is piecewise constant, or it holds indices, counts or truth values. Its derivative is zero.

**no**
: fad raises [`NoDerivativeError`](../errors.md#noderivativeerror) if a derivative flows through the function.

**not traced**
: fad raises [`UnsupportedFunctionError`](../errors.md#unsupportedfunctionerror) if an argument is being differentiated.

The table is generated from the records that the compiler reads. [The table of ops](ops.md) lists the operations below
these functions.
"""
WORDS = (  # the first that fits: a subclass stands before its base
    (kinds.Zero, "zero"),
    (kinds.NoRule, "no"),
    (kinds.NotDifferentiable, "no"),
)


# -- one function ------------------------------------------------------------------------------------------------------

def original(name: str):
    """The function of that dotted name."""
    module, _, rest = name.partition(".")
    found = importlib.import_module(module)
    for part in rest.split("."):
        with contextlib.suppress(ImportError):
            importlib.import_module(f"{found.__name__}.{part}")
        found = getattr(found, part)
    return found


def leaves(result) -> list:
    """The arrays of a result."""
    if isinstance(result, (tuple, list)):
        return [leaf for part in result for leaf in leaves(part)]
    return [np.asarray(result)]


X, S = np.array([0.31, 0.72, 0.55]), np.array([[2.3, 0.4, 0.1], [0.3, 1.9, 0.2], [0.1, 0.25, 3.1]])
Y, Z = np.array([0.9, 0.2, 0.65]), np.array([0.31 + 0.4j, 0.72 - 0.1j])
CALLS = ((X,), (X, Y), (S,), (S, Y), (X, S), (0.31,), (0.31, 0.72), (X, 2), (Z,), (0.31 + 0.4j,), (0.31, X, Y),
         (np.cos(np.arange(30.0)), 2.0), (np.cos(np.arange(30.0)), 0.1), (X, [X < 0.5, X >= 0.5], [np.sin, np.cos]))


def gives_whole_numbers(name: str) -> bool:
    """Whether the function, tried on real numbers, gives integers or truth values."""
    for arguments in CALLS:
        with contextlib.suppress(Exception), warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            return all(leaf.dtype.kind in "biu" for leaf in leaves(original(name)(*copy.deepcopy(arguments))))
    return False


def slope(call, arguments: tuple) -> list:
    """The derivative of this call in one direction of its real and complex arguments."""
    moved = [k for k, a in enumerate(arguments) if not isinstance(a, (int, list))]

    def function(*given):
        filled = dict(zip(moved, given, strict=True))
        return call(*(filled.get(k, a) for k, a in enumerate(arguments)))
    primals = tuple(arguments[k] for k in moved)
    tangents = tuple(0.2 + np.cos(7.0 * np.asarray(p) + k) for k, p in enumerate(primals))
    return leaves(fad.jvp(function, primals, tangents)[1])


def slopes(name: str) -> "bool | None":
    """Whether a derivative of the function is not zero at a point where it can be tried; None without such a point."""
    tried = 0
    for arguments in CALLS:
        with (contextlib.suppress(Exception), warnings.catch_warnings(),
              fad.config.using(compile="never", fallback=False)):
            warnings.simplefilter("ignore")
            found = slope(original(name), copy.deepcopy(arguments))     # np.copyto and others write to what they get
            tried += all(leaf.dtype.kind in "fc" for leaf in found)
            if any(map(np.any, found)):
                return True
    return False if tried else None


def standing(override: Override) -> tuple[str, str]:
    """What is to be said of a function: a word and a remark."""
    if override.name.startswith("scipy.optimize.") and "implicit" in override.note:
        return standing_of_solver(override.name)
    if override.note:
        return note_of(override.note)
    if isinstance(override.call, Op):
        return word_of(override.call)
    if "frozen." in override.name:
        return "yes", "as the method of the distribution itself"
    slope_found = slopes(override.name)
    if slope_found:
        return "yes", ""
    if override.creation and not override.samples:
        return "zero", "makes an array; no array to differentiate"
    if gives_whole_numbers(override.name):
        return "zero", "gives indices, counts or truth values"
    return ("yes", "") if slope_found is None else ("zero", "constant, or piecewise constant")


def standing_of_solver(name: str) -> tuple[str, str]:
    """Solvers have derivatives where fad knows the condition that holds at their solution."""
    within.load_above("scipy.optimize")
    if name in within.WITHIN:
        return "yes", "by the implicit function theorem"
    return "no", "state its condition with fad.implicit"


def note_of(note: str) -> tuple[str, str]:
    """A record's own note, taken apart: many begin with the word."""
    word, _, rest = note.partition(" ")
    if word.strip(":;,") in ("yes", "no", "zero"):
        return word.strip(":;,"), rest
    if note.startswith("constant"):
        return "zero", note
    return ("no" if "refused" in note or note.startswith(("not ", "under a derivative")) else "yes"), note


def word_of(op: Op) -> tuple[str, str]:
    """The word for an op's derivative, with the reason where there is none."""
    if op.derivative is None:
        return "zero", "gives indices, counts or truth values"
    word = next((word for kind, word in WORDS if isinstance(op.derivative, kind)), "yes")
    return word, getattr(op.derivative, "reason", "")


def public(name: str) -> str:
    """The name by which users know it: SciPy keeps the methods of its distributions in classes of private modules."""
    return re.sub(r"\._\w+\.", ".", name).replace("_gen.", ".")


# -- the page of functions ---------------------------------------------------------------------------------------------

def untraced() -> list[tuple[str, str, str]]:
    """The public functions of the complete modules that fad does not trace, with the reason."""
    rows = []
    for module in COMPLETE:
        home = importlib.import_module(module)
        things = ((name, getattr(home, name)) for name in dir(home) if not name.startswith("_"))
        names = [name for name, thing in things if callable(thing) and not isinstance(thing, type)]
        rows += [(f"{module}.{name}", "not traced", reason(name))
                 for name in names if f"{module}.{name}" not in BY_NAME]
    return rows


@functools.cache
def functions() -> list[tuple[str, str, str]]:
    """Every row of the table, by name: function, word, remark."""
    traced = {public(override.name): (public(override.name), *standing(override)) for override in BY_NAME.values()}
    return sorted([*traced.values(), *untraced()], key=operator.itemgetter(0))


def row(name: str, word: str, remark: str) -> str:
    """A row, in as few characters as HTML allows: there are more than a thousand."""
    return f"<tr><td>{html.escape(name)}<td>{word}<td>{html.escape(remark)}"


# -- the page of ops ---------------------------------------------------------------------------------------------------

def cell(text: str) -> str:
    """Text that a Markdown table can hold."""
    return text.replace("|", "\\|").replace("`", "")


def kind_of_derivative(op: Op) -> str:
    """How an op's record gives its derivative."""
    if word_of(op)[0] != "yes":
        return ": ".join(filter(None, word_of(op)))
    names = {kinds.Partials: "partials", kinds.Multilinear: "multilinear", kinds.LinearIn: "linear"}
    return names.get(type(op.derivative), "rule")


def ops_page() -> str:
    """The table of ops, kind by kind."""
    ops = [op for op in TABLE.values() if isinstance(op, Op)]
    text = ["# The table of ops\n\n"
            "A traced program consists of these operations. Each record holds the derivative of its operation.\n"]
    for kind in sorted({op.kind for op in ops}):
        rows = [f"| `{op.name}` | {cell(' '.join((op.__doc__ or '').split()))} | {cell(kind_of_derivative(op))} |"
                for op in sorted(ops, key=lambda op: op.name) if op.kind == kind]
        text += [f"## {kind.capitalize()}\n", "| op | what it does | derivative |", "|---|---|---|", *rows, ""]
    return "\n".join(text)


def main() -> None:
    """Write both pages."""
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / "functions.md").write_text(HEAD + "\n".join(row(*each) for each in functions()) + FOOT, encoding="utf-8")
    (FOLDER / "ops.md").write_text(ops_page(), encoding="utf-8")


if __name__ == "__main__":
    main()
