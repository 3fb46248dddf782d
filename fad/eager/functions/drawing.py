"""Tensors drawn at random, new ones and in place."""
from collections.abc import Callable

import numpy as np

from ...util.array import ArrayOrNumber, DTypeLike
from ..graph.inplace import in_place
from ..tensors.dtypes import as_dtype, on_cpu
from ..tensors.errors import refuse_if, scalar_name
from ..tensors.generators import Generator, default_generator, manual_seed, source
from ..tensors.generators import normal as standard_normal
from ..tensors.promotion import default
from ..tensors.tensor import Tensor, wrap
from .creation import creating, leaf
from .registry import FUNCTIONS, delivered, function, sizes_of


def _below(low: object, high: object) -> None:
    refuse_if(low >= high, f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")


@creating
def randint(low: object = 0, high: object = None, size: object = None, *, dtype: DTypeLike,
            generator: object = None) -> np.ndarray:
    """Integers drawn evenly from [low, high)."""
    if size is None:
        low, high, size = 0, low, high
    low, high = (0, low) if high is None else (low, high)
    _below(low, high)
    return np.asarray(source(generator).integers(low, high, sizes_of((size,)))).astype(dtype or np.int64)


@creating
def randperm(n: int, *, dtype: DTypeLike, generator: object = None) -> np.ndarray:
    """0, 1, ..., n - 1 in random order."""
    refuse_if(n < 0, f"Trying to create tensor with negative dimension {n}: [{n}]")
    return source(generator).permutation(n).astype(dtype or np.int64)


@function(method=False)
@on_cpu
def normal(mean: ArrayOrNumber = 0.0, std: ArrayOrNumber = 1.0, size: object = None, *, generator: object = None,
           dtype: object = None, requires_grad: bool = False, out: object = None) -> Tensor:
    """Numbers drawn from normal distributions."""
    refuse_if(isinstance(std, Tensor) and (std._a.real < 0).any(), "normal expects all elements of std >= 0.0")
    if not isinstance(std, Tensor) and std < 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std:g}")
    shape = (np.broadcast_shapes(getattr(mean, "shape", ()), getattr(std, "shape", ())) if size is None
             else sizes_of((size,)))
    kind = as_dtype(dtype) if dtype is not None else next((t._a.dtype for t in (mean, std) if isinstance(t, Tensor)),
                                                          default.dtype)
    a = standard_normal(shape, kind, generator)
    for operand, combine in ((std, np.multiply), (mean, np.add)):
        a = combine(a, operand._a if isinstance(operand, Tensor) else operand)
    return delivered(leaf(np.asarray(a, kind), requires_grad), out, "normal")


@function()
def bernoulli(self: Tensor, p: object = None, *, generator: object = None) -> Tensor:
    """1 with the given probabilities, else 0."""
    if p is None and self._a.dtype.kind != "f":
        raise NotImplementedError(f"\"bernoulli_tensor_cpu_p_\" not implemented for '{scalar_name(self._a.dtype)}'")
    return leaf(_chances(source(generator), self._a.shape, self._a if p is None else p).astype(self._a.dtype))


def _chances(rng: object, shape: tuple, p: ArrayOrNumber = 0.5) -> np.ndarray:
    """Those of a shape's elements that came to pass."""
    chance = p._a if isinstance(p, Tensor) else np.asarray(p)
    if chance.size and not ((chance >= 0) & (chance <= 1)).all():
        raise RuntimeError("Expected p_in >= 0 && p_in <= 1 to be true, but got false." if chance.ndim
                           or isinstance(p, Tensor)
                           else f"bernoulli_ expects p to be in [0, 1], but got p={p:g}")
    return rng.random(shape) < chance


def randint_like(input: Tensor, low: int, high: object = None, *, dtype: DTypeLike = None, requires_grad: bool = False,
                 **options: object) -> Tensor:
    """Integers drawn evenly from [low, high), in the shape of a tensor."""
    low, high = (0, low) if high is None else (low, high)
    return randint(low, high, tuple(input.shape), dtype=dtype or input.dtype, requires_grad=requires_grad, **options)


FUNCTIONS.update(randint_like=randint_like, manual_seed=manual_seed, Generator=Generator,
                 get_rng_state=default_generator.get_state, set_rng_state=default_generator.set_state,
                 default_generator=default_generator, initial_seed=default_generator.initial_seed,
                 seed=default_generator.seed)

# -- in place ----------------------------------------------------------------------------------------------------------


def _drawn(name: str, draw: Callable, doc: str, sensible: "Callable | None" = None) -> None:
    def change(self: Tensor, *args: object, generator: object = None, **kwargs: object) -> Tensor:
        if sensible is not None:
            wrong = sensible(*args, **kwargs)
            refuse_if(wrong, wrong)
        a = np.asarray(draw(source(generator), self._a.shape, *args, **kwargs)).astype(self._a.dtype)
        return in_place(self, lambda old: wrap(a))
    change.__name__, change.__doc__ = name, doc
    setattr(Tensor, name, change)


_drawn("uniform_", lambda rng, shape, a=0.0, b=1.0: rng.uniform(a, b, shape),
       "Numbers drawn evenly from [a, b), in place.",
       lambda a=0.0, b=1.0: a > b and f"uniform_ expects to return a [from, to) range, but found from={a:g} > to={b:g}")
_drawn("normal_", lambda rng, shape, mean=0.0, std=1.0: rng.normal(mean, std, shape),
       "Numbers drawn from a normal distribution, in place.",
       lambda mean=0.0, std=1.0: std < 0 and f"normal expects std >= 0.0, but found std {std:g}")
_drawn("bernoulli_", _chances, "1 with probability p (a number, or a tensor of them), else 0, in place.")


def random_(self: Tensor, low: object = None, high: object = None, *, generator: object = None) -> Tensor:
    """Integers drawn evenly, in place: from [low, high), [0, low), or all >= 0 that the dtype holds exactly."""
    if high is None:
        dtype = self._a.dtype
        largest = (1 if dtype.kind == "b" else 2 ** (np.finfo(dtype).nmant + 1) if dtype.kind == "f"
                   else int(np.iinfo(dtype).max))
        low, high = (0, low) if low is not None else (0, largest + 1)
    _below(low, high)
    a = np.asarray(source(generator).integers(low, high - 1, self._a.shape, endpoint=True)).astype(self._a.dtype)
    return in_place(self, lambda old: wrap(a))


Tensor.random_ = random_
