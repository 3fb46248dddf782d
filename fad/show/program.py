"""What a function became: show (the IR as text), source (the generated Python)."""
from collections.abc import Callable
from typing import Any

from ..api.derivative import jit
from ..api.staged import Staged, remembered
from ..ir.show import func_text


@remembered
def _jit_of(f: Callable) -> Staged:
    return jit(f)


def _staged(f: Callable) -> Staged:
    return f if isinstance(f, Staged) else _jit_of(f)


def show(f: Callable, *args: Any, optimised: bool = True, **kwargs: Any) -> str:
    """The program of f for arguments like these, in fad's intermediate representation, with the user's line behind each equation.

    optimised: after the passes (as it runs), or as it was traced.

    >>> import numpy as np
    >>> print(show(lambda x: x * 2.0, np.ones(3)))          # doctest: +ELLIPSIS
    def ...(b: f64[a]):
        c: f64[a] = mul(b, 2.0)...
        return c
    """
    program, _ = _staged(f).program_for(*args, **kwargs)
    func = program.runner.func if optimised else program.traced.func
    return func_text(func)


def source(f: Callable, *args: Any, **kwargs: Any) -> str:
    """The generated Python of f for arguments like these: what Numba compiles, and what runs as it stands without it.

    >>> import numpy as np, fad
    >>> text = source(fad.grad(lambda x: np.sum(np.sin(x))), np.ones(3))
    >>> "def grad(" in text and "cos(" in text
    True
    """
    staged = _staged(f)
    program, _ = staged.program_for(*args, **kwargs)
    return program.runner.source(staged.kernel_name)
