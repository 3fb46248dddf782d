"""Containers, objects and closures that the caller, or the function itself, puts anew at each call: their numbers and
arrays become inputs, whatever stands in between. Who else knows the thing sees that it is another one."""
import warnings

import numpy as np
import pytest

import fad

from ..fuzz.judge import executed

BEFORE = """
class Cfg:
    def __init__(self, a, w):
        self.a, self.w, self.names = a, w, {"k": [a, 2.0]}

    def reg(self, x):
        return self.a * np.sum(x ** 2)

class Vec(Cfg):
    def __getitem__(self, k):
        return self.names["k"][k]

    def __getattr__(self, name):
        if name != "extra":
            raise AttributeError(name)
        return self.a * 2.0

class Point(NamedTuple):
    a: float
    b: list

def layer(a, w):
    return lambda x: a * w * x

def base(a, x, b=1.0):
    return a * np.sum(x ** 2) + b * x[0]

class M:
    last = other = None
    many = []
"""
W = "k * np.ones(3)"
REBUILT = {                                                   # what is read of p -> how p is made before the k-th call
    "np.sum(x ** 2) * p['a'] + p['b'][0] * x[0]": "{'a': 1.0 + k, 'b': [2.0 * k, 3.0]}",
    "sum([v * x[0] for v in p['b']])": "{'a': 1.0, 'b': [2.0, 3.0 * k]}",
    "sum([v for n, v in p.items() if n != 'm']) * x[0] + len(p)": "{'a': 1.0 * k, 'm': 'l1', 'b': 2.0}",
    "p['a'] * x[0] if p['mode'] == 'l1' and p['on'] else x[1]": "{'a': 1.0 * k, 'mode': 'l1', 'on': True}",
    "np.sum(p['w'] * x) * p['n']": f"{{'w': {W}, 'n': k}}",
    "np.sum(p['w'] * x) * p['w'].sum()": "{'w': M.w}",
    "p.reg(x) + np.sum(p.w * x) + p.names['k'][0]": f"Cfg(1.0 + k, {W})",
    "p[0] * p.extra * p.reg(x)": f"Vec(1.0 + k, {W})",
    "p.a * sum(p.b) * x[0]": "Point(1.0 * k, [1.0, 2.0 * k])",
    "np.sum(p(x) ** 2)": f"layer(1.0 * k, {W})",
    "np.sum(p[0](p[1](x)))": f"[layer(1.0 * k, {W}), layer(2.0, np.ones(3))]",
    "p(x)": "functools.partial(base, 1.0 * k, b=2.0 * k)",
    "base(2.0 * p['a'][0], x) * (2.0 if p['a'] is p['b'] else 3.0)": "(lambda l: {'a': l, 'b': l})([1.0 * k, 2.0])",
}
PLACES = {                                                    # p -> the assignment, which state there is
    "P": ("P = {}", "P = None"),
    "M.p": ("M.p = {}", ""),
    "D['p']": ("D['p'] = {}", "D = {}"),
    "cell()": ("change({})", "def made(p):\n    def change(q):\n        nonlocal p\n        p = q\n"
               "    return (lambda: p), change\ncell, change = made(None)"),
}
X, V = np.array([1.0, 0.5, 0.25]), np.array([0.3, -0.2, 0.5])


def program(body, state=""):
    names = {"np": np, "k": 0}
    return executed(f"import functools\nfrom typing import NamedTuple\n{BEFORE}M.w = np.ones(3)\n{state}\n"
                    f"def f(x):\n    {body}", names)


def assert_follows(names, change, is_pure=True, calls=7, **options):
    """Values, gradients and what is left outside are those of a second copy of the program in plain Python."""
    plain = options.pop("plain")
    g = fad.value_and_grad(names["f"], compile="never", **options)
    for k in range(calls):
        for scope in (names, plain):
            scope["k"] = k
            exec(change(k), scope)
        x = X + 0.1 * k
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", fad.FallbackWarning)
            value, slope = g(x)
        if is_pure:
            difference = plain["f"](x + 1e-6 * V) - plain["f"](x - 1e-6 * V)
            assert np.isclose(slope @ V, difference / 2e-6, rtol=1e-5), k
        assert np.isclose(value, plain["f"](x)), k
        shown = [eval(names.get("SHOWN", "0"), scope) for scope in (names, plain)]
        assert repr(shown[0]) == repr(shown[1]), k


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("read", REBUILT)
def test_what_is_rebuilt_is_read_by_its_path(read, place, traces):
    put, state = PLACES[place]
    change = put.format(REBUILT[read])
    both = [program(f"p = {place}\n    return {read}", state) for _ in range(2)]
    assert_follows(both[0], lambda k: change, plain=both[1], fallback=False)
    assert len(traces) <= 4, len(traces)


