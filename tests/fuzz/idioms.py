"""Further statements of random programs: what people write besides counting loops. Mixed into the generator of
generate.py."""
from .statement import Statement

HELPERS = """
def settle(v, k):
    v[k] = np.sin(v[k]) + 0.1 * v[k - 1]

def relax(v, rate=0.3):
    for j in range(1, len(v)):
        v[j] += rate * (np.tanh(v[j - 1]) - v[j])

def first_above(v, level):
    for j in range(len(v)):
        if v[j] > level:
            return v[j] * (1.0 + 0.1 * j)
    return 0.25 * v[-1]

def halved(u):
    k = 0
    while u * u > 0.0423 and k < 6:
        u = 0.5 * u
        k += 1
    return u + 0.01 * k

def swept(A):
    total = 0.0
    for i in range(A.shape[0]):
        for j in range(i + 1):
            total = 0.6 * total + np.sin(A[i, j]) * A[j, i]
    return total
"""


class Idioms:
    """Loops over items, counters, swaps, aliases, functions that change their argument, early ends."""

    def items(self, depth):
        """A loop over the elements of arrays."""
        a, b = self.pick(self.arrays), self.pick(self.arrays)
        i, u, v = self.fresh("i"), self.fresh("u"), self.fresh("u")
        heads = [(f"for {u} in {a}:", [u], []), (f"for {u}, {v} in zip({a}, {b}):", [u, v], []),
                 (f"for {i}, {u} in enumerate({a}):", [u], [i]),
                 (f"for {u}, {v} in zip({a}[1:], {b}[:-1]):", [u, v], []),
                 (f"for {i} in reversed(range(1, n)):", [], [i]),
                 (f"for {i}, ({u}, {v}) in enumerate(zip({a}, {b})):", [u, v], [i])]
        head, scalars, indices = self.pick(heads)
        # an array that is written to while it is iterated over: through a copy
        if a in self.writable or b in self.writable:
            head = head.replace(f" {a}",
                                f" {a}.copy()").replace(f"({a}", f"({a}.copy()").replace(f" {b}", f" {b}.copy()")
        self.scalars += scalars
        self.indices += indices
        body = self.block(3, depth + 1)
        self.scalars = [s for s in self.scalars if s not in scalars]
        self.indices = [x for x in self.indices if x not in indices]
        return [Statement(head, body)]

    def counter(self, depth):
        """An integer that a loop carries and uses as a subscript."""
        k, i, a = self.fresh("k"), self.fresh("i"), self.pick(self.writable)
        name = self.sum_name()
        step = self.pick([f"{k} += 1", f"{k} += 2", f"{k} = {k} + {i} % 2", f"{k} = ({k} * 3 + 1) % n"])
        condition = self.condition()
        use = Statement(self.pick([f"{name} += 0.2 * {a}[{k} % n]", f"{a}[{k} % n] += 0.3 * np.tanh({name})",
                                   f"{a}[min({k}, n - 1)] *= 0.7"]))
        body = [Statement(f"if {condition}:", [Statement(step)]), use]
        return [Statement(f"{k} = 0"), Statement(f"for {i} in range(n):", body), Statement(f"{name} += 0.05 * {k}")]

    def scan_while(self, depth):
        """A while loop that walks along an array until something holds."""
        k, a = self.fresh("k"), self.pick(self.arrays)
        name = self.sum_name()
        # a `continue` must not skip the step
        body = [Statement(f"{name} += 0.1 * {a}[{k}]"), Statement(f"{k} += 1"), *self.block(1, depth + 1)]
        return [Statement(f"{k} = 0"), Statement(f"while {k} < n and {a}[{k}] < {self.number()}3:", body)]

    def integer_start(self, depth):
        """A sum that begins as the integer zero."""
        name, i = self.fresh("s"), self.fresh("i")
        self.indices.append(i)
        value = self.scalar()
        self.indices.remove(i)
        loop = Statement(f"for {i} in range(n):", [Statement(f"{name} += 0.1 * {value}")])
        if not depth:
            self.scalars.append(name)
        return [Statement(f"{name} = 0"), loop]

    def swap(self, depth):
        if len(self.writable) > 1:
            a, b = self.r.sample(self.writable, 2)
            return [Statement(f"{a}, {b} = {b}, {a}")]
        s = self.sum_name()
        return [Statement(f"{s}, {self.sum_name()} = {self.scalar()}, {s} * 0.5")]

    def alias(self, depth):
        """Two names for one array, one of them written through."""
        a, name = self.pick(self.writable), self.fresh("v")
        write = self.pick([f"{name}[1] = 0.4 * {name}[0]", f"{name} += 0.1", f"{a}[2] = {name}[0] * 0.3"])
        return [Statement(f"{name} = {a}"), Statement(write)]

    def kept_view(self, depth):
        """A view that a loop writes through."""
        a, v, i = self.pick(self.writable), self.fresh("v"), self.fresh("i")
        part = self.pick(["1:", ":-1", "::-1", "::2", "1:5"])
        write = self.pick([f"{v}[0] += 0.2 * {a}[{i}]", f"{v}[{i} % 3] = 0.5 * {v}[{i} % 2] + 0.1", f"{v} *= 0.9",
                           f"{a}[{i}] = {v}[{i} % 3] * 0.6"])
        return [Statement(f"{v} = {a}[{part}]"),
                Statement(f"for {i} in range({self.pick(['n', '3', '1, n'])}):", [Statement(write)])]

    def mutating_call(self, depth):
        a = self.pick(self.writable)
        return [Statement(self.pick([f"settle({a}, {self.pick(['1', '-1', 'n // 2', *self.indices])})", f"relax({a})",
                                     f"relax({a}[1:], 0.2)",
                                     f"relax({a}[::-1])"]))]

    def library_write(self, depth):
        a, b = self.pick(self.writable), self.pick(self.arrays)
        return [Statement(self.pick([f"np.add.at({a}, [0, 2, 0], {b}[:3] * 0.2)", f"np.multiply({a}, 0.8, out={a})",
                                     f"np.tanh({b}, out={a})",
                                     f"{a}.fill({self.scalar(1)})", f"{a}[:] = {b}", f"{a}[...] = {b} * 0.7",
                                     f"np.copyto({a}, np.sin({b}))",
                                     f"{a}[[0, 2]] = {a}[[2, 0]]", f"{a}[{b} > 0.217] *= 0.6",
                                     f"{a}[1:], {b}_ = {a}[:-1] * 0.9, 0.0"]))]

    def comprehension(self, depth):
        i = self.fresh("i")
        self.indices.append(i)
        value = self.scalar(1)
        self.indices.remove(i)
        return [Statement(f"{self.pick(self.writable)} = np.array([{value} for {i} in range(n)]) * 0.9")]

    def early_return(self, depth):
        if self.r.random() < 0.6:
            return self.update_scalar(depth)
        return [Statement(f"if {self.condition()}:",
                          [Statement(f"return {self.scalar()} + np.sum({self.pick(self.arrays)})")])]

    def searched(self, depth):
        """A loop with an else clause: it ends at the first element that is large."""
        i, a, name = self.fresh("i"), self.pick(self.arrays), self.sum_name()
        found = Statement(f"if {a}[{i}] > {self.number()}7:", [Statement(f"{name} += {a}[{i}]"), Statement("break")])
        return [Statement(f"for {i} in range(n):", [found], [Statement(f"{name} -= 0.3 * {a}[0]")])]

    def closure(self, depth):
        """A function defined where it is used, that reads the variables around it."""
        g, s = self.fresh("g"), self.sum_name()
        return [Statement(f"{g} = lambda u, w=0.4: np.tanh(u) * w + {self.pick(self.scalars)} * 0.2"),
                Statement(f"{s} = {g}({self.scalar(1)})")]


