"""Listeners to arithmetic errors: code may ask NumPy to raise or to call a function, and Python to record warnings or
to raise them.

Operations give infinities and nans, and a program tells nobody. So this module asks whether somebody listens who did
not when the function began.
"""
import sys
import warnings
from typing import Any, NamedTuple

import numpy as np

TOLD = {"raise", "call", "log"}  # what NumPy does besides computing, but for warnings and prints


class Listening(NamedTuple):
    """The settings of NumPy for each kind of error; the function that shows Python's warnings; whether those of NumPy
    are errors.
    """

    errors: frozenset
    shown_by: tuple
    is_error: bool

    def adds_to(self, before: "Listening") -> bool:
        """Whether somebody listens who did not then."""
        return bool(self.errors - before.errors) or self.records(before) or (self.is_error and not before.is_error)

    def records(self, before: "Listening") -> bool:
        """Whether warnings go elsewhere than before: warnings.catch_warnings(record=True) replaces the function that
        shows them by a list's append."""
        return any(now is not then for now, then in zip(self.shown_by, before.shown_by))


def listening() -> Listening:
    """The present listeners."""
    errors: Any = frozenset(_told())
    shown_by = warnings.showwarning, getattr(warnings, "_showwarnmsg_impl", None)
    return Listening(errors, shown_by, _are_errors())


def _told() -> tuple:
    """The arithmetic errors that NumPy raises or hands on, each with how."""
    return tuple([item for item in np.geterr().items() if item[1] in TOLD])


def _are_errors() -> bool:
    """Whether NumPy's warnings are errors."""
    return any(issubclass(RuntimeWarning, entry[2]) for entry in warnings.filters if entry[0] == "error")


def raised() -> tuple:
    """The arithmetic errors that NumPy raises or hands on, and whether its warnings are errors: what handlers of these
    errors hear. Nothing in the usual case."""
    told, is_error = _told(), _are_errors()
    return (told, is_error) if told or is_error else ()


def outlets() -> tuple:
    """The present destinations of lines that are printed, and of warnings."""
    return sys.stdout, sys.stderr, warnings.filters, len(warnings.filters), warnings.showwarning


def settings() -> tuple:
    """The settings that decide who listens, quick to read: while they stay the same, the listeners do."""
    return np.geterr(), tuple(warnings.filters), warnings.showwarning, getattr(warnings, "_showwarnmsg_impl", None)
