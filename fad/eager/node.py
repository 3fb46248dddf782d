"""Nodes of the graph: what was done, to what, and how a gradient goes back through it."""
import itertools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..ops.kinds import AddInto
from ..util.errors import NoDerivativeError
from . import errors
from .handles import Hooks, RemovableHandle
from .saved import Meta, SavedTensor, result_of, stale_message
from .saved_names import FLAT, LASTING
from .shown import FREED as FORGOTTEN
from .shown import Showing, arguments, parameters
from .state import now
from .tensor import Tensor, alias, weak, wrap

sequence = itertools.count()
LAST = 1 << 60                                   # sequence numbers of leaves: they go before all others
FREED = None


class Hooked:
    """What few nodes have: hooks, metadata, the place where they were made."""

    __slots__ = ("metadata", "pre", "post", "tensor_pre", "retain", "trace", "parent", "on_capture")

    def __init__(self) -> None:
        self.metadata: dict = {}
        self.pre: Any = None
        self.post: Any = None
        self.tensor_pre: Any = None              # result number -> hooks of the tensor that is that result
        self.retain: Any = None                  # result number -> weak reference to the tensor that keeps its gradient
        self.trace: str | None = None
        self.parent: Any = None

    @property
    def acts(self) -> bool:
        return bool(self.pre or self.post or self.tensor_pre or self.retain)


class Node(Showing):
    """A step of the graph. `next` holds, for each tensor the step was given, the node that its gradient goes to (None:
    nowhere)."""

    __slots__ = ("next", "seq", "__weakref__", "__dict__")
    outputs = 1
    extra: "Hooked | None" = None
    note: "dict | None" = None  # what else is shown as _saved_<name>; held: SavedTensors that are shown so
    held: "dict | None" = None
    nrs: "tuple | None" = None                   # for each of `next` which of its results it is; None: all are 0
    label: "str | None" = None

    def __init__(self, next: tuple, nrs: "tuple | None" = None):
        self.next = next
        self.seq = sequence.__next__()
        if nrs is not None:
            self.nrs = nrs

    # -- what a user may ask -------------------------------------------------------------------------------------------

    def name(self) -> str:
        """The name of the step, such as MulBackward0."""
        return self.label or type(self).__name__

    @property
    def hooked(self) -> Hooked:
        """The record of rare properties, made now if there is none."""
        if self.extra is None:
            self.extra = Hooked()
        return self.extra

    @property
    def metadata(self) -> dict:
        """A dictionary for the user."""
        return self.hooked.metadata

    @property
    def next_functions(self) -> tuple:
        """(node, which of its results) for each tensor that the step was given; (None, 0) for one that requires no
        gradient."""
        return tuple([(node if node is None else named(node), nr)
                      for node, nr in zip(self.next, self.nrs or (0,) * len(self.next))])

    @property
    def _input_metadata(self) -> list:
        """Shape and dtype of each of the step's results: of the gradients that it is given."""
        shown = self.__dict__.get("shown", {})
        return [shown.get(k) for k in range(self.outputs)]

    @property
    def requires_grad(self) -> bool:
        """Whether gradients flow through here: always."""
        return True

    def register_hook(self, fn: Callable) -> RemovableHandle:
        """Call fn(grad_inputs, grad_outputs) after the step's backward; what it returns replaces the gradients of the
        inputs."""
        extra = self.hooked
        if extra.post is None:
            extra.post = Hooks()
        return RemovableHandle(extra.post, fn)

    def register_prehook(self, fn: Callable) -> RemovableHandle:
        """Call fn(grad_outputs) before the step's backward; what it returns replaces them."""
        extra = self.hooked
        if extra.pre is None:
            extra.pre = Hooks()
        return RemovableHandle(extra.pre, fn)

    def _register_hook_dict(self, hooks: dict) -> None:
        extra = self.hooked
        if extra.tensor_pre is None:
            extra.tensor_pre = {}
        extra.tensor_pre.setdefault(0, Hooks()).update(hooks)

    def _sequence_nr(self) -> int:
        return self.seq

    def _set_sequence_nr(self, number: int) -> None:
        self.seq = number

    def __call__(self, *grads: Any) -> Any:
        """The step's backward alone: gradients of the results to those of what it was given."""
        if len(grads) != self.outputs:
            raise TypeError(f"expected {self.outputs} arguments, got {len(grads)} instead")
        if now().grad:
            out = self.pull_graph(grads[0] if self.outputs == 1 else list(grads))
        else:
            arrays = [None if g is None else g._a for g in grads]
            out = [None if g is None else g if isinstance(g, Tensor) else Tensor(g)
                   for g in self.pull(arrays[0] if self.outputs == 1 else arrays)]
        out = tuple(out)
        return out[0] if len(out) == 1 else out

    def __repr__(self) -> str:
        return f"<{self.name().rpartition(':')[2]} object at {id(self):#x}>"

    # -- what the engine asks ------------------------------------------------------------------------------------------

    def pull(self, g: Any) -> tuple:
        """Gradients for `next`, given that of the result (a list, of several), on arrays."""
        raise NotImplementedError

    def pull_graph(self, g: Any) -> tuple:
        """The same on tensors, recorded."""
        raise NotImplementedError

    def check_held(self) -> None:
        """Raise unless what the node shows as saved is what it was, read or not."""
        for saved in (self.held or {}).values():
            if saved.__class__ is SavedTensor and saved.hooks is None and saved.original is not None:
                saved._checked()

    def release(self) -> None:
        """Forget what was saved for backward."""
        for saved in (self.held or {}).values():
            if saved.__class__ is SavedTensor:
                saved.release()


