"""The kinds of derivative an op can have. Each knows the op's derivative once and gives both modes of it.

jvp(op, ys, xs, dxs, params) -> tangents of the outputs (None: zero), where dxs holds None for inputs held fixed;
pullback(op, gs, ys, xs, params, needs) -> for each input its cotangent, None for zero, or an AddInto; gs holds None
for zero.

Rules are code over arrays: the same text runs on ndarrays, on Tensors and on values of the IR. Three words differ:
Zero (the derivative is zero), NotDifferentiable (there is none), NoRule (there is one that fad does not know); the
last two raise.

Complex: for a holomorphic op with partial p, the tangent is p * dx and the cotangent is conj(p) * g (the conjugate
Wirtinger derivative, PyTorch's convention); a cotangent of a real input of a complex op is the real part.
"""
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from numpy import ndarray

from ..ir.op import Op, registry
from ..ir.types import real_dtype, type_of
from ..util.ambient import ambient
from ..util.array import AnyArray, ArrayOrNumber
from ..util.errors import NoDerivativeError


def is_complex(x: object) -> bool:
    return type_of(x).dtype.kind == "c"


def conjugate(x: object) -> Any:
    """The complex conjugate; a real x itself."""
    if x.__class__ is ndarray:
        return x.conj() if x.dtype.kind == "c" else x
    if isinstance(x, complex):                               # a number stays one, and promotes weakly
        return x.conjugate()
    return registry["conj"](x) if is_complex(x) else x


def shape_of(x: object) -> tuple:
    return tuple(getattr(x, "shape", ()))


def same_extent(a: object, b: ArrayOrNumber) -> bool:
    """Whether two extents are one: equal ints, or one integer of the program."""
    if isinstance(a, int) and isinstance(b, int):
        return a == b
    return getattr(a, "atom", a) is getattr(b, "atom", b)


def same_shape(a: tuple, b: tuple) -> bool:
    return len(a) == len(b) and all(same_extent(m, n) for m, n in zip(a, b))


def unbroadcast(g: AnyArray, x: AnyArray) -> AnyArray:
    """The cotangent of x, given the cotangent g of x broadcast to a larger shape: a sum over the axes that
    broadcasting added or stretched."""
    shape, target = shape_of(g), shape_of(x)
    if same_shape(shape, target):
        return g
    extra = len(shape) - len(target)
    stretched = tuple(extra + k for k, n in enumerate(target)
                      if isinstance(n, int) and n == 1 and not same_extent(shape[extra + k], 1))
    axes = tuple(range(extra)) + stretched
    if axes:
        g = registry["sum"](g, axes=axes)
    if stretched:
        return registry["reshape"](g, *target)
    if not axes:                                             # equal, but not known to be so: from here on it is
        return registry["broadcast_to"](g, *target)
    return g


def match(g: AnyArray, x: AnyArray) -> AnyArray:
    """The cotangent g in x's shape and dtype (the real part, for a real x of a complex result)."""
    # most arrays already fit
    if g.__class__ is ndarray and g.shape == getattr(x, "shape", None) and g.dtype is x.dtype:
        return g
    g = unbroadcast(g, x)
    dtype = type_of(x).dtype
    have = type_of(g).dtype
    if have == dtype or dtype.kind not in "fc":
        return g
    if have.kind == "c" and dtype.kind == "f":
        g = registry["real"](g)
    return g if type_of(g).dtype == dtype else registry["cast"](g, dtype=dtype)


def spread(dy: AnyArray, y: AnyArray) -> AnyArray:
    """The tangent dy in y's shape and dtype."""
    if not same_shape(shape_of(dy), shape_of(y)):
        dy = registry["broadcast_to"](dy, *shape_of(y))
    dtype = type_of(y).dtype
    return dy if type_of(dy).dtype == dtype else registry["cast"](dy, dtype=dtype)


def add(a: Any, b: Any) -> AnyArray:
    """a + b where None is zero."""
    return b if a is None else a if b is None else a + b


