"""Lists that hold numbers of several classes and lie in one array: a question about the class of an element gets
Python's answer."""
import numpy as np
import pytest

import fad


def written_in_a_loop(x):
    c = [3, x[0], 2.5]
    for k in range(3):
        c[k] = c[k] * 2
    return c[1] + c[0] // 4 + (1.0 if isinstance(c[0], int) else 0.0)


def longer_in_a_loop(x):
    c = [7, x[0]]
    for k in range(2):
        c.append(c[k] + x[k])
    return c[-1] + (1.0 if type(c[0]) is int else 0.0) + c[0] // 2


def read_in_a_loop(x):
    c, s = [7, 1.5], 0.0
    for k in range(3):
        s = s + c[k % 2] * x[k]
    return s + (10.0 if isinstance(c[0], int) else 0.0) + c[0] // 2


def read_by_an_index_of_data(x):
    c = [1, 2.0, x[0]]
    return c[int(np.argmax(x))] * x[0] + (10.0 if isinstance(c[0], int) else 0.0)


def written_by_an_index_of_data(x):
    c = [5, x[0]]
    c[int(np.argmax(x > 0.5))] = x[1]
    return c[1] + (10.0 if isinstance(c[0], int) else 0.0)


def sorted_numbers(x):
    c = [4, x[0], 2.5]
    c.sort()
    return sum(c) + sum(10.0 for v in c if isinstance(v, int))


def largest_number(x):
    m = max([4, x[0], 2.5])
    return m * x[0] + (10.0 if isinstance(m, int) else 0.0)


def number_in_both(x):
    c = [7, 1.5]
    s = sum([c[k % 2] * x[k] for k in range(3)])
    return s * (2.0 if isinstance(c[0], (int, float)) else 3.0)


def counts_and_sums(x):
    c = [0, 0.0]
    for v in x:
        c[0] += 1
        c[1] += v
    return c[1] / c[0] + (10.0 if isinstance(c[0], int) else 0.0)


def filled(x):
    c = [0] * 3
    for k in range(3):
        c[k] = x[k] ** 2
    return sum(c) * c[0]


def check(f, **options):
    g = fad.value_and_grad(f, compile="never", **options)
    for x in (np.array([0.3, 0.7, 1.1]), np.array([0.6, 0.2, 0.1])):
        value, slope = g(x)
        np.testing.assert_allclose(value, f(x))
        np.testing.assert_allclose(slope, [(f(x + h) - f(x - h)) / 2e-6 for h in 1e-6 * np.eye(3)], atol=1e-6)


@pytest.mark.parametrize("f", [written_in_a_loop, longer_in_a_loop, read_in_a_loop, read_by_an_index_of_data,
                               written_by_an_index_of_data, sorted_numbers, largest_number])
@pytest.mark.filterwarnings("ignore::fad.FallbackWarning")
def test_the_class_of_an_element(f):
    check(f)
    with pytest.raises(fad.FadError, match="class of an element|on one way and"):
        fad.grad(f, fallback=False)(np.array([0.3, 0.7, 1.1]))


@pytest.mark.parametrize("f", [number_in_both, counts_and_sums, filled])
def test_questions_with_one_answer_are_staged(f):
    check(f, fallback=False)
