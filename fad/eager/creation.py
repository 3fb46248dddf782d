"""Making tensors: from data, filled, in steps, at random."""
import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from .devices import on_cpu, required
from .dtypes import as_data, as_dtype, is_complex, is_floating_point, promote_types
from .engine import queue_callback
from .grad_mode import note_creation
from .inplace import in_place
from .promotion import default
from .registry import FUNCTIONS, add, delivered, function, sizes_of
from .state import state
from .tensor import Size, Tensor, is_floating, wrap


def leaf(a: np.ndarray, requires_grad: bool = False) -> Tensor:
    """A new leaf around an array."""
    t = note_creation(wrap(a)) if state.inference else wrap(a)
    if requires_grad:
        if not is_floating(a.dtype):
            raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
        t._rg = True
    return t


@function(method=False)
@on_cpu
def tensor(data: Any, *, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """A tensor with a copy of the data.

    >>> tensor([1, 2.5])
    tensor([1.0000, 2.5000])
    """
    return leaf(np.array(as_data(data, dtype), order="K"), requires_grad)


@function("as_tensor", "asarray", method=False)
def as_tensor(data: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """The data as a tensor, sharing memory where that is possible; a tensor is itself."""
    required(device)
    if isinstance(data, Tensor):
        return data if dtype is None else data.to(as_dtype(dtype))                   # type: ignore[attr-defined]
    return leaf(as_data(data, dtype), requires_grad)


@function(method=False)
def from_numpy(a: np.ndarray) -> Tensor:
    """A tensor sharing memory with an ndarray."""
    if not isinstance(a, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type(a).__name__})")
    return leaf(a)


@function(method=False)
def from_dlpack(x: Any) -> Tensor:
    """A tensor sharing memory with what exports DLPack."""
    return leaf(np.from_dlpack(x))


def _maker(name: str, make: Callable, doc: str) -> Callable:
    @on_cpu
    def call(*sizes: Any, size: Any = None, dtype: Any = None, requires_grad: bool = False, out: Any = None, generator: Any = None) -> Tensor:
        kind = dtype if dtype is not None else default.dtype if out is None else out._a.dtype
        a = make(sizes_of(sizes if size is None else (size,)), as_dtype(kind), generator)
        return delivered(leaf(a, requires_grad), out, name)
    call.__name__, call.__doc__ = name, doc
    return call


class Generator:
    """A source of random numbers."""

    def __init__(self, device: str = "cpu"):
        self.seed_used = 0

    @functools.cached_property
    def rng(self) -> Any:
        """NumPy's generator, whose module is loaded when it is first drawn from."""
        return np.random.default_rng()

    def manual_seed(self, seed: int) -> "Generator":
        """Start again from a seed."""
        self.seed_used, self.rng = int(seed), np.random.default_rng(int(seed) & (1 << 64) - 1)
        return self

    def seed(self) -> int:
        """Start from a seed nobody knows; it is returned."""
        self.manual_seed(int(np.random.SeedSequence().entropy) & (1 << 63) - 1)             # type: ignore[arg-type]
        return self.seed_used

    def initial_seed(self) -> int:
        """The seed last given."""
        return self.seed_used

    def get_state(self) -> Any:
        """All there is to know of where the source is."""
        return self.rng.bit_generator.state

    def set_state(self, state: Any) -> "Generator":
        """Go back to where get_state was called."""
        self.rng.bit_generator.state = state
        return self


default_generator = Generator()


def manual_seed(seed: int) -> Generator:
    """Start the default source of random numbers from a seed.

    >>> a = manual_seed(0) and FUNCTIONS["rand"](2)
    >>> bool((manual_seed(0) and FUNCTIONS["rand"](2) == a).all())
    True
    """
    return default_generator.manual_seed(seed)


def get_rng_state() -> Any:
    """Where the default source of random numbers is."""
    return default_generator.get_state()


def set_rng_state(state: Any) -> None:
    """Go back to where get_rng_state was called."""
    default_generator.set_state(state)


def source(generator: "Generator | None") -> Any:
    """The NumPy generator behind a source."""
    return (generator or default_generator).rng


def _uniform(size: tuple, dtype: np.dtype, generator: Any) -> np.ndarray:
    if dtype.kind == "c":
        return _uniform(size, np.dtype(float), generator).astype(dtype) + 1j * _uniform(size, np.dtype(float), generator).astype(dtype)
    return source(generator).random(size).astype(dtype)


def _normal(size: tuple, dtype: np.dtype, generator: Any) -> np.ndarray:
    if dtype.kind == "c":
        return ((_normal(size, np.dtype(float), generator) + 1j * _normal(size, np.dtype(float), generator)) / np.sqrt(2)).astype(dtype)
    return np.asarray(source(generator).standard_normal(size)).astype(dtype)


MAKERS = {"zeros": (lambda size, dtype, _: np.zeros(size, dtype), "Zeros of a shape."), "ones": (lambda size, dtype, _: np.ones(size, dtype), "Ones of a shape."),
          "empty": (lambda size, dtype, _: np.zeros(size, dtype), "A tensor of a shape whose values are to be written."),
          "rand": (_uniform, "Numbers drawn evenly from [0, 1)."), "randn": (_normal, "Numbers drawn from the standard normal distribution.")}
for _name, (_make, _doc) in MAKERS.items():
    add(_name, _maker(_name, _make, _doc), method=False)


@function(method=False)
@on_cpu
def full(size: Any, fill_value: Any, *, dtype: Any = None, requires_grad: bool = False, out: Any = None) -> Tensor:
    """A shape filled with one number."""
    given = as_data(fill_value, dtype)
    made = leaf(np.full(sizes_of((size,)), given, given.dtype), requires_grad)
    return made if out is None else out.copy_(made)


@function(method=False)
@on_cpu
def eye(n: int, m: "int | None" = None, *, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """Ones on the diagonal."""
    return leaf(np.eye(n, m, dtype=default.dtype if dtype is None else as_dtype(dtype)), requires_grad)


@function(method=False)
@on_cpu
def arange(start: Any, end: Any = None, step: Any = 1, *, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """start, start + step, ... below end."""
    start, end = (0, start) if end is None else (start, end)
    if not step:
        raise RuntimeError("step must be nonzero")
    if (end - start) * step < 0:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    a = np.arange(float(start) if isinstance(start, Tensor) else start, end, step)
    return leaf(a.astype(as_dtype(dtype) if dtype is not None else default.dtype if a.dtype.kind == "f" else a.dtype), requires_grad)


@function(method=False)
@on_cpu
def linspace(start: Any, end: Any, steps: int, *, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """Evenly spaced numbers from start to end."""
    return leaf(np.linspace(float(start), float(end), steps).astype(default.dtype if dtype is None else as_dtype(dtype)), requires_grad)


@function(method=False)
@on_cpu
def logspace(start: Any, end: Any, steps: int, base: float = 10.0, *, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """Powers of the base at evenly spaced exponents."""
    return leaf(np.logspace(start, end, steps, base=base).astype(default.dtype if dtype is None else as_dtype(dtype)), requires_grad)


@function(method=False)
@on_cpu
def randint(low: int, high: Any = None, size: Any = None, *, dtype: Any = np.int64, generator: Any = None, requires_grad: bool = False) -> Tensor:
    """Integers drawn evenly from [low, high)."""
    if size is None:
        low, high, size = 0, low, high
    low, high = (0, low) if high is None else (low, high)
    return leaf(np.asarray(source(generator).integers(low, high, sizes_of((size,)))).astype(as_dtype(dtype)), requires_grad)


@function(method=False)
@on_cpu
def randperm(n: int, *, generator: Any = None, dtype: Any = np.int64) -> Tensor:
    """0, 1, ..., n - 1 in random order."""
    return leaf(source(generator).permutation(n).astype(as_dtype(dtype)))


@function(method=False)
def normal(mean: Any = 0.0, std: Any = 1.0, size: Any = None, *, generator: Any = None) -> Tensor:
    """Numbers drawn from normal distributions."""
    shape = np.broadcast_shapes(getattr(mean, "shape", ()), getattr(std, "shape", ())) if size is None else sizes_of((size,))
    return std * leaf(_normal(shape, default.dtype, generator)) + mean


@function()
def bernoulli(self: Tensor, p: Any = None, *, generator: Any = None) -> Tensor:
    """1 with the given probabilities, else 0."""
    chance = self._a if p is None else p
    return leaf((source(generator).random(self._a.shape) < chance).astype(self._a.dtype))


@function()
def multinomial(input: Tensor, num_samples: int, replacement: bool = False, *, generator: Any = None) -> Tensor:
    """Indices drawn with probabilities in proportion to each row."""
    rows = input._a.reshape(-1, input._a.shape[-1])
    drawn = [source(generator).choice(rows.shape[1], num_samples, replacement, row / row.sum()) for row in rows]
    return leaf(np.asarray(drawn).reshape(*input._a.shape[:-1], num_samples))


# -- like another tensor ---------------------------------------------------------------------------------------------------------


def _like(name: str) -> None:
    make = MAKERS[name][0]

    @on_cpu
    def call(input: Tensor, *, dtype: Any = None, requires_grad: bool = False, memory_format: Any = None, layout: Any = None,
             generator: Any = None, pin_memory: bool = False) -> Tensor:
        a = make(input.shape, input.dtype if dtype is None else as_dtype(dtype), generator)
        return leaf(a, requires_grad)
    call.__name__, call.__doc__ = f"{name}_like", f"fad.{name} in the shape and dtype of a tensor."
    add(call.__name__, call, method=False)

    @on_cpu
    def new(self: Tensor, *size: Any, dtype: Any = None, requires_grad: bool = False) -> Tensor:
        return leaf(make(sizes_of(size), self._a.dtype if dtype is None else as_dtype(dtype), None), requires_grad)
    new.__name__, new.__doc__ = f"new_{name}", f"fad.{name} in the dtype of this tensor."
    setattr(Tensor, new.__name__, new)


for _name in MAKERS:
    _like(_name)


@function(method=False)
@on_cpu
def full_like(input: Tensor, fill_value: Any, *, dtype: Any = None, requires_grad: bool = False, memory_format: Any = None) -> Tensor:
    """One number in the shape and dtype of a tensor."""
    return leaf(np.full(input.shape, fill_value, input.dtype if dtype is None else as_dtype(dtype)), requires_grad)


Tensor.new_full = on_cpu(lambda self, size, fill_value, *, dtype=None, requires_grad=False: leaf(                # type: ignore[attr-defined]
    np.full(sizes_of((size,)), fill_value, self._a.dtype if dtype is None else as_dtype(dtype)), requires_grad))
Tensor.new_tensor = on_cpu(lambda self, data, *, dtype=None, requires_grad=False: tensor(                 # type: ignore[attr-defined]
    data, dtype=dtype or self._a.dtype, requires_grad=requires_grad))


def randint_like(input: Tensor, low: int, high: Any = None, *, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """Integers drawn evenly from [low, high), in the shape of a tensor."""
    return randint(low, high, input.shape, dtype=dtype or input.dtype, requires_grad=requires_grad)


FUNCTIONS["randint_like"] = randint_like

# -- drawn in place -----------------------------------------------------------------------------------------------------------------


def _drawn(name: str, draw: Callable, doc: str) -> None:
    def change(self: Tensor, *args: Any, generator: Any = None, **kwargs: Any) -> Tensor:
        a = np.asarray(draw(source(generator), self._a.shape, *args, **kwargs)).astype(self._a.dtype)
        return in_place(self, lambda old: wrap(a))
    change.__name__, change.__doc__ = name, doc
    setattr(Tensor, name, change)


_drawn("uniform_", lambda rng, shape, a=0.0, b=1.0: rng.uniform(a, b, shape), "Numbers drawn evenly from [a, b), in place.")
_drawn("normal_", lambda rng, shape, mean=0.0, std=1.0: rng.normal(mean, std, shape), "Numbers drawn from a normal distribution, in place.")
_drawn("bernoulli_", lambda rng, shape, p=0.5: rng.random(shape) < p, "1 with probability p, else 0, in place.")
_drawn("exponential_", lambda rng, shape, lambd=1.0: rng.exponential(1 / lambd, shape), "Numbers drawn from an exponential distribution, in place.")
_drawn("random_", lambda rng, shape, low=0, high=2 ** 31: rng.integers(low, high, shape), "Integers drawn evenly, in place.")
_drawn("log_normal_", lambda rng, shape, mean=1.0, std=2.0: rng.lognormal(mean, std, shape), "Numbers whose logarithms are normal, in place.")
_drawn("cauchy_", lambda rng, shape, median=0.0, sigma=1.0: median + sigma * rng.standard_cauchy(shape), "Numbers from a Cauchy distribution, in place.")
_drawn("geometric_", lambda rng, shape, p: rng.geometric(p, shape), "Numbers of trials up to the first success, in place.")


def is_tensor(x: Any) -> bool:
    """Whether x is a Tensor."""
    return isinstance(x, Tensor)


class _TensorsAreInstances(type):
    def __instancecheck__(cls, x: Any) -> bool:
        return isinstance(x, Tensor)


class _Engine:
    """What Variable._execution_engine offers."""

    queue_callback = staticmethod(queue_callback)


class Variable(metaclass=_TensorsAreInstances):
    """Deprecated: Variable(data) is a tensor around the data; write fad.tensor(data, requires_grad=...)."""

    _execution_engine = _Engine

    def __new__(cls, data: Any, requires_grad: bool = False) -> Tensor:               # type: ignore[misc]
        t = wrap(data._a if isinstance(data, Tensor) else np.asarray(data))
        t._rg = requires_grad
        return t


FUNCTIONS.update(tensor=tensor, Size=Size, manual_seed=manual_seed, Generator=Generator, get_rng_state=get_rng_state, set_rng_state=set_rng_state, is_tensor=is_tensor,
                 default_generator=default_generator, is_floating_point=is_floating_point, is_complex=is_complex, promote_types=promote_types,
                 finfo=np.finfo, iinfo=np.iinfo, inf=np.inf, nan=np.nan, pi=np.pi, initial_seed=default_generator.initial_seed)
