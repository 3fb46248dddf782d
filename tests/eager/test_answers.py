"""PyTorch's answers to lines of code, and fad's.

Each file of tests/eager/answers holds lines `code => answer`, where the answer is what PyTorch 2.13.0 (CPU) said: a
value with its dtype and shape, or an error with the first line of its message (its class alone where fad refuses in
words of its own). `x` is arange(6).reshape(3, 2), made
anew for every line, and so are COMPLEX. To record the answers of a file of questions: `python
tests/eager/test_answers.py FILE` in an environment with PyTorch.
"""
import ast
import pathlib
import sys
import warnings

ANSWERS = pathlib.Path(__file__).parent / "answers"
ARROW = " => "
# complex128: matrices c and d, a square one S, one definite P; vectors v and w; a number z
COMPLEX = {
    "c": [[0.3 + 0.7j, -0.4 + 0.2j], [0.6 - 0.5j, 0.9 + 0.1j], [-0.2 - 0.8j, 0.5 + 0.4j]],
    "d": [[0.8 - 0.1j, 0.3 + 0.6j], [-0.7 + 0.2j, 0.4 - 0.9j], [0.1 + 0.5j, -0.6 - 0.3j]],
    "S": [[1 + 2j, 0.5], [1j, 2 - 1j]],
    "P": [[2, 0.5 + 0.3j], [0.5 - 0.3j, 1.5]],
    "v": [0.7 + 0.4j, -0.3 + 0.9j],
    "w": [0.2 - 0.6j, 0.8 + 0.5j],
    "z": 0.6 + 0.8j}


def told(value):
    """A value in words that do not depend on who computed it: tensors as dtype, shape and elements (to five digits)."""
    if isinstance(value, (tuple, list)) and not hasattr(value, "numel"):
        return f"({', '.join(told(v) for v in value)})"
    if hasattr(value, "tolist"):
        return f"{str(value.dtype).removeprefix('torch.')}{list(value.shape)} {_digits(value.tolist())}"
    return _digits(value)


def _digits(v):
    if isinstance(v, list):
        return f"[{', '.join(_digits(one) for one in v)}]"
    if isinstance(v, complex):
        return f"{_near(v.real):.5g}{_near(v.imag):+.5g}j"
    return f"{_near(v):.5g}" if isinstance(v, float) else str(v).removeprefix("torch.")


def _near(v):
    """A number, or zero (without a sign) where it is nothing but rounding."""
    return 0.0 if abs(v) < 1e-13 else v


def answer(code, library):
    """What a line of code gives: an expression its value, an assignment what became of x."""
    names = {"torch": library, "x": library.arange(6).reshape(3, 2), "F": library.nn.functional}
    names.update({name: library.tensor(value, dtype=library.complex128) for name, value in COMPLEX.items()})
    is_expression = isinstance(ast.parse(code).body[0], ast.Expr)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if is_expression:
                return told(eval(code, names))
            exec(code, names)
            return told(names["x"])
    except Exception as error:                                    # the error is the answer
        return f"{_class_of(error)}: {str(error).splitlines()[0] if str(error) else ''}"


def _class_of(error):
    """The error's class among Python's own."""
    return next(c.__name__ for c in type(error).__mro__ if c.__module__ == "builtins")


def lines_of(path):
    return [line for line in path.read_text().splitlines() if line.strip()]


def record(path):
    """Write PyTorch's answers behind the questions of a file."""
    import torch
    torch.set_num_threads(1)
    questions = [line.split(ARROW)[0] for line in lines_of(path)]
    path.write_text("".join(f"{q}{ARROW}{answer(q, torch)}\n" for q in questions))


if __name__ == "__main__":
    for name in sys.argv[1:]:
        record(pathlib.Path(name))
else:
    import pytest

    import fad

    @pytest.mark.parametrize("path", sorted(ANSWERS.glob("*.txt")), ids=lambda p: p.stem)
    def test_answers(path):
        before = fad.get_default_dtype()
        fad.set_default_dtype(fad.float32)
        try:
            wrong = [f"{code}\n  PyTorch: {given}\n  fad:     {mine}"
                     for code, given in (line.split(ARROW, 1) for line in lines_of(path))
                     if (mine := answer(code, fad)) != given and mine.partition(": ")[0] != given]
        finally:
            fad.set_default_dtype(before)
        assert not wrong, "\n".join(wrong)
