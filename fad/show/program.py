"""The forms of a function's program: show (the IR as text), source (the generated Python), export (a module of it)."""
import os
import pathlib
from collections.abc import Callable

from ..api.calls.staged import Staged, check_callable
from ..api.derivatives.derivative import jitted
from ..backend.running.export import module_text
from ..ir.show import func_text
from ..util.errors import ArgumentError
from ..util.html import Code
from ..util.keywords import named_as_here


def staged_of(f: Callable, what: str) -> Staged:
    """f, if it is staged already; else jit(f); what: the function that asks."""
    return f if isinstance(f, Staged) else jitted(check_callable(f, what))


@named_as_here
def show(f: Callable, *args: object, optimised: bool = True, **kwargs: object) -> str:
    """Return the program of `f` in fad's intermediate representation.

    Parameters
    ----------
    f : callable
        A function, or the result of `jit`, `grad` and their kin.
    *args, **kwargs
        Arguments to trace the function with.
    optimised : bool, optional
        Whether to show the program after the passes (the default), or as it was traced.

    Returns
    -------
    str
        The text. Each equation names the line of your source that it comes from.

    Examples
    --------
    >>> import numpy as np
    >>> import fad
    >>> print(fad.show(lambda x: x * 2.0, np.ones(3)))  # doctest: +ELLIPSIS
    def ...(b: f64[a]):
        c: f64[a] = mul(b, 2.0)...
        return c
    """
    program, _ = staged_of(f, "show").program_for(*args, **kwargs)
    func = program.runner.func if optimised else program.traced.func
    return func_text(func)


@named_as_here
def source(f: Callable, *args: object, **kwargs: object) -> str:
    """Return the Python that fad generates for `f`.

    Numba compiles this text. It also runs without Numba, for example in a debugger.

    Parameters
    ----------
    f : callable
        A function, or the result of `jit`, `grad` and their kin.
    *args, **kwargs
        Arguments to generate the code for.

    Returns
    -------
    str
        The text. Each statement names the line of your source that it comes from.

    Examples
    --------
    >>> import numpy as np
    >>> import fad
    >>> text = fad.source(fad.grad(lambda x: np.sum(np.sin(x))), np.ones(3))
    >>> "def grad(" in text and "cos(" in text
    True
    """
    staged = staged_of(f, "source")
    program, _ = staged.program_for(*args, **kwargs)
    return Code(program.runner.source(staged.kernel_name))


def _target(path: object) -> pathlib.Path:
    """The file to write, in a folder that is there."""
    if not isinstance(path, (str, os.PathLike)):
        raise ArgumentError(f"path of fad.export is {path!r}, not a path", do='give the file as text: path="slope.py"')
    target = pathlib.Path(path)
    if not target.parent.is_dir():
        raise ArgumentError(f"there is no folder {str(target.parent)!r} for fad.export to write to",
                            do="make the folder first (os.makedirs), or give another path")
    return target


@named_as_here
def export(f: Callable, *args: object, path: "str | os.PathLike", name: "str | None" = None,
           **kwargs: object) -> pathlib.Path:
    """Write a module that computes `f` without fad.

    The module needs NumPy and Numba, and SciPy if `f` uses special functions.

    Parameters
    ----------
    f : callable
        A function, or the result of `jit`, `grad` and their kin.
    *args, **kwargs
        Arguments to generate the code for.
    path : str or path-like
        The file. fad writes it whole, or not at all.
    name : str, optional
        The name of the function in the module. The default is the name of the transform, such as ``"grad"``.

    Returns
    -------
    pathlib.Path
        The path. The function in the module takes the array arguments in order, and structures array by array.

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np
    >>> import fad
    >>> folder = tempfile.mkdtemp()
    >>> path = fad.export(fad.grad(lambda x: np.sum(np.sin(x))), np.ones(3), path=os.path.join(folder, "slope.py"))
    >>> "def grad(" in path.read_text()
    True
    """
    staged, target = staged_of(f, "export"), _target(path)
    program, _ = staged.program_for(*args, **kwargs)
    text = module_text(program, name or staged.kernel_name)
    part = target.with_name(target.name + ".part")
    part.write_text(text, encoding="utf-8")
    os.replace(part, target)
    return target
