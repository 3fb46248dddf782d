"""The answer of fad.explain: rows of (line, kind, detail, bytes), printed beside the user's source."""
from collections.abc import Iterator
from typing import NamedTuple

from ..util.html import table


class Row(NamedTuple):
    """One thing that is said of a line of the user's.

    kind is one of

    compiled       operations of this line are part of the program
    interpreted    the program as a whole cannot be compiled, and is interpreted
    loop           the loop is one region of the program, whatever its number of iterations
    unrolled       the loop's iterations are laid out one after the other; the detail says why
    copied         an array is copied before it is written to, since its old values are needed, or are the caller's
    saved          a value is kept for the reverse sweep: `bytes` of memory for these arguments
    falls back     the function cannot be one program, and runs step by step on the tape; the detail says why
    refused        the same, where fallback=False
    """

    file: str
    line: int
    text: str
    kind: str
    detail: str
    bytes: "int | None" = None


class Explanation:
    """The rows in the order of the source. Prints itself as an annotated listing, in notebooks as a table.

    rows: the Rows; bytes: the sum of what is saved for the reverse sweep; of(kind): the rows of one kind.
    """

    def __init__(self, title: str, rows: list):
        self.title = title
        self.rows = tuple(sorted(rows, key=lambda r: (r.file, r.line, KINDS.index(r.kind), r.detail)))

    @property
    def bytes(self) -> int:
        """Memory for what is saved, in bytes."""
        return sum(row.bytes or 0 for row in self.rows)

    def of(self, kind: str) -> tuple:
        """The rows of one kind."""
        return tuple(row for row in self.rows if row.kind == kind)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __str__(self) -> str:
        lines, place, file = [self.title], None, None
        width = max([len(str(row.line)) for row in self.rows], default=1)
        for row in self.rows:
            if row.file != file:
                file = row.file
                lines.append(f"  {file}")
            if (row.file, row.line) != place:
                place = row.file, row.line
                lines.append(f"  {row.line:{width}} | {row.text}")
            lines.append(f"  {'':{width}} |     {row.kind}: {row.detail}")
        if self.bytes:
            lines.append(f"  in all {self.bytes:,} bytes are saved for the reverse sweep")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return table(self.title, ["line", "source", "what", "detail"],
                     [(row.line, row.text, row.kind, row.detail) for row in self.rows])


KINDS = ("falls back", "refused", "interpreted", "loop", "unrolled", "compiled", "copied", "saved")
