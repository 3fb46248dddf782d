"""The fast path: from a staged function's call to its kernel with as little Python between as can be.

Numba's dispatcher tells in C whether the arguments have the types that the kernel was compiled for, and the kernel's
first lines test the extents. The rest is a Python function, written out for each program. It answers NotImplemented to
arguments that do not fit, and these take the general path.
"""
from collections.abc import Callable
from typing import Any

import numpy as np

from ..util import tree
from ..util.config import config


def fast_call(program: Any) -> "Callable | None":
    """args -> result, for calls whose arguments are the leaves themselves; None where the general path is needed anyhow."""
    traced = program.traced
    if traced.written or traced.apart or traced.statics or any(axis is None for _, terms, _ in traced.guards for (_, axis), _ in terms):
        return None
    inputs = program.runner.func.inputs
    drawn = program.prelude.count if program.prelude is not None else 0
    count = len(inputs) - len(traced.captured) - drawn + len(program.fixed)
    every = [f"a{k}" for k in range(count)]
    names = [name for k, name in enumerate(every) if k not in program.fixed]
    scope: dict[str, Any] = {"kernel": program.runner.kernel.call, "array": np.ndarray, "now": config.now,
                             "fits": (TypeError, ValueError, OverflowError, MemoryError)}
    lines = ["def fast(args):", f"    if len(args) != {count} or now().shape != {program.shape}:", "        return NotImplemented"]
    if count:
        lines.append(f"    {', '.join(every)}, = args")
    lines += _tests_of_fixed(program.fixed, scope)
    for k, (name, v) in enumerate(zip(names, inputs)):
        if not v.type.shape:
            python = {"f": "float", "i": "int"}.get(v.type.dtype.kind)
            if not v.type.weak or python is None:
                return None
            lines += [f"    if type({name}) is not {python}:", "        return NotImplemented"]
        else:                                                 # Numba takes a masked array, too, and reads the masked elements
            also = _tests_of_array(name, k, v.type, scope) if program.prelude is not None else ""
            lines += [f"    if type({name}) is not array{also}:", "        return NotImplemented"]
    if program.prelude is not None:
        lines += _tests_of_guards(program.runner.guards, names)
    if traced.sources.guards:
        scope["unchanged"] = traced.sources.function()
        lines += ["    if not unchanged():", "        return NotImplemented"]
    captured = []
    for k, array in enumerate(traced.captured):
        if not array.shape or not array.flags.carray:
            return None
        scope[f"c{k}"] = array
        captured.append(f"c{k}")
    if program.prelude is not None:
        scope.update(prelude=program.prelude.call, reversible=program.prelude)
        lines += _drawing(program.prelude, names, captured)
    else:
        lines += ["    try:", f"        y = kernel({', '.join(names + captured)})", "    except fits:", "        return NotImplemented"]
    outputs = len(program.scalars) - traced.delivered
    is_one = len(program.scalars) == 1
    if program.deliver is not None:
        scope["deliver"] = program.deliver
        lines.append(f"    deliver({'(y,)' if is_one else 'y'}, ({''.join(f'{name}, ' for name in names)}))")
    lines.append(f"    return {_result(traced.structure, program.scalars[:outputs], is_one, scope)}")
    exec("\n".join(lines), scope)
    scope["fast"].take_back = program.take_back
    return scope["fast"]


def _tests_of_fixed(fixed: dict, scope: dict) -> list:
    """Lines that test whether the leaves that are part of the program are the same: equal numbers or texts, else
    identical objects.
    """
    lines: list = []
    for k, value in fixed.items():
        scope[f"f{k}"], scope[f"t{k}"] = value, type(value)
        equal = f"type(a{k}) is t{k} and a{k} == f{k}" if isinstance(value, (int, float, str)) else f"a{k} is f{k}"
        lines += [f"    if not ({equal}):", "        return NotImplemented"]
    return lines


def _tests_of_array(name: str, k: int, t: Any, scope: dict) -> str:
    """The test whether the kernel does not take an array. It comes before anything is drawn, since the general path
    draws, too.
    """
    scope[f"d{k}"] = t.dtype
    tests = [f"{name}.dtype != d{k}", f"{name}.ndim != {len(t.shape)}", f"not {name}.flags.carray"]
    tests += [f"{name}.shape[{axis}] != {n}" for axis, n in enumerate(t.shape) if isinstance(n, int)]
    return "".join(f" or {test}" for test in tests)


def _drawing(prelude: Any, names: list, captured: list) -> list:
    """Lines that draw, and run the kernel."""
    given = ", ".join(names + captured + ["*drawn"])
    call = "reversible" if prelude.is_reversible else "prelude"
    return [f"    drawn = {call}(({''.join(f'{name}, ' for name in names)}))", f"    y = kernel({given})"]


def _tests_of_guards(guards: tuple, names: list) -> list:
    """Lines that see whether the extents are those of this program."""
    lines: list = []
    for relation, terms, const in guards:
        total = " + ".join([f"{c} * {names[k]}.shape[{axis}]" for (k, axis), c in terms] + [str(const)])
        lines += [f"    if not {total} {relation} 0:", "        return NotImplemented"]
    return lines


def _result(structure: tree.Structure, scalars: tuple, is_one: bool, scope: dict) -> str:
    """The text of the result: the kernel's y, its strong scalars as NumPy's, in the result's structure."""
    leaves = []
    for k, scalar in enumerate(scalars):
        text = "y" if is_one else f"y[{k}]"
        if scalar is not None:
            scope[scalar.__name__] = scalar
            text = f"{scalar.__name__}({text})"
        leaves.append(text)
    if structure.cls is None:
        return leaves[0]
    results = f"({''.join(f'{leaf}, ' for leaf in leaves)})"
    if structure.cls is tuple and all(child.cls is None for child in structure.children):
        return results
    scope["unflatten"] = structure.unflatten
    return f"unflatten({results})"
