"""Views: tensors that share memory, version counter and history with a base.

A view remembers how it is taken from its base. When the base has been changed in place (through it or through another
view), the view's grad_fn is made anew from the base's.
"""
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...ir.op import registry
from ...ops.kinds import AddInto
from ...util.array import AnyArray
from ..tensors import errors
from ..tensors.errors import refuse_if
from ..tensors.state import changed, now
from ..tensors.tensor import Tensor, held, lazy, over, own, stored, way_of, weak, wrap
from . import record
from .node import Node
from .record import edge
from .saved import Meta

_AMBIGUOUS = ("Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your code by "
              "moving both the view and the inplace either both inside the {0} block (if you don't want the inplace to "
              "be tracked) or both outside (if you want the inplace to be tracked).")
REASONS = {
    "no_grad": _AMBIGUOUS.format("no_grad"),
    "inference": _AMBIGUOUS.format("inference_mode"),
    "multi": "This view is the output of a function that returns multiple views. Such functions do not allow the "
    "output views to be modified inplace. You should replace the inplace operation by an out-of-place one.",
    "custom": "This view was created inside a custom Function (or because an input was returned as-is) and the "
    "autograd logic to handle view+inplace would override the custom backward associated with the custom Function, "
    "leading to incorrect gradients. This behavior is forbidden. You can fix this by cloning the output of the custom "
    "Function.",
}


class ViewOp:
    """One way of viewing: run(a, *args) on arrays; rule(meta, *args) -> (op, operands, params), the record whose
    derivative it has.

    pull(g, meta, *args), where given, is the cotangent in place of the record's. saved: what nodes show as
    _saved_<name>, names of args or saved(meta, *args) -> name -> value.
    """

    copies = False                                  # whether NumPy may have to copy
    way: Any = None                                 # np.conjugate or np.negative, of a view that is so when it is read

    def __init__(self, name: str, run: Callable, rule: "Callable | None" = None, pull: "Callable | None" = None,
                 saved: object = ()):
        self.name, self.run, self.rule, self.saved = name, run, rule, saved
        if pull is not None:
            self.pull = pull                                        # type: ignore[method-assign]

    def pull(self, g: object, meta: Meta, *args: object) -> AnyArray:
        op, operands, params = self.rule(meta, *args)
        needs = (True,) + (False,) * len(operands)
        gx = op.derivative.pullback(op, (g,), (None,), (meta, *operands), params, needs)[0]
        return gx.dense() if isinstance(gx, AddInto) else gx

    def __call__(self, x: Tensor, *args: object, label: str = "", creation: str = "",
                 note: "dict | None" = None) -> Tensor:
        return view_of(x, self, args, label, creation, note)


class ViewNode(Node):
    """The step that took a view."""

    __slots__ = ("op", "args", "meta")

    def __init__(self, x: Tensor, into: Node, op: ViewOp, args: tuple):
        super().__init__((into,), (x._nr,) if x._nr and x._fn is not None else None)
        self.op, self.args, self.meta = op, args, Meta(x._a.shape, x._a.dtype)

    def name(self) -> str:
        return self.label or self.op.name

    def pull(self, g: object) -> tuple:
        return (None if g is None else self.op.pull(g, self.meta, *self.args),)

    pull_graph = pull

    def entries(self) -> dict:
        return {"self": self.meta}

    def parameters(self) -> dict:
        saved = self.op.saved
        return saved(self.meta, *self.args) if callable(saved) else dict(zip(saved, self.args))


