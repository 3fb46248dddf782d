"""The disk cache and the table of kernels: what names depend on, what a full disk does, how much is kept."""

import errno
import logging
import os
import pathlib
import subprocess
import sys
import time

import numpy as np
import pytest

import fad
from fad.backend.running import cache, entry_folder
from fad.backend.running.compile import kernel_of

TEXT = """import numpy as np


def kernel(x):
    total = 0.0
    for i in range(x.shape[0]):
        total += x[i]
    return total
"""


def is_loaded(folder):
    kernel = cache.load(TEXT, "kernel", folder)
    assert kernel(np.ones(3)) == 3.0
    return bool(sum(kernel.stats.cache_hits.values()))


def test_equal_text_is_one_kernel():
    kernel = kernel_of(TEXT, "kernel")
    assert kernel_of(TEXT, "kernel") is kernel


def test_a_kernel_is_kept_on_disk_and_found_again(tmp_path):
    folder = tmp_path / "kernels"
    assert (cache.holds(TEXT, "kernel", folder), is_loaded(folder)) == (False, False)
    assert [p.suffix for p in folder.iterdir()] == [".fad"] * 2  # the kernel, and the parts that all kernels share
    assert (cache.holds(TEXT, "kernel", folder), is_loaded(folder)) == (True, True)


def test_numbas_own_cache_has_no_part_in_it(tmp_path, monkeypatch):
    numbas = tmp_path / "numba"
    numbas.mkdir()
    numbas.chmod(0o777)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(numbas))
    assert (is_loaded(tmp_path / "kernels"), is_loaded(tmp_path / "kernels")) == (False, True)
    assert not list(numbas.iterdir())


def test_other_types_are_compiled_anew(tmp_path):
    assert not is_loaded(tmp_path)
    kernel = cache.load(TEXT, "kernel", tmp_path)
    assert kernel(np.ones(3, np.float32)) == 3.0
    assert not sum(kernel.stats.cache_hits.values())


def test_the_file_holds_no_path(tmp_path):
    cache.load(TEXT, "kernel", tmp_path / "kernels")(np.ones(2))
    files = list((tmp_path / "kernels").iterdir())
    assert len(files) == 2 and not any(str(tmp_path).encode() in file.read_bytes() for file in files)


def test_modules_of_kernels_are_not_left_behind(tmp_path):
    before = set(sys.modules)
    assert [is_loaded(tmp_path), is_loaded(tmp_path), is_loaded(None)] == [False, True, False]
    assert not [name for name in set(sys.modules) - before if name.startswith("fad_")]


# -- names -----------------------------------------------------------------------------------------------------------

FEATURES = type(cache.llvm.get_host_cpu_features())
CHANGES = {
    "fad": (cache, "VERSION", "0.0.1"),
    "numpy": (cache.np, "__version__", "1.0"),
    "numba": (cache.numba, "__version__", "1.0"),
    "llvmlite": (cache.llvmlite, "__version__", "1.0"),
    "python": (cache.sys, "version", "3.3"),
    "format": (cache, "FORMAT", "0"),
    "machine": (cache.platform, "machine", lambda: "vax"),
    "cpu": (cache.llvm, "get_host_cpu_name", lambda: "i386"),
    "features": (cache.llvm, "get_host_cpu_features", lambda: FEATURES({"fpu": True})),
    "vector math": (cache.widen, "FLAVOUR", "libm-0"),
    "scipy": (cache, "_scipy", lambda: [b"1.0"]),
    "optimisation": (cache.numba.config, "OPT", 0),
    "cpu that is set": (cache.numba.config, "CPU_NAME", "generic"),
    "bounds": (cache.numba.config, "BOUNDSCHECK", 1),
    "contents of kernels": (cache, "contents_of", lambda folder: ["sums.py", b"pass"]),
}


