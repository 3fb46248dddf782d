"""fad.dask: sums over chunks, on threads and on a real cluster of processes, also when a worker dies."""
import functools
import os
import signal
import subprocess
import sys

import numpy as np
import pytest

import fad

from ..texts import executed

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")
cloudpickle = pytest.importorskip("cloudpickle")

rng = np.random.default_rng(0)
ROWS, CHUNK = 1000, 90                                       # twelve chunks, the last one shorter: two levels of sums
X, y, w = rng.standard_normal((ROWS, 3)), np.sign(rng.standard_normal(ROWS)), np.array([0.3, -0.2, 0.5])


def loss(w, X, y):
    return np.sum(np.logaddexp(0.0, -y * (X @ w)))


BY_ROWS = """
def total(w, X):
    s = 0.0
    for k in range(len(X)):
        if X[k, 0] > 0:
            s += (X[k] @ w) ** 2
    return s
"""


def in_chunks():
    return da.from_array(X, chunks=(CHUNK, 3)), da.from_array(y, chunks=CHUNK)


@pytest.fixture(scope="module")
def client():
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        with distributed.Client(cluster) as made:
            yield made


# -- values -----------------------------------------------------------------------------------------


def test_the_sum_is_that_of_the_whole():
    value, slope = fad.dask.value_and_grad(loss)(w, *in_chunks())
    exact_value, exact = fad.value_and_grad(loss)(w, X, y)
    assert np.isclose(value, exact_value, rtol=1e-12) and np.allclose(slope, exact, rtol=1e-12)


def test_products_and_hessians_are_those_of_the_whole():
    v, exact = np.array([1.0, 2.0, -1.0]), fad.hessian(loss)(w, X, y)
    assert np.allclose(fad.dask.hessian(loss)(w, *in_chunks()), exact, rtol=1e-11)
    assert np.allclose(fad.dask.hvp(loss)(w, v, *in_chunks()), exact @ v, rtol=1e-11)


def test_the_gauss_newton_model_is_that_of_the_whole():
    def residual(p, X, y):
        return np.tanh(X @ p["w"] + p["b"]) - y
    found = fad.dask.gauss_newton(residual)({"w": w, "b": 0.1}, *in_chunks())
    vector, unravel = fad.ravel({"w": w, "b": 0.1})
    r, J = residual(unravel(vector), X, y), fad.jacobian(lambda v: residual(unravel(v), X, y))(vector)
    assert np.isclose(found.value, r @ r / 2) and np.allclose(found.gradient, J.T @ r)
    assert np.allclose(found.matrix, J.T @ J)


def test_scipy_minimises_over_chunks():
    from scipy.optimize import minimize
    data = in_chunks()
    fit = minimize(fad.dask.value_and_grad(loss), w, args=data, jac=True, hessp=fad.dask.hvp(loss), method="trust-ncg")
    exact = minimize(fad.value_and_grad(loss), w, args=(X, y), jac=True, method="BFGS", options={"gtol": 1e-9})
    assert fit.success and np.allclose(fit.x, exact.x, atol=1e-4)


def test_structures_of_chunks_and_whole_arguments():
    def scaled(p, data, scale):
        return scale * loss(p["w"], data["X"], data["y"])
    parts = dict(zip("Xy", in_chunks()))
    value, slope = fad.dask.value_and_grad(scaled)({"w": w}, parts, 2.0)
    assert np.allclose(slope["w"], 2 * fad.grad(loss)(w, X, y)) and np.isclose(value, 2 * loss(w, X, y))


def test_bags_and_delayed_parts():
    bag = pytest.importorskip("dask.bag").from_sequence([{"x": a, "y": b} for a, b in zip(X, y)], npartitions=7)
    of_records = fad.dask.value_and_grad(lambda w, r: loss(w, r["x"], r["y"]))
    assert np.allclose(of_records(w, bag)[1], fad.grad(loss)(w, X, y))
    parts = [dask.delayed(lambda k: (X[k::5], y[k::5]))(k) for k in range(5)]
    of_parts = fad.dask.value_and_grad(lambda w, part: loss(w, part[0], part[1]))
    assert np.allclose(of_parts(w, parts)[1], fad.grad(loss)(w, X, y))


def test_outer_arrays_are_read_at_each_call():
    scale = np.array([1.0])
    g = fad.dask.value_and_grad(lambda w, X: np.sum(scale * (X @ w)))
    first = g(w, in_chunks()[0])[0]
    scale[0] = 3.0
    assert np.isclose(g(w, in_chunks()[0])[0], 3 * first)


def made_in_a_cell():
    """A function of a notebook: no file has its text."""
    return executed(BY_ROWS, {"np": np, "__name__": "__main__"})["total"]


