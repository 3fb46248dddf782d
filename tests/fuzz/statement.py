"""The statements of random programs, as a tree that prints as Python and from which parts can be left out, and what
makes blocks of them."""
import random


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


class Blocks:
    """Makes blocks of statements from a seed. A grammar has statement(depth): one statement, or a few that belong
    together."""

    def __init__(self, seed):
        self.r, self.loops = random.Random(seed), 0           # loops: those that what is made next stands in

    @classmethod
    def of(cls, seed):
        """The statements of the program of this seed."""
        return cls(seed).program()

    def block(self, length, depth):
        return [s for _ in range(self.r.randint(1, length)) for s in self.statement(depth)]

    def iteration(self, length, depth):
        """The body of a loop that stands at this depth."""
        self.loops += 1
        body = self.block(length, depth + 1)
        self.loops -= 1
        return body
