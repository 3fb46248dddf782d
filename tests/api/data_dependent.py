"""Functions whose structure depends on data, as people write them: lists, dicts, heaps, recursion, texts as keys."""
import bisect
import collections
import functools
import heapq
import itertools
import json
import math

import numpy as np

X = np.array([1.3, 2.6, 0.7, 3.4])


def dict_by_integer(x):
    return np.sum(x) * {0: 1.0, 1: 2.0, 2: 3.0, 3: 4.0}[int(x[0])]


def dict_of_sums(x):
    groups = {}
    for v in x:
        key = int(v) % 2
        groups[key] = groups.get(key, 0.0) + v ** 2
    return sum(groups[k] * (k + 1.0) for k in sorted(groups))


def dict_by_value(x):
    seen = {}
    for v in x:
        seen[v] = v * v
    return sum(seen[v] * 3.0 for v in x)


def growing_list(x):
    kept = []
    for v in x:
        if v > 1.0:
            kept.append(v * np.sin(v))
    return np.sum(np.array(kept)) / len(kept)


def recursion(x):
    def halved(v):
        return v if v < 0.5 else 1.1 * halved(v * 0.5) + x[1]
    return halved(x[0] * 20)


def newton_list(x):
    iterates = [x[0]]
    while abs(iterates[-1] ** 2 - x[1]) > 1e-12:
        t = iterates[-1]
        iterates.append(t - (t * t - x[1]) / (2 * t))
    return iterates[-1] + 0.1 * len(iterates)


def sorted_values(x):
    s = sorted(x)
    return s[0] * 1.0 + s[-1] * 2.0 + s[1] ** 2


def sorted_by_key(x):
    order = sorted(range(len(x)), key=lambda k: x[k])
    return sum((k + 1) * x[j] ** 2 for k, j in enumerate(order))


def max_with_key(x):
    return max(x, key=lambda v: (v - 2.0) ** 2) ** 3


def heap(x):
    h = []
    for v in x:
        heapq.heappush(h, v * 2.0)
    total = 0.0
    while len(h) > 1:
        a, b = heapq.heappop(h), heapq.heappop(h)
        total = total + a * b
        heapq.heappush(h, a + b)
    return total


def bisection_table(x):
    knots = [0.0, 1.0, 2.0, 3.0, 4.0]
    total = 0.0
    for v in x:
        k = bisect.bisect(knots, v) - 1
        total += (v - knots[k]) ** 2 * (k + 1)
    return total


def deque_window(x):
    window, total = collections.deque(maxlen=2), 0.0
    for v in x:
        window.append(v)
        if sum(window) > 3.0:
            total = total + sum(window) ** 2
    return total


def counter_weights(x):
    counts = collections.Counter(int(v) for v in x)
    return sum(counts[int(v)] * v ** 2 for v in x)


def grouped(x):
    total = 0.0
    for key, values in itertools.groupby(x, key=lambda v: v > 1.0):
        values = list(values)
        total = total + (2.0 if key else 0.5) * sum(values) ** 2
    return total


def accumulated(x):
    return functools.reduce(lambda a, b: a * b if a < 5 else a + b, x)


def text_key(x):
    table = {"1": 2.0, "2": 3.0, "0": 5.0, "3": 7.0}
    return sum(table[f"{v:.1f}"[0]] * v ** 2 for v in x)


def masked_shape(x):
    y = x[x > 1.0]
    z = np.zeros(len(y))
    for k in range(len(y)):
        z[k] = y[k] * int(y[0])
    return np.sum(z ** 2)


def filled_by_data(x):
    n = int(x[0] * 2) + 1
    y = np.zeros(n)
    for k in range(n):
        y[k] = x[k % 4] * k
    return np.sum(np.cumsum(y) ** 2)


def view_of_filled(x):
    A = np.zeros((int(x[1]) + 1, 2))
    A[:, 0] = x[0]
    row = A[1]
    row[1] = x[2] * x[3]
    row *= 2.0
    return np.sum(A ** 2)


def transpose_view(x):
    A = np.outer(x, x) * {0: 1.0, 1: 2.0}[int(x[2])]
    B = A.T
    B[0, 1] = x[3] ** 2
    return A[1, 0] * A[0, 1]


def ravel_view(x):
    A = np.zeros((2, 2)) + x[: int(x[1])]
    flat = A.reshape(-1)
    flat[3] = x[0] * x[3]
    return np.sum(A * np.arange(4.0).reshape(2, 2))


