"""A staged function in a notebook: its signature, its programs, how each is run, its times and its tape."""
import inspect
from collections.abc import Iterator
from typing import Any

from ...ir.graph import Func, all_equations
from ...util.interrupts import reraise_interrupt
from ...util.lazy import LazyModule

html = LazyModule("html")
emit = LazyModule("fad.backend.emission.emit")
HEAD = "arguments and outer arrays", "how it runs", "trace", "compilation", "saved for the reverse sweep"


def staged_html(staged: Any) -> str:
    """The name and signature of a staged function, and a table of its programs."""
    rows = [cells for program in _programs(staged) for cells in [_row(program)]]
    if staged.fallback.reasons:
        rows.append(("other structures", "step by step on the tape; see fad.explain", "", "", ""))
    head = _cells("th", HEAD) if rows else "<tr><td>not called yet</td></tr>"
    return (f"<p><code>{html.escape(_title(staged))}</code></p><table>{head}"
            + "".join(_cells("td", row) for row in rows) + "</table>")


def _cells(tag: str, texts: tuple) -> str:
    return "<tr>" + "".join(f'<{tag} style="text-align:left">{html.escape(text)}</{tag}>' for text in texts) + "</tr>"


def _title(staged: Any) -> str:
    """The name of the transform, and the signature of the function, where Python knows it."""
    try:
        return f"{staged!r}  {inspect.signature(staged)}"
    except (TypeError, ValueError) as error:
        reraise_interrupt(error)
        return repr(staged)


def _programs(staged: Any) -> Iterator[Any]:
    everywhere = [*staged.programs.values(), *(staged.server.programs.values() if staged.server is not None else ())]
    return (program for programs in everywhere for program in programs)


def _row(program: Any) -> tuple:
    runner = program.runner
    tier = ("compiled" if runner.kernel is not None
            else f"interpreted by NumPy: {runner.refused}" if runner.refused else "interpreted by NumPy")
    compiled = ""
    if runner.kernel is not None:
        compiled = _seconds(runner.compiled_in) + (", from disk" if runner.from_disk else "")
    inputs = ", ".join(str(x.type) for x in program.traced.func.inputs)
    return inputs, tier, _seconds(program.traced_in), compiled, tape(runner) or "nothing"


def _seconds(took: float) -> str:
    """A time as people write it.

    >>> _seconds(0.0123), _seconds(2.5)
    ('12.3 ms', '2.50 s')
    """
    return f"{took:.2f} s" if took >= 1.0 else f"{took * 1e3:.1f} ms"


def tape(runner: Any) -> str:
    """The arrays that loops fill for their reverse sweeps, with extents as the generated text has them.

    >>> import fad, numpy as np
    >>> def f(x):
    ...     y = 1.0
    ...     for t in range(len(x)):
    ...         y = np.sin(y * x[t])
    ...     return y
    >>> tape(fad.grad(f).program_for(np.ones(5))[0].runner)
    'float64[n]'
    """
    if not any(eqn.op.name == "unwritten" for eqn in all_equations(runner.func)):
        return ""
    try:
        func, printer, _ = emit.printed(runner.linked, runner.name, guards=runner.guards)
        made = [*_made(func, printer, False), *(text for eqn in func.equations for region in eqn.regions
                                                for text in _made(region, printer, True))]
    except (emit.BackendError, KeyError) as error:            # an extent that has no name in the text
        reraise_interrupt(error)
        return "arrays whose sizes the data decide"
    return ", ".join(made)


def _made(func: Func, printer: Any, within: bool) -> Iterator[str]:
    for eqn in all_equations(func) if within else func.equations:
        if eqn.op.name == "unwritten":
            t = eqn.outputs[0].type
            extents = ", ".join(printer.expressions.index(printer.views.number(n)).source for n in t.shape)
            yield f"{t.dtype.name}[{extents}]" + (", anew in each iteration of an outer loop" if within else "")
