"""The table of functions tells the truth where it was easy to get wrong."""

import importlib.util
import sys

import pytest

from .source import ROOT

DOCS = ROOT / "docs"
WORDS = {
    "numpy.sin": "yes", "numpy.where": "yes", "numpy.argmax": "zero", "numpy.sort": "yes", "numpy.nextafter": "no",
    "numpy.copyto": "yes", "scipy.spatial.distance.euclidean": "yes", "scipy.stats.wasserstein_distance": "yes",
    "scipy.stats.rv_frozen.cdf": "yes", "scipy.optimize.brentq": "yes", "scipy.optimize.milp": "no",
    "scipy.integrate.solve_ivp": "yes", "numpy.zeros": "zero",
}
SHARES = 6                                                   # of the table, which takes half a minute


@pytest.fixture(scope="module")
def module():
    sys.path.insert(0, str(DOCS))
    try:
        spec = importlib.util.spec_from_file_location("build_functions", DOCS / "build_functions.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module
    finally:
        sys.path.remove(str(DOCS))


@pytest.mark.parametrize("name", WORDS)
def test_word_of_a_function(module, name):
    overrides = {module.public(override.name): override for override in module.BY_NAME.values()}
    words = {name: word for name, word, _ in module.untraced()}
    assert (module.standing(overrides[name])[0] if name in overrides else words[name]) == WORDS[name]


@pytest.mark.parametrize("share", [0, *[pytest.param(k, marks=pytest.mark.slow) for k in range(1, SHARES)]])
def test_functions_that_are_called_constant_have_no_slope(module, share):
    """What is tried does not depend on what was tried before: some functions write to what they get."""
    standings = {override.name: module.standing(override) for override in list(module.BY_NAME.values())[share::SHARES]}
    flat = [name for name, (word, remark) in standings.items()
            if word == "zero" and remark.startswith("constant") and "frozen" not in name]
    assert flat and not [name for name in flat if module.slopes(name)]
