"""fad.stages: what became of a function, stage by stage, side by side."""
import ast
import inspect
import linecache
import os
import pathlib
from collections.abc import Callable, Iterator
from typing import Any

from ..api.calls.staged import Staged, check_callable
from ..api.derivatives.derivative import grad
from ..ir.graph import Func, all_equations
from ..ir.show import ShortNames, func_lines
from ..trace.frontend.origin import definition_of, tree_of
from ..util.keywords import named_as_here
from .columns import Column, framed, page
from .program import staged_of

# their programs take the arguments of the function itself, so that its own program can be shown for the same arguments
OF_THE_SAME_ARGUMENTS = {"jit", "grad", "value_and_grad", "jacobian", "jacfwd", "jacrev", "hessian"}


class Stages:
    """The stages of one function for arguments of one kind. A notebook shows them; `save` writes the page.

    columns : the stages, each with `title`, `sentence`, `lines` and `text`.
    html : the page.
    """

    def __init__(self, title: str, columns: list):
        self.title, self.columns = title, tuple(columns)

    @property
    def html(self) -> str:
        """One page of HTML, which needs no other file."""
        hint = "Point at a line: what comes from the same line of your source lights up."
        return page(self.title, hint, self.columns)

    def save(self, path: "str | os.PathLike") -> pathlib.Path:
        """Write the page to a file; return its path."""
        target = pathlib.Path(path)
        target.write_text(self.html, encoding="utf-8")
        return target

    def _repr_html_(self) -> str:
        return framed(self.html)

    def __iter__(self) -> Iterator[Column]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def __str__(self) -> str:
        return "\n\n".join(f"-- {column.title}: {column.sentence}\n{column.text}" for column in self.columns)

    __repr__ = __str__


@named_as_here
def stages(f: Callable, *args: object, **kwargs: object) -> Stages:
    """Show side by side what a function becomes on its way to compiled code.

    The stages are your source, the program that fad traced, its derivative, the optimised program and the generated
    Python. In the page, lines that come from one line of your source light up together.

    Parameters
    ----------
    f : callable
        A function, whose gradient is shown; or the result of `grad`, `jacobian`, `jit` and their kin.
    *args, **kwargs
        Arguments to trace the function with.

    Returns
    -------
    Stages
        Shows itself in a notebook. ``save(path)`` writes a page of HTML, which needs no other file; `html` is its text;
        ``str()`` has the stages one below the other. It iterates over the stages, each with `title` and `text`.

    Raises
    ------
    NotScalarError
        If `f` is a plain function and does not return one real number. Pass ``fad.jacobian(f)`` then.

    See Also
    --------
    show : Return the text of one program.
    source : Return the generated Python.
    draw : Draw the program as a picture.

    Examples
    --------
    >>> import numpy as np
    >>> import fad
    >>> seen = fad.stages(lambda x: np.sum(np.sin(x)), np.ones(3))
    >>> [stage.title for stage in seen]
    ['Source', 'Program', 'Derivative', 'Optimised', 'Generated']
    >>> "cos(x[i])" in seen.columns[-1].text
    True
    """
    staged: Any = f if isinstance(f, Staged) else grad(check_callable(f, "stages"))
    program, _ = staged.program_for(*args, **kwargs)
    traced, optimised = program.traced.func, program.runner.func
    text = program.runner.source(staged.kernel_name)
    chain = chain_of(staged)
    columns = [of_source(chain[-1], [traced, optimised])]
    for own in programs_of(staged, args, kwargs):
        columns.append(_of_program("Program", "One trace of your function.", own.traced.func, ShortNames()))
    names, title = ShortNames(), "Program" if staged.kernel_name == "jit" else "Derivative"
    columns.append(_of_program(title, f"What fad.{staged.kernel_name} makes of it.", traced, names))
    columns.append(_of_program("Optimised", "The program after the passes.", optimised, names))
    columns.append(of_text(text, [traced, optimised]))
    name = getattr(chain[-1], "__name__", "f")
    return Stages(f"{name}: the stages of fad.{staged.kernel_name}", columns)


def chain_of(staged: Staged) -> list:
    """The transforms from the outermost on, and the user's function."""
    chain: list = [staged]
    while isinstance(chain[-1], Staged):
        chain.append(chain[-1].__wrapped__)
    return chain


def programs_of(staged: Staged, args: tuple, kwargs: dict) -> list:
    """The program of the function itself, if its transforms take the same arguments as it does; else none."""
    chain = chain_of(staged)
    if staged.kernel_name == "jit" or any(each.kernel_name not in OF_THE_SAME_ARGUMENTS for each in chain[:-1]):
        return []
    return [staged_of(chain[-1], "stages").program_for(*args, **kwargs)[0]]


def _of_program(title: str, sentence: str, func: Func, names: ShortNames) -> Column:
    count = sum(1 for _ in all_equations(func))
    lines = [(text, place and (place.file, place.line)) for text, place in func_lines(func, names)]
    return Column(title, f"{sentence} {count} equation{'s' * (count != 1)}.", lines)


def of_text(text: str, funcs: list) -> Column:
    """The generated Python. Each line belongs to the user's line that a comment has named last."""
    known = {place.text: (place.file, place.line) for place in reversed(list(_places(funcs)))}
    lines, at = [], None
    for line in text.rstrip("\n").split("\n"):
        _, mark, comment = line.partition("  # ")
        at = known.get(comment.strip(), at) if mark else at
        lines.append((line, at if line.startswith("    ") else None))
    return Column("Generated", f"The Python that Numba compiles. {len(lines)} lines.", lines)


def _places(funcs: list) -> Iterator[Any]:
    return (eqn.where for func in funcs for eqn in all_equations(func) if eqn.where is not None)


def of_source(f: object, funcs: list) -> Column:
    """The user's function, and the parts of others that the program comes from."""
    spans = _spans(f, funcs)
    lines: list = []
    for file, first, last in spans:
        if lines:
            lines.append(("", None))
        lines += [(linecache.getline(file, k).rstrip("\n"), (file, k)) for k in range(first, last + 1)]
    return Column("Source", "What you wrote.", lines or [(f"({getattr(f, '__name__', 'f')} has no source text)", None)])


def _spans(f: Any, funcs: list) -> list:
    """(file, first line, last line): the function's own lines, then those of the functions that it called."""
    spans = []
    plain = inspect.unwrap(f)
    found = definition_of(plain) if inspect.isfunction(plain) else None
    if found is not None and linecache.getline(plain.__code__.co_filename, found[0].lineno):
        spans.append((plain.__code__.co_filename, found[0].lineno, found[0].end_lineno))
    for place in _places(funcs):
        if place.text and not any(file == place.file and a <= place.line <= b for file, a, b in spans):
            spans.append((place.file, *_lines_around(place)))
    return spans


def _lines_around(place: Any) -> tuple:
    """First and last line of the innermost function around a line; the line itself, where there is none."""
    tree = tree_of(place.file)
    around = [(node.lineno, node.end_lineno) for node in (ast.walk(tree) if tree else ())
              if isinstance(node, ast.FunctionDef) and node.lineno <= place.line <= (node.end_lineno or 0)]
    return max(around, default=(place.line, place.line))
