"""gradcheck and gradgradcheck: derivatives against differences.

Complex numbers count as pairs of real ones: an output's real and imaginary parts are checked apart, by cotangents 1 and i.
"""
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from . import forward_ad
from .grad_api import grad
from .inplace import requires_grad
from .state import changed
from .tensor import Tensor, is_floating, wrap


class GradcheckError(RuntimeError):
    """A derivative does not agree with differences."""


class Options(NamedTuple):
    """What a check was asked for."""

    eps: float
    atol: float
    rtol: float
    nondet_tol: float
    fast: bool


def _tuple(x: Any) -> tuple:
    return tuple(x) if isinstance(x, (tuple, list)) else (x,)


def _differentiable(outputs: Any) -> tuple:
    return tuple([y for y in _tuple(outputs) if isinstance(y, Tensor) and is_floating(y._a.dtype) and requires_grad(y)])


def _directions(dtype: np.dtype) -> tuple:
    return (1.0, 1j) if dtype.kind == "c" else (1.0,)


def gradcheck(func: Callable, inputs: Any, *, eps: float = 1e-6, atol: float = 1e-5, rtol: float = 1e-3, raise_exception: bool = True,
              nondet_tol: float = 0.0, check_undefined_grad: bool = True, check_grad_dtypes: bool = False, check_batched_grad: bool = False,
              check_batched_forward_grad: bool = False, check_forward_ad: bool = False, check_backward_ad: bool = True, fast_mode: bool = False,
              masked: Any = None) -> bool:
    """Whether func's derivatives with respect to inputs that require gradients agree with central differences of step eps.

    Raises GradcheckError (a RuntimeError) where they do not, unless raise_exception=False. fast_mode compares one random projection.

    >>> import fad
    >>> gradcheck(lambda x: x.exp(), fad.tensor([0.5, 1.0], requires_grad=True))
    True
    """
    if not (check_forward_ad or check_backward_ad):
        raise AssertionError("Expected at least one of check_forward_ad or check_backward_ad to be True")
    if check_batched_grad and not check_backward_ad:
        raise AssertionError("Setting check_batched_grad=True requires check_backward_ad to be True")
    if check_batched_forward_grad and not check_forward_ad:
        raise AssertionError("Setting check_batched_forward_grad=True requires check_forward_ad to be True")
    options = Options(eps, atol, rtol, nondet_tol, fast_mode)
    try:
        _gradcheck(func, _tuple(inputs), options, check_undefined_grad, check_grad_dtypes, check_batched_grad, check_forward_ad, check_backward_ad)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def _gradcheck(func: Callable, inputs: tuple, options: Options, undefined: bool, dtypes: bool, batched: bool, forward: bool, backward: bool) -> None:
    _check_inputs(inputs)
    with changed(grad=True):
        outputs = func(*inputs)
    ys = _differentiable(outputs)
    _check_outputs(outputs)
    places = [k for k, x in enumerate(inputs) if isinstance(x, Tensor) and requires_grad(x)]
    if not ys:
        _check_no_output(func, inputs, places, options)
        return
    func = _chosen(func, [k for k, y in enumerate(_tuple(outputs)) if any(y is one for one in ys)])
    check = _fast if options.fast else _slow
    if forward:
        check(_forward_products, func, inputs, places, ys, options, "forward")
    if not backward:
        return
    check(_backward_products, func, inputs, places, ys, options, "backward")
    _check_reentrant(ys, inputs, places, options)
    if batched:
        _check_batched(ys, inputs, places)
    _check_properties(ys, inputs, places, dtypes)
    if undefined:
        _check_undefined(func, inputs, places)


def _chosen(func: Callable, places: list) -> Callable:
    """func with the outputs at these places alone."""
    def call(*xs: Any) -> tuple:
        ys = _tuple(func(*xs))
        return tuple([ys[k] for k in places])
    return call


