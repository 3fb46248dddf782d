"""The system's functions that make threads, and whether a call has them: symbols that kernels know by name."""
import ctypes
import os

from fad.kernels.c_symbols import bind

__all__ = ["BUSY", "CREATE", "JOIN"]

_busy = ctypes.c_int64(0)  # whether a call runs its parts on threads
_system = ctypes.CDLL(None) if os.name == "posix" else None


def _bound(name):
    """The symbol of a function of the system's, None where there is none."""
    function = getattr(_system, name, None) if _system is not None else None
    return function and bind(f"fad.{name}", ctypes.cast(function, ctypes.c_void_p).value)


CREATE, JOIN = _bound("pthread_create"), _bound("pthread_join")
BUSY = bind("fad.threads.busy", ctypes.addressof(_busy))
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: setattr(_busy, "value", 0))
