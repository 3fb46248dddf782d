"""autograd.backward and autograd.grad."""
import warnings
from collections.abc import Callable, Sequence

import numpy as np

from ...ir.op import registry
from ...util.array import ArrayOrNumber
from ..graph import record
from ..graph.node import GradientEdge, Node
from ..graph.record import edge
from ..graph.views import keep_tangent, tangent_of
from ..tensors import errors
from ..tensors.errors import refuse_if
from ..tensors.tensor import Size, Tensor, wrap
from .engine import execute


def as_sequence(x: object) -> tuple:
    """One tensor or several, as a tuple; an edge of the graph (a node and which of its results) is one."""
    return (x,) if isinstance(x, (Tensor, GradientEdge, Node)) else tuple(x)


def gradients_of(outputs: Sequence, given: Sequence, batched: bool = False) -> list:
    """The gradient each root starts with: as given, or 1 for a scalar."""
    return [_first_gradient(k, y, g, batched) for k, (y, g) in enumerate(zip(outputs, given))]


def _first_gradient(k: int, y: Tensor, g: object, batched: bool) -> "Tensor | None":
    if (g.__class__ is Tensor and y.__class__ is Tensor and not batched and g._a.shape == y._a.shape
            and g._a.dtype is y._a.dtype):
        return g
    if isinstance(y, GradientEdge):
        y = _standing_for(y, g)
    if g is None:
        a = y._a
        if not needs(y):
            return None
        if a.size != 1:
            raise RuntimeError("grad can be implicitly created only for scalar outputs")
        if a.dtype.kind != "f":
            raise RuntimeError(f"grad can be implicitly created only for real scalar outputs but got torch.{a.dtype}")
        return wrap(np.array(1, a.dtype, ndmin=len(a.shape)))
    if not isinstance(g, Tensor):
        if not isinstance(g, np.ndarray):
            raise TypeError(f"gradients can be either Tensors or None, but got {type(g).__name__}")
        g = wrap(g)
    wanted, shape = _calculate_shape(y, g, batched)
    if shape != wanted and batched:
        raise RuntimeError("If `is_grads_batched=True`, we interpret the first dimension of each grad_output as the "
                           "batch dimension. The sizes of the remaining dimensions are expected to match the shape of "
                           f"corresponding output, but a mismatch was detected: grad_output[{k}] has a shape of "
                           f"{Size(g._a.shape)} and output[{k}] has a shape of {Size(y._a.shape)}. If "
                           "you only want some tensors in `grad_output` to be considered batched, consider using vmap.")
    if shape != wanted:
        raise RuntimeError(f"Mismatch in shape: grad_output[{k}] has a shape of {Size(g._a.shape)} and "
                           f"output[{k}] has a shape of {Size(y._a.shape)}.")
    if (g._a.dtype.kind == "c") != (y._a.dtype.kind == "c"):
        raise RuntimeError("For complex Tensors, both grad_output and output are required to have the same dtype. "
                           f"Mismatch in dtype: grad_output[{k}] has a dtype of torch.{g._a.dtype} and output[{k}] has "
                           f"a dtype of torch.{y._a.dtype}.")
    return g if g._a.dtype == y._a.dtype or not needs(y) else g.to(y._a.dtype)


def _calculate_shape(output: object, grad: Tensor, is_grads_batched: bool) -> tuple:
    """The shape that a gradient of this output must have, and the one that this gradient has (of a batch: its rows)."""
    shape = grad._a.shape[1:] if is_grads_batched else grad._a.shape
    return Size(output._a.shape), Size(shape)


class _Result:
    """The stand-in for a node's result of which shape and dtype are known."""

    __slots__ = ("_a",)

    def __init__(self, a: ArrayOrNumber):
        self._a = a


def _standing_for(y: GradientEdge, g: "Tensor | None") -> "_Result":
    meta = y.node._input_metadata[y.output_nr]
    if meta is not None:
        return _Result(meta)
    refuse_if(g is None, "grad_outputs must be given for an edge of the graph of which no tensor is known: make edges "
              "by get_gradient_edge(tensor)")
    return _Result(g._a if isinstance(g, Tensor) else g)


def needs(y: Tensor) -> bool:
    return isinstance(y, _Result) or edge(y) is not None


