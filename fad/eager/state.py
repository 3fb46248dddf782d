"""What holds for one thread: grad mode, inference mode, hooks for saved tensors, the dual level; and what holds for all (anomaly mode).

`quick` is true while nothing but recording is asked for: it is the one flag that the hot path of an operation reads.
"""
import threading
from typing import Any

from ..ir import stack


class State(threading.local):
    """Settings of the current thread; class attributes are the defaults of every thread."""

    quick = True
    grad = True
    inference = False
    forward_grad = True
    multithreading = True
    pack_hooks: tuple = ()                     # pairs (pack, unpack), the innermost last
    hooks_refused: "str | None" = None         # why saved_tensors_hooks may not be used just now
    mutation: Any = None                       # the table of allow_mutation_on_saved_tensors
    dual_level = -1
    entered_level = -1                         # the same, but for the insides of Functions, which see no tangents
    duals: list = []                           # weak references to what carries tangents
    anomaly = False                            # for all threads: set on the class
    check_nan = True
    profiler: Any = None
    evaluating: Any = None                     # the node whose backward is running
    depth = 0                                  # of backward passes within backward passes
    view_replay = False                        # whether views made anew are told step by step
    overridden = True                          # whether subclasses of Tensor have a say in functions
    run: Any = None                            # the backward pass that is running


state = State()
stack_of_builders = stack.builders


def settle() -> None:
    """Find out anew whether the hot path may be taken."""
    quick = (state.grad and not state.inference and not state.pack_hooks and state.mutation is None and state.dual_level < 0
             and not state.anomaly and state.profiler is None)
    if quick and State.quick:
        state.__dict__.pop("quick", None)
    else:
        state.quick = quick


class changed:
    """Within, attributes of the state are other ones."""

    __slots__ = ("given", "before")

    def __init__(self, **given: Any):
        self.given = given

    def __enter__(self) -> None:
        self.before = {name: getattr(state, name) for name in self.given}
        for name, value in self.given.items():
            setattr(state, name, value)
        settle()

    def __exit__(self, *exc: Any) -> None:
        for name, value in self.before.items():
            setattr(state, name, value)
        settle()


def set_for_all(**given: Any) -> None:
    """Change what holds in all threads."""
    for name, value in given.items():
        setattr(State, name, value)
        state.__dict__.pop(name, None)
    State.quick = not State.anomaly
    settle()
