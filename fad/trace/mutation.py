"""Views and copies: which of NumPy's functions hand out an array that shares the elements of another, and how writes travel back.

A face computes values and knows nothing of memory. Here its result is tied to the array it came from: the equations between the two
(index, reshape, transpose, real, imag) say how the view is read again after its base was written to, and how it is written back.
"""
from collections.abc import Callable
from typing import Any

import numpy as np

from ..ir import stack
from ..ir.build import Value, current
from ..ir.graph import Equation, Literal
from ..ir.op import registry
from ..ops.assign import written
from ..ops.face import METHODS
from ..ops.kinds import shape_of
from ..ops.shape import inverse_permutation
from ..ops.subscript import Selection
from ..util.errors import SideEffectError
from .layout import layout_of, reshape_is_view, through

VIEWS = {"__getitem__", "reshape", "ravel", "transpose", "permute_dims", "matrix_transpose", "T", "mT", "swapaxes", "moveaxis", "rollaxis",
         "expand_dims", "squeeze", "atleast_1d", "atleast_2d", "atleast_3d", "split", "array_split", "hsplit", "vsplit", "dsplit", "unstack", "flip",
         "fliplr", "flipud", "rot90", "real", "imag", "trim_zeros", "asarray", "asanyarray", "asarray_chkfinite", "ascontiguousarray",
         "asfortranarray", "require", "array", "astype"}
READ_ONLY = {"broadcast_to", "broadcast_arrays", "diagonal", "diag", "sliding_window_view", "view"}
DENSE = {"ravel", "ascontiguousarray", "asfortranarray", "require"}          # a copy unless the array is one dense block
LINKS = {"index", "reshape", "transpose", "real", "imag"}


def is_tracer(x: Any) -> bool:
    return isinstance(x, Value) and hasattr(x, "as_view")


def call_face(name: str, call: Callable, args: tuple, kwargs: dict) -> Any:
    """call(*args, **kwargs), a function of NumPy's or a method of this name, with NumPy's views and copies."""
    if (name in VIEWS or name in READ_ONLY) and not kwargs.get("copy", name == "array"):
        start = len(current().equations)
        sources = {x.atom: x for x in args if is_tracer(x)}
        return _tie(_Call(name, call, args, kwargs, start, sources), call(*args, **kwargs))
    result = on_the_tape(call(*args, **kwargs))
    if args and result is args[0] and is_tracer(result) and "out" not in kwargs and kwargs.get("copy") is not False:
        result = type(result)(result.builder, result.atom)               # a copy: the same value, from now on on its own
    return in_c_order(result) if name == "copy" and call is METHODS["copy"] and len(args) == 1 and not kwargs else result


def on_the_tape(result: Any, *given: Any) -> Any:
    """On the tape a new array of numbers alone is a value, too, for traced ones may be written to it."""
    if isinstance(result, (tuple, list)) and not hasattr(result, "_fields"):
        return type(result)([on_the_tape(y, *given) for y in result])
    if not isinstance(result, np.ndarray) or not result.ndim or not stack.is_live() or result.dtype.kind not in "biufc":
        return result
    return result if any(isinstance(a, np.ndarray) and np.may_share_memory(a, result) for a in given) else current().constant(result)


def in_c_order(copy: Any) -> Any:
    """A copy that NumPy makes in C order, whatever the order of what it copies."""
    if layout_of(copy.atom) is None:
        copy = registry["cast"](copy, dtype=copy.dtype)
        current().root.dense[copy.atom] = True
    return copy


class _Call:
    """One call of a function that gives views: what it was, and what it was given."""

    def __init__(self, name: str, call: Callable, args: tuple, kwargs: dict, start: int, sources: dict):
        self.name, self.call, self.args, self.kwargs, self.start, self.sources = name, call, args, kwargs, start, sources

    def is_scalar(self, y: Any) -> bool:
        """Whether y is an element, which NumPy hands out by value."""
        if self.name != "__getitem__" or y.ndim:
            return False
        subscript = self.args[1]
        return not (subscript is Ellipsis or isinstance(subscript, tuple) and any(s is Ellipsis for s in subscript))


