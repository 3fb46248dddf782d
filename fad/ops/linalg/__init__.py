"""Linear algebra: ops on stacked matrices (..., m, n), real and complex, with their derivatives and the sources of
those."""
from ...ir.op import Op
from . import determinants, factorizations, functions, singular, solve, spectral

_ROOMS = (solve, determinants, factorizations, spectral, singular, functions)
OPS: dict[str, Op] = {value.name: value for room in _ROOMS for value in vars(room).values() if isinstance(value, Op)}
__all__ = ["OPS", "determinants", "factorizations", "functions", "singular", "solve", "spectral"]
