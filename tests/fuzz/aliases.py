"""Random programs in which loops and branches exchange the names of arrays, lists and objects, which are read under one
name and changed under another.

No program has more than a few statements, so nearly all of them are about what two names have in common; names.py has
all ways to make a second name. `python -m tests.fuzz.aliases [COUNT] [FIRST]` tries COUNT programs from seed FIRST, and
prints a shrunk program for each failure.
"""

from .statement import Blocks, Statement

LISTS, ARRAYS = "abc", "uvw"
NUMBERS = ("x[0]", "x[1] * 0.5", "s * 0.1", "1.5", "a[0]", "b[1]", "c[0] * 0.3", "u[0]", "v[1]", "w[0]", "o.u[0]",
           "p.u[1]", "D['k'][0]", "L[-1][0]")
TESTS = ("x[2] > 0.2117", "x[1] > 0.3", "s > 1.0173", "a[0] > b[0] + 0.0137", "u[0] > v[0] + 0.0171", "x[1] < s")
RESULTS = ("a[0]", "b[1] * 2.0", "c[0] * 3.0", "u.sum() * 0.7", "v[0] * 1.1", "o.u[0] * 1.3", "p.u[1] * 0.9",
           "q.u.sum()", "D['k'][1] * 0.3", "w[0] * 1.7", "L[0].sum() * 0.4", "L[-1][1]", "e[0] * 0.6")


class Generator(Blocks):
    """Makes one program from a seed: three lists of two numbers, three arrays, and an object, a dict and a list that
    hold some of them."""

    def program(self):
        pick = self.r.choice
        head = ["s = x.sum() * 0.1", "a, b = [x[0], 1.0], [2.0, x[1]]", f"c = {pick(['a', '[0.5, 0.25]'])}",
                "u, v = x[:2] * 1.0, np.ones(2)",
                f"w = {pick(['u', 'v', 'np.zeros(2)', 'v[:2]'])}",
                f"o, p = Point(a), Point({pick(['a', 'b', '[1.0, 2.0]'])})",
                f"q = Point({pick(['u', 'np.zeros(2)'])})", f"D = {{'k': {pick(['a', 'b', '[3.0, x[0]]'])}}}",
                f"e, L = {pick(['a', 'c'])}, [v]"]
        body = [s for _ in range(self.r.randint(1, 3)) for s in self.statement(2)] + self.loop(0)
        return [*map(Statement, head), *body, Statement("return s + " + " + ".join(self.r.sample(RESULTS, 6)))]

    def statement(self, depth):
        kind = self.r.random()
        if depth < 3 and kind < 0.3:
            return self.loop(depth) if kind < 0.13 else self.branch(depth)
        return [Statement(self.r.choice([self.of_lists, self.of_arrays, self.of_holders])())]

    def loop(self, depth):
        """A loop of known count, or one whose count depends on data, which cannot be unrolled."""
        body, before, t = self.iteration(2, depth), [], f"t{depth}"
        if self.r.random() < 0.7:
            before, first, last = self.exchange()
            body = [first, *body, *last]
        if self.r.random() < 0.5:
            return [*before, Statement(f"for k in range({self.r.choice('23')}):", body)]
        return [*before, Statement(f"{t} = 0.0"),
                Statement(f"while {t} < x[2] * 0.5 + {self.r.choice('12')}.0:", [*body, Statement(f"{t} += 1.0")])]

    def exchange(self):
        """An array gets a second name, under which each iteration reads it first; then it is changed, and its first
        name is given away."""
        u, v = self.r.sample("uv", 2)
        second, name = self.r.choice([(f"w = {u}", "w"), (f"q.u = {u}", "q.u"), (f"L.append({u})", "L[-1]"),
                                      (f"L = [{u}]", "L[0]"), (f"w = {u}[::-1]", "w")])
        rebinding = Statement(self.r.choice([f"{u}, {v} = {v}, {u}", f"{u} = {v}", f"{u} = np.zeros(2)",
                                             f"{u} = {name}"]))
        rebinding = self.r.choice([rebinding, Statement(f"if {self.r.choice(TESTS)}:", [rebinding])])
        read = Statement(f"s = s + {name}[{self.r.choice('01')}]")
        write = Statement(f"{u}[{self.r.choice('01')}] += {self.r.choice(NUMBERS)}")
        return [Statement(second)], read, self.r.choice([[write, rebinding], [rebinding, write]])

    def branch(self, depth):
        return [Statement(f"if {self.r.choice(TESTS)}:", self.block(2, depth + 1),
                          self.block(2, depth + 1) if self.r.random() < 0.6 else [])]

    def of_lists(self):
        a, b = self.r.sample(LISTS, 2)
        value, other = self.r.choice(NUMBERS), self.r.choice(NUMBERS)
        return self.r.choice([f"{a} = {b}", f"{a}, {b} = {b}, {a}", f"{a} = [{value}, {other}]",
                              f"{a}[{self.r.choice('01')}] = {value}", f"{a}[0] += {value}",
                              f"{a} = list({b})", f"e = {a}", f"e[0] = {value}", f"{a} = e", f"s = s + {value}"])

    def of_arrays(self):
        u, v = self.r.sample(ARRAYS, 2)
        value = self.r.choice(NUMBERS)
        return self.r.choice([f"{u} = {v}", f"{u}, {v} = {v}, {u}", f"{u}[{self.r.choice('01')}] = {value}",
                              f"{u}[0] += {value}", f"{u} = {v} * 0.5",
                              f"{u} = np.zeros(2)", f"{u} = {v}[::-1]", f"s = s + {u}[0]", f"s = s + {u}.sum() * 0.1"])

    def of_holders(self):
        a, u, value = self.r.choice(LISTS), self.r.choice(ARRAYS), self.r.choice(NUMBERS)
        return self.r.choice([f"o.u = {a}", f"{a} = o.u", "o.u, p.u = p.u, o.u", f"o.u[0] = {value}", f"D['k'] = {a}",
                              f"{a} = D['k']", f"D['k'][1] += {value}",
                              f"q.u = {u}", f"{u} = q.u", f"q.u[1] += {value}", f"L.append({u})", "s = s + L[-1][0]",
                              f"L[0][0] += {value}", f"{u} = L[0]"])


def report(seed, compile=False):
    """None, or the failure of this seed's program with the program shrunk."""
    from . import judge  # which has a Point among its functions
    return judge.report(seed, compile, Generator.of)


if __name__ == "__main__":
    from . import judge
    judge.command(report)
