"""What fad tells of its work: under the name fad of Python's logging, and one line on a terminal."""
import io
import logging
import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import fad
from fad.util import log

CODE = """
import numpy as np, fad
g = fad.jit(fad.grad(lambda x: np.sum(np.sin(x) * x)), compile="now")
g(np.ones(3))
"""


def said(level, **more):
    """What a fresh process prints on standard error."""
    environment = {k: v for k, v in os.environ.items() if k != "FAD_LOG"} | ({"FAD_LOG": level} if level else {}) | more
    done = subprocess.run([sys.executable, "-c", CODE], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0 or level == "loud", done.stderr
    return done.stderr


def test_the_environment_turns_it_on(tmp_path):
    first = said("info", FAD_CACHE_DIR=str(tmp_path))
    assert "fad.trace" in first and "traced <lambda> (in fad.jit)" in first and "compiled <lambda> (fad.jit)" in first
    again = said("info", FAD_CACHE_DIR=str(tmp_path))
    assert "found <lambda> (fad.jit)" in again and "from the cache on disk" in again
    assert said("", FAD_CACHE_DIR=str(tmp_path)) == ""
    assert said("warning", FAD_CACHE_DIR=str(tmp_path)) == ""
    assert "FAD_LOG is debug, info, warning or error, not 'loud'" in said("loud")


def test_loggers_of_the_program_hear_it(caplog):
    with caplog.at_level(logging.INFO, "fad"):
        fad.grad(lambda x: np.sum(np.cosh(x) * x))(np.ones(3))
    assert [record.name for record in caplog.records] == ["fad.trace"]
    assert "equations" in caplog.text


def test_nothing_is_made_where_nobody_listens():
    def message():
        raise AssertionError("nobody listens")
    assert not logging.getLogger("fad.trace").isEnabledFor(logging.INFO)
    log.tell("trace", message)


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("made, expected", [(Terminal, "fad: still working"), (io.StringIO, "")])
def test_a_long_block_says_so_on_a_terminal_only(made, expected, monkeypatch):
    monkeypatch.setattr(log, "LONG", 0.02)
    monkeypatch.setattr(sys, "stderr", made())
    with log.patient("working"):
        while expected and not sys.stderr.getvalue():
            time.sleep(0.005)
        time.sleep(0.05)
    assert sys.stderr.getvalue().startswith(expected) and bool(sys.stderr.getvalue()) == bool(expected)


def test_a_short_block_says_nothing(monkeypatch):
    monkeypatch.setattr(log, "LONG", 1e3)
    monkeypatch.setattr(sys, "stderr", Terminal())
    with log.patient("working"):
        [timer] = [thread for thread in threading.enumerate() if isinstance(thread, threading.Timer)]
    timer.join(200.0)                                        # it ends at once: it was cancelled
    assert sys.stderr.getvalue() == "" and not timer.is_alive()
