"""Random programs of tensors: views, views of views, and changes in place through any of them, of tensors that are
turned in place meanwhile.

Reverse mode and forward mode agree with differences of the value, forward over reverse with differences of the
gradient; what PyTorch refuses may be refused. `python -m tests.fuzz.tensors [COUNT] [FIRST]` tries COUNT programs from
seed FIRST, and prints a shrunk program for each failure.
"""
import re

import numpy as np

import fad

from . import judge
from .statement import Blocks, Statement, render_block

VIEWS = ("{0}[{i}]", "{0}[{i}:]", "{0}[:, {i}:]", "{0}[..., {i}]", "{0}[:1]", "{0}[:, ::2]", "{0}[None]",
         "{0}.view(-1)", "{0}.view(2, -1)", "{0}.view(6, 2)", "{0}.view_as({0})", "{0}.reshape(-1)",
         "{0}.reshape(3, -1)", "{0}.flatten(1)", "{0}.flatten(0, 1)", "{0}.unflatten(1, (3, 1))", "{0}.transpose(0, 1)",
         "{0}.transpose(0, -1)", "{0}.mT", "{0}.permute(2, 0, 1)", "{0}.permute(1, 0, 2)", "{0}.movedim(0, -1)",
         "{0}.swapaxes(0, -1)", "{0}.unsqueeze({i})", "{0}.squeeze()", "{0}.narrow(1, {i}, 1)", "{0}.select(1, {i})",
         "{0}.chunk(2)[0]", "{0}.diagonal(0, 0, 1)", "{0}.expand(2, *{0}.shape)[{i}]", "{0}.unbind(0)[{i}]",
         "{0}.split(1)[0]")
CHANGES = ("{0}.mul_({1})", "{0}.add_({1})", "{0}.sub_({1})", "{0}.copy_({1})", "{0}.sin_()", "{0}.tanh_()",
           "{0}.mul_(2.0)", "{0}.div_(2.5)", "{0}.addcmul_({1}, {2})", "{0}.zero_()", "{0}.fill_(1.5)",
           "{0}.fill_({1}.sum())", "{0}.mul_({1}.sum())", "{0}.cumsum_(0)", "{0} += {1}", "{0} *= {1}",
           "{0}[{i}] = {1}[{i}]", "{0}[{i}:] = 2.0", "{0}[...] = {1}", "{0}[:, [0, 1]] = 0.3",
           "{0}.index_fill_(0, fad.tensor([{i}]), 2.0)", "{0}.unsqueeze_(0)", "{0}.squeeze_(0)",
           "{0}.transpose_(0, -1)", "{0}.transpose_(0, 1)", "{0}.swapaxes_(0, 1)", "{0}[..., 0].mul_({1}[..., 0])",
           "{0}.view(-1)[{i}:].mul_(0.3)", "{0}.reshape(-1)[:5].mul_(0.5)", "{0}.mT.add_({1}.mT)", "{0}.detach().shape",
           "{0}.flatten()[:3].fill_(0.0)")
MAKES = ("{0} + {1}", "{0} * {1}", "{0}.sin()", "{0}.clone()", "{0}.sum()", "{0}.exp() * 0.1", "fad.cat([{0}, {1}])",
         "{0} @ {1}", "{0}.sum(0)", "{0}.mT @ {0}", "{0}.transpose(0, -1) * 2.0", "{0}.contiguous()", "{0}.mean(1)",
         "{0}.flip(0)", "{0} / (1.0 + {1} * {1})", "fad.where({0} > 9.0, {1}, {0})", "{0}.tanh()")
POINT = np.linspace(0.31, 1.43, 12).reshape(2, 3, 2)[:, ::-1].copy()
ALONG = np.cos(np.arange(12.0)).reshape(POINT.shape)
REFUSED = re.compile("modified by an inplace operation|is a view|internal .* overlap|leaf Variable|single memory "
                     "location|inplace")
STEP, CLOSE, LARGEST = 1e-5, 1e-6, 1e4


def weighed(t):
    """A number that each element has another part in."""
    return (t * fad.tensor(np.cos(1.0 + np.arange(t.numel())).reshape(tuple(t.shape)))).sum()


