"""`+=` in a kernel's text is a sum of free order, `x = x + y` keeps its place: Numba is told the difference here.

So is `top = maximum(top, x)` of a number: the order of comparisons never matters, but LLVM does not see it in
comparisons that pass nans on.
"""
import ast

_NAMES = {ast.Add: "add_up", ast.Sub: "add_up", ast.Mult: "multiply_up"}
_EXTREMES = {"maximum": "maximum_up", "minimum": "minimum_up"}


def with_free_sums(text: str) -> str:
    """The text with its augmented assignments as calls that let the compiler choose the order.

    >>> print(with_free_sums("for i in range(n):\\n    total += x[i]  # a comment"))
    from fad.kernels.sums import add_up
    for i in range(n):
        total = add_up(total, x[i])  # a comment
    """
    lines = text.split("\n")
    used = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.AugAssign) and type(node.op) in _NAMES:
            used.add(_NAMES[type(node.op)])
            line = lines[node.lineno - 1]
            lines[node.lineno - 1] = line[:node.col_offset] + _call(line, node) + line[node.end_col_offset:]
        elif isinstance(node, ast.Assign) and _is_extreme(node):
            used.add(_EXTREMES[node.value.func.id])          # type: ignore[attr-defined]
            line, start = lines[node.lineno - 1], node.value.col_offset
            end = node.value.func.end_col_offset             # type: ignore[attr-defined]
            lines[node.lineno - 1] = line[:start] + _EXTREMES[line[start:end]] + line[end:]
    return "\n".join(([f"from fad.kernels.sums import {', '.join(sorted(used))}"] if used else []) + lines)


def _is_extreme(node: ast.Assign) -> bool:
    """Whether a number becomes the larger (or smaller) of itself and another."""
    call, target = node.value, node.targets[0]
    return (
        isinstance(call, ast.Call)
        and isinstance(call.func, ast.Name)
        and call.func.id in _EXTREMES
        and isinstance(target, ast.Name)
        and isinstance(call.args[0], ast.Name)
        and call.args[0].id == target.id
    )


def _call(line: str, node: ast.AugAssign) -> str:
    target, value = (line[part.col_offset:part.end_col_offset] for part in (node.target, node.value))
    minus = isinstance(node.op, ast.Sub)
    return f"{target} = {_NAMES[type(node.op)]}({target}, {f'-({value})' if minus else value})"
