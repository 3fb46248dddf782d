"""Python's collector is stopped while functions are traced, and at work again afterwards, whatever comes in between."""
import gc
import sys

from fad.util.collection import collection_paused


def paused(interrupted_at):
    """A block, before whose line with this number another one runs, as a signal handler may trace a function of its
    own; how many lines ran."""
    lines = []

    def line(frame, event, _):
        lines.append(frame.f_lineno)
        if event == "line" and len(lines) == interrupted_at:
            with collection_paused():
                pass
        return line

    before = sys.gettrace()
    sys.settrace(lambda frame, *_: line if frame.f_code.co_name == "collection_paused" else None)
    try:
        with collection_paused():
            assert not gc.isenabled() or not lines
    finally:
        sys.settrace(before)
    return len(lines)


def test_a_block_may_begin_and_end_within_any_step_of_another(idle_compiler):
    assert gc.isenabled()
    for step in range(paused(0)):
        paused(step + 1)
        assert gc.isenabled()
