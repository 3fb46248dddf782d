"""What functions print, log and warn of under fad is what they say in Python, call by call: nothing more, and nothing
twice.

The programs are in lines.py. They run in processes of their own, so that standard error is seen as well.
"""
import logging
import os
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest

import fad

from . import lines

FILE = pathlib.Path(lines.__file__)
X = np.arange(1.0, 3.0)
NAMES = [f.__name__ for f in lines.FUNCTIONS]


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    """mode -> function -> what both streams have."""
    folder = str(tmp_path_factory.mktemp("cache"))
    root = str(FILE.parent.parent.parent)
    environment = {**os.environ, "FAD_CACHE_DIR": folder, "PYTHONPATH": os.pathsep.join([root, *sys.path])}
    running = {mode: subprocess.Popen([sys.executable, "-u", str(FILE), mode], stdout=subprocess.PIPE, text=True,
                                      stderr=subprocess.STDOUT, env=environment) for mode in ("plain", "never", "now")}
    texts = {mode: process.communicate()[0] for mode, process in running.items()}
    assert not any(process.returncode for process in running.values()), texts
    parts = {mode: re.split(r"^=== (\w+)\n", text, flags=re.M) for mode, text in texts.items()}
    return {mode: dict(zip(found[1::2], found[2::2])) for mode, found in parts.items()}


@pytest.mark.parametrize("mode", ["never", "now"])
@pytest.mark.parametrize("name", NAMES)
def test_all_is_said_as_in_python(said, name, mode):
    assert said["plain"][name].count("call") >= 4
    assert said[mode][name] == said["plain"][name]


class Counter:
    calls = 0

    def loss(self, x):
        self.calls += 1
        print("call", self.calls, x[0])
        return np.sum(x ** 3) * self.calls

    def vector(self, x):
        print("vector", x[0])
        return x ** 3

    def beside(self, x):
        print("beside", x[0])
        return x ** 3, np.sum(x)


TRANSFORMS = {
    "grad": lambda f, x: fad.grad(f.loss)(x),
    "value_and_grad": lambda f, x: fad.value_and_grad(f.loss)(x),
    "hessian": lambda f, x: fad.hessian(f.loss)(x),
    "hvp": lambda f, x: fad.hvp(f.loss, x, x),
    "vhp": lambda f, x: fad.vhp(f.loss, x, x),
    "jvp": lambda f, x: fad.jvp(f.loss, (x,), (x,)),
    "vjp": lambda f, x: [back(1.0) for back in [fad.vjp(f.loss, x)[1]] * 2],
    "linearize": lambda f, x: [push(x) for push in [fad.linearize(f.vector, x)[1]] * 2],
    "grad of grad": lambda f, x: fad.grad(lambda x: np.sum(fad.grad(f.loss)(x)))(x),
    "jacrev": lambda f, x: fad.jacrev(f.vector)(x),
    "jacfwd": lambda f, x: fad.jacfwd(f.vector)(x),
    "jacrev with aux": lambda f, x: fad.jacrev(f.beside, has_aux=True)(x),
    "jacfwd with aux": lambda f, x: fad.jacfwd(f.beside, has_aux=True)(x),
    "sparse": lambda f, x: fad.sparse.jacobian(f.vector)(x),
}


@pytest.mark.parametrize("mode", ["never", "now"])
@pytest.mark.parametrize("name", TRANSFORMS)
def test_each_transform_says_each_line_once(name, mode, capsys):
    counter, own = Counter(), Counter()
    with fad.config.using(compile=mode):
        for k in (1.0, 2.0, 3.0):
            capsys.readouterr()
            TRANSFORMS[name](counter, k * np.arange(1.0, 3.0))
            said = capsys.readouterr().out
            f = {"c": own.loss, "v": own.vector, "b": own.beside}[said[0]]
            f(k * np.arange(1.0, 3.0))
            assert said == capsys.readouterr().out


def test_an_exported_module_prints_and_does_not_log(tmp_path):
    def f(x):
        s = np.sum(x)
        print("sum", s, f"{s:8.3f}|{x!r}", "{braces}", None, sep=" ; ")
        return s ** 2

    path = fad.export(fad.jit(f), X, path=tmp_path / "module_with_print.py")
    code = "import numpy as np, module_with_print as m; m.jit(np.ones(2))"
    done = subprocess.run([sys.executable, "-c", code], cwd=path.parent, capture_output=True, text=True, check=False)
    assert done.stdout == "sum ; 2.0 ;    2.000|array([1., 1.]) ; {braces} ; None\n", done.stderr
    with pytest.raises(fad.FadError, match="cannot be exported"):
        fad.export(fad.jit(lambda x: (logging.getLogger("a").error("%s", x), x)[1]), X, path=tmp_path / "other.py")
