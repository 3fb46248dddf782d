"""A call of a transformed function: its leaves, the program that answers it, and what happens when there is none.

    staged, staged_programs            what `grad` returns, and its programs
    leaves, ravel, names, signatures   arguments as trees; the users' names and types
    transform_cache, shared_programs   programs that are kept, and shared by functions of equal code
    nested                             transforms within traced code
    fallback, refusals, error_text     the tape, when to stop trying, what users are told
    state                              state that calls change
    discontinuities                    jumps of an integrand
    notebook, printing                 how a function looks in a notebook; debug_print
"""
