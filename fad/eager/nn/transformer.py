"""Transformers (Vaswani et al., 2017): encoders, decoders and both; with norm_first, layers normalise before attention and not after it."""
import copy
from collections.abc import Callable
from typing import Any

import numpy as np

from ..dtypes import as_dtype
from ..promotion import default
from ..tensor import raw, wrap
from . import activations, init
from .attention import MultiheadAttention
from .containers import ModuleList
from .layers import Linear
from .module import Module, typed
from .modules import Dropout
from .norms import LayerNorm


def _activation(f: Any) -> Callable:
    known = {"relu": activations.relu, "gelu": activations.gelu}
    if isinstance(f, str) and f not in known:
        raise RuntimeError(f"activation should be relu/gelu, not {f}")
    return known[f] if isinstance(f, str) else f


class _Layer(Module):
    """Base of encoder and decoder layers: attentions, then two linear maps, each added to what it was given, with normalisations."""

    attentions: tuple = ("self_attn",)

    @typed
    def __init__(self, d_model: int, nhead: int, dim_feedforward: int = 2048, dropout: float = 0.1, activation: Any = "relu", layer_norm_eps: float = 1e-5,
                 batch_first: bool = False, norm_first: bool = False, bias: bool = True):
        super().__init__()
        for name in self.attentions:
            setattr(self, name, MultiheadAttention(d_model, nhead, dropout=dropout, bias=bias, batch_first=batch_first))
        self.linear1, self.dropout, self.linear2 = Linear(d_model, dim_feedforward, bias), Dropout(dropout), Linear(dim_feedforward, d_model, bias)
        self.norm_first, count = norm_first, len(self.attentions) + 1
        for k in range(1, count + 1):
            setattr(self, f"norm{k}", LayerNorm(d_model, eps=layer_norm_eps, bias=bias))
        for k in range(1, count + 1):
            setattr(self, f"dropout{k}", Dropout(dropout))
        self.activation = _activation(activation)

    def _step(self, x: Any, k: int, f: Callable) -> Any:
        """x + f(x), normalised before or after."""
        norm, drop = getattr(self, f"norm{k}"), getattr(self, f"dropout{k}")
        return x + drop(f(norm(x))) if self.norm_first else norm(x + drop(f(x)))

    def _fed_forward(self, x: Any) -> Any:
        return self.linear2(self.dropout(self.activation(self.linear1(x))))


class TransformerEncoderLayer(_Layer):
    """Attention of a sequence to itself, then two linear maps."""

    def forward(self, src: Any, src_mask: Any = None, src_key_padding_mask: Any = None, is_causal: bool = False) -> Any:
        x = self._step(src, 1, lambda x: self.self_attn(x, x, x, attn_mask=src_mask, key_padding_mask=src_key_padding_mask, need_weights=False,
                                                        is_causal=is_causal)[0])
        return self._step(x, 2, self._fed_forward)


class TransformerDecoderLayer(_Layer):
    """Attention of a sequence to itself, then to an encoder's, then two linear maps."""

    attentions = ("self_attn", "multihead_attn")

    def forward(self, tgt: Any, memory: Any, tgt_mask: Any = None, memory_mask: Any = None, tgt_key_padding_mask: Any = None,
                memory_key_padding_mask: Any = None, tgt_is_causal: bool = False, memory_is_causal: bool = False) -> Any:
        x = self._step(tgt, 1, lambda x: self.self_attn(x, x, x, attn_mask=tgt_mask, key_padding_mask=tgt_key_padding_mask, need_weights=False,
                                                        is_causal=tgt_is_causal)[0])
        x = self._step(x, 2, lambda x: self.multihead_attn(x, memory, memory, attn_mask=memory_mask, key_padding_mask=memory_key_padding_mask,
                                                           need_weights=False, is_causal=memory_is_causal)[0])
        return self._step(x, 3, self._fed_forward)


def _causal(mask: Any, given: "bool | None") -> bool:
    """Whether a mask hides just what comes later (or is said to)."""
    if given is not None or mask is None:
        return bool(given)
    a = raw(mask)
    return bool(isinstance(a, np.ndarray) and a.ndim == 2 and a.shape[0] == a.shape[1] and a.dtype.kind == "f" and np.array_equal(a, _later(len(a), a.dtype)))


def _later(n: int, dtype: Any) -> np.ndarray:
    return np.where(np.tri(n, dtype=bool), 0.0, -np.inf).astype(dtype)


