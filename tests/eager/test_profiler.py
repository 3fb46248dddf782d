"""Profiles: what happened, what lies within what, which step a backward belongs to."""
import fad
from fad.autograd.profiler import EventList, FunctionEvent, FunctionEventAvg, profile, record_function

from .support import leaf


def event(number, start, end, thread=0, name="f"):
    return FunctionEvent(id=number, name=name, thread=thread, start_us=start, end_us=end)


def test_events_within_events():
    events = EventList([event(1, 0, 2), event(2, 1, 2), event(3, 1, 3), event(4, 1, 2, thread=1)])
    events._populate_cpu_children()
    assert [[child.id for child in e.cpu_children] for e in events] == [[], [], [2], []]
    assert events[2].self_cpu_time_total == 1 and events[1].cpu_parent is events[2]


def test_averages_add_up():
    average = FunctionEventAvg()
    average.add(event(0, 10, 15)).add(event(1, 20, 30))
    average.add(average)
    assert (average.key, average.count, average.cpu_time_total, average.cpu_time) == ("f", 4, 30, 7.5)


def test_a_backward_has_the_number_and_the_thread_of_its_step():
    x = leaf(1, 2)
    with profile() as taken:
        assert fad.autograd._profiler_enabled()
        (x + x.exp()).sum().backward()
    assert not fad.autograd._profiler_enabled()
    forward, outer, inner = [e for e in taken.function_events if e.name in ("aten::add", "AddBackward0") or e.name.endswith(": AddBackward0")]
    assert (forward.name, outer.name, inner.name) == ("aten::add", "autograd::engine::evaluate_function: AddBackward0", "AddBackward0")
    assert forward.sequence_nr == outer.sequence_nr == inner.sequence_nr >= 0
    assert outer.fwd_thread == forward.thread and inner.cpu_parent is outer


def test_names_of_ones_own_hold_what_happens_in_them():
    with profile() as taken, record_function("mine"):
        fad.ones(3).exp()
    mine, inner = taken.function_events
    assert mine.name == "mine" and inner.cpu_parent is mine
    assert "mine" in taken.table(top_level_events_only=True) and "aten::exp" not in taken.table(top_level_events_only=True)
