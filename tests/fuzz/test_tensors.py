"""What judges programs of tensors; see tensors.py."""
import numpy as np

import fad

from .tensors import judge_tensors, weighed


class Doubled(fad.autograd.Function):
    """With a derivative that is off, in both modes."""

    @staticmethod
    def forward(ctx, u):
        return 2.0 * u

    @staticmethod
    def backward(ctx, g):
        return 2.1 * g


def test_a_wrong_gradient_is_seen():
    assert judge_tensors(lambda x: weighed(2.0 * x)) is None
    assert judge_tensors(lambda x: weighed(Doubled.apply(x))).startswith("gradient: ")


def test_a_slope_that_is_lost_is_seen():
    assert judge_tensors(lambda x: weighed(x.sin()) if x.requires_grad
                                   else weighed(fad.tensor(np.sin(x.numpy())))).startswith("forward: ")


def test_a_refusal_of_pytorchs_is_none():
    def f(x):
        a = x * 1.0
        y = a.sin()
        a.mul_(2.0)
        return weighed(y) + weighed(a)
    assert judge_tensors(f) is None
