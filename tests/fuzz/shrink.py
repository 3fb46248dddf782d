"""The smallest program found, by leaving out statements, that still fails."""
import copy


def shrink(body, fails):
    """A part of these statements of which fails(part) holds still, and of no part of it with one statement less."""
    progress = True
    while progress:
        progress = False
        for smaller in _without_one(body):
            if fails(smaller):
                body, progress = smaller, True
                break
    return body


def _without_one(body):
    for k in range(len(body) - 1, -1, -1):
        if not body[k].head.startswith("return"):
            yield body[:k] + body[k + 1:]
        for b, block in enumerate(body[k].blocks):
            for smaller in _without_one(block):
                changed = copy.copy(body[k])
                changed.blocks = body[k].blocks[:b] + [smaller] + body[k].blocks[b + 1:]
                yield body[:k] + [changed] + body[k + 1:]
