"""Records of a trace beside the IR: one TraceState for a whole program, one RegionState for each of its regions.

A builder holds both and reads neither: the packages of `trace` fill them and ask them.
"""
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from ..util.listening import listening, outlets
from ..util.refusals import Refusals
from .graph import Var


@dataclass(slots=True)
class TraceState:
    """Facts about a program that is being traced. All builders of the program share it."""

    # -- arrays from outside, and constants -----------------------------------------------------------
    captured: dict[int, tuple[Any, Any]] = field(default_factory=dict)     # id(array) -> the array, its Value
    owners: dict[int, np.ndarray] = field(default_factory=dict)        # id -> arrays whose views are traced as views
    read_as_is: dict[int, object] = field(default_factory=dict)    # arrays and buffers that stay what they are
    held: set[int] = field(default_factory=set)                 # arrays that a library returned and may keep (ids)
    watched: dict[int, bytes] = field(default_factory=dict)     # arrays that may change unseen: id -> bytes when used
    read_only: dict[int, Any] = field(default_factory=dict)     # id -> arrays that setflags(write=False) was called of
    fresh_constants: dict[Var, Any] = field(default_factory=dict)          # arrays that the function itself made
    known_constants: dict[tuple, Var] = field(default_factory=dict)        # the same arrays, by their contents
    dense: dict[Var, Any] = field(default_factory=dict)         # whether an array is in C order, or its outer variable
    relied: dict[Var, None] = field(default_factory=dict)       # inputs whose memory order the program relies on

    # -- guards ---------------------------------------------------------------------------------------
    sources: list[Any] = field(default_factory=list)            # what the function read outside
    guarded: dict[int, Any] = field(default_factory=dict)       # objects that are guarded as a whole
    taken_apart: dict[int, Any] = field(default_factory=dict)   # outer objects that regions hand on by value
    classes: dict[type, None] = field(default_factory=dict)     # of objects that it makes or reads attributes of
    reads: Any = None                                           # reads of code that is not rewritten (trace/guards)
    shown: dict[int, Any] = field(default_factory=dict)         # objects that hide nothing from code that is not

    refusals: Refusals = field(default_factory=Refusals)        # that other code may take for an answer

    # -- state: what is read, written, and new at each call -------------------------------------------
    journal: Any = None                                         # what is written to (trace/heap/journal)
    opened: dict[int, Any] = field(default_factory=dict)        # outer objects that the function may change
    tails: list[Any] = field(default_factory=list)              # of lists that get elements in regions (lists/tails)
    stand_ins: list[tuple] = field(default_factory=list)        # outer container, its private copy, what it held
    inside: dict[int, Any] = field(default_factory=dict)        # objects that the function itself made
    rewritten: dict[tuple, tuple] = field(default_factory=dict)            # attributes that were given what they had
    lifted: dict[tuple, Any] = field(default_factory=dict)      # (id of globals, name) or (id of a cell, "") -> input
    lifted_owners: dict[int, Any] = field(default_factory=dict)            # objects in which inputs stand
    lifted_from: dict[tuple, Any] = field(default_factory=dict)            # key of a location -> its input
    lifted_arrays: dict[int, Any] = field(default_factory=dict)            # id of such an input -> its location
    trees: Any = None                                           # copies of what may be another thing (heap/trees)
    generators: dict[int, tuple] = field(default_factory=dict)  # id of a generator made inside -> it, its builder
    drawn: dict[Var, tuple] = field(default_factory=dict)       # inputs that the prelude sets -> operand, traced value
    handles: dict[int, tuple] = field(default_factory=dict)     # id of a generator of the prelude -> it, operand, state
    foreign: dict[int, tuple] = field(default_factory=dict)     # id of what pure steps ask -> it, its copy, its bytes
    foreign_values: dict[int, tuple] = field(default_factory=dict)         # id of a value of theirs -> var, operand, it
    foreign_results: dict[tuple, object] = field(default_factory=dict)     # what a read is of -> what it gives
    foreign_steps: dict[int, tuple] = field(default_factory=dict)          # number of a pure step -> it, what it gave
    count_of_steps: int = 0                                     # of the prelude
    locks: dict[int, Any] = field(default_factory=dict)         # id -> locks that the function takes
    ledger: Any = None                                          # the position of the next draw, if the kernel draws
    first_position: Any = None                                  # the step that gives the first one
    makers: dict[int, tuple] = field(default_factory=dict)      # id of a generator -> it, what makes it anew, state

    # -- arguments ------------------------------------------------------------------------------------
    arguments: Any = ()                                         # the function's, with traced values in their places
    is_of_numba: bool = False                                   # whether it calls a function that Numba compiled
    identity_checks: list[tuple] = field(default_factory=list)       # pairs of inputs, and whether they are one array
    read: list[Any] = field(default_factory=list)               # arrays that were read and may be others
    two_objects: dict[int, Any] = field(default_factory=dict)   # arrays that stand for all views of them
    choices: dict[Any, Any] = field(default_factory=dict)       # kind -> table of what is chosen (trace/values/choice)
    apart: dict[Var, dict] = field(default_factory=dict)        # inputs -> those that share no memory with them
    alternatives: dict[int, tuple] = field(default_factory=dict)           # an inner function's array -> it may be ...

    # -- branches and loops ---------------------------------------------------------------------------
    unrolled: dict[Any, Any] = field(default_factory=dict)      # lines of loops that are no region -> why
    paths: list[Any] = field(default_factory=list)              # through `try` statements (trace/regions/paths)
    settled: dict[int, Any] = field(default_factory=dict)       # equations that raise nothing on their path, by id
    raised: dict[int, tuple] = field(default_factory=dict)      # id of a check -> it, and the class that Python raises
    mixed: dict[Var, tuple] = field(default_factory=dict)       # results of several kinds: site, kinds (ops/mixed)
    doubtful: dict[Var, set] = field(default_factory=dict)      # numbers taken out of lists -> the types of its numbers
    supposing: dict[Any, tuple] = field(default_factory=dict)   # site -> the kind that is supposed of its results
    supposed: dict[Var, Any] = field(default_factory=dict)      # values that are so supposed
    has_optional: bool = False                                  # whether values may be None (trace/regions/optional)
    asked: bool = False                                         # whether the class of a number was asked for
    subclass_arrays: dict[int, object] = field(default_factory=dict)   # of what inputs stand for, by id

    # -- floating-point errors and warnings -----------------------------------------------------------
    strict: bool = False                                        # whether they may raise (trace/regions/handlers)
    listening: Any = field(default_factory=listening)           # who hears of them when the trace begins
    tells: bool = False                                         # whether the function has printed or logged
    outlets: tuple = field(default_factory=outlets)             # where lines and warnings go then
    listeners: Any = None                                       # the line where the function asked to be told
    settings: Any = None                                        # by which `listeners` was found out

    frontend: Any = None                                        # what captures functions (trace/runtime/capture)

    def let_go(self) -> None:
        """Forget all: the trace is over, and objects of the user's may live no longer than without it. Builders and
        values refer to each other, and stay until Python collects such cycles."""
        for each in fields(self):
            x = getattr(self, each.name)
            if isinstance(x, (list, dict, set)):              # others may refer to it
                x.clear()
            else:
                setattr(self, each.name, None)


