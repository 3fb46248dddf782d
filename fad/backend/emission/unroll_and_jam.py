"""Unroll and jam: several iterations of a loop at once, around the loop over the points of a block.

    for j in range(n):                                for j in range(0, n - 3, 4):
        for lane in range(count):             ->          j_1, j_2, j_3 = j + 1, j + 2, j + 3
            dot[lane] += x[j, lane] * w[j]                for lane in range(count):
                                                              dot[lane] += x[j, lane] * w[j]
                                                              dot[lane] += x[j_1, lane] * w[j_1]
                                                              ...

Four products then load and store a row of sums once (Allen & Kennedy, Optimizing Compilers for Modern Architectures,
2001, section 8.4). A loop over sums of the points is jammed, too:

    for j in range(n):                                for j in range(0, n - 3, 4):
        partial = 0.0                                     partial, partial_1, ... = 0.0, 0.0, ...
        for lane in range(count):             ->          for lane in range(count):
            partial += x[lane] * w[j, lane]                   partial += x[lane] * w[j, lane]
        gw[j] += partial                                      partial_1 += x[lane] * w[j_1, lane]
                                                          ...

The elements that the sums share (x) are then loaded once for all of them, and the sums do not wait for each other.

Products of small matrices are jammed outside of blocks, too. A row of sums stays in a register then.

    c[i, :] = 0.0
    for k in range(4):                                for j in range(4):
        for j in range(4):                    ->          c[i, j] = 0.0 + a[i, 0] * b[0, j]
            c[i, j] += a[i, k] * b[k, j]                  c[i, j] += a[i, 1] * b[1, j]
                                                          ...
"""
from collections.abc import Callable
from typing import Any

from ..schedule.indexmap import Axis, Index
from ..schedule.loop_ir import Loop, Step, steps_of
from ..schedule.reductions import combine, unit
from .allocation_hoisting import room
from .emit_reduce import is_held, release
from .printer import Printer

ITERATIONS = 4
TERMS = 2        # that are not zero, at a time: they are few (kernels/terms.py)
ROW = 8                                                      # elements of a row that stays in registers


def can_jam(printer: Printer, loop: Loop) -> bool:
    """Whether the loop only adds to rows of points, in any order, or each iteration only adds up its own points, in a
    block; whether it is a product of small matrices elsewhere.
    """
    if not printer.in_lanes and not _is_small_product(loop):
        return False
    inner = _innermost(loop)
    if inner is None or inner is loop or not all(isinstance(n, Step) for n in inner.nodes):
        return False
    sums = [n for n in inner.nodes if n.kind == "reduce"]
    others = all(n in sums or (n.kind == "map" and printer.home(n.out).is_register) for n in inner.nodes)
    return (
        len(sums) > 0
        and others
        and (all(_adds_to_rows(n, loop, inner) for n in sums) or _adds_up(printer, sums, loop, inner))
    )


def _is_small_product(loop: Loop) -> bool:
    """Whether the loop is over the few terms of one sum for each element of a short row."""
    inner = loop.nodes[0] if type(loop) is Loop and len(loop.nodes) == 1 else None
    return (
        type(inner) is Loop
        and len(inner.nodes) == 1
        and isinstance(inner.nodes[0], Step)
        and inner.nodes[0].reduced == (loop.axis,)
        and all(not a.extent.terms and 1 <= a.extent.const <= most
                for a, most in ((loop.axis, ITERATIONS), (inner.axis, ROW)))
    )


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
    return (
        loop.axis not in axes
        and inner.axis in axes
        and combine(step) == "{0} + {1}"
        and step.out.type.dtype.kind == "f"
    )


def _adds_up(printer: Printer, sums: list, loop: Loop, inner: Loop) -> bool:
    """Whether each iteration of the loop adds up the points for elements of its own, which nothing else here reads."""
    if loop.nodes[0] is not inner:
        return False
    roots = [printer.storage.root(n.out) for n in sums]
    touched = [r for n in inner.nodes for r in (printer.storage.root(e.var) for e in n.reads()) if r in roots]
    apart = all(any(i.moves_only_with(loop.axis) for i in n.target) for n in sums)
    return apart and not touched and len({*roots}) == len(roots) and printer.unbegun.isdisjoint(roots) \
        and all(combine(n) == "{0} + {1}" and n.out.type.dtype.kind == "f" for n in sums) \
        and all(is_held(printer, n, inner, {*printer.axes, loop.axis}) for n in sums)


def loads_first(printer: Printer, nodes: list) -> list:
    """The nodes of a block, copies of its points in loops of their own where they stand in the way of jammed sums.

        for j in range(n):                                    for j in range(n):
            for lane: block[j, lane] = x[lane, j]    ->           for lane: block[j, lane] = x[lane, j]
            for lane: dot[lane] += block[j, lane] * w[j]      for j in range(n):
                                                                  for lane: dot[lane] += block[j, lane] * w[j]
    """
    found: list[Any] = []
    for node in nodes:
        if type(node) is not Loop or not isinstance(node.nodes[-1], Loop):
            found.append(node)
            continue
        *loads, last = node.nodes
        sums = Loop(node.axis, [last])
        if loads and all(_is_load(printer, load, node, last) for load in loads) and can_jam(printer, sums):
            found += [Loop(node.axis, loads), sums]
        else:
            found.append(node)
    return found


