"""A user's function traced within the body of a staged function: the program that a transform then works on."""
import inspect
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from typing import Any

import numpy as np

from ...ir import stack
from ...ir.build import Value
from ...ir.graph import Func, Var, silent
from ...ir.op import registry
from ...ir.records import EXAMPLE, ONCE
from ...ir.types import INT, type_of
from ...ir.uses import operands
from ...ir.walk import evaluate
from ...ops.extents import agree
from ...ops.kinds import shape_of
from ...passes.pipeline import rearranged
from ...trace.heap.operands import OneByOneError
from ...trace.outcome.sharing import keep_apart
from ...trace.tracing import Traced, is_data, trace
from ...transforms.kept_points import apart_from
from ...transforms.vectorise import vectorise
from ...util import tree
from ...util.array import AnyArray, ArrayOrNumber
from ...util.errors import (
    ArgumentError,
    CotangentShapeError,
    IntegerArgumentError,
    NotScalarError,
    StructureError,
)
from ...util.foreign import numbers_of, package_of, remedy_of
from ...util.interrupts import reraise_interrupt
from ...util.keywords import signature_of
from .names import leaf_names


class Inner:
    """f(*args, **kwargs) as a Func of its data leaves.

    wanted     positions, among the Func's inputs, of the leaves that derivatives are taken with respect to
    whole      for the first leaves of the arguments, the arrays they are parts of: examples of a batch
    structures the structure of each argument that is differentiated, with the positions of its data leaves
    is_delivered  whether the transform computes all outputs itself, and so what the function leaves outside (deliver)
    """

    def __init__(self, f: Callable, args: tuple, kwargs: "dict | None" = None, argnums: Sequence[int] = (),
                 whole: "Sequence | None" = None, is_delivered: bool = False):
        leaves, structure = tree.flatten((args, kwargs or {}))
        self.data = [k for k, x in enumerate(leaves) if is_data(x) and not _is_pythons_int(x)]
        wanted = _leaves_of(argnums, args, structure)
        for k in wanted:
            check_differentiable(leaves[k], alone=len(wanted) == 1)
        self.args = [leaves[k] for k in self.data]
        holders = self.args if whole is None else [whole[k] if k < len(whole) else leaves[k] for k in self.data]

        def call(f: Callable, inputs: list) -> Any:
            filled = list(leaves)
            for k, x in zip(self.data, inputs):
                filled[k] = x
            inner_args, inner_kwargs = structure.unflatten(filled)
            return call_fitting(f, inner_args, inner_kwargs)
        names = leaf_names(f, structure)
        self.wanted = [self.data.index(k) for k in wanted if k in self.data]
        self.traced: Traced = self._traced(f, call, names, EXAMPLE if whole is not None else ONCE)
        inside = None if stack.is_live() else self.traced.inside       # on the tape one example runs after the other
        if whole is not None and inside is not None and inside.is_changed and not inside.is_scratch(self.traced.func):
            self._refuse_changes_by_data()
            self.deliver(self._left_values())
            self.traced = self._traced(f, call, names, EXAMPLE)        # a memo that is filled once may stay
            if self.traced.inside.is_changed:
                raise _one_by_one()
        keep_apart(holders, [*self.traced.written, *self.traced.lost], self.traced.func)
        self.func = self.traced.func
        if self.traced.inside is not None and not stack.is_live():
            moving = [self.func.inputs[k] for k in self.wanted]
            self.func = apart_from(self.func, moving, self.traced.inside.earlier)
        if not stack.is_live():
            self.func, _ = vectorise(rearranged(self.func))
        self.results = len(self.func.outputs) - len(self.traced.written) - self.traced.delivered
        if self.traced.inside is not None and not is_delivered:
            self.deliver(self._left_values())

    def _traced(self, f: Callable, call: Callable, names: Sequence, runs: str) -> Traced:
        return trace(f, self.args, call, names=[names[k] for k in self.data], moving=self.wanted, runs=runs)

    def _refuse_changes_by_data(self) -> None:
        """An error if what a function of one example leaves outside itself depends on the example."""
        func, reached = self.traced.func, set(self.traced.func.inputs)
        for eqn in func.equations:
            if not reached.isdisjoint(operands(eqn)):
                reached.update(eqn.outputs)
        if not reached.isdisjoint(func.outputs[len(func.outputs) - self.traced.delivered:]):
            raise _one_by_one()

    def tree_of(self, values: Sequence) -> Any:
        """The result tree with these data leaves."""
        return self.traced.structure.unflatten(values[:self.results], self.traced.statics)

    def pad(self, values: Sequence) -> list:
        """Cotangents of the results, extended by None for what the function wrote to."""
        return list(values) + [None] * (len(self.traced.written) + self.traced.delivered)

    def _left_values(self) -> tuple:
        """The effects of the function outside itself, computed in the program around it."""
        func, count = self.traced.func, self.traced.delivered
        left = Func("left", func.inputs, func.equations, func.outputs[len(func.outputs) - count:])
        return evaluate(silent(left), self.args) if count else ()

    def deliver(self, values: Sequence) -> None:
        """Hand the last outputs to the program around it: they are the values that the function leaves outside
        itself."""
        if self.traced.inside is not None:
            self.traced.inside.put(values[len(values) - self.traced.delivered:])


