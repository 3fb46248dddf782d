"""`tests` mirrors `fad`: the tests of a package stand in the folder of its name."""

import re

from .source import PACKAGE, ROOT

TESTS = ROOT / "tests"
ACROSS = {"bench", "fuzz", "golden", "house", "laws", "operation", "polybench"}        # they test no one package
NAMESPACES = {"autograd", "nn", "optim", "scipy", "utils"}       # they hold names only; eager and api have the tests


def folders_of_tests() -> set[str]:
    return {path.parent.relative_to(TESTS).as_posix() for path in TESTS.rglob("test_*.py")} - {"."}


def test_folders_of_tests_are_packages():
    mirrors = {folder for folder in folders_of_tests() if folder.partition("/")[0] not in ACROSS}
    assert not [folder for folder in mirrors if not (PACKAGE / folder / "__init__.py").is_file()]


def test_packages_have_a_folder_of_tests():
    packages = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert packages - NAMESPACES <= folders_of_tests()


def test_exceptions_are_there():
    assert {folder.partition("/")[0] for folder in folders_of_tests()} >= ACROSS
    assert all((PACKAGE / name).is_dir() for name in NAMESPACES)


def test_functions_that_are_too_long_to_be_quick_are_there():
    """tests/quick.txt names no function that has gone or has another name; see tests/quick.py."""
    gone = []
    for name in (TESTS / "quick.txt").read_text(encoding="utf-8").split():
        file, _, function = name.partition("::")
        text = (TESTS / file).read_text(encoding="utf-8") if (TESTS / file).is_file() else ""
        if not re.search(rf"\b{function.rpartition('::')[2]}\b", text):
            gone.append(name)
    assert not gone
