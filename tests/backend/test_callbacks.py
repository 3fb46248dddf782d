"""Compiled programs that call Python in the middle: values, errors, threads, and who keeps the functions."""
import gc
import subprocess
import sys
import threading
import warnings
import weakref

import numpy as np
import pytest
from scipy import integrate, optimize

import fad
from fad.backend.running.compile import BackendError
from fad.ir.build import building
from fad.ir.op import registry
from fad.ir.types import Type
from fad.util.errors import ArgumentError, ExtentError

P = np.array([0.7, 1.3, 2.0])


def root(p):
    return optimize.toms748(lambda t: t ** 3 + t - p * np.exp(-t), 0.0, 3.0)


def looped(p):
    total = 0.0
    for k in range(3):
        total = total + root(p[k] + total) * p[k]
        if total > 0.5:
            total = total + np.sum(optimize.fsolve(lambda t: t ** 3 + t - p, np.ones(3))) * total
    while total > 3.0:
        total = total / (1.0 + root(total))
    return total


def integrated(p):
    y = np.ones(2)
    for k in range(2):
        found = integrate.solve_ivp(lambda t, y, k=k: np.stack((-p[k] * y[0], y[0] * y[1] - y[1])), (0.0, 1.0), y,
                                    method="LSODA", t_eval=np.linspace(0.0, 1.0, 4), rtol=1e-8, atol=1e-8)
        y = found.y[:, -1] + integrate.quad(lambda t: np.exp(-p[2] * t), 0.0, 1.0)[0]
    return np.sum(y * y)


def compiled(f):
    """f, compiled at its first call: a program that stays with the interpreter warns."""
    return fad.jit(f, compile="now")


@pytest.fixture(autouse=True)
def no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@pytest.mark.parametrize("f", [lambda p: root(p[0]), looped, integrated])
@pytest.mark.parametrize("transform", [lambda f: f, fad.grad, fad.hessian])
def test_programs_that_call_python_are_compiled(f, transform):
    g = compiled(transform(f))
    wanted = fad.jit(transform(f), compile="never")(P)
    for _ in range(3):
        np.testing.assert_allclose(g(P), wanted, rtol=1e-9, atol=1e-12)
    assert g.program_for(P)[0].runner.kernel is not None and "call_python" in str(fad.source(g, P))


def test_what_is_shown_of_such_programs_is_the_compiled_form():
    g = fad.grad(looped)
    assert "interpreted: " not in str(fad.explain(g, P))
    assert "call_python" in str(fad.source(g, P))
    fad.draw(g, P)


def test_each_example_of_a_batch():
    g = fad.vmap(fad.grad(root), compile="now")
    np.testing.assert_allclose(g(P), [fad.grad(root)(p) for p in P])


def test_a_derivative_runs_the_solver_once():
    calls = []

    def solver(x, a):
        calls.append(a)
        return np.sqrt(a)
    g = fad.value_and_grad(lambda a: fad.implicit(solver, root=lambda x, a: x * x - a)(1.0, a), compile="now")
    assert g(4.0) == (2.0, 0.25)
    calls.clear()
    assert g(9.0)[0] == 3.0 and len(calls) == 1


# -- the values that cross -------------------------------------------------------------------------

VALUES = [np.float64(1.5), np.float32(1.5), np.int64(-3), np.uint64(2 ** 63), np.int8(-3), np.bool_(True), 1 - 2j,
          np.complex64(1 - 2j), 2.5, 7, np.arange(6.0).reshape(2, 3), np.arange(3, dtype=np.float32), np.array([True]),
          np.empty((0, 2)), np.arange(4).astype(complex).reshape(1, 2, 2), np.uint8([250, 251])]


@pytest.mark.parametrize("x", VALUES, ids=lambda x: f"{type(x).__name__}{np.shape(x)}")
def test_values_are_the_interpreters(x):
    seen = []

    def function(first, y, z):
        seen.append((type(first), type(y), y.dtype if isinstance(y, np.ndarray) else None, z.tolist()))
        return y
    like, is_array = np.asarray(x), isinstance(x, np.ndarray)
    with building("f") as b:
        y = b.array_input(like.dtype, like.shape, "y") if is_array else b.input(
            Type(like.dtype, (), type(x) in (int, float, complex)), "y")
        z = b.array_input(float, (2,), "z")
        func = b.finish((registry["host"](2.5, y, z, function=function, like=1),))
    values = [x, np.array([1.0, 2.0])]
    runners = [fad.backend.running.runner.Runner(func, policy) for policy in ("never", "now")]
    wanted, got = [np.asarray(runner.run(values)[0]) for runner in runners]
    assert runners[1].kernel is not None
    np.testing.assert_array_equal(got, wanted)
    assert seen[0] == seen[1] and (got.dtype == wanted.dtype or not is_array)    # a kernel's number is Python's


