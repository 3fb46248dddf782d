"""The graphs of functions, and what their nodes show, beside PyTorch's.

tests/eager/answers/graphs.lines holds lines `code => graph => gradients => saved`: what PyTorch 2.13.0 (CPU, float64)
made of the code. The graph is told by its nodes (A: a leaf, -: no edge, #1: the second result), gradients by their sums
of squares, first and second order, and what the last node shows as _saved_<name> by value, tensors by dtype, shape and
sum. To record: `python tests/eager/test_steps.py` where PyTorch is.
"""
import pathlib
import warnings

import numpy as np

LINES = pathlib.Path(__file__).parent / "answers" / "graphs.lines"
ARROW = " => "
SHAPES = {"x": (3, 4), "y": (3, 4), "p": (3, 4), "w": (4,), "m": (4, 5), "s": (4, 4), "b3": (2, 3, 4), "c3": (2, 4, 5),
          "i1": (2, 3, 8), "i2": (2, 3, 6, 6), "i3": (2, 2, 5, 5, 5), "k1": (4, 3, 3), "k2": (4, 3, 3, 3),
          "k3": (4, 2, 2, 2, 2), "t1": (3, 4, 3), "t2": (3, 4, 3, 3), "t3": (2, 4, 2, 2, 2), "v": (5,), "u": (5,),
          "bias": (4,), "e": (10, 3)}


def names_of(torch):
    """What the lines of code are about: leaves of these shapes, a positive definite matrix, indices."""
    numbers = {name: np.random.default_rng(k).standard_normal(shape) for k, (name, shape) in enumerate(SHAPES.items())}
    numbers["p"] = np.abs(numbers["p"]) + 0.5
    numbers["z"] = numbers["x"] + 1j * numbers["y"]
    numbers["zs"] = numbers["s"] + 1j * numbers["s"][::-1]
    leaves = {name: torch.tensor(a).requires_grad_(True) for name, a in numbers.items()}
    spd = torch.tensor(numbers["s"] @ numbers["s"].T + 4 * np.eye(4)).requires_grad_(True)
    others = {"idx": [0, 2, 1], "mask": [True, False, True], "big": [[0, 1, 2, 3], [3, 1, 0, 2], [2, 0, 1, 3]],
              "cls": [1, 0, 3]}
    return {**leaves, "spd": spd, **{name: torch.tensor(a) for name, a in others.items()}, "torch": torch,
            "F": torch.nn.functional,
            "f64": torch.float64}


def graph(node):
    """A node and those behind it."""
    if node is None or "AccumulateGrad" in node.name():
        return "-" if node is None else "A"
    behind = [graph(after) + (f"#{k}" if k else "") for after, k in node.next_functions]
    return f"{node.name().replace('Backward', '')}({','.join(behind)})"


def square(t):
    return (t * t.conj()).real.sum() if t.is_complex() else (t * t).sum()


def gradients(torch, y, leaves):
    """Sums of squares of the gradients, and of their sum's gradients."""
    first = [g for g in torch.autograd.grad(square(y), leaves, allow_unused=True, create_graph=True) if g is not None]
    total = sum(square(g) for g in first)
    second = torch.autograd.grad(total, leaves, allow_unused=True) if total.requires_grad else []
    return " ".join(f"{_near(float(square(g))):.5g}" for g in (*first, *second) if g is not None)


def _near(number):
    return 0.0 if abs(number) < 1e-12 else number


def shown(torch, value):
    """A saved value in words."""
    if isinstance(value, torch.Tensor):
        t = value.detach().resolve_conj()
        total = complex(t.to(torch.complex128).sum())
        return f"{str(t.dtype).removeprefix('torch.')}{list(t.shape)}:{_near(total.real):.5g}{_near(total.imag):+.5g}j"
    if isinstance(value, (tuple, list)):
        return f"({' '.join(shown(torch, v) for v in value)})"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def saved(torch, node):
    """Name -> value of what a node shows."""
    names = [name for name in dir(node) if name.startswith("_saved_")]
    return {name.removeprefix("_saved_"): shown(torch, getattr(node, name)) for name in names}


def told(torch, code):
    names = names_of(torch)
    leaves = [t for t in names.values() if isinstance(t, torch.Tensor) and t.requires_grad]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        y = eval(code, names)
        found = saved(torch, y.grad_fn)
        tree = graph(y.grad_fn)
        return tree, gradients(torch, y, leaves), found


def record():
    """Write PyTorch's answers behind the code of every line."""
    import torch
    lines = []
    for line in LINES.read_text().splitlines():
        code, *before = line.split(ARROW)
        tree, numbers, found = told(torch, code)
        wanted = [pair.partition("=")[0] for pair in before[2].split("; ")] if len(before) > 2 else list(found)
        lines.append(ARROW.join([code, tree, numbers,
                                 "; ".join(f"{name}={found[name]}" for name in wanted if name in found)]))
    LINES.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    record()
else:
    import fad

    def test_graphs_gradients_and_what_is_saved_are_those_of_pytorch():
        wrong = []
        for line in LINES.read_text().splitlines():
            code, tree, numbers, found = line.split(ARROW)
            mine = told(fad, code)
            pairs = dict(pair.split("=", 1) for pair in found.split("; ") if pair)
            shows = {name: mine[2].get(name) for name in pairs}
            if (mine[0], mine[1], shows) != (tree, numbers, pairs):
                wrong.append(f"{code}\n  PyTorch: {tree} {numbers} {pairs}\n  fad:     {mine[0]} {mine[1]} {shows}")
        assert not wrong, "\n".join(wrong)
