"""fad.torch: functions of PyTorch's tensors that fad differentiates, as an autograd.Function."""
import functools
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from ...util.errors import ArgumentError
from ...util.keywords import named_as_here
from ...util.lazy import optional
from ..derivatives.vmap import vmap
from .hosted import Hosted, HostFunction, check_arguments

DTYPES = frozenset("float32 float64 complex64 complex128 int8 int16 int32 int64 uint8 bool".split())
_OUTSIDE: list = []     # TorchFunction._called as torch.compile leaves it alone


@named_as_here
def function(f: Callable) -> "TorchFunction":
    """
    Return `f` as a function of PyTorch's tensors, with fad's derivatives.

    Parameters
    ----------
    f : callable
        A function of NumPy arrays. It returns an array or a tuple of arrays.

    Returns
    -------
    TorchFunction
        A function of tensors of the same shapes. It returns tensors. PyTorch differentiates through it, to every
        order.

    Raises
    ------
    ModuleNotFoundError
        If PyTorch is not installed.
    ArgumentError
        If a tensor is not on the CPU, is sparse, or has a dtype that NumPy has not. It is a `TypeError` and a
        `ValueError`.
    StructureError
        If an argument or the result is a dictionary or another structure. It is a `TypeError` and a `ValueError`.

    See Also
    --------
    fad.vjp : Compute a function and its pullback on NumPy arrays.

    Notes
    -----
    Tensors and arrays share their memory. fad computes derivatives of those arguments alone that PyTorch asks for.
    `torch.func`, `torch.vmap` and forward mode work.

    Examples
    --------
    >>> import numpy as np
    >>> import torch                                           # doctest: +SKIP
    >>> import fad
    >>> def energy(x):
    ...     return np.sum(x ** 3)
    >>> x = torch.tensor([1.0, 2.0], requires_grad=True)       # doctest: +SKIP
    >>> fad.torch.function(energy)(x).backward()               # doctest: +SKIP
    >>> x.grad                                                 # doctest: +SKIP
    tensor([ 3., 12.])
    """
    _torch()
    return TorchFunction(Hosted(f, "torch.function"))


class TorchFunction(HostFunction):
    """A function of PyTorch's tensors that runs compiled by fad."""

    def __init__(self, hosted: Hosted):
        super().__init__(hosted)
        self.batched: dict = {}
        if not _OUTSIDE:
            _OUTSIDE.append(_torch()._disable_dynamo(TorchFunction._called))

    def __call__(self, *args: object, **kwargs: object) -> Any:
        return self._outside(args, kwargs) if "torch._dynamo" in sys.modules else self._called(args, kwargs)

    def _called(self, args: tuple, kwargs: dict) -> Any:
        check_arguments(self.hosted.name, args, kwargs)
        torch = _torch()
        for x in args:
            if isinstance(x, torch.Tensor):
                _check_tensor(torch, x)
        wanted = tuple(k for k, x in enumerate(args) if isinstance(x, torch.Tensor) and x.requires_grad)
        return _autograd_function().apply(_Call(self, wanted if torch.is_grad_enabled() else ()), *args)

    def _outside(self, args: tuple, kwargs: dict) -> Any:
        """The same where torch.compile may be at work, which must not trace fad."""
        return _OUTSIDE[0](self, args, kwargs)

    def over_axes(self, axes: tuple) -> "TorchFunction":
        """The function of batches along these axes, one for each argument or None."""
        found = self.batched.get(axes)
        if found is None:
            name = self.hosted.name
            found = self.batched[axes] = TorchFunction(Hosted(vmap(self.hosted.f, in_axes=axes), name))
        return found


