"""simplify: identities that make a program smaller, each with the condition under which it holds.

A rule looks at one equation and at the producers of its inputs. It returns the atoms that may stand for the results, or
None. Rules change no result by more than rounding, keep infinities and nans, and keep the type: dtype, extents and
weakness. One walk over the program, in which a rule looks back by a constant number of equations.
"""
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..ir.absent import absent, is_absent
from ..ir.graph import Atom, Equation, Func, Literal, Var
from ..ir.op import registry
from ..ir.spec import walk_spec
from ..ir.types import Type
from ..ops.selection import selected_shape
from ..util.array import AnyArray
from .rewrite import Scope, as_atom, as_extent, rewrite
from .subscripts import IntegerArithmetic, flat_part, part_of_part
from .zeros import adds_nothing, filling, is_nothing, is_number

RULES: dict[str, list[Callable]] = {}


def simplify(func: Func) -> Func:
    """Algebraic and structural identities, from a table.

        a = mul(x, 1.0); b = reshape(a, n); c = transpose(transpose(b))   ->   x
    """
    return rewrite(func, _visit)


def _visit(eqn: Equation, scope: Scope) -> Any:
    if eqn.regions:
        return None
    for rule in RULES.get(eqn.op.name, ()):
        answer = rule(eqn, scope)
        if answer is not None:
            return answer
    if eqn.op.kind != "elementwise":
        return None
    return _of_filled(eqn, scope) or (_without_broadcasts(eqn, scope) if len(eqn.inputs) > 1 else None)


def rule(*names: str) -> Callable:
    """Decorator: a rule for these ops."""
    def register(f: Callable) -> Callable:
        for name in names:
            RULES.setdefault(name, []).append(f)
        return f
    return register


def same_type(a: Var, out: Var) -> bool:
    """Whether an atom may stand for a result: same dtype, extents and weakness."""
    return (isinstance(a, Var) and a.type.dtype == out.type.dtype and a.type.weak == out.type.weak
            and a.type.shape == out.type.shape)


def _or_none(a: Var, eqn: Equation) -> "tuple | None":
    return (a,) if same_type(a, eqn.outputs[0]) else None


@rule("mul")
def _times_one(eqn: Equation, scope: Scope) -> "tuple | None":
    """x * 1 = 1 * x = x, but for complex numbers, whose products with 1 + 0j are nan where a part is infinite."""
    x, y = eqn.inputs
    if eqn.outputs[0].type.dtype.kind == "c":
        return None
    return _or_none(x, eqn) if is_number(y, 1) else _or_none(y, eqn) if is_number(x, 1) else None


@rule("div", "pow")
def _by_one(eqn: Equation, scope: Scope) -> Any:
    """x / 1 = x ** 1 = x; but for complex numbers, as for products."""
    x, y = eqn.inputs
    if eqn.outputs[0].type.dtype.kind == "c":
        return None
    return _or_none(x, eqn) if is_number(y, 1) else None


@rule("div")
def _over_root(eqn: Equation, scope: Scope) -> Any:
    """a / r = (b / r) * (a / b), if a number b has been divided by the root r and a / b is a power of two. The
    derivative of r has such pairs: 1 / r and 0.5 / r.

    Only one rounding happens: a quotient by a root of float64 is never so large or so small that it leaves the range.
    """
    a, r = eqn.inputs
    made = scope.producer(r)
    if (not isinstance(a, Literal) or made is None or made.op.name != "sqrt" or r.type.dtype != "float64" or not a.value
            or isinstance(a.value, complex)):
        return None
    b, quotient = scope.known.setdefault((_over_root, r), (a, eqn.outputs[0]))
    factor = a.value / b.value
    if quotient is eqn.outputs[0] or math.frexp(abs(factor))[0] != 0.5 or not same_type(quotient, eqn.outputs[0]):
        return None
    return Equation(registry["mul"], (quotient, Literal(factor, a.type)), eqn.outputs, {}, (), eqn.where)


@rule("sub")
def _minus_zero(eqn: Equation, scope: Scope) -> Any:
    """x - 0 = x, for a zero that is not negative: -0.0 - -0.0 is 0.0."""
    x, y = eqn.inputs
    exact = is_number(y, 0) and (y.type.dtype.kind != "c" or is_absent(y.value)) and not np.signbit(np.real(y.value))
    return _or_none(x, eqn) if exact else None