def times(p: ArrayOrNumber, d: AnyArray) -> AnyArray:
    """p * d, with nothing left to do for p = 1 or -1."""
    if isinstance(p, (int, float)) and p == 1:
        return d
    if isinstance(p, (int, float)) and p == -1:
        return -d
    return d * p


_guard: Any = ambient(threading.local())


@contextmanager
def guarding(wanted: bool = True) -> Iterator[None]:
    """Within the block, a zero cotangent stays zero whatever multiplies it: for values behind a choice (see
    transforms/masks.py)."""
    outer = guarded()
    _guard.on = outer or wanted
    try:
        yield
    finally:
        _guard.on = outer


def guarded() -> bool:
    """Whether zero cotangents have to be guarded here."""
    return getattr(_guard, "on", False)


def product(d: AnyArray, p: ArrayOrNumber, singular: bool = False) -> AnyArray:
    """The tangent or cotangent d times the partial p. If `singular` (or behind a choice), p may be infinite where d is
    zero."""
    if singular or (guarded() and not isinstance(p, (int, float, complex))):
        return registry["guarded_mul"](d, p)
    return times(p, d)


class AddInto:
    """A cotangent that is zero but for a part: add(total) adds it in place of a dense array of zeros."""

    __slots__ = ("add", "zeros")

    def __init__(self, add: Callable, zeros: Callable):
        self.add, self.zeros = add, zeros

    def dense(self) -> AnyArray:
        return self.add(self.zeros())


def accumulate(total: object, g: Any) -> AnyArray:
    """total + g, where total may be None and g an AddInto."""
    if isinstance(g, AddInto):
        return g.add(g.zeros() if total is None else total)
    return g if total is None else total + g


class Zero:
    """Piecewise constant: the derivative is zero wherever it exists."""

    is_zero = True

    def jvp(self, op: Op, ys: tuple, xs: tuple, dxs: tuple, params: dict) -> tuple:
        return (None,) * len(ys)

    def pullback(self, op: Op, gs: tuple, ys: tuple, xs: tuple, params: dict, needs: tuple) -> tuple:
        return (None,) * len(xs)


class NotDifferentiable:
    """There is no derivative; the reason is told. Results that are integers or truths have none in any case."""

    def __init__(self, reason: str):
        self.reason = reason

    def jvp(self, op: Op, ys: tuple, xs: tuple, dxs: tuple, params: dict) -> tuple:
        if all(type_of(y).dtype.kind in "biu" for y in ys):
            return (None,) * len(ys)
        raise NoDerivativeError(f"{op.name} has no derivative", why=self.reason)

    def pullback(self, op: Op, gs: tuple, ys: tuple, xs: tuple, params: dict, needs: tuple) -> tuple:
        raise NoDerivativeError(f"{op.name} has no derivative", why=self.reason)


class NoRule(NotDifferentiable):
    """A derivative exists and fad has no rule for it."""

    def __init__(self, reason: str = "no rule for it has been written"):
        super().__init__(reason)


def _roomy(x: ArrayOrNumber, y: AnyArray) -> ArrayOrNumber:
    """x as a rule computes with it: small integers (which wrap around) and bools (which have no negative) in the
    precision of the result y."""
    if x.__class__ is ndarray and x.dtype.kind in "fc" or isinstance(x, (int, float, complex)):
        return x
    dtype = type_of(x).dtype
    if not (dtype.kind in "bu" or dtype.kind == "i" and dtype.itemsize <= 2) or type_of(y).dtype.kind not in "fc":
        return x
    return registry["cast"](x, dtype=real_dtype(type_of(y).dtype))


