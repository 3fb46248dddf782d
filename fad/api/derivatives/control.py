"""Control flow in explicit form: cond, switch, while_loop, fori_loop, scan.

Plain `if`, `for` and `while` are captured as they stand; these functions are for explicit programs. Outside a trace
they are plain Python. They hand over values, as a function without side effects would: a result is never an array that
they were given, compiled or not, and a body that writes to its carry leaves the arrays of the first carry as they are.
"""
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...ir import stack
from ...ir.build import Value
from ...ir.op import registry
from ...ops.extents import agree
from ...ops.kinds import shape_of
from ...trace.tracing import is_data
from ...transforms.vmap import example_of, result_types
from ...util import tree
from ...util.array import AnyArray
from ...util.errors import ArgumentError, StructureError
from ...util.interrupts import reraise_interrupt
from ...util.keywords import named_as_here
from ..calls.leaves import of_its_own
from ..calls.staged import check_callable


class Shape:
    """The structure of a tree whose leaves travel through regions. The first run of the region finds it; later runs
    keep it."""

    def __init__(self, what: str, structure: "tree.Structure | None" = None):
        self.what, self.structure = what, structure

    def leaves(self, t: object) -> tuple:
        """The leaves of t, which must have the structure."""
        leaves, structure = tree.flatten(t)
        if self.structure is not None and structure != self.structure:
            raise StructureError(f"{self.what} must have one structure, and are {self.structure.text()} and "
                                 f"{structure.text()} (* is an array or a number)",
                                 do="return the same structure each time")
        self.structure = structure
        for x in leaves:
            if not is_data(x) and not isinstance(x, bool):
                raise StructureError(f"{self.what} must be arrays or numbers, not {type(x).__name__}")
        return tuple(leaves)

    def tree(self, leaves: Sequence) -> Any:
        """The tree of these leaves."""
        return self.structure.unflatten(leaves)              # type: ignore[union-attr]


def _whole(function: str, name: str, x: Any) -> int:
    """An argument that is an int outside of traces."""
    try:
        return operator.index(x.item() if isinstance(x, np.ndarray) and x.ndim == 0 else x)
    except TypeError as error:
        reraise_interrupt(error)
        if isinstance(x, (float, np.floating)) and x == int(x):
            return int(x)
        raise ArgumentError(f"{name} of fad.{function} is {x!r}, not an int", do=f"give {name} as an int") from None


def _truth(function: str, name: str, x: object) -> bool:
    """A condition outside of traces."""
    if isinstance(x, np.ndarray) and x.size != 1:
        raise ArgumentError(f"{name} of fad.{function} has shape {x.shape}, not one truth value",
                            do="reduce it by .any() or .all(); np.where chooses element by element")
    if x is None or isinstance(x, np.flexible) or not hasattr(type(x), "__bool__"):
        raise ArgumentError(f"{name} of fad.{function} is {x!r:.40}, not a truth value",
                            do="give a bool, or a number, which is true where it is not zero")
    return bool(x)


@named_as_here
def cond(predicate: object, if_true: Callable, if_false: Callable, *operands: object) -> Any:
    """Call one of two functions, and compute only that one.

    A plain ``if`` does the same in code that fad can read.

    Parameters
    ----------
    predicate : bool or scalar
        The condition.
    if_true, if_false : callable
        Functions of the operands. Both return structures of one kind, with equal shapes.
    *operands
        The arguments of both functions.

    Returns
    -------
    array or structure of arrays
        The result of the chosen function.

    Examples
    --------
    >>> import fad
    >>> float(fad.grad(lambda x: fad.cond(x > 0, lambda x: x ** 2, lambda x: -x, x))(3.0))
    6.0
    """
    check_callable(if_true, "cond"), check_callable(if_false, "cond")
    if not isinstance(predicate, Value):
        return of_its_own(if_true(*operands) if _truth("cond", "predicate", predicate) else if_false(*operands))
    if shape_of(predicate):
        raise ArgumentError(f"cond needs a scalar, not an array with {len(shape_of(predicate))} axes",
                            do="use np.where for a choice element by element")
    chosen = predicate if predicate.dtype == np.dtype(bool) else registry["not_equal"](predicate, 0)
    return _branches(chosen, (if_false, if_true), operands)


