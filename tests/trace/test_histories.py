"""Steps that are tried until they are accepted, and lists of what they went through: integrators as people write
them."""
import numpy as np
import pytest

import fad

P = np.array([1.3, 0.9])


def flag(p, first, rate=None):
    y, rate = p * 1.0, p[1] if rate is None else rate
    states, t = [first(y)], 0.0
    while t < 1.0:
        accepted, h = False, 0.3
        while not accepted:
            z = y * (1 - h * rate)
            if np.abs(z - y).max() < 0.1:
                accepted = True
            else:
                h = h * 0.5
        t, y = t + h, z
        states.append(y)
    return np.sum(np.array(states) ** 2)


def endless(p, first):
    y, t, h = p * 1.0, 0.0, 0.3
    states = [first(y)]
    while t < 1.0:
        while True:
            z = y * (1 - h * p[1])
            if np.abs(z - y).max() < 0.1:
                break
            h = h * 0.5
        t, y = t + h, z
        states.append(y)
    return np.sum(np.array(states) ** 2) + t


def one_loop(p, first):
    y, t, h = p * 1.0, 0.0, 0.3
    states, times = [first(y)], [t]
    while t < 1.0:
        z = y * (1 - h * p[1])
        if np.abs(z - y).max() < 0.1:
            t, y = t + h, z
            states.append(y)
            times.append(t)
            h = 0.3
        else:
            h = h * 0.5
    return np.sum(np.array(states) ** 2) + np.sum(np.array(times) ** 2)


def numbers(p, first):
    return flag(p[0], lambda y: y, rate=p[1])


def counted(p, first):
    y, h = p * 1.0, 0.3
    states = [first(y)]
    for k in range(9):
        z = y * (1 - h * p[1])
        if np.abs(z - y).max() < 0.1 * k:
            y = z
            states.append(y)
    return np.sum(np.array(states) ** 2) + y[0]


@pytest.mark.parametrize("first", [lambda y: y, lambda y: y.copy(), lambda y: y * 0.5])
@pytest.mark.parametrize("f", [flag, endless, one_loop, numbers, counted])
def test_a_history_is_compiled_and_differentiated(f, first):
    def g(p):
        return f(p, first)
    assert np.isclose(fad.jit(g, fallback=False)(P), g(P), rtol=1e-13)
    slope = [(g(P + 1e-6 * e) - g(P - 1e-6 * e)) / 2e-6 for e in np.eye(2)]
    assert np.allclose(fad.grad(g, fallback=False)(P), slope, rtol=1e-7)
    assert np.allclose([fad.jvp(g, (P,), (e,), fallback=False)[1] for e in np.eye(2)], slope, rtol=1e-7)


def written_to(p):
    y = p * 1.0
    states, t = [y], 0.0
    while t < 1.0:
        states.append(y * 0.5)
        states[0][1] = t + 5.0 * p[0]
        t += 0.3
    return np.sum(np.array(states) ** 2) + y[1]


def written_in_iteration(p):
    y = p * 1.0
    states, t = [y], 0.0
    while t < 1.0:
        if t > 0.5:
            states.append(y * t)
        else:
            states[0][0] += p[1]
        t += 0.3
    return np.sum(np.array(states) ** 2) + y[0]


def popped(p):
    y = p * 1.0
    states, t, last = [y, y * 2], 0.0, y
    while t < 1.0:
        last = states.pop()
        states.append(last * 0.3 + t)
        t += 0.3
        if last[0] > 0.5:
            y = last
    return np.sum(np.array(states) ** 2) + y[1] + last[0]


def bound_anew(p):
    y = p * 1.0
    states, t, z = [y], 0.0, y
    for k in range(4):
        while t < k:
            states.append(z * 0.7)
            t += 0.3
            z = states[0]
        z = z + 0.1
        states[0][1] *= 0.5
    return np.sum(np.array(states) ** 2) + y[1] + z[1]


@pytest.mark.parametrize("f", [written_to, written_in_iteration, popped, bound_anew])
@pytest.mark.filterwarnings("ignore::fad.FallbackWarning")
def test_an_array_that_is_in_a_list_is_the_lists_element_however_long_the_list_gets(f):
    assert np.isclose(fad.jit(f)(P.copy()), f(P.copy()), rtol=1e-13)
    assert np.allclose(fad.grad(f)(P), [(f(P + 1e-6 * e) - f(P - 1e-6 * e)) / 2e-6 for e in np.eye(2)], rtol=1e-7)


