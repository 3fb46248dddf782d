"""Traced values: what a user's function sees in place of numbers and arrays.

    tracer      the traced array                           protocol    NumPy's protocols
    mutation    views, and how writes reach their base     standin, layout   whether NumPy gives a view or a copy
    place       where an array's elements lie              member      arrays and lists that lie in rows
    constants   values that are known while tracing        text        what a traced value says as text
    iterate     what a `for` may run over                  bound       names without a value on some paths
    aliases     what may be one                            sparse      SciPy's sparse matrices
    absent      what traced values do not have
    templates   texts from templates                       operators   comparisons, assignments in place, rounding
"""
