"""The generated text as a tier of its own: run as plain Python it shows the mistakes of the generator without the
compiler's time."""
import ast
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import numpy as np

import fad
from fad.backend.running import cache
from fad.backend.running import compile as kernels


class _SpoilingNumPy:
    """NumPy, but for `empty`, whose elements are such that reading them before they are written shows."""

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)

    def empty(self, shape: Any, dtype: Any = np.float64) -> np.ndarray:
        kind = np.dtype(dtype).kind
        return np.full(shape, np.nan if kind in "fc" else kind == "b" or np.iinfo(dtype).max // 2, dtype)


def _kind(a: Any) -> tuple:
    """The type that Numba sees: a number of Python's and NumPy's of 64 bits are one."""
    plain = next((cls for cls, numpys in ((float, np.float64), (int, np.int64), (complex, np.complex128))
                  if type(a) in (cls, numpys)), None)
    return (plain,) if plain is not None else (type(a), getattr(a, "dtype", None), np.ndim(a))


class _Divisions(ast.NodeTransformer):
    """Divisions of numbers by zero give infinities and nan, as in compiled code."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        return ast.Call(ast.Name("_quotient", ast.Load()), [node.left, node.right], []) if isinstance(
            node.op, ast.Div) else node


def _quotient(a: Any, b: Any) -> Any:
    try:
        return a / b
    except ZeroDivisionError:
        return np.divide(a, b).item()


class PythonKernel:
    """A kernel's text, run by Python; it has what the runner asks of Numba's dispatchers."""

    def __init__(self, text: str, name: str):
        scope: dict[str, Any] = {"__name__": "text_tier", "_quotient": _quotient}
        tree = ast.fix_missing_locations(_Divisions().visit(ast.parse(text)))
        exec(compile(tree, "<generated>", "exec"), scope)
        scope["np"] = _SpoilingNumPy()
        self.function, self.kinds = scope[name], None
        self.stats = SimpleNamespace(cache_hits={})

    def __call__(self, *args: Any) -> Any:
        kinds = list(map(_kind, args))
        self.kinds = self.kinds or kinds
        # as Numba's dispatcher, which compiles for no other types any more
        if kinds != self.kinds:
            raise TypeError("No matching definition for argument type(s)")
        copies = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
        with np.errstate(all="ignore"):
            result = self.function(*args)
        for a, before in zip(args, copies):
            assert np.array_equal(a, before, equal_nan=True), "the text writes to its arguments"
        return result

    def compile(self, types: tuple) -> None:
        """Nothing is to be done."""

    def disable_compile(self) -> None:
        """Nothing is to be done."""

    def typeof_pyval(self, x: Any) -> None:
        """No types are needed."""


@contextmanager
def as_text() -> Iterator[None]:
    """Programs traced in here run as generated text, in plain Python, from their first call on."""
    load, known = cache.load, dict(kernels._kernels)
    kernels._kernels.clear()
    cache.load = lambda text, name, folder: PythonKernel(text, name)
    try:
        with fad.config.using(compile="now"):
            yield
    finally:
        cache.load = load
        kernels._kernels.clear()
        kernels._kernels.update(known)
