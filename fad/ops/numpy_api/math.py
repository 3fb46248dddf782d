"""The overrides of Python's math and cmath, on traced scalars. Results that are Python ints stay integers of the
program.
"""
import cmath
import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...ir.op import Op, registry
from ...ir.types import COMPLEX, type_of
from ...util.array import AnyArray, ArrayLike, ArrayOrNumber
from ...util.errors import INTEGER_OVERFLOW, LARGEST_INT
from ...util.lazy import LazyModule
from ..choice import abs as absolute
from ..choice import isfinite, isinf, isnan
from ..complex import angle, make_complex
from ..kinds import is_complex, shape_of
from ..literals import python_int, python_number, see_that_python_takes
from ..override import add_override, override
from .arguments import as_array, in_dtype
from .ufuncs import as_float, deg2rad, fabs, frexp, modf, rad2deg

special = LazyModule("fad.ops.numpy_api.special")            # few programs of math need it

# -- Python's numbers ------------------------------------------------------------------------------


def _of_python(call: Callable, own: Callable) -> Callable:
    """A function of Python's floats, `own`: it computes with 64 bits whatever it gets, and its result promotes weakly.
    """
    @functools.wraps(call, updated=())
    def run(*args: ArrayOrNumber, **kwargs: object) -> Any:
        numbers = [_counted_truth(x) for x in _numbers(args)]
        see_that_python_takes(own, *numbers)
        return _numbers(call(*numbers, **kwargs))
    return run


def _numbers(x: object) -> Any:
    """Python's numbers in place of NumPy's and of the program's scalars."""
    if isinstance(x, tuple):
        return tuple([_numbers(a) for a in x])
    if not hasattr(x, "dtype") or shape_of(x):
        return x
    return python_number(x)


def _counted_truth(x: Any) -> Any:
    """True and False count as 1 and 0 where a number is expected."""
    if isinstance(x, bool):
        return int(x)
    return python_int(x) if hasattr(x, "dtype") and not shape_of(x) and type_of(x).dtype.kind == "b" else x


def _override(name: str, **facts: object) -> Callable:
    """An override of a function that computes with Python's floats."""
    module, _, short = name.partition(".")
    own = getattr(cmath if module == "cmath" else math, short)

    def register(call: Callable) -> Callable:
        add_override(name, _of_python(call if module == "cmath" else _of_reals(call), own), **facts)
        return call
    return register


def _of_reals(call: Callable) -> Callable:
    """A function that has no complex arguments."""
    @functools.wraps(call, updated=())
    def run(*args: ArrayOrNumber, **kwargs: object) -> AnyArray:
        if any(hasattr(x, "dtype") and type_of(x).dtype.kind == "c" for x in args):
            raise TypeError("must be real number, not complex")
        return call(*args, **kwargs)
    return run


# -- the same function by another name -------------------------------------------------------------

SAME = {
    "sin": "sin", "cos": "cos", "tan": "tan", "asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2",
    "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh",
    "exp": "exp", "exp2": "exp2", "expm1": "expm1", "log1p": "log1p",
    "log2": "log2", "log10": "log10", "sqrt": "sqrt", "cbrt": "cbrt", "fmod": "fmod", "copysign": "copysign",
    "ldexp": "ldexp", "isnan": "isnan", "isinf": "isinf", "isfinite": "isfinite", "gcd": "gcd", "lcm": "lcm",
    "nextafter": "nextafter", "ulp": "spacing",
}
SPECIAL = {"erf": "erf", "erfc": "erfc", "gamma": "gamma", "lgamma": "gammaln"}
TWO = {"atan2", "fmod", "copysign"}
NO_SAMPLE = {"ldexp", "isnan", "isinf", "isfinite", "gcd", "lcm", "nextafter", "ulp"}


def _sample(name: str) -> tuple:
    if name in NO_SAMPLE:
        return ()
    first = "1 + v[0]" if name == "acosh" else "v[0]"
    return (f"math.{name}({first}{', v[1]' if name in TWO else ''})",)