class View:
    """The origin of a view: base (never itself a view), steps from there, the version its grad_fn was made for, how it
    arose, whether what it sees of its base's tangent is its own, and how the base was laid out (None: as it is).
    """

    __slots__ = ("base", "steps", "stamp", "creation", "forward", "form")

    def __init__(self, base: "Tensor | None", steps: tuple, stamp: int, creation: str = "", forward: bool = True,
                 form: "tuple | None" = None):
        self.base: Any = base
        self.steps, self.stamp, self.creation, self.forward = steps, stamp, creation, forward
        self.form = form if form is not None or base is None else (base._a.shape, base._a.strides)

    def path(self) -> tuple:
        """The steps from the base as it is now, which may have been turned in place since the view was taken."""
        a = None if self.base is None else self.base._a
        turned = a is not None and (a.shape, a.strides) != self.form
        return (*_turned_back(a, *self.form), *self.steps) if turned else self.steps

    def of_array(self, a: np.ndarray) -> np.ndarray:
        """The same view of another array like the base's."""
        for op, args in self.path():
            a = np.asarray(op.run(a, *args))                       # of an array without axes NumPy makes a number
        return a

    def part(self, a: np.ndarray) -> np.ndarray:
        """The base of this view, in an array like the base's, to be written to: not conjugated, not negated."""
        for op, args in self.path():
            a = a if op.way is not None else op.run(a, *args)
        return a

    def of_tensor(self, x: Tensor) -> Tensor:
        for op, args in self.path():
            x = view_of(x, op, args)
        return x

    def refusal(self, x: Tensor, changed: str = "is being") -> str:
        """The reason for which x, which is this view, may not be changed in place (or its base may not have been)."""
        source = f"Output {x._nr} of {errors.step_name(x._fn.name())} is a view" if x._fn is not None else ""
        # a view without a history was made without
        mode = self.creation if self.creation in ("no_grad", "inference") or source else "no_grad"
        if mode not in ("no_grad", "inference"):
            return f"{source} and {changed} modified inplace. {REASONS[self.creation]}"
        what, now = (f"{source} of a view which" if source else "A view",
                     "in normal mode" if mode == "inference" else "with grad mode enabled")
        return f"{what} was created in {mode} mode and {changed} modified inplace {now}. {REASONS[self.creation]}"


# The two ways that _turned_back needs; the others are in view_kinds.
transpose_view = ViewOp("PermuteBackward0", lambda a, axes: a.transpose(axes),
                        lambda meta, axes: (registry["transpose"], (), {"axes": axes}), saved=("dims",))
reshape_view = ViewOp("ViewBackward0", lambda a, shape: a.reshape(shape),
                      lambda meta, shape: (registry["reshape"], shape, {}))
reshape_view.copies = True


def _turned_back(a: np.ndarray, shape: tuple, strides: tuple) -> tuple:
    """The steps from an array to what it was before its axes were exchanged, or axes of extent 1 put in or left out."""
    rest, axes = [k for k, n in enumerate(a.shape) if n != 1], []
    for n, stride in zip(shape, strides):
        if n != 1:
            like = n, stride * a.size
            axes += [k for k in rest if k not in axes and (a.shape[k], a.strides[k] * a.size) == like][:1]
    refuse_if(sorted(axes) != rest or len(axes) != len([n for n in shape if n != 1]), "the base of a view has been "
              "given another shape or other memory in place: take the view again")
    return (transpose_view, ((*axes, *[k for k, n in enumerate(a.shape) if n == 1]),)), (reshape_view, (shape,))


def view_of(x: Tensor, op: ViewOp, args: tuple, label: str = "", creation: str = "",
            note: "dict | None" = None) -> Tensor:
    """op's view of x, its node under a label and with a note; where NumPy had to copy, a new tensor of this history."""
    t, shared = _seen(x, op, args)
    into = edge(x) if now().grad and not now().inference and (x._x is None or not x._x.inference) else None
    if into is not None and t._a.dtype.kind in "fc":
        node = ViewNode(x, into, op, args)
        if label:
            node.label = label
        if note is not None:
            node.note = note
        t._fn, t._rg = node, True
        if now().anomaly:
            record.note_place(node)
    if shared and (x._x is None or not x._x.inference):
        mode = creation if now().grad else "inference" if now().inference else "no_grad"
        above = x._view
        if above is None:
            t._view = View(x, ((op, args),), x._vc[0], mode)
        else:
            t._view = View(above.base, (*above.steps, (op, args)), x._vc[0], mode or above.creation, above.forward,
                           above.form)
    if x._x is not None:
        if x._x.inference:
            t.extra.inference = True
        if x._x.tangent is not None and now().dual_level >= 0:
            t.extra.tangent = view_of(x._x.tangent, op, args)
    if now().inference and not shared:
        t.extra.inference = True
    return t


