"""HTML for notebooks: tables, and programs with coloured words, as small pieces of HTML that need no style sheet."""
import html
import io
import keyword
import tokenize
from collections.abc import Iterable, Sequence

from .interrupts import reraise_interrupt

# readable on white and on black
COLOURS = {"keyword": "#8250df", "comment": "#6e7781", "string": "#0a7d5a", "number": "#b85c00"}


def table(title: str, head: Sequence, rows: Iterable[Sequence]) -> str:
    """A table with a title above it.

    >>> table("a < b", ["name"], [["x"]])
    '<p>a &lt; b</p><table><tr><th>name</th></tr><tr><td style="text-align:left">x</td></tr></table>'
    """
    def cells(texts: Sequence) -> str:
        return "".join(f'<td style="text-align:left">{html.escape(str(text))}</td>' for text in texts)
    heads = "".join(f"<th>{html.escape(str(text))}</th>" for text in head)
    return (f"<p>{html.escape(title)}</p><table><tr>{heads}</tr>" + "".join(f"<tr>{cells(row)}</tr>" for row in rows)
            + "</table>")


def coloured(text: str) -> str:
    """Python's text with its keywords, comments, strings and numbers coloured; text that is not Python's as it stands.

    >>> coloured("x = 1")
    'x = <span style="color:#b85c00">1</span>'
    """
    lines = text.splitlines(keepends=True)
    done, row, column = [], 1, 0
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (tokenize.TokenError, SyntaxError) as error:
        reraise_interrupt(error)
        return html.escape(text)
    for token in tokens:
        kind = _kind(token)
        if kind:
            done.append(html.escape(_between(lines, (row, column), token.start)))
            done.append("\n".join(f'<span style="color:{COLOURS[kind]}">{html.escape(line)}</span>'
                                  for line in token.string.split("\n")))
            row, column = token.end
    return "".join(done) + html.escape(_between(lines, (row, column), (len(lines) + 1, 0)))


def _kind(token: tokenize.TokenInfo) -> str:
    if token.type == tokenize.NAME and keyword.iskeyword(token.string):
        return "keyword"
    return {tokenize.COMMENT: "comment", tokenize.STRING: "string", tokenize.NUMBER: "number"}.get(token.type, "")


def _between(lines: list, start: tuple, end: tuple) -> str:
    (row, column), (last, until) = start, end
    if row == last:
        return lines[row - 1][column:until] if row <= len(lines) else ""
    first = lines[row - 1][column:] if row <= len(lines) else ""
    return first + "".join(lines[row:last - 1]) + (lines[last - 1][:until] if last <= len(lines) else "")


class Code(str):
    """The text of a program: a string, which a notebook shows with its words coloured, folded where it is long.

    >>> "<pre" in Code("x = 1")._repr_html_()
    True
    """

    LONG = 30       # lines

    def _repr_html_(self) -> str:
        lines = self.count("\n")
        shown = "" if lines > self.LONG else " open"
        name = next((line for line in self.splitlines() if line.startswith("def ")), "")
        summary = f"<summary><code>{html.escape(name)}</code> {lines} lines</summary>"
        return f"<details{shown}>{summary}<pre>{coloured(self)}</pre></details>"
