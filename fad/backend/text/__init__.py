"""Generated text as text: names, templates of ops, and passes over statements.

    names, templates        the user's names; templates and their precedence
    lines, aliasing         statements, which names are live, which arrays may share memory
    outline, suffix_array   equal statements become one function
    loop_inversion, sums    `while` becomes `for`; `+=` as a sum of free order
"""
