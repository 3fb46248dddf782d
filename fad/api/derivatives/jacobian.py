"""Jacobians and Hessians: reverse or forward mode, all rows or columns of a basis at once."""
from collections.abc import Callable, Sequence
from typing import Any, overload

from ...ir.types import type_of
from ...transforms.custom import is_reverse_only
from ...util import tree
from ...util.keywords import named_as_here
from ..calls.nested import Inner
from ..calls.signatures import Argnums, Memory, P, R
from ..calls.staged import Staged, as_tuple, check_callable, policy, within
from .jacobian_blocks import Columns, jacobian_body
from .products import gradients_of


@overload
def jacobian(f: Callable[P, Any], argnums: Argnums = ..., *,
             has_aux: bool = ..., holomorphic: bool = ..., memory: Memory = ...,
             fallback: bool | None = ...,
             compile: str | None = ...) -> Callable[P, Any]: ...
@overload
def jacobian(f: None = ..., argnums: Argnums = ..., *,
             has_aux: bool = ..., holomorphic: bool = ..., memory: Memory = ...,
             fallback: bool | None = ...,
             compile: str | None = ...) -> Callable[[Callable[P, R]], Callable[P, Any]]: ...
@named_as_here
def jacobian(f: "Callable | None" = None, argnums: "int | Sequence[int]" = 0, *, has_aux: bool = False,
             holomorphic: bool = False, memory: "int | str | None" = None, fallback: "bool | None" = None,
             compile: "str | None" = None) -> Any:
    """Return a function that computes the Jacobian of `f`.

    fad chooses the mode: reverse mode if `f` has fewer results than arguments, forward mode otherwise.

    Parameters
    ----------
    f : callable
        The function to differentiate. Its arguments are numbers, arrays, or structures of them (lists, tuples,
        dictionaries, dataclasses and registered classes). It returns arrays.
    argnums : int or sequence of int, optional
        The position of the argument to differentiate with respect to. The default is 0, the first argument.
        For a sequence, the result is a tuple with one derivative for each position.
    has_aux : bool, optional
        Whether `f` returns a pair ``(value, aux)``. Only `value` is differentiated. The result is then ``(jacobian,
        aux)``.
    holomorphic : bool, optional
        Whether `f` is complex differentiable. The result is then the complex derivative.
    memory : int or str, optional
        The bytes that loops may take for saved values, such as ``"200MB"``. fad computes again what does not fit.
    fallback : bool, optional
        What happens if `f` cannot be compiled, because its structure depends on data. If True, `f` runs step by step on
        the tape, with a `FallbackWarning`. If False, fad raises an error. The default is ``fad.config.fallback``.
    compile : {"auto", "now", "never"}, optional
        When to compile, as for `jit`. The default is ``fad.config.compile``.

    Returns
    -------
    callable
        A function of the same arguments as `f`. For a result of shape ``y.shape`` and an argument of shape
        ``x.shape``, it returns an array of shape ``y.shape + x.shape``. For structures it returns a structure of
        structures, with the results outside.

    Raises
    ------
    IntegerArgumentError
        If the chosen argument holds integers or booleans. It is a `TypeError`.
    ArgumentError
        If arguments and results are complex and `holomorphic` is False. It is a `TypeError` and a `ValueError`.

    See Also
    --------
    jacfwd, jacrev : Choose the mode yourself.
    vjp, jvp : Compute products with the Jacobian, without the Jacobian.

    Examples
    --------
    >>> import numpy as np
    >>> import fad
    >>> fad.jacobian(lambda x: x ** 2)(np.array([1.0, 2.0]))
    array([[2., 0.],
           [0., 4.]])
    """
    if f is None:
        return lambda g: jacobian(g, argnums, has_aux=has_aux, holomorphic=holomorphic, memory=memory,
                                  fallback=fallback, compile=compile)
    return _staged(jacobian, f, argnums, has_aux, holomorphic, _choose, memory, fallback, compile)


@overload
def jacrev(f: Callable[P, Any], argnums: Argnums = ..., *,
           has_aux: bool = ..., holomorphic: bool = ..., memory: Memory = ...,
           fallback: bool | None = ...) -> Callable[P, Any]: ...
@overload
def jacrev(f: None = ..., argnums: Argnums = ..., *,
           has_aux: bool = ..., holomorphic: bool = ..., memory: Memory = ...,
           fallback: bool | None = ...) -> Callable[[Callable[P, R]], Callable[P, Any]]: ...
