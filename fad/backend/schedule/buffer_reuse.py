"""Buffer reuse: which variables share one array, and when an update may write into the array it changes.

An update takes over the array of its first operand if the array belongs to the program (it is no input) and nobody
reads the old values any more: neither directly nor through a view, later in the block, or at any time if a region uses
the array from outside. Last uses of a block are found in one backward walk.
"""
from collections.abc import Iterator
from typing import Any

from ...ir.graph import Atom, Equation, Func, Var, is_loop
from ...ir.uses import DefUse, operands
from ...ir.views import LoopView
from ...passes.writes import written
from .views import Views

_NEVER = 1 << 60


class ArrayOwners:
    """Owners of arrays. root(v): the variable whose array v lives in."""

    def __init__(self) -> None:
        self.roots: dict[Var, Var] = {}
        self.members: dict[Var, list] = {}                   # root -> all that live in its array
        self.base: dict[Var, Var] = {}  # an array in other extents -> the root whose elements it has
        self.resized: set[Var] = set()                       # roots whose arrays give way to arrays of other extents
        self.owned: set[Var] = set()                         # roots whose arrays belong to the program
        self.blocks: list[dict] = []                         # last uses, a dict a block
        self.position = 0
        self._positions: list[int] = []

    def root(self, var: Var) -> Var:
        while var in self.roots:
            var = self.roots[var]
        return var

    def arrays_of(self, var: Var) -> list:
        """The roots of the array that var lives in: its own, and where that has another's elements in other extents,
        the other's.
        """
        roots = [self.root(var)]
        while roots[-1] in self.base:
            roots.append(self.root(self.base[roots[-1]]))
        return roots

    def own(self, var: Var) -> None:
        """var gets an array of its own."""
        self.owned.add(var)
        self.blocks[-1].setdefault("born", set()).add(var)

    def own_or_succeed(self, out: Var, views: Views, eqn: "Equation | None" = None) -> None:
        """out gets an array: if an iteration hands out on, that of a carry that is dead by then, else its own.

        A carry that eqn, an elementwise one, reads element for element may be overwritten as it is read.
        """
        for carry in self.blocks[-1]["heirs"].get(out, ()):
            if (
                carry.type.dtype == out.type.dtype
                and carry.type.shape == out.type.shape
                and self._is_spent(carry, views, eqn)
            ):
                self.share(out, carry)
                return
        self.own(out)

    def _is_spent(self, carry: Var, views: Views, eqn: "Equation | None") -> bool:
        root, last = self.root(carry), self.blocks[-1]["last"]
        if root in self.base or root not in self.blocks[-1]["born"]:
            return False
        members = self.members.get(root, [root])
        alike = eqn is not None and not any(set(views.behind(a)) & set(members) for a in eqn.inputs if a in views.read)
        read = (
            {a for a in eqn.inputs if isinstance(a, Var) and a.type.shape == carry.type.shape}
            if eqn is not None and alike
            else set()
        )
        return all(last.get(v, -1) < self.position + (v in read) for v in members)

    def share(self, var: Var, other: Var) -> None:
        """var lives in the array of other."""
        self.roots[var] = other
        root = self.root(other)
        if var.type.shape != root.type.shape or var in self.resized:
            self.resized.add(root)
        self.members.setdefault(root, [root]).append(var)

    def reshape(self, var: Var, other: Var) -> None:
        """var has the elements of other in other extents."""
        self.base[var] = self.root(other)
        self.members.setdefault(self.root(other), [self.root(other)]).append(var)

    def enter(self, func: Func, views: Views, carried: tuple, parts: set, carries: tuple = ()) -> None:
        """Begin a block: find every variable's last use in it; `parts` are views that will be arrays of their own,
        `carries` the inputs of a loop's body that its outputs replace, in order.
        """
        self._positions.append(self.position)
        self.blocks.append(
            {"last": _last_uses(func, views, parts), "born": set(carried), "heirs": heirs(func, carries)}
        )
        self.owned.update(carried)

    def leave(self) -> None:
        self.blocks.pop()
        self.position = self._positions.pop()

    def take_over(self, out: Var, x: Atom, views: Views) -> bool:
        """Let out live in x's array if that is free by now."""
        if isinstance(x, Var) and x not in views.read and self.is_free(x):
            self.share(out, x)
            return True
        self.own_or_succeed(out, views)
        return False

    def is_free(self, x: Var) -> bool:
        """Whether x's array is the program's own, made in this block, and not read after the present equation."""
        root, block = self.root(x), self.blocks[-1]
        if root in self.base:
            return False
        if root not in self.owned or root not in block["born"]:
            return False
        return all(block["last"].get(v, -1) <= self.position for v in self.members.get(root, [root]))


