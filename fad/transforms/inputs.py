"""Inputs of a transformed Func: those of the original, with extents of their own."""
from typing import Any

from ..ir.build import Builder
from ..ir.graph import Func, Var
from ..ir.types import Type
from ..ir.walk import Environment


def renamed(t: Type, env: Environment) -> Type:
    """The type with its extents as the environment binds them."""
    return Type(t.dtype, tuple(getattr(env.read(n), "var", n) if isinstance(n, Var) else n for n in t.shape), t.weak)


def copy_inputs(builder: Builder, func: Func, env: Environment) -> list:
    """Inputs of the new Func for those of func, bound in env with their extents.

    A Func of a trace within a trace has extents of the program around it, which stay what they are.
    """
    values: list[Any] = []
    for var in func.inputs:
        for n in var.type.shape:
            if isinstance(n, Var) and n not in env and not _is_outer(builder, n):
                new = builder.dim(n.hint, n.name)
                env[n] = builder.value_of(new)
        value = builder.input(renamed(var.type, env), var.name)
        env[var] = value
        values.append(value)
    return values


def _is_outer(builder: Builder, n: Var) -> bool:
    return builder.parent is not None and builder.parent.sees(n)
