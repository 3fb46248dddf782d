"""Random programs in which one thing has several names: arrays, views, lists, dicts and objects, bound anew by loops
and branches, and changed.

What is bound to what depends on data (`b = a if t > 0.3 else c`), on a loop's index (`L[k % 3]`, `pts[k].u`) and on
functions that hand back one of their arguments. `python -m tests.fuzz.names [COUNT] [FIRST]` tries COUNT programs from
seed FIRST, and prints a shrunk program for each failure.
"""

from .statement import Blocks, Statement

HELPERS = """
class Point:
    def __init__(self, u, weight=0.5):
        self.u, self.weight = u, weight

    def move(self, step):
        self.u[0] += 0.1 * step
        self.weight = 0.9 * self.weight + 0.05 * step
        return self

def either(a, b, t):
    if t > 0.217:
        return a
    return b

def bump(v, by=0.2, at=0):
    v[at] += by
    return v

def larger(a, b):
    return a if a.sum() > b.sum() else b

def exchange(a, b):
    for j in range(min(len(a), len(b))):
        a[j], b[j] = b[j] * 0.9, a[j] * 0.9

def parts(v):
    for j in range(len(v) - 1):
        yield v[j:j + 2]

def kept(v, into):
    into.append(v)
    return len(into)

def unwound(v, t):
    try:
        v[0] = t
        if t > 0.313:
            return v[-1] * 0.5
        v[1] = 0.7 * t
    finally:
        v[-1] += 0.1
    return v[0]

def descend(v, depth):
    if depth == 0:
        v *= 0.9
        return v[0]
    v[0] += 0.1 * v[-1]
    return 0.5 * descend(v[::-1], depth - 1) + descend(v[1:], 0)
"""

NAMES, MATRICES, COUNTERS = "abcd", "MN", "kji"
PLACES = ("0", "-1", "1", ":2", "::2", "1:", "::-1", "[0, 1, 0]", "[1, 0]", "k % 2", "-2", "...")


