"""fad.explain: line by line, what became of a function."""
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from ..api.calls.fallback import is_unstaged, place_and_reason
from ..api.calls.staged import Staged
from ..backend.emission.emit import lowered
from ..backend.running.runner import Runner
from ..backend.schedule.loop_ir import BackendError
from ..ir.graph import Equation, Func, Var, all_equations, extents_of, free_vars, is_loop
from ..ir.uses import defined_in
from ..ir.views import LoopView
from ..passes.dce import dce
from ..transforms.lane_parts import LANES
from ..transforms.vectorise import NAME
from ..util.array import AnyArray
from ..util.keywords import named_as_here
from ..util.where import Where
from .explanation import Explanation, Row
from .program import staged_of


@named_as_here
def explain(f: Callable, *args: Any, **kwargs: Any) -> Explanation:
    """Say line by line what became of a function.

    The report names what is compiled, which loops are unrolled and why, which arrays are copied, what is saved for the
    reverse sweep (in bytes), and what falls back to the tape and why.

    Parameters
    ----------
    f : callable
        A function, or the result of `jit`, `grad` and their kin.
    *args, **kwargs
        Arguments to explain the function for. fad traces it, and runs it as far as it takes to know how much is saved.

    Returns
    -------
    Explanation
        Prints as text, shows as a table in a notebook, and iterates over its rows. Its attribute `bytes` is the sum of
        what is saved.

    Examples
    --------
    >>> import numpy as np
    >>> import fad
    >>> def decay(x):
    ...     total = 0.0
    ...     for t in range(len(x)):
    ...         total = np.sin(total) + x[t]
    ...     return total
    >>> told = fad.explain(fad.grad(decay), np.ones(100))
    >>> [row.kind for row in told], told.bytes
    (['loop', 'compiled', 'compiled', 'saved'], 800)
    """
    staged = staged_of(f, "explain")
    name, kinds = getattr(staged.__wrapped__, "__name__", "f"), ", ".join(map(_kind_of, args))
    title = f"{name} (fad.{staged.kernel_name}), for {kinds}"
    try:
        program, data = staged.program_for(*args, **kwargs)
    except Exception as error:
        if not is_unstaged(error):
            raise
        return Explanation(title, [_fallen(staged, error)])
    values = program.glance(data)
    return Explanation(title, list(_rows(program, values)))


def _kind_of(x: AnyArray) -> str:
    return f"{x.dtype}{list(x.shape)}" if isinstance(x, np.ndarray) else type(x).__name__


def _fallen(staged: Staged, error: Exception) -> Row:
    where, reason = place_and_reason(error)
    return _row(where, "falls back" if staged.fallback.is_on else "refused", reason)


def _row(where: "Where | None", kind: str, detail: str, size: "int | None" = None) -> Row:
    return Row(where.file if where else "", where.line if where else 0, where.text if where else "", kind, detail, size)


def _rows(program: Any, values: list) -> Iterator[Row]:
    func = program.runner.func
    yield from _compiled(func)
    yield from _loops(func, _in_lanes(program.traced.func))
    for where, why in program.traced.unrolled:
        yield _row(where, "unrolled", place_and_reason(why)[1])
    try:
        lowering = lowered(program.runner.linked, program.runner.guards)[1]
    except BackendError as error:
        yield _row(next((e.where for e in all_equations(func) if e.where is not None), None), "interpreted", str(error))
    else:
        yield from _copies(lowering.copies)
    yield from _saved(func, values)


def _compiled(func: Func) -> Iterator[Row]:
    """A row for each line with operations of the program, loops and what is saved left aside."""
    by_line: dict[Where, Counter] = {}
    for eqn in all_equations(func):
        if eqn.where is not None and not _is_apart(eqn):
            by_line.setdefault(_line(eqn.where), Counter())[eqn.op.name] += 1
    for where, names in by_line.items():
        count = sum(names.values())
        most = ", ".join(name for name, _ in sorted(names.items(), key=lambda pair: (-pair[1], pair[0]))[:4])
        yield _row(where, "compiled",
                   f"{count} operation{'s' * (count != 1)} ({most}{', ...' if len(names) > 4 else ''})")


def _is_apart(eqn: Equation) -> bool:
    return is_loop(eqn) or eqn.op.traits.distinct or eqn.op.kind == "resize"


def _line(where: Where) -> Where:
    return Where(where.file, where.line)


def _in_lanes(func: Func) -> set:
    """The lines of the loops that run many iterations at once."""
    return {_line(eqn.where) for eqn in all_equations(func) if eqn.params.get("name") == NAME and eqn.where is not None}