_named: dict = {}


def named(node: Node, result: "Tensor | None" = None) -> Node:
    """node as users see it: its class is called as the step is (so that type(node).__name__ tells graphs apart), and
    it knows its result's shape."""
    cls, name = node.__class__, node.name().rpartition(":")[2]
    if cls.__name__ != name:
        base = getattr(cls, "unnamed", cls)
        if (base, name) not in _named:
            _named[base, name] = type(name, (base,), {"__slots__": (), "unnamed": base, "__doc__": base.__doc__})
        node.__class__ = _named[base, name]
    if result is not None:
        node.__dict__.setdefault("shown", {}).setdefault(result._nr, Meta(result._a.shape, result._a.dtype))
    return node


class Handle:
    """What nodes of one op share: their name, the names of what they save."""

    __slots__ = ("op", "name", "xs", "ys", "frees", "places", "tensors", "variants", "always", "lasts", "result")

    def __init__(self, op: Any, name: str, xs: tuple = ("self", "other"), ys: tuple = ("result",),
                 places: "tuple | None" = None, tensors: bool = False,
                 variants: "dict | None" = None, always: tuple = (), result: bool = False):
        self.op, self.name, self.xs, self.ys = op, name, xs, ys
        self.always = always                                     # arguments that are saved, read by the rule or not
        self.result = result                                     # whether the first result is, too
        # the arguments that nodes have edges for; whether only tensors have one
        self.places, self.tensors = places, tensors
        self.variants = variants                                 # names of nodes by which of the arguments are tensors
        self.lasts = name in LASTING                             # whether what nodes save is kept after backward
        partials = getattr(op.derivative, "partials", None)
        # whether there is anything to forget after backward
        self.frees = bool(always) or partials is None or any(callable(p) for p in partials)