class TransformerEncoder(Module):
    """Several layers, copies of one, then (if given) a normalisation."""

    def __init__(self, encoder_layer: Module, num_layers: int, norm: "Module | None" = None, enable_nested_tensor: bool = True, mask_check: bool = True):
        super().__init__()
        self.layers = ModuleList([copy.deepcopy(encoder_layer) for _ in range(num_layers)])
        self.num_layers, self.norm = num_layers, norm

    def forward(self, src: Any, mask: Any = None, src_key_padding_mask: Any = None, is_causal: "bool | None" = None) -> Any:
        for layer in self.layers:
            src = layer(src, src_mask=mask, src_key_padding_mask=src_key_padding_mask, is_causal=_causal(mask, is_causal))
        return src if self.norm is None else self.norm(src)


class TransformerDecoder(Module):
    """Several layers, copies of one, then (if given) a normalisation."""

    def __init__(self, decoder_layer: Module, num_layers: int, norm: "Module | None" = None):
        super().__init__()
        self.layers = ModuleList([copy.deepcopy(decoder_layer) for _ in range(num_layers)])
        self.num_layers, self.norm = num_layers, norm

    def forward(self, tgt: Any, memory: Any, tgt_mask: Any = None, memory_mask: Any = None, tgt_key_padding_mask: Any = None,
                memory_key_padding_mask: Any = None, tgt_is_causal: "bool | None" = None, memory_is_causal: bool = False) -> Any:
        for layer in self.layers:
            tgt = layer(tgt, memory, tgt_mask=tgt_mask, memory_mask=memory_mask, tgt_key_padding_mask=tgt_key_padding_mask,
                        memory_key_padding_mask=memory_key_padding_mask, tgt_is_causal=_causal(tgt_mask, tgt_is_causal), memory_is_causal=memory_is_causal)
        return tgt if self.norm is None else self.norm(tgt)


class Transformer(Module):
    """An encoder of one sequence and a decoder of another that looks at it."""

    @typed
    def __init__(self, d_model: int = 512, nhead: int = 8, num_encoder_layers: int = 6, num_decoder_layers: int = 6, dim_feedforward: int = 2048,
                 dropout: float = 0.1, activation: Any = "relu", custom_encoder: Any = None, custom_decoder: Any = None, layer_norm_eps: float = 1e-5,
                 batch_first: bool = False, norm_first: bool = False, bias: bool = True):
        super().__init__()
        options = (d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, bias)
        self.encoder = custom_encoder if custom_encoder is not None else TransformerEncoder(
            TransformerEncoderLayer(*options), num_encoder_layers, LayerNorm(d_model, eps=layer_norm_eps, bias=bias))
        self.decoder = custom_decoder if custom_decoder is not None else TransformerDecoder(
            TransformerDecoderLayer(*options), num_decoder_layers, LayerNorm(d_model, eps=layer_norm_eps, bias=bias))
        self._reset_parameters()
        self.d_model, self.nhead, self.batch_first = d_model, nhead, batch_first

    def _reset_parameters(self) -> None:
        """Draw the weights anew."""
        for p in self.parameters():
            if len(p.shape) > 1:
                init.xavier_uniform_(p)

    def forward(self, src: Any, tgt: Any, src_mask: Any = None, tgt_mask: Any = None, memory_mask: Any = None, src_key_padding_mask: Any = None,
                tgt_key_padding_mask: Any = None, memory_key_padding_mask: Any = None, src_is_causal: "bool | None" = None,
                tgt_is_causal: "bool | None" = None, memory_is_causal: bool = False) -> Any:
        batch = 0 if self.batch_first else 1
        if len(src.shape) == 3 and src.shape[batch] != tgt.shape[batch]:
            raise RuntimeError("the batch number of src and tgt must be equal")
        if src.shape[-1] != self.d_model or tgt.shape[-1] != self.d_model:
            raise RuntimeError("the feature number of src and tgt must be equal to d_model")
        memory = self.encoder(src, mask=src_mask, src_key_padding_mask=src_key_padding_mask, is_causal=src_is_causal)
        return self.decoder(tgt, memory, tgt_mask=tgt_mask, memory_mask=memory_mask, tgt_key_padding_mask=tgt_key_padding_mask,
                            memory_key_padding_mask=memory_key_padding_mask, tgt_is_causal=tgt_is_causal, memory_is_causal=memory_is_causal)

    @staticmethod
    def generate_square_subsequent_mask(sz: int, device: Any = None, dtype: Any = None) -> Any:
        """The mask (sz, sz) that hides what comes later: 0 up to the diagonal, minus infinity above it."""
        return wrap(_later(sz, default.dtype if dtype is None else as_dtype(dtype)))