@pytest.mark.parametrize("extent", [2, 6])
def test_a_list_that_each_iteration_doubles_has_room(extent):
    def f(x):
        states = [x[0], x[1] * 2]
        for _ in range(x.shape[0]):
            for _ in range(len(states)):
                states.append(x[1])
        return np.sum(np.array(states) ** 2)
    x = np.arange(extent) + 0.5
    assert fad.jit(f, fallback=False)(x) == f(x)
    assert np.allclose(fad.grad(f, fallback=False)(x)[:2], [2 * x[0], (8 + 2 * (2 ** (extent + 1) - 2)) * x[1]])


def named_by_a_loop(x):
    y = x[:3] * 1.0
    states, iteration = [y], 0
    while iteration < 3:
        iteration += 1
        y = states[0]
    iteration = 0
    while iteration < 4:
        iteration += 1
        states.append(x[:3] * iteration)
    y[0] += 0.1
    return y.sum() + np.sum(np.array(states) ** 2)


def named_after_it_was_listed(x):
    y = x[:3] * 1.0
    states, iteration, w = [x[:3] * 0.1], 0, x[1:4] * 2
    for _ in range(x.shape[0]):
        states.append(y)
        y = y * 0.5
    while iteration < x[0] * 3 + 1:
        iteration += 1
        w = y
    states.append(w)
    y[0] += 1
    return np.sum(np.array(states) ** 2)


def kept_in_a_branch(x):
    z = x[1:4] * 2
    states, last = [x[:3] * 0.1], z
    for k in range(x.shape[0]):
        y = z * k
        states.append(y)
        if x[0] * k > 0.4:
            last = y
    last[1] = 7.0
    return np.sum(np.array(states) ** 2)


def kept_and_written_to(x):
    z = x[1:4] * 2
    states, last = [x[:3] * 0.1], z
    for k in range(x.shape[0]):
        y = z * k
        states.append(y)
        last[1] = 7.0
        if x[0] * k > 0.4:
            last = y
    return np.sum(np.array(states) ** 2)


def read_and_written_in_the_list(x):
    z, s = x[1:4] * 2, 0.0
    states, last = [x[:3] * 0.1], z
    for k in range(x.shape[0]):
        y = z * k
        s = s + last[1]
        states.append(y)
        if x[0] * k > 0.4:
            last = y
        states[-1][1] = 7.0
    return np.sum(np.array(states) ** 2) + s


def in_rows_since_an_earlier_loop(x):
    y, u = x[:3] * 1.0, x[:3][::-1] * 0.9
    states = [y, x[1:4] * 0.5]
    for _ in range(3):
        states.append(u)
    for _ in range(x.shape[0]):
        states.append(x[1:4])
        y[1] = 0.1
    return np.sum(np.array(states) ** 2)


@pytest.mark.parametrize("f",
                         [in_rows_since_an_earlier_loop, named_by_a_loop, named_after_it_was_listed, kept_in_a_branch,
                          kept_and_written_to,
                               read_and_written_in_the_list])
@pytest.mark.filterwarnings("ignore::fad.FallbackWarning")
def test_what_is_written_to_an_array_under_another_name_is_in_the_list(f):
    x = np.arange(1.0, 6.0) * 0.3
    assert np.isclose(fad.jit(f)(x), f(x), rtol=1e-13)
    assert np.allclose(fad.grad(f)(x), [(f(x + 1e-6 * e) - f(x - 1e-6 * e)) / 2e-6 for e in np.eye(5)], rtol=1e-6,
                       atol=1e-6)


def test_known_numbers_may_be_listed_for_each_element_of_a_list_that_has_grown():
    def f(x):
        states, weights, weight = [x], [], 1.0
        while len(states) < 9 and states[-1][0] < 1.0:
            states.append(states[-1] * 1.5)
        for _ in range(len(states)):
            weights.append(weight)
            weight = weight * 0.5
        return np.sum(np.array(weights)) * states[-1][1]
    for x in (np.array([0.3, 0.2]), np.array([0.9, 0.2])):
        assert np.isclose(fad.jit(f, fallback=False)(x), f(x), rtol=1e-14)
