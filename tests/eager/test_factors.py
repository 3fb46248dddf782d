"""Shapes that do not fit are refused: by LAPACK and NumPy, and in PyTorch's words where they would take them."""
import numpy as np
import pytest

import fad

o, LA = fad.ones, fad.linalg
SINGULAR = fad.tensor([[1.0, 1.0], [1.0, 1.0]])
INDEFINITE = fad.tensor([[1.0, 2.0], [2.0, 1.0]])
CASES = [
    (lambda: LA.solve(fad.eye(3), o(2, 2)),
     "linalg.solve: Incompatible shapes of A and B for the equation AX = B (3x3 and 2x2)"),
    (lambda: LA.solve(fad.eye(3), o(2)),
     "linalg.solve: Incompatible shapes of A and B for the equation AX = B (3x3 and 2x1)"),
    (lambda: LA.solve(fad.eye(3), o(2, 2), left=False), "linalg.solve: Incompatible shapes of A and B"),
    (lambda: LA.solve_triangular(o(3, 2), o(3, 1), upper=True), "linalg.solve_triangular: Incompatible shapes"),
    (lambda: LA.solve_triangular(fad.eye(3), o(3), upper=True), "linalg.solve_triangular: Incompatible shapes"),
    (lambda: LA.lstsq(o(3, 2), o(2, 1)), "Incompatible dimensions"),
    (lambda: LA.pinv(o(3)), "at least two-dimensional"),
    (lambda: LA.multi_dot([o(3, 2), o(3, 2)]), "not aligned"),
    (lambda: LA.norm(o(3, 3, 3), ord="fro"),
     "linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got 3D."),
    (lambda: LA.norm(o(3, 3), ord=3), "Invalid norm order"),
    (lambda: LA.vector_norm(o(3), ord="nuc"), "requires a matrix"),
    (lambda: LA.matrix_norm(o(3, 3), dim=(0, 0)), "dim 0 appears multiple times"),
    (lambda: LA.tensorinv(o(2, 3, 4), ind=1), "must be square"),
    (lambda: fad.mv(o(2, 3), o(2)), "shapes cannot be multiplied (2x3 and 2)"),
    (lambda: o(2, 2, 3) @ o(2), "shapes cannot be multiplied (2x2x3 and 2)"),
    (lambda: o(2, 2, 3) @ o(4, 3), "mat1 and mat2 shapes cannot be multiplied (2x2x3 and 4x3)"),
    (lambda: o(2, 2, 3) @ o(2, 2, 3),
     "shapes cannot be multiplied (2x2x3 and 2x2x3)"),
    (lambda: fad.bmm(o(2, 2, 3), o(3, 3, 2)),
     "could not be broadcast"),
    (lambda: fad.baddbmm(o(2, 2, 2), o(2, 2, 3), o(2, 2, 3)),
     "shapes cannot be multiplied (2x2x3 and 2x2x3)"),
    (lambda: fad.tensordot(o(2, 3), o(2, 3), 1),
     "not aligned: 3 (dim 1) != 2 (dim 0)"),
    (lambda: fad.tensordot(o(2, 3), o(2, 3), dims=([0, 1], [1, 0])),
     "extents of axes to be multiplied differ: (2, 3) and (3, 2)"),
    (lambda: fad.tensordot(o(2, 3), o(2, 3), 3), "tensordot over 3 axes of arrays that have 2 and 2"),
    (lambda: fad.einsum("ij,jk->ik", o(2, 3), o(2, 3)),
     "not aligned: 3 (dim 1) != 2 (dim 0)"),
    (lambda: fad.einsum("ij,jk->il", o(2, 3), o(3, 3)),
     "an output that its operands do not give"),
    (lambda: fad.einsum("ij,jk", o(2, 3)), "fewer operands provided"),
    (lambda: fad.einsum("i1,i", o(2, 3), o(2)), "invalid subscript '1'"),
    (lambda: LA.cholesky(INDEFINITE),
     "linalg.cholesky: The factorization could not be completed because the input is not positive-definite "
     "(the leading"),
    (lambda: fad.cholesky(fad.stack([fad.eye(2), INDEFINITE])),
     "cholesky: (Batch element 1): The factorization could not be completed"),
    (lambda: LA.inv(SINGULAR),
     "linalg.inv: The diagonal element 2 is zero, the inversion could not be completed because the input matrix is "
     "singular."),
    (lambda: fad.inverse(fad.stack([fad.eye(2), SINGULAR])),
     "linalg.inv: (Batch element 1): The diagonal element 2 is zero"),
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


def test_least_squares_gives_tensors_also_of_nothing():
    assert all(isinstance(part, fad.Tensor) for part in LA.lstsq(fad.ones(2, 3), fad.ones(2, 1)))


MIXED = fad.stack([2 * fad.eye(2), SINGULAR, -fad.eye(2)])


@pytest.mark.parametrize("name, args, info", [("inv_ex", (), [0, 2, 0]), ("cholesky_ex", (), [0, 2, 1]),
                                              ("solve_ex", (o(3, 2, 1),), [0, 2, 0]),
                                              ("solve_ex", (o(3, 2),), [0, 2, 0]), ("solve_ex", (o(2),), [0, 2, 0])])
def test_a_matrix_that_cannot_be_factored_is_told_of_by_its_info(name, args, info):
    f, x = getattr(LA, name), MIXED.clone().requires_grad_()
    result, told = f(x, *args)
    result.nansum().backward()
    assert told.dtype == fad.int32 and told.tolist() == info
    for part, fails in zip((result.detach(), x.grad), (told != 0, told != 0)):
        assert part.isnan().flatten(1).all(1).tolist() == fails.tolist() == part.isnan().flatten(1).any(1).tolist()
    alone = getattr(LA, name.removesuffix("_ex"))(x[0], *[a[0] if a.ndim > 1 else a for a in args])
    np.testing.assert_array_equal(result[0].detach(), alone.detach())
    with pytest.raises(RuntimeError, match="singular|positive-definite"):
        f(x, *args, check_errors=True)


@pytest.mark.parametrize("count", [0, 3])
def test_a_vector_for_each_matrix_is_one_in_transforms_too(count):
    A, B = (3 * fad.eye(3)).expand(count, 3, 3).clone(), fad.ones(count, 3)
    f = lambda A, B: LA.solve(A, B)
    np.testing.assert_allclose(fad.jit(f)(A, B), f(A, B))
    assert fad.jvp(f, (A, B), (A, B))[1].shape == (count, 3) and fad.jacobian(f, 1)(A, B).shape == (count, 3) * 2
    assert fad.grad(lambda A, B: f(A, B).sum())(A, B).shape == A.shape
