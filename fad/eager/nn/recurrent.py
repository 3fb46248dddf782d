"""Recurrent layers: RNN, LSTM, GRU."""
import math
from typing import Any

import numpy as np

from ...ops.table import TABLE as op
from ..joining import cat
from ..record import default
from ..tensor import wrap
from . import functional, init
from .layers import empty
from .module import Module, typed


def _gates(z: Any, count: int) -> list:
    n = z.shape[-1] // count
    return [op["slice_axis"](z, len(z.shape) - 1, k * n, n) for k in range(count)]


class _Recurrent(Module):
    """Layers of cells run along time; input (time, batch, features), or (batch, time, features) with batch_first."""

    gates = 1

    @typed
    def __init__(self, input_size: int, hidden_size: int, num_layers: int = 1, bias: bool = True, batch_first: bool = False, dropout: float = 0.0,
                 bidirectional: bool = False, nonlinearity: str = "tanh"):
        super().__init__()
        self.input_size, self.hidden_size, self.num_layers, self.bias, self.batch_first = input_size, hidden_size, num_layers, bias, batch_first
        self.dropout, self.bidirectional, self.nonlinearity = dropout, bidirectional, nonlinearity
        for layer in range(num_layers):
            for suffix in self.suffixes():
                width = input_size if layer == 0 else hidden_size * len(self.suffixes())
                self._add(layer, suffix, width)
        bound = 1 / math.sqrt(hidden_size)
        for p in self.parameters():
            init.uniform_(p, -bound, bound)

    def suffixes(self) -> tuple:
        return ("", "_reverse") if self.bidirectional else ("",)

    def _add(self, layer: int, suffix: str, width: int) -> None:
        rows = self.gates * self.hidden_size
        setattr(self, f"weight_ih_l{layer}{suffix}", empty(rows, width))
        setattr(self, f"weight_hh_l{layer}{suffix}", empty(rows, self.hidden_size))
        if self.bias:
            setattr(self, f"bias_ih_l{layer}{suffix}", empty(rows))
            setattr(self, f"bias_hh_l{layer}{suffix}", empty(rows))

    def weights(self, layer: int, suffix: str) -> list:
        names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh") if self.bias else ("weight_ih", "weight_hh")
        return [getattr(self, f"{n}_l{layer}{suffix}") for n in names] + [None] * (4 - len(names))

    def cell(self, x: Any, state: tuple, weights: list) -> tuple:
        """The next state; its first part is the output."""
        raise NotImplementedError

    def parts(self) -> int:
        """Of how many tensors the state consists."""
        return 1

    def forward(self, input: Any, hx: Any = None) -> tuple:
        single = len(input.shape) == 2
        if single:
            input = op["reshape"](input, *((1, *input.shape) if self.batch_first else (input.shape[0], 1, input.shape[1])))
        x = functional.swapped(input, 0, 1) if self.batch_first else input
        steps = [x[k] for k in range(x.shape[0])]
        given = None if hx is None else hx if isinstance(hx, (tuple, list)) else (hx,)
        if single and given is not None:
            given = [op["reshape"](h, h.shape[0], 1, h.shape[1]) for h in given]
        finals: list = []
        for layer in range(self.num_layers):
            columns = [self._run(steps, layer, d, suffix, given, finals) for d, suffix in enumerate(self.suffixes())]
            steps = columns[0] if len(columns) == 1 else [cat(list(pair), -1) for pair in zip(*columns)]
            if self.dropout and self.training and layer < self.num_layers - 1:
                steps = [functional.dropout(s, self.dropout) for s in steps]
        y = cat([op["reshape"](s, 1, *s.shape) for s in steps], 0)
        y = functional.swapped(y, 0, 1) if self.batch_first else y
        states = tuple([cat([op["reshape"](f[k], 1, *f[k].shape) for f in finals], 0) for k in range(self.parts())])
        if single:
            y = y[0] if self.batch_first else y[:, 0]
            states = tuple([s[:, 0] for s in states])
        return y, states if self.parts() > 1 else states[0]

    def _run(self, steps: list, layer: int, d: int, suffix: str, given: Any, finals: list) -> list:
        """One direction of one layer: its outputs in time; its last state is added to finals."""
        weights, place = self.weights(layer, suffix), layer * len(self.suffixes()) + d
        batch = steps[0].shape[0]
        zero = wrap(np.zeros((batch, self.hidden_size), default.dtype))
        state = tuple([zero] * self.parts()) if given is None else tuple([h[place] for h in given])
        outputs = []
        for x in reversed(steps) if d else steps:
            state = self.cell(x, state, weights)
            outputs.append(state[0])
        finals.append(state)
        return outputs[::-1] if d else outputs

    def extra_repr(self) -> str:
        return f"{self.input_size}, {self.hidden_size}" + (f", num_layers={self.num_layers}" if self.num_layers > 1 else "")


class RNN(_Recurrent):
    """h' = tanh(W x + U h + b) (or relu)."""

    def cell(self, x: Any, state: tuple, weights: list) -> tuple:
        w, u, b, c = weights
        z = functional.linear(x, w, b) + functional.linear(state[0], u, c)
        return (op["tanh"](z) if self.nonlinearity == "tanh" else functional.relu(z),)


class LSTM(_Recurrent):
    """Long short-term memory (Hochreiter & Schmidhuber, 1997); gates in the order input, forget, cell, output."""

    gates = 4

    def parts(self) -> int:
        return 2

    def cell(self, x: Any, state: tuple, weights: list) -> tuple:
        w, u, b, c = weights
        i, f, g, o = _gates(functional.linear(x, w, b) + functional.linear(state[0], u, c), 4)
        memory = op["expit"](f) * state[1] + op["expit"](i) * op["tanh"](g)
        return op["expit"](o) * op["tanh"](memory), memory


class GRU(_Recurrent):
    """Gated recurrent units (Cho et al., 2014); gates in the order reset, update, new."""

    gates = 3

    def cell(self, x: Any, state: tuple, weights: list) -> tuple:
        w, u, b, c = weights
        h = state[0]
        xr, xz, xn = _gates(functional.linear(x, w, b), 3)
        hr, hz, hn = _gates(functional.linear(h, u, c), 3)
        r, z = op["expit"](xr + hr), op["expit"](xz + hz)
        n = op["tanh"](xn + r * hn)
        return ((1.0 - z) * n + z * h,)
