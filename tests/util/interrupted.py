"""Programs that are interrupted at a random moment while fad traces, compiles or runs them. Run by test_interrupts.py
in a process of its own.

python interrupted.py SOURCE TIER SEED RUNS, where SOURCE is "signal" (a handler raises), "thread" (another thread sets
an exception), or "first" (a handler raises in the first call of all, which imports parts of fad: each run is a fork).
Prints a line for each run in which the exception got lost, changed, came twice, or left something behind; then how many
arrived. Goes on until RUNS have arrived: where one came too late, the next ones come sooner.
"""
import ctypes
import gc
import os
import random
import signal
import sys
import threading
import time
import traceback
import warnings

import numpy as np

import fad
from fad.ir import stack
from fad.util.ambient import snapshot


class Late(Exception):
    """A timeout of the user's."""


KINDS = (Late, ValueError, TypeError, LookupError, ArithmeticError, RuntimeError, TimeoutError, KeyboardInterrupt,
         MemoryError)
X = np.array([0.3, 0.7, 1.1])
places: list = []
# what was raised as Python cleaned up (in a callback of a weak reference): it hands that to a hook
dropped: list = []


def loops(x):
    s, y = 0.0, np.zeros(3)
    for k in range(3):
        for j in range(k + 1):
            if x[j] > 0.5:
                s = s + np.sin(x[k]) * x[j]
            else:
                s = s - x[k]
        y[k] = s
    return np.sum(y)


def on_tape(x):
    table, out = {float(x[0]): 2.0}, []
    for k in range(3):
        out.append(x[k] * table[float(x[0])])
    return sum(out)


def straight(x):
    return np.sum(np.linalg.solve(np.eye(3) * 4 + np.outer(x, x), x) ** 2)


def listed(x):
    rows = []
    for k in range(3):
        rows.append(x[k] * x)
    return np.sum(np.array(rows)) + min(rows[0][0], rows[1][1])


class BySignal:
    """A timer whose handler raises."""

    def __init__(self):
        signal.signal(signal.SIGALRM, self.handle)

    def handle(self, *args):
        places.append(traceback.extract_stack(args[1])[-1])
        raise self.kind("late")

    def set(self, kind, seconds):
        self.kind = kind
        signal.setitimer(signal.ITIMER_REAL, seconds)

    def stop(self):
        signal.setitimer(signal.ITIMER_REAL, 0)


class ByThread:
    """A thread that sets an exception, made from its class alone."""

    def set(self, kind, seconds):
        self.lock, self.is_over, self.main = threading.Lock(), False, threading.get_ident()
        self.go = threading.Lock()
        self.go.acquire()
        self.thread = threading.Thread(target=self.wait, args=(kind, seconds))
        self.thread.start()
        # what comes while a thread starts leaves Python's own books in disorder
        self.go.release()

    def wait(self, kind, seconds):
        self.go.acquire()
        time.sleep(seconds)
        with self.lock:
            if not self.is_over:
                places.append("set by a thread")
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self.main), ctypes.py_object(kind))

    def stop(self):
        with self.lock:
            self.is_over = True
        self.thread.join()


def attempt(f, make, timer, kind, seconds):
    """What a call raised that was interrupted after so many seconds."""
    g = make(f)
    g.clear()
    places.clear(), dropped.clear()
    try:
        try:
            timer.set(kind, seconds)
            g(X)
        finally:
            timer.stop()
    except BaseException as error:
        return g, error
    return g, None


def in_words(told):
    """What Python dropped, and where that was raised."""
    return "".join([f"{told.err_msg or 'an error in'} {told.object!r}: ",
                    *traceback.format_exception(told.exc_type, told.exc_value, told.exc_traceback)])


def usual(state):
    """A snapshot without what is empty in it."""
    return [{k: x for k, x in held.items() if x} if isinstance(held, dict) else held for held in state]


def main(source, tier, seed, runs):
    warnings.simplefilter("ignore")
    sys.unraisablehook = lambda told: dropped.append((told.exc_type, in_words(told)))
    timer, chosen, arrived = BySignal() if source == "signal" else ByThread(), random.Random(seed), 0
    cases, want, lasts = [(f, make) for f in (loops, on_tape, straight, listed) for make in (fad.jit, fad.grad)], {}, {}
    with fad.config.using(compile=tier):
        for f, make in cases:
            want[f, make] = make(f)(X)
            make(f).clear()
            started = time.perf_counter()
            make(f)(X)
            lasts[f, make] = time.perf_counter() - started
        while arrived < runs:
            f, make = chosen.choice(cases)
            kind = chosen.choice(KINDS)
            g, error = attempt(f, make, timer, kind, chosen.uniform(1e-5, lasts[f, make]))
            told = f"{f.__name__} {make.__name__} {kind.__name__} at {places}: "
            lost = [words for cls, words in dropped if cls is kind]
            if len(places) != (error is not None) + len(lost) or (error is not None and type(error) is not kind):
                print(told, "the caller got", repr(error), "and Python dropped", *[words for _, words in dropped])
            elif len(dropped) > len(lost):
                print(told, "as Python cleaned up, it dropped", *[words for _, words in dropped])
            arrived += error is not None
            lasts[f, make] *= 1.0 if error is not None else 0.9
            error = None
            if stack.builders() or not gc.isenabled() or any(usual(snapshot())):
                print(told, "left behind:", usual(snapshot()), gc.isenabled())
            for _ in range(2):
                try:
                    found = g(X)
                except Exception as later:
                    print(told, "fails afterwards:", *traceback.format_exception(later), "while handling:",
                          *traceback.format_exception(later.__context__))
                    return
                if not np.allclose(found, want[f, make]):
                    print(told, "wrong afterwards")
    print("arrived", arrived)


def first(tier, seed, runs):
    warnings.simplefilter("ignore")
    chosen, arrived, lasts = random.Random(seed), 0, 0.12
    while arrived < runs:
        seconds, f = chosen.uniform(1e-5, lasts), chosen.choice((loops, on_tape, straight, listed))
        make = chosen.choice((fad.jit, fad.grad))
        pid = os.fork()
        if not pid:
            with fad.config.using(compile=tier):
                g, error = attempt(f, make, BySignal(), Late, seconds)
                told, code = f"{f.__name__} {make.__name__} at {places}", 10 if isinstance(error, Late) else 0
                try:
                    # Cython's modules drop errors as they start
                    assert isinstance(error, Late) == bool(places) or places[0].filename.startswith("<frozen")
                    if make is fad.jit:
                        assert np.allclose(g(X), f(X))
                    else:
                        assert np.allclose(g(X), [(f(X + h) - f(X - h)) / 2e-6 for h in 1e-6 * np.eye(3)])
                except BaseException:
                    print(told, traceback.format_exc(), flush=True)
            os._exit(code)
        has_come = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 10
        arrived, lasts = arrived + has_come, lasts * (1.0 if has_come else 0.95)
    print("arrived", arrived)


if __name__ == "__main__":
    source, tier, *numbers = sys.argv[1:]
    if source == "first":
        first(tier, *map(int, numbers))
    else:
        main(source, tier, *map(int, numbers))
