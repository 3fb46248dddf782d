"""Calls that cannot be right, generated over every public function: what stands in the place of a function, keywords of
other libraries, arguments too few."""
import inspect
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from typing import Any, NamedTuple

import numba
import numpy as np
import scipy.sparse

import fad
import fad.scipy.optimize
from fad.util.errors import (
    ArgumentError,
    CotangentShapeError,
    ExtentError,
    IntegerArgumentError,
    MissingAttributeError,
    NoDerivativeError,
    NotScalarError,
    StructureError,
)

X = np.array([1.0, 2.0, 3.0])
NO_FUNCTIONS = {"None": None, "a number": 3.0, "an array": X, "a text": "grad", "a dict": {}}
# what takes a function first -> a call with this in its place
TAKERS = {
    "jit": lambda f: fad.jit(f)(X), "grad": lambda f: fad.grad(f)(X),
    "value_and_grad": lambda f: fad.value_and_grad(f)(X),
    "jacobian": lambda f: fad.jacobian(f)(X), "jacrev": lambda f: fad.jacrev(f)(X),
    "jacfwd": lambda f: fad.jacfwd(f)(X),
    "hessian": lambda f: fad.hessian(f)(X), "vmap": lambda f: fad.vmap(f)(X), "jvp": lambda f: fad.jvp(f, (X,), (X,)),
    "vjp": lambda f: fad.vjp(f, X),
    "linearize": lambda f: fad.linearize(f, X), "hvp": lambda f: fad.hvp(f, X, X), "vhp": lambda f: fad.vhp(f, X, X),
    "explain": lambda f: fad.explain(f, X), "draw": lambda f: fad.draw(f, X), "stages": lambda f: fad.stages(f, X),
    "show": lambda f: fad.show(f, X), "source": lambda f: fad.source(f, X),
    "export": lambda f: fad.export(f, X, path="nowhere.py"), "certify": lambda f: fad.certify(f, X),
    "cfunc": lambda f: fad.cfunc(f, 1.0),
    "checkpoint": lambda f: fad.checkpoint(f)(X), "custom_jvp": fad.custom_jvp, "custom_vjp": fad.custom_vjp,
    "implicit": lambda f: fad.implicit(f, root=lambda x, a: x - a), "cond": lambda f: fad.cond(True, f, f, X),
    "switch": lambda f: fad.switch(0, [f], X),
    "while_loop": lambda f: fad.while_loop(f, f, X), "fori_loop": lambda f: fad.fori_loop(0, 2, f, X),
    "scan": lambda f: fad.scan(f, 0.0, X)}
OTHER_WORDS = {                                               # keyword of another library -> what it is called here
    "argnum": "argnums", "arg_nums": "argnums", "has_auxx": "has_aux", "in_dims": "in_axes", "out_dims": "out_axes",
    "static_argnum": "static_argnums", "fall_back": "fallback", "memry": "memory"}
# these hand keywords on, or are classes
KEEP_KEYWORDS = ("explain", "draw", "stages", "show", "source", "export", "custom_jvp", "custom_vjp")


class Colour(Enum):
    RED = 1


class Holder:
    """An object that is no container."""


class Case(NamedTuple):
    """A call, the words that its message has to have, and where the call is from."""

    name: str
    call: Callable
    words: tuple
    error: type = ArgumentError


def wrong_functions() -> Iterator[Case]:
    """Something else in the place of the function; None is a decorator's way of asking for options, and what is
    decorated is the array then."""
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
            yield Case(f"{name}({word}=)", lambda name=name, word=word: getattr(fad, name)(np.sum, **{word: 0}),
                       (f"{name} takes no argument {word!r}", told))


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
        yield Case(f"{name}(f)(x)", lambda made=made: made(X),
                   ("two(x", "missing a required argument: 'y'", "malformed.py"))
        yield Case(f"{name}(f)(x, x, x)", lambda made=made: made(X, X, X), ("two(x", "too many positional arguments"))
        yield Case(f"{name}(f)(x, x, z=x)", lambda made=made: made(X, X, z=X),
                   ("two(x", "unexpected keyword argument 'z'"))


