"""The interface of the parts of the runtime to each other. Each part is a module of its own (see control.py)."""
from collections.abc import Callable
from types import FunctionType
from typing import Any


class RuntimePart:
    """A part of the runtime, with what it may ask of the others."""

    capture: Any                                              # of the trace
    # facts of this trace about code
    unrolled: dict[object, Exception]                         # code of a loop's body -> why it is not one region
    peeled: set                                               # code of bodies of short loops that were no region
    forking: dict                                             # code of a `try` with forks -> what its handlers take
    flat: set                                                 # those whose paths go through every `try` within
    of_texts: dict[tuple, FunctionType]                       # (text, parameters, id of global names) -> its function
    # calls
    call: Callable                                            # f -> f as captured code calls it
    known_builtin: Callable                                   # a builtin function -> what is called for traced values
    builtin: Callable                                         # a function that asks special methods, or None
    is_rewritten: Callable                                    # whether a captured function says what it writes to
    special: Callable                                         # (x, name) -> the captured special method, or None
    text: Callable
    fills: Callable
    # operators, items and attributes
    binary: Callable
    compare: Callable
    compared: Callable                                        # notes what Python itself compares
    contains_: Callable
    hashed: Callable
    item: Callable
    attribute: Callable
    set_item: Callable
    set_attribute: Callable
    iterated: Callable
    asked_truth: Callable
    # branches and handlers
    truth: Callable
    if_: Callable
    ifexp: Callable
    and_: Callable
    or_: Callable
    not_: Callable
    all_hold: Callable
    is_: Callable
    is_not: Callable
    caught_plainly: Callable
    pass_on: Callable
