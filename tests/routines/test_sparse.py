"""Sparse matrices with traced elements: products and solves, in both modes, to second order."""
import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import factorized, splu, spsolve

import fad

P = np.array([0.7, 1.3])
ROWS, COLUMNS = np.array([0, 0, 1, 1, 1, 2, 2, 0]), np.array([0, 1, 0, 1, 2, 1, 2, 0])
STARTS = np.array([0, 2, 5, 7])
FREE = np.array([2, 0])
B = np.array([[1.0, 2.0], [0.5, 1.0], [2.0, 0.3]])
KNOWN = sp.csc_matrix(np.array([[4.0, 1, 0], [1, 3, 0.5], [0, 0.5, 2]]))


def elements(p):
    return np.array([4.0, 1, 1, 3, 0.5, 0.5, 2, 0.3]) * p[0] + np.array([p[1], 0, 0, p[1] ** 2, 0, 0, 0, 0])


def matrix(p, kind=sp.csc_matrix):
    return kind((elements(p), (ROWS, COLUMNS)), shape=(3, 3))


def inside(p):
    A = matrix(p)
    return sp.issparse(A) and isinstance(A, sp.csc_matrix) and not isinstance(A, sp.csr_matrix)


def heat(p):
    """Implicit steps of the heat equation."""
    u = np.sin(np.arange(5.0)) * p[1]
    A = sp.diags([1 + 2 * p[0], -p[0], -p[0]], [0, 1, -1], shape=(5, 5), format="csc")
    for _ in range(4):
        u = spsolve(A, u)
    return u


CASES = {
    "csr @": lambda p: matrix(p, sp.csr_matrix) @ B,
    "coo @ a vector": lambda p: matrix(p, sp.coo_array) @ p[[0, 1, 0]],
    "csr of starts": lambda p: sp.csr_array((elements(p)[:7], COLUMNS[:7], STARTS), shape=(3, 3)) @ p[[0, 1, 0]],
    "csc of starts": lambda p: sp.csc_matrix((elements(p)[:7], COLUMNS[:7], STARTS), shape=(3, 3)).dot(p[[0, 1, 0]]),
    "of a dense matrix": lambda p: sp.csr_matrix(np.outer(p, p)) @ p,
    "transposed": lambda p: matrix(p).T @ B[:, 0],
    "arithmetic": lambda p: ((2 * matrix(p) - KNOWN * p[1]) / p[0] + KNOWN + -matrix(p)).tocsr() @ B,
    "known, on the left": lambda p: (KNOWN + matrix(p) * p[0]) @ B - (KNOWN - matrix(p)).toarray()[:, :2],
    "diagonals": lambda p: sp.diags([p, 3.0 * p[:1] * np.ones(3)], [1, 0]) @ B,
    "diags_array": lambda p: sp.diags_array([p[0] * np.ones(3), np.ones(2)], offsets=[0, -1]).diagonal(),
    "spsolve": lambda p: spsolve(matrix(p), p[1] * B[:, 0]),
    "spsolve of many": lambda p: spsolve(matrix(p), B * p[1]),
    "spsolve of a column": lambda p: spsolve(matrix(p), B[:, :1] * p[1]),
    "spsolve, a known matrix": lambda p: spsolve(KNOWN, B * p[1]),
    "spsolve, a known right side": lambda p: spsolve(matrix(p, sp.csr_array), B[:, 0]),
    "splu": lambda p: splu(matrix(p)).solve(B * p[0]) + splu(matrix(p)).solve(B, trans="T"),
    "factorized": lambda p: factorized(matrix(p))(B[:, 1]),
    "a part": lambda p: matrix(p)[1:, :2].toarray() + spsolve(matrix(p)[1:, 1:], p),
    "rows, then columns": lambda p: spsolve(matrix(p)[FREE][:, FREE].tocsc(), p) @ (matrix(p, sp.csr_array)[FREE] @ B),
    "a grid": lambda p: matrix(p)[np.ix_(FREE, [1, 0])].toarray() + matrix(p)[np.array([True, False, True])] @ B,
    "one row": lambda p: matrix(p, sp.csr_matrix)[-1] @ B + matrix(p)[0, 1:] @ B[1:],
    "one element": lambda p: p * matrix(p)[0, 0] + matrix(p)[-1, -2] - matrix(p)[2, 0],
    "backwards": lambda p: (matrix(p)[::-1, FREE[0]] - matrix(p)[[-1, 0, 1], 1]).toarray(),
    "isinstance": lambda p: (2.0 if inside(p) else 1.0) * p,
    "steps": heat,
}


