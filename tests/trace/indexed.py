"""Programs that keep numbers, rows, arrays and records in plain lists, and read and write them by a loop's index: f(x,
n)."""
import numpy as np


def product(x, n):
    a = [[x[i] * x[j] for j in range(n)] for i in range(n)]
    b = [[np.sin(x[i] + x[j]) for j in range(n)] for i in range(n)]
    c = [[0.0] * n for _ in range(n)]
    for i in range(n):
        for j in range(n):
            for k in range(n):
                c[i][j] += a[i][k] * b[k][j]
    return c[0][1] + sum(c[2]) + np.trace(np.array(c))


def cholesky(x, n):
    a = [[x[i] * x[j] + (5.0 if i == j else 0.0) for j in range(n)] for i in range(n)]
    low = [[0.0] * n for _ in range(n)]
    for j in range(n):
        for i in range(j, n):
            s = a[i][j]
            for k in range(j):
                s -= low[i][k] * low[j][k]
            if i == j:
                low[i][j] = np.sqrt(s)
            else:
                low[i][j] = s / low[j][j]
    return sum(np.log(low[i][i]) for i in range(n))


def edit_distance(x, n):
    t = [[0] * (n + 1) for _ in range(n + 1)]                # ints, which become floats
    for i in range(n + 1):
        t[i][0] = i * 1.0
        t[0][i] = i * 1.0
    for i in range(1, n + 1):
        for j in range(1, n + 1):
            t[i][j] = min(t[i - 1][j] + 1.0, t[i][j - 1] + 1.0, t[i - 1][j - 1] + abs(x[i - 1] - x[n - j]))
    return t[n][n]


def soft_warping(x, n):
    d = [[1e3] * (n + 1) for _ in range(n + 1)]
    d[0][0] = 0.0
    for i in range(1, n + 1):
        for j in range(1, n + 1):
            ways = np.exp(-d[i - 1][j]) + np.exp(-d[i][j - 1]) + np.exp(-d[i - 1][j - 1])
            d[i][j] = (x[i - 1] - x[j - 1] - 0.3) ** 2 - np.log(ways + 1e-30)
    return d[n][n]


def knapsack(x, n):
    room, weights = 2 * n, [1 + (3 * i) % 5 for i in range(n)]
    best = [0.0] * (room + 1)
    for i in range(n):
        for c in range(room, weights[i] - 1, -1):
            best[c] = max(best[c], best[c - weights[i]] + x[i])
    return best[room]


def two_rows(x, n):
    before = [0.0] * (n + 1)
    for i in range(1, n):
        now = [0.0] * (n + 1)
        for j in range(1, n + 1):
            now[j] = max(before[j], now[j - 1]) + x[i] * x[j - 1]
        before = now
    return before[n]


def bubble_sort(x, n):
    a = [1.0 * v for v in x]
    for i in range(n):
        for j in range(n - 1 - i):
            if a[j] > a[j + 1]:
                a[j], a[j + 1] = a[j + 1], a[j]
    return sum((k + 1) * v for k, v in enumerate(a))


def insertion_sort(x, n):
    a = list(x)
    for i in range(1, n):
        key, j = a[i], i - 1
        while j >= 0 and a[j] > key:
            a[j + 1] = a[j]
            j -= 1
        a[j + 1] = key
    return sum((k + 1) * v for k, v in enumerate(a))


def particles(x, n):
    ps = [[x[i], 0.0] for i in range(n)]
    for _ in range(3):
        for i in range(n):
            ps[i][1] -= 0.1 * ps[i][0]
        for p in ps:
            p[0] += 0.1 * p[1]
    return sum(p[0] ** 2 + p[1] ** 2 for p in ps)


def forces(x, n):
    pos = [np.zeros(3) for _ in range(n)]
    for i in range(n):
        pos[i] = np.array([x[i], x[i] ** 2, np.sin(x[i])])
    acc = [np.zeros(3) for _ in range(n)]
    for i in range(n):
        for j in range(i):
            d = pos[j] - pos[i]
            acc[i] += d
            acc[j] -= 0.5 * d
        acc[i][0] *= 1.5
    return sum(np.dot(a, a) for a in acc)


def pairs(x, n):
    state = [(0.0, 1.0)] * n
    for i in range(n):
        a, b = state[i]
        state[i] = (a + x[i], b * x[i])
    return sum(a * b for a, b in state)


def table_of_numbers(x, n):
    c = [0.5 * k for k in range(n)]
    s = 0.0
    for i in range(n):
        s = s + c[i] * x[i] + c[-1]
    return s


def bins(x, n):
    h = [0.0] * 4
    for i in range(n):
        h[int(abs(x[i]) * 2) % 4] += x[i]
    return h[0] * h[1] + h[2] ** 2 + h[3]


def reversed_lists(x, n):
    xs, s = [v * v for v in x], 0.0
    for v in list(reversed(xs)):
        s = 0.9 * s + v
    for v in list(x):
        s = 0.9 * s + v
    return s


class Layer:
    def __init__(self, n):
        self.h, self.w = [0.0] * n, [[0.0] * 2 for _ in range(n)]


def in_an_object(x, n):
    layer = Layer(n)
    for i in range(n):
        layer.h[i] = x[i] ** 2
        layer.w[i][1] = layer.h[i] * 2
    return sum(layer.h) + layer.w[n - 1][1]


