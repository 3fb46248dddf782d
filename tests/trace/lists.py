"""Programs that fill, change and read lists in loops, with arguments for each."""
import numpy as np
from scipy import special

RNG = np.random.default_rng(5)
P = np.array([0.7, 1.1])
V = RNG.normal(size=3)


def trajectory(p, n):
    out, x = [], p[0]
    for _ in range(n):
        x = x + 0.1 * np.sin(p[1] * x)
        out.append(x)
    return np.sum(np.array(out) ** 2)


def from_the_last(p, d):
    path = [p]
    for i in range(len(d)):
        path.append(path[-1] * 0.9 + d[i])
    return np.sum(np.stack(path) ** 2) + np.sum(path[3])


def on_condition(x):
    big = []
    for v in x:
        if v > 0:
            big.append(v * v)
    return np.sum(np.array(big)) + len(big)


def on_one_of_two_conditions(x):
    low, high = [0.0], [0.0]
    for v in x:
        if v > 0.3:
            high.append(high[-1] + v)
        elif v < -0.3:
            low.append(low[-1] * v)
    return sum(low) * high[-1]


def table(p, n):
    rows = []
    for i in range(n):
        row = []
        for j in range(n):
            row.append(np.sin(p[i] * p[j]))
        rows.append(row)
    m = np.array(rows)
    return np.sum(m @ m) + rows[1][2]


def table_in_one_line(p, n):
    return np.sum(np.array([[np.sin(a * b) for a in p] for b in p])[: n - 1] ** 2)


def two_lists(p, n):
    xs, vs = [], []
    x, v = p[0], p[1]
    for _ in range(n):
        v = v - 0.1 * x
        x = x + 0.1 * v
        xs.append(x)
        vs.append(v)
    return sum(xs) + max(vs) + xs[-1] * vs[0] + np.dot(xs, vs)


def comprehensions(x):
    return (sum([np.exp(v) for v in x]) + sum(v ** 3 for v in x if v > 0)
            + np.sum(np.array([np.sin(a) * b for a, b in zip(x, x[::-1])])))


def loops_in_loops(p, n):
    out = []
    for i in range(n):
        for j in range(3):
            out.append(p[0] * i + p[1] * j)
    return np.sum(np.array(out).reshape(n, 3) ** 2)


def pairs(p, n):
    out = []
    for i in range(n):
        out.append((p[0] * i, p[1] + i))
    total = 0.0
    for a, b in out:
        total += a * b
    return total


def pairs_as_array(p, n):
    out = []
    x, y = p
    for _ in range(n):
        x, y = x + 0.1 * y, y - 0.1 * x
        out.append([x, y])
    return np.sum(np.array(out)[:, 0] * np.array(out)[:, 1]) + out[2][1]


def one_array_many_times(p, n):
    x, out = p.copy(), []
    for _ in range(n):
        x += 0.1 * np.cos(x)
        out.append(x)                                         # Python keeps one array n times
    return np.sum(np.array(out))


def copies(p, n):
    x, out = p.copy(), []
    for _ in range(n):
        x += 0.1 * np.cos(x)
        out.append(x.copy())
    return np.sum(np.array(out) ** 2)


def changed_after(p, n):
    out = []
    for i in range(n):
        x = p * i
        out.append(x)
        x[0] = 5.0
    return np.sum(np.array(out) ** 2)


def changed_after_the_loop(p, n):
    out, x = [], p * 1.0
    for _ in range(n):
        x = x * 1.1
        out.append(x)
    x[0] = 7.0
    return np.sum(np.array(out) ** 2)


def changed_element(p, n):
    out = []
    for i in range(n):
        out.append(p * i)
    out[2][0] = 5.0
    return np.sum(np.array(out) ** 2)


def changed_list_in_a_list(p, n):
    out = []
    for i in range(n):
        out.append([])
        out[-1].append(p[0] * i)
        out[-1].append(p[1])
    return np.sum(np.array(out) ** 2)


def stops(p, n):
    out = [p[0]]
    for _ in range(n):
        out.append(out[-1] * p[1] + out[0])
        if out[-1] > 50.0:
            break
    return out[-1] + len(out)


def joined(p, n):
    out = []
    for i in range(n):
        out.append(p * i)
    return (np.sum(np.concatenate(out) ** 2) + np.sum(np.vstack(out)[2]) + np.sum(np.column_stack(out)[:, 1])
            + np.sum(np.stack(out, axis=1)[0] + np.hstack(out)[4]))


def in_a_dict(p, n):
    history, x = {"t": [], "x": []}, p[0]
    for i in range(n):
        x = x * p[1]
        history["x"].append(x)
        history["t"].append(i * 0.1)
    return np.trapezoid(np.array(history["x"]), np.array(history["t"]))


class Recorder:
    def __init__(self):
        self.seen = []

    def note(self, x):
        self.seen.append(x)


def in_an_object(p, n):
    recorder, x = Recorder(), p[0]
    for _ in range(n):
        x = np.cos(x) * p[1]
        recorder.note(x)
    return np.sum(np.array(recorder.seen) ** 2)


def taken_off(p, n):
    stack, total = [], 0.0
    for i in range(n):
        stack.append(p[0] * i)
    while len(stack) > 0:
        total += stack.pop() * p[1]
    return total


def last_replaced(p, n):
    out = []
    for i in range(n):
        out.append(0.0)
        for k in range(i):
            out[-1] += p[0] * k
    return np.sum(np.array(out) ** 2)


