"""Transforms (grad, vjp, jvp, jacobian, ...) of functions of tensors that cannot be traced: the function runs on
tensors, and their graph or their tangents give the derivative.

An argument is replaced by an alias of it, so that a derivative is of this call alone. A result keeps its
graph where this leads to anything but the aliases: an outer transform, or the caller's own tensors.
"""
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ...api.derivatives.derivative import grad, value_and_grad
from ...api.derivatives.jacobian import hessian, jacfwd, jacobian, jacrev
from ...api.derivatives.products import _hvp_of, _jvp_of, _linearize_of, _vhp_of, _vjp_of
from ...util import tree
from ...util.array import AnyArray
from ..engine import grad_api
from ..engine.differences import units_like
from ..engine.forward_ad import dual_level, make_dual, unpack_dual
from ..functions.joining import stack
from ..graph.inplace import requires_grad
from ..graph.view_kinds import alias_view
from ..graph.views import tangent_of
from ..tensors.state import changed, now
from ..tensors.tensor import Tensor, as_tensor, dense, is_continuous, is_floating, wrap


def _tensor(x: AnyArray) -> Tensor:
    t = as_tensor(x)
    if not is_floating(t._a.dtype):
        raise TypeError("a derivative is taken with respect to real or complex numbers only")
    return t


class Moved:
    """The arguments of a call, with aliases in place of the leaves that a derivative is taken with respect to."""

    def __init__(self, args: tuple, argnums: object):
        self.is_recorded = now().grad
        self.several = isinstance(argnums, (tuple, list))
        chosen = argnums if self.several else (argnums,)
        self.flat = [tree.flatten(args[k]) for k in chosen]
        with changed(grad=True):
            rows = [[alias_view(_tensor(x)) for x in leaves] for leaves, _ in self.flat]
        self.leaves = [x if requires_grad(x) else x.requires_grad_() for row in rows for x in row]
        new = list(args)
        for k, row, (_, structure) in zip(chosen, rows, self.flat):
            new[k] = structure.unflatten(row)
        self.args = tuple(new)

    def structured(self, leaves: Sequence) -> Any:
        """A value for each leaf, as the chosen arguments are structured."""
        parts = self.filled(leaves)
        return parts if self.several else parts[0]

    def filled(self, leaves: Iterable) -> tuple:
        """The chosen arguments, with these leaves."""
        rest = iter(leaves)
        return tuple([structure.unflatten([next(rest) for _ in old]) for old, structure in self.flat])

    def gradients(self, ys: Sequence, gs: Sequence) -> list:
        """The gradient of each leaf, zeros where there is no dependence."""
        pairs = [(y, g) for y, g in zip(ys, gs) if requires_grad(y)]
        found = [None] * len(self.leaves) if not pairs else grad_api.grad(
            [y for y, _ in pairs], self.leaves, [g for _, g in pairs], create_graph=True, allow_unused=True)
        return list(map(dense, found, self.leaves))

    def finished(self, result: object) -> Any:
        """A result with its graph, or without it where the graph leads to the aliases alone."""
        return tree.map_leaves(lambda y: y.detach() if isinstance(y, Tensor) and requires_grad(y) and not (
            self.is_recorded and self._leads_on(y)) else y, result)

    def _leads_on(self, y: Tensor) -> bool:
        own, seen, ahead = {id(x) for x in self.leaves}, set(), [y.grad_fn]
        if y.grad_fn is None:
            return id(y) not in own
        while ahead:
            node = ahead.pop()
            if node is None or id(node) in seen:
                continue
            seen.add(id(node))
            if hasattr(node, "variable") and id(node.variable) not in own:
                return True
            ahead += [following for following, _ in node.next_functions]
        return False


def _outputs(value: AnyArray) -> "tuple[list, tree.Structure]":
    leaves, structure = tree.flatten(value)
    return [_tensor(y) if isinstance(y, (float, complex, np.ndarray, np.generic)) else y for y in leaves], structure


def _moving(ys: Sequence) -> list:
    return list(filter(is_continuous, ys))


