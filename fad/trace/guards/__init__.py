"""Guards: what a program rests on outside, and whether that is still the same.

checks      all guards of a program as one generated function
escapes     objects that are handed to code which is not captured
closures    functions taken apart: what they close over, and what of it is a number or an array
part_kinds  what closures consist of, and how that is taken apart and put together
reads       what code may read that is not rewritten                 profiled_calls   which of it has run
implicit_calls   methods that Python calls by itself                 python_objects   modules, classes, locks, ...
weak_guards what was found by weak references
purity      what functions of Python's own library depend on         settings    what tells how things are set
guard       the kinds of guards                                      bytecode    facts from a function's bytecode
snapshot    containers and objects with all in them
kinds       containers, open objects
"""
