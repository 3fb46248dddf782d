"""Products with derivatives: vjp, jvp, linearize, hvp, vhp."""
from collections.abc import Callable, Sequence
from typing import Any

from ...ir import stack
from ...ir.graph import silent
from ...ir.walk import evaluate
from ...transforms.custom import is_reverse_only, uses_its_inputs
from ...transforms.jvp import push_forward
from ...transforms.vjp import pull_back
from ...util import tree
from ...util.errors import ArgumentError, NoDerivativeError, StructureError
from ...util.keywords import named_as_here
from ..calls.leaves import of_its_own
from ..calls.nested import Inner, check_scalar, conform, gradient_tree, seed_of, tangent_zeros, zeros_of
from ..calls.staged import Staged, check_callable, within
from ..calls.transform_cache import remembered
from .pullback import TwoStep, later_tree


@named_as_here
def jvp(f: Callable, primals: Sequence, tangents: Sequence, *, has_aux: bool = False,
        fallback: "bool | None" = None) -> tuple:
    """Compute `f` and its derivative in one direction (forward mode).

    Parameters
    ----------
    f : callable
        The function to differentiate.
    primals : sequence
        The arguments of `f`.
    tangents : sequence
        The direction: one tangent for each argument, with the shape and structure of that argument.
    has_aux : bool, optional
        Whether `f` returns a pair ``(value, aux)``. Only `value` is differentiated. The result is then ``(value,
        tangent, aux)``.
    fallback : bool, optional
        What happens if `f` cannot be compiled, because its structure depends on data. If True, `f` runs step by step on
        the tape, with a `FallbackWarning`. If False, fad raises an error. The default is ``fad.config.fallback``.

    Returns
    -------
    tuple
        ``(value, tangent)``, each with the structure of the result of `f`. Integer results have a zero tangent of
        floating dtype.

    Raises
    ------
    StructureError
        If primals and tangents differ in structure. It is a `TypeError` and a `ValueError`.
    CotangentShapeError
        If a tangent has another shape than its primal. It is a `ValueError`.

    See Also
    --------
    linearize : Push many tangents through the same point.
    vjp : The transposed product.

    Examples
    --------
    >>> import fad
    >>> value, slope = fad.jvp(lambda x: x ** 2, (3.0,), (1.0,))
    >>> float(value), float(slope)
    (9.0, 6.0)
    """
    if (not isinstance(primals, (tuple, list)) or not isinstance(tangents, (tuple, list))
            or len(primals) != len(tangents)):
        raise ArgumentError("jvp takes a tuple of primals and a tuple of as many tangents",
                            do="write fad.jvp(f, (x,), (dx,)) for one argument")
    return _jvp_of(check_callable(f, "jvp"), has_aux, fallback)(tuple(primals), tuple(tangents))


@remembered
def _jvp_of(f: Callable, has_aux: bool, fallback: "bool | None") -> Staged:
    def body(primals: tuple, tangents: tuple) -> Any:
        inner = Inner(f, primals, None, range(len(primals)))
        dxs = aligned_tangents(inner, primals, tangents)
        ys, dys = push_forward(inner.func, inner.args, dxs)
        value, tangent = inner.tree_of(ys), tangent_tree(inner, ys, dys)
        if not has_aux:
            return value, tangent
        if not isinstance(value, tuple) or len(value) != 2:
            raise StructureError("with has_aux=True the function must return a pair (value, aux)",
                                 do="return (value, aux), or leave has_aux out")
        return value[0], tangent[0], value[1]
    return Staged(body, f, rebuild=(_jvp_of, (f, has_aux, fallback), {}), fallback=fallback)


def aligned_tangents(inner: Inner, primals: tuple, tangents: tuple) -> list:
    """A tangent for each input of the traced Func, each fitting it."""
    dxs: list = [None] * len(inner.args)
    given = [d for d in conform("tangent", tangents, primals) if d is not None]
    for k, d in zip(inner.wanted, given):
        dxs[k] = d
    return dxs


