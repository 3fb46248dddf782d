"""Results of several parts, by PyTorch's names."""
from collections import namedtuple
from typing import Any

RESULTS = {  # what there is of each: its parts, and what they are
    "Extreme": ("values indices", "The result of max, min, sort, topk and their like along a dimension."),
    "Bounds": ("min max", "The result of aminmax."),
    "QR": ("Q R", "The factors of qr."),
    "Inverted": ("inverse info", "An inverse and, for each matrix, 0 where nothing went wrong."),
    "Cholesky": ("L info", "A Cholesky factor and, for each matrix, 0 where nothing went wrong."),
    "Solved": ("result info", "A solution and, for each matrix, 0 where nothing went wrong."),
    "LeastSquares": ("solution residuals rank singular_values", "The solution of least squares, and more of it.")}


def _result(name: str) -> Any:
    fields, doc = RESULTS[name]
    made: Any = namedtuple(name, fields, module=__name__)                                    # type: ignore[misc]
    made.__doc__ = doc
    return made


Extreme, Bounds, QR, Inverted, Cholesky, Solved, LeastSquares = map(_result, RESULTS)
