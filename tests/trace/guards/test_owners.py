"""Objects that a function finds by weak references end when Python ends them."""
import gc
import warnings
import weakref

import numpy as np
import pytest

import fad


class Node:
    def __init__(self, v):
        self.v, self.array = v, np.ones(2)


FOUND, NODES, LATEST = weakref.WeakValueDictionary(), weakref.WeakSet(), []


def summed(x):
    return sum(n.v for n in FOUND.values()) * np.sum(x)


def looped(x):
    t = 0.0
    for n in NODES:
        t = t + n.v * np.sum(n.array)
    return t * np.sum(x)


def asked(x):
    node = LATEST[0]()
    return np.sum(x) if node is None else node.v * np.sum(x)


def written(x):
    node = LATEST[0]()
    node.v, node.array = node.v * 0.5 + x[0], node.array * 0.5 + x
    return node.v * np.sum(x)


def on_the_tape(x):
    table = {float(x[0]): 1.0}
    return sum(n.v for n in NODES) * np.sum(x) * sum(table.values())


@pytest.mark.parametrize("transform", [fad.jit, fad.value_and_grad])
@pytest.mark.parametrize("f", [summed, looped, asked, written, on_the_tape])
def test_nothing_that_is_traced_lives_longer_than_its_owner_lets_it(f, transform):
    """A finished trace keeps nothing: what a weak reference leads to is gone at once, as in Python, without a
    collection."""
    node = Node(2.0)
    FOUND["node"], LATEST[:] = node, [weakref.ref(node)]
    NODES.add(node)
    g = transform(f)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fad.FallbackWarning)
        gc.disable()
        try:
            for k in range(3):
                g(np.ones(2) + k)
            del node
            assert LATEST[0]() is None and not FOUND and not NODES
        finally:
            gc.enable()
