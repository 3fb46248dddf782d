"""%load_ext fad in a real kernel: what %%fad and %fad_profile show."""
import html
import re

import numpy as np
import pytest

import fad
from fad.show.adjoint import beside
from fad.show.cost import cost_by_line

pytest.importorskip("ipykernel", reason="the magics are tested in a real kernel: install fad-jit[notebooks]")
nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")


@pytest.fixture(scope="module")
def run():
    """Run cells in one kernel; return the outputs of each."""
    notebook = nbformat.v4.new_notebook()
    client = nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3", allow_errors=True)
    with client.setup_kernel():
        def cells(*texts):
            found = []
            for text in texts:
                cell = nbformat.v4.new_code_cell(text)
                notebook.cells.append(cell)
                client.execute_cell(cell, len(notebook.cells) - 1)
                found.append(cell.outputs)
            return found
        cells("import numpy as np, fad\n%load_ext fad\nX = np.arange(12.0).reshape(4, 3) / 10")
        yield cells


def texts(outputs):
    """The HTML and the plain text of what a cell shows."""
    assert [o.output_type for o in outputs] == ["execute_result"], outputs
    data = outputs[0].data
    page = html.unescape(re.search(r'srcdoc="([^"]*)"', data["text/html"])[1])
    return html.unescape(re.sub(r"<[^>]*>", "", page[page.index("<body>"):])), data["text/plain"]


CELL = """%%fad
def loss(w):
    z = np.tanh(X @ w)
    total = 0.0
    for k in range(len(z)):
        total += z[k] ** 2
    return total

loss(np.ones(3))"""


def test_a_cell_shows_source_and_adjoint_with_costs(run):
    (outputs,) = run(CELL)
    page, plain = texts(outputs)
    assert "def loss(w):" in page and "def grad(w" in page and "for k in range(len(z)):" in page
    assert re.search(r"\d+%\s+z = np.tanh\(X @ w\)", page)
    shares = [int(n) for n in re.findall(r"^ *(\d+)%", plain, re.MULTILINE)]
    assert len(shares) >= 2 and 97 <= sum(shares) <= 103


def test_the_cell_defines_its_names_and_keeps_what_it_shows(run):
    outputs = run(CELL.replace("%%fad", "%%fad -o seen"), "print(type(seen).__name__, float(loss(np.zeros(3))))")
    assert not outputs[0]
    assert outputs[1][0].text == "SideBySide 0.0\n"


def test_a_profile_has_times(run):
    run(CELL)
    (outputs,) = run("%fad_profile fad.value_and_grad(loss)(np.ones(3))")
    page, plain = texts(outputs)
    assert re.search(r"fad.value_and_grad [0-9.]+ (µs|ms), the function, compiled [0-9.]+ (µs|ms)", plain)


def test_misuse_says_what_to_do(run):
    outputs = run("%%fad\nx = 3", "%%fad --all\nloss(np.ones(3))", "%fad_profile loss", "%unload_ext fad", CELL)
    for wrong in (*outputs[:3], outputs[4]):
        assert wrong[0].output_type in ("error", "stream")
    assert all("do:" in "".join(o[0].traceback) for o in outputs[:3])
    run("%load_ext fad")


def test_costs_are_those_of_the_loops():
    def f(X, w):
        total = 0.0
        for i in range(len(X)):
            total += np.sum(X[i] * w)
        return np.exp(total)
    X, w = np.ones((50, 7)), np.ones(7)
    program, data = fad.jit(f).program_for(X, w)
    cost = cost_by_line(program.runner.func, program.glance(data))
    by_text = {line: cost.get(of, 0) for line, of in beside(fad.jit(f), (X, w)).columns[0].lines}
    found = {line.strip(): count for line, count in by_text.items()}
    assert found["return np.exp(total)"] == 1
    assert 50 * 2 * 7 <= found["total += np.sum(X[i] * w)"] <= 50 * (4 * 7 + 2)
    larger, data = fad.jit(f).program_for(np.ones((100, 7)), w)
    twice = sum(cost_by_line(larger.runner.func, larger.glance(data)).values())
    assert 1.9 <= twice / sum(cost.values()) <= 2.1
