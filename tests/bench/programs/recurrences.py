"""Programs of plain loops over time: an ordinary differential equation, GARCH, a Kalman filter, a hidden Markov model.

JAX is given its `lax.scan`; PyTorch and autograd run Python's loop, as their users do.
"""
import numpy as np

from .record import Program


def lotka_volterra(p, start, n, h):
    """Four stages of Runge and Kutta a step, and the squares of the state summed."""
    def slope(x, y):
        return p[0] * x - p[1] * x * y, p[2] * x * y - p[3] * y
    x, y, s = start[0], start[1], 0.0
    for _ in range(n):
        a1, b1 = slope(x, y)
        a2, b2 = slope(x + h / 2 * a1, y + h / 2 * b1)
        a3, b3 = slope(x + h / 2 * a2, y + h / 2 * b2)
        a4, b4 = slope(x + h * a3, y + h * b3)
        x, y = x + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4), y + h / 6 * (b1 + 2 * b2 + 2 * b3 + b4)
        s = s + x * x + y * y
    return s


def lotka_volterra_jax(jax):
    np = jax.numpy

    def f(p, start, n, h):
        def slope(z):
            return np.stack((p[0] * z[0] - p[1] * z[0] * z[1], p[2] * z[0] * z[1] - p[3] * z[1]))

        def step(z, _):
            k1 = slope(z)
            k2 = slope(z + h / 2 * k1)
            k3 = slope(z + h / 2 * k2)
            z = z + h / 6 * (k1 + 2 * k2 + 2 * k3 + slope(z + h * k3))
            return z, z @ z
        return np.sum(jax.lax.scan(step, start, None, length=n)[1])
    return f


def lotka_volterra_data(rng, n):
    return np.array([1.1, 0.4, 0.1, 0.4]), np.array([10.0, 5.0]), n, 0.01


def garch(w, x):
    h, s = 1.0, x[0] ** 2
    for t in range(1, x.shape[0]):
        h = w[0] + w[1] * x[t - 1] ** 2 + w[2] * h
        s = s + np.log(h) + x[t] ** 2 / h
    return s


def garch_jax(jax):
    np = jax.numpy

    def f(w, x):
        def step(h, pair):
            h = w[0] + w[1] * pair[0] ** 2 + w[2] * h
            return h, np.log(h) + pair[1] ** 2 / h
        return x[0] ** 2 + np.sum(jax.lax.scan(step, 1.0, (x[:-1], x[1:]))[1])
    return f


def garch_data(rng, n):
    return np.array([0.1, 0.2, 0.7]), rng.standard_normal(n)


def kalman(noise, F, H, x):
    """Minus twice the log-likelihood of a linear system with one output; the noises' logarithms are asked for."""
    n = F.shape[0]
    m, P, s = np.zeros(n), np.eye(n), 0.0
    for t in range(x.shape[0]):
        m, P = F @ m, F @ P @ F.T + np.exp(noise[0]) * np.eye(n)
        S, e = H @ P @ H + np.exp(noise[1]), x[t] - H @ m
        K = P @ H / S
        m, P = m + K * e, P - np.outer(K, H @ P)
        s = s + np.log(S) + e * e / S
    return s


def kalman_jax(jax):
    np = jax.numpy

    def f(noise, F, H, x):
        n = F.shape[0]

        def step(state, x):
            m, P = state
            m, P = F @ m, F @ P @ F.T + np.exp(noise[0]) * np.eye(n)
            S, e = H @ P @ H + np.exp(noise[1]), x - H @ m
            K = P @ H / S
            return (m + K * e, P - np.outer(K, H @ P)), np.log(S) + e * e / S
        return np.sum(jax.lax.scan(step, (np.zeros(n), np.eye(n)), x)[1])
    return f


def kalman_data(rng, n, steps):
    return np.array([-2.0, -0.5]), np.eye(n) * 0.9 + 0.1 * np.eye(n, k=1), np.eye(n)[0], rng.standard_normal(steps)


def hidden_markov(transitions, emissions, text):
    """The log-likelihood of a text, by the forward algorithm with scaled probabilities."""
    A = np.exp(transitions) / np.sum(np.exp(transitions), axis=1, keepdims=True)
    B = np.exp(emissions) / np.sum(np.exp(emissions), axis=1, keepdims=True)
    a, s = np.ones(A.shape[0]) / A.shape[0], 0.0
    for t in range(text.shape[0]):
        a = (a @ A) * B[:, text[t]]
        c = np.sum(a)
        a = a / c
        s = s + np.log(c)
    return s


def hidden_markov_jax(jax):
    np = jax.numpy

    def f(transitions, emissions, text):
        A, B = jax.nn.softmax(transitions, axis=1), jax.nn.softmax(emissions, axis=1)

        def step(a, letter):
            a = (a @ A) * B[:, letter]
            c = np.sum(a)
            return a / c, np.log(c)
        return np.sum(jax.lax.scan(step, np.ones(A.shape[0]) / A.shape[0], text)[1])
    return f


def hidden_markov_data(rng, states, letters, n):
    return rng.standard_normal((states, states)), rng.standard_normal((states, letters)), rng.integers(0, letters, n)


PROGRAMS = [
    Program("Lotka–Volterra by Runge–Kutta, 500 steps", lotka_volterra, lotka_volterra_data, (500,), (3,), (0, 1),
            texts={"JAX": lotka_volterra_jax}),
    Program("GARCH, 1,000 steps", garch, garch_data, (1000,), (6,), texts={"JAX": garch_jax}),
    Program("Kalman filter, 4 states, 200 steps", kalman, kalman_data, (4, 200), (2, 4), texts={"JAX": kalman_jax}),
    Program("hidden Markov model, 8 states, 300 letters", hidden_markov, hidden_markov_data, (8, 27, 300), (3, 4, 6),
            (0, 1),
            texts={"JAX": hidden_markov_jax}),
]
