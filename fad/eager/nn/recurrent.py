"""Recurrent layers: RNN, LSTM, GRU."""
import math
import numbers
import warnings

import numpy as np

from ...ops.table import TABLE as op
from ...util.array import AnyArray
from ..functions.joining import cat
from ..tensors.errors import refuse_if
from ..tensors.tensor import wrap
from . import functional, init
from .activations import dropout as dropped
from .module import Module, empty, typed
from .recurrence import KINDS, is_whole, through


class RNNBase(Module):
    """Layers of cells run along time; input (time, batch, features), or (batch, time, features) with batch_first, or
    without the batch.

    mode   "RNN_TANH", "RNN_RELU", "LSTM" or "GRU"
    """

    _shown = "{input_size}, {hidden_size}"
    _usual = {"num_layers": 1, "bias": True, "batch_first": False, "dropout": 0.0, "bidirectional": False}

    @typed
    def __init__(self, mode: str, input_size: int, hidden_size: int, num_layers: int = 1, bias: bool = True,
                 batch_first: bool = False, dropout: float = 0.0, bidirectional: bool = False):
        super().__init__()
        refuse_if(mode not in KINDS, f"Unrecognized RNN mode: {mode}", ValueError)
        _sensible(mode, input_size, hidden_size, num_layers, dropout)
        self.mode, self.input_size, self.hidden_size = mode, input_size, hidden_size
        self.num_layers, self.bias, self.batch_first = num_layers, bias, batch_first
        self.dropout, self.bidirectional = float(dropout), bidirectional
        for layer in range(num_layers):
            for suffix in self._suffixes():
                self._add(layer, suffix, input_size if layer == 0 else hidden_size * len(self._suffixes()))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the weights anew."""
        bound = 1 / math.sqrt(self.hidden_size) if self.hidden_size else 0.0
        for p in self.parameters():
            init.uniform_(p, -bound, bound)

    def flatten_parameters(self) -> None:
        """Nothing: what PyTorch does for the sake of GPUs."""

    def _suffixes(self) -> tuple:
        return ("", "_reverse") if self.bidirectional else ("",)

    def _add(self, layer: int, suffix: str, width: int) -> None:
        rows = KINDS[self.mode].gates * self.hidden_size
        for name, shape in (("weight_ih", (rows, width)), ("weight_hh", (rows, self.hidden_size)),
                            *((("bias_ih", (rows,)), ("bias_hh", (rows,))) if self.bias else ())):
            setattr(self, f"{name}_l{layer}{suffix}", empty(*shape))

    def _weights(self, layer: int, suffix: str) -> list:
        return [self._parameters.get(f"{name}_l{layer}{suffix}")
                for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")]

    @property
    def all_weights(self) -> list:
        """The weights of each direction of each layer."""
        return [[w for w in self._weights(layer, suffix) if w is not None] for layer in range(self.num_layers)
                for suffix in self._suffixes()]

    def forward(self, input: object, hx: object = None) -> tuple:
        """The outputs of the last layer in time, and the last state of every layer and direction."""
        single = len(input.shape) == 2
        refuse_if(len(input.shape) not in (2, 3), f"{type(self).__name__}: Expected input to be 2D or 3D, got "
                  f"{len(input.shape)}D tensor instead", ValueError)
        x = op["reshape"](input, input.shape[0], 1, input.shape[1]) if single else input
        if not single and self.batch_first:
            x = functional.swapped(x, 0, 1)
        if x.shape[-1] != self.input_size:
            raise RuntimeError(f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got "
                               f"{x.shape[-1]}")
        length, batch = functional.sizes(x)[:2]
        refuse_if(not length, "Expected sequence length to be larger than 0 in RNN")
        y, finals = self._layers(x, self._given(hx, x, batch, single))
        states = tuple([cat([op["reshape"](f[k], 1, *f[k].shape) for f in finals], 0) for k in range(len(finals[0]))])
        y = y[:, 0] if single else functional.swapped(y, 0, 1) if self.batch_first else y
        states = tuple([s[:, 0] for s in states]) if single else states
        return y, states if len(states) > 1 else states[0]

    def _given(self, hx: object, x: AnyArray, batch: int, single: bool) -> list:
        """The state to begin with: each part (layers and directions, batch, features)."""
        count = self.num_layers * len(self._suffixes())
        widths = [self.hidden_size] * KINDS[self.mode].parts
        if hx is None:
            zeros = [np.zeros((count, batch, n), x.dtype) for n in widths]
            return [wrap(z) for z in zeros]
        parts = list(hx) if isinstance(hx, (tuple, list)) else [hx]
        if len(parts) != len(widths):
            raise RuntimeError(f"{type(self).__name__}: expected a state of {len(widths)} tensors, got {len(parts)}")
        for k, (h, n) in enumerate(zip(parts, widths)):
            wanted = (count, n) if single else (count, batch, n)
            if len(h.shape) != len(wanted):
                raise RuntimeError(f"For {'unbatched 2-D' if single else 'batched 3-D'} input, "
                                   f"hx{' and cx' if len(widths) > 1 else ''} should also be "
                                   f"{len(wanted)}-D but got {len(h.shape)}-D tensor")
            if tuple(h.shape) != wanted:
                raise RuntimeError(f"Expected hidden{f'[{k}]' if len(widths) > 1 else ''} size {wanted}, got "
                                   f"{list(h.shape)}")
        if single:
            parts = [op["reshape"](h, h.shape[0], 1, h.shape[1]) for h in parts]
        return parts

    def _layers(self, x: AnyArray, given: list) -> "tuple[AnyArray, list]":
        """The last layer's outputs in time, and the last states."""
        finals = []
        for layer in range(self.num_layers):
            columns = []
            for d, suffix in enumerate(self._suffixes()):
                state = tuple([h[layer * len(self._suffixes()) + d] for h in given])
                outputs, final = self._direction(x, state, self._weights(layer, suffix), bool(d))
                columns.append(outputs)
                finals.append(final)
            x = columns[0] if len(columns) == 1 else cat(columns, -1)
            if self.dropout and self.training and layer < self.num_layers - 1:
                x = dropped(x, self.dropout)
        return x, finals

    def _direction(self, x: object, state: tuple, weights: list, backwards: bool) -> "tuple[AnyArray, tuple]":
        """The outputs of one direction of one layer in time, and its last state."""
        w, u, b, c = weights
        z = functional.linear(x, w, b)
        if is_whole(z, *state):
            start = [op["reshape"](h, 1, *h.shape) for h in state]
            start = start[0] if len(start) == 1 else cat(start, 0)
            y = KINDS[self.mode].through_time(z, start, u, c, backwards=backwards)
            last = y[0 if backwards else -1]
            return y[:, 0], tuple([last[k] for k in range(len(state))])
        states, state = through(KINDS[self.mode].cell, z, state, (u, c), backwards)
        return cat([op["reshape"](s[0], 1, *s[0].shape) for s in states], 0), state


