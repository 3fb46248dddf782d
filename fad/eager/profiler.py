"""The profiler: how long each operation takes, forward and backward."""
import json
import os
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from .record import timed
from .state import settle, state

_NAMES = {"contract": "aten::matmul", "expit": "aten::sigmoid", "concatenate": "aten::cat", "broadcast_to": "aten::expand"}


def event_name(op_name: str) -> str:
    """How an op is called in a profile.

    >>> event_name("exp"), event_name("contract")
    ('aten::exp', 'aten::matmul')
    """
    return _NAMES.get(op_name, f"aten::{op_name}")


class Event:
    """One thing that happened: its name, when, for how long (microseconds), in which thread."""

    def __init__(self, name: str, start: int, end: int, thread: int, shapes: "list | None" = None, stack: "list | None" = None, backward: bool = False,
                 sequence_nr: int = -1):
        self.name = self.key = self.trace_name = name
        self.start_ns, self.end_ns, self.thread, self.input_shapes = start, end, thread, shapes or []
        self.stack, self.is_backward, self.sequence_nr = stack or [], backward, sequence_nr
        self.children_ns = 0
        self.count = 1

    @property
    def cpu_time_total(self) -> float:
        """Microseconds from start to end."""
        return (self.end_ns - self.start_ns) / 1000

    @property
    def self_cpu_time_total(self) -> float:
        """Microseconds without those of the events within."""
        return max(0.0, self.cpu_time_total - self.children_ns / 1000)

    cpu_time = cpu_time_total
    device_time_total = cuda_time_total = 0.0

    def __repr__(self) -> str:
        return f"<Event {self.name} cpu_time={self.cpu_time_total:.3f}us thread={self.thread}>"


class Average:
    """Events of one name, added up."""

    def __init__(self, key: str):
        self.key, self.count, self.cpu_time_total, self.self_cpu_time_total = key, 0, 0.0, 0.0
        self.input_shapes: list = []
        self.stack: list = []

    def add(self, event: Any) -> "Average":
        """Count an event in."""
        self.count += event.count
        self.cpu_time_total += event.cpu_time_total
        self.self_cpu_time_total += event.self_cpu_time_total
        return self

    @property
    def cpu_time(self) -> float:
        """Microseconds on average."""
        return self.cpu_time_total / self.count if self.count else 0.0

    def __repr__(self) -> str:
        return f"<FunctionEventAvg key={self.key} self_cpu_time={self.self_cpu_time_total:.3f}us cpu_time={self.cpu_time:.3f}us count={self.count}>"


class EventList(list):
    """Events or averages, with ways of writing them down."""

    @property
    def self_cpu_time_total(self) -> float:
        """Microseconds spent in all events, each counted once."""
        return sum(e.self_cpu_time_total for e in self)

    def key_averages(self, group_by_input_shape: bool = False, group_by_stack_n: int = 0) -> "EventList":
        """Events of one name (and shapes of inputs, and innermost lines) added up."""
        found: dict = {}
        for e in self:
            key = (e.key, str(e.input_shapes) if group_by_input_shape else "", tuple(e.stack[:group_by_stack_n]))
            average = found.setdefault(key, Average(e.key))
            average.input_shapes = e.input_shapes if group_by_input_shape else []
            average.stack = e.stack[:group_by_stack_n]
            average.add(e)
        return EventList(found.values())

    def total_average(self) -> Average:
        """Everything added up."""
        total = Average("Total")
        for e in self:
            total.add(e)
        return total

    def table(self, sort_by: "str | None" = None, row_limit: int = 100, max_src_column_width: int = 75, max_name_column_width: int = 55,
              max_shapes_column_width: int = 80, header: "str | None" = None, top_level_events_only: bool = False) -> str:
        """The events as a table."""
        events: Iterable = self
        if sort_by is not None:
            events = sorted(self, key=lambda e: getattr(e, sort_by), reverse=True)
        whole = self.self_cpu_time_total or 1.0
        rows = [("Name", "Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg", "# of Calls")]
        for e in list(events)[:row_limit]:
            name = e.key if len(e.key) <= max_name_column_width else e.key[:max_name_column_width - 3] + "..."
            rows.append((name, f"{100 * e.self_cpu_time_total / whole:.2f}%", microseconds(e.self_cpu_time_total), f"{100 * e.cpu_time_total / whole:.2f}%",
                         microseconds(e.cpu_time_total), microseconds(e.cpu_time_total / e.count), str(e.count)))
        return _set(rows, header) + f"\nSelf CPU time total: {microseconds(self.self_cpu_time_total)}\n"

    def export_chrome_trace(self, path: Any) -> None:
        """Write a file for chrome://tracing."""
        first = min((e.start_ns for e in self), default=0)
        trace = [{"name": e.name, "ph": "X", "ts": (e.start_ns - first) / 1000, "dur": e.cpu_time_total, "tid": e.thread, "pid": os.getpid(), "cat": "cpu_op",
                  "args": {"Input dims": e.input_shapes}} for e in self]
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"traceEvents": trace}, file)

    def __str__(self) -> str:
        return self.table()


