"""Kernels on stacks of matrices (..., m, n), of any strides, made from functions of one matrix, in compiled code.

A kernel of linear algebra has a plain function (NumPy's or SciPy's), a rule for its types, and a body that loops over
the leading axes. Bodies copy into C order first, because LAPACK overwrites its arguments.
"""
from numba.core import types
from numba.extending import intrinsic

from fad.kernels.lapack import LETTERS
from fad.kernels.memory import blank, copied, flattened, viewed
from fad.kernels.promotion import compiled_as, emit_python, inner, inner_of_types, quiet

__all__ = ["Result", "complex_dtype", "complex_of", "matrices", "right_sides", "scratch", "shaped", "systems"]

REAL: dict = {types.complex64: types.float32, types.complex128: types.float64}
COMPLEX = {real: kind for kind, real in REAL.items()}


class Result:
    """A result of a kernel: its dtype in words ("same", "real", "complex", "int32") and how its rank differs."""

    def __init__(self, dtype: str = "same", rank: int = 0):
        self.dtype, self.rank = dtype, rank

    def type(self, first):
        """The Numba type, given the type of the kernel's argument.

        >>> Result("real", -2).type(types.Array(types.complex128, 2, "A"))
        float64
        """
        same = first.dtype
        kinds = {"same": same, "real": REAL.get(same, same), "complex": COMPLEX.get(same, same), "int32": types.int32}
        dtype, rank = kinds[self.dtype], first.ndim + self.rank
        return types.Array(dtype, rank, "C") if rank else dtype


def _stack(kind):
    """Whether the type is a stack of matrices that LAPACK knows."""
    return isinstance(kind, types.Array) and kind.ndim >= 2 and kind.dtype in LETTERS


def matrices(plain, name, results, body, single=None):
    """A kernel of one stack (and of flags): `plain` runs in Python, `body` is compiled, or `single` for one matrix."""

    def rule(*args):
        if not args or not _stack(args[0]):
            return None
        kinds = [r.type(args[0]) for r in results]
        return (kinds[0] if len(kinds) == 1 else types.Tuple(kinds), *args)

    emits = {True: emit_python(single or body, fast=True, apart=True), False: emit_python(body, fast=True, apart=True)}

    def emit(context, builder, sig, args):
        return emits[sig.args[0].ndim == 2](context, builder, sig, args)

    return compiled_as(quiet(plain, body.__doc__, name), rule, emit)


def systems(plain, name, body, at=1):
    """A kernel of a stack a (..., n, n) and, as argument number `at`, the right sides b: (n,) for all, or (..., n, k).

    One matrix serves a stack of right sides; otherwise the leading axes agree.
    """

    def rule(*args):
        if len(args) <= at or not _stack(args[0]):
            return None
        a, b = args[0], args[at]
        if not isinstance(b, types.Array) or b.dtype != a.dtype:
            return None
        if not (a.ndim == 2 or b.ndim in (1, a.ndim)):
            return None
        return (types.Array(a.dtype, a.ndim - 1 if b.ndim == 1 else b.ndim, "C"), *args)

    return compiled_as(quiet(plain, body.__doc__, name), rule, emit_python(body, fast=True, apart=True))


# What the bodies are made of. They use little of Numba's NumPy, which compiles slowly: `out[...] = a` takes a second.


@inner_of_types(lambda a, b: types.Array(b.dtype, 3, "C"))
def right_sides(a, b):
    """A copy of the right sides b as (count, n, k), one vector for each matrix of a stack."""
    if b.ndim > 1:
        return lambda a, b: copied(b)

    def vectors(a, b):
        n = a.shape[-1]
        if b.size != n:
            raise ValueError("the right side does not fit the matrix")
        out = blank((flattened(a).shape[0], n, 1), a.dtype)
        for c in range(out.shape[0]):
            for i in range(n):
                out[c, i, 0] = b[i]
        return out

    return vectors


@inner_of_types(lambda x, a, b: types.Array(x.dtype, a.ndim - 1 if b.ndim == 1 else b.ndim, "C"))
def shaped(x, a, b):
    """Solutions (count, n, k) in the shape of the result: that of b, or of the vectors of a."""
    return (lambda x, a, b: viewed(x, b.shape)) if b.ndim > 1 else (lambda x, a, b: viewed(x, a.shape[:-1]))


def complex_of(dtype):
    """The complex type of the same precision."""
    return COMPLEX.get(dtype, dtype)


@intrinsic
def complex_dtype(typingctx, a):
    """The complex dtype of the precision of the array a."""
    kind = types.DType(complex_of(a.dtype))
    return kind(a), lambda context, builder, sig, args: context.get_dummy_value()


@inner(lambda a, size: types.Array(a.dtype, 1, "C"), inline=True)
def scratch(a, size):
    """Working memory of the dtype of `a`."""
    return blank((size + 1,), a.dtype)
