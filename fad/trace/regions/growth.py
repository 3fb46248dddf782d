"""Python's integers have no largest one: what a loop would compute in 64 bits is first computed as Python does, and
compared.

A carried int that grows by a bounded step cannot overflow in any loop that ends. One that is multiplied (a factorial, a
power of two) can: the loop's integer part is run by itself, ahead of time; where it leaves 64 bits the loop is not one
region of the program.
"""
from typing import Any

from ...ir.affine import Affine
from ...ir.build import current
from ...ir.graph import Atom, Equation, Func, Literal, Var
from ...ir.types import INT
from ...ir.uses import operands
from ...ir.views import LoopView
from ...util.errors import IntegerOverflowError
from ...util.interrupts import reraise_interrupt

LIMIT = 1 << 63
MOST_ITERATIONS = 10_000


def check_growth(eqn: Equation) -> None:
    """See to it that the Python ints a counted loop carries stay within 64 bits, under a guard if the number of
    iterations may vary.
    """
    loop = LoopView(eqn)
    body, carries = loop.body, list(zip(loop.carries, loop.next, loop.init))
    growing = _fed_back(
        body, carries, {c for c, y, _ in carries if c.type.weak and c.type.dtype == INT and not _steps(c, y)}
    )
    start, stop, step = [_known(a) for a in loop.bounds]
    if not growing or start is None or stop is None or step is None:
        return
    iterations = len(range(start, stop, step))
    fixed = loop.iterations is not None
    safe = _safe_iterations(
        loop, carries, growing, start, step, iterations if fixed else max(iterations, MOST_ITERATIONS)
    )
    if safe < iterations:
        raise IntegerOverflowError(f"an int leaves 64 bits in iteration {safe} of a loop",
                                   do="start with a float (1.0 instead of 1)")
    if not fixed and safe < MOST_ITERATIONS:
        facts = current().integers
        first, last = [facts.form(a) if isinstance(a, Var) else Affine.constant(int(a.value)) for a in loop.bounds[:2]]
        span = last - first if step > 0 else first - last
        facts.assume_nonnegative(span.scaled(-1).shifted(safe * abs(step)))


def _steps(c: Var, y: Atom) -> bool:
    """Whether an iteration adds what does not depend on the int itself (or leaves it)."""
    if isinstance(y, Literal) or y is c:
        return True
    facts = current().integers
    own, new = facts.form(c), facts.form(y)
    rest = new - own
    return not any(v is c for v, _ in rest.terms) and (rest.is_constant or all(v in facts.high for v, _ in rest.terms))


def _fed_back(body: Func, carries: list, growing: set) -> set:
    """Those of these carried ints that an iteration computes from one of them: the others (the index that a loop leaves
    behind) hold what one iteration can make.
    """
    while growing:
        reached = set(growing)
        for e in body.equations:
            if not reached.isdisjoint(operands(e)):
                reached.update(e.outputs)
        left = {c for c, y, _ in carries if c in growing and y in reached}
        if left == growing:
            break
        growing = left
    return growing


def _known(atom: Atom) -> "int | None":
    if isinstance(atom, Literal):
        return int(atom.value)
    facts = current().integers
    return facts.hint(facts.form(atom))


def _safe_iterations(loop: LoopView, carries: list, growing: set, start: int, step: int, iterations: int) -> int:
    """The number of iterations (at most `iterations`) before the integer part of the body leaves 64 bits."""
    state = [_known(a) if c.type.dtype == INT and not c.type.shape else None for c, _, a in carries]
    for iteration in range(min(iterations, MOST_ITERATIONS)):
        env: dict[Var, Any] = {loop.index: start + iteration * step}
        env.update((c, x) for (c, _, _), x in zip(carries, state) if x is not None)
        for e in loop.body.equations:
            _run(e, env)
        if any(abs(x) >= LIMIT for x in env.values()):
            return iteration
        state = [y.value if isinstance(y, Literal) else env.get(y) for _, y, _ in carries]
        if all(x is None for (c, _, _), x in zip(carries, state) if c in growing):
            break
    return iterations


def _run(eqn: Equation, env: dict) -> None:
    """An equation on Python ints, if all its inputs are known."""
    f = eqn.op.traits.on_ints
    if f is None:
        return
    args = [a.value if isinstance(a, Literal) else env.get(a) for a in eqn.inputs]
    if all(isinstance(x, int) for x in args):
        try:
            env[eqn.outputs[0]] = f(*args)
        except (ZeroDivisionError, ValueError) as error:
            reraise_interrupt(error)
            return