@rule("add")
def _plus_zero(eqn: Equation, scope: Scope) -> "tuple | None":
    """x + 0 = 0 + x = x for integers, and if the zero stands for an absent cotangent; also for an array of zeros."""
    x, y = eqn.inputs
    if adds_nothing(filling(y, scope.producer), eqn.outputs[0]):
        return _or_none(x, eqn)
    if adds_nothing(filling(x, scope.producer), eqn.outputs[0]):
        return _or_none(y, eqn)
    return None


@rule("neg")
def _twice_negated(eqn: Equation, scope: Scope) -> Any:
    """-(-x) = x."""
    made = scope.producer(eqn.inputs[0])
    return _or_none(made.inputs[0], eqn) if made is not None and made.op.name == "neg" else None


@rule("conj", "real")
def _of_real(eqn: Equation, scope: Scope) -> "tuple | None":
    """conj(x) = real(x) = x for real x."""
    x = eqn.inputs[0]
    return _or_none(x, eqn) if x.type.dtype.kind != "c" else None


@rule("cast", "broadcast_to", "reshape")
def _no_change(eqn: Equation, scope: Scope) -> "tuple | None":
    """A conversion to the type that x has."""
    return _or_none(eqn.inputs[0], eqn)


@rule("linear_scan", "cumsum", "cumprod", "cummax", "cummin", "cumlogaddexp")
def _scan_of_one(eqn: Equation, scope: Scope) -> Any:
    """A scan along an axis of one element is what it begins with."""
    x, out = eqn.inputs[-1], eqn.outputs[0]
    if out.type.shape[eqn.params["axis"]] != 1:
        return None
    return _or_none(x, eqn) or (scope.emit(registry["cast"], (x,), out.type, {"dtype": out.type.dtype}, eqn.where),)


@rule("argmax", "argmin")
def _place_of_one(eqn: Equation, scope: Scope) -> Any:
    """The only element's place is 0."""
    out = eqn.outputs[0].type
    if eqn.inputs[0].type.shape[eqn.params["axis"]] != 1:
        return None
    zero = Literal(out.dtype.type(0), Type(out.dtype))
    return (scope.emit(registry["full"], (zero, *map(as_atom, out.shape)), out, {"dtype": out.dtype}, eqn.where)
            if out.shape else zero,)


@rule("where")
def _either_way(eqn: Equation, scope: Scope) -> "tuple | None":
    """where(c, x, x) = x; where(True, x, y) = x."""
    c, x, y = eqn.inputs
    if x is y:
        return _or_none(x, eqn)
    if isinstance(c, Literal):
        return _or_none(x if c.value else y, eqn)
    return None


@rule("guarded_mul")
def _guard_not_needed(eqn: Equation, scope: Scope) -> Any:
    """guarded_mul(g, p) = g * p for a number g that is not zero."""
    g, p = eqn.inputs
    if isinstance(g, Literal) and g.value != 0:
        return Equation(registry["mul"], eqn.inputs, eqn.outputs, {}, (), eqn.where)
    return _or_none(p, eqn) if is_number(g, 1) else None


@rule("transpose")
def _transposed_twice(eqn: Equation, scope: Scope) -> Any:
    """transpose(transpose(x)) is one transpose, or none."""
    axes = eqn.params["axes"]
    if axes == tuple(range(len(axes))):
        return _or_none(eqn.inputs[0], eqn)
    made = scope.producer(eqn.inputs[0])
    if made is None or made.op.name != "transpose":
        return None
    joint = tuple(made.params["axes"][a] for a in axes)
    if joint == tuple(range(len(joint))):
        return _or_none(made.inputs[0], eqn)
    return Equation(eqn.op, made.inputs, eqn.outputs, {"axes": joint}, (), eqn.where)


@rule("reshape")
def _reshaped_twice(eqn: Equation, scope: Scope) -> Any:
    """reshape(reshape(x)) is one reshape. The reshape of a filled array fills an array of the other extents."""
    made = scope.producer(eqn.inputs[0])
    if made is not None and made.op.name == "full":
        return Equation(made.op, made.inputs[:1] + eqn.inputs[1:], eqn.outputs, made.params, (), eqn.where)
    if made is None or made.op.name != "reshape":
        return None
    if same_type(made.inputs[0], eqn.outputs[0]):
        return (made.inputs[0],)
    return Equation(eqn.op, (made.inputs[0],) + eqn.inputs[1:], eqn.outputs, {}, (), eqn.where)


