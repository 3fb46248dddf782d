"""A state machine plays a user of tensors, in place and through views, against a naive model that recomputes everything
on arrays.

The model knows no graph: it replays the program's steps on plain arrays and takes differences of the outcome.
"""
import numpy as np
import pytest

import fad


def programs(rng, steps: int) -> list:
    """A random program on a base of shape (4, 3) and two leaves a, b of shape (4, 3)."""
    kinds = ["mul_leaf", "add_leaf", "exp", "sin", "view_mul", "view_set", "row_add", "transpose_add", "scale", "mask",
             "index_set", "diagonal"]
    return [(rng.choice(kinds), int(rng.integers(0, 4)), int(rng.integers(0, 3)), float(rng.uniform(0.5, 1.5)))
            for _ in range(steps)]


def play(program: list, a, b, zeros, sin, exp):
    """The program on tensors or on arrays: both know these operators and subscripts."""
    x = zeros + a
    for kind, i, j, c in program:
        if kind == "mul_leaf":
            x *= b
        elif kind == "add_leaf":
            x += a * c
        elif kind == "exp":
            x[:] = exp(x * 0.1)
        elif kind == "sin":
            x[...] = sin(x * 1.0)
        elif kind == "view_mul":
            v = x[i:]
            v *= c
        elif kind == "view_set":
            v = x[:, j]
            v[:] = b[:, j] * c
        elif kind == "row_add":
            row = x[i]
            row += a[i] * b[i]
        elif kind == "transpose_add":
            v = x.T
            v[j] += b[:, j]
        elif kind == "scale":
            x = x * c
        elif kind == "mask":
            x[np.arange(12).reshape(4, 3) % 4 == i] = c
        elif kind == "index_set":
            x[np.array([i, (i + 1) % 4])] = a[np.array([0, 1])] * c
        elif kind == "diagonal":
            v = x[1:, :][j:j + 1]
            v += b[:1] * c
    return (x * x).sum()


@pytest.mark.parametrize("seed", range(60))
def test_user_against_model(seed):
    rng = np.random.default_rng(seed)
    program = programs(rng, 6)
    a, b, zeros = rng.standard_normal((4, 3)), rng.standard_normal((4, 3)), np.zeros((4, 3))
    ta, tb = fad.tensor(a, requires_grad=True), fad.tensor(b, requires_grad=True)
    value = play(program, ta, tb, fad.tensor(zeros), fad.sin, fad.exp)
    np.testing.assert_allclose(value.item(), play(program, a, b, zeros, np.sin, np.exp))
    ga, gb = fad.autograd.grad(value, (ta, tb), allow_unused=True, materialize_grads=True)
    da, db = rng.standard_normal((4, 3)), rng.standard_normal((4, 3))
    h = 1e-6
    up = play(program, a + h * da, b + h * db, zeros, np.sin, np.exp)
    down = play(program, a - h * da, b - h * db, zeros, np.sin, np.exp)
    np.testing.assert_allclose(np.sum(ga.numpy() * da) + np.sum(gb.numpy() * db), (up - down) / (2 * h), rtol=1e-5,
                               atol=1e-6)


@pytest.mark.parametrize("seed", range(20))
def test_forward_mode_agrees_with_reverse(seed):
    rng = np.random.default_rng(seed)
    program = programs(rng, 6)
    a, b, zeros = rng.standard_normal((4, 3)), rng.standard_normal((4, 3)), np.zeros((4, 3))
    ta, tb = fad.tensor(a, requires_grad=True), fad.tensor(b, requires_grad=True)
    ga, gb = fad.autograd.grad(play(program, ta, tb, fad.tensor(zeros), fad.sin, fad.exp), (ta, tb),
                               materialize_grads=True)
    da, db = rng.standard_normal((4, 3)), rng.standard_normal((4, 3))
    forward = fad.autograd.forward_ad
    with forward.dual_level():
        duals = [forward.make_dual(fad.tensor(x), fad.tensor(d)) for x, d in ((a, da), (b, db))]
        tangent = forward.unpack_dual(play(program, *duals, fad.tensor(zeros), fad.sin, fad.exp)).tangent
        value = 0.0 if tangent is None else tangent.item()
    np.testing.assert_allclose(value, np.sum(ga.numpy() * da) + np.sum(gb.numpy() * db), rtol=1e-9, atol=1e-9)
