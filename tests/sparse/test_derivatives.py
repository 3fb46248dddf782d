"""Sparse Jacobians and Hessians are the dense ones, with the pattern of the function."""
import numpy as np
import pytest
import scipy.sparse

import fad
from fad.util.errors import ArgumentError, ConcreteValueError, IntegerArgumentError, NoDerivativeError

from ..turns import in_tiers
from .programs import HESSIANS, JACOBIANS, elements, rosenbrock, stencil

X = np.sin(np.arange(16) * 1.7) + 0.3


@pytest.mark.parametrize("name, tier", in_tiers(JACOBIANS))
def test_a_sparse_jacobian_is_the_dense_one(name, tier):
    f, is_exact = JACOBIANS[name]
    dense = fad.jacobian(f)(X)
    with fad.config.using(compile=tier):
        J = fad.sparse.jacobian(f)
        found = J(X)
    np.testing.assert_allclose(found.toarray(), dense, rtol=1e-12, atol=1e-12)
    if is_exact:
        assert np.array_equal(J.pattern(X).toarray(), dense != 0)


@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize("format", ["csr", "csc"])
def test_modes_and_formats(mode, format):
    J = fad.sparse.jacobian(stencil, mode=mode, format=format)(X)
    assert J.format == format and J.has_canonical_format
    np.testing.assert_allclose(J.toarray(), fad.jacobian(stencil)(X), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name, tier", in_tiers(HESSIANS))
def test_a_sparse_hessian_is_the_dense_one(name, tier):
    f = HESSIANS[name]
    dense = fad.hessian(f)(X)
    with fad.config.using(compile=tier):
        H = fad.sparse.hessian(f)
        found = H(X)
    np.testing.assert_allclose(found.toarray(), dense, rtol=1e-12, atol=1e-12)
    assert np.array_equal(H.pattern(X).toarray(), dense != 0)


def test_a_pattern_holds_wherever_the_arguments_are():
    """The pattern is found once; at other points other branches are taken, other indices picked."""
    rng = np.random.default_rng(0)
    for name in ("by_sign", "until_small", "at_largest", "with_part_raised"):
        f = JACOBIANS[name][0]
        J, patterns = fad.sparse.jacobian(f), []
        for _ in range(5):
            x = rng.standard_normal(9)
            np.testing.assert_allclose(J(x).toarray(), fad.jacobian(f)(x), rtol=1e-12, atol=1e-12)
            patterns.append(J.pattern(x))
        assert all(p == patterns[0] for p in patterns)


def test_a_pattern_follows_the_indices_that_it_depends_on():
    x, rng = X[:8], np.random.default_rng(1)
    J = fad.sparse.jacobian(elements)
    corners = rng.integers(0, 8, (8, 3))
    for change in range(4):
        np.testing.assert_allclose(J(x, corners).toarray(), fad.jacobian(elements)(x, corners), rtol=1e-12, atol=1e-12)
        corners[change] = rng.integers(0, 8, 3)              # in place: the array is the same one


TABLE = np.array([3, 1, 1, 0])


def test_a_pattern_follows_a_global_array_that_is_changed():
    def picked(x):
        return x[TABLE] ** 2
    J, x = fad.sparse.jacobian(picked), X[:4]
    np.testing.assert_array_equal(J(x).toarray(), fad.jacobian(picked)(x))
    TABLE[0] = 2
    np.testing.assert_array_equal(J(x).toarray(), fad.jacobian(picked)(x))


def test_a_pattern_is_not_found_anew_for_what_it_does_not_depend_on(monkeypatch):
    import fad.sparse.plan as plan
    sweeps = []
    monkeypatch.setattr(plan, "find_pattern", lambda *args, find=plan.find_pattern: sweeps.append(1) or find(*args))

    def scaled(x, h, w):
        return h * w * x[1:] * x[:-1]
    J = fad.sparse.jacobian(scaled)
    for h in (0.1, 0.2, 0.3):
        J(X, h, np.full(15, h))
    assert len(sweeps) == 1
    J(X[:5], 0.1, np.ones(4))
    assert len(sweeps) == 2


def test_several_arguments_and_results():
    def f(p, v):
        return {"a": p["w"] * v[1:], "b": [np.sum(v ** 2), p["k"] * p["w"]]}
    p, v = {"w": X[:4], "k": 0.7}, X[4:9]
    J = fad.sparse.jacobian(f, argnums=(0, 1))(p, v)
    dense = fad.jacobian(f, argnums=(0, 1))(p, v)
    rows = []
    for y in (dense["a"], *dense["b"]):
        blocks = [y[0]["k"], y[0]["w"], y[1]]
        size = np.size(y[0]["k"])
        rows.append(np.concatenate([np.reshape(b, (size, -1)) for b in blocks], axis=1))
    np.testing.assert_allclose(J.toarray(), np.concatenate(rows), rtol=1e-12, atol=1e-12)


def test_many_rows_of_a_few_columns_and_the_other_way_round():
    tall = fad.sparse.jacobian(lambda x: np.outer(np.arange(40.0), x).ravel())
    wide = fad.sparse.jacobian(lambda x: np.array([np.sum(x ** 2), x[0]]))
    assert tall(X[:3]).shape == (120, 3) and len(tall.colours(X[:3])) == 3
    assert wide(X).shape == (2, 16) and len(wide.colours(X)) == 2                  # rows are coloured: reverse mode
    np.testing.assert_allclose(wide(X).toarray(), [2 * X, np.eye(16)[0]])


def test_a_function_with_a_rule_for_reverse_mode_only():
    @fad.custom_vjp
    def half(x):
        return 0.5 * x
    half.defvjp(lambda x: (0.5 * x, None), lambda _, g: (0.5 * g,))
    np.testing.assert_array_equal(fad.sparse.jacobian(lambda x: half(x) ** 2)(X).toarray(), np.diag(0.5 * X))


def test_a_function_with_a_rule_for_forward_mode_keeps_its_pattern():
    @fad.custom_jvp
    def cubed(x):
        return x ** 3
    cubed.defjvp(lambda primals, tangents: (primals[0] ** 3, 3 * primals[0] ** 2 * tangents[0]))
    J = fad.sparse.jacobian(lambda x: cubed(x)[1:] * x[:-1])
    assert J.pattern(X).nnz == 30
    np.testing.assert_allclose(J(X).toarray(), fad.jacobian(lambda x: x[1:] ** 3 * x[:-1])(X), rtol=1e-12)


def test_a_matrix_is_the_callers_own():
    J = fad.sparse.jacobian(stencil)
    first = J(X)
    first.data[:] = 0.0
    first.eliminate_zeros()
    np.testing.assert_allclose(J(X).toarray(), fad.jacobian(stencil)(X), rtol=1e-12, atol=1e-12)


def test_a_given_pattern():
    dense = fad.jacobian(stencil)(X) != 0
    for given in (dense, scipy.sparse.csr_array(dense), fad.sparse.Pattern(dense),
                  scipy.sparse.coo_array(np.ones((16, 16)))):
        J = fad.sparse.jacobian(stencil, pattern=given)(X)
        np.testing.assert_allclose(J.toarray(), fad.jacobian(stencil)(X), rtol=1e-12, atol=1e-12)
    with pytest.raises(ArgumentError, match="shape"):
        fad.sparse.jacobian(stencil, pattern=np.eye(3))(X)
    with pytest.raises(ArgumentError, match="symmetric"):
        fad.sparse.hessian(rosenbrock, pattern=np.triu(np.ones((16, 16))))(X)


def test_nothing_to_find():
    assert fad.sparse.jacobian(lambda x: np.zeros(3) + np.floor(x[0]))(X).nnz == 0
    assert fad.sparse.hessian(lambda x: np.sum(x))(X).nnz == 0
    assert fad.sparse.jacobian(lambda x: x * 2.0)(np.zeros(0)).shape == (0, 0)
    assert fad.sparse.jacobian(lambda x: x * x)(3.0).toarray() == [[6.0]]


def test_what_is_refused():
    with pytest.raises(IntegerArgumentError):
        fad.sparse.jacobian(stencil)(np.arange(5))
    with pytest.raises(NoDerivativeError, match="shape"):
        fad.sparse.jacobian(lambda x: x[x > 0])(X)
    with pytest.raises(ConcreteValueError, match="scipy.sparse"):
        fad.jit(lambda x: fad.sparse.jacobian(stencil)(x), fallback=False)(X)
    with pytest.raises(ArgumentError, match="complex"):
        fad.sparse.jacobian(lambda x: x * 1j)(X)
    with pytest.raises(fad.util.errors.NotScalarError):
        fad.sparse.hessian(stencil)(X)
    with pytest.raises(ArgumentError, match="mode"):
        fad.sparse.jacobian(stencil, mode="sideways")
    with pytest.raises(ArgumentError, match="format"):
        fad.sparse.jacobian(stencil, format="dia")


def test_jit_compiles_it():
    g = fad.jit(fad.sparse.jacobian(stencil), compile="now")
    np.testing.assert_allclose(g(X).toarray(), fad.jacobian(stencil)(X), rtol=1e-12, atol=1e-12)
    assert g.plan((X,), {}).staged_entries.compilations == 1


def test_float32_stays():
    assert fad.sparse.jacobian(stencil)(X.astype(np.float32)).dtype == np.float32
