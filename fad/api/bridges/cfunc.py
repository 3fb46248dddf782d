"""cfunc: a function or a derivative as a C function, for libraries that take callbacks."""
from collections.abc import Callable
from typing import Any

import numpy as np

from ...backend.running.ccall import CONVENTIONS, c_function
from ...util.errors import ArgumentError
from ...util.keywords import named_as_here
from ..calls.staged import Staged, check_callable
from ..derivatives.derivative import jitted


@named_as_here
def cfunc(f: Callable, *examples: object, signature: "str | None" = None) -> Any:
    """Compile `f` into a C function, for libraries that take a pointer to one.

    Parameters
    ----------
    f : callable
        A function, or the result of `grad` and its kin, that returns one real number.
    *examples : float or ndarray
        Arguments to compile for: floats, or one array of float64 with one axis.
    signature : str, optional
        How C calls the function. For one float: ``"double(double)"`` (the default) or ``"double(double, void*)"``. For
        several floats or an array: ``"double(int, double*)"`` (the default), ``"double(int, double*, void*)"`` or
        ``"int(double*, intptr_t, double*, void*)"``, which `scipy.ndimage.generic_filter` uses.

    Returns
    -------
    object
        Its attributes are `address` and `ctypes`. Pass ``scipy.LowLevelCallable(c.ctypes)`` to SciPy.

    Raises
    ------
    ArgumentError
        If the signature, the examples or the result do not fit. It is a `TypeError` and a `ValueError`.
    BackendError
        If `f` has no compiled form.
    UnstageableError
        If it needs a program for each way through a condition.

    Notes
    -----
    C has no exceptions. The result is nan if the call raises.

    Examples
    --------
    >>> import numpy as np
    >>> import fad
    >>> from scipy import LowLevelCallable
    >>> from scipy.integrate import quad
    >>> df = fad.cfunc(fad.grad(lambda x: np.sin(x)), 1.0)
    >>> round(quad(LowLevelCallable(df.ctypes), 0.0, np.pi / 2)[0], 12)
    1.0
    """
    scalars = _scalars(examples)
    signature = signature or ("double(double)" if scalars == 1 else "double(int, double*)")
    if signature not in CONVENTIONS:
        raise ArgumentError(f"cfunc knows no signature {signature!r}", do="choose one of " + ", ".join(CONVENTIONS))
    if scalars != 1 and CONVENTIONS[signature].numbers is None:
        raise ArgumentError(f"{signature} passes one number, and the examples are {len(examples)} or an array",
                            do='use "double(int, double*)" or its kin')
    staged = f if isinstance(f, Staged) else jitted(check_callable(f, "cfunc"))
    program, _ = staged.program_for(*examples)
    program.require_standalone()
    outputs = program.traced.func.outputs
    if (len(outputs) != 1 or outputs[0].type.shape or outputs[0].type.dtype.kind not in "fiub"
            or program.traced.structure.cls is not None):
        raise ArgumentError("a C function of this kind returns one real number, and this one does not",
                            do="return a float")
    return c_function(staged.njit(*examples), signature, scalars)


def _scalars(examples: tuple) -> "int | None":
    """The number of numbers in the examples; None for one array."""
    if examples and all(isinstance(x, (float, np.float64)) for x in examples):
        return len(examples)
    if (len(examples) == 1 and isinstance(examples[0], np.ndarray) and examples[0].ndim == 1
            and examples[0].dtype == np.float64):
        return None
    raise ArgumentError("cfunc needs examples of the arguments: floats, or one array of float64 with one axis",
                        do="pass them, as in fad.cfunc(f, 1.0) or fad.cfunc(f, np.ones(3))")
