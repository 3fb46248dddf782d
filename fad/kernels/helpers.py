"""Outlined functions of a kernel's text (backend/text/outline.py), compiled into the kernel's own machine code.

Each is compiled once for each kind of arguments, and LLVM does not inline it.
"""
import numba.core.compiler as compiler
from numba.core import types
from numba.core.bytecode import FunctionIdentity
from numba.core.compiler_machinery import PassManager
from numba.core.cpu import FastMathOptions
from numba.core.untyped_passes import ExtractByteCode

from fad.kernels.promotion import compiled_as
from fad.kernels.strip_mining import KernelCompiler

__all__ = ["helper"]

TYPED = 4  # passes of KernelCompiler after which the types are known


def helper(*may_share):
    """Decorate a function that a kernel calls at several places. Its arrays share no memory, except the parameters
    named here; its result's type is inferred.

    In plain Python it is the function itself.

    >>> @helper
    ... def twice(x):
    ...     return 2.0 * x
    >>> twice(3.0)
    6.0
    """
    if len(may_share) == 1 and callable(may_share[0]):
        return _decorated(may_share[0], ())
    return lambda body: _decorated(body, may_share)


def _decorated(body, may_share):
    results, typed = {}, {}  # argument types -> the type of the result; the compilation up to there, until it goes on
    body.fad_apart = tuple(
        name for name in body.__code__.co_varnames[: body.__code__.co_argcount] if name not in may_share
    )

    def rule(*args):
        args = tuple(map(types.unliteral, args))
        if args not in results:
            typed[args] = _typed(body, args)
            results[args] = typed[args].state.return_type
        return results[args], *args

    def emit(context, builder, sig, args):
        return context.call_internal(builder, function_of(context, body, sig.args), sig, args)

    body.fad_typed = typed
    return compiled_as(body, rule, emit)


def function_of(context, body, args):
    """The descriptor of a helper for these arguments, compiled into the library that is being made."""
    library = context.active_code_library
    known = vars(library).setdefault("fad_helpers", {})
    if (body, args) not in known:
        known[body, args] = _lowered(body.fad_typed.pop(args, None) or _typed(body, args), library)
    return known[body, args]


def _flags():
    flags = compiler.Flags()
    flags.nrt = flags.no_compile = flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
    flags.error_model = "numpy"
    flags.fastmath = FastMathOptions({"contract"})
    return flags


def _typed(body, args):
    """The compilation of a function up to its types."""
    from numba.core.registry import cpu_target

    unit = KernelCompiler(cpu_target.typing_context, cpu_target.target_context, None, args, None, _flags(), {})
    unit.state.func_id = FunctionIdentity.from_function(body)
    ExtractByteCode().run_pass(unit.state)
    _run(unit, KernelCompiler.PASSES[:TYPED])
    return unit


def _lowered(unit, library):
    """The descriptor of the function for its callers, once its code is in the library."""
    unit.state.library = library
    _run(unit, KernelCompiler.PASSES[TYPED:])
    return unit.state.cr.fndesc


def _run(unit, passes):
    manager = PassManager("fad_helper")
    for one in passes:
        manager.add_pass(one, one.__name__)
    manager.finalize()
    manager.run(unit.state)
