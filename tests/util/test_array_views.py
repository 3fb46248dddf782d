"""How views lie in their owners: the steps that are found lead to the same elements."""
import numpy as np
import pytest

from fad.util.array_views import along, lie_alike, memory_of, owner_of, steps_to

A = np.arange(24.0)
M, Q = A.reshape(4, 6), A.reshape(2, 3, 4)
F = np.asfortranarray(np.arange(12.0).reshape(3, 4))
C = np.arange(6.0) * (1 + 2j)
P = np.ascontiguousarray(Q.transpose(1, 0, 2)).transpose(1, 0, 2)           # its axes lie in an order of their own
FOUND = [
    A, A[3:], A[:5], A[::3], A[1::3], A[::-1], A[::-2], A[4:5], A.reshape(3, 8), M, M[1], M[:, 2], M[1:, 1:3], M[::2],
    M[:, ::-1], M.T, M.T[1:3], M[2:, 4:], M[None, 1], M[:, None], M[1, 2, ...], M[::-1, ::2],
    np.einsum("ii->i", M[:, :4]), np.diagonal(M), M.ravel(), Q, Q[1], Q[:, 1], Q[:, :, 1], Q[0, 1:, ::2],
    Q.transpose(2, 0, 1), Q.swapaxes(0, 1)[1:], Q[:, None, 2:], F, F[0], F[:, 1], F.T, F[1:, 1:], F.T.reshape(-1),
    F.ravel("K")[2:], C, C.real, C.imag, C[2:].imag, C[::-1].real, C[1:3], P, P[1], P[:, 1:], np.arange(6)[2:],
    np.array(3.0).reshape(1), C.reshape(2, 3).imag, C.reshape(2, 3).T.real[1:], C.reshape(2, 3)[:, 1].imag,
]
NOT_FOUND = [
    A.view(np.int64), A[:0], np.broadcast_to(A[:3], (4, 3)), C.view(float),
]


@pytest.mark.parametrize("k", range(len(FOUND)))
def test_steps_lead_to_the_view(k):
    x = FOUND[k]
    owner = owner_of(x)
    assert owner.base is None
    assert lie_alike(along(steps_to(x, owner), owner), x)


@pytest.mark.parametrize("k", range(len(NOT_FOUND)))
def test_what_is_no_block_of_elements_has_no_steps(k):
    assert steps_to(NOT_FOUND[k], owner_of(NOT_FOUND[k])) is None


@pytest.mark.parametrize("seed", range(300))
def test_random_views(seed):
    r = np.random.default_rng(seed)
    owner = np.arange(60.0)
    x = owner.reshape([(60,), (6, 10), (3, 4, 5), (5, 4, 3)][r.integers(4)])
    for _ in range(r.integers(1, 4)):
        ways = [lambda a: a.T, lambda a: a[::-1], lambda a: a[1:] if len(a) > 1 else a, lambda a: a[..., ::2],
                lambda a: a[None], lambda a: a[..., :2], lambda a: a[0] if a.ndim > 1 else a]
        x = ways[r.integers(len(ways))](x)
    steps = steps_to(x, owner)
    assert steps is None or lie_alike(along(steps, owner), x)
    assert steps is not None or x.ndim > 2                    # blocks of three axes may begin in an incomplete row


def test_memory_of_buffers():
    data = bytearray(8)
    assert np.shares_memory(memory_of(data), np.frombuffer(data, float))
    released = memoryview(data)
    released.release()
    assert memory_of(released) is None
