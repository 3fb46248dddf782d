"""Settings. `fad.config` is the one instance; environment variables give the first values."""
import os
import pathlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


def _default_cache_dir() -> pathlib.Path:
    if "FAD_CACHE_DIR" in os.environ:
        return pathlib.Path(os.environ["FAD_CACHE_DIR"])
    home = os.environ.get("XDG_CACHE_HOME") or (os.environ.get("LOCALAPPDATA") if sys.platform == "win32" else None)
    return pathlib.Path(home) / "fad" if home else pathlib.Path.home() / ".cache" / "fad"


class Config:
    """What a user may set.

    compile       "auto" (interpret at first, compile what is hot), "now" (compile before the first answer), "never"
    cache_dir     where compiled kernels are kept; None: nowhere
    check_index   whether compiled code checks that indices are in range
    check_trace   whether each program is checked to be well formed once it is traced (for tests of ops and rules)
    parallel      whether large loops may run on several threads
    fallback      whether functions whose structure depends on data run step by step on the tape; if not, they raise

    >>> config = Config()
    >>> with config.using(compile="never"):
    ...     config.compile
    'never'
    """

    _names = ("compile", "cache_dir", "check_index", "check_trace", "parallel", "fallback")

    def __init__(self) -> None:
        self.compile = os.environ.get("FAD_COMPILE", "auto")
        self.cache_dir: pathlib.Path | None = _default_cache_dir() if os.environ.get("FAD_CACHE", "1") != "0" else None
        self.check_index = True
        self.check_trace = os.environ.get("FAD_CHECK_TRACE", "0") == "1"
        self.parallel = os.environ.get("FAD_PARALLEL", "0") == "1"
        self.fallback = os.environ.get("FAD_FALLBACK", "1") != "0"

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self._names:
            raise AttributeError(f"fad.config has no setting {name!r}; there are {', '.join(self._names)}")
        if name == "compile" and value not in ("auto", "now", "never"):
            raise ValueError(f"compile is 'auto', 'now' or 'never', not {value!r}")
        if name == "cache_dir" and value is not None:
            value = pathlib.Path(value)
        super().__setattr__(name, value)

    @contextmanager
    def using(self, **settings: Any) -> Iterator[None]:
        """Other settings for a while."""
        before = {name: getattr(self, name) for name in settings}
        try:
            for name, value in settings.items():
                setattr(self, name, value)
            yield
        finally:
            for name, value in before.items():
                setattr(self, name, value)

    def __repr__(self) -> str:
        return "Config(" + ", ".join(f"{n}={getattr(self, n)!r}" for n in self._names) + ")"


config = Config()
