"""Export: a program as a module that needs only NumPy and Numba (and SciPy where it uses SciPy's functions).

The module begins with the generated function, for readers. Behind it stand the text of fad's kernels that it calls, and
a few lines that make modules of them.
"""
import ast
import re
from typing import Any

import numpy as np

from ...util.errors import ArgumentError
from ...util.sources import text_of
from ..text.sums import with_free_sums
from .cache import FLAGS

_LARGEST = 10_000
_LOADER = '''
def _kernels():
    """Modules of the kernels above, under a name of this module's own."""
    import sys
    import types
    package = f"{__name__}_kernels"
    for name, text in {"": "", **_KERNELS}.items():
        full = f"{package}.{name}" if name else package
        module = sys.modules[full] = types.ModuleType(full)
        if name:
            exec(compile(text.replace("fad.kernels", package), f"<{full}>", "exec"), module.__dict__)
            setattr(sys.modules[package], name, module)
        else:
            module.__path__ = []
    return package


exec(_IMPORTS.replace("fad.kernels", _kernels()))
'''


def module_text(program: Any, name: str) -> str:
    """The text of a program (see executable.py) as a module of its own, whose function is called `name`."""
    if program.traced.stores:
        raise ArgumentError("a function that changes something outside itself at each call cannot be exported",
                            why="a module has none of the objects, lists and variables that it changes",
                            do="pass what it reads as arguments, and return the new values")
    if program.prelude is not None:
        raise ArgumentError(
            "a function that draws random numbers cannot be exported", do="draw before, and pass what is drawn"
        )
    if program.traced.written:
        raise ArgumentError(
            "a function that writes to its arguments cannot be exported", do="return the new values instead"
        )
    runner = program.runner.by_itself()
    if runner is None:
        raise ArgumentError("a function that calls Python functions, such as a solver of SciPy's or a logger, cannot "
                            "be exported", why="the module has only what fad compiles, and prints texts with numbers",
                            do="export the parts around the call")
    flags = ", ".join(map(repr, FLAGS))
    jitted = f"numba.njit(fastmath={{{flags}}}, error_model='numpy')"
    lines = with_free_sums(runner.source(name)).splitlines()
    imports = [line for line in lines if line.startswith("from fad.kernels") and "import helper" not in line]
    body = [
        f"@{jitted}" if line.startswith("@helper") else line
        for line in lines
        if not line.startswith("from fad.kernels")
    ]
    parts = ['"""Written by fad: a derivative that needs only NumPy and Numba."""', "import numba", *body, ""]
    if imports:
        parts += ["# The kernels that the function calls.", f"_KERNELS = {_dict_text(needed_kernels(imports))}",
                  f"_IMPORTS = {chr(10).join(imports)!r}", _LOADER]
    parts.append(f"\n{name} = {jitted}({name})")
    return "\n".join(parts + _with_captured(program, name)) + "\n"


def _with_captured(program: Any, name: str) -> list:
    """Arrays that the function closed over, given to it at each call."""
    captured = program.traced.captured
    if not captured:
        return []
    for array in captured:
        if array.size > _LARGEST:
            raise ArgumentError(
                f"the function closes over an array of {array.size} elements, too large to be written into a module",
                do="pass it as an argument",
            )
    arrays = ", ".join(f"np.array({_array_text(a)}, {a.dtype.name!r}).reshape({a.shape})" for a in captured)
    return [
        "",
        f"_captured = ({arrays},)",
        f"_{name} = {name}",
        "",
        "",
        f"def {name}(*args):",
        f'    """{name}, with the arrays that the original function closed over."""',
        f"    return _{name}(*args, *_captured)",
    ]


def _array_text(array: np.ndarray) -> str:
    text = repr(array.ravel().tolist())
    return re.sub(r"\b(nan|inf)\b", r"np.\1", text)


def needed_kernels(imports: list) -> dict:
    """Texts of the kernel modules that these import lines need, each behind those it needs itself."""
    found: dict[str, str] = {}
    for line in imports:
        for module in _modules_of(line):
            _collect(module, found)
    return found


def _collect(module: str, found: dict) -> None:
    if module in found:
        return
    text = text_of(f"fad.kernels.{module}")
    if text is None:
        raise ArgumentError(
            "the texts of fad's kernels, which an exported module holds, are not installed",
            do="export where fad is installed with its texts",
        )
    for inner in _modules_of(text):
        _collect(inner, found)
    found.setdefault(module, text)


def _modules_of(text: str) -> list:
    """Kernel modules that a text imports."""
    modules: list = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.module == "fad.kernels":
            modules += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("fad.kernels."):
            modules.append(str(node.module).split(".")[2])
    return modules


def _dict_text(texts: dict) -> str:
    entries = [f"    {name!r}: {_string_text(text)}," for name, text in texts.items()]
    return "\n".join(["{", *entries, "}"])


def _string_text(text: str) -> str:
    """A string literal of many lines."""
    return "r'''" + text + "'''" if "'''" not in text and not text.endswith("\\") else repr(text)
