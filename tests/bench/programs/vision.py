"""Jacobians of computer vision: a skinned hand, and the blocks of bundle adjustment."""
import numpy as np

import fad

from .record import Program
from .words import namespace, retold


# -- hand tracking ---------------------------------------------------------------------------------
def turns(bend, spread):
    """For each bone, the matrix that bends it about x and then turns it about z."""
    c, s, C, S = np.cos(bend), np.sin(bend), np.cos(spread), np.sin(spread)
    zero, one = np.zeros_like(c), np.ones_like(c)
    return np.stack((np.stack((C, -S * c, S * s, zero), 1), np.stack((S, C * c, -C * s, zero), 1),
                     np.stack((zero, s, c, zero), 1),
                     np.stack((zero, zero, zero, one), 1)), 1)


def rotation(r):
    """The rotation about a vector, by its length."""
    angle = np.sqrt(r @ r)
    a = r / angle
    K = np.stack((np.stack((0.0 * angle, -a[2], a[1])), np.stack((a[2], 0.0 * angle, -a[0])),
                  np.stack((-a[1], a[0], 0.0 * angle))))
    return np.eye(3) + np.sin(angle) * K + (1.0 - np.cos(angle)) * (K @ K)


def skinned(theta, bones, points, asked, inverse, base, weights):
    """What is between the points and the vertices that the placed bones move."""
    blended = np.einsum("vb,bij->vij", weights, (bones @ inverse)[:, :3])
    moved = np.einsum("vij,vj->vi", blended, base)
    moved = moved @ rotation(theta[:3]).T + theta[3:6]
    return points - moved[asked]


def hand(theta, points, asked, parents, rest, inverse, base, weights, bent, spread):
    x, z = np.zeros(len(parents)), np.zeros(len(parents))
    x[bent[0]] = theta[bent[1]]
    z[spread[0]] = theta[spread[1]]
    local = rest @ turns(x, z)
    placed = []
    for k, parent in enumerate(parents):
        placed.append(local[k] if parent < 0 else placed[parent] @ local[k])
    return skinned(theta, np.stack(placed), points, asked, inverse, base, weights)


def with_angles(angles, turns, skinned, np):
    """The hand for libraries without assignment: `angles` puts the parameters at their bones."""
    def f(theta, points, asked, parents, rest, inverse, base, weights, bent, spread):
        local = rest @ turns(angles(theta, bent, len(parents)), angles(theta, spread, len(parents)))
        placed = []
        for k, parent in enumerate(parents):
            placed.append(local[k] if parent < 0 else placed[parent] @ local[k])
        return skinned(theta, np.stack(placed), points, asked, inverse, base, weights)
    return f


def hand_jax(jax):
    np = jax.numpy
    return with_angles(lambda theta, which, n: np.zeros(n).at[which[0]].set(theta[which[1]]), retold(turns, np),
                       retold(skinned, np), np)


def hand_torch(torch):
    return with_angles(lambda theta, which, n: torch.zeros(n).index_put((which[0],), theta[which[1]]),
                       retold(turns, torch), retold(skinned, torch), torch)


def rigid(rng):
    q, _ = np.linalg.qr(rng.standard_normal((3, 3)))
    return np.block([[q, rng.standard_normal((3, 1))], [np.zeros((1, 3)), np.ones((1, 1))]])


def hand_data(rng, vertices, points):
    """Five fingers of four bones, of which three bend and one spreads, between a wrist and a palm."""
    bones = 22
    parents = (-1, *(0 if k % 4 == 1 else k - 1 for k in range(1, 21)), 0)
    bending, spreading, parameter = [], [], 6
    for k in range(1, 21):
        if k % 4 != 1:
            bending.append((k, parameter))
            parameter += 1
        if k % 4 == 2:
            spreading.append((k, parameter))
            parameter += 1
    weights = np.zeros((vertices, bones))
    for row in weights:
        row[rng.choice(bones, 3, replace=False)] = rng.dirichlet(np.ones(3))
    rest, inverse = (np.stack([rigid(rng) for _ in range(bones)]) for _ in range(2))
    base = np.concatenate((rng.standard_normal((vertices, 3)), np.ones((vertices, 1))), axis=1)
    return (0.5 * rng.standard_normal(parameter), rng.standard_normal((points, 3)), rng.integers(0, vertices, points),
            parents, rest, inverse, base, weights, tuple(np.array(bending).T), tuple(np.array(spreading).T))


