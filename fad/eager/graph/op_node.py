"""Nodes that are ops of the table: what they save of arguments and results, and how their rule is applied to it.

A node keeps its arguments and results as they are (tensors, arrays, numbers) with their version counters, and compares
the counters before its pullback runs. Only what a user asks for (`_saved_self`) becomes a SavedTensor.
"""
from collections.abc import Callable
from typing import Any

import numpy as np

from ...ir.op import Op
from ...ops.kinds import AddInto
from ...util.array import ArrayOrNumber
from ...util.errors import NoDerivativeError
from ..tensors import errors
from ..tensors.state import now
from ..tensors.tensor import Tensor, alias, weak, wrap
from .node import Node
from .node_attributes import FREED as FORGOTTEN
from .node_attributes import arguments, parameters
from .saved import Meta, SavedTensor, result_of, stale_message
from .saved_names import FLAT, LASTING

FREED = None


class Handle:
    """The properties that nodes of one op share: their name, and the names of the values that they save. For the short
    way of functions/composite also how the op runs on real arrays, and what its pullback is there."""

    __slots__ = ("op", "name", "xs", "ys", "frees", "places", "tensors", "variants", "always", "result", "run",
                 "pullback", "edges", "alike", "kept", "partials")

    def __init__(self, op: object, name: str, xs: tuple = ("self", "other"), ys: tuple = ("result",),
                 places: "tuple | None" = None, tensors: bool = False,
                 variants: "dict | None" = None, always: tuple = (), result: bool = False, edges: "int | None" = None,
                 alike: bool = False):
        self.op, self.name, self.xs, self.ys, self.run = op, name, xs, ys, op.run
        self.pullback: Callable = lambda gs, ys, xs, needs, **params: op.derivative.pullback(op, gs, ys, xs, params,
                                                                                             needs)
        self.edges, self.alike = edges, alike                    # of Composite, which see
        self.kept: dict = {}                                     # kinds of arguments -> what is saved
        self.always = always                                     # arguments that are saved, read by the rule or not
        self.result = result                                     # whether the first result is, too
        # the arguments that nodes have edges for; whether only tensors have one
        self.places, self.tensors = places, tensors
        self.variants = variants                                 # names of nodes by which of the arguments are tensors
        self.partials: Any = getattr(op.derivative, "partials", None)
        # whether there is anything to forget after backward
        self.frees = bool(always) or self.partials is None or any(callable(p) for p in self.partials)


class OpNode(Node):
    """A step that is an op of the table; xs and ys hold what is saved: tensors, arrays, numbers, or a Meta."""

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

    def pull(self, g: object) -> tuple:
        gs = (g,) if self.outputs == 1 else (None,) * self.outputs if g is None else tuple(g)
        xs, ys = self.unpacked()
        if all(one is None for one in gs):
            return (None,) * len(self.next)
        xs = tuple([x._a if isinstance(x, (Tensor, SavedTensor)) else x for x in xs])
        ys = tuple([y._a if isinstance(y, SavedTensor) else y for y in ys])
        return self._differentiate(gs, ys, xs)

    def pull_graph(self, g: object) -> tuple:
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

    def _result(self, k: int, y: object) -> Any:
        if isinstance(y, SavedTensor):
            return y.unpack()
        return result_of(y, self.vcs[k], self, k) if isinstance(y, np.ndarray) else y

    def _differentiate(self, gs: tuple, ys: tuple, xs: tuple) -> tuple:
        op = self.handle.op
        try:
            out = op.derivative.pullback(op, gs, ys, xs, self.params, self.needs)
        except NoDerivativeError as error:
            raise NoDerivativeError(f"the derivative for '{op.name}' is not implemented: {error.what}", why=error.why,
                                    do=error.do) from None
        places = self.places
        if places is not None:
            return tuple([self._dense(out[k], xs[k], self.needs[k]) for k in places])
        count = len(self.next)
        return tuple([self._dense(g, x, need) for g, x, need in zip(out[:count], xs, self.needs)])

    def _dense(self, g: object, x: "ArrayOrNumber | None", need: bool) -> Any:
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

    def _place(self, name: str, entry: object) -> "tuple[str, int]":
        """The place where an entry is held; ("", 0) where it is not."""
        names, xs, ys = arguments(self.name(), self.handle.xs), self.xs, self.ys
        if name in names and names.index(name) < len(xs) and xs[names.index(name)] is entry:
            return "xs", names.index(name)
        return (("ys", self.handle.ys.index(name)) if name in self.handle.ys[: len(ys)]
                and ys[self.handle.ys.index(name)] is entry else ("", 0))

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

    def opened(self, name: str, entry: object) -> Any:
        if isinstance(entry, SavedTensor) or not isinstance(entry, (Tensor, np.ndarray)):
            return super().opened(name, entry)
        which, k = self._place(name, entry)
        if which:
            self.unpacked()
        return self._result(k, entry) if which == "ys" else entry

    def kept(self, name: str, entry: object) -> SavedTensor:
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
    """The indices by which a node selects, from this argument on: for each axis a tensor, or None."""
    operands, spec = iter(node.xs[first:]), node.params["spec"]
    last = max([k for k, s in enumerate(spec) if s == "a"], default=-1)
    return tuple([wrap(np.asarray(next(operands))) if s == "a" else None for s in spec[:last + 1]])


