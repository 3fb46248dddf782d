"""fad.pytensor: Ops of functions that fad differentiates, for graphs of PyTensor and models of PyMC."""
import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...util.errors import ArgumentError, ExtentError, IndexRangeError, NoDerivativeError
from ...util.keywords import named_as_here
from ...util.lazy import optional
from .hosted import Hosted, is_moving

LENGTH = 5      # of an axis whose length PyTensor does not know, in the trace that tells the types of results


@named_as_here
def op(f: Callable, *examples: object) -> Any:
    """
    Return `f` as an Op of PyTensor, with fad's derivatives.

    Parameters
    ----------
    f : callable
        A function of NumPy arrays. It returns an array or a tuple of arrays.
    *examples : array_like, optional
        Arguments of `f`. fad learns the dtypes and ranks of the results from them. Give them if `f` takes arrays of
        certain shapes only, and the variables of PyTensor do not have these shapes in their types.

    Returns
    -------
    pytensor.graph.op.Op
        Call it with PyTensor's variables. It has a pullback and a pushforward (`L_op` and `R_op`), which have
        derivatives again.

    Raises
    ------
    ModuleNotFoundError
        If PyTensor is not installed.
    StructureError
        If the result is a dictionary or another structure. It is a `TypeError` and a `ValueError`.
    ArgumentError
        If fad cannot learn the types of the results. It is a `TypeError` and a `ValueError`.
    NoDerivativeError
        If a gradient with respect to complex numbers is asked for. It is a `TypeError` and a `NotImplementedError`.

    See Also
    --------
    fad.vjp : Compute a function and its pullback on NumPy arrays.

    Notes
    -----
    PyMC takes the Op in `pymc.Potential`, and NUTS then has exact gradients. Each kernel is compiled once.

    Examples
    --------
    >>> import numpy as np
    >>> import pytensor                                        # doctest: +SKIP
    >>> import fad
    >>> def energy(x):
    ...     return np.sum(x ** 3)
    >>> x = pytensor.tensor.dvector("x")                       # doctest: +SKIP
    >>> slope = pytensor.grad(fad.pytensor.op(energy)(x), x)   # doctest: +SKIP
    >>> pytensor.function([x], slope)(np.array([1.0, 2.0]))    # doctest: +SKIP
    array([ 3., 12.])
    """
    _pytensor()
    return _op_of(Hosted(f, "pytensor.op"), tuple([np.asarray(x) for x in examples]))


def _op_of(hosted: Hosted, examples: tuple = ()) -> Any:
    return _op_class()(hosted, examples)


@functools.cache
def _op_class() -> Any:
    """The class of Ops, made when PyTensor is there."""
    base, graph = _pytensor("pytensor.graph.op"), _pytensor("pytensor.graph.basic")
    pt, gradient = _pytensor("pytensor.tensor"), _pytensor("pytensor.gradient")

    class FadOp(base.Op):                                     # type: ignore[name-defined]
        """Calls a function of fad's."""

        def __init__(self, hosted: Hosted, examples: tuple):
            self.hosted, self.examples = hosted, examples
            super().__init__()

        def make_node(self, *inputs: object) -> Any:
            """The types of the results come from a trace."""
            given = [pt.as_tensor_variable(x) for x in inputs]
            models = self.examples or [_model(x.type) for x in given]
            types = _types(self.hosted, models, bool(self.examples))
            results = [pt.tensor(dtype=str(dtype), shape=(None,) * rank) for dtype, rank in types]
            return graph.Apply(self, given, results)

        def perform(self, node: Any, inputs: Sequence, output_storage: Any) -> None:
            """Run the kernel."""
            for place, value, told in zip(output_storage, self.hosted(inputs), node.outputs):
                if (str(value.dtype), value.ndim) != (told.type.dtype, told.type.ndim):
                    raise ArgumentError(f"fad.pytensor.op was told of a result of {told.type}, and got {value.dtype} "
                                        f"with {value.ndim} axes", do="give examples: fad.pytensor.op(f, *examples)")
                place[0] = value

        def connection_pattern(self, node: Any) -> list:
            """Integers have no derivatives."""
            return [[is_moving(x) and is_moving(y) for y in node.outputs] for x in node.inputs]

        def pullback(self, inputs: Sequence, outputs: Sequence, cotangents: Sequence) -> list:
            """The cotangents of the inputs, by an Op."""
            wanted, moving = _moving(inputs), _moving(outputs)
            given = [outputs[k].zeros_like() if _is_disconnected(cotangents[k]) else cotangents[k] for k in moving]
            found = _op_of(self.hosted.pulled(len(inputs), wanted, moving))(*inputs, *given, return_list=True)
            by_place = dict(zip(wanted, found))
            return [by_place[k] if k in by_place else gradient.DisconnectedType()() for k in range(len(inputs))]

        def pushforward(self, inputs: Sequence, outputs: Sequence, tangents: Sequence) -> list:
            """The tangents of the results, by an Op."""
            wanted = tuple([k for k in _moving(inputs) if not _is_disconnected(tangents[k])])
            moving = _moving(outputs)
            pushed = _op_of(self.hosted.pushed(len(inputs), wanted, moving))
            found = pushed(*inputs, *[tangents[k] for k in wanted], return_list=True)
            by_place = dict(zip(moving, found))
            return [by_place[k] if k in by_place else gradient.DisconnectedType()() for k in range(len(outputs))]

        def __reduce__(self) -> tuple:
            return _op_of, (self.hosted, self.examples)

        def __str__(self) -> str:
            return repr(self.hosted)

    if not hasattr(base.Op, "pullback"):                      # PyTensor 2
        FadOp.L_op = FadOp.pullback                           # type: ignore[attr-defined]
        FadOp.R_op = _r_op                                    # type: ignore[attr-defined]
    return FadOp


def _r_op(op: Any, inputs: Sequence, tangents: Sequence) -> list:
    """pushforward as PyTensor 2 calls it, with None for what is not connected."""
    outputs = op.make_node(*inputs).outputs
    return [None if _is_disconnected(x) else x for x in op.pushforward(inputs, outputs, tangents)]


def _is_disconnected(x: Any) -> bool:
    return x is None or type(x.type).__name__ in ("DisconnectedType", "NullType")


def _moving(variables: Sequence) -> tuple:
    """The places of those that have derivatives."""
    if any(x.dtype.startswith("complex") for x in variables):
        raise NoDerivativeError("fad.pytensor.op has no derivatives for complex numbers",
                                why="PyTensor has no convention for them", do="pass real and imaginary parts")
    return tuple([k for k, x in enumerate(variables) if is_moving(x)])


def _model(kind: Any) -> Any:
    """An array of a type of PyTensor's."""
    return np.ones([LENGTH if n is None else n for n in kind.shape], kind.dtype)


def _types(hosted: Hosted, models: Sequence, is_given: bool) -> tuple:
    try:
        return hosted.results(models).types
    except (ExtentError, IndexRangeError) as error:
        if is_given:
            raise
        raise ArgumentError("fad.pytensor.op cannot tell the types of the results", why=str(error.what),
                            do="give examples of the arguments: fad.pytensor.op(f, *examples)") from error


def _pytensor(module: str = "pytensor") -> Any:
    return optional(module, "fad.pytensor", "PyTensor", "'fad-jit[pytensor]'")