def tangent_tree(inner: Inner, ys: Sequence, dys: Sequence) -> Any:
    """The tangents in the structure of the result, zeros where the derivative is zero."""
    full = [tangent_zeros(y) if dy is None else dy for y, dy in zip(ys, dys)]
    return inner.tree_of(full)


@named_as_here
def vjp(f: Callable, *primals: object, has_aux: bool = False, memory: "int | str | None" = None,
        fallback: "bool | None" = None) -> tuple:
    """Compute `f` and return its pullback (reverse mode).

    The forward sweep runs once. Call the pullback as often as you like.

    Parameters
    ----------
    f : callable
        The function to differentiate.
    *primals
        The arguments of `f`.
    has_aux : bool, optional
        Whether `f` returns a pair ``(value, aux)``. Only `value` is differentiated. The result is then ``(value,
        pullback, aux)``.
    memory : int or str, optional
        The bytes that loops may take for saved values, such as ``"200MB"``. fad computes again what does not fit.
    fallback : bool, optional
        What happens if `f` cannot be compiled, because its structure depends on data. If True, `f` runs step by step on
        the tape, with a `FallbackWarning`. If False, fad raises an error. The default is ``fad.config.fallback``.

    Returns
    -------
    value
        The result of `f`.
    pullback : callable
        A function that takes a cotangent with the shape and structure of `value`. It returns a tuple with one cotangent
        for each argument.

    Raises
    ------
    IntegerArgumentError
        If an argument holds integers or booleans. It is a `TypeError`.
    CotangentShapeError
        If the pullback gets a cotangent of another shape than `value`. It is a `ValueError`.

    See Also
    --------
    grad : The gradient of a function that returns one number.
    jvp : The transposed product.

    Notes
    -----
    For a complex function, cotangents are conjugate Wirtinger derivatives.

    Examples
    --------
    >>> import fad
    >>> value, pullback = fad.vjp(lambda x, y: x * y, 2.0, 3.0)
    >>> [float(g) for g in pullback(1.0)]
    [3.0, 2.0]
    """
    check_callable(f, "vjp")
    steps = _vjp_of(f, has_aux, memory, fallback)
    (value, *aux), step = steps.inline(*primals) if _traced_now(primals) else steps(*primals)
    return value, step, *aux


@remembered
def _vjp_of(f: Callable, has_aux: bool, memory: "int | str | None", fallback: "bool | None") -> TwoStep:
    def inline(*primals: object) -> tuple:
        value, pullback, *aux = within(memory, pulled_in_place)(f, primals, has_aux)
        return (value, *aux), within(memory, pullback)

    def body(*primals: object) -> tuple:
        first, pullback = inline(*primals)
        return first, pullback(later_tree(first[0], "g")), first[0]
    return TwoStep(body, f, inline=inline, rebuild=(_vjp_of, (f, has_aux, memory, fallback), {}), fallback=fallback)


def _traced_now(args: tuple) -> bool:
    return bool(stack.builders()) and all(getattr(x, "__fad_level__", 0) != 1 for x in tree.flatten(args)[0])


def pulled_in_place(f: Callable, primals: tuple, has_aux: bool, chosen: "Sequence[int] | None" = None) -> tuple:
    """vjp within a program. chosen: the arguments to differentiate with respect to, or all."""
    chosen = range(len(primals)) if chosen is None else chosen
    inner = Inner(f, primals, None, chosen)
    ys, pull = pull_back(inner.func, inner.args, inner.wanted)
    result = of_its_own(inner.tree_of(ys))
    value = result[0] if has_aux else result

    def pullback(cotangent: object) -> tuple:
        return of_its_own(tuple(_cotangents(inner, [primals[k] for k in chosen], pull, value, cotangent)))
    return (value, pullback, result[1]) if has_aux else (value, pullback)


def _cotangents(inner: Inner, primals: Sequence, pull: Callable, value: object, cotangent: object) -> list:
    gs = [g for k, g in enumerate(conform("cotangent", cotangent, value)) if k not in inner.traced.statics]
    gs += [None] * (len(inner.func.outputs) - len(gs))
    return gradient_tree(primals, pull(gs), [inner.args[k] for k in inner.wanted])


