"""fad.debug_print: the text that the plain function prints, in every tier and under every transform, in order."""
import os
import subprocess
import sys

import numpy as np
import pytest

import fad

tell = fad.debug_print
X = np.array([1.0, 2.0, 3.0])


def straight(x):
    tell("start {}", x)
    y = np.exp(-x) * x
    tell("y {:.3f} of {}", np.sum(y), y > 0.2)
    tell("same")
    tell("same")
    return np.sum(y)


def looped(x):
    total = 0.0
    for k in range(len(x)):
        total = total + x[k] ** 2
        tell("{k}: {total:.2f}", k=k, total=total)
        if total > 2.0:
            tell("big {!r:>3}", k)
    while total > 1.0:
        total = total / 3.0
        tell("down to {:.4f}", total)
    return total


def nested(x):
    y = np.zeros((3, 3))
    for i in range(3):
        for j in range(i):
            y[i, j] = x[i] * x[j]
            tell("{},{} {}", i, j, y[i])
    tell("columns {}", y.T[::-1, 1:])
    return np.sum(y * y)


def containers(x):
    tell("{0} {p[a]} {p} {x.shape} {{}} {name}", [x[0], 2], p={"a": x[1]}, x=x, name="a {brace}")
    tell(x[0])
    tell("no fields {here}")
    return np.sum(x)


FUNCTIONS = [straight, looped, nested, containers]


def said(capfd, call):
    """What a call prints."""
    capfd.readouterr()
    call()
    return capfd.readouterr().out


@pytest.mark.parametrize("f", FUNCTIONS)
@pytest.mark.parametrize("tier", ["never", "now"])
def test_compiled_code_prints_what_python_prints(f, tier, capfd):
    expected = said(capfd, lambda: f(X))
    assert expected
    compiled = fad.jit(f, compile=tier)
    assert said(capfd, lambda: compiled(X)) == expected
    assert said(capfd, lambda: compiled(X)) == expected                  # not only as it is traced
    for transform in (fad.grad, fad.value_and_grad):
        g = fad.jit(transform(f), compile=tier)
        assert said(capfd, lambda g=g: g(X)) == expected


@pytest.mark.parametrize("f", FUNCTIONS)
def test_prints_change_no_derivative(f, capfd):
    def silent(x):
        return f(x)
    report = fad.certify(silent, X + 0.1)
    assert report.ok, report


def test_forward_mode_and_second_derivatives_print_once(capfd):
    expected = said(capfd, lambda: looped(X))
    assert said(capfd, lambda: fad.jvp(looped, (X,), (np.ones(3),))) == expected
    assert said(capfd, lambda: fad.hvp(straight, X, np.ones(3))) == said(capfd, lambda: straight(X))


def test_each_example_of_a_batch(capfd):
    def f(x):
        tell("sum {:.1f}", np.sum(x))
        return x * 2.0
    assert said(capfd, lambda: fad.vmap(f)(np.arange(6.0).reshape(3, 2))) == "sum 1.0\nsum 5.0\nsum 9.0\n"


def test_the_first_call_of_a_long_loop_prints_each_line_once(capfd):
    def f(x):
        for k in range(3000):
            x = np.sin(x) + 1e-3
            if k % 500 == 0:
                tell("{}", k)
        return x
    assert said(capfd, lambda: fad.grad(f)(0.5)).split() == ["0", "500", "1000", "1500", "2000", "2500"]


def test_tensors_print_their_values(capfd):
    t = fad.tensor([1.0, 2.0], requires_grad=True)

    def f(t):
        tell("t {}", t)
        return (t * t).sum()
    assert said(capfd, lambda: f(t).backward()) == "t [1. 2.]\n"
    assert t.grad.tolist() == [2.0, 4.0]


def test_dtypes_print_as_numpy_prints_them(capfd):
    def f(x):
        tell("{} {} {} {}", x, x[0], x[1:1], x[::-1])
        return x
    for x in (np.array([0.1, 2.0], np.float32), np.array([1 + 2j, 0.5]), np.array([True, False]),
              np.array([3, -4], np.int32)):
        assert said(capfd, lambda x=x: fad.jit(f, compile="now")(x)) == said(capfd, lambda x=x: f(x))


def test_order_with_python_and_text_of_other_alphabets(capfd):
    compiled = fad.jit(lambda x: (tell("∂ = {} µs", x), x * 2.0)[1], compile="now")
    compiled(1.0)

    def call():
        print("before")
        compiled(1.5)
        print("after")
    assert said(capfd, call) == "before\n∂ = 1.5 µs\nafter\n"


def test_a_kernel_from_the_disk_prints(tmp_path):
    code = ("import numpy as np, fad\n"
            "def f(x):\n    fad.debug_print('x = {}', x)\n    return np.sum(x * x)\n"
            "g = fad.jit(fad.grad(f), compile='now')\ng(np.ones(2))\n"
            "print(g.program_for(np.ones(2))[0].runner.from_disk)")
    (tmp_path / "run.py").write_text(code)
    runs = [subprocess.run([sys.executable, str(tmp_path / "run.py")], capture_output=True, text=True, check=True,
                           env={**os.environ, "FAD_CACHE_DIR": str(tmp_path / "cache")}).stdout for _ in range(2)]
    assert runs == ["x = [1. 1.]\nFalse\n", "x = [1. 1.]\nTrue\n"]


def test_an_exported_module_prints(tmp_path):
    path = fad.export(fad.jit(straight), X, path=tmp_path / "module_that_prints.py")
    code = "import sys, numpy as np, module_that_prints as m; m.jit(np.ones(2)); print('fad' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=path.parent, capture_output=True, text=True, check=False)
    assert done.stdout.splitlines()[0] == "start [1. 1.]" and done.stdout.splitlines()[-1] == "False", done.stderr


def test_an_error_of_the_stream_reaches_the_caller(monkeypatch):
    class Closed:
        def write(self, text):
            raise BrokenPipeError("nobody reads")

        def flush(self):
            pass
    compiled = fad.jit(straight, compile="now")
    compiled(X)
    monkeypatch.setattr(sys, "stdout", Closed())
    with pytest.raises(BrokenPipeError, match="nobody reads"):
        compiled(X)


@pytest.mark.parametrize("call", [lambda x: tell("{} {}", x), lambda x: tell("{k}", x), lambda x: tell("{", x),
                                  lambda x: tell("{0.missing}", x)])
def test_a_field_without_a_value_is_refused(call):
    with pytest.raises(fad.FadError, match="debug_print cannot fill"):
        fad.jit(lambda x: (call(x), x)[1], fallback=False)(1.0)
    with pytest.raises(fad.FadError, match="debug_print cannot fill"):
        call(1.0)
