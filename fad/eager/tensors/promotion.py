"""The dtype that operands are brought to, and which dtypes PyTorch does not compute with."""
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ...util.array import ArrayOrNumber
from . import errors
from .errors import refuse_if
from .overrides import MISSING, handled
from .tensor import Tensor, is_operand, raw
from .tensor import default as default

_CATEGORY = {"b": 0, "u": 1, "i": 1, "f": 2, "c": 3}


def default_complex() -> np.dtype:
    """The dtype of new tensors of complex numbers."""
    return np.result_type(default.dtype, np.complex64)


def castable(dtype: np.dtype, to: np.dtype) -> bool:
    """Whether a result may be written to memory of another dtype: no number to bools, complex to real, real to ints."""
    return _CATEGORY[dtype.kind] <= _CATEGORY[to.kind]


def promoted_type(*dtypes: np.dtype) -> np.dtype:
    """The dtype of a result of values of these: inexact numbers keep their precision beside integers."""
    return np.result_type(*[d for d in dtypes if d.kind in "fc"] or dtypes)


def result_type(operands: Iterable) -> np.dtype:
    """The dtype that tensors (arrays) and numbers are computed in: that of those with axes; one without axes decides
    where it is of a higher kind of number, and a Python number (or a scalar of NumPy's) after these."""
    ranks: tuple = [], [], []
    for x in operands:
        a = raw(x)
        if isinstance(a, np.ndarray):
            ranks[0 if a.ndim else 1].append(a.dtype)
        else:
            dtype = np.asarray(a).dtype
            ranks[2].append(default.dtype if dtype.kind == "f" else default_complex() if dtype.kind == "c" else dtype)
    given = [promoted_type(*dtypes) for dtypes in ranks if dtypes]
    dtype = given.pop()
    while given:
        dtype = _combined(given.pop(), dtype)
    return dtype


def _combined(first: np.dtype, then: np.dtype) -> np.dtype:
    if _CATEGORY[then.kind] <= _CATEGORY[first.kind]:
        return first
    return np.result_type(first, np.complex64) if first.kind == "f" else then


def precision(kind: str, arrays: Iterable) -> np.dtype:
    """The dtype of inexact results of this kind: in their operands' precision, the default's of whole numbers."""
    given = [x.dtype for x in arrays if isinstance(x, np.ndarray) and x.dtype.kind in "fc"]
    dtype = np.result_type(*given) if given else default.dtype
    if dtype.kind == kind:
        return dtype
    return np.result_type(dtype, np.complex64) if kind == "c" else np.empty(0, dtype).real.dtype


def fitted(y: np.ndarray, arrays: list) -> np.ndarray:
    """A result of inexact numbers in the precision of its operands."""
    for x in arrays:
        if x.__class__ is np.ndarray and x.dtype is y.dtype:
            return y
    dtype = precision(y.dtype.kind, arrays)
    return y if y.dtype == dtype else y.astype(dtype)


# -- what is refused ---------------------------------------------------------------------------------------------------

_BOOL = ("a bool tensor is not supported. If you are trying to invert a mask, use the `~` or `logical_not()` operator "
         "instead.")
_MISSING = """
b    abs pow=pow floor=floor_vml_cpu ceil=ceil_vml_cpu trunc=trunc_vml_cpu
c    erf=erf_vml_cpu erfc=erfc_vml_cpu erfinv=erfinv_vml_cpu digamma=digamma lgamma=lgamma_vml_cpu i0=i0_vml_cpu
c    i1 i0e i1e logit xlogy copysign atan2 lt le gt ge
bc   round=round_vml_cpu fmod remainder floor_divide=div_floor_cpu div_floor div_trunc
fc   bitwise_not bitwise_and bitwise_or bitwise_xor
bfc  gcd lcm bitwise_left_shift=lshift_cpu bitwise_right_shift=rshift_cpu
biu  logaddexp
biuc frac logsigmoid=log_sigmoid_cpu hypot logaddexp2 nextafter
"""                                                            # kinds of numbers, functions = their kernels (or f_cpu)
_KERNELS = {word.partition("=")[0]: (kinds, word.partition("=")[2] or f"{word}_cpu")
            for kinds, *words in map(str.split, _MISSING.strip().splitlines()) for word in words}
