"""fad.functional: the signatures, result structures and errors of torch.autograd.functional, on ndarrays.

Inputs are an array or a tuple of arrays; the function takes them as its arguments and returns an array or a tuple of
arrays. An answer has one part for each input (or output): in a tuple if the inputs (or outputs) are a tuple, bare if
they are one array. `create_graph` and `vectorize` do not change the numbers on ndarrays: results are always
differentiable by another transform, and rows are always computed together.
"""
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...ir.graph import Var
from ...ir.types import type_of
from ...trace.tracing import is_data
from ...util.array import AnyArray
from ...util.errors import ArgumentError, CotangentShapeError, FadError
from ...util.keywords import named_as_here
from ...util.tree import Structure
from ..calls.fallback import is_unstaged
from ..calls.staged import check_callable
from ..calls.transform_cache import remembered
from .dependence import depends
from .derivative import grad, jitted
from .jacobian import hessian as core_hessian
from .jacobian import jacfwd, jacrev
from .products import hvp as core_hvp
from .products import jvp as core_jvp
from .products import vhp as core_vhp
from .products import vjp as core_vjp


class StrictError(FadError, RuntimeError):
    """With strict=True: a result that does not depend on an input."""


class SingleElementError(FadError, RuntimeError):
    """A function or input that must have a single element and has more."""


class VectorError(CotangentShapeError):
    """A vector v that does not fit the inputs or outputs."""


_REDUCE = "reduce it (np.sum), or use fad.functional.jacobian"


def _inputs(func: Callable, inputs: Any, name: str) -> "tuple[tuple, bool]":
    """The inputs as a tuple of arrays, and whether they were one."""
    check_callable(func, f"functional.{name}")
    several = isinstance(inputs, (tuple, list))
    given = tuple(inputs) if several else (inputs,)
    for k, x in enumerate(given):
        if not is_data(x):
            raise ArgumentError(
                f"the inputs given to {name} must be an array or a tuple of arrays; number {k} is {type(x).__name__}",
                do="pass numbers or arrays of numbers")
    return tuple([x if hasattr(x, "dtype") else np.asarray(x, float) if type(x) is float else np.asarray(x)
                  for x in given]), several


@remembered
def _as_tuple_of_outputs(func: Callable, name: str) -> Callable:
    """func with its outputs always in a tuple."""
    def outputs(*xs: object) -> tuple:
        ys = func(*xs)
        given = tuple(ys) if isinstance(ys, (tuple, list)) else (ys,)
        for k, y in enumerate(given):
            if not is_data(y):
                raise ArgumentError(f"the function given to {name} must return an array or a tuple of arrays; output "
                                    f"{k} is {type(y).__name__}", do="return numbers or arrays of numbers")
        return given
    return outputs


def _strict(func: Callable, xs: tuple, name: str) -> None:
    for j, row in enumerate(depends(_as_tuple_of_outputs(func, name), xs)):
        for k, does in enumerate(row):
            if not does:
                raise StrictError(f"output {j} of the user-provided function is independent of input {k}",
                                  why="this is not allowed in strict mode",
                                  do=f"leave strict=True out of {name} to get zeros")


def _nested(blocks: tuple, several_out: bool, several_in: bool) -> Any:
    rows = tuple([row if several_in else row[0] for row in blocks])
    return rows if several_out else rows[0]


@named_as_here
def jacobian(func: Callable, inputs: object, create_graph: bool = False, strict: bool = False, vectorize: bool = False,
             strategy: str = "reverse-mode") -> Any:
    """The Jacobian of func at the inputs: for each output and input an array of shape output.shape + input.shape.

    Raises RuntimeError with strict=True if an output does not depend on an input, and ValueError for an unknown
    strategy.

    >>> import numpy as np
    >>> jacobian(lambda x: x ** 2, np.array([1.0, 2.0]))
    array([[2., 0.],
           [0., 4.]])
    """
    xs, several = _inputs(func, inputs, "jacobian")
    mode = _mode(strategy, "strategy")
    if strict and mode is jacfwd:
        raise StrictError('strict=True and strategy="forward-mode" are not supported together',
                          do="leave one of them out")
    if strict:
        _strict(func, xs, "jacobian")
    return _nested(mode(_as_tuple_of_outputs(func, "jacobian"), tuple(range(len(xs))))(*xs), _several_outputs(func, xs),
                   several)


