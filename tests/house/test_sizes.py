"""Files and functions stay small enough to read in one sitting."""

import re
import statistics

from .source import ROOT, functions, length, modules, name_of

FILE_LIMIT, TEST_FILE_LIMIT = 400, 600
FUNCTION_LIMIT, FUNCTION_MEDIAN = 80, 8
ANY_LIMIT = 3_897                                             # lower it when the count falls


def test_no_file_is_over_the_limit():
    lines = {name_of(path): len(path.read_text(encoding="utf-8").splitlines()) for path in modules()}
    assert not {name: n for name, n in lines.items() if n > FILE_LIMIT}


def test_no_function_is_over_the_limit():
    assert not {f"{name_of(path)}: {f.name}": length(f)
                for path in modules() for f in functions(path) if length(f) > FUNCTION_LIMIT}


def test_the_median_function_is_short():
    lengths = [length(function) for path in modules() for function in functions(path)]
    assert statistics.median(lengths) <= FUNCTION_MEDIAN


def test_types_say_what_things_are():
    assert sum(len(re.findall(r"\bAny\b", path.read_text(encoding="utf-8"))) for path in modules()) <= ANY_LIMIT


def test_tests_are_files_one_can_read_too():
    tests = [path for path in (ROOT / "tests").rglob("*.py") if "golden" not in path.parts]
    assert not [name_of(path) for path in tests if len(path.read_text(encoding="utf-8").splitlines()) > TEST_FILE_LIMIT]
