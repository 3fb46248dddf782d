"""Recording: an op is run on the arrays of its tensors, and a node is made where a gradient will be wanted."""
import traceback
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...ir.op import Op, registry
from ...util.array import ArrayOrNumber
from ...util.interrupts import reraise_interrupt
from ...util.where import is_library
from ..tensors import errors
from ..tensors.promotion import default, fitted, result_type
from ..tensors.state import now, state
from ..tensors.tensor import Lazy, Tensor, wrap
from .node import Node, accumulator, sequence
from .op_node import Handle, OpNode, handle_of
from .plan import plan
from .saved import Meta, SavedTensor

_new, _number = object.__new__, sequence.__next__
refresh: Callable = lambda x: None                    # set by views.py: gives a view the history of its base
forward_rule: "list[Callable]" = []                   # set by forward_ad.py: gives the results their tangents
timed: "list[Callable]" = []                          # set by profiler.py


def edge(x: Tensor) -> "Node | None":
    """The node that a gradient of x goes to."""
    if x._view is not None:
        refresh(x)
    fn = x._fn
    if fn is not None:
        return fn
    if not x._rg:
        return Nowhere(()) if has_moving_base(x) else None
    return accumulator(x)


def has_moving_base(x: Tensor) -> bool:
    """Whether x is a view of a tensor that gradients are wanted of."""
    view = x._view
    return view is not None and x._a.dtype.kind in "fc" and (view.base._rg or view.base._fn is not None)


def numbers(args: Sequence, edges: Sequence) -> "tuple | None":
    """The results of their nodes that arguments with these edges are; None where each is the first."""
    nrs = tuple([a._nr if e is not None and a._fn is not None else 0 for a, e in zip(args, edges)])
    return nrs if any(nrs) else None


class Nowhere(Node):
    """The node of a view made without recording, of a tensor that requires gradients: gradients are dropped."""

    def pull(self, g: object) -> tuple:
        return ()

    pull_graph = pull


def apply(op: Op, args: tuple, params: dict, label: "str | None" = None) -> Any:
    """op on tensors (and arrays and numbers): the result, or a tuple of them."""
    arrays = [a._a if isinstance(a, Tensor) else a for a in args]
    if op.kind == "elementwise" and len(args) < 4:
        args, arrays = promoted(op, args, arrays)
    try:
        result = _run(op, arrays, params)
    except OverflowError as error:                    # a Python number that the dtype does not hold: it is taken modulo
        reraise_interrupt(error)
        arrays = errors.wrapped(arrays)
        result = _run(op, arrays, params)
    except (ValueError, TypeError) as error:
        reraise_interrupt(error)
        raise errors.in_words(op, arrays, error) from None
    if type(result) is tuple:
        ys = tuple([y if type(y) is np.ndarray else np.asarray(y) for y in result])
        return record(handle_of(op), args, arrays, ys, params, label)
    y = result if type(result) is np.ndarray else np.asarray(result)
    if y.dtype.kind in "fc" and op.kind == "elementwise" and op.name != "cast":
        y = fitted(y, arrays)
    return record(handle_of(op), args, arrays, (y,), params, label)[0]


def _run(op: Op, arrays: list, params: dict) -> Any:
    """Run an op on arrays, timed and without warnings where that is wanted."""
    if now().profiler is not None:
        return timed[0](op.name, op.run, arrays, params)
    if op.name not in _WARNING:
        return op.run(*arrays, **params)
    with np.errstate(all="ignore"):                   # nan and infinities are answers like any other
        return op.run(*arrays, **params)