def _graded(f: Callable, argnums: object = 0, *, has_aux: bool = False, value_too: bool = True,
            **_: object) -> Callable:
    def call(*args: object, **kwargs: object) -> Any:
        moved = Moved(args, argnums)
        with changed(grad=True):
            result = f(*moved.args, **kwargs)
            value = _tensor(result[0] if has_aux else result)
            if value._a.ndim or value._a.dtype.kind != "f":
                raise TypeError(f"a gradient is of one real number, not of a tensor of shape {tuple(value.shape)}")
            g = moved.structured(moved.gradients([value], [wrap(np.ones_like(value._a))]))
        value, aux = moved.finished((value, result[1] if has_aux else None))
        g = moved.finished(g)
        if not value_too:
            return (g, aux) if has_aux else g
        return ((value, aux), g) if has_aux else (value, g)
    return call


def _pulled(f: Callable, has_aux: bool, *_: object) -> Callable:
    def call(*primals: object) -> tuple:
        moved = Moved(primals, tuple(range(len(primals))))
        with changed(grad=True):
            result = f(*moved.args)
        ys, structure = _outputs(result[0] if has_aux else result)

        def pullback(cotangent: object) -> tuple:
            gs = list(map(as_tensor, tree.flatten(cotangent)[0]))
            with changed(grad=True):
                found = moved.gradients(_moving(ys), gs)
            return moved.finished(moved.structured(found))
        first = moved.finished((structure.unflatten(ys), *result[1:])) if has_aux else moved.finished(
            (structure.unflatten(ys),))
        return first, pullback
    return call


def _pushed(f: Callable, has_aux: bool = False, *_: object) -> Callable:
    def call(primals: tuple, tangents: tuple) -> tuple:
        moved = Moved(primals, tuple(range(len(primals))))
        ds = [_tensor(d) for d in tree.flatten(tangents)[0]]
        if [d.shape for d in ds] != [x.shape for x in moved.leaves]:
            raise TypeError("a tangent has the shape of its argument")
        result, ys, dys = (_by_tangents if now().dual_level < 0 else _by_pulling_twice)(f, moved, ds, has_aux)
        structure = tree.flatten(result[0] if has_aux else result)[1]
        found = structure.unflatten(ys), structure.unflatten(dys), *(result[1:] if has_aux else ())
        return moved.finished(found)
    return call


def _by_tangents(f: Callable, moved: Moved, ds: list, has_aux: bool) -> tuple:
    with changed(grad=True), dual_level():
        result = f(*moved.filled(map(make_dual, moved.leaves, ds)))
        ys, _ = _outputs(result[0] if has_aux else result)
        return result, [_primal(y) for y in ys], [_tangent(y) for y in ys]


def _primal(y: AnyArray) -> AnyArray:
    return unpack_dual(y).primal if isinstance(y, Tensor) and tangent_of(y) is not None else y


def _tangent(y: AnyArray) -> "Tensor | None":
    dy = tangent_of(y) if isinstance(y, Tensor) else None
    return wrap(np.zeros_like(y._a)) if dy is None and isinstance(y, Tensor) else dy


def _by_pulling_twice(f: Callable, moved: Moved, ds: list, has_aux: bool) -> tuple:
    """J d, as the derivative of u: J* u, which is linear. Tangents of an outer transform stay what they are."""
    with changed(grad=True, pulling_twice=True):
        result = f(*moved.args)
        ys, _ = _outputs(result[0] if has_aux else result)
        us = [wrap(np.zeros_like(y._a)).requires_grad_() for y in _moving(ys)]
        pulled = [(g, d) for g, d in zip(moved.gradients(_moving(ys), us), ds) if requires_grad(g)]
        found = [None] * len(us) if not pulled else grad_api.grad(
            [g for g, _ in pulled], us, [d for _, d in pulled], create_graph=True, allow_unused=True)
        rest = map(dense, found, us)
        return result, ys, [next(rest) if _moving([y]) else _tangent(y) for y in ys]


