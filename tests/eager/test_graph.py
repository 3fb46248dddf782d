"""The graph: order, hooks, saved tensors, freeing, threads."""
import gc
import threading
import warnings
import weakref

import pytest

import fad

from .support import close, leaf


def test_order_of_hooks():
    seen = []
    x = leaf(1, 2)
    y = x * 2
    y.retain_grad()
    y.register_hook(lambda g: seen.append("first") or g * 2)
    y.grad_fn.register_prehook(lambda g: seen.append("pre"))
    y.register_hook(lambda g: seen.append(g.tolist()))
    y.grad_fn.register_hook(lambda gi, go: seen.append(("post", go[0].tolist())))
    y.sum().backward()
    assert seen == ["first", [2.0, 2.0], "pre", ("post", [2.0, 2.0])]
    close(y.grad, 2.0), close(x.grad, 4.0)


def test_hooks_of_leaves():
    seen = []
    x = leaf(1, 2)
    z = x * x
    accumulate = z.grad_fn.next_functions[0][0]
    assert accumulate.name() == "torch::autograd::AccumulateGrad" and accumulate.variable is x
    accumulate.register_prehook(lambda g: seen.append("pre"))
    accumulate.register_hook(lambda gi, go: seen.append("post"))
    x.register_post_accumulate_grad_hook(lambda t: seen.append(t.grad.tolist()))
    z.sum().backward()
    assert seen == ["pre", [2.0, 4.0], "post"]


def test_latest_steps_go_first():
    order = []
    x = leaf(1, 2)
    a = x * 2
    b = a + 1
    c = a * 3
    d = b * c
    for name, t in zip("abcd", (a, b, c, d)):
        t.register_hook(lambda g, name=name: order.append(name))
    d.sum().backward()
    assert order == ["d", "c", "b", "a"]


def test_multi_hooks():
    seen = []
    a, b, c = leaf(1), leaf(2), leaf(3)
    handle = fad.autograd.graph.register_multi_grad_hook(
        [a, b, c], lambda gs: seen.append([None if g is None else g.item() for g in gs]))
    (a * b).sum().backward()
    (a * c).sum().backward()
    assert seen == [[2.0, 1.0, None], [3.0, None, 1.0]]
    handle.remove()
    fad.autograd.graph.register_multi_grad_hook([a, b], lambda g: seen.append("any"), mode="any")
    (a * b).sum().backward()
    assert seen[2:] == ["any"]


def test_backward_into_some():
    x, y = leaf(1, 2), leaf(3, 4)
    z = x * y
    w = z * 2
    w.sum().backward(inputs=[x], retain_graph=True)
    close(x.grad, [6, 8])
    assert y.grad is None
    w.sum().backward(inputs=[z, y])
    close(z.grad, 2.0), close(y.grad, [2, 4])


def test_saved_tensor_hooks():
    seen = []
    x = leaf(2, 3)
    with fad.autograd.graph.saved_tensors_hooks(lambda t: seen.append("pack") or t * 1,
                                                lambda t: seen.append("unpack") or t):
        y = x * x
        assert seen == ["pack", "pack"]
        z = y.exp()
    assert y.grad_fn._saved_self is not x
    g, = fad.autograd.grad(z.sum(), x, create_graph=True)
    gg, = fad.autograd.grad(g.sum(), x)
    close(gg, (2 + 4 * x.detach().numpy() ** 2) * z.detach().numpy())

    def doubling(t):
        return t.mul_(2)
    with (pytest.raises(RuntimeError, match="modifying its input in place"),
          fad.autograd.graph.saved_tensors_hooks(doubling, lambda t: t)):
        x.pow(2)
    with fad.autograd.graph.save_on_cpu():
        y = x * x * x
    y.sum().backward()
    close(x.grad, 3 * x.detach().numpy() ** 2)


def test_raw_saved_tensors():
    y = leaf(2, 3).pow(2)
    raw = y.grad_fn._raw_saved_self
    y.sum().backward()
    with pytest.raises(RuntimeError, match="after it has been freed"):
        raw.register_hooks(lambda t: t, lambda t: t)
    raw = leaf(1).exp().grad_fn._raw_saved_result
    raw.register_hooks(lambda t: t, lambda t: t)
    with pytest.raises(RuntimeError, match="already been set"):
        raw.register_hooks(lambda t: t, lambda t: t)


def test_only_what_is_read_is_saved():
    x = leaf(1, 2)
    assert (x + x).grad_fn.xs == (None, None) and "_saved_self" in dir(x.sin().grad_fn)
    y = x * fad.ones(2)
    assert y.grad_fn._saved_self is None and y.grad_fn._saved_other is not None
    big = fad.ones(1000)
    ref = weakref.ref(big)
    z = x.sum() + big.sum()
    del big
    assert ref() is None and z.item() == 1003.0


def test_layouts():
    w = fad.ones(4, 3).t().requires_grad_()
    (w * w).sum().backward()
    assert w.grad.stride() == w.stride()
    x, y = leaf(1, 2), leaf(3, 4)
    (x + y).sum().backward()
    assert x.grad.data_ptr() != y.grad.data_ptr()
    g = fad.ones(2)
    x.grad = None
    (x + 0).backward(g)
    assert x.grad.data_ptr() != g.data_ptr()


