"""NumPy's products of arrays, as contractions: dot, matmul, inner, outer, tensordot, kron, cross, trace."""
from typing import Any

from ..contract import contract, matmul, new_letters, stacked_product
from ..face import face
from ..kinds import conjugate
from .arguments import as_array, into, one_axis, rank, ravel

face("numpy.matmul", "numpy.linalg.matmul", samples=("np.matmul(x, S)", "x @ S", "v @ S @ v"))(lambda x1, x2: matmul(as_array(x1), as_array(x2)))


@face("numpy.dot", method="dot", samples=("np.dot(x, S)", "np.dot(v, v)", "x.dot(v)"))
def dot(a: Any, b: Any, out: Any = None) -> Any:
    """Over the last axis of a and the last but one of b; a product where either is a number."""
    a, b = as_array(a), as_array(b)
    if not rank(a) or not rank(b):
        return into(out, a * b)
    letters = new_letters(rank(a) + rank(b), "")
    left, right = letters[:rank(a)], list(letters[rank(a):])
    right[-2 if len(right) > 1 else -1] = left[-1]
    rest = [c for c in right if c != left[-1]]
    return into(out, contract(a, b, labels=(left, "".join(right), left[:-1] + "".join(rest))))