def _linearized(f: Callable, *_: object) -> Callable:
    def call(*primals: object) -> tuple:
        push = _pushed(f)
        value, _ = push(primals, tree.map_leaves(lambda x: wrap(np.zeros_like(_tensor(x)._a)), primals))
        return value, lambda tangents: push(primals, tangents)[1]
    return call


def _jacobian(f: Callable, argnums: object = 0, *, has_aux: bool = False, holomorphic: bool = False,
              **_: object) -> Callable:
    def call(*args: object, **kwargs: object) -> AnyArray:
        moved = Moved(args, argnums)
        with changed(grad=True):
            result = f(*moved.args, **kwargs)
            ys, structure = _outputs(result[0] if has_aux else result)
            _check_real(ys, moved.leaves)
            blocks = structure.unflatten([moved.structured(_rows(moved, y)) for y in ys])
        return moved.finished((blocks, *result[1:]) if has_aux else blocks)
    return call


def _check_real(ys: list, xs: list) -> None:
    if any(t._a.dtype.kind != "f" for t in (*_moving(ys), *xs)) or len(_moving(ys)) < len(ys):
        raise TypeError("a Jacobian on tensors is of real functions")


def _rows(moved: Moved, y: Tensor) -> list:
    """The block of an output and each leaf, a row for each of its numbers."""
    rows = [moved.gradients([y], [wrap(unit)]) for unit in units_like(y._a)]
    columns = list(zip(*rows)) if rows else [()] * len(moved.leaves)
    shapes = [(*y._a.shape, *x._a.shape) for x in moved.leaves]
    return [stack(list(column)).reshape(shape) if column else wrap(np.zeros(shape, x._a.dtype))
            for column, shape, x in zip(columns, shapes, moved.leaves)]


def by_columns(f: Callable, argnums: object = 0, *, has_aux: bool = False, of_complex: bool = False,
               **_: object) -> Callable:
    """The Jacobian column by column, by tangents: modes that record nothing do not stop these."""
    def call(*args: object, **kwargs: object) -> Any:
        moved = Moved(args, argnums)
        chosen = argnums if moved.several else (argnums,)

        def of_chosen(*given: object) -> Any:
            return f(*[given[chosen.index(k)] if k in chosen else x for k, x in enumerate(args)], **kwargs)
        push, xs = _pushed(of_chosen, has_aux), moved.leaves
        columns: list = []
        for place, x in enumerate(xs):
            for unit in units_like(x._a):
                ds = [wrap(unit if k == place else np.zeros_like(other._a)) for k, other in enumerate(xs)]
                columns.append(push(tuple([args[k] for k in chosen]), moved.filled(ds)))
        if not columns:
            return _jacobian(f, argnums, has_aux=has_aux)(*args, **kwargs)
        ys, structure = _outputs(columns[0][0])
        if not of_complex:
            _check_real(ys, xs)
        parts = [tree.flatten(column[1])[0] for column in columns]
        ends = np.cumsum([x._a.size for x in xs])
        blocks = structure.unflatten([moved.structured([
            stack([row[k] for row in parts[end - x._a.size:end]], -1).reshape(*y.shape, *x.shape) if x._a.size else
            wrap(np.zeros((*y.shape, *x.shape), x._a.dtype)) for end, x in zip(ends, xs)]) for k, y in enumerate(ys)])
        return (blocks, *columns[0][2:]) if has_aux else blocks
    return call


def _hessian(f: Callable, argnums: object = 0, **_: object) -> Callable:
    return _jacobian(grad(f, argnums), argnums)


def _hessian_product(f: Callable, *_: object) -> Callable:
    def call(x: object, v: object, *args: object) -> Any:
        return _pulled(lambda x: grad(f)(x, *args), False)(x)[1](v)[0]
    return call


ON_TENSORS: dict[Callable, Callable] = {
    grad: lambda f, *args, **options: _graded(f, *args, value_too=False, **options), value_and_grad: _graded,
    _vjp_of: _pulled, _jvp_of: _pushed, _linearize_of: _linearized, jacobian: _jacobian, jacrev: _jacobian,
    jacfwd: by_columns, hessian: _hessian, _hvp_of: _hessian_product, _vhp_of: _hessian_product}
