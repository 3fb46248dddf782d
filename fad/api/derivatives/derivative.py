"""jit, grad, value_and_grad: the transforms that most people need."""
from collections.abc import Callable, Sequence
from typing import Any, Literal, overload

from ...ir.op import registry
from ...trace.runtime.capture import captured
from ...transforms.vjp_of_arrays import pull_back_here
from ...util import tree
from ...util.keywords import named_as_here
from ..calls.leaves import of_its_own
from ..calls.nested import Inner, call_fitting, check_scalar, gradient_tree, seed_of, value_leaves
from ..calls.signatures import Argnums, Memory, P, R
from ..calls.staged import Staged, as_tuple, check_callable, policy, within
from ..calls.transform_cache import remembered


@overload
def jit(f: Callable[P, R], *,
        compile: str | None = ..., static_argnums: Argnums = ..., static_argnames: str | Sequence[str] = ...,
        fallback: bool | None = ...) -> Callable[P, R]: ...
@overload
def jit(f: None = ..., *,
        compile: str | None = ..., static_argnums: Argnums = ..., static_argnames: str | Sequence[str] = ...,
        fallback: bool | None = ...) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
@named_as_here
def jit(f: "Callable | None" = None, *, compile: "str | None" = None, static_argnums: "int | Sequence[int]" = (),
        static_argnames: "str | Sequence[str]" = (), fallback: "bool | None" = None) -> Any:
    """Return a compiled version of `f`.

    Parameters
    ----------
    f : callable
        The function to compile. `jit` also works as a decorator, with or without arguments.
    compile : {"auto", "now", "never"}, optional
        When to compile. "auto" interprets the first calls and compiles a function that is called often; "now" compiles
        before the first answer; "never" interprets. The default is ``fad.config.compile``.
    static_argnums, static_argnames : int, str or sequence of them, optional
        Arguments that are constants of the program. Python values that are not floats are constants anyway.
    fallback : bool, optional
        What happens if `f` cannot be compiled, because its structure depends on data. If True, `f` runs step by step on
        the tape, with a `FallbackWarning`. If False, fad raises an error. The default is ``fad.config.fallback``.

    Returns
    -------
    callable
        A function of the same arguments. It changes the arrays that `f` writes to, as NumPy does.

    Raises
    ------
    ArgumentError
        If `compile` is none of the three words. It is a `TypeError` and a `ValueError`.

    Notes
    -----
    `grad` and the other transforms compile by themselves. Use `jit` for functions that you do not differentiate, and
    for larger functions that call derivatives.

    Examples
    --------
    >>> import numpy as np
    >>> import fad
    >>> @fad.jit
    ... def energy(x):
    ...     total = 0.0
    ...     for k in range(len(x) - 1):
    ...         total += (x[k + 1] - x[k]) ** 2
    ...     return total
    >>> float(energy(np.array([0.0, 1.0, 3.0])))
    5.0
    """
    static = as_tuple(static_argnums) + as_tuple(static_argnames)
    options = {"compile": compile, "static_argnums": static_argnums, "static_argnames": static_argnames,
               "fallback": fallback}
    if f is None:
        return lambda g: jit(g, **options)          # type: ignore[arg-type]
    check_callable(f, "jit")
    policy(compile)
    if hasattr(f, "with_policy"):  # its results are no arrays, so that no program contains it (fad.sparse)
        return f.with_policy(compile)
    if isinstance(f, Staged):
        return Staged(f.body, f, rebuild=(jit, (f,), options), compile=compile, static=static or f.static,
                      writes=f.writes, fallback=fallback, plain=f)

    def body(*args: object, **kwargs: object) -> Any:
        return call_fitting(captured(f), args, kwargs)
    return Staged(body, f, rebuild=(jit, (f,), options), compile=compile, static=static, writes=True, fallback=fallback,
                  plain=f)


@remembered
def jitted(f: Callable) -> Staged:
    """jit(f), made once for each function: for those who look at its program."""
    staged: Any = jit(f)
    return staged


