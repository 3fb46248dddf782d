"""``python -m fad``: the demonstration, and what its help promises."""

import os
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import fad
from fad.__main__ import main
from fad.backend.running.entry_folder import Folder

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MODEL = '''
import numpy as np

def loss(x, scale):
    return np.sum(np.sin(x) * scale)
'''


@pytest.fixture
def fad_command(tmp_path, monkeypatch, capsys):
    """Run a command in a folder that holds ``mymodel.py``; return what a finished process would have."""
    (tmp_path / "mymodel.py").write_text(MODEL, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))          # to which the command adds that folder

    def run(*arguments):
        sys.modules.pop("mymodel", None)
        try:
            code = main(arguments)
        except SystemExit as end:
            code = end.code
        said = capsys.readouterr()
        return SimpleNamespace(returncode=code, stdout=said.out, stderr=said.err)
    yield run
    sys.modules.pop("mymodel", None)


@pytest.fixture
def process(fad_command, tmp_path):
    """Run a command in a process of its own: ``python -m fad``."""
    def run(*arguments):
        environment = os.environ | {"PYTHONPATH": ROOT, "PYTHONIOENCODING": "utf-8"}
        return subprocess.run([sys.executable, "-m", "fad", *arguments], cwd=tmp_path, env=environment,
                              capture_output=True, encoding="utf-8", check=False)
    return run


def test_help_tells_of_every_command(fad_command):
    text = fad_command("--help").stdout
    assert all(word in text for word in ("source", "explain", "stages", "export", "bench", "certify", "cache", "doctor",
                                         "--version"))


def test_source_prints_a_program(process):
    done = process("source", "mymodel:loss", "--example", "np.ones(3), 2.0")
    assert done.returncode == 0, done.stderr
    compile(done.stdout, "source", "exec")
    assert "cos" in done.stdout


def test_explain_tells_line_by_line(fad_command):
    done = fad_command("explain", "mymodel:loss", "--example", "np.ones(3), 2.0", "--of", "grad")
    assert done.returncode == 0, done.stderr
    assert "return np.sum(np.sin(x) * scale)" in done.stdout and "compiled: " in done.stdout


def test_stages_are_written_to_a_page(fad_command, tmp_path):
    done = fad_command("stages", "mymodel:loss", "--example", "np.ones(3), 2.0", "--path", "page.html")
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert done.stdout.strip() == "page.html" and page.count("<section>") == 5


def test_an_export_runs_without_fad(fad_command, tmp_path):
    done = fad_command("export", "mymodel:loss", "--example", "np.ones(3), 2.0", "--of", "grad", "--path", "slope.py")
    assert done.returncode == 0, done.stderr
    code = "import sys, numpy as np, slope; print(slope.grad(np.zeros(2), 2.0), 'fad' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert run.stdout.strip() == "[2. 2.] False", run.stderr


def test_bench_prints_times(fad_command):
    done = fad_command("bench", "mymodel:loss", "--example", "np.ones(3), 2.0")
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.splitlines() if "µs" in line]
    assert len(lines) == 5 and lines[0].startswith("fad.value_and_grad") and "differences" in lines[3]


def test_certify_says_that_the_derivative_holds(fad_command):
    done = fad_command("certify", "mymodel:loss", "--example", "np.ones(3), 2.0")
    assert done.returncode == 0, done.stderr
    assert "reverse" in done.stdout and "differences" in done.stdout


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A cache with three entries."""
    monkeypatch.setenv("FAD_CACHE_DIR", str(tmp_path / "kernels"))  # for processes
    folder = Folder(tmp_path / "kernels")
    for name in ("one", "two", "three"):
        folder.write(name, f"grad(x: {name})", bytes(1_000_000))
    with fad.config.using(cache_dir=str(folder.path)):
        yield folder


def test_the_cache_of_the_environment_is_meant(process, folder):
    assert process("cache").stdout == f"{folder.path}: 3 kernels, 3.0 MB of 1000.0 MB\n"


def test_cache_tells_what_is_kept(fad_command, folder):
    assert fad_command("cache", "path").stdout.strip() == str(folder.path)
    size = f"{folder.path}: 3 kernels, 3.0 MB of 1000.0 MB\n"
    assert fad_command("cache").stdout == fad_command("cache", "size").stdout == size
    lines = fad_command("cache", "list").stdout.splitlines()
    assert len(lines) == 3 and all("1000." in line and "grad(x: " in line for line in lines)


def test_cache_is_checked(fad_command, folder):
    assert fad_command("cache", "verify").returncode == 0
    folder.file("two").write_bytes(b"fad entry 1\n")
    assert "not used: is damaged" in fad_command("cache", "list").stdout
    done = fad_command("cache", "verify")
    assert done.returncode == 1 and "two.fad is damaged" in done.stdout
    assert "2 kernels are as they were written, 1 were not" in done.stdout
    assert fad_command("cache", "verify").returncode == 0
    assert not folder.file("two").exists()


def test_cache_can_be_cleared(fad_command, folder):
    assert fad_command("cache", "clear").stdout == f"{folder.path}: 3 kernels removed\n"
    assert not list(folder.path.iterdir())


def test_a_cache_that_is_not_ours_is_left_alone(fad_command, folder):
    folder.path.chmod(0o777)
    for what in ("list", "size", "clear", "verify"):
        done = fad_command("cache", what)
        assert done.returncode == 1 and "is not used: it may be written to by others (mode 777)" in done.stdout
    assert len(list(folder.path.iterdir())) == 3


def test_a_cache_that_is_nowhere(process, monkeypatch):
    monkeypatch.setenv("FAD_CACHE", "0")
    assert process("cache", "clear").stdout == "nothing is kept: fad.config.cache_dir is None\n"


def test_the_version_is_the_packages(fad_command):
    assert fad_command("--version").stdout == f"fad {fad.__version__}\n"
    with open(os.path.join(ROOT, "setup.cfg"), encoding="utf-8") as file:
        assert f"version = {fad.__version__}\n" in file.read()


def test_doctor_tells_what_a_report_needs(fad_command):
    done = fad_command("doctor")
    assert done.returncode == 0, done.stderr
    assert all(word in done.stdout for word in ("numpy", "numba", "llvmlite", "scipy", "python", "vector math", "cache",
                                                "holds"))


def test_a_function_must_be_named(fad_command):
    done = fad_command("source", "mymodel", "--example", "1.0")
    assert done.returncode == 2 and "module:function" in done.stderr


@pytest.mark.slow
def test_the_demonstration_finds_the_gentoo(process):
    done = process()
    assert done.returncode == 0, done.stdout + done.stderr
    rows = {line.split()[0]: line.split()[1:] for line in done.stdout.splitlines() if line.startswith("  ")
                             and line.split()}
    assert rows["Gentoo"] == ["0", "123"] and rows["Adelie"] == ["151", "0"]
    share = float(next(line for line in done.stdout.splitlines() if "share of the first" in line).split()[4])
    np.testing.assert_allclose(share, 0.640, atol=0.001)
