"""Exceptions from outside the code that is traced reach the caller, once, whatever fad was doing, and leave nothing
behind."""
import _thread
import ctypes
import math
import os
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

import fad
from fad.util.elsewhere import in_new_thread
from fad.util.interrupts import is_interrupt

PROGRAM = os.path.join(os.path.dirname(__file__), "interrupted.py")


@pytest.mark.parametrize("source, tier, runs",
                         [("signal", "never", 30), ("signal", "now", 10), ("thread", "never", 15),
                          ("first", "never", 30)])
def test_an_interrupt_at_any_moment(source, tier, runs):
    if not hasattr(signal, "setitimer"):
        pytest.skip("this system has no interval timers")
    root = os.path.dirname(os.path.dirname(os.path.dirname(PROGRAM)))
    done = subprocess.run([sys.executable, PROGRAM, source, tier, "1", str(runs)], capture_output=True, text=True,
                          timeout=300, env={**os.environ, "PYTHONPATH": root})
    assert not done.returncode, done.stdout + done.stderr
    *lost, arrived = done.stdout.splitlines()
    assert not lost and arrived, done.stdout + done.stderr


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit, MemoryError, GeneratorExit])
@pytest.mark.parametrize("make", [fad.jit, fad.grad])
def test_pythons_own_go_on_at_once(make, kind):
    calls = []

    def f(x):
        calls.append(1)
        for k in range(3):
            if k == 2 and len(calls) == 1:
                raise kind
        return np.sum(x)
    with pytest.raises(kind):
        make(f)(np.ones(3))
    assert not calls                                          # it ran once, and what it did is undone
    make(lambda x: np.sum(x))(np.ones(3))


def test_a_handler_of_the_functions_own_does_not_see_them():
    class Late(Exception):
        pass

    def handler(number, frame):
        raise Late

    def f(x):
        try:
            math.factorial(200_000)                           # the timer ends in here
        except Late:
            return np.sum(x) * 2
        return np.sum(x)
    before = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    try:
        with pytest.raises(Late):
            fad.jit(f)(np.ones(3))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_errors_of_the_code_are_no_interrupts():
    def deeper(f, *args):
        return f(*args)
    for wrong in (lambda: [][0], lambda: {}["a"], lambda: int("a"), lambda: 1 / 0, lambda: next(iter(())),
                  lambda: deeper(deeper, deeper), lambda: len(3)):
        with pytest.raises(Exception) as found:
            deeper(wrong)
        assert not is_interrupt(found.value)


def test_an_exception_set_for_the_parent_of_a_thread_that_starts(monkeypatch):
    """CPython sets it in the new thread, which has its parent's identifier still."""
    start, run = _thread.start_new_thread, []

    def start_and_set(*args):
        interval = sys.getswitchinterval()
        sys.setswitchinterval(60)                             # the new thread does not run before the exception is set
        try:
            return start(*args)
        finally:
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(threading.get_ident()),
                                                       ctypes.py_object(TimeoutError))
            sys.setswitchinterval(interval)
    monkeypatch.setattr(_thread, "start_new_thread", start_and_set)
    with pytest.raises(TimeoutError) as found:
        in_new_thread(lambda: run.append(1))
    assert is_interrupt(found.value)
    monkeypatch.undo()
    assert in_new_thread(lambda: 3) == 3


IMPORTS = """
import faulthandler, importlib.abc, sys
from fad.util.lazy import imported

faulthandler.dump_traceback_later(200, exit=True)

class Interrupted(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name == "victim" and "asking" not in sys.modules:
            assert imported("asking").victim.x == 1          # as a signal handler would, in the midst of that import

sys.meta_path.insert(0, Interrupted())
import victim
assert victim.x == 1
"""


def test_a_handler_that_interrupts_an_import_may_import(tmp_path):
    """What fad imports may wait for what is being imported: no other thread may be given that."""
    (tmp_path / "victim.py").write_text("x = 1\n")
    (tmp_path / "asking.py").write_text("import victim\n")
    path = os.pathsep.join([str(tmp_path), *sys.path])
    done = subprocess.run([sys.executable, "-c", IMPORTS], env={**os.environ, "PYTHONPATH": path}, capture_output=True,
                          text=True, timeout=280)
    assert done.returncode == 0, done.stderr


NESTED = """
import faulthandler, signal, sys, threading
from fad.util.lazy import imported

faulthandler.dump_traceback_later(200, exit=True)
two, entered = threading.Event(), []

def handler(*_):
    entered.append(1)
    if len(entered) == 2:
        two.set()                                             # slow.py ends
    else:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
    assert imported("slow").x == 1

sys.modules["two"] = two
threading.Thread(target=imported, args=("slow",)).start()
while "slow" not in sys.modules:
    pass
signal.signal(signal.SIGALRM, handler)
signal.setitimer(signal.ITIMER_REAL, 0.05)
assert imported("slow").x == 1
two.wait()
"""


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no interval timers")
def test_a_handler_within_a_handler_waits_for_an_import_of_another_thread(tmp_path):
    (tmp_path / "slow.py").write_text("import sys\nsys.modules['two'].wait()\nx = 1\n")
    path = os.pathsep.join([str(tmp_path), *sys.path])
    done = subprocess.run([sys.executable, "-c", NESTED], env={**os.environ, "PYTHONPATH": path}, capture_output=True,
                          text=True, timeout=280)
    assert done.returncode == 0, done.stderr
