"""Forks while other threads work: the child computes, compiles, and has a collector of cycles."""

import builtins
import gc
import importlib
import os
import signal
import subprocess
import sys
import threading
import time
import traceback
import types

import numpy as np
import pytest

import fad
from fad.util import forks
from fad.util.collection import collection_paused

from .programs import cold

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks here")
X = np.linspace(0.0, 1.0, 7)


def child(work, seconds=200.0):
    """What a child of this process finds; "hangs" where it is not there in time."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.write(writing, repr(work()).encode())
        except BaseException:
            os.write(writing, traceback.format_exc().encode())
        finally:
            os._exit(0)
    os.close(writing)
    until = time.monotonic() + seconds
    while os.waitpid(pid, os.WNOHANG)[0] == 0:
        if time.monotonic() > until:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            return "hangs"
        time.sleep(0.01)
    with os.fdopen(reading) as answer:
        return answer.read()


def compiled(number):
    """A derivative that is compiled now."""
    with fad.config.using(compile="now", cache_dir=None):
        g = fad.grad(cold(number))
        return bool(np.allclose(g(X), np.cos(X) * (number + 0.5))) and g.compilations == 1


@pytest.fixture
def busy():
    """A thread that compiles one function after the other."""
    done, compilations = threading.Event(), []

    def work():
        number = 10_000
        while not done.is_set():
            number += 1
            compilations.append(compiled(number))

    thread = threading.Thread(target=work)
    thread.start()
    while not compilations:
        time.sleep(0.01)
    yield compilations
    done.set()
    thread.join()
    assert all(compilations)


def test_a_child_compiles_while_the_parent_does(busy):
    for number in range(200, 206):
        before = len(busy)
        assert child(lambda number=number: compiled(number)) == "True"
        while len(busy) == before:                           # the parent goes on
            time.sleep(0.01)


def test_a_child_of_a_child_compiles(busy):
    assert child(lambda: child(lambda: compiled(210)) == "True" and compiled(211)) == "True"


def test_a_child_collects_cycles(busy):
    assert gc.isenabled() or len(busy)
    for _ in range(5):
        assert child(gc.isenabled) == "True"
        time.sleep(0.03)


def test_a_thread_forks_within_what_it_keeps_others_from():
    with collection_paused():
        assert child(lambda: compiled(220)) == "True"


@pytest.mark.parametrize("which", ["numba", "llvm"])
def test_a_fork_waits_for_the_locks_of_libraries(which):
    compiled(230)
    from llvmlite.binding import ffi
    from numba.core.compiler_lock import global_compiler_lock

    lock = {"numba": global_compiler_lock._lock, "llvm": ffi.lib._lock._lock}[which]
    held = threading.Event()

    def hold():
        with lock:
            held.set()
            time.sleep(0.3)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    assert child(lambda: compiled(231)) == "True"
    thread.join()


LOGGER = """
import os, threading, time
from fad.util import forks
import logging

forks.PATIENCE = 1000.0

def write():
    with forks.unforkable():
        inside.set()
        time.sleep(0.2)                                      # the other thread forks by now
        logging.getLogger("fresh").isEnabledFor(10)          # takes the lock of the module

inside = threading.Event()
thread = threading.Thread(target=write)
thread.start()
inside.wait()
if os.fork() == 0:
    os._exit(0)
thread.join()
"""


def test_who_is_waited_for_may_log():
    """Python's own module takes its lock before a fork, too: it must not have it while fad waits (a deadlock, until the
    patience ends)."""
    subprocess.run([sys.executable, "-c", LOGGER], check=True, timeout=200)


# -- forks whose patience ends -----------------------------------------------------------------------------------------


@pytest.fixture
def impatient(monkeypatch):
    """Forks that wait for a moment only. meanwhile(work): a thread that is in the midst of work(proceed), which has
    called proceed() once."""
    monkeypatch.setattr(forks, "PATIENCE", 0.1)
    done, threads = threading.Event(), []

    def meanwhile(work):
        begun = threading.Event()

        def proceed():
            begun.set()
            done.wait()
        threads.append(threading.Thread(target=work, args=(proceed,)))
        threads[-1].start()
        begun.wait()
    yield meanwhile
    done.set()
    for thread in threads:
        thread.join()


def interpreted(number):
    """A derivative in a process that does not compile any more."""
    with pytest.warns(UserWarning, match="forked"):
        g = fad.grad(cold(number), compile="now")
        return bool(np.allclose(g(X), np.cos(X) * (number + 0.5))) and g.compilations == 0


def test_a_child_of_a_compilation_interprets(impatient):
    """The compiler's state is half made: its thread is gone."""
    compiled(240)
    from numba.core.compiler_lock import global_compiler_lock

    from fad.backend.running import runner

    def hold(proceed):
        with runner._compiling, forks.unforkable(), global_compiler_lock:
            proceed()
    impatient(hold)
    assert child(lambda: interpreted(241)) == "True"


def test_children_of_forks_without_patience(busy, monkeypatch):
    monkeypatch.setattr(forks, "PATIENCE", 0.0)
    monkeypatch.setattr(fad.config, "compile", "now")
    for number in range(250, 270):
        found = child(lambda number=number: fad.grad(cold(number))(X[:1]), seconds=60.0)
        assert found == f"array([{number + 0.5}])"
        time.sleep(0.01)


def test_a_child_imports_what_another_thread_has_half_imported(impatient, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "half_made.py").write_text("import builtins\nbuiltins.at_import()\nANSWER = 42\n")

    def load(proceed):
        monkeypatch.setattr(builtins, "at_import", proceed, raising=False)
        importlib.import_module("half_made")

    def answer():
        monkeypatch.setattr(builtins, "at_import", int)
        return importlib.import_module("half_made").ANSWER
    impatient(load)
    assert child(answer) == "42"


@pytest.mark.filterwarnings("ignore::fad.FallbackWarning")
@pytest.mark.parametrize("line", ["pass", "float(x[0])"])                      # a trace; a run on the tape
def test_a_child_sees_nothing_of_a_trace_that_another_thread_makes(impatient, line):
    model = types.SimpleNamespace(rate=2.0, seen=[])
    scope = {"model": model}
    exec(f"def f(x):\n    {line}\n    model.rate = x[0] * model.rate\n    model.seen.append(x)\n    proceed()\n"
         "    return model.rate", scope)

    def work(proceed):
        scope["proceed"] = proceed
        fad.grad(scope["f"])(X)
    impatient(work)
    assert child(lambda: (model.rate, model.seen)) == "(2.0, [])"


def test_locks_are_free_in_a_child_unless_the_forking_thread_has_them():
    ours, theirs = forks.renewed(threading.RLock()), forks.renewed(threading.RLock())
    held, done = threading.Event(), threading.Event()

    def hold():
        with theirs:
            held.set()
            done.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    with ours:
        assert child(lambda: (theirs.acquire(blocking=False), ours._is_owned())) == "(True, True)"
    done.set()
    thread.join()
    assert sys.getrefcount(ours) and theirs.acquire(blocking=False)
    theirs.release()


def test_a_lock_without_an_owner_is_refused():
    """A child could not tell whether the forking thread has it."""
    with pytest.raises(TypeError, match="no RLock"):
        forks.renewed(threading.Lock())
