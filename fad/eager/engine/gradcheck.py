"""gradcheck and gradgradcheck: derivatives against differences."""
import warnings
from collections.abc import Callable, Sequence

import numpy as np

from ...api.calls.staged import as_tuple
from ..graph.inplace import requires_grad
from ..tensors.errors import refuse_if
from ..tensors.state import changed
from ..tensors.tensor import Tensor, dense, is_continuous, wrap
from . import differences
from .differences import GradcheckError, Options, columns, differentiable, in_complex_rows, units_like
from .grad_api import grad


def gradcheck(func: Callable, inputs: object, *, eps: float = 1e-6, atol: float = 1e-5, rtol: float = 1e-3,
              raise_exception: bool = True, nondet_tol: float = 0.0, check_undefined_grad: bool = True,
              check_grad_dtypes: bool = False, check_batched_grad: bool = False,
              check_batched_forward_grad: bool = False, check_forward_ad: bool = False, check_backward_ad: bool = True,
              fast_mode: bool = False, masked: object = None) -> bool:
    """Whether func's derivatives with respect to inputs that require gradients agree with central differences of step
    eps.

    Raises GradcheckError (a RuntimeError) where they do not, unless raise_exception=False. fast_mode compares one
    random projection.

    >>> import fad
    >>> gradcheck(lambda x: x.exp(), fad.tensor([0.5, 1.0], requires_grad=True))
    True
    """
    refuse_if(not (check_forward_ad or check_backward_ad), "Expected at least one of check_forward_ad or "
              "check_backward_ad to be True", AssertionError)
    for name, wanted, needs, has in (("check_batched_grad", check_batched_grad, "check_backward_ad", check_backward_ad),
                                     ("check_batched_forward_grad", check_batched_forward_grad, "check_forward_ad",
                                      check_forward_ad)):
        refuse_if(wanted and not has, f"Setting {name}=True requires {needs} to be True", AssertionError)
    try:
        _gradcheck(func, as_tuple(inputs), Options(
            eps, atol, rtol, nondet_tol, fast_mode, check_undefined_grad, check_grad_dtypes, check_batched_grad,
            check_forward_ad, check_backward_ad, check_batched_forward_grad))
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def _gradcheck(func: Callable, inputs: tuple, options: Options) -> None:
    _check_inputs(inputs)
    with changed(grad=True):
        outputs = func(*inputs)
    ys = differentiable(outputs)
    for y in as_tuple(outputs):
        refuse_if(not isinstance(y, Tensor), f"Expected outputs of func to be Tensors, got {type(y).__name__}",
                  ValueError)
    places = [k for k, x in enumerate(inputs) if isinstance(x, Tensor) and requires_grad(x)]
    if not ys:
        _check_no_output(func, inputs, places, options)
        return
    func = _chosen(func, [k for k, y in enumerate(as_tuple(outputs)) if any(y is one for one in ys)])
    if options.backward:
        differences.check(differences.backward_products, func, inputs, places, ys, options, "backward")
    if options.forward:
        differences.check(differences.forward_products, func, inputs, places, ys, options, "forward")
        if options.undefined:
            differences.check_undefined_tangents(func, inputs, places)
        if options.batched_forward:
            differences.check_batched_tangents(func, inputs, places)
    if options.backward:
        differences.check_reentrant(ys, inputs, places, options)
        if options.batched:
            differences.check_batched(ys, inputs, places)
        differences.check_properties(ys, inputs, places, options.dtypes)
        if options.undefined:
            differences.check_undefined(func, inputs, places)


def _chosen(func: Callable, places: list) -> Callable:
    """func with the outputs at these places alone."""
    def call(*xs: object) -> tuple:
        ys = as_tuple(func(*xs))
        return tuple([ys[k] for k in places])
    return call


def _check_inputs(inputs: tuple) -> None:
    refuse_if(not any(isinstance(x, Tensor) and requires_grad(x) for x in inputs), "gradcheck expects at least one "
              "input tensor to require gradient, but none of them have requires_grad=True.", ValueError)
    for k, x in enumerate(inputs):
        if isinstance(x, Tensor) and requires_grad(x):
            if x._a.dtype not in (np.dtype(np.float64), np.dtype(np.complex128)):
                warnings.warn(f"Input #{k} requires gradient and is not a double precision floating point or complex. "
                              "This check will likely fail if all the "
                              "inputs are not of double precision floating point or complex. ", UserWarning,
                              stacklevel=4)
            if x._a.size and any(n > 1 and s == 0 for n, s in zip(x._a.shape, x._a.strides)):
                raise RuntimeError(f"The {k}th input has a dimension with stride 0. gradcheck only supports inputs "
                                   "that are non-overlapping to be able to compute the numerical gradients correctly. "
                                   "You should call .contiguous on the input before passing it to gradcheck.")
            if x._fn is not None:
                x.retain_grad()


def _check_no_output(func: Callable, inputs: tuple, places: list, options: Options) -> None:
    """Check that differences are zero where no output requires a gradient."""
    for i in places:
        for column in columns(func, inputs, i, options.eps):
            for k, dy in enumerate(column):
                if np.abs(dy).max(initial=0) > options.eps:
                    raise GradcheckError(f"Numerical gradient for function expected to be zero (output {k}, input {i})")


