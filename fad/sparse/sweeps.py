"""The two programs behind a sparse derivative: sweeps of bit sets find its pattern, and compressed sweeps find its
entries.

Both take flat arguments, arrays first, then the user's own, so that they are called as quickly as any other transform.
"""
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..api.calls.nested import Inner, check_scalar
from ..api.calls.staged import Staged
from ..api.derivatives.products import gradients_of
from ..ir.build import building
from ..ir.op import registry
from ..ir.types import Type, type_of
from ..ops.extents import product
from ..ops.kinds import shape_of
from ..transforms.dependence import propagate
from ..transforms.jvp import push_forward
from ..transforms.vjp import pull_back
from ..transforms.vmap import batch
from ..util.array import AnyArray
from ..util.errors import ArgumentError


class What(NamedTuple):
    """The differentiated function, or its gradient, and with respect to which arguments."""

    is_hessian: bool
    chosen: tuple

    def inner(self, f: Callable, args: tuple, kwargs: dict) -> Inner:
        """The program whose Jacobian is asked for."""
        if not self.is_hessian:
            inner = Inner(f, args, kwargs, self.chosen)
        else:
            check_scalar(Inner(f, args, kwargs, self.chosen), "fad.sparse.hessian", "fad.sparse.jacobian")
            inner = Inner(gradients_of(f, "fad.sparse.hessian", self.chosen), args, kwargs, self.chosen)
        kinds = ({type_of(inner.args[k]).dtype.kind for k in inner.wanted}
                 | {a.type.dtype.kind for a in inner.func.outputs[:inner.results]})
        if "c" in kinds:
            raise ArgumentError("a sparse derivative of complex numbers",
                                why="only real arguments and results are taken here",
                                do="split them into real and imaginary parts, or use fad.jacobian(..., "
                                   "holomorphic=True)")
        return inner


def sets_of(f: Callable, what: What, leaves: int) -> Staged:
    """(bit sets of each leaf that is differentiated..., *args) -> bit sets of each result; all of them raveled."""
    def body(*values: object, **kwargs: object) -> Any:
        inner = what.inner(f, values[leaves:], kwargs)
        seeds = {k: _shaped(s, inner.args[k]) for k, s in zip(inner.wanted, values[:leaves])}
        return [_raveled(s) for s in propagate(inner.func, inner.args, seeds)[:inner.results]]
    return Staged(body, f, rebuild=(sets_of, (f, what, leaves), {}), fallback=False)


def entries_of(f: Callable, what: What, leaves: int, results: int, reverse: bool, policy: "str | None") -> Staged:
    """(numbers, colours of each leaf..., places in each result..., *args) -> for each result the entries at those
    places.

    The program computes the sums of columns for all colours, one row per colour; places are those in this matrix,
    raveled. In reverse mode the colours are those of the results' elements, and the places those in the sums of rows
    for each leaf. numbers: 0, 1, ..., one per colour.
    """
    seeded, read = (results, leaves) if reverse else (leaves, results)

    def body(numbers: object, *values: object, **kwargs: object) -> Any:
        colours, places = values[:seeded], values[seeded:seeded + read]
        inner = what.inner(f, values[seeded + read:], kwargs)
        sweep = _reverse if reverse else _forward
        return [_picked(part, at) for part, at in zip(sweep(inner, numbers, colours), places)]
    return Staged(body, f, rebuild=(entries_of, (f, what, leaves, results, reverse, policy), {}), compile=policy,
                  fallback=False)


def _shaped(flat: object, x: object) -> AnyArray:
    return registry["reshape"](flat, *shape_of(x))


def _raveled(x: object) -> AnyArray:
    return registry["reshape"](x, product(shape_of(x)))


def _seeds(numbers: object, colours: object, x: object) -> AnyArray:
    """For each colour the indicator of those elements of x that have it."""
    n, rank = shape_of(numbers)[0], len(shape_of(x))
    mine = registry["equal"](registry["reshape"](numbers, n, *[1] * rank), _shaped(colours, x))
    return registry["cast"](mine, dtype=type_of(x).dtype)


def _forward(inner: Inner, numbers: object, colours: Sequence) -> list:
    xs = [inner.args[k] for k in inner.wanted]

    def push(dxs: list) -> list:
        tangents: list = [None] * len(inner.args)
        for k, dx in zip(inner.wanted, dxs):
            tangents[k] = dx
        ys, dys = push_forward(inner.func, inner.args, tangents)
        return [_like(dy, y) for y, dy in zip(ys[:inner.results], dys)]
    return _batched(push, xs, numbers, colours)


def _reverse(inner: Inner, numbers: object, colours: Sequence) -> list:
    ys, pull = pull_back(inner.func, inner.args, inner.wanted)
    xs, floats = [inner.args[k] for k in inner.wanted], [y.dtype.kind in "fc" for y in ys[:inner.results]]

    def back(gs: list) -> list:
        given = iter(gs)
        cotangents = [next(given) if is_float else None for is_float in floats]
        return [_like(gx, x) for x, gx in zip(xs, pull(inner.pad(cotangents)))]
    results = [y for y, is_float in zip(ys, floats) if is_float]
    return _batched(back, results, numbers, [c for c, is_float in zip(colours, floats) if is_float])


def _like(d: object, x: object) -> Any:
    """A tangent or cotangent of x; zeros for None."""
    if d is not None:
        return d
    dtype = type_of(x).dtype if type_of(x).dtype.kind == "f" else np.dtype(float)
    return registry["full"](0, *shape_of(x), dtype=dtype) if shape_of(x) else dtype.type(0)


def _batched(sweep: Callable, xs: Sequence, numbers: object, colours: Sequence) -> list:
    """The sweep over the seeds of all colours at once."""
    with building("sweep", region=True) as builder:
        seeds = [builder.input(Type(type_of(x).dtype, type_of(x).shape)) for x in xs]
        func = builder.finish(tuple(sweep(seeds)))
    given = [_seeds(numbers, c, x) for x, c in zip(xs, colours)]
    return batch(func, given, [True] * len(xs), shape_of(numbers)[0])


def _picked(products: object, places: object) -> AnyArray:
    return registry["index"](_raveled(products), places, spec=("a",), at=0)