# -- bundle adjustment -----------------------------------------------------------------------------
def residual(z, seen):
    """What a camera (turn, centre, focal length, principal point, distortion) sees of a weighted point, beside what was
    seen."""
    p, angle = z[11:14] - z[3:6], np.sqrt(z[:3] @ z[:3])
    axis = z[:3] / angle
    p = np.cos(angle) * p + np.sin(angle) * np.cross(axis, p) + (1.0 - np.cos(angle)) * (axis @ p) * axis
    u = p[:2] / p[2]
    r2 = u @ u
    return z[14] * (z[6] * (1.0 + z[9] * r2 + z[10] * r2 * r2) * u + z[7:9] - seen)


block = fad.jacobian(residual)


def blocks(cameras, points, weights, observed, seen):
    J = np.empty((len(weights), 2, 15))
    for i in range(len(weights)):
        J[i] = block(np.concatenate((cameras[observed[i, 0]], points[observed[i, 1]], weights[i:i + 1])), seen[i])
    return J


def blocks_jax(jax):
    np = jax.numpy
    each = jax.vmap(jax.jacrev(retold(residual, namespace(jax))))
    return lambda cameras, points, weights, observed, seen: each(
        np.concatenate((cameras[observed[:, 0]], points[observed[:, 1]], weights[:, None]), axis=1), seen)


def blocks_torch(torch):
    each = torch.func.vmap(torch.func.jacrev(retold(residual, namespace(torch))))
    return lambda cameras, points, weights, observed, seen: each(
        torch.cat((cameras[observed[:, 0]], points[observed[:, 1]], weights[:, None]), dim=1), seen)


def adjustment_data(rng, cameras, points, n):
    camera = np.array([0.01, -0.02, 0.03, 0.1, 0.2, -5.0, 400.0, 1.0, 2.0, -0.1, 0.05])
    at = np.arange(n)
    return (camera * rng.uniform(0.8, 1.2, (cameras, 11)), rng.standard_normal((points, 3)), rng.uniform(0.5, 1.5, n),
            np.stack((at % cameras, at % points), axis=1), 100 * rng.standard_normal((n, 2)))


def rows_data(rng, cameras, points, n):
    c, p, w, observed, seen = adjustment_data(rng, cameras, points, n)
    return np.concatenate((c[observed[:, 0]], p[observed[:, 1]], w[:, None]), axis=1), seen


ROW_BY_ROW = {"autograd": "its Jacobian takes a reverse sweep an output, and it has no vmap"}
PROGRAMS = [
    Program("hand tracking, 544 vertices, Jacobian 2400 x 26", hand, hand_data, (544, 800), (9, 4), what="jacobian",
            texts={"JAX": hand_jax, "PyTorch": hand_torch}, left_out=ROW_BY_ROW),
    Program("hand tracking, 10,000 vertices, Jacobian 2400 x 26", hand, hand_data, (10_000, 800), (12, 4),
            what="jacobian",
            texts={"JAX": hand_jax, "PyTorch": hand_torch}, left_out=ROW_BY_ROW),
    Program("bundle adjustment by vmap, 10,000 blocks", residual, rows_data, (49, 2000, 10_000), (2, 3, 4), what="rows",
            left_out=ROW_BY_ROW),
    Program("bundle adjustment by loops, 10,000 blocks", blocks, adjustment_data, (49, 2000, 10_000), (2, 3, 4),
            what="call",
            texts={"JAX": blocks_jax, "PyTorch": blocks_torch}, left_out=ROW_BY_ROW),
]
