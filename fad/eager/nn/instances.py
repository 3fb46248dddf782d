"""Layers that normalise every channel of every example."""
from typing import Any

from .layers import ChannelNorm
from .module import typed
from .shrinking import instance_norm


class _InstanceNorm(ChannelNorm):
    rank = 1

    @typed
    def __init__(self, num_features: int, eps: float = 1e-5, momentum: float = 0.1, affine: bool = False, track_running_stats: bool = False):
        super().__init__(num_features, eps, momentum, affine, track_running_stats)

    def forward(self, input: Any) -> Any:
        """The input, a batch of examples or one, normalised."""
        dims = len(input.shape)
        if dims not in (self.rank + 1, self.rank + 2):
            raise ValueError(f"expected {self.rank + 1}D or {self.rank + 2}D input (got {dims}D input)")
        batch = input if dims == self.rank + 2 else input.unsqueeze(0)
        y = instance_norm(batch, self.running_mean, self.running_var, self.weight, self.bias, self.training or not self.track_running_stats, self.momentum,
                          self.eps)
        return y if batch is input else y.squeeze(0)


class InstanceNorm1d(_InstanceNorm):
    """Mean 0 and variance 1 in every channel of every example of (N, C, L) or (C, L)."""


class InstanceNorm2d(_InstanceNorm):
    """Mean 0 and variance 1 in every channel of every example of (N, C, H, W) or (C, H, W)."""

    rank = 2


class InstanceNorm3d(_InstanceNorm):
    """Mean 0 and variance 1 in every channel of every example of (N, C, D, H, W) or (C, D, H, W)."""

    rank = 3
