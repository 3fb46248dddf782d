"""NumPy's type promotion for functions that Numba compiles: how a plain Python function gets its compiled form.

`compiled_as` gives a kernel, a plain Python function, a meaning in compiled code: the argument types it takes (as a
NumPy ufunc would) and the code that is emitted for them. This is the low level of `numba.extending`, because it costs
nothing at compile time: an `@overload` is one more function to type and compile at each use.
"""
import numpy as np
from numba.core import compiler, types
from numba.core.cpu import FastMathOptions
from numba.core.errors import NumbaError
from numba.core.typing.templates import AbstractTemplate, infer, infer_global, signature
from numba.extending import lower_builtin
from numba.np.numpy_support import as_dtype, from_dtype

from fad.kernels.numba_pipeline import LeanCompiler
from fad.kernels.outlined import call as call_apart

__all__ = ["compiled_as", "emit_python", "formula", "inner", "inner_of_types", "like_ufunc", "quiet", "real_floats"]

HALF, SINGLE = np.dtype(np.float16), np.dtype(np.float32)
REAL = types.Integer, types.Float, types.Boolean


def like_ufunc(ufunc, *kinds):
    """A rule for argument types: those of the loop that NumPy's `ufunc` would run, if the result is of one of `kinds`.

    >>> like_ufunc(np.arctan2)(types.int64, types.float32)
    (float64, float64, float64)
    >>> like_ufunc(np.floor_divide)(types.int32, types.int64)
    (int64, int64, int64)
    >>> like_ufunc(np.arctan2)(types.complex128, types.float64) is None
    True
    >>> like_ufunc(np.sin, types.Float)(types.complex128) is None
    True
    """

    def rule(*args):
        if len(args) != ufunc.nin or not all(isinstance(t, (types.Number, types.Boolean)) for t in args):
            return None
        dtypes = tuple(as_dtype(types.unliteral(t)) for t in args) + (None,) * ufunc.nout
        try:
            loop = ufunc.resolve_dtypes(dtypes)
        except TypeError:
            return None
        arguments, results = _numba(loop[: ufunc.nin]), _numba(loop[ufunc.nin :])
        result = results[0] if len(results) == 1 else types.Tuple(results)
        return (result, *arguments) if not kinds or isinstance(result, kinds) else None

    return rule


def _numba(dtypes):
    return [from_dtype(SINGLE if t == HALF else t) for t in dtypes]  # Numba has no float16 arithmetic


def real_floats(arity: int):
    """The rule of a function of `arity` real numbers: float32 where NumPy would compute in it, else float64.

    >>> real_floats(3)(types.float32, types.int64, types.float32)
    (float64, float64, float64, float64)
    """

    def rule(*args):
        if len(args) != arity or not all(isinstance(t, REAL) for t in args):
            return None
        common = np.result_type(*(as_dtype(types.unliteral(t)) for t in args))
        loop = np.cbrt.resolve_dtypes((common, None))[1]
        real = types.float32 if loop in (HALF, SINGLE) else types.float64
        return (real,) * (arity + 1)

    return rule


def compiled_as(function, rule, emit, fallback=None):
    """Give `function` its compiled form.

    `rule(*argument types)` answers (result, *arguments) or None, `emit(context, builder, signature, args)` writes the
    code, `fallback` is a function of Numba's that serves the types that the rule does not.
    """

    @infer
    class Typing(AbstractTemplate):
        key = function

        def generic(self, args, kws):
            found = None if kws else rule(*args)
            if found is not None:
                return signature(*found)
            return fallback and _numbas_own(self.context, fallback, args)

    infer_global(function, types.Function(Typing))

    @lower_builtin(function, types.VarArg(types.Any))
    def lower(context, builder, sig, args):
        if rule(*sig.args) == (sig.return_type, *sig.args):
            return emit(context, builder, sig, args)
        callee = context.typing_context.resolve_value_type(fallback)
        callee.get_call_type(context.typing_context, sig.args, {})
        return context.get_function(callee, sig)(builder, args)

    return function


