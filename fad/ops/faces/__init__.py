"""How NumPy's and SciPy's own functions are written in ops: a face for each, found by the function itself.

A face takes what the function takes. Faces are code over arrays, so they serve tracing, Tensors and (rarely) ndarrays alike.
"""
from . import (
    chains, contract, cosine, einsum, elementwise, fft, histogram, integrate, linalg, math, moments, nan, norms, polynomial, quantile,
    reduce, scan, scipy_functions, scipy_linalg, sets, sort, special, ufunc_calls, ufuncs,
)

__all__ = [
    "chains", "contract", "cosine", "einsum", "elementwise", "fft", "histogram", "integrate", "linalg", "math", "moments", "nan", "norms",
    "polynomial", "quantile", "reduce", "scan", "scipy_functions", "scipy_linalg", "sets", "sort", "special",
    "ufunc_calls", "ufuncs",
]
