"""Lists, dicts and objects that are known by two names, and changed under one of them."""
import collections
import dataclasses

import numpy as np

P = []
X = np.array([0.31, 0.62, 0.83, 0.14, 0.27, 0.55])


def prog(f):
    P.append(f)
    return f


@prog
def ifexp_lists_written(x):
    a, b = [x[0], x[1]], [x[2], x[3]]
    c = a if x[4] > 0.2 else b
    c[0] = 5 * x[5]
    return a[0] + b[0]


@prog
def ifexp_lists_append(x):
    a, b = [x[0], x[1]], [x[2], x[3]]
    (a if x[4] > 0.2 else b).append(5 * x[5])
    return sum(a) + 2 * sum(b)


@prog
def if_lists_written(x):
    a, b = [x[0], x[1]], [x[2], x[3]]
    if x[4] > 0.2:
        c = a
    else:
        c = b
    c[0] = 5 * x[5]
    return a[0] + b[0]


@prog
def if_lists_original_written(x):
    a, b = [x[0], x[1]], [x[2], x[3]]
    if x[4] > 0.2:
        c = a
    else:
        c = b
    a[0] = 5 * x[5]
    return c[0] + b[0]


@prog
def if_lists_one_side(x):
    a, b = [x[0], x[1]], [x[2], x[3]]
    c = b
    if x[4] > 0.2:
        c = a
    a[0] = 5 * x[5]
    c[1] = 3.0
    return c[0] + b[0] + a[1]


@prog
def if_dicts(x):
    a, b = {"k": x[0]}, {"k": x[1]}
    c = a if x[4] > 0.2 else b
    c["k"] = 5 * x[5]
    return a["k"] + b["k"]


@prog
def best_list_alias(x):
    cur, best, bf = [x[0], x[1]], None, 100.0
    for i in range(len(x)):
        cur[0] = cur[0] * 0.9 + x[i]
        if cur[0] < bf or best is None:
            bf, best = cur[0], cur
    return best[0] + best[1]


@prog
def best_list_copy(x):
    cur, best, bf = [x[0], x[1]], [0.0, 0.0], -100.0
    for i in range(len(x)):
        cur = [cur[0] * 0.9 + x[i], cur[1] * x[i]]
        if cur[0] > bf:
            bf, best = cur[0], cur
    return best[0] + best[1]


@prog
def best_list_then_changed(x):
    cur, best, bf = [x[0], x[1]], [0.0, 0.0], -100.0
    for i in range(len(x)):
        cur = [cur[0] * 0.9 + x[i], cur[1] * x[i]]
        if cur[0] > bf:
            bf, best = cur[0], cur
        cur[1] = 7.0 * x[i]
    return best[0] + best[1]


@prog
def loop_alias_in_body(x):
    a = [x[0], x[1]]
    b = a
    for i in range(len(x)):
        b = a
        a[0] = a[0] + x[i]
    a[0] = 5 * x[5]
    return b[0]


@prog
def loop_alias_written_after(x):
    a = [x[0], x[1]]
    b = [x[2], x[3]]
    for i in range(len(x)):
        b = a
        a[0] = a[0] + x[i]
    b[0] = 5 * x[5]
    return a[0]


@prog
def loop_swap_lists(x):
    a, b = [x[0], x[1]], [x[2], x[3]]
    first = a
    for i in range(5):
        a[0] = a[0] + x[i] * b[1]
        a, b = b, a
    return a[0] + 2 * b[0] + 3 * first[0]


@prog
def loop_swap_lists_data(x):
    a, b = [x[0], x[1]], [x[2], x[3]]
    first = a
    i = 0
    while a[0] < 3:
        a[0] = a[0] + x[i % 6] * b[1] + 0.5
        a, b = b, a
        i += 1
    return a[0] + 2 * b[0] + 3 * first[0]


@prog
def loop_choose_by_parity(x):
    a, b = [x[0]], [x[1]]
    for i in range(len(x)):
        c = a if i % 2 == 0 else b
        c[0] = c[0] + x[i]
    return a[0] + 2 * b[0]


@prog
def loop_choose_dict_by_parity(x):
    a, b = {"s": x[0]}, {"s": x[1]}
    for i in range(len(x)):
        c = a if i % 2 == 0 else b
        c["s"] += x[i]
    return a["s"] + 2 * b["s"]


@dataclasses.dataclass
class S:
    q: float


@prog
def loop_choose_dataclass(x):
    a, b = S(x[0]), S(x[1])
    for i in range(len(x)):
        c = a if i % 2 == 0 else b
        c.q += x[i]
    return a.q + 2 * b.q


