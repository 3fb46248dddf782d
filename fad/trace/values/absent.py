"""Errors for attributes and operations that traced values do not have."""
from collections.abc import Callable
from typing import Any

import numpy as np

from ...ir import stack
from ...ir.build import current
from ...ops.override import METHODS, OF_NUMBERS, PROPERTIES
from ...util.errors import ConcreteValueError, MissingAttributeError, OperandError, UnstageableError
from ...util.nearest import nearest

_HERE = "leave it out: arrays are where NumPy has them, and functions are differentiated, not arrays"
_OF_TENSORS = {  # methods of PyTorch's and JAX's arrays -> what is written here
    **dict.fromkeys("cuda cpu to device is_cuda requires_grad requires_grad_ grad backward retain_grad contiguous "
                    "block_until_ready numpy".split(), _HERE),
    "detach": "write fad.stop_gradient(x)", "unsqueeze": "write np.expand_dims(x, axis)",
    "permute": "write x.transpose(axes)", "view": "write x.reshape(shape)", "numel": "write x.size",
    "dim": "write x.ndim", "t": "write x.T", "float": "write x.astype(np.float32)", "double": "write x.astype(float)",
    "exp": "write np.exp(x)", "log": "write np.log(x)", "sqrt": "write np.sqrt(x)", "abs": "write np.abs(x)",
    "sin": "write np.sin(x)", "cos": "write np.cos(x)", "tanh": "write np.tanh(x)", "pow": "write x ** n",
    "norm": "write np.linalg.norm(x)", "matmul": "write x @ y", "mm": "write x @ y", "add_": "write x += y",
    "mul_": "write x *= y", "clone": "write x.copy()", "at": "write y = x.copy(); y[i] = v"}


def refuse_methods(cls: type, refuse: Callable, special: str, methods: str = "") -> None:
    """Let a class refuse these special methods, and these methods."""
    for name in [*[f"__{name}__" for name in special.split()], *methods.split()]:
        setattr(cls, name, refuse)


class Absent(AttributeError):
    """A traced value was asked for an attribute that it does not have, by hasattr perhaps: cheap, and nothing of the
    value is read.
    """


def missing_attribute(error: Absent, where: Any) -> MissingAttributeError:
    """The same in fad's words, once it has reached the caller."""
    name = error.name or ""
    what = f"a traced array or number has no attribute {name!r}"
    if any(hasattr(cls, name) for cls in (np.ndarray, np.float64, float, int, complex)):
        return MissingAttributeError(what, where=where, why="its value is not known while the function is traced",
                                     do="use NumPy's functions and methods of which fad has a record, or ask before "
                                        "the call")
    if name in _OF_TENSORS:
        return MissingAttributeError(what, where=where, why="it is a tensor's, and this is an array as NumPy has it",
                                     do=_OF_TENSORS[name])
    meant = nearest(name, [n for n in (*METHODS, *PROPERTIES, *OF_NUMBERS) if not n.startswith("_")])
    return MissingAttributeError(what, where=where, why="NumPy's arrays have none of this name either",
                                 do=f"did you mean {meant!r}?" if meant else "use NumPy's functions and methods")


def refuse_subclasses(answers: Callable, asked: str) -> None:
    """An error if an array of a subclass answers otherwise than the plain array that stands for it in the program."""
    for x in current().trace.subclass_arrays.values() if stack.builders() else ():
        if answers(x):
            raise UnstageableError(f"an array of class {type(x).__name__} may be asked for {asked}",
                                   why="the program takes it for a plain array of NumPy's",
                                   do="ask before the call, and hand the answer over as an argument")


def refuse_attribute_of_subclass(name: str) -> None:
    """An error if an array of a subclass has an attribute of this name, and plain ones have none."""
    refuse_subclasses(lambda x: hasattr(x, name) and not hasattr(np.ndarray, name), f"its {name!r}")


def times_sequence(other: object) -> OperandError:
    """The error of a product of a text or a list and what is no int."""
    if isinstance(other, (str, bytes)):
        return OperandError(f"an array is multiplied by {other!r:.40}",
                            why="only an int says how many times a text is repeated",
                            do="look for a name that holds a text there, and not a number")
    return OperandError(f"a {type(other).__name__} is multiplied by a number",
                        why="only an int says how many times a list or a tuple is repeated",
                        do="make an array of it first: np.array(...)")


def pickled(x: Any) -> ConcreteValueError:
    """The error of a pickle or another copy of an object that holds x."""
    return ConcreteValueError(
        f"a copy or a text was made of {x.describe()} as Python makes them of objects (copy, pickle)",
        why="it has no value while the function is traced",
        do="copy arrays by x.copy(), and pickle them outside the function",
    )
