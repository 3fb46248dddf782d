"""Cells of recurrent networks, one step each, and attention of several heads."""
import math
from typing import Any

import numpy as np

from ..tensor import wrap
from . import functional, init, shrinking
from .layers import Linear, empty
from .module import Module, Parameter, typed
from .recurrent import GRU, LSTM, RNN


class _Cell(Module):
    """One step of a recurrent layer: input (batch, features) or (features,)."""

    layer: Any = RNN

    @typed
    def __init__(self, input_size: int, hidden_size: int, bias: bool = True, nonlinearity: str = "tanh"):
        super().__init__()
        self.input_size, self.hidden_size, self.bias, self.nonlinearity = input_size, hidden_size, bias, nonlinearity
        rows = self.layer.gates * hidden_size
        self.weight_ih, self.weight_hh = empty(rows, input_size), empty(rows, hidden_size)
        self.bias_ih, self.bias_hh = (empty(rows), empty(rows)) if bias else (None, None)
        for p in self.parameters():
            init.uniform_(p, -1 / math.sqrt(hidden_size), 1 / math.sqrt(hidden_size))

    def parts(self) -> int:
        """Of how many tensors the state consists."""
        return self.layer.parts(self)

    def forward(self, input: Any, hx: Any = None) -> Any:
        single = len(input.shape) == 1
        x = input.unsqueeze(0) if single else input
        if hx is None:
            state = tuple([wrap(np.zeros((x.shape[0], self.hidden_size), x.dtype)) for _ in range(self.parts())])
        else:
            state = tuple([h.unsqueeze(0) if single else h for h in (hx if isinstance(hx, (tuple, list)) else (hx,))])
        new = self.layer.cell(self, x, state, [self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh])
        new = tuple([h.squeeze(0) for h in new]) if single else tuple(new)
        return new if len(new) > 1 else new[0]


class RNNCell(_Cell):
    """One step of an RNN."""


class LSTMCell(_Cell):
    """One step of an LSTM: (h, c)."""

    layer = LSTM


class GRUCell(_Cell):
    """One step of a GRU."""

    layer = GRU


class MultiheadAttention(Module):
    """Attention of several heads, each over its share of the embedding; input (time, batch, embedding), or (batch, time, embedding) with batch_first."""

    @typed
    def __init__(self, embed_dim: int, num_heads: int, dropout: float = 0.0, bias: bool = True, batch_first: bool = False):
        super().__init__()
        if embed_dim % num_heads:
            raise AssertionError("embed_dim must be divisible by num_heads")
        self.embed_dim, self.num_heads, self.dropout, self.batch_first = embed_dim, num_heads, dropout, batch_first
        self.in_proj_weight = init.xavier_uniform_(empty(3 * embed_dim, embed_dim))
        self.in_proj_bias = Parameter(wrap(np.zeros(3 * embed_dim))) if bias else None
        self.out_proj = Linear(embed_dim, embed_dim, bias)
        if bias:
            init.zeros_(self.out_proj.bias)

    def forward(self, query: Any, key: Any, value: Any, key_padding_mask: Any = None, need_weights: bool = True, attn_mask: Any = None,
                average_attn_weights: bool = True, is_causal: bool = False) -> tuple:
        if not self.batch_first:
            query, key, value = query.transpose(0, 1), key.transpose(0, 1), value.transpose(0, 1)
        n = self.embed_dim
        heads = []
        for k, x in enumerate((query, key, value)):
            bias = None if self.in_proj_bias is None else self.in_proj_bias[k * n:(k + 1) * n]                       # type: ignore[index]
            y = functional.linear(x, self.in_proj_weight[k * n:(k + 1) * n], bias)                                   # type: ignore[index]
            heads.append(y.reshape(*y.shape[:2], self.num_heads, n // self.num_heads).transpose(1, 2))
        scores = heads[0] @ heads[1].mT / math.sqrt(n // self.num_heads)
        if attn_mask is not None:
            scores = scores.masked_fill(attn_mask, -math.inf) if attn_mask.dtype.kind == "b" else scores + attn_mask
        if key_padding_mask is not None:
            scores = scores.masked_fill(key_padding_mask[:, None, None, :], -math.inf)
        weights = shrinking._channels_dropped(scores.softmax(-1), self.dropout, self.training, 0)
        out = (weights @ heads[2]).transpose(1, 2).reshape(*query.shape[:2], n)
        out = self.out_proj(out)
        shown = None if not need_weights else weights.mean(1) if average_attn_weights else weights
        return out if self.batch_first else out.transpose(0, 1), shown
