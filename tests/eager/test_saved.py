"""What steps save, as PyTorch's: whether a second pass goes through, whether a result or an operand may be changed in
place, what is a view.

Each line of tests/eager/answers/saved.lines is `operands: code => outcomes`, and the outcomes are PyTorch 2.13.0's.
They are recorded by `python tests/eager/test_saved.py` in an environment with PyTorch. DIFFERENT names what differs,
and why.
"""
import pathlib
import sys
import warnings

LINES = pathlib.Path(__file__).parent / "answers" / "saved.lines"
ARROW = " => "
SHAPES = {"image": (2, 4, 6, 6), "signal": (2, 3, 4), "matrix": (3, 4), "columns": (2, 12), "small": (2, 3),
          "square": (3, 3), "row": (3,)}
ERRORS = {"second time": "freed", "modified by an inplace": "stale", "is a view": "view",
          "no longer support": "refused"}


def operands(library, names):
    """Results of a first step, so that they may be changed in place, and the leaves under them."""
    leaves = []
    for k, name in enumerate(names):
        n = 1
        for extent in SHAPES[name]:
            n *= extent
        x = (library.arange(n).to(library.float64) * 0.37 + 0.1 + k).sin().abs().reshape(SHAPES[name]) * 0.8 + 0.1
        leaves.append((x + 3 * library.eye(3, dtype=library.float64) if name == "square" else x).requires_grad_())
    return leaves, [leaf * 1.0 for leaf in leaves]


def outcomes(line, library):
    """view: whether the result is one; twice, out, in: what backward says of a second pass, a changed result, changed
    operands; the gradient behind a relu_."""
    names, code = line.split(": ", 1)
    names = names.split()
    scope = {"torch": library, "F": library.nn.functional, "nn": library.nn}

    def run(work):
        leaves, xs = operands(library, names)
        y = eval(code, scope, dict(zip("xyz", xs)))
        try:
            return work(leaves, xs, y[0] if isinstance(y, tuple) else y)
        except RuntimeError as error:
            return next((word for text, word in ERRORS.items() if text in str(error)), str(error).splitlines()[0])

    def twice(leaves, xs, y):
        for _ in range(2):
            library.autograd.grad(y, xs, library.ones_like(y), allow_unused=True)
        return "ok"

    def changed(t, y):
        t.mul_(2.0)
        y.abs().sum().backward()
        return "ok"

    def behind(leaves, xs, y):
        z = y.relu_() if y.dtype == library.float64 else y
        (z * z.conj()).abs().sum().backward()
        return " ".join(f"{round(v, 3) + 0.0:g}" for v in leaves[0].grad.flatten().tolist()[:6])
    found = {"view": run(lambda leaves, xs, y: str(bool(y._is_view()))), "twice": run(twice),
             "out": run(lambda leaves, xs, y: changed(y, y))}
    found.update({f"in{k}": run(lambda leaves, xs, y, k=k: changed(xs[k], y)) for k in range(len(names))})
    return {**found, "relu": run(behind)}


def told(found):
    return ", ".join(f"{name} {what}" for name, what in found.items())


if __name__ == "__main__":
    import torch
    warnings.simplefilter("ignore")
    questions = [line.split(ARROW)[0] for line in LINES.read_text().splitlines()]
    LINES.write_text("".join(f"{q}{ARROW}{told(outcomes(q, torch))}\n" for q in questions))
    sys.exit()

import pytest  # noqa: E402

import fad  # noqa: E402

# line -> what is otherwise: mostly that fad saves less, so that more is allowed
DIFFERENT = {
    "signal: F.max_pool1d(x,2)": "view",
    "signal: F.avg_pool1d(x,2)": "view",
    "matrix: torch.broadcast_tensors(x,x)[0]": "view",
    "matrix: x**1": "in0",
    "image: F.conv2d(x,torch.ones(3,4,3,3,dtype=torch.float64))": "in0",
    "matrix: torch.fft.rfft(x)": "twice",
    "matrix: torch.tensordot(x,torch.eye(4,dtype=torch.float64),1)": "view",
    "small: torch.erfinv(x)": "out in0 relu",
    "small: torch.sgn(x)": "twice",
    "small: 2.0 / x": "in0",
    "small: 2.0 ** x": "in0",
    'square square: torch.einsum("ij,jk->ik", x, y)': "view",
    "square square: torch.tensordot(x, y, 1)": "view",
}


