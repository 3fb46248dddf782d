"""Sorting along the last axis with NumPy's order, nans last, and NumPy's ties: what Numba lacks for stacks and strides.

    >>> argsort(np.array([3.0, np.nan, 1.0, 3.0])).tolist()
    [2, 0, 3, 1]
"""
import numpy as np
from llvmlite import ir
from numba.core import types

from fad.kernels.memory import blank, contiguous, viewed
from fad.kernels.promotion import compiled_as, emit_python, inner, inner_of_types, quiet

__all__ = ["argsort", "searchsorted"]

#: Runs up to this length are sorted by insertion.
SHORT = 16
#: Rows up to this length are sorted by merging.
MERGED = 100
#: The values of a digit in a radix sort: a byte.
DIGITS = 256


@inner(lambda x, y: types.boolean, inline=True)
def _complex_less(x, y):
    # as npy's CLT: a nan in either part sorts after the numbers
    if x.real < y.real:
        return x.imag == x.imag or y.imag != y.imag
    if x.real > y.real:
        return y.imag != y.imag and x.imag == x.imag
    if x.real == y.real or (x.real != x.real and y.real != y.real):
        return x.imag < y.imag or (y.imag != y.imag and x.imag == x.imag)
    return y.real != y.real


@inner_of_types(lambda x, y: types.boolean, inline=True)
def _less(x, y):
    """NumPy's order: nans after all numbers, complex numbers by real part and then by imaginary part."""
    if isinstance(x, types.Complex):
        return lambda x, y: _complex_less(x, y)
    if isinstance(x, types.Float):
        return lambda x, y: (x < y) | ((y != y) & (x == x))
    return lambda x, y: x < y


@inner(lambda *_: types.none)
def _insert(v, order, low, high):
    """Sort order[low:high] by insertion."""
    for i in range(low + 1, high):
        moved, j = order[i], i
        while j > low and _less(v[moved], v[order[j - 1]]):
            order[j] = order[j - 1]
            j -= 1
        order[j] = moved


@inner(lambda *_: types.none)
def _merge(v, order, spare, low, middle, high):
    """Merge the sorted halves order[low:middle] and order[middle:high]; on a tie the left one comes first."""
    for k in range(low, middle):
        spare[k] = order[k]
    i, j, k = low, middle, low
    while i < middle:
        if j < high and _less(v[order[j]], v[spare[i]]):
            order[k] = order[j]
            j += 1
        else:
            order[k] = spare[i]
            i += 1
        k += 1


@inner(lambda *_: types.none)
def _stable_order(v, order, spare):
    """The permutation that sorts v, by merging runs from the bottom up."""
    n = v.size
    for i in range(n):
        order[i] = i
    for low in range(0, n, SHORT):
        _insert(v, order, low, min(low + SHORT, n))
    width = min(SHORT, n)
    while width < n:
        for low in range(0, n - width, 2 * width):
            _merge(v, order, spare, low, low + width, min(low + 2 * width, n))
        width *= 2


# -- radix sort: D. Knuth, "The Art of Computer Programming", volume 3, section 5.2.5, algorithm R


def _emit_key(context, builder, sig, args):
    """The sign of an integer is flipped; so are that of a float and all other bits of a negative one. Each nan is the
    largest number, and the zeros are equal.
    """
    (kind,), (x,) = sig.args, args
    sign = ir.Constant(ir.IntType(64), 1 << 63)
    if isinstance(kind, types.Integer):
        return builder.xor(x, sign) if kind.signed else x
    bits = builder.bitcast(builder.fadd(x, ir.Constant(x.type, 0.0)), sign.type)
    flipped = builder.xor(bits, builder.or_(builder.ashr(bits, ir.Constant(sign.type, 63)), sign))
    return builder.select(builder.fcmp_unordered("uno", x, x), ir.Constant(sign.type, -1), flipped)


def _key_type(x):
    if isinstance(x, types.Float):
        return types.int64, types.float64
    return types.int64, types.int64 if getattr(x, "signed", False) else types.uint64


def _no_key(x):
    raise NotImplementedError("_key exists in compiled code only")


#: The bits of a number, which in the order of numbers without signs are in the order of the numbers.
_key = compiled_as(_no_key, _key_type, _emit_key)


