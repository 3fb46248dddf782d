"""autograd.functional on tensors; on arrays those of api/derivatives/functional.py, which have the same signatures."""
import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...api.derivatives import functional as of_arrays
from ...util.array import AnyArray, ArrayLike
from ...util.keywords import named_as_here
from ..engine.grad_api import grad
from ..functions.joining import stack
from ..graph.inplace import requires_grad
from ..graph.view_kinds import alias_view
from ..graph.views import tangent_of
from ..tensors.errors import refuse_if
from ..tensors.state import changed
from ..tensors.tensor import Tensor, wrap
from .func import by_columns

STRICT = "This is not allowed in strict mode"
_MISSING = {
    "back": "The output of the user-provided function is independent of input {0}. {strict}.",
    "back_trick": "The gradient with respect to the input is independent of entry {0} in the grad_outputs when using "
                  "the double backward trick to compute forward mode gradients. {strict}.",
    "double_back": "The jacobian of the user-provided function is independent of input {0}. {strict}.",
    "double_back_trick": "The hessian of the user-provided function is independent of entry {0} in the grad_jacobian. "
                         "{strict} as it prevents from using the double backward trick to replace forward mode AD."}
_CONSTANT = {
    "outputs": "Output {0} of the user-provided function does not require gradients. The outputs must be computed in a "
               "differentiable manner from the input when running in strict mode.",
    "grad_inputs": "The gradient with respect to input {0} is independent of the inputs of the user-provided function. "
                   "{strict}.",
    "jacobian": "While computing the hessian, found that the jacobian of the user-provided function with respect to "
                "input {0} is independent of the input. {strict}. You should ensure that your function is twice "
                "differentiable and that the jacobian depends on the inputs (this would be violated by a linear "
                "function for example).",
    "hessian": "The hessian of the user-provided function with respect to input {0} is independent of the input. "
               "{strict}. You should ensure that your function is thrice differentiable and that the hessian depends "
               "on the inputs."}


def _or_on_arrays(f: Callable) -> Callable:
    """f, recorded in any mode; where no input is a tensor, the function of arrays that has its name."""
    @functools.wraps(f)
    def call(func: Callable, inputs: object, *args: object, **options: object) -> Any:
        given = inputs if isinstance(inputs, (tuple, list)) else (inputs,)
        if not any(isinstance(x, Tensor) for x in given):
            return getattr(of_arrays, f.__name__)(func, inputs, *args, **options)
        with changed(grad=True):
            return f(func, inputs, *args, **options)
    return call


def _as_tuple(given: object, what: str, name: str) -> "tuple[bool, tuple]":
    several = isinstance(given, (tuple, list))
    out = tuple(given) if several else (given,)
    for k, x in enumerate(out):
        if not isinstance(x, Tensor):
            where = f"value at index {k}" if several else "given " + what
            raise TypeError(f"The {what} given to {name} must be either a Tensor or a tuple of Tensors but the {where} "
                            f"has type {type(x)}.")
    return several, out


def _inputs(inputs: object, name: str, create_graph: bool) -> "tuple[bool, tuple]":
    several, xs = _as_tuple(inputs, "inputs", name)
    if create_graph:
        return several, tuple([alias_view(x) if requires_grad(x) else x.detach().requires_grad_() for x in xs])
    return several, tuple([x.detach().requires_grad_() for x in xs])


def _outputs(func: Callable, xs: tuple, name: str) -> "tuple[bool, tuple]":
    return _as_tuple(func(*xs), "outputs of the user-provided function", name)


def _require(tensors: Sequence, what: str, strict: bool) -> None:
    """In strict mode, see to it that tensors depend on the inputs."""
    if not strict:
        return
    for k, t in enumerate(tensors):
        if t is None:
            raise RuntimeError(_MISSING["back"].format(k, strict=STRICT))
        if not requires_grad(t):
            raise RuntimeError(_CONSTANT[what].format(k, strict=STRICT))


