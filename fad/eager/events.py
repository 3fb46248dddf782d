"""What a profile consists of: events, averages of events of one name, and lists of either."""
import os
from collections.abc import Iterable
from typing import Any, NamedTuple

from ..util.lazy import LazyModule

json = LazyModule("json")


class Interval(NamedTuple):
    """From when to when, in microseconds."""

    start: float
    end: float

    def elapsed_us(self) -> float:
        """Microseconds between them."""
        return self.end - self.start


class FunctionEvent:
    """One thing that happened: its name, when, in which thread; sequence_nr is that of the node it made, or was the backward of.

    >>> FunctionEvent(id=0, name="aten::exp", thread=1, start_us=10, end_us=15).cpu_time_total
    5
    """

    def __init__(self, id: int, name: str, thread: int, start_us: float, end_us: float, overload_name: "str | None" = None, fwd_thread: "int | None" = None,
                 input_shapes: "list | None" = None, stack: "list | None" = None, sequence_nr: int = -1, node_id: int = -1, is_async: bool = False,
                 is_remote: bool = False, **others: Any):
        self.id, self.node_id, self.name, self.overload_name = id, node_id, name, overload_name
        self.key = self.trace_name = name
        self.time_range = Interval(start_us, end_us)
        self.thread, self.fwd_thread, self.sequence_nr = thread, fwd_thread, sequence_nr
        self.input_shapes, self.stack = input_shapes or [], stack or []
        self.is_async, self.is_remote = is_async, is_remote
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
    device_time_total = self_device_time_total = cuda_time_total = 0.0

    def __repr__(self) -> str:
        return f"<FunctionEvent id={self.id} name={self.name} cpu_time={self.cpu_time_total:.3f}us thread={self.thread} input_shapes={self.input_shapes}>"


class FunctionEventAvg:
    """Events of one name, added up."""

    device_time_total = self_device_time_total = cuda_time_total = device_time = 0.0

    def __init__(self, key: "str | None" = None) -> None:
        self.key, self.count, self.cpu_time_total, self.self_cpu_time_total = key, 0, 0.0, 0.0
        self.input_shapes: list = []
        self.stack: list = []

    def add(self, event: Any) -> "FunctionEventAvg":
        """Count an event (or another average) in."""
        if self.key is None:
            self.key = event.key
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

    def _populate_cpu_children(self) -> None:
        """Tell each event which ones lie within it (and in no other one within it), thread by thread."""
        for thread in dict.fromkeys(e.thread for e in self):
            around: list = []
            for e in sorted((e for e in self if e.thread == thread), key=lambda e: (e.time_range.start, -e.time_range.end)):
                while around and (e.time_range.start >= around[-1].time_range.end or e.time_range.end > around[-1].time_range.end):
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

    def table(self, sort_by: "str | None" = None, row_limit: int = 100, max_src_column_width: int = 75, max_name_column_width: int = 55,
              max_shapes_column_width: int = 80, header: "str | None" = None, top_level_events_only: bool = False) -> str:
        """The events as a table."""
        events: Iterable = [e for e in self if getattr(e, "cpu_parent", None) is None] if top_level_events_only else self
        if sort_by is not None:
            events = sorted(events, key=lambda e: getattr(e, sort_by), reverse=True)
        whole = self.self_cpu_time_total or 1.0
        rows = [("Name", "Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg", "# of Calls")]
        for e in list(events)[:row_limit]:
            name = e.key if len(e.key) <= max_name_column_width else e.key[:max_name_column_width - 3] + "..."
            rows.append((name, f"{100 * e.self_cpu_time_total / whole:.2f}%", microseconds(e.self_cpu_time_total), f"{100 * e.cpu_time_total / whole:.2f}%",
                         microseconds(e.cpu_time_total), microseconds(e.cpu_time_total / e.count), str(e.count)))
        return _set(rows, header) + f"\nSelf CPU time total: {microseconds(self.self_cpu_time_total)}\n"

    def export_chrome_trace(self, path: Any) -> None:
        """Write a file for chrome://tracing."""
        first = min((e.time_range.start for e in self), default=0)
        trace = [{"name": e.name, "ph": "X", "ts": e.time_range.start - first, "dur": e.cpu_time_total, "tid": e.thread, "pid": os.getpid(), "cat": "cpu_op",
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


_format_time = microseconds                       # PyTorch's name for it


def _set(rows: list, header: "str | None") -> str:
    widths = [max(len(row[k]) for row in rows) + 2 for k in range(len(rows[0]))]
    rule = "  ".join("-" * w for w in widths)
    lines = ["  ".join(cell.rjust(w) for cell, w in zip(row, widths)) for row in rows]
    return "\n".join([*([header] if header else []), rule, lines[0], rule, *lines[1:], rule])
