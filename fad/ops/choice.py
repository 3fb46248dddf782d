"""Choosing: where, maximum, minimum, clip, signs and steps; and changes of dtype. `kinks` holds the rules at kinks."""
import builtins
import operator

import numpy as np

from ..ir.op import Op, registry
from ..ir.traits import ANY_WIDENING, CHEAP, DIGITS_KEPT, ORDER_KEPT, SIGNS_KEPT, Comparison, Traits, Widening
from ..ir.types import Type, type_of
from ..util.array import AnyArray, ArrayOrNumber, DTypeLike
from ..util.errors import UnsupportedFunctionError
from .extents import broadcast_of
from .kinds import Partials, Zero, is_complex, match, spread
from .pointwise import Choice, ComplexDerivative, HalfAtTies, RealDerivative, composed, elementwise, infer_promoted

FINITE_KEPT = DIGITS_KEPT | Widening.REAL_TO_COMPLEX | Widening.COMPLEX_DIGITS


class _Where:
    """The branch that is taken has the derivative; the other one's is not touched, whatever its value."""

    def jvp(self, op: Op, ys: tuple, xs: tuple, dxs: tuple, params: dict) -> tuple:
        dx, dy = (0.0 if d is None else d for d in dxs[1:])
        moved = dxs[1] is not None or dxs[2] is not None
        return (spread(where(xs[0], dx, dy), ys[0]) if moved else None,)

    def pullback(self, op: Op, gs: tuple, ys: tuple, xs: tuple, params: dict, needs: tuple) -> tuple:
        c, x, y = xs
        return (None, match(where(c, gs[0], 0.0), x) if needs[1] else None,
                match(where(c, 0.0, gs[0]), y) if needs[2] else None)


where = composed("where", lambda c, x, y: np.where(c, x, y)[()],  # type: ignore[call-overload]
                 lambda c, x, y: Type(infer_promoted(x, y).dtype, broadcast_of(c, x, y)), "where({0}, {1}, {2})",
                 _Where(), ("bool", (-2.0, 2.0), (-2.0, 2.0)), arity=3, doc="x where c holds, y elsewhere",
                 traits=Traits(cost=CHEAP, widens=ANY_WIDENING, chooses=True, chosen_from=1,
                               on_ints=lambda c, x, y: x if c else y, stem="pick"))


def mask(c: AnyArray, x: ArrayOrNumber) -> AnyArray:
    """x where c holds, else 0."""
    return where(c, x, 0.0)


# -- order, the larger, the smaller ----------------------------------------------------------------

less = elementwise("less", np.less, "{0} < {1}", Zero(),
                   traits=Traits(cost=CHEAP, widens=ORDER_KEPT, comparison=Comparison(-1, False, "greater_equal"),
                                 on_ints=operator.lt, bool_text="{0} < {1}"))
less_equal = elementwise("less_equal", np.less_equal, "{0} <= {1}", Zero(),
                         traits=Traits(cost=CHEAP, widens=ORDER_KEPT, comparison=Comparison(-1, True, "greater"),
                                       on_ints=operator.le, bool_text="{0} <= {1}"))
greater = elementwise("greater", np.greater, "{0} > {1}", Zero(),
                      traits=Traits(cost=CHEAP, widens=ORDER_KEPT, comparison=Comparison(1, False, "less_equal"),
                                    on_ints=operator.gt, bool_text="{0} > {1}"))
greater_equal = elementwise("greater_equal", np.greater_equal, "{0} >= {1}", Zero(),
                            traits=Traits(cost=CHEAP, widens=ORDER_KEPT, comparison=Comparison(1, True, "less"),
                                          on_ints=operator.ge, bool_text="{0} >= {1}"))
maximum = elementwise("maximum", np.maximum, "maximum({0}, {1})", HalfAtTies(greater),
                      traits=Traits(cost=CHEAP, widens=ORDER_KEPT, chooses=True, chosen_from=0, on_ints=builtins.max,
                                    bool_text="{0} | {1}"))