def _seen(x: Tensor, op: ViewOp, args: tuple) -> "tuple[Tensor, bool]":
    """The view that op has of x, outside the graph, and whether it shares memory (and the version counter)."""
    have = stored(x)
    if op.way is not None:
        if way_of(x) is op.way:                       # the conjugate of a conjugate is what is stored
            t = wrap(have)
            t._vc = x._vc.counter
            return t, True
        return (lazy(have, op.way, x._vc), True) if way_of(x) is None else (wrap(op.way(x._a)), False)
    a = op.run(have, *args)
    shared = not op.copies or a is have or a.base is have or have.base is not None and a.base is have.base
    return over(a, x) if shared else wrap(a if way_of(x) is None else way_of(x)(a)), shared


def apart(y: object, args: Sequence) -> Any:
    """y, a result that is no view of its arguments to users: in memory of its own, where it looked at theirs."""
    if isinstance(y, Tensor) and (y._view is not None or y._a.base is not None):
        for x in args:
            if isinstance(x, Tensor) and (x is y or any(np.may_share_memory(a, stored(y)) for a in held(x))):
                for t in (y, None if y._x is None else y._x.tangent) if x is not y else ():  # which stay laid out alike
                    if t is not None:
                        own(t)
                break
        else:
            y._view = None                                       # it views what nobody else knows of
    return y


def tangent_of(x: Tensor) -> "Tensor | None":
    """The tangent of a tensor: its own, or what a view sees of its base's, which may come after the view was taken."""
    if x._x is not None and x._x.tangent is not None:
        return x._x.tangent
    view = x._view
    if view is None or not view.forward or view.base._x is None or view.base._x.tangent is None or now().dual_level < 0:
        return None
    with changed(dual_level=-1):
        keep_tangent(x, view.of_tensor(view.base._x.tangent))
    return x._x.tangent


def keep_tangent(x: Tensor, tangent: Tensor) -> None:
    """x carries this tangent until the level ends."""
    x.extra.tangent = tangent
    now().duals.append(weak(x))


def refresh(x: Tensor) -> None:
    """Make a view's grad_fn anew if what it views has been changed since."""
    view = x._view
    base = view.base
    if x._vc[0] == view.stamp:
        return
    if base._fn is None and not base._rg:
        # what it saw was written over, and the base has left the graph since
        if x._fn is not None and not view.creation:
            x._fn, x._nr, x._rg = record.Nowhere(()), 0, True
            x._fn.label = "AsStridedBackward0"
        view.stamp = x._vc[0]
        return
    if view.creation:
        raise RuntimeError(view.refusal(x, "its base or another view of its base has been"))
    with changed(grad=True, inference=False, dual_level=-1):
        again = view.of_tensor(base)
    keeping = leave_node(x)
    x._fn, x._nr, x._rg = again._fn, again._nr, again._fn is not None
    if x._fn is not None:
        if not now().view_replay and not any(op.way is not None for op, _ in view.steps):
            x._fn.label = "AsStridedBackward0"
        keeping(x)
    view.stamp = x._vc[0]


def leave_node(x: Tensor) -> Callable:
    """Stop keeping x's gradient at the node that made it so far; the function returned starts it at the new one."""
    if x._x is None or not x._x.retains or x._fn is None or x._fn.extra is None:
        return lambda x: None
    x._fn.extra.retain.pop(x._nr, None)
    return lambda x: x._fn.hooked.retain.__setitem__(x._nr, weak(x))


record.refresh = refresh
