"""Elementwise ops: NumPy's arithmetic and mathematical functions, each with its partial derivatives.

Formulas: Abramowitz & Stegun, Handbook of Mathematical Functions, chapters 3 and 4. Kinks: see `kinks.py`.
Inside a rule, y is the result and the x's are the inputs; operators and ops are what the rule's arrays make of them.
"""
from typing import Any, Callable

import numpy as np

from ..ir.op import Op, registry
from ..ir.types import BOOL, Type, result_dtype, type_of, ufunc_dtypes
from .extents import broadcast_of
from .kinds import NoRule, Partials, Zero, conjugate, is_complex


def infer_elementwise(ufunc: Any) -> Callable:
    """The result type of a ufunc: its loop's dtype, the broadcast shape; weak if all inputs are Python numbers."""
    def infer(*args: Any) -> Type:
        shape = broadcast_of(*args)
        weak = not shape and all(type_of(a).weak for a in args)
        return Type(ufunc_dtypes(ufunc, *args)[-1], shape, weak)
    return infer


def elementwise(name: str, ufunc: Any, text: str, derivative: Any, domain: tuple = (-2.0, 2.0), **facts: Any) -> Op:
    """The record of an elementwise op that NumPy runs as a ufunc. `domain` is where the laws sample it."""
    return Op(name, ufunc, infer_elementwise(ufunc), kind="elementwise", derivative=derivative, text=text,
              batch="elementwise", ufunc=ufunc, domain=domain, arity=ufunc.nin, **facts)


def op(name: str) -> Op:
    return registry[name]


def scale(p: Any) -> Callable:
    return lambda y, x: p


# -- arithmetic -------------------------------------------------------------------------------------------------------------

add = elementwise("add", np.add, "{0} + {1}", Partials(1, 1))
sub = elementwise("sub", np.subtract, "{0} - {1}", Partials(1, -1))
mul = elementwise("mul", np.multiply, "{0} * {1}", Partials(lambda z, x, y: y, lambda z, x, y: x))
div = elementwise("div", np.true_divide, "{0} / {1}",
                  Partials(lambda z, x, y: 1.0 / y, lambda z, x, y: -z / y, singular=(0, 1)), domain=(0.3, 2.0))
neg = elementwise("neg", np.negative, "-{0}", Partials(-1))


def _guarded(g: Any, p: Any) -> Any:
    with np.errstate(invalid="ignore", over="ignore"):
        return np.where(np.equal(g, 0), np.zeros((), np.result_type(g, p)), np.multiply(g, p))[()]


guarded_mul = Op("guarded_mul", _guarded, infer_elementwise(np.multiply), kind="elementwise", batch="elementwise", arity=2,
                 domain=(-2.0, 2.0), text="guarded_mul({0}, {1})", derivative=Partials(lambda z, g, p: p, lambda z, g, p: g, singular=(0, 1)),
                 doc="g * p, zero where g is zero even if p is infinite or nan")

# -- choice, conversion -------------------------------------------------------------------------------------------------------


def _infer_where(c: Any, x: Any, y: Any) -> Type:
    return Type(result_dtype(x, y), broadcast_of(c, x, y))


where = Op("where", lambda c, x, y: np.where(c, x, y)[()], _infer_where, kind="elementwise", batch="elementwise", arity=3,
           text="({1} if {0} else {2})",
           derivative=Partials(None, lambda z, c, x, y: mask(c, 1.0), lambda z, c, x, y: mask(invert(c), 1.0)))


def mask(c: Any, x: Any) -> Any:
    """x where c holds, else 0."""
    return where(c, x, 0.0)


class _Cast:
    """Linear; to a real dtype from a complex one it takes the real part; to an integer there is nothing left to differentiate."""

    def jvp(self, op: Op, ys: tuple, xs: tuple, dxs: tuple, params: dict) -> tuple:
        return (None if dxs[0] is None or ys[0].dtype.kind not in "fc" else cast(dxs[0], **params),)

    def pullback(self, op: Op, gs: tuple, ys: tuple, xs: tuple, params: dict, needs: tuple) -> tuple:
        g = gs[0]
        if is_complex(g) and not is_complex(xs[0]):
            g = registry["real"](g)
        return (cast(g, dtype=type_of(xs[0]).dtype),)


def _run_cast(x: Any, dtype: Any) -> Any:
    x = np.asarray(x)
    if x.dtype.kind == "c" and np.dtype(dtype).kind not in "cb":
        x = x.real
    return x.astype(dtype)[()]


cast = Op("cast", _run_cast, lambda x, dtype: Type(dtype, type_of(x).shape), kind="elementwise", batch="elementwise", arity=1,
          text="cast", derivative=_Cast(), doc="x in another dtype; never weak")
stop_gradient = Op("stop_gradient", lambda x: x, type_of, kind="elementwise", batch="elementwise", arity=1, text="{0}", derivative=Zero(),
                   doc="x, constant to every derivative")
invert = elementwise("invert", np.invert, "invert({0})", Zero(), domain="integer")

# -- powers, exponentials, logarithms -----------------------------------------------------------------------------------------


