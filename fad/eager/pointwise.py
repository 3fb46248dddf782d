"""Elementwise functions of tensors: PyTorch's names for the ops of the table."""
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..ops.table import TABLE as registry
from . import composites
from .conversion import clone, to
from .errors import c_name, scalar_name
from .fast import binary, unary
from .inplace import op_in_place
from .overrides import MISSING, handled, overriding
from .promotion import agree, checked, refuse, refuses, result_type
from .registry import FUNCTIONS, delivered, function, run, tensor_of
from .tensor import Tensor, is_operand, raw, wrap
from .together import step, together

op = registry

UNARY = {name: name for name in (
    "exp exp2 expm1 log log2 log10 log1p sin cos tan sinh cosh tanh sqrt neg sign floor ceil trunc reciprocal square abs angle isnan isinf isfinite "
    "signbit logical_not erf erfc erfinv digamma").split()}
UNARY.update(asin="arcsin", acos="arccos", atan="arctan", asinh="arcsinh", acosh="arccosh", atanh="arctanh", arcsin="arcsin", arccos="arccos", arctan="arctan",
             arcsinh="arcsinh", arccosh="arccosh", arctanh="arctanh", sigmoid="expit", expit="expit", negative="neg", absolute="abs", bitwise_not="invert",
             lgamma="gammaln", fix="trunc", i0="i0", i1="i1", i0e="i0e", i1e="i1e", special_erf="erf", logsigmoid="log_expit")
