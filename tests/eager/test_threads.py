"""Threads at once, switched as often as Python can (on a free-threaded Python: truly at once)."""
import sys
import threading

import numpy as np
import pytest

import fad

THREADS = 6


@pytest.fixture(autouse=True)
def switching_often():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def at_once(work):
    """work(k) in several threads that start together; what one of them raises is raised here."""
    start, errors = threading.Barrier(THREADS), []

    def run(k):
        start.wait()
        try:
            work(k)
        except BaseException as error:
            errors.append(error)
    threads = [threading.Thread(target=run, args=(k,)) for k in range(THREADS)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    if errors:
        raise errors[0]


def test_graphs_of_their_own():
    def loss(x):
        return ((x @ x.t() + fad.eye(4)).inverse().diagonal().sum() + x.softmax(0).log().mean()
                + x.sort(0)[0].cumsum(1).std() + x[[0, 1], [1, 2]].prod()
                + fad.nn.functional.conv1d(x[None], x[None, :, :2]).tanh().sum() + x.view(-1)[3:].norm())

    def gradients(k):
        x = fad.tensor(np.random.default_rng(k).random((4, 4)) + 0.5, requires_grad=True)
        first, = fad.autograd.grad(loss(x), x, create_graph=True)
        first.pow(2).sum().backward()
        return x.grad.numpy()
    expected = [gradients(k) for k in range(THREADS)]
    at_once(lambda k: [np.testing.assert_array_equal(gradients(k), expected[k]) for _ in range(5)])


def test_one_leaf():
    w = fad.zeros(20, requires_grad=True)
    at_once(lambda k: [(w * 1.0).sum().backward() for _ in range(50)])
    assert (w.grad.numpy() == 50 * THREADS).all()


def test_one_graph():
    x = fad.ones(10, requires_grad=True)
    y = (x * 2).exp().sum()
    at_once(lambda k: [y.backward(retain_graph=True) for _ in range(20)])
    np.testing.assert_allclose(x.grad.numpy(), THREADS * 20 * 2 * np.exp(2), rtol=1e-12)


def test_a_graph_that_is_freed_is_told_or_done():
    outcomes = []

    def once(y):
        try:
            y.backward()
            outcomes.append(True)
        except RuntimeError as error:
            assert "second time" in str(error)
            outcomes.append(False)
    for _ in range(10):
        x = fad.ones(5, requires_grad=True)
        y = (x * x).exp().sum()
        at_once(lambda k, y=y: once(y))
    assert sum(outcomes) >= 10 and len(outcomes) == 10 * THREADS


def test_hooks_come_and_go():
    x = fad.ones(10, requires_grad=True)

    def work(k):
        for _ in range(20):
            handle = x.register_hook(lambda g: g * 1.0)
            (x * 1.0).sum().backward()
            handle.remove()
    at_once(work)
    assert (x.grad.numpy() == 20 * THREADS).all()


def test_modes_are_of_each_thread():
    def work(k):
        for _ in range(20):
            with fad.no_grad():
                assert not fad.is_grad_enabled()
            assert fad.is_grad_enabled()
            with fad.autograd.forward_ad.dual_level():
                dual = fad.autograd.forward_ad.make_dual(fad.ones(3), fad.ones(3) * k)
                assert (fad.autograd.forward_ad.unpack_dual(dual * dual).tangent.numpy() == 2 * k).all()
            x = fad.ones(3, requires_grad=True)
            with fad.autograd.graph.saved_tensors_hooks(lambda t: (k, t),
                                                        lambda packed: packed[1] if packed[0] == k else None):
                y = (x * x).sum()
            y.backward()
            assert (x.grad.numpy() == 2).all()
    at_once(work)


def test_parts_of_one_memory_changed_in_place():
    base = fad.zeros(2 * THREADS)

    def work(k):
        for _ in range(20):
            b = fad.zeros(8) + fad.ones(8, requires_grad=True)
            b[2:5].mul_(3.0)
            (b * b).sum().backward()
            base[2 * k:2 * k + 2].add_(1.0)
    at_once(work)
    assert (base.numpy() == 20).all()
