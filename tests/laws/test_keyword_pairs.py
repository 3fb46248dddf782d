"""Two laws of every function that fad replaces: keywords mean together what they mean in NumPy, and derivatives are
right with each.

Values and dtypes of all pairs of keywords are NumPy's, and gradients with one keyword agree with differences of NumPy's
own function. A share of the functions is tried (see shares.py).
"""
import ast
import itertools
import random
import warnings
import zlib

import numpy as np
import pytest

import fad
from fad.util.errors import FadError

from ..texts import executed
from . import keywords as kw
from .shares import share
from .test_keywords import NAMES, OPEN, SCOPE, base_calls, given, said_of

MOST = 24                                                      # pairs that are tried of a call
# 0 / 0, which rounding makes any number
NOISE = ("scipy.signal.coherence",)
TRIED = [name for name in NAMES if name not in NOISE]
# written to, or given away, by every call: what differences call again is another array then
WRITING = ("copy", "out", "where", "like", "lwork")
PHASES = ("eig", "svd", "qr", "cholesky", "polar", "null_space")
HERMITIAN = ("eigh", "eigvalsh", "cho", "hermitian=True")  # derivatives are Hermitian (docs/kinks.md)
DATA = {name: kw.VALUES[name] for name in "xvS"}


def with_keywords(call, name, chosen):
    """The call with these keywords, as text; "" where it has one of them."""
    text = ast.unparse(call.tree)
    for key, value in chosen:
        found = kw.call_in(text, lambda called: called == kw.short(name))
        text = found.with_keyword(key, value) if found else ""
        if not text:
            return ""
    return text


def options(name):
    """(keyword, value) of a function, those aside that need an array of the result's shape."""
    found = kw.parameters(kw.original(name)).items()
    return [(k, v) for k, values in found if k not in ("out", "where", "output") for v in values]


@pytest.mark.parametrize("name", share(TRIED, 12))
def test_pairs_of_keywords(name):
    pairs = [p for p in itertools.combinations(options(name), 2) if p[0][0] != p[1][0]]
    pairs = random.Random(name).sample(pairs, min(MOST, len(pairs)))
    texts = [with_keywords(call, name, pair) for call in base_calls(name)[:3] for pair in pairs]
    said = [f"{text}: {answer}" for text in texts if text and not text.startswith(OPEN) and (answer := said_of(text))]
    assert not [s for s in said if "float32" not in s], "\n".join(said)


def loss_of(expression):
    """The weighted sum of an expression's results, as a function of x, v and S."""
    text = f"def f(x, v, S):\n{given(expression)}    x, v, S = x * 1.0, v * 1.0, S * 1.0\n    return {expression}"
    scope = dict(SCOPE)
    executed(text, scope)

    def loss(x, v, S):
        total = 0.0
        for y in parts(scope["f"](x, v, S)):
            for a in (np.real(y), np.imag(y)) if np.iscomplexobj(y) else (y,):
                total = total + np.sum(a * np.cos(1.0 + np.arange(np.size(a)).reshape(np.shape(a))))
        return total
    return loss


def parts(y):
    if isinstance(y, (tuple, list)):
        return [a for part in y for a in parts(part)]
    return [] if y is None or isinstance(y, str) or np.result_type(y).kind not in "fc" else [y]


def slopes(f, directions):
    """The slope of f along the directions, by differences of two steps."""
    xs = list(DATA.values())
    return [(f(*[x + h * d for x, d in zip(xs, directions)]) - f(*[x - h * d for x, d in zip(xs, directions)]))
            / (2 * h) for h in (1e-5, 3e-6)]


def mistake(expression):
    """What is wrong with the gradient: "" if nothing, or where fad refuses, or where differences do not settle."""
    loss, rng = loss_of(expression), np.random.default_rng(zlib.crc32(expression.encode()))
    directions = [rng.standard_normal(x.shape) for x in DATA.values()]
    with warnings.catch_warnings(), np.errstate(all="ignore"), fad.config.using(compile="never"):
        warnings.simplefilter("ignore")
        try:
            first, second = slopes(loss, directions)
            gs = fad.grad(loss, argnums=(0, 1, 2))(*DATA.values())
        except (FadError, ValueError, TypeError, IndexError, RuntimeError, np.linalg.LinAlgError):
            return ""
    got = sum(np.sum(g * d) for g, d in zip(gs, directions))
    settled = np.isfinite(first) and abs(first - second) < 1e-4 * (1 + abs(first))
    return f"{got} for {first}" if settled and np.isfinite(got) and abs(got - first) > 1e-3 * (1 + abs(first)) else ""


def is_smooth(expression):
    """Whether differences can judge: no rounding to float32, no phases, no Hermitian convention."""
    return not any(word in expression for word in ("f4", "float32", "int", "bool", *PHASES, *HERMITIAN))


@pytest.mark.parametrize("name", share(TRIED, 24))
def test_derivatives_with_keywords(name):
    texts = [with_keywords(call, name, [option]) for call in base_calls(name)[:4] for option in options(name)
             if option[0] not in WRITING]
    said = [f"{text}: {answer}" for text in texts if text and is_smooth(text) and (answer := mistake(text))]
    assert not said, "\n".join(said)
