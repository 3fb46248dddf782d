"""Long compiled loops of every shape heed a timer and Ctrl-C soon, compute what they computed, and let go of their
arrays."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import fad
from fad.kernels.strip_mining import FIRST, NESTED, SELDOM

from ..bench.timing import pace

pytestmark = pytest.mark.skipif(os.name != "posix", reason="timers of POSIX")
ENDLESS = 10**12
SOON = 0.3                                                   # seconds of a quiet machine; 0.07 where it was measured
SIZES = [0, 1, FIRST - 1, FIRST, FIRST + 1, 3 * FIRST, NESTED, NESTED + 1,
         SELDOM - 1, SELDOM, SELDOM + 1, 2 * SELDOM, 3 * SELDOM + 7]


def forward(x, n):
    s = x
    for i in range(n):
        s = 0.999 * s + np.sin(s) + 1e-9 * i
    return s


def backward(x, n):
    s = x
    for i in range(n - 1, -1, -1):
        s = 0.999 * s + 1e-9 * i
    return s


def in_steps(x, n):
    s = x
    for i in range(2, n, 3):
        s = 0.999 * s + 1e-9 * i
    return s


def summed(x, n):
    s = 0.0
    for i in range(n):
        s += np.sin(x * i)
    return s


def leaves_early(x, n):
    s = x
    for i in range(n):
        s = 0.999 * s + 1e-9 * i
        if s < -1.0:
            break
        if s > 1e300:
            continue
        s = s - 1e-10
    return s


def while_loop(x, n):
    s, k = x, 0
    while k < n:
        s = 0.999 * s + 1e-9 * k
        k += 1
    return s


def few_around_many(x, n):
    s = x
    for _ in range(3):
        for i in range(n):
            s = 0.999 * s + 1e-9 * i
    return s


def three_levels(x, n):
    s = x
    for _ in range(2):
        for i in range(n // 5 + 1):
            for j in range(i % 5):
                s = 0.999 * s + 1e-9 * j
    return s


def through_an_array(x, n):
    y = np.full(1000, x)
    for i in range(n):
        y = y * 0.999 + 1e-9 * i
    return y[3]


def constant(x):
    s = x
    for i in range(1_000_000_000_000):
        s = 0.999 * s + np.sin(s) + 1e-9 * i
    return s


LOOPS = [forward, backward, in_steps, summed, leaves_early, while_loop, few_around_many, three_levels, through_an_array]


class Stop(Exception):
    """What the timer's handler raises."""


@pytest.fixture
def late():
    """A function: how long after a timer some work has ended, by what the timer's handler raises. Both are seconds that
    this process has a processor: others may have it in the meantime."""
    before = signal.getsignal(signal.SIGPROF)

    def stop(*_):
        raise Stop

    def measured(work, first):
        signal.signal(signal.SIGPROF, stop)
        started = time.process_time()
        signal.setitimer(signal.ITIMER_PROF, first)
        with pytest.raises(Stop):
            work()
        return (time.process_time() - started - first) / pace()

    yield measured
    signal.setitimer(signal.ITIMER_PROF, 0.0)
    signal.signal(signal.SIGPROF, before)


def compiled(f, *args):
    """The function, compiled for arguments like these."""
    g = fad.jit(f, compile="now")
    for more in range(2):                                    # a number that varies is no constant
        g(*args[:1], *(n + more for n in args[1:]))
    return g


@pytest.mark.filterwarnings("error::fad.FallbackWarning")
@pytest.mark.parametrize("f", LOOPS, ids=lambda f: f.__name__)
def test_a_long_loop_heeds_a_timer(f, late):
    g = compiled(f, 0.5, 3)
    assert late(lambda: g(0.5, ENDLESS), 0.1) < SOON
    assert g.compilations == 2


def test_a_loop_of_constant_length_heeds_a_timer(late):
    g = fad.jit(constant, compile="now")
    late(lambda: g(0.5), 2.0)                                # it is compiled
    assert g.compilations == 1 and late(lambda: g(0.5), 0.1) < SOON


def test_one_pass_over_large_arrays_heeds_a_timer(late):
    """What is made in one level of loops, with others around: none of them is written in the text as a loop of the
    user's."""
    def outer(x, y):
        return np.sum(np.sqrt(1.0 + np.abs(x[:, None] * y[None, :])))

    x = np.linspace(0.0, 1.0, 2_000_000)
    g = fad.jit(outer, compile="now")
    g(x[:30], x[:20])
    assert late(lambda: g(x, x), 0.1) < SOON


def test_a_reverse_sweep_heeds_a_timer(late):
    g = fad.jit(fad.grad(few_around_many), compile="now")
    for n in (3, 4, 1_000_000):
        g(0.5, n)
    assert late(lambda: [g(0.5, 3_000_000) for _ in range(1000)], 0.1) < SOON


