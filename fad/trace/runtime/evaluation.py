"""eval, locals and globals in captured code: a text becomes a function of the variables that it names.

    def f(x, kind):                         def text(x): return x * half
        half = 0.5                    ->
        return eval("x * half")             the call text(x, half), captured as every other function is

So loops, branches and calls in the text, and the global names that it reads, mean what they mean elsewhere.
"""
import ast
import builtins
import contextlib
from collections.abc import Callable, Iterable
from types import FunctionType
from typing import Any

from ...ir import stack
from ...util.errors import UnstageableError
from ..frontend.liveness import COMPREHENSIONS
from ..frontend.nodes import SEES_NAMES
from ..frontend.trees import walk
from ..frontend.typed import keep
from ..objects.maybe_unbound import Unsure, read
from ..values.number_texts import lost, of_noted
from ..values.text import resolved
from .calls import is_tracing
from .parts import RuntimePart


class EvaluationRuntime(RuntimePart):
    """The part of the runtime that sees to these."""

    def evaluated(self, f: Callable, text: Any, names: FunctionType) -> Any:
        """eval(text) in a function: names() are functions that read its variables."""
        if f is not builtins.eval:
            return self.call(f)(text)
        self.run(text, "eval")
        variables, text, original = names(), resolved(text), self.capture.original_names(names.__globals__)
        tree = ast.parse(text.strip(" \t"), mode="eval") if type(text) is str else None
        reason = "its text is not at hand" if tree is None else _against(tree, variables)
        if reason:
            if stack.is_live():                               # Python itself runs it, on the values of the tape
                return eval(text, original, _bound(variables))
            raise UnstageableError("eval runs a text that is no part of a program", why=reason,
                                   do="write the expression itself, or pass what it needs: eval(text, {...})")
        values = _bound({n: variables[n] for n in sorted(_names_in(tree) & variables.keys())})
        given = tuple(values)
        key = text, given, id(original)
        if key not in self.of_texts:
            self.of_texts[key] = _function_of(tree, given, original)
        return self.call(self.of_texts[key])(*map(read, values.values()))

    @staticmethod
    def run(text: object, by: str) -> object:
        """The text that eval or exec is given."""
        if by == "exec" and is_tracing():
            raise UnstageableError("exec runs a text that is no part of a program",
                                   why="what it writes to is not seen", do="write the statements themselves")
        if of_noted(text):
            raise lost("code")
        return text

    def global_names(self, f: Callable, own: FunctionType) -> dict:
        """globals() in the function that made `own`: both have the same global names."""
        return self.call(f)() if f is not builtins.globals else self.capture.names_of_module(own.__globals__)

    def own_names(self, f: Callable, names: FunctionType) -> Any:
        """locals() or vars() in a function: names() are functions that read its variables."""
        if f not in (builtins.locals, builtins.vars):
            return self.call(f)()
        values = _bound(names())
        unsure = [n for n, x in values.items() if type(x) is Unsure]
        if unsure:
            raise UnstageableError(f"the names that {f.__name__}() gives depend on data",
                                   why=f"{unsure[0]!r} has no value on some paths",
                                   do="give it a value on each path, or write the names themselves")
        return values


def _bound(variables: dict[str, Callable]) -> dict:
    """The contents of the variables that have one."""
    found = {}
    for name, content in variables.items():
        with contextlib.suppress(NameError):
            found[name] = content()
    return found


def _names_in(tree: Any) -> set:
    return {n.id for n in walk(tree) if isinstance(n, ast.Name)}


def _against(tree: ast.Expression, own: Iterable) -> str:
    """A reason for which a text is no function of its variables; own: the variables of the function around."""
    inner = [n for n in walk(tree) if isinstance(n, (ast.Lambda, *COMPREHENSIONS))]
    if not set().union(*map(_names_in, inner)).isdisjoint(own):
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