def promoted(op: Op, args: tuple, arrays: list) -> "tuple[tuple, list]":
    """The arguments in the dtype PyTorch computes in: one without axes follows others of its kind or a higher one."""
    if any(isinstance(a, np.generic) for a in arrays):                  # NumPy's scalars count as Python's numbers
        args = tuple([a.item() if isinstance(a, np.generic) else a for a in args])
        arrays = [a.item() if isinstance(a, np.generic) else a for a in arrays]
    given = [k for k, a in enumerate(args) if isinstance(a, Tensor)]
    alike = (len({arrays[k].dtype for k in given}) < 2 and arrays[given[0]].dtype.itemsize > 2
             and op.name != "reciprocal")
    if op.name == "cast" or alike or op.name == "where" and len(given) < 3:
        return args, arrays
    if op.name == "where":
        given = given[1:]
    dtype = result_type([arrays[k] for k in given])
    if dtype.kind in "biu" and op.name == "reciprocal":
        dtype = default.dtype
    elif dtype.kind in "biu" and dtype.itemsize < 4 and op.name in FLOAT_FUNCTIONS:
        dtype = np.dtype(np.int64)
    changed_args, changed_arrays = list(args), list(arrays)
    for k in given:
        if arrays[k].dtype != dtype and (dtype.kind in "fc" or arrays[k].dtype.kind != "b" or dtype.kind != "b"):
            changed_args[k] = apply(registry["cast"], (args[k],), {"dtype": dtype})
            changed_arrays[k] = changed_args[k]._a
    return tuple(changed_args), changed_arrays


_WARNING = frozenset(("div", "pow", "sqrt", "log", "log1p", "reciprocal", "mod", "fmod", "floordiv", "arcsin", "arccos",
                      "arctanh", "arccosh", "cast"))
FLOAT_FUNCTIONS = frozenset(("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "arcsin",
                             "arccos", "arctan", "sinh", "cosh", "tanh", "arcsinh", "arccosh", "arctanh", "sqrt",
                             "cbrt", "div", "expit", "erf", "reciprocal", "arctan2", "hypot", "copysign"))


def finished(node: OpNode, y: np.ndarray, edges: tuple, nrs: "tuple | None", xs: tuple, ys: tuple,
             versions: tuple) -> Tensor:
    """The one result of a new node, which gets its edges (nrs: the numbers of their results) and what it saves."""
    node.next, node.seq = edges, _number()
    if nrs is not None:
        node.nrs = nrs
    node.xs, node.ys, node.versions = xs, ys, versions
    t: Tensor = _new(Tensor)
    t._a, t._fn, t._nr, t._rg, t._view, t._x = y, node, 0, True, None, None
    t._vc = vc = [0]
    node.vcs = (vc,)
    return t


def record(handle: Handle, args: tuple, arrays: list, ys: tuple, params: dict, label: "str | None" = None) -> tuple:
    """The tensors of these results of an op, with a node where one of the arguments requires a gradient."""
    tensors = None
    if now().grad and not now().inference:
        edges = [edge(a) if isinstance(a, Tensor) else None for a in args]
        if any(e is not None for e in edges) and any(y.dtype.kind in "fc" for y in ys):
            tensors = _node(handle, args, arrays, ys, params, edges, label)
    if tensors is None:
        tensors = tuple([wrap(y) for y in ys])
        if now().inference:
            for t in tensors:
                t.extra.inference = True
    if now().dual_level >= 0 and forward_rule:
        forward_rule[0](handle.op, args, tensors, params)
    return tensors