def _pow_base(y: Any, x: Any, p: Any) -> Any:
    if isinstance(p, (int, float)) and p == 2:
        return 2.0 * x
    if isinstance(p, (int, float)) and p == 1:
        return 1
    if isinstance(p, (int, float)):
        return 0.0 * x if p == 0 else p * x ** (p - 1)
    return where(p == 0, 0.0, p * x ** where(p == 0, 1.0, p - 1))


def _pow_exponent(y: Any, x: Any, p: Any) -> Any:
    """y log x, and its limit 0 where x = 0 (PyTorch's convention; there the function jumps only for p <= 0)."""
    safe = where(x == 0, 1.0, x)
    return where((x == 0) & (real_part(p) >= 0), 0.0, y * log(safe))


def real_part(x: Any) -> Any:
    return registry["real"](x) if is_complex(x) else x


pow = elementwise("pow", np.power, "pow({0}, {1})", Partials(_pow_base, _pow_exponent, singular=(0, 1)), domain=(0.3, 2.0))
sqrt = elementwise("sqrt", np.sqrt, "sqrt({0})", Partials(lambda y, x: 0.5 / y, singular=(0,)), domain=(0.3, 2.0))
square = elementwise("square", np.square, "{0} * {0}", Partials(lambda y, x: 2.0 * x))
exp = elementwise("exp", np.exp, "exp({0})", Partials(lambda y, x: y))
log = elementwise("log", np.log, "log({0})", Partials(lambda y, x: 1.0 / x, singular=(0,)), domain=(0.3, 2.0))
sin = elementwise("sin", np.sin, "sin({0})", Partials(lambda y, x: cos(x)))
cos = elementwise("cos", np.cos, "cos({0})", Partials(lambda y, x: -sin(x)))
tanh = elementwise("tanh", np.tanh, "tanh({0})", Partials(lambda y, x: 1.0 - y * y))
abs = elementwise("abs", np.absolute, "abs({0})", Partials(lambda y, x: sign(x)))
sign = elementwise("sign", np.sign, "sign({0})", Zero())


def _share(better: Callable) -> Callable:
    """Of a maximum or minimum: 1 to the one that wins, half to each of two equals (the subgradient of least norm)."""
    return lambda z, x, y: where(better(x, y), 1.0, where(x == y, 0.5, 0.0))


maximum = elementwise("maximum", np.maximum, "maximum({0}, {1})", Partials(_share(lambda x, y: x > y), _share(lambda x, y: y > x)))
minimum = elementwise("minimum", np.minimum, "minimum({0}, {1})", Partials(_share(lambda x, y: x < y), _share(lambda x, y: y < x)))

# -- integers and comparisons -------------------------------------------------------------------------------------------------

floordiv = elementwise("floordiv", np.floor_divide, "floordiv({0}, {1})", Zero(), domain=(0.3, 2.0))
mod = elementwise("mod", np.remainder, "mod({0}, {1})", Partials(1, lambda z, x, y: -floordiv(x, y)), domain=(0.3, 2.0))
for _name, _ufunc, _text in [("less", np.less, "{0} < {1}"), ("less_equal", np.less_equal, "{0} <= {1}"), ("greater", np.greater, "{0} > {1}"),
                             ("greater_equal", np.greater_equal, "{0} >= {1}"), ("equal", np.equal, "{0} == {1}"),
                             ("not_equal", np.not_equal, "{0} != {1}")]:
    elementwise(_name, _ufunc, _text, Zero())
for _name, _ufunc in [("bitwise_and", np.bitwise_and), ("bitwise_or", np.bitwise_or), ("bitwise_xor", np.bitwise_xor),
                      ("left_shift", np.left_shift), ("right_shift", np.right_shift)]:
    elementwise(_name, _ufunc, {"bitwise_and": "{0} & {1}", "bitwise_or": "{0} | {1}", "bitwise_xor": "{0} ^ {1}",
                                "left_shift": "{0} << {1}", "right_shift": "{0} >> {1}"}[_name], Zero(), domain="integer")
for _name, _ufunc in [("logical_and", np.logical_and), ("logical_or", np.logical_or), ("logical_xor", np.logical_xor), ("logical_not", np.logical_not)]:
    elementwise(_name, _ufunc, _name + ("({0})" if _ufunc.nin == 1 else "({0}, {1})"), Zero(), domain="integer")

# -- complex ------------------------------------------------------------------------------------------------------------------


class _Conj:
    """conj is real-linear: its tangent is conj(dx), its cotangent conj(g)."""

    def jvp(self, op: Op, ys: tuple, xs: tuple, dxs: tuple, params: dict) -> tuple:
        return (conj(dxs[0]),)

    def pullback(self, op: Op, gs: tuple, ys: tuple, xs: tuple, params: dict, needs: tuple) -> tuple:
        return (conj(gs[0]),)


def _real_of(x: Any) -> np.dtype:
    dtype = type_of(x).dtype
    return np.dtype(f"f{dtype.itemsize // 2}") if dtype.kind == "c" else dtype


conj = elementwise("conj", np.conjugate, "conj({0})", _Conj(), domain="complex")
NORULE = NoRule
__all__ = ["elementwise", "infer_elementwise", "mask", "conjugate", "BOOL"]
