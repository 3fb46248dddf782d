"""Views and copies: which of NumPy's functions hand out an array that shares the elements of another, and how writes
travel back.

An override computes values and knows nothing of memory. Here its result is tied to the array it came from: the
equations between the two (index, reshape, transpose, real, imag) say how the view is read again after its base was
written to, and how it is written back.
"""
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import count
from typing import Any

import numpy as np

from ...ir import stack
from ...ir.build import Value, current
from ...ir.graph import Atom, Equation, Literal, Var
from ...ir.op import registry
from ...ir.uses import DefUse
from ...ops.assign import written
from ...ops.keywords import fitted, overwritten
from ...ops.kinds import same_shape, shape_of
from ...ops.override import METHODS
from ...ops.shape import inverse_permutation
from ...ops.subscript import Selection
from ...util.array import AnyArray, ArrayOrNumber
from ...util.errors import SideEffectError
from .layout import c_order, layout_of, reshape_is_view, through
from .standin import VIEWS, ResultMemory, ViewCall, is_tracer, marked
from .zero_dim import as_kind, of_numbers


def call_override(name: str, call: Callable, args: tuple, kwargs: dict, original: object = None) -> Any:
    """call(*args, **kwargs) as the override of the original (or of the method of this name), with its views and copies.
    """
    if not stack.builders():  # captured code that a program runs as it stands (see ops/host.py)
        return call(*args, **kwargs)
    if original is None:
        original = getattr(np.ndarray, name, None)
    args, kwargs = fitted(name, original, call, args, kwargs)
    spent = overwritten(original, args, kwargs) if original is not None else ()
    made = ViewCall(name, call, args, kwargs, original)
    result = call(*args, **kwargs)
    for key, x in spent:
        spend(x, name, key)
    if kwargs and is_tracer(result) and result is kwargs.get("out"):
        return marked(result, name, made.asked, args, kwargs, 0)
    result = _tied(made, result if name in VIEWS else on_the_tape(result), count())
    is_plain_copy = name == "copy" and call is METHODS["copy"] and len(args) == 1 and not kwargs
    return in_c_order(result) if is_plain_copy else result


def on_the_tape(result: ArrayOrNumber, *given: object) -> Any:
    """On the tape a new array of numbers alone is a value, too, for traced ones may be written to it."""
    if isinstance(result, (tuple, list)) and not hasattr(result, "_fields"):
        return type(result)([on_the_tape(y, *given) for y in result])
    if not isinstance(result, np.ndarray) or not stack.is_live() or result.dtype.kind not in "biufc":
        return result
    if any(isinstance(a, np.ndarray) and np.may_share_memory(a, result) for a in given):
        return result
    return of_numbers(result)


def in_c_order(copy: Any) -> AnyArray:
    """A copy that NumPy makes in C order, whatever the order of what it copies."""
    if layout_of(copy.atom) is None:
        copy = registry["cast"](copy, dtype=copy.dtype)
        current().trace.dense[copy.atom] = True
    return copy


def out_of_c_order(copy: Any) -> AnyArray:
    """A copy with an unknown memory layout."""
    copy = registry["cast"](copy, dtype=copy.dtype)
    current().trace.dense[copy.atom] = False
    return copy


def _tied(made: ViewCall, y: ArrayOrNumber, places: Iterator) -> Any:
    """A result, its arrays tied to what they are views of; places: numbers for the arrays in it."""
    if isinstance(y, (tuple, list)):
        parts = [_tied(made, part, places) for part in y]
        if all(a is b for a, b in zip(parts, y)):
            return y
        result: Any = type(y)(*parts) if hasattr(y, "_fields") else type(y)(parts)
        if hasattr(y, "__dict__"):                            # attributes beside the fields
            vars(result).update(vars(y))
        return result
    place = next(places)
    return marked(_tied_array(made, y, place), made.name, made.asked, made.args, made.kwargs, place)


