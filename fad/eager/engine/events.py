"""The parts of a profile: events, averages of events of one name, and lists of either."""
import enum
import os
import platform
import time
from collections.abc import Iterable
from typing import NamedTuple

from ...util.lazy import LazyModule

json = LazyModule("json")


# what an event is of: an op, a node's backward, a stretch that the user named (PyTorch's numbers)
FUNCTION, BACKWARD, USER = 0, 1, 7


class DeviceType(enum.IntEnum):
    """The device of an event: there is the CPU."""

    CPU = 0

    def __str__(self) -> str:
        return f"DeviceType.{self.name}"


class Timed:
    """The times of events and of averages of them in words, and the attributes of devices that are not here."""

    device_type = DeviceType.CPU
    device_time_total = self_device_time_total = cuda_time_total = self_cuda_time_total = device_time = cuda_time = 0.0
    cpu_memory_usage = self_cpu_memory_usage = device_memory_usage = 0
    node_id = -1
    is_async = is_remote = is_legacy = is_user_annotation = False
    cpu_time_str = property(lambda self: microseconds(self.cpu_time), doc="The average time with its unit.")
    cpu_time_total_str = property(lambda self: microseconds(self.cpu_time_total), doc="The time with its unit.")
    self_cpu_time_total_str = property(lambda self: microseconds(self.self_cpu_time_total),
                                       doc="The time without that of events within, with its unit.")


class Interval(NamedTuple):
    """From when to when, in microseconds."""

    start: float
    end: float

    def elapsed_us(self) -> float:
        """Microseconds between them."""
        return self.end - self.start


class FunctionEvent(Timed):
    """One thing that happened: its name, when, in which thread; sequence_nr is that of the node it made, or was the
    backward of.

    >>> FunctionEvent(id=0, name="aten::exp", thread=1, start_us=10, end_us=15).cpu_time_total
    5
    """

    def __init__(self, id: int, name: str, thread: int, start_us: float, end_us: float,
                 overload_name: "str | None" = None, fwd_thread: "int | None" = None,
                 input_shapes: "list | None" = None, stack: "list | None" = None, sequence_nr: int = -1,
                 node_id: int = -1, is_async: bool = False, is_remote: bool = False, scope: int = FUNCTION,
                 concrete_inputs: "list | None" = None, **others: object):
        self.id, self.node_id, self.name, self.overload_name, self.scope = id, node_id, name, overload_name, scope
        self.key = self.trace_name = name
        self.time_range = Interval(start_us, end_us)
        self.thread, self.fwd_thread, self.sequence_nr = thread, fwd_thread, sequence_nr
        self.input_shapes, self.stack = input_shapes or [], stack or []
        self.is_async, self.is_remote = is_async, is_remote
        self.kernels: list = []
        self.concrete_inputs, self.is_user_annotation = concrete_inputs or [], scope == USER
        self.count = 1
        self.cpu_children: list[FunctionEvent] = []
        self.cpu_parent: FunctionEvent | None = None

    def append_cpu_child(self, child: "FunctionEvent") -> None:
        """child lies within this event."""
        self.cpu_children.append(child)
        child.cpu_parent = self

    @property
    def cpu_time_total(self) -> float:
        """Microseconds from start to end."""
        return self.time_range.elapsed_us()

    @property
    def self_cpu_time_total(self) -> float:
        """Microseconds without those of the events within."""
        return max(0.0, self.cpu_time_total - sum(child.cpu_time_total for child in self.cpu_children))

    cpu_time = cpu_time_total

    def __repr__(self) -> str:
        return (f"<FunctionEvent id={self.id} name={self.name} overload_name={self.overload_name or ''} "
                f"device_type={self.device_type} node_id={self.node_id} cpu_time={self.cpu_time_str} "
                f"start_us={self.time_range.start} end_us={self.time_range.end} "
                f"cpu_children={[child.id for child in self.cpu_children]} name={self.name} thread={self.thread} "
                f"input_shapes={self.input_shapes} cpu_memory_usage={self.cpu_memory_usage} is_async={self.is_async} "
                f"is_remote={self.is_remote} seq_nr={self.sequence_nr} is_legacy={self.is_legacy}>")


