"""Changes in place: what may be changed, the version counter, the history of what was changed (through views too)."""
from collections.abc import Callable
from typing import Any

import numpy as np

from ...ir.op import registry
from ...ops.kinds import match
from ...util.array import AnyArray, ArrayOrNumber
from ..tensors import errors, promotion
from ..tensors.errors import refuse_if
from ..tensors.state import changed, now
from ..tensors.tensor import Tensor, alias, as_tensor, raw, stored, wrap
from . import record
from .node import Node, is_dense
from .op_node import OpNode
from .record import edge, has_moving_base
from .saved import Meta, SavedTensor
from .views import View, keep_tangent, leave_node, tangent_of


def requires_grad(x: object) -> bool:
    """Whether gradients are wanted of a tensor (of a view: or of its base)."""
    if not isinstance(x, Tensor):
        return False
    return x._rg or x._fn is not None or has_moving_base(x)


def wanted(x: object) -> bool:
    """Whether derivatives by a tensor are wanted: gradients, or those along its tangent."""
    return requires_grad(x) or isinstance(x, Tensor) and tangent_of(x) is not None


def number(x: object, function: str, argument: str) -> Any:
    """An argument that is a number: of a tensor the one in it, unless a derivative is wanted: there is none."""
    if not isinstance(x, Tensor):
        return x
    refuse_if(wanted(x), f"{function}(): argument '{argument}' must be Number, not Tensor", TypeError)
    return x._a.item()


def check_in_place(x: Tensor, recorded: bool, moves_only: bool = False) -> None:
    """Raise unless x may be changed in place; recorded: as part of the graph; moves_only: no value changes."""
    if x._x is not None and x._x.inference and not now().inference:
        raise RuntimeError(errors.INFERENCE_WRITE)
    if recorded and now().grad:
        view = x._view
        if view is None:
            if x._fn is None and x._rg:
                raise RuntimeError(errors.LEAF_WRITE)
        elif view.creation:
            raise RuntimeError(view.refusal(x))
        elif requires_grad(x) and view.base._fn is None:
            raise RuntimeError(errors.LEAF_VIEW_WRITE)
    if moves_only:
        return
    if is_spread(stored(x)):
        raise RuntimeError(errors.OVERLAP)
    if not stored(x).flags.writeable:
        raise RuntimeError("the memory of this tensor is read-only (it was made from a read-only array): clone() it "
                           "before changing it in place")


def in_memory(a: np.ndarray) -> tuple:
    """An array's axes in the order in which they lie in memory, the longest steps first."""
    return tuple(sorted(range(a.ndim), key=lambda k: -a.strides[k]))


def is_spread(a: np.ndarray) -> bool:
    """Whether several elements are one in memory, by a step of 0."""
    return 0 in a.strides and a.size > 0 and any(n > 1 and s == 0 for n, s in zip(a.shape, a.strides))


def check_overlap(x: Tensor, others: tuple) -> None:
    """Raise if x, which is written to, overlaps in memory with an operand of other strides."""
    for other in others:
        if isinstance(other, Tensor) and other._vc is x._vc and other is not x:
            a, b = x._a, other._a
            same = (a.shape == b.shape and a.strides == b.strides
                    and a.__array_interface__["data"] == b.__array_interface__["data"])
            refuse_if(not same and is_dense(a) and is_dense(b) and np.may_share_memory(a, b), errors.PARTIAL_OVERLAP)


def before_change(x: Tensor) -> None:
    """Let allow_mutation_on_saved_tensors know that x is about to be changed."""
    if now().mutation is not None:
        now().mutation.before_change(x)


def bump(x: Tensor) -> None:
    """Count a change of x."""
    before_change(x)
    x._vc[0] += 1


def _is_recorded(x: Tensor, others: tuple) -> bool:
    """Whether a change of x by others is to be part of the graph."""
    return (now().grad and not now().inference and x._a.dtype.kind in "fc"
            and (requires_grad(x) or any(requires_grad(a) for a in others)))


def put_values(x: Tensor, a: AnyArray) -> None:
    """Write an array over x's, which keeps its dtype."""
    have = np.asarray(a)
    if have.shape != x._a.shape and not errors.expands(have.shape, x._a.shape):
        raise RuntimeError(f"output with shape {list(x._a.shape)} doesn't match the broadcast shape {list(have.shape)}")
    if not promotion.castable(have.dtype, x._a.dtype):
        raise RuntimeError(errors.not_castable(have.dtype, x._a.dtype))
    before_change(x)
    x._a[...] = have
    x._vc[0] += 1


