"""A law of every function and method of NumPy's that has an override: its result shares memory with what NumPy's does.

What is written to the result changes the argument, and the other way round, exactly as in plain NumPy, in every layout;
or the program is refused.
"""
import ast
import functools

import numpy as np
import pytest

import fad
from fad.ir.walk import evaluate
from fad.trace.tracing import trace
from fad.util.errors import FadError

from ..texts import executed
from ..turns import in_turn
from . import keywords as kw
from .test_keywords import (
    ARGS,
    METHODS,
    NAMES,
    SCOPE,
    arrays_in,
    base_calls,
    difference,
    given,
    method_calls,
    outs_of,
    plain,
)

MEMORY = ("copy", "order", "requirements", "sparse", "out", "subok", "overwrite_input")
LAYOUTS = {
    "C": "x, v, S = x * 1.0, v * 1.0, S * 1.0",
    "Fortran": "x, v, S = (x.T * 1.0).T, v * 1.0, (S.T * 1.0).T",
    "Fortran's copy": "x, v, S = x.copy(order='F'), v.copy(order='F'), np.array(S, order='F')",
    "strided": "x, v, S = np.repeat(x, 2, axis=1)[:, ::2], np.repeat(v, 2)[::2], np.repeat(S, 2, axis=0)[::2]",
    "reversed": "x, v, S = (x * 1.0)[::-1], (v * 1.0)[::-1], (S * 1.0)[:, ::-1]",
    "rows": "x, v, S = [np.concatenate([a, a])[1:n] for a, n in ((x, 4), (v, 5), (S, 5))]",
    "read-only": "x, v, S = [np.broadcast_to(a * 1.0, a.shape) for a in (x, v, S)]",
    "empty": "x, v, S = (x * 1.0)[:0], (v * 1.0)[:0], (S * 1.0)[:0, :0]",
}
WRITES = {"to the result": "    for y in parts(z):\n        y[...] = 7.0\n",
          "to the arguments": "    for y in (x, v, S):\n        y[...] = 3.0\n"}
BOTH = (WRITES["to the result"] + "    first = [np.array(a) for a in (*parts(z), x, v, S)]\n"
        + WRITES["to the arguments"] + "    z = [*first, *parts(z)]\n")
WITHOUT_AXES = {
    "arrays without axes": "x, v, S = [np.array(a.flat[0]) for a in (x, v, S)]",
    "numbers": "x, v, S = x.flat[0], v.flat[0], S.flat[0]",
    "arrays with axes": "x, v, S = x * 1.0, v * 1.0, S * 1.0",
}
IN_PLACE = ("    if isinstance(z, (tuple, list)) or np.ndim(z) or z.dtype.kind not in 'fc':\n        return [x]\n"
            "    y = z\n    z += 1.0\n    found += [y]\n")
