"""cond, switch, while_loop, fori_loop, scan: in all modes, to second order, under vmap, interpreted and compiled."""
import numpy as np
import pytest

import fad

close = np.testing.assert_allclose
x = np.array([0.3, 0.7, 1.1])


def by_cond(x):
    return fad.cond(np.sum(x) > 2.0, lambda x: np.sum(x ** 2), lambda x: np.sum(np.sin(x)), x)


def by_switch(x):
    return fad.switch(np.argmax(x), [lambda x: x[0], lambda x: x[1] ** 2, lambda x: np.sum(x ** 3)], x)


def by_while(x):
    return fad.while_loop(lambda c: np.sum(c[0]) < 20.0, lambda c: (c[0] * 1.5 + x, c[1] + 1), (x, 0))[0].sum()


def by_fori(x):
    return np.sum(fad.fori_loop(0, 5, lambda i, c: np.sin(c) + i * x, x))


def by_scan(x):
    carry, ys = fad.scan(lambda c, v: (c * np.cos(v) + v, c * v), 0.5, x)
    return carry + np.sum(ys ** 2)


def by_reverse_scan(x):
    carry, ys = fad.scan(lambda c, v: ({"c": c["c"] * v + 1.0}, v * c["c"]), {"c": 0.5}, x, reverse=True)
    return carry["c"] + np.sum(ys * np.arange(3.0))


ALL = [by_cond, by_switch, by_while, by_fori, by_scan, by_reverse_scan]


def differences(f, x, h=1e-6):
    return np.array([(f(x + h * e) - f(x - h * e)) / (2 * h) for e in np.eye(x.size)])


@pytest.mark.parametrize("f", ALL)
def test_all_modes(f):
    want = differences(f, x)
    close(fad.jit(f)(x), f(x), rtol=1e-12)
    for policy in ("never", "now"):
        close(fad.jit(fad.grad(f), compile=policy)(x), want, rtol=1e-6, atol=1e-8)
    close(fad.jvp(f, (x,), (np.ones(3),))[1], want.sum(), rtol=1e-6)
    close(fad.jacfwd(f)(x), want, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("f", ALL)
def test_second_order_and_vmap(f):
    H = fad.hessian(f)(x)
    close(H, differences(fad.grad(f), x), rtol=1e-5, atol=1e-7)
    X = np.stack([x, x * 1.3, x[::-1]])
    close(fad.vmap(fad.grad(f))(X), [fad.grad(f)(r) for r in X], rtol=1e-10)


def test_structures_must_agree():
    with pytest.raises(TypeError, match="structure"):
        fad.jit(lambda x: fad.cond(x > 0, lambda: (x, x), lambda: x))(1.0)
    with pytest.raises(TypeError, match="structure"):
        fad.jit(lambda x: fad.fori_loop(0, 2, lambda i, c: (c, c), x))(1.0)


def test_a_loop_does_not_unroll():
    f = lambda x, n: fad.fori_loop(0, n, lambda i, c: c * 0.5 + x, x)
    g = fad.grad(f)
    for n in (3, 5, 200):
        close(g(1.0, n), 2 - 0.5 ** n, rtol=1e-12)
    assert g.traces <= 2


def test_an_empty_scan():
    carry, ys = fad.jit(lambda x: fad.scan(lambda c, v: (c + v, v), 1.0, x))(np.zeros(0))
    assert carry == 1.0 and ys.shape == (0,)


def assert_result_is_no_argument(f):
    """Of what f returns of an array, traced or not, an element may be set, and the array stays as it is."""
    def writes(x):
        y = f(x)
        y[0] = 7.0
        return x * 1.0, y * 1.0
    for call in (writes, fad.jit(writes)):
        x = np.array([1.0, 2.0])
        for result, expected in zip(call(x), ([1.0, 2.0], [7.0, 2.0])):
            assert np.array_equal(result, expected)
        assert np.array_equal(x, [1.0, 2.0])


def takes_operand(x):
    return fad.cond(x[0] > 0, lambda x: x, lambda x: -x, x)


def swaps_carry(x):
    first, second = fad.fori_loop(0, 1, lambda i, c: (c[1], c[0]), (x, x))
    first[1] = 9.0
    return second


@pytest.mark.parametrize("f", [
    takes_operand,
    lambda x: fad.switch(0, [lambda x: x], x),
    lambda x: fad.fori_loop(0, 0, lambda i, c: c, x),
    lambda x: fad.while_loop(lambda c: c[0] < 0.0, lambda c: c, x),
    lambda x: fad.scan(lambda c, v: (c, v), x, x)[0],
    swaps_carry])
def test_results_are_no_arguments(f):
    assert_result_is_no_argument(f)


def writes_to_carry(i, c):
    c[i] += 1.0
    return c


@pytest.mark.parametrize("f", [
    lambda x: fad.fori_loop(0, 2, writes_to_carry, x),
    lambda x: fad.while_loop(lambda c: c[0] < 3.0, lambda c: writes_to_carry(0, c), x),
    lambda x: fad.scan(lambda c, v: (writes_to_carry(0, c),) * 2, x, x.copy())[1]])
def test_a_body_that_writes_to_its_carry_leaves_the_first_one(f):
    x = np.array([1.0, 2.0])
    plain = f(x)
    assert np.array_equal(x, [1.0, 2.0])
    assert np.array_equal(fad.jit(f)(x), plain) and np.array_equal(x, [1.0, 2.0])
    close(fad.jacrev(f)(x), fad.jacfwd(f)(x), rtol=1e-12)


def same(x):
    return x


@pytest.mark.parametrize("f", [
    fad.jit(same), fad.vmap(same), fad.stop_gradient,
    lambda x: fad.vjp(same, x)[0],
    lambda x: fad.vjp(same, x)[1](x)[0],
    lambda x: fad.jvp(same, (x,), (x,))[0],
    lambda x: fad.jvp(same, (x,), (x,))[1],
    lambda x: fad.linearize(same, x)[0],
    lambda x: fad.grad(lambda z: np.sum(z * x))(x),
    lambda x: fad.value_and_grad(lambda x: (np.sum(x), x), has_aux=True)(x)[0][1]])
def test_results_of_transforms_are_no_arguments(f):
    assert_result_is_no_argument(f)


def test_rows_and_numbers_in_arrays_are_copies():
    def add(i, c):
        c += 1.0
        return c
    x, z = np.array([1.0, 2.0]), np.array(0.0)
    assert fad.fori_loop(0, 3, add, z) == 3.0 and z == 0.0
    assert fad.scan(lambda c, v: (c + v.sum(), add(0, v)), 0.0, x.reshape(2, 1))[0] == 3.0
    assert np.array_equal(x, [1.0, 2.0])
    assert fad.cond(True, same, same, np.ones((2, 3), order="F")).flags.f_contiguous


@pytest.mark.parametrize(("f", "cotangent", "expected"), [
    (lambda x: (True, x.sum()), (True, 2.0), [2.0, 2.0]),
    (lambda x: {"done": True, "value": x.sum()}, {"done": True, "value": 2.0}, [2.0, 2.0]),
    (lambda x: (x[0] > 0, "text", x.sum(), 3, 2 * x), (True, "text", 2.0, 3, np.ones(2)), [4.0, 4.0])])
def test_cotangents_of_results_with_truths(f, cotangent, expected):
    x = np.array([1.0, 2.0])
    assert np.array_equal(fad.vjp(f, x)[1](cotangent)[0], expected)
    assert np.array_equal(fad.jit(lambda x: fad.vjp(f, x)[1](cotangent)[0])(x), expected)
