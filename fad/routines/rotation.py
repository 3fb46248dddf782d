"""scipy.spatial.transform.Rotation of traced numbers: unit quaternions (x, y, z, w), with SciPy's formulas.

Near no rotation, where a formula has a removable singularity, a series takes its place: derivatives are right there,
too. from_matrix projects onto the rotations, as SciPy does, by Newton's iteration for the polar factor (N. J. Higham,
Functions of Matrices, section 8.3), which has the projection's derivatives. as_euler: E. Bernardes, S. Viollet,
"Quaternion to Euler angles conversion", PLoS ONE 17 (2022).
"""
from typing import Any

import numpy as np

from ..util.array import AnyArray, ArrayOrNumber
from ..util.errors import UnsupportedFunctionError
from ..util.library_object import LibraryObject

SMALL = 1e-3                                                 # half an angle below which series are taken
AXES = {"x": 0, "y": 1, "z": 2}


class Rotation(LibraryObject):
    """Rotations: one, or a row of them."""

    of = "scipy.spatial.transform.Rotation"

    def __init__(self, quat: Any):
        self._quat = quat

    @property
    def single(self) -> bool:
        return self._quat.ndim == 1

    @property
    def shape(self) -> tuple:
        return self._quat.shape[:-1]

    def __len__(self) -> int:
        if self.single:
            raise TypeError("Single rotation has no len().")
        return self._quat.shape[0]

    def __getitem__(self, index: Any) -> "Rotation":
        if self.single:
            raise TypeError("Single rotation is not subscriptable.")
        return Rotation(self._quat[index])

    def __mul__(self, other: object) -> "Rotation":
        return Rotation(_product(self._quat, as_rotation(other)._quat))

    def __rmul__(self, other: object) -> "Rotation":
        return as_rotation(other) * self

    def inv(self) -> "Rotation":
        return Rotation(self._quat * np.array([-1.0, -1.0, -1.0, 1.0]))

    def __pow__(self, n: ArrayOrNumber) -> "Rotation":
        """The rotation by n times the angle. R**1 and R**-1 keep the sign of R's quaternion."""
        turned = from_rotvec(n * self.as_rotvec())._quat
        is_other = np.sum(_canonical(self._quat) * self._quat, axis=-1) < 0
        return Rotation(np.where((np.abs(n) == 1) & is_other, -1.0, 1.0)[..., None] * turned)

    def mean(self, weights: "AnyArray | None" = None, axis: object = None) -> "Rotation":
        """The largest eigenvector of the sum of q q' (F. L. Markley et al., Averaging Quaternions, Journal of
        Guidance, Control, and Dynamics 30 (2007) 1193)."""
        if axis is not None or self._quat.ndim > 2:
            raise UnsupportedFunctionError("Rotation.mean along some axes is not supported on traced numbers",
                                           do="leave axis out, for a row of rotations")
        rows = np.reshape(self._quat, (-1, 4))
        if weights is not None and np.any(np.asarray(weights) < 0):
            raise ValueError("`weights` must be non-negative.")
        weighted = rows if weights is None else rows * np.reshape(np.asarray(weights), (-1, 1))
        return Rotation(np.linalg.eigh(weighted.T @ rows)[1][:, -1])

    def approx_equal(self, other: object, atol: "float | None" = None, degrees: bool = False) -> AnyArray:
        atol = 1e-8 if atol is None else np.deg2rad(atol) if degrees else atol
        return (as_rotation(other) * self.inv()).magnitude() < atol

    def as_quat(self, canonical: bool = False, *, scalar_first: bool = False) -> Any:
        quat = _canonical(self._quat) if canonical else self._quat
        return np.concatenate((quat[..., 3:], quat[..., :3]), axis=-1) if scalar_first else quat

    def as_matrix(self) -> AnyArray:
        x, y, z, w = _parts(self._quat)
        rows = [[x * x - y * y - z * z + w * w, 2 * (x * y - z * w), 2 * (x * z + y * w)],
                [2 * (x * y + z * w), -x * x + y * y - z * z + w * w, 2 * (y * z - x * w)],
                [2 * (x * z - y * w), 2 * (y * z + x * w), -x * x - y * y + z * z + w * w]]
        return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)

    def as_rotvec(self, degrees: bool = False) -> AnyArray:
        quat = _canonical(self._quat)
        squared = np.sum(quat[..., :3] ** 2, axis=-1)
        is_small = squared < SMALL ** 2
        sine = np.sqrt(np.where(is_small, 1.0, squared))
        series = 2 + squared / 3 + squared ** 2 * (3 / 20) + squared ** 3 * (5 / 56)
        scale = np.where(is_small, series, 2 * np.arctan2(sine, quat[..., 3]) / sine)
        vector = scale[..., None] * quat[..., :3]
        return np.rad2deg(vector) if degrees else vector

    def as_mrp(self) -> AnyArray:
        """Modified Rodrigues parameters: the axis times tan(angle / 4)."""
        sign = np.where(self._quat[..., 3:] < 0, -1.0, 1.0)
        return sign * self._quat[..., :3] / (1.0 + sign * self._quat[..., 3:])

    def magnitude(self) -> AnyArray:
        return 2 * np.arctan2(np.sqrt(np.sum(self._quat[..., :3] ** 2, axis=-1)), np.abs(self._quat[..., 3]))

    def as_euler(self, seq: str, degrees: bool = False, *, suppress_warnings: bool = False) -> AnyArray:
        angles = _euler(self._quat, seq)
        return np.rad2deg(angles) if degrees else angles

    def apply(self, vectors: object, inverse: bool = False) -> AnyArray:
        vectors, matrix = np.asarray(vectors) * 1.0, self.as_matrix()
        if inverse:
            matrix = np.swapaxes(matrix, -1, -2)
        return np.sum(matrix * vectors[..., None, :], axis=-1)


