"""The cost of each line of the user's: element operations, counted in the program for the sizes at hand.

An elementwise operation counts the elements of its result, a reduction those that it reads, a product of matrices its
multiplications. A loop counts its iterations times its body, with the index in the middle of its range; a branch the
dearest of its choices; a `while` loop, whose iterations are not known before it runs, a single one.
"""
import math
from typing import Any

from ..ir.graph import Equation, Func, Literal, Var, is_branch, is_loop
from ..ir.views import LoopView

FREE = {"shape", "check", "resize"}                           # views and tests, no arithmetic


def cost_by_line(func: Func, values: list) -> dict:
    """(file, line) -> element operations of a program on these values.

    >>> import fad, numpy as np
    >>> program, data = fad.jit(lambda x: np.sum(np.sin(x) * x)).program_for(np.ones(10))
    >>> sum(cost_by_line(program.runner.func, data).values())
    30
    """
    known: dict[Var, int] = {}
    for v, x in zip(func.inputs, values):
        for n, size in zip(v.type.shape, getattr(x, "shape", ())):
            if isinstance(n, Var):
                known[n] = int(size)
        if isinstance(x, int):
            known[v] = x
    found: dict = {}
    _count(func, known, 1, found)
    return found


def _count(func: Func, known: dict, times: int, found: dict) -> None:
    for eqn in func.equations:
        _follow(eqn, known)
        if is_loop(eqn):
            _count_loop(eqn, known, times, found)
        elif is_branch(eqn):
            _count_dearest(eqn, known, times, found)
        else:
            for region in eqn.regions:
                _count(region, dict(known), times * _size(eqn.outputs[0], known), found)
            if eqn.where is not None and eqn.op.kind not in FREE and not eqn.regions:
                place = eqn.where.file, eqn.where.line
                found[place] = found.get(place, 0) + times * _work(eqn, known)


def _count_loop(eqn: Equation, known: dict, times: int, found: dict) -> None:
    view, inside = LoopView(eqn), dict(known)
    if view.index is None:
        test: Any = view.test
        _count(test, dict(known), times, found)
        _count(view.body, inside, times, found)
        return
    start, stop, step = [_number(a, known) for a in view.bounds]
    is_known = start is not None and stop is not None and step
    iterations = range(start, stop, step) if is_known else range(1)  # type: ignore[arg-type]
    if iterations:
        inside[view.index] = iterations[len(iterations) // 2]
    _count(view.body, inside, times * len(iterations), found)


def _count_dearest(eqn: Equation, known: dict, times: int, found: dict) -> None:
    choices = []
    for region in eqn.regions:
        inside: dict = {}
        _count(region, dict(known), times, inside)
        choices.append(inside)
    for place, count in max(choices, key=lambda c: sum(c.values()), default={}).items():
        found[place] = found.get(place, 0) + count


def _follow(eqn: Equation, known: dict) -> None:
    """Compute an integer that the sizes determine."""
    if eqn.regions or len(eqn.outputs) != 1 or eqn.outputs[0].type.shape or eqn.outputs[0].type.dtype.kind != "i":
        return
    numbers = [_number(a, known) for a in eqn.inputs]
    if None not in numbers:
        known[eqn.outputs[0]] = int(eqn.op.run(*numbers, **eqn.params))


def _number(atom: object, known: dict) -> "int | None":
    if isinstance(atom, int):
        return atom
    if isinstance(atom, Literal):
        return int(atom.value) if atom.type.dtype.kind in "iub" and not atom.type.shape else None
    return known.get(atom)


def _size(atom: Any, known: dict) -> int:
    """The number of elements; extents that are not known count as what they were when the function was traced, or 1."""
    extents = [_number(n, known) for n in atom.type.shape]
    return math.prod(getattr(n, "hint", None) or 1 if size is None else size
                     for size, n in zip(extents, atom.type.shape))


def _work(eqn: Equation, known: dict) -> int:
    if eqn.op.name == "contract":
        letters = {letter: axis for labels, a in zip(eqn.params["labels"], eqn.inputs)
                   for letter, axis in zip(labels, a.type.shape)}
        return math.prod(_number(n, known) or getattr(n, "hint", None) or 1 for n in letters.values())
    if eqn.op.traits.in_place:                                # it writes, or adds, what it is given second
        return _size(eqn.inputs[1], known) if len(eqn.inputs) > 1 else 1
    results = [_size(v, known) for v in eqn.outputs]
    reads = [_size(a, known) for a in eqn.inputs] if eqn.op.kind in ("reduce", "opaque", "scan") else []
    return max([*results, *reads], default=1)
