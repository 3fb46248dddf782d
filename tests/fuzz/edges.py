"""Statements of random programs where arithmetic has edges: ties met exactly, cancellations, whole numbers, complex
numbers."""
from .statement import Statement

HELPERS = """
def compensated(v):
    total, lost = 0.0, 0.0
    for u in v:
        y = u - lost
        t = total + y
        lost = (t - total) - y
        total = t
    return total

def two_sum(a, b):
    s = a + b
    part = s - a
    return s, (a - (s - part)) + (b - part)

def steps_to_one(e):
    k = 0
    while 1.0 + e != 1.0 and k < 80:
        e = e * 0.5
        k += 1
    return k

def escape(c, most=7):
    z, k = 0.0 * c, 0
    while abs(z) < 1.5 and k < most:
        z = z * z + c
        k += 1
    return z.real + 0.3 * z.imag + 0.1 * k

def random_numbers(count, seed=12345):
    state, found = seed, []
    for j in range(count):
        state = (1103515245 * state + 12345) % 2147483648
        found.append(state / 2147483648)
    return found
"""


class Edges:
    """Where rounding, equality and the kinds of numbers matter."""

    def tie(self, depth):
        """Functions with a kink, of arguments that meet it exactly."""
        a, b, s, i = self.pick(self.arrays), self.pick(self.arrays), self.sum_name(), self.index()
        arrays = [f"np.maximum({a}, {a} * 1.0)", f"np.minimum({a}, {a}[::-1])", f"np.clip({a}, {a}[{i}], 0.613)",
                  f"np.where({a} >= {a}[{i}], {a}, 0.5 * {a}[{i}])",
                  f"np.sign({a} - {a}[{i}]) * {b}", f"np.abs({a} - {a}[{i}])",
                  f"np.sort(np.concatenate(({a}, {a})))[::2]", f"np.fmax({a}, {a}[{i}])",
                  f"np.heaviside({a} - {a}[{i}], 0.5) * {b}",
                  f"np.maximum.accumulate(np.concatenate(({a}[:1], {a}[:-1])))",
                  f"{b}[np.argsort({a} > 0.113, kind='stable')]",
                  f"np.maximum(np.minimum({a}, {a}[{i}]), {a}[{i}])", f"np.where({a} == {a}[{i}], {b}, {a} * 0.5)",
                  f"np.hypot({a} - {a}[{i}], 0.3 * {b})"]
        scalars = [f"max({s}, {s} * 1.0)", f"np.max(np.stack([{a}, {a}]))", f"np.max(np.minimum({a}, {a}[{i}]))",
                   f"{b}[np.argmax(np.floor(2.0 * {a}))]",
                   f"{b}[np.argmax({a} > 0.117)]", f"np.median(np.concatenate(({a}, {b}, {a})))",
                   f"abs({s} - {s}) + 0.1 * {s}", f"min({a}[{i}], {s}, {a}[{i}])",
                   f"{b}[np.searchsorted(np.sort({a}), {a}[{i}]) % n]",
                   f"{b}[np.searchsorted(np.sort({a}), {a}[{i}], side='right') % n]",
                   f"({s} if {a}[{i}] <= {a}[{i}] * 1.0 else 0.3)", f"np.min(np.abs({a} - {a}[{i}])) + 0.2 * {s}",
                   f"np.ptp(np.clip({a}, {a}[0], {a}[0] + 0.2))",
                   f"np.count_nonzero({a} == {a}[{i}]) * 0.1 * {s}", f"np.linalg.norm(np.maximum({a} - {a}[{i}], 0.0))"]
        if self.r.random() < 0.5:
            return [Statement(f"{self.pick(self.writable)} = {self.pick(arrays)} * 1.0")]
        return [Statement(f"{s} = np.tanh({self.pick(scalars)})")]

    def tie_in_loop(self, depth):
        """A loop whose conditions some iteration meets exactly."""
        a, s, i, best = self.pick(self.arrays), self.sum_name(), self.fresh("i"), self.fresh("u")
        compare = self.pick(["<", "<=", ">", ">=", "=="])
        other = self.pick([f"{a}[1]", f"{a}[n - 1 - {i}]", f"{best}", f"max({best}, {a}[{i}])"])
        body = [Statement(f"if {a}[{i}] {compare} {other}:",
                          [Statement(self.pick([f"{best} = {a}[{i}]", f"{best} = 0.5 * {best} + {i}", "continue"]))],
                          [Statement(f"{best} = {best} + 0.1 * {a}[{i}]")])]
        return [Statement(f"{best} = {a}[0]"), Statement(f"for {i} in range(n):", body),
                Statement(f"{s} += np.tanh({best})")]

    def cancellation(self, depth):
        """Sums whose rounding errors are what is wanted: they may not be taken in another order.

        The errors are made as large as values need in order to show them. Where next to nothing of x comes through,
        they have a slope of their own, the same in all precisions and with all steps; so they are not made larger.
        """
        s, t, a, u, v = self.sum_name(), self.scalar(1), self.pick(self.arrays), self.fresh("u"), self.fresh("u")
        other, factor = self.pick([("1e6", "10.0"), ("-3e9", "0.005"), (s, "1e4")])
        pair = [Statement(f"{u}, {v} = two_sum({t}, {other})"),
                Statement(f"{s} += np.tanh({factor} * {v}) + 1e-9 * {u}")]
        alone = self.pick([f"(({t} + 1e8) - 1e8)", f"(({s} + 3e9) - 3e9)", f"compensated({a}) - {a}[0]",
                           f"compensated(np.concatenate((np.array([1e9]), {a}, np.array([-1e9]))))",
                           f"0.01 * steps_to_one({t})", f"(math.log(1.0 + 2.0 ** -30 * {a}[0]) * 2.0 ** 30 - {a}[0])",
                           f"math.expm1(1e-9 * {t}) * 1e9",
                           f"(1.0 - math.cos(2.0 ** -12 * {a}[1])) * 2.0 ** 24",
                           f"np.sum(np.diff(np.cumsum({a} + 1e6)) - 1e6) / n"])
        return self.pick([pair, [Statement(f"{s} = np.tanh({alone})")]])

    def whole_numbers(self, depth):
        """Whole numbers below zero, divided, wrapped around, and used as subscripts."""
        s, a, k, i = self.sum_name(), self.pick(self.arrays), self.fresh("k"), self.fresh("i")
        j = self.pick([*self.indices, "n", "len(x)"])
        number = self.pick([f"({j} - 4) // 3", f"({j} - 4) % 3", f"(2 - {j}) // -2", f"({j} - 5) % -4", f"(-2) ** {j}",
                            f"3 ** {j} % 7", f"divmod({j} - 5, 3)[1]", f"-{j} // 2", f"abs({j} - 4)", f"({j} << 2) ^ 5",
                            f"({j} - 3) >> 1", f"~{j} & 6", f"int({j} / 2)", f"round({j} / 4)",
                            f"min({j}, 3) * max(2, {j} - 4)", f"int({a}[1] * 7.0)", f"math.floor({a}[0] * 5.0)",
                            f"int(np.sum({a} > 0.123))", f"int(np.argmax({a}))",
                            f"math.gcd(12, {j})" if j == "n" else f"{j} * {j}"])
        array = self.pick(["(np.arange(n) - 3) // 2", "(np.arange(n) - 3) % -4", "np.arange(n) ** 2 - 7",
                           "np.power(np.arange(n) - 2, 3) % 5",
                           "np.abs(np.arange(n) - 2) << 1", "(np.arange(n) - 4) >> 1", "np.cumsum(np.arange(n) % 3)",
                           "-np.arange(n) // 2",
                           "np.argsort(x)", "(x > 0.1).astype(int)", "np.sign(np.arange(n) - 2)",
                           "np.fmod(np.arange(n) - 3, 2)"])
        iterations = [Statement(self.pick([f"{k} = ({k} * 1103515245 + 12345) % 2147483648",
                                           f"{k} = {k} // 2 if {k} % 2 == 0 else 3 * {k} + 1",
                                      f"{k} -= {i} - 2", f"{k} ^= {i} * 5",
                                      f"{k} = -{k} // 2 + {i}"]))]
        use = self.pick([f"{s} += 0.1 * {a}[{k} % n]", f"{s} += np.tanh(0.01 * {k}) * {a}[0]"])
        loop = [Statement(f"{k} = {number}"), Statement(f"for {i} in range(n):", [*iterations, Statement(use)])]
        return self.pick([loop, [Statement(f"{k} = {number}"), Statement(use)],
                          [Statement(f"{s} += 0.1 * np.tanh(np.sum(0.01 * ({array}) * {a}))")],
                          [Statement(f"{s} += 0.1 * np.mean({a}[({array}) % n])")],
                          [Statement(f"{self.pick(self.writable)}[{array} % n] += 0.1 * {a}")],
                          [Statement(f"{s} += 0.1 * random_numbers(n)[({number}) % n] * {a}[1]")]])

    def steps(self, depth):
        """Functions that are constant but for steps."""
        s, t, a = self.sum_name(), self.scalar(1), self.pick(self.arrays)
        value = self.pick([f"{t} // 0.37", f"{t} % 0.41", f"-{t} % 0.53", f"math.fmod({t}, 0.43)",
                           f"np.fmod({t}, -0.43)", f"math.floor({t} * 3.0)",
                           f"round({t} * 4.0)",
                           f"np.trunc({t} * 5.0)", f"np.rint({t} * 3.0)", f"divmod({t}, 0.61)[1]", f"{t} - round({t})",
                           f"math.copysign(0.4, {t})",
                           f"np.mean({a} % 0.37)",
                           f"np.sum(np.floor({a} * 3.0) * {a})", f"np.mean(np.modf({a} * 2.0)[0])",
                           f"np.mean(np.divmod({a}, 0.3)[1])"])
        return [Statement(f"{s} = np.tanh({value})")]

    def complex_numbers(self, depth):
        """Complex values on the way to a real one."""
        s, t, a, b = self.sum_name(), self.scalar(1), self.pick(self.arrays), self.pick(self.arrays)
        z, i = self.fresh("z"), self.fresh("i")
        start = self.pick([f"{a} + 1j * {b}", f"np.exp(1j * {a})", f"np.sqrt({a} + 0j)", f"np.fft.fft({a})",
                           f"np.zeros(n, dtype=complex) + {a}",
                           f"({a} + 0.5j) / ({b} - 2j)",
                           f"np.log({a} + 0.3j)", f"np.conj({a} * (0.4 + 0.1j))"])
        change = self.pick([[Statement(f"{z}[1] = {z}[0] * 1j")], [Statement(f"{z}[1:] *= 0.5 - 0.3j")],
                            [Statement(f"{z}.real[0] = {t}")],
                            [Statement(f"{z}.imag *= 0.5")],
                            [Statement(f"for {i} in range(1, n):",
                                       [Statement(f"{z}[{i}] = 0.5 * {z}[{i} - 1] * {z}[{i}] + 0.1j")])],
                            [Statement(f"for {i} in range(3):", [Statement(f"{z} = {z} * np.exp(0.2j) + {b}")])],
                            [Statement(f"if {z}[0].imag > 0.117:", [Statement(f"{z} = np.conj({z})")])], []])
        read = self.pick([f"np.sum(np.abs({z}) ** 2) / n", f"np.sum({z}).real / n", f"np.vdot({z}, {z}).real / n",
                          f"np.mean(np.angle({z} + 3.0))",
                          f"({z}[0] * {z}[1].conjugate()).imag",
                          f"np.mean(np.fft.ifft({z}).real)", f"abs({z}[1])", f"np.mean(np.tanh({z}.imag))",
                          f"np.real({z} @ np.conj({z})) / n",
                          f"np.abs(np.prod({z}) / 4.0)"])
        if self.r.random() < 0.25:
            start = self.pick([f"complex({t}, 0.3)", f"{t} + 0.6j", f"0.4 * {t} - 0.2j"])
            return [Statement(f"{s} = np.tanh(escape({start}))")]
        return [Statement(f"{z} = {start}"), *change, Statement(f"{s} = np.tanh({read})")]
