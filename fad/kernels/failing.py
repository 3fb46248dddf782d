"""Calls that fail: what the caller does before the error goes on to its own caller.

    status, y = call f(x)
    if status is an error:
        let go of what the function holds       Numba leaves this out, so that arrays are never freed
        return status
    ...
"""
import contextlib

from numba.core import cgutils
from numba.core.imputils import fix_returning_optional

__all__ = ["failing_calls", "go_on", "let_go"]

_RELEASE, _CALL = "fad_release", "call_internal"


@contextlib.contextmanager
def failing_calls(context, release):
    """Within, calls that are emitted in this target context run release(builder) where they fail."""
    kept = {name: vars(context)[name] for name in (_RELEASE, _CALL) if name in vars(context)}

    def call_internal(builder, descriptor, sig, args):
        status, result = context.call_internal_no_propagate(builder, descriptor, sig, args)
        go_on(context, builder, status)
        return fix_returning_optional(context, builder, sig, status, result)
    vars(context).update({_RELEASE: release, _CALL: call_internal})
    try:
        yield
    finally:
        for name in (_RELEASE, _CALL):
            del vars(context)[name]
        vars(context).update(kept)


def go_on(context, builder, status):
    """Emit the way of an error that a call has returned to this function's own caller."""
    with cgutils.if_unlikely(builder, status.is_error):
        let_go(context, builder)
        context.call_conv.return_status_propagate(builder, status)


def let_go(context, builder):
    """Emit the release of what the function that is being emitted holds at this call."""
    release = vars(context).get(_RELEASE)
    if release is not None:
        release(builder)
