"""vmap: a Func over one example becomes a Func over a batch of them, along a leading axis.

A straight-line program is batched op by op: each op's record says how it runs with one more leading axis. A program
with regions (loops and branches that may depend on the data) becomes one loop over the examples, and each example takes
its own path.
"""
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..ir.build import Value, building, current
from ..ir.graph import Atom, Equation, Func, Literal, Var, extents_of, free_vars
from ..ir.op import Op, registry
from ..ir.types import loop_dtypes, type_of
from ..ir.uses import operands
from ..ir.walk import Environment, bind_outputs, evaluate, run_equation
from ..ops.kinds import shape_of
from ..passes.dce import dce
from ..util.array import AnyArray, ArrayOrNumber, Extent
from ..util.errors import ExtentError
from .loop import loop


def batch(func: Func, args: Sequence, batched: Sequence[bool], n: Extent) -> list:
    """Values of func's outputs over n examples, each with a leading axis of extent n; in the current builder.

    args[k] has a leading batch axis where batched[k].
    """
    func = dce(func)
    if any(eqn.regions and not has_rule(eqn) for eqn in func.equations) or is_ragged(func, batched):
        return each_example(lambda *examples: evaluate(func, examples), args, batched, n)
    sweep = Batch(func, args, batched, n)
    for eqn in func.equations:
        sweep.step(eqn)
    return [sweep.output(a) for a in func.outputs]


def has_rule(eqn: Equation) -> bool:
    """Whether an equation is a call of a function that says itself what it means for a batch."""
    if eqn.op.name != "custom" or eqn.params["rule"].batch is None:
        return False
    extents = {n for a in eqn.inputs for n in a.type.shape}
    return all(v in extents for v in free_vars(eqn.regions[0]))


def varying(func: Func, batched: Sequence[bool]) -> set:
    """The variables of a Func that may differ from example to example."""
    found = {var for var, b in zip(func.inputs, batched) if b}
    for eqn in func.equations:
        if any(v in found for v in operands(eqn)):
            found.update(eqn.outputs)
    return found


def is_ragged(func: Func, batched: Sequence[bool]) -> bool:
    """Whether an extent differs from example to example: it is computed from something that does."""
    found = varying(func, batched)
    return any(n in found for eqn in func.equations for n in extents_of(eqn.outputs))


class Batch:
    """One sweep over a Func: values in env, those in `batched` with a leading batch axis."""

    def __init__(self, func: Func, args: Sequence, batched: Sequence[bool], n: Extent):
        self.n, self.env = n, Environment()
        self.batched: set[Var] = set()
        for var, x, b in zip(func.inputs, args, batched, strict=True):
            self.env[var] = x
            if b:
                self.batched.add(var)
            for extent, size in zip(var.type.shape, shape_of(x)[1 if b else 0:]):
                if isinstance(extent, Var):
                    self.env.setdefault(extent, size)

    def is_batched(self, atom: Atom) -> bool:
        return not isinstance(atom, Literal) and atom in self.batched

    def step(self, eqn: Equation) -> None:
        flags = tuple([self.is_batched(a) for a in eqn.inputs])
        if not any(flags):
            run_equation(eqn, self.env)
            return
        xs = tuple([self.env.read(a) for a in eqn.inputs])
        if eqn.regions:
            self.custom(eqn, xs, flags)
            return
        results = batched_call(eqn.op, promoted_operands(eqn, xs, flags), flags, eqn.params, self.n)
        bind_outputs(eqn, in_dtypes(results, eqn.outputs), self.env)
        self.batched.update(eqn.outputs)

    def custom(self, eqn: Equation, xs: tuple, flags: tuple) -> None:
        """A call by its own rule for batches."""
        results = eqn.params["rule"].batch(xs, flags, self.n)
        extra = len(eqn.outputs) - len(results)
        for v, y in zip(eqn.outputs[extra:], results):
            for extent, size in zip(v.type.shape, shape_of(y)[1:]):
                if isinstance(extent, Var):
                    self.env.setdefault(extent, size)
            self.env[v] = y
        self.batched.update(eqn.outputs[extra:])

    def output(self, atom: Var) -> AnyArray:
        y = self.env.read(atom)
        return y if self.is_batched(atom) else registry["broadcast_to"](y, self.n, *shape_of(y))


def promoted_operands(eqn: Equation, xs: tuple, flags: tuple) -> tuple:
    """Cast the examples' Python numbers, now one array, to the dtype of their use: an array promotes differently."""
    ufunc, types = eqn.op.facts.get("ufunc"), [a.type for a in eqn.inputs]
    if ufunc is None or all(t.weak for t in types) or not any(t.weak and b for t, b in zip(types, flags)):
        return xs
    return tuple([registry["cast"](x, dtype=d) if t.weak and b else x
                  for x, t, b, d in zip(xs, types, flags, loop_dtypes(ufunc, types))])


