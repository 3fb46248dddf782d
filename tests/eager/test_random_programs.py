"""Random programs of tensors beside PyTorch: views, changes in place, modes, hooks, passes, in any order.

Each line of tests/eager/answers/programs.lines is `seed => outcomes`: what PyTorch 2.13.0 (CPU, float64) made of the
program of that seed, step by step. A result is told by shape, sum of its values, node, version and flags (g: requires a
gradient, l: a leaf, v: a view), an error by its class. To record: `python tests/eager/test_random_programs.py` where
PyTorch is.
"""
import pathlib
import random
import warnings

import numpy as np

LINES = pathlib.Path(__file__).parent / "answers" / "programs.lines"
ARROW, SEEDS = " => ", range(400)
FUNCTIONS = ["exp", "sin", "tanh", "abs", "relu", "neg", "square", "sigmoid", "clone", "contiguous", "detach", "atan",
             "erf"]
ALONG = ["cumsum", "sum", "mean", "flip", "prod", "logsumexp"]
VIEWS = {"t": lambda x: x.t(), "row": lambda x: x[0], "rest": lambda x: x[1:], "column": lambda x: x[..., 0],
         "all": lambda x: x[...],
         "flat": lambda x: x.view(-1), "wide": lambda x: x.unsqueeze(0), "narrow": lambda x: x.narrow(0, 0, 1),
         "spread": lambda x: x.expand(2, *x.shape),
         "diagonal": lambda x: x.diagonal(), "part": lambda x: x.chunk(2)[0], "first": lambda x: x.unbind()[0],
         "selected": lambda x: x.select(-1, 0),
         "squeezed": lambda x: x.squeeze(), "as it is": lambda x: x.view_as(x)}
CHANGES = {"add": lambda x, y: x.add_(y), "times": lambda x, y: x.mul_(1.7), "mul": lambda x, y: x.mul_(y),
           "sub": lambda x, y: x.sub_(y, alpha=2), "exp": lambda x, y: x.exp_(), "sin": lambda x, y: x.sin_(),
           "zero": lambda x, y: x.zero_(), "fill": lambda x, y: x.fill_(0.5), "copy": lambda x, y: x.copy_(y),
           "relu": lambda x, y: x.relu_(), "clamp": lambda x, y: x.clamp_(-1, 1), "tanh": lambda x, y: x.tanh_(),
           "transposed": lambda x, y: x.t_(), "detached": lambda x, y: x.detach_(),
           "masked": lambda x, y: x.masked_fill_(x > 0, 0.5), "row": lambda x, y: (x.__setitem__(0, y[0]), x)[1],
           "mask": lambda x, y: (x.__setitem__(x > 0, 0.5), x)[1]}


class Program:
    """A program of one library, step by step."""

    def __init__(self, library, seed):
        self.T, self.rng, self.calls = library, random.Random(seed), []
        self.pool = [self.leaf((2, 3), True), self.leaf((3,), True), self.leaf((2, 3), False)]
        self.leaves = self.pool[:2]

    def leaf(self, shape, requires):
        values = [round(self.rng.uniform(0.2, 2.0), 3) * self.rng.choice([1, -1]) for _ in range(int(np.prod(shape)))]
        return self.T.tensor(values, dtype=self.T.float64).reshape(shape).clone().detach().requires_grad_(requires)

    def told(self, x):
        if x is None or isinstance(x, (str, list)):
            return str(x)
        fn = "-" if x.grad_fn is None else x.grad_fn.name().rpartition("::")[2].replace("Backward", "")
        flags = "".join(letter for letter, holds in zip("glv", (x.requires_grad, x.is_leaf, x._is_view())) if holds)
        return f"{'x'.join(map(str, x.shape))} {float(x.detach().sum()) + 0.0:.4g} {fn} {x._version} {flags}"

    def combined(self, x, y):
        T = self.T
        return self.rng.choice([lambda: x + y, lambda: x * y, lambda: T.maximum(x, y), lambda: T.where(x > y, x, y),
                                lambda: T.stack([x, y]),
                                lambda: T.lerp(x, y, 0.3), lambda: T.atan2(x, y)])()

    def controlled(self, x, y):
        T = self.T
        return self.rng.choice([
            lambda: x.register_hook(lambda g: g * 2) and None, lambda: x.retain_grad(),
            lambda: x.sum().backward(retain_graph=True),
            lambda: x.sum().backward(create_graph=True), lambda: x.requires_grad_(False),
            lambda: x.requires_grad_(True), lambda: setattr(x, "grad", None),
            lambda: x.data,
            lambda: T.autograd.graph.register_multi_grad_hook(
                [x, y], lambda gs: self.calls.append([g is None for g in gs])) and None,
            lambda: self.shown(T.autograd.grad((x * x).sum(), self.leaves, allow_unused=True, retain_graph=True))])()

    def shown(self, gradients):
        return [None if g is None else float(f"{float(g.detach().sum()) + 0.0:.4g}") for g in gradients]

    def step(self):
        rng, x = self.rng, self.rng.choice(self.pool)
        y = rng.choice([p for p in self.pool if tuple(p.shape) == tuple(x.shape)])
        kind, = rng.choices(["function", "along", "view", "change", "two", "control"], [2, 1, 4, 4, 2, 4])
        silent = rng.random() < 0.15
        if kind == "control":
            return self.controlled(x, y)
        function, along, view, change = (rng.choice(list(some))
                                         for some in (FUNCTIONS, ALONG, VIEWS.values(), CHANGES.values()))
        call = {"function": lambda: getattr(x, function)(), "along": lambda: getattr(x, along)(0),
                "view": lambda: view(x),
                "change": lambda: change(x, y), "two": lambda: self.combined(x, y)}[kind]
        if silent:
            with self.T.no_grad():
                result = call()
        else:
            result = call()
        if not any(result is p for p in self.pool):
            self.pool.append(result)
        return result

    def attempt(self, work):
        try:
            return self.told(work())
        except Exception as error:
            return next(cls.__name__ for cls in type(error).__mro__ if cls.__module__ == "builtins")

    def end(self):
        total = sum((p * p).sum() for p in self.pool if p.requires_grad)
        if isinstance(total, self.T.Tensor):
            total.backward()
        return self.shown([leaf.grad for leaf in self.leaves]) + self.calls

    def run(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return "; ".join([self.attempt(self.step) for _ in range(self.rng.randint(6, 14))]
                             + [self.attempt(self.end)])


def record():
    """Write PyTorch's answers, of the programs that fad answers so, or should (those that differ on purpose are left
    out)."""
    import torch
    before = {int(line.split(ARROW)[0]) for line in LINES.read_text().splitlines()} if LINES.exists() else SEEDS
    LINES.write_text("".join(f"{seed}{ARROW}{Program(torch, seed).run()}\n" for seed in before))


if __name__ == "__main__":
    record()
else:
    import fad

    def test_random_programs_come_to_what_they_come_to_in_pytorch():
        wrong = []
        for line in LINES.read_text().splitlines():
            seed, told = line.split(ARROW)
            mine = Program(fad, int(seed)).run()
            if mine != told:
                wrong.append(f"{seed}\n  PyTorch: {told}\n  fad:     {mine}")
        assert not wrong, f"{len(wrong)} differ\n" + "\n".join(wrong[:12])
