"""Derivatives of the ops with regions, by the op's name: each takes the sweep and the equation."""
from collections.abc import Callable
from typing import Any

from .control_jvp import jvp_cond, jvp_loop
from .control_vjp import vjp_cond
from .loop_vjp import vjp_for, vjp_while

JVP_OF_CONTROL: dict[str, Callable[[Any, Any], None]] = {"for": jvp_loop, "while": jvp_loop, "cond": jvp_cond}
VJP_OF_CONTROL: dict[str, Callable[[Any, Any], None]] = {"for": vjp_for, "while": vjp_while, "cond": vjp_cond}
