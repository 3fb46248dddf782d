"""Functions that read a variable under one name and write it under another: random ones, and those that were once
wrong."""
import pytest

from . import places, states
from .statement import Statement

# a function, and what changes outside between its calls
ONCE_WRONG = {
    "a list in a dict is written, another item of the dict is read": ("""
        S.TABLE['l'][0] = np.tanh(s)
        return s + y.sum() + T.get('u', 0.1) * y[1]""", ["pass", "T['u'] *= 0.9"]),
    "the dict of a function": ("return s + y.sum() * vars(counted)['rate']", ["counted.rate = 0.117"]),
    "an attribute and the dict of all": ("""
        vars(NS)['w'] = np.tanh(s)
        return s + y.sum() * vars(NS)['u'] + NS.__dict__.get('u')""", ["pass", "setattr(NS, 'u', 0.299)"]),
    "an array among the attributes": ("""
        v = OB.vec
        v += np.tanh(s)
        y = y * vars(OB)['vec'].sum()
        OB.vec = y[:2] * 1.0
        return s + y.sum() + vars(OB)['vec'][1]""", []),
    "the item under a property": ("""
        y = y * vars(OB)['_inner']
        OB.inner += 0.1
        return y.sum() * vars(OB)['_inner']""", []),
    "a name of the module": ("""
        vars(ME)['GAIN'] = s
        write_gain(0.3)
        return y.sum() * globals().get('GAIN', 2.0)""", ["pass", "GAIN = 0.7"]),
    "a class hides what its base has": ("""
        Base.share = y[1] * s
        return y.sum() * type(OB).share + OTHER.share""", ["pass", "Model.share = 0.479", "OTHER.share = 0.2"]),
    "a global name that gets what it has": ("""
        T = S.TABLE
        return y.sum() * T.get('u', 0.1)""", ["pass", "T = dict(T)"]),
}


@pytest.mark.parametrize("seed", range(16))
def test_random_functions_of_places(seed):
    assert places.report(seed) is None


@pytest.mark.parametrize("tier", ["interpreted", "compiled"])
@pytest.mark.parametrize("name", ONCE_WRONG)
def test_what_was_once_wrong(name, tier):
    text, changes = ONCE_WRONG[name]
    lines = [*["global T"] * ("T = " in text), "y, s = x * 1.0, 0.2", *map(str.strip, text.strip().splitlines())]
    body = [Statement("def f(x):", map(Statement, lines)), *map(Statement, changes)]
    for transform in (0, 1):
        assert states.calls_of(body, transform, tier, places.Run) is None
