"""Programs that the generator found to fail, as small as they were shrunk; each is judged anew by test_found.py."""
import contextlib
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
    """A list that the iterations of a loop make, and that is unbound before them."""
    s, k = 0.5, 0
    while k < len(x) and x[k] < 0.723:
        rows = []
        for i in range(len(x)):
            rows.append(x[1:] * i)
        s = sum(np.sum(u) for u in rows) / 9.0
        k += 1
    return np.sum(np.tanh(x)) + s


def a_write_before_a_loop_that_cannot_be_rolled(x):
    """The first iteration of the inner loop was tried by itself, failed, and took back what the outer one had
    written."""
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


def an_else_of_a_loop_without_break(x):
    """Only functions with jumps were rewritten so that the else clause of a loop is kept."""
    t = x[0]
    for k in range(3):
        t = t + x[k]
    else:
        t = np.tanh(t * x[1])
    while t > 5.0:
        t = 0.5 * t
    else:
        t = t * x[2]
    return t


def the_largest_by_a_key_is_written_to(x):
    """What max and min with a key found was a copy."""
    a, b, c, d = x * 1.0, x[1:] * 2.0, [x[0]], [x[1]]
    longest, least = max([a, b], key=lambda u: u[0]), min([c, d], key=lambda u: u[0])
    longest[0] += 5.0
    least[0] = 3.0 * x[2]
    return a.sum() + 3.0 * b.sum() + c[0] - 2.0 * d[0]


def sorted_by_a_key_and_written_to(x):
    """What sorted made of arrays and lists were copies."""
    a, b, c, d = x * 1.0, x * 2.0, [x[0]], [x[1]]
    arrays, lists = sorted([b, a], key=lambda u: u[0]), sorted([c, d], key=lambda u: u[0])
    arrays[0][0] = 5.0
    a[1] *= 7.0
    lists[0][0] += 3.0 * x[2]
    return arrays[0].sum() + 3.0 * arrays[1].sum() + a.sum() + c[0] - 2.0 * d[0]


class Pair:
    def __init__(self, u, weight):
        self.u, self.weight = u, weight


def an_array_of_an_object_that_inner_loops_change(x):
    """After the loops the object's array was another one than the one outside, and nobody knew that it may be the
    same."""
    c = np.sin(x)
    pair = Pair(c, 0.3)
    for k in range(3):
        for _ in range(2):
            pair.weight += x[k]
    c[0] += 1.0
    pair.u[1:] *= pair.weight
    return pair.u @ c


def what_inner_loops_leave_open(x):
    """A name that may be one of two arrays by what an inner loop did with it, and a write to one of these."""
    a, b = x * 1.0, x * 2.0
    pair = [a, 0.5]
    for k in range(4):
        for j in range(3):
            if x[j] > 0.7:
                pair[0] = b
            pair[1] = pair[1] * 0.9 + x[k]
    a[0] += 1.0
    b[1] += 2.0
    return pair[0] @ a * pair[1] + b.sum()


def an_else_of_a_try_that_a_jump_leaves(x):
    """The else clause of a try is for a body that ends at its end: after a continue, a break or a return it was run
    too."""
    y, s = x * 1.0, 0.0

    def part(u, k):
        try:
            if k == 2:
                return u[0] * 2.0
            u[0] += 0.1 * k
        except KeyError:
            pass
        else:
            u[1] *= 1.1
        finally:
            u[2] += 0.3
        return u[1]
    for k in range(5):
        try:
            if y[k] > 0.313:
                continue
            if k == 4:
                break
        except IndexError:
            s += 100.0
        else:
            s += part(y, k) * y[k]
        y[k] *= 0.9
    return s + y @ y + part(y, 2)


def an_element_that_a_branch_adds_to_last(x):
    """What the last line of a branch added to an element was added together with what the next line added, behind the
    branch."""
    n, s = x.shape[0], 0.5
    out = [x[-1], (0.7 if x[-1] > 0.123 else x[-1]), (x[-1] * s) / (1.0 + s * s)]
    for _ in range(n):
        out[0], out[1] = out[1], np.sin(out[0])
    return np.sum(np.tanh(x)) + out[0] + out[2]


def an_element_read_twice_and_never_written_again(x):
    """Two reads of one element, in front of a write to another and behind it, are one on the way back: only one of them
    was had there."""
    y, s = x * 1.0, 0.0
    for _ in range(2 * len(x)):
        u = math.sqrt(1.0 + y[1] * y[1])
        y[0] = 0.5 * u
        s = y[1] + u
    return np.sum(np.tanh(y)) + s


def what_may_be_an_argument_in_another_shape(x):
    """One branch handed on the argument itself, in another shape, and the next line wrote to it."""
    a, b = x * 1.0, x[1:] * 0.7
    c = a.reshape(-1) if a.sum() > b.sum() else b
    for k in range(3):
        b[0] += x[k]
    np.clip(c[-3:], -1.5, 1.5, out=c[-3:])
    for j in range(len(a) - 1):
        a[j:j + 2][0] += 0.1 * a[j + 1]
    return a.sum() + (b * b).sum() + 1.1 * c[0] * c[-1]


def what_may_be_another_array_in_another_shape(x):
    """A branch handed on an array in another shape without a copy, and both were written to."""
    b = x[1:] * 0.7
    d = b[::-1]
    c = np.sin(x[:4])
    L = [x * 1.0, b * 1.0, c]
    for k in range(4):
        if d.sum() > 0.0171:
            L[0] = d
        if k % 2 == 0:
            L = [L[0][:3], L[0].reshape(-1), d[[0, 1, 0]]]
    for u, v in zip(L, L[1:]):
        u[0] += v[-1] * 0.2
    return b @ b + L[0].sum() + L[-1][0] * L[1].sum()


def an_element_of_another_shape_read_late(x):
    """What is read of an array in another shape was read behind the next loop that writes to the array."""
    M, s = np.outer(x[:3], x[1:4]), 0.5 + x.sum()
    flat = M.reshape(-1)
    for k in range(3):
        M[1, k] *= 0.9
    u = flat[4] * 0.3
    for k in range(3):
        M[1, k] *= 0.9
    t = s + u
    return t + np.sin(M).sum()


def an_error_behind_one_that_is_suppressed(x):
    """The error of the loop's `else` went past the manager, which did not say that an earlier line may raise one."""
    n, k, s, w = x.shape[0], 1, 0.0, np.arange(6.0)
    with contextlib.suppress(ZeroDivisionError):
        for _ in range(k % 3):
            s += 1 / (n - 6)
            k = k + 1
        else:
            if k % 2 == 0:
                s += 0.1 * w[k + 4]
    return s + (x * x).sum() + 0.1 * k


def a_break_behind_a_raise(x):
    """The loop waited for a flag that no line of the program sets."""
    n = len(x)
    for k in range(n - 6):
        raise ValueError(str(k))
        if x[0] > 0.713:
            break
    return (x * x).sum()