minimum = elementwise("minimum", np.minimum, "minimum({0}, {1})", HalfAtTies(less),
                      traits=Traits(cost=CHEAP, widens=ORDER_KEPT, chooses=True, chosen_from=0, on_ints=builtins.min,
                                    bool_text="{0} & {1}"))
fmax = elementwise("fmax", np.fmax, "fmax({0}, {1})", HalfAtTies(lambda x, y: greater(x, y) | ((y != y) & (x == x))),
                   traits=Traits(widens=ORDER_KEPT, chooses=True, bool_text="{0} | {1}"))
fmin = elementwise("fmin", np.fmin, "fmin({0}, {1})", HalfAtTies(lambda x, y: less(x, y) | ((y != y) & (x == x))),
                   traits=Traits(widens=ORDER_KEPT, chooses=True, bool_text="{0} & {1}"))


def _clipped(x: ArrayOrNumber, low: ArrayOrNumber, high: ArrayOrNumber) -> tuple:
    """Masks of where the result is x, low and high. Between bounds that meet it is high, and not x."""
    inside, below, above = greater_equal(x, low) & less_equal(x, high), less(x, low), greater(x, high)
    apart = less(low, high)
    if isinstance(apart, (bool, np.bool_)) and apart:
        return inside, below, above
    return inside & apart, below & apart, above | greater_equal(low, high)


clip = composed("clip", lambda x, low, high: np.clip(x, low, high), infer_promoted, "minimum(maximum({0}, {1}), {2})",
                Choice(_clipped), ((-2.0, 2.0), (-1.5, -0.5), (0.5, 1.5)), arity=3,
                doc="x, but at least low and at most high", traits=Traits(widens=ORDER_KEPT, chooses=True))

# -- signs and steps -------------------------------------------------------------------------------


def _abs_tangent(y: AnyArray, x: AnyArray, dx: AnyArray) -> AnyArray:
    return registry["real"](registry["conj"](sign(x)) * dx) if is_complex(x) else sign(x) * dx


def _turn(x: AnyArray, d: AnyArray) -> AnyArray:
    """i s Im(conj(s) d) / |x|, with s = x / |x|: the rotation of sign(x) as x moves by d; a symmetric map, zero at
    zero by convention."""
    s, size = sign(x), abs(x)
    return 1j * s * registry["imag"](registry["conj"](s) * d) / where(size == 0, 1.0, size)


abs = elementwise("abs", np.absolute, "abs({0})", RealDerivative(_abs_tangent, lambda y, x, g: g * sign(x)),
                  traits=Traits(cost=CHEAP, widens=SIGNS_KEPT, on_ints=builtins.abs, bool_text="abs({0})",
                                stem="size"))
sign: Op = elementwise("sign", np.sign, "sign({0})",
                       ComplexDerivative(lambda y, x, dx: _turn(x, dx), lambda y, x, g: _turn(x, g)),
                       traits=Traits(cost=CHEAP, jumps=True, widens=DIGITS_KEPT, bool_text="sign({0})"))
copysign: Op = elementwise("copysign", np.copysign, "copysign({0}, {1})",
                           Partials(lambda z, x, y: sign(x) * copysign(1.0, z), None), traits=Traits(jumps=True))
heaviside = elementwise("heaviside", np.heaviside, "heaviside({0}, {1})",
                        Partials(None, lambda z, x, h: mask(x == 0, 1.0)), traits=Traits(jumps=True))

# -- equality, truth -------------------------------------------------------------------------------

equal = elementwise("equal", np.equal, "{0} == {1}", Zero(),
                    traits=Traits(cost=CHEAP, widens=ANY_WIDENING, comparison=Comparison(0, True, "not_equal"),
                                  on_ints=operator.eq, bool_text="{0} == {1}"))
