"""The op table, filled: importing this module defines every op. `TABLE[name]` is an op's record."""
from ..ir.op import Op, registry
from . import contract, control, custom, elementwise, faces, fft, host, index, linalg, reduce, scan, shape, special

TABLE: dict[str, Op] = registry
__all__ = ["TABLE", "contract", "control", "custom", "elementwise", "faces", "fft", "host", "index", "linalg", "reduce", "scan", "shape", "special"]
