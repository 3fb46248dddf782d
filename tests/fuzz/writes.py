"""Further statements of random programs: writes through views of views, out= of many functions, work in place, buffers
that change places."""
from .statement import Statement


class Writes:
    """Ways to change arrays."""

    def nested_view(self, depth):
        """A view of a view, written through, or read after what it lies in was written to."""
        a, v, w = self.pick(self.writable), self.fresh("v"), self.fresh("v")
        outer, inner = self.pick(["1:", ":-1", "::-1", "::2", "1:5"]), self.pick(["1:", "::-1", "::2", ":2"])
        write = self.pick([f"{w}[0] = {self.scalar(1)} * 0.5", f"{w} *= 0.7", f"{v}[1] = {w}[0] + 0.1",
                           f"{a}[2] = 0.5 * {w}[-1]", f"{w}[:] = {v}[0] * 0.3",
                           f"{w} += {w}[::-1] * 0.2"])
        read = Statement(f"{self.sum_name()} += 0.1 * np.sum({self.pick([v, w])})")
        return [Statement(f"{v} = {a}[{outer}]"), Statement(f"{w} = {v}[{inner}]"), Statement(write), read]

    def chained_write(self, depth):
        """Subscripts of subscripts, several targets, tuples of targets."""
        a, b, i = self.pick(self.writable), self.pick(self.writable), self.index()
        options = [f"{a}[1:][0] = {self.scalar(1)} * 0.5", f"{a}[1:][::2] *= 0.8",
                   f"{a}[::-1][{i}] += 0.1 * {self.scalar(1)}", f"{a}[0] = {b}[-1] = {self.scalar(1)}",
                   f"{a}[0], {a}[1] = {a}[1], {a}[0]", f"{a}[1:], {b}[0] = {a}[:-1] * 0.5, {b}[1]",
                   f"{a}[:], {b}[:] = {b} * 0.9, {a} * 0.9",
                   f"{a}[{i}] **= 2", f"{a}[{i}] /= 2.0",
                   f"{a}[{i}:{i} + 2] *= 0.9" if i[0] == "i" else f"{a}[n // 2:] = {b}[:n - n // 2] * 0.7"]
        if self.matrices:
            M = self.pick(self.matrices)
            options += [f"{M}[{i}][1:] += 0.1 * {a}[1:]", f"{M}[1:][:, 0] *= 0.5", f"{M}[:, ::2][{i}] = 0.3",
                        f"{M}[[0, 1]] = {M}[[1, 0]]",
                        f"{M}[{i}], {M}[0] = {M}[0] * 0.5, {M}[{i}] * 0.5", f"{M}[np.arange(n), np.arange(n)] += {a}"]
        return [Statement(self.pick(options))]

    def out_argument(self, depth):
        """Functions that write into what they are given."""
        a, b, s = self.pick(self.writable), self.pick(self.arrays), self.scalar(1)
        options = [f"np.add({a}, {b}, out={a})", f"np.multiply({a}[1:], {s}, out={a}[1:])",
                   f"np.subtract({b}[:-1], {a}[1:], out={a}[1:])",
                   f"np.sin({b}[::2], out={a}[::2])", f"np.cumsum({b} / n, out={a})",
                   f"np.clip({a}, -0.873, 0.913, out={a})", f"np.maximum({a}, {b} - 0.271, out={a})",
                   f"np.add.at({a}, np.array([1, 0, 1]), {b}[1:4] * 0.3)",
                   f"np.subtract.at({a}, {self.index()}, 0.2 * {s})",
                   f"np.add({a}, 0.1, out={a}, where={b} > 0.193)", f"np.place({a}, {b} > 0.911, [0.5])",
                   f"np.put({a}, [0, -1], {s})"]
        if self.matrices:
            M = self.pick(self.matrices)
            options += [f"np.add.at({M}, (0, [1, 1]), {b}[:2])", f"np.matmul({M}, {b}, out={a})",
                        f"np.sum({M}, axis=0, out={a})", f"np.mean({M}, axis=1, out={a})",
                        f"np.tanh({M}, out={M})", f"np.outer({a}, {b}, out={M})", f"np.fill_diagonal({M}, {s})",
                        f"scaled_rows({M}, {a})",
                        f"np.dot({M}, {b}, out={a})"]
        return [Statement(self.pick(options))]

    def in_place_method(self, depth):
        a = self.pick(self.writable)
        options = [f"{a}.sort()", f"{a}[1:4].sort()", f"{a}[::-1].sort()", f"{a}[1:].fill({self.scalar(1)})",
                   f"{a}.fill({self.scalar(1)})",
                   f"{a}.put([0, 2], {self.scalar(1)})", f"shifted({a}, {self.pick(self.arrays)})[0] = 0.3",
                   f"{a} = shifted({a}, {self.pick(self.arrays)}).sum() + {a}"]
        if self.matrices:
            M = self.pick(self.matrices)
            options += [f"{M}.sort(axis=0)", f"{M}[{self.index()}].sort()", f"{M}[:, 1].sort()", f"{M}[1:].fill(0.2)",
                        f"relax({M}[{self.index()}])",
                        f"settle({M}[:, 0], 1)"]
        return [Statement(self.pick(options))]

    def ping_pong(self, depth):
        """Two buffers that change places in each iteration."""
        i, old, new = self.fresh("i"), self.fresh("v"), self.fresh("v")
        a = self.pick(self.arrays)
        step = self.pick([f"{new}[1:-1] = 0.5 * {old}[1:-1] + 0.25 * ({old}[:-2] + {old}[2:])",
                          f"{new}[:] = np.sin({old}) * 0.9",
                          f"{new}[1:] = {old}[:-1] * 0.8", f"{new}[{i} % n] = {old}[0] + {old}[-1] * 0.5"])
        start = self.pick([f"{a}.copy(), np.zeros(n)", f"{a}.copy(), {a}.copy()", f"{a} * 0.5, np.zeros_like({a})"])
        body = [Statement(step), Statement(f"{old}, {new} = {new}, {old}")]
        if self.r.random() < 0.25:
            body.insert(1, Statement(f"if {old}[0] > {self.number()}3:", [Statement(self.pick(["break", "continue"]))]))
        return [Statement(f"{old}, {new} = {start}"),
                Statement(f"for {i} in range({self.pick(['n', '4', '2 * n'])}):", body),
                Statement(f"{self.sum_name()} += 0.2 * np.mean({self.pick([old, new])})")]

    def swapped_matrices(self, depth):
        if len(self.matrices) > 1:
            A, B = self.r.sample(self.matrices, 2)
            return [Statement(f"{A}, {B} = {B}, {A}")]
        return self.swap(depth)

    def moving_part(self, depth):
        """Slices whose ends a loop moves."""
        i, lo, a, b = self.fresh("i"), self.fresh("k"), self.pick(self.writable), self.pick(self.arrays)
        use = self.pick([f"{self.sum_name()} += 0.1 * np.sum({a}[{lo}:{i}])", f"{a}[{lo}:{i} + 1] *= 0.9",
                         f"{self.sum_name()} += 0.1 * {a}[{lo}:{i}] @ {b}[{lo}:{i}]",
                         f"{a}[{lo}:{i} + 1] = np.flip({a}[{lo}:{i} + 1])",
                         f"{self.sum_name()} += 0.2 * np.sum(np.flip({a}[:{i}]) * {b}[:{i}])",
                         f"{a}[{i}:{i} + 2] += 0.1", f"{a}[max({i} - 2, 0):{i}] *= 0.8"])
        move = Statement(f"if {b}[{i}] > {self.number()}3:",
                         [Statement(self.pick([f"{lo} = {i}", f"{lo} = min({lo} + 1, {i})"]))])
        return [Statement(f"{lo} = 0"), Statement(f"for {i} in range(n):", [move, Statement(use)])]

    def reshaped(self, depth):
        """A reshaped array, written through where it is a view."""
        if not self.matrices:
            return self.nested_view(depth)
        M, v = self.pick(self.matrices), self.fresh("v")
        view = self.pick([f"{M}.reshape(-1)", f"{M}.ravel()", f"{M}.reshape(n * n)", f"{M}.T.copy().reshape(-1)",
                          f"{M}[1:].reshape(-1)", f"{M}.flatten()"])
        write = self.pick([f"{v}[1] = {self.scalar(1)} * 0.5", f"{v}[::n + 1] += 0.1", f"{v} *= 0.9",
                           f"{v}[n:] = {v}[:-n] * 0.5"])
        return [Statement(f"{v} = {view}"), Statement(write), Statement(f"{self.sum_name()} += np.mean(np.sin({v}))")]
