"""Shapes that do not fit are refused: by LAPACK and NumPy, and in PyTorch's words where they would take them."""
import numpy as np
import pytest

import fad

o = fad.ones
CASES = [
    (lambda: fad.mv(o(2, 3), o(2)), "shapes cannot be multiplied (2x3 and 2)"),
    (lambda: o(2, 2, 3) @ o(2), "shapes cannot be multiplied (2x2x3 and 2)"),
    (lambda: o(2, 2, 3) @ o(4, 3), "mat1 and mat2 shapes cannot be multiplied (2x2x3 and 4x3)"),
    (lambda: o(2, 2, 3) @ o(2, 2, 3),
     "shapes cannot be multiplied (2x2x3 and 2x2x3)"),
    (lambda: fad.bmm(o(2, 2, 3), o(3, 3, 2)),
     "could not be broadcast"),
    (lambda: fad.einsum("ij,jk->ik", o(2, 3), o(2, 3)),
     "not aligned: 3 (dim 1) != 2 (dim 0)"),
    (lambda: fad.einsum("ij,jk->il", o(2, 3), o(3, 3)),
     "an output that its operands do not give"),
    (lambda: fad.einsum("ij,jk", o(2, 3)), "fewer operands provided"),
    (lambda: fad.einsum("i1,i", o(2, 3), o(2)), "invalid subscript '1'"),
]


@pytest.mark.parametrize("call, words", CASES, ids=[words[:60] for _, words in CASES])
def test_shapes_that_do_not_fit(call, words):
    with pytest.raises((RuntimeError, ValueError)) as caught:
        call()
    assert words in str(caught.value)


@pytest.mark.parametrize("f",
                         [lambda a, b: np.tensordot(a, b, axes=([0, 1], [1, 0])),
                          lambda a, b: np.einsum("ij,ji->", a, b),
                               lambda a, b: np.tensordot(np.stack([a, a]), np.stack([b, b]), axes=([1, 2], [2, 1]))])
@pytest.mark.parametrize("as_given", [lambda a: a, fad.tensor], ids=["arrays", "tensors"])
def test_sums_over_several_axes_of_other_sizes_are_refused(f, as_given):
    a = np.arange(6.0).reshape(2, 3)
    with pytest.raises(ValueError):
        f(as_given(a), as_given(a))
    with pytest.raises(ValueError):
        fad.jit(f, compile="never")(a, a)