@pytest.mark.parametrize("where", CHANGES)
def test_the_name_depends_on_all_that_machine_code_depends_on(where, monkeypatch):
    before = cache.key(TEXT)
    thing, name, value = CHANGES[where]
    monkeypatch.setattr(thing, name, value)
    cache.surroundings.cache_clear()
    try:
        assert cache.key(TEXT) != before
    finally:
        monkeypatch.undo()
        cache.surroundings.cache_clear()
    assert cache.key(TEXT) == before


def test_contents_of_the_kernels_count_and_their_times_do_not(tmp_path, monkeypatch):
    folder = tmp_path / "package_of_kernels"
    folder.mkdir()
    files = [folder / name for name in ("__init__.py", "a.py")]
    for file in files:
        file.write_text("x = 1\n")
        os.utime(file, (1, 1))
    monkeypatch.syspath_prepend(tmp_path)
    before = cache.contents_of("package_of_kernels")
    os.utime(files[1], (5, 5))
    assert cache.contents_of("package_of_kernels") == before
    files[1].write_text("x = 2\n")
    os.utime(files[1], (1, 1))
    assert cache.contents_of("package_of_kernels") != before


def test_what_has_no_part_in_machine_code_is_not_in_the_name(monkeypatch):
    before = cache.key(TEXT)
    for name in ("CACHE_DIR", "NUMBA_NUM_THREADS", "DUMP_ASSEMBLY", "COLOR_SCHEME"):
        monkeypatch.setattr(cache.numba.config, name, 7)
    assert cache.key(TEXT) == before


# -- the disk --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("step", ["mkstemp", "write", "fsync", "replace"])
def test_a_full_disk_costs_time_and_leaves_nothing(tmp_path, monkeypatch, caplog, step):
    def full(*args, **kwargs):
        raise OSError(errno.ENOSPC, "No space left on device")

    if step == "write":
        real = os.fdopen

        def opened(handle, mode):
            file = real(handle, mode)
            return file if mode == "rb" else Full(file)

        monkeypatch.setattr(os, "fdopen", opened)
    else:
        monkeypatch.setattr(entry_folder.tempfile if step == "mkstemp" else os, step, full)
    caplog.set_level(logging.DEBUG)
    assert not is_loaded(tmp_path)
    assert not is_loaded(tmp_path)
    assert not list(tmp_path.iterdir())
    assert {record.levelno for record in caplog.records if record.name.startswith("fad")} == {logging.DEBUG}


class Full:
    """A file on a full disk."""

    def __init__(self, file):
        self.file = file

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.file.close()

    def write(self, content):
        self.file.write(content[:100])
        raise OSError(errno.ENOSPC, "No space left on device")


LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
import numpy as np, fad
g = fad.jit(fad.grad(lambda x: np.sum(np.sin(x) * x)), compile="now")
print(g(np.zeros(3)).tolist(), g.compilations)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="limits of POSIX")
def test_a_real_limit_on_files(tmp_path):
    environment = os.environ | {"FAD_CACHE_DIR": str(tmp_path / "kernels")}
    done = subprocess.run(
        [sys.executable, "-W", "error::UserWarning", "-c", LIMITED],
        capture_output=True,
        text=True,
        env=environment,
        check=True,
    )
    assert done.stdout == "[0.0, 0.0, 0.0] 1\n" and not list((tmp_path / "kernels").iterdir())


# -- how much is kept ------------------------------------------------------------------------------------------------


def filled(path, count=10, size=1000):
    folder = entry_folder.Folder(path)
    for k in range(count):
        assert folder.write(f"k{k}", "", bytes(size))
        os.utime(folder.file(f"k{k}"), (1000.0 + k, 1000.0 + k))
    return folder


def names(folder):
    return [found.name for found in folder.entries()]


def test_what_was_not_used_for_longest_goes_first(tmp_path):
    folder = filled(tmp_path)
    assert folder.use("k0", len) == 1000  # used now
    folder.write("new", "", bytes(1000), limit=6500)
    assert names(folder) == ["k7", "k8", "k9", "k0", "new"]
    assert sum(found.size for found in folder.entries()) <= 6500


