"""The profiler: how long each operation takes, forward and backward."""
import functools
import threading
import time
from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from ...util.array import AnyArray
from ...util.forks import renewed
from ..graph.record import timed
from ..tensors.errors import refuse_if
from ..tensors.state import change, now
from .events import BACKWARD, FUNCTION, USER, EventList, FunctionEvent

# how PyTorch calls what ops and composites are
_NAMES = dict(pair.split("=") for pair in (
    "contract=mm expit=sigmoid concatenate=cat broadcast_to=expand arcsin=asin arccos=acos arctan=atan arcsinh=asinh "
    "arccosh=acosh arctanh=atanh arctan2=atan2 clip=clamp mod=remainder rint=round cast=to update=index_put_ "
    "transpose=permute max=amax min=amin gammaln=lgamma log_expit=log_sigmoid gathered=gather in_order=sort "
    "foremost=topk scattered=scatter_add parts=index_select rows=embedding pooled=max_pool2d means=avg_pool2d "
    "floordiv=floor_divide").split())


def event_name(op_name: str) -> str:
    """The name of an op in a profile.

    >>> event_name("exp"), event_name("contract")
    ('aten::exp', 'aten::mm')
    """
    return f"aten::{_NAMES.get(op_name, op_name)}"


class profile:
    """Within, operations are timed.

    >>> import fad
    >>> with fad.autograd.profiler.profile() as prof:
    ...     _ = fad.ones(3).exp()
    >>> [e.name for e in prof.function_events]
    ['aten::exp']
    """

    def __init__(self, enabled: bool = True, *, use_cuda: bool = False, record_shapes: bool = False,
                 with_flops: bool = False, profile_memory: bool = False, with_stack: bool = False,
                 with_modules: bool = False, use_kineto: bool = False, use_cpu: bool = True, **others: object):
        refuse_if(use_cuda, "use_cuda: there is no such device here, fad computes on the CPU")
        self.enabled, self.record_shapes = enabled, record_shapes
        self.events: list = []
        self.threads: WeakKeyDictionary = WeakKeyDictionary()                 # in which thread a node was made
        self.entered = False
        self.lock = renewed(threading.RLock())

    def __enter__(self) -> "profile":
        if not self.enabled:
            return self
        refuse_if(self.entered or now().profiler is not None, "Profiler context manager is not reentrant")
        self.entered = True
        change(profiler=self)
        return self

    def __exit__(self, *exc: object) -> None:
        if self.enabled:
            change(profiler=None)
            EventList(self.events)._populate_cpu_children()

    def note(self, name: str, start: int, shapes: "list | None" = None, node: object = None,
             scope: int = FUNCTION) -> None:
        """An event that ends now."""
        event = FunctionEvent(len(self.events), name, threading.get_ident(), start / 1000,
                              time.perf_counter_ns() / 1000, input_shapes=shapes if self.record_shapes else None,
                              scope=scope if node is None else BACKWARD)
        if node is not None:
            event.sequence_nr, event.fwd_thread = node.seq, self.threads.get(node)
        elif scope == FUNCTION:
            event.fwd_thread = 0                                            # it is itself of a forward pass
        with self.lock:
            self.events.append(event)

    def made(self, node: object) -> None:
        """The latest event was the step that this node is for."""
        self.events[-1].sequence_nr = node.seq
        self.threads[node] = self.events[-1].thread

    @property
    def function_events(self) -> EventList:
        """The events, in order."""
        refuse_if(not self.entered, "Profiler didn't finish running")
        return EventList(sorted(self.events, key=lambda e: e.time_range.start))

    @property
    def self_cpu_time_total(self) -> float:
        """Microseconds spent in all events, each counted once."""
        return self.function_events.self_cpu_time_total

    def __repr__(self, form: Callable = repr) -> str:
        return form(self.function_events) if self.entered else "<unfinished torch.autograd.profile>"

    def __str__(self) -> str:
        return self.__repr__(str)


def _of_events(name: str) -> Callable:
    """The method of the list of events, of the profile."""
    @functools.wraps(getattr(EventList, name))
    def call(self: profile, *args: object, **kwargs: object) -> Any:
        return getattr(self.function_events, name)(*args, **kwargs)
    return call


for _name in ("key_averages", "total_average", "table", "export_chrome_trace"):
    setattr(profile, _name, _of_events(_name))


class record_function:
    """Within (or in a function decorated with it), the time counts for an event of this name."""

    def __init__(self, name: str, args: "str | None" = None):
        self.name = name

    def __enter__(self) -> "record_function":
        self.started = time.perf_counter_ns()
        return self

    def __exit__(self, *exc: object) -> None:
        if now().profiler is not None:
            now().profiler.note(self.name, self.started, scope=USER)

    def __call__(self, function: Callable) -> Callable:
        def decorated(*args: object, **kwargs: object) -> Any:
            with record_function(self.name):
                return function(*args, **kwargs)
        return decorated


def run_timed(name: str, run: Callable, arrays: list, params: dict) -> AnyArray:
    """Run an op and note how long it took."""
    started = time.perf_counter_ns()
    result = run(*arrays, **params)
    shapes = [list(np.shape(a)) for a in arrays if isinstance(a, np.ndarray)]
    now().profiler.note(event_name(name), started, shapes)
    if name == "contract":                                             # which matmul called
        now().profiler.note("aten::matmul", started, shapes)
    return result


timed.append(run_timed)


def _profiler_enabled() -> bool:
    """Whether a profile is being taken in this thread."""
    return now().profiler is not None


def kineto_available() -> bool:
    """Whether there is PyTorch's tracer of devices: there is none here, and none is needed on a CPU."""
    return False


def _no_device(what: str, device: str) -> Callable:
    def refuse(*args: object, **kwargs: object) -> Any:
        raise RuntimeError(f"{what} needs {device}, and there is no such device here: fad computes on the CPU; use "
                           "profiler.profile")
    refuse.__name__, refuse.__doc__ = what, f"Not here: it needs {device}."
    return refuse


class emit_itt:
    """Marks for Intel's ITT collector, of which there is none here: nothing changes within."""

    def __init__(self, enabled: bool = True, record_shapes: bool = False):
        self.enabled, self.record_shapes = enabled, record_shapes

    def __enter__(self) -> "emit_itt":
        return self

    def __exit__(self, *exc: object) -> None:
        """There is nothing to end."""


class emit_nvtx(emit_itt):
    """Marks for NVIDIA's nvprof: refused, since there is no such device here, unless it is not enabled."""

    def __enter__(self) -> "emit_nvtx":
        if self.enabled:
            _no_device("emit_nvtx", "an NVIDIA GPU and nvprof")()
        return self


load_nvprof = _no_device("load_nvprof", "a trace of nvprof")
