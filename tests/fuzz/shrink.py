"""The smallest program found, by leaving out statements, that still fails.

Without one of its statements a loop may never end, so each attempt has a time limit.
"""
import copy
import signal
import time
from contextlib import contextmanager

LIMIT = 120.0                                                # seconds, after which what was found so far will do
ATTEMPT = 20.0                                               # seconds for one program


class Endless(BaseException):
    """A program takes too long. No handler of a program's own catches this."""


def shrink(body, fails, limit=LIMIT):
    """A part of these statements of which fails(part) holds still, and, if there was time for it, of no part of it with
    one statement less."""
    end, progress = time.monotonic() + limit, True
    while progress:
        progress = False
        for smaller in _without_one(body):
            if time.monotonic() > end:
                return body
            if _fails_still(fails, smaller):
                body, progress = smaller, True
                break
    return body


def _fails_still(fails, body):
    try:
        with _time_limit(ATTEMPT):
            return fails(body)
    except (Exception, Endless):                             # whatever it is: no program any more
        return False


@contextmanager
def _time_limit(seconds):
    def stop(*_):
        raise Endless
    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def _without_one(body):
    for k in range(len(body) - 1, -1, -1):
        if not body[k].head.startswith("return"):
            yield body[:k] + body[k + 1:]
        for b, block in enumerate(body[k].blocks):
            for smaller in _without_one(block):
                changed = copy.copy(body[k])
                changed.blocks = body[k].blocks[:b] + [smaller] + body[k].blocks[b + 1:]
                yield body[:k] + [changed] + body[k + 1:]
