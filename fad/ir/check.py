"""The checker: whether a program follows the grammar of docs/design/ir.md.

    names       each variable is bound once in the whole program, and before it is read
    types       an extent is a number that is not negative, or an integer scalar of the program
    regions     initial values, carries, what an iteration hands on, and results agree in number, dtype and rank; so do
                the results of a branch and what its regions yield; linked extents name the linked carry
    specs       an `index`, `update` or `index_add` has the operands that its spec asks for

With FAD_CHECK_TRACE=1, as in the test suite, each trace and what each pass makes of it are checked. Then no pass may
move a selection in front of the check of its index, either.
"""
from collections.abc import Callable, Iterable, Iterator

from ..util.errors import CheckError
from .graph import Atom, Equation, Func, Literal, Var, all_equations, extents_of
from .spec import OPERANDS, operands_of, subscripts_of
from .types import BOOL, INT
from .uses import defined_by
from .views import BranchView, LoopView


def check(func: Func, outer: Iterable = ()) -> Func:
    """func itself, if it is well formed.

    Parameters
    ----------
    func : Func
        The program, or a region of one.
    outer : iterable of Var
        The variables that are bound around it.

    Raises
    ------
    CheckError
        It names the first equation that is not well formed.

    Examples
    --------
    >>> from fad.ir.types import FLOAT, Type
    >>> x = Var(Type(FLOAT), "x")
    >>> check(Func("f", (x,), [], (x,)))
    <Func f: 1 -> 1, 0 equations>
    >>> check(Func("f", (), [], (x,)))
    Traceback (most recent call last):
    ...
    fad.util.errors.CheckError: x is used before it is bound: the outputs of f...
    """
    _Checker(set(outer)).region(func, set(outer))
    return func


def check_order(func: Func, before: Func) -> None:
    """Raise an error if an equation that selects stands before a check which it stood behind: it would select with an
    index that is out of range. before: the program that a pass has made this one of.

    Raises
    ------
    CheckError
        It names the equation.
    """
    places = {e: (k, i) for k, equations in enumerate(_lists(before)) for i, e in enumerate(equations)}
    for equations in _lists(func):
        first: dict[int, int] = {}                           # a list of equations before -> the first check behind here
        for eqn in reversed(equations):
            k, i = places.get(eqn, (-1, -1))
            if eqn.op.kind == "check":
                first[k] = min(i, first.get(k, i))
            elif eqn.op.traits.selects and k >= 0 and first.get(k, i) < i:
                raise CheckError(f"a check comes too late for {eqn} in {func.name}")


def _lists(func: Func) -> Iterator:
    """The lists of equations of a Func and of its regions."""
    return (f.equations for f in (func, *[region for eqn in all_equations(func) for region in eqn.regions]))


class _Checker:
    """One check of a whole program. everywhere: the variables that are bound anywhere so far."""

    def __init__(self, everywhere: set):
        self.everywhere = everywhere

    def region(self, func: Func, bound: set) -> None:
        """Check a Func within the variables that are bound around it."""
        for v in func.inputs:
            self.bind(v, bound, func)
        computed = defined_by(func.equations)                # extents of inputs that a second step gives
        bound.update(n for n in extents_of(func.inputs) if n not in computed)
        for eqn in func.equations:
            self.equation(eqn, bound, func)
        for atom in func.outputs:
            self.use(atom, bound, "the outputs of", func.name)

    def equation(self, eqn: Equation, bound: set, func: Func) -> None:
        for atom in eqn.inputs:
            self.use(atom, bound, eqn, "in", func.name)
        for region in eqn.regions:
            self.region(region, set(bound))
        for v in eqn.outputs:
            self.bind(v, bound, func)
        for n in extents_of(eqn.outputs):
            self.use(n, bound, "the type of", eqn)
        rule = _selection if eqn.op.traits.selects else _OF_REGIONS.get(eqn.op.traits.control)
        problem = rule(eqn) if rule is not None else "this op has no regions" if eqn.regions else ""
        if problem:
            raise CheckError(f"{problem}: {eqn} in {func.name}")

    def bind(self, var: Var, bound: set, func: Func) -> None:
        if var in self.everywhere:
            raise CheckError(f"{var} is bound twice in {func.name}")
        if any(not _is_extent(n) for n in var.type.shape):
            raise CheckError(f"{var}: {var.type} has an extent that is no integer, in {func.name}")
        self.everywhere.add(var)
        bound.add(var)

    @staticmethod
    def use(atom: Atom, bound: set, *place: "Equation | str") -> None:
        """Raise an error unless the atom is bound; place: what tells where it is used, as words of a sentence."""
        if not isinstance(atom, Literal) and atom not in bound:
            raise CheckError(f"{atom} is used before it is bound: {' '.join(map(str, place))}")


def _is_extent(n: "Var | int") -> bool:
    return n.type.dtype == INT and not n.type.shape if isinstance(n, Var) else isinstance(n, int) and n >= 0


