"""The Tensor: an ndarray with a place in the graph. The other files of this room attach its methods, from tables."""
import math
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from ...util.nearest import MissingName, of_numpy

SAME = object()
subclassed: "list[Callable]" = []                 # set by overrides.py: is told of each subclass of Tensor


class Size(tuple):
    """The shape of a tensor: a tuple that prints as PyTorch's does.

    >>> Size((2, 3)), Size((2, 3)).numel()
    (torch.Size([2, 3]), 6)
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return f"torch.Size([{', '.join(map(str, self))}])"

    def numel(self) -> int:
        """The number of elements."""
        return math.prod(self)

    def __getitem__(self, k: object) -> Any:
        part = tuple.__getitem__(self, k)
        return Size(part) if k.__class__ is slice else part

    def __add__(self, other: object) -> "Size":
        return Size(tuple(self) + tuple(other))

    def __mul__(self, times: object) -> "Size":
        return Size(tuple(self) * times)

    __rmul__ = __mul__

    def __reduce__(self) -> tuple:
        return Size, (tuple(self),)


class Extra:
    """Attributes that few tensors have: hooks, a tangent, the wish to keep a gradient."""

    __slots__ = ("hooks", "accumulated", "retains", "tangent", "inference", "warned", "name", "grad_dtype")

    def __init__(self) -> None:
        self.hooks: dict | None = None                  # of a leaf: id -> hook
        self.accumulated: dict | None = None            # hooks that run when .grad has been accumulated
        self.retains = False
        self.tangent: Tensor | None = None
        self.inference = False
        self.warned = False
        self.name: str | None = None
        self.grad_dtype: Any = SAME             # the dtype of .grad: SAME as the tensor's, another one, or None for any


class Default:
    """The dtype of new tensors of real numbers."""

    dtype = np.dtype(np.float64)


default = Default()


class Tensor:
    """An array that remembers how it was computed.

    Make one with `fad.tensor` or with the other constructors of PyTorch's names (`zeros`, `randn`, `from_numpy`, ...).
    Its methods are those of PyTorch's tensors on the CPU.

    Attributes
    ----------
    grad : Tensor or None
        The gradient that `backward` accumulated.
    grad_fn : Node or None
        The operation that made the tensor; None for a leaf.
    requires_grad : bool
        Whether operations with the tensor are recorded.

    Examples
    --------
    >>> import fad
    >>> x = fad.tensor([1.0, 2.0], requires_grad=True)
    >>> (x ** 2).sum().backward()
    >>> x.grad
    tensor([2., 4.])
    """

    # Slots: _a the ndarray; _fn, _nr the node that made it and which of its results it is; _rg whether a leaf requires
    # a gradient; _vc the version counter, shared by views; _view how it views another tensor; _g the gradient; _x what
    # few tensors have; _acc a weak reference to the node that accumulates into _g.

    _a: Any
    _fn: Any
    _nr: int
    _rg: bool
    _vc: Any
    _view: Any
    _g: Any
    _x: "Extra | None"
    _acc: Any

    __slots__ = ("_a", "_fn", "_nr", "_rg", "_vc", "_view", "_g", "_x", "_acc", "__dict__", "__weakref__")
    __fad_level__ = 1
    __array_priority__ = 1000

    def __new__(cls, data: object = (), *args: int, **kwargs: object) -> "Tensor":
        self = object.__new__(cls)
        if isinstance(data, Tensor):
            given = data._a
        elif isinstance(data, (int, np.integer)):                                    # Tensor(2, 3): of this size
            given = np.zeros((data, *args), default.dtype)
        else:
            given = np.asarray(data) if isinstance(data, np.ndarray) else np.asarray(data, default.dtype)
        self._a, self._fn, self._nr, self._rg, self._vc, self._view, self._x = given, None, 0, False, [0], None, None
        return self

    def __init_subclass__(cls, **options: object) -> None:
        super().__init_subclass__(**options)
        for enter in subclassed:
            enter(cls)

    def __getattr__(self, name: str) -> Any:
        if name in _UNSET:                        # slots that are filled when first needed
            return None
        raise MissingName(f"'Tensor' object has no attribute {name!r}", name, lambda: dir(Tensor), of_numpy(name))

    @property
    def extra(self) -> Extra:
        """The record of rare properties, made now if there is none."""
        if self._x is None:
            self._x = Extra()
        return self._x


_UNSET = frozenset(("_g", "_x", "_acc"))
_new = object.__new__


def wrap(a: object, node: object = None, nr: int = 0) -> Tensor:
    """A new tensor around an array, which it shares: a node's result, or one that requires no gradient."""
    t: Tensor = _new(Tensor)
    t._a = a if a.__class__ is np.ndarray else np.asarray(a)
    t._fn = node
    t._nr = nr
    t._rg = node is not None
    t._vc = [0]
    t._view = t._x = None
    return t


def alias(t: Tensor, cls: type = Tensor) -> Tensor:
    """Another tensor with the same memory and version counter, outside the graph."""
    if isinstance(t, Lazy):
        mirror = lazy(t._vc.source, t._vc.way, t._vc.counter)
        if t._x is not None and t._x.inference:
            mirror.extra.inference = True
        return mirror
    other: Tensor = _new(cls)
    other._a, other._fn, other._nr, other._rg, other._vc, other._view = t._a, None, 0, False, t._vc, None
    other._x = None
    if t._x is not None and t._x.inference:
        other.extra.inference = True
    return other


