"""Sparse Jacobians and Hessians: the pattern from the program, colours, one compressed sweep, a scipy.sparse array."""
import copy
import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..api.calls.leaves import level_of, static_key
from ..api.calls.staged import as_tuple, check_callable
from ..api.calls.transform_cache import remembered
from ..ir import stack
from ..util import tree
from ..util.errors import ArgumentError, ConcreteValueError
from ..util.keywords import named_as_here
from .pattern import Pattern
from .plan import FORMATS, SparsePlan
from .sweeps import What

MODES = (None, "forward", "reverse")
PLAIN = (np.ndarray, float, int)                             # arguments that are leaves themselves


@named_as_here
def jacobian(f: "Callable | None" = None, argnums: "int | Sequence[int]" = 0, *, pattern: object = None,
             mode: "str | None" = None, format: str = "csr", compile: "str | None" = None) -> Any:
    """The Jacobian of f as a sparse matrix: a row for each element of f's results, raveled, a column for each of the
    arguments.

    Returns a function of f's arguments that gives a scipy.sparse.csr_array of shape (y.size, x.size). It finds the
    pattern once for each kind of arguments, from the program of f: loops, branches, slices and gathers included. The
    pattern holds for all values of the differentiated arguments, so that a place may hold zero. If other values that
    it depends on change (an array of indices, say), it is found anew. Columns (or rows) that do not meet have one
    colour, and one sweep computes all columns of a colour.

    Parameters: argnums: with respect to which arguments; the columns of several arguments (or of trees of arrays)
    stand side by side, the rows of several results one below the other. pattern: where entries may be, a Pattern,
    sparse matrix or boolean array, if you know it better; nonzero entries outside it falsify others. mode: "forward"
    (columns are coloured), "reverse" (rows), None: whichever takes fewer sweeps. format: "csr" or "csc". compile: see
    jit.

    The function's method `pattern(*args)` gives the Pattern, `colours(*args)` the colour of each column (or row).

    Raises IntegerArgumentError (a TypeError) if an argument is not real, ArgumentError if a pattern does not have the
    matrix's shape, NoDerivativeError if the shape of a result depends on the differentiated values.

    >>> import numpy as np, fad
    >>> J = fad.sparse.jacobian(lambda x: x[1:] * x[:-1])(np.array([1.0, 2.0, 3.0]))
    >>> J.toarray()
    array([[2., 1., 0.],
           [0., 3., 2.]])
    """
    if f is None:
        return functools.partial(jacobian, argnums=argnums, pattern=pattern, mode=mode, format=format, compile=compile)
    if mode not in MODES:
        raise ArgumentError(f"mode is 'forward', 'reverse' or None, not {mode!r}", do="give one of these")
    return _made(f, "sparse.jacobian", What(False, as_tuple(argnums)), mode, format, compile, pattern)


@named_as_here
def hessian(f: "Callable | None" = None, argnums: "int | Sequence[int]" = 0, *, pattern: object = None,
            format: str = "csr", compile: "str | None" = None) -> Any:
    """The Hessian of a function that returns a real scalar, as a sparse symmetric matrix; see jacobian.

    Each entry stands twice, in its row and in its column, and is computed once. The colouring leaves one of the two
    alone in its sweep (star colouring), which takes fewer sweeps than finding all columns.

    Returns a function of f's arguments that gives a scipy.sparse.csr_array of shape (x.size, x.size). Parameters: as
    for jacobian.

    >>> import numpy as np, fad
    >>> H = fad.sparse.hessian(lambda x: np.sum(x[1:] ** 2 * x[:-1]))(np.array([1.0, 2.0, 3.0]))
    >>> H.toarray()
    array([[0., 4., 0.],
           [4., 2., 6.],
           [0., 6., 4.]])
    """
    if f is None:
        return functools.partial(hessian, argnums=argnums, pattern=pattern, format=format, compile=compile)
    return _made(f, "sparse.hessian", What(True, as_tuple(argnums)), "forward", format, compile, pattern)


def _made(f: Callable, name: str, what: What, mode: "str | None", format: str, policy: "str | None",
          pattern: object) -> "SparseDerivative":
    check_callable(f, name)
    if format not in FORMATS:
        raise ArgumentError(f"format is 'csr' or 'csc', not {format!r}", do="convert the matrix (.tocoo(), .todense())")
    if pattern is not None:
        return SparseDerivative(f, name, what, mode, format, policy, Pattern(pattern))
    return _of(f, name, what, mode, format, policy)


@remembered
def _of(f: Callable, *options: Any) -> "SparseDerivative":
    return SparseDerivative(f, *options)


class SparseDerivative:
    """The result of fad.sparse.jacobian and hessian: a function of f's arguments that gives a sparse matrix."""

    def __init__(self, f: Callable, name: str, what: What, mode: "str | None", format: str, policy: "str | None",
                 given: "Pattern | None" = None):
        functools.update_wrapper(self, f)
        self.f, self.name, self.what, self.given = f, name, what, given
        self.mode, self.format, self.policy = mode, format, policy
        self.plans: dict[Any, list[SparsePlan]] = {}

    def __call__(self, *args: object, **kwargs: object) -> Any:
        return self.plan(args, kwargs).matrix(args, kwargs)

    def pattern(self, *args: object, **kwargs: object) -> Pattern:
        """The places where the matrix may have entries, for arguments like these."""
        return self.plan(args, kwargs).pattern

    def colours(self, *args: object, **kwargs: object) -> np.ndarray:
        """The colour of each column (or row, if reverse mode takes fewer sweeps). One sweep computes all of a colour.
        """
        return self.plan(args, kwargs).colours.copy()

    def plan(self, args: tuple, kwargs: dict) -> SparsePlan:
        """The plan that serves these arguments, made now if there is none."""
        if kwargs or not all(type(x) in PLAIN for x in args):
            leaves, structure = tree.flatten((args, kwargs))
        else:
            leaves, structure = list(args), len(args)  # type: ignore[assignment]  # the usual call, without a walk over trees
        self._refuse_traced(leaves)
        key = (structure, *[_kind(x) for x in leaves])
        plans = self.plans.setdefault(key, [])
        for plan in plans:
            if plan.serves(leaves):
                return plan
        plan = SparsePlan(self, args, kwargs, leaves)
        self.plans[key] = [plan, *plans[:7]]                  # patterns that depend on data: the latest few
        return plan

    def _refuse_traced(self, leaves: list) -> None:
        if level_of(leaves) or stack.builders():
            raise ConcreteValueError(f"fad.{self.name} was called in a function that is being traced, or on a tensor",
                                     why="its result is a scipy.sparse matrix, which is no value of a program",
                                     do="call it on arrays; within a program use fad.jacobian, or fad.jvp and fad.vjp")

    def with_policy(self, policy: "str | None") -> "SparseDerivative":
        """The same, compiled by another policy: what fad.jit makes of it."""
        made = copy.copy(self)
        made.policy, made.plans = policy, {}
        return made

    def __repr__(self) -> str:
        return f"<fad.{self.name} of {getattr(self.f, '__qualname__', self.f)}>"


def _kind(x: object) -> Any:
    """The part of a leaf that every plan depends on: an array's shape and dtype, a float's type, anything else itself.
    """
    if isinstance(x, np.ndarray):
        return x.shape, x.dtype
    return type(x) if isinstance(x, (float, np.generic)) else static_key(x)
