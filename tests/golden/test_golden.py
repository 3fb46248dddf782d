"""The text of a few derivatives, word for word. FAD_GOLDEN=write writes the files anew."""
import os
import pathlib
import re

import numpy as np
import pytest

import fad
from fad.backend.emit import source

HERE = pathlib.Path(__file__).parent


def rosenbrock(x):
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def chain(x):
    return np.sum(np.exp(-x * x) * np.sin(x))


def logistic(w, X, y):
    return np.mean(np.logaddexp(0.0, -y * (X @ w)))


def softmax(x):
    e = np.exp(x - np.max(x, axis=1, keepdims=True))
    return np.sum((e / np.sum(e, axis=1, keepdims=True)) ** 2)


def smooth(x):
    y = x.copy()
    y[1:-1] = (x[:-2] + x[2:]) / 2
    return y @ y


CASES = [(rosenbrock, (9,)), (chain, (9,)), (logistic, (3,), (5, 3), (5,)), (softmax, (4, 3)), (smooth, (9,))]


@pytest.mark.parametrize("f, shapes", [(f, shapes) for f, *shapes in CASES], ids=[c[0].__name__ for c in CASES])
def test_text_is_what_it_was(f, shapes):
    args = [np.random.default_rng(0).standard_normal(s) for s in shapes]
    program, _ = fad.value_and_grad(f).program_for(*args)
    text = source(program.runner.func, f.__name__, guards=program.traced.guards)
    file = HERE / f"{f.__name__}.txt"
    if os.environ.get("FAD_GOLDEN") == "write":
        file.write_text(text, encoding="utf-8")
    assert re.sub(r" +# .*", "", text) == re.sub(r" +# .*", "", file.read_text(encoding="utf-8"))
