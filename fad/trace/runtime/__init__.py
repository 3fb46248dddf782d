"""The functions that rewritten code calls, and the stand-ins that it sees in place of libraries.

    control     the constructs of the language             looping     loops and comprehensions
    datamodel   operators, items, attributes               builtin     Python's builtin functions
    ordering    min, max, sorted, any, all                 calls       calls of what is not captured
    capture     a copy of a function with swapped names    scopes      its globals and closure
    library     stand-ins of modules and their functions   namespaces  fad.numpy and its kin
    branching   if, and, or, not, chains                   special_methods   Python's special methods by their callers
    parts       what the parts of the runtime ask          output      what is printed, logged and warned of
    text_trees  texts and values of such lines             protocols   what Python's builtin functions ask of objects
    handling    try, raise, assert, with                   outer_containers   containers and arrays from outside
    named_methods   L.__setitem__(0, v)
"""
