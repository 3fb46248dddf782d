"""autograd's operators: functions of a function and `argnum`, which is an int or a tuple or list of them."""
import functools
import inspect
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...api.derivatives import custom, derivative
from ...api.derivatives import jacobian as jacobians
from ...util.array import AnyArray
from ...util.errors import ArgumentError, NotScalarError
from . import products
from .products import conjugated
from .spaces import vspace


def unary_to_nary(operator: Callable) -> Callable:
    """Turn operator(f, x, ...) on functions of one argument into one on functions of several: f, argnum, ... -> a
    function of f's arguments."""
    @functools.wraps(operator)
    def on_several(fun: Callable, argnum: "int | Sequence[int]" = 0, *operands: object, **options: object) -> Callable:
        chosen = _argnums(argnum)

        def applied(*args: object, **kwargs: object) -> Any:
            one, x = _of_one(fun, argnum, chosen, args, kwargs)
            return operator(one, x, *operands, **options)
        return _named(applied, operator, fun, argnum)
    return on_several


def _argnums(argnum: object) -> tuple:
    if isinstance(argnum, int) and not isinstance(argnum, bool):
        return (argnum,)
    if isinstance(argnum, (tuple, list)) and all(isinstance(k, int) for k in argnum):
        return tuple(argnum)
    raise ArgumentError(f"argnum is an int or a tuple of ints, not {argnum!r}",
                            do="give the argument's place, and pass it by position")


def _of_one(fun: Callable, argnum: Any, chosen: tuple, args: tuple, kwargs: dict) -> "tuple[Callable, Any]":
    """The function as one of the chosen arguments (a tuple of them, where argnum is one), and their values."""
    single = isinstance(argnum, int)

    @functools.wraps(fun, assigned=("__name__", "__doc__"), updated=())
    def one(x: Any) -> AnyArray:
        full = list(args)
        for k, value in zip(chosen, (x,) if single else x):
            full[k] = value
        return fun(*full, **kwargs)
    return one, args[argnum] if single else tuple([args[k] for k in chosen])


def _named(applied: Callable, operator: Callable, fun: Callable, argnum: object) -> Callable:
    name, of = getattr(operator, "__name__", "operator"), getattr(fun, "__name__", "[unknown name]")
    applied.__name__ = f"{name}_of_{of}_wrt_argnum_{argnum}"
    applied.__doc__ = (f"    {name} of function {of} with respect to argument number {argnum}. "
                       f"It takes the arguments of {of}.")
    return applied


make_vjp = unary_to_nary(products.make_vjp)
make_jvp = unary_to_nary(products.make_jvp)


def _operator(transform: Callable, name: str) -> Callable:
    """One of fad's transforms, transform(f, argnums), under autograd's conventions."""
    def operator(fun: Callable, argnum: object = 0) -> Callable:
        _argnums(argnum)
        transformed = transform(fun, argnum)
        return _named(lambda *args, **kwargs: conjugated(transformed(*args, **kwargs)), operator, fun, argnum)
    operator.__name__ = operator.__qualname__ = name
    return operator


grad = _operator(derivative.grad, "grad")
grad.__doc__ = """
    Returns a function which computes the gradient of `fun` with respect to the argument (or arguments) `argnum`.

    fun returns a real scalar, or an array of one element. The gradient has the structure, shape and dtype of the
    argument. Raises NotScalarError (a TypeError) for other results.

    >>> float(grad(lambda x, y: x * y ** 2, 1)(2.0, 3.0))
    12.0
    """


def value_and_grad(fun: Callable, argnum: Any = 0) -> Callable:
    """A function that returns the value of fun and its gradient, for scipy.optimize's jac=True.

    >>> value, g = value_and_grad(lambda x: x ** 2)(3.0)
    >>> float(value), float(g)
    (9.0, 6.0)
    """
    _argnums(argnum)
    both = derivative.value_and_grad(fun, argnum)

    def applied(*args: object, **kwargs: object) -> tuple:
        value, g = both(*args, **kwargs)
        return value, conjugated(g)
    return _named(applied, value_and_grad, fun, argnum)


def _sum_of(fun: Callable) -> Callable:
    def summed(*args: object, **kwargs: object) -> Any:
        y = fun(*args, **kwargs)
        if np.iscomplexobj(y):
            raise NotScalarError("elementwise_grad needs a function with a real result",
                                 do="take np.real of it, or use jacobian")
        return np.sum(y)
    return summed


elementwise_grad = _operator(lambda fun, argnum: derivative.grad(_sum_of(fun), argnum), "elementwise_grad")
elementwise_grad.__doc__ = """The sum of each column of the Jacobian. It is the diagonal if `fun` acts elementwise.

    >>> elementwise_grad(np.sin)(np.zeros(2))
    array([1., 1.])
    """