def _loops(func: Func, in_lanes: set) -> Iterator[Row]:
    counts = Counter((_line(eqn.where), eqn.op.name) for eqn in all_equations(func)
                     if is_loop(eqn) and eqn.where is not None)
    kinds: dict[Where, Counter] = {}
    for (where, name), count in counts.items():
        kinds.setdefault(where, Counter())[name] += count
    for where, names in kinds.items():
        count = sum(names.values())
        if where in in_lanes:
            yield _row(where, "loop", f"{LANES} iterations at once")
            continue
        yield _row(where, "loop",
                   "one region of the program" + (f", run in {count} sweeps (forward and back)" if count > 1 else ""))


def _copies(copies: list) -> Iterator[Row]:
    for eqn, out in copies:
        if eqn.where is not None:
            yield _row(eqn.where, "copied",
                       f"an array of {out.type.dtype} with {out.type.rank} ax{'es' if out.type.rank != 1 else 'is'}, "
                                            "whose old values are needed or are the caller's")


# -- what is saved ---------------------------------------------------------------------------------


def _saved(func: Func, values: list) -> Iterator[Row]:
    """A row for each line from which loops keep values for the reverse sweep."""
    found = list(_kept(func))
    by_line: dict[Any, list] = {}
    for (eqn, v), size in zip(found, _sizes(func, [v for _, v in found], values)):
        by_line.setdefault(eqn.where, []).append((v.type.dtype, size))
    for where, kept in by_line.items():
        size = sum(n for _, n in kept)
        yield _row(where, "saved", f"{size:,} bytes for the reverse sweep: {_values(dtype for dtype, _ in kept)}", size)
    yield from _saved_inside(func, values)


def _saved_inside(func: Func, values: list) -> Iterator[Row]:
    """The saved bytes of loops within loops, whose arrays are new in each iteration. Stacks have no size that is known
    outside."""
    inner = [e for outer in func.equations for region in outer.regions for e in all_equations(region)]
    used = {v for e in func.equations for region in e.regions for v in free_vars(region)}
    made = ([e for e in inner if e.op.name == "unwritten"]
            + [e for e in func.equations if e.op.name == "unwritten" and e.outputs[0] in used])
    outside = defined_in(func) | set(extents_of(func.inputs))
    grows = any(e.op.name == "resize" for e in inner)
    by_line: dict[Any, list] = {}
    for eqn in made:
        known = not grows and all(isinstance(n, int) or n in outside for n in eqn.outputs[0].type.shape)
        by_line.setdefault((eqn.where, known), []).append(eqn.outputs[0])
    for (where, known), kept in by_line.items():
        size = sum(_sizes(func, kept, values)) if known else None
        told = f"{size:,} bytes for" if known else "for"
        yield _row(where, "saved",
                   f"{told} the reverse sweep, anew in each iteration of the loop around: "
                   f"{_values(v.type.dtype for v in kept)}", size)


def _values(dtypes: Iterable) -> str:
    """The dtypes that an iteration saves, and how many values of each.

    >>> _values(["float64", "float64", "int64"])
    '2 values of float64, 1 of int64'
    """
    first, *rest = [f"{count} {{}}of {dtype}" for dtype, count in Counter(map(str, dtypes)).items()]
    return ", ".join([first.format("value " if first.startswith("1 ") else "values "),
                      *[text.format("") for text in rest]])


def _kept(func: Func) -> Iterator[tuple]:
    """Pairs (the equation that makes an array for saved values, what the loop has made of it at its end)."""
    made = {eqn.outputs[0]: eqn for eqn in func.equations if eqn.op.name == "unwritten"}
    for eqn in func.equations:
        if is_loop(eqn):
            for a, out in zip(LoopView(eqn).init, eqn.outputs):
                if a in made:
                    yield made.pop(a), out


def _sizes(func: Func, arrays: list, values: list) -> list:
    """The number of bytes of these arrays, found by running what their extents depend on."""
    extents = list(dict.fromkeys(n for v in arrays for n in v.type.shape if isinstance(n, Var)))
    if extents:
        wanted = dce(Func(f"{func.name}_extents", func.inputs, list(func.equations), tuple(extents)))
        known = dict(zip(extents, Runner(wanted, None, "extents").run(values)))
    return [v.type.dtype.itemsize * math.prod(n if isinstance(n, int) else int(known[n]) for n in v.type.shape)
            for v in arrays]