@pytest.mark.parametrize("line", LINES.read_text().splitlines(), ids=lambda line: line.split(ARROW)[0])
@pytest.mark.filterwarnings("ignore")
def test_steps_save_what_pytorchs_save(line):
    question, answer = line.split(ARROW)
    wanted, found = dict(part.split(" ", 1) for part in answer.split(", ")), outcomes(question, fad)
    assert {name for name in wanted if found[name] != wanted[name]} == set(DIFFERENT.get(question, "").split())


F = fad.nn.functional
OPTIONS = {                                                   # a step, and what its node shows of its options
    "conv1d": (lambda x: F.conv1d(x, fad.ones(2, 3, 2), padding=1),
               {"stride": (1,), "padding": (1,), "dilation": (1,), "groups": 1, "transposed": False,
                "output_padding": (0,)}),
    "max_pool2d": (lambda x: F.max_pool2d(x, 2, 2),
                   {"kernel_size": (2, 2), "stride": (2, 2), "padding": (0, 0), "dilation": (1, 1),
                    "ceil_mode": False}),
    "avg_pool2d": (lambda x: F.avg_pool2d(x, 2, 2),
                   {"kernel_size": (2, 2), "stride": (2, 2), "padding": (0, 0), "ceil_mode": False,
                    "count_include_pad": True}),
    "pad": (lambda x: F.pad(x, (1, 2)), {"pad": (1, 2)}),
    "reflect": (lambda x: F.pad(x, (1, 2), mode="reflect"), {"padding": (1, 2)}),
    "replicate": (lambda x: F.pad(x, (1, 2), mode="replicate"), {"padding": (1, 2)}),
    "batch_norm": (lambda x: F.batch_norm(x, None, None, training=True, eps=1e-3), {"training": True, "eps": 1e-3}),
    "known batch_norm": (lambda x: F.batch_norm(x, fad.zeros(3), fad.ones(3)), {"training": False, "eps": 1e-5}),
    "layer_norm": (lambda x: F.layer_norm(x, (4,)), {"normalized_shape": (4,)}),
    "group_norm": (lambda x: F.group_norm(x, 3), {"N": 2, "C": 3, "HxW": 4, "group": 3, "eps": 1e-5})}


@pytest.mark.parametrize("name", OPTIONS)
def test_nodes_show_their_options(name):
    f, wanted = OPTIONS[name]
    node = f((fad.arange(24.0).reshape(2, 3, 4) + 0.0).requires_grad_()).grad_fn
    while not any(hasattr(node, f"_saved_{k}") for k in wanted):                # behind a Squeeze or Unsqueeze
        node = node.next_functions[0][0]
    assert {k: getattr(node, f"_saved_{k}", None) for k in wanted} == wanted


def test_a_network_with_steps_in_place():
    model = fad.nn.Sequential(fad.nn.Conv2d(1, 2, 3), fad.nn.MaxPool2d(2), fad.nn.ReLU(inplace=True),
                              fad.nn.AvgPool2d(2), fad.nn.ELU(inplace=True))
    plain = fad.nn.Sequential(model[0], fad.nn.MaxPool2d(2), fad.nn.ReLU(), fad.nn.AvgPool2d(2), fad.nn.ELU())
    x = (fad.arange(64.0).reshape(1, 1, 8, 8) * 0.37).sin()
    gradients = [fad.autograd.grad((m(x) ** 2).sum(), list(model[0].parameters())) for m in (model, plain)]
    assert all(a.tolist() == b.tolist() for a, b in zip(*gradients)) and not model[:2](x)._is_view()


def test_what_marks_and_methods_there_are():
    with fad.autograd.profiler.emit_itt() as marks:
        assert marks.enabled
    x = fad.tensor([-1.0, 0.25, 2.0])
    assert fad.prelu(x, fad.tensor([0.5])).tolist() == [-0.5, 0.25, 2.0]