def number_of(y: object) -> int:
    if isinstance(y, GradientEdge):
        return y.output_nr
    return y._nr if y._fn is not None else 0


def _roots(tensors: Sequence, gradients: Sequence) -> list:
    roots = []
    for k, (y, g) in enumerate(zip(tensors, gradients)):
        node = y.node if isinstance(y, GradientEdge) else edge(y)
        if node is None:
            raise RuntimeError(errors.NO_GRAD_NEEDED.format(k))
        if g is not None:
            roots.append((node, number_of(y), g))
    return roots


def backward(tensors: object, grad_tensors: object = None, retain_graph: "bool | None" = None,
             create_graph: bool = False, grad_variables: object = None, inputs: object = None) -> None:
    """Accumulate into the leaves' .grad the sum of the gradients of the given tensors, each times its grad_tensor.

    >>> import fad
    >>> x = fad.tensor([1.0, 2.0], requires_grad=True)
    >>> backward((x ** 2).sum())
    >>> x.grad
    tensor([2., 4.])
    """
    if tensors.__class__ is Tensor and inputs is None and not create_graph and grad_variables is None:    # most often
        if grad_tensors is None or grad_tensors.__class__ is Tensor:
            g = _first_gradient(0, tensors, grad_tensors, False)
            node = edge(tensors)
            if node is None:
                raise RuntimeError(errors.NO_GRAD_NEEDED.format(0))
            execute([(node, tensors._nr if tensors._fn is not None else 0, g)], bool(retain_graph), False)
            return
    if grad_variables is not None:
        warnings.warn("`grad_variables` is deprecated. Use `grad_tensors` instead.", FutureWarning, stacklevel=2)
        if grad_tensors is not None:
            raise RuntimeError("`grad_tensors` and `grad_variables` (deprecated) arguments both passed to "
                               "`backward()`. Please only use `grad_tensors`.")
        grad_tensors = grad_variables
    chosen = None if inputs is None else as_sequence(inputs)
    if chosen is not None and not chosen:
        raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
    outputs = as_sequence(tensors)
    given = (None,) * len(outputs) if grad_tensors is None else as_sequence(grad_tensors)
    if len(given) != len(outputs):
        raise RuntimeError(f"got {len(outputs)} tensors and {len(given)} gradients")
    keep = create_graph if retain_graph is None else retain_graph
    if create_graph:
        warnings.warn("Using backward() with create_graph=True will create a reference cycle between the parameter and "
                      "its gradient which can cause a memory leak. We recommend using autograd.grad when creating the "
                      "graph to avoid this. If you have to use this function, make sure to reset the .grad fields of "
                      "your parameters to None after use to break the cycle and avoid the leak.",
                      UserWarning, stacklevel=2)
    roots = _roots(outputs, gradients_of(outputs, given))
    if chosen is None:
        execute(roots, bool(keep), create_graph)
        return
    for x in chosen:                                      # those alone get a gradient, leaves or not
        if isinstance(x, Tensor):
            x.retain_grad()
    execute(roots, bool(keep), create_graph, _wanted(chosen)[0], accumulate=True)


def _wanted(inputs: Sequence) -> "tuple[dict, list]":
    """(node, result number) -> place of the inputs, and the places of inputs that share one."""
    wanted: dict = {}
    same: list = []
    for place, x in enumerate(inputs):
        if not isinstance(x, (Tensor, GradientEdge)):
            raise RuntimeError(f"all inputs have to be Tensors or GradientEdges, but got {type(x).__name__}")
        node = edge(x) if isinstance(x, Tensor) else x.node if isinstance(x, GradientEdge) else None
        if node is None:
            raise RuntimeError(errors.NOT_REQUIRED)
        key = node, number_of(x)
        if key in wanted:
            same.append((place, wanted[key]))
        else:
            wanted[key] = place
    return wanted, same


