"""Plain functions that NumPy runs and Numba compiles: the vocabulary of the generated code.

    vecmath      exp, log, sin, ... widened by LLVM, and NumPy's arithmetic: floor_divide, maximum, logaddexp, ...
    special      the scalar special functions of SciPy: gamma, digamma, betainc, jv, lambertw, ...
    incomplete   derivatives of the incomplete gamma and beta functions with respect to their shapes
    linalg       matmul, solve, cholesky, eigh, svd, ... on stacks of matrices of any strides
    fft          fft, ifft, rfft, irfft along the last axis, any length
    sorting      sort, argsort, searchsorted, nan last as in NumPy
    filters      where a mask holds, correlation of two vectors

Each name can be called from compiled code and, with the same meaning, from plain Python on NumPy values.
Below them: `elementary` and `arithmetic` (the two halves of vecmath), `widen` (vector calls), `promotion` (NumPy's
types for Numba), `foreign` (SciPy's C functions by symbol name), `lean` (how Numba compiles all this, and generated
code), `operators` (of numbers, in few instructions), `apart` (large kernels as machine code of their own, called by
name).

Nothing is imported here: Numba and SciPy load when a kernel is compiled or exported, not when fad is imported.
"""