def no_numbers() -> Iterator[Case]:
    """What has no derivative in the place of an argument, and how its numbers come out of it."""
    for what, x, do in [
            ("a text", "0.5", "float(x)"), ("an enum", Colour.RED, "x.value"),
            ("a fraction", Fraction(1, 2), "float(x)"), ("a decimal", Decimal("0.5"), "float(x)"),
            ("an int", 3, "a float (float(x))"), ("a range", range(3), "np.array(x, dtype=float)"),
            ("a set", {1.0}, "sorted(x)"), ("a generator", (v for v in X), "list(x)"),
            ("a date", date(2020, 1, 1), "days since another date"), ("a timedelta", timedelta(1), "x.total_seconds()"),
            ("dates", np.array(["2020-01-01"], "M8[D]"), "distances in time"),
            ("records", np.zeros(3, [("a", float)]), "x['name']"), ("booleans", X > 1, "x.astype(float)"),
            ("an object", Holder(), "in a list, a dict or a dataclass"),
            ("a sparse matrix", scipy.sparse.eye(3).tocsr(), "x.data"),
            ("a typed list", numba.typed.List([1.0]), "list(x)")]:
        yield Case(f"grad of {what}", lambda x=x: fad.grad(lambda v: 1.0)(x),
                   ("cannot differentiate with respect to", do), IntegerArgumentError)
    for name, do in [("detach", "fad.stop_gradient(x)"), ("cuda", "leave it out"), ("requires_grad_", "leave it out"),
                     ("unsqueeze", "np.expand_dims"), ("numel", "x.size"),
                     ("sin", "np.sin(x)"), ("clone", "x.copy()")]:
        yield Case(f"x.{name}", lambda name=name: fad.grad(lambda x: np.sum(getattr(x, name)()))(X),
                   (f"has no attribute {name!r}", do), MissingAttributeError)

    async def later(x: Any) -> Any:
        return x

    def one_by_one(x: Any) -> Any:
        yield x
    for f, do in ((later, "await before and after"), (one_by_one, "in a list or an array")):
        yield Case(f"grad of {f.__name__}", lambda f=f: fad.grad(f)(1.0), ("which is no number", do), NotScalarError)
    yield Case("argnums=3", lambda: fad.grad(np.multiply, argnums=3)(X, X), ("argnums names argument 3", "from 0 to 1"))
    for name in ("sum", "mean", "nansum", "any"):
        yield Case(f"{name}(where=numbers)",
                   lambda name=name: fad.jit(lambda x: getattr(np, name)(x, where=np.array([1.0, 0.5, 0.0])),
                                             fallback=False)(X),
                   ("Cannot cast array data from dtype('float64') to dtype('bool')", f"{name}(float64[3], where="),
                   TypeError)


