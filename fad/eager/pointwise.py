"""Elementwise functions of tensors: PyTorch's names for the ops of the table."""
from collections.abc import Callable
from typing import Any

import numpy as np

from ..ops.custom import barrier as _identity
from ..ops.table import TABLE as registry
from . import composites
from .devices import required
from .dtypes import as_dtype
from .fast import binary, unary
from .inplace import op_in_place
from .registry import FUNCTIONS, delivered, function, named, run, tensor_of
from .tensor import Tensor, raw

op = registry

UNARY = {name: name for name in (
    "exp exp2 expm1 log log2 log10 log1p sin cos tan sinh cosh tanh sqrt neg sign floor ceil trunc reciprocal square abs angle isnan isinf isfinite "
    "signbit logical_not erf erfc erfinv digamma positive").split()}
UNARY.update(asin="arcsin", acos="arccos", atan="arctan", asinh="arcsinh", acosh="arccosh", atanh="arctanh", arcsin="arcsin", arccos="arccos", arctan="arctan",
             arcsinh="arcsinh", arccosh="arccosh", arctanh="arctanh", sigmoid="expit", expit="expit", negative="neg", absolute="abs", bitwise_not="invert",
             lgamma="gammaln", fix="trunc", sgn="sign", i0="i0", i1="i1", i0e="i0e", i1e="i1e", conj_physical="conj", special_erf="erf", logsigmoid="log_expit")
BINARY = {name: name for name in "maximum minimum fmax fmin hypot logaddexp logaddexp2 xlogy copysign fmod nextafter heaviside ldexp gcd lcm "
          "logical_and logical_or logical_xor bitwise_and bitwise_or bitwise_xor".split()}
BINARY.update(atan2="arctan2", arctan2="arctan2", remainder="mod", floor_divide="floordiv", eq="equal", ne="not_equal", lt="less", le="less_equal", gt="greater",
              ge="greater_equal", greater="greater", greater_equal="greater_equal", less="less", less_equal="less_equal", not_equal="not_equal",
              bitwise_left_shift="left_shift", bitwise_right_shift="right_shift", true_divide="div", multiply="mul")


def _named(f: Callable, name: str, doc: str) -> Callable:
    if isinstance(f, type(op["exp"])):
        inner = f
        f = (lambda x: inner(x)) if inner.facts.get("arity", 1) == 1 else (lambda x, y: inner(x, y))
    f.__name__, f.__doc__ = name, doc
    return f


def _in_place_of(name: str, record: Any) -> None:
    def change(self: Tensor, *args: Any) -> Tensor:
        return op_in_place(record, self, *args)
    change.__name__, change.__doc__ = f"{name}_", f"{name}, in place."
    setattr(Tensor, f"{name}_", change)
    FUNCTIONS[f"{name}_"] = change


def _with_out(f: Callable) -> Callable:
    """f, with PyTorch's `out`."""
    def call(x: Any, *args: Any, out: Any = None) -> Any:
        y = f(tensor_of(x) if not isinstance(x, Tensor) else x, *args)
        return y if out is None else delivered(y, out, f.__name__)
    call.__name__, call.__doc__ = f.__name__, f.__doc__
    return call


for _name, _op in UNARY.items():
    _call = _named(unary(op[_op]), _name, f"{_op} of every element.")
    setattr(Tensor, _name, _call)
    FUNCTIONS[_name] = _with_out(_call)
    _in_place_of(_name, op[_op])
for _name, _op in BINARY.items():
    _call = _named(op[_op], _name, f"{_op} of two tensors, element by element.")
    setattr(Tensor, _name, _call)
    FUNCTIONS[_name] = _with_out(_call)
    _in_place_of(_name, op[_op])

# -- arithmetic with its options --------------------------------------------------------------------------------------------

_add, _sub, _mul = (binary(op[n]) for n in ("add", "sub", "mul"))


@function(method=True)
def mul(self: Any, other: Any, *, out: Any = None) -> Any:
    """self * other."""
    y = _mul(self, other) if isinstance(self, Tensor) else op["mul"](tensor_of(self), other)
    return y if out is None else delivered(y, out, "mul")


@function("add", changing=True)
def add_(self: Any, other: Any, *, alpha: Any = 1, out: Any = None) -> Any:
    """self + alpha * other."""
    if alpha is not True and alpha != 1:
        _check_alpha(alpha, self, other)
    if isinstance(self, Tensor) and alpha == 1:
        y = _add(self, other)
    else:
        y = op["add"](tensor_of(self), other if alpha == 1 else other * alpha)
    return y if out is None else delivered(y, out, "add")


