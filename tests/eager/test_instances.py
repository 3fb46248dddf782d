"""Instance normalisation: against its definition, with running statistics, and its derivative."""
import numpy as np
import pytest

import fad
from fad import nn
from fad.autograd import gradcheck

from .support import close


def test_every_channel_of_every_example():
    x = fad.rand(2, 3, 4, 5)
    a = x.numpy()
    expected = (a - a.mean((2, 3), keepdims=True)) / np.sqrt(a.var((2, 3), keepdims=True) + 1e-5)
    close(nn.InstanceNorm2d(3)(x), expected)
    close(nn.InstanceNorm2d(3)(x[0]), expected[0])
    layer = nn.InstanceNorm2d(3, affine=True)
    assert sorted(layer.state_dict()) == ["bias", "weight"]


def test_running_statistics():
    layer = nn.InstanceNorm1d(2, track_running_stats=True, momentum=0.5)
    x = fad.rand(3, 2, 8)
    layer(x)
    close(layer.running_mean, 0.5 * x.numpy().mean((0, 2)))
    close(layer.running_var, 0.5 + 0.5 * x.numpy().var(2, ddof=1).mean(0))
    layer.eval()
    mean, var = layer.running_mean.numpy()[:, None], layer.running_var.numpy()[:, None]
    close(layer(x), (x.numpy() - mean) / np.sqrt(var + 1e-5))


def test_what_it_is_given():
    with pytest.raises(ValueError, match="expected 3D or 4D input"):
        nn.InstanceNorm2d(3)(fad.rand(2, 3))
    with pytest.raises(ValueError, match="Expected more than 1 spatial element"):
        nn.InstanceNorm1d(3)(fad.rand(2, 3, 1))
    assert gradcheck(nn.InstanceNorm1d(2), fad.rand(2, 2, 4, requires_grad=True))
