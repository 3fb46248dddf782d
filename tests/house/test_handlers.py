"""Handlers of exceptions hand interrupts on (see fad/util/interrupts.py): a timeout may be a TimeoutError, and so an
OSError, or any class of the user's."""

import ast

import pytest

from .source import modules, name_of, tree

LEAST = ("BaseException", "Exception", "OSError", "FileNotFoundError", "RuntimeError", "TypeError", "ValueError",
         "AttributeError", "LookupError", "IndexError", "KeyError", "ArithmeticError", "OverflowError",
         "ZeroDivisionError", "SyntaxError", "BEYOND", "PYTHONS")
# (api/calls/fallback.py; a thread's error, raised again)
LOOK = {"reraise_interrupt", "ignore_expected", "is_expected", "interrupt_behind", "is_interrupt", "is_unstaged",
        "instead",
        "failed", "raise_in_fads_words", "passed_on", "pass_on"}
# Numba compiles or calls it, where no interrupt is delivered (fad/kernels)
EXEMPT = ("fad/kernels/",)
WORK = (ast.Call, ast.For, ast.With, ast.comprehension)       # where Python looks for signals


def swallows(handler):
    """Whether a handler takes exceptions of such a class in without a look."""
    classes = ast.walk(handler.type) if handler.type is not None else [ast.Name("BaseException")]
    takes = any(getattr(c, "id", None) in LEAST for c in classes)
    body = list(ast.walk(ast.Module(handler.body, [])))
    looks = any(isinstance(n, ast.Raise) or getattr(n, "id", None) in LOOK or getattr(n, "attr", None) in LOOK
                for n in body)
    return takes and not looks


@pytest.mark.parametrize("handler, is_wrong", [
    ("except ValueError:\n    pass", True), ("except:\n    pass", True),
    ("except (KeyError, OSError) as error:\n    note(error)", True),
    ("except ValueError as error:\n    reraise_interrupt(error)", False), ("except Exception:\n    raise", False),
    ("except StopIteration:\n    pass", False)])
def test_the_judge(handler, is_wrong):
    assert swallows(ast.parse(f"try:\n    f()\n{handler}").body[0].handlers[0]) is is_wrong


def test_no_handler_swallows_interrupts():
    found = {}
    for path in modules():
        tried = [node for node in ast.walk(tree(path)) if isinstance(node, ast.Try)
                 and any(isinstance(n, WORK) for n in ast.walk(ast.Module(node.body, [])))]
        found[name_of(path)] = [handler.lineno for node in tried for handler in node.handlers if swallows(handler)]
    assert not {name: lines for name, lines in found.items() if lines and not name.startswith(EXEMPT)}
