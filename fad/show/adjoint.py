"""A function beside its derivative, with what each line costs; what %%fad and %fad_profile show."""
import timeit
from collections.abc import Callable
from typing import Any

from ..api.calls.staged import Staged, check_callable
from ..api.derivatives.derivative import grad, jit
from .columns import Column, framed, page
from .cost import cost_by_line
from .stages import chain_of, of_source, of_text

LEAST = 0.2                                                   # seconds that are measured


class SideBySide:
    """The source with the cost of each line, beside the generated derivative. A notebook shows it; str() prints it.

    cost : pairs (line of the source, its share of all element operations).
    times : seconds of one call, by name; empty where nothing was measured.
    """

    def __init__(self, title: str, sentence: str, columns: tuple, cost: list, times: dict):
        self.title, self.sentence, self.columns, self.cost, self.times = title, sentence, columns, cost, times

    @property
    def html(self) -> str:
        """One page of HTML, which needs no other file."""
        return page(self.title, self.sentence, self.columns)

    def _repr_html_(self) -> str:
        return framed(self.html, 460)

    def __str__(self) -> str:
        source = self.columns[0]
        width = max(map(len, source.margin), default=0)
        lines = [f"{head.rjust(width)}  {line}" for head, (line, _) in zip(source.margin, source.lines)]
        return "\n".join([self.title, self.sentence, *lines])

    __repr__ = __str__


def beside(f: Callable, args: tuple, kwargs: "dict | None" = None, measure: bool = False) -> SideBySide:
    """A function beside its derivative.

    f is a plain function, whose gradient is meant, or the result of a transform. With `measure`, calls are timed.

    >>> import fad, numpy as np
    >>> def f(x):
    ...     y = np.exp(x)
    ...     return np.sum(y * y)
    >>> seen = beside(f, (np.ones(10),))
    >>> [line.strip() for line, share in seen.cost], round(sum(share for _, share in seen.cost), 6)
    (['y = np.exp(x)', 'return np.sum(y * y)'], 1.0)
    """
    kwargs = kwargs or {}
    staged: Any = f if isinstance(f, Staged) else grad(check_callable(f, "stages"))
    program, data = staged.program_for(*args, **kwargs)
    cost = cost_by_line(program.runner.func, program.glance(data))
    source = of_source(chain_of(staged)[-1], [program.traced.func])
    total = sum(cost.values())
    margin = [f"{cost[of] / total:.0%}" if cost.get(of) else "" for _, of in source.lines]
    shares = [(line, cost[of] / total) for line, of in source.lines if cost.get(of)]
    text = program.runner.source(staged.kernel_name)
    times = _times(staged, args, kwargs) if measure else {}
    sentence = f"{total:,} element operations; the margin has each line's share of them."
    if times:
        sentence = ", ".join(f"{name} {_short(took)}" for name, took in times.items()) + ". " + sentence
    name = getattr(chain_of(staged)[-1], "__name__", "f")
    left = Column("Source", "Your lines, with their share of the work.", source.lines, margin)
    return SideBySide(f"{name} and fad.{staged.kernel_name}", sentence,
                      (left, of_text(text, [program.traced.func, program.runner.func])), shares, times)


def _times(staged: Staged, args: tuple, kwargs: dict) -> dict:
    """Seconds of one call: of the compiled program, of the compiled function, and of the function as Python runs it."""
    own = chain_of(staged)[-1]
    named = {f"fad.{staged.kernel_name}": jit(staged, compile="now")}
    if staged.kernel_name in ("grad", "value_and_grad", "jit"):
        named["the function, compiled"] = jit(own, compile="now")
        named["the function in NumPy"] = own
    return {name: _seconds(lambda f=f: f(*args, **kwargs)) for name, f in named.items()}


def _seconds(call: Callable) -> float:
    """The least time of a call in a few rounds of many."""
    call()
    timer = timeit.Timer(call)
    number = max(1, int(LEAST / 5 / max(timer.timeit(1), 1e-7)))
    return min(timer.repeat(5, number)) / number


def _short(took: float) -> str:
    """A time as people write it.

    >>> _short(2.5e-6), _short(0.012), _short(3.0)
    ('2.5 µs', '12.0 ms', '3.00 s')
    """
    return f"{took:.2f} s" if took >= 1.0 else f"{took * 1e3:.1f} ms" if took >= 1e-3 else f"{took * 1e6:.1f} µs"
