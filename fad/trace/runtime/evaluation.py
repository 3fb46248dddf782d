"""eval, locals and globals in captured code: a text becomes a function of the variables that it names.

    def f(x, kind):                         def text(x): return x * half
        half = 0.5                    ->
        return eval("x * half")             the call text(x, half), captured as every other function is

So loops, branches and calls in the text, and the global names that it reads, mean what they mean elsewhere.
"""
import ast
import builtins
import contextlib
from collections.abc import Callable
from types import FunctionType
from typing import Any

from ...ir import stack
from ...util.errors import UnstageableError
from ..frontend.liveness import COMPREHENSIONS
from ..frontend.nodes import SEES_NAMES
from ..frontend.trees import walk
from ..frontend.typed import keep
from ..values.text import resolved


class EvaluationRuntime:
    """The part of the runtime that sees to these."""

    capture: Any
    call: Callable
    of_texts: dict[tuple, FunctionType]  # (text, parameters, id of global names) -> the function made of it

    def evaluated(self, f: Callable, text: Any, names: FunctionType, unsure: dict[str, Callable]) -> Any:
        """eval(text) in a function: names() are its variables, and `unsure` reads those that may have no value."""
        if f is not builtins.eval:
            return self.call(f)(text)
        values, text, original = names(), resolved(text), self.capture.original_names(names.__globals__)
        tree = ast.parse(text.strip(" \t"), mode="eval") if type(text) is str else None
        reason = "its text is not at hand" if tree is None else _against(tree, {*values, *unsure})
        if reason:
            if stack.is_live():                               # Python itself runs it, on the values of the tape
                return eval(text, original, values | _bound(unsure))
            raise UnstageableError("eval runs a text that is no part of a program", why=reason,
                                   do="write the expression itself, or pass what it needs: eval(text, {...})")
        read = _names_in(tree)
        values |= _bound({n: unsure[n] for n in read & unsure.keys()})
        given = tuple(sorted(read & values.keys()))
        key = text, given, id(original)
        if key not in self.of_texts:
            self.of_texts[key] = _function_of(tree, given, original)
        return self.call(self.of_texts[key])(*[values[n] for n in given])

    def global_names(self, f: Callable, own: FunctionType) -> dict:
        """globals() in the function that made `own`: both have the same global names."""
        return self.call(f)() if f is not builtins.globals else self.capture.names_of_module(own.__globals__)

    def own_names(self, f: Callable, names: FunctionType) -> Any:
        """locals() or vars() in a function: names() are its variables."""
        return names() if f in (builtins.locals, builtins.vars) else self.call(f)()


def _bound(unsure: dict[str, Callable]) -> dict:
    """The values of variables that have one."""
    found = {}
    for name, read in unsure.items():
        with contextlib.suppress(NameError):
            found[name] = read()
    return found


def _names_in(tree: Any) -> set:
    return {n.id for n in walk(tree) if isinstance(n, ast.Name)}


def _against(tree: ast.Expression, own: set) -> str:
    """A reason for which a text is no function of its variables; own: the variables of the function around."""
    inner = [n for n in walk(tree) if isinstance(n, (ast.Lambda, *COMPREHENSIONS))]
    if not own.isdisjoint(set().union(*map(_names_in, inner))):
        return "a lambda or a comprehension in it does not see the variables of the function"
    asked = sorted(_names_in(tree) & SEES_NAMES.keys())
    return f"it calls {asked[0]}" if asked else ""


def _function_of(tree: Any, given: tuple, original: dict) -> FunctionType:
    """A function with this expression as its result."""
    expression = ast.unparse(tree)
    name = f"text_{abs(hash((expression, given))):x}"
    source = f"def {name}({', '.join(given)}):\n    return {expression}\n"
    keep(source)
    names: dict[str, Any] = {}
    exec(compile(source, "<eval>", "exec", dont_inherit=True), names)
    made = names[name]
    return FunctionType(made.__code__, original, name)