def _numbas_own(context, fallback, args):
    """The signature Numba itself gives to fallback(*args), or None."""
    try:
        return context.resolve_function_type(context.resolve_value_type(fallback), args, {})
    except NumbaError:
        return None


def emit_python(body, fast=False, inline=True, apart=False):
    """An `emit` that compiles the Python function `body`, with NumPy's division.

    Arithmetic is strict IEEE, or with `fast` sums may be taken in another order. A body that takes long anyway should
    not be inlined: LLVM would optimise every copy of it. A large one stands `apart`: compiled once for all users.
    """

    def emit(context, builder, sig, args):
        value = apart and call_apart(
            context, builder, body, sig, args, lambda library: _compiled(context, library, body, sig, fast)
        )
        if value:
            return value
        fndesc = _compiled(context, context.active_code_library, body, sig, fast)
        value = context.call_internal(builder, fndesc, sig, args)
        if apart or not inline:
            _keep_out_of_line(builder, fndesc)
        return value

    return emit


def _flags(fast):
    flags = compiler.Flags()
    flags.nrt = flags.no_compile = flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
    flags.error_model = "numpy"
    flags.fastmath = FastMathOptions({"reassoc", "contract"} if fast else False)
    return flags


def _compiled(context, library, body, sig, fast):
    """Compile `body` into a library, once for each signature.

    A library of its own for each small function would be optimised and translated with all that it calls: functions at
    the bottom of a tower would be compiled once for each floor.
    """
    known = vars(library).setdefault("fad_bodies", {})
    key = body, sig, fast
    if key not in known:
        common = context.typing_context, context, library, sig.args, sig.return_type
        known[key] = LeanCompiler(*common, _flags(fast), {}).compile_extra(body).fndesc
    return known[key]


def _keep_out_of_line(builder, fndesc):
    """Forbid LLVM to inline the calls of a function that this function makes."""
    for block in builder.function.blocks:
        for instruction in block.instructions:
            if getattr(getattr(instruction, "callee", None), "name", None) == fndesc.mangled_name:
                instruction.attributes.add("noinline")


def quiet(plain, summary, name=None):
    """A function that runs `plain` without NumPy's floating point warnings; compiled code gives none either."""

    def function(*args):
        with np.errstate(all="ignore"):
            return plain(*args)

    function.__name__ = function.__qualname__ = name or plain.__name__
    function.__doc__ = summary
    return function


def formula(rule, plain=None):
    """Decorate a scalar formula: Numba compiles it, plain Python runs `plain` or else the formula, on arrays too.

    >>> @formula(real_floats(1))
    ... def cube(x):
    ...     return x * x * x
    >>> cube(2.0)
    8.0
    """

    def decorate(body):
        public = quiet(plain or body, body.__doc__, body.__name__)
        public.__module__ = body.__module__
        return compiled_as(public, rule, emit_python(body))

    return decorate


def inner(result, inline=False, apart=False):
    """Decorate a function of compiled code only; `result(*argument types)` is the type it returns.

    Unlike `numba.njit` and `register_jitable` this makes no machine code of its own, which halves the compile time.
    """
    return lambda body: _inner(body, result, emit_python(body, fast=True, inline=inline, apart=apart))


def inner_of_types(result, inline=False):
    """Like `inner`, for a function of the argument types that answers the body to compile."""

    def decorate(choose):
        def emit(context, builder, sig, args):
            bodies = vars(context.active_code_library).setdefault("fad_chosen", {})
            body = bodies.setdefault((choose, sig), choose(*sig.args))
            return emit_python(body, fast=True, inline=inline)(context, builder, sig, args)

        return _inner(choose, result, emit)

    return decorate


def _inner(named, result, emit):
    def function(*args):
        raise NotImplementedError(f"{named.__name__} exists in compiled code only")

    function.__name__, function.__doc__ = named.__name__, named.__doc__
    return compiled_as(function, lambda *args: (result(*args), *args), emit)