RAISED = ("AxisError", "ValueError", "it is written to, and NumPy's is read-only")
PROPERTIES = ("T", "mT", "real", "imag")
MORE = [
    "x.T.T", "x.reshape(-1)", "x.reshape(4, 3)", "x.reshape((2, 6), order='F')", "np.asarray(x.T, order='F')",
    "np.asfortranarray(x.T)", "np.einsum('ij->ji', x)", "np.einsum('ii->i', S)", "np.einsum('ij', x)",
    "np.einsum('iij->ij', np.array([S, S, S, S])[:, :, :2].copy())", "x.astype(float, copy=False)",
    "np.array(x, copy=None)", "np.array(x, copy=False)", "x.clip(0.3, 0.6, x)", "x.round(1, x)",
    "v.cumsum(0, None, v)", "x.sum(0, None, v)", "x.mean(0, None, v)", "x.max(0, v)",
    "x.take([0, 1, 2, 3], None, v)", "np.squeeze(x[:, None])", "x.ravel('F')", "x.ravel('C')", "x.ravel('K')",
    "x.ravel('A')", "np.ravel(x.T)", "x.flatten()", "np.split(x, 2, axis=1)", "x.conj()", "np.conj(x)",
    "np.real_if_close(x)", "np.nan_to_num(x, copy=False)", "np.nan_to_num(x, False)", "x.view()",
    "np.require(x, None, ['C'])", "np.require(x.T, None, 'F')", "np.require(x, None, ['F'])", "np.diagonal(S)",
    "np.diag(S)", "np.diag(v)", "S.diagonal(1)", "np.broadcast_to(v, (3, 4))", "np.broadcast_to(x, (3, 4))",
    "np.broadcast_arrays(x, v)", "np.broadcast_arrays(x, x)", "np.lib.stride_tricks.sliding_window_view(v, 2)",
    "np.meshgrid(v, v, copy=False)", "np.meshgrid(v, v, copy=False, sparse=True)", "np.meshgrid(v, v, sparse=True)",
    "np.ix_(np.arange(4), np.arange(3))", "np.linalg.matrix_power(S, 1)", "np.matrix_transpose(x)",
    "np.linalg.matrix_transpose(x)", "np.linalg.diagonal(S)", "np.atleast_3d(x)", "np.atleast_2d(v)",
    "np.atleast_1d(v, x)", "x[...]", "x[None]", "x[1:2, ::2]", "x[[0, 1]]", "x[x > 0.5]", "x[:, 0]",
    "np.array(x, ndmin=3, copy=False)", "np.array(x, ndmin=3)", "np.expand_dims(v, (0, 2))", "np.moveaxis(x, 0, 1)",
    "np.rollaxis(x, 1)", "np.rot90(x, 2)", "np.rot90(x, 0)", "np.roll(v, 0)", "np.tile(v, 1)", "np.repeat(v, 1)",
    "np.resize(x, (3, 4))", "np.pad(x, 0)", "np.delete(v, [])", "np.append(v, [])", "np.trim_zeros(v)",
    "np.unstack(x)", "np.unstack(x, axis=1)", "np.real(x)", "np.transpose(x, (0, 1))", "np.permute_dims(x, (1, 0))",
    "np.histogram(v, np.sort(v))[1]", "np.copy(x)", "x.copy()", "np.asarray(v, dtype=float)",
    "np.asarray(x, copy=True)", "np.astype(x, float, copy=False)", "x.transpose(1, 0)", "x.swapaxes(0, 1)",
    "np.concatenate([x])", "np.hstack([v])", "np.vstack([x])", "np.stack([x])", "np.flip(v)", "np.fliplr(x)",
    "np.flipud(x)", "np.dsplit(x[None], 2)", "np.vsplit(x, [1])", "np.hsplit(x, 2)", "np.array_split(v, 3)",
    "np.reshape(x, (3, 4))", "np.reshape(x, (4, 3), copy=True)", "np.fft.fftshift(v)", "x.squeeze()",
    "x.squeeze(())", "np.asarray_chkfinite(x)", "np.ascontiguousarray(x)", "np.ascontiguousarray(x.T)",
    "np.ascontiguousarray(v[::2])", "np.unwrap(v)", "np.round(x)", "np.triu(x)", "np.where(True, x, x)",
    "np.clip(x, None, 1.0)", "np.interp(v, v, v)", "(x * 1j).real", "(x * 1j).imag", "np.select([True], [x])",
    "np.sum(x, axis=())", "np.max(x, axis=())", "np.mean(x, axis=())", "x.T.reshape(-1)", "x.T.ravel()",
    "x.T.ravel('F')", "x.T.reshape(12, order='F')", "x[:, :2].reshape(-1)", "x[:2].reshape(-1)", "x.T[:2].ravel()",
    "np.ravel(x[:, ::2])", "v.reshape(2, 2).T", "np.asanyarray(x, order='C')", "np.asarray(x, order='A')",
    "np.asarray(x, order='K')", "np.array(x.T, order='C', copy=None)", "np.array(x, order='F', copy=None)",
    "np.asfortranarray(v)", "np.asfortranarray(x)", "x.astype(float, 'F', copy=False)",
    "x.astype(float, 'C', copy=False)", "x.astype(float, 'K', 'unsafe', True, False)",
    "x.astype(np.float32, copy=False)", "x.reshape(x.shape, copy=False)",
]


def parts(z):
    """The arrays in a result that can be written to whole."""
    if isinstance(z, (tuple, list)):
        return [y for part in z for y in parts(part)]
    return [z] if getattr(z, "ndim", 0) else []


def function_of(expression, layouts, write):
    """A function that makes the expression's arguments anew for each layout, and writes to what it has made."""
    lines = [f"    x, v, S = a, b, c\n{given(expression)}    {(LAYOUTS | WITHOUT_AXES)[layout]}\n    z = {expression}\n"
             f"{write}    found += [[z, x, v, S]]\n" for layout in layouts]
    scope = {**SCOPE, "parts": parts}
    executed(f"def f(a, b, c):\n    found = []\n{''.join(lines)}    return found\n", scope)
    return scope["f"]


def said_of(expression, layouts, write):
    """What is wrong with fad's answer: "" where it is NumPy's; None where it refuses, or where NumPy itself raises."""
    f = function_of(expression, layouts, write)
    try:
        want = plain(f)
    except ValueError as e:
        if "read-only" not in str(e):
            return None
        want = None
    except Exception:
        return None
    if want is not None and any(y.dtype.kind not in "biufc" for y in want):
        return None
    try:
        with np.errstate(all="ignore"):
            traced = trace(f, ARGS)
            got = evaluate(traced.func, [*ARGS, *traced.captured])
    except FadError:
        return None
    except Exception as e:
        is_empty = layouts == ["empty"] and isinstance(e, (ValueError, IndexError))
        is_clear = want is None or is_empty or layouts == ["read-only"] and "read-only" in str(e)
        return None if is_clear else f"{type(e).__name__}: {str(e)[:150]}"
    return difference(got, want) if want is not None else "it is written to, and NumPy's is read-only"


