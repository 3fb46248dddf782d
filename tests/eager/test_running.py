"""Asking after the backward pass that is running; settings of it and of views; classes that are decorated."""
import pytest

import fad
from fad.autograd import graph

from .support import leaf


def test_what_will_run():
    x, y = leaf(1), leaf(2)
    product = x * y
    aside, result = product.cos(), product.exp()
    seen = []

    def ask(g):
        seen.append([graph._will_engine_execute_node(t.grad_fn) for t in (product, aside, result)])
    result.register_hook(ask)
    result.sum().backward(retain_graph=True)
    assert seen == [[True, False, True]]
    with pytest.raises(RuntimeError, match="currently running autograd.grad"):
        fad.autograd.grad(result, x)
    with pytest.raises(RuntimeError, match="during the backward pass"):
        graph._will_engine_execute_node(result.grad_fn)
    with pytest.raises(RuntimeError, match="expects an grad_fn, but got Tensor"):
        graph._will_engine_execute_node(x)


def test_passes_are_numbered_and_know_their_node():
    seen = []
    y = leaf(1).sin()
    y.grad_fn.register_prehook(lambda g: seen.append((graph._current_graph_task_id(), graph._current_autograd_node())))
    y.backward(retain_graph=True)
    y.backward()
    (first, node), (second, _) = seen
    assert second == first + 1 and node is y.grad_fn
    assert graph._current_graph_task_id() == -1 and graph._current_autograd_node() is None


def test_the_order_to_come():
    orders = []
    x = leaf(1)
    y = x * 2
    first, second = y.sin(), y.cos()
    second.register_hook(lambda g: orders.append([node.name() for node in graph._current_graph_task_execution_order()]))
    with fad.autograd.set_multithreading_enabled(False):
        fad.autograd.grad((first, second), x, retain_graph=True)
    assert orders == [["CosBackward0", "SinBackward0", "MulBackward0", "torch::autograd::AccumulateGrad"]]
    with pytest.raises(RuntimeError, match="multithreading disabled"):
        second.backward()
    with pytest.raises(RuntimeError, match="during the backward pass"):
        graph._current_graph_task_execution_order()


def test_views_told_as_they_were_taken():
    def changed_through_a_view():
        view = leaf(1, 2).clone().view(-1)
        view.add_(1)
        return view.grad_fn.name()
    assert changed_through_a_view() == "AsStridedBackward0"
    with fad.autograd._force_original_view_tracking(True):
        assert changed_through_a_view() == "ViewBackward0" and fad.autograd.is_view_replay_enabled()
    assert not fad.autograd.is_view_replay_enabled()


def test_changes_that_are_not_counted():
    x, y = fad.ones(2), fad.ones(2)
    x.add_(1)
    with fad.autograd._unsafe_preserve_version_counter((x, y)):
        x.mul_(2)
        y.mul_(2)
    assert (x._version, y._version) == (1, 0)


def test_a_decorated_class_is_made_in_the_mode():
    with pytest.warns(FutureWarning, match="Decorating classes is deprecated"):
        @fad.no_grad()
        class Made:
            def __init__(self):
                self.recording = fad.is_grad_enabled()
    assert not Made().recording


def test_private_names_that_pytorchs_own_tests_import():
    from fad.autograd import _calculate_shape, _profiler_enabled, _unsafe_preserve_version_counter, kineto_available
    from fad.autograd.profiler_util import _format_time
    sizes = (2, 3), (2, 3)
    assert (_calculate_shape(fad.ones(2, 3), fad.ones(4, 2, 3), True)
            == _calculate_shape(fad.ones(2, 3), fad.ones(2, 3), False) == sizes)
    assert [_format_time(t) for t in (0.5, 12.3456, 1234.5, 2.5e6)] == ["0.500us", "12.346us", "1.234ms", "2.500s"]
    assert not _profiler_enabled() and isinstance(kineto_available(), bool)
    with fad.autograd.profiler.profile():
        assert _profiler_enabled()
    x = fad.zeros(2)
    with _unsafe_preserve_version_counter(x):
        x.add_(1.0)
    assert x._version == 0