@named_as_here
def jacrev(f: "Callable | None" = None, argnums: "int | Sequence[int]" = 0, *, has_aux: bool = False,
           holomorphic: bool = False, memory: "int | str | None" = None, fallback: "bool | None" = None) -> Any:
    """Return a function that computes the Jacobian of `f` in reverse mode.

    Reverse mode computes all rows in one batched reverse sweep. It is the right choice for few results and many
    arguments.

    Parameters
    ----------
    f : callable
        The function to differentiate. Its arguments are numbers, arrays, or structures of them (lists, tuples,
        dictionaries, dataclasses and registered classes). It returns arrays.
    argnums : int or sequence of int, optional
        The position of the argument to differentiate with respect to. The default is 0, the first argument.
        For a sequence, the result is a tuple with one derivative for each position.
    has_aux : bool, optional
        Whether `f` returns a pair ``(value, aux)``. Only `value` is differentiated. The result is then ``(jacobian,
        aux)``.
    holomorphic : bool, optional
        Whether `f` is complex differentiable. The result is then the complex derivative.
    memory : int or str, optional
        The bytes that loops may take for saved values, such as ``"200MB"``. fad computes again what does not fit.
    fallback : bool, optional
        What happens if `f` cannot be compiled, because its structure depends on data. If True, `f` runs step by step on
        the tape, with a `FallbackWarning`. If False, fad raises an error. The default is ``fad.config.fallback``.

    Returns
    -------
    callable
        A function of the same arguments as `f`. For a result of shape ``y.shape`` and an argument of shape
        ``x.shape``, it returns an array of shape ``y.shape + x.shape``. For structures it returns a structure of
        structures, with the results outside.

    See Also
    --------
    jacobian : Let fad choose the mode; it lists the errors.

    Examples
    --------
    >>> import numpy as np
    >>> import fad
    >>> fad.jacrev(lambda x: np.array([x @ x, x[0]]))(np.array([1.0, 2.0]))
    array([[2., 4.],
           [1., 0.]])
    """
    if f is None:
        return lambda g: jacrev(g, argnums, has_aux=has_aux, holomorphic=holomorphic, memory=memory, fallback=fallback)
    return _staged(jacrev, f, argnums, has_aux, holomorphic, lambda inner: True, memory, fallback)


@overload
def jacfwd(f: Callable[P, Any], argnums: Argnums = ..., *,
           has_aux: bool = ..., holomorphic: bool = ..., fallback: bool | None = ...) -> Callable[P, Any]: ...
@overload
def jacfwd(f: None = ..., argnums: Argnums = ..., *,
           has_aux: bool = ..., holomorphic: bool = ...,
           fallback: bool | None = ...) -> Callable[[Callable[P, R]], Callable[P, Any]]: ...
@named_as_here
def jacfwd(f: "Callable | None" = None, argnums: "int | Sequence[int]" = 0, *, has_aux: bool = False,
           holomorphic: bool = False, fallback: "bool | None" = None) -> Any:
    """Return a function that computes the Jacobian of `f` in forward mode.

    Forward mode computes all columns in one batched sweep. It saves nothing, and it is the right choice for few
    arguments and many results.

    Parameters
    ----------
    f : callable
        The function to differentiate. Its arguments are numbers, arrays, or structures of them (lists, tuples,
        dictionaries, dataclasses and registered classes). It returns arrays.
    argnums : int or sequence of int, optional
        The position of the argument to differentiate with respect to. The default is 0, the first argument.
        For a sequence, the result is a tuple with one derivative for each position.
    has_aux : bool, optional
        Whether `f` returns a pair ``(value, aux)``. Only `value` is differentiated. The result is then ``(jacobian,
        aux)``.
    holomorphic : bool, optional
        Whether `f` is complex differentiable. The result is then the complex derivative.
    fallback : bool, optional
        What happens if `f` cannot be compiled, because its structure depends on data. If True, `f` runs step by step on
        the tape, with a `FallbackWarning`. If False, fad raises an error. The default is ``fad.config.fallback``.

    Returns
    -------
    callable
        A function of the same arguments as `f`. For a result of shape ``y.shape`` and an argument of shape
        ``x.shape``, it returns an array of shape ``y.shape + x.shape``. For structures it returns a structure of
        structures, with the results outside.

    See Also
    --------
    jacobian : Let fad choose the mode; it lists the errors.

    Examples
    --------
    >>> import numpy as np
    >>> import fad
    >>> fad.jacfwd(lambda t: np.array([t, t ** 2, t ** 3]))(2.0)
    array([ 1.,  4., 12.])
    """
    if f is None:
        return lambda g: jacfwd(g, argnums, has_aux=has_aux, holomorphic=holomorphic, fallback=fallback)
    return _staged(jacfwd, f, argnums, has_aux, holomorphic, lambda inner: False, None, fallback)


@overload
def hessian(f: Callable[P, Any], argnums: Argnums = ..., *,
            memory: Memory = ..., fallback: bool | None = ...,
            compile: str | None = ...) -> Callable[P, Any]: ...
@overload
def hessian(f: None = ..., argnums: Argnums = ..., *,
            memory: Memory = ..., fallback: bool | None = ...,
            compile: str | None = ...) -> Callable[[Callable[P, R]], Callable[P, Any]]: ...
