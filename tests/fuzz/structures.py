"""Further statements of random programs: lists that loops fill, objects, functions within functions, recursion, loops
left in many ways."""
from .statement import Statement

HELPERS = """
def folded(v, depth):
    if depth == 0:
        return np.sum(np.sin(v)) / len(v)
    return 0.6 * folded(v[1:], depth - 1) + 0.3 * np.tanh(v[0])

def halves(v):
    if len(v) < 2:
        return 0.5 * v[0]
    m = len(v) // 2
    return np.sin(halves(v[:m])) + 0.7 * halves(v[m:])

def found_pair(v, level):
    for i in range(len(v)):
        for j in range(i):
            if v[i] * v[j] > level:
                return v[i] - 0.5 * v[j]
        if v[i] < -0.87:
            break
    else:
        return 0.3 * v[0]
    return 0.1 * v[-1]

def shifted(v, w):
    v += 0.1 * w
    return v[1:]

def scaled_rows(A, out):
    for i in range(A.shape[0]):
        out[i] = 0.5 * np.mean(A[i])
    return out

class Body:
    def __init__(self, q):
        self.q, self.p, self.path = q, 0.0, []

    def kick(self, force, step=0.1):
        self.p += step * force
        self.q = self.q + step * self.p

    def mark(self):
        self.path.append(self.q)

    @property
    def energy(self):
        return 0.5 * self.p * self.p + np.sin(self.q)
"""