@overload
def grad(f: Callable[P, Any], argnums: Argnums = ..., *,
         has_aux: Literal[False] = ..., memory: Memory = ..., fallback: bool | None = ...,
         compile: str | None = ...) -> Callable[P, Any]: ...
@overload
def grad(f: Callable[P, Any], argnums: Argnums = ..., *,
         has_aux: Literal[True], memory: Memory = ..., fallback: bool | None = ...,
         compile: str | None = ...) -> Callable[P, tuple[Any, Any]]: ...
@overload
def grad(f: None = ..., argnums: Argnums = ..., *,
         has_aux: bool = ..., memory: Memory = ...,
         fallback: bool | None = ...,
         compile: str | None = ...) -> Callable[[Callable[P, R]], Callable[P, Any]]: ...
@named_as_here
def grad(f: "Callable | None" = None, argnums: "int | Sequence[int]" = 0, *, has_aux: bool = False,
         memory: "int | str | None" = None, fallback: "bool | None" = None,
         compile: "str | None" = None) -> Any:
    """Return a function that computes the gradient of `f`.

    Parameters
    ----------
    f : callable
        The function to differentiate. Its arguments are numbers, arrays, or structures of them (lists, tuples,
        dictionaries, dataclasses and registered classes). It returns one real number.
    argnums : int or sequence of int, optional
        The position of the argument to differentiate with respect to. The default is 0, the first argument.
        For a sequence, the result is a tuple with one derivative for each position.
    has_aux : bool, optional
        Whether `f` returns a pair ``(value, aux)``. Only `value` is differentiated. The result is then ``(gradient,
        aux)``.
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
        A function of the same arguments as `f`. Its result has the shape, dtype and structure of the chosen argument.

    Raises
    ------
    NotScalarError
        If `f` does not return one real number. It is a `TypeError`.
    IntegerArgumentError
        If the chosen argument holds integers or booleans. It is a `TypeError`.

    See Also
    --------
    value_and_grad : Return the value of `f` as well.
    jacobian : Differentiate a function that returns arrays.

    Notes
    -----
    fad traces `f` once for each combination of dtypes and ranks, transforms the program into one that runs forward and
    then in reverse, and compiles it when that pays [1]_. The cost is a small multiple of the cost of `f`, however many
    elements the argument has.

    The gradient with respect to a complex argument is the conjugate Wirtinger derivative, the direction of steepest
    ascent.

    References
    ----------
    .. [1] A. Griewank and A. Walther, *Evaluating Derivatives*, 2nd edition, SIAM, 2008, chapter 3.

    Examples
    --------
    >>> import numpy as np
    >>> import fad
    >>> fad.grad(lambda x: np.sum(x ** 3))(np.array([1.0, 2.0]))
    array([ 3., 12.])

    Differentiate with respect to the second argument:

    >>> float(fad.grad(lambda x, y: x * y ** 2, argnums=1)(3.0, 2.0))
    12.0
    """
    if f is None:
        return lambda g: grad(g, argnums, has_aux=has_aux, memory=memory, fallback=fallback, compile=compile)
    both = _value_and_grad_body(check_callable(f, "grad"), argnums, has_aux, "fad.grad")

    def body(*args: object, **kwargs: object) -> Any:
        value, g = both(*args, **kwargs)
        return (g, value[1]) if has_aux else g
    options = {"has_aux": has_aux, "memory": memory, "fallback": fallback, **policy(compile)}
    return Staged(within(memory, body), f, fallback=fallback, compile=compile, rebuild=(grad, (f, argnums), options))


@overload
def value_and_grad(f: Callable[P, R], argnums: Argnums = ..., *,
                   has_aux: Literal[False] = ..., memory: Memory = ...,
                   fallback: bool | None = ...,
                   compile: str | None = ...) -> Callable[P, tuple[R, Any]]: ...
@overload
def value_and_grad(f: Callable[P, R], argnums: Argnums = ..., *,
                   has_aux: Literal[True], memory: Memory = ...,
                   fallback: bool | None = ...,
                   compile: str | None = ...) -> Callable[P, tuple[R, Any]]: ...
