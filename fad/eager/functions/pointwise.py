"""Elementwise functions of tensors: PyTorch's names for the ops of the table."""
from collections.abc import Callable
from typing import Any

import numpy as np

from ...ir.op import Op
from ...ops.table import TABLE as registry
from ...util.array import AnyArray, ArrayOrNumber
from ...util.interrupts import reraise_interrupt
from ...util.lazy import LazyModule
from ..graph import record
from ..graph.fast import binary, unary
from ..graph.inplace import before_change, check_in_place, check_overlap, in_place, requires_grad
from ..graph.single_node import step, together
from ..tensors import errors, promotion
from ..tensors.errors import refuse_if
from ..tensors.overrides import MISSING, handled, overriding
from ..tensors.promotion import checked, refuse, refuses, result_type
from ..tensors.state import now
from ..tensors.tensor import Tensor, is_operand, raw, wrap
from .conversion import to
from .registry import FUNCTIONS, changing_form, define, delivered, function, tensor_of


def _refused(op: Op, x: Tensor, args: list) -> str:
    """The reason for which an op's result cannot be written over x."""
    shapes = [x._a.shape, *[np.shape(a) for a in args]]
    if not errors.broadcasts(shapes):
        return errors.mismatch(*shapes[:2])
    shape = np.broadcast_shapes(*shapes)
    if shape != x._a.shape:
        return f"output with shape {list(x._a.shape)} doesn't match the broadcast shape {list(shape)}"
    dtype = promotion.result_type([x._a, *args])
    if dtype.kind in "biu" and op.name in record.FLOAT_FUNCTIONS:
        dtype = promotion.default.dtype
    return errors.not_castable(dtype, x._a.dtype)


def _run_into(ufunc: np.ufunc, a: np.ndarray, rest: list) -> None:
    """a = ufunc(a, *rest), in a's memory; among integers it counts modulo the range of a's dtype."""
    unlike = a.dtype.kind in "iu" and any(isinstance(b, np.ndarray) and b.dtype.kind in "iub" and b.dtype != a.dtype
                                          for b in rest)
    casting = "unsafe" if unlike else "same_kind"
    try:
        ufunc(a, *rest, out=a, casting=casting)
    except OverflowError as error:
        reraise_interrupt(error)
        ufunc(*errors.wrapped([a, *rest]), out=a, casting=casting)


def op_in_place(op: Op, x: Tensor, *args: ArrayOrNumber, name: str = "") -> Tensor:
    """x = op(x, *args), in place. name: of the function; PyTorch refuses some kinds of numbers for some functions."""
    if name and (x._a.dtype.kind != "f" or any(isinstance(a, Tensor) and a._a.dtype.kind != "f" for a in args)):
        promotion.refuse_in_place(name, x, args)
    if x._a.dtype.kind in "biu" and op.name in record.FLOAT_FUNCTIONS:                 # NumPy would round the result
        raise RuntimeError(_refused(op, x, [raw(a) for a in args]))
    ufunc = op.facts.get("ufunc")
    if ufunc is not None and now().dual_level < 0 and not (now().grad
                                                           and (requires_grad(x)
                                                                or any(requires_grad(a) for a in args))):
        check_in_place(x, False)
        check_overlap(x, args)
        before_change(x)
        try:
            _run_into(ufunc, x._a, [raw(a) for a in args])
        except (TypeError, ValueError):
            if name:
                promotion.refuse(name, (x, *args))
            raise RuntimeError(_refused(op, x, [raw(a) for a in args])) from None
        x._vc[0] += 1
        return x
    check_overlap(x, args)
    return in_place(x, op, *args, single=True)


op = registry
activations = LazyModule("fad.eager.nn.activations")             # of fad.nn, which is imported when it is asked for

UNARY = {name: name for name in (
    "exp exp2 expm1 log log2 log10 log1p sin cos tan sinh cosh tanh sqrt neg sign floor ceil trunc reciprocal square "
    "abs angle isnan isinf isfinite signbit logical_not erf erfc erfinv digamma").split()}
UNARY.update(asin="arcsin", acos="arccos", atan="arctan", asinh="arcsinh", acosh="arccosh", atanh="arctanh",
             arcsin="arcsin", arccos="arccos", arctan="arctan", arcsinh="arcsinh", arccosh="arccosh", arctanh="arctanh",
             sigmoid="expit", expit="expit", negative="neg", absolute="abs", bitwise_not="invert", lgamma="gammaln",
             fix="trunc", i0="i0", i1="i1", i0e="i0e", i1e="i1e", special_erf="erf", logsigmoid="log_expit")