_SAID = {                                                      # function: kinds of numbers, the error
    **{name: ("c", NotImplementedError(f"{name} is not supported for complex inputs"))
       for name in ("floor", "ceil", "trunc")},
    **{name: ("c", RuntimeError(f"{name} not implemented for complex tensors."))
       for name in ("maximum", "minimum", "fmax", "fmin")},
    **{name: ("c", RuntimeError(f"{name} is not supported for complex tensors.")) for name in ("deg2rad", "rad2deg")},
    "neg": ("b", RuntimeError(f"Negation, the `-` operator, on {_BOOL}")),
    "positive": ("b", RuntimeError("The `+` operator, on a bool tensor is not supported.")),
    "sign": ("c",
             NotImplementedError("Unlike NumPy, torch.sign is not intended to support complex numbers. Please use "
                                 "torch.sgn instead.")),
    "signbit": ("c", NotImplementedError("signbit is not implemented for complex tensors.")),
    "heaviside": ("c", RuntimeError("heaviside is not yet implemented for complex tensors."))}
_SAME = {"arctan2": "atan2", "greater": "gt", "greater_equal": "ge", "less": "lt", "less_equal": "le",
         "negative": "neg", "absolute": "abs", "fix": "trunc", "subtract": "sub", "special_erf": "erf"}
_WHOLE = frozenset(("remainder", "floor_divide", "div_floor", "div_trunc", "fmod"))


def refuses(name: str) -> bool:
    """Whether there are dtypes that the function of this name is not computed of."""
    name = _SAME.get(name, name)
    return name in _KERNELS or name in _SAID or name == "sub"


def refuse(name: str, operands: tuple) -> None:
    """Raise where the function of this name is not computed of operands like these, as PyTorch does."""
    name = _SAME.get(name, name)
    if name == "sub":
        return _refuse_difference(operands)
    dtype = result_type(operands)
    kinds, kernel = _KERNELS.get(name, ("", ""))
    if dtype.kind in kinds:
        raise NotImplementedError(f'"{kernel}" not implemented for \'{errors.scalar_name(dtype)}\'')
    kinds, error = _SAID.get(name, ("", None))
    if dtype.kind in kinds:
        raise type(error)(*error.args)
    refuse_if(name in _WHOLE and dtype.kind in "iu" and not np.all(raw(operands[1])), "ZeroDivisionError")


def refuse_in_place(name: str, x: Tensor, others: tuple) -> None:
    """Raise where the function of this name is not computed of operands like these, or its result does not fit x."""
    dtype = result_type((x, *others))
    if name != "sub" and _SAME.get(name, name) not in ("lt", "le", "gt", "ge") and not castable(dtype, x._a.dtype):
        raise RuntimeError(errors.not_castable(dtype, x._a.dtype))
    refuse_if(name == "abs" and dtype.kind == "c", "In-place abs is not supported for complex tensors.")
    refuse(name, (x, *others))


def _refuse_difference(operands: tuple) -> None:
    true = [raw(x).dtype.kind == "b" if isinstance(x, (Tensor, np.ndarray, np.generic)) else isinstance(x, bool)
            for x in operands]
    refuse_if(all(true), "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or "
              "`logical_xor()` operator instead.")
    refuse_if(any(true), f"Subtraction, the `-` operator, with {_BOOL}")


def agree(text: str, *xs: object, name: Callable = errors.scalar_name) -> None:
    """Raise this text (the names of the dtypes in its places) unless tensors are of one dtype."""
    if all(isinstance(x, Tensor) for x in xs):
        dtypes = [x._a.dtype for x in xs]
        if any(dtype != dtypes[0] for dtype in dtypes):
            raise RuntimeError(text.format(*[name(dtype) for dtype in dtypes]))


def checked(f: Callable, name: str) -> Callable:
    """f, after a look whether it is computed of operands like these; of real numbers it is known in advance."""
    name = _SAME.get(name, name)
    known = "" if "f" in _KERNELS.get(name, ("",))[0] else "f"               # no tensor is of kind ""
    refusing = refuses(name)

    def call(*operands: ArrayOrNumber) -> Any:
        for x in operands:
            if x.__class__ is Tensor:
                if x._a.dtype.kind != known:
                    break
            elif x.__class__ is not float and x.__class__ is not int:
                break
        else:
            return f(*operands)
        if any(isinstance(x, Tensor) for x in operands):
            y = (handled(getattr(Tensor, name, f), operands, {})
                 if any(hasattr(type(x), "__torch_function__") and not isinstance(x, Tensor) for x in operands)
                 else MISSING)
            if y is not MISSING:
                return y
            for k, x in enumerate(operands):
                if not is_operand(x):
                    raise TypeError(f"{name}(): argument '{'other' if k else 'input'}' (position {k + 1}) must be "
                                    f"Tensor, not {type(x).__name__}")
            if refusing:
                refuse(name, operands)
        return f(*operands)
    return call
