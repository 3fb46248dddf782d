"""jit, grad, value_and_grad: the transforms that most people need."""
from collections.abc import Callable, Sequence
from typing import Any

from ..ir.op import registry
from ..transforms.vjp import pull_back
from ..util import tree
from ..util.errors import ArgumentError, NotScalarError
from ..util.keywords import named_as_here
from .inner import Inner, call_fitting, captured, check_scalar, gradient_tree, seed_of, value_leaves
from .kept import remembered
from .leaves import of_its_own
from .staged import Staged, as_tuple, check_callable, within


@named_as_here
def jit(f: "Callable | None" = None, *, compile: "str | None" = None, static_argnums: "int | Sequence[int]" = (),
        static_argnames: "str | Sequence[str]" = (), fallback: "bool | None" = None) -> Any:
    """f, traced and compiled.

    Parameters: compile: "now" compiles before the first answer, "auto" when that pays, "never" interprets; None follows
    fad.config.compile. static_argnums, static_argnames: arguments that are part of the program (Python values other than floats are so
    anyhow). fallback: whether f, where its structure depends on data so that it cannot be compiled, runs as the Python it is, with a
    FallbackWarning, or raises; None follows fad.config.fallback.

    Arrays that f writes to are changed, as NumPy would change them. Usable as a decorator, with or without arguments.

    >>> import numpy as np
    >>> f = jit(lambda x: np.sum(np.sin(x) ** 2))
    >>> float(f(np.zeros(3)))
    0.0
    """
    static = as_tuple(static_argnums) + as_tuple(static_argnames)
    options = {"compile": compile, "static_argnums": static_argnums, "static_argnames": static_argnames, "fallback": fallback}
    if f is None:
        return lambda g: jit(g, **options)          # type: ignore[arg-type]
    check_callable(f, "jit")
    if compile not in (None, "auto", "now", "never"):
        raise ArgumentError(f"compile is 'auto', 'now', 'never' or None, not {compile!r}")
    if hasattr(f, "with_policy"):                             # a transform whose results are no arrays, so that it is none of a program (fad.sparse)
        return f.with_policy(compile)
    if isinstance(f, Staged):
        return Staged(f.body, f, rebuild=(jit, (f,), options), compile=compile, static=static or f.static, writes=f.writes,
                      fallback=fallback, plain=f)

    def body(*args: Any, **kwargs: Any) -> Any:
        return call_fitting(captured(f), args, kwargs)
    return Staged(body, f, rebuild=(jit, (f,), options), compile=compile, static=static, writes=True, fallback=fallback, plain=f)


@remembered
def jitted(f: Callable) -> Staged:
    """jit(f), made once for each function: for those who look at its program."""
    return jit(f)


@named_as_here
def grad(f: "Callable | None" = None, argnums: "int | Sequence[int]" = 0, *, has_aux: bool = False, memory: "int | str | None" = None,
         fallback: "bool | None" = None) -> Any:
    """The gradient of a function that returns a real scalar.

    Parameters: argnums: the argument (or arguments) to differentiate with respect to; has_aux: f returns (value, aux), and the
    gradient is returned with aux beside it; memory: how many bytes (an int, or text such as "200MB") loops may take for what they save; what does
    not fit is computed again instead; fallback: whether f, where it cannot be compiled since its structure depends on data, runs step by step
    on the tape, with a FallbackWarning, or raises (None follows fad.config.fallback).

    Returns a function of f's arguments that gives an array (or a tree of them) like the argument; a tuple for several argnums. Of a complex
    argument it is the conjugate Wirtinger derivative, the direction of steepest ascent.

    Raises NotScalarError (a TypeError) where f's result is not a real scalar, IntegerArgumentError (a TypeError) where an
    argument is not real or complex.

    >>> import numpy as np
    >>> grad(lambda x: np.sum(x ** 3))(np.array([1.0, 2.0]))
    array([ 3., 12.])
    """
    if f is None:
        return lambda g: grad(g, argnums, has_aux=has_aux, memory=memory, fallback=fallback)
    both = _value_and_grad_body(check_callable(f, "grad"), argnums, has_aux, "fad.grad")

    def body(*args: Any, **kwargs: Any) -> Any:
        value, g = both(*args, **kwargs)
        return (g, value[1]) if has_aux else g
    return Staged(within(memory, body), f, fallback=fallback,
                  rebuild=(grad, (f, argnums), {"has_aux": has_aux, "memory": memory, "fallback": fallback}))


@named_as_here
def value_and_grad(f: "Callable | None" = None, argnums: "int | Sequence[int]" = 0, *, has_aux: bool = False,
                   memory: "int | str | None" = None, fallback: "bool | None" = None) -> Any:
    """The value of f and its gradient, from one sweep forward and one back; see grad.

    >>> import numpy as np
    >>> value, g = value_and_grad(lambda x: np.sum(x ** 2))(np.array([1.0, 2.0]))
    >>> float(value), g
    (5.0, array([2., 4.]))
    """
    if f is None:
        return lambda g: value_and_grad(g, argnums, has_aux=has_aux, memory=memory, fallback=fallback)
    body = _value_and_grad_body(check_callable(f, "value_and_grad"), argnums, has_aux, "fad.value_and_grad")
    return Staged(within(memory, body), f, fallback=fallback,
                  rebuild=(value_and_grad, (f, argnums), {"has_aux": has_aux, "memory": memory, "fallback": fallback}))


def _value_and_grad_body(f: Callable, argnums: Any, has_aux: bool, what: str) -> Callable:
    chosen = as_tuple(argnums)

    def body(*args: Any, **kwargs: Any) -> Any:
        inner = Inner(f, args, kwargs, chosen)
        if has_aux:
            value_leaves(inner)
        check_scalar(inner, what, "fad.jacobian")
        if not has_aux and inner.results != 1:
            raise NotScalarError(f"{what} needs a function that returns one scalar, and this one returned {inner.results} results",
                                 do="return one, pass has_aux=True for (value, aux), or use fad.jacobian")
        ys, pullback = pull_back(inner.func, inner.args, inner.wanted)
        cotangents = pullback([seed_of(inner.func.outputs[0])] + [None] * (len(ys) - 1))
        arguments = [args[k] for k in chosen]
        gs = gradient_tree(arguments, cotangents, [inner.args[k] for k in inner.wanted])
        return inner.tree_of(ys), gs[0] if not isinstance(argnums, (tuple, list)) else tuple(gs)
    return body


@named_as_here
def stop_gradient(x: Any) -> Any:
    """x, taken as a constant by every derivative (a tree of arrays or an array).

    >>> float(grad(lambda x: stop_gradient(x) * x)(3.0))
    3.0
    """
    return of_its_own(tree.map_leaves(lambda leaf: registry["stop_gradient"](leaf), x))
