"""A bar appears for people who wait, and for nobody else."""
import io
import sys

import pytest

from fad.util import progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_nothing_is_shown_in_a_log(monkeypatch):
    items = [1, 2, 3]
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert progress.progress(items, "work") is items


def test_a_terminal_has_a_bar_after_a_while(monkeypatch):
    pytest.importorskip("tqdm")
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    assert list(progress.progress([1, 2, 3], "work")) == [1, 2, 3]
    assert "work" in sys.stderr.getvalue()
