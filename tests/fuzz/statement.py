"""The statements of random programs, as a tree that prints as Python and from which parts can be left out."""


class Statement:
    """One statement: a head line, and blocks under it (each with a header of its own, '' for the first)."""

    def __init__(self, head, *blocks):
        self.head, self.blocks = head, [list(b) for b in blocks]

    def lines(self, indent):
        pad = "    " * indent
        yield pad + self.head
        headers = ["", "else:"]
        for header, block in zip(headers, self.blocks):
            if header:
                if not block:
                    continue
                yield pad + header
            yield from render_block(block, indent + 1)


def render_block(block, indent):
    """The lines of a block; `pass` for an empty one."""
    if not block:
        yield "    " * indent + "pass"
    for statement in block:
        yield from statement.lines(indent)