@rule("reshape")
def _only_element(eqn: Equation, scope: Scope) -> Any:
    """The only element of an array is read where the program stands: the array may be overwritten later."""
    x = eqn.inputs[0]
    if eqn.outputs[0].type.shape or not x.type.shape:
        return None
    spec = ("i",) * x.type.rank
    zeros = [as_atom(0)] * len(spec)
    return Equation(registry["index"], (x, *zeros), eqn.outputs, {"spec": spec, "at": 0}, (), eqn.where)


@rule("broadcast_to")
def _broadcast_twice(eqn: Equation, scope: Scope) -> Any:
    """broadcast_to(broadcast_to(x)) is one; of an array filled with one number, a larger array filled with it."""
    made = scope.producer(eqn.inputs[0])
    if made is not None and made.op.name == "full":
        return Equation(made.op, made.inputs[:1] + eqn.inputs[1:], eqn.outputs, made.params, (), eqn.where)
    source = _leading_ones_dropped(eqn.inputs[0], scope)
    if source is not eqn.inputs[0]:
        return Equation(eqn.op, (source,) + eqn.inputs[1:], eqn.outputs, {}, (), eqn.where)
    return None


def _leading_ones_dropped(a: Any, scope: Scope) -> Any:
    """x, for a = x with axes of extent 1 put in front (which broadcasting would do anyhow), or broadcast from x."""
    made = scope.producer(a)
    if made is None or a.type.weak or not made.inputs:
        return a
    x = made.inputs[0]
    if made.op.name == "full":
        return _number_as(x, a)
    if x.type.weak:
        return a
    if made.op.name == "broadcast_to":
        return _leading_ones_dropped(x, scope)
    extra = a.type.rank - x.type.rank
    if (made.op.name == "reshape" and extra > 0 and a.type.shape[extra:] == x.type.shape
            and all(n == 1 for n in a.type.shape[:extra])):
        return _leading_ones_dropped(x, scope)
    return a


def _of_filled(eqn: Equation, scope: Scope) -> Any:
    """An elementwise op of arrays that are filled with one number each is an array filled with one number."""
    out = eqn.outputs[0]
    makers = [scope.producer(a) if isinstance(a, Var) else None for a in eqn.inputs]
    if eqn.op.traits.barrier or not all(isinstance(a, Literal) or _is_filled(m) for a, m in zip(eqn.inputs, makers)):
        return None
    whole = next((m for m in makers if m is not None and m.outputs[0].type.shape == out.type.shape), None)
    if whole is None:
        return None
    numbers = [a if m is None else _number_as(m.inputs[0], m.outputs[0]) for a, m in zip(eqn.inputs, makers)]
    with np.errstate(all="ignore"):
        value = eqn.op.run(*[a.value for a in numbers], **eqn.params)
    fill = Literal(out.type.dtype.type(value), Type(out.type.dtype))
    return Equation(whole.op, (fill, *whole.inputs[1:]), eqn.outputs, {"dtype": out.type.dtype}, (), eqn.where)


def _is_filled(made: Any) -> bool:
    return made is not None and made.op.name == "full" and isinstance(made.inputs[0], Literal)


def _converted(value: object, dtype: np.dtype) -> AnyArray:
    return absent(dtype) if is_absent(value) else dtype.type(value)


def _number_as(x: Any, a: Any) -> Any:
    """The scalar that fills an array, in the array's dtype; the array itself if that needs a conversion."""
    if isinstance(x, Literal):
        return Literal(_converted(x.value, a.type.dtype), Type(a.type.dtype))
    return x if x.type.dtype == a.type.dtype and not x.type.weak else a


def _without_broadcasts(eqn: Equation, scope: Scope) -> "Equation | None":
    """An elementwise op broadcasts its operands, so it takes them as they were before a broadcast, if one has the full
    shape.
    """
    shape = eqn.outputs[0].type.shape
    if not shape:
        return None
    sources = [_leading_ones_dropped(a, scope) if isinstance(a, Var) else a for a in eqn.inputs]
    if all(s is a for s, a in zip(sources, eqn.inputs)):
        return None
    if not any(isinstance(s, Var) and s.type.shape == shape for s in sources):
        return None
    return Equation(eqn.op, tuple(sources), eqn.outputs, eqn.params, (), eqn.where)


@rule("index")
def _element_of_filled(eqn: Equation, scope: Scope) -> "tuple | None":
    """An element of an array that is filled with one number is the number."""
    made = scope.producer(eqn.inputs[0])
    if made is None or eqn.outputs[0].type.shape or not _is_filled(made):
        return None
    return (_number_as(made.inputs[0], eqn.outputs[0]),)


