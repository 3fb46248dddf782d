"""Forks while other threads work: the child computes, compiles, and has a collector of cycles."""

import gc
import os
import signal
import subprocess
import sys
import threading
import time
import traceback

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


def test_a_fork_does_not_wait_for_ever(monkeypatch):
    """Somebody never comes to an end: the child has locks of its own."""
    monkeypatch.setattr(forks, "PATIENCE", 0.3)
    compiled(240)
    from numba.core.compiler_lock import global_compiler_lock

    from fad.backend import runner

    held, done = threading.Event(), threading.Event()

    def hold():
        with runner._compiling, forks.unforkable(), global_compiler_lock:
            held.set()
            done.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    started = time.monotonic()
    answer = child(lambda: compiled(241))
    assert answer == "True" and time.monotonic() - started > 0.3
    done.set()
    thread.join()
    assert compiled(242)


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
