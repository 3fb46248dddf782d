"""The derivatives of a case, as the transforms make them: traced to a Func, transformed, run by the interpreter."""
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from fad.ir.check import check
from fad.ir.graph import Func
from fad.ir.walk import evaluate
from fad.trace.tracing import trace
from fad.transforms.jvp import jvp
from fad.transforms.vjp import vjp

from .cases import OPS, Case, calls, cases


class Program:
    """A Func with inputs (leading moving ones, arrays from outside, further moving ones); results before `skip` are of
    no interest."""

    def __init__(self, func: Func, lead: int, outside: list, moving: tuple, skip: int = 0):
        self.func, self.lead, self.outside, self.moving, self.skip = checked(func), lead, outside, moving, skip

    @cached_property
    def _jvp(self) -> Func:
        return checked(jvp(self.func, self.moving))

    @cached_property
    def _vjp(self) -> Func:
        return checked(vjp(self.func, self.moving))

    def _run(self, func: Func, xs: tuple, extra: tuple = ()) -> list:
        with np.errstate(all="ignore"):
            return list(evaluate(func, [*xs[:self.lead], *self.outside, *xs[self.lead:], *extra]))

    def value(self, *xs: Any) -> list:
        """The results of interest."""
        return self._run(self.func, xs)[self.skip:]

    def forward(self, xs: tuple, dxs: tuple) -> list:
        """The tangents of the real and complex results of interest."""
        tangents = self._run(self._jvp, xs, dxs)[len(self.func.outputs):]
        return tangents[len(floating_types(self.func.outputs[:self.skip])):]

    def reverse(self, xs: tuple, gs: tuple) -> list:
        """The cotangents of the moving inputs, of cotangents of the real and complex results of interest."""
        before = self.func.outputs[:self.skip]
        rest = [np.zeros(np.shape(y), a.type.dtype) for a, y in zip(before, self._run(self.func, xs) if before else ())
                if a.type.dtype.kind in "fc"]
        return self._run(self._vjp, xs, (*rest, *gs))[len(self.func.outputs):]

    def pullback(self) -> "Program":
        """The program of the cotangents, in the moving inputs and the results' cotangents."""
        further = range(len(self.func.inputs), len(self._vjp.inputs))
        return Program(self._vjp, self.lead, self.outside, (*self.moving, *further), len(self.func.outputs))


def checked(func: Func) -> Func:
    """The Func, which is well formed."""
    check(func)
    return func


def program(case: Case) -> Program:
    """The traced call of an op, as a function of its moving arguments."""
    traced = trace(case.at, list(case.point), own=True)
    count = len(case.moving)
    return Program(traced.func, count, list(traced.captured), tuple(range(count)))


@lru_cache(None)
def differentiated(name: str, dtype: type = float) -> list:
    """(case, program) of each case whose derivative is tried: traced and differentiated once for all laws."""
    return [(case, program(case)) for case in cases(OPS[name], dtype)]


@lru_cache(None)
def called(name: str) -> list:
    """(case, program) of each call in two precisions and of complex numbers: every array moves, of integers too."""
    op = OPS[name]
    made = [Case(op, args, params, tuple(k for k, a in enumerate(args) if isinstance(a, (np.ndarray, np.generic))))
            for args, params in calls(op) + calls(op, np.float32) + calls(op, complex)]
    return [(case, program(case)) for case in made]


def floating_types(atoms: Any) -> list:
    return [a for a in atoms if a.type.dtype.kind in "fc"]


def floating(ys: Any) -> list:
    """The real and complex ones among results."""
    return [np.asarray(y) for y in ys if np.asarray(y).dtype.kind in "fc"]


def inner(a: list, b: list) -> float:
    """The real inner product of two lists of arrays."""
    return float(sum(np.sum(np.real(np.conj(x) * y)) for x, y in zip(a, b, strict=True)))