@rule("index")
def _all_of_it(eqn: Equation, scope: Scope) -> "Equation | None":
    """A part that is all of x is x in other extents: x[:, 0] of an array with one column."""
    x = eqn.inputs[0]
    if not eqn.outputs[0].type.shape or not _is_whole(x.type.shape, eqn.inputs[1:], eqn.params["spec"]):
        return None
    return _in_extents(x, eqn)


@rule("index")
def _part_in_order(eqn: Equation, scope: Scope) -> Any:
    """An element or a row of a part of a vector in other extents is a part of the vector: no copy of the whole is
    needed.
    """
    made = scope.producer(eqn.inputs[0])
    source = scope.producer(made.inputs[0]) if made is not None and made.op.name == "reshape" else None
    if made is None or source is None or not source.reads_part or made.inputs[0].type.rank != 1:
        return None
    integers = IntegerArithmetic(eqn.where)
    found = flat_part(eqn.inputs[0].type.shape, (eqn.inputs[1:], eqn.params["spec"]), integers)
    for e in integers.equations:
        scope.add(e)
    return found and Equation(eqn.op, (made.inputs[0], *found[0]), eqn.outputs, {"spec": found[1], "at": 0}, (),
                              eqn.where)


@rule("update", "index_add")
def _all_written(eqn: Equation, scope: Scope) -> "Equation | None":
    """If v replaces all of x, or is added to an array of zeros of its own size, the result is v in other extents."""
    (x, v), operands, params = eqn.inputs[:2], eqn.inputs[2:], eqn.params
    if (not isinstance(v, Var) or not _is_whole(x.type.shape, operands, params["spec"])
            or (eqn.adds_part and not is_nothing(x, scope.producer))):
        return None
    if v.type.shape != selected_shape(x.type.shape, operands, params["spec"], params["at"]):
        return None
    return _in_extents(v, eqn)


@rule("add")
def _plus_part(eqn: Equation, scope: Scope) -> "Equation | None":
    """x + (zeros with v added to a part) = x with v added to that part."""
    for x, y in (eqn.inputs, eqn.inputs[::-1]):
        added = _added_to_zeros(y, scope)
        if (added is not None and same_type(x, eqn.outputs[0])
                and (x.type.dtype, x.type.shape) == (y.type.dtype, y.type.shape)):
            return Equation(added.op, (x, *added.inputs[1:]), eqn.outputs, added.params, (), eqn.where)
    return None


@rule("index_add")
def _part_of_part(eqn: Equation, scope: Scope) -> Any:
    """(Zeros with v added to a part) added to a part of x = x with v added to a part of that part."""
    (x, y), operands, params = eqn.inputs[:2], eqn.inputs[2:], eqn.params
    added = _added_to_zeros(y, scope)
    if (added is None or y.type.dtype != x.type.dtype
            or y.type.shape != tuple(map(as_extent,
                                         selected_shape(x.type.shape, operands, params["spec"], params["at"])))):
        return None
    integers = IntegerArithmetic(eqn.where)
    found = part_of_part((operands, params["spec"]), (added.inputs[2:], added.params["spec"]), integers)
    for e in integers.equations:
        scope.add(e)
    return found and Equation(eqn.op, (x, added.inputs[1], *found[0]), eqn.outputs, {"spec": found[1], "at": 0}, (),
                              eqn.where)


def _added_to_zeros(a: Atom, scope: Scope) -> "Equation | None":
    """The addition that made an array of nothing but zeros else."""
    made = scope.producer(a)
    return made if made is not None and made.adds_part and is_nothing(made.inputs[0], scope.producer) else None


def _is_whole(shape: tuple, operands: tuple, spec: tuple) -> bool:
    """Whether a selection takes every element, in order."""
    return all(entry == ":" or (entry == "i" and shape[axis] == 1) for axis, entry, _ in walk_spec(spec, operands))


def _in_extents(x: Var, eqn: Equation) -> Any:
    """x in the extents of the equation's result."""
    out = eqn.outputs[0].type
    if x.type.dtype != out.dtype or x.type.weak != out.weak or not x.type.shape:
        return None
    return _or_none(x, eqn) or Equation(registry["reshape"], (x, *map(as_atom, out.shape)), eqn.outputs, {}, (),
                                        eqn.where)


@rule("sum")
def _sum_of_nothing(eqn: Equation, scope: Scope) -> Any:
    """A sum over no axes."""
    return _or_none(eqn.inputs[0], eqn) if not eqn.params["axes"] else None


__all__ = ["simplify", "RULES"]
