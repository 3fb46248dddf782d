"""Tiers: what is light is interpreted at once, what is heavy is compiled, what is on disk is loaded."""
import os
import subprocess
import sys
import threading
import warnings

import numpy as np
import pytest

import fad
from fad.backend.running import runner, tiers
from fad.util.patience import OutOfPatience, check_patience, patience

pytestmark = pytest.mark.usefixtures("usual_tiers")


def newton(a):
    x = a
    while abs(x * x - a) > 1e-12:
        x = 0.5 * (x + a / x)
    return x


def long_loop(x, n):
    s = 0.0
    for i in range(n):
        s = 0.999 * s + np.sin(x * i)
    return s


def test_light_loop_is_interpreted_at_once():
    g = fad.grad(newton)
    assert np.isclose(g(2.0), 0.5 / np.sqrt(2.0))
    assert g.compilations == 0


def test_heavy_loop_is_compiled_in_its_first_call():
    """Half a million iterations are seconds of interpreting: the call gives up on it, and its arguments are as they
    were."""
    x = np.array([0.3, 0.4])
    g = fad.value_and_grad(lambda x, n: np.sum(long_loop(x, n) * x))
    value, gx = g(x, 500_000)
    assert g.compilations == 1 and np.all(x == [0.3, 0.4])
    want = fad.jit(fad.value_and_grad(lambda x, n: np.sum(long_loop(x, n) * x)), compile="now")(x, 500_000)
    np.testing.assert_allclose(value, want[0], rtol=1e-9)
    np.testing.assert_allclose(gx, want[1], rtol=1e-6)


def test_hot_loop_is_compiled_after_some_calls():
    g = fad.grad(newton)
    while not g.compilations:
        assert np.isclose(g(2.0), 0.5 / np.sqrt(2.0))


def test_kernel_on_disk_is_used_before_the_function_is_hot(monkeypatch):
    def f(x):
        return np.sum(np.cos(x) * x ** 3 - 0.125 * x)
    x = np.linspace(0.0, 1.0, 5)
    want = fad.jit(fad.grad(f), compile="now")(x)            # now the kernel is on disk
    monkeypatch.setattr(runner, "compile_time", lambda text: 1e9)
    printed, source_for = [], runner.compiler.source_for

    def noted(*args, **kwargs):
        printed.append(source_for(*args, **kwargs))
        return printed[-1]
    monkeypatch.setattr(runner.compiler, "source_for", noted)
    g = fad.jit(fad.grad(f))
    for _ in range(100_000):
        if g.compilations:
            break
        g(x)
    assert g.compilations == len(printed) == 1
    np.testing.assert_allclose(g(x), want, rtol=1e-14)


def test_never_is_never():
    g = fad.jit(fad.grad(long_loop), compile="never")
    assert np.isfinite(g(0.3, 20_000)) and g.compilations == 0


def test_patience_ends_and_is_given_back():
    with patience(None):
        with patience(-1.0), pytest.raises(OutOfPatience):
            check_patience()
        check_patience()


def test_threads_that_compile_equal_programs_at_once():
    """They have one dispatcher, which another thread may have closed for new types between two steps of this one. Who
    comes late shares it."""
    failures, counts, gate = [], [], threading.Barrier(6)

    def work():
        g, x = fad.jit(lambda x: np.sum(np.tanh(x * 0.7254) ** 2), compile="now"), np.ones(5)
        gate.wait()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                np.testing.assert_allclose(g(x), np.sum(np.tanh(x * 0.7254) ** 2))
            counts.append(g.compilations)
        except Exception as error:
            failures.append(error)
    threads = [threading.Thread(target=work) for _ in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not failures
    assert max(counts) == 1


@pytest.mark.parametrize("f", [
    lambda x: (x.reshape(2, 3), x.reshape(3, 2)),
    lambda x: (np.sin(x).reshape(2, 3), np.sin(x).reshape(3, 2)),
    lambda x: (np.sin(x).reshape(2, 3), np.sin(x)),
    lambda x: (x.reshape(2, 3).reshape(x.shape[0]), x)])
@pytest.mark.parametrize("policy", ["never", "now"])
def test_results_share_no_memory(f, policy):
    x = np.arange(6.0)
    with fad.config.using(compile=policy):
        first, second = fad.jit(f)(x)
    assert not any(np.shares_memory(a, b) for a, b in [(first, second), (first, x), (second, x)])


def test_the_interpreter_answers_while_a_thread_compiles():
    """No call waits for the compiler: the longest one after the first takes far less time than the compilation."""
    def f(x):
        for k in range(12):
            x = np.tanh(x * (1.0 + 0.1 * k)) + np.sin(x)
        return np.sum(x)
    x, calls = np.linspace(0.0, 1.0, 5), 0
    with fad.config.using(cache_dir=None):
        g, want = fad.jit(fad.grad(f)), fad.jit(fad.grad(f), compile="never")(x)
        while not g.compilations:
            np.testing.assert_allclose(g(x), want, rtol=1e-12)
            calls += any(not job.is_over() for job in tiers._jobs)
        assert g.compilations == 1 and calls > 3


def test_what_the_compiler_refuses_in_the_background_is_told_in_the_users_thread(monkeypatch):
    def refuses(*args):
        raise runner.compiler.BackendError("no template")
    monkeypatch.setattr(runner.compiler, "kernel_of", refuses)
    g = fad.jit(fad.grad(newton))
    with fad.config.using(cache_dir=None), warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for _ in range(100_000):
            assert np.isclose(g(2.0), 0.5 / np.sqrt(2.0))
            if told:
                break
    assert "no template" in str(told[0].message) and told[0].filename == __file__


def test_a_job_whose_thread_is_gone_is_over(monkeypatch):
    job = tiers.Job(lambda: 1)                               # it never starts, as in the child of a fork
    assert not job.is_over()
    monkeypatch.setattr(os, "getpid", lambda: -1)
    assert job.is_over() and not job.has_answer()
    job.wait()


def test_python_ends_while_a_thread_compiles():
    code = ("import time, numpy as np, fad\n"
            "fad.config.cache_dir = None\n"
            "from fad.backend.running import tiers\n"
            "def f(x):\n"
            "    for k in (1, 2, 3, 4, 5, 6, 7, 8, 9):\n"
            "        x = np.tanh(x * k) + np.sin(x)\n"
            "    return np.sum(x)\n"
            "g = fad.jit(fad.grad(f))\n"
            "while not [j for j in tiers._jobs if j.ident and not j.is_over()]:\n"
            "    g(np.ones(3))\n"
            "time.sleep(DELAY)\n"
            "print('end')\n")
    for delay in ("0.0", "0.7"):
        done = subprocess.run([sys.executable, "-c", code.replace("DELAY", delay)], capture_output=True, text=True,
                              timeout=200)
        assert (done.returncode, done.stdout, done.stderr) == (0, "end\n", "")


def test_the_time_of_a_compilation_is_learned(monkeypatch):
    monkeypatch.setattr(tiers._Calibration, "ratio", 1.0)
    text = "    y = x\n" * 100
    for _ in range(20):
        tiers.note_time(text, 3.0)
    assert 2.0 < tiers.compile_time(text) < 4.0
