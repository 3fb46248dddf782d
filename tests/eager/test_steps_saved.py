"""What the steps of PyTorch's own samples save: which operands and results, whether a second pass goes through, what
may be changed in place.

Each line of tests/eager/answers/steps.lines is `shapes of the operands: code => outcomes`, the outcomes PyTorch
2.13.0's (P before a shape: positive definite matrices). The lines are drawn from PyTorch's samples of all functions
with derivatives that fad has, one or two of each kind of call. They are recorded by `python
tests/eager/test_steps_saved.py` in an environment with PyTorch. `saves` are the tensors that the node shows, compared
where both libraries' nodes have one name.
"""
import math
import pathlib
import sys
import warnings

LINES = pathlib.Path(__file__).parent / "answers" / "steps.lines"
ARROW = " => "
ERRORS = {"second time": "freed", "already been freed": "freed", "modified by an inplace": "stale", "is a view": "view",
          "not implemented": "no derivative"}


def operands(library, shapes):
    """Results of a first step, so that they may be changed in place."""
    made = []
    for k, told in enumerate(shapes):
        shape = tuple(int(n) for n in told.lstrip("P").split("x")) if told != "-" else ()
        x = (library.arange(math.prod(shape)).to(library.float64) * 0.37 + 0.1 + k).sin().abs()
        x = x.reshape(shape) * 0.8 + 0.1
        if told.startswith("P"):
            x = x @ x.transpose(-1, -2) + 3 * library.eye(shape[-1], dtype=library.float64)
        made.append(x.detach().requires_grad_() * 1.0)
    return made


def tensors(y, library):
    if isinstance(y, (tuple, list)):
        return [t for part in y for t in tensors(part, library)]
    return [y] if isinstance(y, library.Tensor) and y.requires_grad else []


def outcomes(line, library):
    """node and saves: what made the first result, and the tensors that it shows; view; twice: a second pass; out0, in0:
    backward after that result or operand was changed."""
    shapes, code = line.split(": ", 1)
    shapes = shapes.split()
    scope = {"torch": library, "F": library.nn.functional}

    def run(work):
        xs = operands(library, shapes)
        ys = tensors(eval(code, scope, dict(zip("xyzuvw", xs))), library)
        try:
            return work(xs, ys)
        except (RuntimeError, NotImplementedError) as error:
            return next((word for text, word in ERRORS.items() if text in str(error)), str(error).splitlines()[0])

    def twice(xs, ys):
        for _ in range(2):
            library.autograd.grad(ys, xs, [library.ones_like(y) for y in ys], allow_unused=True)
        return "ok"

    def changed(t, ys):
        t.mul_(2.0)
        library.autograd.backward(ys, [library.ones_like(y) for y in ys])
        return "ok"

    def saves(xs, ys):
        node = ys[0].grad_fn
        shown = {name[7:]: getattr(node, name) for name in dir(node) if name.startswith("_saved_")}
        is_saved = lambda entry: any(isinstance(one, library.Tensor)
                                     for one in (entry if isinstance(entry, tuple) else [entry]))
        return " ".join(name for name, entry in sorted(shown.items()) if is_saved(entry)) or "nothing"
    found = {"node": run(lambda xs, ys: type(ys[0].grad_fn).__name__), "saves": run(saves),
             "view": run(lambda xs, ys: str(ys[0]._is_view())), "twice": run(twice)}
    results = tensors(eval(code, scope, dict(zip("xyzuvw", operands(library, shapes)))), library)
    found |= {f"out{k}": run(lambda xs, ys, k=k: changed(ys[k], ys)) for k in range(min(3, len(results)))}
    return found | {f"in{k}": run(lambda xs, ys, k=k: changed(xs[k], ys)) for k in range(len(shapes))}


def told(found):
    return ", ".join(f"{name} {what}" for name, what in found.items())


if __name__ == "__main__":
    import torch
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    questions = [line.split(ARROW)[0] for line in LINES.read_text().splitlines()]
    LINES.write_text("".join(f"{q}{ARROW}{told(outcomes(q, torch))}\n" for q in questions))
    sys.exit()

import pytest  # noqa: E402

import fad  # noqa: E402

