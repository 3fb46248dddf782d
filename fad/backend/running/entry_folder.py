"""A folder of entries, each a file of its own, which may be damaged, replaced or taken away at any time.

    fad entry 1\\n                      what the file is
    9f86d081884c7d65...\\n             SHA-256 of all that follows
    c1a5298f939e87e8...\\n             the entry's name: a digest of all that it depends on
    grad: x: float64[n]...\\n          a title, for people
    payload

A read checks the owner and the mode of the file that was opened, not through a symbolic link, then the checksum, then
the name. An entry that fails a check is None, and is removed. Nothing raises for what the disk does: a cache can only
ever cost time.
"""

import os
import pathlib
import stat
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from ...util.interrupts import ignoring, reraise_interrupt
from ...util.lazy import LazyModule

hashlib = LazyModule("hashlib")
logging = LazyModule("logging")
tempfile = LazyModule("tempfile")

MAGIC = b"fad entry 1"
SUFFIX, TEMPORARY = ".fad", ".fad-tmp"
FRESH = 3600.0  # seconds for which a use is not noted again, and a temporary file in use
AT_ONCE = 0.9  # the part of the limit that stays when entries are removed
_OPEN = os.O_RDONLY  # and, if the system has them: no links, nothing inherited, bytes, no waiting
for _flag in ("O_NOFOLLOW", "O_CLOEXEC", "O_BINARY", "O_NONBLOCK"):
    _OPEN |= getattr(os, _flag, 0)


class CacheEntry(NamedTuple):
    """The contents of a file."""

    title: str
    payload: bytes


class Found(NamedTuple):
    """The facts about a file that need no reading."""

    name: str
    size: int
    used: float


class Refused(Exception):
    """The reason for which a file, or a folder, is not trusted."""


def digest(*parts: "str | bytes") -> str:
    """A name for what depends on these parts and on nothing else.

    >>> digest("a", "bc") != digest("ab", "c")
    True
    """
    state = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        state.update(len(data).to_bytes(8, "little"))
        state.update(data)
    return state.hexdigest()[:40]


def packed(name: str, title: str, payload: bytes) -> bytes:
    """The content of a file."""
    rest = b"\n".join([name.encode(), " ".join(title.split()).encode("utf-8", "replace"), payload])
    return b"\n".join([MAGIC, hashlib.sha256(rest).hexdigest().encode(), rest])


def unpacked(name: str, content: bytes) -> CacheEntry:
    """The contents of a file; Refused if it is not whole, or belongs elsewhere."""
    magic, _, rest = content.partition(b"\n")
    if magic != MAGIC:
        raise Refused("is no entry of this version")
    checksum, _, rest = rest.partition(b"\n")
    if hashlib.sha256(rest).hexdigest().encode() != checksum:
        raise Refused("is damaged: its checksum is another")
    own, title, payload = rest.split(b"\n", 2)
    if own != name.encode():
        raise Refused("is another entry, under this one's name")
    return CacheEntry(title.decode("utf-8", "replace"), payload)


def refuse_foreign(info: os.stat_result) -> None:
    """Raise Refused unless only this user, or root, can have written a file with this owner and mode."""
    if not hasattr(os, "geteuid"):
        return
    if info.st_uid not in (os.geteuid(), 0):
        raise Refused(f"belongs to user {info.st_uid}")
    if info.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise Refused(f"may be written to by others (mode {stat.S_IMODE(info.st_mode):o})")