def _tied_array(made: ViewCall, y: Any, place: int) -> Any:
    if not is_tracer(y):
        return y
    if any(y is x for x in made.arrays):
        return as_kind(y, False) if made.is_scalar(y) else _same(made, y, place)
    is_view = y.view_of is not None and any(y.view_of.base is x for x in made.arrays)
    if y.held in made.atoms or made.is_scalar(y) or is_view:
        return y
    if made.arrays and (made.name == "view" or made.name == "imag" and y.dtype == made.args[0].dtype):
        return _read_again(made, y)
    links, source = _links(made, y.held, place)
    if source is None or not links:
        return _unlinked(made, y, place) if made.is_view and made.name != "__getitem__" else y
    if made.is_view:
        return Chain(source, y, links, made, place).tied()
    answers = made.answer(source, place, None)
    return y if answers.shares is False else Chain(source, y, links, made, place, answers.writeable is not False).tied()


def _unlinked(made: ViewCall, y: Any, place: int) -> AnyArray:
    """A view that no equations tie to its array: once one of the two is written to, nobody knows what the other holds.
    """
    source = next((x for x in made.arrays if made.answer(x, place, None).shares is not False), None)
    if source is None:
        return y

    def refuse(*values: object) -> Any:
        raise SideEffectError(
            f"the result of {made.name} may be a view, and it is written to, or the array that it came from",
            why="how it lies in that array is not known",
            do="copy it first (x.copy())",
        )
    return y.as_view(source, refuse, refuse)


def _same(made: ViewCall, x: Any, place: int) -> Any:
    """NumPy's answer where nothing is to be computed: the array itself, a view of all of it, or a copy."""
    is_view = made.is_view and made.name != "ravel"
    answer = made.answer(x, place, None if is_view else memory_layout(x))
    if is_view or (answer.shares and answer.writeable):
        if answer.itself:
            return x
        return Chain(x, type(x)(x.builder, x.atom), [], made, place).tied() if stack.is_live() else handed_again(x)
    y = _copied(x, answer)
    return y if answer.shares is False else Chain(x, y, [], made, place, answer.writeable is not False).tied()


def handed_again(x: AnyArray) -> AnyArray:
    """x itself stands for a view of all of it, too, as long as nobody asks which of the two it is."""
    current().trace.two_objects[id(x)] = x
    return x


def _copied(x: Any, answer: ResultMemory) -> AnyArray:
    """A copy: the same value, from now on on its own."""
    y = type(x)(x.builder, x.atom)
    if x.ndim < 2 or answer.shares:
        return y
    return in_c_order(y) if answer.c_order else out_of_c_order(y)


def _links(made: ViewCall, atom: Atom, place: int) -> tuple:
    """The equations, in order, that lead from one of the call's arrays to this result, and that array; (.., None) if
    none do.
    """
    links, found = view_links(current().equations[made.start:], atom, made.atoms)
    if found is None or (made.name == "__getitem__" and any("a" in eqn.params.get("spec", ()) for eqn in links)):
        return links, None
    return links, made.source(found, place)


def view_links(equations: list, atom: Atom, sources: set) -> tuple:
    """Those of these equations, in order, that lead from a source to this variable by views, and the source; (.., None)
    if none do.
    """
    chains, links = DefUse(equations) if atom not in sources else None, list[Equation]()
    while atom not in sources:
        eqn = chains.definition(atom)                         # type: ignore[union-attr]
        if eqn is None or not eqn.op.traits.view:
            return links, None
        links.insert(0, eqn)
        atom = eqn.inputs[0]
    return links, atom


def _read_again(made: ViewCall, y: Any) -> AnyArray:
    """x.view(dtype), or the imaginary part of real numbers: read again by the call that made it, and not written to."""
    def write(base: object, new: object) -> Any:
        if made.name == "imag":
            raise ValueError("assignment destination is read-only")
        raise SideEffectError("an array is written to through a view of another dtype", do="write to the array itself")
    return y.as_view(made.args[0], lambda base: made.call(*made.args, **made.kwargs), write)