def _node(handle: Handle, args: tuple, arrays: list, ys: tuple, params: dict, edges: list,
          label: "str | None") -> tuple:
    needs = tuple([e is not None for e in edges])
    kept_xs, kept_ys = kept(handle, arrays, ys, params, needs)
    places = _places(handle, args)
    into = tuple([edges[k] for k in places])
    node = OpNode(into, numbers([args[k] for k in places], into))
    if places[-1] != len(places) - 1:
        node.places = places
    node.handle, node.params, node.needs = handle, params, needs
    if label is None and handle.variants is not None:
        label = handle.variants.get(tuple([isinstance(a, Tensor) for a in args]))
    if label is not None:
        node.label = label
    tensors = tuple([wrap(y, node, k) if y.dtype.kind in "fc" else wrap(y) for k, y in enumerate(ys)])
    node.vcs = tuple([t._vc for t in tensors])
    node.xs = tuple([_saved_input(a, x, keep) for a, x, keep in zip(args, arrays, kept_xs)])
    node.ys = tuple([y if keep else Meta(y.shape, y.dtype) for y, keep in zip(ys, kept_ys)])
    versions = [x._vc[0] if isinstance(x, Tensor) else 0 for x in node.xs]
    node.versions = tuple(versions) + (0,) * len(ys) if any(versions) else ()
    if now().pack_hooks:
        _pack(node, tensors)
    if now().anomaly:
        note_place(node)
    if now().profiler is not None:
        now().profiler.made(node)
    return tensors


def kept(handle: Handle, arrays: list, ys: tuple, params: dict, needs: tuple) -> tuple:
    """Those of the arguments and of the results that a node saves."""
    try:
        xs, outs = plan(handle.op, tuple(arrays), ys, params, needs)
        return (tuple([keep or k in handle.always for k, keep in enumerate(xs)]) if handle.always else xs,
                (True, *outs[1:]) if handle.result else outs)
    except (TypeError, ValueError, RuntimeError, ArithmeticError, np.linalg.LinAlgError) as error:
        reraise_interrupt(error)                            # the rule refuses: it will say so in backward
        return (True,) * len(arrays), (True,) * len(ys)


_FIRST = tuple([tuple(range(n)) for n in range(16)])


def _places(handle: Handle, args: tuple) -> tuple:
    """The arguments that a node has edges for: all up to the last tensor (elementwise: all), or the handle's."""
    if handle.places is not None:
        return handle.places
    op_kind = handle.op.kind
    elementwise = op_kind == "elementwise"
    if handle.tensors or elementwise and not isinstance(args[0], Tensor):
        return tuple([k for k, a in enumerate(args) if isinstance(a, Tensor)])
    count = handle.op.facts.get("edges", len(args))
    if not elementwise and op_kind != "composite":
        while not isinstance(args[count - 1], Tensor):
            count -= 1
    return _FIRST[count] if count < len(_FIRST) else tuple(range(count))


def _saved_input(a: object, x: ArrayOrNumber, keep: bool) -> Any:
    if not isinstance(a, Tensor):
        return a
    if not keep:
        return Meta(x.shape, x.dtype)
    if a._x is not None and a._x.inference:
        raise RuntimeError(errors.INFERENCE_SAVED)
    return a


def _pack(node: OpNode, tensors: tuple) -> None:
    """Give what a node saves to the pack hook in force."""
    hooks = now().pack_hooks[-1]
    node.xs = tuple([SavedTensor(x, hooks=hooks) if isinstance(x, Tensor) else x for x in node.xs])
    node.ys = tuple([SavedTensor(t, node, k, hooks=hooks) if isinstance(y, np.ndarray) else y
                     for k, (y, t) in enumerate(zip(node.ys, tensors))])


def note_place(node: Node) -> None:
    """Remember where a node was made, for anomaly mode."""
    frames = traceback.extract_stack()
    while frames and is_library(frames[-1].filename):              # the last line is the user's
        frames.pop()
    node.hooked.trace = "".join(traceback.format_list(frames))
    node.hooked.parent = state.evaluating


def bind(op: Op, args: tuple, params: dict) -> Any:
    """Apply an op to a tensor. A result that NumPy made a view is none to users, but changes of its memory are seen."""
    y = apply(op, args, params)
    if isinstance(y, Tensor) and y._a.base is not None:
        x = next((a for a in args if isinstance(a, Tensor)), None)
        if isinstance(x, Lazy):
            y._a = y._a.copy()
        elif x is not None and np.may_share_memory(x._a, y._a):
            y._vc = x._vc
    return y


Tensor.__fad_bind__ = staticmethod(bind)
