"""The table of functions tells the truth where it was easy to get wrong."""

import importlib.util
import sys

import pytest

from .source import ROOT

DOCS = ROOT / "docs"
WORDS = {
    "numpy.sin": "yes", "numpy.where": "yes", "numpy.argmax": "zero", "numpy.sort": "yes", "numpy.nextafter": "no", "numpy.copyto": "yes",
    "scipy.spatial.distance.euclidean": "yes", "scipy.stats.wasserstein_distance": "yes", "scipy.stats.rv_frozen.cdf": "yes",
    "scipy.optimize.brentq": "yes", "scipy.optimize.milp": "no", "scipy.integrate.solve_ivp": "yes", "numpy.zeros": "zero",
}


@pytest.fixture(scope="module")
def table():
    sys.path.insert(0, str(DOCS))
    try:
        spec = importlib.util.spec_from_file_location("build_functions", DOCS / "build_functions.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module, {name: (word, remark) for name, word, remark in module.functions()}
    finally:
        sys.path.remove(str(DOCS))


@pytest.mark.parametrize("name", WORDS)
def test_word_of_a_function(table, name):
    assert table[1][name][0] == WORDS[name]


def test_functions_that_are_called_constant_have_no_slope(table):
    """What is tried does not depend on what was tried before: some functions write to what they get."""
    module, rows = table
    flat = [name for name, (word, remark) in rows.items() if word == "zero" and remark.startswith("constant") and "frozen" not in name]
    assert len(flat) > 10 and not [name for name in flat if name in module.BY_NAME and module.slopes(name)]
