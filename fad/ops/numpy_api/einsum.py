"""np.einsum with any number of operands: axes of one operand are summed or broadcast first, then operands meet in
pairs."""
from typing import Any

import numpy as np

from ...ir.op import registry
from ...ir.types import type_of
from ...util.array import AnyArray, ArrayOrNumber, DTypeLike, Extent
from .. import extents
from ..contract import LETTERS, contract, without_axes
from ..kinds import shape_of
from ..override import override
from .arguments import Casting, as_array, in_dtype, into, is_given, joint_dtype, rank
from .contract import diagonals
from .creation import in_order

_ELLIPSIS = "\N{GREEK SMALL LETTER ALPHA}"          # ellipsis axes get letters from here on, which no subscript holds


def _interleaved(args: tuple) -> "tuple[str, list]":
    """einsum(x, [0, 1], y, [1, 2], [0, 2]) as subscripts and operands."""
    operands, lists = list(args[:len(args) // 2 * 2:2]), list(args[1::2])
    words = ["".join("..." if k is Ellipsis else LETTERS[k] for k in word) for word in lists]
    subscripts = ",".join(words)
    if len(args) % 2:
        subscripts += "->" + "".join("..." if k is Ellipsis else LETTERS[k] for k in args[-1])
    return subscripts, operands


def _expanded(word: str, axes: int, what: str) -> str:
    """A subscript with letters for its ellipsis."""
    if "..." not in word:
        return word
    named = len(word) - 3
    if "." in word.replace("...", "", 1) or axes < named:
        raise ValueError(f"einsum: the subscript {what!r} does not fit")
    return word.replace("...", "".join(chr(ord(_ELLIPSIS) + k) for k in range(axes - named))[::-1])


def parse(subscripts: str, ranks: list) -> "tuple[list, str]":
    """The letters of each operand's axes, and of the result's. Ellipsis axes are counted from the last.

    >>> parse("ij,jk", [2, 2]), parse("ii", [2])
    ((['ij', 'jk'], 'ik'), (['ii'], ''))
    """
    left, arrow, out = subscripts.replace(" ", "").partition("->")
    words = left.split(",")
    if len(words) != len(ranks):
        more = "more" if len(words) < len(ranks) else "fewer"
        raise ValueError(f"{more} operands provided to einstein sum function than specified in the subscripts string")
    wrong = next((c for word in (*words, out) for c in word.replace("...", "") if c not in LETTERS), None)
    if wrong is not None:
        raise ValueError(f"invalid subscript {wrong!r} in einstein sum subscripts string, subscripts must be letters")
    operands = [_expanded(word, ndim, word) for word, ndim in zip(words, ranks)]
    for word, ndim in zip(operands, ranks):
        if len(word) != ndim:
            raise ValueError(f"einstein sum subscripts string {subscripts!r} does not fit an operand of {ndim} axes")
    letters = "".join(operands)
    spread = "".join(sorted({c for c in letters if c >= _ELLIPSIS}, reverse=True))
    if not arrow:
        return operands, spread + "".join(sorted(c for c in set(letters) if letters.count(c) == 1 and c < _ELLIPSIS))
    if "..." not in out and spread:
        raise ValueError("output has no ellipsis, and operands have axes under theirs")
    out = out.replace("...", spread)
    if len(set(out)) != len(out) or not set(out) <= set(letters):
        raise ValueError(f"einstein sum subscripts string {subscripts!r} has an output that its operands do not give")
    return operands, out


# -- one operand -----------------------------------------------------------------------------------


def without_repeats(x: ArrayOrNumber, word: str) -> "tuple[Any, str]":
    """Of axes with one letter only the diagonal, on one axis."""
    for c in dict.fromkeys(word):
        while word.count(c) > 1:
            first = word.index(c)
            second = word.index(c, first + 1)
            extents.agree(shape_of(x)[first], shape_of(x)[second], f"extents of the axes {c}")
            x = diagonals(x, 0, first, second)
            word = "".join(d for k, d in enumerate(word) if k not in (first, second)) + c
    return x, word


def summed_to(x: ArrayOrNumber, word: str, keep: set) -> "tuple[Any, str]":
    """x summed over the axes that are not to be kept, in its own dtype."""
    axes = tuple(k for k, c in enumerate(word) if c not in keep)
    if not axes:
        return x, word
    op = registry["any"] if type_of(x).dtype.kind == "b" else registry["sum"]
    return in_dtype(op(x, axes=axes), type_of(x).dtype), "".join(c for c in word if c in keep)


def without_stretched(x: ArrayOrNumber, word: str, full: dict) -> "tuple[Any, str]":
    """x without the axes of extent 1 that another operand's extent stretches."""
    ones = [k for k, n in enumerate(shape_of(x)) if _is_stretched(n, full[word[k]])]
    if not ones:
        return x, word
    return without_axes(x, ones), "".join(c for k, c in enumerate(word) if k not in ones)


def _is_stretched(n: Extent, full: ArrayOrNumber) -> bool:
    if isinstance(n, int) and isinstance(full, int):
        return n == 1 and full != 1
    return extents.hint(n) != extents.hint(full) and extents.is_one(n)


def _full_extents(operands: list, words: list) -> dict:
    """The extent of each letter: of those that are not 1."""
    full: dict[str, Any] = {}
    for x, word in zip(operands, words):
        for c, n in zip(word, shape_of(x)):
            if c not in full or (isinstance(full[c], int) and full[c] == 1):
                full[c] = n
    return full


# -- several ---------------------------------------------------------------------------------------


def order_of(words: list, out: str, full: dict, optimize: bool) -> list:
    """The operands that meet, pair by pair: by what is cheapest at the sizes seen at tracing."""
    if len(words) < 3 or optimize is False:
        return [(0, 1)] * (len(words) - 1)
    if (isinstance(optimize, (list, tuple)) and optimize and optimize[0] == "einsum_path"
            and all(len(step) == 2 for step in optimize[1:])):
        return [tuple(step) for step in optimize[1:]]
    letters = dict(zip(dict.fromkeys("".join(words)), LETTERS))
    sizes = {c: extents.hint(n) or 8 for c, n in full.items()}
    samples = [np.broadcast_to(0.0, [sizes[c] for c in word]) for word in words]
    text = ",".join("".join(letters[c] for c in word) for word in words) + "->" + "".join(letters[c] for c in out)
    path = np.einsum_path(text, *samples, optimize=("greedy", 2 ** 60))[0][1:]
    return path if all(len(step) == 2 for step in path) else [(0, 1)] * (len(words) - 1)


def _meet(x: ArrayOrNumber, a: str, y: AnyArray, b: str, keep: set) -> "tuple[Any, str]":
    """Two operands multiplied, and summed over the letters that nothing else needs."""
    x, a = summed_to(x, a, keep | set(b))
    y, b = summed_to(y, b, keep | set(a))
    out = "".join(c for c in dict.fromkeys(a + b) if c in keep)
    return contract(x, y, labels=(a, b, out)), out


@override("numpy.einsum",
          samples=('np.einsum("ij,jk->ik", x, S)', 'np.einsum("ij,ij->i", x, x)', 'np.einsum("ii->i", S)',
                   'np.einsum("i,j,jk->k", v, v, S)', 'np.einsum("...j,j", x, v)',
                   "np.einsum(x, [0, 1], v, [1], [0])", 'np.einsum("ij->", x)', 'np.einsum("ii", S)'))
def einsum(*operands: object, out: object = None, dtype: DTypeLike = None, order: str = "K", casting: Casting = "safe",
           optimize: bool = True) -> AnyArray:
    subscripts, given = (operands[0], list(operands[1:])) if isinstance(operands[0], str) else _interleaved(operands)
    given = [as_array(x) for x in given]
    common = joint_dtype(given, dtype)
    if not all(np.can_cast(type_of(x).dtype, common, casting) for x in given):
        raise TypeError(f"Cannot cast an operand of numpy.einsum to {common!r} according to the rule {casting!r}")
    given = [in_dtype(x, dtype if is_given(dtype) else None) for x in given]
    words, result = parse(subscripts, [rank(x) for x in given])
    pairs = [without_repeats(x, word) for x, word in zip(given, words)]
    full = _full_extents([x for x, _ in pairs], [word for _, word in pairs])
    if len(pairs) > 1:
        pairs = [without_stretched(x, word, full) for x, word in pairs]
    for i, j in order_of([word for _, word in pairs], result, full, optimize):
        (y, b), (x, a) = pairs.pop(max(i, j)), pairs.pop(min(i, j))
        pairs.append(_meet(x, a, y, b, set(result).union(*[word for _, word in pairs])))
    y, word = summed_to(*pairs[0], set(result))
    if word != result:
        y = registry["transpose"](y, axes=tuple(word.index(c) for c in result))
    return into(out, y if any(y is x for x in given) else in_order(y, order))


@override("numpy.einsum_path")
def einsum_path(*operands: object, optimize: object = "greedy", einsum_call: bool = False) -> Any:
    """The path at the sizes seen at tracing: it is found by extents alone."""
    subscripts, given = (operands[0], list(operands[1:])) if isinstance(operands[0], str) else _interleaved(operands)
    samples = [np.broadcast_to(0.0, [extents.hint(n) or 8 for n in shape_of(as_array(x))]) for x in given]
    return np.einsum_path(subscripts, *samples, optimize=optimize, einsum_call=einsum_call)  # type: ignore[arg-type]
