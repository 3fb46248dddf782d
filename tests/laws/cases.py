"""What the laws are tried on: sample calls of every op of the table, its own or derived from the domain of an
elementwise op."""
import zlib
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from fad.ir.op import Op
from fad.ops import table
from fad.ops.kinds import NotDifferentiable, Zero

OPS = {name: op for name, op in sorted(table.TABLE.items()) if isinstance(op, Op) and name == op.name}


class Case(NamedTuple):
    """A call of an op: args as the op takes them, arrays and numbers; `moving` are the places a derivative may flow
    through."""

    op: Op
    args: tuple
    params: dict
    moving: tuple

    def at(self, *moved: Any) -> tuple:
        """The results at other values of the moving arguments, as a tuple."""
        args = list(self.args)
        for k, x in zip(self.moving, moved, strict=True):
            args[k] = x
        # inputs that are a means follow from the others
        args = self.op.facts.get("complete", lambda *xs: xs)(*args)
        return results(self.op(*args, **self.params))

    @property
    def point(self) -> tuple:
        return tuple([self.args[k] for k in self.moving])


def results(ys: Any) -> tuple:
    return tuple(ys) if isinstance(ys, (tuple, list)) else (ys,)


def rng_for(name: str) -> np.random.Generator:
    return np.random.default_rng(zlib.crc32(name.encode()))


def moves(x: Any) -> bool:
    """Whether an argument is an array that a derivative may flow through."""
    return isinstance(x, (np.ndarray, np.generic)) and np.asarray(x).dtype.kind in "fc"


def entries(op: Op) -> list:
    """The domain of each argument of an elementwise op."""
    domain, arity = op.facts.get("domain", (-2.0, 2.0)), op.facts.get("arity", 1)
    numbers = isinstance(domain, tuple) and len(domain) == 2 and all(isinstance(n, float) for n in domain)
    is_one = isinstance(domain, str) or numbers and domain[0] < domain[1]
    return [domain] * arity if is_one else list(domain)


def draw(entry: Any, dtype: Any, shape: tuple, rng: np.random.Generator) -> Any:
    """Values from one argument's domain; a number stands for itself."""
    if entry == "integer":
        return rng.integers(1, 5, shape)
    if entry == "bool":
        return rng.random(shape) < 0.5
    if isinstance(entry, (int, float)):
        return entry
    low, high = (-2.0, 2.0) if entry == "complex" else entry
    x = rng.uniform(low, high, shape)
    if np.dtype(dtype).kind == "c":
        x = x + 1j * rng.uniform(0.1, 0.6, shape)
    return x.astype(dtype)


SHAPES = {1: [((3,),)], 2: [((3,), (3,)), ((2, 1), (3,)), ((), (3,))], 3: [((3,), (3,), (3,)), ((2, 1), (), (3,))]}


def domain_calls(op: Op, dtype: Any, rng: np.random.Generator) -> list:
    """Argument tuples of an elementwise op, in shapes that broadcast."""
    found = entries(op)
    shapes = SHAPES.get(len(found), [((3,),) * len(found)])
    return [tuple([draw(e, dtype, shape, rng) for e, shape in zip(found, given)]) for given in shapes]


def accepts(op: Op, args: tuple) -> bool:
    """Whether NumPy (or SciPy) runs the op on arguments of these dtypes without raising them to wider ones."""
    try:
        ys = results(op.run(*args))
    except (TypeError, AttributeError):
        return False
    wanted = {np.asarray(a).dtype for a in args if moves(a)}
    return all(np.isfinite(y).all() if np.asarray(y).dtype.kind in "fc" else True for y in ys) and bool(wanted or ys)


def calls(op: Op, dtype: Any = float) -> list:
    """(args, params) to try an op on: its own samples for float64, those of its domain for any dtype."""
    rng = rng_for(op.name)
    if op.samples:
        return [sample(rng) for sample in op.samples] if dtype is float else []
    if op.kind != "elementwise":
        return []
    return [(args, {}) for args in domain_calls(op, dtype, rng) if dtype is float or accepts(op, args)]


def differentiable(op: Op) -> bool:
    """Whether the op has a derivative that is not zero, and a rule for it."""
    return op.derivative is not None and not isinstance(op.derivative, (NotDifferentiable, Zero))


def known_partials(op: Op, args: tuple) -> tuple:
    """The places of the moving arguments whose partial derivative is not declared unknown (for complex arguments,
    maybe)."""
    partials = getattr(op.derivative, "partials", None) or [None] * len(args)
    complex_case = any(np.asarray(a).dtype.kind == "c" for a in args if moves(a))

    def unknown(p: Any) -> bool:
        return hasattr(p, "reason") or (complex_case and hasattr(p, "real_only"))
    return tuple(k for k, x in enumerate(args)
                 if moves(x) and not unknown(partials[k]) and k not in op.facts.get("means", ()))


def cases(op: Op, dtype: Any = float) -> list:
    """Cases of an op whose derivative is to be tried."""
    made = [Case(op, args, params, known_partials(op, args)) for args, params in calls(op, dtype)]
    return [case for case in made if case.moving
            and any(np.asarray(y).dtype.kind in "fc" for y in case.at(*case.point))]


def direction(x: Any, rng: np.random.Generator, hermitian: bool = False) -> np.ndarray:
    """A random direction of x's shape and dtype, Hermitian where the op takes x to be."""
    x = np.asarray(x)
    d = rng.standard_normal(x.shape)
    if x.dtype.kind == "c":
        d = d + 1j * rng.standard_normal(x.shape)
    d = np.asarray(d, x.dtype)
    return (d + np.conj(np.swapaxes(d, -1, -2))) / 2 if hermitian else d


def directions(case: Case, rng: np.random.Generator) -> tuple:
    """A direction for each moving argument."""
    symmetric = case.op.facts.get("hermitian", ())
    return tuple([direction(x, rng, k in symmetric) for k, x in zip(case.moving, case.point)])


def along(f: Callable, xs: tuple, dxs: tuple, h: float = 1e-3) -> list:
    """The derivative of f's results along dxs, by a central difference of fourth order."""
    def at(t: float) -> list:
        ys = [np.asarray(y) for y in f(*[x + t * dx for x, dx in zip(xs, dxs)])]
        return [y for y in ys if y.dtype.kind in "fc"]
    stencil = [(1, 8), (-1, -8), (2, -1), (-2, 1)]
    values = [(weight, at(k * h)) for k, weight in stencil]
    count = len(values[0][1])
    return [sum(weight * ys[k] for weight, ys in values) / (12 * h) for k in range(count)]


def disagreement(got: list, f: Callable, xs: tuple, dxs: tuple) -> str:
    """Why tangents are not the derivative of f along dxs: "" if they agree with differences at one of three steps."""
    said = ""
    for h in (1e-3, 1e-4, 1e-5):
        want = [d for d in along(f, xs, dxs, h) if d.dtype.kind in "fc"]
        assert len(got) == len(want)
        try:
            for a, b in zip(got, want):
                np.testing.assert_allclose(a, b, rtol=2e-6, atol=2e-7)
            return ""
        except AssertionError as error:
            said = said or str(error)
    return said
