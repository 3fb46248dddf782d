"""Kernels as C functions: the few lines between a C caller and a kernel, compiled to an address."""
from typing import Any, NamedTuple

from ...util.lazy import LazyModule

numba = LazyModule("numba")
numpy = LazyModule("numpy")


class Convention(NamedTuple):
    """The calling convention of a C function: its Numba type, its parameters, the place of its numbers, and the way of
    its result.
    """

    type: str
    parameters: str
    numbers: "tuple | None"  # (array, how many), or None: the first parameters themselves
    returns: str


_VALUE, _STORED = "return {0}", "result[0] = {0}; return 1"
CONVENTIONS = {
    "double(double)": Convention("float64(float64)", "x", None, _VALUE),
    "double(double, void*)": Convention("float64(float64, voidptr)", "x, data", None, _VALUE),
    "double(int, double*)": Convention("float64(intc, CPointer(float64))", "n, xs", ("xs", "n"), _VALUE),
    "double(int, double*, void*)": Convention(
        "float64(intc, CPointer(float64), voidptr)", "n, xs, data", ("xs", "n"), _VALUE
    ),
    "int(double*, intptr_t, double*, void*)": Convention(
        "intc(CPointer(float64), intp, CPointer(float64), voidptr)", "xs, n, result, data", ("xs", "n"), _STORED
    ),
}


def c_function(kernel: object, signature: str, scalars: "int | None") -> Any:
    """A Numba CFunc that calls the kernel with so many numbers, or (None) with one array. A call that raises gives nan.
    """
    convention = CONVENTIONS[signature]
    setup = "pass" if scalars is not None else "x = carray({}, ({},)).copy()".format(*convention.numbers or ())
    arguments = (
        "x"
        if scalars is None or convention.numbers is None
        else ", ".join(f"{convention.numbers[0]}[{k}]" for k in range(scalars))
    )
    text = _TEXT.format(
        parameters=convention.parameters, setup=setup, arguments=arguments, found=convention.returns.format("y")
    )
    scope: dict[str, Any] = {"kernel": kernel, "carray": numba.carray, "nan": numpy.nan}
    exec(text, scope)
    return numba.cfunc(convention.type)(scope["called_from_c"])


_TEXT = """
def called_from_c({parameters}):
    y = nan
    try:
        {setup}
        y = kernel({arguments})
    except Exception:
        y = nan
    {found}
"""