def mistakes(expression, layouts=tuple(LAYOUTS)):
    """What is wrong: with one program of the layouts that NumPy writes to, or with one for each layout, which writes to
    the result and then to the arguments, or with one for each way to write.
    """
    said, writable = [], [name for name in layouts if name not in ("read-only", "empty")]
    if said_of(expression, writable, BOTH) == "":
        layouts = [name for name in layouts if name not in writable]
    for layout in layouts:
        if said_of(expression, [layout], BOTH) == "":
            continue
        for write in WRITES:
            answer = said_of(expression, [layout], WRITES[write])
            if answer:
                said.append(f"{expression}, {layout}, writing {write}: {answer}")
    return said


@functools.lru_cache(None)
def expressions(name, is_method=False):
    """The sample calls of a function, without keywords and with each that has to do with memory."""
    function = getattr(np.ndarray, name) if is_method else kw.original(name)
    found = []
    for call in method_calls(name) if is_method else base_calls(name):
        found.append(ast.unparse(call.tree))
        for key, values in kw.parameters(function).items():
            if key in MEMORY:
                values = outs_of(call)[:1] if key == "out" else values
                found += [call.with_keyword(key, v) for v in values]
    return [e for e in found if e]


OF_NUMPY = [n for n in NAMES if n.startswith("numpy.") and n.count(".") == 1]
FUNCTIONS = [n for n in OF_NUMPY if not isinstance(kw.original(n), np.ufunc)]
TYPICAL = ("C", "Fortran", "strided")


@pytest.mark.parametrize("name", in_turn(FUNCTIONS, count=6))
def test_functions(name):
    tried = [e for e in expressions(name) if "argsort(P" not in e]             # the order of ties is open
    said = [s for e in tried for s in mistakes(e, TYPICAL)]
    assert not said, "\n".join(said)


@pytest.mark.parametrize("name", in_turn(METHODS))
def test_methods(name):
    said = [s for e in expressions(name, True) for s in mistakes(e, TYPICAL)]
    assert not said, "\n".join(said)


def named_twice(tried):
    """What is wrong with what another name for a result without axes is after a change in place. (Errors of arguments
    without axes are not the affair of this law.)
    """
    said = [(e, layout, said_of(e, [layout], IN_PLACE)) for e in tried for layout in WITHOUT_AXES]
    return "\n".join([f"{e}, {layout}: {answer}" for e, layout, answer in said
                      if answer and not answer.startswith(RAISED)])


@pytest.mark.parametrize("name", in_turn(FUNCTIONS, 1, count=6))
def test_functions_return_numbers_or_arrays(name):
    said = named_twice(expressions(name))
    assert not said, said


@pytest.mark.parametrize("name", in_turn(METHODS, 1))
def test_methods_return_numbers_or_arrays(name):
    said = named_twice(expressions(name, True))
    assert not said, said


@pytest.mark.parametrize("name", PROPERTIES)
def test_properties(name):
    assert not mistakes(f"x.{name}")


@pytest.mark.parametrize("expression", in_turn(MORE))
def test_further_calls(expression):
    assert not mistakes(expression)


COMPILED = [
    "np.einsum('ii->i', S)", "np.einsum('ij->ji', x)", "np.asfortranarray(x.T)", "x.clip(0.3, 0.6, x)", "x.round(1, x)",
    "np.real_if_close(x)", "np.nan_to_num(x, False)", "x.astype(float, copy=False)", "np.array(x, copy=None)",
    "x.conj()", "np.unstack(x, axis=1)", "np.require(x.T, None, 'F')", "np.meshgrid(v, v)",
]


@pytest.mark.parametrize("tier", ["never", "now"])
@pytest.mark.parametrize("write", WRITES)
def test_both_tiers(tier, write):
    """The same of compiled programs: several calls in one function, each of an array of its own."""
    lines = [f"    x, v, S = a * {k}.0, b * {k}.0, c * {k}.0\n    z = {e}\n{WRITES[write]}    found += [*parts(z), x]\n"
             for k, e in enumerate(COMPILED, 1)]
    scope = {**SCOPE, "parts": parts}
    executed("def f(a, b, c):\n    found = []\n" + "".join(lines) + "    return found\n", scope)
    with fad.config.using(compile=tier):
        got = fad.jit(scope["f"])(*ARGS)
    assert not difference(arrays_in(got), arrays_in(scope["f"](*ARGS)))