class Generator(Blocks):
    """Makes one program from a seed. Every array has from 3 to 9 elements, the matrices 3 rows and columns, the list L
    three arrays, the dict D two."""

    def __init__(self, seed):
        super().__init__(seed)
        self.count = 0

    def program(self):
        head = ["a = x * 1.0", "b = x[1:] * 0.7", "c = np.sin(x[:4])", "d = b[::-1]", "M = np.outer(x[:3], x[1:4])",
                "N = M.T", "s = 0.0", "t = 0.3", "k = 1", "j = 2", "i = 0", "L = [a, b * 1.0, c]",
                "D = {'p': b, 'q': x[2:] * 1.1}", "P = [Point(c, t), Point(x[:3] * 0.8)]", "o = P[0]", "best = a"]
        body = [s for _ in range(self.r.randint(2, 5)) for s in self.statement(0)]
        ends = ["s + 0.7 * t", "a.sum()", "(b * b).sum()", "1.1 * c[0] * c[-1]", "0.9 * d.sum()", "np.sin(M).sum()",
                "N[0] @ N[:, 1]", "1.3 * L[0].sum()", "L[-1][0] * L[1].sum()", "D['p'].sum() * 0.8", "D['q'][0]",
                "P[0].u.sum() * 1.7 * P[1].weight", "o.u[0] * o.weight", "best[0] * 0.3 + best.sum()"]
        return [*map(Statement, head), *body, Statement(f"return {' + '.join(ends)}")]

    def statement(self, depth):
        simple = [*[self.bind] * 5, *[self.store] * 3, *[self.write] * 6, *[self.add] * 2, *[self.library] * 2,
                  self.swap, *[self.call] * 2, self.matrix, self.element, self.object, *[self.number] * 2]
        nested = ([self.loop] * 4 + [self.branch] * 3
                  + [self.keep_best, self.elements, self.iterations, self.function, self.guarded] if depth < 3 else [])
        return self.r.choice([*simple, *nested, *([self.leave] if self.loops else [])])(depth)

    def pick(self, *options):
        return self.r.choice(options)

    def name(self):
        return self.r.choice(NAMES)

    # -- what arrays are called --------------------------------------------------------------------

    def index(self, extent):
        return self.pick("0", "-1", "1", f"k % {extent}", f"j % {extent}", f"(k + j) % {extent}")

    def array(self):
        """What stands for an array that exists."""
        return self.pick(*NAMES, *NAMES, "best", "L[0]", f"L[{self.index(3)}]", "D['p']", "D['q']",
                         f"P[{self.index(2)}].u", "o.u", f"M[{self.index(3)}]",
                         f"N[:, {self.index(3)}]", "D['pq'[k % 2]]")

    def view(self):
        """An array that exists, or a part of one; with three elements at least."""
        v = self.array()
        return self.pick(v, v, f"{v}[::-1]", f"{v}[:3]", f"{v}[-3:]", f"{v}[:]", f"np.asarray({v})", f"{v}.reshape(-1)",
                         f"{v}[:, None][:, 0]", f"{v}.T", f"{v}[:-1][-3:]", f"np.flip({v})", "x", "M.reshape(-1)[1:5]",
                         "N.ravel()", f"np.atleast_2d({v})[0]", f"{v}.reshape(1, -1)[0]",
                         f"np.stack([{v}[:3], t + N[0]])[0]", f"np.ravel({v})[1:]" if self.r.random() < 0.3 else v)

    def value(self):
        """A new array of three elements at least."""
        v, w = self.array(), self.array()
        return self.pick(f"{v} * {w}[0]", f"{v}.copy()", f"np.sin({v}) * {self.scalar()}",
                         f"np.concatenate([{v}[:3], {w}[1:3]])", f"{v}[[0, 1, 0]]",
                         f"{v}[:3] + 0.3 * {w}[-3:]",
                         f"np.where({v} > 0.217, {v}, {w}[0])", f"np.array([{v}[0], t, {w}[1]])", f"np.roll({v}, 1)",
                         f"np.append({v}[:4], t)",
                         f"np.stack([{v}[:3], {w}[:3]])[k % 2]",
                         f"np.cumsum({v}) * 0.3", f"np.array(list({v}[:3]))")

    def scalar(self):
        v = self.array()
        return self.pick("t", "0.5", f"{v}[0]", f"{v}[-1]", f"{v}[{self.index(3)}]", f"np.tanh({v}.sum())",
                         "M[k % 3, 0]", "o.weight", f"{self.r.uniform(-1, 1):.3f}", "0.1 * k", "0.3 * len(L)")

    def condition(self):
        v, w = self.array(), self.array()
        return self.pick(f"{v}[0] > {self.r.uniform(-0.5, 1):.4f}", "k % 2 == 0", f"{v}.sum() > {w}.sum() + 0.0137",
                         f"t > {self.r.uniform(-0.5, 1):.4f}",
                         "k > j", f"len({v}) > 3")

    # -- statements --------------------------------------------------------------------------------

    def bind(self, depth):
        name, v, w = self.pick(*NAMES, "best"), self.view(), self.view()
        return [Statement(f"{name} = " + self.pick(v, v, f"{v} if {self.condition()} else {w}",
                                                   f"{v} if {self.condition()} else {w}", self.value(),
                                                   f"either({v}, {w}, {self.scalar()})",
                                                   f"larger({v}, {w})", f"[{v}, {w}][{self.index(2)}]",
                                                   f"({v}, {w})[{self.index(2)}]",
                                                   f"max([{v}, {w}], key=lambda u: u[0])"))]

    def store(self, depth):
        """Containers whose elements are bound anew."""
        v, w, u = self.view(), self.view(), self.value()
        return [Statement(self.pick(f"L[{self.index(3)}] = {v}", f"L[{self.index(3)}] = {u}", f"D['p'] = {v}",
                                    f"D['q'] = {u}", "L[0], L[1] = L[1], L[0]", "D['p'], D['q'] = D['q'], D['p']",
                                    f"P[{self.index(2)}].u = {v}", f"o.u = {u}", "P[0], P[1] = P[1], P[0]",
                                    "L.reverse()", "L = L[::-1]", "L.append(L.pop(0))", f"L = [{v}, {w}, {u}]",
                                    "L = list(L)", "D = dict(D)", f"D = {{'p': {v}, 'q': {w}}}", "o = P[k % 2]",
                                    "o = P[0] if t > 0.2 else P[1]", "P = [P[1], P[0]]", f"o = Point({v}, t)",
                                    "P[k % 2] = o", f"D.update(p={v})", f"L[1:] = [{v}, {w}]", "L[0] = D['p']",
                                    f"L.insert(0, {v}); L.pop()"))]

    def write(self, depth):
        v, place, change = self.view(), self.pick(*PLACES), self.pick("=", "+=", "*=", "-=")
        w = self.array()
        right = self.pick(self.scalar(), self.scalar(), f"{w}[0] * 0.5", f"{v}[-1] * 0.9")
        return [Statement(self.pick(f"{v}[{place}] {change} {right}", f"{v}[{place}] {change} {right}",
                                    f"{self.array()} {self.pick('+=', '*=')} {right}",
                                    f"{v}[{v} > 0.217] *= 0.7",
                                    f"{v}[1:] {change} {v}[:-1] * 0.5", f"{v}[:3] = {w}[-3:]",
                                    f"{v}[:3][::-1] += {w}[:3] * 0.3",
                                    f"{v}[:2], {w}[:2] = {w}[-2:] * 0.9, {v}[-2:]",
                                    f"{v}[::2] += {v}[0]", f"{v}[np.array([0, 1, 0])] += {w}[:3]"))]

    def library(self, depth):
        v, w = self.view(), self.array()
        return [Statement(self.pick(f"np.add.at({v}, [0, 1, 0], {w}[:3] * 0.2)", f"np.multiply({v}, 0.9, out={v})",
                                    f"np.sin({v}[1:], out={v}[:-1])",
                                    f"{v}.sort()", f"{v}.fill(t)",
                                    f"np.copyto({v}[:3], {w}[:3])", f"np.add({v}[:3], {w}[:3], out={w}[:3])",
                                    f"{v}.put([0, 2], 0.3)",
                                    f"np.cumsum({v}[:3], out={w}[:3])",
                                    f"np.clip({v}, -1.5, 1.5, out={v})",
                                    f"np.maximum({v}[:3], {w}[:3] - 0.0173, out={v}[:3])",
                                    f"np.subtract.at({v}, 0, 0.1)",
                                    f"np.multiply({v}, 0.8, out={v}, where={v} > 0.211)"))]

    def matrix(self, depth):
        M, v = self.pick(*MATRICES), self.array()
        return [Statement(self.pick("M, N = N, M", "N = M.T", "M = N.copy()", "N = M[::-1]",
                                    f"{M}[{self.index(3)}] {self.pick('=', '+=')} {v}[:3] * 0.5",
                                    f"{M}[:, {self.index(3)}] *= 0.8", f"{M}[{self.index(3)}, {self.index(3)}] += t",
                                    f"{M}.T[0] = {v}[0]",
                                    f"{M}[[0, 1]] = {M}[[1, 0]]",
                                    f"np.fill_diagonal({M}, t)", f"{M} += {M}.T * 0.1", f"{M}[1:, :-1] = {M}[:-1, 1:]",
                                    f"{M}.flat[1] = t",
                                    f"{M}.ravel()[2] += 0.1", f"{M} = M if {self.condition()} else N",
                                    f"{M}[{M} > 0.4] *= 0.5", f"np.outer({v}[:3], {v}[-3:], out={M})",
                                    f"{M}[np.arange(3), [1, 2, 0]] += {v}[:3]",
                                    "M[:], N[:] = N * 0.5, M * 0.5"))]

    def swap(self, depth):
        v, w = self.r.sample([*NAMES, "best"], 2)
        return [Statement(self.pick(f"{v}, {w} = {w}, {v}", f"{v} = {w}", f"{v} = {w} = {self.view()}"))]

    def add(self, depth):
        return [Statement(self.pick(f"s = s + 0.1 * {self.array()}.sum() * {self.scalar()}",
                                    f"t = np.tanh(t + {self.scalar()})",
                                    f"s += 0.1 * {self.array()}[0] * {self.array()}[-1]"))]

    def number(self, depth):
        """Numbers whose kind changes."""
        m = f"m{self.fresh()}"
        body = self.pick(f"{m} = {m} * 0.5 + {self.scalar()}", f"{m} += k", f"{m} = {m} + 1j * {self.scalar()}",
                         f"{m} = {m} > 0.3 and t > 0.1171", f"{m} /= 2",
                         f"{m} = not {m}", f"{m} = {self.scalar()}")
        change = self.pick([Statement(body)], [Statement(f"if {self.condition()}:", [Statement(body)])],
                           [Statement(f"for {COUNTERS[depth % 3]} in range(3):",
                                      [Statement(body), *self.iteration(1, depth)])])
        return [Statement(f"{m} = {self.pick('0', '1', 'True', 'k', 't')}"), *change,
                Statement(f"s += 0.1 * np.real({m})")]

    def fresh(self):
        self.count += 1
        return self.count

    def call(self, depth):
        v, w, t = self.view(), self.view(), self.scalar()
        return [Statement(self.pick(f"{self.name()} = bump({v}, {t})", f"bump({v}[1:])[0] *= 0.9",
                                    f"exchange({v}, {w})", f"s += 0.1 * unwound({v}, {t})",
                                    f"t = 0.5 * descend({v}, 2)",
                                    f"o = either(P[0], P[1], {t}).move({t})",
                                    f"{self.name()} = either(L, [{v}, {w}], {t})[0]",
                                    f"bump(either({v}, {w}, {t}), at=-1)",
                                    f"P[{self.index(2)}].move({t})", f"s += kept({v}, L) * 0.01; L.pop(0)",
                                    f"larger({v}, {w})[0] += 0.3",
                                    "[bump(u, 0.1) for u in L]",
                                    "t = sum(u.weight for u in P) * 0.3"))]

    def element(self, depth):
        return [Statement(self.pick(f"L[{self.index(3)}][{self.index(3)}] += {self.scalar()}",
                                    f"D['p'][0] = {self.scalar()}", "D['pq'[k % 2]] *= 0.9",
                                    "for u in D.values(): u[0] *= 0.9",
                                    "for u in L: u[0] += 0.1", "for n, u in enumerate(L): u[n % 3] *= 0.8",
                                    "for u, v in zip(L, L[1:]): u[0] += v[-1] * 0.2",
                                    "for u in P: u.move(t)", "for name, u in D.items(): u[-1] += len(name)",
                                    "for u in reversed(L): t = 0.5 * t + u[0]",
                                    "for u in M: u[0] = t", "for u in (a, b): u *= 0.9"))]

    def object(self, depth):
        o = self.pick("o", "P[0]", f"P[{self.index(2)}]")
        return [Statement(self.pick(f"{o}.weight {self.pick('=', '+=')} {self.scalar()}",
                                    f"{o}.u[{self.index(3)}] = {self.scalar()}", f"{o}.u *= 0.9",
                                    f"{self.name()} = {o}.u", f"{o}.u = {self.view()}",
                                    f"{o}.move(t).u[-1] *= 0.5", f"t = {o}.weight * 0.7"))]

    # -- ways --------------------------------------------------------------------------------------

    def loop(self, depth):
        counts = ("range(3)", "range(2)", "range(n)", "range(len(L))", "range(k % 3)", "range(3, 0, -1)",
                  "range(len(b) - 1)", "range(j + 1)",
                  "fad.checkpoint(range(4))")
        return [Statement(f"for {COUNTERS[depth % 3]} in {self.pick(*counts)}:", self.iteration(3, depth),
                          self.block(1, 3) if self.r.random() < 0.1 else [])]

    def branch(self, depth):
        return [Statement(f"if {self.condition()}:", self.block(2, depth + 1),
                          self.block(2, depth + 1) if self.r.random() < 0.5 else [])]

    def keep_best(self, depth):
        """The largest so far, by name or by value."""
        v, k = self.name(), COUNTERS[depth % 3]
        keep = self.pick(f"best = {v}", f"best = {v}.copy()", f"best = {v}[::-1]", f"o = P[{k} % 2]", f"L[0] = {v}",
                         f"D['p'] = {v}")
        change = self.pick(f"{v}[{k} % 3] += 0.4", f"{v} = {v} * 0.9 + 0.1", f"{v} = np.roll({v}, 1)", f"{v} *= 0.8",
                           f"{v}, d = d, {v}")
        top = f"top{self.fresh()}"
        is_larger = Statement(f"if {v}.sum() > {top} + 0.0171:", [Statement(f"{top} = {v}.sum()"), Statement(keep)])
        return [Statement(f"{top} = {self.pick('-10.0', '0', '0.2')}"),
                Statement(f"for {k} in range(4):", [Statement(change), is_larger, *self.iteration(1, depth)])]

    def elements(self, depth):
        v, w, k = self.view(), self.view(), COUNTERS[depth % 3]
        items = self.pick(f"u in {v}", f"{k}, u in enumerate({v})", f"u, _ in zip({v}, {w})", f"u in reversed({v})",
                          f"{k}, u in enumerate({w}[::-1])",
                          f"u in {v}.copy()")
        return [Statement(f"for {items}:",
                          [Statement(f"s = s + 0.1 * u * {self.pick('t', self.name() + '[0]')}"),
                           *self.iteration(2, depth)])]

    def iterations(self, depth):
        """A while loop that a flag, a count or data ends."""
        w, done = f"w{self.fresh()}", self.condition()
        ends = self.pick(f"{w} < 4", f"{w} < 4 and not ({done})", f"{w} < 3 and t < 0.9171", "True")
        body = [Statement(f"{w} += 1"),
                *([Statement(f"if {w} > 4 or {done}:", [Statement("break")])]
                  if ends == "True" or self.r.random() < 0.3 else []), *self.iteration(2, depth)]
        if ends == "True":
            body = [Statement(f"{w} += 1"), Statement(f"if {w} > 4 or {done}:", [Statement("break")]),
                    *self.iteration(2, depth)]
        return [Statement(f"{w} = 0"),
                Statement(f"while {ends}:", body, self.block(1, 3) if self.r.random() < 0.2 else [])]

    def function(self, depth):
        """Functions that see what is around them, and see it late."""
        g, v, k = f"g{self.fresh()}", self.name(), COUNTERS[depth % 3]
        body = self.pick([Statement(f"{v}[0] += u"), Statement(f"return {v}")],
                         [Statement(f"return {v}[{k} % 3] * u + t")],
                         [Statement("L[0] = L[0] * u"), Statement("return L")],
                         [Statement("w[0] += u"), Statement("return w")])
        use = self.pick(f"{g}(0.3)",
                        f"s += 0.1 * np.sum({g}({self.scalar()})[0])" if len(body) > 1
                        else f"s += 0.1 * {g}({self.scalar()})")
        again = [Statement(use), *self.block(1, 3), Statement(use)]
        if self.r.random() < 0.5:
            again = [Statement(f"for {k} in range(3):", again)]
        return [Statement(f"def {g}(u, w={self.array()}):", body), *again]

    def guarded(self, depth):
        """What is done in any case, and what a generator hands out."""
        if self.r.random() < 0.5:
            use = self.pick("v[0] += 0.1 * v[1]", "s += 0.1 * v[0] * v[1]", "v *= 0.9")
            return [Statement(f"for v in parts({self.view()}):", [Statement(use)])]
        k = COUNTERS[depth % 3]
        return [Statement(f"for {k} in range(3):",
                          [Statement("try:", self.iteration(2, depth)), Statement("finally:", self.block(1, 3))])]

    def leave(self, depth):
        leaves = ["break", "continue", "break", "continue", f"return s + {self.array()}.sum() * {self.array()}[0] + t"]
        return [Statement(f"if {self.condition()}:", [Statement(self.pick(*leaves))])]


def report(seed, compile=False):
    """None, or the failure of this seed's program with the program shrunk."""
    from . import judge  # which has these programs' functions among its own
    return judge.report(seed, compile, Generator.of)


if __name__ == "__main__":
    from . import judge
    judge.command(report)