class Partials:
    """Elementwise: one partial derivative p(y, *xs) an input, a function or the number 1 or -1, None where it is zero.

    `singular` names the inputs whose partial may be infinite or nan where the function is finite (sqrt at 0), or is a
    function singular(k, xs) that tells: there a zero tangent or cotangent stays zero.
    """

    def __init__(self, *partials: Any, singular: "tuple | Callable" = ()):
        self.partials = partials
        self.singular = singular if callable(singular) else lambda k, xs: k in singular

    def partial(self, k: int, y: AnyArray, xs: tuple) -> ArrayOrNumber:
        p = self.partials[k]
        return p(y, *[_roomy(x, y) for x in xs]) if callable(p) else p

    def jvp(self, op: Op, ys: tuple, xs: tuple, dxs: tuple, params: dict) -> tuple:
        total = None
        for k, dx in enumerate(dxs):
            if dx is not None and self.partials[k] is not None:
                total = add(total, product(dx, self.partial(k, ys[0], xs), self.singular(k, xs)))
        return (None if total is None else spread(total, ys[0]),)

    def pullback(self, op: Op, gs: tuple, ys: tuple, xs: tuple, params: dict, needs: tuple) -> tuple:
        return tuple([self._cotangent(k, gs[0], ys[0], xs) if need else None for k, need in enumerate(needs)])

    def _cotangent(self, k: int, g: AnyArray, y: AnyArray, xs: tuple) -> Any:
        if self.partials[k] is None:
            return None
        p = self.partial(k, y, xs)
        return match(product(g, p if isinstance(p, (int, float)) else conjugate(p), self.singular(k, xs)), xs[k])


class LinearIn:
    """Linear in the inputs named by `args` (all but the integers): the tangent is the op of the tangents.

    transposes: for each such input a function (g, xs, **params) -> its cotangent.
    """

    def __init__(self, *transposes: Callable, args: tuple = ()):
        self.transposes = transposes
        self.args = args or tuple(range(len(transposes)))

    def jvp(self, op: Op, ys: tuple, xs: tuple, dxs: tuple, params: dict) -> tuple:
        if all(dxs[k] is None for k in self.args):
            return (None,)
        inputs = list(xs)
        for k in self.args:
            inputs[k] = registry["nothing_like"](xs[k]) if dxs[k] is None else dxs[k]
        return (op(*inputs, **params),)

    def pullback(self, op: Op, gs: tuple, ys: tuple, xs: tuple, params: dict, needs: tuple) -> tuple:
        out: list = [None] * len(xs)
        for k, transpose in zip(self.args, self.transposes):
            if needs[k]:
                out[k] = fit(transpose(gs[0], xs, **params), xs[k])
        return tuple(out)


def fit(g: "AnyArray | None", x: AnyArray) -> "AnyArray | None":
    """match, for cotangents that may be None or AddInto."""
    return g if g is None or isinstance(g, AddInto) else match(g, x)


class Multilinear(LinearIn):
    """Linear in each of its inputs: the tangent is a sum of ops, one for each input that moves."""

    def jvp(self, op: Op, ys: tuple, xs: tuple, dxs: tuple, params: dict) -> tuple:
        total = None
        for k in self.args:
            if dxs[k] is not None:
                total = add(total, op(*xs[:k], dxs[k], *xs[k + 1:], **params))
        return (None if total is None else spread(total, ys[0]),)


class Explicit:
    """jvp and pullback as given, for ops whose mathematics asks for it.

    jvp(ys, xs, dxs, **params) -> tuple of tangents; pullback(gs, ys, xs, needs, **params) -> tuple of cotangents.
    dxs and gs hold None for zero.
    """

    def __init__(self, jvp: "Callable | None", pullback: Callable):
        self._jvp, self._pullback = jvp, pullback

    def jvp(self, op: Op, ys: tuple, xs: tuple, dxs: tuple, params: dict) -> tuple:
        if self._jvp is None:
            raise NoDerivativeError(f"{op.name} has no forward-mode rule", do="use reverse mode")
        return tuple(self._jvp(ys, xs, dxs, **params))

    def pullback(self, op: Op, gs: tuple, ys: tuple, xs: tuple, params: dict, needs: tuple) -> tuple:
        return tuple(fit(g, x) for g, x in zip(self._pullback(gs, ys, xs, needs, **params), xs))