def gradgradcheck(func: Callable, inputs: object, grad_outputs: object = None, *, eps: float = 1e-6, atol: float = 1e-5,
                  rtol: float = 1e-3, gen_non_contig_grad_outputs: bool = False, raise_exception: bool = True,
                  nondet_tol: float = 0.0, check_undefined_grad: bool = True, check_grad_dtypes: bool = False,
                  check_batched_grad: bool = False, check_fwd_over_rev: bool = False, check_rev_over_rev: bool = True,
                  fast_mode: bool = False, masked: bool = False) -> bool:
    """gradcheck of func's gradient, with respect to the inputs and to the grad_outputs (random ones, if none are
    given).

    >>> import fad
    >>> gradgradcheck(lambda x: x.exp(), fad.tensor([0.5, 1.0], requires_grad=True))
    True
    """
    refuse_if(not (check_fwd_over_rev or check_rev_over_rev), "Expected at least one of check_fwd_over_rev or "
              "check_rev_over_rev to be True", AssertionError)
    xs = as_tuple(inputs)
    gs = _cotangents(func, xs, gen_non_contig_grad_outputs) if grad_outputs is None else as_tuple(grad_outputs)
    count = len(gs)

    def gradient(*args: object) -> tuple:
        given, vs = args[:-count], args[-count:]
        given = tuple([x.requires_grad_() if is_continuous(x) and x._fn is None
                       and requires_grad(old) else x
                       for x, old in zip(given, xs)])
        with changed(grad=True):
            ys = differentiable(func(*given))
            wanted = tuple([x for x in given if isinstance(x, Tensor) and requires_grad(x)])
            answers = grad(ys, wanted, vs, create_graph=True, allow_unused=True)
        return tuple([g for g in answers if g is not None])
    return gradcheck(gradient, (*xs, *gs), eps=eps, atol=atol, rtol=rtol, raise_exception=raise_exception,
                     nondet_tol=nondet_tol, check_undefined_grad=check_undefined_grad,
                     check_grad_dtypes=check_grad_dtypes, check_batched_grad=check_batched_grad, fast_mode=fast_mode,
                     check_forward_ad=check_fwd_over_rev, check_backward_ad=check_rev_over_rev)


def _cotangents(func: Callable, xs: tuple, spread: bool) -> tuple:
    rng = np.random.default_rng(2)
    out = []
    for y in differentiable(func(*xs)):
        a = rng.random(y._a.shape) + (1j * rng.random(y._a.shape) if y._a.dtype.kind == "c" else 0)
        a = np.asarray(a).astype(y._a.dtype)
        out.append(wrap(np.repeat(a[..., None], 2, -1)[..., 0] if spread and a.ndim else a).requires_grad_())
    return tuple(out)


# -- what was private once ---------------------------------------------------------------------------------------------


def _deprecated(name: str, grad_out: float) -> None:
    warnings.warn(f"`{name}` was part of PyTorch's private API and not meant to be exposed. We are deprecating it and "
                  "it will be removed in a future version of PyTorch. If you have a specific use for this or feature "
                  "request for this to be a stable API, please file us an issue at "
                  "https://github.com/pytorch/pytorch/issues/new", FutureWarning, stacklevel=3)
    if grad_out != 1.0:
        raise ValueError(f"Expected grad_out to be 1.0. {name} no longer supports values of grad_out != 1.0.")


def get_numerical_jacobian(fn: Callable, inputs: tuple, target: object = None, eps: float = 1e-3,
                           grad_out: float = 1.0) -> list:
    """Deprecated. The Jacobians of fn(inputs)'s first output by differences: (elements of an input, elements of the
    output) for each input of `target`."""
    _deprecated("get_numerical_jacobian", grad_out)
    given = as_tuple(inputs)
    wanted = given if target is None else as_tuple(target)
    places = [k for k, x in enumerate(given) if any(x is one for one in wanted)]
    return [in_complex_rows(np.stack([column[0].reshape(-1) for column in columns(lambda *xs: fn(xs), given, i, eps)]),
                            given[i]) for i in places]


def get_analytical_jacobian(inputs: object, output: Tensor, nondet_tol: float = 0.0, grad_out: float = 1.0) -> tuple:
    """Deprecated. Jacobians of an output by backward; whether they come again, and in the inputs' shapes and dtypes."""
    _deprecated("get_analytical_jacobian", grad_out)
    xs = [x for x in as_tuple(inputs) if isinstance(x, Tensor) and requires_grad(x)]
    first, again = (_rows(output, xs) for _ in range(2))
    jacobians = [wrap(np.stack([row[k].reshape(-1) for row in first], -1)) for k in range(len(xs))]
    reentrant = all(np.abs(a - b).max(initial=0) <= nondet_tol for one, other in zip(first, again)
                    for a, b in zip(one, other))
    sizes = all(g.shape == x._a.shape for row in first for g, x in zip(row, xs))
    return tuple(jacobians), reentrant, sizes, all(g.dtype == x._a.dtype for row in first for g, x in zip(row, xs))


def _rows(output: Tensor, xs: list) -> list:
    return [[dense(g, x)._a for g, x in zip(grad(output, xs, wrap(unit), retain_graph=True, allow_unused=True), xs)]
            for unit in units_like(output._a)]


__all__: Sequence = ("gradcheck", "gradgradcheck", "GradcheckError", "get_numerical_jacobian",
                     "get_analytical_jacobian")