def _check_alpha(alpha: Any, *operands: Any) -> None:
    if isinstance(alpha, float) and all(np.asarray(raw(x)).dtype.kind in "iub" for x in operands):
        raise RuntimeError("For integral input tensors, argument alpha must not be a floating point number.")


@function("sub", "subtract", changing=True)
def sub(self: Any, other: Any, *, alpha: Any = 1, out: Any = None) -> Any:
    """self - alpha * other."""
    if alpha != 1:
        _check_alpha(alpha, self, other)
    y = _sub(self, other) if isinstance(self, Tensor) and alpha == 1 else op["sub"](tensor_of(self), other if alpha == 1 else other * alpha)
    return y if out is None else delivered(y, out, "sub")


@function("rsub")
def rsub(self: Any, other: Any, *, alpha: Any = 1) -> Any:
    """other - alpha * self."""
    return op["sub"](other, self if alpha == 1 else self * alpha)


@function("div", "divide", changing=True)
def div(self: Any, other: Any, *, rounding_mode: "str | None" = None, out: Any = None) -> Any:
    """self / other; rounding_mode "floor" or "trunc" rounds the quotient."""
    if rounding_mode not in (None, "floor", "trunc"):
        raise RuntimeError(f"div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '{rounding_mode}'")
    if rounding_mode is not None and all(np.asarray(raw(v)).dtype.kind in "iub" for v in (self, other)):
        y = op["floordiv"](tensor_of(self), other)
        if rounding_mode == "trunc":                               # towards zero: one more where the floor of a negative quotient was below it
            y = y + ((y < 0) & (op["mul"](y, other) != self))
        return y if out is None else delivered(y, out, "div")
    y = op["div"](tensor_of(self), other)
    if rounding_mode is not None:
        y = named(op[rounding_mode](y), "DivBackward2", rounding_mode=rounding_mode)
    return y if out is None else delivered(y, out, "div")


@function("pow", changing=True)
def pow(self: Any, exponent: Any, *, out: Any = None) -> Any:
    """self ** exponent."""
    y = op["pow"](self if isinstance(self, (int, float, complex)) else tensor_of(self), exponent)
    return y if out is None else delivered(y, out, "pow")


FUNCTIONS["float_power"] = Tensor.float_power = lambda self, exponent: pow(self.double(), exponent)          # type: ignore[attr-defined]
for _name in ("mul", "add", "sub", "div", "pow"):
    _in_place_of(_name, op[_name])
_alpha_free_add, _alpha_free_sub = Tensor.add_, Tensor.sub_                                                   # type: ignore[attr-defined]
Tensor.add_ = lambda self, other, *, alpha=1: _alpha_free_add(self, other if alpha == 1 else other * alpha)  # type: ignore[attr-defined]
Tensor.sub_ = lambda self, other, *, alpha=1: _alpha_free_sub(self, other if alpha == 1 else other * alpha)  # type: ignore[attr-defined]
Tensor.multiply_, Tensor.divide_, Tensor.subtract_ = Tensor.mul_, Tensor.div_, Tensor.sub_                    # type: ignore[attr-defined]


def _operator(name: str, call: Callable, swapped: bool = False) -> Callable:
    record = op[name]

    def method(self: Tensor, other: Any) -> Any:
        if other is None or isinstance(other, (str, dict, set, bytes, list, tuple)):
            return NotImplemented
        return record(other, self) if swapped else call(self, other)
    return method


def _commuting(call: Callable) -> Callable:
    return lambda self, other: call(self, other)


for _python, _name in {"add": "add", "sub": "sub", "mul": "mul", "truediv": "div", "pow": "pow", "floordiv": "floordiv", "mod": "mod", "and": "bitwise_and",
                       "or": "bitwise_or", "xor": "bitwise_xor", "lshift": "left_shift", "rshift": "right_shift"}.items():
    _call = {"add": _add, "sub": _sub, "mul": _mul}.get(_name, op[_name])
    setattr(Tensor, f"__{_python}__", _operator(_name, _call) if _name not in ("add", "sub", "mul") else _call)
    setattr(Tensor, f"__r{_python}__", _commuting(_call) if _name in ("add", "mul") else _operator(_name, _call, swapped=True))
    setattr(Tensor, f"__i{_python}__", lambda self, other, _op=op[_name]: op_in_place(_op, self, other))