class FunctionEventAvg(Timed):
    """Events of one name, added up."""

    scope = FUNCTION

    def __init__(self, key: "str | None" = None) -> None:
        self.key, self.count, self.cpu_time_total, self.self_cpu_time_total = key, 0, 0.0, 0.0
        self.input_shapes: list = []
        self.stack: list = []

    def add(self, event: object) -> "FunctionEventAvg":
        """Count an event (or another average) in."""
        if self.key is None:
            self.key = event.key
        self.scope = event.scope
        self.count += event.count
        self.cpu_time_total += event.cpu_time_total
        self.self_cpu_time_total += event.self_cpu_time_total
        return self

    @property
    def cpu_time(self) -> float:
        """Microseconds on average."""
        return self.cpu_time_total / self.count if self.count else 0.0

    def __repr__(self) -> str:
        return (f"<FunctionEventAvg key={self.key} self_cpu_time={self.self_cpu_time_total_str} "
                f"cpu_time={self.cpu_time_str}  self_cuda_time=0.000us cuda_time=0.000us "
                f"input_shapes={self.input_shapes} cpu_memory_usage={self.cpu_memory_usage} cuda_memory_usage=0>")


class EventList(list):
    """Events or averages, with ways of writing them down."""

    @property
    def self_cpu_time_total(self) -> float:
        """Microseconds spent in all events, each counted once."""
        return sum(e.self_cpu_time_total for e in self)

    def _populate_cpu_children(self) -> None:
        """Tell each event which ones lie within it (and in no other one within it), thread by thread."""
        for thread in dict.fromkeys(e.thread for e in self):
            around: list = []
            for e in sorted((e for e in self if e.thread == thread),
                            key=lambda e: (e.time_range.start, -e.time_range.end)):
                while around and (e.time_range.start >= around[-1].time_range.end
                                  or e.time_range.end > around[-1].time_range.end):
                    around.pop()
                if around:
                    around[-1].append_cpu_child(e)
                around.append(e)

    def key_averages(self, group_by_input_shape: bool = False, group_by_stack_n: int = 0) -> "EventList":
        """Events of one name (and shapes of inputs, and innermost lines) added up."""
        found: dict = {}
        for e in self:
            key = (e.key, str(e.input_shapes) if group_by_input_shape else "", tuple(e.stack[:group_by_stack_n]))
            average = found.setdefault(key, FunctionEventAvg(e.key))
            average.input_shapes = e.input_shapes if group_by_input_shape else []
            average.stack = e.stack[:group_by_stack_n]
            average.add(e)
        return EventList(found.values())

    def total_average(self) -> FunctionEventAvg:
        """Everything added up."""
        total = FunctionEventAvg("Total")
        for e in self:
            total.add(e)
        return total

    def table(self, sort_by: "str | None" = None, row_limit: int = 100, max_src_column_width: int = 75,
              max_name_column_width: int = 55, max_shapes_column_width: int = 80, header: "str | None" = None,
              top_level_events_only: bool = False) -> str:
        """The events as a table."""
        events: Iterable = ([e for e in self if getattr(e, "cpu_parent", None) is None] if top_level_events_only
                            else self)
        if sort_by is not None:
            events = sorted(events, key=lambda e: getattr(e, sort_by), reverse=True)
        chosen = list(events)
        if not chosen:
            return ""
        whole = self.self_cpu_time_total or 1.0
        columns = [_Column("Name", [e.key for e in chosen], max_name_column_width)]
        for title, of in _TIMES.items():
            columns.append(_Column(title, [of(e, whole) for e in chosen], width=12))
        if any(e.input_shapes for e in chosen):
            columns.append(_Column("Input Shapes", [str(e.input_shapes) for e in chosen], max_shapes_column_width))
        return (_set(columns, min(row_limit, len(chosen)) if row_limit >= 0 else len(chosen), header,
                     top_level_events_only) + f"Self CPU time total: {microseconds(self.self_cpu_time_total)}\n")

    def export_chrome_trace(self, path: object) -> None:
        """Write a file for chrome://tracing."""
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"schemaVersion": 1, "deviceProperties": [], "host_name": platform.node(),
                       "displayTimeUnit": "ms", "baseTimeNanoseconds": time.time_ns() - time.perf_counter_ns(),
                       "traceName": str(path), "traceEvents": self._trace()}, file)

    def _trace(self) -> list:
        """The events as chrome://tracing reads them: names of threads, what happened, which backward is whose."""
        pid = os.getpid()
        trace: list = [{"ph": "M", "name": "process_name", "ts": 0, "pid": pid, "tid": 0, "args": {"name": "python"}},
                       {"ph": "M", "name": "process_labels", "ts": 0, "pid": pid, "tid": 0, "args": {"labels": "CPU"}}]
        for thread in dict.fromkeys(e.thread for e in self):
            trace.append({"ph": "M", "name": "thread_name", "ts": 0, "pid": pid, "tid": thread,
                          "args": {"name": f"thread {thread} (python)"}})
        made = {e.sequence_nr: e for e in self if e.scope == FUNCTION and e.sequence_nr >= 0}
        for e in self:
            args: dict = {"External id": e.id}
            if e.sequence_nr >= 0:
                args.update({"Sequence number": e.sequence_nr, "Fwd thread id": e.fwd_thread or 0})
            if e.input_shapes:
                args["Input Dims"] = e.input_shapes
            trace.append({"ph": "X", "cat": "user_annotation" if e.scope == USER else "cpu_op", "name": e.name,
                          "pid": pid, "tid": e.thread, "ts": e.time_range.start, "dur": e.cpu_time_total, "args": args})
            forward = made.get(e.sequence_nr) if e.scope == BACKWARD else None
            if forward is not None:
                flow = {"id": e.sequence_nr, "pid": pid, "cat": "fwdbwd", "name": "fwdbwd"}
                trace.append({"ph": "s", "tid": forward.thread, "ts": forward.time_range.start, **flow})
                trace.append({"ph": "f", "tid": e.thread, "ts": e.time_range.start, "bp": "e", **flow})
        return trace

    def __str__(self) -> str:
        return self.table()