def _grad(ys: Sequence, xs: tuple, gs: "Sequence | None" = None, create_graph: bool = False) -> tuple:
    """Gradients, None where there is no dependence."""
    gs = (None,) * len(ys) if gs is None else gs
    pairs = [(y, g) for y, g in zip(ys, gs) if y is not None and requires_grad(y)]
    if not pairs:
        return (None,) * len(xs)
    return grad([y for y, _ in pairs], xs, [g for _, g in pairs], allow_unused=True, create_graph=create_graph,
                retain_graph=True)


def _filled(grads: Sequence, refs: Sequence, strict: bool, create_graph: bool, stage: str) -> tuple:
    """Zeros for None; in strict mode an error."""
    out = []
    for k, (g, x) in enumerate(zip(grads, refs)):
        if g is None:
            if strict:
                raise RuntimeError(_MISSING[stage].format(k, strict=STRICT))
            g = wrap(np.zeros_like(x._a))
        elif strict and create_graph and not requires_grad(g):
            what = "jacobian" if "double" not in stage else "hessian"
            raise RuntimeError(f"The {what} of the user-provided function is independent of input {k}. {STRICT} when "
                               "create_graph=True.")
        out.append(g)
    return tuple(out)


def _finished(tensors: object, create_graph: bool) -> Any:
    if isinstance(tensors, tuple):
        return tuple([_finished(t, create_graph) for t in tensors])
    return tensors if create_graph else tensors.detach()


def _unpacked(tensors: tuple, several: "bool | tuple") -> Any:
    if isinstance(several, tuple):                         # (outputs, inputs)
        rows = tuple([row if several[1] else row[0] for row in tensors])
        return rows if several[0] else rows[0]
    return tensors if several else tensors[0]


def _vector(v: object, models: tuple, several: bool, name: str) -> tuple:
    _, given = _as_tuple(v, "v", name)
    if len(given) != len(models):
        raise RuntimeError(f"v is a tuple of invalid length: should be {len(models)} but got {len(given)}." if several
                           else "The given v should contain a single Tensor.")
    for k, (a, x) in enumerate(zip(given, models)):
        if a.shape != x.shape:
            prepend = f"Entry {k} in " if several else ""
            raise RuntimeError(f"{prepend}v has invalid size: should be {x.shape} but got {a.shape}.")
    return given


@named_as_here
@_or_on_arrays
def vjp(func: Callable, inputs: object, v: object = None, create_graph: bool = False, strict: bool = False) -> tuple:
    """(outputs, product of v with the Jacobian) of func at the inputs.

    >>> import fad
    >>> vjp(lambda x: x ** 2, fad.tensor([1.0, 2.0]), fad.ones(2))
    (tensor([1., 4.]), tensor([2., 4.]))
    """
    several, xs = _inputs(inputs, "vjp", create_graph)
    several_out, ys = _outputs(func, xs, "vjp")
    _require(ys, "outputs", strict)
    if v is None:
        _single(ys, "the user-provided function returns")
    gs = (None,) if v is None else _vector(v, ys, several_out, "vjp")
    gxs = _filled(_grad(ys, xs, gs, create_graph), xs, strict, create_graph, "back")
    return _unpacked(_finished(ys, create_graph), several_out), _unpacked(_finished(gxs, create_graph), several)


def _single(tensors: tuple, what: str) -> None:
    refuse_if(len(tensors) != 1 or tensors[0]._a.size != 1, f"The vector v can only be None if {what} a single Tensor "
              "with a single element.")


@named_as_here
@_or_on_arrays
def jvp(func: Callable, inputs: object, v: object = None, create_graph: bool = False, strict: bool = False) -> tuple:
    """(outputs, product of the Jacobian of func at the inputs with v).

    >>> import fad
    >>> jvp(lambda x: x ** 2, fad.tensor([1.0, 2.0]), fad.ones(2))
    (tensor([1., 4.]), tensor([2., 4.]))
    """
    several, xs = _inputs(inputs, "jvp", create_graph)
    dxs = _direction(v, xs, several, "jvp")
    several_out, ys = _outputs(func, xs, "jvp")
    _require(ys, "outputs", strict)
    gs = tuple([wrap(np.zeros_like(y._a)).requires_grad_() for y in ys])
    gxs = _grad(ys, xs, gs, create_graph=True)
    _require(gxs, "grad_inputs", strict)
    dys = _filled(_grad(gxs, gs, dxs, create_graph), ys, strict, create_graph, "back_trick")
    return _unpacked(_finished(ys, create_graph), several_out), _unpacked(_finished(dys, create_graph), several_out)


