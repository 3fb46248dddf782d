"""Layers that normalise: the channels over the batch, groups of channels, the last dimensions."""

import numpy as np

from ...util.array import AnyArray
from ..promotion import default
from ..tensor import Tensor, wrap
from . import init, normalising
from .module import Module, Parameter, typed


class _Affine(Module):
    """Base of layers that scale and shift what they have normalised."""

    def _scaled_and_shifted(self, shape: object, weight: bool, bias: bool) -> None:
        self.register_parameter("weight", Parameter(wrap(np.ones(shape, default.dtype))) if weight else None)
        self.register_parameter("bias", Parameter(wrap(np.zeros(shape, default.dtype))) if bias else None)

    def reset_parameters(self) -> None:
        """No scale, no shift."""
        for p, value in ((self.weight, 1.0), (getattr(self, "bias", None), 0.0)):
            if p is not None:
                init.constant_(p, value)


class ChannelNorm(_Affine):
    """Base of layers that normalise channels, by statistics that may be kept over the batches."""

    _version = 2
    dims: tuple = ()                                           # how many dimensions an input may have

    @typed
    def __init__(self, num_features: int, eps: float = 1e-5, momentum: "float | None" = 0.1, affine: bool = True,
                 track_running_stats: bool = True,
                 bias: bool = True):
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        self._scaled_and_shifted(num_features, affine, affine and bias)
        self.register_buffer("running_mean",
                             wrap(np.zeros(num_features, default.dtype)) if track_running_stats else None)
        self.register_buffer("running_var", wrap(np.ones(num_features, default.dtype)) if track_running_stats else None)
        self.register_buffer("num_batches_tracked", wrap(np.zeros((), np.int64)) if track_running_stats else None)

    def reset_running_stats(self) -> None:
        """Forget the statistics of the batches."""
        if self.track_running_stats:
            for buffer, value in ((self.running_mean, 0), (self.running_var, 1), (self.num_batches_tracked, 0)):
                init.constant_(buffer, value)

    def reset_parameters(self) -> None:
        """No scale, no shift, no statistics."""
        self.reset_running_stats()
        super().reset_parameters()

    def _check(self, input: object) -> None:
        n = len(input.shape)
        if n not in self.dims:
            raise ValueError(f"expected {' or '.join(f'{r}D' for r in self.dims)} input (got {n}D input)")

    def _load_from_state_dict(self, state_dict: dict, prefix: str, local_metadata: dict, *rest: object) -> None:
        """As of every module; states older than version 2 do not know how many batches there were."""
        key = f"{prefix}num_batches_tracked"
        if (local_metadata.get("version") or 1) < 2 and self.track_running_stats and key not in state_dict:
            state_dict[key] = (wrap(np.zeros((), np.int64)) if self.num_batches_tracked is None
                               else self.num_batches_tracked)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *rest)

    def extra_repr(self) -> str:
        """The text in brackets when the layer is written."""
        return (f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
                f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}")


class _BatchNorm(ChannelNorm):
    def forward(self, input: object) -> AnyArray:
        self._check(input)
        share = self.momentum or 0.0
        if self.training and self.track_running_stats and normalising.keeps(input, self.running_mean):
            self._count()
            share = 1.0 / self.num_batches_tracked if self.momentum is None else self.momentum
        by_batch = self.training or self.running_mean is None and self.running_var is None
        kept = not self.training or self.track_running_stats
        return normalising.batch_norm(input, self.running_mean if kept else None, self.running_var if kept else None,
                                      self.weight, self.bias, by_batch, share,
                                      self.eps)

    def _count(self) -> None:
        if isinstance(self.num_batches_tracked, Tensor):
            self.num_batches_tracked._a += 1
            self.num_batches_tracked._vc[0] += 1
        elif self.num_batches_tracked is not None:            # within a program, a new value
            self.num_batches_tracked = self.num_batches_tracked + 1


class BatchNorm1d(_BatchNorm):
    """Mean 0 and variance 1 in every channel of (N, C) or (N, C, L)."""

    dims = (2, 3)


class BatchNorm2d(_BatchNorm):
    """Mean 0 and variance 1 in every channel of (N, C, H, W)."""

    dims = (4,)


class LayerNorm(_Affine):
    """Mean 0 and variance 1 over the last dimensions."""

    @typed
    def __init__(self, normalized_shape: object, eps: float = 1e-5, elementwise_affine: bool = True, bias: bool = True):
        super().__init__()
        self.normalized_shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        self._scaled_and_shifted(self.normalized_shape, elementwise_affine, elementwise_affine and bias)

    def forward(self, input: object) -> AnyArray:
        return normalising.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}, "
                f"bias={self.bias is not None}")


class GroupNorm(_Affine):
    """Mean 0 and variance 1 in groups of channels."""

    @typed
    def __init__(self, num_groups: int, num_channels: int, eps: float = 1e-5, affine: bool = True, bias: bool = True):
        super().__init__()
        if num_channels % num_groups:
            raise ValueError(f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups})")
        self.num_groups, self.num_channels, self.eps, self.affine = num_groups, num_channels, eps, affine
        self._scaled_and_shifted(num_channels, affine, affine and bias)

    def forward(self, input: object) -> AnyArray:
        return normalising.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, "
                f"bias={self.bias is not None}")