BINARY = {name: name
          for name in "maximum minimum fmax fmin hypot logaddexp logaddexp2 xlogy copysign fmod nextafter gcd lcm "
          "logical_and logical_or logical_xor bitwise_and bitwise_or bitwise_xor".split()}
BINARY.update(atan2="arctan2", arctan2="arctan2", remainder="mod", floor_divide="floordiv", eq="equal", ne="not_equal",
              lt="less", le="less_equal", gt="greater", ge="greater_equal", greater="greater",
              greater_equal="greater_equal", less="less", less_equal="less_equal", not_equal="not_equal",
              bitwise_left_shift="left_shift", bitwise_right_shift="right_shift", true_divide="div", multiply="mul")


def _function_of(name: str, f: Callable, arity: int, doc: str) -> None:
    """Enter f, of one or two operands, as a function with PyTorch's `out`."""
    def called(operands: tuple, out: "Tensor | None") -> Any:
        x, *rest = operands
        if overriding or not isinstance(x, Tensor):
            y = handled(FUNCTIONS[name], operands, {} if out is None else {"out": out})
            if y is not MISSING:
                return y
            x = tensor_of(x)
        y = f(x, *rest)
        return y if out is None else delivered(y, out, name)

    def of_one(input: object, *, out: "Tensor | None" = None) -> Any:
        return called((input,), out)

    def of_two(input: object, other: object, *, out: "Tensor | None" = None) -> Any:
        return called((input, other), out)
    FUNCTIONS[name] = _told(of_one if arity == 1 else of_two, name, doc)


def _told(f: Callable, name: str, doc: str) -> Callable:
    f.__name__, f.__qualname__, f.__doc__ = name, name, doc
    return f


def _in_place_of(name: str, record: Op, arity: int = 2) -> None:
    checks = name if refuses(name) else ""

    def changed(self: Tensor, *args: object) -> Tensor:
        if name in _GENERAL and self._a.dtype.kind in "bc":
            return in_place(self, _GENERAL[name], *args)
        return op_in_place(record, self, *args, name=checks)

    def of_one(self: Tensor) -> Tensor:
        return changed(self)

    def of_two(self: Tensor, other: object) -> Tensor:
        return changed(self, other)
    FUNCTIONS[f"{name}_"] = change = _told(of_one if arity == 1 else of_two, f"{name}_", f"{name}, in place.")
    setattr(Tensor, f"{name}_", change)


def _method_of_two(f: Callable) -> Callable:
    return lambda self, other: f(self, other)


def _complex_too(x: AnyArray) -> AnyArray:
    return 1.0 / (1.0 + op["exp"](-x)) if raw(x).dtype.kind == "c" else op["expit"](x)


def _log_of_sum(x: Tensor, y: Tensor) -> Tensor:
    return _of_complex(x, y) if np.iscomplexobj(raw(x)) or np.iscomplexobj(raw(y)) else op["logaddexp"](x, y)


@step("LogaddexpBackward0", "x y", "self=x other=y")
def _of_complex(x: Tensor, y: Tensor) -> Tensor:
    """log(e^x + e^y) of complex numbers: the one near that with the larger real part, whatever its imaginary part."""
    a, b = np.asarray(raw(x)), np.asarray(raw(y))
    swapped, nothing = a.real < b.real, np.isneginf(a.real) & np.isneginf(b.real)
    x, y = (op["where"](nothing, 0.0, z) for z in (x, y))
    larger, smaller = op["where"](swapped, y, x), op["where"](swapped, x, y)
    z = larger + op["log1p"](op["exp"](smaller - larger))
    return op["where"](nothing, -np.inf + 1j * b.imag, z) if nothing.any() else z


def _sign(x: Tensor) -> Tensor:
    return x.clone() if raw(x).dtype.kind == "b" else op["sign"](x)


_GENERAL = {"logaddexp": _log_of_sum, "sigmoid": _complex_too, "expit": _complex_too, "sign": _sign,
            "square": lambda x: op["square"](x.long() if raw(x).dtype.kind == "b" else x)}
