"""The op table, filled: importing this module defines every op. `TABLE[name]` is an op's record."""
from ..ir.op import Op, registry
from . import contract, custom, control, elementwise, faces, host, index, reduce, scan, shape, special

TABLE: dict[str, Op] = registry
__all__ = ["TABLE", "contract", "custom", "control", "elementwise", "faces", "host", "index", "reduce", "scan", "shape", "special"]
