"""Programs of views, copies and writes drawn at random: all arrays end as NumPy leaves them, or fad says that it cannot
know."""
import numpy as np
import pytest

from fad.ir.check import check
from fad.ir.walk import evaluate
from fad.trace.tracing import trace
from fad.util.errors import SideEffectError

X = np.arange(12.0).reshape(3, 4) + 0.1
VIEWS = ["{a}[{part}]", "{a}.T", "np.flip({a})", "np.asarray({a})", "{a}[None]", "{a}", "{a}.reshape(-1)",
         "{a}.ravel()",
         "{a}.reshape({a}.shape[::-1])", "np.squeeze({a})",
         "np.ascontiguousarray({a})", "np.swapaxes({a}, 0, -1)", "np.rot90({a})", "np.moveaxis({a}, 0, -1)",
         "np.atleast_2d({a})"]
COPIES = ["{a}.copy()", "{a} * 1.0", "np.array({a})", "+{a}", "{a}.flatten()", "{a}.T.copy()", "{a}.T * 2.0",
          "np.copy({a})", "{a}.astype(float)"]
WRITES = ["{a}[{part}] = 0.75", "{a}[{part}] += 1.5", "{a}[...] = {a} * 2.0", "{a} *= 1.25", "{a}[{part}] *= -1.0",
          "{a}.fill(0.5)",
          "{a}[{a} > 3.0] = 0.25", "np.multiply({a}, 0.5, out={a})", "{a}[{part}] = {b}[{other}]", "{a}.flat[0] = 4.0",
          "{a}[:] = {a}[::-1]"]


def random_part(rng, x):
    """A basic subscript of x, as text."""
    items = []
    for n in x.shape:
        kind = rng.random()
        if kind < 0.3 and n:
            items.append(str(int(rng.integers(-n, n))))
        elif kind < 0.8:
            start = int(rng.integers(0, n + 1))
            items.append(str(rng.choice([f"{start}:{int(rng.integers(start, n + 1))}", "::2", "::-1"])))
        else:
            items.append(":")
        if rng.random() < 0.1:
            items.append("None")
    if rng.random() < 0.2:
        items = items[:1]
    return ", ".join(items) or "..."


def program(seed):
    """The statements of a program that NumPy runs without an error, and the names of its arrays."""
    rng = np.random.default_rng(seed)
    statements, names, scope = ["a = x.copy()"], ["a"], {"np": np, "x": X.copy()}
    exec(statements[0], scope)
    for k in range(int(rng.integers(4, 14))):
        a, b = (str(n) for n in rng.choice(names, 2))
        form = str(rng.choice((VIEWS, COPIES, WRITES)[rng.choice(3, p=[0.35, 0.15, 0.5])]))
        text = form.format(a=a, b=b, part=random_part(rng, scope[a]), other=random_part(rng, scope[b]))
        name = "" if form in WRITES else f"b{k}"
        statement = f"{name} = {text}" if name else text
        try:
            exec(statement, scope)
        except (ValueError, IndexError):
            continue
        if name and not isinstance(scope[name], np.ndarray):
            del scope[name]
            continue
        statements.append(statement)
        names += [name] * bool(name)
    return statements, names


@pytest.mark.parametrize("seed", range(200))
def test_random_aliases(seed):
    statements, names = program(seed)
    text = ("def f(x):\n" + "".join(f"    {s}\n" for s in statements)
            + f"    return [{', '.join(f'{n} * 1.0' for n in names)}]")
    scope = {"np": np}
    exec(text, scope)
    want = scope["f"](X.copy())
    try:
        traced = trace(scope["f"], [X])
    except SideEffectError as refusal:
        assert "view or a copy" in str(refusal)
        return
    for name, a, b in zip(names, evaluate(check(traced.func), [X, *traced.captured]), want, strict=True):
        np.testing.assert_array_equal(a, b, err_msg=f"{name} of\n{text}")


def test_few_programs_are_refused():
    refused = 0
    for seed in range(100):
        statements, names = program(seed)
        scope = {"np": np}
        exec("def f(x):\n" + "".join(f"    {s}\n" for s in statements) + "    return a * 1.0", scope)
        try:
            trace(scope["f"], [X])
        except SideEffectError:
            refused += 1
    assert refused <= 10
