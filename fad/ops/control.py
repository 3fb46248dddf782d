"""Control flow as ops with regions: `for`, `while` and `cond`. A region is a Func that may use the variables around it.

for     inputs start, stop, step, *init; region body(i, *carries) -> carries; results: the carries after the last
        iteration
while   inputs *init; regions test(*carries) -> bool, body(*carries) -> carries; results: the carries when test fails
cond    input selector (an integer, or a bool: False 0, True 1); one region without inputs for each choice; results: the
        chosen one's

On arrays, with no program being built, `run_regions` is Python's own loop; otherwise it traces its callables into
regions. All three have the parameters `names` (of the carries or results, for people) and `extents`: triples (k, axis,
j) which say that the extent of the k-th carry (or result) along axis is the j-th one, an integer. A loop may have
`checkpoint`: True asks reverse mode to save little and recompute the rest, False to save all that it needs.
"""
import builtins
from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from ..ir import stack
from ..ir.build import Builder, Value, as_atom, building, current
from ..ir.graph import Equation, Func
from ..ir.interpreter import handed_over, results_of
from ..ir.op import Op, registry
from ..ir.traits import Traits
from ..ir.types import INT, Type, type_of
from ..util.array import AnyArray, ArrayOrNumber, Extent
from ..util.errors import TapeMemoryError
from ..util.memory import available
from ..util.patience import check_patience, iterations
from ..util.where import here
from . import extents as extent
from .arithmetic import sub
from .carry import (
    UNDEFINED,
    Carries,
    TracedCode,
    assumed_equal,
    atom_type,
    convert,
    entering,
    join,
    output_vars,
    trace_body,
    visible_extent,
)
from .choice import cast
from .kinds import NoRule, Zero, shape_of
from .mixed import of_kinds


class RegionOp(Op):
    """An op with regions. `run_regions(args, callables, **params)` runs it; the callables are the regions' code.
    deciding: so many operands, the first ones, say what runs; None: all.
    """

    def __init__(self, name: Literal["for", "while", "cond"], run: Callable, trace: Callable, doc: str,
                 deciding: "int | None" = None):
        super().__init__(name, run, _no_infer, kind="control",
                         derivative=NoRule("its regions are differentiated by the transforms"), doc=doc,
                         traits=Traits(control=name))
        self.trace, self.deciding = trace, deciding

    def run_regions(self, args: list, regions: tuple, **params: object) -> tuple:
        """The results, as a tuple."""
        is_run = not stack.builders() or stack.is_live() and all(map(current().is_known, args[:self.deciding]))
        if not is_run:
            return self.trace(args, regions, **params)
        return self.run(args, regions, **params)


def _no_infer(*args: object, **params: object) -> Any:
    raise TypeError("an op with regions finds its types by tracing them")


def emit(op: Op, args: tuple, regions: tuple, types: list, names: tuple, extents: tuple,
         checkpoint: "bool | None" = None) -> list:
    """Add an equation with regions to the current builder; its results as Values."""
    builder = current()
    outputs = tuple(output_vars(types, extents, names))
    atoms = tuple([as_atom(builder.lift(a)) for a in args])
    params: dict[str, Any] = {"names": names, "extents": extents}
    if checkpoint is not None:
        params["checkpoint"] = checkpoint
    builder.equations.append(Equation(op, atoms, outputs, params, regions, builder.where or here()))
    return [builder.own(v) for v in outputs]


def _deliver(values: list, carries: Carries) -> tuple:
    """The results for the caller's carries, UNDEFINED for those that never had a value."""
    results = iter(values)
    return tuple([UNDEFINED if t is None else next(results) for t in carries.types][:carries.given])


# -- for -------------------------------------------------------------------------------------------


def _run_for(args: list, regions: tuple, **params: object) -> tuple:
    start, stop, step, *carries = handed_over(args, regions[0])
    for i in iterations(range(int(start), int(stop), int(step))):
        carries.insert(0, i)
        carries = results_of(regions[0], carries)
    return tuple(carries)


def integer(n: Extent) -> Any:
    """An int, or an integer of the program in the dtype of extents."""
    if not isinstance(n, Value):
        return int(n)
    return n if n.dtype == INT else cast(n, dtype=INT)