def _branches(selector: object, functions: tuple, operands: tuple) -> Any:
    shape = Shape("the results of the branches")
    results = registry["cond"].run_regions([selector], tuple([_branch(f, operands, shape) for f in functions]),
                                           is_users=True)
    return of_its_own(shape.tree(results))


def _branch(f: Callable, operands: tuple, shape: Shape) -> Callable:
    return lambda: shape.leaves(f(*operands))


@named_as_here
def switch(index: object, branches: Sequence[Callable], *operands: object) -> Any:
    """Call the function that an index chooses.

    Parameters
    ----------
    index : int
        The position in `branches`. An index outside of them takes the first or the last.
    branches : sequence of callable
        Functions of the operands. All return structures of one kind, with equal shapes.
    *operands
        The arguments of all functions.

    Returns
    -------
    array or structure of arrays
        The result of the chosen function.

    Examples
    --------
    >>> import fad
    >>> fad.switch(1, [lambda x: x, lambda x: 2 * x], 5.0)
    10.0
    """
    if not isinstance(branches, Sequence) or not branches:
        raise ArgumentError("switch needs at least one branch", do="call it as switch(index, [f, g, ...], x)")
    for branch in branches:
        check_callable(branch, "switch")
    last = len(branches) - 1
    if not isinstance(index, Value):
        return of_its_own(branches[max(0, min(_whole("switch", "index", index), last))](*operands))
    return _branches(registry["minimum"](registry["maximum"](index, 0), last), tuple(branches), operands)


@named_as_here
def while_loop(test: Callable, body: Callable, init: object, *, checkpoint: bool = False) -> Any:
    """Run ``carry = body(carry)`` as long as ``test(carry)`` holds.

    A plain ``while`` loop does the same in code that fad can read.

    Parameters
    ----------
    test : callable
        A function of the carry that returns a truth value.
    body : callable
        A function of the carry that returns the next carry.
    init : array_like or structure of arrays
        The first carry.
    checkpoint : bool, optional
        Whether the reverse sweep computes iterations again in place of saving them; see `checkpoint`.

    Returns
    -------
    array or structure of arrays
        The last carry.

    Examples
    --------
    >>> import fad
    >>> float(fad.grad(lambda x: fad.while_loop(lambda c: c < 100.0, lambda c: c * x, x))(2.0))
    448.0
    """
    check_callable(test, "while_loop"), check_callable(body, "while_loop")
    if not stack.builders():
        carry = of_its_own(init)
        while _truth("while_loop", "test", test(carry)):
            carry = body(carry)
        return of_its_own(carry)
    shape = Shape("the carry of a loop")
    start = shape.leaves(of_its_own(init))
    regions = (lambda *c: (test(shape.tree(c)),), lambda *c: shape.leaves(body(shape.tree(c))))
    return of_its_own(shape.tree(registry["while"].run_regions(list(start), regions, checkpoint=checkpoint or None)))


@named_as_here
def fori_loop(lower: object, upper: object, body: Callable, init: object, *, checkpoint: bool = False) -> Any:
    """Run ``carry = body(i, carry)`` for ``i = lower, ..., upper - 1``.

    A plain ``for`` loop does the same in code that fad can read.

    Parameters
    ----------
    lower, upper : int
        The range of the index.
    body : callable
        A function of the index and the carry. It returns the next carry.
    init : array_like or structure of arrays
        The first carry.
    checkpoint : bool, optional
        Whether the reverse sweep computes iterations again in place of saving them; see `checkpoint`.

    Returns
    -------
    array or structure of arrays
        The last carry.

    Examples
    --------
    >>> import fad
    >>> float(fad.grad(lambda x: fad.fori_loop(0, 3, lambda i, c: c * x, 1.0))(2.0))
    12.0
    """
    check_callable(body, "fori_loop")
    if not stack.builders():
        carry = of_its_own(init)
        for i in range(_whole("fori_loop", "lower", lower), _whole("fori_loop", "upper", upper)):
            carry = body(i, carry)
        return of_its_own(carry)
    shape = Shape("the carry of a loop")
    start = shape.leaves(of_its_own(init))
    iteration = lambda i, *c: shape.leaves(body(i, shape.tree(c)))
    end = registry["for"].run_regions([lower, upper, 1, *start], (iteration,), checkpoint=checkpoint or None)
    return of_its_own(shape.tree(end))


