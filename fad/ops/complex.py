"""Complex numbers: their parts, and the functions that are not holomorphic."""
import numpy as np

from ..ir.op import Op
from ..ir.traits import CHEAP, TO_COMPLEX, Traits, Widening
from ..ir.types import Type, real_dtype, result_dtype, type_of, ufunc_dtypes
from ..util.array import AnyArray, ArrayOrNumber
from .extents import broadcast_of
from .kinds import match, shape_of, spread
from .pointwise import ComplexDerivative, RealLinear, composed, elementwise, op

COMPLEX = "complex"
PART_KEPT = TO_COMPLEX | Widening.MORE_DIGITS | Widening.COMPLEX_DIGITS


def _infer_part(x: AnyArray) -> Type:
    t = type_of(x)
    return Type(real_dtype(t.dtype), shape_of(x), t.weak)


conj: Op = elementwise("conj", np.conjugate, "np.conj({0})", RealLinear(lambda dx: conj(dx), lambda g: conj(g)),
                       COMPLEX, traits=Traits(cost=CHEAP, widens=PART_KEPT, may_alias=True))
real: Op = composed("real", lambda x: np.asarray(x).real[()], _infer_part, "{0}.real",
                    RealLinear(lambda dx: real(dx), lambda g: g), COMPLEX, arity=1, doc="The real part",
                    traits=Traits(cost=CHEAP, widens=PART_KEPT, view="write", may_alias=True))
imag: Op = composed("imag", lambda x: np.asarray(x).imag[()], _infer_part, "{0}.imag",
                    RealLinear(lambda dx: imag(dx), lambda g: 1j * g), COMPLEX, arity=1, doc="The imaginary part",
                    traits=Traits(cost=CHEAP, widens=PART_KEPT, view="write"))


def _made_dtype(x: ArrayOrNumber, y: ArrayOrNumber) -> np.dtype:
    """The complex dtype of these parts: of two Python floats it is Python's."""
    return np.result_type(result_dtype(x, y), np.complex64)


def _run_make(x: ArrayOrNumber, y: ArrayOrNumber) -> AnyArray:
    dtype = _made_dtype(x, y)
    x, y = np.broadcast_arrays(x, y)
    if "c" in x.dtype.kind + y.dtype.kind:
        raise TypeError("the parts of a complex number are real")
    z = np.empty(x.shape, dtype)
    z.real, z.imag = x, y
    return z[()]


def _infer_make(x: AnyArray, y: AnyArray) -> Type:
    return Type(_made_dtype(x, y), broadcast_of(x, y))


class _Make:
    """Its parts move on their own."""

    def jvp(self, op: Op, ys: tuple, xs: tuple, dxs: tuple, params: dict) -> tuple:
        dx, dy = (0.0 if d is None else d for d in dxs)
        return (spread(make_complex(dx, dy), ys[0]),)

    def pullback(self, op: Op, gs: tuple, ys: tuple, xs: tuple, params: dict, needs: tuple) -> tuple:
        return (match(real(gs[0]), xs[0]) if needs[0] else None, match(imag(gs[0]), xs[1]) if needs[1] else None)


make_complex = composed("make_complex", _run_make, _infer_make, "complex({0}, {1})", _Make(), arity=2, doc="x + iy")


def _angle_tangent(y: AnyArray, x: AnyArray, dx: AnyArray) -> AnyArray:
    return imag(conj(x) * dx) / _squared_size(x)


def _squared_size(x: AnyArray) -> AnyArray:
    """|x|^2, and 1 at zero, where the angle's derivative is zero by convention."""
    size = op("abs")(x)
    return op("where")(size == 0, 1.0, size * size)


def _infer_angle(x: AnyArray) -> Type:
    return Type(ufunc_dtypes(np.spacing, real(x))[-1], shape_of(x), type_of(x).weak)


angle = composed("angle", lambda x: np.angle(x), _infer_angle, "atan2({0}.imag, {0}.real)",
                 ComplexDerivative(_angle_tangent, lambda y, x, g: 1j * g * x / _squared_size(x)), COMPLEX, arity=1,
                 doc="The angle of x in the complex plane", traits=Traits(jumps=True))