@named_as_here
def linearize(f: Callable, *primals: object, fallback: "bool | None" = None) -> tuple:
    """Compute `f` at a point and return its linear map there.

    The part of `f` that does not depend on the tangents runs once.

    Parameters
    ----------
    f : callable
        The function to linearise.
    *primals
        The arguments of `f`.
    fallback : bool, optional
        What happens if `f` cannot be compiled, because its structure depends on data. If True, `f` runs step by step on
        the tape, with a `FallbackWarning`. If False, fad raises an error. The default is ``fad.config.fallback``.

    Returns
    -------
    value
        The result of `f`.
    push : callable
        A function that takes one tangent for each argument and returns the tangent of the result.

    See Also
    --------
    jvp : Push a single tangent.

    Examples
    --------
    >>> import numpy as np
    >>> import fad
    >>> value, push = fad.linearize(lambda x: np.sin(x), 0.0)
    >>> float(value), float(push(2.0))
    (0.0, 2.0)
    """
    check_callable(f, "linearize")
    steps = _linearize_of(f, fallback)
    value, push = steps.inline(*primals) if _traced_now(primals) else steps(*primals)
    return value, lambda *tangents: push(tangents)


@remembered
def _linearize_of(f: Callable, fallback: "bool | None") -> TwoStep:
    def inline(*primals: object) -> tuple:
        value, _ = jvp(f, primals, tree.map_leaves(zeros_of, primals))
        return value, lambda tangents: jvp(f, primals, tangents)[1]

    def body(*primals: object) -> Any:
        inner = Inner(f, primals, None, range(len(primals)))
        tangents = later_tree(primals, "dx")
        early = evaluate(inner.func, inner.args)  # a loop of values and tangents belongs to the second step
        ys, dys = push_forward(silent(inner.func), inner.args, aligned_tangents(inner, primals, tangents))
        return inner.tree_of(early), tangent_tree(inner, ys, dys), primals
    return TwoStep(body, f, inline=inline, rebuild=(_linearize_of, (f, fallback), {}), fallback=fallback)


@named_as_here
def hvp(f: Callable, x: object, v: object, *args: object, memory: "int | str | None" = None,
        fallback: "bool | None" = None) -> Any:
    """Multiply the Hessian of `f` at `x` with the vector `v`.

    The product costs a small multiple of one call of `f`. The Hessian itself is never formed.

    Parameters
    ----------
    f : callable
        A function that returns one real number.
    x : array_like or structure of arrays
        The point, the first argument of `f`.
    v : array_like or structure of arrays
        The vector, with the shape and structure of `x`.
    *args
        Further arguments of `f`, so that ``functools.partial(fad.hvp, f)`` is what SciPy calls `hessp`.
    memory : int or str, optional
        The bytes that loops may take for saved values, such as ``"200MB"``. fad computes again what does not fit.
    fallback : bool, optional
        What happens if `f` cannot be compiled, because its structure depends on data. If True, `f` runs step by step on
        the tape, with a `FallbackWarning`. If False, fad raises an error. The default is ``fad.config.fallback``.

    Returns
    -------
    array or structure of arrays
        The product ``H @ v``, with the shape and structure of `x`.

    Raises
    ------
    NotScalarError
        If `f` does not return one real number. It is a `TypeError`.
    StructureError, CotangentShapeError
        If `v` does not fit `x`.

    See Also
    --------
    vhp : The same product, in reverse mode over the gradient.
    hessian : The whole matrix.

    Examples
    --------
    >>> import numpy as np
    >>> import fad
    >>> fad.hvp(lambda x: np.sum(x ** 3), np.array([1.0, 2.0]), np.array([1.0, 1.0]))
    array([ 6., 12.])
    """
    return _hvp_of(check_callable(f, "hvp"), memory, fallback)(x, v, *args)


@remembered
def _hvp_of(f: Callable, memory: "int | str | None", fallback: "bool | None") -> Staged:
    def body(x: object, v: object, *args: object) -> Any:
        return _along(gradient_of((lambda x: f(x, *args)) if args else f, "fad.hvp"), x, v)
    return Staged(within(memory, body), f, rebuild=(_hvp_of, (f, memory, fallback), {}), fallback=fallback)


