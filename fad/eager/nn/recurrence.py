"""One direction of one recurrent layer as one step of the graph.

The gates' share of the inputs is computed for all times at once, before. What is left is the recurrence

    state[t] = cell(gates[t] + h[t - 1] @ u.T + c, state[t - 1])

Forward, a time costs one matrix product and a handful of calls of NumPy. Backward, the gates of all times are computed
again in one go from the states, which are the step's result, and so are all factors that do not depend on the
cotangent; the sweep through time is left with a product and three or four calls (Appleyard et al., "Optimizing
performance of recurrent neural networks on GPUs", 2016, on what can leave the sweep). Nothing is saved but arguments
and result.

The state is one array (parts, batch, features): of an LSTM (h, memory), of the others (h,).
"""
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from ...ops.table import TABLE as op
from ...util.array import AnyArray, ArrayOrNumber
from ..engine.grad_api import grad
from ..functions.composite import Composite
from ..tensors.tensor import Tensor

# -- cells, in ops: (gates, state, u, c) -> the next state -------------------------------------------------------------


def linear(h: ArrayOrNumber, u: object, c: object) -> AnyArray:
    """h @ u.T + c."""
    y = op["matmul"](h, op["transpose"](u, axes=(1, 0)))
    return y if c is None else y + c


def _split(z: AnyArray, count: int) -> list:
    n = z.shape[-1] // count
    return [op["slice_axis"](z, len(z.shape) - 1, k * n, n) for k in range(count)]


def plain_cell(activation: Callable) -> Callable:
    """The cell h' = activation(z)."""
    return lambda z, state, u, c: (activation(z + linear(state[0], u, c)),)


def lstm_cell(z: AnyArray, state: tuple, u: object, c: object) -> tuple:
    """Hochreiter and Schmidhuber's; gates in the order input, forget, cell, output."""
    i, f, g, o = _split(z + linear(state[0], u, c), 4)
    memory = op["expit"](f) * state[1] + op["expit"](i) * op["tanh"](g)
    return op["expit"](o) * op["tanh"](memory), memory


def gru_cell(z: Tensor, state: tuple, u: Tensor, c: "Tensor | None") -> tuple:
    """Cho et al.'s; gates in the order reset, update, new."""
    h = state[0]
    (xr, xz, xn), (hr, hz, hn) = _split(z, 3), _split(linear(h, u, c), 3)
    r, z = op["expit"](xr + hr), op["expit"](xz + hz)
    n = op["tanh"](xn + r * hn)
    return ((1.0 - z) * n + z * h,)


# -- on arrays ---------------------------------------------------------------------------------------------------------


def _plain_run(activation: Callable) -> Callable:
    def run(z: np.ndarray, s: np.ndarray, ut: np.ndarray, c: "AnyArray | None", out: np.ndarray) -> None:
        h, z = s[0], z if c is None else z + c
        for t in range(len(z)):
            a = np.dot(h, ut)
            a += z[t]
            h = activation(a, out[t, 0])
    return run


def _lstm_run(z: np.ndarray, s: np.ndarray, ut: np.ndarray, c: "AnyArray | None", out: np.ndarray) -> None:
    (h, memory), z, n = s, z if c is None else z + c, s.shape[-1]
    for t in range(len(z)):
        a = np.dot(h, ut)
        a += z[t]
        g = np.tanh(a[:, 2 * n:3 * n])
        expit(a, a)
        g *= a[:, :n]
        memory = np.multiply(memory, a[:, n:2 * n], out[t, 1])
        memory += g
        h = np.tanh(memory, out[t, 0])
        h *= a[:, 3 * n:]


def _gru_run(z: np.ndarray, s: np.ndarray, ut: np.ndarray, c: "AnyArray | None", out: np.ndarray) -> None:
    h, n = s[0], s.shape[-1]
    for t in range(len(z)):
        a = np.dot(h, ut)
        if c is not None:
            a += c
        x = z[t]
        gates = expit(a[:, :2 * n] + x[:, :2 * n])
        new = a[:, 2 * n:]
        new *= gates[:, :n]
        new += x[:, 2 * n:]
        np.tanh(new, new)
        h = np.subtract(h, new, out[t, 0])
        h *= gates[:, n:]
        h += new