class _Call:
    """One call: PyTorch takes it from the forward pass to the backward pass."""

    def __init__(self, function: TorchFunction, wanted: tuple):
        self.function, self.wanted = function, wanted
        self.pullback: Callable | None = None

    def forward(self, inputs: tuple) -> Any:
        """The results as tensors."""
        torch, hosted = _torch(), self.function.hosted
        arrays = [_array(torch, x) for x in inputs]
        results = hosted.results(arrays)
        if self.wanted and results.moving:
            values, self.pullback = hosted.with_pullback(arrays, self.wanted)
        else:
            values = hosted(arrays)
        tensors = [torch.from_numpy(y) for y in values]
        return tensors[0] if results.is_alone else tuple(tensors)

    def backward(self, inputs: list, gs: tuple, asked: tuple, moving: tuple) -> list:
        """The cotangents of the inputs, None for those that are not asked for."""
        torch, hosted = _torch(), self.function.hosted
        if not torch.is_grad_enabled() and self.pullback is not None and asked == self.wanted:
            given = tuple([_array(torch, g) if k in moving else np.zeros(()) for k, g in enumerate(gs)])
            tensors = [torch.from_numpy(np.asarray(g)) for g in self.pullback(given)]
        else:
            pulled = TorchFunction(hosted.pulled(len(inputs), asked, moving))
            tensors = list(pulled(*inputs, *[gs[k] for k in moving]))
        by_place = dict(zip(asked, tensors))
        return [by_place.get(k) for k in range(len(inputs))]

    def push(self, inputs: list, tangents: tuple, moving: tuple, count: "int | None") -> Any:
        """The tangents of the results; count: how many these are, None for a result that stands alone."""
        given = tuple([k for k, x in enumerate(tangents) if x is not None])
        pushed = TorchFunction(self.function.hosted.pushed(len(inputs), given, moving))
        found = dict(zip(moving, pushed(*inputs, *[tangents[k] for k in given])))
        return found.get(0) if count is None else tuple([found.get(k) for k in range(count)])


@functools.cache
def _autograd_function() -> Any:
    """The autograd.Function, made when PyTorch is there."""
    torch = _torch()

    class FadFunction(torch.autograd.Function):               # type: ignore[name-defined]
        """Calls a function of fad's."""

        @staticmethod
        def forward(call: _Call, *inputs: object) -> Any:
            return call.forward(inputs)

        @staticmethod
        def setup_context(ctx: Any, inputs: tuple, output: Any) -> None:
            ctx.call, *args = inputs
            ctx.numbers = [None if isinstance(x, torch.Tensor) else x for x in args]
            tensors = [x if isinstance(x, torch.Tensor) else None for x in args]
            ctx.save_for_backward(*tensors)
            ctx.save_for_forward(*tensors)
            outputs = output if isinstance(output, tuple) else (output,)
            moves = [y.is_floating_point() or y.is_complex() for y in outputs]
            ctx.count = len(outputs) if isinstance(output, tuple) else None
            ctx.moving = tuple([k for k, is_moving in enumerate(moves) if is_moving])
            ctx.mark_non_differentiable(*[y for y, is_moving in zip(outputs, moves) if not is_moving])

        @staticmethod
        def backward(ctx: Any, *gs: Any) -> tuple:
            inputs = _inputs(ctx)
            asked = tuple(k for k, is_asked in enumerate(ctx.needs_input_grad[1:]) if is_asked)
            return None, *ctx.call.backward(inputs, gs, asked, ctx.moving)

        @staticmethod
        def jvp(ctx: Any, _: None, *tangents: Any) -> Any:
            return ctx.call.push(_inputs(ctx), tangents, ctx.moving, ctx.count)

        @staticmethod
        def vmap(info: object, in_dims: tuple, call: _Call, *inputs: object) -> tuple:
            result = call.function.over_axes(tuple(in_dims[1:]))(*inputs)
            return result, 0 if not isinstance(result, tuple) else (0,) * len(result)
    return FadFunction


def _check_tensor(torch: Any, x: Any) -> None:
    if x.device.type != "cpu":
        raise ArgumentError(f"fad.torch.function got a tensor on {x.device}", why="fad computes on the CPU",
                            do="pass x.cpu()")
    if x.layout != torch.strided:
        raise ArgumentError(f"fad.torch.function got a tensor of layout {x.layout}", do="pass x.to_dense()")
    dtype = str(x.dtype).partition(".")[2]
    if dtype not in DTYPES:
        raise ArgumentError(f"fad.torch.function got a tensor of {dtype}", why="NumPy's kernels have no such numbers",
                            do="pass x.float() or x.double()")


def _inputs(ctx: Any) -> list:
    """The arguments of the call that PyTorch has kept."""
    return [x if n is None else n for x, n in zip(ctx.saved_tensors, ctx.numbers)]


def _array(torch: Any, x: Any) -> Any:
    """The array that shares the memory of a tensor; a number as it is."""
    if not isinstance(x, torch.Tensor):
        return x
    try:
        return x.detach().resolve_conj().resolve_neg().numpy()
    except RuntimeError as error:                             # of vectorize=True and is_grads_batched=True
        raise ArgumentError("fad.torch.function got a tensor without memory of its own",
                            why=str(error).partition(";")[0],
                            do="batch with torch.vmap, torch.func.jacrev or torch.func.jacfwd") from error


def _torch() -> Any:
    return optional("torch", "fad.torch", "PyTorch", "torch")
