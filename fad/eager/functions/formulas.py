"""Elementwise functions that are made from others (clamp, where, lerp, logit, ...), and questions about tensors."""
import math

import numpy as np

from ...util.array import AnyArray, ArrayOrNumber
from ..graph.single_node import together
from ..tensors.dtypes import fitting
from ..tensors.errors import c_name, refuse_if, scalar_name
from ..tensors.promotion import agree, refuse, result_type
from ..tensors.tensor import Tensor, raw, wrap
from . import composites
from .conversion import clone, to
from .pointwise import op, pow
from .registry import by_record, define, delivered, function, run, tensor_of

define("ldexp", lambda self, other: self * pow(2.0, other), "self * 2 ** other.", node="LdexpBackward0",
       edges="self other", saves="other result", copies="self", changing=True)


@function("heaviside", changing=True)
def heaviside(self: Tensor, values: Tensor) -> Tensor:
    """0 where self is negative, 1 where it is positive, values where it is zero."""
    refuse("heaviside", (self, values))
    agree("heaviside is not yet implemented for tensors with different dtypes.", self, values)
    y = op["heaviside"](self, values)
    return y if y.dtype == self.dtype else to(y, dtype=self.dtype)


define("rsqrt", lambda self: composites.rsqrt(tensor_of(self)), "1 / sqrt(self).", changing=True)


@function(changing=True)
def relu(self: Tensor) -> AnyArray:
    """max(self, 0), with derivative 0 at 0."""
    x = tensor_of(self)
    refuse_if(x.dtype.kind == "b", "Boolean inputs not supported for relu")
    return composites.relu(x) if x.dtype.kind == "f" else clamp(x, 0)


@function(changing=True)
def round(self: Tensor, *, decimals: int = 0) -> Tensor:
    """Rounded to this many decimals, halves to even."""
    x = tensor_of(self)
    if x.dtype.kind in "iu":
        return clone(x)
    refuse("round", (x,))
    if not decimals:
        return op["rint"](x)
    return together((op["rint"](x * 10.0 ** decimals) / 10.0 ** decimals,), "RoundBackward1", (x,))[0]


define("conj_physical", lambda self: op["conj"](self) if self.dtype.kind == "c" else self,
       "The complex conjugate, in memory of its own; a real tensor itself.",
       node="ConjPhysicalBackward0", edges="self", changing=True)


@function(changing=True)
def frac(self: Tensor) -> AnyArray:
    """The fractional part."""
    refuse("frac", (self,))
    return composites.frac(self)


def _angle(name: str, factor: float, label: str, doc: str) -> None:
    def call(self: Tensor) -> ArrayOrNumber:
        refuse(name, (self,))
        return self * factor
    define(name, call, doc, node=label, edges="self", changing=True)


_angle("deg2rad", math.pi / 180.0, "Deg2RadBackward0", "An angle of degrees in radians.")
_angle("rad2deg", 180.0 / math.pi, "Rad2DegBackward0", "An angle of radians in degrees.")


@function("clamp", "clip", changing=True)
def clamp(self: Tensor, min: "ArrayOrNumber | None" = None, max: "ArrayOrNumber | None" = None) -> Tensor:
    """self, but at least min and at most max; at the bounds themselves the derivative is 1."""
    refuse_if(min is None and max is None, "torch.clamp: At least one of 'min' or 'max' must not be None")
    x = tensor_of(self)
    refuse_if(x.dtype.kind == "c", "clamp is not supported for complex types", NotImplementedError)
    if x.dtype.kind == "f" or any(isinstance(b, float) for b in (min, max)):
        low, high = -np.inf if min is None else min, np.inf if max is None else max
        return run(op["clip"], x, low, high,
                   label=f"ClampBackward{int(not any(isinstance(b, Tensor) for b in (min, max)))}")
    y = x if min is None else op["maximum"](x, min)
    return y if max is None else op["minimum"](y, max)


define("clamp_min", lambda self, min: clamp(self, min), "self, but at least min.", changing=True)
define("clamp_max", lambda self, max: clamp(self, None, max), "self, but at most max.", changing=True)


@function(method=False)
def where(condition: object, input: object = None, other: "ArrayOrNumber | None" = None, *,
          out: "Tensor | None" = None) -> AnyArray:
    """input where condition holds, other elsewhere; with condition alone, the indices where it holds."""
    if input is None:
        return condition.nonzero(as_tuple=True)
    if not isinstance(input, Tensor) and not isinstance(other, Tensor) and not getattr(condition, "__fad_level__", 0):
        condition = tensor_of(condition)
    if isinstance(condition, Tensor) and condition.dtype.kind != "b" and condition.dtype != np.uint8:
        raise RuntimeError(f"where expected condition to be a boolean tensor, but got a tensor with dtype "
                           f"{scalar_name(condition.dtype)}")
    return delivered(op["where"](condition, input, other), out, "where")


Tensor.where = lambda self, condition, other: op["where"](condition, self, other)


@function(changing=True)
def masked_fill(self: Tensor, mask: Tensor, value: ArrayOrNumber) -> AnyArray:
    """value where the mask holds."""
    if raw(mask).dtype.kind != "b":
        raise RuntimeError(f"masked_fill_ only supports boolean masks, but got mask with dtype "
                           f"{c_name(raw(mask).dtype)}")
    edges = (self, value) if isinstance(value, Tensor) else (self,)
    if len(edges) == 1:
        value = fitting(value, self.dtype)
    else:
        refuse_if(len(value.shape), "masked_fill_ only supports a 0-dimensional value tensor, but got tensor with "
                  f"{len(value.shape)} dimension(s).")
        refuse_if(value.dtype.kind == "c" and self.dtype.kind != "c",
                  f"value cannot be converted to type {c_name(self.dtype)} without overflow")
        value = value if value.dtype == self.dtype else op["cast"](value, dtype=self.dtype)
    return together((op["where"](mask, value, self),), f"MaskedFillBackward{len(edges) - 1}", edges, {"mask": mask})[0]