@pytest.mark.parametrize("name", CASES)
def test_derivatives(name):
    f = CASES[name]
    found = fad.jacrev(f, fallback=False)(P)
    want = np.stack([(f(P + 1e-6 * e) - f(P - 1e-6 * e)) / 2e-6 for e in np.eye(2)], axis=-1)
    np.testing.assert_allclose(fad.jit(f, fallback=False)(P), f(P), rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(found, want, rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(fad.jacfwd(f, fallback=False)(P), found, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("name", ["spsolve", "spsolve of many", "steps"])
def test_second_derivatives(name):
    def loss(p):
        return np.sum(CASES[name](p) ** 2)
    gradient = fad.grad(loss)
    want = [(gradient(P + 1e-5 * e) - gradient(P - 1e-5 * e)) / 2e-5 for e in np.eye(2)]
    np.testing.assert_allclose(fad.hessian(loss)(P), want, rtol=1e-7)
    np.testing.assert_allclose(fad.jacfwd(fad.jacfwd(loss))(P), want, rtol=1e-7)


def test_many_at_once():
    rows = np.array([[0.7, 1.3], [1.1, 0.9]])
    np.testing.assert_allclose(fad.vmap(fad.jacrev(CASES["spsolve"]))(rows),
                               [fad.jacrev(CASES["spsolve"])(p) for p in rows], rtol=1e-11)


def test_a_matrix_from_outside_is_read_at_each_call():
    A = KNOWN.copy()
    f = fad.jit(lambda b: spsolve(A, b))
    f(B[:, 0])
    A.data[0] = 7.0
    np.testing.assert_allclose(f(B[:, 0]), spsolve(A, B[:, 0]), rtol=1e-14)


@pytest.mark.parametrize("f, text", [
    (lambda p: (matrix(p) @ matrix(p)).toarray()[0, 0], "toarray"),
    (lambda p: (matrix(p, sp.csr_array) * B[:, 0]).sum(), "A @ x"),
    (lambda p: (sp.csr_matrix((elements(p), (ROWS, COLUMNS))) @ B).sum(), "shape="),
    (lambda p: (matrix(p) + np.eye(3)).sum(), "toarray"),
    (lambda p: matrix(p, sp.coo_matrix)[0, 0], "tocsr"),
    (lambda p: matrix(p).sum(), "csc_matrix.sum is not known"),
    (lambda p: matrix(p)[[0, 1], [0, 1]].sum(), "single places"),
    (lambda p: matrix(p, sp.csr_array)[0].sum(), "one axis"),
    (lambda p: spsolve(matrix(p) * 1j, B).real.sum(), "real and the imaginary")])
def test_what_is_not_known_is_refused(f, text):
    with pytest.raises(fad.FadError, match=text):
        fad.grad(f, fallback=False)(P)


def test_what_scipy_does_not_have_is_an_attribute_error():
    with pytest.raises(AttributeError, match="'csc_matrix' object has no attribute 'nothing'"):
        fad.grad(lambda p: matrix(p).nothing, fallback=False)(P)
    assert fad.jit(lambda p: p if hasattr(matrix(p), "nothing") else 2 * p)(P)[0] == 1.4


def test_a_row_is_taken_once():
    with pytest.raises(ValueError, match="taken twice"):
        fad.grad(lambda p: (matrix(p)[[0, 0]] @ B[:, 0]).sum())(P)