not_equal = elementwise("not_equal", np.not_equal, "{0} != {1}", Zero(),
                        traits=Traits(cost=CHEAP, widens=ANY_WIDENING, comparison=Comparison(0, False, "equal"),
                                      on_ints=operator.ne, bool_text="{0} != {1}"))
logical_and = elementwise("logical_and", np.logical_and, "np.logical_and({0}, {1})", Zero(),
                          traits=Traits(cost=CHEAP, widens=ANY_WIDENING, bool_text="{0} & {1}"))
logical_or = elementwise("logical_or", np.logical_or, "np.logical_or({0}, {1})", Zero(),
                         traits=Traits(cost=CHEAP, widens=ANY_WIDENING, bool_text="{0} | {1}"))
logical_xor = elementwise("logical_xor", np.logical_xor, "np.logical_xor({0}, {1})", Zero(),
                          traits=Traits(cost=CHEAP, widens=ANY_WIDENING, bool_text="{0} ^ {1}"))
logical_not = elementwise("logical_not", np.logical_not, "np.logical_not({0})", Zero(),
                          traits=Traits(cost=CHEAP, widens=ANY_WIDENING, bool_text="not {0}"))
isnan = elementwise("isnan", np.isnan, "np.isnan({0})", Zero(),
                    traits=Traits(cost=CHEAP, widens=FINITE_KEPT, bool_text="{0} != {0}"))
isinf = elementwise("isinf", np.isinf, "np.isinf({0})", Zero(),
                    traits=Traits(widens=FINITE_KEPT, bool_text="{0} != {0}"))
isfinite = elementwise("isfinite", np.isfinite, "np.isfinite({0})", Zero(),
                       traits=Traits(cost=CHEAP, widens=FINITE_KEPT, bool_text="{0} == {0}"))
signbit = elementwise("signbit", np.signbit, "np.signbit({0})", Zero())

# -- dtypes ----------------------------------------------------------------------------------------


class _Cast:
    """Linear. To a real dtype from a complex one it takes the real part; to an integer it is constant."""

    def jvp(self, op: Op, ys: tuple, xs: tuple, dxs: tuple, params: dict) -> tuple:
        return (None if dxs[0] is None or ys[0].dtype.kind not in "fc" else cast(dxs[0], **params),)

    def pullback(self, op: Op, gs: tuple, ys: tuple, xs: tuple, params: dict, needs: tuple) -> tuple:
        return (match(gs[0], xs[0]),)


def _run_cast(x: ArrayOrNumber, dtype: np.dtype, weak: bool = False) -> AnyArray:
    x = np.asarray(x)
    if x.dtype.kind == "c" and np.dtype(dtype).kind not in "cb":
        x = x.real
    return x.astype(dtype)[()]


def _infer_cast(x: AnyArray, dtype: DTypeLike, weak: bool = False) -> Type:
    if np.dtype(dtype).kind not in "biufc":
        raise UnsupportedFunctionError(f"a traced value in dtype {np.dtype(dtype)}",
                                       why="a program computes with numbers, and an object or a text has no derivative",
                                       do="keep such arrays apart from what is differentiated")
    if not np.dtype(dtype).isnative:
        raise UnsupportedFunctionError("a traced value in an order of bytes that is not this machine's",
                                       do="give the dtype without its order: float for '>f8'")
    return Type(dtype, type_of(x).shape, weak and not type_of(x).shape)


cast = Op("cast", _run_cast, _infer_cast, kind="elementwise", batch="elementwise", arity=1,
          text="cast", derivative=_Cast(), doc="x in another dtype; weak where Python makes an int of it",
          samples=(lambda rng: ((rng.standard_normal(3),), {"dtype": np.dtype(np.complex128)}),),
          traits=Traits(cost=CHEAP, rounds=True, may_alias=True))
stop_gradient = Op("stop_gradient", lambda x: x, type_of, kind="elementwise", batch="elementwise", arity=1, text="{0}",
                   derivative=Zero(), doc="x, constant to every derivative", traits=Traits(cost=CHEAP, may_alias=True))
