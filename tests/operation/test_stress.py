"""Sixteen threads call warm and cold functions, compile, fork and exit: five seconds, or a slow minute."""

import os
import subprocess
import sys

import pytest

PROGRAM = """
import faulthandler, os, random, signal, sys, threading, time, traceback
import numpy as np
import fad
from tests.operation.programs import cold, long, looped, plain, with_linalg

seconds, folder = float(sys.argv[1]), sys.argv[2]
faulthandler.register(signal.SIGALRM, chain=True)            # in a child, dump_traceback_later waits for ever
faulthandler.dump_traceback_later(seconds + 120.0, exit=True)
fad.config.compile, fad.config.cache_dir = "now", folder
fad.config.cache_size = "300kB"                              # so that entries go while others are read
sys.setswitchinterval(1e-4)
X = np.linspace(0.1, 1.0, 9)
WARM = [fad.grad(f) for f in (plain, looped, with_linalg)]
EXPECTED = [g(X) for g in WARM]
LONG = fad.jit(long)
ITERATIONS = 20_000
LONG(X, 3); LONG(X, 4)
LONG_EXPECTED = LONG(X, ITERATIONS)
end, failures, counts, lock = time.monotonic() + seconds, [], {}, threading.Lock()
numbers = iter(range(10_000_000))


def warm():
    k = random.SystemRandom().randrange(len(WARM))
    assert np.array_equal(WARM[k](X), EXPECTED[k])


def iterations():
    assert LONG(X, ITERATIONS) == LONG_EXPECTED


def cold_one():
    with lock:
        number = next(numbers)
    assert np.allclose(fad.grad(cold(number))(X), np.cos(X) * (number + 0.5))


def settings():
    with fad.config.using(compile="never", check_index=False):
        assert np.allclose(fad.grad(plain)(X), EXPECTED[0])


def fork():
    number = random.SystemRandom().randrange(1 << 30)
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            signal.alarm(90)                                 # a child that hangs says where, and is ended
            warm()
            assert np.allclose(fad.grad(cold(number))(X), np.cos(X) * (number + 0.5))
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    status = os.waitpid(pid, 0)[1]
    assert status == 0, f"a child ended with {os.waitstatus_to_exitcode(status)}"


def leave():
    thread = threading.Thread(target=warm)                   # a thread that ends at once
    thread.start()
    thread.join()


WORK = [*[warm] * 3, *[iterations] * 2, *[cold_one] * 4, *[settings] * 2, leave, *[fork] * (4 * hasattr(os, "fork"))]


def run(work):
    try:
        while time.monotonic() < end and not failures:
            work()
            with lock:
                counts[work.__name__] = counts.get(work.__name__, 0) + 1
    except BaseException:
        failures.append(traceback.format_exc())


threads = [threading.Thread(target=run, args=(work,)) for work in WORK]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(counts)
print("".join(failures))
sys.exit(bool(failures))
"""


def stress(seconds, folder):
    run = [sys.executable, "-W", "error::UserWarning", "-c", PROGRAM, str(seconds), str(folder)]
    done = subprocess.run(run, capture_output=True, text=True, check=False, timeout=seconds + 300)
    assert done.returncode == 0, done.stdout + done.stderr
    counts = eval(done.stdout.splitlines()[0])
    assert len(counts) == 6 if hasattr(os, "fork") else 5, counts


def test_five_seconds(tmp_path):
    stress(5.0, tmp_path)


@pytest.mark.slow
def test_a_minute(tmp_path):
    stress(60.0, tmp_path)
