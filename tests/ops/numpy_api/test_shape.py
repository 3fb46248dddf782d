"""NumPy's functions of shapes, creation, selection and rearrangement: values, dtypes and derivatives of the traced
expressions."""
import numpy as np
import pytest

import fad
from fad.ir.op import registry
from fad.ops.override import BY_NAME

from .overrides_at import check_derivatives, check_value, function_of

LINEAR = [
    "np.reshape(x, (4, -1), order='F')", "x.reshape((2, -1, 2))", "x.reshape(6, 2, order='F')", "np.ravel(x, 'F')",
    "x.flatten('F')", "x.T.reshape(-1)", "np.transpose(x[None], (2, 0, 1))", "x[None].transpose(1, 2, 0)",
    "x.transpose()", "x.mT", "np.matrix_transpose(x)", "np.swapaxes(x[None], -1, 0)",
    "np.moveaxis(x[None], [0, 1], [-1, 0])", "np.rollaxis(x[None], 2)", "np.rollaxis(x[None], 0, 3)",
    "np.expand_dims(x, (0, 3))", "np.squeeze(x[:, None, :, None])", "np.squeeze(x[None], axis=0)",
    "np.broadcast_to(v[:, None], (2, 4, 3))", "np.broadcast_arrays(x, v)[1]", "np.atleast_1d(v[0])",
    "np.atleast_2d(v, x)[0]", "np.atleast_3d(v)", "np.atleast_3d(x)", "np.resize(v, (2, 3))",
    "np.concatenate((x, x * 2), 1)", "np.concatenate([x, v], axis=None)", "np.concatenate(x)",
    "np.concat([v, [1.0, 2]])", "np.stack([v, v], axis=-1)", "np.stack(x)", "np.stack([v[0], 1.0])",
    "np.vstack((x, v, v))", "np.hstack((x, x))", "np.hstack((v, v))", "np.dstack((x, x))", "np.dstack((v, v))",
    "np.column_stack((v, S))", "np.append(x, v)", "np.append(x, x, axis=0)", "np.block([[S, S], [S, S]])",
    "np.block([v, 1.0])", "np.block([[S[:2], S[:2]], [np.ones((1, 8))]])", "np.split(x, [1, 2], axis=1)[1]",
    "np.split(x, 2, axis=1)[0]", "np.array_split(x, 3, axis=1)[2]", "np.hsplit(x, 2)[1]", "np.hsplit(v, [1])[0]",
    "np.vsplit(x, 3)[1]", "np.dsplit(x[None], [1, 3])[1]", "np.unstack(x, axis=1)[2]", "np.tile(v, (2, 2))",
    "np.tile(x, 2)", "np.tile(v[0], 3)", "np.repeat(x, 2, axis=1)", "np.repeat(x, [2, 0, 1], axis=0)",
    "x.repeat([3], axis=0)", "np.repeat(v[1], 3)", "np.flip(x)", "np.flip(x, (0, 1))", "np.fliplr(x)", "np.flipud(v)",
    "np.rot90(x, 2)", "np.rot90(x, -1)", "np.rot90(x[None], 1, (1, 2))", "np.roll(x, 5)",
    "np.roll(x, (1, 2), axis=(0, 1))", "np.roll(x, 7, axis=1)", "np.roll(x, -9, axis=1)", "np.insert(x, 1, v, axis=0)",
    "np.insert(v, [0, 2, 2], [1.0, 2.0, 3.0])", "np.insert(v, -1, v[0])", "np.insert(x, [1], x[:, :1], axis=1)",
    "np.insert(x, slice(0, 2), 7.0, axis=1)", "np.delete(x, 1, axis=0)", "np.delete(v, [0, -1])",
    "np.delete(v, slice(None, None, 2))", "np.delete(v, [True, False, False, True])", "np.delete(x, -2)",
    "np.trim_zeros(np.concatenate([[0.0], v, [0.0, 0.0]]))", "np.pad(x, 1)",
    "np.pad(x, ((1, 2), (0, 3)), constant_values=((1, 2), (3, 4)))", "np.pad(v, (2, 1), 'edge')",
    "np.pad(x, 2, 'reflect')", "np.pad(v, 9, 'reflect')", "np.pad(v, (3, 1), 'symmetric')", "np.pad(v, 9, 'symmetric')",
    "np.pad(x, 5, 'wrap')", "np.pad(v, 2, 'linear_ramp', end_values=(1, v[0]))", "np.pad(x, 2, 'mean')",
    "np.pad(x, {1: (0, 2)})", "np.pad(v, 3, 'reflect', reflect_type='odd')",
    "np.pad(x[None], ((0, 0), (1, 1), (2, 2)))", "np.tril(S)", "np.triu(x, -1)", "np.tril(v)",
    "np.triu(np.stack([S, S]), 1)", "np.diag(v, 2)", "np.diag(x, -1)", "np.diag(S, 1)", "np.diagflat(x, 1)",
    "np.diagonal(np.stack([S, S]), 1, 1, 2)", "S.diagonal(-2)", "np.take(x, [[0, -1], [2, 1]], axis=0)",
    "np.take(x, [11, 3])", "np.take(v, [5, -9], mode='wrap')", "np.take(v, [5, -9], mode='clip')", "x.take(1, axis=1)",
    "np.take_along_axis(x, np.array([[0], [3], [-1]]), 1)", "np.take_along_axis(x, np.array([4, 2]), None)",
    "np.choose([[0, 1, 1, 0]], [x, v])", "np.choose([2, 5, -1], [v[:3], 2 * v[1:], v[0]], mode='wrap')",
    "np.compress([0, 1, 1], x, axis=0)", "x.compress([True, True], axis=1)", "np.extract(x > 0.5, x)",
    "np.apply_along_axis(lambda r: np.stack([r[0], r[1]]) * 2, 0, x)", "np.apply_over_axes(np.sum, x[None], [0, 2])",
    "np.lib.stride_tricks.sliding_window_view(x, (2, 3))", "np.lib.stride_tricks.sliding_window_view(x, 2, axis=1)",
    "x.item(-1)", "x.item(1, 2)", "np.array(x.tolist())", "np.array([x, x])", "np.array([[v[0], 1], [2, v[1]]])",
    "np.array([v, [1, 2, 3, 4]])", "np.array(v[0], ndmin=2)", "np.array([1, 2.5]) * v[:2]", "np.asarray([v[0]])",
    "np.full((2, 3), v[0])", "np.full_like(x, v)", "np.linspace(v[0], 2.0, 5)", "np.linspace(v[:2], x[:, :1], 3)",
    "np.linspace(v, 1, 3, axis=-1, endpoint=False)", "np.linspace(v[0], 1, 1)", "np.linspace(0, v[0], 4, retstep=True)",
    "np.linspace(v, 1, 1, retstep=True)[0]",
    "np.meshgrid(v, x[0])[0]", "np.meshgrid(v, x[0], v, indexing='ij')[2]", "np.meshgrid(v, x[0], sparse=True)[1]",
    "x[np.ix_([0, 2], [1, 3, 3])]", "x[np.ix_([True, False, True], [0])]", "S[np.tril_indices(4)]",
    "S[np.triu_indices_from(S, 1)]", "S[np.diag_indices(4)]", "S[np.diag_indices_from(S)]",
    "x[np.unravel_index([0, 7], x.shape)]", "x.ravel()[np.ravel_multi_index(([0, 2], [1, 3]), x.shape)]",
    "x[np.arange(3), [0, 2, 1]]", "[value for _, value in np.ndenumerate(x)][5]", "x.flat[5]", "x.flat[2:9:3]",
    "x.copy()", "x.astype(np.float32)", "x.astype('complex128')", "np.ascontiguousarray(v[0])",
    "np.fromfunction(lambda i, j: i * x + j, (3, 4))", "np.nonzero(x > 0.5)[0] * v[0]", "v[np.argwhere(v > 0.5)]",
    "x[x > 0.5]", "x[x[:, 0] > 0.5]", "x[:, v > 0.6]", "x[np.array([True, False, True])]", "x[[True, False, True], 1:]",
    "np.copy(x)", "np.require(x)",
]
CURVED = [
    "np.r_[v, 1.0, x[0] ** 2]", "np.r_[0:4, v * v]", "np.r_['0,2', v, v ** 2]", "np.r_['0,2,0', v, v ** 2]",
    "np.c_[v, v ** 2]", "np.c_[x, x ** 2]", "np.c_[v, 0:4]", "np.r_['-1', x, x * x]", "np.r_[0:1:3j, v]",
    "np.geomspace(v[0], 3.0, 4)", "np.geomspace(-v[0], -v[1], 3, endpoint=False)", "np.logspace(v[0], v[1], 3)",
    "np.logspace(0, 1, 3, base=v[0])", "np.pad(x, 1, 'maximum')", "np.pad(x, 2, 'minimum', stat_length=2)",
    "np.pad(v, 2, 'median')", "np.apply_along_axis(lambda r: r * r.sum(), 1, x)",
]
VALUES_ONLY = [
    "np.linspace(v, 1, 1, retstep=True)", "np.linspace(v, 1, 0, False, True)", "np.mgrid[0:3, 0:4][1] * x",
    "np.ogrid[0:3, 0:4][0] * x", "np.mgrid[0:4] * v", "np.mgrid[0:1:4j] * v",
    "np.mgrid[0:3, 0:1:4j][1] * x", "np.zeros(x.shape) + np.ones_like(x) + np.empty_like(x) * 0", "np.eye(3, 4, 1) * x",
    "np.identity(4) * S", "np.tri(3, 4, -1) * x", "np.arange(3)[:, None] + x", "np.arange(x.shape[1]) * v",
    "np.arange(1, 9, 2) * v", "np.arange(5, 1, -1) * v", "np.arange(0.5, 2.4, 0.5) + v", "np.arange(v[0], 4.0, v[1])",
    "np.arange(1.0, np.size(x) + 1.0)", "np.arange(0, len(v) / 2, 0.5) * v", "np.arange(float(len(v))) * v",
    "np.arange(3.0, v[0], -0.5)", "np.arange(v[0], 0.0)", "np.arange(4, dtype=np.float32) + v",
    "np.arange(v[0], 4.0, v[1], None)", "np.resize(v[:0], (2, 1))", "np.resize(x[:, 4:], 3)",
    "np.indices((3, 4))[1] * x", "np.indices(x.shape, sparse=True)[0] * x", "np.linspace(0, 1, 4) * v",
    "np.zeros_like(x, dtype=int) + x", "np.zeros_like(x, shape=4) * v", "np.full((4,), 2) * v",
    "np.full(4, 2.5, dtype=int) * v", "np.array(2, dtype=np.float32) * v", "np.array([[1, 2], [3, 4]])[0, 1] * v",
    "np.ones((2, 3)).sum() * v", "np.linspace(v[0], 9, 3, dtype=int)",
    "(np.shape(x), np.ndim(x), np.size(x, 1), x.size, x.nbytes, x.itemsize, len(x))", "np.zeros(3, complex) + v[0]",
    "np.ravel_multi_index((np.arange(3), 1), (3, 4)) * v[0]", "np.result_type(x, np.float32(1)).type(2) * v",
    "np.broadcast_shapes(x.shape, (1, 4))[0] * v", "np.can_cast(x, int) * v", "np.r_[f[0], 1.0, 2]",
    "np.r_[f[0], [1.0], 2]", "np.r_[0:3, f[0]]", "np.r_[1, k[0], 2.5]",
]


