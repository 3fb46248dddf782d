"""Printing loops whose steps run in ranges of their own (shifted_fusion.py): the first iterations, those in which all
steps run, and the last ones.

    t = t_before = 0.0
    for j in range(0, min(1, n)): ...                 (each step under a test of its range)
    for j in range(1, n - 1):
        t = ...
        z[j] = t_before + t
        t_before = t
    for j in range(max(1, n - 1), n): ...
"""
import functools
from collections.abc import Callable

from ...ir.graph import Var
from ..schedule.numbers import literal
from ..schedule.shifted_loop import Bound, Ranged, Rotated, ShiftedLoop
from .printer import Printer, Registers

EMPTY = 0.0                                 # in registers that nothing was put into


def print_shifted(printer: Printer, loop: ShiftedLoop, single: set) -> None:
    """The loop's lines."""
    name = printer.axes[loop.axis] = printer.names.loop(printer.axes[a] for a in printer.axes)
    printer.rotating = {root: _registers(printer, loop, root, array) for root, array in loop.rotated.items()}
    inner = single - set(loop.rotated)
    first, last, stop = loop.first, _text(printer, loop, loop.last), _text(printer, loop, loop.stop)

    def edge(ranges_of_steps: list, stop: "int | None") -> None:
        for ranges in _alike(ranges_of_steps):
            test = " and ".join(_tests(printer, loop, name, ranges[0], stop))
            _under(printer, f"if {test}:" if test else "", functools.partial(_print, printer, ranges, inner))
        _rotate(printer)

    def middle() -> None:
        _print(printer, [r for r in loop.ranges if not r.low.at_end and r.high.at_end], inner)
        _rotate(printer)

    if loop.points > loop.start:                             # these run however short the arrays are
        most = str(first) if loop.points == first else f"max({loop.points}, min({first}, {stop}))"
        _under(printer, f"for {name} in range({most}):", functools.partial(edge, loop.ranges, None))
    elif loop.first > loop.start:
        _under(printer, f"for {name} in range(min({first}, {stop})):", functools.partial(edge, loop.ranges, loop.stop))
    _under(printer, f"for {name} in range({first}, {last}):", middle)
    if loop.stop > loop.last:
        begun = [r if r.low.at_end else r._replace(low=Bound(False, loop.start)) for r in loop.ranges if r.high.at_end]
        head = f"for {name} in range(max({first}, {last}), {stop}):"
        _under(printer, head, functools.partial(edge, begun, loop.stop))
    printer.rotating = {}
    del printer.axes[loop.axis]


def _registers(printer: Printer, loop: ShiftedLoop, root: Var, array: Rotated) -> Registers:
    step = next(r.step for r in loop.ranges if printer.storage.root(r.step.out) is root)
    name = printer.name(root, step)
    name = printer.names.fresh(f"new_{name}") if array.stored else name
    names = [name, *[printer.names.fresh(f"{name}_before") for _ in range(array.depth)]]
    zero = literal(EMPTY if root.type.dtype.kind in "fc" else 0, root.type.dtype).source
    printer.line(f"{', '.join(names)} = {', '.join([zero] * len(names))}")
    return Registers(loop.axis, array, names)


def _rotate(printer: Printer) -> None:
    """The registers' contents at the next iteration."""
    for registers in printer.rotating.values():
        names = registers.names
        for k in range(len(names) - 1, 0, -1):
            printer.line(f"{names[k]} = {names[k - 1]}")


def _print(printer: Printer, ranges: list, single: set) -> None:
    for r in ranges:                                         # expressions of the iterations before
        printer.pending.pop(printer.storage.root(r.step.out), None)
    printer.nodes([r.step for r in ranges], single)


def _under(printer: Printer, head: str, action: Callable) -> None:
    if not head:
        action()
        return
    printer.line(head)
    head = printer.lines[-1]
    printer.indented(action)
    if printer.lines[-1] is head:                            # all that it does is to copy elements onto themselves
        printer.lines.pop()


def _alike(ranges: list) -> list:
    """The steps, those in a row that have the same range together."""
    found: list[list[Ranged]] = []
    for r in ranges:
        if found and found[-1][0][1:] == r[1:]:
            found[-1].append(r)
        else:
            found.append([r])
    return found


def _tests(printer: Printer, loop: ShiftedLoop, name: str, r: Ranged, stop: "int | None") -> list:
    """The conditions under which an iteration is in the range. stop: what all iterations are below."""
    if r.low.at_end == r.high.at_end:
        return [f"{name} == {_bound(printer, loop, r.low)}"]
    low = [f"{name} >= {r.low.number}"] if r.low.number > loop.start else []
    high = [f"{name} < {_bound(printer, loop, r.high)}"] if r.high.number != stop else []
    return low + high


def _bound(printer: Printer, loop: ShiftedLoop, bound: Bound) -> str:
    return _text(printer, loop, bound.number) if bound.at_end else str(bound.number)


def _text(printer: Printer, loop: ShiftedLoop, number: int) -> str:
    return printer.expressions.index(loop.extent.shifted(number)).source