def test_what_a_function_does_to_its_arrays_stays_there():
    kept = []

    def solver(x, a):
        kept.append(a)
        a[0] = 100.0
        return x + 1.0
    g = compiled(lambda a: fad.implicit(solver, root=lambda x, a: x - 1.0)(np.zeros(2), a * 2.0) + a)
    a = np.array([1.0, 2.0])
    assert g(a).tolist() == [2.0, 3.0] and g(a).tolist() == [2.0, 3.0] and a.tolist() == [1.0, 2.0]
    del g
    gc.collect()
    assert kept[-1].tolist() == [100.0, 4.0]


# -- errors ----------------------------------------------------------------------------------------


class Own(Exception):
    """An error of the user's."""


@pytest.mark.parametrize("error", [Own("at 3"), ValueError("no sign change"), KeyboardInterrupt(), MemoryError("full")])
def test_errors_of_the_function_reach_the_caller(error):
    fails = [False]

    def solver(x, a):
        if fails[0]:
            raise error
        return np.sqrt(a)
    root = fad.implicit(solver, root=lambda x, a: x * x - a)

    def f(a):
        total = 0.0
        for k in range(4):
            total = total + root(1.0, a + k)
        return total
    g = fad.grad(f, compile="now")
    wanted = g(4.0)
    for _ in range(3):
        fails[0] = True
        with pytest.raises(type(error), match=str(error) or None):
            g(4.0)
        fails[0] = False
        assert g(4.0) == wanted


def test_a_result_of_another_shape_is_an_error():
    shape = [2]
    g = compiled(lambda a: fad.implicit(lambda x, a: np.ones(shape[0]), root=lambda x, a: x - 1.0)(np.zeros(2), a))
    assert g(1.0).tolist() == [1.0, 1.0]
    shape[0] = 3
    with pytest.raises(ExtentError, match="where .2,. was promised"):
        g(1.0)


# -- who calls what --------------------------------------------------------------------------------


def shifted(c):
    """A program whose text does not tell c."""
    return compiled(lambda a: fad.implicit(lambda x, a: x * 0.0 + c, root=lambda x, a: x - 1.0)(1.0, a))


def test_equal_programs_share_a_kernel_and_call_their_own_functions():
    f, g = shifted(2.0), shifted(3.0)
    assert (f(1.0), g(1.0), f(2.0), g(2.0)) == (2.0, 3.0, 2.0, 3.0)
    kernels = [h.program_for(1.0)[0].runner.kernel for h in (f, g)]
    assert kernels[0] is kernels[1] is not None


def test_another_process_takes_the_kernel_from_disk(tmp_path):
    code = ("import fad, numpy as np\nfrom scipy import optimize\n"
            f"fad.config.cache_dir = {str(tmp_path)!r}\n"
            "g = fad.grad(lambda p: optimize.toms748(lambda t: t ** 3 + t - p, 0.0, 3.0), compile='now')\n"
            "print(round(g(2.0), 6), g.program_for(2.0)[0].runner.from_disk)\n")
    said = [subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
            for _ in range(2)]
    assert said == [["0.25", "False"], ["0.25", "True"]]


def test_threads_call_at_once():
    g = compiled(lambda x: fad.implicit(lambda y, x: np.sqrt(x), root=lambda y, x: y * y - x)(x, x) * np.sum(x))
    x = np.arange(1.0, 2000.0)                               # the kernel gives the lock up
    wanted, found = g(x), []

    def work():
        for _ in range(20):
            found.append(np.array_equal(g(x), wanted))
    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert found == [True] * 80


def test_functions_go_with_their_program():
    f = shifted(4.0)
    f(1.0)
    runner = f.program_for(1.0)[0].runner
    kernel, number, held = runner.kernel, runner.link[0], weakref.ref(runner.callbacks)
    assert kernel.call(1.0, number) == 4.0
    runner.callbacks = runner.linked = None
    gc.collect()
    assert held() is None
    with pytest.raises(RuntimeError, match="no more"):
        kernel.call(1.0, number)


def test_what_has_no_python_around_it_is_refused(tmp_path):
    with pytest.raises(ArgumentError, match="calls Python"):
        fad.export(shifted(7.0), 1.0, path=tmp_path / "f.py")
    for make in (fad.cfunc, lambda f, a: fad.jit(f).njit(a)):
        with pytest.raises(BackendError, match="calls Python"):
            make(lambda a: root(a) * 2.0, 1.0)


def test_a_thread_that_python_does_not_know_gets_an_error():
    numba = pytest.importorskip("numba")
    f = shifted(6.0)
    f(1.0)
    runner = f.program_for(1.0)[0].runner
    call, number = runner.kernel.call, runner.link[0]

    @numba.njit(parallel=True)
    def everywhere(n):
        found = np.full(n, np.nan)
        for k in numba.prange(n):
            found[k] = call(1.0, number)
        return found
    try:
        assert set(everywhere(64)[~np.isnan(everywhere(64))]) <= {6.0}          # Numba loses errors there
    except RuntimeError as error:
        assert "prange" in str(error)
