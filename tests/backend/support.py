"""Three ways to run a Func that must agree: the interpreter, the generated text as plain Python, the text compiled."""
from typing import Any

import numpy as np

from fad.backend.emission.emit import source
from fad.backend.running import cache
from fad.ir.walk import evaluate


def python_function(text: str, name: str = "kernel") -> Any:
    """The function of a generated module, as Python runs it."""
    scope: dict[str, Any] = {}
    exec(compile(text, "<generated>", "exec"), scope)
    return scope[name]


def interpreted(func: Any, args: list) -> tuple:
    with np.errstate(all="ignore"):
        return evaluate(func, args)


def assert_same(got: Any, wanted: tuple, what: str) -> None:
    """Equal results, to the accuracy of sums in another order and of vector mathematics."""
    got = got if isinstance(got, tuple) else (got,)
    assert len(got) == len(wanted)
    for y, z in zip(got, wanted):
        y, z = np.asarray(y), np.asarray(z)
        assert y.shape == z.shape, f"{what}: shape {y.shape} for {z.shape}"
        close = 2e-5 if z.dtype in (np.float32, np.complex64) else 1e-9
        np.testing.assert_allclose(y, z, rtol=close, atol=close, err_msg=what)


def check(func: Any, args: list, guards: tuple = (), jit: bool = False) -> str:
    """The text of func, after it was found to agree with the interpreter."""
    args = [x[()] if isinstance(x, np.ndarray) and not x.ndim else x for x in args]
    wanted = interpreted(func, args)
    copies = [np.array(x) if isinstance(x, np.ndarray) else x for x in args]
    text = source(func, "kernel", guards=guards)
    with np.errstate(all="ignore"):
        assert_same(python_function(text)(*args), wanted, "as Python\n" + text)
    if jit:
        assert_same(cache.load(text, "kernel", None)(*args), wanted, "compiled\n" + text)
    for x, copy in zip(args, copies):
        np.testing.assert_array_equal(x, copy, err_msg="an argument was written to\n" + text)
    return text
