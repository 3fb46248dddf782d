"""Random programs as NumPy users write them: loops, branches, item assignment, views, dynamic slices, helper calls.

A program is a tree of statements; `render` prints it as a function f(x) of a vector that returns a scalar. Most
functions in it are smooth and bounded, and most branches compare with odd numbers, so that differences are a fair
judge; the others are judged by their values, and by the two modes and the tiers, which have to agree (see edges.py).
"""

from . import edges, idioms, names, pythons, structures, writes
from .statement import Blocks, Statement, render_block

HELPERS = """
import math
import numpy as np
import fad

def blend(u, v):
    return np.tanh(u) * 0.5 + np.sin(v) * 0.3

def damped(u, k):
    if k % 2 == 0:
        return u / (1.0 + u * u)
    return np.exp(-u * u)

def decayed(v, w=0.25):
    total = 0.0
    for j in range(len(v)):
        total = total * w + v[j] * v[j] / (1.0 + v[j] * v[j])
    return total
""" + idioms.HELPERS + structures.HELPERS + edges.HELPERS + pythons.HELPERS + names.HELPERS


class Generator(Blocks, idioms.Idioms, idioms.Matrices, structures.Structures, writes.Writes, edges.Edges,
                pythons.Pythons):
    """Makes one program from a seed."""

    def __init__(self, seed, size=7):
        super().__init__(seed)
        self.size = size
        self.count = 0

    def program(self):
        """The statements of f, the last of them its return."""
        self.arrays, self.scalars, self.indices = ["x"], ["0.7"], []
        self.writable, self.matrices = [], []
        body = [Statement("a0 = x * 1.0"), Statement("s0 = 0.5")]
        self.arrays.append("a0"), self.writable.append("a0"), self.scalars.append("s0")
        body += self.block(self.size, depth=0)
        results = [*(f"np.sum(np.tanh({a}))" for a in self.arrays[1:]), *(s for s in self.scalars if s[0] == "s"),
                   *(f"np.mean(np.sin({M}))" for M in self.matrices)]
        result = " + ".join(results)
        return body + [Statement(f"return {result}")]

    def fresh(self, letter):
        self.count += 1
        return f"{letter}{self.count}"

    def pick(self, options):
        return self.r.choice(options)

    # -- expressions -------------------------------------------------------------------------------

    def sum_name(self):
        """The name of a scalar that may be assigned to."""
        return self.pick([s for s in self.scalars if s[0] == "s"])

    def number(self):
        return str(round(self.r.uniform(-1.5, 1.5), 2))

    def index(self):
        """A subscript that is in range for arrays of n elements."""
        options = ["0", "-1", "n // 2", "1"]
        options += self.indices * 4 + [f"(n - 1 - {i})" for i in self.indices] + [f"{i} // 2" for i in self.indices]
        return self.pick(options)

    def scalar(self, depth=2):
        """A scalar expression."""
        if depth == 0 or self.r.random() < 0.3:
            return self.pick([*self.scalars, self.number(), f"{self.pick(self.arrays)}[{self.index()}]",
                              f"{self.pick(self.arrays)}[{self.index()}]"])
        a, b = self.scalar(depth - 1), self.scalar(depth - 1)
        return self.pick([f"({a} + {b})", f"({a} * {b}) / (1.0 + {b} * {b})", f"math.sin({a})", f"np.tanh({a} - {b})",
                          f"blend({a}, {b})",
                          f"damped({a}, {self.pick(['0', '1', *self.indices])})", f"np.mean({self.array(1)})",
                          f"np.dot({self.pick(self.arrays)}, {self.pick(self.arrays)}) / n",
                          f"math.sqrt(1.0 + {a} * {a})", f"max({a}, {b} - 0.37)", f"decayed({self.pick(self.arrays)})",
                          f"({a} if {b} > 0.123 else {b})", f"np.sum({self.part()})",
                          f"first_above({self.pick(self.arrays)}, {self.number()}1)", f"halved({a})",
                          *self.of_matrix()])

    def of_matrix(self):
        """Scalars taken from a matrix."""
        if not self.matrices:
            return []
        M = self.pick(self.matrices)
        return [f"{M}[{self.index()}, {self.index()}]", f"np.mean({M})", f"swept({M}) / n", f"np.trace({M})",
                *(f"{M}[{i}, :{i}] @ {M}[:{i}, {self.index()}] / n" for i in self.indices)]

    def part(self):
        """A slice, of extents that may depend on a loop's index."""
        a = self.pick(self.arrays)
        options = ([f"{a}[1:]", f"{a}[:-1]", f"{a}[::2]", f"{a}[::-1]"] + [f"{a}[:{i}]" for i in self.indices]
                   + [f"{a}[{i}:]" for i in self.indices])
        return self.pick(options) + self.pick(["", " ** 2", " * 0.3"])

    def array(self, depth=2):
        """An array expression of n elements."""
        if depth == 0 or self.r.random() < 0.3:
            return self.pick(self.arrays)
        a, b = self.array(depth - 1), self.array(depth - 1)
        return self.pick([f"({a} + {b})", f"({a} * {b}) / (1.0 + {b} * {b})", f"np.sin({a})", f"np.tanh({a})",
                          f"({a} - {self.scalar(1)})", f"{a}[::-1]",
                          f"np.where({a} > 0.217, {a}, {b} * 0.5)", f"blend({a}, {b})", f"(np.cumsum({a}) / n)",
                          f"np.maximum({a}, {b} - 0.31)",
                          f"np.roll({a}, 1)", f"np.sort({a})"])

    def condition(self):
        a = self.scalar(1)
        return self.pick([f"{a} > {self.number()}3", f"{a} < {self.number()}7",
                          f"{a} > 0.113 and {self.scalar(1)} < 0.513",
                          f"not {a} > 0.31", f"-0.917 < {a} < 0.713", *(f"{i} % 3 == 1" for i in self.indices)])

    # -- statements --------------------------------------------------------------------------------

    def statement(self, depth):
        kinds = [self.assign_scalar, self.update_scalar, self.assign_array, self.write_item, self.write_slice,
                 self.through_view, self.in_place, self.swap, self.alias, self.mutating_call, self.library_write,
                 self.matrix_write, self.row_view, self.nested_view, self.chained_write, self.out_argument,
                 self.in_place_method, self.tie, self.cancellation, self.whole_numbers, self.steps,
                 self.complex_numbers, self.deep_call, self.deep_call, self.unpacked]
        if depth < 3:
            kinds += [self.loop, self.loop, self.branch, self.branch, self.fill, self.items, self.closure,
                      self.conditional_comprehension, self.recursion, self.swapped_matrices,
                      self.tie_in_loop, self.generators]
        if depth < 2:
            kinds += [self.while_loop, self.counter, self.scan_while, self.kept_view, self.searched, self.triangle,
                      self.rows, self.early_return, self.filled_list, self.list_of_arrays, self.list_in_while,
                      self.list_items, self.state_dict, self.object_state, self.inner_function, self.left_while,
                      self.more_items, self.pairs, self.becomes_float, self.ping_pong, self.moving_part, self.reshaped]
        if depth < 1:
            kinds += [self.integer_start, self.comprehension, self.new_matrix, self.new_matrix, self.from_matrix]
        if self.indices and depth < 3:
            kinds.append(self.leave)
        return self.pick(kinds)(depth)

    def assign_scalar(self, depth):
        value = self.scalar()
        if depth:                                            # a name first bound in a block may not be bound after it
            return [Statement(f"{self.sum_name()} = {value}")]
        name = self.fresh("s")
        self.scalars.append(name)
        return [Statement(f"{name} = {value}")]

    def update_scalar(self, depth):
        name = self.sum_name()
        return [Statement(self.pick([f"{name} += 0.1 * {self.scalar()}", f"{name} = np.tanh({name} + {self.scalar()})",
                                     f"{name} *= 0.9"]))]

    def assign_array(self, depth):
        value = self.array()
        if depth:
            return [Statement(f"{self.pick(self.writable)} = {value} * 1.0")]
        name = self.fresh("a")
        self.arrays.append(name), self.writable.append(name)
        return [Statement(f"{name} = {value} * 1.0")]

    def write_item(self, depth):
        target = f"{self.pick(self.writable)}[{self.index()}]"
        return [Statement(f"{target} {self.pick(['=', '+=', '-='])} {self.scalar()} * 0.5")]

    def write_slice(self, depth):
        a, b = self.pick(self.writable), self.pick(self.arrays)
        options = [f"{a}[1:] = {b}[:-1] * 0.5", f"{a}[1:] += 0.25 * np.sin({b}[:-1])",
                   f"{a}[::2] -= 0.5 * {b}[::2] ** 2 / (1.0 + {b}[::2] ** 2)",
                   f"{a}[:-1] *= np.tanh({b}[1:])",
                   *(f"{a}[:{i}] += 0.1 * {b}[:{i}]" for i in self.indices)]
        return [Statement(self.pick(options))]

    def in_place(self, depth):
        return [Statement(f"{self.pick(self.writable)} {self.pick(['+=', '*=', '-='])} np.tanh({self.array(1)})")]

    def through_view(self, depth):
        a, view = self.pick(self.writable), self.fresh("v")
        write = self.pick([f"{view}[1] = {self.scalar(1)} * 0.5", f"{view} *= 0.8", f"{view}[0] += 0.3 * {view}[-1]"])
        return [Statement(f"{view} = {a}[{self.pick(['1:', ':-1', '::2', '1:4'])}]"), Statement(write)]

    def fill(self, depth):
        i = self.fresh("i")
        if depth:
            name, head = self.pick(self.writable), []
        else:
            name = self.fresh("a")
            made = self.pick(["np.zeros(n)", "np.empty(n)", "np.zeros_like(x)", "np.ones(len(x))"])
            head = [Statement(f"{name} = {made}")]
        self.indices.append(i)
        loop = Statement(f"for {i} in range(n):", [Statement(f"{name}[{i}] = {self.scalar()}")])
        self.indices.pop()
        if not depth:
            self.arrays.append(name), self.writable.append(name)
        return [*head, loop]

    def loop(self, depth):
        i = self.fresh("i")
        bounds = self.pick(["n", "1, n", "n - 1", "0, n, 2", "n - 1, -1, -1", *(f"{j} + 1" for j in self.indices),
                            *(f"{j}, n" for j in self.indices)])
        self.indices.append(i)
        body = self.block(3, depth + 1)
        self.indices.pop()
        return [Statement(f"for {i} in range({bounds}):", body)]

    def while_loop(self, depth):
        k = self.fresh("k")
        name = self.sum_name()
        body = [Statement(f"{k} += 1"), *self.block(2, depth + 1)]
        return [Statement(f"{k} = 0"), Statement(f"while {k} < 5 and {name} < {self.number()}9 + {k}:", body)]

    def branch(self, depth):
        return [Statement(f"if {self.condition()}:", self.block(2, depth + 1),
                          self.block(2, depth + 1) if self.r.random() < 0.6 else [])]

    def leave(self, depth):
        return ([Statement(f"if {self.condition()}:", [Statement(self.pick(["break", "continue"]))])]
                if self.r.random() < 0.5 else self.update_scalar(depth))


def render(body):
    """The text of f."""
    return "\n".join(["def f(x):", "    n = x.shape[0]", *render_block(body, 1)])


def generate(seed, size=7):
    """The statements of the program of this seed."""
    return Generator(seed, size).program()
