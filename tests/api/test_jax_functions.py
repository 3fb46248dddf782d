"""fad.jax: functions of JAX's arrays, held against JAX's own derivatives."""
import numpy as np
import pytest

import fad

jax = pytest.importorskip("jax")
jnp = pytest.importorskip("jax.numpy")
t = np.linspace(0.0, 4.0, 40)
y = 1.0 + 2.0 * t


@pytest.fixture(autouse=True)
def in_double():
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", before)


def loss(p):
    z = (y - p[0] * t - p[1]) / np.exp(p[2])
    return np.sum(0.5 * z ** 2 + p[2])


def of_jax(p):
    z = (y - p[0] * t - p[1]) / jnp.exp(p[2])
    return jnp.sum(0.5 * z ** 2 + p[2])


point = np.array([0.1, 0.2, 0.3])


@pytest.mark.parametrize("transform", [
    jax.jit, jax.grad, lambda f: jax.jit(jax.grad(f)), lambda f: jax.jacrev(jax.grad(f)),
    lambda f: jax.jacrev(jax.jacrev(jax.grad(f))),
    lambda f: jax.vmap(jax.grad(f), in_axes=None, axis_size=2),
    lambda f: lambda p: jax.vmap(jax.value_and_grad(f))(jnp.stack([p, 2 * p]))[1],
])
def test_transforms_are_those_of_jax(transform):
    assert np.allclose(transform(fad.jax.function(loss))(point), transform(of_jax)(point), rtol=1e-10)


def test_several_arguments_and_results_among_them_integers():
    hosted = fad.jax.function(lambda x, k, s: (x[k] * s, x > 0))
    x, k = jnp.array([1.0, -2.0, 3.0]), jnp.array([0, 0, 2])
    first, second = jax.jit(hosted)(x, k, 2.0)
    slopes = jax.grad(lambda x, s: hosted(x, k, s)[0].sum(), (0, 1))(x, 2.0)
    assert first.tolist() == [2.0, 2.0, 6.0] and second.tolist() == [True, False, True]
    assert slopes[0].tolist() == [4.0, 0.0, 2.0] and slopes[1] == 5.0


def test_complex_cotangents_follow_the_convention_of_jax():
    hosted, own = fad.jax.function(lambda z: z * np.conj(z) * z + np.exp(z)), lambda z: z * jnp.conj(z) * z + jnp.exp(z)
    z, w = jnp.array([1 + 2j, 0.3 - 1j]), jnp.array([1 - 1j, 0.5j])
    assert np.allclose(jax.vjp(hosted, z)[1](w)[0], jax.vjp(own, z)[1](w)[0])
    slopes = [jax.grad(lambda z, c=c: jnp.sum(jnp.abs(jax.vjp(c, z)[1](w)[0]) ** 2))(z) for c in (hosted, own)]
    assert np.allclose(*slopes)


def test_single_precision_is_what_jax_makes_of_results():
    jax.config.update("jax_enable_x64", False)
    value, slope = jax.value_and_grad(fad.jax.function(loss))(jnp.asarray(point))
    assert value.dtype == slope.dtype == jnp.float32 and np.allclose(slope, fad.grad(loss)(point), rtol=1e-3)


def test_large_arrays_pass_through_compiled_programs():
    x = jnp.ones(300_000)
    assert jax.jit(jax.grad(lambda x: fad.jax.function(lambda x: np.sum(x * x))(2.0 * x)))(x)[-1] == 8.0


def test_a_result_whose_shape_depends_on_values_is_an_error():
    with pytest.raises(Exception, match="shapes depend on the values"):
        np.asarray(jax.jit(fad.jax.function(lambda x: x[x > 0]))(jnp.array([1.0, -1.0])))


@pytest.mark.parametrize("f, words", [
    (lambda x: {"a": x}, "without a structure"),
    (lambda x: x * np.random.standard_normal(3), "random"),
])
def test_functions_that_jax_cannot_host_are_refused(f, words):
    with pytest.raises(fad.FadError, match=words):
        fad.jax.function(f)(point)


def test_structures_and_keywords_are_refused():
    with pytest.raises(fad.FadError, match="got a dict"):
        fad.jax.function(loss)({"p": point})
    with pytest.raises(fad.FadError, match="no keywords"):
        fad.jax.function(loss)(p=point)
