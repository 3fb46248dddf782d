"""Fourth floor: from a Python function to a Func, by running it once on tracers.

Each package imports those below it, and setup.cfg holds them to that:

    tracing     the trace of a function: its inputs, its outputs, what it rests on
    outcome     what a call leaves outside
    runtime     what rewritten code calls
    regions     branches and loops
    lists       lists that loops fill and index
    heap        what is read and written outside; what is new at each call
    values      traced arrays and their aliases
    guards      what a program rests on
    objects     Python's objects, read and put back
    frontend    source and bytecode
"""
