"""The prelude of a program as a Python function: the calls that are made before each run of its kernel (see
ir/prelude.py).

It is written out for each program, as the fast path is (see fastcall.py):

    def prelude(a):
        r0 = f0(size=a[0].shape[0])
        if type(r0) is not array or r0.dtype != d0 or r0.shape != (a[0].shape[0],):
            unlike(0, r0)
        return [r0]
"""
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np

from ...ir.graph import Func
from ...ir.prelude import Attribute, Integer, Made, PreludeCall, Repeat, inputs_of, is_part, steps_in
from ...ir.types import LARGEST, Type
from ...util import tree
from ...util.array import ArrayOrNumber
from ...util.errors import BEYOND_MARKS, UnstageableError
from ...util.interrupts import reraise_interrupt
from .kernel_arrays import plain

_PYTHONS = {"b": bool, "f": float, "i": int, "c": complex}


class OutdatedError(UnstageableError):
    """A table from outside is another one than when the function was traced: of other columns, another length."""


class Prelude:
    """prelude(data) -> the values of the program's last inputs, drawn anew.

    Generators go back to where they were before the latest call by put_back(), if `is_reversible`: where a run may
    come to what is beyond programs.
    """

    def __init__(self, entries: list, func: Func):
        steps = steps_in(list(entries))
        self.count = len(inputs_of(list(entries)))
        self.outdated: list = []                              # whether the latest call has found another table
        self.call, self.text = _written(list(entries), self.outdated)
        self.pure = [s for s in entries if isinstance(s, PreludeCall) and s.is_pure]
        self.generators = list({id(g): g for s in steps for g in s.draws}.values())
        self.is_reversible = not all(s.is_stable for s in steps) or goes_beyond(func)
        self.states: list = []

    def __call__(self, data: object) -> list:
        if self.is_reversible:
            self.states = [(g, _state_of(g)) for g in self.generators]
        return self.call(data)

    def fits(self) -> bool:
        """Whether the program is for the tables that there are now. They are asked only if the latest call has found
        others.
        """
        if self.outdated:
            self.outdated.clear()
            with suppress(OutdatedError):
                _written(self.pure, self.outdated)[0](())
        return not self.outdated

    @contextmanager
    def reversed(self) -> Iterator[None]:
        """Undo the draws made within."""
        before, self.is_reversible = self.is_reversible, True
        try:
            yield
        finally:
            self.is_reversible = before
            self.put_back()

    def put_back(self) -> None:
        """Undo the draws of the latest call, which is made in another way."""
        for g, state in self.states:
            _put_state(g, state)
        self.states = []


def goes_beyond(func: Func) -> bool:
    """Whether a run of func may find what is beyond programs, so that the call is made anew on the tape."""
    for eqn in func.equations:
        if eqn.op.name == "check_that" and str(eqn.params["what"]).startswith(BEYOND_MARKS):
            return True
        if eqn.op.name == "pow" and eqn.outputs[0].type.dtype.kind in "iu":
            return True
        if any(map(goes_beyond, eqn.regions)):
            return True
    return False


def _state_of(g: object) -> Any:
    if isinstance(g, np.random.Generator):
        return g.bit_generator.state
    if isinstance(g, np.random.BitGenerator):
        return g.state
    if isinstance(g, np.random.RandomState):
        return g.get_state()
    return g.getstate() if isinstance(g, random.Random) and not isinstance(g, random.SystemRandom) else None


def _put_state(g: Any, state: Any) -> None:
    if isinstance(g, np.random.Generator):
        g.bit_generator.state = state
    elif isinstance(g, np.random.BitGenerator):
        g.state = state
    elif isinstance(g, np.random.RandomState):
        g.set_state(state)
    elif state is not None:
        g.setstate(state)


# -- the text --------------------------------------------------------------------------------------------------------