def _check_inputs(inputs: tuple) -> None:
    if not any(isinstance(x, Tensor) and requires_grad(x) for x in inputs):
        raise ValueError("gradcheck expects at least one input tensor to require gradient, but none of the them have requires_grad=True.")
    for k, x in enumerate(inputs):
        if isinstance(x, Tensor) and requires_grad(x):
            if x._a.dtype not in (np.dtype(np.float64), np.dtype(np.complex128)):
                warnings.warn(f"Input #{k} requires gradient and is not a double precision floating point or complex. This check will likely fail if all the "
                              "inputs are not of double precision floating point or complex. ", UserWarning, stacklevel=4)
            if any(n > 1 and s == 0 for n, s in zip(x._a.shape, x._a.strides)):
                raise RuntimeError(f"The {k}th input has a dimension with stride 0. gradcheck only supports inputs that are non-overlapping to be able to "
                                   "compute the numerical gradients correctly. You should call .contiguous on the input before passing it to gradcheck.")
            if x._fn is not None:
                x.retain_grad()                                                          # type: ignore[attr-defined]


def _check_outputs(outputs: Any) -> None:
    for y in _tuple(outputs):
        if not isinstance(y, Tensor):
            raise ValueError(f"Expected outputs of func to be Tensors, got {type(y).__name__}")


def _check_no_output(func: Callable, inputs: tuple, places: list, options: Options) -> None:
    """Where no output requires a gradient, differences have to be zero."""
    for i in places:
        for column in _columns(func, inputs, i, options.eps):
            for k, dy in enumerate(column):
                if np.abs(dy).max(initial=0) > options.eps:
                    raise GradcheckError(f"Numerical gradient for function expected to be zero (output {k}, input {i})")


# -- differences -------------------------------------------------------------------------------------------------------------


def _values(func: Callable, inputs: tuple) -> list:
    with changed(grad=True):                                  # func may ask whether its tensors require gradients
        ys = _tuple(func(*inputs))
    return [np.array(y._a) for y in ys if isinstance(y, Tensor) and is_floating(y._a.dtype)]


def _difference(func: Callable, inputs: tuple, i: int, step: np.ndarray, eps: float) -> list:
    """(f(x + eps step) - f(x - eps step)) / 2 eps for input i, whose memory is changed for the while."""
    a = inputs[i]._a
    before = a.copy()
    try:
        a[...] = before + eps * step
        up = _values(func, inputs)
        a[...] = before - eps * step
        down = _values(func, inputs)
    finally:
        a[...] = before
    return [(u - d) / (2 * eps) for u, d in zip(up, down)]


def _steps(x: Tensor) -> list:
    """Unit steps along every element (and, of a complex one, along i)."""
    steps = []
    for j in range(x._a.size):
        for direction in _directions(x._a.dtype):
            step = np.zeros(x._a.size, x._a.dtype)
            step[j] = direction
            steps.append(step.reshape(x._a.shape))
    return steps


def _columns(func: Callable, inputs: tuple, i: int, eps: float) -> list:
    return [_difference(func, inputs, i, step, eps) for step in _steps(inputs[i])]


# -- analytical ----------------------------------------------------------------------------------------------------------------


def _backward_products(func: Callable, inputs: tuple, places: list, ys: tuple, gs: dict, steps: dict) -> dict:
    """(output, cotangent number, input, step number) -> Re(conj(g) J step), by reverse mode."""
    found = {}
    for k, y in enumerate(ys):
        for a, g in enumerate(gs[k]):
            gxs = grad(y, [inputs[i] for i in places], wrap(g), retain_graph=True, allow_unused=True)
            for i, gx in zip(places, gxs):
                array = np.zeros_like(inputs[i]._a) if gx is None else gx._a
                for b, step in enumerate(steps[i]):
                    found[k, a, i, b] = np.sum(array.conj() * step).real
    return found


def _forward_products(func: Callable, inputs: tuple, places: list, ys: tuple, gs: dict, steps: dict) -> dict:
    """The same by forward mode."""
    found = {}
    for i in places:
        for b, step in enumerate(steps[i]):
            with forward_ad.dual_level():
                duals = [forward_ad.make_dual(x.detach() if isinstance(x, Tensor) else x, wrap(step.copy())) if j == i else x for j, x in enumerate(inputs)]
                results = [y for y in _tuple(func(*duals)) if isinstance(y, Tensor) and is_floating(y._a.dtype)]
                tangents = [forward_ad.unpack_dual(y).tangent for y in results]
                arrays = [np.zeros_like(y._a) if d is None else d._a.copy() for y, d in zip(results, tangents)]
            for k, dy in enumerate(arrays[:len(ys)]):
                for a, g in enumerate(gs[k]):
                    found[k, a, i, b] = np.sum(g.conj() * dy).real
    return found


