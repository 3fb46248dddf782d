"""Values that are known while tracing: what was computed from numbers of the program and arrays from outside alone."""
from typing import Any

import numpy as np

from ...ir import stack
from ...ir.build import Value, current
from ...ir.graph import Atom, Equation, Literal, Var, all_equations, free_vars, is_branch
from ...ir.op import registry
from ...ir.records import ONCE
from ...ir.views import BranchView
from ...ir.walk import Environment, run_equation
from ...ops.conditional import around
from ...ops.extents import pinned
from ...util.array import AnyArray, ArrayOrNumber
from ...util.attempts import Mode
from ...util.defects import ignore_expected
from ...util.errors import PINNED, FadError
from ...util.patience import OutOfPatience, patience
from ..guards.guard import of_all_in
from .layout import producer

SHORT = 0.1                                                  # seconds for a loop whose result decides a condition
FEW, MANY = 20, 10_000                                       # equations between a condition and what it follows from


def constant_of(var: Var, limit: int = 1000) -> Any:
    """The value of a variable that depends on no input (within `limit` equations), or None.

    Where it depends on elements of arrays from outside, these become part of the program: once they change it is traced
    anew.
    """
    found = _Evaluation(limit)
    value = found.value(var)
    if value is not None:
        current().trace.sources += [of_all_in(array) for array in found.used.values()]
    return value


def of_sizes(x: Value) -> "int | None":
    """The value of a scalar that follows from sizes of arrays alone. The program is then for the sizes at hand: a guard
    on them makes it true. None of any other value.

    >>> from fad.ir.build import building
    >>> from fad.trace.values.tracer import Tracer
    >>> with building("f", Tracer) as b:
    ...     n = b.value_of(b.dim(5))
    ...     of_sizes(n / 2)
    2.5
    """
    value = None if x.shape else pinned(x)
    return value.item() if x.type.weak and isinstance(value, np.generic) else value


def at_sizes(x: Value) -> "tuple | None":
    """The content of x at the sizes of this call, and those sizes. None where x follows from more than sizes."""
    found = _Evaluation(FEW, outside=False, by_sizes=True)
    value = found.value(x.atom)
    return None if value is None else (value, tuple(found.sizes))


class Deciding(Mode):
    """Conditions of branches that follow from arrays from outside are decided.

    Such a condition (`if kind[i] == 0`) becomes a branch of the program, which then holds for other arrays of the same
    shape. Some branches no program can have: one side makes a text and the other None, or each side chooses another
    function. A trace that is refused is made once more, and these conditions are decided by what the arrays hold now.
    The arrays are guarded: once they change, the function is traced anew.
    """

    refusals = FadError


deciding = Deciding()


def decided(test: ArrayOrNumber) -> ArrayOrNumber:
    """A condition; its truth, where that follows from what the traced function made itself (random numbers of its own
    generator, mostly), or if need be from arrays from outside.
    """
    if not isinstance(test, Value) or test.ndim:
        return test
    value = None
    if deciding.is_on:
        value = constant_of(test.atom)
    elif current().trace.fresh_constants:
        value = _Evaluation(FEW, outside=False).value(test.atom)
    deciding.want()
    return test if value is None else bool(value)


class Pinning(Mode):
    """Conditions of branches whose sides no program can join are decided by the values of this call.

    The program checks them, and another call that goes another way has another program (see api/calls/staged.py).
    """

    refusals = FadError


pinning = Pinning()


def of_call(test: Value) -> "bool | None":
    """The truth of a condition in this call; None where it is not known, or not asked for. A function that is called
    at many points (an integrand, a residual) may go another way at each.
    """
    pinning.want()
    is_once = all(b.region.runs == ONCE for b in around(current()) if b.given)
    value = _Evaluation(MANY, by_sizes=True, by_call=True).value(test.atom) if pinning.is_on and is_once else None
    return None if value is None else bool(value)


def pin(test: Value, value: bool) -> None:
    """From here on the program is for this truth of a condition."""
    registry["check_that"](test, value, what=PINNED, error="ValueError")


class _Evaluation:
    """Values of variables, as far as they can be computed now; `used` are the arrays from outside that were looked at,
    if they may be.

    by_sizes: sizes of arrays count as what they are at this call; `sizes` are those that were looked at.
    by_call: so do the inputs.
    """

    def __init__(self, limit: int, outside: bool = True, by_sizes: bool = False, by_call: bool = False):
        self.left, self.outside, self.by_sizes, self.by_call = limit, outside, by_sizes, by_call
        self.known: dict[Var, Any] = {}
        self.used: dict[Var, Any] = {}
        self.sizes: list[Var] = []
        self.taken: list[Equation] = []  # of the regions of branches that are taken

    def value(self, atom: Atom) -> Any:
        if isinstance(atom, (int, np.integer)):
            return atom
        if isinstance(atom, Literal):
            return atom.value
        form = current().integers.form(atom)
        if form.is_constant:                                  # an extent that the program is for
            return form.const
        if self.by_sizes and current().integers.is_of_extents(form):
            self.sizes.append(atom)
            return current().integers.hint(form)
        if atom not in self.known:
            self.known[atom] = self._array(atom)
            if self.known[atom] is None:
                self._compute(atom)
        return self.known[atom]

    def _array(self, atom: Var) -> "AnyArray | None":
        root = current().root
        fresh = root.trace.fresh_constants.get(atom)
        if fresh is not None:
            return fresh
        for array, value in root.trace.captured.values() if self.outside else ():
            if value.origin is atom and isinstance(array, np.ndarray):
                self.used[atom] = array
                return array.copy()
        given = (x for b in around(current()) for v, x in zip(b.inputs, b.given) if v is atom) if self.by_call else ()
        x = next(iter(given), None)
        return self.value(x.atom) if isinstance(x, Value) else x

    def _compute(self, atom: Var) -> None:
        eqn = next((eqn for eqn in self.taken if atom in eqn.outputs), None) or producer(atom)
        if eqn is None or self.left <= 0:
            return
        self.left -= 1
        if is_branch(eqn):
            self._take(BranchView(eqn), atom)
        if eqn.regions:
            if self.by_call and self.known[atom] is None:
                self._interpret(eqn)
            return
        args = [self.value(a) for a in eqn.inputs]
        if any(a is None for a in args):
            return
        with stack.concrete():
            results = eqn.op(*args, **eqn.params)
        self.known.update(zip(eqn.outputs, results if isinstance(results, tuple) else (results,)))

    def _interpret(self, eqn: Equation) -> None:
        """Run a loop or a branch, as long as that takes next to no time."""
        within = [e for region in eqn.regions for e in all_equations(region)]
        used = [a for a in (*eqn.inputs, *[v for region in eqn.regions for v in free_vars(region)]) if type(a) is Var]
        env = Environment()
        env.update({v: self.value(v) for v in used})
        if any(x is None for x in env.values()) or any(e.op.effect and e.op.kind != "check" for e in within):
            return
        try:
            with stack.concrete(), np.errstate(all="ignore"), patience(SHORT):
                run_equation(eqn, env)
            self.known.update({v: env[v] for v in eqn.outputs})
        except OutOfPatience:
            self.left = 0
        except Exception as error:
            ignore_expected(error, "a condition of this call is not decided")

    def _take(self, branch: BranchView, result: Var) -> None:
        """Compute the result of a branch, in the region that is taken."""
        selector = self.value(branch.selector)
        if selector is not None:
            self.taken += branch.branches[int(selector)].equations
            self.known[result] = self.value(branch.yielded(result)[int(selector)])
