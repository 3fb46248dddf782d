"""The fast path gives what the general path gives: values, dtypes, structures, writes and errors, whatever changes
between calls."""
import dataclasses
import warnings
from typing import Any

import numpy as np
import pytest

import fad
from fad.api.calls.staged import Staged

from .arguments import Box, Layer, Pair, changed, random_tree, twin


def total(node: Any, scale: float = 1.0) -> Any:
    """A scalar function of any tree."""
    if isinstance(node, dict):
        return sum([total(node[k], scale * (2.0 + n)) for n, k in enumerate(node)])
    if isinstance(node, (list, tuple)):
        return sum([total(x, scale * (1.5 + n)) for n, x in enumerate(node)])
    if isinstance(node, Layer):
        return total(node.w, scale) * 3.0 + total(node.b, scale)
    if isinstance(node, Box):
        return total(node.content, scale + len(node.label))
    return 0.0 if node is None else scale * np.sum(node * node).real


def mapped(node: Any, scale: float = 2.0) -> Any:
    """A tree of any tree."""
    if isinstance(node, dict):
        return type(node)({k: mapped(node[k], scale) for k in node})
    if isinstance(node, Pair):
        return Pair(mapped(node.left, scale), "a text")
    if isinstance(node, (list, tuple)):
        return type(node)([mapped(x, scale) for x in node])
    if isinstance(node, Layer):
        return Layer(mapped(node.w, scale), None)
    if isinstance(node, Box):
        return Box(mapped(node.content, scale), node.label)
    return None if node is None else node * scale


def doubled(node: Any) -> Any:
    """It writes to the arrays of a tree, one after the other."""
    if isinstance(node, dict):
        return sum([doubled(node[k]) for k in node])
    if isinstance(node, (list, tuple)):
        return sum([doubled(x) for x in node])
    if isinstance(node, Layer):
        return doubled(node.w) + doubled(node.b)
    if isinstance(node, Box):
        return doubled(node.content)
    if isinstance(node, np.ndarray) and node.ndim:
        node *= 2.0
    return 0.0 if node is None else np.sum(node)


def shape_of(x: Any) -> Any:
    """A result, or arguments, as something that == compares: classes, orders of keys, dtypes, shapes."""
    if isinstance(x, dict):
        return type(x), [(k, shape_of(v)) for k, v in x.items()]
    if isinstance(x, (list, tuple)):
        return type(x), [shape_of(v) for v in x]
    if dataclasses.is_dataclass(x):
        return type(x), shape_of(x.w), shape_of(x.b)
    if isinstance(x, Box):
        return type(x), shape_of(x.content), x.label
    if isinstance(x, np.ndarray):
        return type(x), x.dtype.newbyteorder("="), x.shape
    return (type(x), x) if isinstance(x, (str, int, type(None))) else type(x)


def numbers_of(x: Any) -> list:
    if isinstance(x, dict):
        return [n for v in x.values() for n in numbers_of(v)]
    if isinstance(x, (list, tuple)):
        return [n for v in x for n in numbers_of(v)]
    if isinstance(x, (Layer, Box)):
        return [n for v in vars(x).values() for n in numbers_of(v)]
    return [] if isinstance(x, (str, type(None))) else [np.asarray(x)]


def outcome(call: Any, args: tuple, kwargs: dict) -> Any:
    """What a call returns or raises, and its arguments after it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            result = call(*args, **kwargs)
        except Exception as error:
            return (type(error), str(error).partition("\n")[0]), numbers_of(args)
    return (shape_of(result), shape_of(args)), [*numbers_of(result), *numbers_of(args)]


def slowly(g: Staged) -> Any:
    """g, always by the general path."""
    def call(*args: Any, **kwargs: Any) -> Any:
        g.latest, g.recent = None, ()
        return g(*args, **kwargs)
    return call


TRANSFORMS = {
    "value_and_grad": (lambda: fad.value_and_grad(total), True),
    "map": (lambda: fad.jit(mapped), False),
    "writes": (lambda: fad.jit(doubled), True),
    "grad with keyword": (lambda: fad.grad(total), True),
}


@pytest.mark.parametrize("name", TRANSFORMS)
@pytest.mark.filterwarnings("ignore::fad.util.errors.FallbackWarning")
def test_both_paths_agree(name, monkeypatch):
    make, real = TRANSFORMS[name]
    asked, before = [], Staged._call
    monkeypatch.setattr(Staged, "_call", lambda self, args, kwargs: asked.append(self) or before(self, args, kwargs))
    calls = slow = 0
    for seed in range(8):
        r = np.random.default_rng([seed, len(name)])
        g, h = fad.jit(make(), compile="now"), fad.jit(make(), compile="now")
        trees = [random_tree(r, real=real)]
        for _ in range(8):
            kwargs = {"scale": float(r.normal())} if "keyword" in name and r.random() < 0.7 else {}
            for tree in (trees[-1], trees[-1], trees[int(r.integers(len(trees)))]):
                got, want = outcome(g, (twin(tree),), kwargs), outcome(slowly(h), (twin(tree),), kwargs)
                calls += 1
                assert got[0] == want[0]
                for x, y in zip(got[1], want[1], strict=True):
                    np.testing.assert_array_equal(x, y)
            trees.append(changed(trees[-1], r, real))
        slow += sum(one is g for one in asked)
    assert slow < calls / 2                                   # the law compares two paths
