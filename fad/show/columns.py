"""A page of columns of text, whose lines light up together where they come from one line of the user's."""
import html
from collections.abc import Hashable, Iterable, Sequence
from typing import NamedTuple

from ..util.html import coloured

STYLE = """
:root { color-scheme: light dark; --back: #ffffff; --text: #1f2328; --edge: #d0d7de; --head: #f6f8fa; --on: #fff2b3; }
@media (prefers-color-scheme: dark) {
  :root { --back: #0d1117; --text: #d6dde5; --edge: #30363d; --head: #161b22; --on: #4b4000; }
  pre span { filter: brightness(1.55); } pre .line { filter: none; }
}
body { margin: 0; background: var(--back); color: var(--text); font: 14px/1.4 system-ui, sans-serif; }
h1 { font-size: 17px; margin: 12px 16px 2px; } body > p { margin: 0 16px 10px; }
main { display: flex; gap: 12px; align-items: stretch; overflow-x: auto; padding: 0 16px 16px; }
section { flex: 1 0 auto; min-width: 240px; max-width: min(760px, 92vw); border: 1px solid var(--edge);
          border-radius: 8px; overflow: hidden; display: flex; flex-direction: column; }
h2 { font-size: 14px; margin: 0; padding: 8px 12px 0; background: var(--head); }
section > p { margin: 0; padding: 0 12px 8px; background: var(--head); border-bottom: 1px solid var(--edge); }
pre { margin: 0; padding: 8px 0; overflow: auto; max-height: 78vh; font: 12px/1.5 ui-monospace, monospace; }
.line { display: block; padding: 0 12px; min-height: 1.5em; width: max-content; min-width: 100%;
        box-sizing: border-box; }
.line.on { background: var(--on); }
pre i { color: #8c6d1f; font-style: normal; }
@media (max-width: 700px) { main { flex-direction: column; } section { max-width: none; } pre { max-height: 60vh; } }
"""
SCRIPT = """
const lines = document.querySelectorAll('[data-of]');
function light(of) { lines.forEach(line => line.classList.toggle('on', of !== null && line.dataset.of === of)); }
lines.forEach(line => {
  line.addEventListener('mouseenter', () => light(line.dataset.of));
  line.addEventListener('mouseleave', () => light(null));
  line.addEventListener('click', () => document.querySelectorAll('pre').forEach(pre => {
    const first = pre.querySelector('[data-of="' + line.dataset.of + '"]');
    if (first && !pre.contains(line)) pre.scrollTop = first.offsetTop - pre.offsetTop - 40;
  }));
});
"""


class Column(NamedTuple):
    """One column: title, a sentence, lines with what they come from (None: nothing that is known), and their margin."""

    title: str
    sentence: str
    lines: Sequence[tuple[str, "Hashable | None"]]
    margin: Sequence[str] = ()                                # in front of each line, if there is anything

    @property
    def text(self) -> str:
        """The lines as one text."""
        return "\n".join(line for line, _ in self.lines)


def page(title: str, sentence: str, columns: Iterable[Column]) -> str:
    """A whole page of HTML, which needs no other file.

    >>> text = page("a < b", "", [Column("one", "", [("x = 1", 7)])])
    >>> "a &lt; b" in text, text.count("<section>")
    (True, 1)
    """
    columns = list(columns)
    places: dict = {}
    for column in columns:
        for _, of in column.lines:
            if of is not None:
                places.setdefault(of, len(places))
    body = "".join(_section(column, places) for column in columns)
    return (f'<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" '
            f'content="width=device-width"><title>{html.escape(title)}</title><style>{STYLE}</style></head><body>'
            f"<h1>{html.escape(title)}</h1><p>{html.escape(sentence)}</p><main>{body}</main>"
            f"<script>{SCRIPT}</script></body></html>")


def _section(column: Column, places: dict) -> str:
    shown = coloured(column.text).split("\n")
    width = max(map(len, column.margin), default=0)
    heads = [f'<i>{html.escape(text.rjust(width))}  </i>' for text in column.margin] or [""] * len(shown)
    lines = "".join(f'<span class="line"{_marked(of, places)}>{head}{line}</span>'
                    for head, line, (_, of) in zip(heads, shown, column.lines))
    return (f"<section><h2>{html.escape(column.title)}</h2><p>{html.escape(column.sentence)}</p>"
            f"<pre>{lines}</pre></section>")


def _marked(of: "Hashable | None", places: dict) -> str:
    return "" if of is None else f' data-of="{places[of]}"'


def framed(text: str, height: int = 560) -> str:
    """A page within a page, as notebooks show it.

    >>> framed("<p>")[:28]
    '<iframe srcdoc="&lt;p&gt;" s'
    """
    return (f'<iframe srcdoc="{html.escape(text)}" style="width:100%;height:{height}px;border:0" '
            f'sandbox="allow-scripts"></iframe>')