def _one_by_one() -> OneByOneError:
    return OneByOneError("a function of one example changes something outside itself",
                         why="it does so for each example of the batch", do="return the new value")


def _is_pythons_int(x: ArrayOrNumber) -> bool:
    """Whether a leaf is a Python int, traced or not. Such a leaf is no input, so that code may ask for its value where
    structure depends on it."""
    return type(x) is int or (isinstance(x, Value) and x.type.weak and x.type.dtype == INT and not x.type.shape)


def _leaves_of(argnums: Sequence[int], args: tuple, structure: tree.Structure) -> list:
    positions, _ = structure.unflatten(list(range(structure.leaves)))
    wanted: list = []
    for a in argnums:
        if not isinstance(a, (int, np.integer)):
            raise ArgumentError(f"argnums is an int or a tuple of ints, not {a!r}",
                                do="give the argument's place, and pass it by position")
        if not -len(args) <= a < len(args):
            counted = f"; argnums counts them from 0 to {len(args) - 1}" if args else ""
            raise ArgumentError(f"argnums names argument {a} of a call with {len(args)} positional arguments",
                                do=f"pass that argument by position{counted}")
        wanted += tree.flatten(positions[a])[0]
    return wanted


def check_differentiable(x: object, alone: bool) -> None:
    """Raise unless x is a real or complex array or number; a string and its like may stand beside such in a tree."""
    if not alone and not is_data(x) and not isinstance(x, (bool, np.ndarray)) and not remedy_of(x):
        return
    if not is_data(x) or type_of(x).dtype.kind not in "fc":
        remedy = remedy_of(x)
        if remedy:
            raise IntegerArgumentError(f"cannot differentiate with respect to a {package_of(x)} {type(x).__name__}",
                                       why="fad computes with NumPy's arrays", do=f"pass its numbers: {remedy}")
        kind = type_of(x).dtype if is_data(x) else f"dtype {x.dtype}" if isinstance(x, np.ndarray) else type(x).__name__
        raise IntegerArgumentError(f"cannot differentiate with respect to an argument of {kind}",
                                   why="only real and complex arguments have derivatives",
                                   do=f"pass {numbers_of(x, type_of(x).dtype if is_data(x) else None)}, "
                                      "or leave the argument out of argnums")


def gradient_tree(arguments: Sequence, cotangents: Sequence, xs: Sequence) -> list:
    """For each differentiated argument, the tree of its cotangents (None for zero becomes zeros)."""
    gs = iter([zeros_of(x) if g is None else g for g, x in zip(cotangents, xs)])
    return [tree.map_leaves(lambda x: next(gs) if is_data(x) else None, a) for a in arguments]


def zeros_of(x: ArrayOrNumber) -> Any:
    """Zeros like x, in the present program."""
    t = type_of(x)
    if not t.shape:
        return float(0) if t.weak and t.dtype.kind == "f" else t.dtype.type(0)
    return Value.__fad_bind__(registry["full"], (0, *shape_of(x)), {"dtype": t.dtype})


def tangent_zeros(y: AnyArray) -> AnyArray:
    """Zeros for the tangent of y: floats, where y is made of integers."""
    zero = zeros_of(y)
    return zero if type_of(zero).dtype.kind in "fc" else zero * 0.0


def value_leaves(inner: Inner) -> int:
    """The number of data leaves of the value, in the result (value, aux) of a function; raise for any other result."""
    structure, statics = inner.traced.structure, inner.traced.statics
    if structure.cls is not tuple or len(structure.children) != 2:
        raise NotScalarError("with has_aux=True the function must return a pair (value, aux)",
                             do="return (value, aux), or leave has_aux out")
    leaves = structure.children[0].leaves
    return leaves - sum(k < leaves for k in statics)


def check_scalar(inner: Inner, what: str, other: str, has_aux: "bool | None" = None) -> None:
    """Raise unless the (data) result is one real number: a scalar, or an array of one element. With has_aux it is the
    first of several; None: the function with this name has no such option."""
    atom = inner.func.outputs[0] if inner.results else None
    if atom is None:
        remedy = next(filter(None, map(remedy_of, inner.traced.statics.values())), "")
        raise NotScalarError(
            f"{what} needs a function that returns a real scalar, and this one returned {without_data(inner)}",
            do=f"compute with NumPy's arrays: {remedy}" if remedy
            else how_to_return(inner))
    t = atom.type
    if not all(map(_is_one, t.shape)):
        extents = tuple(getattr(n, "hint", None) or n for n in t.shape)
        raise NotScalarError(
            f"{what} needs a function that returns a scalar, and this one returned an array of shape {extents}",
            do=f"reduce it (np.sum), or use {other}")
    if t.dtype.kind == "c":
        raise NotScalarError(
            f"{what} needs a function that returns a real scalar, and this one returned a complex number",
            do="return its real part or its absolute value, or use fad.vjp with a complex cotangent")
    if t.dtype.kind != "f":
        raise NotScalarError(f"{what} needs a function that returns a real scalar, and this one returned {t.dtype}",
                             why="an integer has no derivative", do="compute the result in floats")
    if inner.results != 1 and not has_aux:
        option = "" if has_aux is None else " pass has_aux=True for (value, aux),"
        raise NotScalarError(
            f"{what} needs a function that returns one scalar, and this one returned {inner.results} results",
            do=f"return one,{option} or use {other}")


