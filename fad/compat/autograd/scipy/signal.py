"""autograd.scipy.signal: convolution over chosen axes, with products over others."""
from collections.abc import Sequence
from typing import Any

import numpy as np

from ....trace.runtime.namespaces import attribute_of
from ....util.array import AnyArray

_attribute, __dir__ = attribute_of("scipy.signal")


def __getattr__(name: str) -> Any:
    return _attribute(name)


def convolve(A: Any, B: Any, axes: "Sequence | None" = None, dot_axes: "Sequence | None" = None,
             mode: str = "full") -> AnyArray:
    """The convolution of A and B over the pairs of axes `axes`, summed over the pairs of axes `dot_axes`.

    axes, dot_axes: (axes of A, axes of B); axes None: all. Result axes: those of A that are in neither, those of B,
    the convolved ones. mode: "full", "same" (the size of A) or "valid".

    >>> convolve(np.array([1.0, 2.0]), np.array([1.0, 0.0, 1.0]))
    array([1., 2., 1., 2.])
    """
    if mode not in ("full", "same", "valid"):
        raise ValueError(f"mode is 'full', 'same' or 'valid', not {mode!r}")
    on_a, on_b = [list(range(np.ndim(A))), list(range(np.ndim(B)))] if axes is None else [list(axes[0]), list(axes[1])]
    dot_a, dot_b = ([], []) if dot_axes is None else (list(dot_axes[0]), list(dot_axes[1]))
    if mode == "valid" and any(np.shape(B)[j] < np.shape(A)[i] for i, j in zip(on_a, on_b)):
        if not all(np.shape(B)[j] <= np.shape(A)[i] for i, j in zip(on_a, on_b)):
            raise ValueError("one array must be at least as large as the other along all convolved axes")
        return _swapped(convolve(B, A, (on_b, on_a), (dot_b, dot_a), mode), A, B, on_a + dot_a, on_b + dot_b)
    sizes = [np.shape(A)[i] for i in on_a]
    padded = B if mode == "valid" else _padded(B, on_b, sizes)
    windows = np.lib.stride_tricks.sliding_window_view(padded, tuple(sizes), axis=tuple(on_b))
    result = _contract(A, windows, on_a, on_b, dot_a, dot_b)
    return result if mode != "same" else _middle(result, [np.shape(A)[i] for i in on_a], len(on_a))


def _padded(x: Any, axes: Sequence, sizes: Sequence) -> Any:
    widths = [(0, 0)] * np.ndim(x)
    for axis, n in zip(axes, sizes):
        widths[axis] = (n - 1, n - 1)
    return np.pad(x, widths)


def _contract(A: AnyArray, windows: AnyArray, on_a: list, on_b: list, dot_a: list, dot_b: list) -> AnyArray:
    """The windows (axes of B, then one window axis for each convolved axis) times A, reversed along its convolved
    axes."""
    flipped = A[tuple([slice(None, None, -1) if i in on_a else slice(None) for i in range(np.ndim(A))])]
    count = np.ndim(A)
    a = list(range(count))
    b = list(range(count, count + np.ndim(windows) - len(on_a)))
    for i, j in zip(dot_a, dot_b):
        b[j] = a[i]
    free_a = [a[i] for i in range(count) if i not in on_a and i not in dot_a]
    free_b = [b[j] for j in range(len(b)) if j not in on_b and j not in dot_b]
    return np.einsum(flipped, a, windows, b + [a[i] for i in on_a], free_a + free_b + [b[j] for j in on_b])


def _middle(full: Any, sizes: Sequence, count: int) -> Any:
    index: list = [slice(None)] * np.ndim(full)
    for axis, n in zip(range(np.ndim(full) - count, np.ndim(full)), sizes):
        start = (np.shape(full)[axis] - n) // 2
        index[axis] = slice(start, start + n)
    return full[tuple(index)]


def _swapped(result: Any, A: Any, B: Any, used_a: list, used_b: list) -> Any:
    """The result with B's free axes first as one with A's first."""
    free_b, free_a = np.ndim(B) - len(used_b), np.ndim(A) - len(used_a)
    rest = range(free_a + free_b, np.ndim(result))
    return np.transpose(result, [*range(free_b, free_b + free_a), *range(free_b), *rest])
