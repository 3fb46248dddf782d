"""Networks: two layers and three, attention, an LSTM. Their parameters are dictionaries or arrays."""
import numpy as np

from .record import Program


def two_layers(p, X, y):
    h = np.tanh(X @ p["W1"] + p["b1"])
    return np.mean((h @ p["W2"] + p["b2"] - y) ** 2)


def two_layers_data(rng, n, inputs, hidden):
    p = {"W1": 0.3 * rng.standard_normal((inputs, hidden)), "b1": np.zeros(hidden),
         "W2": 0.3 * rng.standard_normal(hidden), "b2": np.array(0.1)}
    return p, rng.standard_normal((n, inputs)), rng.standard_normal(n)


def classifier(p, X, target):
    """Three layers, rectifiers, and the cross entropy of a softmax."""
    h = np.maximum(X @ p["W1"] + p["b1"], 0.0)
    h = np.maximum(h @ p["W2"] + p["b2"], 0.0)
    z = h @ p["W3"] + p["b3"]
    top = np.max(z, axis=1, keepdims=True)
    return np.mean(np.log(np.sum(np.exp(z - top), axis=1)) + top[:, 0] - np.sum(z * target, axis=1))


def classifier_torch(torch):
    def f(p, X, target):
        h = torch.relu(X @ p["W1"] + p["b1"])
        h = torch.relu(h @ p["W2"] + p["b2"])
        return torch.nn.functional.cross_entropy(h @ p["W3"] + p["b3"], target)
    return f


def classifier_data(rng, n, *widths):
    p = {}
    for k, (a, b) in enumerate(zip(widths, widths[1:]), 1):
        p |= {f"W{k}": rng.standard_normal((a, b)) / np.sqrt(a), f"b{k}": 0.1 * rng.standard_normal(b)}
    return p, rng.standard_normal((n, widths[0])), np.eye(widths[-1])[rng.integers(0, widths[-1], n)]


def attention(p, x):
    """A head of attention and a small network behind it."""
    scores = (x @ p["Q"]) @ (x @ p["K"]).T / x.shape[1] ** 0.5
    e = np.exp(scores - np.max(scores, axis=1, keepdims=True))
    x = x + (e / np.sum(e, axis=1, keepdims=True)) @ (x @ p["V"])
    return np.mean((x + np.maximum(x @ p["W"], 0.0) @ p["U"]) ** 2)


def attention_torch(torch):
    def f(p, x):
        scores = (x @ p["Q"]) @ (x @ p["K"]).T / x.shape[1] ** 0.5
        x = x + torch.softmax(scores, 1) @ (x @ p["V"])
        return torch.mean((x + torch.relu(x @ p["W"]) @ p["U"]) ** 2)
    return f


def attention_data(rng, n, d):
    shapes = {"Q": (d, d), "K": (d, d), "V": (d, d), "W": (d, 4 * d), "U": (4 * d, d)}
    return {name: rng.standard_normal(shape) / np.sqrt(shape[0])
            for name, shape in shapes.items()}, rng.standard_normal((n, d))


def sigmoid(z):
    return 1.0 / (1.0 + np.exp(-z))


def cell(w, x, h, s):
    """One step of one layer, whose weights are diagonal: the new output and the new state."""
    forget, take, give = sigmoid(x * w[0] + w[4]), sigmoid(h * w[1] + w[5]), sigmoid(x * w[2] + w[6])
    s = s * forget + take * np.tanh(h * w[3] + w[7])
    return give * np.tanh(s), s


def lstm(weights, ends, start, text):
    layers = weights.shape[0]
    h, s = [start[k, 0] for k in range(layers)], [start[k, 1] for k in range(layers)]
    total = 0.0
    for t in range(text.shape[0] - 1):
        x = text[t] * ends[0]
        for k in range(layers):
            h[k], s[k] = cell(weights[k], x, h[k], s[k])
            x = h[k]
        y = x * ends[1] + ends[2]
        total = total + np.sum(text[t + 1] * (y - np.log(np.sum(np.exp(y)) + 2.0)))
    return -total / (text.shape[0] - 1)


def lstm_jax(jax):
    np = jax.numpy

    def layer(x, given):
        w, h, s = given
        forget, take, give = (jax.nn.sigmoid(z) for z in (x * w[0] + w[4], h * w[1] + w[5], x * w[2] + w[6]))
        s = s * forget + take * np.tanh(h * w[3] + w[7])
        h = give * np.tanh(s)
        return h, (h, s)

    def f(weights, ends, start, text):
        def step(state, pair):
            now, following = pair
            x = now * ends[0]
            new = []
            for k in range(weights.shape[0]):
                x, both = layer(x, (weights[k], *state[k]))
                new.append(both)
            y = x * ends[1] + ends[2]
            return new, np.sum(following * (y - np.log(np.sum(np.exp(y)) + 2.0)))
        state = [(start[k, 0], start[k, 1]) for k in range(weights.shape[0])]
        return -np.sum(jax.lax.scan(step, state, (text[:-1], text[1:]))[1]) / (text.shape[0] - 1)
    return f


def lstm_data(rng, layers, steps, width):
    return (rng.standard_normal((layers, 8, width)), rng.standard_normal((3, width)),
            rng.standard_normal((layers, 2, width)),
            rng.integers(0, 2, (steps, width)).astype(float))


PROGRAMS = [
    Program("two-layer network, 200 x 10 x 32", two_layers, two_layers_data, (200, 10, 32), (4, 3, 2)),
    Program("two-layer network, 1,000 x 10 x 250", two_layers, two_layers_data, (1000, 10, 250), (5, 3, 2)),
    Program("classifier, 128 x 784 x 128 x 64 x 10", classifier, classifier_data, (128, 784, 128, 64, 10),
            (5, 4, 3, 3, 2),
            texts={"PyTorch": classifier_torch}),
    Program("attention, 64 x 64", attention, attention_data, (64, 64), (4, 3), texts={"PyTorch": attention_torch}),
    Program("LSTM, 4 layers of 14, 256 steps", lstm, lstm_data, (4, 256, 14), (2, 4, 3), (0, 1),
            texts={"JAX": lstm_jax}),
]
