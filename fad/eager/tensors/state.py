"""Modes: grad mode, inference mode, hooks for saved tensors, the dual level, ...; and how far the backward passes of a
thread are.

    now().grad                 what holds in this context: of this thread, and of this asyncio task
    change(grad=False)         from here on, another mode; with changed(grad=False): the same for a while

Modes are a value of a context variable that nothing changes in place, so that none leaks to another thread or, over an
await, to another task. A new thread starts with the defaults; a task, and what asyncio.to_thread runs, with the modes
in force where they are started.
"""
import threading
from contextvars import ContextVar
from typing import Any
from weakref import WeakSet

_FLAGS: dict[str, Any] = {
    "grad": True,
    "inference": False,
    "forward_grad": True,
    "multithreading": True,
    "view_replay": False,                 # whether views made anew are told step by step
    "overridden": True,                   # whether subclasses of Tensor have a say in functions
    "anomalous": None,                    # anomaly mode; None: as in the process
    "watching_nan": None,                 # whether it looks for nan; likewise
    "early_stop": None,                   # of checkpoints; None: as they were told
    "checkpoint_debug": None,             # likewise
    "pulling_twice": False,               # whether a tangent is computed by two backward passes
    "of_an_example": False,               # whether vmap runs a function on one example after the other
}
_OTHERS: dict[str, Any] = {
    "pack_hooks": (),                     # pairs (pack, unpack), the innermost last
    "hooks_refused": None,                # why saved_tensors_hooks may not be used just now
    "mutation": None,                     # the table of allow_mutation_on_saved_tensors
    "dual_level": -1,
    "entered_level": -1,                  # the same, but for the insides of Functions, which see no tangents
    "duals": (),                          # weak references to what carries tangents
    "profiler": None,
    "group": None,                        # the GraphExecGroup
}


class Process:
    """The settings that hold wherever a context says nothing else."""

    anomaly = False
    check_nan = True


class Modes:
    """The modes of a context; never changed, but for `quick`, which anomaly mode in the whole process ends.

    `quick` is true while nothing but recording is asked for: it is the one flag that the hot path of an operation
    reads. `then` remembers what modes a change leads to, of modes that are flags only: there are few of them.
    """

    __slots__ = (*_FLAGS, *_OTHERS, "quick", "then", "__weakref__")

    def __init__(self, values: dict, plain: bool):
        for name, value in values.items():
            setattr(self, name, value)
        self.then: dict | None = {} if plain else None
        self.settle()
        if self.quick:
            _quick.add(self)

    def settle(self) -> None:
        """Find out whether the hot path may be taken."""
        self.quick = (self.grad and not (self.inference or self.anomaly or self.pack_hooks)
                      and self.mutation is self.profiler is None and self.dual_level < 0)

    @property
    def anomaly(self) -> bool:
        """Whether anomaly mode is on."""
        return Process.anomaly if self.anomalous is None else self.anomalous

    @property
    def check_nan(self) -> bool:
        """Whether anomaly mode looks for nan."""
        return Process.check_nan if self.watching_nan is None else self.watching_nan

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"there is no mode {name!r}")


_quick: WeakSet = WeakSet()
_DEFAULT = Modes({**_FLAGS, **_OTHERS}, True)
_plain: dict[tuple, Modes] = {tuple(_FLAGS.values()): _DEFAULT}
_context: ContextVar = ContextVar("fad.modes", default=_DEFAULT)
now = _context.get


def change(**given: object) -> None:
    """Other modes, from here on."""
    _context.set(_changed(now(), given))


def set_grad(modes: Modes, grad: bool) -> None:
    """change(grad=grad), of the modes that hold now, at less cost."""
    if modes.grad is not grad:
        found = modes.then.get(grad) if modes.then is not None else None
        if found is None:
            found = _changed(modes, {"grad": grad})
            if modes.then is not None:
                modes.then[grad] = found
        _context.set(found)


def _changed(modes: Modes, given: dict) -> Modes:
    """The modes with some of them given."""
    if modes.then is None or not _FLAGS.keys() >= given.keys():
        return _of({**{name: getattr(modes, name) for name in (*_FLAGS, *_OTHERS)}, **given})
    key = tuple(given.items())
    found = modes.then.get(key)
    if found is None:
        found = modes.then[key] = _of({**{name: getattr(modes, name) for name in (*_FLAGS, *_OTHERS)}, **given})
    return found


def _of(values: dict) -> Modes:
    """The modes with these values; those that are flags only are made once."""
    if any(values[name] != value for name, value in _OTHERS.items() if name != "duals") or values["duals"]:
        return Modes(values, False)
    key = tuple([values[name] for name in _FLAGS])
    return _plain.get(key) or _plain.setdefault(key, Modes(values, True))


class changed:
    """Within, some modes are other ones."""

    __slots__ = ("given", "before", "within")

    def __init__(self, **given: object):
        self.given = given

    def __enter__(self) -> None:
        self.before = now()
        self.within = _changed(self.before, self.given)
        _context.set(self.within)

    def __exit__(self, *exc: object) -> None:
        at_end = now()
        if at_end is not self.within:                         # what was changed besides, and not put back, stays
            self.before = _changed(at_end, {name: getattr(self.before, name) for name in self.given})
        _context.set(self.before)


def restore(modes: Modes) -> None:
    """These modes again, whatever was changed since."""
    _context.set(modes)


def set_for_all(**given: object) -> None:
    """Change what holds in the process."""
    for name, value in given.items():
        setattr(Process, name, value)
    for modes in list(_quick):
        modes.settle()


class State(threading.local):
    """The backward passes that run in this thread; class attributes are the defaults of every thread."""

    evaluating: Any = None                     # the node whose backward is running
    depth = 0                                  # of backward passes within backward passes
    run: Any = None                            # the backward pass that is running


state = State()