STAGED = [product, cholesky, edit_distance, soft_warping, knapsack, two_rows, bubble_sort, insertion_sort, particles,
          forces, pairs, table_of_numbers, bins, reversed_lists, in_an_object]


# -- which list, which element ---------------------------------------------------------------------


def one_row_three_times(x, n):
    r = [[0.0] * n] * 3
    for i in range(n):
        r[i % 3][i] += x[i]
        r[0][i] += 1.0
    return sum(r[2]) + r[1][0] * r[0][1]


def one_array_many_times(x, n):
    p = [np.zeros(2)] * n
    for i in range(n):
        p[i] += x[i]
    return np.sum(p[0]) * np.sum(p[1])


def row_with_a_name(x, n):
    c = [[0.0] * n for _ in range(n)]
    r = c[2]
    for i in range(n):
        for j in range(n):
            c[i][j] += x[i] * x[j]
    r[1] = 4.0 * x[0]
    return sum(c[2]) * r[3]


def array_with_a_name(x, n):
    p = [np.zeros(2) for _ in range(n)]
    a = p[3]
    for i in range(n):
        p[i] += x[i]
    a *= 2.0
    return np.sum(p[3]) + np.sum(a * a)


def row_that_is_replaced(x, n):
    c = [[0.0] * n for _ in range(n)]
    for i in range(n):
        old = c[i]
        c[i] = [v * x[i] for v in x]
        c[i][0] = 5.0 * x[1]
        old[1] = 100.0
    return sum(c[2]) + c[5][0]


def row_of_the_last_iteration(x, n):
    c = [[a * b for a in x] for b in x]
    for i in range(n):
        row = c[i]
    row[0] = 7.0
    return sum(c[n - 1])


def rows_within_rows(x, n):
    t = [[[0.0] * 3 for _ in range(n)] for _ in range(n)]
    for i in range(n):
        p, q = t[i][1], t[i]
        p[0] = x[i]
        q[1][1] = p[0] * 2
        t[i][1][2] = p[1] + q[1][0]
        p[0] = q[1][2]
    return sum(t[4][1]) * t[2][1][0]


def array_changed_after_it_was_put(x, n):
    p = [np.array([v, v * v]) for v in x]
    for i in range(n):
        a = np.array([x[i], x[1]])
        p[i] = a
        a[0] = 10.0 * x[3]
    return np.sum(p[2]) + np.sum(p[5])


def list_changed_after_it_was_put(x, n):
    p = [[v, v * v] for v in x]
    a = [x[0], x[1]]
    for i in range(n):
        p[i] = a
    a[0] = 10.0 * x[3]
    return sum(p[2]) + sum(p[5])


def array_read_after_the_list_was_written_to(x, n):
    p = [np.zeros(2) for _ in range(n)]
    a = np.ones(2) * x[0]
    for i in range(n):
        a = a * 0.9
        p[i] = a
    p[n - 1][0] = 100.0
    return np.sum(a) + np.sum(p[2])


def view_that_was_appended(x, n):
    a, out = np.outer(x, x), []
    for i in range(n):
        out.append(a[i])
    a[0, 0] = 100.0 * x[1]
    return np.sum(np.array(out) ** 2)


def rows_that_change_places(x, n):
    p = [[v, v * v] for v in x]
    for i in range(n - 1):
        p[i], p[i + 1] = p[i + 1], p[i]
    p[0][0] = 3.0
    return sum(p[0]) * 2 + sum(p[5]) + p[n - 1][1] * x[0]


def copies_of_rows(x, n):
    a = [[u * v * v for u in x] for v in x]
    b, c = [row[:] for row in a], [list(row) for row in a]
    for i in range(n):
        b[i][2] = 1.0
        c[i][3] += 2.0 * x[i]
    return sum(a[3]) + sum(b[4]) * sum(c[5])


def names_of_one_list(x, n):
    a = [v * v for v in x]
    b, c = a, a[:]
    for i in range(n):
        b[i] = b[i] * 2
        c[i] = c[i] + 1
    return sum(a) * sum(b) + sum(c)


def ints_that_become_floats(x, n):
    a = [1 * v for v in np.argsort(x)]
    for j in range(n):
        a[j] = a[j] * 0.5 + x[j]
    return sum(v ** 2 for v in a)


def known_numbers_stay_known(x, n):
    places = [0] * n
    for i in range(n):
        places[i] = (5 * i) % n
    rest = sum(x[k] * r for k in range(n) for r in range(places[k] % 3))
    return np.sum(x[places[3]]) * len(np.zeros(places[2])) + rest


IDENTITY = [one_row_three_times, one_array_many_times, row_with_a_name, array_with_a_name, row_that_is_replaced,
            row_of_the_last_iteration, rows_within_rows, array_changed_after_it_was_put, list_changed_after_it_was_put,
            array_read_after_the_list_was_written_to, view_that_was_appended, rows_that_change_places, copies_of_rows,
            names_of_one_list, ints_that_become_floats, known_numbers_stay_known]
STEP_BY_STEP = {row_of_the_last_iteration, array_changed_after_it_was_put, list_changed_after_it_was_put,
                array_read_after_the_list_was_written_to,
                view_that_was_appended, rows_that_change_places}
