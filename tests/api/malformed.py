"""Calls that cannot be right, generated over every public function: what stands in the place of a function, keywords of other libraries, arguments too few."""
import inspect
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

import fad

X = np.array([1.0, 2.0, 3.0])
NO_FUNCTIONS = {"None": None, "a number": 3.0, "an array": X, "a text": "grad", "a dict": {}}
TAKERS = {                                                    # what takes a function first -> a call with this in its place
    "jit": lambda f: fad.jit(f)(X), "grad": lambda f: fad.grad(f)(X), "value_and_grad": lambda f: fad.value_and_grad(f)(X),
    "jacobian": lambda f: fad.jacobian(f)(X), "jacrev": lambda f: fad.jacrev(f)(X), "jacfwd": lambda f: fad.jacfwd(f)(X),
    "hessian": lambda f: fad.hessian(f)(X), "vmap": lambda f: fad.vmap(f)(X), "jvp": lambda f: fad.jvp(f, (X,), (X,)), "vjp": lambda f: fad.vjp(f, X),
    "linearize": lambda f: fad.linearize(f, X), "hvp": lambda f: fad.hvp(f, X, X), "vhp": lambda f: fad.vhp(f, X, X),
    "explain": lambda f: fad.explain(f, X), "draw": lambda f: fad.draw(f, X), "stages": lambda f: fad.stages(f, X), "show": lambda f: fad.show(f, X), "source": lambda f: fad.source(f, X),
    "export": lambda f: fad.export(f, X, path="nowhere.py"), "certify": lambda f: fad.certify(f, X), "cfunc": lambda f: fad.cfunc(f, 1.0),
    "checkpoint": lambda f: fad.checkpoint(f)(X), "custom_jvp": fad.custom_jvp, "custom_vjp": fad.custom_vjp,
    "implicit": lambda f: fad.implicit(f, root=lambda x, a: x - a), "cond": lambda f: fad.cond(True, f, f, X), "switch": lambda f: fad.switch(0, [f], X),
    "while_loop": lambda f: fad.while_loop(f, f, X), "fori_loop": lambda f: fad.fori_loop(0, 2, f, X), "scan": lambda f: fad.scan(f, 0.0, X)}
OTHER_WORDS = {                                               # keyword of another library -> what it is called here
    "argnum": "argnums", "arg_nums": "argnums", "has_auxx": "has_aux", "in_dims": "in_axes", "out_dims": "out_axes", "static_argnum": "static_argnums",
    "fall_back": "fallback", "memry": "memory"}
KEEP_KEYWORDS = ("explain", "draw", "stages", "show", "source", "export", "custom_jvp", "custom_vjp")        # these hand keywords on, or are classes


class Case(NamedTuple):
    """A call, the words that its message has to have, and where the call is from."""

    name: str
    call: Callable
    words: tuple


def wrong_functions() -> Iterator[Case]:
    """Something else in the place of the function; None is a decorator's way of asking for options, and what is decorated is the array then."""
    for name, call in TAKERS.items():
        for what, thing in NO_FUNCTIONS.items():
            if name == "checkpoint" and hasattr(thing, "__iter__"):        # what a loop may go over
                continue
            yield Case(f"{name} of {what}", lambda call=call, thing=thing: call(thing), (name, "do: "))


def wrong_keywords() -> Iterator[Case]:
    """Keywords that the function does not have."""
    for name in TAKERS:
        if name in KEEP_KEYWORDS:
            continue
        known = inspect.signature(getattr(fad, name)).parameters
        for word, meant in {**OTHER_WORDS, "zzz": ""}.items():
            told = f"it is called {meant} here" if meant in known else ""
            yield Case(f"{name}({word}=)", lambda name=name, word=word: getattr(fad, name)(np.sum, **{word: 0}), (f"{name} takes no argument {word!r}", told))


def too_few() -> Iterator[Case]:
    """Calls without what is required."""
    for name in TAKERS:
        required = [p.name for p in inspect.signature(getattr(fad, name)).parameters.values()
                    if p.default is p.empty and p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
        if required and not name.startswith("custom_"):
            yield Case(f"{name}()", getattr(fad, name), (name, "missing", f"call it as {name}({required[0]}"))


def wrong_arguments() -> Iterator[Case]:
    """Calls of a right function with arguments that it does not have, through every transform."""
    def two(x: Any, y: Any) -> Any:
        return np.sum(x * y)
    for name in ("jit", "grad", "value_and_grad", "jacobian", "jacrev", "jacfwd", "hessian", "vmap"):
        made = getattr(fad, name)(two)
        yield Case(f"{name}(f)(x)", lambda made=made: made(X), ("two(x", "missing a required argument: 'y'", "malformed.py"))
        yield Case(f"{name}(f)(x, x, x)", lambda made=made: made(X, X, X), ("two(x", "too many positional arguments"))
        yield Case(f"{name}(f)(x, x, z=x)", lambda made=made: made(X, X, z=X), ("two(x", "unexpected keyword argument 'z'"))


def wrong_steps() -> Iterator[Case]:
    """What explicit control flow, pullbacks and settings are given."""
    bad = np.ones(2)
    yield Case("cond of an array", lambda: fad.cond(X > 0, np.sin, np.cos, X), ("predicate of fad.cond has shape (3,)", "np.where"))
    yield Case("while_loop of an array", lambda: fad.while_loop(lambda v: v > 0, np.sin, X), ("test of fad.while_loop", ".any()"))
    yield Case("fori_loop to a text", lambda: fad.fori_loop(0, "a", lambda i, v: v, X), ("upper of fad.fori_loop is 'a', not an int",))
    yield Case("switch by a text", lambda: fad.switch("a", [np.sin], X), ("index of fad.switch is 'a', not an int",))
    yield Case("switch of nothing", lambda: fad.switch(0, [], X), ("at least one branch", "do: "))
    yield Case("vjp of two", lambda: fad.vjp(np.sin, X)[1](X, X), ("takes one argument, not 2", "as one tuple"))
    yield Case("fallback=", lambda: fad.grad(np.sum, fallback="zz")(X), ("fallback is True, False or None, not 'zz'", "do: "))
    yield Case("config.compile=", lambda: fad.config.using(compile="zz").__enter__(), ("compile is 'auto', 'now' or 'never'", "do: "))
    yield Case("vmap(in_axes=)", lambda: fad.vmap(np.add, in_axes=(0,))(X, X), ("in_axes has 1 entries for 2", "do: "))
    yield Case("vmap(out_axes=)", lambda: fad.vmap(lambda a: (a, a), out_axes=(0, 0, 0))(X), ("out_axes does not have the structure", "do: "))
    yield Case("sparse.jacobian(foo=)", lambda: fad.sparse.jacobian(np.sin, foo=1), ("jacobian takes no argument 'foo'",))
    yield Case("implicit()", lambda: fad.implicit(lambda a: a), ("exactly one of root", "do: "))
    yield Case("scan", lambda: fad.scan(lambda c, v: (c, v), bad), ("scan needs xs or a length", "do: "))


CASES = [*wrong_steps(), *wrong_functions(), *wrong_keywords(), *too_few(), *wrong_arguments()]