for _name, _op in SAME.items():
    if hasattr(math, _name):
        _override(f"math.{_name}", samples=_sample(_name))(registry[_op])
for _name, _op in SPECIAL.items():
    _override(f"math.{_name}", samples=_sample(_name))(lambda x, op=_op: registry[op](x))
for _name, _call in {"fabs": fabs, "degrees": rad2deg, "radians": deg2rad, "frexp": frexp, "modf": modf}.items():
    _override(f"math.{_name}")(_call)

# -- functions of math that NumPy lacks ------------------------------------------------------------


@_override("math.log", samples=("math.log(v[0])", "math.log(v[0], 2)", "math.log(1.5, v[1])"))
def log(x: ArrayLike, base: ArrayLike = math.e) -> AnyArray:
    """The logarithm, to a base."""
    y = registry["log"](x)
    return y if base is math.e else y / registry["log"](base)


@_override("math.pow", samples=("math.pow(v[0], 3)", "math.pow(v[0], v[1])", "math.pow(2, v[0])"))
def pow(x: ArrayLike, y: ArrayLike) -> AnyArray:
    """x ** y in floating point."""
    return registry["pow"](as_float(x), float(y) if isinstance(y, int) else y)


@_override("math.hypot", samples=("math.hypot(v[0], v[1], v[2])",))
def hypot(*coordinates: ArrayLike) -> ArrayOrNumber:
    """The length of a vector."""
    if not coordinates:
        return 0.0
    y = absolute(as_float(coordinates[0]))
    for x in coordinates[1:]:
        y = registry["hypot"](y, x)
    return y


@_override("math.dist", samples=("math.dist(v[:2], v[2:])", "math.dist([v[0], v[1]], [0.1, 0.2])"))
def dist(p: ArrayLike, q: ArrayLike) -> AnyArray:
    """The distance of two points."""
    gaps = as_float(as_array(p) - as_array(q))
    return hypot(*gaps)


@_override("math.fsum", samples=("math.fsum(v)", "math.fsum([v[0], v[1] * 2])"))
def fsum(seq: ArrayLike) -> AnyArray:
    """The sum, as a float."""
    x = as_float(_sequence(seq))
    return registry["sum"](x, axes=(0,))


@override("math.prod", samples=("math.prod(v)", "math.prod([v[0], v[1]], start=2.0)"))
def prod(iterable: ArrayLike, /, *, start: object = 1) -> AnyArray:
    """The product of what is iterated over."""
    return _of_items(registry["prod"](_sequence(items := _listed(iterable)), axes=(0,)), items) * start


def sumprod(p: object, q: object) -> Any:
    """The sum of products."""
    p, q = _listed(p), _listed(q)
    return _of_items(registry["sum"](_beside(p, q) * _beside(q, p), axes=(0,)), p, q)


if hasattr(math, "sumprod"):                               # from Python 3.12 on
    override("math.sumprod", samples=("math.sumprod(v, [1.0, 2.0, 3.0, 4.0])",))(sumprod)


def _sequence(seq: object) -> AnyArray:
    return as_array(_listed(seq))


def _listed(seq: object) -> "AnyArray | list":
    return seq if hasattr(seq, "dtype") else list(seq)  # type: ignore[call-overload,return-value]


def _beside(seq: "AnyArray | list", other: "AnyArray | list") -> AnyArray:
    """The items as they are beside those of another sequence: numbers of Python's take the dtype of an array's."""
    x = _sequence(seq)
    if hasattr(seq, "dtype") or not hasattr(other, "dtype") or not _are_pythons(seq):
        return x
    return in_dtype(x, np.result_type(type_of(other).dtype, np.zeros((), type_of(x).dtype).item()))


def _are_pythons(seq: "AnyArray | list") -> bool:
    return not hasattr(seq, "dtype") and all(type_of(x).weak for x in seq)


def _of_items(y: Any, *sequences: "AnyArray | list") -> Any:
    """y, a number of Python's if all of its items are."""
    return python_number(y) if all(map(_are_pythons, sequences)) else y


