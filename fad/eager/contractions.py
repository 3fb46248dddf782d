"""Sums of products over chosen dimensions: einsum and tensordot."""
import string

from ..util.array import Axes
from .errors import face
from .promotion import agree
from .registry import function
from .tensor import Tensor


@function(method=False)
def einsum(equation: str, *operands: Tensor) -> Tensor:
    """Sums of products, by NumPy's notation; dimensions that only the operands have under an ellipsis are summed over,
    too."""
    given = operands[0] if len(operands) == 1 and isinstance(operands[0], (tuple, list)) else operands
    words, arrow, out = equation.replace(" ", "").partition("->") if isinstance(equation, str) else ("", "", "")
    if len(given) == 1 and isinstance(given[0], Tensor) and "," not in words:
        return _of_one(words, arrow, out, given[0])
    if arrow and "..." in words and "..." not in out:
        y = face("numpy.einsum", f"{words}->...{out}", *given)
        return y.sum(tuple(range(len(y.shape) - len(out)))) if len(y.shape) > len(out) else y
    return face("numpy.einsum", equation, *given)


def _of_one(word: str, arrow: str, out: str, x: Tensor) -> Tensor:
    """einsum of one operand: diagonals and exchanged dimensions, which are views, then sums."""
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


@function(method=False)
def tensordot(a: Tensor, b: Tensor, dims: Axes = 2) -> Tensor:
    """The sum of products over pairs of dimensions."""
    agree("both inputs should have same dtype", a, b)
    return face("numpy.tensordot", a, b, dims)