class Generator(Blocks):
    """Makes one program from a seed, statement by statement, of those that the tensors made so far can do."""

    def program(self):
        self.names, self.scope = ["a", "b"], {"fad": fad, "x": fad.tensor(POINT)}
        body = [self.tried("a = x * 1.0"), self.tried("b = x.sin()")]
        wanted = self.r.randint(3, 9)
        for _ in range(60):
            if len(body) < wanted + 2:
                body += [made for made in [self.tried(self.statement())] if made]
        return [*body, Statement("return " + " + ".join(f"weighed({name})" for name in self.names))]

    def statement(self, depth=0):
        kind = self.r.random()
        text = self.r.choice(CHANGES if kind < 0.5 else VIEWS if kind < 0.8 else MAKES)
        text = text.format(*self.r.choices(self.names, k=3), i=self.r.randint(0, 1))
        return text if kind < 0.5 else f"v{len(self.names)} = {text}"

    def tried(self, text):
        """The statement, if it runs on plain tensors; what it made is a name from now on."""
        try:
            with fad.no_grad():
                exec(text, self.scope)
        except (RuntimeError, ValueError, TypeError, IndexError):
            return None
        made = text.partition(" = ")[0]
        if made in self.scope and made not in self.names:
            self.names.append(made)
        return Statement(text)


def text_of(body):
    """The program as a function of a tensor."""
    return "\n".join(["def f(x):", *render_block(body, 1)]) + "\n"


def value_of(f, x):
    with fad.no_grad():
        return f(fad.tensor(x)).item()


def gradient_of(f, x):
    leaf = fad.tensor(x, requires_grad=True)
    f(leaf).backward()
    return leaf.grad.numpy().copy()


def slope_of(f, x):
    """By forward mode."""
    forward = fad.autograd.forward_ad
    with forward.dual_level():
        tangent = forward.unpack_dual(f(forward.make_dual(fad.tensor(x), fad.tensor(ALONG)))).tangent
        return 0.0 if tangent is None else tangent.item()


def iteration_of(f, x):
    """The slope of the gradient, by forward mode over reverse mode."""
    forward = fad.autograd.forward_ad
    with forward.dual_level():
        leaf = fad.tensor(x, requires_grad=True)
        y = f(forward.make_dual(leaf, fad.tensor(ALONG)))
        found = forward.unpack_dual(fad.autograd.grad(y, leaf, allow_unused=True, materialize_grads=True)[0]).tangent
        return np.zeros(x.shape) if found is None else found.numpy().copy()


def differences(f, x, along=None, step=STEP):
    """Central differences of f, along a direction or each element."""
    steps = [along] if along is not None else [e.reshape(x.shape) for e in np.eye(x.size)]
    slopes = np.array([(f(x + step * d) - f(x - step * d)) / (2.0 * step) for d in steps])
    return slopes[0] if along is not None else slopes.reshape(x.shape)


def judge_tensors(f):
    """None if all derivatives are those of the value (or are refused as PyTorch refuses them), else what is not."""
    try:
        value = value_of(f, POINT)
    except (RuntimeError, ValueError, TypeError, IndexError, NameError):
        return None                                          # no program: what shrinking left of one
    if not abs(value) < LARGEST:
        return None
    slopes = differences(lambda x: value_of(f, x), POINT)
    if (np.max(np.abs(slopes - differences(lambda x: value_of(f, x), POINT, step=3.0 * STEP)))
            > 0.1 * CLOSE * (1.0 + np.max(np.abs(slopes)))):
        return None                                          # it bends too much for these steps
    for name, derivative, want in (("gradient", gradient_of, lambda: slopes),
                                   ("forward", slope_of, lambda: np.sum(slopes * ALONG)),
                                   ("forward over reverse", iteration_of,
                                    lambda: differences(lambda x: gradient_of(f, x), POINT, ALONG))):
        try:
            got = derivative(f, POINT)
        except RuntimeError as error:
            if REFUSED.search(str(error)):
                continue
            raise
        expected = want()
        size = 1.0 + np.max(np.abs(expected))
        if size < LARGEST and not np.max(np.abs(got - expected)) <= CLOSE * size:
            return f"{name}: {got} instead of {expected}"
    return None


def report(seed, compile=False):
    """None, or the failure of this seed's program with the program shrunk."""
    return judge.shrunk(seed, "tensors", Generator.of(seed), judge_tensors, text_of, {"fad": fad, "weighed": weighed})


if __name__ == "__main__":
    judge.command(report)
