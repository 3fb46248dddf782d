"""A law of every function and method that fad replaces: each keyword of the original means what it means there.

Or it is refused. What NumPy itself does not take is passed over.
"""
import ast
import inspect
import textwrap
import warnings
from functools import lru_cache

import numpy as np
import pytest
import scipy.fft
import scipy.fftpack
import scipy.interpolate
import scipy.linalg
import scipy.ndimage
import scipy.signal
import scipy.stats

from fad.ir.walk import evaluate
from fad.ops import override as overrides
from fad.ops.keywords import CHANGE_NOTHING
from fad.trace.tracing import trace
from fad.util.errors import FadError, SideEffectError, UnsupportedFunctionError

from ..texts import executed
from ..turns import in_turn
from . import keywords as kw

SCOPE = {"np": np, "sp": scipy.special, "la": scipy.linalg, "stats": scipy.stats, "signal": scipy.signal,
         "ndimage": scipy.ndimage, "sfft": scipy.fft, "fftpack": scipy.fftpack, "distance": scipy.spatial.distance,
         "integrate": scipy.integrate, "interpolate": scipy.interpolate, "i": np.array([2, 0, 2])}
# ufuncs are all called alike
SPECIAL = ("erf", "xlogy", "logit", "logsumexp", "softmax", "log_softmax", "factorial", "zeta", "multigammaln")
# values that NumPy leaves open
UNDEFINED = ("numpy.empty", "numpy.empty_like", "numpy.einsum_path", "numpy.partition", "numpy.argpartition")


def is_tried(name):
    """Whether a function is one that the law can call: of arrays, by its own name, with a result that is determined."""
    owner = name.rpartition(".")[0].rpartition(".")[2]
    return not (name.startswith(kw.LATER) or owner.startswith(("_", "rv_", "ABC")) or name in UNDEFINED
                or name.startswith("scipy.special") and name.rpartition(".")[2] not in SPECIAL)


NAMES = [n for n in sorted(overrides.BY_NAME) if is_tried(n)]
METHODS = sorted(n for n in {*overrides.METHODS} if not n.startswith("_") and callable(getattr(np.ndarray, n, None)))
OPEN = ("np.argsort(P",)                                       # the order of ties
REFUSED = ("the rank is deficient, and the residual",)         # what is refused as the program runs
PHASES = "eigh", "eig(", "svd"                                 # vectors are determined up to a sign or phase


def given(expression):
    """The line that makes P, where an expression names it."""
    return "    P = S @ S.T + 4 * np.eye(4)\n" if "P" in expression else ""


def function_of(*expressions):
    """The expressions as one function of x, v and S; arrays that each is given to write to come with its result."""
    lines = [f"    x, v, S = a * 1.0, b * 1.0, c * 1.0\n{given(e)}    found += [[fields({e}), x, v, S]]\n"
             for e in expressions]
    scope = dict(SCOPE, fields=fields)
    executed(f"def f(a, b, c):\n    found = []\n{''.join(lines)}    return found\n", scope)
    return scope["f"]


def fields(y):
    """A named tuple without the attributes that it may have beside its fields."""
    return tuple(y) if hasattr(y, "_fields") else y


def arrays_in(y):
    if isinstance(y, dict):
        y = tuple(y.values())
    if isinstance(y, (tuple, list)):
        return [a for part in y for a in arrays_in(part)]
    return [] if y is None or isinstance(y, (str, type, np.dtype)) else [np.asarray(y)]


ARGS = list(kw.VALUES.values())


def plain(f):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with np.errstate(all="ignore"):
            return arrays_in(f(*[a.copy() for a in ARGS]))


def wanted_of(expression):
    """NumPy's arrays; None where it raises, or where they hold no numbers."""
    try:
        want = plain(function_of(expression))
    except Exception:
        return None
    return want if all(y.dtype.kind in "biufc" for y in want) else None