ONCE = "once"  # of a region: what it records runs as often as the region around it
EXAMPLE = "example"  # of a region: what it records runs for all examples of a batch, in no order


@dataclass(slots=True)
class RegionState:
    """Facts about one region (the whole function, a loop's body, a side of a branch) while it is traced."""

    serial: int = 0                                               # when it began (trace/heap/journal)
    mutated: dict[int, tuple] = field(default_factory=dict)     # id of a tracer changed here -> it, what it held
    arrived: dict[int, tuple] = field(default_factory=dict)     # of a function: id of an input -> it, what is outside
    twins: list[Any] = field(default_factory=list)              # containers that may be one (trace/values/aliases)
    twins_of: dict[int, list] = field(default_factory=dict)     # id of a container -> its twins
    entangled: list[tuple] = field(default_factory=list)        # tracers that got aliases or are lost, and the marks
    ties: dict[int, list] = field(default_factory=dict)         # of lists (values/member): [ties, written inside]
    steps: list[Any] = field(default_factory=list)              # of the prelude: Python's calls before the program
    runs: Any = None                                            # ONCE, EXAMPLE, (iteration, count), or None: unknown
    side: Any = None                                            # of a branch: its selector, and which side it is
    memory: Any = None                                          # of an iteration: what its inner loops came to
    is_retried: bool = False                                    # whether it is traced anew when a list asks
