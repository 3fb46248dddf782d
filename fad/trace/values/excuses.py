"""Excuses: functions that show that two arrays differ, where the alias analysis says that they may be one (see
Tracer.kin).
"""
from collections.abc import Mapping
from types import MappingProxyType

SAME: Mapping = MappingProxyType({})  # of an array that nothing is ever put behind (see Tracer.longer)


def never() -> bool:
    """The excuse of an array that a list was given, for being read after the list's element was written to."""
    return False


def lies_here() -> bool:
    """The excuse of a list's row, for being read after an array was written to that the list was given, or one that
    this may be.
    """
    return False