def compared(wanted):
    """What is wrong with fad's answers to expressions, in one program. NumPy's answers are known."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        traced = trace(function_of(*wanted), ARGS)
        with np.errstate(all="ignore"):
            got = evaluate(traced.func, [*ARGS, *traced.captured])
    return difference(got, sum(wanted.values(), []), any(name in e for name in PHASES for e in wanted))


def said_of(expression):
    """What is wrong with fad's answer: "" where it is NumPy's, or a refusal; None where NumPy itself raises."""
    want = wanted_of(expression)
    try:
        return None if want is None else compared({expression: want})
    except (FadError, np.exceptions.AxisError):
        return ""
    except Exception as e:
        return "" if str(e).startswith(REFUSED) else f"{type(e).__name__}: {str(e)[:150]}"


def are_all_right(wanted):
    """Whether fad computes all of these expressions in one program, and as NumPy does."""
    try:
        return compared(wanted) == ""
    except Exception:
        return False


def difference(got, want, to_phase=False):
    if len(got) != len(want):
        return f"{len(got)} results for {len(want)}"
    for a, b in zip(map(np.asarray, got), want):
        if a.dtype != b.dtype or a.shape != b.shape:
            return f"{a.dtype}{a.shape} for {b.dtype}{b.shape}"
        if to_phase:
            a, b = np.abs(a), np.abs(b)
        close = 1e-5 if b.dtype in (np.float32, np.complex64) else 1e-9
        if not np.allclose(a, b, rtol=10 * close, atol=close, equal_nan=True):
            return f"{a.ravel()[:6]} for {b.ravel()[:6]}"
    return ""


@lru_cache(None)
def base_calls(name):
    """Sample calls of a function that NumPy runs, and of which fad's answer is NumPy's."""
    short = kw.short(name)
    found = [kw.call_in(s, lambda text: text == short) for s in overrides.BY_NAME[name].samples]
    found = [c for c in found if c is not None]
    for c in found:
        c.tree.body = c.node                                   # the call itself
        c.text = None
    more = [kw.call_in(f"{short}({given})", lambda text: text == short) for given in kw.PLAIN]
    is_careless = name.startswith("scipy.ndimage")             # SciPy crashes on wrong shapes there
    return _running(found if is_careless else [*found, *more], 4 + len(found))


def _running(calls, most):
    running = []
    for c in calls:
        if said_of(ast.unparse(c.tree)) == "":
            running.append(c)
        if len(running) == most:
            break
    return running


@lru_cache(None)
def method_calls(name):
    given = ("", "0", "1", "[0, 2]", "(12,)", "float", "v", "0.3, 0.5", "[1, 2], 0.5", "0.5")
    texts = [f"{a}.{name}({b})" for b in given for a in ("x", "v", "S")]
    return _running([kw.call_in(t, lambda text, n=name: text.endswith("." + n)) for t in texts], 6)


def outs_of(call):
    """Arrays of the result's shape to write it to: of its dtype, and of a wider one."""
    results = arrays_in(plain(function_of(ast.unparse(call.tree)))[:-3])
    each = [", ".join(f"np.ones({y.shape}, {t or y.dtype.str!r})" for y in results) for t in ("", "'c16'")]
    return each if len(results) == 1 else [f"({e})" for e in each]


def texts_of(calls, key, value, function):
    """The calls with this keyword; of a function's, given by its place."""
    for call in calls:
        if key == "where" and "sp." in ast.unparse(call.tree):               # SciPy's ufuncs write where they must not
            continue
        for given in outs_of(call) if value == "of the result" else (value,):
            yield call.with_keyword(key, given) if function is None else call.by_place(function, key, given)


def mistakes(calls, parameters, function=None):
    """What is wrong with calls with these keywords: with one program of all calls with a value, or with one for each.
    """
    said = []
    for key, values in parameters.items():
        # elsewhere is what `out` held
        is_of_ufunc = key == "where" and parameters.get("casting") is kw.UFUNC["casting"]
        for value in values:
            texts = [text for text in texts_of(calls, key, value, function) if text]
            if is_of_ufunc:
                texts = [f"{t[:-1]}, out=np.full({t}.shape, 3.0))" for t in texts if "out=" not in t]
            wanted = {text: want for text in texts if (want := wanted_of(text)) is not None}
            if not (len(wanted) > 1 and are_all_right(wanted)):
                said += [f"{text}: {answer}" for text in wanted if (answer := said_of(text))]
    return said