def _mode(strategy: str, what: str) -> Callable:
    if strategy not in ("reverse-mode", "forward-mode"):
        raise ArgumentError(f'{what} is "reverse-mode" or "forward-mode", not {strategy!r}', do="give one of these")
    return jacrev if strategy == "reverse-mode" else jacfwd


def _several_outputs(func: Callable, xs: tuple) -> bool:
    """Whether func returns a tuple."""
    outputs = _outputs_of(func, xs)
    if isinstance(outputs, Structure):
        return issubclass(outputs.cls or object, (tuple, list))
    return isinstance(outputs, (tuple, list))


def _outputs_of(func: Callable, xs: tuple) -> Any:
    """The structure of func's result, known from tracing it; the result itself of a function that runs on the tape."""
    try:
        return jitted(func).traced_for(*xs).structure
    except Exception as error:
        if not is_unstaged(error):
            raise
        return jitted(func)(*xs)


def _scalar_of(func: Callable, xs: tuple, name: str) -> Callable:
    """func, which must return one array of one element, returning it as a scalar."""
    outputs = _outputs_of(func, xs)
    is_program = isinstance(outputs, Structure)
    several = (outputs.cls is not None and outputs.leaves != 1 if is_program else isinstance(outputs, (tuple, list))
               and len(outputs) != 1)
    if several:
        raise SingleElementError(f"the function given to {name} should return a single array", do=_REDUCE)
    if (_size_of(jitted(func).traced_for(*xs).func.outputs[0]) if is_program else np.size(outputs)) != 1:
        raise SingleElementError(
            f"the array returned by the function given to {name} should contain a single element", do=_REDUCE)
    return _reshaped(func)


def _size_of(output: Var) -> int:
    """The number of elements of a program's output; an extent that varies counts as it was when the program was traced.
    """
    return math.prod(n if isinstance(n, int) else n.hint or 2 for n in output.type.shape)


@remembered
def _reshaped(func: Callable) -> Callable:
    def scalar(*xs: object) -> AnyArray:
        y = func(*xs)
        y = y[0] if isinstance(y, (tuple, list)) else y
        return y.reshape(()) if getattr(y, "ndim", 0) else y
    return scalar


@named_as_here
def hessian(func: Callable, inputs: object, create_graph: bool = False, strict: bool = False, vectorize: bool = False,
            outer_jacobian_strategy: str = "reverse-mode") -> Any:
    """The Hessian of a function that returns a single element: for each pair of inputs an array of shape a.shape +
    b.shape.

    Raises RuntimeError if the function returns more, or with strict=True if the result or the gradient does not depend
    on an input.

    >>> import numpy as np
    >>> hessian(lambda x: np.sum(x ** 3), np.array([1.0, 2.0]))
    array([[ 6.,  0.],
           [ 0., 12.]])
    """
    xs, several = _inputs(func, inputs, "hessian")
    _mode(outer_jacobian_strategy, "outer_jacobian_strategy")
    scalar = _scalar_of(func, xs, "hessian")
    if strict:
        _strict(scalar, xs, "hessian")
        _strict(_gradients(scalar, len(xs)), xs, "hessian")
    return _nested(core_hessian(scalar, tuple(range(len(xs))))(*xs), several, several)


@remembered
def _gradients(scalar: Callable, count: int) -> Callable:
    return grad(scalar, tuple(range(count)))


