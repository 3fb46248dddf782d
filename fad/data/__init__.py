"""The data set that ships with fad: real measurements, public domain, their source named in the file."""

from importlib import resources

import numpy as np

__all__ = ["penguins", "PENGUIN_COLUMNS", "PENGUIN_SPECIES"]

PENGUIN_COLUMNS = ("bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g")
PENGUIN_SPECIES = ("Adelie", "Chinstrap", "Gentoo")


def penguins():
    """Measurements of 342 Palmer penguins, and the species of each: two arrays.

    The measurements have the columns ``PENGUIN_COLUMNS``; a species is an index into ``PENGUIN_SPECIES``.

    >>> measured, species = penguins()
    >>> measured.shape, species.shape
    ((342, 4), (342,))
    >>> measured[species == 2].mean(axis=0).round(1).tolist()      # an average Gentoo
    [47.5, 15.0, 217.2, 5076.0]

    Source: Gorman, Williams and Fraser (2014), PLoS ONE 9(3): e90081. Licence: CC0 1.0.
    """
    with resources.files(__name__).joinpath("penguins.csv").open(encoding="utf-8") as file:
        table = np.loadtxt((line for line in file if not line.startswith(("#", "bill"))), delimiter=",")
    return table[:, :4], table[:, 4].astype(np.int64)