class Chain:
    """The way from an array to a view of it, to be gone in both directions."""

    def __init__(self, source: Any, view: Any, links: list, made: ViewCall, place: int = 0, is_writeable: bool = True):
        self.source, self.view, self.links = source, view, links
        self.made, self.place, self.is_writeable = made, place, is_writeable

    def tied(self) -> AnyArray:
        """The view, tied to its source."""
        self.view.as_view(self.source, self.read, self.write)
        self.view.view_of.chain = self
        return self.view

    def layout(self) -> "tuple | None":
        """The memory layout of the view."""
        layout = self._layout_of_source()
        for eqn in self.links:
            layout = through(eqn, layout)
        return layout

    @property
    def before(self) -> Atom:
        """The variable that the source was when this was made of it. It may have another shape since (see set_shape).
        """
        return self.links[0].inputs[0] if self.links else self.view._var

    @property
    def fits_source(self) -> bool:
        """Whether the source still has the shape that it had when this was made."""
        return has_shape_of(self.source, self.before)

    def _layout_of_source(self) -> "tuple | None":
        layout, rank = memory_layout(self.source), len(self.before.type.shape)
        if layout is None or self.fits_source:
            return layout
        return c_order(rank) if layout == c_order(len(layout)) else None

    def is_view(self) -> bool:
        """Whether NumPy made a view here, and not a copy; an error where that depends on what is not known."""
        if stack.is_live() and self.links:
            steps = self.example()
            if steps:
                return self._shares(steps)
        layout = self._layout_of_source()
        shared = True if self.made.is_view and self.links else self.made.answer(self.source, self.place, layout).shares
        for eqn in self.links:
            if eqn.op.name == "reshape" and shared:
                shared = reshape_is_view(eqn, layout, self.made.name == "ravel")
            layout = through(eqn, layout)
        if shared is None:
            raise SideEffectError(
                f"whether {self.made.name} gave a view or a copy is not known, and one of the two is written to",
                why="it depends on how the array lies in memory",
                do="take a copy first (x.copy()), or write before reshaping",
            )
        return shared

    def example(self) -> list:
        """On the tape, where extents are known: an array that lies in memory as the source does, and what NumPy makes
        of it; [] if that is not known.
        """
        if self.source.view_of is not None:
            around = self.source.view_of.chain
            steps = around.example()[-1:] if around is not None else []
        else:
            known = layout_of(self.source.origin) is not None           # C order, then
            steps = [np.empty([current().known(n) for n in self.source.shape], self.source.dtype)] if known else []
        if steps and not self.fits_source:
            steps = [steps[0].reshape([current().known(current().value_of(n)) for n in self.before.type.shape])]
        for eqn in self.links if steps else ():
            y = eqn.op.run(steps[-1], *[current().known(a) for a in operands(eqn)], **eqn.params)
            # an op hands out an element by value: any element as an array lies in the source as well
            steps.append(y if isinstance(y, np.ndarray) else steps[-1][(0,) * steps[-1].ndim + (...,)])
        return steps

    def _shares(self, steps: list) -> bool:
        """Whether the last of these arrays is a view of the first; ravel and its kin copy what does not lie in C order.
        """
        reshaped = [x for e, x in zip(self.links, steps) if e.op.name == "reshape"]
        copied = self.made.name == "ravel" and not all(x.flags.c_contiguous for x in reshaped)
        return not copied and (not steps[0].size or np.shares_memory(steps[0], steps[-1]))

    def read(self, base: AnyArray) -> Any:
        """The view's value after its base has changed."""
        if not self.is_view():
            self.view.view_of = None                                        # a copy, after all: it keeps its value
            return current().value_of(self.view._var)
        return along(self.links, in_shape_of(base, self.before))[-1]

    def write(self, base: AnyArray, new: AnyArray) -> Any:
        """The base's value after the view got a new one."""
        if not self.is_view():
            self.view.view_of = None
            return base
        if not self.is_writeable:
            raise ValueError("assignment destination is read-only")
        return in_shape_of(written_along(self.links, along(self.links, in_shape_of(base, self.before)), new), base)


