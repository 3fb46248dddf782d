"""Calls that cannot be right, of every function that fad replaces: a good call of each, with one thing made wrong."""
import ast
from collections.abc import Callable, Iterator
from typing import Any

from fad.ops import override as overrides

from ..texts import executed
from . import keywords as kw
from .test_keywords import SCOPE

INSTEAD = ("None", "'a'", "{}", "np.array(['a'])", "np.array([1.0, None])", "np.ones((2, 3, 4, 5)) * v[0]",
           "np.concatenate([v, v, v])", "v[0]", "np.sin")     # of the first argument
OF_PARAMETERS = {"axis": ("9", "'a'", "1.5", "v[0]"), "axes": ("(0, 9)", "'a'"), "dtype": ("'foo'",),
                 "n": ("'a'", "v[0]", "-3"),
                 "shape": ("'a'", "v[0]", "(-2, 3)"), "order": ("'Z'",), "mode": ("'nosuch'",), "k": ("'a'",),
                 "ord": ("'xx'",)}


def function_of(expression: str) -> Callable:
    """The expression as a function of x, v and S that has a text."""
    line = f"def f(x, v, S): {'P = S @ S.T + 4 * np.eye(4); ' if 'P' in expression else ''}return {expression}\n"
    return executed(line, dict(SCOPE))["f"]


def raised(call: Callable) -> "Exception | None":
    """The error that a call raises."""
    try:
        call(*[x.copy() for x in kw.VALUES.values()])
    except Exception as error:
        return error
    return None


def good_call(name: str) -> str:
    """A call of the function that NumPy takes, "" if there is none among those that are known."""
    own = kw.short(name)
    samples = [s for s in overrides.BY_NAME[name].samples if s.startswith(own + "(")
               and isinstance(ast.parse(s, mode="eval").body, ast.Call)]
    for text in (*samples, *[f"{own}({arguments})" for arguments in kw.PLAIN]):
        if raised(function_of(text)) is None:
            return text
    return ""


def wrong_calls(name: str) -> Iterator[str]:
    """The good call with one thing made wrong."""
    text = good_call(name)
    if text:
        call: Any = ast.parse(text, mode="eval").body
        first, keywords = call.args[:1], call.keywords
        yield _unparsed(call, keywords=[*keywords, ast.keyword("zzz", _parsed("1"))])
        yield _unparsed(call, args=[*call.args, *[_parsed("v")] * 30])
        yield _unparsed(call, args=[], keywords=[])
        if first and not isinstance(first[0], (ast.Lambda, ast.Starred)):
            for other in INSTEAD:
                yield _unparsed(call, args=[_parsed(other), *call.args[1:]])
        for parameter in kw.parameters(kw.original(name)):
            for value in OF_PARAMETERS.get(parameter, ()):
                others = [k for k in keywords if k.arg != parameter]
                yield _unparsed(call, keywords=[*others, ast.keyword(parameter, _parsed(value))])


def _parsed(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def _unparsed(call: ast.Call, args: "list | None" = None, keywords: "list | None" = None) -> str:
    return ast.unparse(ast.Call(call.func, call.args if args is None else args,
                                call.keywords if keywords is None else keywords))
