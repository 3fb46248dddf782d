"""What functions print, log and warn of under fad is what they say in Python, call by call: nothing more, and nothing twice.

The programs are in lines.py. They run in processes of their own, so that standard error is seen as well.
"""
import os
import pathlib
import re
import subprocess
import sys

import pytest

from . import lines

FILE = pathlib.Path(lines.__file__)
NAMES = [f.__name__ for f in lines.FUNCTIONS]


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    """mode -> function -> what both streams have."""
    folder = str(tmp_path_factory.mktemp("cache"))
    root = str(FILE.parent.parent.parent)
    environment = {**os.environ, "FAD_CACHE_DIR": folder, "PYTHONPATH": os.pathsep.join([root, *sys.path])}
    running = {mode: subprocess.Popen([sys.executable, "-u", str(FILE), mode], stdout=subprocess.PIPE, text=True,
                                      stderr=subprocess.STDOUT, env=environment) for mode in ("plain", "never", "now")}
    texts = {mode: process.communicate()[0] for mode, process in running.items()}
    assert not any(process.returncode for process in running.values()), texts
    parts = {mode: re.split(r"^=== (\w+)\n", text, flags=re.M) for mode, text in texts.items()}
    return {mode: dict(zip(found[1::2], found[2::2])) for mode, found in parts.items()}


@pytest.mark.parametrize("mode", ["never", "now"])
@pytest.mark.parametrize("name", NAMES)
def test_all_is_said_as_in_python(said, name, mode):
    assert said["plain"][name].count("call") >= 4
    assert said[mode][name] == said["plain"][name]
