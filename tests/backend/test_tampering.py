"""A cache can only ever cost time, whatever is done to its files and folders.

Kernels are right, nothing of what was put there is run, nobody is warned, and what is broken is replaced.
"""

import os
import pathlib
import pickle
import shutil
import traceback
import warnings

import numpy as np
import pytest

from fad.backend.running import cache, entry_folder
from fad.kernels import outlined, parts

from ..turns import in_turn

TEXT = '''import numpy as np
from tests.backend.parts import half_square


def kernel(x):
    """x: float64[n]; returns float64"""
    total = 2.0
    for i in range(x.shape[0]):
        total += half_square(x[i])
    return total
'''
X = np.array([1.0, 2.0, 3.0])
RIGHT = 9.0
ROOT = hasattr(os, "geteuid") and os.geteuid() == 0
as_root = pytest.mark.skipif(not ROOT, reason="only root can give files away")
posix = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="owners and modes of POSIX")
STRANGER = 54321
_HELD: list = []  # machine code that may still be referred to


def run(folder):
    """The kernel, as a new process would get it."""
    _HELD.append((dict(outlined._libraries), list(parts._bound)))
    outlined._libraries.clear()
    parts._bound.clear()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kernel = cache.load(TEXT, "kernel", folder)
        value = kernel(X)
    assert value == RIGHT
    return "loaded" if sum(kernel.stats.cache_hits.values()) else "compiled"


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    folder = tmp_path_factory.mktemp("original") / "kernels"
    assert run(folder) == "compiled"
    assert run(folder) == "loaded"
    assert len(list(folder.iterdir())) == 3  # the kernel, the large one that it calls, and the parts of all kernels
    return folder


@pytest.fixture
def folder(original, tmp_path):
    return pathlib.Path(shutil.copytree(original, tmp_path / "kernels"))


def changed(at, by=1):
    def damage(path):
        content = bytearray(path.read_bytes())
        content[int(at * (len(content) - 1))] ^= by
        path.write_bytes(bytes(content))

    return damage


def cut(share):
    def damage(path):
        content = path.read_bytes()
        path.write_bytes(content[: int(share * len(content))])

    return damage


def replaced_by(content):
    return lambda path: path.write_bytes(content)


def as_another(path):
    other = next(p for p in sorted(path.parent.iterdir()) if p != path)
    shutil.copy(other, path)


def extended(path):
    path.write_bytes(path.read_bytes() + b"\0")


def as_link(path):
    elsewhere = path.parent.parent / path.name
    path.rename(elsewhere)
    path.symlink_to(elsewhere)


def as_dangling_link(path):
    path.unlink()
    path.symlink_to(path.parent / "nowhere")


def as_folder(path):
    path.unlink()
    path.mkdir()


def as_pipe(path):
    path.unlink()
    os.mkfifo(path)


def with_other_numbers(path):
    """What the issue tells of: a constant of the kept code is another one."""
    content = path.read_bytes()
    two, three = np.float64(2.0).tobytes(), np.float64(3.0).tobytes()
    path.write_bytes(content.replace(two, three) if two in content else content[:-1] + bytes([content[-1] ^ 255]))


def in_an_older_format(path):
    path.write_bytes(path.read_bytes().replace(entry_folder.MAGIC, b"fad entry 0", 1))


def checked_nonsense(payload):
    """An entry that is whole, of this user, and holds something else: as by a defect of a former version."""
    return lambda path: path.write_bytes(entry_folder.packed(path.stem, "x", payload))


def mode(bits):
    return lambda path: path.chmod(bits)


DAMAGES = {
    **{f"a bit at {at}": changed(at) for at in (0.0, 0.001, 0.01, 0.1, 0.5, 0.9, 1.0)},
    "a byte in the middle": changed(0.5, 255),
    **{f"cut to {share}": cut(share) for share in (0.0, 0.001, 0.01, 0.5, 0.999)},
    "text": replaced_by(b"import os\n"),
    "one line": replaced_by(entry_folder.MAGIC),
    "two lines": replaced_by(entry_folder.MAGIC + b"\n" + b"0" * 64),
    "zeros": replaced_by(bytes(5000)),
    "another entry": as_another,
    "a byte more": extended,
    "a constant": with_other_numbers,
    "an older format": in_an_older_format,
    "no pickle": checked_nonsense(b"nonsense"),
    "a pickle of something else": checked_nonsense(pickle.dumps(17)),
    "a pickle of the right length": checked_nonsense(pickle.dumps((b"", "", [], b""))),
    "nothing in an entry": checked_nonsense(b""),
}
PLACES = {
    "a link": as_link,
    "a dangling link": as_dangling_link,
    "a folder": as_folder,
    **({"a pipe": as_pipe} if hasattr(os, "mkfifo") else {}),
}
MODES = {f"mode {bits:o}": mode(bits) for bits in (0o620, 0o602, 0o666, 0o777)}


def without(name):
    """How a call gets its kernel without this file. Without the shared parts it still loads it, and compiles the
    parts."""
    return "loaded" if name.startswith(parts.PREFIX) else "compiled"


@pytest.mark.parametrize("name", in_turn([*DAMAGES, *PLACES]) + [pytest.param(name, marks=posix) for name in MODES])
def test_each_damage_to_each_file_costs_time_and_nothing_else(folder, name):
    damage = (DAMAGES | PLACES | MODES)[name]
    for path in sorted(folder.iterdir()):
        damage(path)
        assert run(folder) == without(path.name)
        assert (damage is as_folder) or run(folder) == "loaded"
        if path.is_dir():
            path.rmdir()
            assert run(folder) == without(path.name)