def _compare(products: Callable, func: Callable, inputs: tuple, places: list, ys: tuple, gs: dict, steps: dict, options: Options, mode: str) -> None:
    analytical = products(func, inputs, places, ys, gs, steps)
    for i in places:
        columns = [_difference(func, inputs, i, step, options.eps) for step in steps[i]]
        for k in range(len(ys)):
            numerical = np.array([[np.sum(g.conj() * dy[k]).real for g in gs[k]] for dy in columns]).reshape(len(steps[i]), len(gs[k]))
            exact = np.array([[analytical[k, a, i, b] for a in range(len(gs[k]))] for b in range(len(steps[i]))]).reshape(numerical.shape)
            if not np.allclose(exact, numerical, options.rtol, options.atol, equal_nan=True):
                raise GradcheckError(_mismatch(k, i, numerical, exact, ys[k], inputs[i], options.fast, mode))


def _mismatch(k: int, i: int, numerical: np.ndarray, exact: np.ndarray, y: Tensor, x: Tensor, fast: bool, mode: str) -> str:
    part = ""
    if y._a.dtype.kind == "c" and not fast:
        wrong_real = not np.allclose(exact[:, 0::2], numerical[:, 0::2], 1e-3, 1e-5)
        part = f"While considering the {'real' if wrong_real else 'imaginary'} part of complex outputs only, "
    how = " computed with forward mode" if mode == "forward" else ""
    note = "\nThe above quantities relating the numerical and analytical jacobians are computed in fast mode." if fast else ""
    return f"{part}Jacobian{how} mismatch for output {k} with respect to input {i},\nnumerical:{numerical}\nanalytical:{exact}\n{note}"


def _slow(products: Callable, func: Callable, inputs: tuple, places: list, ys: tuple, options: Options, mode: str) -> None:
    gs = {k: _steps(y) for k, y in enumerate(ys)}
    steps = {i: _steps(inputs[i]) for i in places}
    _compare(products, func, inputs, places, ys, gs, steps, options, mode)


def _fast(products: Callable, func: Callable, inputs: tuple, places: list, ys: tuple, options: Options, mode: str) -> None:
    rng = np.random.default_rng(0)
    gs = {k: [_random(rng, y)] for k, y in enumerate(ys)}
    steps = {i: [_random(rng, inputs[i])] for i in places}
    _compare(products, func, inputs, places, ys, gs, steps, options, mode)


def _random(rng: Any, x: Tensor) -> np.ndarray:
    """A random direction of length one."""
    v = rng.random(x._a.shape) + (1j * rng.random(x._a.shape) if x._a.dtype.kind == "c" else 0)
    return np.asarray(v / max(np.sqrt(np.sum(np.abs(v) ** 2)), 1e-30)).astype(x._a.dtype)


# -- further checks ---------------------------------------------------------------------------------------------------------------


def _check_reentrant(ys: tuple, inputs: tuple, places: list, options: Options) -> None:
    xs = [inputs[i] for i in places]
    for y in ys:
        g = _random(np.random.default_rng(1), y)
        first, second = (grad(y, xs, wrap(g.copy()), retain_graph=True, allow_unused=True) for _ in range(2))
        for a, b in zip(first, second):
            if a is not None and b is not None and np.abs(a._a - b._a).max(initial=0) > options.nondet_tol:
                raise GradcheckError("Backward is not reentrant, i.e., running backward with same input and grad_output multiple times gives different values, "
                                     f"although analytical gradient matches numerical gradient.The tolerance for nondeterminism was {options.nondet_tol}.")


def _check_batched(ys: tuple, inputs: tuple, places: list) -> None:
    xs = [inputs[i] for i in places]
    for k, y in enumerate(ys):
        gs = wrap(np.stack([_random(np.random.default_rng(j), y) for j in range(2)]))
        together = grad(y, xs, gs, is_grads_batched=True, retain_graph=True, allow_unused=True)
        for j in range(2):
            for i, a, b in zip(places, together, grad(y, xs, gs[j], retain_graph=True, allow_unused=True)):
                if b is not None and not np.allclose(a._a[j], b._a):
                    raise GradcheckError(f"For output {k} and input {i}: batched gradients differ from those one by one")


