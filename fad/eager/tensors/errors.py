"""The messages that users of autograd match on."""
from typing import Any

import numpy as np

from ...ops.override import BY_NAME
from ...util.errors import ExtentError
from ...util.interrupts import reraise_interrupt

SECOND_TIME = (
    "Trying to backward through the graph a second time (or directly access saved tensors after they have already been "
    "freed). Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). Specify "
    "retain_graph=True if you need to backward through the graph a second time or if you need to access saved tensors "
    "after calling backward.")
DETACHED = ("Trying to use a saved tensor that has been detached in-place, i.e. with .detach_().This is not supported, "
            "please use out-of-place `.detach()` instead")
INFERENCE_SAVED = (
    "Inference tensors cannot be saved for backward. Please do not use Tensors created in inference mode in "
    "computation tracked by autograd. To work around this, you can make a clone to get a normal tensor and use it in "
    "autograd, or use `no_grad()` instead of `inference_mode()`.")
INFERENCE_WRITE = (
    "Inplace update to inference tensor outside InferenceMode is not allowed.You can make a clone to get a normal "
    "tensor before doing inplace update.")
LEAF_WRITE = "a leaf Variable that requires grad is being used in an in-place operation."
LEAF_VIEW_WRITE = "a view of a leaf Variable that requires grad is being used in an in-place operation."
OVERLAP = (
    "unsupported operation: more than one element of the written-to tensor refers to a single memory location. Please "
    "clone() the tensor before performing the operation.")
PARTIAL_OVERLAP = (
    "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory "
    "location. Please clone() the tensor before performing the operation.")
MOVED = "leaf variable has been moved into the graph interior"
NO_GRAD_NEEDED = "element {0} of tensors does not require grad and does not have a grad_fn"
UNUSED = ("The differentiated Tensor at index {0} appears to not have been used in the graph. Set allow_unused=True if "
          "this is the desired behavior.")
NOT_REQUIRED = "One of the differentiated Tensors does not require grad"
NUMPY_GRAD = "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead."


class Refused(RuntimeError, ValueError):
    """NumPy's ValueError, which PyTorch's users know as a RuntimeError."""


class OptionError(ValueError):
    """An option that a function does not have."""


def refuse_if(condition: object, message: str, error: type = RuntimeError) -> None:
    """Raise an error with this message where the condition holds."""
    if condition:
        raise error(message)


def override(name: str, *args: object, **kwargs: object) -> Any:
    """A function of NumPy or SciPy, by its record."""
    try:
        return BY_NAME[name].call(*args, **kwargs)
    except ValueError as error:
        raise told(error) from None


def told(error: ValueError) -> Exception:
    """NumPy's error as one of PyTorch's classes."""
    if isinstance(error, IndexError):                                  # an axis that is not there
        return IndexError(str(error))
    return Refused(str(error)) if type(error) in (ValueError, ExtentError) else error


def broadcasts(shapes: list) -> bool:
    """Whether shapes broadcast against each other."""
    try:
        np.broadcast_shapes(*shapes)
    except ValueError as error:
        reraise_interrupt(error)
        return False
    return True


def expands(shape: tuple, to: tuple) -> bool:
    """Whether what has one shape broadcasts to another."""
    return broadcasts([shape, to]) and np.broadcast_shapes(shape, to) == tuple(to)


def wrapped(arrays: list) -> list:
    """Operands with Python integers taken modulo the range of the arrays' dtype."""
    dtype = next(x.dtype for x in arrays if isinstance(x, np.ndarray))
    return [np.asarray(x).astype(dtype)[()] if isinstance(x, int) else x for x in arrays]


def in_words(op: object, arrays: list, error: Exception) -> Exception:
    """An error of NumPy's as PyTorch says it."""
    if op.kind != "elementwise":
        return Refused(*error.args) if type(error) is ValueError else error
    shapes = [x.shape for x in arrays if isinstance(x, np.ndarray)]
    if len(shapes) > 1 and not broadcasts(shapes):
        return RuntimeError(mismatch(*shapes[-2:]))
    if "negative integer powers" in str(error):
        return RuntimeError(str(error))
    if isinstance(error, TypeError) and "not supported for the input types" in str(error):
        name = op.facts["ufunc"].__name__ if "ufunc" in op.facts else op.name
        dtype = np.result_type(*[x.dtype for x in arrays if hasattr(x, "dtype")])
        return NotImplementedError(f"\"{name}_cpu\" not implemented for '{scalar_name(dtype)}'")
    return error


