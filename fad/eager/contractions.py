"""Sums of products over chosen dimensions: einsum and tensordot."""
import re
import string

from ..ops.face import BY_NAME
from ..util.array import Axes
from .promotion import agree
from .registry import function
from .tensor import Tensor, raw


@function(method=False)
def einsum(equation: str, *operands: Tensor) -> Tensor:
    """Sums of products, by NumPy's notation."""
    given = operands[0] if len(operands) == 1 and isinstance(operands[0], (tuple, list)) else operands
    if isinstance(equation, str) and all(isinstance(x, Tensor) for x in given):
        _check_subscripts(equation, given)
        equation = equation.replace(" ", "")
        if len(given) == 1:
            return _of_one(equation, given[0])
        words, arrow, out = equation.partition("->")
        if arrow and "..." in words and "..." not in out:      # dimensions that only the operands have are summed over
            y = BY_NAME["numpy.einsum"].call(f"{words}->...{out}", *given)
            return y.sum(tuple(range(len(y.shape) - len(out)))) if len(y.shape) > len(out) else y
    return BY_NAME["numpy.einsum"].call(equation, *given)


def _check_subscripts(equation: str, operands: tuple) -> None:
    """Raise unless each operand has as many dimensions as subscripts, and equal subscripts stand for equal sizes."""
    wrong = re.search(r"[^a-zA-Z .,>-]", equation)
    if wrong:
        raise RuntimeError(f"einsum(): invalid subscript given at index {wrong.start()} in the equation string, "
                           "subscripts must be in [a-zA-Z]")
    each = equation.replace(" ", "").partition("->")[0].split(",")
    if len(each) != len(operands):
        raise RuntimeError(f"einsum(): {'fewer' if len(operands) < len(each) else 'more'} operands were provided than "
                           "specified in the equation")
    sizes: dict = {}
    for k, (word, x) in enumerate(zip(each, operands)):
        if "." in word:
            continue
        if len(word) != len(x.shape):
            raise RuntimeError(f"einsum(): the number of subscripts in the equation ({len(word)}) does not match the "
                               f"number of dimensions ({len(x.shape)}) for operand {k} and no ellipsis was given")
        own: dict = {}
        for c, n in zip(word, x.shape):
            if own.setdefault(c, n) != n or 1 not in (n, sizes.get(c, 1)) and n != sizes[c]:
                raise RuntimeError(f"einsum(): subscript {c} has size {n} for operand {k} which does not broadcast "
                                   f"with previously seen size {own[c] if own[c] != n else sizes[c]}")
        for c, n in own.items():
            sizes[c] = max(n, sizes.get(c, 1))


def _of_one(equation: str, x: Tensor) -> Tensor:
    """einsum of one operand: diagonals and exchanged dimensions, which are views, then sums."""
    word, arrow, out = equation.partition("->")
    rest = "".join([c for c in string.ascii_letters if c not in word][:len(x.shape) - len(word.replace("...", ""))])
    word = word.replace("...", rest)
    out = (
        out.replace("...", rest)
        if arrow
        else rest + "".join(sorted(c for c in word if word.count(c) == 1 and c not in rest))
    )
    for c in dict.fromkeys(word):
        while word.count(c) > 1:
            first, last = word.index(c), word.rindex(c)
            x, word = x.diagonal(0, first, last), word[:first] + word[first + 1:last] + word[last + 1:] + c
    order = [word.index(c) for c in (*out, *[c for c in word if c not in out])]
    x = x.permute(*order) if order else x.view(())
    return x.sum(tuple(range(len(out), len(word)))) if len(word) > len(out) else x


def _summed_alike(a: tuple, b: tuple, dims: object) -> None:
    """Raise unless the dimensions that tensordot sums over are pairs of one size."""
    if isinstance(dims, int):
        if dims > min(len(a), len(b)):
            raise RuntimeError(f"tensordot expects dims < ndim_a or ndim_b, but got dims={dims}")
        dims = (range(-dims, 0), range(dims))
    left, right = ([d] if isinstance(d, int) else list(d)
                   for d in (dims if isinstance(dims, (tuple, list)) else raw(dims).tolist()))
    if len(left) != len(right):
        raise RuntimeError("both dimension lists should have same length")
    for p, q in zip(left, right):
        if a[p] != b[q]:
            raise RuntimeError(f"contracted dimensions need to match, but first has size {a[p]} in dim {p} and second "
                               f"has size {b[q]} in dim {q}")


@function(method=False)
def tensordot(a: Tensor, b: Tensor, dims: Axes = 2) -> Tensor:
    """The sum of products over pairs of dimensions."""
    agree("both inputs should have same dtype", a, b)
    _summed_alike(a.shape, b.shape, dims)
    return BY_NAME["numpy.tensordot"].call(a, b, dims)