class _Writer:
    """Collects the lines of a prelude, and the names that they use."""

    def __init__(self, outdated: list) -> None:
        self.outdated = outdated
        self.lines: list[str] = ["def prelude(a):"]
        self.scope: dict[str, Any] = {"array": np.ndarray, "plain": plain, "flatten": tree.flatten, "stack": _stack}
        self.names: dict[Any, str] = {}  # (step, path) -> the name of the value
        self.depth = 1

    def line(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    def constant(self, x: object, prefix: str = "k") -> str:
        """The name of a constant."""
        name = f"{prefix}{len(self.scope)}"
        self.scope[name] = x
        return name

    def operand(self, x: object) -> str:
        """The text of an operand; lists are made anew at each call."""
        if isinstance(x, Integer):
            return _integer(x)
        if isinstance(x, Made):
            return self.names[x.step, x.path]
        if isinstance(x, Attribute):
            return f"{self.operand(x.owner)}.{x.name}"
        if type(x) is tuple:
            return f"({''.join(self.operand(y) + ', ' for y in x)})"
        if type(x) is list:
            return f"[{', '.join(map(self.operand, x))}]"
        if type(x) is dict:
            return f"{{{', '.join(f'{self.constant(k)}: {self.operand(v)}' for k, v in x.items())}}}"
        return repr(x) if type(x) in (int, bool, str, type(None)) else self.constant(x)


def _integer(n: object) -> str:
    if not isinstance(n, Integer):
        return str(n)
    parts = [
        f"{'' if c == 1 else f'{c} * '}" + (f"a[{k}]" if axis is None else f"a[{k}].shape[{axis}]")
        for (k, axis), c in n.terms
    ]
    return " + ".join([*parts, *([str(n.const)] if n.const or not parts else [])])


def _written(entries: list, outdated: list) -> "tuple[Callable, str]":
    """The function, and its text. outdated: where it notes that it has found another table."""
    w = _Writer(outdated)
    results = _entries(w, entries)
    w.line(f"return [{', '.join(results)}]")
    text = "\n".join(w.lines)
    exec(text, w.scope)
    return w.scope["prelude"], text


def _entries(w: _Writer, entries: list, counts: tuple = ()) -> list:
    """Lines for the entries; the names of the values, one for each input of the program."""
    results: list = []
    for entry in entries:
        results += _repeat(w, entry, counts) if isinstance(entry, Repeat) else _step(w, entry)
    return results


def _step(w: _Writer, step: PreludeCall, filled: str = "") -> list:
    """Lines for one call, and for the comparison of its results with what they were while tracing."""
    name = f"r{step.number}"
    function = (
        w.operand(step.function)
        if isinstance(step.function, Attribute)
        else w.constant(_FirstKnown(step.function, step.first) if step.first else step.function, "f")
    )
    kwargs = {k: v for k, v in step.kwargs.items() if not (filled and k == "size")}
    given = [
        *map(w.operand, step.args),
        *[f"{k}={w.operand(v)}" for k, v in kwargs.items()],
        *([f"size={filled}"] if filled else []),
    ]
    unlike = w.constant(_Unlike(step, w.outdated), "u")
    call = f"{function}({', '.join(given)})"
    if step.is_pure:
        w.line(f"try: {name} = {call}")
        w.line(f"except Exception as error: {unlike}(error)")
    else:
        w.line(f"{name} = {call}" if step.leaves else call)
        if not step.leaves:
            return []
    if step.structure.cls is None:
        w.names[step.number, (0,)] = name
    else:
        w.line(f"{name}, s = flatten({name}, {w.constant(is_part if step.is_pure else _is_generator)})")
        w.line(f"if s != {w.constant(step.structure)}: {unlike}({name})")
        for path, _, _ in step.leaves:
            w.names[step.number, path] = f"{name}_{path[0]}"
        w.line(f"[{', '.join(w.names[step.number, path] for path, _, _ in step.leaves)}] = {name}")
    for k, x in step.known.items():
        part, cls, it = w.names[step.number, (k,)], w.constant(type(x)), w.constant(x)
        w.line(f"if type({part}) is not {cls} or {part} != {it}: {unlike}({part})")
    for k, cls in step.classes.items():
        part = w.names[step.number, (k,)]
        w.line(f"if type({part}).__qualname__ != {cls!r}: {unlike}({part})")
    found = []
    for path, t, _ in step.leaves:
        if t is not None:
            _check(w, w.names[step.number, path], t, unlike, filled)
            found.append(w.names[step.number, path])
    return found


def _is_generator(x: object) -> bool:
    return isinstance(
        x, (np.random.Generator, np.random.RandomState, np.random.BitGenerator, np.random.SeedSequence)
    ) or hasattr(x, "getstate")


def _check(w: _Writer, name: str, t: Type, unlike: str, filled: str) -> None:
    """Lines that see whether a value is of its type."""
    if filled:
        return
    if t.shape:
        shape = f"({''.join(_integer(n) + ', ' for n in t.shape)})"
        w.line(
            f"if type({name}) is not array or {name}.dtype != {w.constant(t.dtype, 'd')} or {name}.shape != {shape}: "
            f"{unlike}({name})"
        )
        w.line(f"if not {name}.flags.carray: {name} = plain({name})")
    elif t.weak:
        w.line(f"if type({name}) is not {_PYTHONS[t.dtype.kind].__name__}: {unlike}({name})")
        if t.dtype.kind == "i":
            w.line(f"if not -{LARGEST} < {name} < {LARGEST}: {unlike}({name})")
    else:
        w.scope["number"] = np.generic
        w.line(f"if type({name}) is bool: {name} = {w.constant(np.bool_)}({name})")
        w.line(
            f"if not isinstance({name}, (number, array)) or {name}.ndim or {name}.dtype != {w.constant(t.dtype, 'd')}: "
            f"{unlike}({name})"
        )
        w.line(f"if type({name}) is array: {name} = {name}[()]")


def _repeat(w: _Writer, entry: Repeat, counts: tuple) -> list:
    """Lines for the steps of a loop; each of its values is an array, with the loop's count as its first extent."""
    counts = (*counts, _integer(entry.count))
    if len(entry.steps) == 1 and isinstance(entry.steps[0], PreludeCall) and entry.steps[0].is_filled:
        (step,) = entry.steps
        shape = step.leaves[0][1].shape  # type: ignore[union-attr]
        return _step(w, step, f"({''.join(f'{n}, ' for n in [counts[-1], *map(_integer, shape)])})")
    lists = [f"l{len(w.scope)}_{k}" for k in range(len(inputs_of(entry.steps)))]
    for name in lists:
        w.scope[name] = None  # the name is taken
        w.line(f"{name} = []")
    w.line(f"for _ in range({counts[-1]}):")
    w.depth += 1
    values = _entries(w, entry.steps, counts)
    for name, value in zip(lists, values):
        w.line(f"{name}.append({value})")
    if not values and not entry.steps:
        w.line("pass")
    w.depth -= 1
    types = [t for s in entry.steps for t in _types(s)]
    for name, (t, inner) in zip(lists, types):
        shape = "".join(f"{n}, " for n in [counts[-1], *inner, *map(_integer, t.shape)])
        w.line(f"{name} = stack({name}, {w.constant(t.dtype, 'd')}, ({shape}))")
    return lists


def _types(entry: PreludeCall, inner: tuple = ()) -> list:
    """The types of the values of an entry, each with the counts of the loops within."""
    if isinstance(entry, Repeat):
        return [x for s in entry.steps for x in _types(s, (*inner, _integer(entry.count)))]
    return [(t, inner) for _, t, _ in entry.leaves if t is not None]


def _stack(values: list, dtype: np.dtype, shape: tuple) -> np.ndarray:
    return np.array(values, dtype).reshape(shape)


class _Unlike:
    """Says that a call returned another kind of thing than while tracing."""

    def __init__(self, step: PreludeCall, outdated: list):
        self.step, self.outdated = step, outdated

    def __call__(self, result: object) -> None:
        name = getattr(self.step.function, "__name__", getattr(self.step.function, "name", "a function"))
        if self.step.is_pure:
            if isinstance(result, Exception):
                reraise_interrupt(result)
            self.outdated.append(self.step)
        raise (OutdatedError if self.step.is_pure else UnstageableError)(
            f"{name} returned {type(result).__name__} of another type or shape than when the function was traced",
            where=self.step.where,
            why="a program is for one type",
            do="let it return one type and shape at each call",
        )


class _FirstKnown:
    """A function whose first result is known: it was asked while tracing."""

    def __init__(self, function: Callable, first: list):
        self.function, self.first = function, list(first)
        self.__name__ = getattr(function, "__name__", "a function")

    def __call__(self, *args: object, **kwargs: object) -> ArrayOrNumber:
        return self.first.pop() if self.first else self.function(*args, **kwargs)