def as_rotation(x: Any) -> "Rotation":
    """A rotation of SciPy's, or one of these, as one of these."""
    if not hasattr(x, "as_quat"):
        raise UnsupportedFunctionError("a rotation with traced numbers is multiplied with rotations only",
                                       do="turn vectors by apply")
    return Rotation(np.asarray(x.as_quat()))


def _parts(quat: Any) -> tuple:
    return quat[..., 0], quat[..., 1], quat[..., 2], quat[..., 3]


def _normalised(quat: AnyArray) -> AnyArray:
    return quat / np.sqrt(np.sum(quat ** 2, axis=-1))[..., None]


def _canonical(quat: ArrayOrNumber) -> AnyArray:
    """That of the two quaternions of a rotation whose last element is positive (or first that is not zero)."""
    x, y, z, w = _parts(quat)
    is_other = (w < 0) | (w == 0) & ((x < 0) | (x == 0) & ((y < 0) | (y == 0) & (z < 0)))
    return np.where(is_other[..., None], -quat, quat)


def _product(p: ArrayOrNumber, q: AnyArray) -> AnyArray:
    px, py, pz, pw = _parts(p)
    qx, qy, qz, qw = _parts(q)
    return np.stack([pw * qx + qw * px + py * qz - pz * qy, pw * qy + qw * py + pz * qx - px * qz,
                     pw * qz + qw * pz + px * qy - py * qx, pw * qw - px * qx - py * qy - pz * qz], axis=-1)


# -- from and to other representations -------------------------------------------------------------


def from_quat(quat: AnyArray, *, scalar_first: bool = False) -> "Rotation":
    quat = np.asarray(quat) * 1.0
    if quat.ndim == 0 or quat.shape[-1] != 4:
        raise ValueError(f"Expected `quat` to have shape (..., 4), got {quat.shape}.")
    return Rotation(_normalised(np.concatenate((quat[..., 1:], quat[..., :1]), axis=-1) if scalar_first else quat))


