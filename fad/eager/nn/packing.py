"""Sequences of several lengths: padded to one length, and packed, step after step, without padding."""
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..joining import cat
from ..tensor import Tensor, raw, wrap


class PackedSequence(tuple):
    """Sequences, the longest first, one step after the other.

    data               the elements of all sequences at the first step, then those of the sequences that have a second, and so on
    batch_sizes        how many sequences have each step
    sorted_indices     which sequence is where; unsorted_indices: where each is (None: they were given in this order)
    """

    def __new__(cls, data: Any, batch_sizes: Any = None, sorted_indices: Any = None, unsorted_indices: Any = None) -> "PackedSequence":
        if batch_sizes is None:
            data, batch_sizes = data
        return tuple.__new__(cls, (data, batch_sizes, sorted_indices, invert_permutation(sorted_indices) if unsorted_indices is None else unsorted_indices))

    data = property(lambda self: self[0])
    batch_sizes = property(lambda self: self[1])
    sorted_indices = property(lambda self: self[2])
    unsorted_indices = property(lambda self: self[3])
    is_cuda = False

    def __getnewargs__(self) -> tuple:
        return tuple(self)

    def __repr__(self) -> str:
        names = ("data", "batch_sizes", "sorted_indices", "unsorted_indices")
        return f"PackedSequence({', '.join(f'{n}={v!r}' for n, v in zip(names, self))})"

    def to(self, *args: Any, **kwargs: Any) -> "PackedSequence":
        """The data in another dtype."""
        data = self.data.to(*args, **kwargs)
        return self if data is self.data else type(self)(data, *self[1:])

    def is_pinned(self) -> bool:
        """Never: there is one device."""
        return False

    def cpu(self) -> "PackedSequence":
        """Itself: there is one device."""
        return self

    def double(self) -> "PackedSequence":
        """In float64."""
        return self.to(np.dtype(np.float64))

    def float(self) -> "PackedSequence":
        """In float32."""
        return self.to(np.dtype(np.float32))

    def half(self) -> "PackedSequence":
        """In float16."""
        return self.to(np.dtype(np.float16))

    def long(self) -> "PackedSequence":
        """In int64."""
        return self.to(np.dtype(np.int64))

    def int(self) -> "PackedSequence":
        """In int32."""
        return self.to(np.dtype(np.int32))

    def short(self) -> "PackedSequence":
        """In int16."""
        return self.to(np.dtype(np.int16))

    def char(self) -> "PackedSequence":
        """In int8."""
        return self.to(np.dtype(np.int8))

    def byte(self) -> "PackedSequence":
        """In uint8."""
        return self.to(np.dtype(np.uint8))


def invert_permutation(permutation: "Tensor | None") -> "Tensor | None":
    """The permutation that undoes one."""
    return None if permutation is None else wrap(np.argsort(raw(permutation)))


def pack_padded_sequence(input: Any, lengths: Any, batch_first: bool = False, enforce_sorted: bool = True) -> PackedSequence:
    """Pack (time, batch, ...) sequences of these lengths; enforce_sorted: they are given the longest first.

    >>> import fad
    >>> packed = pack_padded_sequence(fad.tensor([[1, 2], [3, 4], [5, 0]]), [3, 2])
    >>> packed.data.tolist(), packed.batch_sizes.tolist()
    ([1, 2, 3, 4, 5], [2, 2, 1])
    """
    sizes = np.asarray(raw(lengths), np.int64)
    x, order = (input.transpose(0, 1) if batch_first else input), None
    if not enforce_sorted:
        order = wrap(np.argsort(-sizes, kind="stable"))
        sizes, x = sizes[raw(order)], x.index_select(1, order)
    if not x._a.size:
        raise RuntimeError("Cannot pack empty tensors.")
    if len(sizes) != x.shape[1]:
        raise RuntimeError(f"Expected `len(lengths)` to be equal to batch_size, but got {len(sizes)} (batch_size={x.shape[1]})")
    if (np.diff(sizes) > 0).any():
        raise RuntimeError("`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can pass `enforce_sorted=False` to "
                           "pack_padded_sequence and/or pack_sequence to sidestep this requirement if you do not need ONNX exportability.")
    if sizes[-1] <= 0:
        raise RuntimeError("Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0")
    if sizes[0] > x.shape[0]:
        raise RuntimeError(f"Expected `lengths` to be at most the number of steps, {x.shape[0]}, but got {sizes[0]}")
    counts = (sizes[None, :] > np.arange(sizes[0])[:, None]).sum(1)
    return PackedSequence(cat([x[k, :int(n)] for k, n in enumerate(counts)], 0), wrap(counts), order)


def pad_packed_sequence(sequence: PackedSequence, batch_first: bool = False, padding_value: float = 0.0, total_length: "int | None" = None) -> tuple:
    """The sequences padded to one length (time, batch, ...), and their lengths."""
    counts = raw(sequence.batch_sizes)
    steps = len(counts) if total_length is None else total_length
    if steps < len(counts):
        raise ValueError(f"Expected total_length to be at least the length of the longest sequence in input, but got total_length={total_length} and max "
                         f"sequence length being {len(counts)}")
    times = np.repeat(np.arange(len(counts)), counts)
    places = np.concatenate([np.arange(n) for n in counts])
    sizes = (counts[:, None] > np.arange(counts[0])).sum(0)
    data = sequence.data
    padded = wrap(np.full((steps, counts[0], *data.shape[1:]), padding_value, data.dtype))
    padded = padded.index_put((wrap(times), wrap(places)), data)                                      # type: ignore[attr-defined]
    if sequence.unsorted_indices is not None:
        padded, sizes = padded.index_select(1, sequence.unsorted_indices), sizes[raw(sequence.unsorted_indices)]
    return padded.transpose(0, 1) if batch_first else padded, wrap(sizes)


def pad_sequence(sequences: Any, batch_first: bool = False, padding_value: float = 0.0, padding_side: str = "right") -> Any:
    """Sequences (time, ...) side by side, the shorter ones padded: (longest, batch, ...), or (batch, longest, ...) with batch_first."""
    if not isinstance(sequences, Iterable):
        raise RuntimeError(f"pad_sequence: Expected iterable for input sequences, but got arg of type: {type(sequences)}")
    if padding_side not in ("left", "right"):
        raise RuntimeError(f"Expected padding_side to be one of left or right, but got {padding_side}.")
    given = sequences.unbind(0) if isinstance(sequences, Tensor) else tuple(sequences)
    if not given:
        raise RuntimeError("received an empty list of sequences")
    longest = max(s.shape[0] for s in given)
    rows = []
    for s in given:
        fill = s.new_full((longest - s.shape[0], *s.shape[1:]), padding_value)
        rows.append(cat([s, fill] if padding_side == "right" else [fill, s], 0).unsqueeze(0 if batch_first else 1))
    return cat(rows, 0 if batch_first else 1)


def unpad_sequence(padded_sequences: Any, lengths: Any, batch_first: bool = False) -> list:
    """The sequences that were padded."""
    rows = padded_sequences if batch_first else padded_sequences.transpose(0, 1)
    return [rows[k, :int(n)] for k, n in enumerate(raw(lengths))]


def pack_sequence(sequences: Any, enforce_sorted: bool = True) -> PackedSequence:
    """Sequences (time, ...), packed."""
    return pack_padded_sequence(pad_sequence(sequences), [s.shape[0] for s in sequences], enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list:
    """The sequences that were packed."""
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)
