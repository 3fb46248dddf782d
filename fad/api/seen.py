"""A staged function in a notebook: its programs, and how each is run."""
from collections.abc import Iterator
from typing import Any

from ..util.lazy import LazyModule

html = LazyModule("html")


def staged_html(staged: Any) -> str:
    """The name of a staged function and a table of its programs."""
    rows = "".join(f'<tr><td style="text-align:left"><code>{html.escape(types)}</code></td><td '
                   f'style="text-align:left">{tier}</td></tr>'
                   for types, tier in _programs(staged))
    head = ("<tr><th>arguments and outer arrays</th><th>how it runs</th></tr>" if rows
            else "<tr><td>not called yet</td></tr>")
    return f"<p><code>{html.escape(repr(staged))}</code></p><table>{head}{rows}</table>"


def _programs(staged: Any) -> Iterator[tuple[str, str]]:
    everywhere = [*staged.programs.values(), *(staged.server.programs.values() if staged.server is not None else ())]
    for program in [program for programs in everywhere for program in programs]:
        inputs = ", ".join(str(x.type) for x in program.traced.func.inputs)
        yield inputs, "compiled" if program.runner.kernel is not None else "interpreted by NumPy"
    if staged.fallback.reasons:
        yield "other structures", "step by step on the tape; see fad.explain"