@pytest.mark.parametrize("expression", LINEAR + CURVED + VALUES_ONLY)
def test_value(expression):
    check_value(expression)


@pytest.mark.parametrize("expression", [e for e in LINEAR if "float32" not in e])
def test_derivative_of_linear(expression):
    check_derivatives(expression, second=False)


@pytest.mark.parametrize("expression", CURVED)
def test_derivative_of_curved(expression):
    check_derivatives(expression)


def samples():
    mine = {"shape", "join", "creation", "arrange", "pad", "triangles", "select", "methods", "index"}
    for name, override in BY_NAME.items():
        if getattr(override.call, "__module__", "").rpartition(".")[2] in mine:
            yield from (pytest.param(s, id=f"{name}: {s}") for s in override.samples if "or S" not in s)


@pytest.mark.parametrize("expression", list(samples()))
def test_sample(expression):
    check_value(expression)


@pytest.mark.parametrize("expression, error", [
    ("x.reshape(5, -1)", ValueError), ("x.reshape(7)", ValueError), ("x.reshape(-1, -1)", ValueError),
    ("np.split(v, 3)", ValueError), ("np.stack([x, v])", ValueError), ("np.concatenate([x, S], 1)", ValueError),
    ("np.squeeze(x, 0)", ValueError), ("np.transpose(x, (0, 0))", ValueError), ("np.swapaxes(x, 0, 2)", IndexError),
    ("np.repeat(v, [1, 2])", ValueError), ("np.pad(v, 1, mode='nothing')", ValueError), ("np.pad(v, -1)", ValueError),
    ("np.broadcast_to(x, (2, 4))", ValueError), ("np.take(v, 9)", IndexError), ("np.insert(v, 9, 1.0)", IndexError),
    ("np.delete(v, 9)", IndexError), ("x.item()", ValueError), ("x.view(int)", TypeError),
    ("np.ravel(x, 'K')", TypeError), ("np.diag(x[None])", ValueError), ("np.linspace(v[0], 1, 3)[5]", IndexError),
    ("np.arange(1j * v[0])", TypeError),
])
def test_errors_at_tracing_or_when_run(expression, error):
    """What NumPy refuses raises here too, an error of the same kind."""
    from fad.ir.walk import evaluate
    from fad.trace.tracing import trace
    f, xs = function_of(expression)
    with pytest.raises(error):
        traced = trace(f, xs)
        evaluate(traced.func, [*xs, *traced.captured])