def _along(f: Callable, x: object, v: object) -> Any:
    """The derivative of f at x in the direction v. If forward mode has no rule, this transposes reverse mode's u -> J*
    u: J v = (J*)* v."""
    inner = Inner(f, (x,), None, (0,))
    dxs = aligned_tangents(inner, (x,), (v,))
    if not is_reverse_only(inner.func):
        return tangent_tree(inner, *push_forward(inner.func, inner.args, dxs))
    value, pullback = pulled_in_place(f, (x,), False)
    transposed = Inner(lambda u: pulled_in_place(lambda u: pullback(u)[0], (u,), False)[1](v)[0],
                       (tree.map_leaves(zeros_of, value),))
    # reverse mode of a linear map needs no value; the tape cannot tell that it needs none
    if stack.is_live() or uses_its_inputs(transposed.func):
        raise NoDerivativeError("a rule of a custom_vjp in the gradient is not known to be linear in its cotangent, "
                                "and forward mode was asked of it",
                                why="only a linear map has a transpose",
                                do="use fad.hessian or fad.vhp, which go by reverse mode alone")
    return transposed.tree_of(evaluate(transposed.func, transposed.args))


@named_as_here
def vhp(f: Callable, x: object, v: object, *, memory: "int | str | None" = None,
        fallback: "bool | None" = None) -> Any:
    """Multiply the vector `v` with the Hessian of `f` at `x`, in reverse mode over the gradient.

    The result equals that of `hvp` if the second derivatives are continuous. For complex arguments it follows the
    conjugate convention.

    Parameters
    ----------
    f : callable
        A function that returns one real number.
    x : array_like or structure of arrays
        The point. It is the first argument of `f`, and its only one.
    v : array_like or structure of arrays
        The vector, with the shape and structure of `x`.
    memory : int or str, optional
        The bytes that loops may take for saved values, such as ``"200MB"``. fad computes again what does not fit.
    fallback : bool, optional
        What happens if `f` cannot be compiled, because its structure depends on data. If True, `f` runs step by step on
        the tape, with a `FallbackWarning`. If False, fad raises an error. The default is ``fad.config.fallback``.

    Returns
    -------
    array or structure of arrays
        The product ``v @ H``, with the shape and structure of `x`.

    See Also
    --------
    hvp : The same product in forward mode over the gradient; it lists the errors.

    Examples
    --------
    >>> import numpy as np
    >>> import fad
    >>> fad.vhp(lambda x: np.sum(x ** 3), np.array([1.0, 2.0]), np.array([1.0, 1.0]))
    array([ 6., 12.])
    """
    return _vhp_of(check_callable(f, "vhp"), memory, fallback)(x, v)


@remembered
def _vhp_of(f: Callable, memory: "int | str | None", fallback: "bool | None") -> Staged:
    def body(x: object, v: object) -> Any:
        return vjp(gradient_of(f, "fad.vhp"), x)[1](v)[0]
    return Staged(within(memory, body), f, rebuild=(_vhp_of, (f, memory, fallback), {}), fallback=fallback)


def gradient_of(f: Callable, what: str) -> Callable:
    """The gradient of f with respect to its one argument, as a function for use within a body."""
    gradients = gradients_of(f, what, (0,))
    return lambda x: gradients(x)[0]


def gradients_of(f: Callable, what: str, chosen: Sequence[int]) -> Callable:
    """The same with respect to each of these arguments of several."""
    def gradients(*args: object, **kwargs: object) -> tuple:
        inner = Inner(f, args, kwargs, chosen)
        check_scalar(inner, what, "fad.jacobian")
        ys, pull = pull_back(inner.func, inner.args, inner.wanted)
        gs = pull([seed_of(inner.func.outputs[0])] + [None] * (len(ys) - 1))
        return tuple(gradient_tree([args[k] for k in chosen], gs, [inner.args[k] for k in inner.wanted]))
    return gradients