class Tied(Node):
    """The recorded gradient of a function whose slope is constant piece by piece, such as relu: its own derivative by
    the function's argument is zero, and yet there is one, so that a penalty on such gradients can be minimised."""

    __slots__ = ("meta",)

    def __init__(self, g: Tensor, into: "Node | None", nr: int, name: str):
        super().__init__((g._fn, into), (g._nr, nr) if g._nr or nr else None)
        self.meta, self.label = Meta(g._a.shape, g._a.dtype), f"{name[:-1]}Backward0"

    def pull(self, g: object) -> tuple:
        return (g if self.next[0] is not None else None, np.zeros(self.meta.shape, self.meta.dtype))

    def pull_graph(self, g: object) -> tuple:
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


_NODE = {"expit": "Sigmoid", "log1p": "Log1P", "arcsin": "Asin", "arccos": "Acos", "arctan": "Atan", "arcsinh": "Asinh",
         "arccosh": "Acosh", "arctanh": "Atanh", "arctan2": "Atan2", "gammaln": "Lgamma", "concatenate": "Cat",
         "broadcast_to": "Expand", "full": "Expand", "reshape": "View", "transpose": "Permute", "rint": "Round",
         "log_expit": "LogSigmoid", "mod": "Remainder", "cast": "ToCopy", "update": "IndexPut", "clip": "Clamp",
         "pack": "Stack", "make_complex": "Complex", "contract": "Mm", "max": "Amax", "min": "Amin",
         "solve": "LinalgSolveEx", "det": "LinalgDet", "cholesky": "LinalgCholeskyEx", "inv": "LinalgInvEx",
         "svd": "LinalgSvd", "svdvals": "LinalgSvd", "eigvalsh": "LinalgEigh", "eig": "LinalgEig",
         "eigvals": "LinalgEig", "pinv": "LinalgPinv", "lstsq": "LinalgLstsq", "expm": "LinalgMatrixExp",
         "entr": "SpecialEntr", "i0e": "SpecialI0E", "i1": "SpecialI1", "i1e": "SpecialI1E", "ndtri": "SpecialNdtri",
         "log_ndtr": "SpecialLogNdtr", "zeta": "SpecialZeta", "erfcx": "SpecialErfcx", "xlog1py": "SpecialXlog1Py",
         "gammainc": "Igamma", "gammaincc": "Igammac", "eigh": "LinalgEigh", "qr": "LinalgQr",
         "slogdet": "LinalgSlogdet", "square": "Pow"}
_INPUTS = {"pow": ("self", "exponent"), "contract": ("self", "mat2"), "where": ("condition", "self", "other"),
           "clip": ("self", "min", "max"),
           "make_complex": ("real", "imag"), "xlogy": ("self", "other"), "det": ("A",), "inv": ("A",)}
_OUTPUTS = {"inv": ("inverse",), "svd": ("U", "S", "Vh"), "qr": ("Q", "R"), "eigh": ("eigenvalues", "eigenvectors"),
            "cholesky": ("L",)}
# masks and factors have no edges
_PLACES = {"where": (1, 2), "det": (0,), "inv": (0,), "slogdet": (0,), "solve": (0, 3)}
_TENSORS = frozenset(("pow", "mod", "fmod", "clip", "update", "copysign"))  # nor have numbers, of these
_VARIANTS = {"pow": {(True, True): "PowBackward1", (False, True): "PowBackward2"},
             "mod": {(True, True): "RemainderBackward1"},
             "sub": {(False, True): "RsubBackward1"}, "fmod": {(True, True): "FmodBackward1"},
             "copysign": {(True, False): "CopysignBackward1"}}  # names by which arguments are tensors
# results that PyTorch saves, and fad's rules do without
_RESULTS = frozenset(("prod", "i1", "log_ndtr", "copysign", "det", "slogdet"))
# arguments that PyTorch saves, and fad's rules do without
_ARGUMENTS = {"make_complex": (0, 1), "angle": (0,)}
_LATER = ("self", "other", "input2", "input3", "input4", "input5", "input6", "input7")

_handles: dict = {}


def node_name(op_name: str) -> str:
    """The name of an op's nodes.

    >>> node_name("exp"), node_name("expit")
    ('ExpBackward0', 'SigmoidBackward0')
    """
    words = _NODE.get(op_name) or "".join(word.capitalize() for word in op_name.replace(".", "_").split("_"))
    return f"{words}Backward0"


def enter(op: Op, handle: Handle) -> None:
    """Nodes of this op have a handle made elsewhere."""
    _handles[op] = handle


def handle_of(op: Op) -> Handle:
    """The properties that the nodes of an op share."""
    found = _handles.get(op)
    if found is None:
        outputs = _OUTPUTS.get(op.name, ("result", "result1", "result2", "result3"))
        found = _handles[op] = Handle(op, node_name(op.name), _INPUTS.get(op.name, _LATER), outputs,
                                      _PLACES.get(op.name), op.name in _TENSORS, _VARIANTS.get(op.name),
                                      result=op.name in _RESULTS, always=_ARGUMENTS.get(op.name, ()))
    return found