@pytest.mark.parametrize("f", [f for f in LOOPS if f is not through_an_array], ids=lambda f: f.__name__)
def test_strips_change_nothing(f):
    """Lengths around the ends of strips; Python computes the same numbers."""
    g = compiled(f, 0.5, 3)
    for n in SIZES:
        np.testing.assert_allclose(g(0.5, n), f(0.5, n), rtol=1e-9, err_msg=f"{n} iterations")


def test_reverse_sweeps_in_strips_change_nothing():
    g = fad.grad(forward)
    for n in (3, 4, SELDOM + 1, 2 * SELDOM):
        slope = (forward(0.5 + 1e-6, n) - forward(0.5 - 1e-6, n)) / 2e-6
        with fad.config.using(compile="now"):
            np.testing.assert_allclose(g(0.5, n), slope, rtol=1e-6, atol=1e-9)


@pytest.mark.skipif(sys.platform != "linux", reason="/proc")
def test_an_interrupted_kernel_lets_go_of_its_arrays(late):
    def large(x, n):
        y = np.full(4_000_000, x)
        s = x
        for i in range(n):
            s = 0.999 * s + y[i % 4_000_000]
        return s + y[5]

    def resident():
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    g = compiled(large, 0.5, 3)
    late(lambda: g(0.5, ENDLESS), 0.2)
    before = resident()
    for _ in range(6):
        late(lambda: g(0.5, ENDLESS), 0.15)
    assert resident() - before < 64_000_000                  # each call has 32 MB of its own


CHILD = """
import signal
from tests.operation.test_interrupts import compiled, forward, while_loop, summed

signal.signal(signal.SIGINT, signal.default_int_handler)
g = compiled({0}, 0.5, 3)
assert g.compilations == 2
known = g(0.5, 3)
try:
    print("ready", flush=True)
    g(0.5, 10**12)
except KeyboardInterrupt:
    print(g(0.5, 3) == known)
"""


@pytest.mark.parametrize("f", [forward, summed, while_loop], ids=lambda f: f.__name__)
def test_a_long_loop_heeds_ctrl_c(f):
    with subprocess.Popen([sys.executable, "-c", CHILD.format(f.__name__)], stdout=subprocess.PIPE,
                          text=True) as process:
        try:
            assert process.stdout.readline() == "ready\n"
            time.sleep(0.3)                                  # it is in the loop by now
            process.send_signal(signal.SIGINT)
            assert process.communicate(timeout=200)[0] == "True\n"
        finally:
            process.kill()


COMPILATIONS = """
import faulthandler, random, signal, sys, time
from math import isclose as is_near
import fad
from fad.backend.running.tiers import holds_locks

faulthandler.dump_traceback_later(280, exit=True)

class Late(Exception):
    pass

def late(*_):
    raise Late

signal.signal(signal.SIGALRM, late)
made, interrupted, times = [0], 0, random.Random(3)

def new(**how):
    made[0] += 1
    scope = {}
    exec("def f(x):\\n    s = 0.0\\n    for i in range(4):\\n"
         f"        s = s + x * {made[0]}.5 * i\\n    return s", scope)
    return fad.jit(scope["f"], **how)

new(compile="now")(1.0)
begun = time.perf_counter()
new(compile="now")(1.0)
took = time.perf_counter() - begun
while interrupted < 30 and made[0] < 1000:
    f, before = new(compile="now", fallback=False), interrupted
    signal.setitimer(signal.ITIMER_REAL, times.uniform(0.001, 1.5 * took))
    try:
        f(0.3)
    except Late:
        interrupted += 1
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
    except Late:
        interrupted += 1
    assert not holds_locks(), f"a lock is left behind after {interrupted} interrupts"
    assert is_near(f(0.3), 1.8 * (made[0] + 0.5))
    took *= 1.0 if interrupted > before else 0.95            # compilations may be faster than the first one
f = new(compile="auto")                                      # in the background, and the interpreter meanwhile
assert all(is_near(f(0.3), 1.8 * (made[0] + 0.5)) for _ in range(20_000))
assert is_near(new(compile="now")(1.0), 6.0 * (made[0] + 0.5))
print(interrupted)
"""


def test_interrupts_of_compilations_leave_no_lock_behind(tmp_path):
    """LLVM's lock, once a signal's exception had left it locked, kept all compilations in the background waiting."""
    places = {"FAD_CACHE_DIR": str(tmp_path / "fad"), "NUMBA_CACHE_DIR": str(tmp_path / "numba")}
    done = subprocess.run([sys.executable, "-c", COMPILATIONS], capture_output=True, text=True, env=os.environ | places)
    assert done.returncode == 0 and int(done.stdout) >= 30, done.stderr[-3000:]
