"""NumPy's ufuncs. An op that a ufunc runs has that ufunc as its override, under all its NumPy names; ops compose the
others."""
import math
from typing import Any

import numpy as np

from ...ir.op import Op, registry
from ...ir.types import COMPLEX, FLOAT, result_dtype, type_of
from ...util.array import AnyArray, ArrayLike
from ...util.errors import UnsupportedFunctionError
from .. import arithmetic, choice, complex, transcendental
from ..kinds import NotDifferentiable
from ..override import BY_NAME, add_ufunc, override
from .arguments import in_dtype

NAMES: dict[np.ufunc, list[str]] = {}
for _name, _value in vars(np).items():
    if isinstance(_value, np.ufunc):
        NAMES.setdefault(_value, []).append(f"numpy.{_name}")

SAMPLES = {
    "add": ("x + v", "np.add(x, v, out=x.copy())", "np.add.reduce(x, axis=0)", "np.add.outer(v, v)"),
    "sub": ("x - v", "np.subtract.reduce(x, axis=1)"),
    "mul": ("x * v", "np.multiply.outer(v, v)", "np.multiply.accumulate(v)"),
    "div": ("x / v", "1 / x", "np.divide.reduce(x, axis=1)"),
    "pow": ("x ** 3", "x ** v", "2.0 ** x", "np.power(x, 0.5)"),
    "maximum": ("np.maximum(x, v)", "np.maximum.accumulate(x, axis=1)"),
    "log": ("np.log(x)", "np.log(x - 0.5, where=x > 0.5, out=np.zeros((3, 4)))"),
    "logaddexp": ("np.logaddexp(x, v)", "np.logaddexp.reduce(x, axis=1)"),
    "hypot": ("np.hypot(x, v)", "np.hypot.reduce(x, axis=0)"), "mod": ("x % 0.3", "np.remainder(x, 0.3)"),
    "floordiv": ("x // 0.3 * x",), "arccosh": ("np.arccosh(1 + x)",), "ldexp": ("np.ldexp(x, 2)",),
}


def _samples(op: Op) -> tuple:
    """Expressions that try an override: those above, or the plain call."""
    if op.name in SAMPLES:
        return SAMPLES[op.name]
    ufunc = op.facts["ufunc"]
    if (op.facts["domain"] == "integer" or isinstance(op.derivative, NotDifferentiable)
            or not any(t[-1] in "dD" for t in ufunc.types)):
        return ()
    return (f"np.{ufunc.__name__}({', '.join('xv'[:ufunc.nin])})",) if ufunc.nin <= 2 else ()


for _op in list(registry.values()):
    if isinstance(_op, Op) and _op.facts.get("ufunc") in NAMES:
        add_ufunc(_op, *NAMES[_op.facts["ufunc"]], samples=_samples(_op))

# -- written in other ops --------------------------------------------------------------------------


@override("numpy.divmod", samples=("divmod(x, 0.3)[1]", "np.divmod(x, v)[1]"))
def divmod(x: ArrayLike, y: ArrayLike) -> tuple:
    """The quotient rounded down, and the remainder."""
    return arithmetic.floordiv(x, y), arithmetic.mod(x, y)


@override("numpy.modf", samples=("np.modf(3 * x)[0]",))
def modf(x: ArrayLike) -> tuple:
    """The fractional part, of x's sign, and the whole part."""
    x = as_float(x)
    fraction = choice.where(choice.isinf(x), choice.copysign(0.0, x), arithmetic.fmod(x, 1.0))
    return fraction, arithmetic.trunc(x)


@override("numpy.frexp", samples=("np.frexp(3 * x)[0]",))
def frexp(x: ArrayLike) -> tuple:
    """Mantissa and power of two."""
    return arithmetic.frexp_mantissa(x), arithmetic.frexp_exponent(x)


@override("numpy.float_power", samples=("np.float_power(x, 2.5)", "np.float_power(x, v)"))
def float_power(x: ArrayLike, p: ArrayLike) -> AnyArray:
    """x ** p in double precision."""
    dtype = COMPLEX if result_dtype(x, p).kind == "c" else FLOAT
    return arithmetic.pow(in_dtype(x, dtype), p if isinstance(p, (int, float)) else in_dtype(p, dtype))


@override("numpy.fabs", samples=("np.fabs(x - 0.5)",))
def fabs(x: ArrayLike) -> AnyArray:
    """The absolute value, as a float."""
    return choice.abs(_as_real(x))


@override("numpy.deg2rad", "numpy.radians", samples=("np.deg2rad(x)", "np.radians(x)"))
def deg2rad(x: ArrayLike) -> AnyArray:
    """Degrees in radians."""
    return _as_real(x) * (math.pi / 180.0)


@override("numpy.rad2deg", "numpy.degrees", samples=("np.rad2deg(x)", "np.degrees(x)"))
def rad2deg(x: ArrayLike) -> AnyArray:
    """Radians in degrees."""
    return _as_real(x) * (180.0 / math.pi)


def _by_domain(name: str, function: str) -> None:
    """A function of numpy.emath's, real or complex by what it is given: of complex numbers it is NumPy's own."""
    def call(*args: AnyArray) -> Any:
        if result_dtype(*args).kind != "c":
            raise UnsupportedFunctionError(f"numpy.emath.{name} is not supported on traced real arrays",
                                           why="whether its result is complex depends on values",
                                           do=f"np.{function}(x + 0j) is complex always")
        return BY_NAME[f"numpy.{function}"].call(*args)
    override(f"numpy.lib.scimath.{name}", note="yes, of complex arrays")(call)


for _name in ("sqrt", "log", "log2", "log10", "power", "arccos", "arcsin", "arctanh"):
    _by_domain(_name, _name)


def as_float(x: object) -> Any:
    """x in the floating dtype NumPy's mathematical functions would compute it in."""
    dtype = type_of(x).dtype
    return x if dtype.kind in "fc" else in_dtype(x, np.sqrt.resolve_dtypes((dtype, None))[1])


def _as_real(x: object) -> AnyArray:
    """x as such a float, of a function that has no complex arguments."""
    if type_of(x).dtype.kind == "c":
        raise TypeError(f"a function of real numbers is not supported for {type_of(x).dtype}")
    return as_float(x)


__all__ = ["NAMES", "complex", "transcendental"]
