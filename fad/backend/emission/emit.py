"""Emission: a Func as the text of a Python module that Numba compiles and a person can read.

>>> from fad.ir.build import building
>>> from fad.ops.table import TABLE as op
>>> with building("f") as b:
...     x = b.array_input(float, (5,), "x")
...     func = b.finish((op["sum"](op["sin"](x) * 2.0, axes=(0,)),))
>>> print("\\n".join(line.split("  #")[0].rstrip() for line in source(func, "f").splitlines()))
import numpy as np
from fad.kernels.vecmath import sin
<BLANKLINE>
<BLANKLINE>
def f(x):
    \"\"\"x: float64[n]; returns float64\"\"\"
    n = x.shape[0]
    total = 0.0
    for i in range(n):
        total += sin(x[i]) * 2.0
    return total
"""
import re
from collections.abc import Iterable
from typing import Any

import numpy as np

from ...ir.graph import Atom, Func, Literal, Var
from ...passes.preparation import prepared
from ..schedule.array_contraction import Home
from ..schedule.indexmap import Index
from ..schedule.loop_ir import BackendError
from ..schedule.lower import rule_of
from ..schedule.lowering import Lowering
from ..schedule.numbers import literal
from ..text.names import Names, own_name
from ..text.outline import OutlinedFunction, outlined, text_of, wrapped
from .emit_nest import NestPrinter
from .parallel import in_parts, parallel_loops
from .printer import Printer
from .vocabulary import VOCABULARY, imports
from .work import Work, work_of
from .zero_terms import mostly_zero

_CALLED = re.compile(r"(?<![.\w])([A-Za-z_]\w*)(?=\()")
_QUOTED = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"")
_MODULE = re.compile(r"(?<![.\w])(linalg|fft|sorting|filters|special|math)\.(\w+)")


def lowered(func: Func, guards: Iterable[tuple]) -> "tuple[Func, Lowering, list]":
    """The Func as it is printed, the lowering that knows its arrays, and its steps."""
    func, lowering = prepared(func), Lowering(rule_of)
    equal_extents(func, guards, lowering.views)
    return func, lowering, lowering.block(func)


def source(func: Func, name: str = "kernel", guards: Iterable[tuple] = ()) -> str:
    """The module's text. guards (as a traced function has them) say which extents are equal; the text tests that they
    are.
    """
    return _Module(func, name, guards).text()


def source_for(
    func: Func, name: str, guards: Iterable[tuple], values: Iterable, threads: int
) -> "tuple[str, Work | None]":
    """The text for arguments like these, and, where it is that of one thread, what its loops do.

    Loops that do enough run in parts on so many threads (see parallel.py). Each takes as long to compile as its nest
    does, so the others stay as they are.
    """
    module = _Module(func, name, guards)
    body, parameters, printer = module.body, module.parameters, module.printer
    loops = list(parallel_loops(printer, body, parameters)) if threads > 1 else []
    work = work_of(loops, body, parameters)
    chosen = [loop for loop, is_much in zip(loops, work.is_much(values)) if is_much]
    if chosen:
        return module.text(*in_parts(chosen, body, parameters, printer.names, threads)), None
    return module.text(), work if loops else None


class _Module:
    """A Func that is printed, and the lines of its body."""

    def __init__(self, func: Func, name: str, guards: Iterable[tuple]):
        func, self.printer, self.parameters = printed(func, name, guards)
        printer, self.name = self.printer, name
        printer.line("return " + ", ".join(_result(printer, a, k, func) for k, a in enumerate(func.outputs)))
        self.body = _unused_extents(printer.lines)
        self.head = [
            f"def {name}({', '.join(self.parameters)}):",
            f'    """{_summary(func, self.parameters, printer)}"""',
        ]

    def text(self, body: "list | None" = None, functions: Iterable[list] = ()) -> str:
        """The module's text, with these lines as its body, and these functions in front."""
        printer, lines = self.printer, self.body if body is None else body
        # messages quote lines with comments
        quoted = "\n".join(_QUOTED.sub("", line).split("  # ")[0] for line in self.body)
        modules = {m for m, _ in _MODULE.findall("\n".join(self.head + self.body))}
        *helpers, main = outlined(
            OutlinedFunction(self.name, self.parameters, lines), {*VOCABULARY, *printer.names.taken}, printer.mentioned
        )
        texts = [
            "\n".join(each) + "\n" for each in [*functions, *map(text_of, helpers), self.head + wrapped(main.lines)]
        ]
        called = ({"helper"} if helpers or functions else set()) | ({"in_parallel"} if functions else set())
        return "\n".join(imports(set(_CALLED.findall(quoted)) | called, modules)) + "\n\n\n" + "\n\n".join(texts)


def printed(func: Func, name: str, guards: Iterable[tuple] = (), kind: type = NestPrinter) -> "tuple[Func, Any, list]":
    """The Func as it is printed, the printer (of this kind) with the lines of its body, and the parameters."""
    func, lowering, steps = lowered(func, guards)
    printer = kind(lowering, Names([*VOCABULARY, name]))
    parameters = _parameters(func, printer)
    _inputs(func, printer)
    _lower_bounds(func, printer, guards)
    printer.mostly_zero = mostly_zero(func)
    printer.block(steps, func.outputs)
    return func, printer, parameters