def from_rotvec(rotvec: AnyArray, degrees: bool = False) -> "Rotation":
    vector = np.asarray(rotvec) * 1.0
    if vector.ndim == 0 or vector.shape[-1] != 3:
        raise ValueError(f"Expected `rot_vec` to have shape (..., 3), got {vector.shape}")
    if degrees:
        vector = np.deg2rad(vector)
    squared = np.sum(vector ** 2, axis=-1) / 4                # of half the angle
    is_small = squared < SMALL ** 2
    half = np.sqrt(np.where(is_small, 1.0, squared))
    sine = np.where(is_small, 1 - squared / 6 + squared ** 2 / 120 - squared ** 3 / 5040, np.sin(half) / half)
    cosine = np.where(is_small, 1 - squared / 2 + squared ** 2 / 24 - squared ** 3 / 720, np.cos(half))
    return Rotation(np.concatenate((0.5 * sine[..., None] * vector, cosine[..., None]), axis=-1))


def from_mrp(mrp: AnyArray) -> "Rotation":
    mrp = np.asarray(mrp) * 1.0
    if mrp.ndim == 0 or mrp.shape[-1] != 3:
        raise ValueError(f"Expected `mrp` to have shape (..., 3), got {mrp.shape}")
    squared = np.sum(mrp * mrp, axis=-1)[..., None]
    return Rotation(np.concatenate((2 * mrp, 1 - squared), axis=-1) / (1 + squared))


def from_euler(seq: str, angles: AnyArray, degrees: bool = False) -> "Rotation":
    is_intrinsic = _is_intrinsic(seq, 1)
    angles = np.asarray(angles) * 1.0
    if degrees:
        angles = np.deg2rad(angles)
    if len(seq) == 1 and angles.ndim == 0:
        angles = angles[None]
    if angles.ndim == 0 or angles.shape[-1] != len(seq):
        raise ValueError(f"Expected last dimension of `angles` to match number of sequence axes specified, got "
                         f"{angles.shape} with {len(seq)} axes.")
    quat = None
    for k, name in enumerate(seq.lower()):
        turn = _about(AXES[name], angles[..., k])
        quat = turn if quat is None else _product(quat, turn) if is_intrinsic else _product(turn, quat)
    return Rotation(quat)


def _is_intrinsic(seq: str, least: int) -> bool:
    if not least <= len(seq) <= 3 or not (set(seq) <= set("xyz") or set(seq) <= set("XYZ")):
        raise ValueError(f"Expected axes from `seq` to be from ['x', 'y', 'z'] or ['X', 'Y', 'Z'], got {seq}")
    if any(a == b for a, b in zip(seq, seq[1:])):
        raise ValueError(f"Expected consecutive axes to be different, got {seq}")
    return seq.isupper()


def _about(axis: int, angle: AnyArray) -> AnyArray:
    half = angle / 2
    none = half * 0.0
    return np.stack([np.sin(half) if k == axis else none for k in range(3)] + [np.cos(half)], axis=-1)


def from_matrix(matrix: AnyArray, *, assume_valid: bool = False) -> "Rotation":
    m = np.asarray(matrix) * 1.0
    if m.ndim < 2 or m.shape[-1] != 3 or m.shape[-2] != 3:
        raise ValueError(f"Expected `matrix` to have shape (..., 3, 3), got {m.shape}")
    for _ in range(0 if assume_valid else 4):
        m = 1.5 * m - 0.5 * m @ (np.swapaxes(m, -1, -2) @ m)
    if not np.all(np.abs(np.swapaxes(m, -1, -2) @ m - np.eye(3)) < 1e-9):
        raise ValueError("a matrix is far from a rotation: pass its polar factor (scipy.linalg.polar)")
    if not np.all(np.linalg.det(m) > 0):
        raise ValueError("Non-positive determinant (left-handed or null coordinate frame) in a rotation matrix")
    trace = m[..., 0, 0] + m[..., 1, 1] + m[..., 2, 2]
    quat = np.stack([m[..., 2, 1] - m[..., 1, 2], m[..., 0, 2] - m[..., 2, 0], m[..., 1, 0] - m[..., 0, 1], 1 + trace],
                    axis=-1)
    largest = trace
    for i in range(3):                                        # by the largest element, which does not vanish
        is_larger = m[..., i, i] > largest
        largest = np.where(is_larger, m[..., i, i], largest)
        quat = np.where(is_larger[..., None], _by_element(m, trace, i), quat)
    return Rotation(_normalised(quat))


