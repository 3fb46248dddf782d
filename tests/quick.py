"""`-m quick`: the first case of each test function, but for the functions that quick.txt lists as too long for it.

    FAD_QUICK=write python -m pytest -n 2 -m quick        lists anew what takes longer than LIMIT

List on a machine that does nothing else: the seconds are those of the clock.
"""
import os
from pathlib import Path

import pytest

LIMIT = 0.5                                                  # seconds of one case
LIST = Path(__file__).parent / "quick.txt"
WRITE = os.environ.get("FAD_QUICK") == "write"

_seconds: dict = {}


def long_functions() -> set:
    """The listed functions, `folder/test_file.py::test_function` each."""
    return set(LIST.read_text(encoding="utf-8").split())


def function_of(nodeid: str) -> str:
    """The function of a case, as the list has it."""
    return nodeid.partition("[")[0].removeprefix("tests/")


def mark(items: list) -> None:
    """Mark what is quick among the tests that were collected."""
    seen = set() if WRITE else long_functions()
    for item in items:
        function = function_of(item.nodeid)
        if function not in seen and item.get_closest_marker("slow") is None:
            seen.add(function)
            item.add_marker(pytest.mark.quick)


def pytest_runtest_logreport(report) -> None:
    """Remember how long a test and its fixtures take."""
    _seconds[report.nodeid] = _seconds.get(report.nodeid, 0.0) + report.duration


def pytest_sessionfinish(session) -> None:
    """Write the list, where that is asked for: by the process that has all reports."""
    if WRITE and not hasattr(session.config, "workerinput"):
        long = sorted(function_of(name) for name, seconds in _seconds.items() if seconds > LIMIT)
        LIST.write_text("\n".join(long) + "\n", encoding="utf-8")
