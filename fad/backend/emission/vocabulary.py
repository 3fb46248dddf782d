"""The functions that generated text may call, and the modules they are imported from."""
import ast
from functools import lru_cache

from ...ir.op import Op, registry
from ...util.lazy import imported
from ...util.sources import text_of
from ..schedule.loop_ir import BackendError

_PYTHON = {
    "range", "float", "int", "complex", "abs", "min", "max", "bool", "len", "round", "ValueError", "IndexError",
    "AssertionError", "MemoryError", "TypeError", "RuntimeError", "ZeroDivisionError", "ArithmeticError",
    "OverflowError", "FloatingPointError", "KeyError", "LookupError", "NotImplementedError", "UnboundLocalError",
    "OSError", "Exception",
}


def _exported(module: str) -> list:
    """The names in a kernel module's __all__, read from its text, so that nothing needs to be imported where the text
    is installed.
    """
    text = text_of(f"fad.kernels.{module}")
    if text is None:
        return list(imported(f"fad.kernels.{module}").__all__)
    tree = ast.parse(text)
    for node in tree.body:
        if (
            isinstance(node, ast.Assign)
            and getattr(node.targets[0], "id", "") == "__all__"
            and isinstance(node.value, (ast.List, ast.Tuple))
        ):
            return [e.value for e in node.value.elts if isinstance(e, ast.Constant)]
    return []


def _table() -> dict:
    """Function -> module. Ops of special functions are registered when these are first used: then there is more to
    know.
    """
    return _table_of(len(registry))


@lru_cache(maxsize=1)
def _table_of(_count: int) -> dict:
    table = {
        op.text.partition("(")[0]: op.facts["module"]
        for op in registry.values()
        if isinstance(op, Op) and "module" in op.facts
    }
    for module in ("callbacks", "growth", "helpers", "positions", "printing", "terms", "threads"):
        table.update(dict.fromkeys(_exported(module), module))
    for module in ("elementary", "arithmetic", "logarithms"):
        table.update(dict.fromkeys(_exported(module), "vecmath"))
    return table


class _Vocabulary:
    """The names of all functions that text may call."""

    def __iter__(self):
        return iter(_table())


VOCABULARY = _Vocabulary()


def imports(called: set, modules: set) -> list:
    """The import lines of a module that calls these names and uses these modules."""
    lines = ["import math"] if "math" in modules else []
    lines.append("import numpy as np")
    kernels = sorted(modules - {"math"})
    if kernels:
        lines.append(f"from fad.kernels import {', '.join(kernels)}")
    wanted: dict[str, list] = {}
    for name in sorted(called - _PYTHON):
        if name not in _table():
            raise BackendError(f"no compiled function {name}")
        wanted.setdefault(_table()[name], []).append(name)
    return lines + [f"from fad.kernels.{module} import {', '.join(names)}" for module, names in sorted(wanted.items())]