class Holder:
    def __init__(self, q):
        self.q = q


@prog
def loop_choose_object(x):
    a, b = Holder(x[0]), Holder(x[1])
    for i in range(len(x)):
        c = a if i % 2 == 0 else b
        c.q += x[i]
    return a.q + 2 * b.q


@prog
def list_elements_alias(x):
    r = [x[0], x[1]]
    rows = [r, r]
    rows[0][0] = 5 * x[2]
    return rows[1][0]


@prog
def list_mult_alias(x):
    rows = [[0.0] * 2] * 3
    for i in range(3):
        rows[i][0] += x[i]
    return rows[0][0] + rows[1][0]


@prog
def append_then_change(x):
    out, cur = [], [0.0, 0.0]
    for i in range(len(x)):
        cur[0] = cur[0] + x[i]
        out.append(cur)
    return sum(o[0] for o in out)


@prog
def append_then_change_array(x):
    out, cur = [], np.zeros(2)
    for i in range(len(x)):
        cur[0] = cur[0] + x[i]
        out.append(cur)
    return sum(o[0] for o in out)


@prog
def append_outer_then_change(x):
    out, cur = [], np.zeros(2)
    for _ in range(len(x)):
        out.append(cur)
    cur[0] = x[0]
    return sum(o[0] for o in out)


@prog
def slice_then_change(x):
    out = []
    for i in range(len(x)):
        out.append(x[i] * 2)
    t = out[1:]
    out[2] = 100 * x[0]
    t[0] = 50 * x[1]
    return sum(t) + 2 * sum(out)


@prog
def slice_arrays_then_change(x):
    out, cur = [], np.ones(2)
    for i in range(len(x)):
        out.append(cur * x[i])
    out.append(cur)
    t = out[3:]
    cur[0] = x[0] * 9
    return sum(np.sum(v) for v in t)


@prog
def slice_assign(x):
    out = []
    for i in range(len(x)):
        out.append(x[i] * 2)
    out[1:3] = [x[0], x[1], x[2]]
    return sum(v * (k + 1) for k, v in enumerate(out))


@prog
def list_times_tracer(x):
    T = [1.0, 2.0] * len(x)
    return sum(v * (k + 1) for k, v in enumerate(T)) * x[0] + len(T)


@prog
def list_times_loop_index(x):
    s = 0.0
    for i in range(3):
        T = [x[i], 2.0] * (i + 1)
        s += sum(T)
    return s


@prog
def tuple_times_len(x):
    T = (x[0],) * len(x)
    s = 0.0
    for t in T:
        s += t * t
    return s + len((1.0, 2.0) * len(x[1:]))


@prog
def str_times_len(x):
    return x[0] * len("ab" * len(x))


@prog
def list_plus_array(x):
    return np.sum([1.0] * 6 + x) + np.sum([x[0], x[1]] + [x[2]])


@prog
def list_compare(x):
    a, b = [x[0], 1.0], [x[0], 1.0]
    return x[1] * (2.0 if a == b else 3.0)


@prog
def list_in(x):
    q = [x[0], x[1]]
    return x[2] * (2.0 if x[1] in q else 3.0) + q.index(x[1])


@prog
def dict_alias_loop(x):
    p = {"w": [x[0], x[1]]}
    w = p["w"]
    for i in range(5):
        w[0] = w[0] * 0.5 + x[i]
    return p["w"][0]


@prog
def dict_rebinding(x):
    s = {"cur": [x[0]], "old": [x[1]]}
    for i in range(5):
        s["old"] = s["cur"]
        s["cur"] = [s["old"][0] + x[i]]
        s["old"][0] = s["old"][0] * 0.5
    return s["old"][0] + s["cur"][0]


@prog
def dict_rebinding_alias(x):
    s = {"cur": [x[0]], "old": [x[1]]}
    for i in range(5):
        s["old"] = s["cur"]
        s["cur"][0] = s["cur"][0] + x[i]
    s["cur"][0] = 9 * x[0]
    return s["old"][0] + s["cur"][0]


@prog
def obj_rebinding_alias(x):
    a = Holder([x[0]])
    b = Holder([x[1]])
    for i in range(5):
        b.q = a.q
        a.q[0] = a.q[0] + x[i]
    a.q[0] = 9 * x[0]
    return b.q[0]


