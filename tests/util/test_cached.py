"""Attributes that are computed once."""
import os
import threading

import pytest

from fad.util.cached import cached_attribute


class Slow:
    """Its attribute takes until `go_on`."""

    def __init__(self):
        self.started, self.go_on = threading.Event(), threading.Event()

    @cached_attribute
    def part(self):
        """A part."""
        self.started.set()
        self.go_on.wait(60.0)
        return [1]


def test_it_is_computed_once_and_has_its_text():
    slow = Slow()
    slow.go_on.set()
    assert slow.part is slow.part and Slow.part.__doc__ == "A part."


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_child_computes_what_another_thread_was_computing():
    slow, other = Slow(), Slow()
    other.go_on.set()
    thread = threading.Thread(target=lambda: slow.part)
    thread.start()
    slow.started.wait(60.0)
    pid = os.fork()
    if pid == 0:
        os._exit(0 if other.part == [1] else 1)
    slow.go_on.set()
    thread.join()
    assert os.waitpid(pid, 0)[1] == 0
