"""Data in batches: sets of examples, orders to go through them in, and loaders that put examples together."""
import bisect
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from .creation import as_tensor, tensor
from .generators import Generator, source
from .joining import stack
from .tensor import Tensor


class Dataset:
    """Base of sets of examples: data[k] is one; most have a length."""

    def __getitem__(self, index: Any) -> Any:
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")

    def __add__(self, other: "Dataset") -> "ConcatDataset":
        return ConcatDataset([self, other])


class IterableDataset(Dataset):
    """Base of sets of examples that come one after the other."""

    def __iter__(self) -> Iterator:
        raise NotImplementedError("Subclasses of IterableDataset should implement __iter__.")


class TensorDataset(Dataset):
    """The examples of tensors along their first dimension.

    >>> import fad
    >>> data = TensorDataset(fad.arange(3), fad.ones(3))
    >>> len(data), data[1]
    (3, (tensor(1), tensor(1.)))
    """

    def __init__(self, *tensors: Tensor):
        if any(t.shape[0] != tensors[0].shape[0] for t in tensors):                             # type: ignore[attr-defined]
            raise AssertionError("Size mismatch between tensors")
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple:
        return tuple([t[index] for t in self.tensors])                                          # type: ignore[index]

    def __len__(self) -> int:
        return self.tensors[0].shape[0]                                                         # type: ignore[attr-defined]


class ConcatDataset(Dataset):
    """Sets one after the other."""

    def __init__(self, datasets: Iterable):
        self.datasets = list(datasets)
        if not self.datasets:
            raise AssertionError("datasets should not be an empty iterable")
        self.cumulative_sizes = list(itertools.accumulate(len(d) for d in self.datasets))

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, index: int) -> Any:
        if index < 0:
            if -index > len(self):
                raise ValueError("absolute value of index should not exceed dataset length")
            index += len(self)
        k = bisect.bisect_right(self.cumulative_sizes, index)
        return self.datasets[k][index - (self.cumulative_sizes[k - 1] if k else 0)]


class Subset(Dataset):
    """Some examples of a set, by their indices."""

    def __init__(self, dataset: Any, indices: Sequence):
        self.dataset, self.indices = dataset, indices

    def __getitem__(self, index: Any) -> Any:
        return self.dataset[[self.indices[k] for k in index] if isinstance(index, list) else self.indices[index]]

    def __len__(self) -> int:
        return len(self.indices)


def random_split(dataset: Any, lengths: Sequence, generator: "Generator | None" = None) -> list:
    """Subsets of these sizes (or shares that sum to 1) without common examples, drawn at random."""
    sizes = list(lengths)
    if math.isclose(sum(sizes), 1) and sum(sizes) <= 1:
        shares = sizes
        if any(not 0 <= s <= 1 for s in shares):
            raise ValueError("Fraction at index 0 is not between 0 and 1")
        sizes = [math.floor(len(dataset) * s) for s in shares]
        for k in range(len(dataset) - sum(sizes)):
            sizes[k % len(sizes)] += 1
    if sum(sizes) != len(dataset):
        raise ValueError("Sum of input lengths does not equal the length of the input dataset!")
    order, ends = source(generator).permutation(len(dataset)).tolist(), list(itertools.accumulate(sizes))
    return [Subset(dataset, order[end - n:end]) for n, end in zip(sizes, ends)]


# -- orders ---------------------------------------------------------------------------------------------------------------------------------


class Sampler:
    """Base of orders: iterating gives indices (or, of batches, lists of them)."""

    def __init__(self, data_source: Any = None):
        self.data_source = data_source

    def __iter__(self) -> Iterator:
        raise NotImplementedError

    def __len__(self) -> int:
        return len(self.data_source)


class SequentialSampler(Sampler):
    """From the first to the last."""

    def __iter__(self) -> Iterator:
        return iter(range(len(self.data_source)))