for _arity, _names, _doc in (1, UNARY, "of every element"), (2, BINARY, "of two tensors, element by element"):
    for _name, _op in _names.items():
        _call = checked(_GENERAL.get(_name, op[_op]), _name)
        _call = unary(op[_op], _call) if _arity == 1 else _method_of_two(_call)
        setattr(Tensor, _name, _told(_call, _name, f"{_op} {_doc}."))
        _function_of(_name, _call, _arity, f"{_op} {_doc}.")
        _in_place_of(_name, op[_op], _arity)


@function()
def positive(self: Tensor) -> Tensor:
    """self itself."""
    refuse("positive", (self,))
    return self


define("sgn", lambda self: _sign(self),
       "x / |x|, and 0 at 0.", node="SgnBackward0", edges="self", saves="self result", changing=True)


# -- arithmetic with its options ---------------------------------------------------------------------------------------

_add, _sub, _mul = (binary(op[n], checked(op[n], n)) for n in ("add", "sub", "mul"))


@function(method=True)
def mul(self: object, other: object) -> Tensor:
    """self * other."""
    return _mul(self, other) if isinstance(self, Tensor) else op["mul"](tensor_of(self), other)


@function("add", changing=True)
def add(self: object, other: object, *, alpha: object = 1) -> AnyArray:
    """self + alpha * other."""
    x = self if isinstance(self, Tensor) else tensor_of(self)
    return _add(x, other) if alpha.__class__ is int and alpha == 1 else _weighted(_add, "AddBackward0", x, other, alpha)


def _times(alpha: ArrayOrNumber, other: ArrayOrNumber, self: Tensor) -> ArrayOrNumber:
    """alpha * other, in the dtype in which it is added to self."""
    if not (isinstance(self, (Tensor, int, float, complex)) and isinstance(other, (Tensor, int, float, complex))):
        return other * alpha
    dtype = result_type((self, other))
    refuse_if(isinstance(alpha, bool) and dtype.kind != "b", "Boolean alpha only supported for Boolean results.")
    if isinstance(alpha, float) and dtype.kind in "iub":
        raise RuntimeError("For integral input tensors, argument alpha must not be a floating point number.")
    if isinstance(alpha, complex) and dtype.kind != "c":
        raise RuntimeError("For non-complex input tensors, argument alpha must not be a complex number.")
    if not isinstance(other, Tensor):
        return other * alpha
    other = to(other, dtype=dtype)
    return op["mul"](other, alpha) if dtype.kind != "b" else op["bitwise_and"](other, alpha != 0)


def _weighted(f: Callable, label: str, x: Tensor, y: object, alpha: complex) -> Tensor:
    """f(x, alpha * y) as one step."""
    return together((f(x, _times(alpha, y, x)),), label, (x, y), alpha=alpha)[0]


@function("sub", "subtract", changing=True)
def sub(self: ArrayOrNumber, other: ArrayOrNumber, *, alpha: object = 1) -> Tensor:
    """self - alpha * other."""
    x = self if isinstance(self, Tensor) else tensor_of(self)
    return _sub(x, other) if alpha.__class__ is int and alpha == 1 else _weighted(_sub, "SubBackward0", x, other, alpha)


@function(node=(lambda given: f"RsubBackward{int(not isinstance(given['other'], Tensor))}", "self other", "", "alpha"))
def rsub(self: Tensor, other: ArrayOrNumber, *, alpha: int = 1) -> Tensor:
    """other - alpha * self."""
    return sub(tensor_of(other), self, alpha=alpha)


@function("div", "divide", changing=True)
def div(self: ArrayOrNumber, other: ArrayOrNumber, *, rounding_mode: "str | None" = None) -> Tensor:
    """self / other; rounding_mode "floor" or "trunc" rounds the quotient."""
    refuse_if(rounding_mode not in (None, "floor", "trunc"), "div expected rounding_mode to be one of None, 'trunc', "
              f"or 'floor' but found '{rounding_mode}'")
    if rounding_mode is not None:
        refuse(f"div_{rounding_mode}", (tensor_of(self), other))
    if rounding_mode is not None and all(np.asarray(raw(v)).dtype.kind in "iub" for v in (self, other)):
        y = op["floordiv"](tensor_of(self), other)
        if rounding_mode == "trunc":  # towards zero: one more where the floor of a negative quotient was below it
            y = y + ((y < 0) & (op["mul"](y, other) != self))
        return y
    y = op["div"](tensor_of(self), other)
    if rounding_mode is not None:
        edges = (self, other) if isinstance(other, Tensor) else (self,)
        y, = together((op[rounding_mode](y),), "DivBackward2", edges, {"self": self, "other": other},
                      rounding_mode=rounding_mode)
    return y


