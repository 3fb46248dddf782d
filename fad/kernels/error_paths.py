"""Calls that fail: what the caller does before the error goes on to its own caller.

    status, y = call f(x)
    if status is an error:
        let go of what the function holds       Numba leaves this out, so that arrays are never freed
        return status
    ...
"""
import contextlib

from llvmlite import ir
from numba.core import cgutils
from numba.core.callconv import RETCODE_USEREXC, excinfo_t
from numba.core.imputils import fix_returning_optional

__all__ = ["ERROR", "called", "error_of", "failing_calls", "go_on", "let_go", "raise_error"]

ERROR = ir.PointerType(excinfo_t)                            # Numba's form of an error: how to make it, in words

_RELEASE, _CALL = "fad_release", "call_internal"


@contextlib.contextmanager
def failing_calls(context, release):
    """Within, calls that are emitted in this target context run release(builder) where they fail."""
    kept = {name: vars(context)[name] for name in (_RELEASE, _CALL) if name in vars(context)}

    def call_internal(builder, descriptor, sig, args):
        status, result = called(context, builder, context.declare_function(builder.module, descriptor), sig, args)
        go_on(context, builder, status)
        return fix_returning_optional(context, builder, sig, status, result)
    vars(context).update({_RELEASE: release, _CALL: call_internal})
    try:
        yield
    finally:
        for name in (_RELEASE, _CALL):
            del vars(context)[name]
        vars(context).update(kept)


def called(context, builder, function, sig, args):
    """Emit a call: the status and the result. Numba's call_function fills the place of the result with zeros, twice, a
    store for each field of each array; nobody reads them.
    """
    convention = context.call_conv
    with builder.goto_entry_block():
        result = builder.alloca(convention.get_return_type(sig.return_type).pointee)
    error = cgutils.alloca_once(builder, ERROR)
    given = convention._get_arg_packer(sig.args).as_arguments(builder, args)
    code = builder.call(function, [result, error, *given])
    status = convention._get_return_status(builder, code, builder.load(error))
    return status, context.get_returned_value(builder, sig.return_type, builder.load(result))


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


def error_of(context, builder, kind, message):
    """The ERROR of this kind, with this message: a constant of the module."""
    return context.get_python_api(builder).serialize_object((kind, (message,), None))


def raise_error(context, builder, error, code=RETCODE_USEREXC):
    """Emit the return of an ERROR that another function has answered; LLVM knows the place as one that raises."""
    store = builder.store(error, context.call_conv._get_excinfo_argument(builder.function))
    store.set_metadata("numba_exception_output", builder.module.add_metadata([ir.IntType(1)(1)]))
    context.call_conv._return_errcode_raw(builder, code)
