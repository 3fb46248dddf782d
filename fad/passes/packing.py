"""pack_columns: packing. Columns that nested loops read again and again are copied to rows of their own first.

    for k in range(m):                               for j in range(d): t[j, :] = x[a:a + 64, j]
        for j in range(d):                 ───►      for k in range(m):
            … x[a:a + 64, j] …                           for j in range(d):
                                                             … t[j, :] …

A column lies in memory with a stride, so that each of its numbers is loaded alone; rows are loaded as vectors, and the
copy fits into the first cache (O. Temam, E. Granston, W. Jalby, "To copy or not to copy", Supercomputing 1993). Loops
in lanes (transforms/vectorise) read the points of a block so. The loops may have no iteration, and then nobody has
asked whether the part is there. So the copy is of the nearest part that is, or of nothing.
"""
from typing import Any

import numpy as np

from ..ir.graph import Atom, Equation, Func, Literal, Var, is_counted, traced_value
from ..ir.op import registry
from ..ir.types import INT, Type
from ..ir.uses import defined_in
from ..ir.views import LoopView
from .coverage import runs_over
from .rewrite import as_atom, rewrite
from .subscripts import IntegerArithmetic

TIMES = 4                                                    # that a column is read, to be worth its copy
SHORT, LONG = 16, 1024                                       # of columns that are copied
SPEC = (("s", 1), "i")


def pack_columns(func: Func) -> Func:
    """Parts of columns that nested loops read several times are rows of an array that is filled in front of them.

        for k, j: yield s + sum(index(x, a, 64, j))   ->
            t = for j: yield update(t, index(x, a, 64, j), j); for k, j: yield s + sum(index(t, j))
    """
    equations: list[Equation] = []
    for eqn in func.equations:
        rows: dict[Var, Var] = {}
        for reads in _columns(eqn).values() if is_counted(eqn) else ():
            packed, filling = _packed(reads[0])
            equations += filling
            rows.update({read.outputs[0]: packed for read in reads})
        eqn = _given(eqn, rows) if rows else eqn
        equations.append(eqn.replace(regions=tuple(map(pack_columns, eqn.regions))) if eqn.regions else eqn)
    return func.replace(equations=equations)


def _columns(eqn: Equation) -> dict:
    """The reads of columns in a loop that are the same for all its iterations and go over all columns: {(array, start,
    extent): reads}, where a loop reads each column several times.
    """
    found: dict[tuple, list] = {}
    _collect(LoopView(eqn), (), set(), found)
    return found


def _collect(loop: LoopView, around: tuple, inside: set, found: dict) -> None:
    path, inside = (*around, loop), inside | defined_in(loop.body)
    for eqn in loop.body.equations:
        if is_counted(eqn):
            _collect(LoopView(eqn), path, inside, found)
        elif len(path) > 1 and eqn.reads_part and eqn.params["spec"] == SPEC and _is_worth_it(eqn, path):
            array, start, extent, _ = eqn.inputs
            if inside.isdisjoint((array, start)):
                found.setdefault((array, _key(start), extent.value), []).append(eqn)


def _is_worth_it(read: Equation, path: tuple) -> bool:
    """Whether the read is of a short part of each column, and each is read several times."""
    array, _, extent, index = read.inputs
    if not isinstance(extent, Literal) or not SHORT <= extent.value <= LONG or not isinstance(array, Var):
        return False
    by = [loop for loop in path if loop.index is index]
    return bool(by) and runs_over(by[0], array, 1) and any(_trips(loop) >= TIMES for loop in path if loop is not by[0])


def _trips(loop: LoopView) -> int:
    """The iterations of a loop when the function was traced; 0 if they are not known."""
    start, stop = map(traced_value, loop.bounds[:2])
    return 0 if start is None or stop is None or loop.step != 1 else stop - start


def _key(a: Atom) -> Any:
    return a if isinstance(a, Var) else a.value


def _packed(read: Equation) -> tuple:
    """The array of rows in place of the columns, and the equations that fill it."""
    x, start, extent, _ = read.inputs
    integers, t = IntegerArithmetic(read.where), Type(x.type.dtype, (x.type.shape[1], int(extent.value)))
    last = integers.sum(as_atom(x.type.shape[0]), as_atom(-int(extent.value)))
    start = integers.larger(integers.smaller(start, last), as_atom(0))
    there, count = Var(Type(np.dtype(bool))), Var(Type(INT, (), True))
    select = [Equation(registry["greater_equal"], (last, as_atom(0)), (there,), {}, (), read.where),
              Equation(registry["where"], (there, as_atom(x.type.shape[1]), as_atom(0)), (count,), {}, (), read.where)]
    empty, rows, old, new, index = Var(t), Var(t), Var(t), Var(t), Var(Type(INT, (), True))
    column = Var(read.outputs[0].type)
    body = Func("body", (index, old), [
        read.replace(inputs=(x, start, extent, index), outputs=(column,)),
        Equation(registry["update"], (old, column, index), (new,), {"spec": ("i", ":"), "at": 0}, (), read.where),
    ], (new,))
    made = Equation(registry["unwritten"], tuple(map(as_atom, t.shape)), (empty,), {"dtype": t.dtype}, (), read.where)
    zero, one = as_atom(0), as_atom(1)
    loop = Equation(registry["for"], (zero, count, one, empty), (rows,), {"names": ("",), "extents": ()},
                    (body,), read.where)
    return rows, [*integers.equations, *select, made, loop]


def _given(eqn: Equation, rows: dict) -> Equation:
    """The loop with rows in place of these reads."""
    def visit(e: Equation, scope: object) -> "Equation | None":
        if e.outputs[0] not in rows if e.outputs else True:
            return None
        return e.replace(inputs=(rows[e.outputs[0]], e.inputs[3]), params=e.params | {"spec": ("i", ":")})
    return eqn.replace(regions=tuple([rewrite(region, visit) for region in eqn.regions]))
