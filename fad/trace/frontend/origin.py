"""The source of a function: the node of the syntax tree that a function object was made from."""
import __future__

import ast
import functools
import inspect
import linecache
import operator
from collections.abc import Iterator
from types import CodeType, FunctionType
from typing import Any

from ...util.cached import drop_oldest
from ...util.codes import CodeFacts
from ...util.interrupts import reraise_interrupt
from .trees import children, located, signature
from .typed import parsed, typed_trees

FILES = 100                                                   # whose trees are kept: cells of notebooks are files, too
_trees: dict[str, tuple[int, Any]] = {}  # file -> (hash of its text, its tree or None), the latest last

_FUTURE = functools.reduce(
    operator.or_, [getattr(__future__, name).compiler_flag for name in __future__.all_feature_names]
)

Definition = ast.FunctionDef | ast.Lambda


def tree_of(filename: str, names: "dict | None" = None) -> "ast.Module | None":
    """The syntax tree of a file (or of a notebook's cell, a doctest), None where there is no source. names: the global
    names of its module, whose loader may have the text (in an archive).
    """
    linecache.checkcache(filename)
    text = "".join(linecache.getlines(filename, names))
    if not text:
        return None
    known = _trees.pop(filename, None)
    if known is None or known[0] != hash(text):
        known = hash(text), parsed(text)
    _trees[filename] = known
    drop_oldest(_trees, FILES)
    return known[1]


def definition_of(f: FunctionType) -> "tuple[Definition, str] | None":
    """The node that defines f and the name of the class around it; None where it cannot be told.

    A lambda that shares its line with others is told from them by its columns, or by its code where there are none (in
    Python 3.10).
    """
    code = f.__code__
    tree = tree_of(code.co_filename, f.__globals__)
    if tree is None:
        tree = next((t for t in typed_trees(code) if _is_of(code, t)), None)
    if tree is None:
        return None
    found = [d for d in _definitions_in(tree) if _fits(d[0], code)]
    if len(found) > 1:
        found = _at_place(found, code) or [d for d in found if _same_code(d[0], code)]
        found = found[:1]                                     # lambdas alike in all are one
    return found[0] if found and _is_of(code, tree) else None


def _is_of(code: CodeType, tree: ast.Module) -> bool:
    """Whether the code was compiled from this tree: a file may have been changed since it was imported.

    An import hook (pytest rewrites assertions) makes code with names that no source has; nothing tells whether that
    code comes from the tree.
    """
    if any(name.startswith("@") for name in code.co_varnames):
        return True
    try:
        made = (c for apart in (False, True) for c in _compiled(tree, code.co_filename, code.co_flags & _FUTURE, apart))
        return any(_alike(c, code) and (not _columns(code) or _columns(c) == _columns(code)) for c in made)
    except (SyntaxError, ValueError) as error:                # a cell that awaits, say
        reraise_interrupt(error)
        return True


@functools.lru_cache(maxsize=32)
def _compiled(tree: ast.Module, filename: str, flags: int, apart: bool) -> list:
    """The codes of a tree's functions. apart: each statement is compiled by itself, as a notebook does: a function
    calls another bytecode for `np.sum` where `import numpy as np` is compiled with it.
    """
    parts = [ast.Module([s], []) for s in tree.body] if apart else [tree]
    return [c for t in parts for c in codes_in(compile(t, filename, "exec", flags=flags, dont_inherit=True))]


def codes_in(code: CodeType) -> Iterator[CodeType]:
    """The code of all functions within this one."""
    for c in code.co_consts:
        if isinstance(c, CodeType):
            yield c
            yield from codes_in(c)


def _alike(a: CodeType, b: CodeType) -> bool:
    """Whether two codes do the same, and begin in the same line."""
    facts = operator.attrgetter("co_name", "co_firstlineno", "co_code", "co_names", "co_varnames")
    if facts(a) != facts(b):
        return False
    pairs = zip(a.co_consts, b.co_consts)
    return len(a.co_consts) == len(b.co_consts) and all(
        _alike(x, y) if isinstance(x, CodeType) and isinstance(y, CodeType) else _is_same(x, y) for x, y in pairs
    )


def _is_same(x: object, y: object) -> bool:
    """Whether two constants are one: 0.0 is not -0.0, nor True."""
    return type(x) is type(y) and (x == y if isinstance(x, frozenset) else repr(x) == repr(y))


@functools.lru_cache(maxsize=32)
def _definitions_in(tree: ast.Module) -> list:
    return list(definitions(tree))


def definitions(node: ast.AST, owner: str = "") -> Iterator[tuple]:
    """All functions and lambdas in a tree, each with the class whose body it stands in."""
    for child in children(node):
        if isinstance(child, Definition):
            yield child, owner
        yield from definitions(child, child.name if isinstance(child, ast.ClassDef) else owner)