def _tie(made: _Call, result: Any, place: Any = None) -> Any:
    """The result, its arrays tied to what they are views of."""
    if isinstance(result, (tuple, list)):
        return type(result)([_tie(made, y, k) for k, y in enumerate(result)])
    if any(result is x for x in made.sources.values()):
        return _same(made, result)
    if not is_tracer(result) or result.tie is not None or made.is_scalar(result):
        return result
    if made.name in READ_ONLY:
        return _read_only(made, result, place)
    links, source = _links(made, result.atom)
    return result if source is None or not links else Chain(source, result, links, made).tied()


def _same(made: _Call, x: Any) -> Any:
    """What NumPy answers where nothing was to be done: the array itself, if it is as it has to be."""
    if made.name in READ_ONLY - {"view"}:
        return _read_only(made, type(x)(x.builder, x.atom), None)
    if made.name not in DENSE:
        return x
    return x if memory_layout(x) == tuple(range(x.ndim)) else Chain(x, in_c_order(type(x)(x.builder, x.atom)), [], made).tied()


def _links(made: _Call, atom: Any) -> tuple:
    """The equations, in order, that lead from one of the call's arrays to this result, and that array; (.., None) if none do."""
    made_by = {v: eqn for eqn in current().equations[made.start:] for v in eqn.outputs}
    links: list[Equation] = []
    while atom not in made.sources:
        eqn = made_by.get(atom)
        if eqn is None or eqn.op.name not in LINKS or "a" in eqn.params.get("spec", ()):
            return links, None
        links.insert(0, eqn)
        atom = eqn.inputs[0]
    return links, made.sources[atom]


def _read_only(made: _Call, y: Any, place: Any) -> Any:
    """A view that cannot be written to, read again by the call that made it."""
    source = next(iter(made.sources.values()), None)
    if source is None or (made.name == "diag" and source.ndim == 1):
        return y

    def read(base: Any) -> Any:
        again = made.call(*made.args, **made.kwargs)
        return again if place is None else again[place]

    def write(base: Any, new: Any) -> Any:
        if made.name == "view":
            raise SideEffectError("an array is written to through a view of another dtype", do="write to the array itself")
        raise ValueError("assignment destination is read-only")
    return y.as_view(made.args[place] if made.name == "broadcast_arrays" and is_tracer(made.args[place]) else source, read, write)


