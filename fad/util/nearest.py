"""Names that were meant: what is said of a name that is not there."""
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np


def nearest(name: str, names: Iterable[str]) -> str:
    """The name among these that this one was probably meant to be; empty if there is none.

    >>> nearest("gradd", ["grad", "jit"]), nearest("xyz", ["grad", "jit"])
    ('grad', '')
    """
    import difflib  # when something is missing, and not at import
    by_small = {n.lower(): n for n in names}
    found = difflib.get_close_matches(name.lower(), by_small, n=1)
    return by_small[found[0]] if found else ""


def suggestion(name: str, names: Iterable[str]) -> str:
    """The question that follows a message about a name that is not there.

    >>> suggestion("gradd", ["grad", "jit"])
    ". Did you mean: 'grad'?"
    """
    found = nearest(name, names)
    return f". Did you mean: {found!r}?" if found else ""


def of_numpy(name: str) -> str:
    """The sentence about NumPy's function of this name, which takes tensors; empty if there is none.

    >>> of_numpy("cov"), of_numpy("covv")
    ('numpy.cov takes tensors, too.', '')
    """
    return f"numpy.{name} takes tensors, too." if callable(getattr(np, name, None)) else ""


class MissingName(AttributeError):
    """An AttributeError that says which name was probably meant. It makes its text when it is read: hasattr does not
    wait for it.

    more: a further sentence. `name` is set and `obj` is not, so that Python's traceback adds no suggestion of its own.
    """

    def __init__(self, what: str, name: str, names: "Callable[[], Iterable[str]]", more: str = ""):
        super().__init__(what, name=name)
        self.names, self.more = names, more

    def __str__(self) -> str:
        meant = suggestion(self.name or "", [n for n in self.names() if not n.startswith("_")])
        return self.args[0] + meant + (self.more and f"{'' if meant else '.'} {self.more}")

    def __reduce__(self) -> Any:
        return AttributeError, (str(self),)