def in_shape_of(y: object, x: object) -> Any:
    """y, whose shape is that of x (a value, or a variable) wherever this is run."""
    return y if has_shape_of(y, x) else registry["reshape"](y, *_shape_of(x))


def has_shape_of(y: object, x: object) -> bool:
    """Whether y surely has the shape of x (a value, or a variable)."""
    return same_shape(shape_of(y), _shape_of(x))


def _shape_of(x: object) -> tuple:
    return tuple([current().value_of(n) for n in x.type.shape]) if isinstance(x, Var) else shape_of(x)


def operands(eqn: Equation) -> tuple:
    """The further inputs of an equation, as values."""
    return tuple([a.value if isinstance(a, Literal) else current().value_of(a) for a in eqn.inputs[1:]])


def along(links: Iterable, x: object) -> list:
    """The value of an array, and what each of these equations makes of it, one after the other."""
    values = [x]
    for eqn in links:
        values.append(eqn.op(values[-1], *operands(eqn), **eqn.params))
    return values


def written_along(links: Sequence, values: list, y: object) -> Any:
    """The array when y was written to what the last of these equations makes of it; values: those of along()."""
    for eqn, x in zip(reversed(links), reversed(values[:-1])):
        y = write_back(eqn, x, y)
    return y


def write_back(eqn: Equation, x: AnyArray, y: Any) -> ArrayOrNumber:
    """x as it is when y has been written to link(x)."""
    name = eqn.op.name
    if name == "index":
        return written(x, Selection(operands(eqn), eqn.params["spec"], eqn.params["at"], is_view=True), y)
    if name == "reshape":
        return eqn.op(y, *shape_of(x))
    if name == "transpose":
        return eqn.op(y, axes=inverse_permutation(eqn.params["axes"]))
    if name == "broadcast_to":
        raise SideEffectError("an array is written to whose elements stand for several places each",
                              do="copy it first (x.copy())")
    if name == "real":
        return registry["make_complex"](y, registry["imag"](x))
    return registry["make_complex"](registry["real"](x), y)


def memory_layout(x: Any) -> "tuple | None":
    """The memory layout of an array, if it is known."""
    if x.view_of is not None:
        chain = x.view_of.chain
        return None if chain is None else chain.layout()
    return layout_of(x.origin)


class Spent:
    """A mark of an array whose memory was given away (overwrite_a=True): what it holds is not known. See Tracer.bound.
    """

    flag = True

    def __init__(self, name: str, key: str):
        self.name, self.key = name, key

    def check(self) -> None:
        raise SideEffectError(f"an array is used after {self.name}(..., {self.key}=True), which may write over it",
                              why="what it holds then depends on how it lies in memory",
                              do=f"leave {self.key} out, or give the function a copy")


def spend(x: Any, name: str, key: str) -> None:
    """From now on reading this array, or another view of its memory, is an error."""
    while is_tracer(x):
        x.bound = Spent(name, key)
        x = x.view_of.base if x.view_of is not None else None


# -- assignment ------------------------------------------------------------------------------------


def assign(x: object, subscript: object, value: ArrayOrNumber) -> None:
    """x[subscript] = value; nothing is left to do where the value is that very view (as after `x[1:] += v`)."""
    if not is_own_view(x, subscript, value):
        METHODS["__setitem__"](x, subscript, value)


def is_own_view(x: object, subscript: object, value: Any) -> bool:
    """Whether the value is x[subscript], a view taken before and up to date."""
    view = value.view_of if is_tracer(value) else None
    if view is None or view.base is not x or view.chain is None:
        return False
    made, is_taken = view.chain.made, view.chain.made.name == "__getitem__" and value.version >= 0
    return is_taken and view.seen == x.version and _same_subscript(made.args[1], subscript)


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
