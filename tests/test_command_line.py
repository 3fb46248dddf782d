"""``python -m fad``: the demonstration, and what its help promises."""

import os
import subprocess
import sys

import numpy as np
import pytest

MODEL = '''
import numpy as np

def loss(x, scale):
    return np.sum(np.sin(x) * scale)
'''


@pytest.fixture
def fad_command(tmp_path):
    """Run ``python -m fad`` in a folder that holds ``mymodel.py``; return the finished process."""
    (tmp_path / "mymodel.py").write_text(MODEL, encoding="utf-8")
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    environment = os.environ | {"PYTHONPATH": root, "PYTHONIOENCODING": "utf-8"}

    def run(*arguments):
        return subprocess.run([sys.executable, "-m", "fad", *arguments], cwd=tmp_path, env=environment,
                              capture_output=True, encoding="utf-8", check=False)
    return run


def test_help_tells_of_every_command(fad_command):
    text = fad_command("--help").stdout
    assert all(word in text for word in ("source", "certify", "cache"))


def test_source_prints_a_program(fad_command):
    done = fad_command("source", "mymodel:loss", "--example", "np.ones(3), 2.0")
    assert done.returncode == 0, done.stderr
    compile(done.stdout, "source", "exec")
    assert "cos" in done.stdout


def test_certify_says_that_the_derivative_holds(fad_command):
    done = fad_command("certify", "mymodel:loss", "--example", "np.ones(3), 2.0")
    assert done.returncode == 0, done.stderr
    assert "reverse" in done.stdout and "differences" in done.stdout


def test_cache_says_where_it_is_and_can_be_cleared(fad_command):
    path = fad_command("cache", "--path").stdout.strip()
    assert os.path.isabs(path)
    assert "0 files" in fad_command("cache", "--clear").stdout


def test_a_function_must_be_named(fad_command):
    done = fad_command("source", "mymodel", "--example", "1.0")
    assert done.returncode == 2 and "module:function" in done.stderr


@pytest.mark.slow
def test_the_demonstration_finds_the_gentoo(fad_command):
    done = fad_command()
    assert done.returncode == 0, done.stdout + done.stderr
    rows = {line.split()[0]: line.split()[1:] for line in done.stdout.splitlines() if line.startswith("  ") and line.split()}
    assert rows["Gentoo"] == ["0", "123"] and rows["Adelie"] == ["151", "0"]
    share = float(next(line for line in done.stdout.splitlines() if "share of the first" in line).split()[4])
    np.testing.assert_allclose(share, 0.640, atol=0.001)