def _is_one(n: object) -> bool:
    """Whether an extent is one; where that is so for these arguments and not for all, a guard says so."""
    if isinstance(n, int):
        return n == 1
    return getattr(n, "hint", None) == 1 and _agree(n, 1)


def seed_of(y: Var) -> AnyArray:
    """The cotangent that a gradient begins with: one, in the shape of the result."""
    one = y.type.dtype.type(1)
    return np.full(tuple([1] * len(y.type.shape)), one) if y.type.shape else one


def how_to_return(inner: Inner) -> str:
    """The remedy where a result has no numbers."""
    found = next(iter(inner.traced.statics.values()), None)
    if isinstance(found, (Coroutine, AsyncIterator)):
        return "make it a plain function: await before and after the call"
    if isinstance(found, Iterator):
        return "return what it yields in a list or an array"
    return "let it end with `return value`, on every way through it"


def without_data(inner: Inner) -> str:
    """A result in which no array or number is, in words."""
    found = [type(x).__name__ if not remedy_of(x) else f"{type(x).__name__} of {package_of(x)}"
             for x in inner.traced.statics.values()]
    if found:
        return f"{found[0]}, which is no number"
    return "None" if inner.traced.structure.cls is type(None) else "no array or number"


def conform(name: str, given: object, model: object) -> list:
    """Leaves of a tangent or cotangent tree, each with the shape of the model tree's data leaf; None for static
    leaves."""
    leaves, structure = tree.flatten(given)
    targets, expected = tree.flatten(model)
    if structure != expected:
        raise StructureError(f"the {name} is {structure.text()}, its value {expected.text()} (* is an array or a "
                             "number)", do=f"give the {name} the structure of the value")
    return [_conformed(name, g, x) if is_data(x) else None for g, x in zip(leaves, targets)]


def _conformed(name: str, g: ArrayOrNumber, x: ArrayOrNumber) -> AnyArray:
    if not is_data(g):
        g = np.asarray(g)
    shape, target = shape_of(g), shape_of(x)
    if len(shape) != len(target) or any(not _agree(m, n) for m, n in zip(shape, target)):
        raise CotangentShapeError(f"the {name} has shape {known_shape(shape)}, its value {known_shape(target)}",
                                  do="give it the shape of the value it belongs to")
    dtype, have = type_of(x).dtype, type_of(g).dtype
    if have.kind == "c" and dtype.kind != "c":
        raise CotangentShapeError(f"the {name} is complex ({have}), its value real ({dtype})")
    return g if have == dtype and not isinstance(g, (int, float, complex)) else registry["cast"](g, dtype=dtype)


def known_shape(shape: tuple) -> tuple:
    """A shape as it is told: of extents that vary, those of this call."""
    return tuple(n if isinstance(n, int) else getattr(n.atom, "hint", None) or n for n in shape)


def _agree(m: Any, n: Any) -> bool:
    try:
        agree(m, n)
    except ValueError as error:
        reraise_interrupt(error)
        return False
    return True


def call_fitting(f: Callable, args: tuple, kwargs: dict) -> Any:
    """f(*args, **kwargs); an ArgumentError where f does not take so many arguments, or none of this name."""
    try:
        return f(*args, **kwargs)
    except TypeError as error:
        reraise_interrupt(error)
        misfit = _misfit(f, args, kwargs)
        if misfit is None:
            raise
        raise misfit from error


def _misfit(f: Callable, args: tuple, kwargs: dict) -> "ArgumentError | None":
    plain = inspect.unwrap(f)
    signature = signature_of(plain)
    if signature is None:                                     # a function of C
        return None
    try:
        signature.bind(*args, **kwargs)
    except TypeError as error:
        reraise_interrupt(error)
        code = getattr(plain, "__code__", None)
        where = None if code is None else f"{code.co_filename}:{code.co_firstlineno}"
        given = ", ".join([*["_"] * len(args), *[f"{k}=_" for k in kwargs]])
        return ArgumentError(
            f"{getattr(plain, '__name__', 'the function')}{signature} was called as ({given}): {error}",
            why=f"the function is defined at {where}" if where else "", do="give it the arguments that it takes")
    return None