@pytest.mark.parametrize("name", in_turn(NAMES, count=6))
def test_keywords_of_functions(name):
    said = mistakes(base_calls(name), kw.parameters(kw.original(name)))
    said = [s for s in said if not s.startswith(OPEN)]
    assert not said, "\n".join(said)


@pytest.mark.parametrize("name", in_turn(METHODS))
def test_keywords_of_methods(name):
    said = mistakes(method_calls(name), kw.parameters(getattr(np.ndarray, name)))
    assert not said, "\n".join(said)


@pytest.mark.parametrize("name", in_turn(METHODS, 1))
def test_parameters_of_methods_by_place(name):
    method = getattr(np.ndarray, name)
    said = mistakes(method_calls(name), kw.parameters(method), method)
    assert not said, "\n".join(said)


@pytest.mark.parametrize("name", in_turn([n for n in NAMES if not isinstance(kw.original(n), np.ufunc)], 1, count=6))
def test_parameters_of_functions_by_place(name):
    said = mistakes(base_calls(name), kw.parameters(kw.original(name)), kw.original(name))
    said = [s for s in said if not s.startswith(OPEN)]
    assert not said, "\n".join(said)


def test_every_keyword_has_values_to_try():
    assert not kw.unknown_parameters()


FREE = {"tol": "real arrays are real", "assume_unique": "a promise", "assume_sorted": "a promise", "dist": "an object",
        "check_finite": "a check", "kth": "parts come sorted", "weights": "edges do not depend on them",
        "copy": "seen to in trace/values/mutation.py", "seed": "nothing is drawn", "jac_sparsity": "a hint"}
WHOLE = ("math.", "cmath.", "numpy.ma.", "numpy.shares_memory", "numpy.may_share_memory", "numpy.nditer",
         "scipy.integrate.", "scipy.sparse.")
WRITTEN = [n for n in sorted(overrides.BY_NAME)
           if inspect.isfunction(overrides.BY_NAME[n].call) and not n.startswith(WHOLE)]


def unread(function):
    """Parameters of an override that its text does not name."""
    function = inspect.unwrap(function)
    # the text of a lambda may begin in the middle of a statement, and a partial function has none
    if not inspect.isfunction(function) or function.__name__ == "<lambda>":
        return []
    tree = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    used = {n.id for line in tree.body for n in ast.walk(line) if isinstance(n, ast.Name)}
    return [name for name in inspect.signature(function).parameters if name not in used]


def test_overrides_read_what_they_take():
    """A keyword that an override does not read is left out of its signature, so that it is refused where it would
    matter.
    """
    left = {(name, k) for name in WRITTEN
            for k in unread(overrides.BY_NAME[name].call) if k not in {*CHANGE_NOTHING, *FREE}}
    assert WRITTEN and not [(name, k) for name, k in left if not k.startswith("overwrite_")]


def test_what_is_overwritten_is_not_read_again():
    def f(S, v):
        b = v * 1.0
        z = scipy.linalg.solve(S, b, overwrite_b=True)
        return z + b

    def g(S, v):
        return scipy.linalg.solve(S, v * 1.0, False, False, True)
    with pytest.raises(SideEffectError, match="overwrite_b"):
        trace(f, [ARGS[2], ARGS[1]])
    trace(g, [ARGS[2], ARGS[1]])


def test_a_keyword_that_no_override_takes_is_refused():
    with pytest.raises(UnsupportedFunctionError, match="writeable"):
        trace(lambda v: np.lib.stride_tricks.sliding_window_view(v, 2, writeable=True), [ARGS[1]])
    with pytest.raises(TypeError, match="unexpected keyword"):
        trace(lambda v: np.sort(v, reverse=True), [ARGS[1]])