def _check_properties(ys: tuple, inputs: tuple, places: list, dtypes: bool) -> None:
    xs = [inputs[i] for i in places]
    zeros = [wrap(np.zeros_like(y._a)) for y in ys]
    for i, x, gx in zip(places, xs, grad(ys, xs, zeros, retain_graph=True, allow_unused=True)):
        if gx is None:
            continue
        if np.abs(gx._a).max(initial=0) != 0:
            raise GradcheckError("backward not multiplied by grad_output")
        if dtypes and gx._a.dtype != x._a.dtype:
            raise GradcheckError(f"grad is incorrect type: got {gx._a.dtype} for input {i} of {x._a.dtype}")
        if gx._a.shape != x._a.shape:
            raise GradcheckError("grad is incorrect size")


def _check_undefined(func: Callable, inputs: tuple, places: list) -> None:
    """backward of several outputs must bear that some have no gradient."""
    xs = [inputs[i] for i in places]
    with changed(grad=True):
        ys = _differentiable(func(*inputs))
    for k in range(len(ys) if len(ys) > 1 else 0):
        try:
            grad(ys[k], xs, wrap(np.zeros_like(ys[k]._a)), retain_graph=True, allow_unused=True)
        except (TypeError, AttributeError) as error:
            raise GradcheckError("Expected backward function to handle undefined output grads. Please look at 'Notes about undefined output gradients' in "
                                 f"the documentation of autograd.Function: {error}") from error


def gradgradcheck(func: Callable, inputs: Any, grad_outputs: Any = None, *, eps: float = 1e-6, atol: float = 1e-5, rtol: float = 1e-3,
                  gen_non_contig_grad_outputs: bool = False, raise_exception: bool = True, nondet_tol: float = 0.0, check_undefined_grad: bool = True,
                  check_grad_dtypes: bool = False, check_batched_grad: bool = False, check_fwd_over_rev: bool = False, check_rev_over_rev: bool = True,
                  fast_mode: bool = False, masked: bool = False) -> bool:
    """gradcheck of func's gradient, with respect to the inputs and to the grad_outputs (random ones, if none are given).

    >>> import fad
    >>> gradgradcheck(lambda x: x.exp(), fad.tensor([0.5, 1.0], requires_grad=True))
    True
    """
    if not (check_fwd_over_rev or check_rev_over_rev):
        raise AssertionError("Expected at least one of check_fwd_over_rev or check_rev_over_rev to be True")
    xs = _tuple(inputs)
    gs = _cotangents(func, xs, gen_non_contig_grad_outputs) if grad_outputs is None else _tuple(grad_outputs)
    count = len(gs)

    def gradient(*args: Any) -> tuple:
        given, vs = args[:-count], args[-count:]
        given = tuple([x.requires_grad_() if isinstance(x, Tensor) and is_floating(x._a.dtype) and x._fn is None and requires_grad(old) else x
                       for x, old in zip(given, xs)])
        with changed(grad=True):
            ys = _differentiable(func(*given))
            wanted = tuple([x for x in given if isinstance(x, Tensor) and requires_grad(x)])
            answers = grad(ys, wanted, vs, create_graph=True, allow_unused=True)
        return tuple([g for g in answers if g is not None])
    return gradcheck(gradient, (*xs, *gs), eps=eps, atol=atol, rtol=rtol, raise_exception=raise_exception, nondet_tol=nondet_tol,
                     check_undefined_grad=check_undefined_grad, check_grad_dtypes=check_grad_dtypes, check_batched_grad=check_batched_grad,
                     fast_mode=fast_mode, check_forward_ad=check_fwd_over_rev, check_backward_ad=check_rev_over_rev)


def _cotangents(func: Callable, xs: tuple, spread: bool) -> tuple:
    rng = np.random.default_rng(2)
    out = []
    for y in _differentiable(func(*xs)):
        a = rng.random(y._a.shape) + (1j * rng.random(y._a.shape) if y._a.dtype.kind == "c" else 0)
        a = np.asarray(a).astype(y._a.dtype)
        if spread and a.ndim:
            a = np.repeat(a[..., None], 2, -1)[..., 0]
        t = wrap(a)
        t._rg = True
        out.append(t)
    return tuple(out)


__all__: Sequence = ("gradcheck", "gradgradcheck", "GradcheckError")