def wrong_steps() -> Iterator[Case]:
    """What explicit control flow, pullbacks and settings are given."""
    bad = np.ones(2)
    yield Case("cond of an array", lambda: fad.cond(X > 0, np.sin, np.cos, X),
               ("predicate of fad.cond has shape (3,)", "np.where"))
    yield Case("while_loop of an array", lambda: fad.while_loop(lambda v: v > 0, np.sin, X),
               ("test of fad.while_loop", ".any()"))
    yield Case("fori_loop to a text", lambda: fad.fori_loop(0, "a", lambda i, v: v, X),
               ("upper of fad.fori_loop is 'a', not an int",))
    yield Case("switch by a text", lambda: fad.switch("a", [np.sin], X), ("index of fad.switch is 'a', not an int",))
    yield Case("switch of nothing", lambda: fad.switch(0, [], X), ("at least one branch", "do: "))
    yield Case("vjp of two", lambda: fad.vjp(np.sin, X)[1](X, X), ("takes one argument, not 2", "as one tuple"))
    yield Case("fallback=", lambda: fad.grad(np.sum, fallback="zz")(X),
               ("fallback is True, False or None, not 'zz'", "do: "))
    yield Case("config.compile=", lambda: fad.config.using(compile="zz").__enter__(),
               ("compile is 'auto', 'now' or 'never'", "do: "))
    yield Case("vmap(in_axes=)", lambda: fad.vmap(np.add, in_axes=(0,))(X, X), ("in_axes has 1 entries for 2", "do: "))
    yield Case("vmap(out_axes=)", lambda: fad.vmap(lambda a: (a, a), out_axes=(0, 0, 0))(X),
               ("out_axes does not have the structure", "do: "))
    yield Case("sparse.jacobian(foo=)", lambda: fad.sparse.jacobian(np.sin, foo=1),
               ("jacobian takes no argument 'foo'",))
    yield Case("implicit()", lambda: fad.implicit(lambda a: a), ("exactly one of root", "do: "))
    yield Case("scan", lambda: fad.scan(lambda c, v: (c, v), bad), ("scan needs xs or a length", "do: "))
    yield Case("scan of a text", lambda: fad.scan(lambda c, v: (c, v), 0.0, "abc"), ("xs of fad.scan holds str",))
    yield Case("scan of a number", lambda: fad.scan(lambda c, v: (c, v), 0.0, 3.0),
               ("a number, which has no first axis",))
    yield Case("scan of two lengths", lambda: fad.scan(lambda c, v: (c, v), 0.0, (X, bad)),
               ("leading extents of xs differ: 3 and 2",), ExtentError)
    yield Case("while_loop by a text", lambda: fad.while_loop(lambda v: "a", np.sin, X),
               ("test of fad.while_loop is 'a', not a truth value",))
    yield Case("cond of None", lambda: fad.cond(None, np.sin, np.cos, X), ("predicate of fad.cond is None",))
    yield Case("switch of a function", lambda: fad.switch(0, np.sin, X), ("at least one branch",))
    yield Case("branches of two structures",
               lambda: fad.grad(lambda x: np.sum(fad.cond(x[0] > 0, lambda v: (v, v), lambda v: v, x)[0]))(X),
               ("must have one structure, and are * and (*, *)",), StructureError)
    yield Case("register", lambda: fad.register(3, None, None), ("register needs a class and two functions",))
    yield Case("register()", lambda: fad.register(int), ("register missing 2 required",))
    yield Case("export to no folder", lambda: fad.export(np.sum, X, path="/no/such/slope.py"),
               ("no folder '/no/such'",))
    yield Case("export to a number", lambda: fad.export(np.sum, X, path=3), ("path of fad.export is 3",))
    yield Case("certify of integers", lambda: fad.certify(np.sum, np.arange(3)),
               ("needs an argument of real or complex numbers",))
    yield Case("certify()", lambda: fad.certify(np.sum), ("needs an argument",))
    yield Case("unravel", lambda: fad.ravel({"a": X})[1]("a"), ("unravel takes a vector",))
    yield Case("unravel of others", lambda: fad.ravel({"a": X})[1](np.ones(5)), ("a vector of 3 elements, not 5",),
               ExtentError)
    yield Case("debug_print", lambda: fad.debug_print("{} {}", 1.0), ("cannot fill '{} {}'",))


def wrong_settings() -> Iterator[Case]:
    """Settings that there are not, and values that they do not take."""
    for name, value, words in [("compile", 3, "not 3"), ("cache_dir", 3, "a folder or None"),
                               ("cache_size", "many", "no amount of memory"), ("cache_size", -1, "no amount"),
                               ("check_index", "a", "True or False"), ("check_trace", None, "True or False"),
                               ("fallback", "x", "True or False"), ("threads", "x", "from 1 to 64"),
                               ("threads", 0, "from 1 to 64")]:
        yield Case(f"config.{name} = {value!r}", lambda name=name, value=value: setattr(fad.config, name, value),
                   (words,))
        yield Case(f"config.using({name}={value!r})",
                   lambda name=name, value=value: fad.config.using(**{name: value}).__enter__(), (words,))
    yield Case("config.compil", lambda: fad.config.compil, ("no setting 'compil'", "write compile"),
               MissingAttributeError)
    yield Case("config.using(compil=)", lambda: fad.config.using(compil="now").__enter__(), ("write compile",),
               MissingAttributeError)
    yield Case("del config.compile", lambda: delattr(fad.config, "compile"), ("cannot be deleted",))


def ruled(kind: str, *rules: Any) -> Any:
    """The gradient of a function with these rules of its own."""
    f = getattr(fad, f"custom_{kind}")(lambda x: np.sum(np.sin(x)))
    getattr(f, f"def{kind}")(*rules)
    return fad.grad(f)


