"""Random programs of every generator, in portions that run side by side: a thousand of judge.py, some of each of the others.

The seeds are the same in every run. Of eight portions or more, every fourth one is run, of four or more every second
one; the others are left to `-m slow`. What a random program has shown to be wrong once is in found.py.
"""
import importlib

import pytest

GENERATORS = {                                               # module: how many portions, of how many programs
    "judge": (40, 25),
    "arrays": (8, 5),
    "extents": (10, 10),
    "names": (5, 12),
    "histories": (4, 15),
    "arguments": (3, 5),
    "compositions": (3, 5),
    "handlers": (2, 40),
    "recurrences": (4, 8),
    "eliminations": (4, 12),
    "ties": (4, 10),
    "dtypes": (4, 100),
    "tensors": (2, 300),
    "calls": (4, 12),
    "effects": (3, 40),
    "patterns": (4, 10),
    "nests": (8, 15),
    "zero_dims": (4, 40),
    "shifts": (4, 25),
    "distributed": (4, 25),
    "protocols": (4, 15),
}
COMPILED = ("judge", "arrays")                               # of these one program in four portions is compiled, too


def _portions():
    for name, (portions, _) in GENERATORS.items():
        step = 4 if portions >= 8 else 2 if portions >= 4 else 1
        for portion in range(portions):
            yield pytest.param(name, portion, marks=[pytest.mark.slow] if portion % step else [])


@pytest.mark.parametrize("name, portion", _portions())
def test_random_programs(name, portion):
    report, each = importlib.import_module(f".{name}", __package__).report, GENERATORS[name][1]
    seeds = range(portion * each, (portion + 1) * each)
    failures = [found for seed in seeds if (found := report(seed, compile=name in COMPILED and seed % (4 * each) == 0))]
    assert not failures, "\n\n".join(failures)
