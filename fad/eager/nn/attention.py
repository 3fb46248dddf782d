"""Attention (Vaswani et al., Attention is all you need, 2017), as functions and as a layer."""
import math
from typing import Any

import numpy as np

from ...ops.table import TABLE as op
from ..joining import cat
from ..tensor import Tensor, raw, wrap
from . import functional, init
from .activations import softmax
from .dropping import dropout
from .layers import Linear
from .module import Module, empty, typed


def _masked(scores: Any, mask: Any, attended: bool) -> Any:
    """Scores with a mask: numbers to add, or booleans, `attended` where they stand for what is looked at."""
    if mask is None:
        return scores
    if mask.dtype.kind != "b":
        return scores + mask
    return op["where"](mask if attended else op["logical_not"](mask), scores, -math.inf)


def scaled_dot_product_attention(query: Any, key: Any, value: Any, attn_mask: Any = None, dropout_p: float = 0.0, is_causal: bool = False,
                                 scale: "float | None" = None, enable_gqa: bool = False) -> Any:
    """softmax(query key^T scale + mask) value; a query that may look at nothing gets zeros.

    query (..., time, features), key (..., sources, features), value (..., sources, of any size)
    attn_mask    booleans, where a query looks at a source, or numbers that are added; is_causal: a query looks at no later source
    enable_gqa   there are fewer heads (the third dimension from the end) of keys and values than of queries, each shared by several
    """
    if min(len(query.shape), len(key.shape), len(value.shape)) < 2:
        raise ValueError("scaled_dot_product_attention: query, key and value must have at least 2 dimensions")
    if enable_gqa and query.shape[-3] != key.shape[-3]:
        key, value = (t.repeat_interleave(query.shape[-3] // t.shape[-3], -3) for t in (key, value))
    if is_causal:
        if attn_mask is not None:
            raise RuntimeError("_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True")
        causal = np.tri(*functional.sizes(query)[-2:-1], *functional.sizes(key)[-2:-1], dtype=bool)
        attn_mask = wrap(causal) if isinstance(query, Tensor) else causal
    factor = 1 / math.sqrt(functional.sizes(query)[-1] or 1) if scale is None else scale
    scores = _masked((query @ functional.swapped(key)) * factor, attn_mask, attended=True)
    weights = softmax(scores, -1)
    if attn_mask is not None and isinstance(scores, Tensor):
        blind = np.isneginf(scores._a).all(-1, keepdims=True)
        if blind.any():
            weights = op["where"](blind, 0.0, weights)
    return dropout(weights, dropout_p) @ value


def _both_masks(attn_mask: Any, key_padding_mask: Any, batch: Any, heads: int, dtype: Any) -> Any:
    """The two masks as one that is added to scores (batch, heads, time, sources); True hides a source."""
    def as_numbers(mask: Any) -> Any:
        if mask.dtype.kind in "iu":
            raise RuntimeError("attention masks are of booleans or floating-point numbers")
        return op["where"](mask, -math.inf, np.zeros((), dtype)) if mask.dtype.kind == "b" else mask
    total = None
    if attn_mask is not None:
        total = as_numbers(attn_mask)
        if len(attn_mask.shape) == 3:
            total = op["reshape"](total, batch, heads, *attn_mask.shape[1:])
    if key_padding_mask is not None:
        hidden = as_numbers(key_padding_mask)
        hidden = op["reshape"](hidden, batch, 1, 1, hidden.shape[-1])
        total = hidden if total is None else total + hidden
    return total


def _check_masks(query: Any, key: Any, key_padding_mask: Any, attn_mask: Any, heads: int) -> None:
    """Raise unless the masks have the shapes that belong to (time, batch, features)."""
    target, batch, source = query.shape[0], query.shape[1], key.shape[0]
    if attn_mask is not None:
        wanted = (target, source) if len(attn_mask.shape) == 2 else (batch * heads, target, source)
        if len(attn_mask.shape) not in (2, 3):
            raise RuntimeError(f"attn_mask's dimension {len(attn_mask.shape)} is not supported")
        if tuple(attn_mask.shape) != wanted:
            raise RuntimeError(f"The shape of the {len(wanted)}D attn_mask is {attn_mask.shape}, but should be {wanted}.")
    if key_padding_mask is not None and tuple(key_padding_mask.shape) != (batch, source):
        raise AssertionError(f"expecting key_padding_mask shape of {(batch, source)}, but got {key_padding_mask.shape}")


def multi_head_attention_forward(query: Any, key: Any, value: Any, embed_dim_to_check: int, num_heads: int, in_proj_weight: Any, in_proj_bias: Any, bias_k: Any,
                                 bias_v: Any, add_zero_attn: bool, dropout_p: float, out_proj_weight: Any, out_proj_bias: Any, training: bool = True,
                                 key_padding_mask: Any = None, need_weights: bool = True, attn_mask: Any = None, use_separate_proj_weight: bool = False,
                                 q_proj_weight: Any = None, k_proj_weight: Any = None, v_proj_weight: Any = None, static_k: Any = None, static_v: Any = None,
                                 average_attn_weights: bool = True, is_causal: bool = False) -> tuple:
    """Attention of several heads, each over its share of the embedding, of (time, batch, features) or (time, features); and its weights."""
    single = len(query.shape) == 2
    if len(query.shape) not in (2, 3):
        raise AssertionError(f"query should be unbatched 2D or batched 3D tensor but received {len(query.shape)}-D query tensor")
    if len(key.shape) != len(query.shape) or len(value.shape) != len(query.shape):
        raise AssertionError(f"For {'unbatched (2-D)' if single else 'batched (3-D)'} `query`, expected `key` and `value` to be {2 if single else 3}-D but found "
                             f"{len(key.shape)}-D and {len(value.shape)}-D tensors respectively")
    if is_causal and attn_mask is None:
        raise RuntimeError("Need attn_mask if specifying the is_causal hint. You may use the Transformer module method `generate_square_subsequent_mask` to create "
                           "this mask.")
    if single:
        query, key, value = (op["reshape"](t, t.shape[0], 1, t.shape[1]) for t in (query, key, value))
        key_padding_mask = None if key_padding_mask is None else op["reshape"](key_padding_mask, 1, *key_padding_mask.shape)
    if query.shape[-1] != embed_dim_to_check:
        raise AssertionError(f"was expecting embedding dimension of {embed_dim_to_check}, but got {query.shape[-1]}")
    if embed_dim_to_check % num_heads:
        raise AssertionError(f"embed_dim {embed_dim_to_check} not divisible by num_heads {num_heads}")
    if key_padding_mask is not None and len(key_padding_mask.shape) != 2:
        raise AssertionError(f"For {'unbatched (2-D)' if single else 'batched (3-D)'} `query`, expected `key_padding_mask` to be `None` or {1 if single else 2}-D but "
                             f"found {len(key_padding_mask.shape) - single}-D tensor instead")
    if tuple(key.shape[:2]) != tuple(value.shape[:2]):
        raise AssertionError(f"key's sequence and batch dims {key.shape[:2]} do not match value's {value.shape[:2]}")
    _check_masks(query, key, key_padding_mask, attn_mask, num_heads)
    weights = (q_proj_weight, k_proj_weight, v_proj_weight) if use_separate_proj_weight else _thirds(in_proj_weight, embed_dim_to_check)
    biases = (None,) * 3 if in_proj_bias is None else _thirds(in_proj_bias, embed_dim_to_check)
    q, k, v = (functional.linear(t, w, b) for t, w, b in zip((query, key, value), weights, biases))
    batch = functional.sizes(query)[1]
    for more_k, more_v in (((bias_k, bias_v),) if bias_k is not None else ()):
        k, v = (cat([t, functional.repeated(more, batch)], 0) for t, more in ((k, more_k), (v, more_v)))
    k, v = (op["transpose"](t, axes=(1, 0, 2)) if fixed is None else op["reshape"](fixed, batch, num_heads, *fixed.shape[1:])
            for t, fixed in ((k, static_k), (v, static_v)))
    q = op["transpose"](q, axes=(1, 0, 2))
    q, k, v = (_heads(t, num_heads) if len(t.shape) == 3 else t for t in (q, k, v))
    mask = _both_masks(attn_mask, key_padding_mask, batch, num_heads, raw(q).dtype)
    if add_zero_attn:
        k, v = (cat([t, wrap(np.zeros((*functional.sizes(t)[:2], 1, functional.sizes(t)[3]), t.dtype))], 2) for t in (k, v))
    more = functional.sizes(k)[2] - (functional.sizes(mask)[-1] if mask is not None else 0)
    if mask is not None and more:
        mask = functional.pad(mask, (0, more))
    found = softmax(_masked((q @ functional.swapped(k)) / math.sqrt(embed_dim_to_check // num_heads), mask, attended=True), -1)
    found = dropout(found, dropout_p, training)
    y = op["reshape"](op["transpose"](found @ v, axes=(2, 0, 1, 3)), query.shape[0], batch, embed_dim_to_check)
    y = functional.linear(y, out_proj_weight, out_proj_bias)
    shown = None if not need_weights else functional.call("numpy.mean", found, axis=1) if average_attn_weights else found
    return (y[:, 0], None if shown is None else shown[0]) if single else (y, shown)


def _thirds(x: Any, n: int) -> tuple:
    return tuple([op["slice_axis"](x, 0, k * n, n) for k in range(3)])


def _heads(x: Any, count: int) -> Any:
    """(batch, time, features) as (batch, heads, time, features of one)."""
    batch, time, n = functional.sizes(x)
    return op["transpose"](op["reshape"](x, batch, time, count, n // count), axes=(0, 2, 1, 3))


class MultiheadAttention(Module):
    """Attention of several heads, each over its share of the embedding; input (time, batch, embedding), or (batch, time, embedding) with batch_first.

    add_bias_kv      one more source, learned
    add_zero_attn    one more source, of zeros
    kdim, vdim       the sizes of keys and values, if they are not that of queries
    """

    @typed
    def __init__(self, embed_dim: int, num_heads: int, dropout: float = 0.0, bias: bool = True, add_bias_kv: bool = False, add_zero_attn: bool = False,
                 kdim: "int | None" = None, vdim: "int | None" = None, batch_first: bool = False):
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(f"embed_dim and num_heads must be greater than 0, got embed_dim={embed_dim} and num_heads={num_heads} instead")
        super().__init__()
        if embed_dim % num_heads:
            raise AssertionError("embed_dim must be divisible by num_heads")
        self.embed_dim, self.num_heads, self.dropout, self.batch_first, self.add_zero_attn = embed_dim, num_heads, dropout, batch_first, add_zero_attn
        self.kdim, self.vdim, self.head_dim = kdim or embed_dim, vdim or embed_dim, embed_dim // num_heads
        self._qkv_same_embed_dim = self.kdim == self.vdim == embed_dim
        for name, n in (("q_proj_weight", embed_dim), ("k_proj_weight", self.kdim), ("v_proj_weight", self.vdim)):
            self.register_parameter(name, None if self._qkv_same_embed_dim else empty(embed_dim, n))
        self.register_parameter("in_proj_weight", empty(3 * embed_dim, embed_dim) if self._qkv_same_embed_dim else None)
        self.register_parameter("in_proj_bias", empty(3 * embed_dim) if bias else None)
        self.out_proj = Linear(embed_dim, embed_dim, bias)
        for name in ("bias_k", "bias_v"):
            self.register_parameter(name, empty(1, 1, embed_dim) if add_bias_kv else None)
        self._reset_parameters()

    def _reset_parameters(self) -> None:
        """Draw the weights anew."""
        for w in (self.in_proj_weight, self.q_proj_weight, self.k_proj_weight, self.v_proj_weight):
            if w is not None:
                init.xavier_uniform_(w)
        for b in (self.in_proj_bias, self.out_proj.bias):
            if b is not None:
                init.zeros_(b)
        for b in (self.bias_k, self.bias_v):
            if b is not None:
                init.xavier_normal_(b)

    def forward(self, query: Any, key: Any, value: Any, key_padding_mask: Any = None, need_weights: bool = True, attn_mask: Any = None,
                average_attn_weights: bool = True, is_causal: bool = False) -> tuple:
        turned = self.batch_first and len(query.shape) == 3
        if turned:
            query, key, value = (functional.swapped(t, 0, 1) for t in (query, key, value))
        y, weights = multi_head_attention_forward(
            query, key, value, self.embed_dim, self.num_heads, self.in_proj_weight, self.in_proj_bias, self.bias_k, self.bias_v, self.add_zero_attn, self.dropout,
            self.out_proj.weight, self.out_proj.bias, self.training, key_padding_mask, need_weights, attn_mask, not self._qkv_same_embed_dim,
            self.q_proj_weight, self.k_proj_weight, self.v_proj_weight, average_attn_weights=average_attn_weights, is_causal=is_causal)
        return functional.swapped(y, 0, 1) if turned else y, weights
