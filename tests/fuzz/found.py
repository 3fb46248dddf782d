"""Programs that the generator found to fail, as small as they were shrunk; each is judged anew by test_found.py."""
import math

import numpy as np


def a_chosen_scalar_carried_by_a_loop(x):
    """In plain Python np.where gave the text an array of no axes, which a += of a loop changed under its other name."""
    q = math.sqrt(1.0 + x[0] * x[0])
    p = 0.0
    for _ in range(len(x)):
        p += 0.1 * (np.sum(x[::2]) - q)
        q = q + 0.1 * p
    return 0.5 * p * p + np.sin(q)


def a_list_of_rows_in_one_branch(x):
    """A branch that leaves a list unbound has no array to make one of."""
    s = 0.5
    if x[-1] < -0.713:
        rows = []
        for _ in range(1, len(x)):
            rows.append(x[1:])
        s = np.sin(sum(np.sum(u) for u in rows))
    return np.sum(x) * s


def a_list_of_rows_in_a_while(x):
    """A list that the turns of a loop make, and that is unbound before them."""
    s, k = 0.5, 0
    while k < len(x) and x[k] < 0.723:
        rows = []
        for i in range(len(x)):
            rows.append(x[1:] * i)
        s = sum(np.sum(u) for u in rows) / 9.0
        k += 1
    return np.sum(np.tanh(x)) + s


def a_write_before_a_loop_that_cannot_be_rolled(x):
    """The first turn of the inner loop was tried by itself, failed, and took back what the outer one had written."""
    y = x * 1.0
    for _ in range(len(x) - 1):
        y[0] *= 0.5
        for _ in range(len(x)):
            stack = [len(x)]
            while stack:
                size = stack.pop()
                if size > 3:
                    stack.append(size // 2)
    return np.sum(y ** 2)


def every_second_of_a_list_of_unknown_length(x):
    """A part of a list that grows by conditions is a list; what is done to it is not done to the whole."""
    total = 0.0
    for k in range(len(x)):
        rest = [x[0]]
        for i in range(1, len(x)):
            if x[k] > -0.243:
                rest.append(x[i] * 0.5)
        part = rest[::2]
        part.append(0.3)
        part[0] = rest[-1] * 2.0
        for u in rest[-2:]:
            total += u * rest[0]
        total += np.sum(np.sin(part)) + rest[::-1][0]
    return total


def a_part_that_is_written_back_where_it_lies(x):
    """A loop of generated text whose only step copies elements onto themselves had no body."""
    y = x[:, None] - x * 1.0
    part = y[1:, 1:]
    part[1:] += 0.1
    return np.mean(np.sin(y))
