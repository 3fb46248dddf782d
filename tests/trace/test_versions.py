"""Syntax that came with a version of Python, or changed with one: captured functions mean what Python says they
mean."""
import importlib.util
import sys

import numpy as np
import pytest

import fad

SOURCES = {
    "annotations": ((3, 10), """
        def f(x: "np.ndarray", scale: float = 2.0) -> "float":
            total: float = 0.0
            n: int
            for i in range(len(x)):
                part: float = x[i] * scale
                total += part * part
            return total
        """),
    "annotations of nested functions": ((3, 10), """
        def f(x):
            def inner(y: Unknown, *, k: "also unknown" = 3) -> Unknown:
                if y > 0:
                    return y ** k
                return -y
            return sum(inner(x[i]) for i in range(len(x)))
        Unknown = float
        """),
    "annotations not evaluated": ((3, 14), """
        def f(x):
            def inner(y: never.defined) -> never.defined.either:
                z: never.defined = y * 3
                return z
            total = 0.0
            for i in range(len(x)):
                total += inner(x[i]) ** 2
            return total
        """),
    "match": ((3, 10), """
        def f(x):
            total = 0.0
            for kind, k in (("square", 0), ("sine", 1), ("rest", 2)):
                match kind, k:
                    case "square", 0:
                        total += x[k] ** 2
                    case ("sine", j) if j == 1:
                        total += np.sin(x[j])
                    case _:
                        total += x[k]
            return total
        """),
    "with of several": ((3, 10), """
        def f(x):
            with (np.errstate(all="ignore"), np.errstate(over="ignore")):
                total = 0.0
                for i in range(len(x)):
                    if x[i] > 1:
                        total += x[i] ** 2
                    else:
                        total -= x[i]
            return total
        """),
    "f-strings": ((3, 10), """
        def f(x):
            parts = {f"part {k!s:>3}": x[k] ** 2 for k in range(3)}
            total = 0.0
            for k in range(3):
                total += parts[f"part {k:>3}"]
            return total
        """),
    "nested f-strings": ((3, 12), """
        def f(x):
            parts = {f"{"part"} {f"{k}"}": x[k] ** 2 for k in range(3)}
            total = 0.0
            for k in range(3):
                total += parts[f"{"part"} {k}"]
            return total
        """),
    "walrus and lambda": ((3, 10), """
        def f(x):
            total = 0.0
            i = 0
            while (value := x[i] * 2) < 100 and i < 2:
                total += (lambda v, /, *, k=2: v ** k)(value)
                i += 1
            return total
        """),
    "starred subscripts": ((3, 11), """
        def f(x):
            y = x.reshape(3, 1)
            at = (0, 0)
            total = 0.0
            for k in range(3):
                total += y[*at] * x[k]
            return total
        """),
    "except groups": ((3, 11), """
        def f(x):
            total = 0.0
            for k in range(3):
                total += x[k] ** 2
            try:
                return total
            except* ValueError:
                pass
        """),
    "type parameters": ((3, 12), """
        type Number = float

        def f[T](x: T) -> Number:
            def inner[S](y: S) -> S:
                return y * 2
            total = 0.0
            for k in range(3):
                total += inner(x[k]) ** 2
            return total
        """),
    "comprehensions of their own": ((3, 10), """
        def f(x):
            k = 5
            squares = [x[k] ** 2 for k in range(3)]
            total = 0.0
            for s in squares:
                total += s * k
            return total
        """),
}


def module_of(text: str, folder):
    """The text as a module of a file, as a user has it."""
    lines = text.strip("\n").splitlines()
    indent = len(lines[0]) - len(lines[0].lstrip())
    path = folder / "user_module.py"
    path.write_text("import numpy as np\n\n\n" + "\n".join(line[indent:] for line in lines) + "\n", encoding="utf-8")
    spec = importlib.util.spec_from_file_location("user_module", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", [name for name, (since, _) in SOURCES.items() if sys.version_info >= since])
def test_syntax(name, tmp_path):
    f = module_of(SOURCES[name][1], tmp_path).f
    x, h = np.array([0.5, 1.5, -0.7]), 1e-6
    value, g = fad.value_and_grad(f)(x)
    np.testing.assert_allclose(value, f(x))
    np.testing.assert_allclose(g, [(f(x + d) - f(x - d)) / (2 * h) for d in h * np.eye(3)], rtol=1e-6, atol=1e-8)
