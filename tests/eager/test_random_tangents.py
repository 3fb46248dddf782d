"""Random programs of tensors with tangents: views and changes in place. Reverse mode of a directional derivative gives
what reverse mode of the gradient gives, and the directional derivative is that of the gradient."""
import random
import warnings

import numpy as np
import pytest

import fad

from .test_random_programs import ALONG, CHANGES, FUNCTIONS, VIEWS

fw = fad.autograd.forward_ad
PROGRAMS, AT_ONCE = 400, 40
SMOOTH = [name for name in FUNCTIONS if name not in ("detach", "contiguous")]
IN_PLACE = {name: change for name, change in CHANGES.items() if name not in ("detached", "transposed")}
LAZY = {"conj": lambda x: x.conj(), "real": lambda x: x.real, "imag": lambda x: x.imag, "adjoint": lambda x: x.mH,
        "pairs": lambda x: fad.view_as_real(x), "conjugate's imag": lambda x: x.conj().imag}


def drawn(kind, seed, low, high):
    rng = np.random.default_rng(seed)
    x = rng.uniform(low, high, (2, 3))
    return fad.tensor(x + 1j * rng.uniform(-0.9, 0.9, (2, 3)) if kind == "complex" else x)


def step(rng, pool):
    x = rng.choice(pool[1:])
    y = rng.choice([p for p in pool if p.shape == x.shape])
    kind = rng.choices(["function", "along", "view", "change", "two"], [2, 1, 4, 5, 2])[0]
    if kind == "function":
        return getattr(x, rng.choice(SMOOTH))()
    if kind == "along":
        return getattr(x, rng.choice(ALONG))(0)
    if kind == "view":
        lazy = x.is_complex() and rng.random() < 0.3
        return rng.choice(list((LAZY if lazy else VIEWS).values()))(x)
    if kind == "change":
        return rng.choice(list(IN_PLACE.values()))(x, y)
    return rng.choice([lambda: x + y, lambda: x * y, lambda: fad.lerp(x, y, 0.3), lambda: fad.stack([x, y])])()


def program(seed, x):
    """A number that hangs on all that a program has made of x. A step that is refused leaves nothing behind."""
    rng = random.Random(seed)
    pool = [x, x * 1.0, x[0] * 0.5]
    for _ in range(rng.randint(3, 9)):
        try:
            y = step(rng, pool)
        except (RuntimeError, IndexError, TypeError, ValueError):
            continue
        if not any(y is p for p in pool):
            pool.append(y)
    return sum((told(p) for p in pool[1:]), fad.zeros(()))


def told(p):
    return ((p * p.conj()).real.sin() + (p * p * (1 + 2j)).real).sum() if p.is_complex() else (p * p).sin().sum()


def by_gradient(seed, x, direction):
    """The slope along the direction, and its gradient."""
    g, = fad.autograd.grad(program(seed, x), x, create_graph=True)
    slope = (g.conj() * direction).real.sum()
    return slope, fad.autograd.grad(slope, x, allow_unused=True)[0] if slope.requires_grad else None


def by_tangent(seed, x, direction):
    with fw.dual_level():
        slope = fw.unpack_dual(program(seed, fw.make_dual(x, direction))).tangent
    return slope, fad.autograd.grad(slope, x, allow_unused=True)[0] if slope.requires_grad else None


@pytest.mark.parametrize("kind", ["real", "complex"])
@pytest.mark.parametrize("first", range(0, PROGRAMS, AT_ONCE))
def test_random_programs_with_tangents(first, kind):
    point, direction = drawn(kind, 5, 0.3, 1.6), drawn(kind, 6, -1.0, 1.0)
    wrong, refused = [], 0
    for seed in range(first, first + AT_ONCE):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = []
            for way in (by_gradient, by_tangent):
                try:
                    found.append(way(seed, point.clone().requires_grad_(), direction))
                except RuntimeError:                          # a saved value was changed
                    pass
        if len(found) < 2:
            refused += 1
            continue
        (slope, h), (tangent, k) = [(slope.item(), np.zeros(1) if h is None else h.numpy()) for slope, h in found]
        if not np.isclose(tangent, slope, rtol=1e-8, atol=1e-8, equal_nan=True):
            wrong.append(f"{seed}: tangent {tangent}, by the gradient {slope}")
        if not np.allclose(h, k, rtol=1e-7, atol=1e-7, equal_nan=True):
            wrong.append(f"{seed}: second derivative {k.tolist()}, by the gradient {h.tolist()}")
    assert not wrong, "\n".join(wrong)
    assert refused < AT_ONCE * 0.7
