"""Loops on all cores: the numbers of one thread, the same from run to run, whoever calls, and whatever happens
meanwhile."""
import os
import re
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import fad
from fad.backend.emission import emit, parallel, work
from fad.util.config import Config, _container_cores

from ..bench.timing import pace
from ..operation.beside import goes_on_beside

rng = np.random.default_rng(0)
X, W, Y = rng.standard_normal((3000, 8)), rng.standard_normal(8), rng.standard_normal(3000)


def logistic(w, X, y):
    return np.mean(np.logaddexp(0.0, -y * (X @ w)))


def chain(x):
    return np.sum(np.exp(-x * x) * np.sin(x))


def mixture(means, X):
    d = X[:, None, :] - means[None, :, :]
    return np.sum(np.log(np.sum(np.exp(-np.sum(d * d, axis=2)), axis=1)))


def descent(w, X, y):
    for _ in range(5):
        w = w - 0.1 * (X.T @ (np.tanh(X @ w) - y)) / y.shape[0]
    return np.sum(w * w)


def table(x):
    return np.exp(x[:, None] * x[None, :]) * np.sin(x)[:, None]


def scattered(x, k):
    y = np.zeros(5)
    np.add.at(y, k, np.sin(x) * x)
    return np.sum(y ** 3)


def extremes(x):
    return np.max(np.sin(x)) + np.min(x * x) + np.prod(1.0 + 1e-4 * x)


def running(x):
    return np.sum(np.cumsum(np.sin(x)) * x)


def smoothed(u):
    for _ in range(7):
        u = u.copy()
        u[1:-1] = u[1:-1] + 0.1 * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    return np.sum(u * u)


CASES = {"logistic": (logistic, (W, X, Y)), "chain": (chain, (Y,)), "mixture": (mixture, (X[:5], X)),
         "descent": (descent, (W, X, Y)), "scattered": (scattered, (Y, rng.integers(0, 5, Y.size))),
         "extremes": (extremes, (Y,)), "running": (running, (Y,)), "smoothed": (smoothed, (Y,)),
         "complex": (lambda z: np.sum(np.abs(np.exp(z) * z) ** 2), (Y[:500] + 1j * Y[500:1000],)),
         "single": (lambda x: np.sum(np.tanh(x) * x), (Y.astype(np.float32),)),
         "empty": (chain, (Y[:2],))}


@pytest.fixture
def always(monkeypatch):
    """Each loop is worth threads, however little it does."""
    for module in (parallel, work):
        monkeypatch.setattr(module, "WORK", -1)


def gradient(f, args, threads):
    with fad.config.using(threads=threads, compile="now", cache_dir=None):
        return fad.jit(fad.value_and_grad(f))(*args)


def text(f, *args, threads=2):
    runner = fad.value_and_grad(f).program_for(*args)[0].runner
    return emit.source_for(runner.func, "g", runner.guards, args, threads)[0]


@pytest.mark.parametrize("name", CASES)
def test_the_numbers_are_those_of_one_thread(name, always):
    f, args = CASES[name]
    want, got, again = gradient(f, args, 1), gradient(f, args, 3), gradient(f, args, 3)
    rtol = 1e-5 if name == "single" else 1e-11
    for a, b, c in zip(want, got, again):
        np.testing.assert_allclose(b, a, rtol=rtol, atol=rtol)
        assert np.array_equal(b, c)


def test_jacobians_and_tables(always):
    x = np.linspace(0.0, 1.0, 40)
    for g in (fad.jit(table), fad.jacobian(table), fad.hessian(chain)):
        with fad.config.using(compile="now", threads=1):
            want = fad.jit(g)(x)
        with fad.config.using(compile="now", threads=4, cache_dir=None):
            np.testing.assert_allclose(fad.jit(g)(x), want, rtol=1e-12, atol=1e-13)


def test_what_loops_run_in_parts(always):
    """Sums, rows of their own and private blocks do; extremes and running sums, whose iterations wait for each other,
    do not."""
    for f, args in ((logistic, (W, X, Y)), (chain, (Y,)), (mixture, (X[:5], X)), (descent, (W, X, Y))):
        assert "in_parallel(" in text(f, *args)
    assert not re.search(r"running.*\n(.*\n)*    totals\[row\]", text(running, Y))


def test_the_text_runs_as_plain_python(always):
    """It is what a debugger steps through."""
    for f, args in ((logistic, (W, X[:300], Y[:300])), (mixture, (X[:5], X[:300]))):
        scope = {}
        exec(text(f, *args), scope)
        got = scope["g"](*args)
        for a, b in zip(gradient(f, args, 1), got):
            np.testing.assert_allclose(b, a, rtol=1e-12)