def mismatch(a: tuple, b: tuple) -> str:
    """Two shapes that do not broadcast."""
    for k in range(1, min(len(a), len(b)) + 1):
        if a[-k] != b[-k] and 1 not in (a[-k], b[-k]):
            return (f"The size of tensor a ({a[-k]}) must match the size of tensor b ({b[-k]}) at non-singleton "
                    f"dimension {max(len(a), len(b)) - k}")
    return f"shapes {list(a)} and {list(b)} do not fit"


def not_castable(dtype: object, to: object) -> str:
    """A result that memory of another dtype does not take."""
    return f"result type {scalar_name(dtype)} can't be cast to the desired output type {scalar_name(to)}"


def not_expandable(have: tuple, wanted: tuple, dtype: object = "float64") -> str:
    """A shape that does not expand to another."""
    if len(have) > len(wanted):
        return (f"expand({type_name(dtype)}{{{list(have)}}}, size={list(wanted)}): the number of sizes provided "
                f"({len(wanted)}) must be greater or equal to the number of dimensions in the tensor ({len(have)})")
    k = next(k for k in range(1, len(have) + 1) if have[-k] not in (1, wanted[-k]))
    return (f"The expanded size of the tensor ({wanted[-k]}) must match the existing size ({have[-k]}) at "
            f"non-singleton dimension {len(wanted) - k}.  Target sizes: {list(wanted)}.  Tensor sizes: {list(have)}")


def stale(type_name: str, shape: tuple, producer: str, version: int, expected: int, anomaly: bool) -> str:
    """A tensor saved for backward was changed in place."""
    output = f", which is {producer}," if producer else ""
    hint = ("the backtrace further above shows the operation that failed to compute its gradient. The variable in "
            "question was changed in there or anywhere later. Good luck!") if anomaly else (
            "enable anomaly detection to find the operation that failed to compute its gradient, with "
            "autograd.set_detect_anomaly(True).")
    return ("one of the variables needed for gradient computation has been modified by an inplace operation: "
            f"[{type_name} {list(shape)}]{output} is at version {version}; expected version {expected} instead. Hint: "
            f"{hint}")


TYPE_NAMES = {"float64": "torch.DoubleTensor", "float32": "torch.FloatTensor", "float16": "torch.HalfTensor",
              "complex128": "torch.ComplexDoubleTensor", "complex64": "torch.ComplexFloatTensor",
              "int64": "torch.LongTensor", "int32": "torch.IntTensor", "int16": "torch.ShortTensor",
              "int8": "torch.CharTensor", "uint8": "torch.ByteTensor", "bool": "torch.BoolTensor"}


def step_name(node_name: str) -> str:
    """The name of a step without what says that its node is for backward.

    >>> step_name("UnbindBackward0"), step_name("MyFunctionBackward")
    ('Unbind', 'MyFunction')
    """
    return node_name.rstrip("0123456789").removesuffix("Backward")


def scalar_name(dtype: object) -> str:
    """The name PyTorch gives to a dtype in the names of its tensors.

    >>> scalar_name("float32")
    'Float'
    """
    return type_name(dtype).removeprefix("torch.").removesuffix("Tensor")


_IN_C = {"float64": "double", "float32": "float", "float16": "c10::Half", "complex128": "c10::complex<double>",
         "complex64": "c10::complex<float>", "int64": "long int", "int32": "int", "int16": "short int",
         "int8": "signed char", "uint8": "unsigned char", "bool": "bool"}


def c_name(dtype: object) -> str:
    """The name of a dtype in C++, which some messages use.

    >>> c_name("float32")
    'float'
    """
    return _IN_C.get(str(dtype), str(dtype))


def type_name(dtype: object) -> str:
    """The name PyTorch gives to the type of tensors of a dtype."""
    return TYPE_NAMES.get(str(dtype), f"torch.{str(dtype).capitalize()}Tensor")
