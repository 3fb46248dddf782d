"""The errors that equations raise when the program runs: their classes, and the conditions under which they come.

A handler of the function has to see them (see handlers.py, paths.py).
"""
import builtins
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...ir.build import Builder, current
from ...ir.graph import Equation, Literal, Var
from ...ir.op import registry
from ...ops.arithmetic import DIVISOR
from ...util.array import AnyArray
from ...util.errors import BEYOND_MARKS, RAISED_ON_A_WAY, FadError, UnstageableError
from ...util.interrupts import reraise_interrupt


class Failure(NamedTuple):
    """An error that an equation raises of some operands.

    when      gives the truth value that says whether it does
    error     gives the error, as Python or NumPy makes it
    before    the equation stands in front of `when`, in this form, which does not raise; None: not at all
    after     the equation stands behind it, where it does not raise; None: not at all
    """

    when: Callable[[], Any]
    error: Callable[[], Exception]
    before: "Equation | None" = None
    after: "Equation | None" = None


def may_raise(eqn: Equation, kinds: tuple) -> bool:
    """Whether an equation may raise an error of these kinds, of NumPy's or Python's, when it is run. An equation that
    is settled raises nothing on its path (see paths.py).
    """
    if current().trace.settled.get(id(eqn)) is eqn:
        return False
    if any(may_raise(e, kinds) for region in eqn.regions for e in region.equations):
        return True
    if _may_be_told(eqn, kinds):
        return True
    what = str(eqn.params["what"]) if eqn.op.name == "check_that" else ""
    if what.startswith(BEYOND_MARKS):
        return what.startswith(RAISED_ON_A_WAY) and _may_be_of(eqn, kinds)  # else the call is made anew on the tape
    return any(issubclass(error, kinds) for error in _errors_of(eqn))


def _may_be_of(check: Equation, kinds: tuple) -> bool:
    """Whether the error that the tape raises in the place of a check may be of these kinds."""
    known, cls = current().trace.raised.get(id(check), (None, Exception))
    return known is not check or issubclass(cls, (*kinds, FadError))


def first_that_raises(equations: list, kinds: tuple) -> "Equation | None":
    """The first of these equations that may raise an error of these kinds."""
    return next((eqn for eqn in equations if may_raise(eqn, kinds)), None)


def _may_be_told(eqn: Equation, kinds: tuple) -> bool:
    """Whether it may raise an error of floating point, which somebody has asked for (see handlers.note_strictness)."""
    return current().trace.strict and FloatingPointError in kinds and _computes(eqn)


def may_be_told(eqn: Equation) -> bool:
    """Whether an equation would raise errors of floating point if somebody asked for them."""
    return _computes(eqn) or any(may_be_told(e) for region in eqn.regions for e in region.equations)


def _computes(eqn: Equation) -> bool:
    computes = eqn.op.kind in ("elementwise", "reduce", "contract")
    return computes and any(v.type.dtype.kind in "fc" for v in eqn.outputs)


def class_of(check: Equation) -> type:
    """The class of the error that a check raises: it names one, or its record does."""
    return getattr(builtins, check.params.get("error") or check.op.facts["error"])


def _is_linear_algebra(eqn: Equation) -> bool:
    return str(eqn.op.facts.get("kernel", "")).startswith("linalg")


def _errors_of(eqn: Equation) -> tuple:
    """The classes of errors that an equation without regions may raise. Indices are checked by equations of their own.
    """
    traits = eqn.op.traits
    if eqn.op.kind == "check":
        return (class_of(eqn),)
    if _is_linear_algebra(eqn):
        return () if eqn.op.facts.get("fails", "unknown") is None else (np.linalg.LinAlgError, ValueError)
    if traits.guard == DIVISOR:
        if isinstance(eqn.inputs[-1], Literal) and eqn.inputs[-1].value:
            return ()
        if eqn.outputs[0].type.dtype.kind in "iu":
            return (ZeroDivisionError,)
    if not traits.raises or not eqn.outputs[0].type.weak:
        return ()
    return tuple(_RAISED[traits.raises]) if traits.raises in _RAISED else (ValueError, OverflowError, ZeroDivisionError)


def is_told_by_result(eqn: Equation, kinds: tuple) -> bool:
    """Whether an operation on floats raises errors of numbers only where its result is infinite, or not a number."""
    y = eqn.outputs[0].type if eqn.outputs else None
    is_of_floats = y is not None and y.dtype.kind == "f" and not y.rank
    return is_of_floats and bool(eqn.op.traits.raises) and not eqn.regions and not _may_be_told(eqn, kinds)