def microseconds(t: float) -> str:
    """A time with its unit.

    >>> microseconds(12.3456), microseconds(12345.6)
    ('12.346us', '12.346ms')
    """
    return f"{t / 1e6:.3f}s" if t >= 1e6 else f"{t / 1e3:.3f}ms" if t >= 1e3 else f"{t:.3f}us"


def _set(rows: list, header: "str | None") -> str:
    widths = [max(len(row[k]) for row in rows) + 2 for k in range(len(rows[0]))]
    rule = "  ".join("-" * w for w in widths)
    lines = ["  ".join(cell.rjust(w) for cell, w in zip(row, widths)) for row in rows]
    return "\n".join([*([header] if header else []), rule, lines[0], rule, *lines[1:], rule])


class profile:
    """Within, operations are timed.

    >>> import fad
    >>> with fad.autograd.profiler.profile() as prof:
    ...     _ = fad.ones(3).exp()
    >>> [e.name for e in prof.function_events]
    ['aten::exp']
    """

    def __init__(self, enabled: bool = True, *, use_cuda: bool = False, record_shapes: bool = False, with_flops: bool = False, profile_memory: bool = False,
                 with_stack: bool = False, with_modules: bool = False, use_kineto: bool = False, use_cpu: bool = True, **others: Any):
        if use_cuda:
            raise RuntimeError("use_cuda: there is no such device here, fad computes on the CPU")
        self.enabled, self.record_shapes = enabled, record_shapes
        self.events: list = []
        self.entered = False
        self.lock = threading.Lock()

    def __enter__(self) -> "profile":
        if not self.enabled:
            return self
        if self.entered or state.profiler is not None:
            raise RuntimeError("Profiler context manager is not reentrant")
        self.entered = True
        state.profiler = self
        settle()
        return self

    def __exit__(self, *exc: Any) -> None:
        if self.enabled:
            state.profiler = None
            settle()
            _nest(self.events)

    def note(self, name: str, start: int, shapes: "list | None" = None, backward: bool = False, node: Any = None) -> None:
        """An event that ends now."""
        event = Event(name, start, time.perf_counter_ns(), threading.get_ident(), shapes if self.record_shapes else None, backward=backward,
                      sequence_nr=getattr(node, "seq", -1))
        with self.lock:
            self.events.append(event)

    @property
    def function_events(self) -> EventList:
        """What happened, in order."""
        if not self.entered:
            raise RuntimeError("Profiler didn't finish running")
        return EventList(sorted(self.events, key=lambda e: e.start_ns))

    def key_averages(self, group_by_input_shape: bool = False, group_by_stack_n: int = 0) -> EventList:
        """Events of one name added up."""
        return self.function_events.key_averages(group_by_input_shape, group_by_stack_n)

    def total_average(self) -> Average:
        """Everything added up."""
        return self.function_events.total_average()

    @property
    def self_cpu_time_total(self) -> float:
        """Microseconds spent in all events, each counted once."""
        return self.function_events.self_cpu_time_total

    def table(self, *args: Any, **kwargs: Any) -> str:
        """The events as a table."""
        return self.function_events.table(*args, **kwargs)

    def export_chrome_trace(self, path: Any) -> None:
        """Write a file for chrome://tracing."""
        self.function_events.export_chrome_trace(path)

    def __repr__(self) -> str:
        return repr(self.function_events) if self.entered else "<unfinished profile>"

    def __str__(self) -> str:
        return str(self.function_events) if self.entered else "<unfinished profile>"


def _nest(events: list) -> None:
    """Tell each event how much of its time was spent in events within it."""
    for thread in {e.thread for e in events}:
        open_events: list = []
        for e in sorted((e for e in events if e.thread == thread), key=lambda e: (e.start_ns, -e.end_ns)):
            while open_events and open_events[-1].end_ns <= e.start_ns:
                open_events.pop()
            if open_events:
                open_events[-1].children_ns += e.end_ns - e.start_ns
            open_events.append(e)


class record_function:
    """Within (or in a function decorated with it), the time counts for an event of this name."""

    def __init__(self, name: str, args: "str | None" = None):
        self.name = name

    def __enter__(self) -> "record_function":
        self.started = time.perf_counter_ns()
        return self

    def __exit__(self, *exc: Any) -> None:
        if state.profiler is not None:
            state.profiler.note(self.name, self.started)

    def __call__(self, function: Callable) -> Callable:
        def decorated(*args: Any, **kwargs: Any) -> Any:
            with record_function(self.name):
                return function(*args, **kwargs)
        return decorated


def run_timed(name: str, run: Callable, arrays: list, params: dict) -> Any:
    """Run an op and note how long it took."""
    started = time.perf_counter_ns()
    result = run(*arrays, **params)
    state.profiler.note(event_name(name), started, [list(np.shape(a)) for a in arrays if isinstance(a, np.ndarray)])
    return result


timed.append(run_timed)


def _no_device(what: str, device: str) -> Callable:
    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(f"{what} needs {device}, and there is no such device here: fad computes on the CPU; use profiler.profile")
    refuse.__name__, refuse.__doc__ = what, f"Not here: it needs {device}."
    return refuse


emit_nvtx = _no_device("emit_nvtx", "an NVIDIA GPU and nvprof")
emit_itt = _no_device("emit_itt", "Intel's ITT collector")
load_nvprof = _no_device("load_nvprof", "a trace of nvprof")
