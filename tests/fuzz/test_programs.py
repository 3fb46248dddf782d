"""Random programs of every generator, in portions that run side by side: a thousand of judge.py, dozens of each of the
others.

The seeds are the same in every run. The first portion of each generator is run, and of judge.py every twentieth one.
The others are left to `-m slow`: half an hour on two cores, due after a change of the tracer, of a pass or of the
backend. found.py has the programs that were once wrong.
"""
import importlib

import pytest

GENERATORS = {                                               # module: how many portions, of how many programs
    "judge": (40, 25),
    "arrays": (8, 5),
    "extents": (10, 10),
    "names": (7, 9),
    "aliases": (12, 5),
    "histories": (6, 10),
    "arguments": (3, 5),
    "compositions": (3, 5),
    "handlers": (2, 40),
    "recurrences": (4, 8),
    "eliminations": (4, 12),
    "ties": (4, 10),
    "dtypes": (8, 50),
    "tensors": (4, 150),
    "calls": (12, 4),
    "effects": (4, 30),
    "patterns": (4, 10),
    "nests": (15, 8),
    "overlaps": (12, 10),
    "zero_dims": (16, 10),
    "modes": (8, 60),
    "shifts": (4, 25),
    "distributed": (10, 10),
    "protocols": (4, 15),
    "places": (8, 12),
}
STEP = 20                                                    # between two portions that every run has
COMPILED = ("judge", "arrays")                               # of these one program in four portions is compiled, too


def _portions():
    return [pytest.param(name, portion, marks=[pytest.mark.slow] if portion % STEP else [])
            for name, (portions, _) in GENERATORS.items() for portion in range(portions)]


@pytest.mark.parametrize("name, portion", _portions())
def test_random_programs(name, portion):
    report, each = importlib.import_module(f".{name}", __package__).report, GENERATORS[name][1]
    seeds = range(portion * each, (portion + 1) * each)
    failures = [found for seed in seeds if (found := report(seed, compile=name in COMPILED and seed % (4 * each) == 0))]
    assert not failures, "\n\n".join(failures)
