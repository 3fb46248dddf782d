"""Plain functions that NumPy runs and Numba compiles: the vocabulary of the generated code.

    vecmath      exp, log, sin, ... widened by LLVM, and NumPy's arithmetic: floor_divide, maximum, logaddexp, ...
    special      the scalar special functions of SciPy: gamma, digamma, betainc, jv, lambertw, ...
    incomplete   derivatives of the incomplete gamma and beta functions with respect to their shapes
    linalg       matmul, solve, cholesky, eigh, svd, ... on stacks of matrices of any strides
    fft          fft, ifft, rfft, irfft along the last axis, any length
    sorting      sort, argsort, searchsorted, nan last as in NumPy
    filters      where a mask holds, correlation of two vectors

Each name can be called from compiled code and, with the same meaning, from plain Python on NumPy values.
Other modules say how Numba compiles them, and generated code:

    numba_setup                        the part of Numba that kernels need
    numba_pipeline, pipeline_stages, lowering   short code for elements of arrays and for loops over ranges
    promotion, operators               NumPy's types for Numba; numbers in few instructions
    variables, bounds, reference_counts, loops, strip_mining   a function analysed; what LLVM is told of its loops
    widen                              calls of libm that LLVM turns into vectors
    outlined, helpers, parts, libraries   functions compiled once and called; machine code that is kept
    c_symbols, lapack                  SciPy's C functions, by the names of their symbols
    running, boxing, results           a call from Python: its arguments and its results
    gil, safepoints, threads           Python's lock, Ctrl-C, parts of a loop on threads

Nothing is imported here: Numba and SciPy load when a kernel is compiled or exported, not when fad is imported.
"""
