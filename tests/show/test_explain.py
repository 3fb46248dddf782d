"""What fad.explain says of a function, and that the bytes it names are those that are allocated."""
import os
import pathlib

import numpy as np
import pytest

import fad
from fad.ir import graph, walk
from fad.util.errors import NotScalarError

HERE = pathlib.Path(__file__).parent
RETURNS = np.random.default_rng(0).standard_normal(400)


def garch(p, r):
    s, loss = np.var(r), 0.0
    for t in range(1, len(r)):
        s = p[0] + p[1] * r[t - 1] ** 2 + p[2] * s
        loss += np.log(s) + r[t] ** 2 / s
    return loss / 2


def filled(p, r):
    s = np.empty(len(r))
    s[0] = np.var(r)
    loss = 0.0
    for t in range(1, len(r)):
        s[t] = p[0] + p[1] * r[t - 1] ** 2 + p[2] * s[t - 1]
        loss += np.log(s[t]) + r[t] ** 2 / s[t]
    return loss / 2


def growing(x):
    iterations = 0.0
    while x < 1e3:
        x = x * 1.1 + np.sin(x) ** 2
        iterations = iterations + x * x
    return iterations


def nested(x):
    total = 0.0
    for i in range(len(x)):
        y = x[i]
        for j in range(i):
            y = np.sin(y) * x[j]
        total = 0.9 * total + y ** 2
    return total


def table(x):
    names, weights = ["a", "b", "c"], {"a": 1.0, "b": 2.0, "c": 3.0}
    total = 0.0
    for i in range(3):
        total = total + x[i] * weights[names[i]]
    return total


def overlapping(x):
    y = x * 2
    w = y.copy()
    w[1:] = y[:-1] * 3
    x[0] = 1.0
    return np.sum(w * y)


def keyed(x):
    return x[0] * {0: 1.0, 1: 2.0, 2: 3.0}.get(int(x[1]))


def line_of(f, text):
    return next(k for k, line in enumerate(open(__file__, encoding="utf-8"), 1)
                if text in line and k > f.__code__.co_firstlineno)


P = np.array([0.1, 0.1, 0.8])


def test_a_recurrence_of_scalars_saves_at_most_24_bytes_a_step():
    told = fad.explain(fad.grad(garch), P, RETURNS)
    assert 0 < told.bytes <= 24 * RETURNS.size
    assert fad.explain(fad.grad(garch), P, np.tile(RETURNS, 3)).bytes <= 72 * RETURNS.size
    assert fad.explain(garch, P, RETURNS).bytes == 0
    assert fad.explain(fad.grad(filled), P, RETURNS).bytes == 0       # its array is all that is needed


@pytest.mark.parametrize("f, args", [(garch, (P, RETURNS)), (growing, (1.5,)), (nested, (np.linspace(0.1, 1.0, 30),))],
                         ids=["garch", "growing", "nested"])
def test_bytes_are_those_allocated(f, args, monkeypatch):
    """In the interpreter: the largest that each array for saved values ever is."""
    with fad.config.using(compile="never"):
        g = fad.grad(f)
        told = fad.explain(g, *args)
        program, data = g.program_for(*args)
        equations = program.runner.func.equations
        made = {out for eqn in equations if eqn.op.name == "unwritten" for out in eqn.outputs}
        kept = [out for eqn in equations if eqn.op.name in ("for", "while")
                for a, out in zip(eqn.inputs[-len(eqn.outputs):], eqn.outputs) if a in made]
        func = graph.Func("kept", program.runner.func.inputs, program.runner.func.equations, tuple(kept))
        arrays = walk.evaluate(func, list(data) + list(program.traced.captured))
    assert told.bytes == sum(a.nbytes for a in arrays) > 0


def test_lines_and_kinds():
    told = fad.explain(fad.grad(garch), P, RETURNS)
    assert {row.line for row in told.of("loop")} == {line_of(garch, "for t in")}
    assert {row.line for row in told.of("saved")} == {line_of(garch, "for t in")}             # what the loop carries
    assert {row.file for row in told} == {__file__} and all(row.text for row in told)
    unrolled, = fad.explain(table, np.ones(3)).of("unrolled")
    assert unrolled.line == line_of(table, "for i in range(3)") and "integer" in unrolled.detail
    copied = {row.line for row in fad.explain(overlapping, np.ones(4)).of("copied")}
    assert copied == {line_of(overlapping, "w[1:] ="), line_of(overlapping, "x[0] = 1.0")}


def test_loops_within_the_loop_over_columns_of_a_hessian():
    told = fad.explain(fad.hessian(garch), P, RETURNS)
    assert told.bytes >= 8 * (RETURNS.size - 1) and all("each iteration" in row.detail for row in told.of("saved"))


def test_what_falls_back():
    told, = fad.explain(fad.grad(keyed), np.ones(3))
    assert (told.kind, told.line) == ("falls back", line_of(keyed, "return x[0]")) and "hash" in told.detail
    told, = fad.explain(fad.grad(keyed, fallback=False), np.ones(3))
    assert told.kind == "refused"
    with pytest.raises(NotScalarError):
        fad.explain(fad.grad(lambda x: x), np.ones(3))


def test_the_text_is_what_it_was():
    text = str(fad.explain(fad.grad(garch), P, RETURNS)).replace(__file__, "test_explain.py")
    file = HERE / "garch.txt"
    if os.environ.get("FAD_GOLDEN") == "write":
        file.write_text(text + "\n", encoding="utf-8")
    assert text + "\n" == file.read_text(encoding="utf-8")


def test_the_table_of_a_notebook():
    page = fad.explain(fad.grad(garch), P, RETURNS)._repr_html_()
    assert page.count("<tr>") == len(fad.explain(fad.grad(garch), P, RETURNS)) + 1
    assert "saved" in page and "&lt;" not in page.split("<table>")[0]