@prog
def returned_either(x):
    def pick(a, b, c):
        if c > 0.2:
            return a
        return b
    a, b = [x[0]], [x[1]]
    pick(a, b, x[2])[0] = 4 * x[3]
    return a[0] + 2 * b[0]


@prog
def or_lists(x):
    a, b = [], [x[0]]
    c = a or b
    c.append(x[1])
    return sum(b) + len(a)


@prog
def default_mutable(x):
    def f(v, acc=[]):                                         # noqa: B006
        acc.append(v)
        return sum(acc)
    return f(x[0]) + f(x[1])


@prog
def inner_list_alias(x):
    rows = []
    for i in range(3):
        r = [x[i], 0.0]
        rows.append(r)
        r[1] = x[i + 1]
    return sum(a * b for a, b in rows)


@prog
def inner_list_alias_after(x):
    rows = []
    for i in range(3):
        r = [x[i], 0.0]
        rows.append(r)
    r[1] = 5 * x[4]
    return sum(a * b for a, b in rows)


@prog
def deque_alias(x):
    d = collections.deque([x[0], x[1], x[2]])
    e = d
    for i in range(5):
        d.rotate(1)
        d[0] = d[0] + x[i]
    return e[0] + 2 * e[1]


@prog
def sort_alias(x):
    q = [x[3], x[1], x[0]]
    r = q
    q.sort()
    return r[0] + 2 * r[1]


@prog
def array_list_sum_then_write(x):
    A = [np.array([x[0], x[1]]), np.array([x[2], x[3]])]
    B = sum(A)
    A[0][0] = 3.0
    B += 1
    return B[0] * A[0][0] + A[1][0]


@prog
def array_left_open_by_a_loop_in_a_branch(x):
    a, b = x * 1.0, x * 2.0
    if x[0] > 0:
        for k in range(3):
            if x[k] > 0.4:
                b = a
    a[1] = 3.0 * x[2]
    return b @ x


@prog
def array_left_open_by_a_while_in_a_branch(x):
    a, b = x * 1.0, x * 2.0
    if x[0] > 0:
        while a[0] < 2:
            a[0] += 1.0
            b = a
    b[1] = 3.0 * x[2]
    return a @ x


@prog
def arrays_of_a_branch_left_open_by_a_loop_in_it(x):
    a, b, c = x * 1.0, x * 2.0, x * 3.0
    if x[0] > 0:
        b = x * 4.0
        c = b[1:]
        for k in range(3):
            if x[k] > 0.4:
                b = a
            else:
                c = b
    else:
        b = c
    c[2] += 1.0
    a[1] = 3.0
    return b @ x + c[0]


@prog
def array_left_by_an_inner_loop_and_changed_in_the_outer_one(x):
    d, best = x * 2.0, x * 3.0
    for k in range(4):
        for _ in range(len(x)):
            best = d
        best[0] -= 0.1 * x[k]
    return d @ d + best[1]


@prog
def array_left_by_an_inner_loop_and_read_before_it_is_changed(x):
    d = x * 2.0
    best, total, k = d, 0.0, 0
    while k < 3:
        total += d[0] * x[k]
        for j in range(len(x)):
            if x[j] > 0.3:
                best = d
        best[0] *= x[k]
        k += 1
    return total + d @ x


@prog
def exchanged_in_a_branch_of_a_branch(x):
    a, c = [x[0], 1.0], [0.5, x[1]]
    first = a
    if x[2] > 0.9:
        s = x[3]
    else:
        s = x[4]
        if x[5] > 0.2:
            c, a = a, c
    first[0] = 7.0 * x[2]
    return c[0] * s + a[0]


@prog
def chosen_in_a_branch_of_a_branch(x):
    a, b, c = [x[0]], [x[1]], [x[2]]
    if x[3] > 0.1:
        if x[4] > 0.2:
            c = a
        else:
            c = b
    a[0] = 5.0 * x[5]
    return b[0] + c[0]


@prog
def two_names_in_a_branch_of_a_branch(x):
    c, d = [x[2]], [x[3]]
    if x[3] > 0.1:
        made = [x[0]]
        if x[4] > 0.2:
            c = made
        d = made
    d[0] = 5.0 * x[5]
    return c[0] * d[0]


@prog
def a_list_within_a_list_bound_again_in_the_loop_that_writes_to_it(x):
    a, k = [x[0], 1.0], 0
    lists = [a, [2.0, x[1]], [x[2], x[3]]]
    b = a
    for _ in range(3):
        k = (k + 1) % 3
        lists[k][0] = b[1] * x[4]
        b = a
    return a[0] * b[1]