def microseconds(t: float) -> str:
    """A time with its unit.

    >>> microseconds(12.3456), microseconds(12345.6)
    ('12.346us', '12.346ms')
    """
    return f"{t / 1e6:.3f}s" if t >= 1e6 else f"{t / 1e3:.3f}ms" if t >= 1e3 else f"{t:.3f}us"


_format_time = microseconds                       # PyTorch's name for it


class _Column:
    """A column of a table: as wide as its longest entry, up to a limit, or of a given width."""

    def __init__(self, title: str, entries: list, limit: int = 0, width: int = 0):
        self.title, self.width = title, width or min(max(map(len, entries)) + 4, limit)
        self.entries = [entry if len(entry) <= self.width else entry[:self.width - 3] + "..." for entry in entries]


_TIMES: dict = {"Self CPU %": lambda e, whole: f"{100 * e.self_cpu_time_total / whole:.2f}%",
                "Self CPU": lambda e, whole: e.self_cpu_time_total_str,
                "CPU total %": lambda e, whole: f"{100 * e.cpu_time_total / whole:.2f}%",
                "CPU total": lambda e, whole: e.cpu_time_total_str,
                "CPU time avg": lambda e, whole: e.cpu_time_str, "# of Calls": lambda e, whole: str(e.count)}


def _set(columns: list, count: int, header: "str | None", top: bool) -> str:
    """The lines of a table as PyTorch sets it."""
    def line(cells: Iterable) -> str:
        return "".join([f"{cell:>{column.width}}  " for cell, column in zip(cells, columns)])
    rule, double = line(["-" * column.width for column in columns]), "=" * sum(column.width + 2 for column in columns)
    lines = [double, header] if header else []
    lines += [double, "This report only display top-level ops statistics"] if top else []
    lines += [rule, line([column.title for column in columns]), rule]
    lines += [line([column.entries[k] for column in columns]) for k in range(count)]
    return "\n".join([*lines, rule, ""])
