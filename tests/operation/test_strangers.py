"""Programs of strangers: interpreters with odd options, poor surroundings, services, pools of processes. Each runs in a
process of its own."""
import os
import shutil
import subprocess
import sys

import pytest

posix = pytest.mark.skipif(sys.platform == "win32", reason="a POSIX shell")
BEGIN = """
import os, sys, warnings
import numpy as np
import fad

X = np.linspace(0.1, 1.0, 5)
warnings.simplefilter("error", fad.InternalErrorWarning)

def loss(w, A, y):
    return np.mean((A @ w - y) ** 2)

def looped(x, n):
    s = 0.0
    for k in range(n):
        s = s + np.sin(s) * x[k % len(x)]
    return s

def is_right():
    g = fad.jit(fad.grad(lambda x: np.sum(np.sin(x) * x)), compile="now")
    return np.allclose(g(X), np.cos(X) * X + np.sin(X))
"""
CHECK = "assert is_right()\n"
INTERPRETERS = {"-O": CHECK, "-OO": CHECK + "assert 'def grad' in fad.source(fad.grad(lambda x: np.sum(x ** 2)), X)\n",
                "-I": CHECK}
SHELLS = {"few files": "ulimit -n 24", "a small stack": "ulimit -s 1024",
          "no folder": "d=$(mktemp -d); cd $d; rmdir $d", "closed streams": "exec >&- 2>&- <&-"}
SERVICES = {
    "timeouts of asyncio": """
import asyncio
slow = fad.grad(looped)
counts = {True: 0, False: 0}
async def request(n):
    try:
        await asyncio.wait_for(asyncio.to_thread(slow, X, n), 5.0)
        counts[True] += 1
    except asyncio.TimeoutError:
        counts[False] += 1
async def main():
    await asyncio.gather(*[request(n) for n in (5, 50, 500) * 4])
asyncio.run(main())
assert counts[True] >= 4, counts
""",
    "settings of tasks": """
import asyncio
async def task(policy):
    with fad.config.using(compile=policy):
        for _ in range(5):
            await asyncio.sleep(0.001)
            assert fad.config.compile == policy and np.allclose(fad.grad(lambda x: np.sum(x ** 2))(X), 2 * X)
async def main():
    await asyncio.gather(*[task(policy) for policy in ("now", "never", "auto") * 3])
asyncio.run(main())
""",
    "a pool of threads": """
from concurrent.futures import ThreadPoolExecutor
A = np.random.default_rng(0).normal(size=(30, 3))
with ThreadPoolExecutor(8) as pool:
    found = list(pool.map(lambda k: fad.grad(loss)(np.ones(3), A, np.full(30, float(k))), range(24)))
assert all(np.allclose(g, 2 * A.T @ (A @ np.ones(3) - k) / 30) for k, g in enumerate(found))
""",
    "a thread that compiles as Python ends": """
import threading, time
def work():
    for k in range(10 ** 9):
        fad.jit(fad.grad(eval(f"lambda x: np.sum(np.sin(x) * {k}.5)", {"np": np})), compile="now")(X)
threading.Thread(target=work, daemon=True).start()
time.sleep(1.5)
""",
    "a small stack of a thread": """
import threading
found = []
threading.stack_size(256 * 1024)
thread = threading.Thread(target=lambda: found.append(is_right()))
thread.start(); thread.join()
assert found == [True]
""",
    "a handler that computes while Numba compiles": """
import signal
values = []
def handler(*_):
    values.append(fad.jit(fad.grad(lambda x: np.sum(x ** 3)), compile="now")(X).sum())
    signal.setitimer(signal.ITIMER_REAL, 0.3)                # not before: on a busy machine handlers would pile up
signal.signal(signal.SIGALRM, handler)
signal.setitimer(signal.ITIMER_REAL, 0.02)
fad.config.cache_dir = None
for k in range(4):
    slope = fad.jit(fad.grad(lambda x: np.sum(np.sin(x * k) * x)), compile="now")
    assert np.allclose(slope(X), np.cos(k * X) * k * X + np.sin(k * X))
signal.setitimer(signal.ITIMER_REAL, 0.0)
assert values and np.allclose(values, 3 * np.sum(X ** 2)) and is_right()
""",
    "the end of the program": "import atexit\natexit.register(lambda: is_right() or os._exit(3))\n",
    "a debugger": "sys.settrace(lambda *a: lambda *b: None)\nassert is_right()\nsys.settrace(None)\n",
    "a file in memory": """
import tempfile
with tempfile.TemporaryFile() as file:
    m = np.memmap(file, dtype=float, shape=(5,), mode="w+")
    m[:] = X
    assert np.allclose(fad.grad(lambda x: np.sum(x * m))(m), X)
""",
}
POOL = """
import multiprocessing as mp
def wrong(x):
    return fad.grad(lambda x: np.sum(x, axis=3))(x)

if __name__ == "__main__":
    g, A = fad.grad(loss), np.eye(3)
    with mp.get_context(METHOD).Pool(2) as pool:
        assert all(np.allclose(v, g(np.ones(3), A, X[:3])) for v in pool.starmap(g, [(np.ones(3), A, X[:3])] * 4))
        try:
            pool.apply(wrong, (X,))
        except np.exceptions.AxisError as error:
            assert isinstance(error, fad.FadError) and str(error).count("where: ") == 1 and "do: " in str(error)
        else:
            raise AssertionError("no error")
"""