class Chain:
    """The way from an array to a view of it, to be gone in both directions."""

    def __init__(self, source: Any, view: Any, links: list, made: _Call):
        self.source, self.view, self.links, self.made = source, view, links, made

    def tied(self) -> Any:
        """The view, tied to its source."""
        self.view.as_view(self.source, self.read, self.write)
        self.view.tie.chain = self
        return self.view

    def layout(self) -> "tuple | None":
        """How the view lies in memory."""
        layout = memory_layout(self.source)
        for eqn in self.links:
            layout = through(eqn, layout)
        return layout

    def is_view(self) -> bool:
        """Whether NumPy made a view here, and not a copy; an error where that depends on what is not known."""
        if stack.is_live() and self.links:
            steps = self.example()
            if steps:
                return self._shares(steps)
        layout, shared = memory_layout(self.source), True if self.links else None
        for eqn in self.links:
            if eqn.op.name == "reshape" and shared:
                shared = reshape_is_view(eqn, layout, self.made.name in DENSE)
            layout = through(eqn, layout)
        if shared is None:
            raise SideEffectError(f"whether {self.made.name} gave a view or a copy is not known, and one of the two is written to",
                                  why="it depends on how the array lies in memory", do="take a copy first (x.copy()), or write before reshaping")
        return shared

    def example(self) -> list:
        """On the tape, where extents are known: an array that lies in memory as the source does, and what NumPy makes of it; [] if that is not known."""
        if self.source.tie is not None:
            around = self.source.tie.chain
            steps = around.example()[-1:] if around is not None else []
        else:
            known = layout_of(self.source.origin) is not None           # C order, then
            steps = [np.empty([current().known(n) for n in self.source.shape], self.source.dtype)] if known else []
        for eqn in self.links if steps else ():
            steps.append(eqn.op.run(steps[-1], *[current().known(a) for a in operands(eqn)], **eqn.params))
        return steps

    def _shares(self, steps: list) -> bool:
        """Whether the last of these arrays is a view of the first; ravel and its kin copy what does not lie in C order."""
        copied = self.made.name in DENSE and any(e.op.name == "reshape" and not x.flags.c_contiguous for e, x in zip(self.links, steps))
        return not copied and (not steps[0].size or np.shares_memory(steps[0], steps[-1]))

    def read(self, base: Any) -> Any:
        """The view's value after its base has changed."""
        if not self.is_view():
            self.view.tie = None                                        # a copy, after all: it keeps its value
            return current().value_of(self.view._var)
        return self.values(base)[-1]

    def values(self, base: Any) -> list:
        """The base's present value, and what each link makes of it."""
        values = [base]
        for eqn in self.links:
            values.append(eqn.op(values[-1], *operands(eqn), **eqn.params))
        return values

    def write(self, base: Any, new: Any) -> Any:
        """The base's value after the view got a new one."""
        if not self.is_view():
            self.view.tie = None
            return base
        for eqn, x in zip(reversed(self.links), reversed(self.values(base)[:-1])):
            new = write_back(eqn, x, new)
        return new


def operands(eqn: Equation) -> tuple:
    """The further inputs of an equation, as values."""
    return tuple([a.value if isinstance(a, Literal) else current().value_of(a) for a in eqn.inputs[1:]])


def write_back(eqn: Equation, x: Any, y: Any) -> Any:
    """x as it is when y has been written to link(x)."""
    name = eqn.op.name
    if name == "index":
        return written(x, Selection(operands(eqn), eqn.params["spec"], eqn.params["at"], is_view=True), y)
    if name == "reshape":
        return eqn.op(y, *shape_of(x))
    if name == "transpose":
        return eqn.op(y, axes=inverse_permutation(eqn.params["axes"]))
    if name == "real":
        return registry["make_complex"](y, registry["imag"](x))
    return registry["make_complex"](registry["real"](x), y)


def memory_layout(x: Any) -> "tuple | None":
    """How an array lies in memory, if that is known."""
    if x.tie is not None:
        chain = x.tie.chain
        return None if chain is None else chain.layout()
    return layout_of(x.origin)


# -- assignment ---------------------------------------------------------------------------------------------------------------


def assign(x: Any, subscript: Any, value: Any) -> None:
    """x[subscript] = value; nothing is left to do where the value is that very view (as after `x[1:] += v`)."""
    if not is_own_view(x, subscript, value):
        METHODS["__setitem__"](x, subscript, value)


def is_own_view(x: Any, subscript: Any, value: Any) -> bool:
    """Whether the value is x[subscript], a view taken before and up to date."""
    view = value.tie if is_tracer(value) else None
    if view is None or view.base is not x or view.chain is None or view.chain.made.name != "__getitem__" or value.version < 0:
        return False
    return view.seen == x.version and _same_subscript(view.chain.made.args[1], subscript)


def _same_subscript(a: Any, b: Any) -> bool:
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    if isinstance(a, tuple):
        return len(a) == len(b) and all(_same_subscript(s, t) for s, t in zip(a, b))
    if isinstance(a, slice):
        return all(_same_subscript(s, t) for s, t in ((a.start, b.start), (a.stop, b.stop), (a.step, b.step)))
    if isinstance(a, Value):
        return a.atom is b.atom
    return isinstance(a, int) and a == b
