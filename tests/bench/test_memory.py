"""Memory: a reverse sweep keeps what must be saved, and no more."""
import tracemalloc

import numpy as np

import fad

N, STEPS = 200_000, 20


def chain(x):
    for _ in range(STEPS):
        x = np.sin(x)
    return np.sum(x)


def peak(run):
    run()
    tracemalloc.start()
    try:
        run()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_chain_saves_one_array_a_step():
    x = np.linspace(0.0, 1.0, N)
    unrolled = [f"    x = np.sin(x) * {1 + k / 100}" for k in range(STEPS)]
    scope = {"np": np}
    exec("\n".join(["def f(x):", *unrolled, "    return np.sum(x)"]), scope)
    g = fad.jit(fad.grad(scope["f"]), compile="never")
    assert peak(lambda: g(x)) <= (STEPS + 4) * x.nbytes


def test_the_forward_sweep_alone_saves_nothing():
    x = np.linspace(0.0, 1.0, N)
    f = fad.jit(lambda x: np.sum(np.sin(np.cos(np.tanh(np.sin(np.cos(np.tanh(x))))))), compile="never")
    assert peak(lambda: f(x)) <= 3 * x.nbytes