class Renumbered:
    """The version counter of a tensor that left the graph by detach_: it counts on in numbers of its own, so that what
    was saved of the tensor before is known to be of another history."""

    __slots__ = ("counter",)
    START = 1 << 40

    def __init__(self, counter: list):
        self.counter = counter

    def __getitem__(self, k: int) -> int:
        return self.counter[k] + self.START

    def __setitem__(self, k: int, version: int) -> None:
        self.counter[k] = version - self.START


def is_operand(x: object) -> bool:
    """Whether operators compute with x: a tensor, a program's value, an array, a number, or what has a say."""
    return (isinstance(x, (Tensor, np.ndarray, np.generic, int, float, complex)) or bool(getattr(x, "__fad_level__", 0))
            or hasattr(type(x), "__torch_function__"))


class Mirror:
    """Elements that are those of another array, conjugated or negated, and the version counter of the tensor that has
    them: counting a change of them writes them back."""

    __slots__ = ("source", "way", "own", "counter", "seen")

    def __init__(self, source: np.ndarray, way: object, counter: list):
        self.source, self.way, self.counter = source, way, counter
        self.own, self.seen = np.empty_like(source), -1

    def read(self) -> np.ndarray:
        """The elements as they are now."""
        self.way(self.source, out=self.own)
        self.seen = self.counter[0]
        return self.own

    def __getitem__(self, k: int) -> int:
        return self.counter[k]

    def __setitem__(self, k: int, version: int) -> None:
        # what is written was read first: since the last change, or nothing was written here
        if self.seen == self.counter[0]:
            self.way(self.own, out=self.source)
        self.counter[k] = self.seen = version


class Lazy(Tensor):
    """A view whose elements are conjugated or negated when they are read, and written. To users it is a Tensor."""

    __slots__ = ()
    __torch_function__: Any = None                # no say in what functions do

    def __new__(cls, data: object = (), *args: object, **kwargs: object) -> Tensor:
        return Tensor(data)                       # what is made of the values of a lazy view has its own

    @property
    def _a(self) -> np.ndarray:                   # type: ignore[override]
        return self._vc.read()


Lazy.__name__ = Lazy.__qualname__ = "Tensor"


def lazy(source: np.ndarray, way: object, counter: list) -> Tensor:
    """A tensor outside the graph whose elements are way(source)'s, with a counter of versions."""
    t: Tensor = _new(Lazy)
    t._fn, t._nr, t._rg, t._view, t._x = None, 0, False, None, None
    t._vc = Mirror(source, way, counter)
    return t


def stored(t: Tensor) -> np.ndarray:
    """The array in memory: of a lazy view, that of what it views."""
    return t._vc.source if isinstance(t, Lazy) else t._a


def own(t: Tensor) -> None:
    """Let a tensor have its elements in memory of its own, and view nothing."""
    a = t._a.copy()
    if isinstance(t, Lazy):
        t.__class__ = Tensor
    t._a, t._vc, t._view = a, [0], None


def look_at(t: Tensor, new: Tensor) -> None:
    """Let a tensor have the elements that another one sees of its memory."""
    if isinstance(t, Lazy):
        t._vc = Mirror(stored(new), t._vc.way, t._vc.counter)
    else:
        t._a = new._a


def recount(t: Tensor) -> None:
    """Let a tensor count its changes anew, and alone."""
    if isinstance(t, Lazy):
        t._vc.counter, t._vc.seen = [0], -1
    else:
        t._vc = [0]


def held(t: Tensor) -> tuple:
    """The arrays that a tensor's elements may be read from: those of a lazy view are computed into one of its own."""
    return (t._vc.source, t._vc.own) if isinstance(t, Lazy) else (t._a,)


def way_of(t: Tensor) -> Any:
    """The function from elements stored to those of a tensor: np.conjugate or np.negative of a lazy view, else None."""
    return t._vc.way if isinstance(t, Lazy) else None


def over(a: np.ndarray, t: Tensor, counter: "list | None" = None) -> Tensor:
    """A tensor outside the graph over an array, read as t's stored elements are; counter: of versions (None: t's)."""
    if isinstance(t, Lazy):
        return lazy(a, t._vc.way, t._vc.counter if counter is None else counter)
    other = wrap(a)
    if counter is None:
        other._vc = t._vc
    return other


def raw(x: object) -> Any:
    """The array of a tensor; anything else as it is."""
    return x._a if isinstance(x, Tensor) else x


def as_tensor(x: object) -> Tensor:
    """x, in a tensor that has no history where it is none."""
    return x if isinstance(x, Tensor) else wrap(np.asarray(x))


def dense(g: "Tensor | None", x: Tensor) -> Tensor:
    """A gradient or tangent of x; None stands for zeros."""
    return wrap(np.zeros_like(x._a)) if g is None else g


def is_continuous(x: object) -> bool:
    """Whether x is a tensor of real or complex numbers."""
    return isinstance(x, Tensor) and is_floating(x._a.dtype)


def is_floating(dtype: np.dtype) -> bool:
    """Whether values of a dtype can require gradients."""
    return dtype.kind in "fc"


weak = weakref.ref