def in_dtypes(results: ArrayOrNumber, outputs: tuple) -> Any:
    """Results of a batch in the dtypes that they have of one example."""
    if not isinstance(results, (tuple, list)):
        return in_dtype(results, outputs[0].type.dtype)
    return tuple([in_dtype(y, v.type.dtype) for y, v in zip(results, outputs)])


def in_dtype(x: ArrayOrNumber, dtype: np.dtype) -> ArrayOrNumber:
    """x in a dtype."""
    return x if type_of(x).dtype == dtype else registry["cast"](x, dtype=dtype)


def batched_call(op: Op, xs: tuple, flags: tuple, params: dict, n: Extent) -> Any:
    """op over a batch, by the rule of its record; a loop over the examples where it has none."""
    if op.effect:
        return _each_check(op, xs, flags, params, n)
    if op.batch == "elementwise":
        return op(*aligned(xs, flags), **params)
    if callable(op.batch):
        result = op.batch(op, xs, flags, params)
        if result is not NotImplemented:                     # else: here a loop over the examples is the right way
            return result
    results = each_example(lambda *examples: _tuple(op(*examples, **params)), xs, flags, n)
    return results[0] if len(results) == 1 else tuple(results)


def _each_check(op: Op, xs: tuple, flags: tuple, params: dict, n: object) -> tuple:
    """A check of each example, in a loop that computes nothing."""
    def body(i: object, *carries: object) -> tuple:
        op(*[example_of(x, i) if b else x for x, b in zip(xs, flags)], **params)
        return carries
    loop(n, (0,), body)
    return ()


def aligned(xs: Sequence, flags: Sequence[bool]) -> list:
    """Batched operands with axes of extent 1 put behind the batch axis, so that all broadcast as the examples did."""
    rank = max(len(shape_of(x)) - b for x, b in zip(xs, flags))
    return [_insert_axes(x, rank) if b else x for x, b in zip(xs, flags)]


def _insert_axes(x: AnyArray, rank: int) -> AnyArray:
    shape = shape_of(x)
    missing = rank - (len(shape) - 1)
    return x if missing == 0 else registry["reshape"](x, shape[0], *(1,) * missing, *shape[1:])


# -- a loop over the examples ----------------------------------------------------------------------


def each_example(f: Callable, args: Sequence, batched: Sequence[bool], n: Extent) -> list:
    """f of each example, results stacked: a loop that writes row by row."""
    kinds = result_types(f, args, batched)
    init = tuple([registry["full"](0, n, *shape, dtype=dtype) for dtype, shape in kinds])

    def body(i: AnyArray, *outs: AnyArray) -> tuple:
        results = f(*[example_of(x, i) if b else x for x, b in zip(args, batched)])
        return tuple([_put(out, i, y) for out, y in zip(outs, results)])
    return list(loop(n, init, body))


def example_of(x: AnyArray, i: object) -> AnyArray:
    """x[i] along the leading axis."""
    return registry["index"](x, i, spec=("i",) + (":",) * (len(shape_of(x)) - 1), at=0)


def _put(out: AnyArray, i: ArrayOrNumber, y: ArrayOrNumber) -> AnyArray:
    return registry["update"](out, y, i, spec=("i",) + (":",) * (out.ndim - 1), at=0)


def result_types(f: Callable, args: Sequence, batched: Sequence[bool]) -> list:
    """(dtype, extents) of f's results on one example, extents in terms of what is known around the loop.

    f runs once in a region that is thrown away.
    """
    with building("probe", region=True) as probe:
        results = f(*[example_of(x, 0) if b else x for x, b in zip(args, batched)])
        equations = list(probe.equations)
        types = [probe.lift(y) for y in results]
    return [(_dtype(y), tuple([_hoist(n, equations, {}) for n in _extents(y)])) for y in types]


def _dtype(y: AnyArray) -> Any:
    from_value = getattr(y, "dtype", None)
    return from_value if from_value is not None else registry["zeros_like"](y).dtype


def _extents(y: AnyArray) -> tuple:
    return y.atom.type.shape if isinstance(y, Value) else ()


def _hoist(n: Any, equations: list, known: dict) -> AnyArray:
    """An extent that was computed in the region, computed again around it."""
    if not isinstance(n, Var):
        return n
    if current().sees(n):
        return Environment().read(n)
    eqn = next((e for e in equations if n in e.outputs), None)
    if eqn is None or eqn.regions or eqn.op.kind != "elementwise":
        raise ExtentError("the extents of a result differ from example to example, and cannot be stacked",
                          why="they depend on the data", do="make the result's shape depend on shapes only")
    args = [_hoist(a, equations, known) if isinstance(a, Var) else a.value for a in eqn.inputs]
    return eqn.op(*args, **eqn.params)


def _tuple(results: object) -> tuple:
    return results if isinstance(results, tuple) else (results,)