class RandomSampler(Sampler):
    """At random: each once, or (with replacement) so many, drawn anew each time."""

    def __init__(self, data_source: Any, replacement: bool = False, num_samples: "int | None" = None, generator: "Generator | None" = None):
        super().__init__(data_source)
        self.replacement, self._count, self.generator = replacement, num_samples, generator
        if len(self) <= 0:
            raise ValueError(f"num_samples should be a positive integer value, but got num_samples={len(self)}")

    def __len__(self) -> int:
        return len(self.data_source) if self._count is None else self._count

    def __iter__(self) -> Iterator:
        n, rng = len(self.data_source), source(self.generator)
        if self.replacement:
            return iter(rng.integers(0, n, len(self)).tolist())
        rounds = -(-len(self) // n)
        return iter(np.concatenate([rng.permutation(n) for _ in range(rounds)])[:len(self)].tolist())


class SubsetRandomSampler(Sampler):
    """Given indices, in random order."""

    def __init__(self, indices: Sequence, generator: "Generator | None" = None):
        super().__init__(indices)
        self.generator = generator

    def __iter__(self) -> Iterator:
        return iter([self.data_source[k] for k in source(self.generator).permutation(len(self))])


class WeightedRandomSampler(Sampler):
    """Indices drawn with chances in proportion to weights."""

    def __init__(self, weights: Any, num_samples: int, replacement: bool = True, generator: "Generator | None" = None):
        super().__init__(range(num_samples))
        self.weights, self.replacement, self.generator = np.asarray([float(w) for w in weights]), replacement, generator

    def __iter__(self) -> Iterator:
        chances = self.weights / self.weights.sum()
        return iter(source(self.generator).choice(len(chances), len(self), self.replacement, chances).tolist())


class BatchSampler(Sampler):
    """The indices of another order, in lists of batch_size."""

    def __init__(self, sampler: Any, batch_size: int, drop_last: bool):
        if not isinstance(batch_size, int) or isinstance(batch_size, bool) or batch_size <= 0:
            raise ValueError(f"batch_size should be a positive integer value, but got batch_size={batch_size}")
        super().__init__(sampler)
        self.sampler, self.batch_size, self.drop_last = sampler, batch_size, drop_last

    def __len__(self) -> int:
        return len(self.sampler) // self.batch_size if self.drop_last else -(-len(self.sampler) // self.batch_size)

    def __iter__(self) -> Iterator:
        return _in_lists(iter(self.sampler), self.batch_size, self.drop_last)


def _in_lists(values: Iterator, size: int, drop_last: bool) -> Iterator:
    while batch := list(itertools.islice(values, size)):
        if len(batch) == size or not drop_last:
            yield batch


# -- loaders --------------------------------------------------------------------------------------------------------------------------------


def default_convert(data: Any) -> Any:
    """Arrays as tensors, in containers too."""
    if isinstance(data, (np.ndarray, np.generic)):
        return as_tensor(np.asarray(data)) if data.dtype.kind in "biufc" else data
    if isinstance(data, Mapping):
        return {key: default_convert(value) for key, value in data.items()}
    if isinstance(data, tuple):
        return type(data)(*map(default_convert, data)) if hasattr(data, "_fields") else [default_convert(d) for d in data]
    return [default_convert(d) for d in data] if isinstance(data, list) else data


def default_collate(batch: list) -> Any:
    """Examples put together: tensors, arrays and numbers along a new first dimension, containers part by part.

    >>> default_collate([(0, 1.5), (1, 2.5)])
    [tensor([0, 1]), tensor([1.5000, 2.5000])]
    """
    first = batch[0]
    if isinstance(first, Tensor):
        return stack(batch, 0)
    if isinstance(first, (np.ndarray, np.generic)):
        return stack([as_tensor(np.asarray(b)) for b in batch], 0)
    if isinstance(first, (bool, int)):
        return tensor(batch)
    if isinstance(first, float):
        return tensor(batch, dtype=np.float64)
    if isinstance(first, (str, bytes)):
        return batch
    if isinstance(first, Mapping):
        return {key: default_collate([b[key] for b in batch]) for key in first}
    if isinstance(first, Sequence):
        if any(len(b) != len(first) for b in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        parts = [default_collate(list(column)) for column in zip(*batch)]
        return type(first)(*parts) if hasattr(first, "_fields") else parts
    raise TypeError(f"default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {type(first)}")


class DataLoader:
    """Batches of examples; workers and pinned memory are taken for PyTorch's sake: batches are made where they are asked for.

    >>> import fad
    >>> data = TensorDataset(fad.arange(5))
    >>> [batch[0].tolist() for batch in DataLoader(data, batch_size=2)]
    [[0, 1], [2, 3], [4]]
    """

    def __init__(self, dataset: Any, batch_size: "int | None" = 1, shuffle: "bool | None" = None, sampler: Any = None, batch_sampler: Any = None,
                 num_workers: int = 0, collate_fn: "Callable | None" = None, pin_memory: bool = False, drop_last: bool = False, timeout: float = 0,
                 worker_init_fn: Any = None, multiprocessing_context: Any = None, generator: "Generator | None" = None, *, prefetch_factor: Any = None,
                 persistent_workers: bool = False, pin_memory_device: str = "", in_order: bool = True):
        if num_workers < 0:
            raise ValueError("num_workers option should be non-negative; use num_workers=0 to disable multiprocessing.")
        if sampler is not None and shuffle:
            raise ValueError("sampler option is mutually exclusive with shuffle")
        if batch_sampler is not None and (batch_size != 1 or shuffle or sampler is not None or drop_last):
            raise ValueError("batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last")
        self.dataset, self.num_workers, self.pin_memory, self.drop_last, self.generator = dataset, num_workers, pin_memory, drop_last, generator
        self.batch_size = None if batch_sampler is not None else batch_size
        self._streams = isinstance(dataset, IterableDataset)
        if self._streams and (shuffle or sampler is not None):
            raise ValueError(f"DataLoader with IterableDataset: expected unspecified {'shuffle' if shuffle else 'sampler'} option, but got "
                             f"{'shuffle=' + str(shuffle) if shuffle else 'sampler=' + str(sampler)}")
        if sampler is None and not self._streams:
            sampler = RandomSampler(dataset, generator=generator) if shuffle else SequentialSampler(dataset)
        self.sampler = sampler
        if batch_sampler is None and batch_size is not None and not self._streams:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.batch_sampler = batch_sampler
        self.collate_fn = collate_fn or (default_convert if self.batch_size is None and batch_sampler is None else default_collate)

    def __len__(self) -> int:
        if self._streams:
            n = len(self.dataset)
            return n if self.batch_size is None else n // self.batch_size if self.drop_last else -(-n // self.batch_size)
        return len(self.sampler if self.batch_sampler is None else self.batch_sampler)

    def __iter__(self) -> Iterator:
        if self._streams:
            examples = iter(self.dataset)
            groups: Iterable = examples if self.batch_size is None else _in_lists(examples, self.batch_size, self.drop_last)
            return (self.collate_fn(group) for group in groups)
        if self.batch_sampler is None:
            return (self.collate_fn(self.dataset[k]) for k in self.sampler)
        return (self.collate_fn([self.dataset[k] for k in batch]) for batch in self.batch_sampler)