@overload
def value_and_grad(f: None = ..., argnums: Argnums = ..., *,
                   has_aux: bool = ..., memory: Memory = ...,
                   fallback: bool | None = ...,
                   compile: str | None = ...) -> Callable[[Callable[P, R]], Callable[P, Any]]: ...
@named_as_here
def value_and_grad(f: "Callable | None" = None, argnums: "int | Sequence[int]" = 0, *, has_aux: bool = False,
                   memory: "int | str | None" = None, fallback: "bool | None" = None,
                   compile: "str | None" = None) -> Any:
    """Return a function that computes the value and the gradient of `f`.

    One forward sweep and one reverse sweep compute both. Optimisers want this form: pass it to
    `scipy.optimize.minimize` with ``jac=True``.

    Parameters
    ----------
    f : callable
        The function to differentiate. Its arguments are numbers, arrays, or structures of them (lists, tuples,
        dictionaries, dataclasses and registered classes). It returns one real number.
    argnums : int or sequence of int, optional
        The position of the argument to differentiate with respect to. The default is 0, the first argument.
        For a sequence, the result is a tuple with one derivative for each position.
    has_aux : bool, optional
        Whether `f` returns a pair ``(value, aux)``. Only `value` is differentiated. The result is then ``((value,
        aux), gradient)``.
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
        A function of the same arguments as `f`. It returns ``(value, gradient)``.

    Raises
    ------
    NotScalarError
        If `f` does not return one real number. It is a `TypeError`.
    IntegerArgumentError
        If the chosen argument holds integers or booleans. It is a `TypeError`.

    See Also
    --------
    grad : Return the gradient alone.

    Examples
    --------
    >>> import numpy as np
    >>> import fad
    >>> value, gradient = fad.value_and_grad(lambda x: np.sum(x ** 2))(np.array([1.0, 2.0]))
    >>> float(value), gradient
    (5.0, array([2., 4.]))

    Minimise a function with SciPy:

    >>> from scipy.optimize import minimize, rosen
    >>> fit = minimize(fad.value_and_grad(rosen), np.zeros(4), jac=True)
    >>> fit.x.round(4)
    array([1., 1., 1., 1.])
    """
    if f is None:
        return lambda g: value_and_grad(g, argnums, has_aux=has_aux, memory=memory, fallback=fallback, compile=compile)
    body = _value_and_grad_body(check_callable(f, "value_and_grad"), argnums, has_aux, "fad.value_and_grad")
    options = {"has_aux": has_aux, "memory": memory, "fallback": fallback, **policy(compile)}
    return Staged(within(memory, body), f, fallback=fallback, compile=compile,
                  rebuild=(value_and_grad, (f, argnums), options))


def _value_and_grad_body(f: Callable, argnums: object, has_aux: bool, what: str) -> Callable:
    chosen = as_tuple(argnums)

    def body(*args: object, **kwargs: object) -> Any:
        inner = Inner(f, args, kwargs, chosen, is_delivered=True)
        if has_aux:
            value_leaves(inner)
        check_scalar(inner, what, "fad.jacobian", has_aux)
        ys, pullback = pull_back_here(inner.func, inner.args, inner.wanted)
        inner.deliver(ys)
        cotangents = pullback([seed_of(inner.func.outputs[0])] + [None] * (len(ys) - 1))
        arguments = [args[k] for k in chosen]
        gs = gradient_tree(arguments, cotangents, [inner.args[k] for k in inner.wanted])
        return inner.tree_of(ys), gs[0] if not isinstance(argnums, (tuple, list)) else tuple(gs)
    return body


@named_as_here
def stop_gradient(x: object) -> Any:
    """Return `x` and make every derivative treat it as a constant.

    Parameters
    ----------
    x : array_like or structure of arrays
        The value to take off the path of the derivative.

    Returns
    -------
    array or structure of arrays
        The value of `x`, with its shape, dtype and structure.

    Examples
    --------
    >>> import fad
    >>> float(fad.grad(lambda x: fad.stop_gradient(x) * x)(3.0))
    3.0
    """
    return of_its_own(tree.map_leaves(lambda leaf: registry["stop_gradient"](leaf), x))