def _is_integer(a: Atom) -> bool:
    return not a.type.shape and a.type.dtype.kind in "iu"


def _is_alike(a: Atom, v: Var) -> bool:
    """Whether an atom may be handed on as the variable: one dtype and rank, and no two numbers for one extent."""
    if a.type.dtype != v.type.dtype or a.type.rank != v.type.rank:
        return False
    return all(m == n for m, n in zip(a.type.shape, v.type.shape) if isinstance(m, int) and isinstance(n, int))


# -- what is wrong with an equation; "" where nothing is --------------------------------------------------------------


def _loop(eqn: Equation) -> str:
    loop = LoopView(eqn)
    if len(loop.bounds) != (0 if loop.index is None else 3) or not all(map(_is_integer, loop.bounds)):
        return "a counted loop has three integers for bounds, a while loop none"
    if loop.index is not None and not _is_integer(loop.index):
        return "the index of a loop is an integer"
    if not len(loop.init) == len(loop.carries) == len(loop.next) == len(loop.results):
        return "a loop has as many initial values, carries and results"
    for row in (loop.init, loop.next, loop.results, *([loop.test.inputs] if loop.test is not None else [])):
        for a, carry in zip(row, loop.carries):
            if not _is_alike(a, carry):
                return f"{a}: {a.type} is no value of the carry {carry}: {carry.type}"
    if loop.test is not None and (len(loop.test.inputs) != len(loop.carries) or not _is_truth(loop.test.outputs)):
        return "the test of a loop takes its carries and yields one truth value"
    return _links(eqn, loop.carries) or _links(eqn, loop.results)


def _is_truth(outputs: tuple) -> bool:
    return len(outputs) == 1 and outputs[0].type.dtype == BOOL and not outputs[0].type.shape


def _cond(eqn: Equation) -> str:
    branch = BranchView(eqn)
    if branch.selector.type.shape or branch.selector.type.dtype.kind not in "biu":
        return "the selector of a branch is an integer or a truth value"
    for region in branch.branches:
        if region.inputs or len(region.outputs) != len(branch.results):
            return "a branch takes nothing and yields all results"
        for a, v in zip(region.outputs, branch.results):
            if not _is_alike(a, v):
                return f"{a}: {a.type} is no value of the result {v}: {v.type}"
    return _links(eqn, branch.results)


def _links(eqn: Equation, row: tuple) -> str:
    """The parameters `names` and `extents` (see ops/control.py), for the carries or the results."""
    if len(eqn.params["names"]) not in (0, len(row)):
        return "names are given to all carries or to none"
    for k, axis, j in eqn.params["extents"]:
        if not (0 <= k < len(row) and 0 <= j < len(row) and 0 <= axis < row[k].type.rank and _is_integer(row[j])):
            return f"no extent is linked by {(k, axis, j)}"
        if row[k].type.shape[axis] is not row[j]:
            return f"the extent of {row[k]} along axis {axis} is {row[j]}"
    return ""


def _call(eqn: Equation) -> str:
    (region,) = eqn.regions
    pairs = [(eqn.inputs, region.inputs), (region.outputs, eqn.outputs)]
    if any(len(a) != len(b) or not all(map(_is_alike, a, b)) for a, b in pairs):
        return "a call takes what its region takes, and results in what that yields"
    return ""


def _selection(eqn: Equation) -> str:
    x, spec, (out,) = eqn.inputs[0], eqn.params["spec"], eqn.outputs
    if len(spec) != x.type.rank or not all(map(_is_entry, spec)):
        return f"{spec} is no spec for {x.type.rank} axes"
    if len(operands_of(eqn)) != sum(OPERANDS[entry[0]] for entry in spec):
        return f"{spec} asks for another number of operands"
    gathered = set()
    for entry, given in subscripts_of(eqn):
        if entry == "a":
            gathered.add(given[0].type.rank)
        if any(a.type.dtype.kind not in "iu" or (a.type.shape and entry != "a") for a in given):
            return f"the operands of {entry} are integers"
    kept = sum(entry != "i" and entry != "a" for entry in spec)
    if len(gathered) > 1 or not 0 <= eqn.params["at"] <= kept:
        return "index arrays have one rank, and stand among the axes that are left"
    rank = kept + sum(gathered)
    if eqn.reads_part:
        fits = out.type.rank == rank and out.type.dtype == x.type.dtype
        return "" if fits else "a selection has the axes that its spec leaves"
    fits = _is_alike(x, out) and eqn.inputs[1].type.rank <= rank
    return "" if fits else "a write leaves an array of the same type, and fits the selection"


def _is_entry(entry: "str | tuple") -> bool:
    if isinstance(entry, tuple):
        return len(entry) == 2 and entry[0] == "s" and isinstance(entry[1], int) and entry[1] != 0
    return entry in (":", "i", "a")


_OF_REGIONS: dict[str, Callable[[Equation], str]] = {"for": _loop, "while": _loop, "cond": _cond, "call": _call}
