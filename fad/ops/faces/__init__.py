"""How NumPy's and SciPy's own functions are written in ops: a face for each, found by the function itself.

A face takes what the function takes. Faces are code over arrays, so they serve tracing, Tensors and (rarely) ndarrays alike.
"""
from . import (
    arrange,
    chains,
    contract,
    cosine,
    creation,
    distributions,
    einsum,
    elementwise,
    fft,
    fitting,
    grids,
    histogram,
    index,
    integrate,
    join,
    linalg,
    math,
    methods,
    moments,
    nan,
    norms,
    pad,
    polynomial,
    quantile,
    reduce,
    scan,
    scipy_functions,
    scipy_linalg,
    select,
    sets,
    shape,
    sort,
    special,
    triangles,
    ufunc_calls,
    ufuncs,
)

__all__ = [
    "arrange", "chains", "contract", "cosine", "creation", "distributions", "einsum", "elementwise", "fft", "fitting", "grids",
    "histogram", "index", "integrate", "join", "linalg", "math", "methods", "moments", "nan", "norms", "pad",
    "polynomial", "quantile", "reduce", "scan", "scipy_functions", "scipy_linalg", "select", "sets", "shape",
    "sort", "special", "triangles", "ufunc_calls", "ufuncs",
]