def test_small_loops_stay_as_they_are():
    assert "in_parallel" not in text(logistic, W, X[:300], Y[:300])
    assert "in_parallel" in text(logistic, W, *(np.ones((200_000, 8)), np.ones(200_000)))
    assert "in_parallel" not in text(logistic, W, *(np.ones((200_000, 8)), np.ones(200_000)), threads=1)


def amounts_of(f, args):
    runner = fad.value_and_grad(f).program_for(*args)[0].runner
    return emit.source_for(runner.func, "g", runner.guards, args, 2)[1]


@pytest.mark.parametrize("name", CASES)
def test_arrays_that_are_small_enough_are_no_work_for_threads(name):
    """However their elements are spread over them and their axes."""
    f, args = CASES[name]
    work = amounts_of(f, args)
    if work is None:
        return
    least, draw = work.least(), np.random.default_rng(1)
    assert 0 < least <= parallel.WORK
    for _ in range(200):
        shapes = [[int(draw.integers(1, least + 1)) if draw.random() < 0.3 else 1 for _ in x.shape] for x in args]
        if sum(map(np.prod, shapes)) <= least:
            assert not any(work.is_much([np.broadcast_to(x.dtype.type(0), shape) for x, shape in zip(args, shapes)]))


def test_the_bound_on_work_holds_for_differences_and_not_for_quotients():
    amounts = work.Work(("x", "k"), (("n", "x", 0),), ("abs(n - (k)) * (3 * x.shape[1] + 2)", "(n - 1) // 2 * 7"))
    least = amounts.least()
    assert least > 100
    for n, m, k in ((least, 1, 0), (1, least, -1), (1, least // 2, least // 2), (least // 8, 8, -least)):
        assert not any(amounts.is_much([np.broadcast_to(0.0, (n, m)), k]))
    assert work.Work(("x", "k"), (), ("x.shape[0] * 5 // k",)).least() == 0
    assert work.Work(("x", "k"), (), ("k[0] * 5",)).least() == 0
    assert (work.Work(("x", "k"), (), ("5 * maximum(k, 3)",)).least() == 0
            < work.Work(("k",), (), ("5 * abs(k - 3)",)).least())
    assert work.Work((), (), ()).least() == parallel.WORK


@pytest.mark.parametrize("policy", ["now", "auto"])
def test_a_function_that_was_warmed_up_on_little_runs_on_all_cores(policy, usual_tiers):
    """The fast path takes what is about as large as before, and leaves larger arguments to the general path."""
    big = np.linspace(-1.0, 1.0, 400_000)
    with fad.config.using(threads=2, compile=policy, cache_dir=None):
        f = fad.jit(lambda x: np.sum(np.exp(-x * x) * np.sin(x) * 1.25))
        program = f.program_for(big[:10])[0]
        while program.runner.kernel is None:
            f(big[:10])
        assert "in_parallel" not in program.runner.kernel.source
        while "in_parallel" not in program.runner.kernel.source:
            np.testing.assert_allclose(f(big), chain(big) * 1.25, rtol=1e-9, atol=1e-9)
        assert f.traces == 1
        np.testing.assert_allclose(f(big), chain(big) * 1.25, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(f(big[:10]), chain(big[:10]) * 1.25, rtol=1e-12)


PROCESS = """
import numpy as np, fad
fad.config.compile, fad.config.threads = "now", 3
X = np.random.default_rng(0).normal(size=(200_000, 8))

def loss(w, v, X):
    return np.mean(np.tanh(X @ w)) + np.sum(np.sin(X @ v)), np.sum(X, axis=0) * v
g = fad.jit(fad.value_and_grad(loss, argnums=(0, 1), has_aux=True))
g(np.ones(8), np.full(8, 0.5), X)
runner = next(iter(fad.backend.running.compile._last.items()))
print(runner[0])
print(runner[1].call.stats.cache_hits)
"""


def test_text_is_the_same_in_each_process_and_its_kernel_is_found_on_disk(tmp_path):
    found = []
    for seed in ("1", "2", "3"):
        env = {**os.environ, "PYTHONHASHSEED": seed, "FAD_CACHE_DIR": str(tmp_path)}
        done = subprocess.run([sys.executable, "-c", PROCESS], capture_output=True, text=True, env=env, check=True)
        found.append(done.stdout.rpartition("Counter(")[::2])
    assert "in_parallel" in found[0][0] and found[0][0] == found[1][0] == found[2][0]
    assert "1" not in found[0][1] and ": 1" in found[1][1] and ": 1" in found[2][1]


def test_an_error_in_a_part_is_the_callers(always):
    def f(x, k):
        return np.sum(np.sin(x[k]) * 2.0)
    with fad.config.using(threads=3, compile="now", cache_dir=None):
        g = fad.jit(fad.grad(f))
        x, k = np.linspace(0.0, 1.0, 50), np.arange(1000) % 50
        g(x, k)
        k[900] = 50
        with pytest.raises(IndexError):
            g(x, k)
        k[900] = 0
        assert np.all(np.isfinite(g(x, k)))


def test_many_threads_of_pythons_get_the_same(always):
    with fad.config.using(threads=3, compile="now", cache_dir=None):
        g = fad.jit(fad.value_and_grad(mixture))
        want, found = g(X[:5], X), []

        def work():
            with fad.config.using(threads=3, compile="now", cache_dir=None):
                for _ in range(20):
                    found.append(g(X[:5], X))
        workers = [threading.Thread(target=work) for _ in range(6)]
        for t in workers:
            t.start()
        for t in workers:
            t.join()
    assert len(found) == 120
    assert all(a == want[0] and np.array_equal(b, want[1]) for a, b in found)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks here")
def test_a_child_runs_on_threads_too(always):
    with fad.config.using(threads=3, compile="now", cache_dir=None):
        g = fad.jit(fad.value_and_grad(mixture))
        want = g(X[:5], X)
        pid = os.fork()
        if pid == 0:
            got = g(X[:5], X)
            os._exit(0 if got[0] == want[0] and np.array_equal(got[1], want[1]) else 1)
        assert os.waitpid(pid, 0)[1] == 0


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers here")
def test_a_long_loop_on_threads_heeds_a_timer():
    class Stop(Exception):
        pass

    def stop(*_):
        raise Stop

    def outer(x, y):
        return np.sum(np.sqrt(1.0 + np.abs(x[:, None] * y[None, :])))
    x = np.linspace(0.0, 1.0, 2_000_000)
    with fad.config.using(threads=2, compile="now", cache_dir=None):
        g = fad.jit(outer)
        g(x[:3000], x[:3000])
        before = signal.signal(signal.SIGPROF, stop)
        try:
            started = time.process_time()
            signal.setitimer(signal.ITIMER_PROF, 0.3)
            with pytest.raises(Stop):
                g(x, x)
            assert time.process_time() - started - 0.3 < 2.0 * pace()
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0.0)
            signal.signal(signal.SIGPROF, before)


def test_the_setting():
    assert fad.config.threads >= 1
    for wrong in (0, 65, 2.0, True, "2"):
        with pytest.raises(ValueError, match="threads is an int"), fad.config.using(threads=wrong):
            pass


@pytest.mark.parametrize("env, want",
                         [({"FAD_THREADS": "3", "NUMBA_NUM_THREADS": "2"}, 3), ({"NUMBA_NUM_THREADS": "2"}, 2),
                          ({"FAD_THREADS": "1000"}, 64)])
def test_its_first_value(env, want, monkeypatch):
    for name in ("FAD_THREADS", "NUMBA_NUM_THREADS"):
        monkeypatch.delenv(name, raising=False)
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    assert Config().threads == want


@pytest.mark.parametrize("files, cores", [
    ({"cpu.max": "200000 100000\n"}, 2), ({"cpu.max": "150000 100000\n"}, 2), ({"cpu.max": "10000 100000\n"}, 1),
    ({"cpu.max": "max 100000\n"}, None), ({}, None),
    ({"cpu/cpu.cfs_quota_us": "300000\n", "cpu/cpu.cfs_period_us": "100000\n"}, 3),
    ({"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, None)])
def test_what_a_container_may_use(files, cores, tmp_path):
    (tmp_path / "cpu").mkdir()
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    assert _container_cores(str(tmp_path)) == cores


def test_other_threads_of_pythons_go_on():
    """Few elements and much work: the kernel gives Python's lock up all the same."""
    def cubic(x):
        t = x[:, None, None] * x[None, :, None] * x[None, None, :]
        return np.sum(np.sin(t[:, :, :, None] * x))
    x = np.linspace(0.0, 1.0, 90)
    with fad.config.using(threads=2, compile="now", cache_dir=None):
        g = fad.jit(cubic)
        g(x)
        assert goes_on_beside(lambda: g(x))


def test_nothing_is_started_at_import():
    code = """
import fad, threading, os
tasks = "/proc/self/task"
print(threading.active_count(), len(os.listdir(tasks)) if os.path.exists(tasks) else 1)
"""
    env = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env)
    assert done.stdout.split() == ["1", "1"]


def test_lists_of_terms_are_short_and_points_of_a_block_are_done_together():
    assert parallel._trips(["terms[i, 0]", "terms_2[i, 1]"], {"i"}) == "1"
    assert parallel._trips(["first[i]", "last[i]"], set()) == str(parallel.UNKNOWN)