def _trace_for(args: list, regions: tuple, names: tuple = (), extents: tuple = (), checkpoint: "bool | None" = None,
               iterations: "list | None" = None) -> tuple:
    start, stop, step = [integer(n) for n in args[:3]]
    init = tuple(args[3:])
    if all(isinstance(n, int) for n in (start, stop, step)) and not range(start, stop, step):
        return init
    carries = Carries(init, names, extents, (start, step) if step in (1, -1) else None)
    body = trace_body(regions[0], carries, lambda builder: (loop_index(builder, start, stop, step),),
                      iterations=iterations)
    types = [t for t in carries.types if t is not None]
    results = emit(FOR, (start, stop, step, *carries.starts()), (body,), types, carries.kept_names(), carries.extents(),
                   checkpoint)
    carries.note_ends(results, *[current().integers.form(atom_of(n)) for n in (start, stop)])
    return _deliver(results, carries)


def loop_index(builder: Builder, start: Extent, stop: Extent, step: int) -> Value:
    """The input for a loop's index, with its bounds: start <= i < stop for a positive step, stop < i <= start for a
    negative one."""
    i = builder.input(Type(INT, (), True), "i")
    if not isinstance(step, int):
        return i
    facts = builder.integers
    first, last = facts.form(atom_of(start)), facts.form(atom_of(stop))
    one = facts.form(1)
    low, high = (first, last - one) if step > 0 else (last + one, first)
    facts.high[i.atom] = high
    if low.is_constant:
        facts.low[i.atom] = low.const
        return i
    if abs(step) == 1:                                        # i = low + k for a k that is not negative
        with entering(builder):
            k = sub(i, builder.from_form(low))
        if isinstance(k, Value) and k.atom in facts.forms:
            del facts.forms[k.atom]
            facts.low[k.atom], facts.high[k.atom] = 0, high - low
            facts.forms[i.atom] = low + facts.form(k.atom)
    elif facts.proves_nonnegative(low):
        facts.low[i.atom] = 0
    return i


def atom_of(n: object) -> Any:
    """The variable of a number of the program; a number itself."""
    return n.atom if isinstance(n, Value) else n