class Structures:
    """What holds values besides variables and arrays, and ways through loops."""

    def in_loop(self, depth, make, indices):
        """make() where these indices are known."""
        self.indices += indices
        made = make()
        for i in indices:
            self.indices.remove(i)
        return made

    # -- lists -------------------------------------------------------------------------------------

    def filled_list(self, depth):
        """A list that a loop appends to, read as an array or by its elements."""
        out, i = self.fresh("out"), self.fresh("i")
        value = self.in_loop(depth, self.scalar, [i])
        grow = self.pick([f"{out}.append({value})", f"{out} += [{value}]", f"{out}.extend([{value}, 0.5])",
                          f"{out}.append({value} + {out}[-1] * 0.5)"])
        body = [Statement(grow)]
        if self.r.random() < 0.3:
            body = [Statement(f"if {self.in_loop(depth, self.condition, [i])}:", body)]
        use = self.pick([f"np.mean(np.array({out}))", f"sum({out}) / n", f"{out}[-1]", f"max({out})",
                         f"len({out}) * 0.1", f"np.sum(np.sin({out}[::2]))"])
        head = self.pick(["n", "1, n", "2 * n"])
        return [Statement(f"{out} = [{self.scalar(1)}]"), Statement(f"for {i} in range({head}):", body),
                Statement(f"{self.sum_name()} = np.tanh({use})")]

    def list_of_arrays(self, depth):
        """States kept along the way of a loop."""
        out, i, a = self.fresh("out"), self.fresh("i"), self.pick(self.writable)
        value = self.in_loop(depth, lambda: self.array(1), [i])
        body = [Statement(f"{a} = np.tanh({value}) * 0.9"),
                Statement(f"{out}.append({self.pick([a, a + '.copy()', a + '[1:]'])})")]
        use = self.pick([f"np.sum(np.array({out})) / n", f"np.mean(np.stack({out}))", f"{out}[0] @ {out}[-1]",
                         f"np.sum({out}[1]) / n",
                         f"sum(np.sum(u) for u in {out}) / n"])
        return [Statement(f"{out} = []"), Statement(f"for {i} in range({self.pick(['n', '3', '1, n'])}):", body),
                Statement(f"{self.sum_name()} = np.sin({use})")]

    def list_in_while(self, depth):
        """A list that grows for as long as something holds."""
        out, k, a = self.fresh("out"), self.fresh("k"), self.pick(self.arrays)
        body = [Statement(f"{out}.append(0.7 * {out}[-1] + 0.2 * {a}[{k}])"), Statement(f"{k} += 1")]
        head = [Statement(f"{out}, {k} = [{self.scalar(1)}], 0"),
                Statement(f"while {k} < n and {out}[-1] < {self.number()}9:", body)]
        read, value = self.sum_name(), self.pick([f"np.mean(np.array({out}))", f"{out}[-1]", f"sum({out}) / n"])
        return [*head, Statement(f"{read} = {value}")]

    def list_items(self, depth):
        """A list whose elements change."""
        out, i = self.fresh("out"), self.fresh("i")
        body = [Statement(self.pick([f"{out}[{i} % 3] = 0.5 * {out}[{i} % 3] + 0.1 * {self.pick(self.arrays)}[{i}]",
                                     f"{out}[0] += 0.1 * {out}[1]",
                                     f"{out}[0], {out}[1] = {out}[1], np.sin({out}[0])"]))]
        start = ", ".join(self.scalar(1) for _ in range(3))
        return [Statement(f"{out} = [{start}]"), Statement(f"for {i} in range(n):", body),
                Statement(f"{self.sum_name()} = {out}[0] + {out}[2]")]

    def conditional_comprehension(self, depth):
        a, i, u = self.pick(self.arrays), self.fresh("i"), self.fresh("u")
        value = self.pick([f"np.sin({u}) * {self.scalar(0)}", f"{u} * {u} + 0.1", f"{u} if {u} > 0.157 else 0.5 * {u}"])
        form = self.pick([f"sum({value} for {u} in {a}) / n", f"sum([{value} for {u} in {a} if {u} > 0.137]) / n",
                          f"np.sum(np.array([{i} * {u} for {i}, {u} in enumerate({a})])) / n",
                          f"max([{u} * 0.5 for {u} in {a}[::-1]])",
                          f"np.mean(np.array([[{u} * {i} for {i} in range(3)] for {u} in {a}]))",
                          f"np.sum(np.array([{u} - v for {u}, v in zip({a}, {self.pick(self.arrays)})]) ** 2) / n"])
        return [Statement(f"{self.sum_name()} = {form}")]

    # -- objects and dicts -------------------------------------------------------------------------

    def state_dict(self, depth):
        """A dict that a loop carries."""
        d, i = self.fresh("d"), self.fresh("i")
        step = self.pick([f"{d}['p'] += 0.1 * {self.pick(self.arrays)}[{i}] - 0.05 * {d}['q']",
                          f"{d}['q'] = {d}['q'] + 0.1 * {d}['p']"])
        body = [Statement(step), Statement(f"if {d}['p'] > {self.number()}3:", [Statement(f"{d}['q'] *= 0.9")])]
        return [Statement(f"{d} = {{'q': {self.scalar(1)}, 'p': {self.scalar(1)}}}"),
                Statement(f"for {i} in range(n):", body),
                Statement(f"{self.sum_name()} = np.tanh({d}['q'] + {d}['p'])")]

    def object_state(self, depth):
        """An object that a loop changes by its methods."""
        b, i, name = self.fresh("b"), self.fresh("i"), self.sum_name()
        body = [Statement(f"{b}.kick({self.in_loop(depth, lambda: self.scalar(1), [i])} - 0.3 * {b}.q)")]
        if self.r.random() < 0.3:
            body.append(Statement(f"{b}.mark()"))
        if self.r.random() < 0.3:
            body.append(Statement(f"if {b}.q > {self.number()}3:",
                                  [Statement(self.pick([f"{b}.p = -0.5 * {b}.p", "break", "continue"]))]))
        result = self.pick([f"{b}.energy", f"{b}.q", f"{b}.p + 0.1 * len({b}.path)"])
        return [Statement(f"{b} = Body({self.scalar(1)})"), Statement(f"for {i} in range(n):", body),
                Statement(f"{name} = np.tanh({result})")]

    # -- functions ---------------------------------------------------------------------------------

    def inner_function(self, depth):
        """A function within f, with a loop or a branch of its own, that reads or changes what is around it."""
        g, u, i, s, a = self.fresh("g"), self.fresh("u"), self.fresh("i"), self.sum_name(), self.pick(self.writable)
        body = self.pick([
            [Statement(f"for {i} in range(3):", [Statement(f"{u} = 0.5 * {u} + 0.1 * {s}")]), Statement(f"return {u}")],
            [Statement(f"nonlocal {s}"), Statement(f"{s} = 0.5 * {s} + 0.1 * {u}"), Statement(f"return {u} * 0.5")],
            [Statement(f"{a}[0] = 0.5 * {u}"), Statement(f"return {a}[1] + {u}")],
            [Statement(f"if {u} > 0.173:", [Statement(f"return {u} * {u}")]), Statement(f"return -0.3 * {u}")]])
        use = Statement(f"{s} = {g}({self.scalar(1)})")
        if body[0].head.startswith("nonlocal"):
            use = Statement(f"{self.pick(self.writable)}[1] += 0.2 * {g}({self.scalar(1)})")
        if self.r.random() < 0.5:
            use = Statement(f"for {self.fresh('i')} in range({self.pick(['3', 'n'])}):", [use])
        return [Statement(f"def {g}({u}, w=0.4):", body), use]

    def recursion(self, depth):
        a = self.pick(self.arrays)
        call = self.pick([f"folded({a}, 3)", f"halves({a})", f"found_pair({a}, {self.number()}1)",
                          f"found_pair({a}[::-1], {self.number()}1)"])
        return [Statement(f"{self.sum_name()} += 0.5 * {call}")]

    # -- loops -------------------------------------------------------------------------------------

    def left_while(self, depth):
        """A while loop that is left, gone on with, or run to its end."""
        k, s, a = self.fresh("k"), self.sum_name(), self.pick(self.arrays)
        leave = Statement(f"if {self.pick([s, f'{a}[{k}]', f'{a}[{k}] * {s}'])} > {self.number()}3:",
                          [Statement(self.pick(["break", "continue"]))])
        body = [Statement(f"{k} += 1"), leave, *self.in_loop(depth, lambda: self.block(2, depth + 1), [f"({k} % n)"])]
        end = [Statement(f"{s} -= 0.2 * {a}[0]")] if self.r.random() < 0.5 else []
        return [Statement(f"{k} = 0"), Statement(f"while {self.pick(['True', f'{k} < n - 1', f'{s} > -2.13'])}:",
                                                 [Statement(f"if {k} >= n - 1:", [Statement("break")]), *body], end)]

    def more_items(self, depth):
        """Further ways to go over arrays."""
        a, b, c = self.pick(self.arrays), self.pick(self.arrays), self.pick(self.arrays)
        i, j, u, v, w = (self.fresh(letter) for letter in "ijuvw")
        head, scalars, indices = self.pick([
            (f"for {u} in reversed({a}.copy()):", [u], []),
            (f"for {u}, {v}, {w} in zip({a}.copy(), {b}.copy(), {c}[::-1].copy()):", [u, v, w], []),
            (f"for {i}, {u} in enumerate({a}.copy()[1:], start=1):", [u], [i]),
            (f"for {i}, {u} in zip(range(n - 1, -1, -1), {a}.copy()):", [u], [i]),
            (f"for {u} in {a}[::2].copy():", [u], []), (f"for {i}, {j} in enumerate(range(1, n)):", [], [i, j]),
            (f"for {u}, {v} in [({a}[0], 0.3), ({b}[1], {c}[2])]:", [u, v], []), (f"for {i} in (0, 2, 1):", [], [i]),
            (f"for {i} in np.arange(n):", [], [i]), (f"for {i} in range(len({a}) - 1):", [], [i])])
        self.scalars += scalars
        body = self.in_loop(depth, lambda: self.block(2, depth + 1), indices)
        self.scalars = [s for s in self.scalars if s not in scalars]
        return [Statement(head, body)]

    def pairs(self, depth):
        """Two loops, of which the inner one may end the outer one's iteration or f itself."""
        i, j, a, s = self.fresh("i"), self.fresh("j"), self.pick(self.arrays), self.sum_name()
        out = self.pick([["break"], ["continue"], [f"{s} += 0.1", "break"], [f"return {s} + {a}[{i}] * 0.5"]])
        inner = [Statement(f"if {a}[{i}] - {a}[{j}] > {self.number()}3:", list(map(Statement, out))),
                 Statement(f"{s} += 0.05 * {a}[{i}] * {a}[{j}]")]
        end = self.pick([[], [Statement(f"{s} *= 0.8")], [Statement("break")]])
        return [Statement(f"for {i} in range(n):",
                          [Statement(f"for {j} in range({self.pick([i, 'n', f'{i} + 1, n'])}):", inner, end)])]

    def becomes_float(self, depth):
        """Ints that branches and loops make floats."""
        m, i = self.fresh("m"), self.fresh("i")
        step = self.pick([Statement(f"{m} = {m} * 0.5 + {self.pick(self.arrays)}[{i}]"), Statement(f"{m} += {i}"),
                          Statement(f"{m} /= 2"),
                          Statement(f"{m} = {m} + 1 if {self.pick(self.arrays)}[{i}] > 0.117 else {m} - 0.5"),
                          Statement(f"if {self.pick(self.arrays)}[{i}] > 0.253:", [Statement(f"{m} = 1")],
                                    [Statement(f"{m} = {self.scalar(1)}")])])
        return [Statement(f"{m} = {self.pick(['0', '1', '2 ** 3'])}"), Statement(f"for {i} in range(n):", [step]),
                Statement(f"{self.sum_name()} += np.tanh(0.1 * {m})")]