class OpNode(Node):
    """A step that is an op of the table. xs and ys hold what is saved: a tensor, an array of a result, a number, or a
    Meta."""

    handle: Any
    xs: Any
    ys: Any
    vcs: Any
    versions: Any
    params: Any
    needs: Any

    __slots__ = ("handle", "xs", "ys", "vcs", "versions", "params", "needs")
    places: "tuple | None" = None  # for each of `next` which argument it is of; None: they are the first ones

    def name(self) -> str:
        return self.label or self.handle.name

    @property
    def outputs(self) -> int:                                  # type: ignore[override]
        return len(self.ys) if self.ys is not None else len(self.vcs)

    # -- reading what was saved ----------------------------------------------------------------------------------------

    def unpacked(self) -> "tuple[tuple, tuple]":
        xs, ys = self.xs, self.ys
        if xs is FREED or ys is FREED:
            raise RuntimeError(errors.SECOND_TIME)
        self._check(xs, ys)
        return xs, ys

    def _check(self, xs: tuple, ys: tuple) -> None:
        versions = self.versions
        for k, x in enumerate(xs):
            if isinstance(x, Tensor) and x._vc[0] != (versions[k] if versions else 0):
                raise RuntimeError(stale_message(x, self._version(k), x._fn, x._nr))
        for k, y in enumerate(ys):
            if isinstance(y, np.ndarray) and self.vcs[k][0] != (versions[len(xs) + k] if versions else 0):
                expected = self._version(len(xs) + k)
                raise RuntimeError(stale_message(result_of(y, self.vcs[k], self, k), expected, self, k))
        if self.held is not None:
            self.check_held()

    def pull(self, g: Any) -> tuple:
        gs = (g,) if self.outputs == 1 else (None,) * self.outputs if g is None else tuple(g)
        xs, ys = self.unpacked()
        if all(one is None for one in gs):
            return (None,) * len(self.next)
        xs = tuple([x._a if isinstance(x, (Tensor, SavedTensor)) else x for x in xs])
        ys = tuple([y._a if isinstance(y, SavedTensor) else y for y in ys])
        return self._differentiate(gs, ys, xs)

    def pull_graph(self, g: Any) -> tuple:
        gs = (g,) if self.outputs == 1 else (None,) * self.outputs if g is None else tuple(g)
        xs, ys = self.unpacked()
        if all(one is None for one in gs):
            return (None,) * len(self.next)
        xs = tuple([x.unpack() if isinstance(x, SavedTensor) else x for x in xs])
        ys = tuple([self._result(k, y) for k, y in enumerate(ys)])
        return tied(self, self._differentiate(gs, ys, xs))

    @property
    def _input_metadata(self) -> list:
        known = super()._input_metadata
        return [y if shown is None and y is not None and not isinstance(y, SavedTensor) else shown
                for y, shown in zip(self.ys or known, known)]

    def _result(self, k: int, y: Any) -> Any:
        if isinstance(y, SavedTensor):
            return y.unpack()
        return result_of(y, self.vcs[k], self, k) if isinstance(y, np.ndarray) else y

    def _differentiate(self, gs: tuple, ys: tuple, xs: tuple) -> tuple:
        op = self.handle.op
        try:
            out = op.derivative.pullback(op, gs, ys, xs, self.params, self.needs)
        except NoDerivativeError as error:
            raise NoDerivativeError(
                f"the derivative for '{op.name}' is not implemented: {error.what}", why=error.why, do=error.do
            ) from None
        places = self.places
        if places is not None:
            return tuple([self._dense(out[k], xs[k], self.needs[k]) for k in places])
        count = len(self.next)
        return tuple([self._dense(g, x, need) for g, x, need in zip(out[:count], xs, self.needs)])

    def _dense(self, g: Any, x: Any, need: bool) -> Any:
        if not need:
            return None
        if g is None:
            return np.zeros(x.shape, x.dtype)
        return g.dense() if isinstance(g, AddInto) else g

    def release(self) -> None:
        xs, ys = self.xs, self.ys  # read once: another thread may release this graph too
        if not self.handle.frees or xs is FREED or ys is FREED:
            return
        held = [entry for entry in (*xs, *ys) if entry is not None and entry.__class__ is not Meta]
        if held and self.name() not in LASTING:
            for entry in held:
                if entry.__class__ is SavedTensor:
                    entry.release()
            super().release()
            self.xs = self.ys = FREED

    # -- _saved_self and its kin ---------------------------------------------------------------------------------------

    def _place(self, name: str, entry: Any) -> "tuple[str, int]":
        """Where an entry is held; ("", 0) where it is not."""
        names, xs, ys = arguments(self.name(), self.handle.xs), self.xs, self.ys
        if name in names and names.index(name) < len(xs) and xs[names.index(name)] is entry:
            return "xs", names.index(name)
        return (
            ("ys", self.handle.ys.index(name))
            if name in self.handle.ys[: len(ys)] and ys[self.handle.ys.index(name)] is entry
            else ("", 0)
        )

    def entries(self) -> dict:
        xs, ys = self.xs, self.ys
        forgotten = xs is FREED or ys is FREED
        if self.handle.op.name == "index" and not forgotten:
            return {"self": xs[0], "indices": _indices(self, 1)}
        if self.handle.op.name == "indexed" and not forgotten:
            return {"self": xs[0], "indices": (xs[1],)}
        if self.handle.op.name in ("update", "index_add") and self.name() == "IndexPutBackward0" and not forgotten:
            return {"indices": _indices(self, 2)}
        held = (FORGOTTEN,) * (len(self.needs) + self.outputs) if forgotten else (*xs, *ys)
        return dict(zip((*arguments(self.name(), self.handle.xs)[:len(self.needs)], *self.handle.ys), held))

    def parameters(self) -> dict:
        return parameters(self)

    def opened(self, name: str, entry: Any) -> Any:
        if isinstance(entry, SavedTensor) or not isinstance(entry, (Tensor, np.ndarray)):
            return super().opened(name, entry)
        which, k = self._place(name, entry)
        if which:
            self.unpacked()
        return self._result(k, entry) if which == "ys" else entry

    def kept(self, name: str, entry: Any) -> SavedTensor:
        if isinstance(entry, SavedTensor):
            return entry
        if entry is FORGOTTEN or isinstance(entry, Meta):
            saved = SavedTensor(None)
            if entry is FORGOTTEN:
                saved.release()
            return saved
        which, k = self._place(name, entry)
        if which == "ys":
            saved = SavedTensor(result_of(entry, self.vcs[k], self, k), self, k,
                                version=self._version(len(self.needs) + k))
        else:
            saved = SavedTensor(entry, version=self._version(k) if which else None)
        if which:
            held = list(getattr(self, which))
            held[k] = saved
            setattr(self, which, tuple(held))
        return saved

    def _version(self, k: int) -> int:
        return self.versions[k] if self.versions else 0