def _plain_sweep(slope: Callable) -> Callable:
    def sweep(g: np.ndarray, y: np.ndarray, z: np.ndarray, before: np.ndarray, u: np.ndarray,
              c: "AnyArray | None") -> tuple:
        factor, gz = slope(y[:, 0]), np.empty_like(z)
        gh: AnyArray = 0.0
        for t in reversed(range(len(z))):
            gz[t] = (g[t, 0] + gh) * factor[t]
            gh = np.dot(gz[t], u)
        return gz, gz, gh[None]
    return sweep


def _lstm_sweep(g: np.ndarray, y: np.ndarray, z: np.ndarray, before: np.ndarray, u: np.ndarray,
                c: "AnyArray | None") -> tuple:
    length, batch, n = len(z), z.shape[1], u.shape[1]
    a = np.matmul(before[:, 0], u.T) + z
    a = (a if c is None else a + c).reshape(length, batch, 4, n)
    new, gates, top = np.tanh(a[:, :, 2]), expit(a), np.tanh(y[:, 1])
    factor = gates * (1.0 - gates)  # from the memory (from h, of the last) to the gates
    factor[:, :, 0] *= new
    factor[:, :, 1] *= before[:, 1]
    factor[:, :, 2] = gates[:, :, 0] * (1.0 - new * new)
    factor[:, :, 3] *= top
    into, forget = gates[:, :, 3] * (1.0 - top * top), gates[:, :, 1]
    gz = np.empty_like(a)
    gh: AnyArray = np.zeros_like(y[0, 0])
    gm: AnyArray = np.zeros_like(gh)
    for t in reversed(range(length)):
        gh = gh + g[t, 0]
        gm = gm + g[t, 1]
        gm += gh * into[t]
        np.multiply(gm[:, None], factor[t, :, :3], gz[t, :, :3])
        np.multiply(gh, factor[t, :, 3], gz[t, :, 3])
        gm *= forget[t]
        gh = np.dot(gz[t].reshape(batch, -1), u)
    gz = gz.reshape(z.shape)
    return gz, gz, np.stack((gh, gm))


def _gru_sweep(g: np.ndarray, y: np.ndarray, z: np.ndarray, before: np.ndarray, u: np.ndarray,
               c: "AnyArray | None") -> tuple:
    length, batch, n = len(z), z.shape[1], u.shape[1]
    h = before[:, 0]
    a = np.matmul(h, u.T)
    a, x = (a if c is None else a + c).reshape(length, batch, 3, n), z.reshape(length, batch, 3, n)
    gates = expit(a[:, :, :2] + x[:, :, :2])
    r, keep = gates[:, :, 0], gates[:, :, 1]
    new = np.tanh(x[:, :, 2] + r * a[:, :, 2])
    factor = np.empty_like(a)                                                    # from h to the gates of h
    to_new = (1.0 - keep) * (1.0 - new * new)
    factor[:, :, 0] = to_new * a[:, :, 2] * r * (1.0 - r)
    factor[:, :, 1] = (h - new) * keep * (1.0 - keep)
    factor[:, :, 2] = to_new * r
    ga, total = np.empty_like(a), np.empty_like(h)
    gh: AnyArray = np.zeros_like(y[0, 0])
    for t in reversed(range(length)):
        gh = np.add(gh, g[t, 0], total[t])
        np.multiply(gh[:, None], factor[t], ga[t])
        gh = np.dot(ga[t].reshape(batch, -1), u)
        gh += total[t] * keep[t]
    gz = ga.copy()
    gz[:, :, 2] = total * to_new
    return gz.reshape(z.shape), ga.reshape(z.shape), gh[None]


# -- as steps ----------------------------------------------------------------------------------------------------------


