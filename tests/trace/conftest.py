"""What tests of traces share."""
import importlib

import pytest

staged_programs = importlib.import_module("fad.api.calls.staged_programs")


@pytest.fixture
def traces(monkeypatch):
    """A list that gets longer with each trace."""
    done, trace = [], staged_programs.trace
    monkeypatch.setattr(staged_programs, "trace", lambda *args, **options: done.append(1) or trace(*args, **options))
    return done