@unary_to_nary
def deriv(fun: Callable, x: object) -> Any:
    """The derivative of fun in the direction of ones, by forward mode."""
    return products.make_jvp(fun, x)(vspace(x).ones())[1]


jacobian = _operator(jacobians.jacrev, "jacobian")
jacobian.__doc__ = """The Jacobian by reverse mode, of shape (shape of the result) + (shape of the argument).

    >>> jacobian(lambda x: x ** 2)(np.array([1.0, 2.0]))
    array([[2., 0.],
           [0., 4.]])
    """


def hessian(fun: Callable, argnum: int = 0) -> Callable:
    """The Hessian: the Jacobian of the Jacobian, of shape (result) + (argument) + (argument)."""
    return _named(jacobian(jacobian(fun, argnum), argnum), hessian, fun, argnum)


@unary_to_nary
def holomorphic_grad(fun: Callable, x: object) -> Any:
    """The complex derivative of a holomorphic function."""
    if not vspace(x).iscomplex:
        warnings.warn("Input to holomorphic_grad is not complex", stacklevel=3)
    return grad(lambda x: np.real(fun(x)))(x)


def grad_named(fun: Callable, argname: str) -> Callable:
    """The gradient with respect to the argument of this name."""
    names = list(inspect.signature(fun).parameters)
    if argname not in names:
        raise ArgumentError(f"{getattr(fun, '__name__', 'the function')} has no argument {argname!r}",
                            do=f"name one of {', '.join(names)}")
    return grad(fun, names.index(argname))


@unary_to_nary
def make_hvp(fun: Callable, x: object) -> Any:
    """(v -> the Hessian times v, the gradient) at a point; the forward sweep runs once."""
    return products.make_vjp(grad(fun), x)


def hessian_tensor_product(fun: Callable, argnum: int = 0) -> Callable:
    """A function of (*args, tensor): the Hessian contracted with the tensor."""
    gradient = grad(fun, argnum)

    def along(*args: Any, **kwargs: Any) -> Any:
        *given, vector = args
        return np.tensordot(gradient(*given, **kwargs), vector, np.ndim(vector))
    return grad(along, argnum)


hessian_vector_product = hessian_tensor_product


def tensor_jacobian_product(fun: Callable, argnum: int = 0) -> Callable:
    """A function of (*args, tensor): the tensor contracted with the Jacobian."""
    def along(*args: Any, **kwargs: Any) -> Any:
        *given, vector = args
        return np.tensordot(vector, fun(*given, **kwargs), axes=np.ndim(vector))
    return jacobian(along, argnum)


vector_jacobian_product = tensor_jacobian_product


@unary_to_nary
def make_jvp_reversemode(fun: Callable, x: object) -> Callable:
    """v -> the Jacobian times v, by two sweeps of reverse mode."""
    pull, y = products.make_vjp(fun, x)
    return products.make_vjp(pull, vspace(y).zeros())[0]


def _half_square(x: Any) -> Any:
    return 0.5 * np.sum(x ** 2, axis=-1)


def make_ggnvp(f: Callable, g: Callable = _half_square, f_argnum: int = 0) -> Callable:
    """Products with the generalized Gauss-Newton matrix J' H J, where J is f's Jacobian and H is g's Hessian at f(x).
    """
    @unary_to_nary
    def product(f: Callable, x: object) -> Callable:
        pull, y = products.make_vjp(f, x)
        push, curve = products.make_jvp(f, x), products.make_vjp(grad(g), y)[0]
        return lambda v: pull(curve(push(v)[1]))
    return product(f, f_argnum)


def grad_and_aux(fun: Callable, argnum: Any = 0) -> Callable:
    """The gradient of the first of fun's two results, and the second one."""
    _argnums(argnum)
    both = derivative.grad(lambda *args, **kwargs: tuple(fun(*args, **kwargs)), argnum, has_aux=True)

    def applied(*args: object, **kwargs: object) -> tuple:
        g, aux = both(*args, **kwargs)
        return conjugated(g), aux
    return _named(applied, grad_and_aux, fun, argnum)


def multigrad_dict(fun: Callable) -> Callable:
    """A function that returns the gradients with respect to all arguments, by name."""
    signature = inspect.signature(fun)

    def called(arguments: dict) -> Any:
        bound = inspect.BoundArguments(signature, dict(arguments))
        return fun(*bound.args, **bound.kwargs)
    gradient = grad(called)

    def gradients(*args: object, **kwargs: object) -> dict:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return gradient(dict(bound.arguments))
    return gradients


def checkpoint(fun: Callable) -> Callable:
    """fun, whose intermediate values are computed again for the reverse sweep instead of being saved."""
    return custom.checkpoint(fun)