def failure_of(eqn: Equation, kinds: tuple, builder: Builder) -> "Failure | None":
    """The one error of these kinds that an equation which may raise one raises, if it can be told when. It is the last
    equation of the builder.
    """
    if eqn.regions or _may_be_told(eqn, kinds):
        return None
    xs = [_operand(a, builder) for a in eqn.inputs]
    if eqn.op.kind == "check":
        return _OF_CHECKS[eqn.op.name](eqn, *xs) if eqn.op.name in _OF_CHECKS else None
    return _of_matrices(eqn, xs) if _is_linear_algebra(eqn) else _of_numbers(eqn, xs, builder)


def _operand(a: Any, builder: Builder) -> Any:
    return a.value if isinstance(a, Literal) else builder.value_of(a)


def _of_truth(eqn: Equation, test: object, wanted: object) -> "Failure | None":
    if str(eqn.params["what"]).startswith(RAISED_ON_A_WAY):   # Python's own error is not known
        return None
    return Failure(lambda: registry["not_equal"](test, wanted), lambda: class_of(eqn)(eqn.params["what"]))


def _of_index(eqn: Equation, i: object, n: object) -> Failure:
    def is_outside() -> Any:
        return _any(registry["logical_or"](registry["less"](i, registry["neg"](n)), registry["greater_equal"](i, n)))
    return Failure(is_outside, lambda: IndexError(DataDependentText()))


_OF_CHECKS: dict[str, Callable] = {"check_that": _of_truth, "check_index": _of_index}


class DataDependentText:
    """The text of an error that says a number which is not known yet."""

    def __str__(self) -> str:
        raise UnstageableError("the text of an error that depends on data is asked for",
                               why="it has no value while the function is traced",
                               do="test for what may go wrong instead")

    __repr__ = __str__

    def __getattr__(self, name: str) -> Any:
        str(self)


def _of_matrices(eqn: Equation, xs: list) -> "Failure | None":
    safe = eqn.op.facts.get("safe")
    if safe is not None:
        made = safe.infer(*xs, **eqn.params)
        told = Equation(safe, eqn.inputs, (*eqn.outputs, *[Var(t) for t in made[len(eqn.outputs):]]), eqn.params, (),
                        eqn.where)
        return Failure(lambda: _any(registry["not_equal"](safe(*xs, **eqn.params)[-1], 0)),
                       lambda: np.linalg.LinAlgError("Matrix is not positive definite"), before=told)
    if "fails" not in eqn.op.facts:
        return None
    return Failure(lambda: eqn.op.facts["fails"](*xs, **eqn.params),
                   lambda: np.linalg.LinAlgError("Singular matrix"), after=eqn)


def _any(x: AnyArray) -> AnyArray:
    return registry["any"](x, axes=tuple(range(x.ndim))) if x.ndim else x


def _of_numbers(eqn: Equation, xs: list, builder: Builder) -> "Failure | None":
    """Of Python's numbers."""
    kind = eqn.op.traits.raises
    if kind not in _RAISED:
        return None
    y: Any = builder.value_of(eqn.outputs[0])
    number = 1 if y.dtype.kind in "iu" else 1.0

    sample = _SAMPLES.get(kind, lambda: eqn.op.traits.on_ints(number, 0 * number))  # type: ignore[misc]
    is_kept = kind != "divisor" or y.dtype.kind not in "iu"   # of floats the program makes inf or nan
    return Failure(lambda: _RULES[kind](y, xs), lambda: _error_of(sample), before=eqn if is_kept else None,
                   after=None if is_kept else eqn)


def _error_of(call: Callable) -> Exception:
    """The error that Python raises there."""
    try:
        call()
    except (ArithmeticError, ValueError) as error:
        reraise_interrupt(error)
        return error.with_traceback(None)
    raise AssertionError("Python raises nothing")


def _both(a: object, b: object) -> AnyArray:
    return registry["logical_and"](a, b)


def _finite(xs: list) -> AnyArray:
    found: Any = True
    for x in xs:
        found = _both(found, registry["isfinite"](x))
    return found


def _outside_domain(y: object, xs: list) -> AnyArray:
    known: Any = True
    for x in xs:
        known = _both(known, registry["logical_not"](registry["isnan"](x)))
    return registry["logical_or"](_both(registry["isnan"](y), known), _both(registry["isinf"](y), _finite(xs)))


_RAISED = {"domain": (ValueError,), "range": (OverflowError,), "divisor": (ZeroDivisionError,)}
_SAMPLES = {"domain": lambda: math.sqrt(-1.0), "range": lambda: math.exp(1e9)}
_RULES: dict[str, Callable] = {
    "domain": _outside_domain,
    "range": lambda y, xs: _both(registry["isinf"](y), _finite(xs)),
    "divisor": lambda y, xs: registry["equal"](xs[-1], 0),
}