def _vector(v: object, models: tuple) -> tuple:
    """v as a tuple of arrays in the shapes of the models."""
    given = tuple(v) if isinstance(v, (tuple, list)) else (v,)
    if len(given) != len(models):
        raise VectorError(f"v has invalid length: should be {len(models)} but got {len(given)}",
                          do="give one vector for each, in a tuple")
    out = []
    for k, (a, x) in enumerate(zip(given, models)):
        a = np.asarray(a) if not hasattr(a, "shape") else a
        if tuple(a.shape) != tuple(np.shape(x)):
            raise VectorError(f"v has invalid size: entry {k} should be {tuple(np.shape(x))} but is {tuple(a.shape)}")
        dtype = type_of(x).dtype
        out.append(a.astype(dtype) if a.dtype != dtype and dtype.kind in "fc" else a)
    return tuple(out)


def _single(models: tuple, message: str) -> tuple:
    if len(models) != 1 or np.size(models[0]) != 1:
        raise SingleElementError(message, do="give v, one array for each of them")
    return (np.ones_like(models[0]),)


@named_as_here
def vjp(func: Callable, inputs: object, v: object = None, create_graph: bool = False, strict: bool = False) -> tuple:
    """(outputs, product of v with the Jacobian); v has the outputs' shapes, and may be left out for a single element.

    >>> import numpy as np
    >>> vjp(lambda x: x ** 2, np.array([1.0, 2.0]), np.ones(2))
    (array([1., 4.]), array([2., 4.]))
    """
    xs, several = _inputs(func, inputs, "vjp")
    if strict:
        _strict(func, xs, "vjp")
    ys, pullback = core_vjp(_as_tuple_of_outputs(func, "vjp"), *xs)
    gs = _single(ys,
                 "the vector v can only be None if the user-provided function returns a single array with a single "
                 "element") \
        if v is None else _vector(v, ys)
    gxs = pullback(tuple(gs))
    return ys if _several_outputs(func, xs) else ys[0], gxs if several else gxs[0]


@named_as_here
def jvp(func: Callable, inputs: object, v: object = None, create_graph: bool = False, strict: bool = False) -> tuple:
    """(outputs, product of the Jacobian with v); v has the inputs' shapes, and may be left out for a single element.

    >>> import numpy as np
    >>> jvp(lambda x: x ** 2, np.array([1.0, 2.0]), np.ones(2))
    (array([1., 4.]), array([2., 4.]))
    """
    xs, _ = _inputs(func, inputs, "jvp")
    if strict:
        _strict(func, xs, "jvp")
    dxs = _single(xs,
                  "the vector v can only be None if the input to the user-provided function is a single array with a "
                  "single element") \
        if v is None else _vector(v, xs)
    ys, dys = core_jvp(_as_tuple_of_outputs(func, "jvp"), xs, dxs)
    return (ys, dys) if _several_outputs(func, xs) else (ys[0], dys[0])


def _second_order(product: Callable, name: str, func: Callable, inputs: object, v: object, strict: bool) -> tuple:
    xs, several = _inputs(func, inputs, name)
    scalar = _scalar_of(func, xs, name)
    if strict:
        _strict(scalar, xs, name)
        _strict(_gradients(scalar, len(xs)), xs, name)
    vs = _single(xs,
                 "the vector v can only be None if the input to the user-provided function is a single array with a "
                 "single element") \
        if v is None else _vector(v, xs)
    value = jitted(func)(*xs)
    answer = product(_of_tuple(func), xs, vs)
    return value, answer if several else answer[0]


@remembered
def _of_tuple(func: Callable) -> Callable:
    scalar = _reshaped(func)
    return lambda xs: scalar(*xs)


@named_as_here
def vhp(func: Callable, inputs: object, v: object = None, create_graph: bool = False, strict: bool = False) -> tuple:
    """(output, product of v with the Hessian) of a function that returns a single element."""
    return _second_order(core_vhp, "vhp", func, inputs, v, strict)


@named_as_here
def hvp(func: Callable, inputs: object, v: object = None, create_graph: bool = False, strict: bool = False) -> tuple:
    """(output, product of the Hessian with v) of a function that returns a single element."""
    return _second_order(core_hvp, "hvp", func, inputs, v, strict)