BINARY = {name: name for name in "maximum minimum fmax fmin hypot logaddexp logaddexp2 xlogy copysign fmod nextafter gcd lcm "
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
    checks = name if refuses(name) else ""

    def change(self: Tensor, *args: Any) -> Tensor:
        return op_in_place(record, self, *args, name=checks)
    change.__name__, change.__doc__ = f"{name}_", f"{name}, in place."
    setattr(Tensor, f"{name}_", change)
    FUNCTIONS[f"{name}_"] = change


def _with_out(f: Callable) -> Callable:
    """f, with PyTorch's `out`."""
    def call(x: Any, *args: Any, out: Any = None) -> Any:
        if overriding or not isinstance(x, Tensor):
            y = handled(call, (x, *args), {} if out is None else {"out": out})
            if y is not MISSING:
                return y
        y = f(tensor_of(x) if not isinstance(x, Tensor) else x, *args)
        return y if out is None else delivered(y, out, f.__name__)
    call.__name__, call.__doc__ = f.__name__, f.__doc__
    return call


def _complex_too(x: Any) -> Any:
    return 1.0 / (1.0 + op["exp"](-x)) if raw(x).dtype.kind == "c" else op["expit"](x)


def _sign(x: Any) -> Any:
    return x.clone() if raw(x).dtype.kind == "b" else op["sign"](x)


_GENERAL = {"sigmoid": _complex_too, "expit": _complex_too, "sign": _sign,
            "square": lambda x: op["square"](x.long() if raw(x).dtype.kind == "b" else x)}
for _name, _op in UNARY.items():
    _call = _named(unary(op[_op], checked(_GENERAL.get(_name, op[_op]), _name)), _name, f"{_op} of every element.")
    setattr(Tensor, _name, _call)
    FUNCTIONS[_name] = _with_out(_call)
    _in_place_of(_name, op[_op])
for _name, _op in BINARY.items():
    _call = _named(checked(op[_op], _name), _name, f"{_op} of two tensors, element by element.")
    setattr(Tensor, _name, _call)
    FUNCTIONS[_name] = _with_out(_call)
    _in_place_of(_name, op[_op])



@function()
def positive(self: Tensor) -> Tensor:
    """self itself."""
    refuse("positive", (self,))
    return self


@function(changing=True)
@step("SgnBackward0", "self", "self result")
def sgn(self: Any) -> Any:
    """x / |x|, and 0 at 0."""
    return _sign(self)


# -- arithmetic with its options --------------------------------------------------------------------------------------------

_add, _sub, _mul = (binary(op[n], checked(op[n], n)) for n in ("add", "sub", "mul"))


@function(method=True)
def mul(self: Any, other: Any, *, out: Any = None) -> Any:
    """self * other."""
    y = _mul(self, other) if isinstance(self, Tensor) else op["mul"](tensor_of(self), other)
    return y if out is None else delivered(y, out, "mul")


@function("add", changing=True)
def add(self: Any, other: Any, *, alpha: Any = 1, out: Any = None) -> Any:
    """self + alpha * other."""
    x = self if isinstance(self, Tensor) else tensor_of(self)
    y = _add(x, other) if alpha.__class__ is int and alpha == 1 else _weighted(_add, "AddBackward0", x, other, alpha)
    return y if out is None else delivered(y, out, "add")


def _times(alpha: Any, other: Any, self: Any) -> Any:
    """alpha * other, in the dtype in which it is added to self."""
    if not (isinstance(self, (Tensor, int, float, complex)) and isinstance(other, (Tensor, int, float, complex))):
        return other * alpha
    dtype = result_type((self, other))
    if isinstance(alpha, bool) and dtype.kind != "b":
        raise RuntimeError("Boolean alpha only supported for Boolean results.")
    if isinstance(alpha, float) and dtype.kind in "iub":
        raise RuntimeError("For integral input tensors, argument alpha must not be a floating point number.")
    if isinstance(alpha, complex) and dtype.kind != "c":
        raise RuntimeError("For non-complex input tensors, argument alpha must not be a complex number.")
    if not isinstance(other, Tensor):
        return other * alpha
    other = to(other, dtype=dtype)
    return op["mul"](other, alpha) if dtype.kind != "b" else op["bitwise_and"](other, alpha != 0)


def _weighted(f: Callable, label: str, x: Any, y: Any, alpha: Any) -> Any:
    """f(x, alpha * y) as one step."""
    return together((f(x, _times(alpha, y, x)),), label, (x, y), alpha=alpha)[0]


@function("sub", "subtract", changing=True)
def sub(self: Any, other: Any, *, alpha: Any = 1, out: Any = None) -> Any:
    """self - alpha * other."""
    x = self if isinstance(self, Tensor) else tensor_of(self)
    y = _sub(x, other) if alpha.__class__ is int and alpha == 1 else _weighted(_sub, "SubBackward0", x, other, alpha)
    return y if out is None else delivered(y, out, "sub")


@function("rsub")
@step(lambda given: f"RsubBackward{int(not isinstance(given['other'], Tensor))}", "self other", "", "alpha")
def rsub(self: Any, other: Any, *, alpha: Any = 1) -> Any:
    """other - alpha * self."""
    return sub(tensor_of(other), self, alpha=alpha)


@function("div", "divide", changing=True)
def div(self: Any, other: Any, *, rounding_mode: "str | None" = None, out: Any = None) -> Any:
    """self / other; rounding_mode "floor" or "trunc" rounds the quotient."""
    if rounding_mode not in (None, "floor", "trunc"):
        raise RuntimeError(f"div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '{rounding_mode}'")
    if rounding_mode is not None:
        refuse(f"div_{rounding_mode}", (tensor_of(self), other))
    if rounding_mode is not None and all(np.asarray(raw(v)).dtype.kind in "iub" for v in (self, other)):
        y = op["floordiv"](tensor_of(self), other)
        if rounding_mode == "trunc":                               # towards zero: one more where the floor of a negative quotient was below it
            y = y + ((y < 0) & (op["mul"](y, other) != self))
        return y if out is None else delivered(y, out, "div")
    y = op["div"](tensor_of(self), other)
    if rounding_mode is not None:
        edges = (self, other) if isinstance(other, Tensor) else (self,)
        y, = together((op[rounding_mode](y),), "DivBackward2", edges, {"self": self, "other": other}, rounding_mode=rounding_mode)
    return y if out is None else delivered(y, out, "div")


def _power(x: Any, y: Any) -> Any:
    if isinstance(y, Tensor) and y._a.dtype.kind == "i" and np.asarray(raw(x)).dtype.kind in "iu" and (y._a < 0).any():
        base, up = np.broadcast_arrays(raw(x), y._a)                           # rounded towards zero, so 0 unless the base is 1 or -1
        return wrap(np.where(up >= 0, base ** abs(up), np.where(abs(base) == 1, base ** (up % 2), 0)))
    return op["pow"](x, y)


_pow = checked(_power, "pow")


@function("pow", changing=True)
def pow(self: Any, exponent: Any, *, out: Any = None) -> Any:
    """self ** exponent."""
    y = _pow(self if isinstance(self, (int, float, complex)) else tensor_of(self), exponent)
    return y if out is None else delivered(y, out, "pow")


@function("float_power", changing=True)
def float_power(self: Any, exponent: Any) -> Any:
    """self ** exponent, in double precision."""
    return op["pow"](*[to(tensor_of(x), dtype=np.result_type(tensor_of(x).dtype, np.float64)) for x in (self, exponent)])


for _name in ("mul", "add", "sub", "div", "pow"):
    _in_place_of(_name, op[_name])
_alpha_free_add, _alpha_free_sub = Tensor.add_, Tensor.sub_                                                   # type: ignore[attr-defined]
Tensor.add_ = lambda self, other, *, alpha=1: _alpha_free_add(self, other if alpha == 1 else _times(alpha, other, self))  # type: ignore[attr-defined]
Tensor.sub_ = lambda self, other, *, alpha=1: _alpha_free_sub(self, other if alpha == 1 else _times(alpha, other, self))  # type: ignore[attr-defined]
Tensor.multiply_, Tensor.divide_, Tensor.subtract_ = Tensor.mul_, Tensor.div_, Tensor.sub_                    # type: ignore[attr-defined]


def _operator(name: str, swapped: bool = False) -> Callable:
    record = checked(_power if name == "pow" else op[name], _CALLED.get(name, name))

    def method(self: Tensor, other: Any) -> Any:
        if not is_operand(other):
            return NotImplemented                                  # to Python: it asks the other, or says which types do not go together
        return record(other, self) if swapped else record(self, other)
    return method


def _commuting(call: Callable) -> Callable:
    return lambda self, other: call(self, other)


def _in_place_operator(name: str) -> Callable:
    record, called = op[name], _CALLED.get(name, name)
    return lambda self, other: op_in_place(record, self, other, name=called) if is_operand(other) else NotImplemented


_CALLED = {"mod": "remainder", "floordiv": "floor_divide", "left_shift": "bitwise_left_shift", "right_shift": "bitwise_right_shift"}       # PyTorch's names

for _python, _name in {"add": "add", "sub": "sub", "mul": "mul", "truediv": "div", "pow": "pow", "floordiv": "floordiv", "mod": "mod", "and": "bitwise_and",
                       "or": "bitwise_or", "xor": "bitwise_xor", "lshift": "left_shift", "rshift": "right_shift"}.items():
    _call = _operator(_name)
    _call = binary(op[_name], _call) if _name in ("add", "sub", "mul") else _call
    setattr(Tensor, f"__{_python}__", _call)
    setattr(Tensor, f"__r{_python}__", _commuting(_call) if _name in ("add", "mul") else _operator(_name, swapped=True))
    setattr(Tensor, f"__i{_python}__", _in_place_operator(_name))
for _python, _name in {"lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal", "eq": "equal", "ne": "not_equal"}.items():
    setattr(Tensor, f"__{_python}__", _operator(_name))
Tensor.__neg__, Tensor.__abs__, Tensor.__invert__ = Tensor.neg, Tensor.abs, Tensor.bitwise_not                # type: ignore[attr-defined]
Tensor.__pos__ = FUNCTIONS["positive"]                                                                             # type: ignore[attr-defined]
Tensor.__hash__ = object.__hash__                                                                            # type: ignore[method-assign]

# -- composed -------------------------------------------------------------------------------------------------------------------


@function("ldexp", changing=True)
def ldexp(self: Any, other: Any) -> Any:
    """self * 2 ** other."""
    return op["ldexp"](self, other) if raw(other).dtype.kind in "iu" and self.dtype.kind == "f" else self * pow(2.0, other)


@function("heaviside", changing=True)
def heaviside(self: Any, values: Any) -> Any:
    """0 where self is negative, 1 where it is positive, values where it is zero."""
    refuse("heaviside", (self, values))
    agree("heaviside is not yet implemented for tensors with different dtypes.", self, values)
    y = op["heaviside"](self, values)
    return y if y.dtype == self.dtype else to(y, dtype=self.dtype)


@function(changing=True)
def rsqrt(self: Any) -> Any:
    """1 / sqrt(self)."""
    return composites.rsqrt(tensor_of(self))


@function(changing=True)
def relu(self: Any) -> Any:
    """max(self, 0), with derivative 0 at 0."""
    x = tensor_of(self)
    if x.dtype.kind == "b":
        raise RuntimeError("Boolean inputs not supported for relu")
    return composites.relu(x) if x.dtype.kind == "f" else clamp(x, 0)


@function(changing=True)
def round(self: Any, *, decimals: int = 0) -> Any:
    """Rounded to this many decimals, halves to even."""
    x = tensor_of(self)
    if x.dtype.kind in "iu":
        return clone(x)
    refuse("round", (x,))
    return op["rint"](x) if not decimals else op["rint"](x * 10.0 ** decimals) / 10.0 ** decimals


@function(changing=True)
@step("ConjPhysicalBackward0", "self")
def conj_physical(self: Any) -> Any:
    """The complex conjugate, in memory of its own; a real tensor itself."""
    return op["conj"](self) if self.dtype.kind == "c" else self


@function(changing=True)
def frac(self: Any) -> Any:
    """The fractional part."""
    refuse("frac", (self,))
    return composites.frac(self)


@function(changing=True)
def deg2rad(self: Any) -> Any:
    """An angle of degrees in radians."""
    refuse("deg2rad", (self,))
    return together((self * (math.pi / 180.0),), "Deg2RadBackward0", (self,))[0]


@function(changing=True)
def rad2deg(self: Any) -> Any:
    """An angle of radians in degrees."""
    refuse("rad2deg", (self,))
    return together((self * (180.0 / math.pi),), "Rad2DegBackward0", (self,))[0]


@function("clamp", "clip", changing=True)
def clamp(self: Any, min: Any = None, max: Any = None) -> Any:
    """self, but at least min and at most max; at the bounds themselves the derivative is 1."""
    if min is None and max is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    x = tensor_of(self)
    if x.dtype.kind == "c":
        raise NotImplementedError("clamp is not supported for complex types")
    if x.dtype.kind == "f" or any(isinstance(b, float) for b in (min, max)):
        low, high = -np.inf if min is None else min, np.inf if max is None else max
        return run(op["clip"], x, low, high, label=f"ClampBackward{int(not any(isinstance(b, Tensor) for b in (min, max)))}")
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
def where(condition: Any, input: Any = None, other: Any = None, *, out: Any = None) -> Any:
    """input where condition holds, other elsewhere; with condition alone, the indices where it holds."""
    if input is None:
        return condition.nonzero(as_tuple=True)
    if not isinstance(input, Tensor) and not isinstance(other, Tensor) and not getattr(condition, "__fad_level__", 0):
        condition = tensor_of(condition)
    if isinstance(condition, Tensor) and condition.dtype.kind != "b" and condition.dtype != np.uint8:
        raise RuntimeError(f"where expected condition to be a boolean tensor, but got a tensor with dtype {scalar_name(condition.dtype)}")
    return delivered(op["where"](condition, input, other), out, "where")


Tensor.where = lambda self, condition, other: op["where"](condition, self, other)                             # type: ignore[attr-defined]


@function(changing=True)
def masked_fill(self: Any, mask: Any, value: Any) -> Any:
    """value where the mask holds."""
    if raw(mask).dtype.kind != "b":
        raise RuntimeError(f"masked_fill_ only supports boolean masks, but got mask with dtype {c_name(raw(mask).dtype)}")
    if not isinstance(value, Tensor):
        value = value if self.dtype.kind in "fc" else np.asarray(value).astype(self.dtype).item()
        return composites.masked_fill(self, raw(mask), value)
    if len(value.shape):
        raise RuntimeError(f"masked_fill_ only supports a 0-dimensional value tensor, but got tensor with {len(value.shape)} dimension(s).")
    value = value if value.dtype == self.dtype else op["cast"](value, dtype=self.dtype)
    return together((op["where"](mask, value, self),), "MaskedFillBackward1", (self, value), {"mask": mask})[0]


@function(changing=True)
def addcmul(self: Any, tensor1: Any, tensor2: Any, *, value: Any = 1) -> Any:
    """self + value * tensor1 * tensor2."""
    x, a, b = _in_one_dtype(self, tensor1, tensor2)
    return composites.addcmul(x, a, b, value=int(value) if x.dtype.kind in "iu" else value)


def _in_one_dtype(*xs: Any) -> tuple:
    """Tensors in the dtype that they are computed in together."""
    if not all(isinstance(x, Tensor) for x in xs) or all(x._a.dtype is xs[0]._a.dtype for x in xs):
        return xs
    dtype = result_type(xs)
    return tuple([to(x, dtype=dtype) for x in xs])


@function(changing=True)
def addcdiv(self: Any, tensor1: Any, tensor2: Any, *, value: Any = 1) -> Any:
    """self + value * tensor1 / tensor2."""
    if all(x.dtype.kind in "biu" for x in (tensor1, tensor2)):
        raise RuntimeError("Integer division with addcdiv is no longer supported, and in a future  release addcdiv will perform a true division of tensor1 and "
                           "tensor2. Make one of them a floating-point tensor, or use (input + value * torch.trunc(tensor1 / tensor2)).to(input.dtype)")
    return composites.addcdiv(*_in_one_dtype(self, tensor1, tensor2), value=value)


@function(changing=True)
def lerp(self: Any, end: Any, weight: Any) -> Any:
    """self + weight * (end - self)."""
    agree("expected dtype {} for `end` but got dtype {}", self, end, name=c_name)
    agree("expected dtype {} for `weight` but got dtype {}", self, weight, name=c_name)
    if self.dtype.kind in "biu":
        raise NotImplementedError(f'"lerp_kernel_{"tensor" if isinstance(weight, Tensor) else "scalar"}" not implemented for \'{scalar_name(self.dtype)}\'')
    return (composites.lerp_by_tensor if isinstance(weight, Tensor) else composites.lerp)(self, end, weight)


@function(changing=True)
@step("LogitBackward0", "self", "self", "eps")
def logit(self: Any, eps: "float | None" = None) -> Any:
    """log(self / (1 - self)), self first clamped to [eps, 1 - eps]."""
    return op["logit"](self if eps is None else clamp(self, eps, 1 - eps))


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
    if self.dtype.kind in "biu":
        return clone(self)
    limits = np.finfo(self.dtype)
    return composites.nan_to_num(self, nan=0.0 if nan is None else nan, high=float(limits.max) if posinf is None else posinf,
                                 low=float(limits.min) if neginf is None else neginf)
