"""Texts with traced values in them: for people as they stand, asked only where they are known, and Python's own on the
tape."""
import logging
import warnings
from types import SimpleNamespace

import numpy as np
import pytest

import fad
from fad.util.errors import FadError, FallbackWarning

X = np.array([0.3, 0.7, 1.1])
log = logging.getLogger(__name__)
FROZEN = {"layer1"}
WEIGHTS = SimpleNamespace(w1=3.0)
LEFT: list = []


def by_index(w):
    t = 0.0
    for i in range(3):
        if f"layer{i}" in FROZEN:
            continue
        weight = getattr(WEIGHTS, f"w{i}", 1.0) * {"1": 5.0}.get("%d" % i, 2.0)                 # noqa: UP031
        t = t + w[i] ** 2 * weight * {"#0": 7.0}.get("#{}".format(i), 1.0)                      # noqa: UP032
    return t


def by_index_deeper(w):
    t, seen = 0.0, {}
    for i in range(3):
        for j in range(2):
            seen[f"{i},{j}"] = w[i] * j
    for name in sorted(seen):
        t = t + seen[name] * (2.0 if name.startswith("1") else 3.0)
    return t


def by_size(w):
    return np.sum(w) * (2.0 if str(w.shape) == "(3,)" else 5.0) * (3.0 if f"{len(w):03d}" == "003" else 1.0)


def for_people(w):
    v = np.sum(w ** 2)
    messages = []
    for k in range(3):
        messages.append("step %d" % k)                                    # noqa: UP031
    "%.2f" % v                                                    # noqa: UP031
    f"{v:.3f}"
    log.info("loss %.3f", v)
    log.info(f"loss {v:.3f} of {w}")
    print(f"{v:.3f}", v, w)
    message = f"{v}: " + str(w)
    if w[0] > 10:
        raise ValueError(message)
    assert w[0] < 10, f"{v:.1f} is too much"
    return v


@pytest.mark.parametrize("tier", ["never", "now"])
@pytest.mark.parametrize("f", [by_index, by_index_deeper, by_size, for_people])
def test_programs_stay_programs(f, tier, capsys):
    with fad.config.using(compile=tier, fallback=False):
        assert np.isclose(fad.jit(f)(X), f(X))
        step = 1e-6 * np.eye(3)
        assert np.allclose(fad.grad(f)(X), [(f(X + h) - f(X - h)) / 2e-6 for h in step], rtol=1e-5)
        longer = np.arange(1.0, 5.0)
        if f is by_size:
            assert np.isclose(fad.jit(f)(longer), f(longer))


def branches(w):
    return np.sum(w) * (2.0 if f"{w[0]:.1f}" == "0.3" else 5.0)


def keyed(w):
    return np.sum(w) * {"0.3": 2.0}.get(str(float(w[0])), 5.0)


def returned(w):
    return np.sum(w), f"{w[0]:.2f}"


def key_of_the_result(w):
    return {f"n{len(w)}": np.sum(w)}


def left(w):
    LEFT.append(f"{w[0]:.2f}")
    return np.sum(w)


@pytest.mark.parametrize("f", [branches, keyed, returned, key_of_the_result, left])
def test_what_is_not_known_runs_on_the_tape(f):
    for x in (X, X + 0.1, X):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FallbackWarning)
            LEFT.clear()
            want, texts = f(x), list(LEFT)
            LEFT.clear()
            assert fad.jit(f)(x) == want and texts == LEFT
    with pytest.raises(FadError), fad.config.using(fallback=False):
        fad.jit(f)(X[:2] + 0.5)


def test_a_size_in_a_set_is_known():
    f = fad.jit(lambda w: (np.sum(w), {len(w)}), fallback=False)
    assert [f(np.ones(n)) for n in (3, 5, 3)] == [(3.0, {3}), (5.0, {5}), (3.0, {3})]


def test_an_error_of_the_function_says_the_number():
    class Diverged(Exception):
        pass

    def f(w):
        if len(w) == 3:
            raise Diverged(f"loss {np.sum(w):.2f}")
        return np.sum(w)
    with pytest.raises(Diverged) as found:
        fad.jit(f)(X)
    assert "loss" in str(found.value)


def test_what_a_warning_says(recwarn):
    def f(w):
        warnings.warn(f"the sum is {np.sum(w)}", stacklevel=1)
        return np.sum(w)
    assert np.isclose(fad.jit(f)(X), 2.1)
    assert any("the sum is" in str(w.message) for w in recwarn)


def test_a_wrong_format_is_the_functions_error():
    def f(w):
        v = np.sum(w)
        f"{v:d}"
        return v
    with pytest.raises(ValueError, match="Unknown format code"):
        fad.jit(f)(X)


def test_outside_a_trace_a_value_says_what_it_is():
    kept = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(FadError):
            fad.jit(lambda w: kept.append({w}) or np.sum(w), fallback=False)(X)
    assert all("traced" in repr(x) for x in kept)


def test_a_handler_has_a_record_of_each_call_and_its_numbers():
    class Keeping(logging.Handler):
        def __init__(self):
            super().__init__()
            self.records = []

        def emit(self, record):
            self.records.append(record)

    own, kept = logging.Logger("own"), Keeping()
    own.addHandler(kept)

    def f(x):
        own.info("sum %s, first %.2f", np.sum(x), x[0], extra={"first": x[0]})
        return np.sum(x ** 2)
    gradient = fad.grad(f)
    for k in (1.0, 2.0):
        np.testing.assert_allclose(gradient(k * np.ones(3)), 2 * k)
    assert [record.getMessage() for record in kept.records] == ["sum 3.0, first 1.00", "sum 6.0, first 2.00"]
    assert [record.first for record in kept.records] == [1.0, 2.0]
    assert {type(record.first) for record in kept.records} == {np.float64}


@pytest.mark.parametrize("use", ["len(text)", "(2.0 if text == 'low' else 3.0)", "(2.0 if text else 3.0)",
                                 "{'low': 2.0}.get(text, 3.0)", "(print(text) or 2.0)", "(kept.append(text) or 2.0)"])
def test_a_text_that_no_program_knows_belongs_to_the_tape(use, capsys):
    """One path makes it of a traced number, another one does not."""
    kept = []
    exec(f"def f(x):\n    text = 'low'\n    if x > 1.0: text = f'high {{x}}'\n    return x ** 2 * {use}",
         names := {"kept": kept})
    told = []
    for f in (names["f"], fad.jit(names["f"])):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", fad.FallbackWarning)
            told.append(([f(x) for x in (0.5, 1.5, 2.5)], capsys.readouterr().out, kept[:]))
        kept.clear()
    assert told[0] == told[1]


def test_a_difference_between_paths_is_told_by_its_place():
    class Result:
        pass

    def f(x):
        result = Result()
        result.message, result.size = None, 1.0
        if x > 1.0:
            result.message = "y" * 500
        return x * result.size
    with pytest.raises(FadError, match=r"in message, is None in one place and 'y+ \.\.\. y+' in another") as found:
        fad.jit(f, fallback=False)(2.0)
    assert len(str(found.value)) < 700
