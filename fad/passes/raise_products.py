"""raise_products: products of a loop, of one row each, become one product of matrices in front of the loop.

The loop's index finds the row in an array that the loop does not change. BLAS multiplies all rows by all columns
several times faster than a loop multiplies half of them, and so it is with their derivatives. The loop picks its part
of the product. Only products are raised that a carried array has room for: the program needs no more than twice its
memory.
"""
import math

from ..ir.graph import Equation, Func, Var, is_counted, traced_value
from ..ir.op import registry
from ..ir.spec import subscripts_of
from ..ir.types import Type
from ..ir.views import LoopView
from ..ops.contract import new_letters
from ..ops.kinds import same_extent
from .dce import dce
from .rewrite import Scope, rewrite

MUCH = 1 << 16                                               # multiplications: below, a call of BLAS does not pay


def raise_products(func: Func) -> Func:
    """The Func with one product of matrices in front of a loop in place of a product with one row in each iteration.

        for i: c = update(c, contract(index(X, i), index(Y, :, i:), j,jk->k), i, i:)
            ->   P = contract(X, Y, ij,jk->ik); for i: c = update(c, index(P, i, i:), i, i:)
    """
    new = rewrite(func, lambda eqn, scope: _raised(eqn, scope) if is_counted(eqn) else None)
    return func if new is func else dce(new)


def _raised(eqn: Equation, scope: Scope) -> "Equation | None":
    loop = LoopView(eqn)
    equations = [_Product(e, loop).raised(scope) or e if e.op.name == "contract" else e for e in loop.body.equations]
    body = loop.body.replace(equations=equations)
    return None if body is loop.body else loop.replace(body=body)


class _Product:
    """A contraction in a loop's body."""

    def __init__(self, eqn: Equation, loop: LoopView):
        self.eqn, self.loop = eqn, loop
        self.made = {v: e for e in loop.body.equations for v in e.outputs}

    def raised(self, scope: Scope) -> "Equation | None":
        """The equation that picks this product from one that now stands in front of the loop; None if it stays."""
        (x, y), (a, b, out) = self.eqn.inputs, self.eqn.params["labels"]
        if len(a) > len(b):
            (x, a), (y, b) = (y, b), (x, a)
        if len(a) != 1 or len(b) != 2 or sorted(a + out) != sorted(b):
            return None
        rows, columns = self._row(x, a), self._columns(y, b, out)
        if rows is None or columns is None:
            return None
        letter, (x, a), (y, b, (entry, given)) = a, rows, columns
        extents = {c: n for word, v in ((a, x), (b, y)) for c, n in zip(word, v.type.shape)}
        word = a.replace(letter, "") + out
        shape = tuple([extents[c] for c in word])
        if not self._has_room(shape) or not self._is_much(extents, word[0]):
            return None
        whole = scope.emit(self.eqn.op, (x, y), Type(self.eqn.outputs[0].type.dtype, shape), {"labels": (a, b, word)},
                           self.eqn.where)
        return self.eqn.replace(op=registry["index"], inputs=(whole, self.loop.index, *given),
                                params={"spec": ("i", entry), "at": 0})

    def _row(self, x: Var, letter: str) -> "tuple | None":
        """The array whose row this is, the loop's index is the row's number, and the array's labels."""
        array, subscripts, _ = self._read(x)
        if array is None or len(subscripts) != 2:
            return None
        for k, (entry, given) in enumerate(subscripts):
            if entry == "i" and given[0] is self.loop.index and subscripts[1 - k][0] == ":":
                row = new_letters(1, "".join(self.eqn.params["labels"]))
                return array, row + letter if k == 0 else letter + row
        return None

    def _columns(self, y: Var, word: str, out: str) -> "tuple | None":
        """The array of these columns, its labels, and what is picked from the product with all of them."""
        array, subscripts, turned = self._read(y)
        word = word[::-1] if turned else word
        kept = word.index(out)
        if array is None or len(subscripts) != 2 or subscripts[1 - kept][0] != ":" or subscripts[kept][0] == "i":
            return None
        return array, word, subscripts[kept]

    def _read(self, x: Var) -> tuple:
        """The array that an operand is a part of, which the loop does not change (None: there is none), its subscripts,
        and whether the operand is read from its transpose.
        """
        made = self.made.get(x)
        if made is not None and made.reads_part and "a" not in made.params["spec"]:
            array, subscripts = made.inputs[0], subscripts_of(made)
        else:
            array, subscripts = x, [(":", ())] * len(x.type.shape)
        source = self.made.get(array)
        turned = source is not None and source.op.name == "transpose" and source.params["axes"] == (1, 0)
        if source is not None and turned:
            array, subscripts = source.inputs[0], subscripts[::-1]
        outside = isinstance(array, Var) and array not in self.made and array not in self.loop.body.inputs
        same = array.type.dtype == self.eqn.outputs[0].type.dtype and array.type.dtype.kind in "fc"
        return array if outside and same else None, subscripts, turned

    def _has_room(self, shape: tuple) -> bool:
        """Whether the loop carries an array of this shape, or of its transpose."""
        shapes = [v.type.shape for v in self.loop.carries if len(v.type.shape) == 2]
        return any(all(map(same_extent, given, shape)) for s in shapes for given in (s, s[::-1]))

    def _is_much(self, extents: dict, row: str) -> bool:
        """Whether the loop asks for at least half of the rows, and the product is worth a call, as far as is known."""
        start, stop, _ = map(traced_value, self.loop.bounds)
        known = [size for size in map(traced_value, extents.values()) if size is not None]
        rows = traced_value(extents[row])
        if start is None or stop is None or rows is None or len(known) < len(extents) or abs(self.loop.step or 0) != 1:
            return False
        return 2 * abs(stop - start) >= rows and math.prod(known) >= MUCH
