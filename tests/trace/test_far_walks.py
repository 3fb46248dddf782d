"""Objects that lead to thousands of others (a test case of unittest leads to all tests): what a function that writes to
one is asked about them takes steps in proportion to their number."""
import numpy as np
import pytest
from scipy.optimize import OptimizeResult

import fad
from fad.trace.heap import opaque
from fad.trace.outcome import leaks
from fad.util.reach import reached, referents


class Node:
    def __init__(self, k):
        self.k, self.links = k, []


def web(n):
    """n objects. Links lead from each of them to all others."""
    nodes = [Node(k) for k in range(n)]
    for k, node in enumerate(nodes):
        node.links += [nodes[k - 1], nodes[(k + 1) % n], nodes[(3 * k) % n]]
    return nodes


def kept(nodes, x):
    nodes[0].seen = [x[0] if x[0] > 1.0 else None, *nodes]
    return np.sum(x ** 2)


@pytest.mark.filterwarnings("ignore::fad.FallbackWarning")
def test_the_search_for_traced_values_goes_to_each_object_a_few_times(monkeypatch):
    counts = []
    for n in (100, 200):
        asked, nodes = [], web(n)
        monkeypatch.setattr(leaks, "referents", lambda x, asked=asked: asked.append(type(x)) or referents(x))
        fad.grad(lambda x, nodes=nodes: kept(nodes, x))(np.array([1.3, 2.2, 2.5]))
        assert nodes[0].seen == [1.3, *nodes]
        counts.append(asked.count(Node))
    assert n / 2 < counts[1] < 10 * n and counts[1] < 2.5 * counts[0]


def test_a_traced_value_leads_a_walk_to_nothing_else(monkeypatch):
    met = []

    def counted(values, parts):
        for x in reached(values, parts):
            met.append(x)
            yield x
    monkeypatch.setattr(opaque, "reached", counted)

    kept = np.zeros(3)

    def made(x):
        kept[0] = x[0]                                        # from here on it is asked what library code reads
        return np.sum(OptimizeResult(x=x, fun=x[0]).x ** 2)
    np.testing.assert_allclose(fad.grad(made, fallback=False)(np.ones(3)), 2.0)
    assert 0 < len(met) < 200                                 # the trace, and all that it holds, is 40,000