class Matrices:
    """Arrays of two axes, n x n: items, rows that are views, triangles, products with growing slices."""

    def matrix(self):
        """A matrix expression."""
        M, a = self.pick(self.matrices), self.pick(self.arrays)
        return self.pick([M, f"{M}.T", f"np.tanh({M})", f"{M} * {a}", f"{M} * {a}[:, None]",
                          f"np.outer({a}, {self.pick(self.arrays)}) / n", f"{M}[::-1]",
                          f"({M} @ {self.pick(self.matrices)}) / n"])

    def new_matrix(self, depth):
        a = self.pick(self.arrays)
        value = self.pick([f"np.outer({a}, {self.pick(self.arrays)})", "np.zeros((n, n))", "np.eye(n)",
                           f"np.tile({a}, (n, 1))", f"np.diag({a})",
                           f"{a}[:, None] - {self.pick(self.arrays)}"])
        if depth and not self.matrices:
            return self.update_scalar(depth)
        if depth:
            return [Statement(f"{self.pick(self.matrices)} = {self.matrix()} * 1.0")]
        name = self.fresh("M")
        self.matrices.append(name)
        return [Statement(f"{name} = {value} * 1.0")]

    def matrix_write(self, depth):
        if not self.matrices:
            return self.new_matrix(depth)
        M, a = self.pick(self.matrices), self.pick(self.arrays)
        options = [f"{M}[{self.index()}, {self.index()}] {self.pick(['=', '+='])} {self.scalar()} * 0.5",
                   f"{M}[{self.index()}] {self.pick(['=', '+=', '*='])} {self.array(1)} * 0.5",
                   f"{M}[:, {self.index()}] += 0.3 * {a}", f"{M}[1:, :-1] -= 0.2 * {M}[:-1, 1:]", f"{M} *= 0.9",
                   f"{M}[0, 1:] = {M}[1:, 0] * 0.5",
                   f"{M}[{self.index()}, ::2] += 0.1", f"{M}.T[{self.index()}] *= 0.8",
                   *(f"{M}[{i}, :{i}] = 0.5 * {M}[:{i}, {i}]" for i in self.indices),
                   *(f"{M}[{i}:, {i}] *= 0.9" for i in self.indices)]
        return [Statement(self.pick(options))]

    def row_view(self, depth):
        if not self.matrices:
            return self.new_matrix(depth)
        M, v = self.pick(self.matrices), self.fresh("v")
        part = self.pick([f"{M}[{self.index()}]", f"{M}[:, {self.index()}]", f"{M}[{self.index()}, 1:]", f"{M}.T[1]",
                          f"np.diagonal({M}).copy()", f"{M}.reshape(-1)",
                          f"{M}[1:, 1:]"])
        write = self.pick([f"{v}[1] = {self.scalar(1)} * 0.5", f"{v} *= 0.8", f"{v}[0] += 0.3 * {v}[-1]",
                           f"{v}[1:] += 0.1"])
        return [Statement(f"{v} = {part}"), Statement(write)]

    def triangle(self, depth):
        """Nested loops over a triangle, with products of slices that grow."""
        if not self.matrices:
            return self.new_matrix(depth)
        M, i, j = self.pick(self.matrices), self.fresh("i"), self.fresh("j")
        inner = self.pick([f"{i}", f"{i} + 1", f"{i}, n", f"{i} + 1, n"])
        body = self.pick([f"{M}[{i}, {j}] -= 0.2 * ({M}[{i}, :{j}] @ {M}[:{j}, {j}])",
                          f"{M}[{i}, {j}] = np.tanh({M}[{i}, {j}] + 0.3 * {M}[{j}, {i}])",
                          f"{M}[{j}, {i}] += 0.1 * np.dot({M}[{i}, :{i}], {M}[{j}, :{i}])",
                          f"{self.sum_name()} += 0.05 * {M}[{i}, {j}]",
                          f"{M}[{i}, {j}] += 0.1 * np.sum({M}[:{i} + 1, {j}])"])
        return [Statement(f"for {i} in range(n):", [Statement(f"for {j} in range({inner}):", [Statement(body)])])]

    def rows(self, depth):
        """A loop over the rows of a matrix, read or written through."""
        if not self.matrices:
            return self.new_matrix(depth)
        M, v = self.pick(self.matrices), self.fresh("v")
        body = self.pick([f"{self.sum_name()} += 0.1 * np.mean({v})", f"{v}[0] = 0.5 * {v}[1]", f"{v} *= 0.9",
                          f"{self.sum_name()} += 0.1 * {v} @ {self.pick(self.arrays)} / n"])
        return [Statement(f"for {v} in {M}:", [Statement(body)])]

    def from_matrix(self, depth):
        if not self.matrices or depth:
            return self.new_matrix(depth)
        M, name = self.pick(self.matrices), self.fresh("a")
        value = self.pick([f"{M} @ {self.pick(self.arrays)} / n", f"np.sum({M}, axis=0)", f"np.mean({M}, axis=1)",
                           f"{M}[{self.index()}].copy()",
                           f"np.diag({M}).copy()", f"np.max({M}, axis=0)", f"{self.pick(self.arrays)} @ {M} / n"])
        self.arrays.append(name), self.writable.append(name)
        return [Statement(f"{name} = {value}")]