def _fits(node: Any, code: CodeType) -> bool:
    name = "<lambda>" if isinstance(node, ast.Lambda) else node.name
    if name != code.co_name or parameters(node.args) != code.co_varnames[:_parameter_count(code)]:
        return False
    first = min([node.lineno, *[d.lineno for d in getattr(node, "decorator_list", [])]])
    return first == code.co_firstlineno


def parameters(args: ast.arguments) -> tuple:
    """The names of the parameters, in the order of co_varnames."""
    names = [a.arg for a in (*args.posonlyargs, *args.args, *args.kwonlyargs)]
    return tuple(names + [a.arg for a in (args.vararg, args.kwarg) if a is not None])


def _parameter_count(code: CodeType) -> int:
    return (
        code.co_argcount
        + code.co_kwonlyargcount
        + bool(code.co_flags & inspect.CO_VARARGS)
        + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    )


def _at_place(found: list, code: CodeType) -> list:
    """The innermost of these definitions whose body has all instructions of the code in it; empty where the code does
    not know their columns.
    """
    places = _columns(code)
    around = [
        d
        for d in found
        if places
        and _span(d[0])[0] <= min((p[0], p[2]) for p in places)
        and max((p[1], p[3]) for p in places) <= _span(d[0])[1]
    ]
    return sorted(around, key=lambda d: _span(d[0])[0])[-1:]


def _columns(code: CodeType) -> list:
    """The positions of the code's instructions: (line, last line, column, last column). Empty if the code has none."""
    return [p for p in getattr(code, "co_positions", tuple)() if None not in p and p[3] > 0]


def _span(node: Any) -> tuple:
    """The line and the column where a definition begins (a lambda: its body), and where it ends."""
    body = node.body if isinstance(node, ast.Lambda) else node
    return (body.lineno, body.col_offset), (body.end_lineno, body.end_col_offset)


def _same_code(node: object, code: CodeType) -> bool:
    made = compiled_in(node, code)
    return made is not None and _alike(made, code)


def compiled_in(node: Any, code: CodeType, owner: str = "") -> "CodeType | None":
    """The code of a definition, with the free variables of the one that it stands for, and under its name.

    It is compiled in a function around it that binds them.
    """
    free = code.co_freevars
    inner: list = [node] if isinstance(node, ast.FunctionDef) else [ast.Expr(node)]
    bound = list({owner, getattr(node, "name", "")} - {"", *free})
    if owner:
        inner = [ast.ClassDef(name=owner, bases=[], keywords=[], body=inner, decorator_list=[], type_params=[])]  # type: ignore[call-arg]
    if bound:  # the function's own name means what it means where it came from
        inner.insert(0, ast.Global(bound))
    around = ast.FunctionDef("__around__", signature(*free), inner, [], type_params=[])  # type: ignore[call-arg]
    module = located(ast.Module(body=[around], type_ignores=[]), node)
    made = compile(module, code.co_filename, "exec", flags=code.co_flags & _FUTURE, dont_inherit=True)
    found = _find_code(made, "<lambda>" if isinstance(node, ast.Lambda) else node.name)
    if found is None:
        return None
    own = f"__around__.<locals>.{owner}{'.' * bool(owner)}{found.co_name}"
    return _renamed(found, own, getattr(code, "co_qualname", code.co_name), found.co_name)


BLOCK = "_fad_"                                               # how the names of blocks begin
_blocks: CodeFacts[bool] = CodeFacts()


def is_block(code: CodeType) -> bool:
    """Whether this is the code of a branch, a loop's body or a `try` of the function around it."""
    return _blocks.of(code, lambda: False)


def _renamed(code: CodeType, old: str, new: str, function: str) -> CodeType:
    """The code, its qualified name and those of the functions within begun in another way: messages of Python's have
    these names. Tracebacks have the name of a block's frame: that of the function around it.
    """
    def name(text: str) -> str:
        return new + text[len(old):] if text.startswith(old) else text

    is_of_block = code.co_name.startswith(BLOCK)
    function = function if is_of_block else code.co_name
    parts = [
        _renamed(c, old, new, function) if isinstance(c, CodeType) else name(c) if isinstance(c, str) else c
        for c in code.co_consts
    ]
    made = code.replace(co_consts=tuple(parts), co_name=function)
    if hasattr(made, "co_qualname"):                          # Python 3.10 has it among the constants
        made = made.replace(co_qualname=name(made.co_qualname))  # type: ignore[call-arg, unused-ignore]
    if is_of_block:
        _blocks.of(made, lambda: True)
    return made


def _find_code(code: CodeType, name: str) -> "CodeType | None":
    """The outermost code of this name inside `code`."""
    inner = [c for c in code.co_consts if isinstance(c, CodeType)]
    for c in inner:
        if c.co_name == name:
            return c
    for c in inner:
        found = _find_code(c, name)
        if found is not None:
            return found
    return None
