"""Plain Python for Numba's decorators and typed containers: @vectorize, @guvectorize, @stencil, fields of a
@jitclass."""
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from ..util.array import AnyArray, ArrayOrNumber


def empty_dict(key_type: object, value_type: object, n_keys: int = 0) -> dict:
    """numba.typed.Dict.empty"""
    return {}


def empty_list(item_type: object, allocated: int = 0) -> list:
    """numba.typed.List.empty_list"""
    return []


def field(name: str, kind: Callable) -> property:
    """A field of a jitclass that holds a number: what it is given is cast to its type."""
    def read(self: object) -> ArrayOrNumber:
        return getattr(self, hidden)

    def write(self: object, value: object) -> None:
        setattr(self, hidden, kind(value))
    hidden = f"_{name}"
    return property(read, write)


class Layout(NamedTuple):
    """The arguments of numba.guvectorize or vectorize: the core axes of each input and each output, by their names; for
    each signature the dtypes of inputs and outputs, and which inputs are numbers. Without signatures, the caller gives
    the outputs. writable: the positions of inputs that the function writes to.
    """

    inputs: tuple
    outputs: tuple
    signatures: tuple
    writable: tuple = ()

    def arrays(self, args: Sequence) -> tuple:
        """The inputs in the dtypes of their signature, the dtypes of the outputs, and which inputs are numbers."""
        arrays = [np.asarray(x) for x in args[:len(self.inputs)]]
        dtypes, kinds, are_numbers = self.of(arrays)
        if any(arrays[k].dtype != dtypes[k] for k in self.writable):
            raise TypeError("guvectorize: an argument that is written to has another dtype than the signature")
        return [x if x.dtype == dtype else x.astype(dtype) for x, dtype in zip(arrays, dtypes)], kinds, are_numbers

    def of(self, arrays: list) -> tuple:
        """The first signature that these inputs can be cast to, as NumPy chooses a ufunc's loop."""
        for inputs, outputs, are_numbers in self.signatures:
            if all(np.can_cast(x.dtype, dtype) for x, dtype in zip(arrays, inputs)):
                return inputs, outputs, are_numbers
        if self.signatures:
            raise TypeError("vectorize: no signature takes these dtypes")
        return [x.dtype for x in arrays], (), [not core for core in self.inputs]


def over_elements(function: Callable, layout: Layout, *args: AnyArray,
                  out: "np.ndarray | None" = None) -> ArrayOrNumber:
    """A call of a function by numba.vectorize, which may be given an array for the result."""
    arrays, kinds, _ = layout.arrays(args)
    into: np.ndarray | None = args[len(arrays)] if len(args) > len(arrays) else out  # type: ignore[assignment]
    result = function(*arrays)
    if into is not None:
        into[...] = result
        return into
    result = result.astype(kinds[0]) if kinds else result
    return result if result.ndim else result[()]


def over_loop_axes(function: Callable, layout: Layout, *args: AnyArray, out: "np.ndarray | tuple | None" = None,
                   axis: "int | None" = None) -> "ArrayOrNumber | tuple":
    """A call of a function by numba.guvectorize: one call of `function` for each entry of the loop axes, which are
    those in front of the core axes, broadcast. `function` writes to its last arguments. axis: the one core axis' place.
    """
    count, cores = len(layout.inputs), layout.inputs + layout.outputs
    given = [*args, *(out if isinstance(out, tuple) else [] if out is None else [out])]
    if axis is not None:
        if any(len(core) > 1 for core in cores):
            raise TypeError("guvectorize: axis can only be used with a single shared core dimension")
        given = [np.moveaxis(x, axis, -1) if core else x for x, core in zip(given, cores)]
    arrays, kinds, are_numbers = layout.arrays(given)
    sizes: dict = {}
    for x, core in zip(arrays, layout.inputs):
        for name, n in zip(core, x.shape[x.ndim - len(core):]):
            if sizes.setdefault(name, n) != n:
                raise ValueError(f"guvectorize: two arguments have {sizes[name]} and {n} along the axis {name}")
    loops = np.broadcast_shapes(*[x.shape[:x.ndim - len(core)] for x, core in zip(arrays, layout.inputs)])
    made = [np.empty((*loops, *[sizes[name] for name in core]), dtype) for core, dtype in zip(layout.outputs, kinds)]
    results: list = [*given[count:], *made[len(given) - count:]]
    is_shared = len(given) > count or layout.writable                     # as in NumPy, the kernel reads what was there
    operands = [x if k in layout.writable else np.broadcast_to(x.copy() if is_shared else x,
                                                               (*loops, *x.shape[x.ndim - len(core):]))
                for k, (x, core) in enumerate(zip(arrays, layout.inputs))] + results
    are_numbers = [*are_numbers, *[False] * len(results)]                 # the kernel sees others as arrays of length 1
    operands = [x if core or is_number else x[..., np.newaxis]
                for x, core, is_number in zip(operands, cores, are_numbers)]
    for place in np.ndindex(*loops):
        function(*[x[place] for x in operands])
    if axis is not None:
        results = [np.moveaxis(y, -1, axis) if core else y for y, core in zip(results, layout.outputs)]
    results = [y if y.ndim else y[()] for y in results]
    return results[0] if len(results) == 1 else tuple(results)


class Neighbours:
    """An array as the kernel of numba.stencil reads it: subscripts are relative to a point."""

    def __init__(self, array: AnyArray, point: tuple):
        self.array, self.point = array, point

    def __getitem__(self, offsets: "int | tuple") -> ArrayOrNumber:
        offsets = offsets if isinstance(offsets, tuple) else (offsets,)
        return self.array[tuple([p + n for p, n in zip(self.point, offsets)])]


def over_points(kernel: Callable, are_relative: tuple, spans: tuple, border: object, *args: AnyArray,
                out: "np.ndarray | None" = None) -> AnyArray:
    """A call of a function by numba.stencil: `kernel` at each point whose neighbours all lie in the first array, and
    `border` at the others. spans: the least and the largest offset along each axis.
    """
    def at(point: tuple) -> ArrayOrNumber:
        return kernel(*[Neighbours(x, point) if is_one else x for x, is_one in zip(args, are_relative)])
    shape = args[0].shape
    low = [max(0, -least) for least, _ in spans]
    high = [n - max(0, most) for n, (_, most) in zip(shape, spans)]
    is_empty = any(last <= first for first, last in zip(low, high))
    if out is None:
        kind = np.float64 if is_empty else np.asarray(at(tuple(low))).dtype
        out = np.full(shape, 0 if border is None else border, kind)
    elif border is not None:
        out[...] = border

    def fill(point: tuple) -> None:
        axis = len(point)
        if axis == len(spans):
            out[point] = at(point)
        else:
            for k in range(low[axis], high[axis]):
                fill((*point, k))
    if not is_empty:
        fill(())
    return out
