"""Loop splitting: a short loop whose iterations fill no vectors becomes one that does, and its rest.

    for i in range(14):                for i in range(12):
        y[i] = x[i] * w[i]     ───►        y[i] = x[i] * w[i]
                                       for i in range(12, 14):
                                           y[i] = x[i] * w[i]

LLVM makes vectors of loops below 16 iterations only if no iteration is left over, so it takes two numbers at a time
here.
"""
import re

from .printer import Printer

WIDTH, TINY = 4, 16                                          # numbers of a vector; iterations that LLVM calls few
MOST = 80                                                    # lines that are printed twice
_HEAD = re.compile(r"( {8,}for \w+ in range\()(\d+)(\):.*)")
_DOWN = re.compile(r"( {8,}for \w+ in range\()(\d+), -1, -1(\):.*)")
_INNER = re.compile(r" *(for|while|if|raise) ")
_WORK = re.compile(r" [-+*/]=? |\w\(")                        # more than copies


def split_short(printer: Printer, line: str) -> None:
    """Split the loop that was printed last, with this line in front, if that lets LLVM make vectors of it. Loops that
    stand in no other are not worth the text.
    """
    found = _HEAD.fullmatch(line) or _DOWN.fullmatch(line)
    down = found is not None and found.re is _DOWN
    count = int(found[2]) + down if found is not None else 0
    rest = count % WIDTH
    if found is None or not 2 * WIDTH < count < TINY or not rest:
        return
    head = next((k for k in range(len(printer.lines) - 1, -1, -1) if printer.lines[k] is line), len(printer.lines))
    body = printer.lines[head + 1:]
    if len(body) > MOST or not any(map(_WORK.search, body)) or any(map(_INNER.match, body)):
        return
    up = f"{count - rest}", f"{count - rest}, {count}"
    spans = (f"{count - 1}, {rest - 1}, -1", f"{rest - 1}, -1, -1") if down else up
    first, second = [f"{found[1]}{span}{found[3]}" for span in spans]
    printer.lines[head:] = [first, *body, second.partition("  #")[0].rstrip(), *body]
    printer.added = None