def _is_load(printer: Printer, load: object, loop: Loop, last: Loop) -> bool:
    """Whether this loop only copies values that the last loop does not write. Each iteration fills one row, and all
    rows are kept.
    """
    steps, roots = steps_of(load), {printer.storage.root(v) for s in steps_of(last) for v in s.outs}
    copies = [s for s in steps if s.kind == "map" and s.eqn is None and s.target]
    return type(load) is Loop and len(copies) == len(steps) == 1 and all(
        len(printer.home(s.out).kept) == len(s.target)
        and any(i.moves_only_with(loop.axis) for i in s.target)
        and roots.isdisjoint([printer.storage.root(s.out), *(printer.storage.root(e.var) for e in s.reads())])
        for s in copies
    )


def begins_with_a_term(printer: Printer, step: Step, rest: list) -> bool:
    """Whether the sum's first term may be stored where zeros would be: the loop that adds to it comes next, and has a
    first iteration that is printed as such.
    """
    loop = rest[0] if rest else None
    if type(loop) is not Loop or loop.axis.extent.terms or not can_jam(printer, loop):
        return False
    root, inner, count = printer.storage.root(step.out), _innermost(loop), loop.axis.extent.const
    return (
        inner is not None
        and len(inner.nodes) == 1
        and printer.storage.root(inner.nodes[0].out) is root
        and inner.nodes[0].reduced == (loop.axis,)
        and _adds_to_rows(inner.nodes[0], loop, inner)
        and root in printer.allocated
        and room(printer, root) is None
        and (1 <= count <= ITERATIONS or loop in printer.terms)
    )


def print_jammed(printer: Printer, loop: Loop, single: set) -> None:
    """The loop in iterations of four, and what is left of it."""
    extent, const = loop.axis.extent, not loop.axis.extent.terms
    name = printer.names.loop(printer.axes.values())
    if loop in printer.terms:
        _print_terms(printer, loop, name, single)
        return
    if const and extent.const <= ITERATIONS:
        _iterations(printer, loop, [str(k) for k in range(extent.const)], single)
        return
    whole = printer.expressions.index(extent if not const else Index.constant(extent.const)).source
    stop = (
        str(extent.const - extent.const % ITERATIONS)
        if const
        else printer.expressions.index(extent.shifted(1 - ITERATIONS)).source
    )
    printer.axes[loop.axis] = name
    printer.line(f"for {name} in range(0, {stop}, {ITERATIONS}):")
    names = printer.names.iterations(name, ITERATIONS - 1)

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


def _print_terms(printer: Printer, loop: Loop, name: str, single: set) -> None:
    """The loop over the terms that are not zero, in iterations of two, and what is left of them."""
    terms = printer.terms[loop]
    row = f"{terms.name}[{printer.axes[terms.outer]}, "
    position = Axis(loop.axis.extent)
    printer.axes[position] = name
    names = printer.names.iterations(name, TERMS)[1:]

    def iterations(count: int, position: str = f"{name} + ") -> None:
        for k in range(count):
            printer.line(f"{names[k]} = {row}{position}{k + 2}]")
        _iterations(printer, loop, names[:count], single)
    first = 0
    if loop in printer.starting:
        first = TERMS
        iterations(TERMS, "")
    printer.line(f"for {name} in range({first}, {row}0], {TERMS}):")
    printer.indented(lambda: iterations(TERMS))
    if loop.axis.extent.terms or loop.axis.extent.const % TERMS:
        printer.line(f"for {name} in range({row}0], {row}1]):")
        printer.indented(lambda: iterations(1))
    del printer.axes[position], printer.axes[loop.axis]


def _iterations(printer: Printer, loop: Loop, names: list, single: set) -> None:
    """The loops inside, their statements once for each of these iterations."""
    printer.axes[loop.axis] = names[0]
    inner = _innermost(loop)
    sums = [] if inner is None else [n for n in inner.nodes if n.kind == "reduce" and not _adds_to_rows(n, loop, inner)]
    held = [_hold(printer, loop, sums, iteration) for iteration in names]

    def body(nodes: list) -> None:
        if loop in printer.starting:
            printer.starting.remove(loop)
            printer.starting.add(printer.storage.root(nodes[0].out))
        for iteration, partials in zip(names, held):
            printer.axes[loop.axis] = iteration
            printer.held.update(partials)
            printer.nodes(nodes, single)
    _inside(printer, loop, names, body)
    for iteration, partials in zip(names, held):
        printer.axes[loop.axis] = iteration
        for step in sums:
            root = printer.storage.root(step.out)
            printer.held.pop(root, None)
            release(printer, step, partials[root])


def _hold(printer: Printer, loop: Loop, sums: list, iteration: str) -> dict:
    """Registers for the sums of an iteration: root -> name."""
    printer.axes[loop.axis] = iteration
    partials = {}
    for step in sums:
        name = partials[printer.storage.root(step.out)] = printer.names.fresh("partial")
        printer.line(f"{name} = {unit(step)}", step)
    return partials


def _inside(printer: Printer, outer: Loop, names: list, body: Callable) -> None:
    inner = outer.nodes[0]
    name = printer.axes[inner.axis] = printer.names.loop([*printer.axes.values(), *names])
    printer.line(f"for {name} in range({printer.expressions.index(inner.axis.extent).source}):")
    printer.indented(
        lambda: _inside(printer, inner, names, body) if isinstance(inner.nodes[0], Loop) else body(inner.nodes)
    )
    del printer.axes[inner.axis]