def wrong_rules() -> Iterator[Case]:
    """Rules of one's own that cannot be right."""
    forward = lambda x: (np.sum(np.sin(x)), x)
    for name, rules, words, error in [
            ("forward gives no pair", (lambda x: np.sum(x), lambda r, g: (g * r,)),
             "must return a pair (value, residuals)", StructureError),
            ("forward gives another shape", (lambda x: (x, x), lambda r, g: (g * r,)),
             "a value of shape (3,) where the function returns one of shape ()", StructureError),
            ("backward gives no tuple", (forward, lambda r, g: g * np.cos(r)), "must return 1 cotangents",
             StructureError),
            ("backward gives two", (forward, lambda r, g: (g, g)), "must return 1 cotangents", StructureError),
            ("backward gives None", (forward, lambda r, g: None), "must return 1 cotangents", StructureError),
            ("backward gives a number for an array", (forward, lambda r, g: (g,)),
             "a cotangent of shape () was returned for an argument of shape (3,)", CotangentShapeError),
            ("backward gives a text", (forward, lambda r, g: ("a",)), "a rule returned str", StructureError),
            ("backward gives a dict", (forward, lambda r, g: ({"a": r},)), "a cotangent of structure {'a': *}",
             StructureError)]:
        yield Case(f"custom_vjp: {name}", lambda rules=rules: ruled("vjp", *rules)(X), (words,), error)
    for name, rule, words, error in [
            ("no pair", lambda p, t: t[0], "must return a pair (value, tangent)", StructureError),
            ("None", lambda p, t: None, "must return a pair (value, tangent)", StructureError),
            ("another shape", lambda p, t: (np.sum(p[0]), t[0]), "has shape (3,), its value ()", CotangentShapeError),
            ("texts", lambda p, t: ("a", "b"), "other than numbers", StructureError),
            ("no linear tangent", lambda p, t: (np.sum(np.sin(p[0])), np.sum(t[0] * t[0])),
             "not linear in its tangents", NoDerivativeError)]:
        yield Case(f"custom_jvp: {name}", lambda rule=rule: ruled("jvp", rule)(X), (words,), error)
    for kind, rules in (("jvp", (None,)), ("vjp", (None, None)), ("vjp", (np.sin,)), ("jvp", ())):
        yield Case(f"def{kind}{rules}", lambda kind=kind, rules=rules: ruled(kind, *rules), (f"def{kind}",))
        yield Case(f"custom_{kind} without a rule",
                   lambda kind=kind: fad.grad(getattr(fad, f"custom_{kind}")(np.sum))(X),
                   ("has no derivative rule yet",))


def wrong_values() -> Iterator[Case]:
    """Arguments that have no derivative, and results that are no number, of every transform."""
    objects = {"a text": "a", "an object": object(), "a set": {1.0}, "a generator": iter([1.0]),
               "dates": np.array(["2020-01-01"], "M8[D]"), "records": np.zeros(2, [("a", float)]),
               "a function": np.sin, "an int": 3, "ints": np.arange(3), "truths": X > 1}
    for name in ("grad", "value_and_grad", "jacobian", "jacrev", "jacfwd", "hessian"):
        make = getattr(fad, name)
        for what, x in objects.items():
            yield Case(f"{name} at {what}", lambda make=make, x=x: make(np.sum)(x),
                       ("cannot differentiate with respect to an argument of",), IntegerArgumentError)
        for argnums in (-5, 1.0, None, 7, "x"):
            yield Case(f"{name}(argnums={argnums!r})",
                       lambda make=make, argnums=argnums: make(np.sum, argnums=argnums)(X), ("argnums",))
    for name in ("grad", "value_and_grad", "hessian"):
        for what, f in {"None": lambda x: None, "a text": lambda x: "a", "an int": lambda x: 3,
                        "a complex number": lambda x: np.sum(x) * 1j, "an object": lambda x: object(),
                        "two numbers": lambda x: (np.sum(x), np.sum(x)), "an array": lambda x: x * 2.0,
                        "a generator": lambda x: (v for v in x)}.items():
            yield Case(f"{name} of what returns {what}", lambda name=name, f=f: getattr(fad, name)(f)(X),
                       (name, "returns", "this one returned"), NotScalarError)
    for name in ("jacobian", "jacrev", "jacfwd"):
        for what, f in {"None": lambda x: None, "a text": lambda x: "a", "an object": lambda x: object(),
                        "a generator": lambda x: (v for v in x)}.items():
            yield Case(f"{name} of what returns {what}", lambda name=name, f=f: getattr(fad, name)(f)(X),
                       (f"fad.{name} needs a function that returns numbers",), NotScalarError)
    for name in ("hvp", "vhp"):
        yield Case(f"{name} of two numbers",
                   lambda name=name: getattr(fad, name)(lambda x: (np.sum(x), np.sum(x)), X, X),
                   ("returned 2 results",), NotScalarError)