@function(changing=True, node=("AddcmulBackward0", "self tensor1 tensor2", "tensor1 tensor2", "value"))
def addcmul(self: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: ArrayOrNumber = 1) -> Tensor:
    """self + value * tensor1 * tensor2."""
    x, a, b = _in_one_dtype(self, tensor1, tensor2)
    product, value = a * b, int(value) if x.dtype.kind in "iu" else value
    return x + (product if value.__class__ is int and value == 1 else product * value)


def _in_one_dtype(*xs: Tensor) -> tuple:
    """Tensors in the dtype that they are computed in together."""
    if not all(isinstance(x, Tensor) for x in xs) or all(x._a.dtype is xs[0]._a.dtype for x in xs):
        return xs
    dtype = result_type(xs)
    return tuple([to(x, dtype=dtype) for x in xs])


@function(changing=True, node=("AddcdivBackward0", "self tensor1 tensor2", "tensor1 tensor2", "value"))
def addcdiv(self: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: float = 1) -> Tensor:
    """self + value * tensor1 / tensor2."""
    if all(x.dtype.kind in "biu" for x in (tensor1, tensor2)):
        raise RuntimeError("Integer division with addcdiv is no longer supported, and in a future  release addcdiv "
                           "will perform a true division of tensor1 and tensor2. Make one of them a floating-point "
                           "tensor, or use (input + value * torch.trunc(tensor1 / tensor2)).to(input.dtype)")
    x, a, b = _in_one_dtype(self, tensor1, tensor2)
    return x + a / b * value


@function(changing=True)
def lerp(self: Tensor, end: Tensor, weight: ArrayOrNumber) -> Tensor:
    """self + weight * (end - self)."""
    agree("expected dtype {} for `end` but got dtype {}", self, end, name=c_name)
    agree("expected dtype {} for `weight` but got dtype {}", self, weight, name=c_name)
    if self.dtype.kind in "biu":
        raise NotImplementedError(f'"lerp_kernel_{"tensor" if isinstance(weight, Tensor) else "scalar"}" not '
                                  f'implemented for \'{scalar_name(self.dtype)}\'')
    y = self + weight * (end - self)
    if isinstance(weight, Tensor):
        return together((y,), "LerpBackward1", (self, end, weight), {"self": self, "end": end, "weight": weight})[0]
    return together((y,), "LerpBackward0", (self, end), weight=weight)[0]


logit = define("logit", lambda self, eps=None: op["logit"](self if eps is None else clamp(self, eps, 1 - eps)),
               "log(self / (1 - self)), self first clamped to [eps, 1 - eps].",
               node="LogitBackward0", edges="self", saves="self", shows="eps", changing=True)


@function(changing=True)
def polygamma(n: ArrayOrNumber, self: ArrayOrNumber) -> Tensor:
    """The n-th derivative of digamma."""
    if isinstance(n, Tensor):
        n, self = self, n
    return op["polygamma"](n, self)


define("sinc", lambda self: op["sinc"](self), "sin(pi x) / (pi x).", changing=True)
for _name in ("isneginf", "isposinf", "isreal"):
    by_record(_name, f"numpy.{_name}")
by_record("igamma", "scipy.special.gammainc", changing=True)
by_record("igammac", "scipy.special.gammaincc", changing=True)


@function(changing=True)
def nan_to_num(self: Tensor, nan: float = 0.0, posinf: object = None, neginf: object = None) -> AnyArray:
    """Numbers in place of nan and infinities."""
    if self.dtype.kind in "biu":
        return clone(self)
    limits = np.finfo(self.dtype)
    high, low = float(limits.max) if posinf is None else posinf, float(limits.min) if neginf is None else neginf
    return composites.nan_to_num(self, nan=0.0 if nan is None else nan, high=high, low=low)


@function()
def equal(self: ArrayOrNumber, other: ArrayOrNumber) -> bool:
    """Whether two tensors have the same shape and elements."""
    for k, x in enumerate((self, other)):
        if not isinstance(x, Tensor):
            raise TypeError(f"equal(): argument '{'other' if k else 'input'}' (position {k + 1}) must be Tensor, not "
                            f"{type(x).__name__}")
    return self._a.shape == other._a.shape and bool((self._a == other._a).all())


@function()
def allclose(self: Tensor, other: Tensor, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> bool:
    """Whether all elements are close to the other's."""
    return bool(isclose(self, other, rtol, atol, equal_nan)._a.all())


@function()
def isclose(self: Tensor, other: Tensor, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Tensor:
    """Whether each element is close to the other's."""
    other = tensor_of(other)
    agree("{} did not match {}", self, other)
    for name, bound in (("rtol", rtol), ("atol", atol)):
        refuse_if(bound < 0, f"{name} must be greater than or equal to zero, but got {bound}")
    return wrap(np.asarray(np.isclose(self._a, other._a, rtol, atol, equal_nan)))


define("is_same_size", lambda self, other: self._a.shape == other._a.shape, "Whether two tensors have the same shape.")
define("is_signed", lambda self: self._a.dtype.kind not in "ub", "Whether the dtype has negative numbers.")
define("is_nonzero", lambda self: bool(self), "Whether the one element is not zero.")