@inner(lambda *_: types.none)
def _radix_order(v, order, spare):
    """The same, digit by digit from the last one on; a digit that all numbers share is left out."""
    n = v.size
    keys, counts, places = blank((2, n), np.int64), blank((8, DIGITS), np.intp), blank((2, n), np.intp)
    for digit in range(8):
        for k in range(DIGITS):
            counts[digit, k] = 0
    for i in range(n):
        key = _key(v[i])
        keys[0, i] = key
        places[0, i] = i
        for digit in range(8):
            counts[digit, (key >> 8 * digit) & 255] += 1
    turn = 0
    for digit in range(8):
        shift = 8 * digit
        if counts[digit, (keys[turn, 0] >> shift) & 255] < n:
            _first_places(counts[digit])
            for i in range(n):
                key = keys[turn, i]
                k = (key >> shift) & 255
                place = counts[digit, k]
                counts[digit, k] = place + 1
                keys[1 - turn, place] = key
                places[1 - turn, place] = places[turn, i]
            turn = 1 - turn
    for i in range(n):
        order[i] = places[turn, i]


@inner(lambda *_: types.none)
def _first_places(counts):
    """Replace how many numbers have each digit by the place of the first one."""
    total = 0
    for k in range(counts.size):
        count = counts[k]
        counts[k] = total
        total += count


@inner_of_types(lambda *_: types.none)
def _order(v, order, spare):
    if isinstance(v.dtype, types.Complex):
        return lambda v, order, spare: _stable_order(v, order, spare)

    def either(v, order, spare):
        if v.size > MERGED:
            _radix_order(v, order, spare)
        else:
            _stable_order(v, order, spare)
    return either


@inner(lambda x: types.Array(x.dtype, 2, "C"))
def _rows(x):
    """An array of rank 1 or more as rows in C order; not always a copy."""
    n = x.shape[-1]
    return viewed(contiguous(x), (x.size // max(1, n), n))


def _argsort(x):
    """The stable order of each row, as numpy.argsort(x, kind="stable").

    >>> argsort(np.array([[2, 1, 2, 1]])).tolist()
    [[1, 3, 0, 2]]
    """
    rows = _rows(x)
    out, spare = blank(rows.shape, np.intp), blank((rows.shape[1],), np.intp)
    for i in range(rows.shape[0]):
        _order(rows[i], out[i], spare)
    return viewed(out, x.shape)


def _emit_pick(context, builder, sig, args):
    picked = builder.select(*args)
    picked.set_metadata("unpredictable", builder.module.add_metadata([]))
    return picked


def _no_pick(condition, x, y):
    raise NotImplementedError("_pick exists in compiled code only")


#: One of two integers, by an instruction that LLVM does not make a branch of: a processor would guess half of those of
#: a search wrong.
_pick = compiled_as(_no_pick, lambda *_: (types.intp, types.boolean, types.intp, types.intp), _emit_pick)


@inner(lambda *_: types.intp, inline=True)
def _place(a, x, right):
    """The first place in the sorted a where x can be put, or the last one."""
    low, rest = 0, a.size
    while rest > 0:
        half = (rest + 1) // 2
        y = a[low + half - 1]
        low = _pick(not _less(x, y) if right else _less(y, x), low + half, low)
        rest -= half
    return low


def _searchsorted(a, v, right):
    """numpy.searchsorted in a sorted row, for a number or an array; `right` for side="right".

    >>> int(searchsorted(np.array([1.0, 2.0, 2.0]), 2.0, True))
    3
    """
    return _place(a, v, right)


def _searchsorted_array(a, v, right):
    flat = viewed(contiguous(v), (v.size,))
    out = blank((v.size,), np.intp)
    for i in range(v.size):
        out[i] = _place(a, flat[i], right)
    return viewed(out, v.shape)


def _sorting(*args):
    if len(args) != 1 or not isinstance(args[0], types.Array) or not args[0].ndim:
        return None
    return types.Array(types.intp, args[0].ndim, "C"), args[0]


def _searching(*args):
    if len(args) != 3 or not isinstance(args[0], types.Array) or args[0].ndim != 1:
        return None
    a, v, right = args
    if isinstance(v, types.Array):
        return (types.Array(types.intp, v.ndim, "C"), *args) if v.dtype == a.dtype else None
    return (types.intp, a, a.dtype, right)


_emit_one, _emit_many = emit_python(_searchsorted, inline=False), emit_python(_searchsorted_array, inline=False)


def _emit_search(context, builder, sig, args):
    chosen = _emit_many if isinstance(sig.args[1], types.Array) else _emit_one
    return chosen(context, builder, sig, args)


argsort = compiled_as(
    quiet(lambda x: np.argsort(x, kind="stable"), _argsort.__doc__, "argsort"),
    _sorting,
    emit_python(_argsort, apart=True),
)
searchsorted = compiled_as(
    quiet(
        lambda a, v, right: np.searchsorted(a, v, "right" if right else "left"), _searchsorted.__doc__, "searchsorted"
    ),
    _searching,
    _emit_search,
)
