"""scipy.spatial.transform.Rotation in captured code: SciPy's values, and derivatives to second order."""
import numpy as np
import pytest
from scipy.spatial.transform import Rotation, Slerp

import fad

from ..turns import in_turn

V = np.array([0.3, -0.7, 0.5])
ROWS = np.array([[0.3, -0.7, 0.5], [2.0, 1.0, -1.5], [1e-5, 2e-5, 0.0]])
ONE = Rotation.from_rotvec([0.4, 0.1, -0.3])


def around(v):
    """A rotation matrix, and what is near it."""
    return Rotation.from_rotvec(v).as_matrix()


CASES = {
    "from_rotvec": lambda v: Rotation.from_rotvec(v).as_quat(),
    "degrees": lambda v: Rotation.from_rotvec(50 * v, degrees=True).as_rotvec(degrees=True),
    "from_quat": lambda v: Rotation.from_quat(np.append(v, 0.4)).as_matrix(),
    "scalar_first": lambda v: Rotation.from_quat(np.append(v, 0.4),
                                                 scalar_first=True).as_quat(canonical=True, scalar_first=True),
    "from_matrix": lambda v: Rotation.from_matrix(around(v)).as_rotvec(),
    "from_matrix, near": lambda v: Rotation.from_matrix(around(V) + 0.02 * np.outer(v, v)).as_rotvec(),
    "from_matrix, half a turn": lambda v: Rotation.from_matrix(
        around(v * 3.0 / np.linalg.norm(V))).as_quat(canonical=True),
    "magnitude": lambda v: Rotation.from_rotvec(v).magnitude(),
    "apply": lambda v: Rotation.from_rotvec(v).apply([1.0, 2.0, 3.0]),
    "apply to rows, inverse": lambda v: Rotation.from_rotvec(v).apply(ROWS, inverse=True),
    "known, apply": lambda v: ONE.apply(v) + ONE.apply(v, inverse=True),
    "product": lambda v: (Rotation.from_rotvec(v) * Rotation.from_euler("x", v[0]).inv()).as_quat(),
    "product with a known one": lambda v: (ONE * Rotation.from_rotvec(v) * ONE).as_matrix(),
    "rows": lambda v: Rotation.from_rotvec(ROWS * v).apply(v) * len(Rotation.from_rotvec(ROWS * v)),
    "rows, each its own": lambda v: (Rotation.from_rotvec(ROWS * v) * Rotation.from_rotvec(v)).apply(ROWS)[1:],
    "one of the rows": lambda v: Rotation.from_rotvec(ROWS * v)[1].as_quat(),
    "from_euler, one axis": lambda v: Rotation.from_euler("z", v[0]).as_matrix(),
    "from_euler, many of one axis": lambda v: Rotation.from_euler("y", v[:, None]).as_quat(),
    "from_euler, two axes": lambda v: Rotation.from_euler("zx", v[:2] * 40, degrees=True).as_quat(),
    "mrp": lambda v: (Rotation.from_rotvec(4 * ROWS * v) * Rotation.from_mrp(v)).as_mrp(),
    "power": lambda v: (Rotation.from_rotvec(5 * v) ** v[0] * Rotation.from_quat(-np.append(v, 0.3)) ** 1).as_quat(),
    "mean": lambda v: Rotation.from_rotvec(ROWS * v).mean(1 + v).as_matrix(),
    "mean of two": lambda v: Rotation.from_rotvec(ROWS[:2] * v).mean().as_matrix(),
    "approx_equal": lambda v: v * Rotation.from_rotvec(v).approx_equal(Rotation.from_rotvec(v * 1.01), 1, degrees=True),
    "slerp": lambda v: Slerp(np.cumsum(1 + v), Rotation.from_rotvec(ROWS * v))(1.9 + v / 10).as_matrix(),
    "slerp, first time": lambda v: Slerp([0, 1, 3], Rotation.from_rotvec(ROWS * v))(0).as_rotvec(),
    "isinstance": lambda v: v * 2 if isinstance(Rotation.from_rotvec(v), Rotation) else v,
    **{f"euler {seq}": lambda v, seq=seq: Rotation.from_euler(seq, v).as_matrix() for seq in ("xyz", "ZXZ")},
    **{f"as_euler {seq}": lambda v, seq=seq: Rotation.from_rotvec(v).as_euler(seq)
                                             for seq in ("xyz", "ZYX", "zxz", "YZY", "yxz")},
}


@pytest.mark.parametrize("name", in_turn(CASES))
def test_values_and_derivatives(name):
    f = CASES[name]
    found = fad.jacrev(f, fallback=False)(V)
    np.testing.assert_allclose(fad.jit(f, fallback=False)(V), f(V), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(found,
                               np.stack([(f(V + 1e-6 * e) - f(V - 1e-6 * e)) / 2e-6 for e in np.eye(3)], axis=-1),
                               atol=2e-8 * (1 + np.abs(f(V)).max()))
    np.testing.assert_allclose(fad.jacfwd(f, fallback=False)(V), found, atol=1e-11)


def test_no_rotation_has_derivatives():
    """R(v) x = x + v cross x + v cross (v cross x) / 2 + ..."""
    x = np.array([1.0, 2.0, 3.0])
    def turned(v):
        return Rotation.from_rotvec(v).apply(x)[0] + Rotation.from_rotvec(v).as_rotvec()[0]
    zero = np.zeros(3)
    np.testing.assert_allclose(fad.grad(turned)(zero), [1.0, 3.0, -2.0], atol=1e-15)
    np.testing.assert_allclose(fad.hessian(turned)(zero), [[0, 1, 1.5], [1, -1, 0], [1.5, 0, -1]], atol=1e-14)


def test_second_derivatives():
    def loss(v):
        return np.sum(Rotation.from_matrix(around(v)).apply(ROWS) ** 3) + Rotation.from_rotvec(v).as_euler("xyz")[1]
    gradient = fad.grad(loss)
    np.testing.assert_allclose(fad.hessian(loss)(V),
                               [(gradient(V + 1e-5 * e) - gradient(V - 1e-5 * e)) / 2e-5 for e in np.eye(3)], atol=1e-7)


def test_many_at_once():
    np.testing.assert_allclose(fad.vmap(CASES["product"])(ROWS), [CASES["product"](v) for v in ROWS], atol=1e-15)


@pytest.mark.parametrize("f, error, text", [
    (lambda v: Rotation.from_rotvec(v[:2]).as_quat()[0], ValueError, "shape"),
    (lambda v: Rotation.from_euler("xy", v).as_quat()[0], ValueError, "sequence axes"),
    (lambda v: Rotation.from_euler("xx", v[:2]).as_quat()[0], ValueError, "consecutive"),
    (lambda v: Rotation.from_matrix(np.outer(v, v)).as_quat()[0], ValueError, "polar"),
    (lambda v: Rotation.from_euler("z", 0 * v[0]).as_euler("zxz")[0], ValueError, "Gimbal"),
    (lambda v: (Rotation.from_rotvec(v) * v).as_quat()[0], fad.FadError, "apply")])
def test_errors(f, error, text):
    with pytest.raises(error, match=text):
        fad.grad(f, fallback=False)(V)
