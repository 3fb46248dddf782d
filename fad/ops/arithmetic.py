"""Arithmetic: sums, products, quotients, powers, remainders, and the rounding functions.

Inside a rule, z (or y) is the result and the other letters are the inputs. Operators and ops compute on whatever
arrays the rule gets.
"""
import operator
from typing import Any

import numpy as np

from ..ir.op import Op
from ..ir.traits import (
    ANY_WIDENING,
    CHEAP,
    DIGITS_KEPT,
    FLOP,
    PRODUCTS_KEPT,
    SIGNS_KEPT,
    SUMS_KEPT,
    OperandGuard,
    Traits,
)
from ..util.array import AnyArray, ArrayOrNumber
from .kinds import NotDifferentiable, Partials, Zero, conjugate, guarded, is_complex, match, product, spread
from .kinds import add as total
from .pointwise import composed, elementwise, in_program, infer_elementwise, op, real_part

POSITIVE = (0.3, 2.0)
DIVISOR = OperandGuard("not_equal", "division by zero", "ZeroDivisionError")
SHIFT = OperandGuard("greater_equal", "negative shift count", "ValueError")
ROUNDING = Traits(cost=CHEAP, jumps=True, widens=DIGITS_KEPT, bool_text="{0}")
COMPLEX_NUMBERS: set[type] = {complex, np.complex128, np.complex64}

# -- the four operations ---------------------------------------------------------------------------

add = elementwise("add", np.add, "{0} + {1}", Partials(1, 1),
                  traits=Traits(cost=FLOP, affine=True, rounds=True, widens=SUMS_KEPT, grows="steps",
                                on_ints=operator.add, counts=True, bool_text="{0} | {1}"))
sub = elementwise("sub", np.subtract, "{0} - {1}", Partials(1, -1),
                  traits=Traits(cost=FLOP, affine=True, rounds=True, widens=SUMS_KEPT, grows="steps",
                                on_ints=operator.sub, counts=True, stem="d"))
mul = elementwise("mul", np.multiply, "{0} * {1}", Partials(lambda z, x, y: y, lambda z, x, y: x),
                  traits=Traits(cost=FLOP, affine=True, rounds=True, widens=PRODUCTS_KEPT, grows="steps",
                                on_ints=operator.mul, counts=True, bool_text="{0} & {1}"))


def _times(x: ArrayOrNumber, y: ArrayOrNumber) -> Any:
    """NumPy's product. For two complex scalars NumPy rounds each product, in loops over arrays only the sum: z *
    conj(z) is real for scalars alone."""
    both_are = x.__class__ in COMPLEX_NUMBERS and y.__class__ in COMPLEX_NUMBERS
    return x * y if both_are else np.multiply(x, y)


mul.run = _times


class _Quotient:
    """z = x / y: dz = (dx - z dy) / y. One division serves both cotangents. On the tape the rule reads x and y, as
    PyTorch does, so that z may change in place."""

    def jvp(self, op: Op, ys: tuple, xs: tuple, dxs: tuple, params: dict) -> tuple:
        (z,), (dx, dy) = ys, dxs
        moved = total(dx, None if dy is None else product(dy, -z))
        return (spread(_divided(moved, xs[1]), z),)

    def pullback(self, op: Op, gs: tuple, ys: tuple, xs: tuple, params: dict, needs: tuple) -> tuple:
        x, y = xs
        gx = _divided(gs[0], conjugate(y))
        if not needs[1]:
            return match(gx, x), None
        z = ys[0] if in_program(ys[0]) else x / y
        return match(gx, x) if needs[0] else None, match(product(gx, conjugate(-z)), y)


def _divided(d: AnyArray, y: ArrayOrNumber) -> AnyArray:
    return guarded_mul(d, 1.0 / y) if guarded() and not is_literal(y) else d / y


div = elementwise("div", np.true_divide, "{0} / {1}", _Quotient(), POSITIVE,
                  traits=Traits(cost=CHEAP, rounds=True, on_ints=operator.truediv, guard=DIVISOR, raises="divisor",
                                complex_text="quotient({0}, {1})", stem="ratio"))
neg = elementwise("neg", np.negative, "-{0}", Partials(-1),
                  traits=Traits(cost=FLOP, affine=True, widens=SIGNS_KEPT, on_ints=operator.neg, counts=True))
positive = elementwise("positive", np.positive, "+{0}", Partials(1),
                       traits=Traits(widens=ANY_WIDENING, may_alias=True))
