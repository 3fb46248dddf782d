"""BLAS and LAPACK routines for compiled code, as SciPy ships them.

A routine is called by its name without the type letter, with values where Fortran wants addresses of values: a number
for a size, a flag (as `ord("N")`) or a factor, an array for an array. The first array gives the letter. The last
parameter `info` is left out and is the result. These names have a meaning in compiled code only.
"""
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.errors import TypingError

from fad.kernels.c_symbols import BYTE, routine
from fad.kernels.promotion import compiled_as

__all__ = [
    "gees", "geev", "gemm", "gemv", "geqp3", "geqrf", "gesdd", "getrf", "getri", "getrs", "heevd", "heevr",
    "orgqr", "potrf", "trsm",
]

LETTERS = {types.float32: "s", types.float64: "d", types.complex64: "c", types.complex128: "z"}
#: Real and complex routines that differ in name only.
COMPLEX_NAME = {"orgqr": "ungqr"}
REAL_NAME = {"heevd": "syevd", "heevr": "syevr"}
INT = ir.IntType(32)


class LapackRoutine:
    """One BLAS or LAPACK routine of one type letter. It is bound now: cached code of users' refers to its symbol."""

    def __init__(self, name):
        self.name, (self.symbol, self.parameters) = name, routine(name)

    @property
    def has_info(self):
        """Whether the last parameter is LAPACK's info; BLAS ends with a leading dimension or a step."""
        return not any(self.name.endswith(blas) for blas in ("gemm", "gemv", "trsm"))

    def emit(self, context, builder, sig, args):
        """Call with every argument by address; answer info, or 0."""
        info = cgutils.alloca_once_value(builder, INT(0))
        given = [self._address(context, builder, t, a) for t, a in zip(sig.args, args)]
        given += [info] if self.has_info else []
        if len(given) != len(self.parameters):
            raise TypingError(f"{self.symbol} takes {len(self.parameters)} parameters, not {len(given)}")
        shape = ir.FunctionType(ir.VoidType(), [BYTE] * len(given))
        function = cgutils.get_or_insert_function(builder.module, shape, self.symbol)
        builder.call(function, [builder.bitcast(g, BYTE) for g in given])
        return builder.load(info)

    @staticmethod
    def _address(context, builder, kind, value):
        if isinstance(kind, types.Array):
            return context.make_array(kind)(context, builder, value).data
        if isinstance(kind, types.NoneType):
            return BYTE(None)
        place = cgutils.alloca_once(builder, value.type)
        builder.store(value, place)
        return place


def _routine(name):
    """The Python name of a routine, with a compiled form for each type letter."""

    def function(*args):
        raise NotImplementedError(f"{name} exists in compiled code only")

    routines = {}
    for kind, letter in LETTERS.items():
        names = COMPLEX_NAME if isinstance(kind, types.Complex) else REAL_NAME
        routines[kind] = LapackRoutine(letter + names.get(name, name))

    def emit(context, builder, sig, args):
        return routines[_first_array(sig.args).dtype].emit(context, builder, sig, args)

    function.__name__ = function.__qualname__ = name
    return compiled_as(function, _types, emit)


def _first_array(args):
    return next((t for t in args if isinstance(t, types.Array)), None)


def _types(*args):
    """Arrays as they are, integers as C's int, other numbers in the arrays' type."""
    first = _first_array(args)
    if first is None or first.dtype not in LETTERS:
        return None
    return (types.int32, *(_passed(t, first.dtype) for t in args))


def _passed(kind, dtype):
    if isinstance(kind, (types.Array, types.NoneType)):
        return kind
    return types.int32 if isinstance(kind, (types.Integer, types.Boolean)) else dtype


gees = _routine("gees")
geev = _routine("geev")
gemm = _routine("gemm")
gemv = _routine("gemv")
geqp3 = _routine("geqp3")
geqrf = _routine("geqrf")
gesdd = _routine("gesdd")
getrf = _routine("getrf")
getri = _routine("getri")
getrs = _routine("getrs")
heevd = _routine("heevd")
heevr = _routine("heevr")
orgqr = _routine("orgqr")
potrf = _routine("potrf")
trsm = _routine("trsm")