DIFFERENT = {                                          # why -> for each function what is otherwise
    "results that PyTorch takes for views of what nobody sees": {
        "F.avg_pool1d": "view",
        "F.max_pool1d": "view", "F.linear": "view", "torch.inner": "view", "torch.tensordot": "view",
        "torch.fft.ifft": "view", "torch.fft.ihfft": "view", "torch.fft.ihfft2": "view", "torch.fft.ihfftn": "view",
        "torch.linalg.tensorinv": "view"},
    "rules that compute anew, or by another way, what PyTorch saves": {
        "F.group_norm": "saves", "F.layer_norm": "saves", "F.batch_norm": "saves", "F.logsigmoid": "saves",
        "torch.linalg.det": "saves", "torch.linalg.slogdet": "saves", "torch.linalg.solve": "saves",
        "torch.linalg.solve_ex": "saves", "torch.linalg.svdvals": "saves", "torch.linalg.eigvals": "saves",
        "torch.linalg.eigvalsh": "saves", "torch.erfinv": "in0 out0 saves", "x.erfinv_": "in0 out0 saves"},
    "what PyTorch saves is a copy": {"torch.fft.fft": "saves", "torch.fft.rfft": "saves", "torch.fft.rfft2": "saves",
                                     "torch.fft.rfftn": "saves"},
    "derivatives that PyTorch does not have": {
        "x.acosh_": "in0 out0", "x.asinh_": "in0 out0", "x.atanh_": "in0 out0", "torch.scatter": "in0 in1 out0 twice",
        "x.scatter_": "in0 in1 out0 twice"},
    "a step between neighbouring numbers, refused here": {"torch.nextafter": "in0 in1 out0 saves twice",
                                                          "x.nextafter_": "in0 in1 out0 saves twice"}}
BY_FUNCTION = {name: set(what.split()) for functions in DIFFERENT.values() for name, what in functions.items()}
SAVED = [line.split(ARROW) for line in LINES.read_text().splitlines()]


@pytest.mark.parametrize("start", range(8))
@pytest.mark.filterwarnings("ignore")
def test_steps_save_what_pytorchs_save(start):
    for question, answer in SAVED[start::8]:
        wanted, found = dict(part.split(" ", 1) for part in answer.split(", ")), outcomes(question, fad)
        other = {name for name in wanted if name != "node" and found[name] != wanted[name]}
        if found["node"] != wanted["node"]:
            other.discard("saves")
        assert other <= BY_FUNCTION.get(question.partition(": ")[2].partition("(")[0], set()), (question, wanted, found)


def test_what_is_otherwise_is_not_what_was_mended():
    names = {question.partition(": ")[2].partition("(")[0] for question, _ in SAVED}
    assert set(BY_FUNCTION) <= names and len(names) > 350


def test_a_likelihood_shows_what_its_terms_count():
    x, weight = fad.rand(3, 2, 4, requires_grad=True), fad.tensor([1.0, 3.0])
    flat, classes = fad.rand(3, 2, requires_grad=True), fad.tensor([1, 0, 1])
    assert fad.nn.functional.nll_loss(flat, classes, weight).grad_fn._saved_total_weight.item() == 7
    assert fad.nn.functional.nll_loss(flat, classes, ignore_index=0).grad_fn._saved_total_weight.item() == 2
    of_images = fad.nn.functional.nll_loss(x, fad.ones(3, 4, dtype=fad.int64), weight)
    assert of_images.grad_fn._saved_total_weight.item() == 36


def test_rules_read_copies_of_what_pytorch_does_not_save():
    x, y = fad.tensor([1.0, 4.0], requires_grad=True), fad.tensor([2.0, 3.0], requires_grad=True)
    z = x * 1.0
    product = fad.kron(z, y)
    z.zero_()
    product.sum().backward()
    assert x.grad.tolist() == [5.0, 5.0] and y.grad.tolist() == [5.0, 5.0]
    assert fad.autograd.gradgradcheck(lambda a, b: fad.kron(a, b),
                                      (fad.rand(2, 2, dtype=fad.float64, requires_grad=True),
                                       fad.rand(2, dtype=fad.float64, requires_grad=True)))