reciprocal = elementwise("reciprocal", np.reciprocal, "1 / {0}", Partials(lambda y, x: -y * y, singular=(0,)), POSITIVE,
                         traits=Traits(complex_text="reciprocal({0})"))
square = elementwise("square", np.square, "{0} * {0}", Partials(lambda y, x: 2.0 * x),
                     traits=Traits(cost=CHEAP, rounds=True, widens=PRODUCTS_KEPT, grows="powers",
                                   on_ints=lambda x: x * x))


class _GuardedProduct:
    """Linear in each factor; a product with zero on the left stays zero in the derivatives too."""

    def jvp(self, op: Op, ys: tuple, xs: tuple, dxs: tuple, params: dict) -> tuple:
        (g, p), (dg, dp) = xs, dxs
        from_g = None if dg is None else guarded_mul(dg, p)
        from_p = None if dp is None else guarded_mul(g, dp)
        return (spread(total(from_g, from_p), ys[0]),)

    def pullback(self, op: Op, gs: tuple, ys: tuple, xs: tuple, params: dict, needs: tuple) -> tuple:
        g, p = xs
        return (match(guarded_mul(gs[0], conjugate(p)), g) if needs[0] else None,
                match(guarded_mul(conjugate(g), gs[0]), p) if needs[1] else None)


def _run_guarded(g: ArrayOrNumber, p: ArrayOrNumber) -> AnyArray:
    with np.errstate(invalid="ignore", over="ignore"):
        return np.where(np.equal(g, 0), np.zeros((), np.result_type(g, p)), np.multiply(g, p))[()]


guarded_mul = composed("guarded_mul", _run_guarded, infer_elementwise(np.multiply), "where({0} == 0, {0}, {0} * {1})",
                       _GuardedProduct(), arity=2, doc="g * p, zero where g is zero even if p is infinite or nan",
                       traits=Traits(cost=CHEAP, rounds=True, chooses=True))

# -- powers ----------------------------------------------------------------------------------------


def is_literal(p: ArrayOrNumber) -> bool:
    """Whether p is a number written in the program, so that a rule may look at its value."""
    return isinstance(p, (int, float, complex))


def _pow_base(y: AnyArray, x: AnyArray, p: ArrayOrNumber) -> ArrayOrNumber:
    if is_literal(p):
        return 0.0 * x if p == 0 else 1 if p == 1 else 2.0 * x if p == 2 else p * x ** (p - 1)
    where, none = op("where"), (p == 0) & (x == 0)
    return where(none, 0.0, p * where(none, 1.0, x) ** (p - 1))


def _pow_exponent(y: AnyArray, x: Any, p: Any) -> AnyArray:
    """y log x, and its limit 0 where x = 0 (where the real part of p is negative it is infinite)."""
    where, known = op("where"), is_literal(x)
    if is_complex(p):                        # a negative base has a logarithm then
        x = complex(x) if known else op("cast")(x, dtype=p.dtype) if not is_complex(x) else x
    if known and x != 0:
        return y * op("log")(x)
    none = (x == 0) & (real_part(p) >= 0)
    return where(none, 0.0, y * op("log")(where(none, 1.0, x)))


def _pow_singular(k: int, xs: tuple) -> bool:
    """A base raised to a known power of at least 1 has no singularity; nor has a known positive base."""
    x, p = xs
    known = p if k == 0 else x
    if not is_literal(known) or isinstance(known, complex):
        return True
    return known < 1 and known != 0 if k == 0 else known <= 0


def _power(x: ArrayOrNumber, p: ArrayOrNumber) -> AnyArray:
    """NumPy's power; squares are products, as they are for x ** 2."""
    if (p.__class__ is int or p.__class__ is float) and p == 2 and x.__class__ is np.ndarray and x.dtype.kind in "fc":
        return np.square(x)
    return np.power(x, p)


pow = elementwise("pow", np.power, "power({0}, {1})", Partials(_pow_base, _pow_exponent, singular=_pow_singular),
                  POSITIVE, traits=Traits(rounds=True, widens_by=lambda p: p >= 0, grows="powers", on_ints=operator.pow,
                                counts=True, raises="several", stem="power_of"))
pow.run = _power
sqrt = elementwise("sqrt", np.sqrt, "sqrt({0})", Partials(lambda y, x: 0.5 / y, singular=(0,)), POSITIVE,
                   traits=Traits(cost=CHEAP, rounds=True, raises="domain", stem="root"))
