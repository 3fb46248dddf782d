"""The version of fad, where every floor can read it."""

__version__ = "0.1.0"
