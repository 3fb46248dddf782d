"""Anomaly mode: one warning for each node on the way, and errors of backward before warnings made errors."""
import warnings

import pytest

import fad
from fad.autograd import Function, detect_anomaly

from .support import leaf


class Bad(Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * float("nan")


class Outer(Function):
    """Its backward is recorded, and has a Bad step in it."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return Bad.apply(g * ctx.saved_tensors[0])


def test_a_warning_for_each_node_that_led_there():
    x = leaf(1)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        with pytest.raises(RuntimeError,
                           match="Function 'BadBackward' returned nan values in its 0th output"), detect_anomaly():
            g, = fad.autograd.grad(Outer.apply(x), x, create_graph=True)
            g.backward()
    texts = [str(w.message) for w in seen]
    assert "Bad.apply" in texts[1] and "Error detected in BadBackward" in texts[1]
    assert "Outer.apply" in texts[2] and "Previous calculation was induced by OuterBackward" in texts[2]


def test_warnings_that_are_errors_are_printed(capsys):
    x = leaf(1)
    with pytest.warns(UserWarning, match="Anomaly Detection has been enabled"):
        mode = detect_anomaly()
    with mode, warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeError, match="returned nan"):
            Bad.apply(x).backward()
    assert "Error detected in BadBackward" in capsys.readouterr().err