def twice(p, n):
    out = []
    for i in range(n):
        out.append(p[0] * i)
    for i in range(n):
        out.append(out[i] * p[1])
    return np.sum(np.array(out) ** 2) + special.logsumexp(out[-3:])


def int_becomes_float(p, n):
    out = [0]
    for i in range(n):
        out.append(out[-1] + p[0] * i)
    return np.sum(np.array(out))


def until_large(x):
    out, k = [x[0]], 0
    while k < len(x) and out[-1] < 1.0:
        out.append(0.7 * out[-1] + 0.2 * x[k] * x[k])
        k += 1
    return np.mean(np.array(out)) + out[-1]


def more_than_there_was_room_for_at_first(p, n):
    out, t = [], p[0]
    while t < 5.0 * n:
        t = t * 1.1 + p[1] * p[1] * 0.1
        out.append(t * p[1])
    return sum(out) + len(out)


def a_while_in_a_for(x):
    out = [x[0]]
    for v in x:
        while v * v > 0.0123:
            v = 0.5 * v
            out.append(v * out[-1] + v)
    return np.sum(np.array(out) ** 2) + len(out)


def a_list_of_its_own_in_each_iteration(x):
    total = 0.0
    for v in x:
        out, t = [], v
        while t < 5.0:
            t = t + 0.3 + v ** 2
            if t > 1.0:
                out.append(t * t)
        total += sum(out)
    return total


def path_of_vectors(x):
    path, v = [x * 1.0], x * x
    while np.sum(path[-1]) < 90.0:
        v = v + 0.1 * path[-1] * path[-1]
        path.append(path[-1] + 0.3 * v)
        if path[-1][0] > 47.1:
            break
    return np.mean(np.stack(path) ** 2)


def pairs_in_a_while(p, n):
    out, t, k = [], p[0], 0
    while t < 0.5 * n:
        t, k = t + 0.37, k + 1
        if t > 1.0:
            out.append((t * p[1], k))
    out.append((p[1], 3))
    return sum(a * b for a, b in out)


def stack_of_work(x):
    todo, total = [x[0], x[1] * 2], 0.0
    while len(todo) > 0:
        v = todo.pop()
        total += np.sin(v)
        if v > 0.2:
            todo.append(v * 0.5)
            todo.append(v * 0.3)
    return total


def work_until_the_list_is_empty(x):
    todo, total = [(0.0, 3.0, x[0])], 0.0
    while todo:
        low, high, v = todo.pop()
        if high - low < 0.7123:
            total += v * (high - low)
        else:
            todo += [(low, 0.5 * (low + high), v * x[1]), (0.5 * (low + high), high, v)]
    return total if not todo else 0.0


def pools_of_violators(x):
    """In the first iteration the inner loop's condition is plainly false: the list had room for one element an
    iteration before the loop showed."""
    level, weight = [], []
    for v in x:
        level.append(v)
        weight.append(1)
        while len(level) > 1 and level[-2] > level[-1]:
            last, n = level.pop(), weight.pop()
            before, m = level.pop(), weight.pop()
            level.append((last * n + before * m) / (m + n))
            weight.append(m + n)
    return level[0] * weight[0] + np.sin(level[-1]) * weight[-1] + len(weight)


def adaptive_steps(p, n):
    ts, ys, h = [0.0], [p[0]], 0.1
    while ts[-1] < 0.1 * n:
        k = -p[1] * ys[-1]
        h = min(h * (0.9 if abs(k * h) > 0.0123 else 1.1), 0.1 * n - ts[-1] + 1e-9)
        ts.append(ts[-1] + h)
        ys.append(ys[-1] + h * k)
    return ys[-1] + np.sum(np.array(ys))


def in_an_object_until_large(p, n):
    recorder, x = Recorder(), p[0]
    while x < n:
        x = x * 1.3 + p[1]
        recorder.note(x)
    return np.sum(np.array(recorder.seen) ** 2)


IN_WHILE = [(f, P, 11) for f in (more_than_there_was_room_for_at_first, pairs_in_a_while, adaptive_steps,
                                 in_an_object_until_large)]
IN_WHILE += [(f, RNG.normal(size=7))
             for f in (until_large, a_while_in_a_for, a_list_of_its_own_in_each_iteration, stack_of_work,
                       work_until_the_list_is_empty, pools_of_violators)]
IN_WHILE += [(path_of_vectors, np.abs(V))]
ON_NUMBERS = [trajectory, two_lists, loops_in_loops, pairs, pairs_as_array, stops, in_a_dict, in_an_object, taken_off,
              last_replaced, twice, int_becomes_float]
ON_VECTORS = [one_array_many_times, copies, changed_after, changed_after_the_loop, changed_element, joined]
CASES = [(f, P, 11) for f in ON_NUMBERS] + [(f, V, 10) for f in ON_VECTORS] + [(changed_list_in_a_list, P, 9)]
CASES += [(f, RNG.normal(size=10), 10) for f in (table, table_in_one_line)]
CASES += [(from_the_last, V, RNG.normal(size=10)), (on_condition, RNG.normal(size=15)),
          (on_one_of_two_conditions, RNG.normal(size=15)), (comprehensions, RNG.normal(size=12))]
COMPILED = [case for case in CASES + IN_WHILE
            if case[0] in (trajectory, table, stops, on_condition, a_while_in_a_for)]
ROLLED = [trajectory, two_lists, loops_in_loops, pairs, pairs_as_array, stops, in_a_dict, in_an_object, taken_off,
          last_replaced, twice, copies, joined]
