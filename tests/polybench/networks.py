"""Networks in plain NumPy: convolutions by windows, pooling, residual blocks, attention's softmax."""
import numpy as np

from .registry import kernel, normal


def relu(x):
    return np.maximum(x, 0)


def convolution(x, weights):
    """x (N, H, W, C), weights (K, K, C, F): the sum over windows, written as a loop over output pixels."""
    K = weights.shape[0]
    N, rows, cols = x.shape[0], x.shape[1] - K + 1, x.shape[2] - K + 1
    y = np.empty((N, rows, cols, weights.shape[3]), dtype=x.dtype)
    for i in range(rows):
        for j in range(cols):
            y[:, i, j, :] = np.sum(x[:, i:i + K, j:j + K, :, np.newaxis] * weights[np.newaxis, :, :, :], axis=(1, 2, 3))
    return y


def pooled(x):
    """The maximum over windows of 2 x 2."""
    y = np.empty((x.shape[0], x.shape[1] // 2, x.shape[2] // 2, x.shape[3]), dtype=x.dtype)
    for i in range(x.shape[1] // 2):
        for j in range(x.shape[2] // 2):
            y[:, i, j, :] = np.max(x[:, 2 * i:2 * i + 2, 2 * j:2 * j + 2, :], axis=(1, 2))
    return y


def normalized(x, eps=1e-5):
    mean = np.mean(x, axis=0, keepdims=True)
    std = np.std(x, axis=0, keepdims=True)
    return (x - mean) / np.sqrt(std + eps)


@kernel(lambda r, n: (normal(r, 2, n, n, 2), normal(r, 3, 3, 2, 4), normal(r, 4)), large=20)
def conv2d_bias(x, weights, bias):
    return convolution(x, weights) + bias


def _lenet(rng, n):
    flat = ((n // 2 - 1) // 2) ** 2 * 3
    return (normal(rng, 2, n, n, 1), normal(rng, 3, 3, 1, 2), normal(rng, 2), normal(rng, 2, 2, 2, 3), normal(rng, 3),
            normal(rng, flat, 5), normal(rng, 5), normal(rng, 5, 4), normal(rng, 4), 2, flat)


@kernel(_lenet, small=8, large=26)
def lenet(x, conv1, conv1_bias, conv2, conv2_bias, dense1, dense1_bias, dense2, dense2_bias, count, flat):
    x = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    x = pooled(relu(convolution(x, conv1) + conv1_bias))
    x = pooled(relu(convolution(x, conv2) + conv2_bias))
    x = np.reshape(x, (count, flat))
    x = relu(x @ dense1 + dense1_bias)
    return x @ dense2 + dense2_bias


def softmax_rows(x):
    shifted = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return shifted / np.sum(shifted, axis=-1, keepdims=True)


@kernel(lambda r, n: (normal(r, n, n + 2), normal(r, n + 2, n), normal(r, n), normal(r, n, n), normal(r, n),
                      normal(r, n, 4), normal(r, 4)), large=80)
def mlp(x, w1, b1, w2, b2, w3, b3):
    x = relu(x @ w1 + b1)
    x = relu(x @ w2 + b2)
    return softmax_rows(x @ w3 + b3)


@kernel(lambda r, n: (normal(r, 3, n, n, 4), normal(r, 1, 1, 4, 2), normal(r, 3, 3, 2, 2), normal(r, 1, 1, 2, 4)),
        large=10)
def resnet(x, narrow, middle, wide):
    padded = np.zeros((x.shape[0], x.shape[1] + 2, x.shape[2] + 2, narrow.shape[3]))
    padded[:, 1:-1, 1:-1, :] = convolution(x, narrow)
    y = relu(normalized(padded))
    y = relu(normalized(convolution(y, middle)))
    y = normalized(convolution(y, wide))
    return relu(y + x)


@kernel(lambda r, n: (normal(r, 2, 3, n, n),), large=60)
def softmax(x):
    largest = np.max(x, axis=-1, keepdims=True)
    e = np.exp(x - largest)
    total = np.sum(e, axis=-1, keepdims=True)
    return e / total
