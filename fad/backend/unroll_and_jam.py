"""Unroll and jam: several iterations of a sum's loop at once, around the loop over the points of a block.

    for j in range(n):                                for j in range(0, n - 3, 4):
        for lane in range(count):             ->          j_1, j_2, j_3 = j + 1, j + 2, j + 3
            dot[lane] += x[j, lane] * w[j]                for lane in range(count):
                                                              dot[lane] += x[j, lane] * w[j]
                                                              dot[lane] += x[j_1, lane] * w[j_1]
                                                              ...

Four products then load and store a row of sums once (Allen & Kennedy, Optimizing Compilers for Modern Architectures,
2001, section 8.4).
"""
from typing import Any

from .indexmap import Index
from .loop_ir import Loop, Step
from .reductions import combine

ITERATIONS = 4


def can_jam(printer: Any, loop: Loop) -> bool:
    """Whether the loop only adds to rows of points, in any order."""
    inner = _innermost(loop)
    if inner is None or inner is loop or not all(isinstance(n, Step) for n in inner.nodes):
        return False
    sums = [n for n in inner.nodes if n.kind == "reduce"]
    return len(sums) > 0 and all(_adds_to_rows(n, loop, inner) for n in sums) and all(n in sums or _is_register(printer, n) for n in inner.nodes)


def _innermost(loop: Loop) -> "Loop | None":
    """The innermost of perfectly nested loops; None if the extent of one of them follows from the first."""
    inner = loop
    while len(inner.nodes) == 1 and type(inner.nodes[0]) is Loop:
        inner = inner.nodes[0]
        if loop.axis in inner.axis.extent.axes():
            return None
    return inner


def _adds_to_rows(step: Step, loop: Loop, inner: Loop) -> bool:
    axes = {a for i in step.target for a in i.axes()}
    return loop.axis not in axes and inner.axis in axes and combine(step) == "{0} + {1}" and step.out.type.dtype.kind == "f"


def _is_register(printer: Any, step: Step) -> bool:
    return step.kind == "map" and printer.home(step.out).is_register


def print_jammed(printer: Any, loop: Loop, single: set) -> None:
    """The loop in iterations of four, and what is left of it."""
    extent, const = loop.axis.extent, not loop.axis.extent.terms
    name = printer.names.loop(printer.axes.values())
    if const and extent.const <= ITERATIONS:
        _iterations(printer, loop, [str(k) for k in range(extent.const)], single)
        return
    whole = printer.expressions.index(extent if not const else Index.constant(extent.const)).source
    stop = str(extent.const - extent.const % ITERATIONS) if const else printer.expressions.index(extent.shifted(1 - ITERATIONS)).source
    printer.axes[loop.axis] = name
    printer.line(f"for {name} in range(0, {stop}, {ITERATIONS}):")
    names = [name, *[f"{name}_{k}" for k in range(1, ITERATIONS)]]

    def four() -> None:
        for k in range(1, ITERATIONS):
            printer.line(f"{names[k]} = {name} + {k}")
        _iterations(printer, loop, names, single)
    printer.indented(four)
    if const:
        rest = range(extent.const - extent.const % ITERATIONS, extent.const)
        if rest:
            _iterations(printer, loop, [str(k) for k in rest], single)
    else:
        printer.line(f"for {name} in range({whole} - {whole} % {ITERATIONS}, {whole}):" if whole.isidentifier() else
                     f"for {name} in range(({whole}) // {ITERATIONS} * {ITERATIONS}, {whole}):")
        printer.indented(lambda: _iterations(printer, loop, [name], single))
    del printer.axes[loop.axis]


def _iterations(printer: Any, loop: Loop, names: list, single: set) -> None:
    """The loops inside, their statements once for each of these iterations."""
    printer.axes[loop.axis] = names[0]
    _inside(printer, loop, loop, names, single)


def _inside(printer: Any, loop: Loop, outer: Loop, names: list, single: set) -> None:
    inner = outer.nodes[0]
    name = printer.axes[inner.axis] = printer.names.loop([*printer.axes.values(), *names])
    printer.line(f"for {name} in range({printer.expressions.index(inner.axis.extent).source}):")

    def body() -> None:
        if isinstance(inner.nodes[0], Loop):
            _inside(printer, loop, inner, names, single)
            return
        for iteration in names:
            printer.axes[loop.axis] = iteration
            printer.nodes(inner.nodes, single)
    printer.indented(body)
    del printer.axes[inner.axis]