def test_no_cycles():
    gc.disable()
    try:
        x = leaf(1, 2)
        y = (x * 2).exp() + 0
        v = y[0:1]
        v.mul_(3)
        refs = [weakref.ref(t.grad_fn) for t in (y, v)]
        fad.autograd.grad(y.sum(), x, create_graph=True)
        del y, v
        assert all(r() is None for r in refs)
    finally:
        gc.enable()


def test_an_exception_leaves_all_as_it_was():
    x = leaf(1, 2)
    y = x * 2
    y.register_hook(lambda g: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        y.sum().backward()
    assert fad.is_grad_enabled()
    (x * 2).sum().backward()
    close(x.grad, 2.0)


def test_threads_accumulate_into_one_leaf():
    x = fad.ones(1000, requires_grad=True)

    def work():
        for _ in range(50):
            (x * 2).sum().backward()
    threads = [threading.Thread(target=work) for _ in range(8)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    close(x.grad, 800.0)


def test_modes_and_hooks_are_of_one_thread():
    found = []
    with fad.no_grad(), fad.autograd.graph.saved_tensors_hooks(lambda t: found.append("packed"), lambda t: t):
        thread = threading.Thread(target=lambda: found.append(leaf(1).exp().requires_grad))
        thread.start()
        thread.join()
    assert found == [True]


def test_draw():
    x = leaf(1, 2)
    drawing = fad.draw((x.exp() * x).sum())
    assert "ExpBackward0" in drawing.dot and drawing.svg.startswith("<svg")


def test_anomaly_mode_shows_the_line():
    x = fad.tensor([4.0, -1.0], requires_grad=True)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        with pytest.raises(RuntimeError, match="Function 'SqrtBackward0' returned nan"), fad.autograd.detect_anomaly():
            x.sqrt().sum().backward()                                     # this one
    assert str(warned[-1].message).strip().splitlines()[-1].strip().startswith("x.sqrt().sum().backward()")


def test_results_that_are_not_saved_are_not_asked_in_a_recorded_backward():
    """The short way hands rules no result that they do not read."""
    x = leaf(1, 2)
    g, = fad.autograd.grad((x * x).sum(), x, create_graph=True)
    close(fad.autograd.grad(g.sum(), x)[0], [2, 2])
    x = fad.full((2,), 3.0, requires_grad=True)
    (x * x).sum().backward(create_graph=True)
    close(x.grad, [6, 6])
    x.grad = None


@pytest.mark.parametrize("f, count", [
    (lambda x, w, b: x * w, 2), (lambda x, w, b: x @ w, 2), (lambda x, w, b: fad.addmm(b, x, w), 3),
    (lambda x, w, b: x / w, 2), (lambda x, w, b: fad.cat([x, w, b]), 3),
    (lambda x, w, b: fad.where(fad.ones(2, 2) > 0, x, w), 2), (lambda x, w, b: fad.nn.functional.linear(x, w, b[0]), 3),
    (lambda x, w, b: fad.maximum(x, w), 2),
    (lambda x, w, b: fad.nn.functional.layer_norm(x, (2,), w[0], b[0]), 3), (lambda x, w, b: fad.addcmul(x, w, b), 3),
    (lambda x, w, b: fad.linalg.solve(x, w), 2)])
def test_gradients_that_nobody_asked_for_are_not_computed(f, count):
    leaves = [(fad.eye(2) * k + 0.3).requires_grad_() for k in (1.0, 2.0, 3.0)]
    y, seen = f(*leaves), []
    y.grad_fn.register_hook(lambda given, back: seen.append([g is not None for g in given]))
    (whole,) = [fad.autograd.grad(y.sum(), leaves, retain_graph=True, allow_unused=True)]
    assert sum(seen.pop()) == count
    for one, want in zip(leaves[:count], whole):
        found = fad.autograd.grad(y.sum(), one, retain_graph=True)[0]
        assert fad.allclose(found, want) and sum(seen.pop()) == 1
        one.grad = None
        y.sum().backward(inputs=[one], retain_graph=True)
        assert fad.allclose(one.grad, want) and sum(seen.pop()) == 1
    assert all(fad.allclose(a, b) for a, b in zip(fad.autograd.grad(y.sum(), leaves[:count]), whole))


@pytest.mark.parametrize("mode, expected", [("all", [[9.0, 3.0, 18.0]]), ("any", [3.0])])
def test_hooks_for_several_gradients_take_edges_of_the_graph(mode, expected):
    x, seen = fad.ones(2, requires_grad=True), []
    y = x * 2
    z = y * 3
    edges = [y, fad.autograd.graph.get_gradient_edge(z), fad.autograd.graph.get_gradient_edge(x)]
    handle = fad.autograd.graph.register_multi_grad_hook(
        edges, lambda gs: seen.append([g.sum().item() for g in gs] if mode == "all" else gs.sum().item()), mode=mode)
    (z * 1.5).sum().backward(retain_graph=True)
    handle.remove()
    z.sum().backward()
    assert seen == expected