@named_as_here
def hessian(f: "Callable | None" = None, argnums: "int | Sequence[int]" = 0, *, memory: "int | str | None" = None,
            fallback: "bool | None" = None,
            compile: "str | None" = None) -> Any:
    """Return a function that computes the Hessian of `f`.

    Parameters
    ----------
    f : callable
        The function to differentiate. Its arguments are numbers, arrays, or structures of them (lists, tuples,
        dictionaries, dataclasses and registered classes). It returns one real number.
    argnums : int or sequence of int, optional
        The position of the argument to differentiate with respect to. The default is 0, the first argument.
        For a sequence, the result is a tuple with one derivative for each position.
    memory : int or str, optional
        The bytes that loops may take for saved values, such as ``"200MB"``. fad computes again what does not fit. The
        budget holds for the gradient of each column.
    fallback : bool, optional
        What happens if `f` cannot be compiled, because its structure depends on data. If True, `f` runs step by step on
        the tape, with a `FallbackWarning`. If False, fad raises an error. The default is ``fad.config.fallback``.
    compile : {"auto", "now", "never"}, optional
        When to compile, as for `jit`. The default is ``fad.config.compile``.

    Returns
    -------
    callable
        A function of the same arguments as `f`. It returns an array of shape ``x.shape + x.shape``; for structures, a
        structure of structures; for several `argnums`, a tuple of tuples.

    Raises
    ------
    NotScalarError
        If `f` does not return one real number. It is a `TypeError`.
    IntegerArgumentError
        If the chosen argument holds integers or booleans. It is a `TypeError`.

    See Also
    --------
    hvp : Multiply the Hessian with a vector, without the Hessian.

    Notes
    -----
    fad computes the Hessian in forward mode over the gradient [1]_. It takes reverse mode over the gradient if a
    `custom_vjp` in `f` has no forward mode.

    References
    ----------
    .. [1] A. Griewank and A. Walther, *Evaluating Derivatives*, 2nd edition, SIAM, 2008, chapter 5.

    Examples
    --------
    >>> import numpy as np
    >>> import fad
    >>> fad.hessian(lambda x: np.sum(x ** 3))(np.array([1.0, 2.0]))
    array([[ 6.,  0.],
           [ 0., 12.]])
    """
    if f is None:
        return lambda g: hessian(g, argnums, memory=memory, fallback=fallback, compile=compile)
    check_callable(f, "hessian")
    chosen = as_tuple(argnums)
    several = isinstance(argnums, (tuple, list))

    def body(*args: object, **kwargs: object) -> Any:
        rows = jacobian_body(gradients_of(f, "fad.hessian", chosen), args, kwargs, chosen, False,
                             lambda inner: is_reverse_only(inner.func))
        return _map_blocks(rows, tuple) if several else _map_blocks(rows[0], lambda columns: columns[0])
    options = {"memory": memory, "fallback": fallback, **policy(compile)}
    return Staged(within(memory, body), f, rebuild=(hessian, (f, argnums), options), fallback=fallback, compile=compile)


def _map_blocks(row: object, f: Callable) -> Any:
    leaves, structure = tree.flatten(row, is_leaf=lambda node: isinstance(node, Columns))
    return structure.unflatten([f(leaf) if isinstance(leaf, Columns) else leaf for leaf in leaves])


def _staged(make: Callable, f: Callable, argnums: object, has_aux: bool, holomorphic: bool, reverse: Callable,
            memory: object, fallback: "bool | None", compile: "str | None" = None) -> Staged:
    check_callable(f, make.__name__)
    chosen = as_tuple(argnums)
    several = isinstance(argnums, (tuple, list))

    def body(*args: object, **kwargs: object) -> Any:
        blocks = jacobian_body(f, args, kwargs, chosen, holomorphic, reverse, has_aux, f"fad.{make.__name__}")
        return _map_blocks(blocks, tuple if several else lambda columns: columns[0])
    options = ({"has_aux": has_aux, "holomorphic": holomorphic, "fallback": fallback, **policy(compile)}
               | ({} if memory is None else {"memory": memory}))
    return Staged(within(memory, body), f, rebuild=(make, (f, argnums), options), fallback=fallback, compile=compile)


def _choose(inner: Inner) -> bool:
    """Whether reverse mode needs the fewer sweeps, or is the only one."""
    if is_reverse_only(inner.func):
        return True
    results = sum(_count(a.type.shape) for a in inner.func.outputs[:inner.results])
    arguments = sum(_count(type_of(inner.args[k]).shape) for k in inner.wanted)
    return results < arguments


def _count(shape: tuple) -> int:
    total = 1
    for n in shape:
        size = n if isinstance(n, int) else n.hint
        total *= 10 if size is None else size
    return total
