"""Reverse mode for an op that has only a forward rule: the rule is linear in the tangents, so its own reverse sweep is its transpose."""
from typing import Any

from ..ir.op import Op
from ..util.errors import NoDerivativeError


def pullback_by_transposition(op: Op, gs: tuple, ys: tuple, xs: tuple, params: dict, needs: tuple) -> tuple:
    """The cotangents that the transpose of op's jvp rule gives."""
    raise NoDerivativeError(f"{op.name} has no reverse-mode rule")


__all__ = ["pullback_by_transposition", "Any"]
