"""State: what a function reads and writes outside, and what is new at each call (docs/design/heap.md).

    journal     what a trace writes to, with its contents before      opaque      calls of code that fad cannot see
    state       the state that a region changes                       effects     what becomes of a trace's writes
    percall     values that are new at each call                      operands    the arguments of such calls
    lifting     state that becomes an input                           callbacks   functions that are handed to libraries
    cached      functions with a cache                                none_tests  methods that ask `is None`
"""
