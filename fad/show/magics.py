"""%load_ext fad: the cell magic %%fad and the line magic %fad_profile of IPython and Jupyter."""
import ast
from collections.abc import Callable
from typing import Any

from ..util.errors import ArgumentError
from .adjoint import SideBySide, beside

CELL = """\
%%fad [-o NAME]

Run the cell, and show the function that its last line calls beside its derivative, with the share of the work that each
line has. The last line is a call: of a plain function, whose gradient is shown, or of one of fad's.

    %%fad
    def loss(w):
        return np.sum(np.tanh(X @ w) ** 2)

    loss(np.ones(3))

-o NAME  keep what is shown in a variable: its attributes are html, cost and columns.
"""
LINE = """\
%fad_profile CALL

Compile and time a call of a function (or of fad.grad(f) and its kin), and show which lines do the work.

    %fad_profile fad.grad(loss)(w)
"""


def load_ipython_extension(shell: Any) -> None:
    """The entry of %load_ext fad."""
    shell.register_magic_function(_cell_magic(shell), "cell", "fad")
    shell.register_magic_function(_line_magic(shell), "line", "fad_profile")


def unload_ipython_extension(shell: Any) -> None:
    """The entry of %unload_ext fad."""
    shell.magics_manager.magics["cell"].pop("fad", None)
    shell.magics_manager.magics["line"].pop("fad_profile", None)


def _cell_magic(shell: Any) -> Any:
    def fad(line: str, cell: str) -> "SideBySide | None":
        name = _kept_name(line)
        text = shell.transform_cell(cell)
        tree = ast.parse(text)
        if not tree.body or not isinstance(tree.body[-1], ast.Expr) or not isinstance(tree.body[-1].value, ast.Call):
            raise ArgumentError("the last line of a %%fad cell is a call", do="end the cell with, say, loss(w)")
        last = tree.body.pop()
        file = shell.compile.cache(text, shell.execution_count, raw_code=cell)   # where fad finds the source
        exec(shell.compile(tree, file, "exec"), shell.user_ns)
        shown = beside(*_parts_of(last.value, shell.user_ns, file))
        if name is None:
            return shown
        shell.user_ns[name] = shown
        return None
    fad.__doc__ = CELL
    return fad


def _line_magic(shell: Any) -> Any:
    def fad_profile(line: str) -> SideBySide:
        tree = ast.parse(line.strip(), mode="eval")
        if not isinstance(tree.body, ast.Call):
            raise ArgumentError("%fad_profile takes a call", do="%fad_profile fad.grad(loss)(w)")
        return beside(*_parts_of(tree.body, shell.user_ns, "<fad_profile>"), measure=True)
    fad_profile.__doc__ = LINE
    return fad_profile


def _kept_name(line: str) -> "str | None":
    words = line.split()
    if not words:
        return None
    if len(words) != 2 or words[0] != "-o" or not words[1].isidentifier():
        raise ArgumentError(f"%%fad does not know {line.strip()!r}", do="%%fad or %%fad -o NAME")
    return words[1]


def _parts_of(call: Any, names: dict, file: str) -> tuple[Callable, tuple, dict]:
    """The function and the arguments of a call, evaluated and not called."""
    function = ast.List([call.func], ast.Load())
    recorded = ast.Call(ast.Name("__fad_called__", ast.Load()), [function, *call.args], call.keywords)
    tree = ast.fix_missing_locations(ast.Expression(ast.copy_location(recorded, call)))
    scope = {**names, "__fad_called__": lambda f, *args, **kwargs: (f[0], args, kwargs)}
    return eval(compile(tree, file, "eval"), scope)
