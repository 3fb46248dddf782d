"""The op table, filled: importing this module defines every op. `TABLE[name]` is an op's record."""
from ..ir.op import Op, registry
from . import core
from .override import load_all

load_all()

TABLE: dict[str, Op] = registry
__all__ = ["TABLE", "core"]