def _indices(node: OpNode, first: int) -> tuple:
    """What a node selects by, from this argument on: for each axis a tensor of indices, or None."""
    operands, spec = iter(node.xs[first:]), node.params["spec"]
    last = max([k for k, s in enumerate(spec) if s == "a"], default=-1)
    return tuple([wrap(np.asarray(next(operands))) if s == "a" else None for s in spec[:last + 1]])


class SingleNode(OpNode):
    """A step with one result on its shortest way back: what is saved is read and checked in one pass."""

    __slots__ = ()
    outputs = 1                                                    # type: ignore[assignment]

    def pull(self, g: Any) -> tuple:
        xs, ys = self.xs, self.ys
        if g is None or xs is None or ys is None:
            return OpNode.pull(self, g)
        self._check(xs, ys)
        xs = tuple([x._a if isinstance(x, (Tensor, SavedTensor)) else x for x in xs])
        y, = ys
        op = self.handle.op
        out = op.derivative.pullback(op, (g,), (y._a,) if isinstance(y, SavedTensor) else ys, xs, self.params,
                                     self.needs)
        out = out[:len(self.next)]
        for one, need in zip(out, self.needs):
            if need and one.__class__ is not np.ndarray:
                return tuple([self._dense(g, x, need) for g, x, need in zip(out, xs, self.needs)])
        return out


class GradientEdge(NamedTuple):
    """A place where a gradient flows: a node and which of its results."""

    node: Any
    output_nr: int


class Tied(Node):
    """The recorded gradient of a function whose slope is constant piece by piece, such as relu: its own derivative by
    the function's argument is zero, and yet there is one, so that a penalty on such gradients can be minimised."""

    __slots__ = ("meta",)

    def __init__(self, g: Tensor, into: "Node | None", nr: int, name: str):
        super().__init__((g._fn, into), (g._nr, nr) if g._nr or nr else None)
        self.meta, self.label = Meta(g._a.shape, g._a.dtype), f"{name[:-1]}Backward0"

    def pull(self, g: Any) -> tuple:
        return (g if self.next[0] is not None else None, np.zeros(self.meta.shape, self.meta.dtype))

    def pull_graph(self, g: Any) -> tuple:
        before, nothing = self.pull(g)
        return before, wrap(nothing)


def tied(node: Node, grads: tuple) -> tuple:
    """The recorded gradients that a node gives."""
    if node.name() not in FLAT or not isinstance(grads[0], Tensor) or not now().grad:
        return grads
    g = grads[0]
    t = alias(g)
    t._fn, t._nr, t._rg = Tied(g, node.next[0], node.nrs[0] if node.nrs else 0, node.name()), 0, True
    if g._x is not None and g._x.tangent is not None:
        t.extra.tangent = g._x.tangent
        now().duals.append(weak(t))
    return t, *grads[1:]


class Undifferentiable(Node):
    """The history of a tensor whose step has no derivative here: backward through it says so."""

    def __init__(self, next: tuple, name: str, error: Exception):
        super().__init__(next)
        self.label, self.error = name, error

    def pull(self, g: Any) -> tuple:
        raise self.error

    pull_graph = pull
