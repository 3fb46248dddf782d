"""Unrolling: what LLVM is to do with the loops of a large function.

Left to itself, LLVM copies the body of each loop several times, and the whole of a nest of short constant ranges, up to
hundreds of instructions a loop. In a function of forty loops a third of the compile time goes there. So a large
function's loops are compiled as they stand, with two exceptions: short nests of constant ranges, which become part of
the loop around them, and sums, whose additions would wait for each other. These hints ask for less than LLVM would do,
never for more: LLVM warns the user where it cannot do what it is asked for.
"""
import math

from llvmlite import ir as llvm_ir
from numba.core import ir
from numba.core.analysis import compute_cfg_from_blocks

from fad.kernels.running import DEPTH
from fad.kernels.variables import only_value, origin, range_arguments

__all__ = ["NumbaLoops"]

MANY = 40  # loops of a function whose long nests are compiled as they stand
LARGE = 16  # loops of a function that LLVM optimises at a lower level (see libraries.py)
SHORT = 200  # statements of a nest of constant ranges, when it is written out
FEW = 3  # sums of a loop that wait for each other


class NumbaLoops:
    """The loops of a function in Numba's representation. defined: see variables.definitions."""

    def __init__(self, blocks, defined):
        self.blocks, self.defined = blocks, defined
        self.found = compute_cfg_from_blocks(blocks).loops()
        self.sizes, self.nodes = {}, {}
        self.turns = {}  # label -> the expression there, or behind it, that asks for the next number
        self.tests = {}  # label of the block with this expression -> header of the loop
        for header in self.found:
            self.tests.setdefault(self.test(header), header)

    def note(self, builder, label, targets):
        """Write what LLVM is to do with a loop to the instruction that ends a block, if an iteration of the loop ends
        there.
        """
        for header in targets:
            if header in self.found and label in self.found[header].body and self.stands(header):
                if header not in self.nodes:                 # one for all jumps that end an iteration
                    self.nodes[header] = _node(builder.module, "llvm.loop.unroll.disable")
                builder.block.terminator.set_metadata("llvm.loop", self.nodes[header])

    def depth(self):
        """The number of loops that the innermost one lies in, itself among them; as many as can be for those of which
        nobody knows how many iterations they take, and for those that run on threads.
        """
        if any(self._range(header) is None for header in self.found) or self._has_threads():
            return DEPTH
        return max([1, *(sum(header in loop.body for loop in self.found.values()) for header in self.found)])

    def _has_threads(self):
        """Whether a loop runs in parts (see threads.py)."""
        calls = [getattr(s, "value", None) for s in self.statements(self.blocks)]
        return any(
            isinstance(call, ir.Expr)
            and call.op == "call"
            and getattr(only_value(self.defined, call.func), "__name__", "") == "in_parallel"
            for call in calls
        )

    def stands(self, header):
        """Whether the loop is compiled as it stands."""
        return len(self.found) > MANY and self._size(header) > SHORT and not self._adds_up(header)

    def is_hidden(self, label):
        """Whether LLVM should not know how an index moves: that of the loop whose iterations begin in this block, over
        a range and around other loops.

        It tests in front of such a loop whether the arrays of an inner one overlap, by all that they touch from the
        first iteration to the last, and takes one element at a time if they do. That is always so where the index goes
        down (as in every reverse sweep: the test takes the last iteration's addresses for the larger ones), and where
        an iteration reads a row of the array of which it writes another. Not knowing, LLVM tests in front of the inner
        loop.
        """
        around = [h for h, loop in self.found.items() if label in loop.body]
        header = min(around, key=lambda h: len(self.found[h].body), default=None)
        inside = (
            [self.found[h].body for h in self.found[header].body if h in self.found and h != header] if around else []
        )
        numbers = self._range(label) if inside else None
        if numbers is None or numbers[2:] not in ([], [1], [-1]):
            return False
        return numbers[2:] == [-1] or self._reads_and_writes_apart(set().union(*inside))

    def _reads_and_writes_apart(self, labels):
        """Whether some array is read at other places than those that are written."""
        written, read = set(), set()
        for s in self.statements(labels):
            if isinstance(s, ir.SetItem):
                written.add((self._form(s.target), self._form(s.index)))
            elif isinstance(s, ir.Assign) and isinstance(s.value, ir.Expr) and s.value.op == "getitem":
                read.add((self._form(s.value.value), self._form(s.value.index)))
        arrays = {name for name, _ in written}
        return any(name in arrays and (name, place) not in written for name, place in read)

    def _form(self, value):
        """An array or a subscript, in terms of the names in the text."""
        while isinstance(value, ir.Var) and value.name.startswith("$") and len(self.defined.get(value.name, ())) == 1:
            value = self.defined[value.name][0]
        if isinstance(value, ir.Expr) and value.op == "build_tuple":
            return tuple([self._form(item) for item in value.items])
        if isinstance(value, ir.Expr) and value.op == "binop":
            return value.fn, self._form(value.lhs), self._form(value.rhs)
        if isinstance(value, (ir.Const, ir.Global, ir.FreeVar)):
            return value.value
        return value.name if isinstance(value, ir.Var) else id(value)

    def _adds_up(self, header):
        """Whether an innermost loop has one or a few sums, which LLVM keeps side by side in several vectors."""
        body = self.found[header].body
        return (
            not any(h in self.found for h in body if h != header)
            and 0 < sum(self._is_sum(getattr(s, "value", None)) for s in self.statements(body)) <= FEW
        )

    def _is_sum(self, call):
        """Whether an expression adds to a variable, in any order."""
        if (
            not isinstance(call, ir.Expr)
            or call.op != "call"
            or getattr(only_value(self.defined, call.func), "__module__", "") != "fad.kernels.sums"
        ):
            return False
        return not call.args[0].name.startswith("$")         # else it is an element

    def are_many(self):
        """Whether the function is large."""
        return len(self.found) > LARGE

    # -- strips (see strip_mining.py) --------------------------------------------------------------

    def is_counted(self, header):
        """Whether the loop is over a range."""
        return self._range(header) is not None

    def iterator(self, header):
        """The name of the variable that holds the iterator of a loop over a range."""
        return self._turn(header).value.name

    # -- sizes -------------------------------------------------------------------------------------

    def statements(self, labels):
        return [s for label in labels for s in self.blocks[label].body if not isinstance(s, ir.Del)]

    def _size(self, header):
        """The statements of a loop, inner loops included, when it is written out; infinite if the number of iterations
        is unknown.
        """
        if header not in self.sizes:
            self.sizes[header] = self.iterations(header) * self.iteration(header)
        return self.sizes[header]

    def iteration(self, header):
        """The statements of an iteration."""
        body = self.found[header].body
        inside = [h for h in body if h in self.found and h != header]
        nearest = [h for h in inside if not any(h in self.found[other].body for other in inside if other != h)]
        own = set(body).difference(*[self.found[h].body for h in nearest])
        return len(self.statements(own)) + sum(map(self._size, nearest))

    def iterations(self, header):
        """The number of a loop's iterations."""
        numbers = self._range(header)
        return len(range(*numbers)) if numbers and all(type(n) is int for n in numbers) else math.inf

    def _range(self, label):
        """The numbers of the range of the loop whose iterations begin in this block, with None for those not constant;
        None for a loop that is not over a range.
        """
        args = range_arguments(self.defined, self._turn(label), ("iternext", "getiter"))
        return None if args is None else [only_value(self.defined, a) for a in args]

    def is_vector(self, header, is_carried):
        """Whether LLVM may make vectors of an innermost loop within others: nothing but sums is carried from iteration
        to iteration.
        """
        body = self.found[header].body
        if (
            not any(header in loop.body for h, loop in self.found.items() if h != header)
            or self.iteration(header) == math.inf
        ):
            return False
        made = [
            s
            for s in self.statements(body)
            if isinstance(s, ir.Assign) and not self._is_sum(origin(self.defined, s.value))
        ]
        return not any(is_carried(s.target.name, self.test(header)) for s in made)

    def test(self, header):
        """The block of the loop that asks for the next number: the header, or the one behind it where that only jumps
        on.
        """
        while all(isinstance(s, (ir.Jump, ir.Del)) for s in self.blocks[header].body):
            header = self.blocks[header].terminator.target
        return header

    def _turn(self, label):
        """The expression that asks for the next number in this block, or behind it."""
        if label not in self.turns:
            made = [s.value for s in self.statements([self.test(label)]) if isinstance(s, ir.Assign)]
            self.turns[label] = next((value for value in made if getattr(value, "op", "") == "iternext"), None)
        return self.turns[label]


class _LoopNode(llvm_ir.values.MDValue):
    """LLVM's identity of one loop: a node that begins with itself."""

    def descr(self, buf):
        buf += (f"distinct !{{ {', '.join([x.get_reference() for x in (self, *self.operands)])} }}", "\n")


def _node(module, *properties):
    operands = [module.add_metadata([name]) for name in properties]
    return _LoopNode(module, operands, str(len(module.metadata)))