def _by_element(m: AnyArray, trace: AnyArray, i: int) -> AnyArray:
    j, k = (i + 1) % 3, (i + 2) % 3
    parts = {i: 1 - trace + 2 * m[..., i, i], j: m[..., j, i] + m[..., i, j], k: m[..., k, i] + m[..., i, k],
             3: m[..., k, j] - m[..., j, k]}
    return np.stack([parts[n] for n in range(4)], axis=-1)


def _euler(quat: AnyArray, seq: str) -> AnyArray:
    """The three angles about the axes of seq."""
    is_intrinsic = _is_intrinsic(seq, 3)
    order = [AXES[name] for name in seq.lower()]
    i, j, k = order[::-1] if is_intrinsic else order
    is_symmetric = i == k
    k = 3 - i - j if is_symmetric else k
    sign = (i - j) * (j - k) * (k - i) // 2
    qi, qj, qk, w = quat[..., i], quat[..., j], quat[..., k] * sign, quat[..., 3]
    a, b, c, d = (w, qi, qj, qk) if is_symmetric else (w - qj, qi + qk, qj + w, qk - qi)
    middle = 2 * np.arctan2(np.hypot(c, d), np.hypot(a, b))
    if np.any((middle < 1e-7) | (middle > np.pi - 1e-7)):
        raise ValueError("Gimbal lock: the first and the third angle are not unique, and have no derivative")
    total, difference = np.arctan2(b, a), np.arctan2(d, c)
    first, third = total - difference, (total + difference) * (1 if is_symmetric else sign)
    middle = middle if is_symmetric else middle - np.pi / 2
    angles = np.stack([third, middle, first] if is_intrinsic else [first, middle, third], axis=-1)
    return angles - 2 * np.pi * np.round(angles / (2 * np.pi))


# -- methods of SciPy's own rotations, of traced arguments -----------------------------------------


def apply(rotation: object, vectors: AnyArray, inverse: bool = False) -> AnyArray:
    return as_rotation(rotation).apply(vectors, inverse)


# -- between rotations -----------------------------------------------------------------------------


class Slerp(LibraryObject):
    """Rotations at times between those of a row: from each to the next one at a constant rate."""

    of = "scipy.spatial.transform.Slerp"

    def __init__(self, times: AnyArray, rotations: object):
        turns, self.times = as_rotation(rotations), np.asarray(times) * 1.0
        if turns.single or len(turns) < 2 or self.times.shape != (len(turns),):
            raise ValueError("`rotations` must be a sequence of at least 2 rotations, each at one of `times`.")
        self.timedelta = np.diff(self.times)
        if np.any(self.timedelta <= 0):
            raise ValueError("Times must be in strictly increasing order.")
        self.rotations = turns[:-1]
        self.rotvecs = (self.rotations.inv() * turns[1:]).as_rotvec()

    def __call__(self, times: AnyArray) -> Rotation:
        times = np.asarray(times) * 1.0
        if np.any((times < self.times[0]) | (times > self.times[-1])):
            raise ValueError("Interpolation times must be within the range of `times`, both inclusive.")
        step = np.maximum(np.searchsorted(self.times, times) - 1, 0)
        share = (times - self.times[step]) / self.timedelta[step]
        return self.rotations[step] * from_rotvec(self.rotvecs[step] * share[..., None])


def slerp(times: AnyArray, rotations: object) -> Slerp:
    return Slerp(times, rotations)
