"""Derivatives of the region ops; filled in by the modules that hold them."""
from typing import Any, Callable

JVP_OF_CONTROL: dict[str, Callable[[Any, Any], None]] = {}
VJP_OF_CONTROL: dict[str, Callable[[Any, Any], None]] = {}
