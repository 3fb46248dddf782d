"""fad.debug_print: print from within compiled code."""
from string import Formatter
from typing import Any

from ...ir.op import registry
from ...util.errors import ArgumentError
from ...util.keywords import named_as_here

_FORMATTER = Formatter()


@named_as_here
def debug_print(text: object, *args: object, **kwargs: object) -> None:
    """Print values of a program while it runs, in the order of the program.

    It prints each time that the program gets there: in compiled code, in loops and branches, and for each example of a
    batch whose values it prints. Python's own `print` does so, too; what that prints of objects cannot be exported, or
    called from compiled code.

    Parameters
    ----------
    text : str
        The text, with fields in braces as `str.format` takes them: ``"step {}: {x:.3f}"``. Without further arguments
        it is printed as it is.
    *args, **kwargs
        The values of the fields: numbers, arrays, and lists, tuples and dictionaries of them.

    Raises
    ------
    ArgumentError
        If a field has no value. It is a `TypeError`.

    Notes
    -----
    The derivative is that of the function without the call. The reverse sweep prints nothing; what a checkpoint
    computes again is printed again. Text goes to Python's ``sys.stdout``, also in notebooks. Threads that Numba starts
    (``prange``) print nothing.

    Examples
    --------
    >>> import numpy as np
    >>> import fad
    >>> def f(x):
    ...     total = 0.0
    ...     for k in range(len(x)):
    ...         total = total + x[k] ** 2
    ...         fad.debug_print("{k}: {total:.2f}", k=k, total=total)
    ...     return total
    >>> fad.jit(fad.grad(f), compile="now")(np.array([1.0, 2.0]))
    0: 1.00
    1: 5.00
    array([2., 4.])
    """
    if not isinstance(text, str):
        text, args = "{}", (text, *args)
    elif not args and not kwargs:
        text = text.replace("{", "{{").replace("}", "}}")
    values: list = []
    written = "".join(_written(text, args, kwargs, values))
    registry["debug_print"](*values, text=written)


def _written(text: str, args: tuple, kwargs: dict, values: list) -> Any:
    """The pieces of a text whose fields are for numbers and arrays of the program; `values` has these in order."""
    count = 0
    try:
        for before, field, spec, conversion in _FORMATTER.parse(text):
            yield _escaped(before)
            if field is None:
                continue
            if not field or field[0] in ".[":
                field, count = f"{count}{field}", count + 1
            value, _ = _FORMATTER.get_field(field, args, kwargs)
            yield _shown(value, (f"!{conversion}" if conversion else "") + (f":{spec}" if spec else ""), values)
    except (IndexError, KeyError, AttributeError, ValueError) as error:
        raise ArgumentError(f"debug_print cannot fill {text!r}: {type(error).__name__}: {error}",
                            do='pass a value for each field: fad.debug_print("x = {}, {k}", x, k=k)') from None


def _shown(value: object, how: str, values: list) -> str:
    """A value as a field, or as text if it is known now."""
    if getattr(value, "__fad_level__", 0):
        values.append(value)
        is_pythons = getattr(getattr(value, "type", None), "weak", False)    # its repr is its text
        return "{" + (how.removeprefix("!r") if is_pythons else how) + "}"
    if isinstance(value, (list, tuple)) and type(value).__name__ in ("list", "tuple"):
        inner = ", ".join(_shown(x, "", values) for x in value)
        return f"[{inner}]" if isinstance(value, list) else f"({inner}{',' * (len(value) == 1)})"
    if type(value) is dict:
        return "{{" + ", ".join(f"{_escaped(repr(k))}: {_shown(x, '', values)}" for k, x in value.items()) + "}}"
    return _escaped(("{0" + how + "}").format(value))


def _escaped(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")