def trip_count(start: Extent, stop: Extent, step: int) -> Any:
    """The number of iterations of range(start, stop, step)."""
    if isinstance(step, int) and step == 1:
        return extent.difference(stop, start)
    if isinstance(step, int) and step == -1:
        return extent.difference(start, stop)
    return extent.maximum(-((start - stop) // step), 0)


def iteration_number(i: AnyArray, start: Extent, step: int) -> AnyArray:
    """The number, from 0, of the iteration whose index is i."""
    if isinstance(step, int) and step == 1:
        return i - start
    if isinstance(step, int) and step == -1:
        return start - i
    return (i - start) // step


# -- while -----------------------------------------------------------------------------------------


def _run_while(args: list, regions: tuple, **params: object) -> tuple:
    test, body = regions
    carries = handed_over(args, body)
    while _first(test(*carries)):
        check_patience()
        carries = results_of(body, carries)
    return tuple(carries)


def _first(results: object) -> Any:
    return results[0] if isinstance(results, (tuple, list)) else results


def _trace_while(args: list, regions: tuple, names: tuple = (), extents: tuple = (), checkpoint: "bool | None" = None,
                 iterations: "list | None" = None) -> tuple:
    test, body = regions
    carries = Carries(tuple(args), names, extents)
    body_region = trace_body(body, carries, iterations=iterations)
    for iteration in iterations or ():
        iteration.test = _code_of_test(test, carries.at(iteration))
    test_region = _trace_test(test, carries)
    types = [t for t in carries.types if t is not None]
    results = emit(WHILE, tuple(carries.starts()), (test_region, body_region), types, carries.kept_names(),
                   carries.extents(), checkpoint)
    return _deliver(results, carries)


def _trace_test(test: Callable, carries: Carries) -> Func:
    with building("test", region=True) as builder:
        values = carries.inputs(builder)
        return builder.finish((_first(test(*values[:carries.given])),))


def _code_of_test(test: Callable, carries: Carries) -> TracedCode:
    """The test at the types of an iteration."""
    with building("test", region=True) as builder:
        values = carries.inputs(builder)
        return TracedCode((), values, builder.equations, [_first(test(*values[:carries.given]))])


# -- cond ------------------------------------------------------------------------------------------


def _run_cond(args: list, regions: tuple, **params: object) -> tuple:
    return tuple(regions[int(args[0])]())


def _trace_cond(args: list, regions: tuple, names: tuple = (), extents: tuple = (), is_users: bool = False) -> tuple:
    if not isinstance(args[0], Value):
        return tuple(regions[int(args[0])]())
    return trace_branches(args[0], regions, lambda rows: rows, names, extents, is_users)


def trace_branches(selector: Value, regions: tuple, align: Callable, names: Any = (), extents: tuple = (),
                   is_users: bool = False) -> tuple:
    """A cond whose branches' results go through align(rows) -> rows once all of them are known (and names, if
    callable, too).

    is_users: it stands in the user's code, so that it matters of what kinds the results are (see mixed.py).
    """
    branches = [_trace_branch(region) for region in regions]
    rows = align([r for _, r in branches])
    names = names() if callable(names) else names
    results = _Results(rows, [b for b, _ in branches], names, extents)
    regions = tuple([results.finish(k) for k in range(len(branches))])
    values = iter(emit(COND, (selector,), regions, results.kept_types(), results.kept_names(), results.kept_extents()))
    ys = [UNDEFINED if t is None else next(values) for t in results.types][:results.given]
    if is_users:
        ys = [of_kinds(y, name, [x for x in given if x is not UNDEFINED])
              for y, name, given in zip(ys, results.all_names(), zip(*rows))]
    return tuple(ys)


def _trace_branch(region: Callable) -> tuple:
    with building("branch", region=True) as builder:
        return builder, list(region())


def _yielded(x: object, t: Type) -> ArrayOrNumber:
    """The value that a branch yields for a result of this type."""
    if x is UNDEFINED and t.shape:
        return registry["undefined"](*[current().value_of(n) for n in t.shape], dtype=t.dtype)
    return convert(x, t)


class _Results:
    """The values that the branches of a cond yield, in types that fit them all."""

    def __init__(self, rows: list, builders: list, names: tuple, extents: tuple):
        self.rows, self.builders, self.names = rows, builders, tuple(names)
        self.given = len(rows[0])
        self.links = {(k, axis): j for k, axis, j in extents}
        self.types: list = []
        for k in range(self.given):
            self.types.append(self._joined(k))
        self.types += [Type(INT, (), True) for j in self.links.values() if j >= self.given]

    def _joined(self, k: int) -> "Type | None":
        t = None
        name = (self.names[k] if k < len(self.names) else "") or f"result {k} of the branches"
        for row in self.rows:
            t = join(t, atom_type(row[k]), name)
        if t is None or not t.shape:
            return t
        return Type(t.dtype, tuple([self._extent(k, axis) for axis in range(t.rank)]), False)

    def _extent(self, k: int, axis: int) -> Any:
        """The extent that all branches with a value agree on, or 0 where it will be a result of its own."""
        if (k, axis) in self.links:
            return 0
        seen = [self._seen(b, row[k], axis) for b, row in zip(self.builders, self.rows) if row[k] is not UNDEFINED]
        if None not in seen and all(assumed_equal(seen[0], n) for n in seen[1:]):
            return seen[0]
        fresh = sum(1 for j in self.links.values() if j >= self.given)
        self.links[k, axis] = self.given + fresh
        return 0

    def _seen(self, builder: Builder, x: AnyArray, axis: int) -> Any:
        with entering(builder):
            n = shape_of(x)[axis]
        return visible_extent(atom_of(n), current())

    def finish(self, branch: int) -> Func:
        """The region of one branch."""
        builder, row = self.builders[branch], list(self.rows[branch])
        with entering(builder):
            fresh = [(j, k, axis) for (k, axis), j in self.links.items() if j >= self.given]
            row += [0 if row[k] is UNDEFINED else shape_of(row[k])[axis] for _, k, axis in sorted(fresh)]
            results = [_yielded(x, t) for x, t in zip(row, self.types) if t is not None]
            return builder.finish(tuple(results))

    def _place(self) -> dict:
        return {k: j for j, k in enumerate(k for k, t in enumerate(self.types) if t is not None)}

    def kept_types(self) -> list:
        return [t for t in self.types if t is not None]

    def all_names(self) -> list:
        return [self.names[k] if k < len(self.names) else "" for k in range(len(self.types))]

    def kept_names(self) -> tuple:
        return tuple([self.all_names()[k] for k in self._place()])

    def kept_extents(self) -> tuple:
        place = self._place()
        return tuple((place[k], axis, place[j]) for (k, axis), j in self.links.items() if k in place)


# -- arrays that loops save values in --------------------------------------------------------------

unwritten = Op("unwritten", lambda *shape, dtype: np.zeros(tuple(int(n) for n in shape), dtype),
               lambda *shape, dtype: Type(dtype, shape), kind="shape", creation=True, derivative=Zero(),
               doc="An array whose elements are yet to be written; none is read before",
               traits=Traits(rematerialised=True, distinct=True))


def _run_resize(x: AnyArray, n: Extent) -> AnyArray:
    if len(x) == int(n):
        return x
    y = np.zeros((int(n),) + x.shape[1:], x.dtype)
    kept = min(len(x), int(n))
    y[:kept] = x[:kept]
    return y


class _Resize:
    """Linear; the transpose goes back to the extent that was."""

    def jvp(self, op: Op, ys: tuple, xs: tuple, dxs: tuple, params: dict) -> tuple:
        return (resize(dxs[0], xs[1]),)

    def pullback(self, op: Op, gs: tuple, ys: tuple, xs: tuple, params: dict, needs: tuple) -> tuple:
        return (resize(gs[0], shape_of(xs[0])[0]), None)


resize = Op("resize", _run_resize, lambda x, n: Type(type_of(x).dtype, (n,) + tuple(shape_of(x)[1:])), kind="resize",
            derivative=_Resize(),
            doc="x with another extent along the first axis: cut off, or zeros behind; x itself where the extent is "
                "the same", traits=Traits(copies=1, in_place=True))


def _run_check(test: ArrayOrNumber, wanted: bool, what: str, error: str = "AssertionError") -> tuple:
    if bool(test) != bool(wanted):
        raise getattr(builtins, error)(what)
    return ()


def _batch_that(op: Op, xs: tuple, batched: tuple, params: dict) -> Any:
    """All examples are to have the truth value; that is one, or one for each."""
    test, wanted = xs
    if batched[0] or batched[1]:
        test, wanted = registry["all"](registry["equal"](test, wanted), axes=(0,)), True
    return op(test, wanted, **params)


check_that = Op("check_that", _run_check, lambda test, wanted, what, error="AssertionError": (), kind="check",
                derivative=Zero(), effect=True, batch=_batch_that, error="AssertionError",
                doc="An assertion: raises (error names a class of Python's) unless a truth value is the one that is "
                    "wanted")

def _run_room(count: Extent) -> tuple:
    if int(count) > available():
        raise TapeMemoryError(NO_ROOM, why=f"it takes {int(count):,} bytes", do=LESS)
    return ()


def _batch_room(op: Op, xs: tuple, batched: tuple, params: dict) -> Any:
    return NotImplemented


NO_ROOM = "what a loop saves for its reverse sweep does not fit in memory"
LESS = ('let part of it be computed again: memory="1GB" (of fad.grad and its kin), '
        'or `for k in fad.checkpoint(range(n))`')
check_room = Op("check_room", _run_room, lambda count: (), kind="check", derivative=Zero(), effect=True,
                batch=_batch_room, error="MemoryError",
                doc="Raises unless so many bytes are to be had before the machine swaps")

FOR = RegionOp("for", _run_for, _trace_for, "A counted loop", deciding=3)
WHILE = RegionOp("while", _run_while, _trace_while, "A loop for as long as a test holds")
COND = RegionOp("cond", _run_cond, _trace_cond, "One of several branches", deciding=1)