@pytest.mark.parametrize("name", in_turn(DAMAGES, 1))
def test_damage_to_all_files_at_once(folder, name):
    for path in sorted(folder.iterdir()):
        DAMAGES[name](path)
    assert run(folder) == "compiled"
    assert run(folder) == "loaded"


def test_files_that_are_gone(original, folder):
    for name in sorted(p.name for p in original.iterdir()):
        (folder / name).unlink()
        assert (run(folder), run(folder)) == (without(name), "loaded")


class Evil:
    """Unpickled, it leaves a mark."""

    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return os.mkdir, (str(self.mark),)


@posix
@pytest.mark.parametrize(
    "disguise",
    [mode(0o622), as_link, pytest.param(lambda p: os.chown(p, STRANGER, -1), marks=as_root)],
    ids=["mode", "link", "owner"],
)
def test_what_somebody_else_may_have_written_is_not_run(folder, tmp_path, disguise):
    for path in sorted(folder.iterdir()):
        path.write_bytes(entry_folder.packed(path.stem, "x", pickle.dumps(Evil(tmp_path / "mark"))))
        disguise(path)
    assert run(folder) == "compiled"
    assert not (tmp_path / "mark").exists()


def test_what_is_damaged_is_not_run(folder, tmp_path):
    for path in sorted(folder.iterdir()):
        path.write_bytes(entry_folder.packed(path.stem, "x", pickle.dumps(Evil(tmp_path / "mark")))[:-1] + b" ")
    assert run(folder) == "compiled"
    assert not (tmp_path / "mark").exists()


# -- owners and modes ------------------------------------------------------------------------------------------------


@as_root
@pytest.mark.parametrize(("user", "group"), [(STRANGER, -1), (STRANGER, STRANGER), (65534, 65534)])
def test_files_of_other_users_are_not_used(folder, user, group):
    for path in sorted(folder.iterdir()):
        os.chown(path, user, group)
        assert run(folder) == without(path.name)
        assert run(folder) == "loaded"  # it is ours now
        assert path.stat().st_uid == 0


@as_root
def test_a_folder_of_another_user_is_not_used(folder):
    os.chown(folder, STRANGER, -1)
    before = contents(folder)
    assert run(folder) == "compiled"
    assert contents(folder) == before


@posix
@pytest.mark.parametrize("bits", [0o777, 0o770, 0o722, 0o1777])
def test_a_folder_that_others_may_write_to_is_not_used(folder, bits):
    folder.chmod(bits)
    before = contents(folder)
    assert run(folder) == "compiled"
    assert contents(folder) == before


def contents(folder):
    return {p.name: (p.read_bytes(), p.stat().st_mtime_ns) for p in folder.iterdir()}


def test_a_file_in_place_of_the_folder(tmp_path):
    (tmp_path / "file").write_text("")
    assert run(tmp_path / "file") == "compiled"
    assert run(tmp_path / "file" / "below") == "compiled"


def test_a_folder_that_is_taken_away_meanwhile(folder, monkeypatch):
    replace = os.replace

    def taken(old, new):
        shutil.rmtree(folder)
        replace(old, new)

    next(iter(sorted(folder.iterdir()))).unlink()
    for path in folder.iterdir():
        path.write_bytes(b"")
    monkeypatch.setattr(os, "replace", taken)
    assert run(folder) == "compiled"


def as_user(user, folder):
    """What another user's process finds: its answer, or what went wrong."""
    reading, writing = os.pipe()
    child = os.fork()
    if child:
        os.close(writing)
        with os.fdopen(reading) as answer:
            text = answer.read()
        os.waitpid(child, 0)
        return text
    try:
        os.setgroups([])
        os.setgid(user)
        os.setuid(user)
        os.write(writing, run(folder).encode())
    except BaseException:
        os.write(writing, traceback.format_exc().encode())
    finally:
        os._exit(0)


@pytest.fixture
def open_folder(tmp_path):
    """A folder that every user reaches; pytest's own are for one user."""
    for part in [tmp_path, *tmp_path.parents]:
        if part.stat().st_mode & 0o055 != 0o055 and part.stat().st_uid == os.geteuid():
            part.chmod(part.stat().st_mode | 0o055)
    return tmp_path


@as_root
def test_a_warm_cache_of_roots_serves_every_user_who_may_read_it_and_stays_as_it_is(open_folder):
    folder = open_folder / "image"
    folder.mkdir(mode=0o755)
    folder.chmod(0o755)
    assert as_user(0, folder) == "compiled"
    before = contents(folder)
    assert before
    assert as_user(STRANGER, folder) == "loaded"
    assert contents(folder) == before


@as_root
def test_a_folder_of_one_user_does_not_serve_another(open_folder):
    folder = open_folder / "theirs"
    folder.mkdir()
    folder.chmod(0o755)
    os.chown(folder, STRANGER, STRANGER)
    assert as_user(STRANGER, folder) == "compiled"
    before = contents(folder)
    assert before
    assert [as_user(user, folder) for user in (STRANGER, STRANGER + 1, 0)] == ["loaded", "compiled", "compiled"]
    assert contents(folder) == before


def test_a_private_folder_holds_private_files(folder):
    assert all(p.stat().st_mode & 0o077 == 0 for p in folder.iterdir())