@named_as_here
def scan(f: Callable, init: object, xs: object = None, length: "int | None" = None, reverse: bool = False) -> tuple:
    """Carry a value along the first axis of `xs`.

    Parameters
    ----------
    f : callable
        A function ``f(carry, x)`` that returns ``(carry, y)``.
    init : array_like or structure of arrays
        The first carry.
    xs : structure of arrays, optional
        Arrays with one leading extent. None means that `f` gets None, `length` times.
    length : int, optional
        The number of iterations.
    reverse : bool, optional
        Whether to run from the last to the first. Each `y` keeps the place of its `x`.

    Returns
    -------
    carry
        The last carry.
    ys
        The stacked results.

    Examples
    --------
    >>> import numpy as np
    >>> import fad
    >>> carry, sums = fad.scan(lambda c, x: (c + x, c + x), 0.0, np.array([1.0, 2.0, 3.0]))
    >>> float(carry), sums.tolist()
    (6.0, [1.0, 3.0, 6.0])
    """
    check_callable(f, "scan")
    leaves, structure = tree.flatten(xs)
    n = _length(leaves, length)

    def at(i: int) -> AnyArray:
        return structure.unflatten([x[i] if isinstance(x, np.ndarray) and isinstance(i, int) else example_of(x, i)
                                    for x in leaves])
    if not stack.builders():
        return _scan_now(f, init, at, int(n), reverse)
    carry, result = Shape("the carry of scan"), Shape("the results of scan")
    start = carry.leaves(of_its_own(init))

    def iteration(i: int, *c: object) -> tuple:
        new, y = _carried(f(carry.tree(c), at(i)))
        return carry.leaves(new), result.leaves(y)
    kinds = result_types(lambda *c: iteration(0, *of_its_own(c))[1], start, [False] * len(start))
    outs = [registry["full"](0, n, *extents, dtype=dtype) for dtype, extents in kinds]

    def body(k: Any, *values: Any) -> tuple:
        i = n - 1 - k if reverse else k
        new, ys = iteration(i, *values[:len(start)])
        written = [registry["update"](out, y, i, spec=("i",) + (":",) * (out.ndim - 1), at=0)
                   for out, y in zip(values[len(start):], ys, strict=True)]
        return (*new, *written)
    ends = registry["for"].run_regions([0, n, 1, *start, *outs], (body,))
    return of_its_own(carry.tree(ends[:len(start)])), result.tree(ends[len(start):])


def _carried(answer: tuple) -> tuple:
    """The results of a scan's function: the next carry, and a result."""
    if not isinstance(answer, tuple) or len(answer) != 2:
        raise StructureError("the function of fad.scan must return a pair (carry, result)",
                             do="return (carry, None) where there is no result")
    return answer


def _told(x: object) -> str:
    return "a number" if is_data(x) else type(x).__name__


def _length(leaves: list, length: "int | None") -> Any:
    for x in leaves:
        if not is_data(x) or not shape_of(x):
            raise ArgumentError(f"xs of fad.scan holds {_told(x)}, which has no first axis",
                                do="give arrays of one axis or more, or None and a length")
    extents = [shape_of(x)[0] for x in leaves]
    n = extents[0] if extents else length
    if n is None:
        raise ArgumentError("scan needs xs or a length", do="call it as scan(f, init, xs), or with length=")
    for m in [*extents[1:], *([length] if length is not None else [])]:
        n = agree(n, m, "leading extents of xs")
    return n


def _scan_now(f: Callable, carry: object, at: Callable, n: int, reverse: bool) -> tuple:
    ys: list = [None] * n
    carry = of_its_own(carry)
    for i in reversed(range(n)) if reverse else range(n):
        carry, y = _carried(f(carry, of_its_own(at(i))))
        ys[i] = of_its_own(y)
    return of_its_own(carry), tree.map_leaves(lambda *rows: np.stack(rows), *ys) if ys else None
