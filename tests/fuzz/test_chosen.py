"""Random functions that choose objects by data; see chosen.py."""
import importlib

import pytest

from . import chosen
from .statement import Statement


@pytest.mark.parametrize("seed", range(12))
def test_random_functions_that_choose_objects(seed):
    assert chosen.report(seed) is None


def test_a_wrong_answer_about_what_was_chosen_is_seen(monkeypatch):
    body = [Statement("def f(x):",
                      [Statement("n = A if x[0] > 0.4137 else B"),
                       Statement("return x[1] * (2.0 if n is A else 3.0)")])]
    monkeypatch.setattr(importlib.import_module("fad.trace.regions.optional"), "may_be_same", lambda a, b: False)
    assert "instead of" in chosen.calls_of(body, "interpreted")


def test_what_is_not_guarded_is_seen(monkeypatch):
    body = [Statement("def f(x):", [Statement("n = A if x[0] > 0.4137 else B"), Statement("return x[1] * n.w")]),
            Statement("A.w = 3.0"), Statement("B.w = 5.0")]
    monkeypatch.setattr(importlib.import_module("fad.trace.regions.identity"), "_guard", lambda x, is_object: None)
    assert "instead of" in chosen.calls_of(body, "interpreted")
