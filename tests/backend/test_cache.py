"""The disk cache and the table of kernels."""
import os

import numba
import numpy as np
import pytest

from fad.backend import cache
from fad.backend.compile import kernel_of

TEXT = "import numpy as np\n\n\ndef kernel(x):\n    total = 0.0\n    for i in range(x.shape[0]):\n        total += x[i]\n    return total\n"


@pytest.fixture(autouse=True)
def numbas_cache_beside_the_file(monkeypatch):
    """Whatever the environment says of the place of Numba's own cache."""
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")


def test_equal_text_is_one_kernel():
    assert kernel_of(TEXT, "kernel").call is kernel_of(TEXT, "kernel").call


def test_a_kernel_is_kept_on_disk_and_found_again(tmp_path):
    folder = tmp_path / "kernels"
    assert cache.load(TEXT, "kernel", folder)(np.ones(3)) == 3.0
    assert [p.suffix for p in folder.glob("fad_*.py")] == [".py"] and list(folder.rglob("*.nbc"))
    again = cache.load(TEXT, "kernel", folder)
    assert again(np.ones(4)) == 4.0
    assert sum(again.stats.cache_hits.values()) == 1


def test_the_file_holds_no_path(tmp_path):
    cache.load(TEXT, "kernel", tmp_path / "kernels")
    (file,) = (tmp_path / "kernels").glob("fad_*.py")
    assert str(tmp_path) not in file.read_text()


def test_a_folder_that_others_may_write_to_is_not_used(tmp_path):
    folder = tmp_path / "open"
    folder.mkdir()
    os.chmod(folder, 0o777)
    assert not cache.private(folder)
    assert cache.load(TEXT, "kernel", folder)(np.ones(2)) == 2.0
    assert not list(folder.iterdir())