def test_minus_one_needs_no_division_where_extents_cancel():
    from fad.trace.tracing import trace
    func = trace(lambda x: x.reshape(-1, x.shape[1], 1), [np.ones((3, 4))]).func
    assert [e.op.name for e in func.equations] == ["reshape"]
    assert func.outputs[0].type.shape[0] is func.inputs[0].type.shape[0]


def test_registered_names_for_rules():
    assert registry["zeros_like"](np.ones((2, 3), np.float32)).dtype == np.float32


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_repeats_that_the_program_counts(axis):
    x = np.arange(6.0).reshape(2, 3)
    size = x.size if axis is None else x.shape[axis]
    repeated = fad.jit(lambda x, n: np.repeat(np.sin(x), n, axis), fallback=False)
    gradient = fad.grad(lambda x, n: np.sum(np.repeat(np.sin(x), n, axis)), fallback=False)
    for n in (np.arange(size), np.arange(size)[::-1] // 2, np.zeros(size, int), np.array([2]),
              np.arange(size) % 2 == 0):
        np.testing.assert_array_equal(repeated(x, n), np.repeat(np.sin(x), n, axis))
        ends = [np.sum(np.repeat(np.eye(6)[k].reshape(2, 3), n, axis)) for k in range(6)]
        np.testing.assert_allclose(gradient(x, n), np.cos(x) * np.reshape(ends, (2, 3)), rtol=1e-12)
    for n, error in ((-np.arange(size), ValueError), (np.ones(size), TypeError), (np.ones(size + 1, int), ValueError)):
        for f in (repeated, lambda x, n: np.repeat(x, n, axis)):
            with pytest.raises(error):
                f(x, n)