ANEW = "P = {'a': 1.0 * k, 'b': [2.0 * k, 1.0]}"
OTHERS = {                                                    # bodies, and changes one after the other
    "another name": ("return np.sum(x) * P['a'] * (2.0 if P is M.other else 3.0)",
                     [ANEW, ANEW, ANEW, "P = M.other", ANEW, ANEW, "M.other = P"]),
    "written by another name": ("M.other['a'] = M.other['a'] * 0.5\n    return np.sum(x) * P['a']",
                                [f"{ANEW}; M.other = dict(P)", ANEW, ANEW, "M.other = P", ANEW, "P = M.other"]),
    "written": ("P['a'] += 1.0\n    P['b'].append(x[0])\n    return np.sum(x) * P['a'] * P['b'][-1]", [ANEW]),
    "kept": ("M.last = P\n    return np.sum(x) * P['a']", [ANEW]),
    "kept within": ("M.many.append(P['b'])\n    return np.sum(x) * P['b'][0]", [ANEW]),
    "kept by an object": ("M.last = Cfg(P['a'], P)\n    return np.sum(x) * M.last.w['a']", [ANEW]),
    "kept on one way": ("M.last = P['b'] if x[0] > 1.25 else M.last\n    return np.sum(x) * P['a']", [ANEW]),
    "other keys": ("return np.sum(x) * list(P.values())[0] * len(P)",
                   [ANEW, ANEW, "P = {'b': 3.0, 'a': 4.0 * k}", "P = {'a': 3.0}", ANEW]),
    "another class": ("return P.reg(x)", ["P = Cfg(1.0 * k, 0)", "P = Cfg(1.0 * k, 0)", "P = Vec(1.0 * k, 0)",
                                          "Vec.reg = lambda self, x: self.a * k * np.sum(x)", "P.a = 3.0 * k"]),
    "structure": ("return sum([P['a'] * x[j] for j in range(P['n'])]) + np.sum(np.ones(P['n']) * x[0])",
                  ["P = {'a': 1.0 * k, 'n': 2}", "P = {'a': 1.0 * k, 'n': k % 3 + 1}"]),
    "an array by two names": (
        "return np.sum(M.w * x) + np.sum(P['w'] * x ** 2) * (1.0 if P['w'] is M.w else 2.0)",
        ["P = {'w': M.w}", f"P = {{'w': {W}}}", f"P = {{'w': {W}}}", "P = {'w': M.w}", f"M.w = {W}", "M.w[0] = k"]),
    "a state of its own": ("M.s = {'m': 0.9 * M.s['m'] + np.sum(x), 't': M.s['t'] + 1, 'w': M.s['w'] * 0.5 + x}\n"
                           "    return np.sum(M.s['w'] * x) * M.s['m'] * M.s['t']",
                           ["M.s = {'m': 1.0 * k, 't': 0, 'w': np.ones(3)} if k % 4 == 0 else M.s"]),
}


STATE = "P = {'a': 1.0, 'b': [1.0, 1.0]}; M.other = {'a': 1.0, 'b': [1.0, 1.0]}"


@pytest.mark.parametrize("name", OTHERS)
def test_who_else_knows_the_thing_sees_that_it_is_another_one(name):
    body, changes = OTHERS[name]
    both = [program(body, STATE) for _ in range(2)]
    shown = ("P, M.many, M.last is P, M.last is P['b'] if 'b' in P else 0, [x is P['b'] for x in M.many], "
             "getattr(M, 's', 0), M.other, getattr(M.last, 'w', 0)") if "class" not in name else "vars(P)"
    both[0]["SHOWN"] = shown
    is_pure = all(word not in name for word in ("written", "kept", "state"))
    assert_follows(both[0], lambda k: changes[k % len(changes)], is_pure, calls=12, plain=both[1])


def test_a_state_that_the_function_makes_anew_costs_three_traces(traces):
    both = [program(OTHERS["a state of its own"][0], "M.s = {'m': 0.0, 't': 0, 'w': np.zeros(3)}") for _ in range(2)]
    both[0]["SHOWN"] = "M.s"
    assert_follows(both[0], lambda k: "", False, plain=both[1], fallback=False)
    assert len(traces) <= 3


@pytest.mark.parametrize(("result", "asked"), [
    ("P", "found is P"), ("{'p': [P]}", "found['p'][0] is P"), ("Cfg(P, 0)", "found.a is P"),
    ("P.reg", "found.__self__ is P"), ("lambda y: y * P.a", "found(1.0) == P.a"),
    ("lambda y: sum(y * M.w)", "found(k)")])
def test_no_copy_is_returned(result, asked):
    names = program(f"return ({result}), x * P.a * M.w", "P = Cfg(1.0, 0)")
    g = fad.jit(names["f"], compile="never")
    for k in range(1, 5):
        names["P"] = names["Cfg"](1.0 * k, 0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", fad.FallbackWarning)
            found, y = g(X)
        assert eval(asked, {**names, "found": found, "k": k}) and np.array_equal(y, k * X)
