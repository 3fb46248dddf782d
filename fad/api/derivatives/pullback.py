"""Functions in two steps: the first runs at once, the second (a pullback, a linear map) may run many times.

The whole is traced as one program; inputs of the second step are added while the first is traced. The program is then
split by what depends on the primals alone.
"""
from collections.abc import Callable
from typing import Any

import numpy as np

from ...backend.running.delivery import delivery
from ...backend.running.executable import Program, prelude_of
from ...backend.running.runner import Runner
from ...ir.build import current
from ...ir.graph import Func
from ...ir.types import Type, type_of
from ...ir.walk import evaluate
from ...ops.numpy_api.arguments import captured
from ...passes.pipeline import optimise
from ...trace.guards.part_kinds import KINDS
from ...trace.tracing import is_data
from ...transforms.partial_evaluation import split
from ...util import tree
from ...util.array import AnyArray, ArrayOrNumber
from ...util.errors import ArgumentError, CotangentShapeError, StructureError
from ..calls.fallback import Later, as_arrays
from ..calls.leaves import level_of
from ..calls.nested import conform
from ..calls.shared_programs import OfStaged
from ..calls.staged import Staged


def later_input(model: AnyArray, name: str) -> AnyArray:
    """A further input of the program being traced, of the type of model, that is given in the second step."""
    t = type_of(model)
    root = current().root
    value = root.input(Type(t.dtype, t.shape), name)
    root.later.append(value.atom)
    return value


def later_tree(model: object, name: str) -> Any:
    """The tree model, its real and complex leaves replaced by inputs of the second step."""
    return tree.map_leaves(lambda x: later_input(x, name) if _moves(x) else x, model)


def _moves(x: ArrayOrNumber) -> bool:
    return is_data(x) and type_of(x).dtype.kind in "fc"


class TwoStepProgram(Program):
    """program(data) -> (first result, step), where step(tree) -> second result; the body returned (first, second,
    model).

    model is the tree that the second step's argument must be like: its data leaves' structure and shapes are checked.
    """

    def prepare(self) -> None:
        traced = self.traced
        self.first, self.second, self.model = traced.structure.children
        second_ends = self.first.leaves + self.second.leaves
        self.early = sum(k not in traced.statics for k in range(self.first.leaves))
        self.models = sum(k not in traced.statics for k in range(second_ends, traced.structure.leaves))
        count = len(traced.func.outputs) - traced.delivered - len(traced.written)
        outputs, left = traced.func.outputs[:count], traced.func.outputs[count:]    # left: outside, by the first step
        end = len(outputs) - self.models
        func = Func(traced.func.name, traced.func.inputs, traced.func.equations,
                    outputs[:self.early] + outputs[end:] + left + outputs[self.early:end])
        self.ends = self.early + self.models + len(left)
        head, rest = split(optimise(func), traced.later, self.ends)
        self.second_step = rest
        self.head = Runner(head, self.policy, f"{self.name}_forward")
        self.rest = Runner(rest, self.policy, f"{self.name}_pullback")
        self.prelude, self.deliver = prelude_of(traced, self.head), delivery(traced.stores)

    def fast_path(self, data: list, is_alone: bool) -> None:
        """None: its results are functions."""

    @property
    def compilations(self) -> int:
        return self.head.compilations + self.rest.compilations

    def run(self, data: list) -> tuple:
        outputs = self.head.run(self.values(data))
        value = self._tree(self.first, 0, outputs[:self.early])
        models = outputs[self.early:self.early + self.models]
        model = self._tree(self.model, self.first.leaves + self.second.leaves, models)
        residuals = list(outputs[self.ends:])
        self._leave(outputs[self.early + self.models:self.ends], data)

        def step(*arguments: object) -> Any:
            if len(arguments) != 1:
                raise ArgumentError(f"the function that fad.vjp or fad.linearize returned takes one argument, not "
                                    f"{len(arguments)}", do="give several tangents or cotangents as one tuple")
            argument, = arguments
            given, traced = fitting_leaves(argument, model)
            outputs = (evaluate(self.second_step, [captured(x) for x in residuals] + given) if traced
                       else self.rest.run(residuals + given))
            return self._tree(self.second, self.first.leaves, outputs)
        return value, step

    def _leave(self, left: tuple, data: list) -> None:
        """Change what the first step changes outside: `left` are the last outputs of the traced program."""
        for k, new in zip(self.traced.written, left):
            if k in self.written:
                (data[k] if k < len(data) else self.traced.captured[k - len(data)])[...] = new
        if self.deliver is not None:                          # stores name outputs by places in the traced program
            first = len(self.traced.func.outputs) - len(left)
            self.deliver({first + k: y for k, y in enumerate(left)}, data)

    def _tree(self, structure: tree.Structure, offset: int, leaves: tuple) -> Any:
        filled = list(leaves)
        for k in sorted(self.traced.statics):
            if offset <= k < offset + structure.leaves:
                filled.insert(k - offset, self.traced.statics[k])
        return structure.unflatten(filled)


def fitting_leaves(argument: object, model: object) -> "tuple[list, bool]":
    """Leaves of a tangent or cotangent for the real and complex leaves of model, in their dtypes. Also whether one is
    traced, so that later results belong to the program being built."""
    targets, expected = tree.flatten(model)
    leaves, structure = tree.flatten(argument)
    if structure != expected:
        raise StructureError(f"the tangent or cotangent is {structure.text()}, the value that it belongs to "
                             f"{expected.text()} (* is an array or a number)",
                             do="give it the structure of that value")
    traced = level_of(leaves) == 2
    if traced:
        leaves = conform("tangent or cotangent", argument, model)
    return [g if traced else _fitting(g, x) for g, x in zip(leaves, targets) if _moves(x)], traced


def _fitting(g: ArrayOrNumber, x: ArrayOrNumber) -> AnyArray:
    g = np.asarray(g)
    if g.shape != np.shape(x):
        raise CotangentShapeError(
            f"a tangent or cotangent of shape {g.shape} was given for a value of shape {np.shape(x)}",
            do="give it the shape of the value it belongs to")
    dtype = type_of(x).dtype
    if g.dtype.kind == "c" and dtype.kind != "c":
        raise CotangentShapeError(f"a complex tangent or cotangent was given for a real value ({dtype})")
    return g.astype(dtype) if g.shape else dtype.type(g)


class TwoStep(Staged):
    """A staged function whose programs have two steps.

    inline   inline(*args) -> (first result, step), within a program
    """

    program_class: Callable = TwoStepProgram

    def __init__(self, body: Callable, wrapped: Any, *, inline: "Callable | None" = None, **options: Any):
        super().__init__(body, wrapped, **options)
        self.inline: Callable = inline or body

    def delivered(self, tape: Any, result: Any) -> Any:
        first, second, model = result
        given, step = as_arrays(tape, model), Later(tape, second)
        return as_arrays(tape, first), lambda argument: step(*fitting_leaves(argument, given))


KINDS[TwoStep] = OfStaged()
