"""The penguins are all there, as they were published."""

import numpy as np

from fad.data import PENGUIN_COLUMNS, PENGUIN_SPECIES, penguins


def test_shape_and_types():
    measured, species = penguins()
    assert measured.shape == (342, len(PENGUIN_COLUMNS)) and measured.dtype == np.float64
    assert species.shape == (342,) and set(species) == set(range(len(PENGUIN_SPECIES)))


def test_published_summaries():
    """Counts and means as the data's own documentation gives them."""
    measured, species = penguins()
    assert np.bincount(species).tolist() == [151, 68, 123]
    np.testing.assert_allclose(measured.mean(axis=0), [43.92, 17.15, 200.9, 4202.0], rtol=5e-4)
    assert measured.min(axis=0).tolist() == [32.1, 13.1, 172.0, 2700.0]
    assert measured.max(axis=0).tolist() == [59.6, 21.5, 231.0, 6300.0]


def test_each_call_gives_fresh_arrays():
    penguins()[0][:] = 0
    assert penguins()[0].min() > 0