def _sensible(mode: str, input_size: int, hidden_size: int, num_layers: int, dropout: float) -> None:
    """Raise unless these make a layer."""
    if not isinstance(dropout, numbers.Number) or isinstance(dropout, bool) or not 0 <= dropout <= 1:
        raise ValueError("dropout should be a number in range [0, 1] representing the probability of an element being "
                         "zeroed")
    if dropout > 0 and num_layers == 1:
        warnings.warn("dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects "
                      f"num_layers greater than 1, but got dropout={dropout} and num_layers={num_layers}", stacklevel=4)
    if not isinstance(hidden_size, int):
        raise TypeError(f"hidden_size should be of type int, got: {type(hidden_size).__name__}")
    refuse_if(hidden_size <= 0, "hidden_size must be greater than zero", ValueError)
    refuse_if(num_layers <= 0, "num_layers must be greater than zero", ValueError)


class RNN(RNNBase):
    """h' = tanh(W x + U h + b) (or relu)."""

    def __init__(self, input_size: int, hidden_size: int, num_layers: int = 1, nonlinearity: str = "tanh",
                 bias: bool = True, batch_first: bool = False,
                 dropout: float = 0.0, bidirectional: bool = False, **options: object):
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'.")
        super().__init__(f"RNN_{nonlinearity.upper()}", input_size, hidden_size, num_layers, bias, batch_first, dropout,
                         bidirectional, **options)
        self.nonlinearity = nonlinearity


class LSTM(RNNBase):
    """Long short-term memory (Hochreiter & Schmidhuber, 1997); gates in the order input, forget, cell, output."""

    def __init__(self, *args: object, **options: object):
        super().__init__("LSTM", *args, **options)


class GRU(RNNBase):
    """Gated recurrent units (Cho et al., 2014); gates in the order reset, update, new."""

    def __init__(self, *args: object, **options: object):
        super().__init__("GRU", *args, **options)
