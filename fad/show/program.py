"""What a function became: show (the IR as text), source (the generated Python), export (a module of it)."""
import os
import pathlib
from collections.abc import Callable
from typing import Any

from ..api.derivative import jitted
from ..api.staged import Staged, check_callable
from ..backend.export import module_text
from ..ir.show import func_text


def staged_of(f: Callable, what: str) -> Staged:
    """f, if it is staged already; else jit(f); what: the function that asks."""
    return f if isinstance(f, Staged) else jitted(check_callable(f, what))


def show(f: Callable, *args: Any, optimised: bool = True, **kwargs: Any) -> str:
    """The program of f for arguments like these, in fad's intermediate representation, with the user's line behind each equation.

    optimised: after the passes (as it runs), or as it was traced.

    >>> import numpy as np
    >>> print(show(lambda x: x * 2.0, np.ones(3)))          # doctest: +ELLIPSIS
    def ...(b: f64[a]):
        c: f64[a] = mul(b, 2.0)...
        return c
    """
    program, _ = staged_of(f, "show").program_for(*args, **kwargs)
    func = program.runner.func if optimised else program.traced.func
    return func_text(func)


def source(f: Callable, *args: Any, **kwargs: Any) -> str:
    """The generated Python of f for arguments like these: what Numba compiles, and what runs as it stands without it.

    >>> import numpy as np, fad
    >>> text = source(fad.grad(lambda x: np.sum(np.sin(x))), np.ones(3))
    >>> "def grad(" in text and "cos(" in text
    True
    """
    staged = staged_of(f, "source")
    program, _ = staged.program_for(*args, **kwargs)
    return program.runner.source(staged.kernel_name)


def export(f: Callable, *args: Any, path: "str | os.PathLike", name: "str | None" = None, **kwargs: Any) -> pathlib.Path:
    """Write a module that computes f for arguments like these and needs only NumPy and Numba (SciPy for its special functions).

    The module's function is called `name` (by default after the transform: `grad`, `value_and_grad`, ...) and takes the array arguments in
    order. Returns the path. Structured arguments are passed leaf by leaf. The file is written whole or not at all.
    """
    staged = staged_of(f, "export")
    program, _ = staged.program_for(*args, **kwargs)
    text = module_text(program, name or staged.kernel_name)
    target = pathlib.Path(path)
    part = target.with_name(target.name + ".part")
    part.write_text(text, encoding="utf-8")
    os.replace(part, target)
    return target