for _python, _name in {"lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal", "eq": "equal", "ne": "not_equal"}.items():
    setattr(Tensor, f"__{_python}__", _operator(_name, op[_name]))
Tensor.__neg__, Tensor.__abs__, Tensor.__invert__ = Tensor.neg, Tensor.abs, Tensor.bitwise_not                # type: ignore[attr-defined]
Tensor.__pos__ = lambda self: self                                                                           # type: ignore[attr-defined]
Tensor.__hash__ = object.__hash__                                                                            # type: ignore[method-assign]

# -- composed -------------------------------------------------------------------------------------------------------------------


@function(changing=True)
def rsqrt(self: Any) -> Any:
    """1 / sqrt(self)."""
    return composites.rsqrt(tensor_of(self))


@function(changing=True)
def relu(self: Any) -> Any:
    """max(self, 0), with derivative 0 at 0."""
    x = tensor_of(self)
    return composites.relu(x) if x.dtype.kind == "f" else op["maximum"](x, 0)


@function(changing=True)
def round(self: Any, *, decimals: int = 0) -> Any:
    """Rounded to this many decimals, halves to even."""
    x = tensor_of(self)
    if x.dtype.kind in "iu":
        return clone(x)
    return op["rint"](x) if not decimals else op["rint"](x * 10.0 ** decimals) / 10.0 ** decimals


@function(changing=True)
def frac(self: Any) -> Any:
    """The fractional part."""
    return composites.frac(self) if self.dtype.kind == "f" else self - op["trunc"](self)


@function("clamp", "clip", changing=True)
def clamp(self: Any, min: Any = None, max: Any = None) -> Any:
    """self, but at least min and at most max; at the bounds themselves the derivative is 1."""
    if min is None and max is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    x = tensor_of(self)
    if x.dtype.kind in "fc" or any(isinstance(b, float) for b in (min, max)):
        low, high = -np.inf if min is None else min, np.inf if max is None else max
        return run(op["clip"], x, low, high, label="ClampBackward1")
    y = x if min is None else op["maximum"](x, min)
    return y if max is None else op["minimum"](y, max)


@function(changing=True)
def clamp_min(self: Any, min: Any) -> Any:
    """self, but at least min."""
    return clamp(self, min)


@function(changing=True)
def clamp_max(self: Any, max: Any) -> Any:
    """self, but at most max."""
    return clamp(self, None, max)


@function(method=False)
def where(condition: Any, input: Any = None, other: Any = None) -> Any:
    """input where condition holds, other elsewhere; with condition alone, the indices where it holds."""
    if input is None:
        return condition.nonzero(as_tuple=True)
    if not isinstance(input, Tensor) and not isinstance(other, Tensor) and not getattr(condition, "__fad_level__", 0):
        condition = tensor_of(condition)
    return op["where"](condition, input, other)


Tensor.where = lambda self, condition, other: op["where"](condition, self, other)                             # type: ignore[attr-defined]


@function(changing=True)
def masked_fill(self: Any, mask: Any, value: Any) -> Any:
    """value where the mask holds."""
    if raw(mask).dtype.kind != "b":
        raise RuntimeError(f"masked_fill_ only supports boolean masks, but got mask with dtype {raw(mask).dtype}")
    if not isinstance(value, Tensor):
        value = value if self.dtype.kind in "fc" else np.asarray(value).astype(self.dtype).item()
        return composites.masked_fill(self, raw(mask), value)
    if len(value.shape):
        raise RuntimeError(f"masked_fill_ only supports a 0-dimensional value tensor, but got tensor with {len(value.shape)} dimension(s).")
    value = value if value.dtype == self.dtype else op["cast"](value, dtype=self.dtype)
    return named(op["where"](mask, value, self), "MaskedFillBackward1")


@function(changing=True)
def addcmul(self: Any, tensor1: Any, tensor2: Any, *, value: Any = 1) -> Any:
    """self + value * tensor1 * tensor2."""
    return composites.addcmul(self, tensor1, tensor2, value=value)


@function(changing=True)
def addcdiv(self: Any, tensor1: Any, tensor2: Any, *, value: Any = 1) -> Any:
    """self + value * tensor1 / tensor2."""
    return composites.addcdiv(self, tensor1, tensor2, value=value)