def _power(x: ArrayOrNumber, y: ArrayOrNumber) -> Tensor:
    if isinstance(y, Tensor) and y._a.dtype.kind == "i" and np.asarray(raw(x)).dtype.kind in "iu" and (y._a < 0).any():
        base, up = np.broadcast_arrays(raw(x), y._a)  # rounded towards zero, so 0 unless the base is 1 or -1
        return wrap(np.where(up >= 0, base ** abs(up), np.where(abs(base) == 1, base ** (up % 2), 0)))
    return op["pow"](x, y)


_pow = checked(_power, "pow")


@function("pow", changing=True)
def pow(self: object, exponent: ArrayOrNumber) -> Tensor:
    """self ** exponent."""
    return _pow(self if isinstance(self, (int, float, complex)) else tensor_of(self), exponent)


@function("float_power", changing=True)
def float_power(self: ArrayOrNumber, exponent: ArrayOrNumber) -> Tensor:
    """self ** exponent, in double precision."""
    return op["pow"](*[to(tensor_of(x), dtype=np.result_type(tensor_of(x).dtype, np.float64))
                       for x in (self, exponent)])


for _name in ("mul", "add", "sub", "div", "pow"):
    _in_place_of(_name, op[_name])
_in_place_div, _div_in_place = Tensor.div_, changing_form("div", div)
Tensor.div_ = lambda self, other, *, rounding_mode=None: (
    _in_place_div(self, other) if rounding_mode is None else _div_in_place(self, other, rounding_mode=rounding_mode))


def _with_alpha(change: Callable) -> Callable:
    return lambda self, other, *, alpha=1: change(self, other if alpha.__class__ is int and alpha == 1
                                                  else _times(alpha, other, self))


Tensor.add_, Tensor.sub_ = _with_alpha(Tensor.add_), _with_alpha(Tensor.sub_)
Tensor.multiply_, Tensor.divide_, Tensor.subtract_ = Tensor.mul_, Tensor.div_, Tensor.sub_
for _name in ("add_", "sub_", "div_", "subtract_", "divide_", "multiply_"):
    FUNCTIONS[_name] = getattr(Tensor, _name)


def _operator(name: str, swapped: bool = False) -> Callable:
    record = checked(_power if name == "pow" else op[name], _CALLED.get(name, name))

    def method(self: Tensor, other: object) -> Any:
        if not is_operand(other):
            return NotImplemented  # to Python: it asks the other, or says which types do not go together
        return record(other, self) if swapped else record(self, other)
    return method


def _in_place_operator(name: str) -> Callable:
    record, called = op[name], _CALLED.get(name, name)
    return lambda self, other: op_in_place(record, self, other, name=called) if is_operand(other) else NotImplemented


# PyTorch's names
_CALLED = {"mod": "remainder", "floordiv": "floor_divide", "left_shift": "bitwise_left_shift",
           "right_shift": "bitwise_right_shift"}

for _python, _name in {"add": "add", "sub": "sub", "mul": "mul", "truediv": "div", "pow": "pow", "floordiv": "floordiv",
                       "mod": "mod", "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor",
                       "lshift": "left_shift", "rshift": "right_shift"}.items():
    _call = _operator(_name)
    _call = binary(op[_name], _call) if _name in ("add", "sub", "mul") else _call
    setattr(Tensor, f"__{_python}__", _call)
    _other = _method_of_two(_call) if _name in ("add", "mul") else _operator(_name, swapped=True)
    setattr(Tensor, f"__r{_python}__", _other)
    setattr(Tensor, f"__i{_python}__", _in_place_operator(_name))
for _python, _name in {"lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal", "eq": "equal",
                       "ne": "not_equal"}.items():
    setattr(Tensor, f"__{_python}__", _operator(_name))
Tensor.__neg__, Tensor.__abs__, Tensor.__invert__ = Tensor.neg, Tensor.abs, Tensor.bitwise_not
Tensor.__pos__ = FUNCTIONS["positive"]
Tensor.__hash__ = object.__hash__  # type: ignore[method-assign]
