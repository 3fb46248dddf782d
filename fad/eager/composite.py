"""Composites: functions of several ops that are one step of the graph, as PyTorch's are.

A composite's meaning is what is `written` in ops; programs, forward mode and complex numbers go by that. On real
tensors it runs on the arrays at once (`run`) and has a way back of its own (`pullback`): one node in place of many,
less saved, less time. That both are the same function, to the second derivative, is tested for every composite of the
table below.
"""
from collections.abc import Callable

import numpy as np

from ..ir.op import Op, registry
from ..ops.kinds import Explicit, fit
from ..util.array import AnyArray
from .inplace import wanted
from .lean import lean
from .names import enter
from .op_node import Handle
from .record import apply
from .state import now
from .tensor import Tensor
from .together import together

COMPOSITES: "dict[str, Composite]" = {}


class Composite(Op):
    """One function.

    written   written(*args, **params): the function in ops
    pullback  pullback(gs, ys, xs, needs, **params) -> a cotangent (or None) for each argument; code over arrays, in ops
    run       run(*arrays, **params); None: `written`, on arrays
    node      what its nodes are called; edges: how many of its arguments, from the first, can have gradients (None:
    all) inputs, outputs   names of what nodes save (_saved_<name>)
    kinds     of numbers that the short way serves; alike: only where the first two arguments have one shape
    saves     places of the arguments that are saved though the pullback does not read them
    samples   callables rng -> (args, params), on which the tests compare pullback and `written`
    """

    def __init__(self, name: str, written: Callable, pullback: Callable, run: "Callable | None" = None, *, node: str,
                 edges: "int | None" = 1,
                 inputs: tuple = ("self",), outputs: tuple = ("result",), samples: tuple = (), kinds: str = "f",
                 alike: bool = False, saves: tuple = ()):
        self.name, self.written, self.run, self.pullback, self.fit = name, written, run or written, pullback, fit
        self.kind, self.facts, self.creation, self.samples = (
            "composite",
            {} if edges is None else {"edges": edges},
            False,
            samples,
        )
        self.kinds, self.alike, self.edges, self.kept = kinds, alike, edges, {}
        self.derivative, self.label = Explicit(None, pullback), node
        self.handle = Handle(self, node, inputs, outputs, always=saves)
        self.__doc__ = f"{name}, as one step"
        enter(self, self.handle)
        COMPOSITES[name] = self

    def __call__(self, *args: object, label: "str | None" = None, **params: object) -> AnyArray:
        y = lean(self, args, params, label)
        if y is not None:
            return y
        if not any(getattr(a, "__fad_level__", 0) for a in args):
            return self.run(*args, **params)
        if self.has_more(args, params):
            return self.written(*args, **params)
        if not self.serves(args):
            return together(
                (self.written(*args, **params),), label or self.label, args[: self.facts.get("edges", len(args))]
            )[0]
        return apply(self, args, params, label)

    def has_more(self, args: tuple, params: dict) -> bool:
        """Whether gradients are wanted of what the pullback knows no derivative by: arguments without edges, and
        parameters."""
        for a in (*args[self.facts.get("edges", len(args)):], *params.values()):
            if isinstance(a, Tensor) and wanted(a):
                return True
        return False

    def serves(self, args: tuple) -> bool:
        """Whether the short way can be taken: tensors of one dtype, numbers and arrays, no tangents."""
        if now().dual_level >= 0:
            return False
        dtypes = set()
        for a in args:
            if isinstance(a, Tensor):
                if a._a.dtype.kind not in "iub":
                    dtypes.add(a._a.dtype)
            elif getattr(a, "__fad_level__", 0):
                return False
        return (len(dtypes) == 1 and next(iter(dtypes)).kind in self.kinds
                and not (self.alike and args[0].shape != args[1].shape))


def elementwise(name: str, written: Callable, partial: Callable, run: "Callable | None" = None, *, node: str,
                samples: tuple = (), passes: bool = False) -> Composite:
    """A composite of one tensor, element by element; partial(y, x, **params) is its derivative. passes: where partial
    is true the cotangent passes as it is, and elsewhere nothing does, be the cotangent infinite."""
    def pullback(gs: tuple, ys: tuple, xs: tuple, needs: tuple, **params: object) -> tuple:
        slope = partial(ys[0], xs[0], **params)
        return (registry["where"](slope, gs[0], 0.0) if passes else gs[0] * slope,)
    return Composite(name, written, pullback, run, node=node, samples=samples or (sample((3, 4)),))


def sample(*shapes: object, between: tuple = (-2.0, 2.0), **params: object) -> Callable:
    """A sample of arrays of these shapes (and other arguments as they are) with these parameters."""
    def draw(rng: object) -> tuple:
        return (tuple([rng.uniform(*between, shape) if isinstance(shape, tuple) else shape for shape in shapes]),
                dict(params))
    return draw


def quietly(f: Callable) -> Callable:
    """f without warnings: nan and infinities are answers like any other."""
    def call(*args: object, **params: object) -> AnyArray:
        with np.errstate(all="ignore"):
            return f(*args, **params)
    return call