def _parameters(func: Func, printer: Printer) -> list:
    parameters = []
    for k, v in enumerate(func.inputs):
        parameters.append(printer.names.fresh(own_name(v) or _plain(k, len(func.inputs))))
        printer.names.given[v] = parameters[-1]
    return parameters


def _plain(k: int, count: int) -> str:
    return "x" if count == 1 else "xyzuvw"[k] if count <= 6 else f"x{k}"


def _inputs(func: Func, printer: Printer) -> None:
    """The head of the function: extents by name, and checks of those that are known or appear twice."""
    for v in func.inputs:
        name, root = printer.names.given[v], v
        printer.homes[root] = Home(root, tuple(range(len(v.type.shape))))
        printer.allocated.add(root)
        printer.inputs.add(root)
    places = [(printer.names.given[v], axis, n) for v in func.inputs for axis, n in enumerate(v.type.shape)]
    for name, axis, n in sorted(places, key=lambda place: place[2] in printer.views.forms):
        _extent(printer, f"{name}.shape[{axis}]", name, axis, n)


def equal_extents(func: Func, guards: Iterable[tuple], views: Any) -> None:
    """Take the equations among extents of inputs into the forms of the integers."""
    for relation, terms, const in guards:
        form = Index.constant(const)
        for (k, axis), c in terms:
            v = func.inputs[k] if axis is None else func.inputs[k].type.shape[axis]
            form = form + views.number(v).scaled(c)
        solved = next(((v, c) for v, c in reversed(form.terms) if abs(c) == 1), None)
        if relation == "==" and solved is not None:
            v, c = solved
            rest = (form - Index.of(v).scaled(c)).scaled(-c)
            views.forms = {w: f.substitute({v: rest}) for w, f in views.forms.items()} | {v: rest}


def _extent(printer: Printer, text: str, array: str, axis: int, n: object) -> None:
    if isinstance(n, Var) and n in printer.views.forms:
        expected = printer.expressions.index(printer.views.number(n)).source
        printer.line(f"if {text} != {expected}:")
        printer.indented(
            lambda: printer.line(f"raise ValueError('{array} has another extent along axis {axis} than {expected}')")
        )
        return
    if isinstance(n, Var) and n not in printer.names.given:
        printer.line(f"{printer.names.extent(n)} = {text}")
        printer.homes[n] = Home(n, ())
        return
    expected = printer.names.given[n] if isinstance(n, Var) else str(n)
    printer.line(f"if {text} != {expected}:")
    printer.indented(
        lambda: printer.line(f"raise ValueError('{array} has another extent along axis {axis} than {expected}')")
    )


def _lower_bounds(func: Func, printer: Printer, guards: Iterable[tuple]) -> None:
    """Test what the program takes to be at least zero (an extent less a number, say)."""
    for relation, terms, const in guards:
        if relation != ">=":
            continue
        form = Index.constant(const)
        for (k, axis), c in terms:
            v = func.inputs[k] if axis is None else func.inputs[k].type.shape[axis]
            form = form + printer.views.number(v).scaled(c)
        if form.terms:
            _lower_bound(printer, form.shifted(-const), -const)


def _lower_bound(printer: Printer, form: Index, least: int) -> None:
    """Test that form >= least, written without a leading minus."""
    below, above = "<", ">="
    if all(c < 0 for _, c in form.terms):
        form, least, below, above = form.scaled(-1), -least, ">", "<="
    text = printer.expressions.index(form).source
    printer.line(f"if {text} {below} {least}:")
    printer.indented(lambda: printer.line(f"raise ValueError('this program is for {text} {above} {least}')"))


def _unused_extents(lines: list) -> list:
    """Without the extents that nothing uses."""
    kept = list(lines)
    for line in reversed(lines):
        found = re.fullmatch(r"    (\w+) = \w+\.shape\[\d\]", line)
        if found and not any(re.search(rf"\b{found[1]}\b", other) for other in kept if other is not line):
            kept = [other for other in kept if other is not line]
    return kept


def _result(printer: Printer, atom: Atom, k: int, func: Func) -> str:
    """A returned value; never an input's own array, nor that of a result before it."""
    if isinstance(atom, Literal):
        return literal(atom.value, atom.type.dtype).source
    if not atom.type.shape:
        return printer.expressions.operand(printer.views.locate(atom)).source
    name, arrays_of = printer.name(atom), printer.storage.arrays_of
    taken = {root for b in func.outputs[:k] if isinstance(b, Var) for root in arrays_of(b)}.union(printer.inputs)
    return name if taken.isdisjoint(arrays_of(atom)) else f"{name}.copy()"


def _summary(func: Func, parameters: list, printer: Printer) -> str:
    inputs = [f"{p}: {_type(v.type, printer)}" for p, v in zip(parameters, func.inputs)]
    outputs = ", ".join(_type(a.type, printer) for a in func.outputs)
    return f"{', '.join(inputs)}; returns {outputs}"


def _type(t: Any, printer: Printer) -> str:
    extents = [printer.expressions.index(printer.views.number(n)).source for n in t.shape]
    return f"{np.dtype(t.dtype).name}" + (f"[{', '.join(extents)}]" if extents else "")


__all__ = ["source", "source_for", "BackendError"]