def in_place(x: Tensor, fn: Callable, *args: object, single: bool = False) -> Tensor:
    """x = fn(x, *args), in place. single: fn records one op at most; x needs no copy unless that op saves it."""
    recorded = _is_recorded(x, args)
    check_in_place(x, recorded)
    if not recorded:
        with changed(grad=False):
            new = fn(x, *args)
        put_values(x, raw(new))
        _move_tangent(x, new)
        return x
    single = single and now().dual_level < 0                  # a tangent's ops may save it, too
    old = _old_self(x, copy=not single)
    new = fn(old, *args)
    node = new._fn if isinstance(new, Tensor) else None
    if single and isinstance(node, OpNode) and node.xs is not None and any(entry is old for entry in node.xs):
        old._a = old._a.copy()
    put_values(x, raw(new))
    if node is not None:
        _share_result(node, new, x)
        set_history(x, new)
    elif requires_grad(x):                                    # what was written does not hang on what was there
        constant = wrap(x._a)
        constant._fn, constant._rg = CopyBackwards(x, constant), True
        set_history(x, constant)
    _move_tangent(x, new)
    return x


def _old_self(x: Tensor, copy: bool) -> Tensor:
    """x as it was, for the graph: its history with a version counter of its own."""
    into = edge(x)
    if x._view is not None and getattr(x._fn, "_is_pure_view", False):  # a Function's, which is a view and nothing else
        x._view.stamp = -1
        into = edge(x)
    old = wrap(x._a.copy() if copy else x._a)
    if into is not None:
        source = x
        # hooks of the view are for the view as it was: they do not see this
        if x._view is not None and into.extra is not None:
            source = _viewed_anew(x._view)
        old._fn, old._nr, old._rg = source._fn, source._nr, True
        if x._fn is None:
            old._acc = x._acc
    tangent = tangent_of(x)
    if tangent is not None:
        with changed(dual_level=-1):
            old.extra.tangent = tangent.clone()   # x's own is written over
    return old


def _viewed_anew(view: View) -> Tensor:
    base = alias(view.base)
    base._fn, base._nr, base._rg, base._acc = view.base._fn, view.base._nr, view.base._rg, view.base._acc
    with changed(grad=True, inference=False, dual_level=-1, pack_hooks=()):
        return view.of_tensor(base)


def _move_tangent(x: Tensor, new: Tensor) -> None:
    """The tangent of what was changed in place is that of its new value, written where the old tangent was."""
    if now().dual_level < 0 or not isinstance(new, Tensor):
        return
    tangent, have = tangent_of(new), tangent_of(x)
    if tangent is None and have is None:
        return
    with changed(dual_level=-1):
        tangent = wrap(np.zeros_like(x._a)) if tangent is None else tangent
        if tangent._a.shape != x._a.shape:
            tangent = tangent.expand(x._a.shape)
        if tangent._a.dtype != x._a.dtype:
            tangent = record.apply(registry["cast"], (tangent,), {"dtype": x._a.dtype})
        if have is not None:
            in_place(have, _instead, tangent)
        elif x._view is None or not x._view.forward:
            keep_tangent(x, tangent.clone())
        else:
            base = x._view.base
            if base.extra.tangent is None:
                keep_tangent(base, wrap(np.zeros_like(base._a)))
            keep_tangent(x, x._view.of_tensor(base.extra.tangent))
            in_place(x.extra.tangent, _instead, tangent)


def _instead(old: Tensor, new: AnyArray) -> AnyArray:
    return new.clone()


def _share_result(node: Node, new: Tensor, x: Tensor) -> None:
    """A result that its node saved is the changed tensor's memory from now on."""
    if isinstance(node, OpNode) and node.ys is not None and new._a.dtype == x._a.dtype and x._view is None:
        nr = new._nr
        if isinstance(node.ys[nr], np.ndarray):
            counters, versions = list(node.vcs), list(node.versions or (0,) * (len(node.xs) + len(node.ys)))
            node.ys = tuple([x._a if k == nr else y for k, y in enumerate(node.ys)])
            counters[nr], versions[len(node.xs) + nr] = x._vc, x._vc[0]
            node.vcs, node.versions = tuple(counters), tuple(versions)
    for saved in (node.held or {}).values() if x._view is None else ():
        held = saved.original if isinstance(saved, SavedTensor) and saved.hooks is None else None
        if held is not None and held._vc is new._vc and held._a.dtype == x._a.dtype:
            held._a, held._vc, saved.version = x._a, x._vc, x._vc[0]