@function(changing=True)
def lerp(self: Any, end: Any, weight: Any) -> Any:
    """self + weight * (end - self)."""
    return (composites.lerp_by_tensor if isinstance(weight, Tensor) else composites.lerp)(self, end, weight)


@function(changing=True)
def logit(self: Any, eps: "float | None" = None) -> Any:
    """log(self / (1 - self)), self first clamped to [eps, 1 - eps]."""
    return named(op["logit"](self if eps is None else clamp(self, eps, 1 - eps)), "LogitBackward0", eps=eps)


@function(changing=True)
def polygamma(n: Any, self: Any) -> Any:
    """The n-th derivative of digamma."""
    if isinstance(n, Tensor):
        n, self = self, n
    return op["polygamma"](n, self)


@function()
def sinc(self: Any) -> Any:
    """sin(pi x) / (pi x)."""
    return op["sinc"](self)


@function(changing=True)
def nan_to_num(self: Any, nan: float = 0.0, posinf: Any = None, neginf: Any = None) -> Any:
    """Numbers in place of nan and infinities."""
    limits = np.finfo(self.dtype)
    return composites.nan_to_num(self, nan=0.0 if nan is None else nan, high=float(limits.max) if posinf is None else posinf,
                                 low=float(limits.min) if neginf is None else neginf)


# -- complex numbers and dtypes -----------------------------------------------------------------------------------------------


@function("conj")
def conj(self: Any) -> Any:
    """The complex conjugate; a real tensor itself."""
    return self if self.dtype.kind != "c" else named(op["conj"](self), "ConjBackward0")


@function("complex", method=False)
def complex_(real: Any, imag: Any) -> Any:
    """real + i imag."""
    return op["make_complex"](tensor_of(real), imag)


@function(method=False)
def polar(abs: Any, angle: Any) -> Any:
    """The complex number of this absolute value and angle."""
    return op["make_complex"](abs * op["cos"](angle), abs * op["sin"](angle))


@function("to", only_method=True)
def to(self: Tensor, *args: Any, device: Any = None, dtype: Any = None, non_blocking: bool = False, copy: bool = False, memory_format: Any = None) -> Tensor:
    """The tensor in another dtype (or that of another tensor), or another memory format; there is one device."""
    required(device)
    for a in args:
        if isinstance(a, Tensor):
            dtype = a.dtype
        elif isinstance(a, str):
            required(a)
        elif isinstance(a, (np.dtype, type)):
            dtype = a
    dtype = self._a.dtype if dtype is None else as_dtype(dtype)
    if memory_format is not None and not memory_format.is_of(self._a):
        return to(clone(self, memory_format=memory_format), dtype=dtype)
    if dtype == self._a.dtype:
        return self.clone() if copy else self                                                                # type: ignore[attr-defined]
    return run(op["cast"], self, dtype=dtype, label="ToCopyBackward0")


Tensor.type_as = lambda self, other: to(self, other.dtype)                                                    # type: ignore[attr-defined]
Tensor.cpu = lambda self: self                                                                                # type: ignore[attr-defined]
for _name in ("double", "float", "half", "cdouble", "cfloat", "long", "int", "short", "bool"):
    setattr(Tensor, _name, lambda self, _name=_name: to(self, np.dtype(np.float32) if _name == "float" else as_dtype(_name)))
Tensor.is_complex = lambda self: self._a.dtype.kind == "c"                                                    # type: ignore[attr-defined]
Tensor.is_floating_point = lambda self: self._a.dtype.kind == "f"                                             # type: ignore[attr-defined]
Tensor.is_signed = lambda self: self._a.dtype.kind not in "ub"                                                # type: ignore[attr-defined]


class _Copied(type(_identity)):                                                                               # type: ignore[misc]
    """The identity that copies, on tensors only; its derivative is the identity's record's."""

    def __init__(self) -> None:
        self.name, self.kind, self.facts, self.creation = "clone", "copy", {}, False
        self.derivative, self.__doc__ = _identity.derivative, "A copy"

    @staticmethod
    def run(x: np.ndarray, order: Any = None) -> np.ndarray:
        return np.array(x, order="K") if order is None else order.copy(x)


copied = _Copied()


@function(method=True)
def clone(self: Tensor, *, memory_format: Any = None) -> Tensor:
    """A copy, through which gradients flow, laid out as the tensor is or in a memory format."""
    return run(copied, self, label="CloneBackward0") if memory_format is None else run(copied, self, label="CloneBackward0", order=memory_format)
