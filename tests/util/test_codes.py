"""What is known of code objects goes with them."""
import gc
import weakref

import numpy as np

import fad
from fad.util.codes import CodeFacts


def test_facts_go_with_their_code():
    facts, found = CodeFacts(), []
    for k in range(50):
        f = eval(f"lambda: {k}")
        assert facts.of(f.__code__, lambda k=k: k) == facts.of(f.__code__, lambda: None) == k
        found.append(len(facts))
    assert max(found) <= 2


def test_a_code_object_at_the_place_of_another_has_facts_of_its_own():
    facts, kept = CodeFacts(), []
    for k in range(200):                                     # Python uses the memory of the last one again
        f = eval(f"lambda: {k}")
        kept.append(facts.of(f.__code__, lambda k=k: k))
        del f
    assert kept == list(range(200))


def test_code_that_was_traced_is_freed():
    X, codes = np.ones(3), []
    for k in range(40):
        f = eval(f"lambda x: np.sum(x) * {k}.5", {"np": np})
        codes.append(weakref.ref(f.__code__))
        with fad.config.using(compile="never"):
            assert fad.grad(f)(X)[0] == k + 0.5
    del f
    gc.collect()
    assert sum(ref() is not None for ref in codes) <= 1