def _last_uses(func: Func, views: "Views | None", parts: set) -> dict:
    """Variable -> the position of the last equation that reads it, through views too (with `views`, through those
    around the block), but for `parts`; outputs are read at the end.
    """
    bases: dict[Var, tuple] = {}
    last: dict[Var, int] = {}

    def use(atom: Atom, k: int) -> None:
        if isinstance(atom, Var) and last.get(atom, -1) < k:
            last[atom] = k
            for b in bases.get(atom, ()) or (views.bases.get(atom, ()) if views is not None else ()):
                use(b, k)
    for k, eqn in enumerate(func.equations):
        for v in operands(eqn):
            use(v, k)
        if eqn.op.traits.may_alias and eqn.outputs[0].type.shape and eqn.outputs[0] not in parts:
            bases[eqn.outputs[0]] = tuple([a for a in eqn.inputs if isinstance(a, Var)])
    for a in func.outputs:
        use(a, _NEVER)
    return last


def outlasting_parts(func: Func, carried: set) -> set:
    """Parts of arrays (results of index) that are read after their array is written to, where nothing else of the old
    array is.

    Kept as arrays of their own they let the write be done in place; else it would have to copy the whole. Arrays that
    the block neither makes nor carries are copied anyhow.
    """
    last, direct, own = _last_uses(func, None, set()), _direct_uses(func), set(carried)
    parts: set[Var] = set()
    parts_of: dict[Var, list] = {}
    for k, eqn in enumerate(func.equations):
        for x in written(eqn):
            if x in own and direct[x] <= k:
                parts.update(v for v in parts_of.get(x, ()) if last.get(v, -1) > k)
        if eqn.reads_part and eqn.outputs[0].type.shape:
            parts_of.setdefault(eqn.inputs[0], []).append(eqn.outputs[0])
        own.update(eqn.outputs)
    return parts


def heirs(func: Func, carries: tuple) -> dict:
    """{value that an iteration hands on: the carries whose arrays it may take, its own first}

    Updates and loops may change the memory that it hands on in place: each of its states is a key.
    """
    chains = DefUse.of(func)
    found: dict[Var, list] = {}
    kept = set(func.outputs)
    for carry, a in zip(carries, func.outputs):
        if isinstance(a, Var) and a.type.shape and a not in carries:
            others = [c for c in carries if c is not carry and c not in kept]
            found.update(dict.fromkeys(_states(a, chains), ([carry] if carry not in kept else []) + others))
    return found


def _states(a: Any, chains: DefUse) -> Iterator[Var]:
    """An array, and what it was before it was changed in place."""
    while (eqn := chains.definition(a)) is not None:
        yield a
        if is_loop(eqn):
            a = LoopView(eqn).start_of(a)
        else:
            a = eqn.inputs[0] if eqn.writes_part else None


def _direct_uses(func: Func) -> dict:
    """Variable -> the position of the last equation that reads it, otherwise than to take a part of it."""
    direct: dict[Var, int] = {}
    for k, eqn in enumerate(func.equations):
        parted = eqn.reads_part and bool(eqn.outputs[0].type.shape)
        direct.update(dict.fromkeys(operands(eqn)[parted and isinstance(eqn.inputs[0], Var):], k))
    direct.update({a: _NEVER for a in func.outputs if isinstance(a, Var)})
    return direct
