"""Inputs of a transformed Func: those of the original, with extents of their own."""
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ..ir import stack
from ..ir.build import Builder, as_extent, building
from ..ir.graph import Func, Var
from ..ir.op import registry
from ..ir.types import Type
from ..ir.walk import Environment
from ..util.array import AnyArray


def zeros_like(x: AnyArray) -> AnyArray:
    """Zeros in the shape and dtype of x."""
    return registry["nothing_like"](x)


def dense(d: "AnyArray | None", x: AnyArray) -> AnyArray:
    """The tangent or cotangent d of x; None stands for zeros."""
    return zeros_like(x) if d is None else d


def renamed(t: Type, env: Environment) -> Type:
    """The type with its extents as the environment binds them."""
    return Type(t.dtype, tuple([as_extent(env.read(n)) for n in t.shape]), t.weak)


def bind_arguments(func: Func, args: Sequence) -> Environment:
    """An environment in which func's inputs (and with them its extents) are these arguments."""
    env = Environment()
    for var, value in zip(func.inputs, args, strict=True):
        env.bind_input(var, value)
    return env


def copy_inputs(builder: Builder, func: Func) -> list:
    """Inputs of the new Func for those of func.

    A Func traced within another trace has extents of the program around it, which stay what they are.
    """
    env = Environment()
    values: list[Any] = []
    for var in func.inputs:
        for n in var.type.shape:
            if isinstance(n, Var) and n not in env and not builder.sees(n):
                env[n] = builder.value_of(builder.dim(n.hint, n.name))
        values.append(builder.input(renamed(var.type, env), var.name, var.hint))
    return values


@contextmanager
def standing_alone(func: Func, suffix: str) -> Iterator[tuple]:
    """A builder for a Func made from func, with inputs like func's: (builder, values of the inputs)."""
    with building(f"{func.name}_{suffix}", region=bool(stack.builders())) as builder:
        yield builder, copy_inputs(builder, func)