def swap_in_place(x):
    y = x.copy()
    for i in range(len(y)):
        for j in range(len(y) - 1 - i):
            if y[j] > y[j + 1]:
                y[j], y[j + 1] = y[j + 1], y[j]
    return y @ np.array([1.0, 2.0, 3.0, 4.0]) * {0: 1.0, 1: 2.0}[int(x[0])]


def fancy(x):
    k = [int(v) for v in x]
    return np.sum(x[k] * np.arange(4.0))


def tuple_state(x):
    state = (0.0, [])
    for v in x:
        total, items = state
        state = (total + v, [*items, v * total]) if v > 1 else (total * 2, items)
    return state[0] + sum(state[1])


def string_builder(x):
    code = "".join("a" if v > 1.5 else "b" for v in x)
    return np.sum(x[: code.count("a") + 1] ** 2)


def memoised(x):
    @functools.lru_cache
    def fib(n):
        return x[n % 4] if n < 2 else fib(n - 1) * 0.5 + fib(n - 2)
    return fib(int(x[0] * 9.7))


def exceptions(x):
    total = 0.0
    for v in x:
        try:
            total = total + {1: 2.0, 2: 3.0}[int(v)] * v
        except KeyError:
            total = total + v ** 2
    return total


def raising(x):
    for v in x:
        if v < 0:
            raise ValueError("negative")
    return np.sum(np.sqrt(x)) * {0: 1.0, 1: 2.0}[int(x[0])]


def early_return(x):
    for k, v in enumerate(x):
        if v > 3.0:
            return v ** 2 * [1.0, 2.0, 3.0, 4.0][k]
        if int(v) == 7:
            return 0.0
    return np.sum(x)


def polynomial_of_length(x):
    coefficients = [x[0]] * int(x[3])
    return np.polyval(np.array(coefficients), x[1])


def stack_of_pieces(x):
    pieces = [x[: int(v) + 1] * v for v in x if v < 3]
    return np.sum(np.concatenate(pieces) ** 2)


def matrix_chain(x):
    M = np.eye(2)
    R = np.array([[x[0], x[1]], [x[2], x[3]]])
    count = 0
    while np.abs(M).max() < 50 and count < 20:
        M = M @ R
        count += 1
    return np.trace(M) + np.linalg.norm([M[0, 0], M[1, 1]][count % 2])


def solve_by_branch(x):
    A = np.diag(x) + 0.1
    method = {True: np.linalg.solve, False: lambda a, b: np.linalg.inv(a) @ b}[bool(x[0] > 1)]
    return np.sum(method(A, x))


def enumerate_dict(x):
    d = {f"k{int(v)}": v for v in x}
    return sum(v ** k for k, v in enumerate(d.values(), 1))


def set_of_integers(x):
    levels = {int(v) for v in x}
    return sum(np.sum((x - k) ** 2) for k in levels)


def bank(x):
    class Account:
        def __init__(self):
            self.balance, self.log = 0.0, []

        def pay(self, v):
            self.balance = self.balance + v
            if self.balance > 3:
                self.log.append(self.balance)
    a = Account()
    for v in x:
        a.pay(v)
    return a.balance * len(a.log) + sum(t ** 2 for t in a.log)


def generator(x):
    def iterations():
        v = x[0]
        while v < 40:
            yield v
            v = v * x[1]
    return sum(iterations())


def nested_lists(x):
    tree = [x[0], [x[1], [x[2]] if x[2] < 1 else []], x[3]]

    def total(t):
        return sum(total(u) for u in t) if isinstance(t, list) else t ** 2
    return total(tree)


def rounding(x):
    return sum(v * round(float(v)) + math.floor(v) * v for v in x)


def divmods(x):
    q, r = divmod(x[3], x[2])
    return {0: 1.0, 1: 2.0, 2: 3.0, 3: 4.0, 4: 5.0}[int(q)] * r


def zipped(x):
    pairs = dict(zip("abcd", x))
    best = min(pairs, key=lambda k: abs(pairs[k] - 2.0))
    return pairs[best] ** 2 + pairs["a"]


def adaptive(x):
    def area(a, b, depth):
        m = (a + b) / 2
        one, two = (b - a) * f(m), (m - a) * f((a + m) / 2) + (b - m) * f((m + b) / 2)
        if depth > 8 or abs(one - two) < 1e-3:
            return two
        return area(a, m, depth + 1) + area(m, b, depth + 1)

    def f(t):
        return np.exp(-x[0] * t) * np.sin(x[1] * t)
    return area(0.0, x[3], 0)