class Folder:
    """A folder of entries. Every method that touches the disk copes with all that a disk may do."""

    def __init__(self, path: "pathlib.Path | str"):
        self.path = pathlib.Path(path)
        self._size: int | None = None  # of all entries, as far as this process knows

    def file(self, name: str) -> pathlib.Path:
        """The path of an entry."""
        return self.path / f"{name}{SUFFIX}"

    # -- looking -----------------------------------------------------------------------------------------------------

    @property
    def refusal(self) -> str:
        """The reason why this folder is not used, "" if it is ours. A missing folder is made."""
        try:
            refuse_foreign(self._info())
        except (OSError, ValueError, Refused) as error:
            reraise_interrupt(error)
            note("the cache %s is not used: it %s", self.path, error)
            return str(error) or type(error).__name__
        return ""

    def _info(self) -> os.stat_result:
        try:
            info = self.path.stat()
        except FileNotFoundError as error:
            reraise_interrupt(error)
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            info = self.path.stat()
        if not stat.S_ISDIR(info.st_mode):
            raise Refused("is no folder")
        return info

    def holds(self, name: str) -> bool:
        """Whether there is a file for this entry."""
        try:
            return not self.refusal and self.file(name).exists()
        except (OSError, ValueError) as error:
            reraise_interrupt(error)
            return False

    def use(self, name: str, make: Callable) -> Any:
        """make(payload of an entry), or None. An entry that does not check, or that make refuses, is removed."""
        try:
            return None if self.refusal else make(self.checked(name, used=True).payload)
        except Exception as error:                            # whoever can write to the folder can cause any
            reraise_interrupt(error)
            if isinstance(error, FileNotFoundError):
                return None
            note("%s is not used: %s", self.file(name), error)
            if not isinstance(error, OSError):
                self.remove(name)
            return None

    def checked(self, name: str, used: bool = False) -> CacheEntry:
        """An entry; raises OSError or Refused if there is none, or if it does not check."""
        path = self.file(name)
        if path.is_symlink():  # where it becomes one now, O_NOFOLLOW sees it
            raise Refused("is a symbolic link")
        handle = os.open(path, _OPEN)
        with os.fdopen(handle, "rb") as file:
            info = os.fstat(handle)
            if not stat.S_ISREG(info.st_mode):
                raise Refused("is no ordinary file")
            refuse_foreign(info)
            content = file.read()
        entry = unpacked(name, content)
        if used and abs(time.time() - info.st_mtime) > FRESH:
            with ignoring(OSError):  # a folder that is only read
                os.utime(path)
        return entry

    def entries(self) -> list:
        """The entries, the least recently used first."""
        return sorted(self._files(SUFFIX), key=lambda found: (found.used, found.name))

    def _files(self, suffix: str) -> Iterator[Found]:
        try:
            with os.scandir(self.path) as files:
                for one in files:
                    if one.name.endswith(suffix):
                        with ignoring(OSError):  # another process has removed it
                            info = one.stat(follow_symlinks=False)
                            yield Found(one.name[: -len(suffix)], info.st_size, info.st_mtime)
        except OSError as error:
            reraise_interrupt(error)
            note("%s cannot be listed: %s", self.path, error)

    # -- writing -----------------------------------------------------------------------------------------------------

    def write(self, name: str, title: str, payload: bytes, limit: "int | None" = None) -> bool:
        """Keep an entry if possible, whole or not at all; answer whether it was kept.

        If all is more than `limit` bytes then, what was not used for longest is removed.
        """
        content = packed(name, title, payload)
        if self.refusal or (limit is not None and len(content) > limit):
            return False
        try:
            self._replace(self.file(name), content)
        except (OSError, ValueError) as error:
            reraise_interrupt(error)
            note("%s could not be written: %s", self.file(name), error)
            return False
        if limit is not None:
            self._grow(len(content), limit)
        return True

    def _replace(self, path: pathlib.Path, content: bytes) -> None:
        handle, temporary = tempfile.mkstemp(dir=self.path, suffix=TEMPORARY)
        try:
            with os.fdopen(handle, "wb") as file:
                if hasattr(os, "fchmod"):  # everybody who may look into the folder may read its files, as for an image
                    os.fchmod(handle, 0o600 | (self.path.stat().st_mode & 0o044))
                file.write(content)
                file.flush()
                os.fsync(handle)
            os.replace(temporary, path)
        except BaseException:
            with ignoring(OSError):
                os.unlink(temporary)
            raise

    def remove(self, name: str) -> bool:
        """Remove an entry, or whatever stands in its place."""
        try:
            self.file(name).unlink()
        except OSError as error:
            reraise_interrupt(error)
            note("%s could not be removed: %s", self.file(name), error)
            return False
        return True

    def clear(self) -> int:
        """Remove all entries, and the remains of interrupted writes; return the number of entries."""
        if self.refusal:
            return 0
        self._sweep(0.0)
        self._size = None
        return sum(self.remove(found.name) for found in self.entries())

    def _grow(self, size: int, limit: int) -> None:
        self._size = None if self._size is None else self._size + size
        if self._size is None or self._size > limit:
            self._size = self.trim(limit)

    def trim(self, limit: int) -> int:
        """Remove the least recently used entries until the rest is no more than `limit` bytes; the size of the rest."""
        self._sweep(FRESH)
        found = self.entries()
        size = sum(one.size for one in found)
        if size > limit:
            for one in found:
                if size <= AT_ONCE * limit:
                    break
                size -= one.size if self.remove(one.name) else 0
        return size

    def _sweep(self, age: float) -> None:
        """Remove temporary files of writers that were ended."""
        for one in list(self._files(TEMPORARY)):
            if time.time() - one.used >= age:
                with ignoring(OSError):
                    os.unlink(self.path / f"{one.name}{TEMPORARY}")


def note(message: str, *args: object) -> None:
    """Log a message at the level of debugging."""
    logging.getLogger("fad.cache").debug(message, *args)
