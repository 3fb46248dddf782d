"""Random programs of every generator, in portions that run side by side: a thousand of judge.py, dozens of each of the
others.

The seeds are the same in every run. The first portion of each generator is run, and of judge.py every eightieth one.
The others are left to `-m slow`: half an hour on two cores, due after a change of the tracer, of a pass or of the
backend. found.py has the programs that were once wrong.
"""
import importlib

import pytest

GENERATORS = {                                               # module: how many portions, of how many programs
    "judge": (160, 7),
    "arrays": (24, 2),
    "extents": (20, 5),
    "names": (14, 5),
    "aliases": (24, 3),
    "histories": (30, 2),
    "arguments": (6, 3),
    "compositions": (6, 3),
    "handlers": (8, 10),
    "recurrences": (8, 4),
    "eliminations": (8, 6),
    "ties": (20, 2),
    "dtypes": (32, 13),
    "tensors": (16, 38),
    "calls": (48, 1),
    "effects": (8, 15),
    "patterns": (8, 5),
    "nests": (30, 4),
    "overlaps": (24, 5),
    "zero_dims": (32, 5),
    "modes": (16, 30),
    "shifts": (8, 13),
    "distributed": (20, 5),
    "protocols": (16, 4),
    "places": (16, 6),
}
STEP = 80                                                    # between two portions that every run has
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
