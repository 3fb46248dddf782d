"""Time per operation of fad's tensors, forward and backward, beside PyTorch's: `python tests/bench/tensor.py [part of a
name ...]`, in a Python that has both.

On tensors of a few elements and on small networks, float64, one thread. Prints a line an operation: microseconds of the
process' own time in fad and in PyTorch, and their ratio. The two take turns, and the least of forty rounds counts.
"""
import os
import sys
import time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np


class Bench:
    """The operations of one library."""

    def __init__(self, library):
        self.T, self.F, self.nn, self.optim = library, library.nn.functional, library.nn, library.optim
        library.set_default_dtype(library.float64)
        self.calls = {}

    def drawn(self, *shape):
        return self.T.tensor(np.random.default_rng(sum(shape)).standard_normal(shape).tolist())

    def leaf(self, *shape):
        return self.drawn(*shape).requires_grad_()

    def below(self, n, *shape):
        return self.T.tensor(np.random.default_rng(7).integers(0, n, shape).tolist())

    def add(self, name, f):
        """An operation and the gradient of its result, which is given ones."""
        g = self.T.ones(f().shape)
        self.calls[name] = lambda: f().backward(g)

    def functions(self):
        T, F = self.T, self.F
        x, a, z, image, signal = self.leaf(10), self.leaf(4,
                                                          5), self.leaf(8, 5), self.leaf(1, 2, 6, 6), self.leaf(1, 1, 8)
        index, classes = self.below(5, 4, 3), self.below(5, 8)
        square, weight, bias, table = self.leaf(3, 3), self.leaf(6, 5), self.leaf(6), self.leaf(10, 4)
        kernel, kernel_bias, ones = self.leaf(4, 2, 3, 3), self.leaf(4), T.ones(8, 5)
        column, part = self.leaf(5), self.leaf(4, 3)
        for name, f in {
                "exp": lambda: x.exp(), "mul": lambda: x * x, "sum": lambda: x.sum(), "mean": lambda: z.mean(),
                "matmul": lambda: square @ square,
                "gather": lambda: a.gather(1, index), "sort": lambda: a.sort(1)[0], "topk": lambda: a.topk(2, 1)[0],
                "max along": lambda: a.max(1)[0],
                "max_pool1d": lambda: F.max_pool1d(signal, 2), "max_pool2d": lambda: F.max_pool2d(image, 2),
                "avg_pool2d": lambda: F.avg_pool2d(image, 2),
                "cross_entropy": lambda: F.cross_entropy(z, classes), "nll_loss": lambda: F.nll_loss(z, classes),
                "mse_loss": lambda: F.mse_loss(z, ones),
                "log_softmax": lambda: F.log_softmax(z, 1), "softmax": lambda: F.softmax(z, 1),
                "relu": lambda: F.relu(z),
                "linear": lambda: F.linear(z, weight, bias), "conv2d": lambda: F.conv2d(image, kernel, kernel_bias),
                "embedding": lambda: F.embedding(classes, table),
                "index_select": lambda: table.index_select(0, classes),
                "cat": lambda: T.cat([z, z], 1), "stack": lambda: T.stack([z, z], 1),
                "scatter_add": lambda: a.scatter_add(1, index, part),
                "batch_norm": lambda: F.batch_norm(z, None, None, column, bias[:5], True),
                "layer_norm": lambda: F.layer_norm(z, (5,), column, bias[:5]),
                "reshape": lambda: z.reshape(-1)}.items():
            self.add(name, f)

    def step(self, name, module, loss, optimizer, *more):
        """A step of training, on weights that both libraries share."""
        rng, parameters = np.random.default_rng(3), [p for m in (module, *more) for p in m.parameters()]
        with self.T.no_grad():
            for p in parameters:
                p.copy_(self.T.tensor((0.2 * rng.standard_normal(tuple(p.shape))).tolist()))
        chosen = optimizer(parameters, lr=0.001)

        def call():
            chosen.zero_grad()
            loss(module).backward()
            chosen.step()
        self.calls[name] = call

    def steps(self):
        nn, F, optim = self.nn, self.F, self.optim
        images, rows, times, classes = self.drawn(4, 1, 12, 12), self.drawn(4, 5), self.drawn(6, 4, 5), self.below(3, 4)
        small = [nn.Conv2d(1, 4, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(100, 3)]
        large = [nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2),
                 nn.Conv2d(8, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(72, 3)]
        self.step("CNN, SGD", nn.Sequential(*small), lambda m: F.cross_entropy(m(images), classes), optim.SGD)
        self.step("CNN of two layers, Adam", nn.Sequential(*large), lambda m: F.cross_entropy(m(images), classes),
                  optim.Adam)
        self.step("MLP, SGD", nn.Sequential(nn.Linear(5, 16), nn.Tanh(), nn.Linear(16, 3)),
                  lambda m: F.cross_entropy(m(rows), classes), optim.SGD)
        for kind in ("RNN", "LSTM", "GRU"):
            head = nn.Linear(8, 3)
            self.step(f"{kind}, SGD", getattr(nn, kind)(5, 8),
                      lambda m, head=head: F.cross_entropy(head(m(times)[0][-1]), classes), optim.SGD, head)


def least(calls):
    """Microseconds of each of several calls, which take turns."""
    for call in calls:
        for _ in range(3):
            call()
    start = time.perf_counter()
    calls[0]()
    count, best = max(5, min(200, int(4e-3 / (time.perf_counter() - start)))), [float("inf")] * len(calls)
    for _ in range(40):
        for k, call in enumerate(calls):
            start = time.process_time_ns()
            for _ in range(count):
                call()
            best[k] = min(best[k], (time.process_time_ns() - start) / count / 1e3)
    return best


def main(wanted):
    import torch

    import fad
    torch.set_num_threads(1)
    benches = [Bench(fad), Bench(torch)]
    for bench in benches:
        bench.functions()
        bench.steps()
    for name in benches[0].calls:
        if not wanted or any(part in name for part in wanted):
            ours, theirs = least([bench.calls[name] for bench in benches])
            print(f"{name:24s}{ours:10.1f}{theirs:10.1f}{ours / theirs:8.2f}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