def _direction(v: AnyArray, xs: tuple, several: bool, name: str) -> tuple:
    if v is None:
        _single(xs, "the input to the user-provided function is")
        return (wrap(np.ones_like(xs[0]._a)),)
    return _vector(v, xs, several, name)


@named_as_here
@_or_on_arrays
def jacobian(func: Callable, inputs: ArrayLike, create_graph: bool = False, strict: bool = False,
             vectorize: bool = False, strategy: str = "reverse-mode") -> Any:
    """The Jacobian of func at the inputs: for each output and input a tensor of shape output.shape + input.shape.

    >>> import fad
    >>> jacobian(lambda x: x ** 2, fad.tensor([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]])
    """
    refuse_if(strategy not in ("forward-mode", "reverse-mode"), 'Expected strategy to be either "forward-mode" or '
              '"reverse-mode". Hint: If your function has more outputs than inputs, "forward-mode" tends to be more '
              'performant. Otherwise, prefer to use "reverse-mode".', AssertionError)
    if strategy == "forward-mode":
        refuse_if(create_graph, 'torch.autograd.functional.jacobian: `create_graph=True` and `strategy="forward-mode"` '
                  'are not supported together (yet). Please either set `create_graph=False` or '
                  '`strategy="reverse-mode"`.', NotImplementedError)
        refuse_if(strict, 'torch.autograd.functional.jacobian: `strict=True` and `strategy="forward-mode"` are not '
                  'supported together (yet). Please either set `strict=False` or `strategy="reverse-mode"`.')
        return _forward_jacobian(func, inputs)
    refuse_if(strict and vectorize, "torch.autograd.functional.jacobian: `strict=True` and `vectorized=True` are not "
              "supported together. Please either set `strict=False` or `vectorize=False`.")
    several, xs = _inputs(inputs, "jacobian", create_graph)
    several_out, ys = _outputs(func, xs, "jacobian")
    _require(ys, "outputs", strict)
    blocks = tuple([_rows(k, y, xs, create_graph, strict, vectorize) for k, y in enumerate(ys)])
    return _unpacked(_finished(blocks, create_graph), (several_out, several))


def _rows(k: int, y: Tensor, xs: tuple, create_graph: bool, strict: bool, vectorize: bool) -> tuple:
    """The blocks of one output: its gradients, element by element. Vectorized, complex outputs have them, too."""
    rows: list = [[] for _ in xs]
    flat = y.reshape(-1)
    seed = wrap(np.ones((), y._a.dtype)) if vectorize else None
    for j in range(flat._a.size):
        for i, (column, g, x) in enumerate(zip(rows, _grad((flat[j],), xs, (seed,), create_graph), xs)):
            if g is None:
                refuse_if(strict, f"Output {k} of the user-provided function is independent of input {i}. {STRICT}.")
                g = wrap(np.zeros_like(x._a))
            elif strict and create_graph and not requires_grad(g):
                raise RuntimeError(f"The jacobian of the user-provided function is independent of input {i}. {STRICT} "
                                   "when create_graph=True.")
            column.append(g)
    return tuple([(stack(column) if column else wrap(np.zeros((0, *x.shape)))).reshape(*y.shape, *x.shape)
                  for column, x in zip(rows, xs)])


def _forward_jacobian(func: Callable, inputs: object) -> Any:
    several, xs = _as_tuple(inputs, "inputs", "jacobian")

    def checked(*xs: Tensor) -> Any:
        several_out, ys = _outputs(func, xs, "jacobian")
        return ys if several_out else ys[0]
    return _finished(by_columns(checked, tuple(range(len(xs))) if several else 0, of_complex=True)(*xs), False)


