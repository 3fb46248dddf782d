"""Zero terms: a sum in a block of points takes only the terms whose factor is not zero.

    for j in range(0, 20, 4):                                terms = nonzero_first(t, w)          before the blocks
        for lane in range(count):                   ->       for j in range(0, terms[i, 0], 2):
            dot[lane] += x[j, lane] * t[i, j]                    j_1, j_2 = terms[i, j + 2], terms[i, j + 3]
            ...                                                  for lane in range(count):
                                                                     dot[lane] += x[j_1, lane] * t[i, j_1]
                                                                     dot[lane] += x[j_2, lane] * t[i, j_2]

Dense Jacobians push the columns of an identity matrix through the program (i is the column). Few parameters move a part
of the program, so most of its tangents are zero; the data decide which. So each kernel looks, once before the blocks.
Sums of finite numbers that start at zero are the same to the last bit without the terms that are zero. Otherwise
`nonzero_first` keeps all terms.
"""
from collections.abc import Iterator

import numpy as np

from ...ir.graph import Equation, Func, Literal, Var
from ...ops.kinds import LinearIn, Multilinear
from ...passes.zeros import is_number
from ..schedule.indexmap import Elem, at
from ..schedule.loop_ir import Loop, Step, steps_of
from ..schedule.simd_blocking import BlockLoop
from ..text.templates import ATOM
from .printer import Printer, Terms
from .unroll_and_jam import ITERATIONS, can_jam


def mostly_zero(func: Func) -> set:
    """The arrays of a Func that follow linearly from an identity matrix: tangents of columns of a Jacobian.

    >>> import numpy as np
    >>> import fad
    >>> from fad.trace.tracing import trace
    >>> func = trace(lambda x: (np.eye(3) * x)[:, :2] * x[:2] + x[:2], [np.ones(3)]).func
    >>> [eqn.op.name for eqn in func.equations if mostly_zero(func) & {*eqn.outputs}]
    ['equal', 'cast', 'mul', 'index', 'mul']
    """
    found: set[Var] = set()
    blank: set[Var] = set()                                  # arrays full of zeros
    for eqn in func.equations:
        if eqn.op.name == "full":
            blank.update(eqn.outputs if is_number(eqn.inputs[0], 0) else ())
        elif _is_identity(eqn) or _is_mostly_zero(eqn, found, blank):
            found.update(eqn.outputs)
    return found


def _is_identity(eqn: Equation) -> bool:
    """Whether the equation compares each of some integers with each of others."""
    are_integers = all(a.type.dtype.kind == "i" for a in eqn.inputs)
    return eqn.op.name == "equal" and eqn.outputs[0].type.rank >= 2 and are_integers


def _is_mostly_zero(eqn: Equation, found: set, blank: set) -> bool:
    """Whether the result is zero where those of its operands are that mostly are."""
    operands = [a for a in eqn.inputs if a.type.dtype.kind not in "iu"]
    if found.isdisjoint(operands) or eqn.regions:
        return False
    if eqn.op.kind == "elementwise":
        others = [isinstance(a, Literal) or a not in found | blank for a in eqn.inputs]
        zeros = [a.type.dtype.type(1.5 if other else 0) for a, other in zip(eqn.inputs, others)]
        with np.errstate(all="ignore"):
            return not np.any(eqn.op.run(*zeros, **eqn.params))
    if isinstance(eqn.op.derivative, Multilinear):
        return True
    moves = eqn.op.kind in ("shape", "index") or isinstance(eqn.op.derivative, LinearIn)
    return moves and all(is_number(a, 0) if isinstance(a, Literal) else a in found | blank for a in operands)


def find_terms(printer: Printer, block: BlockLoop) -> None:
    """Print, in front of the loop over blocks, which terms its sums have, and note them."""
    if printer.mostly_zero:
        written = {printer.storage.root(v) for s in steps_of(block) for v in s.outs}
        for loop in _sums(block.nodes, printer):
            _note(printer, loop, block, written)


def _sums(nodes: list, printer: Printer) -> Iterator[Loop]:
    for node in nodes:
        if type(node) is Loop:
            if can_jam(printer, node):
                yield node
            else:
                yield from _sums(node.nodes, printer)


def _note(printer: Printer, loop: Loop, block: BlockLoop, written: set) -> None:
    step, extent = steps_of(loop)[0], loop.axis.extent
    if len(steps_of(loop)) > 1 or step.eqn is None or step.eqn.op.name != "contract":
        return
    if not extent.terms and extent.const <= ITERATIONS:       # one iteration takes them all
        return
    for factor, other in (step.args, step.args[::-1]):
        source = _source(printer, other, block, written) if isinstance(other, Elem) else None
        if source is not None and _is_factor(printer, factor, loop, step, written):
            name = printer.names.fresh("terms")
            first, second, *others = [printer.expressions.index(n) for n in printer.extents(factor.var)]
            shape = f"({first.source}, {second.source}, {' * '.join(n.within(ATOM) for n in others) or '1'})"
            printer.line(f"{name} = nonzero_first({printer.name(factor.var)}.reshape({shape}), {printer.name(source)})")
            printer.terms[loop] = Terms(name, next(factor.at[0].axes()))
            return


def _is_factor(printer: Printer, factor: object, loop: Loop, step: Step, written: set) -> bool:
    """Whether the operand is an element [i, j, ...] of an array that is known before the blocks, mostly zeros, with the
    loop's axis second and one around the loop first.
    """
    if not isinstance(factor, Elem) or factor.var not in printer.mostly_zero:
        return False
    root, axes = printer.storage.root(factor.var), [a for i in factor.at for a in i.axes()]
    return (
        root not in written
        and root not in printer.inputs
        and len(factor.at) == len(root.type.shape) >= 2
        and _is_in_order(root, printer)
        and len(axes) == len({*axes}) == len(factor.at)
        and factor.at == tuple(map(at, axes))
        and axes[1] is loop.axis
        and not any(axes[0] in s.axes or axes[0] is loop.axis for s in steps_of(loop))
        and loop.axis not in {a for i in step.target for a in i.axes()}
        and step.out.type.dtype == root.type.dtype
    )


def _source(printer: Printer, tile: Elem, block: BlockLoop, written: set) -> "Var | None":
    """The matrix that is known before the blocks and whose rows were copied to this tile."""
    loads = [s for s in steps_of(block) if tile.var in s.outs]
    if len(loads) != 1 or loads[0].eqn is not None or not isinstance(loads[0].args[0], Elem):
        return None
    source = loads[0].args[0]
    root = printer.storage.root(source.var)
    fits = len(root.type.shape) == len(source.at) == 2 and root.type.dtype.kind == "f"
    return source.var if fits and root not in written and _is_in_order(root, printer) else None


def _is_in_order(root: Var, printer: Printer) -> bool:
    """Whether all of the array is in memory, in the order of its axes."""
    return printer.home(root).kept == tuple(range(len(root.type.shape)))
