"""What notebooks show: HTML that says what the text says, escaped."""
import html
import re

import numpy as np
import pytest

import fad
from fad.util.html import Code, coloured


def bare(text: str) -> str:
    """The text of HTML without its tags."""
    return html.unescape(re.sub(r"<[^>]*>", "", text))


TEXTS = ["x = 1  # a < b\n", "def f(x):\n    return x < 3 and 'a&b'\n", "\n\nif x:\n    y = 1.5e3\n\n", "",
         "not python '''", 'a = """two\nlines"""\n',
         "\ts = 'täb'; k = 2\n", "for x in y: pass"]


@pytest.mark.parametrize("text", TEXTS)
def test_colours_change_no_character(text):
    assert bare(coloured(text)) == text


def test_the_source_of_a_program_is_text_and_shows_itself():
    g = fad.grad(lambda x: np.sum(np.sin(x) * x))
    source = fad.source(g, np.ones(3))
    shown = source._repr_html_()
    assert isinstance(source, str) and bare(coloured(source)) == source
    assert "def grad(" in bare(shown) and "<details open>" in shown
    assert "<details>" in Code("x = 1\n" * 100)._repr_html_()


def test_a_certificate_shows_each_comparison():
    report = fad.certify(lambda x: np.sum(x ** 2), np.ones(2))
    shown = report._repr_html_()
    assert shown.count("<tr>") == len(report.lines) + 1 and "certified" in shown
    assert all(line.method in shown for line in report.lines)


def test_a_function_shows_its_programs():
    def loss(x, a):
        return np.sum(a * x ** 2)
    g = fad.jit(fad.grad(loss), compile="now")
    assert "not called yet" in g._repr_html_()
    g(np.ones(3), 2.0)
    g(np.ones((3, 3)), 2.0)
    shown = bare(g._repr_html_())
    assert shown.count("compiled") == 2 and "f64[" in shown and "loss" in shown


def test_a_function_shows_signature_times_and_tape():
    def walk(x, gain=0.5):
        y = 1.0
        for t in range(1, len(x)):
            y = np.sin(y * x[t] * gain)
        return y
    g = fad.jit(fad.grad(walk), compile="now")
    assert "(x, gain=0.5)" in bare(g._repr_html_())
    g(np.ones(4))
    shown = bare(g._repr_html_())
    assert "float64[n - 1]" in shown                          # one number an iteration
    assert re.search(r"compiled[0-9.]+ m?s[0-9.]+ m?s", shown)
    plain = fad.jit(walk)
    plain(np.ones(4))
    assert "nothing" in bare(plain._repr_html_()) and "interpreted by NumPy" in bare(plain._repr_html_())


def test_names_of_functions_are_escaped():
    def f(x):
        return np.sum(x)
    f.__qualname__ = "<script>"
    assert "<script>" not in fad.grad(f)._repr_html_()