def test_a_function_that_was_called_before_can_be_sent():
    total = made_in_a_cell()
    exact = fad.grad(total)(w, X)
    assert np.allclose(fad.dask.value_and_grad(total)(w, in_chunks()[0])[1], exact)


@pytest.mark.parametrize("data, word", [
    ((X, y), "no argument has chunks"),
    ((da.from_array(X, chunks=(50, 1)), da.from_array(y, chunks=50)), "first axis alone"),
    ((da.from_array(X, chunks=(100, 3)), da.from_array(y, chunks=50)), "chunks"),
    ((da.from_array(X, chunks=((400, 600), 3)), da.from_array(y, chunks=((600, 400),))), "equal lengths"),
], ids=["none", "columns", "counts", "lengths"])
def test_chunks_that_do_not_fit_are_refused(data, word):
    with pytest.raises(fad.FadError, match=word):
        fad.dask.value_and_grad(loss)(w, *data)


# -- the same bits --------------------------------------------------------------------------------------


def same(a, b):
    return a[0] == b[0] and np.array_equal(a[1], b[1])


def test_the_bits_depend_on_neither_scheduler_nor_order(client):
    g, found = fad.dask.value_and_grad(loss), []
    for scheduler in ("synchronous", "threads"):
        with dask.config.set(scheduler=scheduler):
            found.append(g(w, *in_chunks()))
    found.append(client.compute(g.delayed(w, *in_chunks())).result())
    assert all(same(found[0], each) for each in found)


def test_arrays_that_workers_keep(client):
    kept = [x.persist() for x in in_chunks()]
    with dask.config.set(scheduler="threads"):
        exact = fad.dask.value_and_grad(loss)(w, *in_chunks())
    assert same(client.compute(fad.dask.value_and_grad(loss).delayed(w, *kept)).result(), exact)
    parts = client.map(lambda k: (X[k::5], y[k::5]), range(5))
    of_parts = fad.dask.value_and_grad(lambda w, part: loss(w, part[0], part[1]))
    assert np.allclose(client.compute(of_parts.delayed(w, parts)).result()[1], exact[1])


def test_each_process_compiles_once(client):
    g = fad.dask.value_and_grad(loss)
    for k in range(3):
        client.compute(g.delayed(w + k, *in_chunks())).result()
    counts = client.run(lambda: [f.traces for f in sys.modules["fad.api.derivatives.chunks"]._LOADED.values()])
    assert all(set(each) <= {1} for each in counts.values())


def test_a_worker_that_dies_costs_time_only(client, tmp_path):
    """One chunk kills the process that loads it, the first time."""
    mark = tmp_path / "died"

    def load(k):
        if k == 7 and not mark.exists():
            mark.write_text("once")
            os.kill(os.getpid(), signal.SIGKILL)
        return X[k * CHUNK:(k + 1) * CHUNK], y[k * CHUNK:(k + 1) * CHUNK]
    of_parts = fad.dask.value_and_grad(lambda w, part: loss(w, part[0], part[1]))
    parts = [dask.delayed(load)(k) for k in range(12)]
    found = client.compute(of_parts.delayed(w, parts)).result()
    assert mark.exists() and same(found, of_parts(w, parts))


def compiled(g):
    """How the gradient does in this process, where the tape is not allowed."""
    with fad.config.using(fallback=False):
        return g(w, X)


def test_functions_of_notebooks_are_compiled_in_other_processes(monkeypatch):
    """Their text goes along, so that their loops and branches are compiled there."""
    total, kept = made_in_a_cell(), X[X[:, 0] > 0]
    monkeypatch.setenv("FAD_FALLBACK", "0")
    g = fad.grad(lambda w, X: total(w, X))
    with dask.config.set(scheduler="processes", num_workers=1):
        value, slope = fad.dask.value_and_grad(total)(w, in_chunks()[0])
        other, = dask.compute(dask.delayed(compiled)(g))
    assert np.isclose(value, np.sum((kept @ w) ** 2)) and np.allclose(slope, 2 * kept.T @ (kept @ w))
    assert np.allclose(other, slope)


def test_workers_find_kernels_of_other_workers(tmp_path, monkeypatch):
    """In a shared folder: the second process compiles nothing."""
    monkeypatch.setenv("FAD_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("FAD_LOG", "info")
    data = cloudpickle.dumps(fad.value_and_grad(made_in_a_cell(), compile="now"))
    code = ("import pickle, sys, numpy as np; g = pickle.loads(sys.stdin.buffer.read()); "
            "g(np.ones(3), np.ones((5, 3)))")
    run = functools.partial(subprocess.run, [sys.executable, "-c", code], input=data, capture_output=True, check=True)
    told = [run().stderr, run().stderr]
    assert b"compiled total" in told[0] and b"compiled total" not in told[1] and b"found total" in told[1]