def unique_values(x):
    y = np.round(x)
    return np.sum(x ** 2) * len(set(y.tolist()))


def where_list(x):
    index = list(np.where(x > 1.0)[0])
    return sum(x[i] ** (k + 1) for k, i in enumerate(index))


def json_key(x):
    key = json.dumps([int(v) for v in x])
    return np.sum(x) * len(key)


def match_statement(x):
    total = 0.0
    for v in x:
        match int(v):
            case 0:
                total = total + v
            case 1 | 2:
                total = total + v ** 2
            case _:
                total = total + v ** 3
    return total


def shape_by_data(x):
    A = np.ones((int(x[0]) + 1, int(x[1]) + 1)) * x[3]
    return np.sum(A @ A.T)


def while_pop(x):
    queue = list(x)
    total = 0.0
    while queue:
        v = queue.pop()
        total = total + v ** 2
        if v > 3:
            queue.append(v / 2)
    return total


def in_list(x):
    return sum(v * 2 if int(v) in (1, 3) else v ** 2 for v in x)


def walrus(x):
    items = list(x)
    total = 0.0
    while items and (v := items.pop(0)) < 3:
        total = total + v ** 2
    return total


def error_function(x):
    return sum(math.erf(v) * {0: 1.0, 1: 2.0, 2: 3.0, 3: 4.0}[int(v)] for v in x)


def complex_inside(x):
    z = x[0] + 1j * x[1]
    count = 0
    while abs(z) < 10:
        z = z * z + 0.5
        count += 1
    return abs(z) * {1: 1.0, 2: 2.0, 3: 3.0}.get(count, 4.0)


def numbers_alone_at_index_arrays(x):
    n = x.size
    y = np.eye(n) * 1.0
    y[np.arange(n), np.arange(n)] += x
    z = np.concatenate([[1.0, 2.0], np.linspace(0.0, 1.0, 2)])
    z[[0, 3]] *= x[:2]
    np.add.at(z, [1, 1], x[2:])
    return np.sum(y * z) * {0: 1.0, 1: 2.0, 2: 3.0, 3: 4.0}[int(x[0])]


def reshaped_views(x):
    y = np.tile(x * 1.0, (4, 1)) * 1.0
    v = y[1:].reshape(-1)
    v[1] = 0.02
    w = y[:, ::2].reshape(-1)                                # copies, the two of them
    w[0] = 50.0
    y[:, ::-1].reshape(8, 2)[0] = 70.0
    y.T.reshape(4, 2, 2)[1, 0] = x[:2]                       # a view
    return np.sum(np.sin(y)) * w[0] * {0: 1.0, 1: 2.0, 2: 3.0, 3: 4.0}[int(x[0])]


def out_of_integers(x):
    best, large, all_of = np.empty(2, dtype=int), np.zeros(x.size, bool), np.zeros((), int)
    np.outer(x, np.sin(3 * x))[:2].argmax(axis=1, out=best)
    np.greater(x, 0.5, out=large)
    np.sum(large, out=all_of)
    return np.sum(x[best] * x[:2] ** 2) * {0: 1.0, 1: 2.0, 2: 3.0}.get(int(all_of), 4.0) + np.sum(x[large] ** 3)


def real_or_complex(x):
    near, far = np.real_if_close(x * (1 + 1e-17j)), np.real_if_close(x * (1 + 2j))
    return np.sum(near ** 2) * near.dtype.itemsize + np.sum(np.abs(far) ** 3) * far.dtype.itemsize


PROGRAMS = [
    dict_by_integer, dict_of_sums, dict_by_value, growing_list, recursion, newton_list, sorted_values, sorted_by_key,
    max_with_key, heap, bisection_table, deque_window, counter_weights, grouped, accumulated, text_key, masked_shape,
    filled_by_data, view_of_filled, transpose_view, ravel_view, swap_in_place, fancy, tuple_state, string_builder,
    memoised, exceptions, raising, early_return, polynomial_of_length, stack_of_pieces, matrix_chain, solve_by_branch,
    enumerate_dict, set_of_integers, bank, generator, nested_lists, rounding, divmods, zipped, adaptive, unique_values,
    where_list, json_key, match_statement, shape_by_data, while_pop, in_list, walrus, error_function, complex_inside,
    numbers_alone_at_index_arrays, reshaped_views, out_of_integers, real_or_complex]

