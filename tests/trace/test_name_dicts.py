"""`vars(o)`, `o.__dict__` and `globals()` in traced functions: dicts whose items are variables."""
import copy

import numpy as np
import pytest

import fad

from ..turns import in_tiers

X = np.array([0.3, 0.4])
RATE = 0.5


class Model:
    def __init__(self, **given):
        self.__dict__.update(given)

    def doubled(self):
        return {name: 2.0 * value for name, value in vars(self).items()}


M = Model(a=0.5, b=np.array([1.0, 2.0]))


def of_an_object_made_inside(x):
    return sum(v.sum() for v in vars(Model(a=x, b=2 * x)).values())


def given_as_keywords(x):
    return Model(**vars(M)).a * x.sum()


def merged(x):
    return (({**vars(M), "c": 1}["b"] + (vars(M) | {"b": x})["b"]) * dict(vars(M))["b"]).sum()


def asked_for_names(x):
    d = vars(M)
    return x.sum() * ("a" in d) * len(d) * len(sorted(d)) * d.get("none", 2.0)


def of_a_dict_s_class(x):
    return x.sum() * isinstance(vars(M), dict) * (type(vars(M)) is dict)


def copied(x):
    return (copy.copy(vars(M))["b"] * copy.deepcopy(vars(M))["b"] * M.doubled()["b"] * x).sum()


def popped(x):
    o = Model(a=x)
    return (o.__dict__.pop("a") * vars(o).setdefault("q", x)).sum() * (vars(Model(k=1)) == {"k": 1})


def changed_by_a_loop(x):
    o = Model(s=0.0)
    d = vars(o)
    for k in range(len(x)):
        if x[k] > 0.35:
            d["s"] += x[k]
    return o.s


def one_name_after_the_other(x):
    o = Model()
    o.__dict__.update(vars(M))
    for name in vars(M):
        setattr(o, name, vars(o)[name] * 2.0)
    return (o.b * x).sum()


def global_names(x):
    globals()["RATE"] = x.sum()
    return RATE * globals().get("RATE") * ("RATE" in globals()) * globals().get("NONE", 3.0)


def global_names_of_a_text(x):
    return x.sum() * eval("globals()['RATE']")


FUNCTIONS = [of_an_object_made_inside, given_as_keywords, merged, asked_for_names, of_a_dict_s_class, copied, popped,
             changed_by_a_loop, one_name_after_the_other, global_names, global_names_of_a_text]


@pytest.mark.parametrize("f, policy", in_tiers(FUNCTIONS))
def test_the_dict_is_another_way_to_the_names(f, policy, monkeypatch):
    monkeypatch.setitem(globals(), "RATE", 0.5)
    want = f(X)
    with fad.config.using(compile=policy):
        for _ in range(2):
            monkeypatch.setitem(globals(), "RATE", 0.5)
            assert fad.jit(f, fallback=False)(X) == pytest.approx(want)


def test_the_dict_of_attributes_is_returned():
    g = fad.jit(lambda x: (vars(Model(a=x)), vars(M)), fallback=False)
    for _ in range(2):
        made, outer = g(X)
        assert type(made) is type(outer) is dict
        np.testing.assert_array_equal(made["a"], X)
        np.testing.assert_array_equal(outer["b"], M.b)


def test_the_dict_of_attributes_left_outside_is_pythons():
    def f(x):
        M.kept = vars(Model(z=x))
        return x.sum()
    try:
        with pytest.warns(fad.FallbackWarning):
            fad.jit(f)(X)
        assert type(M.kept) is dict
        np.testing.assert_array_equal(M.kept["z"], X)
    finally:
        del M.kept