def grad(outputs: object, inputs: object, grad_outputs: object = None, retain_graph: "bool | None" = None,
         create_graph: bool = False, only_inputs: bool = True, allow_unused: "bool | None" = None,
         is_grads_batched: bool = False, materialize_grads: bool = False) -> tuple:
    """The gradients of the outputs' sum (each times its grad_output) with respect to the inputs, as a tuple.

    allow_unused: None for an input that the outputs do not depend on, in place of an error (materialize_grads: zeros).
    is_grads_batched: the grad_outputs have a batch axis in front, and so have the answers.

    >>> import fad
    >>> x = fad.tensor([1.0, 2.0], requires_grad=True)
    >>> grad((x ** 2).sum(), x)
    (tensor([2., 4.]),)
    """
    refuse_if(materialize_grads and allow_unused is False, "Expected allow_unused to be True or not passed when "
              "materialize_grads=True, but got: allow_unused=False.", ValueError)
    allow = bool(materialize_grads if allow_unused is None else allow_unused)
    if not only_inputs:
        warnings.warn("only_inputs argument is deprecated and is ignored now (defaults to True). To accumulate "
                      "gradient for other parts of the graph, please use backward.", FutureWarning, stacklevel=2)
    ys, xs = as_sequence(outputs), as_sequence(inputs)
    refuse_if(not xs, "`inputs` argument to `grad()` cannot be empty.")
    for t in ys:
        if not isinstance(t, (Tensor, GradientEdge)):
            raise TypeError(f"outputs can be either Tensors or GradientEdges, but got {type(t).__name__}")
    given = (None,) * len(ys) if grad_outputs is None else as_sequence(grad_outputs)
    refuse_if(len(given) != len(ys), f"got {len(ys)} tensors and {len(given)} gradients")
    keep = bool(create_graph if retain_graph is None else retain_graph)
    gs = gradients_of(ys, given, is_grads_batched)
    if is_grads_batched:
        answers = _batched(lambda rows, last: _grad(ys, xs, rows, keep or not last, create_graph, allow), gs)
    else:
        answers = _grad(ys, xs, gs, keep, create_graph, allow)
    if materialize_grads:
        if any(g is None and not isinstance(x, Tensor) for g, x in zip(answers, xs)):
            raise RuntimeError("materialize_grads cannot be used when the given input is a GradientEdge")
        answers = tuple([_zeros(x, create_graph) if g is None else g for g, x in zip(answers, xs)])
    return answers


def _grad(ys: tuple, xs: tuple, gs: Sequence, keep: bool, create: bool, allow: bool) -> tuple:
    roots = _roots(ys, gs)
    wanted, same = _wanted(xs)
    found = execute(roots, keep, create, wanted, accumulate=False)
    for place, first in same:
        found[place] = found.get(first)
    unused = [k for k in range(len(xs)) if found.get(k) is None]
    if unused and not allow:
        raise RuntimeError(errors.UNUSED.format(unused[0]))
    answers = tuple([found.get(k) for k in range(len(xs))])
    return answers if create else tuple([None if g is None else _alone(g) for g in answers])


def _alone(g: Tensor) -> Tensor:
    """A gradient without a history, with its tangent."""
    alone, tangent = wrap(own(g._a)), tangent_of(g)
    if tangent is not None:
        keep_tangent(alone, tangent)
    return alone


def _zeros(x: Tensor, needed: bool) -> Tensor:
    t = wrap(np.zeros_like(x._a))
    t._rg = needed
    return t


def own(a: np.ndarray) -> np.ndarray:
    """An array nobody else writes to: a copy of a view."""
    return a if a.base is None and a.flags.writeable else a.copy()


def _batched(rows_to_grads: Callable, gs: Sequence) -> tuple:
    """One backward pass for each row of the gradients, stacked."""
    count = len(next(g for g in gs if g is not None)._a)
    if not count:                                       # of no rows: none of those that a row of zeros has
        gs = [None if g is None else wrap(np.zeros((1, *g._a.shape[1:]), g._a.dtype)) for g in gs]
    last = max(count, 1) - 1
    rows = [rows_to_grads([None if g is None else g[k] for g in gs], k == last) for k in range(last + 1)]
    answers = [None if column[0] is None else stack_rows(column) for column in zip(*rows)]
    return tuple(answers if count else [None if g is None else g[:0] for g in answers])


def stack_rows(column: Sequence) -> Tensor:
    """Tensors of one shape, one on the other, with their history."""
    rows = [record.apply(registry["reshape"], (g, 1, *g._a.shape), {}) for g in column]
    return record.apply(registry["concatenate"], tuple(rows), {"axis": 0}, "StackBackward0")
