"""Emission: nests of steps as the text of a Python module that Numba compiles and a person can read.

    emit, printer, vocabulary   a function's text, its state while it is printed, what it may call
    emit_*                      steps, loops, branches, reductions, calls
    allocation_hoisting, loop_splitting, unroll_and_jam, zero_terms   loops as they are printed
    parallel, work              loops on all cores, and whether a call has enough work for them
"""