def wrong_products() -> Iterator[Case]:
    """Tangents and cotangents that do not fit."""
    short, turned = np.ones(2), X * 1j
    _, pull = fad.vjp(np.sin, X)
    _, push = fad.linearize(np.sin, X)
    for name, call in {"jvp": lambda v: fad.jvp(np.sin, (X,), (v,)), "vjp": pull, "linearize": push,
                       "hvp": lambda v: fad.hvp(np.sum, X, v), "vhp": lambda v: fad.vhp(np.sum, X, v)}.items():
        yield Case(f"{name} along a shorter vector", lambda call=call: call(short), ("(2,)", "(3,)"),
                   CotangentShapeError)
        yield Case(f"{name} along complex numbers", lambda call=call: call(turned), ("complex",), CotangentShapeError)
    yield Case("jvp without tuples", lambda: fad.jvp(np.sin, X, X), ("jvp takes a tuple of primals",))
    yield Case("jvp of two lengths", lambda: fad.jvp(np.sin, (X,), (X, X)), ("jvp takes a tuple of primals",))
    yield Case("jvp at integers", lambda: fad.vjp(np.sin, np.arange(3)), ("cannot differentiate",),
               IntegerArgumentError)


def wrong_in_rooms() -> Iterator[Case]:
    """The functions of fad.functional, fad.sparse and fad.scipy.optimize."""
    for name in ("jacobian", "hessian", "vjp", "jvp", "hvp", "vhp"):
        f = getattr(fad.functional, name)
        yield Case(f"functional.{name}()", lambda f=f: f(np.sum), (f"{name} missing", "call it as"))
        yield Case(f"functional.{name}(foo=)", lambda f=f: f(np.sum, X, foo=1), (f"{name} takes no argument 'foo'",))
        yield Case(f"functional.{name} of None", lambda f=f: f(None, X),
                   (f"functional.{name} needs a function, not NoneType",))
        yield Case(f"functional.{name} at a text", lambda f=f: f(np.sum, "a"),
                   ("must be an array or a tuple of arrays",))
        if name not in ("jacobian", "hessian"):
            yield Case(f"functional.{name} along a shorter vector",
                       lambda f=f: f(np.sum if f is not fad.functional.vjp else np.sin, X, np.ones(2)),
                       ("v has invalid size",), CotangentShapeError)
    yield Case("functional.jacobian(strategy=)", lambda: fad.functional.jacobian(np.sum, X, strategy="x"),
               ('"reverse-mode" or "forward-mode"',))
    for pattern in (np.ones(3), "a", 3.0, np.ones((2, 2))):
        yield Case(f"sparse.jacobian(pattern={pattern!r})",
                   lambda pattern=pattern: fad.sparse.jacobian(np.sin, pattern=pattern)(X), ("pattern",))
    yield Case("sparse.jacobian(mode=)", lambda: fad.sparse.jacobian(np.sin, mode="x")(X), ("mode is",))
    yield Case("sparse.jacobian(format=)", lambda: fad.sparse.jacobian(np.sin, format="coo")(X), ("format is",))
    yield Case("sparse.jacobian at integers", lambda: fad.sparse.jacobian(np.sin)(np.arange(3)),
               ("cannot differentiate",), IntegerArgumentError)
    for name in ("minimize", "least_squares", "root", "curve_fit"):
        f = getattr(fad.scipy.optimize, name)
        yield Case(f"scipy.optimize.{name}()", f, (f"{name} missing", "call it as"))
        yield Case(f"scipy.optimize.{name} of None", lambda f=f, name=name: f(None, X, *[X] * (name == "curve_fit")),
                   ("function",))
        if name != "curve_fit":
            yield Case(f"scipy.optimize.{name}(foo=)", lambda f=f: f(np.sum, X, foo=1),
                       (f"{name} takes no argument 'foo'",))


CASES = [*no_numbers(), *wrong_steps(), *wrong_functions(), *wrong_keywords(), *too_few(), *wrong_arguments(),
         *wrong_settings(), *wrong_rules(), *wrong_values(), *wrong_products(), *wrong_in_rooms()]
