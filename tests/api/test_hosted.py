"""What fad.torch, fad.jax and fad.pytensor share, without any of these libraries."""
import importlib.util
import pickle

import numpy as np
import pytest

import fad
from fad.api.bridges.hosted import Hosted, Pulled, Pushed

x, y = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([0.5, -1.0])


def pair(x, y):
    return np.sin(x) @ y, np.sum(y ** 2) * x[0, 0], x > 2.0


def test_types_and_shapes_of_results_are_known_without_a_call():
    hosted = Hosted(pair, "torch.function")
    results = hosted.results((x, y))
    assert [(dtype.kind, rank) for dtype, rank in results.types] == [("f", 1), ("f", 0), ("b", 2)]
    assert results.moving == (0, 1) and not results.is_alone and hosted.shapes((x, y)) == ((2,), (), (2, 2))


@pytest.mark.parametrize("wanted", [(0,), (1,), (0, 1)])
def test_derivatives_are_hosted_functions_with_derivatives(wanted):
    hosted, gs = Hosted(pair, "torch.function"), (np.array([1.0, 2.0]), np.array(0.5))
    pulled = hosted.pulled(2, wanted, (0, 1))
    _, step = fad.vjp(lambda *args: pair(*args)[:2], x, y)
    assert all(np.allclose(g, step(gs)[k]) for k, g in zip(wanted, pulled((x, y, *gs))))
    again = pulled.pulled(4, (0, 3), tuple(range(len(wanted))))
    ones = [np.ones_like((x, y)[k]) for k in wanted]
    _, second = fad.vjp(lambda x, g: fad.vjp(lambda *args: pair(*args)[:2], x, y)[1]((gs[0], g)), x, gs[1])
    expected = second(tuple(np.ones_like(z) if k in wanted else np.zeros_like(z) for k, z in enumerate((x, y))))
    assert all(np.allclose(a, b) for a, b in zip(again((x, y, *gs, *ones)), expected))


def test_forward_mode_agrees_with_reverse_mode():
    hosted, tangent, gs = Hosted(pair, "torch.function"), np.ones((2, 2)), (np.array([1.0, 2.0]), np.array(0.5))
    pushed = hosted.pushed(2, (0,), (0, 1))((x, y, tangent))
    pulled, = hosted.pulled(2, (0,), (0, 1))((x, y, *gs))
    assert np.isclose(sum(np.sum(a * b) for a, b in zip(pushed, gs)), np.sum(pulled * tangent))


@pytest.mark.parametrize("make",
                         [lambda h: h, lambda h: h.pulled(2, (0,), (0, 1)), lambda h: h.pushed(2, (0,), (0, 1))])
def test_pickles_are_made_from_the_function(make):
    made = make(Hosted(pair, "torch.function"))
    again = pickle.loads(pickle.dumps(made))
    assert type(again) is type(made) in (Hosted, Pulled, Pushed) and repr(again) == repr(made)


@pytest.mark.parametrize("library, make",
                         [("torch", lambda: fad.torch.function), ("jax", lambda: fad.jax.function),
                          ("pytensor", lambda: fad.pytensor.op)])
def test_a_library_that_is_missing_is_named(library, make):
    if importlib.util.find_spec(library):
        pytest.skip(f"{library} is installed")
    with pytest.raises(ModuleNotFoundError, match=f"fad.{library} needs .* pip install"):
        make()(np.sum)