class CopySlices(Node):
    """The base after a part of it was written through a view: what flows back to the old base has zeros there.

    order is that of the base's axes in memory: in a gradient that is laid out so too, the part is a view as it is in
    the base.
    """

    __slots__ = ("view", "meta", "order", "written")
    label = "torch::autograd::CopySlices"

    def __init__(self, view: View, base: "Node | None", nr: int, source: Tensor, order: tuple):
        into, number, meta = (edge(source), source._nr if source._fn is not None else 0,
                              Meta(source._a.shape, source._a.dtype))
        self.written = into                                       # the step in place; None: a copy
        # what is copied into a part comes from where the copy came from
        if isinstance(into, CopyBackwards) and into.extra is None:
            number, meta, into = into.nrs[1] if into.nrs else 0, into.meta, into.next[1]
            self.written = None
        super().__init__((base, into), (nr, number) if nr or number else None)
        self.view, self.meta, self.order = view, meta, order

    @property
    def next_functions(self) -> tuple:
        """The base as it was; then what the step in place was given besides the part that it wrote."""
        shown = super().next_functions
        return shown if self.written is None else (shown[0], *self.written.next_functions[1:])

    def pull(self, g: object) -> tuple:
        if g is None:
            return (None, None)
        before = None
        if self.next[0] is not None:
            before = np.array(np.asarray(g).transpose(self.order), order="C").transpose(np.argsort(self.order))
            self.view.part(before)[...] = 0
        source = self.view.of_array(np.asarray(g)).copy() if self.next[1] is not None else None
        return (before, None if source is None else match(source, self.meta))

    def pull_graph(self, g: object) -> tuple:
        if g is None:
            return (None, None)
        before = None
        if self.next[0] is not None:
            turned = g if list(self.order) == sorted(self.order) else g.permute(self.order)
            before = turned.clone() if turned.is_contiguous() else turned.contiguous()
            before = before if turned is g else before.permute(tuple(np.argsort(self.order).tolist()))
            self.view.of_tensor(before).zero_()
        source = self.view.of_tensor(g.clone()) if self.next[1] is not None else None
        return (before, None if source is None else match(source, self.meta))


def set_history(x: Tensor, new: Tensor) -> None:
    """x, written in place, gets new's history; the base of a view gets one that says which part was written."""
    if new._a.dtype != x._a.dtype:
        new = record.apply(registry["cast"], (new,), {"dtype": x._a.dtype})
    if new._a.shape != x._a.shape:
        new = record.apply(registry["broadcast_to"], (new, *x._a.shape), {})
    view = x._view
    keeping = leave_node(x)
    if view is None:
        x._fn, x._nr, x._rg = new._fn, new._nr, True
        keeping(x)
        return
    base = view.base
    base_keeping = leave_node(base)
    path = View(None, view.path(), 0)                              # the steps alone: no cycle through the base
    node = CopySlices(path, edge(base), base._nr if base._fn is not None else 0, new, in_memory(base._a))
    base._fn, base._nr, base._rg = node, 0, True
    base_keeping(base)
    if x._fn is None:
        x._rg = True
    view.stamp = -1
    record.refresh(x)
    keeping(x)


def copy_(x: Tensor, source: ArrayOrNumber, non_blocking: bool = False) -> Tensor:
    """Write source's values (broadcast, cast) over x's."""
    given = as_tensor(source)
    recorded = _is_recorded(x, (given,))
    check_in_place(x, recorded)
    if given._a.ndim:                                        # a number is read before it is written
        check_overlap(x, (given,))
    before_change(x)
    if given._a.ndim > x._a.ndim and all(n == 1 for n in given._a.shape[:given._a.ndim - x._a.ndim]):
        given = given.reshape(given._a.shape[given._a.ndim - x._a.ndim:])
    # before the change: the source may be a view of the same base, as it is now
    node = CopyBackwards(x, given) if recorded else None
    try:
        np.copyto(x._a, given._a, casting="unsafe")
    except ValueError:
        raise RuntimeError(errors.mismatch(x._a.shape, given._a.shape)) from None
    x._vc[0] += 1
    if node is not None:
        whole = wrap(x._a)
        whole._fn, whole._rg = node, True
        set_history(x, whole)
    _move_tangent(x, given)
    return x


class CopyBackwards(Node):
    """A tensor that was written over whole: what flows back to what it was is zero."""

    __slots__ = ("old", "meta")
    label = "torch::autograd::CopyBackwards"

    def __init__(self, x: Tensor, source: Tensor):
        before = edge(x) if x._view is None else None                   # a view's part of its base is zeroed there
        into = edge(source)
        super().__init__((before, into), record.numbers((x, source), (before, into)))
        self.old, self.meta = Meta(x._a.shape, x._a.dtype), Meta(source._a.shape, source._a.dtype)

    def pull(self, g: object) -> tuple:
        if g is None:
            return (None, None)
        return (None if self.next[0] is None else np.zeros(self.old.shape, self.old.dtype),
                None if self.next[-1] is None or len(self.next) < 2 else match(g, self.meta))

    def pull_graph(self, g: object) -> tuple:
        before, source = self.pull(g)
        return (None if before is None else wrap(before), source)


def fill(x: Tensor, value: ArrayOrNumber, name: str) -> Tensor:
    """Write one number over all of x, in place; where x's elements share memory they all are that number."""
    if requires_grad(x) or requires_grad(value) or not is_spread(stored(x)):
        view, before = x._view is not None, x._fn
        copy_(x, value if isinstance(value, Tensor) else wrap(np.asarray(value, x._a.dtype)))
        if not view and isinstance(x._fn, CopyBackwards) and x._fn is not before:
            x._fn.label = name
            x._fn.next = x._fn.next[:1 + isinstance(value, Tensor)]
        return x
    check_in_place(x, False, moves_only=True)
    before_change(x)
    x._a[...] = raw(value)
    x._vc[0] += 1
    _move_tangent(x, as_tensor(value))
    return x


