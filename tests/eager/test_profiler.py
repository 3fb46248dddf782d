"""Profiles: what happened, what lies within what, which step a backward belongs to."""
import json

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
    forward, outer, inner = [e for e in taken.function_events if e.name in ("aten::add", "AddBackward0")
                             or e.name.endswith(": AddBackward0")]
    assert ((forward.name, outer.name, inner.name)
            == ("aten::add", "autograd::engine::evaluate_function: AddBackward0", "AddBackward0"))
    assert forward.sequence_nr == outer.sequence_nr == inner.sequence_nr >= 0
    assert outer.fwd_thread == forward.thread and inner.cpu_parent is outer


def test_names_of_ones_own_hold_what_happens_in_them():
    with profile() as taken, record_function("mine"):
        fad.ones(3).exp()
    mine, inner = taken.function_events
    assert mine.name == "mine" and inner.cpu_parent is mine
    outer = taken.table(top_level_events_only=True)
    assert "mine" in outer and "aten::exp" not in outer


def taken():
    x = fad.ones(2, 2, requires_grad=True)
    with profile(record_shapes=True) as prof:
        with record_function("mine"):
            y = (x @ x).exp().sum()
        y.backward()
    return prof


def test_traces_have_the_fields_of_pytorch(tmp_path):
    taken().export_chrome_trace(tmp_path / "trace.json")
    trace = json.loads((tmp_path / "trace.json").read_text())
    assert trace["schemaVersion"] == 1 and trace["displayTimeUnit"] == "ms"
    events = trace["traceEvents"]
    assert {"process_name", "thread_name"} <= {e["name"] for e in events if e["ph"] == "M"}
    ops = {e["name"]: e for e in events if e["ph"] == "X"}
    op = ops["aten::exp"]
    assert ops["mine"]["cat"] == "user_annotation" and op["cat"] == "cpu_op" and op["args"]["Input Dims"] == [[2, 2]]
    starts, ends = ({e["id"]: e for e in events if e["ph"] == ph} for ph in "sf")
    number = op["args"]["Sequence number"]
    assert starts[number]["ts"] == op["ts"] and number in ends
    assert ops["ExpBackward0"]["args"]["Sequence number"] == number


def test_tables_are_set_as_by_pytorch():
    averages = taken().key_averages(group_by_input_shape=True)
    table = averages.table(sort_by="cpu_time_total", row_limit=2, header="All of it", max_name_column_width=30)
    double, title, rule, names, above, _, _, below, total, last = table.split("\n")
    assert double == "=" * len(rule) and rule == above == below and rule.startswith("-" * 30 + "  " + "-" * 12 + "  ")
    assert title == "All of it" and total.startswith("Self CPU time total: ") and last == ""
    assert names.split("  ")[-2].strip() == "Input Shapes" and names.split()[0] == "Name"
    assert averages[0].self_cpu_time_total_str.endswith("s")
    assert repr(profile()) == "<unfinished torch.autograd.profile>"


def test_products_and_layers_are_told_by_the_functions_that_users_call():
    with fad.autograd.profiler.profile(record_shapes=True) as taken:
        fad.nn.functional.linear(fad.ones(4, 3), fad.ones(2, 3), fad.ones(2))
        fad.ones(2, 3) @ fad.ones(3, 2)
        fad.ones(3).asin()
    shapes = {e.name: e.input_shapes for e in taken.function_events}
    assert shapes["aten::linear"] == [[4, 3], [2, 3], [2]]
    assert shapes["aten::mm"] == shapes["aten::matmul"] == [[2, 3], [3, 2]]
    assert {"aten::addmm", "aten::asin"} <= shapes.keys()
