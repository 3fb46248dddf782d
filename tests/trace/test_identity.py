"""`a is b` of arrays is what Python says: of what NumPy's functions hand out, of arguments that are one array, of
arrays from outside."""
import importlib.util
import warnings

import numpy as np
import pytest

import fad
from fad.ops.override import find
from fad.util.errors import FadError

HEAD = """
import numpy as np
"""
ASKED = """
def f{k}(a):
    return np.sum(a) * (2.0 if ({expression}) is a else 5.0)
"""
SUBSCRIPTS = ["a[:]", "a[...]", "a[()]", "a[:, ...]", "a[::1]", "a[0:]", "a[0:a.shape[0]]", "a[:len(a)]", "a[a > -1]",
    "a[np.arange(len(a))]", "a[None][0]", "a[list(range(len(a)))]"]
CALLS = ["a.reshape(a.shape)", "a.reshape(*a.shape)", "np.reshape(a, a.shape)", "a.reshape(-1)", "a.view()",
    "a.copy()", "+a", "-(-a)", "a * 1", "a + 0", "a.astype(a.dtype)", "a.astype(a.dtype, copy=False)",
    "a.astype(float, copy=False)", "np.array(a)", "np.array(a, copy=False)", "np.asarray(a, dtype=a.dtype)",
    "np.asarray(a, float)", "np.require(a, requirements='W')", "a.transpose(*range(a.ndim))",
    "np.transpose(a, tuple(range(a.ndim)))", "a.swapaxes(0, 0)", "np.moveaxis(a, 0, 0)", "np.roll(a, 0)",
    "np.nan_to_num(a, copy=False)", "np.diff(a, n=0)", "np.rot90(np.atleast_2d(a), 0)", "np.clip(a, -9, 9)",
    "a.clip(-9, 9)", "np.where(True, a, a)", "np.stack([a])[0]", "np.broadcast_to(a, a.shape)",
    "np.broadcast_arrays(a, a)[0]", "np.concatenate([a])", "np.add(a, 1.0, out=a)", "np.abs(a)", "abs(a)",
    "np.full_like(a, 1)", "[a][0]", "(a, 1)[0]", "{'k': a}['k']", "max([a], key=len)", "(lambda b: b)(a)",
    "a.__iadd__(1)", "np.flip(a, ())", "np.expand_dims(a, ())", "a.squeeze(())", "np.tile(a, 1)",
    "np.repeat(a, 1, axis=0)", "np.conj(a)", "np.positive(a)", "np.ravel(a)", "a.__array__()", "np.sort(a)",
    "np.maximum(a, a)"]
METHODS = [f"a.{name}()" for name in ("ravel", "flatten", "squeeze", "transpose", "conj", "conjugate", "round", "copy",
                                      "view", "cumsum", "argsort", "sum", "tolist")]
PROPERTIES = [f"a.{name}" for name in ("T", "mT", "real", "imag", "base", "flat")]
FUNCTIONS = [f"np.{name}(a)" for name in sorted(vars(np)) if callable(getattr(np, name))
             and not isinstance(getattr(np, name), type) and find(getattr(np, name))]
# fad copies where NumPy does not: the laws of views are about that
OF_LAYOUTS = ("nan_to_num", "require", "asfortranarray", "broadcast_arrays", "conj")
EXPRESSIONS = [e for e in [*SUBSCRIPTS, *CALLS, *METHODS, *PROPERTIES, *FUNCTIONS]
               if not any(name in e for name in OF_LAYOUTS)]
ARRAYS = {"vector": np.array([0.3, 0.7, 1.1]), "matrix": np.array([[0.3, 0.7], [1.1, 0.2]]),
    "strided": np.arange(1.0, 7.0)[::2], "Fortran": np.array([[0.3, 0.7], [1.1, 0.2]]).T, "one": np.array([0.5]),
    "empty": np.zeros((0, 2)), "ints": np.array([1, 2, 3]), "complex": np.array([1.0 + 2.0j, 3.0]),
    "single": np.ones(2, np.float32)}


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    path = tmp_path_factory.mktemp("identity") / "asked_for_identity.py"
    path.write_text(HEAD + "".join(ASKED.format(k=k, expression=e) for k, e in enumerate(EXPRESSIONS)),
                    encoding="utf-8")
    spec = importlib.util.spec_from_file_location("asked_for_identity", path)
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return [(e, getattr(made, f"f{k}")) for k, e in enumerate(EXPRESSIONS)]


def outcome(f, a):
    held = (np.empty(2 * a.size, a.dtype)[::2].reshape(a.shape)
            if not (a.flags.c_contiguous or a.flags.f_contiguous) else a.copy(order="K"))
    held[...] = a
    try:
        return f(held), None
    except Exception as error:
        return None, error


@pytest.mark.parametrize("kind", ARRAYS)
def test_what_functions_hand_out(kind, asked):
    wrong = []
    with warnings.catch_warnings(), fad.config.using(compile="never"):
        warnings.simplefilter("ignore")
        for expression, f in asked:
            if kind not in ("vector", "matrix") and expression in FUNCTIONS:
                continue
            want, wants = outcome(f, ARRAYS[kind])
            found, refuses = outcome(fad.jit(f), ARRAYS[kind])
            if isinstance(refuses, FadError) or wants is not None:
                continue
            if refuses is not None or not np.allclose(found, want, equal_nan=True):
                wrong.append(f"{expression}: {found!r} {refuses!r} in place of {want!r}")
    assert not wrong, "\n".join(wrong)


OUTSIDE = np.array([1.0, 2.0])


def one_of_two(a, b):
    return np.sum(a * b) * (3.0 if a is b else 1.0)


def one_of_three(a, b, c):
    return np.sum(a * b * c) * (3.0 if a is b else 1.0) * (5.0 if b is not c else 1.0)


def one_from_outside(a):
    return np.sum(a * OUTSIDE) * (3.0 if a is OUTSIDE else 1.0)


def one_within(a, b):
    c = [a, b * 2.0]
    return np.sum(a * b) * (3.0 if c[0] is b else 1.0) * (7.0 if c[1] is b else 1.0)


def one_on_the_tape(a, b):
    table = {float(a[0]): 3.0}
    return np.sum(a * b) * (table[float(a[0])] if a is b else 1.0)


@pytest.mark.filterwarnings("ignore::fad.util.errors.FallbackWarning")
@pytest.mark.parametrize("tier", ["never", "now"])
@pytest.mark.parametrize("f", [one_of_two, one_of_three, one_from_outside, one_within, one_on_the_tape])
def test_arguments_that_are_one_array(f, tier):
    x, y = np.array([0.5, 2.0]), np.array([0.5, 2.0])
    count = f.__code__.co_argcount
    calls = [[x, y, x][:count], [x, x, x][:count], [y, x, x][:count], [OUTSIDE, x, y][:count], [x, x, y][:count],
             [x, y, x][:count]]
    with fad.config.using(compile=tier):
        value, gradient = fad.jit(f), fad.grad(f)
        for given in calls:
            assert np.isclose(value(*given), f(*given))
            factor = f(*given) / np.sum(np.prod([*given, *([OUTSIDE] if f is one_from_outside else [])], axis=0))
            want = factor * np.prod([*given[1:], *([OUTSIDE] if f is one_from_outside else [])], axis=0)
            assert np.allclose(gradient(*given), want)
