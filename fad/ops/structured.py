"""Control flow as functions of functions: cond, switch, while_loop, fori_loop, scan over trees of arrays.

Plain Python on arrays; regions of the program where one is being traced.
"""
from typing import Any, Callable

import numpy as np

from ..util import tree
from ..util.errors import ArgumentError, StructureError
from .control import COND, FOR, WHILE, unwritten
from .extents import agree, maximum, minimum
from .index import index, update
from .kinds import shape_of


def _flat(value: Any, structure: "tree.Structure | None", what: str) -> list:
    leaves, got = tree.flatten(value)
    if structure is not None and got != structure:
        raise StructureError(f"{what} must keep the structure {structure}, and gave {got}")
    return leaves


def fori_loop(start: Any, stop: Any, body: Callable, init: Any) -> Any:
    leaves, structure = tree.flatten(init)

    def step(i: Any, *carries: Any) -> list:
        return _flat(body(i, structure.unflatten(carries)), structure, "the body of a loop")
    return structure.unflatten(FOR.run_regions([start, stop, 1, *leaves], (step,)))


def while_loop(test: Callable, body: Callable, init: Any) -> Any:
    leaves, structure = tree.flatten(init)

    def go_on(*carries: Any) -> Any:
        return test(structure.unflatten(carries))

    def step(*carries: Any) -> list:
        return _flat(body(structure.unflatten(carries)), structure, "the body of a loop")
    return structure.unflatten(WHILE.run_regions(leaves, (go_on, step)))


def switch(choice: Any, branches: Any, *operands: Any) -> Any:
    branches = list(branches)
    if not branches:
        raise ArgumentError("a switch needs at least one branch")
    structures: list = []

    def region(branch: Callable) -> Callable:
        def run() -> list:
            leaves, structure = tree.flatten(branch(*operands))
            structures.append(structure)
            if structure != structures[0]:
                raise StructureError(f"the branches give {structures[0]} and {structure}", do="let all branches give one structure")
            return leaves
        return run
    results = COND.run_regions([choice], tuple([region(b) for b in branches]))
    return structures[0].unflatten(results)


def cond(condition: Any, if_true: Callable, if_false: Callable, *operands: Any) -> Any:
    return switch(condition, (if_false, if_true), *operands)


def clamp(choice: Any, count: int) -> Any:
    """An integer brought into 0 ... count - 1."""
    return minimum(maximum(choice, 0), count - 1)


def scan(body: Callable, init: Any, xs: Any = None, length: Any = None, reverse: bool = False) -> tuple:
    columns, x_structure = tree.flatten(xs)
    n = _common_length(columns, length)
    if isinstance(n, int) and n == 0:
        raise ArgumentError("a scan of no steps has no type for its results")
    leaves, structure = tree.flatten(init)
    out: dict[str, Any] = {}

    def step(i: Any, *carries: Any) -> list:
        k = n - 1 - i if reverse else i
        row = x_structure.unflatten([row_of(x, k) for x in columns])
        carry, y = body(structure.unflatten(carries[:len(leaves)]), row)
        ys, out["structure"] = tree.flatten(y)
        out["rows"] = ys
        kept = carries[len(leaves):] or [None] * len(ys)
        return _flat(carry, structure, "the carry of a scan") + [put_row(stack, y, k, n) for stack, y in zip(kept, ys)]
    first = step(0, *leaves)                                  # tells the types of the rows
    results = FOR.run_regions([1, n, 1, *first], (step,))
    return structure.unflatten(results[:len(leaves)]), out["structure"].unflatten(results[len(leaves):])


def _common_length(columns: list, length: Any) -> Any:
    n = length
    for x in columns:
        if not shape_of(x):
            raise ArgumentError("scan runs over the first axis of arrays, and got a scalar")
        n = shape_of(x)[0] if n is None else agree(n, shape_of(x)[0], "lengths of what is scanned")
    if n is None:
        raise ArgumentError("scan needs arrays to run over, or a length")
    return n


def row_of(x: Any, k: Any) -> Any:
    """x[k]"""
    return index(x, k, spec=("i",) + (":",) * (len(shape_of(x)) - 1), at=0)


def put_row(stack: Any, y: Any, k: Any, n: Any) -> Any:
    """stack with y as its k-th row; a fresh stack of n rows where there is none."""
    shape = shape_of(y)
    if stack is None:
        dtype = y.dtype if hasattr(y, "dtype") else np.asarray(y).dtype
        stack = unwritten(n, *shape, dtype=dtype)
    return update(stack, y, k, spec=("i",) + (":",) * len(shape), at=0)
