"""The picture of a program as SVG: boxes one below the other, frames around loops and branches, arrows at the right."""
import html
import textwrap
from typing import Any, NamedTuple

from .nests import Nests, Part

WIDTH = 330                 # of a box, in pixels
LETTERS = 46                # in a line of a box
LINE, PAD, GAP, LANE = 15, 8, 14, 16
COLOURS = {"nest": "#dbe9fb", "number": "#f1f1f4", "frame": "#fbfaf3", "end": "#cde7d3", "saved": "#c2410c",
           "edge": "#5b6470", "text": "#1f2328", "quiet": "#57606a"}


class Box(NamedTuple):
    """Something to be drawn: its lines of text (with a style each), what it reads and writes, and boxes inside."""

    kind: str
    lines: list
    reads: set
    writes: set
    regions: list


class Drawn(NamedTuple):
    """A list of boxes that is drawn: its SVG with its own upper left corner at 0, 0, and its extents."""

    svg: str
    width: int
    height: int


def picture(nests: Nests, title: str) -> Drawn:
    """The whole program: its inputs, its parts, its results."""
    names, given = nests.name_of, {root for _, root, _ in nests.inputs}
    heads = [(f"{name}: {_type(t, nests)}", "name") for name, _, t in nests.inputs]
    result = ", ".join(names.get(root) or "a number" for root in nests.outputs)
    boxes = [Box("end", heads, set(), given, []), *[_box(part) for part in nests.parts],
             Box("end", [(f"return {result}", "name")], set(nests.outputs), set(), [])]
    inside = _column(boxes, nests)
    head = text(0, LINE - 3, title, "title")
    return Drawn(head + moved(inside.svg, 0, LINE + GAP // 2), inside.width, inside.height + LINE + GAP // 2)


def svg(drawings: list) -> str:
    """Drawings side by side as one picture."""
    x, parts, height = GAP, [], max(d.height for d in drawings) + 2 * GAP
    for drawn in drawings:
        parts.append(moved(drawn.svg, x, GAP))
        x += drawn.width + 2 * GAP
    heads = "".join(f'<marker id="fad-{kind}" markerWidth="7" markerHeight="7" refX="5" refY="2.5" orient="auto">'
                    f'<path d="M0,0 L5,2.5 L0,5 z" fill="{COLOURS[kind]}"/></marker>' for kind in ("edge", "saved"))
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{x}" height="{height}" viewBox="0 0 {x} {height}" '
            f'font-family="ui-monospace, monospace" font-size="11"><defs>{heads}</defs>'
            f'<rect width="{x}" height="{height}" rx="8" fill="#ffffff"/>{"".join(parts)}</svg>')


def outline(nests: Nests) -> str:
    """The same as text."""
    heads = [f"{name}: {_type(t, nests)}" for name, _, t in nests.inputs]
    return "\n".join([", ".join(heads), *_outlined(nests.parts, "")])


def _outlined(parts: list, indent: str) -> list:
    lines = []
    for part in parts:
        lines.append(f"{indent}{part.title or 'numbers'}" + (f": {', '.join(part.ops)}" if part.ops else ""))
        for region in part.regions:
            lines += _outlined(region, indent + "    ")
    return lines


def _type(t: Any, nests: Nests) -> str:
    extents = [str(n) if isinstance(n, int) else nests.extent(n) for n in t.shape]
    return t.dtype.name + (f"[{', '.join(extents)}]" if extents else "")


# -- boxes ---------------------------------------------------------------------------------------------------------


def _box(part: Part) -> Box:
    kind = "frame" if part.regions else "number" if part.is_single else "nest"
    lines = [(part.title, "name")] if part.title else []
    for line in textwrap.wrap(", ".join(part.ops), LETTERS):
        lines.append((line, "ops"))
    for line in part.lines[:3]:
        lines.append(("# " + textwrap.shorten(line, LETTERS - 2, placeholder=" …"), "line"))
    if len(part.lines) > 3:
        lines.append((f"# and {len(part.lines) - 3} more lines", "line"))
    return Box(kind, lines, part.reads, part.writes, [[_box(p) for p in region] for region in part.regions])


def _column(boxes: list, nests: Nests) -> Drawn:
    """Boxes one below the other; arrows from what writes a value to what reads it next to them."""
    drawn = [_drawn(box, nests) for box in boxes]
    width = max(d.width for d in drawn)
    parts, places, y = [], [], 0
    for each in drawn:
        parts.append(moved(each.svg, 0, y))
        places.append((y, y + each.height, each.width))
        y += each.height + GAP
    lanes, arrows = _arrows(_edges(boxes, nests), places, width)
    return Drawn("".join(parts) + arrows, width + lanes, y - GAP)


def _drawn(given: Box, nests: Nests) -> Drawn:
    height = PAD + LINE * len(given.lines)
    inner, width = [], WIDTH
    for region in given.regions:
        if region:
            each = _column(region, nests)
            inner.append(moved(each.svg, PAD, height + PAD // 2))
            height += each.height + PAD + PAD // 2
            width = max(width, each.width + 2 * PAD)
    frame = box(width, height + PAD, COLOURS[given.kind], ' stroke-dasharray="5 3"' if given.kind == "frame" else "")
    texts = "".join(text(PAD, PAD + LINE * k + 10, line, style) for k, (line, style) in enumerate(given.lines))
    return Drawn(frame + texts + "".join(inner), width, height + PAD)


def box(width: int, height: int, colour: str, more: str = "") -> str:
    """A box with its upper left corner at 0, 0."""
    return f'<rect width="{width}" height="{height}" rx="6" fill="{colour}" stroke="#8c959f"{more}/>'


def text(x: int, y: int, words: str, style: str) -> str:
    """Words at a place; style: name, title, line or ops."""
    weight = ' font-weight="bold"' if style in ("name", "title") else ""
    colour = COLOURS["quiet" if style == "line" else "text"]
    return f'<text x="{x}" y="{y}" fill="{colour}"{weight} xml:space="preserve">{html.escape(words)}</text>'


def moved(svg_text: str, x: int, y: int) -> str:
    """A drawing with its upper left corner at another place."""
    return f'<g transform="translate({x} {y})">{svg_text}</g>'


# -- arrows --------------------------------------------------------------------------------------------------------


def _edges(boxes: list, nests: Nests) -> list:
    """(from, to, label, whether it is saved for the reverse sweep), each pair of boxes once for each of the two."""
    wrote: dict = {}
    found: dict = {}
    for k, box in enumerate(boxes):
        for v in sorted(box.reads, key=lambda v: v.id):
            if v in wrote and wrote[v] != k and v not in nests.extents:
                found.setdefault((wrote[v], k, v in nests.saved), []).append(nests.name_of.get(v, ""))
        wrote.update(dict.fromkeys(box.writes, k))
    return [(a, b, ", ".join(filter(None, names)), saved) for (a, b, saved), names in found.items()]


def _arrows(edges: list, places: list, width: int) -> tuple:
    """The width of the lanes for the arrows, and the arrows."""
    ends: list[list] = []                                    # the pairs (from, to) in each lane
    parts, far = [], 0
    for a, b, names, saved in sorted(edges, key=lambda edge: (edge[1] - edge[0], edge[0])):
        colour = "saved" if saved else "edge"
        label = textwrap.shorten(("saved: " if saved else "") + names, 26, placeholder=" …")
        if b == a + 1:
            x, y = WIDTH // (6 if saved else 2), places[a][1]
            parts.append(path(f"M{x},{y} v{GAP - 3}", colour))
            parts.append(_label(x + 6, y + GAP - 4, label, colour))
            continue
        lane = next((k for k, taken in enumerate(ends) if not _meets(taken, a, b)), len(ends))
        if lane == len(ends):
            ends.append([])
        ends[lane].append((a, b))
        x = width + LANE * (lane + 1)
        down, up = places[a][1] - 8, places[b][0] + 10 + 3 * (lane % 4)
        parts.append(path(f"M{places[a][2]},{down} H{x} V{up} H{places[b][2] + 3}", colour))
        parts.append(f'<g transform="translate({x + 10} {(down + up) // 2}) rotate(90)">'
                     + _label(0, 6, label, colour, ' text-anchor="middle"') + "</g>")
        far = max(far, LANE * (lane + 1) + LANE)
    return far, "".join(parts)


def _meets(taken: Any, a: int, b: int) -> bool:
    return any(a < d and c < b for c, d in taken)


def path(d: str, colour: str) -> str:
    """An arrow."""
    return f'<path d="{d}" fill="none" stroke="{COLOURS[colour]}" marker-end="url(#fad-{colour})"/>'


def _label(x: int, y: int, text: str, colour: str, more: str = "") -> str:
    return f'<text x="{x}" y="{y}" font-size="9" fill="{COLOURS[colour]}"{more}>{html.escape(text)}</text>'
