"""The minimum cut against all subsets, on random graphs."""
import itertools
import random

import pytest

from fad.transforms.min_cut import minimum_cut


def is_cut(saved, uses, lost, needed):
    """Whether no lost value reaches a needed one but through a saved one."""
    reached, queue = set(), [v for v in lost if v not in saved]
    while queue:
        v = queue.pop()
        if v not in reached:
            reached.add(v)
            queue += [b for a, b in uses if a == v and b not in saved]
    return reached.isdisjoint(needed)


@pytest.mark.parametrize("seed", range(60))
def test_it_is_a_cut_and_none_is_cheaper(seed):
    r = random.Random(seed)
    n = r.randint(2, 8)
    uses = [(a, b) for b in range(n) for a in range(b) if r.random() < 0.4]
    lost, needed = [v for v in range(n) if r.random() < 0.4], [v for v in range(n) if r.random() < 0.4]
    cost = {v: r.randint(1, 9) for v in range(n)}
    saved = minimum_cut(uses, lost, needed, cost.get)
    assert is_cut(saved, uses, lost, needed)
    subsets = itertools.chain.from_iterable(itertools.combinations(range(n), k) for k in range(n + 1))
    assert sum(cost[v] for v in saved) == min(sum(cost[v] for v in s) for s in subsets if is_cut(s, uses, lost, needed))
