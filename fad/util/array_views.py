"""Views: the way in which an array lies in the memory of another one.

A view of an array is found again by trial: NumPy's own steps (a part of complex numbers, axes in another order, a
slice, another shape) are taken on the array, and the address, shape and strides of the result are compared with the
view's.
"""
import functools
from collections.abc import Callable, Iterator
from operator import attrgetter

import numpy as np

from .interrupts import reraise_interrupt
from .memory import overlap

Steps = list[Callable[[np.ndarray], np.ndarray]]


def owner_of(x: np.ndarray) -> np.ndarray:
    """The array in whose memory x lies: x itself, if it is no view of a plain array.

    >>> a = np.zeros((4, 3))
    >>> owner_of(a[1:].T) is a, owner_of(a) is a
    (True, True)
    """
    while type(x.base) is np.ndarray:
        x = x.base
    return x


def memory_of(buffer: object) -> "np.ndarray | None":
    """The bytes of a bytearray, a memoryview or an array.array, as an array, and an array itself; None of a released
    buffer. As long as the result lives, the buffer cannot be resized.

    >>> memory_of(bytearray(4)).nbytes
    4
    """
    if isinstance(buffer, np.ndarray):
        return buffer
    try:
        return np.frombuffer(buffer, np.uint8)  # type: ignore[call-overload]
    except (ValueError, TypeError, BufferError) as error:     # empty, released, or not in one piece
        reraise_interrupt(error)
        return None


def lies_in(x: np.ndarray, buffer: object) -> bool:
    """Whether an array shares memory with another one, or with a buffer."""
    memory = memory_of(buffer)
    return memory is not None and overlap(x, memory)


def steps_to(x: np.ndarray, owner: np.ndarray) -> "Steps | None":
    """The steps that make x of the array that it lies in; None if none are found.

    >>> a = np.zeros((4, 3))
    >>> along(steps_to(a[1:, 2], a), a).strides
    (24,)
    """
    if not x.size or x.ndim > 20 or owner.dtype.kind not in "biufc":
        return None
    return next((steps for steps in _candidates(x, owner) if lie_alike(along(steps, owner), x)), None)


def along(steps: Steps, x: np.ndarray) -> np.ndarray:
    """The view of x to which these steps lead, one after the other."""
    return functools.reduce(lambda a, step: step(a), steps, x)


def lie_alike(x: np.ndarray, y: np.ndarray) -> bool:
    """Whether two arrays are the same elements in the same order."""
    return (
        x.dtype == y.dtype
        and x.shape == y.shape
        and address(x) == address(y)
        and all(n < 2 or p == q for n, p, q in zip(x.shape, x.strides, y.strides))
    )


def address(x: np.ndarray) -> int:
    """The address of the first element."""
    return x.__array_interface__["data"][0]


def _candidates(x: np.ndarray, owner: np.ndarray) -> Iterator[Steps]:
    steps: Steps = []
    if owner.dtype.kind == "c" and x.dtype == owner.real.dtype:
        part = "imag" if (address(x) - address(owner)) % owner.itemsize else "real"
        steps.append(attrgetter(part))
    order = tuple(sorted(range(owner.ndim), key=lambda k: -abs(owner.strides[k])))
    if order != tuple(range(owner.ndim)):
        steps.append(lambda a: a.transpose(order))
    base = along(steps, owner)
    yield steps
    if base.dtype == x.dtype:
        sliced = _slices(x, base)
        if sliced is not None:
            yield [*steps, *sliced]
        if owner.flags.forc:
            yield from ([*steps, lambda a: a.reshape(-1), *more] for more in _of_flat(x, base))


def _slices(x: np.ndarray, base: np.ndarray) -> "Steps | None":
    """A slice of each axis of the base, then the axes in x's order."""
    rest, starts = address(x) - address(base), list[int]()
    for stride in base.strides:
        starts.append(rest // stride if stride > 0 else 0)
        rest -= starts[-1] * stride
    subscript: list[int | slice] = list(starts)
    axes: dict[int, int] = {}                                 # axis of the base -> axis of x
    for k, (n, stride) in enumerate(zip(x.shape, x.strides)):
        if n > 1:
            j = next((j for j in range(base.ndim) if j not in axes and _reaches(base, j, starts[j], n, stride)), None)
            if j is None:
                return None
            axes[j] = k
            step = stride // base.strides[j]
            stop = starts[j] + n * step
            subscript[j] = slice(starts[j], stop if stop >= 0 else None, step)
    if rest or any(not 0 <= p < n for p, n in zip(starts, base.shape)):
        return None
    found: Steps = [lambda a: a[tuple(subscript) + (...,)]]
    taken = [axes[j] for j in sorted(axes)]
    if taken != sorted(taken):
        inverse = tuple(sorted(range(len(taken)), key=taken.__getitem__))
        found.append(lambda a: a.transpose(inverse))
    if 1 in x.shape:
        places = tuple([slice(None) if n > 1 else None for n in x.shape])
        found.append(lambda a: a[places + (...,)])
    return found


def _reaches(base: np.ndarray, axis: int, start: int, count: int, stride: int) -> bool:
    """Whether `count` elements so far apart lie on this axis of the base, from `start` on."""
    unit = base.strides[axis]
    if unit <= 0 or stride == 0 or stride % unit:
        return False
    return 0 <= start + (count - 1) * (stride // unit) < base.shape[axis]


def _of_flat(x: np.ndarray, base: np.ndarray) -> Iterator[Steps]:
    """Elements of all of the base, one after the other: each so many-th of them, or a block of them in another shape.

    A block whose strides are p > q > r has p elements to a row, in p / q groups, and takes each r-th element of a
    group. The elements from its first one on are an array of shape (n, p / q, q), and the block is a slice of it. Where
    the last row is not complete, the elements from an earlier one on are such an array.
    """
    axes = sorted([k for k, n in enumerate(x.shape) if n > 1], key=lambda k: -abs(x.strides[k]))
    unit = min(base.strides, default=base.itemsize)           # more than an element for parts of complex numbers
    counts, strides = [x.shape[k] for k in axes], [abs(x.strides[k]) // unit for k in axes]
    begin = (address(x) - address(base)) // unit
    begin -= sum((x.shape[k] - 1) * -x.strides[k] // unit for k in axes if x.strides[k] < 0)
    rows = strides[:-1]
    if 0 in strides or any(p % q for p, q in zip(rows, rows[1:])):
        return
    turned = [slice(None, None, -1 if x.strides[k] < 0 else None) for k in axes]
    back = tuple(sorted(range(len(axes)), key=axes.__getitem__))
    end: Steps = [lambda a: a[tuple(turned) + (...,)], lambda a: a.transpose(back), lambda a: a.reshape(x.shape)]
    if not rows:
        step = strides[0] if strides else 1
        stop = begin + (counts[0] - 1) * step + 1 if counts else begin + 1
        yield [lambda a: a[begin:stop:step], *end]
        return
    size = counts[0] * rows[0]
    early = max(0, begin + size - base.size)
    shape = (counts[0], *[p // q for p, q in zip(rows, rows[1:])], rows[-1])
    if early <= begin:
        starts = list(map(int, np.unravel_index(early, shape)))
        block = [slice(p, p + n) for p, n in zip(starts, counts[:-1])]
        last = slice(starts[-1], starts[-1] + (counts[-1] - 1) * strides[-1] + 1, strides[-1])
        first = begin - early
        yield [lambda a: a[first:first + size], lambda a: a.reshape(shape), lambda a: a[tuple(block) + (last,)], *end]
