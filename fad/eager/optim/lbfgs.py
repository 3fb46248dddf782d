"""LBFGS."""
import math
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from ..tensors.state import changed
from .optimizer import Optimizer, check, write

MOST_STEPS = 25                                              # that a line search tries


class LBFGS(Optimizer):
    """Limited-memory BFGS (Nocedal & Wright, chapter 7); step takes a closure that computes the loss and its gradients.

    line_search_fn="strong_wolfe" looks for a step that fulfils the strong Wolfe conditions, by cubic interpolation.
    """

    def __init__(self, params: Iterable, lr: float = 1, max_iter: int = 20, max_eval: "int | None" = None,
                 tolerance_grad: float = 1e-7,
                 tolerance_change: float = 1e-9, history_size: int = 100, line_search_fn: "str | None" = None):
        check(lr=lr)
        super().__init__(params, {"lr": lr, "max_iter": max_iter, "max_eval": max_eval or max_iter * 5 // 4,
                                  "tolerance_grad": tolerance_grad, "tolerance_change": tolerance_change,
                                  "history_size": history_size, "line_search_fn": line_search_fn})
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")

    def _gradient(self) -> np.ndarray:
        return np.concatenate([(np.zeros(p._a.size) if p._g is None else p._g._a).reshape(-1)
                               for p in self.param_groups[0]["params"]])

    def _values(self) -> np.ndarray:
        return np.concatenate([p._a.reshape(-1) for p in self.param_groups[0]["params"]])

    def _place(self, x: np.ndarray) -> None:
        start = 0
        for p in self.param_groups[0]["params"]:
            write(p, x[start:start + p._a.size].reshape(p._a.shape))
            start += p._a.size

    def step(self, closure: Callable) -> Any:                                     # type: ignore[override]
        """Up to max_iter steps."""
        def evaluate(x: np.ndarray) -> tuple:
            self._place(x)
            with changed(grad=True):
                value = closure()
            return float(value), self._gradient(), value
        group, memory = self.param_groups[0], self.state["memory"]
        with changed(grad=False):
            x = self._values()
            f, g, first = evaluate(x)
            evaluations = 1
            for _k in range(group["max_iter"]):
                if np.abs(g).max(initial=0) <= group["tolerance_grad"] or evaluations >= group["max_eval"]:
                    break
                d = self._direction(g, memory)
                slope = float(g @ d)
                if slope > -group["tolerance_change"]:
                    break
                t = min(1.0, 1.0 / np.abs(g).sum()) * group["lr"] if not memory.get("s") else group["lr"]
                if group["line_search_fn"] == "strong_wolfe":
                    (t, f_new, g_new, _), used = _wolfe(evaluate, x, t, d, f, g, slope)
                else:
                    (f_new, g_new, _), used = evaluate(x + t * d), 1
                evaluations += used
                self._remember(memory, t * d, g_new - g, group["history_size"])
                moved, changed_by = np.abs(t * d).max(), abs(f_new - f)
                x, f, g = x + t * d, f_new, g_new
                if moved <= group["tolerance_change"] or changed_by < group["tolerance_change"]:
                    break
            self._place(x)
        return first

    @staticmethod
    def _remember(memory: dict, s: np.ndarray, y: np.ndarray, size: int) -> None:
        if s @ y > 1e-10:
            memory["s"] = [*memory.get("s", []), s][-size:]
            memory["y"] = [*memory.get("y", []), y][-size:]

    @staticmethod
    def _direction(g: np.ndarray, memory: dict) -> np.ndarray:
        """Minus the inverse Hessian's approximation times g: the two-loop recursion."""
        q, pairs, weights = -g, list(zip(memory.get("s", []), memory.get("y", []))), []
        for s, y in reversed(pairs):
            a = (s @ q) / (y @ s)
            q = q - a * y
            weights.append(a)
        if pairs:
            s, y = pairs[-1]
            q = q * ((s @ y) / (y @ y))
        for (s, y), a in zip(pairs, reversed(weights)):
            q = q + s * (a - (y @ q) / (y @ s))
        return q


class Point(NamedTuple):
    """A step along the direction: how far, the value there, its gradient, and its slope along the direction."""

    t: float
    f: float
    g: np.ndarray
    slope: float


def _wolfe(evaluate: Callable, x: np.ndarray, t: float, d: np.ndarray, f: float, g: np.ndarray,
           slope: float) -> "tuple[Point, int]":
    """A step along d with enough decrease and a flat enough slope (Nocedal & Wright, algorithms 3.5 and 3.6), and how
    many evaluations it took.

    Steps are chosen by cubic interpolation, as in minFunc, which PyTorch's line search follows too.
    """
    def at(t: float) -> Point:
        f, g, _ = evaluate(x + t * d)
        return Point(t, f, g, float(g @ d))
    start = Point(0.0, f, g, slope)
    pair, used, found = _bracket(at, start, t)
    return (pair[0], used) if found else _zoom(at, start, pair, used, float(np.abs(d).max()))


def _steep(p: Point, start: Point) -> bool:
    """Whether a step brings too little."""
    return p.f > start.f + 1e-4 * p.t * start.slope


def _flat(p: Point, start: Point) -> bool:
    return abs(p.slope) <= -0.9 * start.slope


def _bracket(at: Callable, start: Point, t: float) -> "tuple[list, int, bool]":
    """Two steps with a good one between them, evaluations, and whether one of them is it."""
    before, now = start, at(t)
    for k in range(MOST_STEPS):
        if _steep(now, start) or k > 1 and now.f >= before.f:
            return [before, now], k + 1, False
        if _flat(now, start):
            return [now], k + 1, True
        if now.slope >= 0:
            return [before, now], k + 1, False
        farther = _least(before, now, now.t + 0.01 * (now.t - before.t), now.t * 10)
        before, now = now, at(farther)
    return [start, now], MOST_STEPS + 1, False


def _zoom(at: Callable, start: Point, pair: list, used: int, length: float) -> "tuple[Point, int]":
    """The good step between two."""
    pair = sorted(pair, key=lambda p: p.f)                                  # the better one first
    low, high = pair[0], pair[1]
    was_close = False
    first, second = sorted((low, high), key=lambda p: p.t)
    while used <= MOST_STEPS and abs(second.t - first.t) * length >= 1e-9:
        t = _least(low, high, first.t, second.t)
        margin = 0.1 * (second.t - first.t)
        close = min(second.t - t, t - first.t) < margin
        if close and (was_close or t >= second.t or t <= first.t):
            t = second.t - margin if abs(t - second.t) < abs(t - first.t) else first.t + margin
            close = False
        was_close = close
        new = at(t)
        used += 1
        if _steep(new, start) or new.f >= low.f:
            low, high = sorted((low, new), key=lambda p: p.f)
        else:
            if _flat(new, start):
                return new, used
            low, high = new, low if new.slope * (high.t - low.t) >= 0 else high
        first, second = sorted((low, high), key=lambda p: p.t)
    return low, used


def _least(a: Point, b: Point, low: float, high: float) -> float:
    """The place where the cubic through two points with their slopes is least, within bounds."""
    a, b = (a, b) if a.t <= b.t else (b, a)
    mean = a.slope + b.slope - 3 * (a.f - b.f) / (a.t - b.t)
    square = mean * mean - a.slope * b.slope
    if square < 0:
        return (low + high) / 2
    root = math.sqrt(square)
    return min(max(b.t - (b.t - a.t) * ((b.slope + root - mean) / (b.slope - a.slope + 2 * root)), low), high)
