"""fad.stages and fad.draw: pages and pictures that say what the programs are, escaped and complete."""
import html
import re
from xml.etree import ElementTree

import numpy as np
import pytest

import fad


def helper(z):
    return 1 / (1 + np.exp(-z))


def loss(w, X, y):
    """Not <b>bold</b> & not markup."""
    total = 0.0
    for i in range(len(y)):
        p = helper(X[i] @ w)
        total += np.log(p) if p < 0.5 else (p - y[i]) ** 2
    return total


def recent(w, X, y):
    total = 0.0
    for i in range(len(y)):
        p = helper(X[i] @ w)
        total = 0.9 * total + np.log(p) if p < 0.5 else (p - y[i]) ** 2
    return total


def plain(w, X, y):
    return np.mean(np.logaddexp(0.0, -y * (X @ w)))


ARGS = np.array([0.3, -0.2, 0.1]), np.arange(15.0).reshape(5, 3) / 10, np.ones(5)


def bare(text):
    """The text of HTML without its tags."""
    return html.unescape(re.sub(r"<[^>]*>", "", text))


@pytest.mark.parametrize("f", [loss, plain], ids=["loop", "nest"])
def test_the_stages_are_what_show_and_source_say(f):
    g = fad.grad(f)
    source, program, derivative, optimised, generated = fad.stages(f, *ARGS)

    def without_comments(text):
        return [line.partition("  # ")[0].rstrip() for line in text.rstrip("\n").split("\n")]
    assert without_comments(fad.show(f, *ARGS, optimised=False)) == program.text.split("\n")
    assert without_comments(fad.show(g, *ARGS, optimised=False)) == derivative.text.split("\n")
    assert len(fad.show(g, *ARGS).split("\n")) == len(optimised.lines)
    assert generated.text == fad.source(g, *ARGS).rstrip("\n")
    assert f"def {f.__name__}" in source.text


def test_the_source_has_the_functions_that_are_called():
    source = fad.stages(loss, *ARGS).columns[0]
    assert "def helper(z):" in source.text and source.text.count("def ") == 2


def test_lines_of_all_stages_know_their_source():
    stages = fad.stages(loss, *ARGS)
    known = {of for _, of in stages.columns[0].lines}
    for stage in stages.columns[1:]:
        of = {at for _, at in stage.lines if at is not None}
        assert of and of <= known
    (line, at), = [pair for pair in stages.columns[0].lines if "np.exp" in pair[0]]
    assert all(any(of == at and "exp" in text for text, of in stage.lines) for stage in stages.columns[1:4])


def test_the_page_is_whole_and_escaped(tmp_path):
    stages = fad.stages(loss, *ARGS)
    path = stages.save(tmp_path / "stages.html")
    page = path.read_text(encoding="utf-8")
    assert "<b>" not in page and "&lt;b&gt;bold&lt;/b&gt; &amp; not markup" in page
    assert not re.search(r"(src|href)=", page)                # nothing is loaded from elsewhere
    assert page.count("<section>") == 5
    body = bare(page[page.index("<body>"):page.index("<script>")])
    for stage in stages:
        assert all(line in body for line, _ in stage.lines)
    assert html.escape(page) in stages._repr_html_()


def test_a_batched_function_shows_no_program_for_other_arguments():
    stages = fad.stages(fad.vmap(fad.grad(lambda x: np.sum(x ** 3))), np.ones((4, 2)))
    assert [stage.title for stage in stages] == ["Source", "Derivative", "Optimised", "Generated"]


def test_jit_has_no_derivative():
    assert ([stage.title for stage in fad.stages(fad.jit(plain), *ARGS)]
            == ["Source", "Program", "Optimised", "Generated"])


def test_a_function_of_arrays_is_refused_with_a_hint():
    with pytest.raises(fad.FadError, match="jacobian"):
        fad.stages(lambda x: x * 2.0, np.ones(3))
    with pytest.raises(fad.FadError, match="fad.stages"):
        fad.stages(3.0)


def test_a_function_without_source_says_so():
    names = {"np": np}
    exec("def f(x): return np.sum(x * x)", names)
    stages = fad.stages(names["f"], np.ones(3))
    assert "no source" in stages.columns[0].text and "def grad" in stages.columns[-1].text


@pytest.mark.parametrize("f", [loss, plain, fad.jit(plain), fad.hessian(plain), fad.value_and_grad(loss)],
                         ids=["loop", "nest", "jit", "hessian", "both"])
def test_a_picture_is_well_formed_and_names_all(f, tmp_path):
    picture = fad.draw(f, *ARGS)
    root = ElementTree.fromstring(picture.save(tmp_path / "p.svg").read_text(encoding="utf-8"))
    texts = " ".join(element.text or "" for element in root.iter("{http://www.w3.org/2000/svg}text"))
    for _, nests in picture.programs:
        for name, _, _ in nests.inputs:
            assert f"{name}: float64" in texts
        assert all(op in texts for part in nests.parts for op in part.ops)
    assert picture._repr_svg_() == picture.svg


def test_a_picture_shows_fusion_frames_and_what_is_saved():
    (_, own), (_, derivative) = fad.draw(recent, *ARGS).programs
    frames = [part for part in derivative.parts if part.regions and part.title.startswith("for ")]
    assert len(frames) == 2                                   # forward and back
    kept = frames[0].writes & frames[1].reads & derivative.saved
    assert kept and not own.saved
    assert "saved: " in fad.draw(recent, *ARGS).svg
    (_, fused), _ = fad.draw(plain, *ARGS).programs
    nest, = [part for part in fused.parts if part.title.startswith("for ")]
    assert {"contract", "logaddexp", "sum"} <= set(nest.ops)  # one pass over X
    assert "saved: " not in fad.draw(plain, *ARGS).svg


def test_draw_of_a_tensor_is_its_graph():
    x = fad.tensor([1.0, 2.0], requires_grad=True)
    assert "MulBackward0" in fad.draw((x * 2.0).sum()).svg
    with pytest.raises(fad.FadError, match="fad.draw"):
        fad.draw(3.0)