def _scalar(func: Callable, xs: tuple, name: str) -> Tensor:
    several, ys = _outputs(func, xs, name)
    refuse_if(several or not isinstance(ys[0], Tensor), f"The function given to {name} should return a single Tensor")
    if ys[0]._a.size != 1:
        raise RuntimeError(f"The Tensor returned by the function given to {name} should contain a single element")
    return ys[0]


@named_as_here
@_or_on_arrays
def hessian(func: Callable, inputs: ArrayLike, create_graph: bool = False, strict: bool = False,
            vectorize: bool = False, outer_jacobian_strategy: str = "reverse-mode") -> Any:
    """The Hessian of a function that returns a single element: for each pair of inputs a tensor of shape a.shape +
    b.shape.

    >>> import fad
    >>> hessian(lambda x: (x ** 3).sum(), fad.tensor([1.0, 2.0]))
    tensor([[ 6.,  0.],
            [ 0., 12.]])
    """
    if outer_jacobian_strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError('Expected strategy to be either "forward-mode" or "reverse-mode".')
    several, _ = _as_tuple(inputs, "inputs", "hessian")

    def gradients(*xs: Tensor) -> tuple:
        if outer_jacobian_strategy == "forward-mode":
            xs = tuple([_dual_leaf(x) for x in xs])
        y = _scalar(func, xs, "hessian")
        _require((y,), "outputs", strict)
        gs = _grad((y,), xs, create_graph=True)
        gs = _filled(gs, xs, False, False, "back")
        _require(gs, "jacobian", strict)
        return gs

    blocks = (jacobian(gradients, inputs, create_graph, strict, vectorize, outer_jacobian_strategy)
              if outer_jacobian_strategy == "reverse-mode" else jacobian(gradients, inputs, strategy="forward-mode"))
    return blocks if several else blocks[0]


def _dual_leaf(x: Tensor) -> Tensor:
    """A leaf that requires a gradient and has x's tangent."""
    t = x.detach().requires_grad_()
    t.extra.tangent = tangent_of(x)
    return t


def _gradient(func: Callable, inputs: object, v: object, name: str, create_graph: bool, strict: bool) -> tuple:
    """Whether there are several inputs, the inputs, the vector v, the output of a scalar function and its gradient."""
    several, xs = _inputs(inputs, name, create_graph)
    vs = _direction(v, xs, several, name)
    y = _scalar(func, xs, name)
    _require((y,), "outputs", strict)
    gs = _grad((y,), xs, create_graph=True)
    _require(gs, "jacobian", strict)
    return several, xs, vs, y, _filled(gs, xs, strict, True, "double_back")


@named_as_here
@_or_on_arrays
def vhp(func: Callable, inputs: object, v: object = None, create_graph: bool = False, strict: bool = False) -> tuple:
    """(output, product of v with the Hessian) of a function that returns a single element."""
    several, xs, vs, y, gs = _gradient(func, inputs, v, "vhp", create_graph, strict)
    answer = _filled(_grad(gs, xs, vs, create_graph), xs, strict, create_graph, "double_back")
    return _finished(y, create_graph), _unpacked(_finished(answer, create_graph), several)


@named_as_here
@_or_on_arrays
def hvp(func: Callable, inputs: object, v: object = None, create_graph: bool = False, strict: bool = False) -> tuple:
    """(output, product of the Hessian with v) of a function that returns a single element."""
    several, xs, vs, y, gs = _gradient(func, inputs, v, "hvp", create_graph, strict)
    zeros = tuple([wrap(np.zeros_like(x._a)).requires_grad_() for x in xs])
    double = _grad(gs, xs, zeros, create_graph=True)
    _require(double, "hessian", strict)
    answer = _filled(_grad(double, zeros, vs, create_graph), xs, strict, create_graph, "double_back_trick")
    return _finished(y, create_graph), _unpacked(_finished(answer, create_graph), several)