cbrt = elementwise("cbrt", np.cbrt, "cbrt({0})", Partials(lambda y, x: 1.0 / (3.0 * y * y), singular=(0,)), POSITIVE)

# -- quotients and remainders, rounding ------------------------------------------------------------

floordiv = elementwise("floordiv", np.floor_divide, "floor_divide({0}, {1})", Zero(), POSITIVE,
                       traits=Traits(cost=CHEAP, jumps=True, widens_by=bool, on_ints=operator.floordiv, guard=DIVISOR,
                                     counts=True, raises="divisor"))
mod = elementwise("mod", np.remainder, "remainder({0}, {1})", Partials(1, lambda z, x, y: -floordiv(x, y)), POSITIVE,
                  traits=Traits(cost=CHEAP, jumps=True, widens_by=bool, on_ints=operator.mod, guard=DIVISOR,
                                counts=True, raises="divisor"))
fmod = elementwise("fmod", np.fmod, "fmod({0}, {1})", Partials(1, lambda z, x, y: -trunc(x / y)), POSITIVE,
                   traits=Traits(jumps=True, raises="domain"))
floor = elementwise("floor", np.floor, "floor({0})", Zero(), traits=ROUNDING)
ceil = elementwise("ceil", np.ceil, "ceil({0})", Zero(), traits=ROUNDING)
trunc: Op = elementwise("trunc", np.trunc, "trunc({0})", Zero(), traits=ROUNDING)
rint = elementwise("rint", np.rint, "rint({0})", Zero(), traits=ROUNDING)

# -- the binary form of a number -------------------------------------------------------------------

frexp_mantissa = composed("frexp_mantissa", lambda x: np.frexp(x)[0], lambda x: infer_elementwise(np.spacing)(x),
                          "math.frexp({0})[0]", Partials(lambda y, x: op("ldexp")(1.0, -frexp_exponent(x))), arity=1,
                          doc="The mantissa of x, from 1/2 to 1", traits=Traits(jumps=True))
frexp_exponent: Op = composed("frexp_exponent", lambda x: np.frexp(x)[1], infer_elementwise(np.frexp),
                              "np.int32(math.frexp({0})[1])", Zero(), arity=1,
                              doc="The power of two that the mantissa of x is multiplied by")
ldexp: Op = elementwise("ldexp", np.ldexp, "np.ldexp({0}, {1})", Partials(lambda z, x, n: ldexp(1.0, n), None),
                        ((-2.0, 2.0), "integer"), traits=Traits(raises="range"))
nextafter = elementwise("nextafter", np.nextafter, "np.nextafter({0}, {1})",
                        NotDifferentiable("it steps between neighbouring floating-point numbers"))
spacing = elementwise("spacing", np.spacing, "np.spacing({0})",
                      NotDifferentiable("it is a property of floating-point numbers, not a function of real ones"))

# -- integers --------------------------------------------------------------------------------------

gcd = elementwise("gcd", np.gcd, "np.gcd({0}, {1})", Zero(), "integer")
lcm = elementwise("lcm", np.lcm, "np.lcm({0}, {1})", Zero(), "integer")
bitwise_count = elementwise("bitwise_count", np.bitwise_count, "bitwise_count({0})", Zero(), "integer")
bitwise_and = elementwise("bitwise_and", np.bitwise_and, "{0} & {1}", Zero(), "integer",
                          traits=Traits(cost=CHEAP, bool_text="{0} & {1}"))
bitwise_or = elementwise("bitwise_or", np.bitwise_or, "{0} | {1}", Zero(), "integer",
                         traits=Traits(cost=CHEAP, bool_text="{0} | {1}"))
bitwise_xor = elementwise("bitwise_xor", np.bitwise_xor, "{0} ^ {1}", Zero(), "integer",
                          traits=Traits(cost=CHEAP, bool_text="{0} ^ {1}"))
left_shift = elementwise("left_shift", np.left_shift, "left_shift({0}, {1})", Zero(), "integer",
                         traits=Traits(cost=CHEAP, grows="powers", on_ints=operator.lshift, guard=SHIFT, counts=True))
right_shift = elementwise("right_shift", np.right_shift, "right_shift({0}, {1})", Zero(), "integer",
                          traits=Traits(cost=CHEAP, on_ints=operator.rshift, guard=SHIFT, counts=True))
invert = elementwise("invert", np.invert, "np.invert({0})", Zero(), "integer",
                     traits=Traits(cost=CHEAP, counts=True, bool_text="not {0}"))
