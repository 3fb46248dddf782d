"""What a transform keeps of the functions that it was given, and for how long."""
import ast
import functools
import gc
import weakref

import numpy as np
import pytest

import fad
from fad.api.calls.transform_cache import OTHERS
from fad.ir.graph import Equation, Func
from fad.trace.frontend.origin import FILES
from fad.trace.guards.guard import Guard

from ..texts import executed

X = np.ones(10)


class Model:
    def __init__(self):
        self.data = np.ones(10)

    def loss(self, x):
        return np.sum(self.data * x * x)

    def __call__(self, x):
        return self.loss(x)


TRANSFORMS = {
    "grad": lambda f: fad.grad(f)(X), "hessian": lambda f: fad.hessian(f)(X), "jit": lambda f: fad.jit(f)(X),
    "jvp": lambda f: fad.jvp(f, (X,), (X,)), "vjp": lambda f: fad.vjp(f, X)[1](1.0),
    "linearize": lambda f: fad.linearize(f, X)[1](X),
    "hvp": lambda f: fad.hvp(f, X, X), "vhp": lambda f: fad.vhp(f, X, X),
    "vmap": lambda f: fad.vmap(f)(np.ones((2, 10))),
}
CALLABLES = {
    "a lambda": lambda model: lambda x: model.loss(x),
    "a transform": lambda model: fad.jit(model.loss),
    "a method": lambda model: model.loss,
    "an object": lambda model: model,
    "a partial": lambda model: functools.partial(lambda model, x: model.loss(x), model),
}


@pytest.mark.parametrize("kind", CALLABLES)
@pytest.mark.parametrize("name", TRANSFORMS)
def test_a_model_is_freed_with_its_function(name, kind):
    models = []
    for _ in range(3 * OTHERS):
        model = Model()
        TRANSFORMS[name](CALLABLES[kind](model))
        models.append(weakref.ref(model))
    del model
    gc.collect()
    assert sum(model() is not None for model in models) <= (0 if kind in ("a lambda", "a transform") else OTHERS)


@pytest.mark.parametrize("name", ["jvp", "vjp", "hvp"])
@pytest.mark.parametrize("kind", ["a transform", "a method", "an object"])
def test_a_function_that_counts_its_calls_is_traced_once(name, kind):
    class Counting(Model):
        calls = 0

        def loss(self, x):
            self.calls += 1
            return super().loss(x)
    model = Counting()
    f = CALLABLES[kind](model)
    traces = []
    for _ in range(5):
        TRANSFORMS[name](f if kind == "a transform" else CALLABLES[kind](model))
        traces.append(model.calls)
    assert len(set(np.diff(traces))) == 1                     # each call counts once, and no trace counts


def things_of_fad() -> int:
    """How many equations, programs, nodes of syntax trees and guards there are."""
    gc.collect()
    return sum(issubclass(type(x), (Equation, Func, ast.AST, Guard)) for x in gc.get_objects())


def test_programs_trees_and_guards_are_freed_with_their_functions(idle_compiler):
    """As in a notebook whose cells run all day."""
    def cell(k):
        text = f"class Model:\n    rate = {k}.5\ndef loss(x):\n    return np.sum(np.sin(x) * Model.rate + {k})\n"
        loss = executed(text, {"np": np})["loss"]
        fad.grad(loss)(X), fad.jvp(fad.jit(loss), (X,), (X,)), fad.hvp(functools.partial(loss), X, X)
    counts = []
    with fad.config.using(compile="never"):
        for part in range(3):
            for k in range(FILES):
                cell(FILES * part + k)
            counts.append(things_of_fad())
    assert counts[2] - counts[1] <= 2 * FILES, counts         # the tree of one such function has 34 nodes