@override("math.floor")
def floor(x: ArrayLike) -> AnyArray:
    """The integer below."""
    return _integer(registry["floor"], x)


@override("math.ceil")
def ceil(x: ArrayLike) -> AnyArray:
    """The integer above."""
    return _integer(registry["ceil"], x)


@override("math.trunc")
def trunc(x: ArrayLike) -> AnyArray:
    """The integer towards zero."""
    return _integer(registry["trunc"], x)


def _integer(rounded: Op, x: Any) -> AnyArray:
    return python_int(x if type_of(x).dtype.kind in "iu" else rounded(x))


@override("math.isclose")
def isclose(a: AnyArray, b: AnyArray, *, rel_tol: object = 1e-9, abs_tol: object = 0.0) -> AnyArray:
    """Whether a and b are close, relatively to the larger."""
    gap = absolute(a - b)
    larger = registry["maximum"](absolute(a), absolute(b))
    return python_number((a == b) | (isfinite(gap) & (gap <= registry["maximum"](rel_tol * larger, abs_tol))))


override("cmath.isclose")(isclose)


@_override("math.remainder", samples=("math.remainder(v[0], 0.3)",))
def remainder(x: ArrayLike, y: Any) -> AnyArray:
    """x - n y, with the nearest integer n to x / y, exactly: fmod by 2 y leaves at most two halves over (as in C
    libraries)."""
    x, y = as_float(x), registry["abs"](as_float(y))
    rest = registry["fmod"](x, 2.0 * y)
    size = registry["abs"](rest)
    less = size - y
    less = registry["where"](less + less >= y, less - y, less)
    size = registry["where"](size + size > y, less, size)
    return registry["copysign"](1.0, x) * size


@override("math.isqrt")
def isqrt(n: object) -> Any:
    """The integer square root."""
    root = python_int(registry["floor"](registry["sqrt"](n)))
    root = registry["where"](root * root > n, root - 1, root)
    return python_int(registry["where"]((root + 1) * (root + 1) <= n, root + 1, root))


@override("math.factorial")
def integer_factorial(n: object) -> Any:
    """n!, an integer."""
    return _counted(special.factorial(n))


@override("math.comb")
def integer_comb(n: object, k: object) -> Any:
    """The binomial coefficient, an integer."""
    return _counted(special.comb(n, k))


@override("math.perm")
def integer_perm(n: object, k: object = None) -> Any:
    """n! / (n - k)!, an integer."""
    return integer_factorial(n) if k is None else _counted(special.perm(n, k))


def _counted(count: Any) -> Any:
    """The integer that was computed as a float, of 64 bits."""
    registry["check_that"](count < LARGEST_INT, True, what=INTEGER_OVERFLOW, error="OverflowError")
    return python_int(registry["rint"](count))


if hasattr(math, "fma"):
    _override("math.fma", samples=("math.fma(v[0], v[1], v[2])",))(lambda x, y, z: x * y + z)

# -- cmath -----------------------------------------------------------------------------------------

for _name in ("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "exp",
              "log10", "sqrt"):
    _override(f"cmath.{_name}")(lambda z, op=registry[SAME[_name]]: op(_complex(z)))


def _complex(z: object) -> Any:
    return z if is_complex(z) else in_dtype(z, COMPLEX)


@_override("cmath.log")
def complex_log(z: object, base: object = None) -> Any:
    """The logarithm of a complex number, to a base."""
    y = registry["log"](_complex(z))
    return y if base is None else y / registry["log"](_complex(base))


@_override("cmath.phase")
def phase(z: ArrayLike) -> AnyArray:
    """The angle."""
    return angle(_complex(z))


@_override("cmath.polar")
def polar(z: ArrayLike) -> tuple:
    """Absolute value and angle."""
    return absolute(z), phase(z)


@_override("cmath.rect")
def rect(r: ArrayLike, phi: ArrayLike) -> AnyArray:
    """The number of this absolute value and angle."""
    return make_complex(r * registry["cos"](phi), r * registry["sin"](phi))


for _question in (isnan, isinf, isfinite):
    _override(f"cmath.{_question.name}")(_question)