def _recurrence(name: str, cell: Callable, run: Callable, sweep: Callable, parts: int) -> Composite:
    """The step that runs a cell through time (backwards: the last time comes first): (gates (time, batch, rows), state,
    u, c) -> (time, parts, batch, features)."""
    def written(z: Tensor, s: Tensor, u: Tensor, c: "Tensor | None", backwards: bool) -> Tensor:
        states, state = through(cell, z, tuple([s[k] for k in range(parts)]), (u, c), backwards)
        rows = [op["concatenate"](*[op["reshape"](part, 1, 1, *part.shape) for part in one], axis=1) for one in states]
        return op["concatenate"](*rows, axis=0)

    def on_arrays(z: np.ndarray, s: np.ndarray, u: np.ndarray, c: "AnyArray | None", backwards: bool) -> np.ndarray:
        y = np.empty((len(z), *s.shape), z.dtype)
        with np.errstate(all="ignore"):
            run(*((z[::-1], s, u.T, c, y[::-1]) if backwards else (z, s, u.T, c, y)))
        return y

    def pullback(gs: tuple, ys: tuple, xs: tuple, needs: tuple, backwards: bool) -> tuple:
        if type(gs[0]) is not np.ndarray:
            return _by_steps(written, gs[0], xs, needs, backwards)
        z, s, u, c = [None if x is None else np.asarray(x) for x in xs]
        g, y = gs[0], np.asarray(ys[0])
        if backwards:
            g, y, z = g[::-1], y[::-1], z[::-1]
        before = np.concatenate((s[None], y[:-1]))
        gz, ga, gstate = sweep(g, y, z, before, u, c)
        flat = ga.reshape(-1, ga.shape[-1])
        return (np.ascontiguousarray(gz[::-1]) if backwards else gz, gstate,
                np.dot(flat.T, before[:, 0].reshape(len(flat), -1)) if needs[2] else None,
                np.add.reduce(flat, 0) if needs[3] else None)

    return Composite(name, written, pullback, on_arrays, node="RnnLayerBackward0", edges=4,
                     inputs=("input", "hx", "weight", "bias"))


def _by_steps(written: Callable, g: Tensor, xs: tuple, needs: tuple, backwards: bool) -> tuple:
    """The cotangents through the steps that the recurrence is written in, for a recorded backward pass."""
    given = [x.clone() if need else x for x, need in zip(xs, needs)]             # so that no argument leads to another
    y = written(*given, backwards=backwards)
    found = iter(grad([y], [x for x, need in zip(given, needs) if need], [g], create_graph=True))
    return tuple([next(found) if need else None for need in needs])


def through(cell: Callable, z: ArrayOrNumber, state: tuple, weights: tuple, backwards: bool) -> "tuple[list, tuple]":
    """A cell run through time: its states in the order of the times, and the last one."""
    states: list = [None] * z.shape[0]
    for t in reversed(range(len(states))) if backwards else range(len(states)):
        state = cell(z[t], state, *weights)
        states[t] = state
    return states, state


class RecurrentKind(NamedTuple):
    """A step of a recurrent layer: cell(gates, state, u, c) is the next state, whose first part is the output; gates:
    the inputs' share of them; parts: of how many tensors the state consists; through_time: the cell at all times."""

    gates: int
    parts: int
    cell: Callable
    through_time: Composite


def _kind(name: str, gates: int, parts: int, cell: Callable, run: Callable, sweep: Callable) -> RecurrentKind:
    return RecurrentKind(gates, parts, cell, _recurrence(f"{name}_layer", cell, run, sweep, parts))


KINDS = {
    "RNN_TANH": _kind("rnn_tanh", 1, 1, plain_cell(op["tanh"]), _plain_run(np.tanh),
                      _plain_sweep(lambda y: 1.0 - y * y)),
    "RNN_RELU": _kind("rnn_relu", 1, 1, plain_cell(lambda x: op["where"](x > 0, x, 0.0)),
                      _plain_run(lambda a, out: np.maximum(a, a.dtype.type(0), out=out)),
                      _plain_sweep(lambda y: (y > 0).astype(y.dtype))),
    "LSTM": _kind("lstm", 4, 2, lstm_cell, _lstm_run, _lstm_sweep),
    "GRU": _kind("gru", 3, 1, gru_cell, _gru_run, _gru_sweep)}


def is_whole(*values: ArrayOrNumber) -> bool:
    """Whether a layer of these may be one step: tensors, or nothing."""
    return all(v is None or isinstance(v, Tensor) for v in values)