def run(folder, text, options=(), shell="", **environment):
    """Run a program; it succeeds."""
    program = folder / "stranger.py"
    program.write_text(BEGIN + text)
    command = [sys.executable, *options, str(program)]
    if shell:
        command = ["bash", "-c", f'{shell}; exec "$@"', "bash", *command]
    done = subprocess.run(command, env={**os.environ, "FAD_CACHE_DIR": str(folder / "cache"), **environment},
                          capture_output=True, text=True,
                          timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("option", INTERPRETERS)
def test_options_of_the_interpreter(option, tmp_path):
    begin = f"import sys\nsys.path[:0] = {sys.path!r}\n" if option == "-I" else ""
    program = begin + BEGIN
    (tmp_path / "stranger.py").write_text(program + INTERPRETERS[option])
    done = subprocess.run([sys.executable, option, str(tmp_path / "stranger.py")], capture_output=True, text=True,
                          timeout=120, check=False,
                          env={**os.environ, "FAD_CACHE_DIR": str(tmp_path / "cache")})
    assert done.returncode == 0, done.stderr


def test_every_warning_is_an_error(tmp_path):
    run(tmp_path, CHECK, ("-X", "dev", "-W", "error"))


@posix
@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")
@pytest.mark.parametrize("limit", SHELLS)
def test_poor_surroundings(limit, tmp_path):
    run(tmp_path, CHECK, shell=SHELLS[limit])


def test_a_terminal_that_knows_ascii_alone(tmp_path):
    shown = """g = fad.grad(lambda x: np.sum(x ** 2))
for text in (fad.source(g, X), fad.show(g, X), fad.explain(g, X), g):
    print(text)
"""
    run(tmp_path, shown, LC_ALL="C", PYTHONIOENCODING="ascii:strict", PYTHONUTF8="0")


@pytest.mark.parametrize("service", SERVICES)
def test_services(service, tmp_path):
    run(tmp_path, SERVICES[service])


@pytest.mark.parametrize("method", ["spawn", "fork", "forkserver"])
def test_pools_of_processes(method, tmp_path):
    import multiprocessing
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip("not on this system")
    run(tmp_path, POOL.replace("METHOD", repr(method)))


def test_a_cache_folder_that_begins_at_home(tmp_path):
    run(tmp_path,
        CHECK + "assert not os.path.exists('~')\nassert os.listdir(os.path.expanduser('~/kernels'))\n"
                "fad.config.cache_dir = '~/other'\n"
        "assert str(fad.config.cache_dir) == os.path.expanduser('~/other')\n", HOME=str(tmp_path),
        FAD_CACHE_DIR="~/kernels")


def test_numba_that_does_not_compile(tmp_path):
    run(tmp_path,
        "with warnings.catch_warnings(record=True) as told:\n    warnings.simplefilter('always')\n"
        "    assert is_right()\n"
        "assert [w.category for w in told] == [UserWarning] and 'NUMBA_DISABLE_JIT' in str(told[0].message), told\n",
        NUMBA_DISABLE_JIT="1")