def test_the_limit_holds_over_many_writes(tmp_path):
    folder = entry_folder.Folder(tmp_path)
    for k in range(100):
        folder.write(f"k{k}", "", bytes(1000), limit=10_000)
        assert sum(found.size for found in folder.entries()) <= 10_000
    assert len(names(folder)) >= 7


def test_an_entry_larger_than_the_limit_is_not_kept(tmp_path):
    assert not entry_folder.Folder(tmp_path).write("a", "", bytes(1000), limit=500)
    assert not list(tmp_path.iterdir())


def test_the_limit_is_a_setting(tmp_path):
    assert fad.config.cache_size == 10**9
    with fad.config.using(cache_size="1kB"):
        assert fad.config.cache_size == 1000
        assert (is_loaded(tmp_path), is_loaded(tmp_path)) == (False, False)


def test_files_of_writers_that_were_ended_are_removed_in_time(tmp_path):
    folder = filled(tmp_path, 2)
    for name, age in {"old": 2 * entry_folder.FRESH, "new": 0.0}.items():
        path = tmp_path / (name + entry_folder.TEMPORARY)
        path.write_bytes(b"half")
        os.utime(path, (time.time() - age, time.time() - age))
    folder.trim(10**6)
    suffix = entry_folder.TEMPORARY
    assert sorted(p.name for p in tmp_path.iterdir() if p.suffix == suffix) == ["new" + suffix]
    assert folder.clear() == 2
    assert not list(tmp_path.iterdir())


def test_what_is_not_fads_stays(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    filled(tmp_path).clear()
    assert [p.name for p in tmp_path.iterdir()] == ["notes.txt"]


def test_writes_are_synchronised_before_they_are_seen(tmp_path, monkeypatch):
    steps: list = []
    fsync, replace = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda handle: steps.append("fsync") or fsync(handle))
    monkeypatch.setattr(os, "replace", lambda a, b: steps.append("replace") or replace(a, b))
    assert entry_folder.Folder(tmp_path).write("a", "", b"x")
    assert steps == ["fsync", "replace"]


# -- where it is -----------------------------------------------------------------------------------------------------

WHERE = "import os, fad; print(fad.config.cache_dir)"


def where(cwd, **environment):
    kept = {k: v for k, v in os.environ.items() if k not in ("HOME", "XDG_CACHE_HOME", "FAD_CACHE_DIR")}
    return subprocess.run(
        [sys.executable, "-c", WHERE], env=kept | environment, capture_output=True, text=True, check=True, cwd=cwd
    ).stdout.strip()


@pytest.mark.skipif(sys.platform == "win32", reason="homes of POSIX")
def test_an_empty_variable_is_not_the_current_folder(tmp_path):
    assert where(tmp_path, HOME="/somewhere", FAD_CACHE_DIR="") == "/somewhere/.cache/fad"
    assert where(tmp_path, HOME="/somewhere", FAD_CACHE_DIR="", XDG_CACHE_HOME="") == "/somewhere/.cache/fad"
    assert where(tmp_path, HOME="/somewhere", XDG_CACHE_HOME="/caches") == "/caches/fad"
    assert where(tmp_path, HOME="/somewhere", XDG_CACHE_HOME="relative") == "/somewhere/.cache/fad"
    assert where(tmp_path, FAD_CACHE_DIR="kernels") == str(pathlib.Path(tmp_path).resolve() / "kernels")


def test_a_user_without_a_home_keeps_nothing(monkeypatch):
    def none():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(pathlib.Path, "home", none)
    for name in ("FAD_CACHE_DIR", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    assert fad.util.config.Config().cache_dir is None


def test_an_empty_name_is_no_folder():
    with fad.config.using(cache_dir=""):
        assert fad.config.cache_dir is None
